"""The mean eigenvalue density of a real Wishart matrix, and a rule for averages over it.

Sigma = sum of n terms x x^T with x ~ N(0, I) in R^d, n >= d, has eigenvalues with the joint density proportional to
prod_{i<j} |t_i - t_j| prod_i t_i^{(n-d-1)/2} e^{-t_i/2}. With a = n - d and the Laguerre polynomials L_k^a,

    rho(t) = sum_{k<d-1} k!/(k+a)! L_k^a(t)^2 t^a e^{-t} + phi(t) (c - C int_0^t psi),
    phi, psi = t^{(a-1)/2} e^{-t/2} L_{d-1}^a,  the same with L_{d-2}^a,    C = (d-1)! / (2 (n-2)!),

where c = (C/2) int_0^inf psi if d is even and c = 1 / int_0^inf phi if d is odd.

Sources: Forrester, Nagao, Honner, Nucl. Phys. B 553 (1999); Adler, Forrester, Nagao, van Moerbeke, J. Stat. Phys. 99
(2000). Every rule is checked against the exact moments E tr Sigma^k, k <= 3, when it is made.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import eval_genlaguerre, gammaln

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.arrays import Floats
from lipverify.foundation.validation import function, number, whole

PANEL, POINTS = 0.5, 20
"""Width in sqrt(t) and Gauss-Legendre points of a panel: sqrt(t) is the variable in which e^{-t/2} has one scale."""


@dataclass(frozen=True)
class SpectralRule:
    """Nodes and weights for int f(t) rho(t) dt = E tr f(Sigma), over eigenvalues up to `reach`.

    Weights are logarithms: in the tail they are below the smallest double. `error` is the largest relative error of
    mass and moments E tr Sigma^k, k <= 3, before a rule was cut short.
    """

    t: Floats
    log_weights: Floats
    reach: float
    error: float

    def mean(self, values: Floats) -> float:
        """E tr f(Sigma) from f at the nodes."""
        return math.fsum(np.exp(self.log_weights) * values)


def largest_seen(n: int, d: int, contexts: float) -> float:
    """The eigenvalue above which one is expected in this number of contexts, up to the spacing of a rule's nodes."""
    number("contexts", contexts, least=1)
    rule = spectral_rule(n, d)
    beyond = np.cumsum(np.exp(rule.log_weights)[::-1])[::-1]
    return float(rule.t[int(np.argmax(beyond * contexts < 1))])


@lru_cache(maxsize=64)
def spectral_rule(n: int, d: int, degree: int = 3, points: int = POINTS, reach: float | None = None) -> SpectralRule:
    """A rule for functions that grow no faster than t^degree, over eigenvalues up to a reach or all.

    >>> rule = spectral_rule(20, 10)
    >>> round(rule.mean(rule.t), 9), round(rule.mean(1 / rule.t), 9)  # n d, d / (n - d - 1)
    (200.0, 1.111111111)
    """
    d, n = whole("d", d, least=1), whole("n", n, least=1, most=10**9)
    degree = whole("degree", degree, least=3)
    if n < d:
        raise InvalidInput(f"n = {n} < d = {d}: Sigma is singular; use n >= d, or the n x n matrix of scalar products.")
    power = degree + (n + d) / 2
    # t^power e^{-t/2} peaks at 2 power and falls like a Gaussian in sqrt(t), of deviation below 1
    end = math.sqrt(2 * power) + 10
    edges = np.linspace(0.0, end, math.ceil(end / PANEL) + 1)
    if reach is not None and 0 < reach < end**2:
        edges = np.unique(np.append(edges, math.sqrt(reach)))
    with np.errstate(over="ignore", invalid="ignore"):
        t, widths, density = _scaled_density(n, d, edges, points)
    if not np.all((density > 0) & (density < math.inf)):
        raise OutOfReach(f"n = {n}, d = {d}: the eigenvalue density is lost to rounding; use a smaller n or d.")
    log_weights = np.log(widths) + np.log(density) - t / 2
    rule = SpectralRule(t, log_weights, end**2, 0.0)
    error = max(abs(rule.mean(t**k) / exact - 1) for k, exact in enumerate(trace_moments(n, d)))
    if not error < 1e-10:
        raise OutOfReach(f"n = {n}, d = {d}: moments are wrong by {error:.1e}; use a smaller n or d.")
    kept = t <= (end**2 if reach is None else reach)
    t, log_weights = t[kept], log_weights[kept]
    for shared in (t, log_weights):
        shared.setflags(write=False)
    return SpectralRule(t, log_weights, float(min(end**2, reach or end**2)), error)


