"""The bias of a link with narrow features at given points: slow, direct, and without the library's quadratures.

k_l = N_l (E h(z) P_l(z))^2 by Gauss rules on pieces that halve towards every given point from both sides, plus the
harmonics beyond the last: they average to nothing over a window, so each contributes k_l (1 + E sum_i a_i^2). The only
function of the library used is the loss of harmonics with given coefficients, which knows no link.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lipverify import Problem, loss_terms
from lipverify.laws import Zonal

NODES, HALVINGS, PANELS = 24, 50, 4


def bias_by_harmonics(
    h: Callable[[np.ndarray], np.ndarray], places: tuple[float, ...], d: int, n: float, w: float
) -> tuple[float, float]:
    """(bias, its uncertainty) in d = 3 or more, for w of at most a hundred."""
    steps = np.append(2.0 ** -np.arange(HALVINGS), 0.0)
    beside = np.concatenate([at + sign * steps for at in (-1.0, 1.0, *places) for sign in (-1, 1)])
    ends = np.unique(np.clip(np.concatenate([np.linspace(-1, 1, 129), beside]), -1, 1))
    shares = np.arange(PANELS) / PANELS
    ends = np.append((ends[:-1, None] + np.diff(ends)[:, None] * shares).ravel(), 1.0)
    x, gauss = np.polynomial.legendre.leggauss(NODES)
    half = np.diff(ends)[:, None] / 2
    z = (ends[:-1, None] + half * (1 + x)).ravel()
    weight = (half * gauss).ravel() * ((1 - z) * (1 + z)) ** ((d - 3) / 2)
    weight /= weight.sum()
    values = h(z)
    values = values - weight @ values
    total = float(weight @ values**2)
    last = int(30 * np.sqrt(w) + 60)
    k = []
    # (l + d - 2) P_{l+1} = (2 l + d - 2) z P_l - l P_{l-1}
    before, p = np.ones_like(z), z
    for degree in range(1, last + 1):
        k.append(float((weight @ (values * p)) ** 2 / (weight @ p**2)))
        before, p = p, ((2 * degree + d - 2) * z * p - degree * before) / (degree + d - 2)
    listed = loss_terms(Problem(d=d, n=n, law=Zonal(spectrum=(0.0, *k)), sigma=1.0), w)
    rest = max(total - sum(k), 0.0)
    bias = float(listed.bias) + rest * (1 + float(listed.noise))
    slope = float(np.sum(np.abs(np.diff(values))) * 1e-15)
    return bias, float(listed.bias_error) + 1e-11 * bias + 1e-13 * total + slope * np.sqrt(total)
