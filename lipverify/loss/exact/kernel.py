r"""Exact terms of attention with any kernel K on linear tasks, f(x) = l <q, x>, for any number of tokens.

With S = sum_i K_i and 1/S^2 = int_0^inf lambda e^{-lambda S} d lambda, means over n independent tokens are integrals
over one: phi = E e^{-lambda K} and, for a function g of h = 1 - <x_i, x>,

    E sum_i a_i^2 g_i    = n int lambda E[K^2 g e^{-lambda K}] phi^{n-1},
    E (sum_i a_i h_i)^2  = that of g = h^2, and n (n-1) int lambda (E[K h e^{-lambda K}])^2 phi^{n-2}.

The components of the tokens orthogonal to x are independent and add E sum_i a_i^2 h_i (2 - h_i). A window is empty with
probability phi(inf)^n, and then the prediction is 0:

    N = sigma^2 E sum_i a_i^2,    B = (v / d) (E (sum_i a_i h_i)^2 + E sum_i a_i^2 h_i (2 - h_i) + P(no token)).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import betaln

from lipverify.errors import OutOfReach
from lipverify.foundation.arrays import TINY, Floats
from lipverify.loss.kernels import Kernel, kernel_for
from lipverify.loss.terms import LossTerms
from lipverify.problem import Problem
from lipverify.problem.law import Law, by_law
from lipverify.problem.laws import Affine, Linear


def kernel_terms(problem: Problem, w: Floats, attention: Any) -> LossTerms:
    """Both terms at every w, for linear laws and unless windows hold so few tokens that an error would be large."""
    kernel = kernel_for(attention, problem, w)
    slope_variance = _slope_variance(problem.law, attention)
    means = np.array([_with_error(kernel, problem.d, float(problem.n), float(window)) for window in np.ravel(w)])
    units = np.array([problem.sigma**2, slope_variance / problem.d])
    values = np.reshape(means.reshape(-1, 2, 2) * units, (*np.shape(w), 4))
    names = ("noise", "bias", "noise_error", "bias_error")
    columns: dict[str, Any] = {name: values[..., i] for i, name in enumerate(names)}
    return LossTerms(problem=problem, method="exact", w=w, **columns)


@by_law
def _slope_variance(law: Law, attention: Any) -> float:
    """E l^2 of a law f(x) = l <q, x>."""
    raise OutOfReach(
        f"law = {law!r} with attention = {attention!r}: exact terms are for Affine and Linear; use method='montecarlo'."
    )


@_slope_variance.register(Affine, Linear)
def _of_linear(law: Affine | Linear, attention: Any) -> float:
    return law.amplitude_variance


def _with_error(kernel: Kernel, d: int, n: float, w: float) -> tuple[Floats, Floats]:
    """E sum a^2 and E |sum_i a_i x_i - x|^2; the errors are the difference to a coarser rule plus the cut-off tail."""
    (value, rest), (coarse, _) = (_means(kernel, d, n, w, *rule) for rule in ((20, 0.16), (14, 0.2)))
    error = 4 * np.abs(value - coarse) + 1e-12 * value + rest
    if not np.all(error <= 1e-3 * value):
        raise OutOfReach(
            f"attention = {kernel!r}, w = {w:g}, n = {n:g}: weights differ by so much that the rule leaves an "
            f"error of {np.max(error / value):.0e} of a term; use a smaller w, or method='montecarlo'."
        )
    return value, error


def _means(kernel: Kernel, d: int, n: float, w: float, order: int, step: float) -> tuple[Floats, Floats]:
    """Both means by a rule with `order` nodes per panel in h and a step in log lambda, and bounds on their tails.

    The tail of the noise beyond lambda is at most E (1 + lambda S) e^{-lambda S} <= 1.3 E e^{-lambda S / 2}, over
    contexts with a token in the window, and (sum_i a_i h_i)^2 + sum_i a_i^2 h_i (2 - h_i) <= 5.
    """
    h, mass = tokens(kernel, d, w, order)
    K = kernel.weight(w * h, w)
    K = K / np.max(K)
    reached = min(1.0, float(np.sum(mass))) if 2 * w > kernel.support else 1.0
    end = 45.0 if math.isfinite(kernel.support) else min(300.0, 5 - math.log(max(np.min(K), TINY)))
    u = np.exp(np.arange(-math.log(n) - 22, end, step))[:, None]
    tilted = np.exp(-u * K) * mass
    hit = -np.expm1(-u * K) @ mass
    phi = np.sum(tilted, axis=1) + (1 - reached)
    log_phi = np.where(hit < 0.5, np.log1p(-np.minimum(hit, 0.5)), np.log(np.maximum(phi, TINY)))
    single, two = (n * u[:, 0] ** 2 * np.exp((n - count) * log_phi) for count in (1, 2))
    squares = tilted * K**2
    noise, square = (step * single @ (squares @ g) for g in (np.ones_like(h), h**2 + h * (2 - h)))
    pairs = step * (n - 1) * two @ ((tilted * K) @ h) ** 2
    empty, cut = (_none(share, n) for share in (reached, reached - float(np.exp(-u[-1] * K / 2) @ mass)))
    return np.array([noise, square + pairs + empty]), 1.3 * (cut - empty) * np.array([1.0, 5.0])


def _none(reached: float, n: float) -> float:
    """The probability that none of n tokens lies in the support of K."""
    return math.exp(n * math.log1p(-reached)) if reached < 1 else 0.0


def tokens(kernel: Kernel, d: int, w: float, order: int) -> tuple[Floats, Floats]:
    """Gauss-Legendre nodes h = 1 - <x_i, x> with K > 0 on panels, and their shares of the sphere.

    The panels are in the angle, where the density is sin^{d-2}. Their width in u doubles from u = 1/64 to 1, is one up
    to 128, the scale on which e^{-lambda K} steps if K is exponential, and halves towards the end of K's support.
    """
    if math.isfinite(kernel.support):
        edges = np.array([kernel.support * (1 - 2.0**-k) for k in range(50)] + [kernel.support])
    else:
        edges = np.concatenate([[0.0], 2.0 ** np.arange(-6, 1), np.arange(2.0, 128), 128 * 1.25 ** np.arange(200)])
    top = min(2.0, kernel.support / w) if w > 0 else 2.0
    h = np.append(edges[edges < w * top] / w, top) if w > 0 else np.array([0.0, top])
    places = 2 * np.arcsin(np.sqrt(np.unique(np.append(h, min(1.0, top))) / 2))
    s, weight = np.polynomial.legendre.leggauss(order)
    half = np.diff(places)[:, None] / 2
    angle, measure = (places[:-1, None] + half * (1 + s)).ravel(), (half * weight).ravel()
    return 2 * np.sin(angle / 2) ** 2, measure * np.sin(angle) ** (d - 2) / math.exp(betaln(0.5, (d - 1) / 2))
