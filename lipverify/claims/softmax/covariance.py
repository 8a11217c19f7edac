r"""Measurements of the optimal matrix on anisotropic covariates, and of the sign of the window."""

from __future__ import annotations

from collections import Counter
from itertools import product

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import eval_chebyt, eval_gegenbauer

from lipverify.claims.softmax.rays import problem
from lipverify.covariates import Ellipsoid
from lipverify.laws import Ridge, Transformed, Zonal, law_named
from lipverify.loss import loss_terms
from lipverify.loss.attention import attention_named, samples, softmax_weights
from lipverify.loss.exact.tokens import TokenNodes
from lipverify.loss.linear import linear_attention
from lipverify.loss.montecarlo.contexts import draw_contexts
from lipverify.loss.streams import normals
from lipverify.loss.weighted import weighted_mean
from lipverify.optimum import optimal_matrix, optimal_window
from lipverify.optimum.jackknife import mean_interval
from lipverify.problem import Problem
from lipverify.problem.law import RidgeLaw

Floats = NDArray[np.float64]

D = 3
BATCHES = 16
WINDOWS = np.geomspace(0.5, 32.0, 13)
EPS = float(np.finfo(float).eps)


class Whitened(msgspec.Struct, frozen=True, kw_only=True):
    """The minimiser over all M in whitened coordinates, Sigma^{1/2} M* Sigma^{1/2}: values with 95 % half-widths.

    `ratio` is the entry of the longest axis over that of the shortest, `plain` the same of M* itself; `scale` is the
    mean diagonal entry and `mixing` the largest |off-diagonal entry| that the errors allow, over it. `window` is the
    exact w* of the isotropic problem.
    """

    diagonal: tuple[float, ...]
    ratio: tuple[float, float]
    plain: tuple[float, float]
    scale: tuple[float, float]
    mixing: float
    window: float


class Signs(msgspec.Struct, frozen=True, kw_only=True):
    """The least loss over w > 0 less that over w < 0, with its error; and where they are taken."""

    margin: tuple[float, float]
    positive: float
    negative: float


def ellipsoid(condition: float) -> Floats:
    """Variances along three axes, from the condition number to 1 in equal ratios."""
    return np.asarray(np.geomspace(condition, 1.0, D))


def anisotropic(law: str, reading: str, condition: float, n: int, sigma: float) -> Problem:
    """X ~ Sigma^{1/2} U, with f isotropic after whitening, or with q uniform in the space of x."""
    Sigma, ridge = ellipsoid(condition), law_named(law)
    assert isinstance(ridge, RidgeLaw)
    f = Transformed(np.diag(Sigma**-0.5), ridge) if reading == "whitened" else ridge
    return Problem(d=D, n=n, law=f, sigma=sigma, covariates=Ellipsoid(Sigma))


def whitened_optimum(
    law: str, reading: str, condition: float, n: int, sigma: float, contexts: int, seed: int
) -> Whitened:
    """M* over all matrices, from sampled contexts, without the help of any symmetry."""
    p = anisotropic(law, reading, condition, n, sigma)
    address = f"covariance/{law}/{reading}/{condition}/{n}/{sigma}"
    found = optimal_matrix(p, contexts=contexts, starts=2, use_symmetry=False, seed=seed, cell=address)
    root = np.sqrt(np.outer(ellipsoid(condition), ellipsoid(condition)))
    M, error = root * found.M_raw, root * found.M_raw_error
    diagonal, half_width = np.diag(M), np.diag(error)
    ratio = float(diagonal[0] / diagonal[-1])
    share = float(half_width[0] / diagonal[0] + half_width[-1] / diagonal[-1])
    scale, off = float(np.mean(diagonal)), ~np.eye(D, dtype=bool)
    return Whitened(
        diagonal=tuple(diagonal.tolist()),
        ratio=(ratio, abs(ratio) * share),
        plain=(ratio / condition, abs(ratio) / condition * share),
        scale=(scale, float(np.mean(half_width))),
        mixing=float(np.max((np.abs(M) + error)[off])) / scale,
        window=optimal_window(problem(law, D, n, sigma=sigma)).w,
    )


