r"""How noise and bias change with w: derivatives at single w, identities for every w, n and d, and proofs between w and 2w."""

from __future__ import annotations

from typing import Any

import numpy as np

import lipverify as lv
from lipverify.checks.softmax.quantities import WINDOWS, Value, curve, problem, sampled_curve
from lipverify.claims import agree, at, per_profile

SMALL, STEP, POINTS = 0.01, 1e-3, 7
"""The smallest w, and for each number of points the step in log w of the finite differences."""


def slopes(law: str, d: int, n: float, L: float) -> dict[str, Value]:
    """The smallest d log N / d log w and the smallest -d log B / d log w, at seven w from 0.01 to w*; sigma = 1."""
    here = problem(law, d, n, L)
    w = np.geomspace(SMALL, lv.optimal_window(here).w, POINTS)
    terms = lv.loss_terms(here, np.concatenate([w, w * np.exp(STEP)]))
    return {"noise": _least(terms.noise, terms.noise_error, +1), "bias": _least(terms.bias, terms.bias_error, -1)}


def _least(values: np.ndarray, errors: np.ndarray, sign: int) -> Value:
    """The smallest slope times the sign, and its error."""
    slope = sign * np.log(values[POINTS:] / values[:POINTS]) / STEP
    return float(slope.min()), float(2 * np.max(errors / values) / STEP)


NEAR = 1e-3
"""Half the length of the interval around each w on which a polynomial gives the certified derivative."""


def certified_slopes(law: str, d: int, n: int, L: float) -> Any:
    """The smallest -d log B / d log w at the same w, as a ball: the derivative of a polynomial through balls around each w."""
    from functools import reduce

    from flint import arb, ctx

    from lipverify.proofs.checker.one_problem import optima

    k = {"law": law, "d": d, "n": n, "L": arb(L), "sigma": arb(1)}
    found, unlisted = [], arb(0).union(4 * optima.spectrum(k)[1].upper())
    with ctx.workprec(128):
        for window in np.geomspace(SMALL, lv.optimal_window(problem(law, d, n, L)).w, POINTS):
            w, half = arb(float(window)), arb(min(NEAR, float(window) / 2))
            listed = optima.minus(k, w - half, w + half, 1e-6)  # four points on so short an interval
            slope = listed.slope(1).over(w, w) + arb(0, optima.steepest_rest(k, w).upper())
            found.append(w * slope / (unlisted - listed.over(w, w)))
    return reduce(arb.min, found)


def falls(law: str, d: int, n: int) -> Any:
    """The share of [0, w*] on which the bias falls, for every L <= sigma; the proof shows all of it."""
    from lipverify.claims import proved
    from lipverify.proofs import prove_falling

    here = problem(law, d, n)
    found = proved(f"falling-{law}-{d}-{n}", "bias falls", here, lambda: prove_falling(here))
    return found.fact("falling")


def at_twice(law: str, d: int) -> dict[str, Any]:
    """N(2w) / N(w) and B(2w) / B(w), proved for every n, L, sigma and w of a range."""
    from lipverify.claims import proved
    from lipverify.proofs import prove_tradeoff

    name = f"tradeoff-{law}-{d}"
    proof = proved(name, "tradeoff", {"law": law, "d": d}, lambda: prove_tradeoff(lv.laws.law_named(law), d))
    k = proof.constants
    if k["rho"] != 2 or k["u"] > 1000 or k["K"] > 100:
        raise ValueError(f"{name}.json: not from w >= 1000 and n >= 100 (2 w)^p to 2 w: {proof.statement}")
    return dict(proof.facts)


def squares(kept: str = "1") -> Any:
    """d/dw sum_i a_i^2 minus `kept` times sum_ij a_i a_j (a_i - a_j)(t_i - t_j); for every n and fixed tokens."""
    return _left(kept, ("squares",))


def squares_and_distances(kept: str = "1") -> Any:
    """The same difference, and d/dw sum_i a_i (1 - t_i) minus `kept` times -Var_a(t)."""
    return _left(kept, ("squares", "distances"))


def projections(kept: str = "1") -> Any:
    """The derivative of sum_i a_i t_i in the length of Mx minus `kept` times the variance of t_i under the attention."""
    return _left(kept, ("projections",))


def _left(kept: str, names: tuple[str, ...]) -> Any:
    """Symbols: A and T are the diagonal matrices of attention and scores, and the column 1 sums: a = A 1, 1^T A 1 = 1."""
    from fractions import Fraction

    from lipverify.proofs import leftover, letters

    s, times = letters(symmetric=("A", "T"), A="n n", T="n n", one="n 1"), Fraction(kept)

    def total(of: Any) -> Any:
        return s.one.T @ of @ s.one

    moved = s.A @ s.T - total(s.A @ s.T) * s.A  # d a_i / d w = (t_i - sum_j a_j t_j) a_i
    # sum_ij a_i a_j (a_i t_i - a_i t_j - a_j t_i + a_j t_j): each term is a product of a sum over i and a sum over j
    pairs = 2 * total(s.A @ s.A @ s.T) * total(s.A) - 2 * total(s.A @ s.A) * total(s.A @ s.T)
    variance = total(s.A @ s.T @ s.T) * total(s.A) - total(s.A @ s.T) ** 2
    slopes = {
        "squares": total(moved @ s.A + s.A @ moved),
        "distances": total(moved - moved @ s.T),
        "projections": total(moved @ s.T),
    }
    stated = {"squares": times * pairs, "distances": -times * variance, "projections": times * variance}
    commute, summed = {(s.T, s.A): s.A @ s.T}, {(s.one.T, s.A, s.one): 1}
    derived, claimed = ([side[name].where(commute).where(summed) for name in names] for side in (slopes, stated))
    return leftover(derived, claimed, "n")


SIZE, SEEN = {"d": 3, "n": 1000}, WINDOWS[:5]
"""The w at which sampled terms are compared and shown, up to the last w of the curves."""
CONTEXTS = per_profile(2_500, 400_000)
"""Number of contexts: one context of a thousand tokens is informative, so these give each term to a tenth or better."""
SAMPLED = {
    letter: [
        agree(curve, at(sampled_curve, contexts=CONTEXTS), f"{letter}({w:g})", of=f"{letter}({w:g})", over=SIZE)
        for w in SEEN
    ]
    for letter in "BN"
}
