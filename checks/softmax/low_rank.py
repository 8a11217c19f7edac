r"""Tasks of low rank, f(x) = a^T B^T x: the best matrix c BB^T + c' (I - BB^T) by the exact method, and any matrix by sampling."""

from __future__ import annotations

from typing import Any

import lipverify as lv

CASES: dict[str, dict[str, float]] = {"two-tokens": {"n": 2, "sigma": 0.5}, "noiseless": {"n": 20, "sigma": 0.0}}
"""Each of the two assumptions of Theorem 4 without the other."""


def problem(covariates: str, d: int, k: int, n: float, sigma: float) -> lv.Problem:
    """The problem on the sphere or on a product of unit spheres, B the first k axes."""
    from lipverify.problem.named import low_rank_problem

    return low_rank_problem(covariates, d, k, n, sigma)  # type: ignore[arg-type]


def best(covariates: str, d: int, k: int, n: float, sigma: float, C: float) -> dict[str, Any]:
    """The best M = c BB^T + c' (I - BB^T) in the ball of radius C, by the exact method, and the reduction of the loss by c'."""
    from lipverify.optimum.block import optimal_block

    block = optimal_block(problem(covariates, d, k, n, sigma), float(C))
    return {
        "c": (block.c, block.c_error),
        "ratio": block.ratio,
        "loss": (block.loss, block.loss_error),
        "gain": (block.gain, 2 * block.loss_error),
        "aligned": (block.aligned_c, block.aligned_loss),
    }


def searched(
    covariates: str, d: int, k: int, n: float, sigma: float, C: float, contexts: int, seed: int
) -> dict[str, Any]:
    """The best symmetric M in the same ball on sampled contexts, with no assumption about its form."""
    from lipverify.optimum.block import sampled_block

    stream = f"lowrank/{covariates}, d={d}, k={k}, n={n:g}, sigma={sigma:g}, C={C:g}"
    found = sampled_block(problem(covariates, d, k, n, sigma), k, float(C), contexts=contexts, seed=seed, stream=stream)
    return {
        "c": (found.c, found.c_error),
        "relevant": (found.relevant, found.relevant_error),
        "ratio": found.ratio,
        "loss": (found.loss, found.loss_error),
        "M": found.M,
    }


def best_in_case(covariates: str, case: str, d: int, k: int) -> dict[str, Any]:
    """The best M by the exact method under one of the assumptions of Theorem 4, in the ball of radius d."""
    return best(covariates, d, k, C=d, **CASES[case])


def searched_in_case(covariates: str, case: str, d: int, k: int, contexts: int, seed: int) -> dict[str, Any]:
    """The best M on sampled contexts under one of the assumptions of Theorem 4, in the ball of radius d."""
    return searched(covariates, d, k, C=d, contexts=contexts, seed=seed, **CASES[case])


def averaged(power: int, kept: str = "1") -> Any:
    """The mean of tanh(A + S)^power over the sign of S minus its form in T = tanh A and U = tanh S; `kept` scales the terms in S."""
    import sympy

    T, U = sympy.symbols("T U")
    both = [(T + sign * U) / (1 + sign * T * U) for sign in (1, -1)]
    changed = {
        1: -T * U**2 * (1 - T**2) / (1 - T**2 * U**2),
        2: U**2 * (1 - T**2) * (1 - 3 * T**2 + T**2 * U**2 * (1 + T**2)) / (1 - T**2 * U**2) ** 2,
    }[power]
    return sum(each**power for each in both) / 2 - T**power - sympy.Rational(kept) * changed


def bent(kept: str = "1") -> Any:
    """(m - z)'' along a line in b, squared, minus `kept` times its form; m = sum_i b_i e_i z_i / sum_i b_i e_i.

    m is a quotient of two linear functions of b. Along b + s beta let y = D' / D for the denominator D, and X = m' = N'
    / D - m y: then ((m - z)^2)'' = 2 X^2 - 4 y (m - z) X. With z_i = 1 for one token, 0 for all others and z = 0 it is
    (a_i^2)''.
    """
    import sympy

    s, z = sympy.symbols("s z")
    N, D, dN, dD = sympy.symbols("N D N' D'")
    m = (N + s * dN) / (D + s * dD)
    X, y = dN / D - N / D * dD / D, dD / D
    second = sympy.diff((m - z) ** 2, s, 2).subs(s, 0)
    return sympy.simplify(second - sympy.Rational(kept) * (2 * X**2 - 4 * y * (N / D - z) * X))


def small(kept: str = "1") -> Any:
    """(h - 2)(h - 1)^4 - 25 h^3 at h = 8 + t, minus `kept` times a polynomial in t with positive coefficients.

    With h = 1/P and e^P <= 1 / (1 - P) it is positive for P <= 1/8, and so e^{-P} sqrt(1 - P^2 e^{2P}) > 5 P e^{2P}.
    """
    import sympy

    t = sympy.symbols("t")
    h = 8 + t
    positive = 1606 + 5833 * t + 2536 * t**2 + 437 * t**3 + 34 * t**4 + t**5
    return (h - 2) * (h - 1) ** 4 - 25 * h**3 - sympy.Rational(kept) * positive
