r"""What is left of the loss of c BB^T as n -> infinity: nothing on a product of spheres, a floor on the sphere."""

from __future__ import annotations

from typing import Any

import numpy as np

import lipverify as lv
from lipverify.checks.softmax.quantities import Value

Floats = np.ndarray[Any, np.dtype[np.float64]]


def best_loss(m: int, n: float) -> Value:
    """The least loss over w of linear tasks on the unit sphere of R^m, sigma = 1."""
    found = lv.optimal_window(lv.Problem(d=m, n=n, law=lv.laws.Linear(), sigma=1.0))
    return found.loss, found.loss_error


def projected(d: int, k: int, n: int, c: float) -> dict[str, Value]:
    """The loss at c BB^T on the product of spheres in R^d, by the block reduction, and at c on the sphere of R^k."""
    from lipverify.loss.block import block_terms
    from lipverify.problem.named import low_rank_problem

    small = lv.loss_terms(lv.Problem(d=k, n=n, law=lv.laws.Linear(), sigma=0.5), c)
    whole = block_terms(low_rank_problem("product", d, k, n, 0.5), c, 0.0)
    return {
        name: (float(terms.total), float(terms.total_error)) for name, terms in (("in R^d", whole), ("in R^k", small))
    }


def tilted(d: int, size: Floats) -> Floats:
    """|E u| for u on S^{d-1} with density proportional to e^<size, u>: Bessel's I_{d/2} / I_{d/2-1}.

    By Gauss' continued fraction; once its orders exceed `size`, each term counts for less than a quarter of the last.
    """
    ratio = np.zeros_like(size)
    for order in reversed(range(int(d), int(max(d, np.max(size))) + 200, 2)):
        ratio = size / (order + size * ratio)
    return ratio


def floor(d: int, k: int, scale: str = "") -> Value:
    """lim L(c BB^T) as n -> infinity at the best c, tokens uniform on S^{d-1}; `scale`: times d^3 / (2 (k + 2)).

    A query x with r = |B^T x| gets E_t B^T t under the weights e^(c <B^T t, B^T x>), which is A(c r) B^T x / r, and a^T of
    what is off from B^T x is on average (A(c r) - r)^2 / k, where r^2 is Beta(k/2, (d - k)/2).
    """
    from scipy.optimize import minimize_scalar

    from lipverify.loss.block.rules import share_rule

    def off(log_c: float, order: int = 80) -> float:
        share, weight = share_rule(d, k, order)
        r = np.sqrt(share)
        return float(weight @ (tilted(d, np.exp(log_c) * r) - r) ** 2 / k)

    best = minimize_scalar(off, bounds=(np.log(d) - 1, np.log(d) + 1), method="bounded", options={"xatol": 1e-9}).x
    value, unit = off(best), d**3 / (2 * (k + 2)) if scale else 1.0
    return unit * value, unit * (abs(value - off(best, 60)) + 1e-12 * value)


def in_block(d: int, k: int) -> Value:
    """The bias at n = 10^12 by the block reduction, at the best of many c; contexts differ by less than e^k / n."""
    from scipy.optimize import minimize_scalar

    from lipverify.loss.block import block_terms
    from lipverify.problem.named import low_rank_problem

    here = low_rank_problem("sphere", d, k, 1e12, 0.0)
    found = minimize_scalar(lambda c: float(block_terms(here, c, 0.0).bias), bounds=(d, 3 * d), method="bounded")
    return found.fun, 1e-11