def leading_tilt(variances: Floats) -> Floats:
    r"""D of Sigma^{1/2} M* Sigma^{1/2} = w I + D + O(1/w) as n grows, q uniform in the space of x, affine law; trace 0.

    In whitened coordinates, u on the sphere, the weights of M = w I + D centre on u + delta with w delta = P_u D u -
    (d-1)/2 u, P_u the projector orthogonal to u; the leading bias is the mean of delta^T Sigma delta, a quadratic in D.

    >>> leading_tilt(np.array([1.0, 1.0])).tolist()
    [0.0, 0.0]
    >>> leading_tilt(np.array([4.0, 1.0])).round(6).tolist()
    [0.3, -0.3]
    """
    d, axes = len(variances), range(len(variances))
    quadratic, linear = np.zeros((d, d)), np.zeros(d)
    for j, k in product(axes, axes):
        linear[k] += (d - 1) / 2 * variances[j] * ((j == k) * _moment(d, j) - _moment(d, j, k))
        for m in axes:
            both = (j == k) * (j == m) * _moment(d, j) + _moment(d, j, k, m)
            each = (j == k) * _moment(d, j, m) + (j == m) * _moment(d, j, k)
            quadratic[k, m] += variances[j] * (both - each)
    tilt = np.linalg.lstsq(quadratic, linear, rcond=1e-10)[0]
    return np.asarray(tilt - tilt.mean())


def _moment(d: int, *axes: int) -> float:
    """The mean of the product of u_j^2 over the axes."""
    odd = [float(np.prod(np.arange(1, 2 * count, 2))) for count in Counter(axes).values()]
    return float(np.prod(odd) / np.prod(d + 2 * np.arange(len(axes))))


def sign_gap(law: str, d: int, n: int) -> tuple[float, float]:
    r"""L(-w I) - L(w I) at w = w*, and its error: 4 E sum_i a_i K_odd(t_i), K_odd(t) = (K(t) - K(-t)) / 2.

    If the tokens change their sign, so do the scores, and the odd part of f. The odd part of an affine or a ReLU
    function is linear, K_odd(t) = k_1 t; the quadratic law has none.
    """
    form, w = linear_attention(law_named(law)), optimal_window(problem(law, d, n)).w
    mean, error = weighted_mean(d, n, np.array([w]), lambda token: (token.far - token.near) / 2, size=1.0)
    k_1 = form.at(form.linear_power, d=d, L=1.0)
    return 4 * k_1 * float(mean[0]), 4 * k_1 * float(error[0])


def harmonic_signs(d: int, n: int, degree: int, share: float) -> Signs:
    """The covariance P_2 + share P_degree without noise: the best window on either side of zero, exactly."""
    spectrum = [0.0] * (degree + 1)
    spectrum[2], spectrum[degree] = 1.0, share
    p = Problem(d=d, n=n, law=Zonal(spectrum=tuple(spectrum)), sigma=0.0)

    def loss(w: Floats, sign: int) -> tuple[Floats, Floats]:
        terms = loss_terms(p, w)
        gap, error = odd_gap(d, n, degree, share, w) if sign < 0 else (np.zeros_like(w), np.zeros_like(w))
        return terms.total + gap, terms.total_error + error

    (positive, above, first), (negative, below, second) = (_least(loss, sign) for sign in (1, -1))
    return Signs(margin=(above - below, first + second), positive=positive, negative=-negative)


def odd_gap(d: int, n: int, degree: int, share: float, w: Floats) -> tuple[Floats, Floats]:
    """L(-w I) - L(w I) = 4 share E sum_i a_i P_degree(t_i) for an odd degree, and its error."""

    def h(token: TokenNodes) -> Floats:
        return harmonic(d, degree, (token.far - token.near) / 2)

    mean, error = weighted_mean(d, n, w, h, size=1.0)
    return 4 * share * mean, 4 * share * error


