r"""Covariates with a covariance Sigma: what whitening changes, and the optimal matrix over all 3 x 3 matrices."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import numpy as np

import lipverify as lv
from lipverify.checks.softmax.quantities import Floats, Value, optimum
from lipverify.errors import InvalidInput

AXES = 3
FARTHEST = 6.0
"""The largest w for multiples of the identity; beyond it the noise alone is too large."""


def optimal_matrix(
    law: str, reading: str, condition: float, n: int, sigma: float, contexts: int, seed: int
) -> dict[str, Any]:
    """M* over all 3 x 3 matrices on sampled contexts, without the use of any symmetry.

    Variances along the axes fall from the condition number to 1 in equal ratios. For Sigma^{1/2} M* Sigma^{1/2}, in
    whitened coordinates: the entry of the longest axis divided by that of the shortest, the mean diagonal entry, and
    the largest other entry divided by it. For M* itself: the same ratio, and the mean diagonal entry divided by n L^2 /
    (3 d sigma^2).
    """
    variances, ridge = np.geomspace(condition, 1.0, AXES), lv.laws.law_named(law)
    if not isinstance(ridge, lv.laws.RidgeLaw):
        raise InvalidInput(f"law = {law!r}: whitening needs a ridge law.")
    f = lv.laws.Transformed(np.diag(variances**-0.5), ridge) if reading == "whitened" else ridge
    problem = lv.Problem(d=AXES, n=n, law=f, sigma=sigma, covariates=lv.covariates.Ellipsoid(variances))
    stream = f"covariance/{law}/{reading}/{condition}/{n}/{sigma}"
    found = lv.optimal_matrix(problem, contexts=contexts, starts=2, use_symmetry=False, seed=seed, stream=stream)
    root = np.sqrt(np.outer(variances, variances))
    M, error = root * found.M_raw, root * found.M_raw_error
    diagonal, scale = np.diag(M), float(np.mean(np.diag(M)))
    ratio = float(diagonal[0] / diagonal[-1])
    ratio_error = abs(ratio) * float(np.sum((np.diag(error) / diagonal)[[0, -1]]))
    off = max((abs(M[i, j]), i, j) for i in range(AXES) for j in range(AXES) if i != j)[1:]
    small = n / (3 * AXES * sigma**2)
    return {
        "ratio": (ratio, ratio_error),
        "plain": (ratio / condition, ratio_error / condition),
        "scale": (scale, float(np.mean(np.diag(error)))),
        "mixing": (float(M[off]) / scale, float(error[off]) / scale),
        "size": tuple(float(np.mean(np.diag(each))) / small for each in (found.M_raw, found.M_raw_error)),
    }


def whitened(space: int = 0) -> Any:
    """The change of scores and of E_f f(x_i) f(x_j) by whitening, for x = S u with S = Sigma^(1/2) and M = S^-1 M' S^-1.

    For f(x) = <q, S^-1 x> it is <q, u>; in the `space` of x, f(x) = <q, x>. q and u are any columns.
    """
    from lipverify.proofs import identity as unit
    from lipverify.proofs import leftover, letters

    s = letters(symmetric=("S", "R"), S="d d", R="d d", M="d d", u="d 1", u_i="d 1", q="d 1", w="")
    inverse = {(s.S, s.R): unit("d"), (s.R, s.S): unit("d")}
    x, x_i = s.S @ s.u, s.S @ s.u_i
    task = s.q.T @ (x_i if space else s.R @ x_i)
    derived = (x_i.T @ s.R @ s.M @ s.R @ x, x_i.T @ (s.w * s.R @ s.R) @ x, task)
    stated = (s.u_i.T @ s.M @ s.u, s.w * s.u_i.T @ s.u, s.q.T @ s.u_i)
    return leftover([each.where(inverse) for each in derived], stated, "d")


def proved_gain(condition: float, n: int, sigma: float, m_1: float, m_2: float) -> Any:
    """The minimal loss over w Sigma^{-1} minus that of one M, by balls; affine, d = 2, L = 1, whitened M = diag(m_1, m_2).

    There f(x) = <q, Sigma^{1/2} u>, E_q f f' = u^T Sigma u' / (3 d), and w Sigma^{-1} is w I.
    """
    from fractions import Fraction

    from lipverify.claims import proved
    from lipverify.proofs import prove_not_isotropic

    space, M = (Fraction(condition) / 6, Fraction(1, 6)), (m_1, m_2)
    given = {"n": n, "sigma": float(sigma), "S": space, "M": M, "stop": FARTHEST}
    found = proved(
        "covariance-space", "not isotropic", given, lambda: prove_not_isotropic(n, sigma, space, M, FARTHEST)
    )
    return found.fact("gain")


def isotropic_window(law: str, n: int, sigma: float, **_: Any) -> Value:
    """w* of the isotropic problem, by the exact method."""
    return optimum(law, AXES, n, sigma=sigma)["w"]


def leading_tilt(variances: Any) -> Floats:
    r"""D of Sigma^{1/2} M* Sigma^{1/2} = w I + D + O(1/w) as n grows: affine law, q uniform in the space of x.

    In whitened coordinates, u on the sphere, the weights of M = w I + D are centred at u + delta with w delta = P_u D u
    - (d-1)/2 u, P_u the projector orthogonal to u. The leading bias is the mean of delta^T Sigma delta, a quadratic in
    D. The eigenvalues of D are in the order of the variances, and their sum is zero.
    """
    S = np.asarray(variances, dtype=np.float64)
    d, axes = len(S), range(len(S))
    quadratic, linear = np.zeros((d, d)), np.zeros(d)
    for j, k in product(axes, axes):
        linear[k] += (d - 1) / 2 * S[j] * ((j == k) * _moment(d, j) - _moment(d, j, k))
        for m in axes:
            both = (j == k) * (j == m) * _moment(d, j) + _moment(d, j, k, m)
            each = (j == k) * _moment(d, j, m) + (j == m) * _moment(d, j, k)
            quadratic[k, m] += S[j] * (both - each)
    tilt = np.linalg.lstsq(quadratic, linear, rcond=1e-10)[0]
    return np.asarray(tilt - tilt.mean())


def _moment(d: int, *axes: int) -> float:
    """The mean of the product of u_j^2 over the axes, u uniform on the sphere."""
    odd = [float(np.prod(np.arange(1, 2 * count, 2))) for count in Counter(axes).values()]
    return float(np.prod(odd) / np.prod(d + 2 * np.arange(len(axes))))
