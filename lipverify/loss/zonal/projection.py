r"""Coefficients by quadrature, for a link or a kernel of which nothing else is known.

They are known to rounding relative to the largest value of the function, not to their own size: N_l of
them share it, so in high dimensions few can be told from zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from lipverify.errors import InvalidInput
from lipverify.loss.zonal.harmonics import Floats, Spectrum, deficits, dimension
from lipverify.problem.law import RidgeLaw

ROUNDING = 32 * float(np.finfo(float).eps)
"""Rounding of an average over the sphere, relative to the largest value of what is averaged."""
QUIET = 6
"""So many coefficients in a row below rounding end a spectrum; every other one may vanish by parity."""
NODES_A_WAVE = 4


def _rule(d: int, splits: tuple[float, ...], most: int) -> tuple[Floats, Floats]:
    """Nodes (near, weight) for averages over a coordinate times P_l, l <= most: Gauss panels in the angle."""
    edges = [0.0, *sorted(splits), math.pi]
    x, gauss = np.polynomial.legendre.leggauss(24)
    angles, weights = [], []
    for low, high in pairwise(edges):
        panels = 8 + int((high - low) * most * NODES_A_WAVE / (24 * math.pi)) + int(math.sqrt(d))
        # panels shrink geometrically towards both ends, where a kernel may not be analytic
        inner = np.linspace(low, high, panels + 1)
        width = inner[1] - inner[0]
        graded = width * 4.0 ** -np.arange(1, 12)
        inner = np.unique(np.concatenate([inner, low + graded, high - graded]))
        half = np.diff(inner)[:, None] / 2
        angles.append((inner[:-1, None] + half * (1 + x)).ravel())
        weights.append((half * gauss).ravel())
    angle = np.concatenate(angles)
    weight = np.concatenate(weights) * np.abs(np.sin(angle)) ** (d - 2)
    return 2 * np.sin(angle / 2) ** 2, weight / np.sum(weight)


def of_links(law: RidgeLaw, d: int, most: int) -> Spectrum:
    """k_l = v N_l sum_h (E[h(z) P_l(z)])^2 for l <= most."""
    near, weight = _rule(d, tuple(math.acos(kink) for kink in law.kink_points), most)
    values = np.stack([np.asarray(h, dtype=float) for h in law.links(1 - near, np)])
    centred = values - (values @ weight)[:, None]
    total = law.amplitude_variance * float(np.sum(centred**2 @ weight))
    noise = ROUNDING * float(np.max(np.abs(centred)))
    k, error, quiet = [], [], 0
    for degree, deficit in enumerate(deficits(d, near), 1):
        projections, ways = centred @ (weight * (1 - deficit)), dimension(d, degree)
        k.append(law.amplitude_variance * ways * float(np.sum(projections**2)))
        error.append(law.amplitude_variance * ways * float(np.sum(2 * np.abs(projections) * noise + noise**2)))
        quiet = quiet + 1 if np.all(np.abs(projections) <= noise) else 0
        if degree >= most or quiet >= QUIET:
            break
    return _cut(d, k, error, quiet, total, ROUNDING * total)


def of_kernel(kernel: Callable[[Floats], Floats], d: int, most: int) -> Spectrum:
    """k_l = N_l E[K(z) P_l(z)] for l <= most."""
    near, weight = _rule(d, (), most)
    values = np.asarray(kernel(1 - near), dtype=float)
    top = float(np.asarray(kernel(np.ones(1)))[0])
    mean, noise = float(values @ weight), ROUNDING * float(np.max(np.abs(values)))
    k, error, quiet = [], [], 0
    for degree, deficit in enumerate(deficits(d, near), 1):
        ways = dimension(d, degree)
        coefficient = ways * float((values - mean) @ (weight * (1 - deficit)))
        if coefficient < -4 * ways * noise:
            raise InvalidInput(
                f"kernel: its coefficient k_{degree} = {coefficient:.3g} is negative in d = {d}, so it is not the "
                "covariance of any law there; a covariance is positive definite."
            )
        k.append(max(coefficient, 0.0))
        error.append(ways * noise)
        quiet = quiet + 1 if abs(coefficient) <= ways * noise else 0
        if degree >= most or quiet >= QUIET:
            break
    return _cut(d, k, error, quiet, top - mean, 4 * noise)


def _cut(d: int, k: list[float], error: list[float], quiet: int, total: float, noise: float) -> Spectrum:
    """Drop the coefficients that are rounding; the rest of the total is the tail."""
    keep = max(len(k) - quiet, 1)
    listed, errors = np.array(k[:keep]), np.array(error[:keep])
    tail, tail_error = total - float(np.sum(listed)), noise + float(np.sum(errors))
    if abs(tail) <= tail_error:
        tail = 0.0
    return Spectrum(d, listed, errors, max(tail, 0.0), tail_error)