def harmonic(d: int, degree: int, t: Floats) -> Floats:
    """P_degree of the sphere S^{d-1}, P(1) = 1."""
    if d == 2:
        return np.asarray(eval_chebyt(degree, t))
    return np.asarray(eval_gegenbauer(degree, d / 2 - 1, t) / eval_gegenbauer(degree, d / 2 - 1, 1.0))


def sampled_odd_gap(degree: int, share: float, n: int, w: float, contexts: int, seed: int) -> tuple[float, float]:
    """L(-w I) - L(w I) for d = 3 and f a ridge function with that covariance, on common contexts drawn in R^3."""
    even, odd = np.sqrt(5.0), np.sqrt(share * (2 * degree + 1))  # E_q P_l P_l = P_l / (2l + 1)

    def link(z: Floats) -> Floats:
        return np.asarray(even * harmonic(D, 2, z) + odd * harmonic(D, degree, z))

    p = Problem(d=D, n=n, law=Ridge(link), sigma=0.0)
    softmax, batches = attention_named("softmax"), []
    for batch in range(BATCHES):
        drawn = draw_contexts(p, contexts // BATCHES, seed, f"sign/{degree}/{share}/{n}", batch)
        (_, plus), (_, minus) = (samples(softmax, drawn, sign * w * np.eye(D)) for sign in (1, -1))
        batches.append(float(np.mean(minus - plus)))
    return mean_interval(np.array(batches))


def averaged_odd_gap(degree: int, share: float, n: int, w: float, contexts: int, seed: int) -> tuple[float, float]:
    """The same from sampled tokens, f averaged over in closed form: 4 share sum_i a_i P_degree(t_i), less scattered."""
    batches = []
    for batch in range(BATCHES):
        drawn = normals(seed, f"odd/{degree}/{n}", batch, (contexts // BATCHES, n, D))
        t = drawn[:, :, 0] / np.linalg.norm(drawn, axis=-1)
        gap = 4 * share * np.sum(softmax_weights(w * t, np) * harmonic(D, degree, t), axis=1)
        batches.append(float(np.mean(gap)))
    return mean_interval(np.array(batches))


def sampled_negative_loss(law: str, d: int, n: int, contexts: int, seed: int) -> tuple[float, float]:
    """L(-w* I) / L(w* I) from sampled contexts over the exact loss at w*, and the half-width of its 95 % interval."""
    p = problem(law, d, n)
    best, address = optimal_window(p), f"negative/{law}/{d}/{n}"
    at = loss_terms(p, [best.w], "montecarlo", M=-np.eye(d), contexts=contexts, seed=seed, cell=address)
    return float(at.total[0]) / best.loss, float(at.total_error[0]) / best.loss


def negative_loss(law: str, d: int, n: int) -> tuple[float, float]:
    """The same by quadrature."""
    best, (gap, error) = optimal_window(problem(law, d, n)), sign_gap(law, d, n)
    return 1 + gap / best.loss, (error + best.loss_error) / best.loss


def exact_odd_gap(degree: int, share: float, n: int, w: float) -> tuple[float, float]:
    """The same for d = 3 by quadrature."""
    gap, error = odd_gap(D, n, degree, share, np.array([w]))
    return float(gap[0]), float(error[0])


def _least(loss: object, sign: int) -> tuple[float, float, float]:
    """(w, the least loss over w > 0 times the sign, its error), from a grid and then a search around its best."""
    assert callable(loss)
    at = int(np.argmin(loss(WINDOWS, sign)[0]))
    low, high = np.log(WINDOWS[max(at - 1, 0)]), np.log(WINDOWS[min(at + 1, WINDOWS.size - 1)])
    found = minimize_scalar(
        lambda x: float(loss(np.exp([x]), sign)[0][0]), bounds=(low, high), method="bounded", options={"xatol": 3e-3}
    )
    w = np.exp([found.x])
    value, error = loss(w, sign)
    return float(w[0]), float(value[0]), float(error[0])