def spectral_mean(
    f: Callable[[Floats], Floats], n: int, d: int, at_zero: float = 0.0, degree: int = 3
) -> tuple[float, float]:
    """E tr f(Sigma) / d for Sigma = sum of n terms x x^T, x ~ N(0, I) in R^d, and its error; n < d is allowed.

    Parameters
    ----------
    f
        A function of eigenvalues > 0, smooth there.
    n, d
        Tokens and dimension.
    at_zero
        f(0), for the d - n eigenvalues that are 0 where n < d.
    degree
        f grows no faster than t^degree.

    Returns
    -------
    value, error
        The error is the change with a coarser rule plus the error of the rule's own moments.

    Raises
    ------
    InvalidInput
        If f is no function or has no finite value at an eigenvalue, n or d is no integer >= 1, or the mean is infinite,
        as that of 1/t is for |n - d| < 2.

    Examples
    --------
    >>> value, error = spectral_mean(lambda t: 1 / t, n=5, d=20)  # the pseudoinverse: n / d of 1 / (d - n - 1)
    >>> abs(value - 5 / 20 / 14) <= error < 1e-12
    True
    """
    function("f", f, "eigenvalues, an array of numbers > 0")
    n, d = whole("n", n, least=1), whole("d", d, least=1)
    more, fewer = max(n, d), min(n, d)
    fine, rough = (spectral_rule(more, fewer, degree, points) for points in (POINTS, POINTS - 4))
    if not np.all(np.isfinite(f(fine.t))):
        bad = float(fine.t[~np.isfinite(f(fine.t))][0])
        raise InvalidInput(f"f({bad:.6g}) is no finite number: f must be smooth at eigenvalues > 0.")
    with np.errstate(divide="ignore", invalid="ignore"):
        steepness = np.diff(np.log(np.abs(f(fine.t[1::-1]))))[0] / -np.diff(np.log(fine.t[1::-1]))[0]
    # rho falls like t^{(|n - d| - 1) / 2} towards 0
    if steepness > (more - fewer + 1) / 2 - 1e-3:
        raise InvalidInput(f"n = {n}, d = {d}: f grows like t^-{steepness:.3g} towards 0: no mean; use |n - d| > 1.")
    value, rough_value = ((rule.mean(f(rule.t)) + (d - fewer) * at_zero) / d for rule in (fine, rough))
    size = (fine.mean(np.abs(f(fine.t))) + (d - fewer) * abs(at_zero)) / d
    # 2^-44: the rounding of a sum of a few hundred nodes and of the densities there
    return value, abs(value - rough_value) + (fine.error + 2.0**-44) * size


def trace_moments(n: int, d: int) -> tuple[int, int, int, int]:
    """E tr Sigma^k for k = 0, 1, 2, 3."""
    return d, n * d, n * d * (n + d + 1), n * d * (n**2 + d**2 + 3 * n * d + 3 * n + 3 * d + 4)


def _scaled_density(n: int, d: int, edges: Floats, points: int) -> tuple[Floats, Floats, Floats]:
    """Nodes t = s^2, widths dt, and rho(t) e^{t/2}, from panels in s."""
    x, w = np.polynomial.legendre.leggauss(points)
    half = np.diff(edges)[:, None] / 2
    s = edges[:-1, None] + half * (x + 1)
    t, widths, a = s**2, 2 * s * half * w, n - d
    # both functions carry the root of C, which would overflow alone
    log_C = gammaln(d) - math.log(2) - gammaln(n - 1) if d > 1 else 0.0
    common = np.exp((a - 1) / 2 * np.log(t) + log_C / 2)
    phi = common * eval_genlaguerre(d - 1, a, t)
    psi = common * np.exp(-t / 2) * (eval_genlaguerre(d - 2, a, t) if d > 1 else 0.0)
    whole_panels = np.sum(widths * psi, axis=1)
    before = np.cumsum(whole_panels) - whole_panels
    partial = before[:, None] + half * ((2 * s * psi) @ _antiderivative(x).T)
    constant = np.sum(whole_panels) / 2 if d % 2 == 0 else 1 / np.sum(widths * phi * np.exp(-t / 2))
    density = phi * (constant - partial)
    for k in range(d - 1):
        log_scale = gammaln(k + 1) - gammaln(k + a + 1) + a * np.log(t) - t / 2
        density += (eval_genlaguerre(k, a, t) * np.exp(log_scale / 2)) ** 2
    return t.ravel(), widths.ravel(), density.ravel()


def _antiderivative(x: Floats) -> Floats:
    """The matrix that maps values at Gauss-Legendre points to the integrals from -1 to each point."""
    powers = np.eye(len(x))
    antiderivatives = np.polynomial.legendre.legint(powers, lbnd=-1)
    return np.asarray(
        np.polynomial.legendre.legval(x, antiderivatives).T
        @ np.linalg.inv(np.polynomial.legendre.legvander(x, len(x) - 1))
    )
