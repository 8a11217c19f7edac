r"""Attention tuned to one class of 1-Lipschitz tasks, or to a mixture of them, tested on others."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import lipverify as lv
from lipverify.checks.softmax.quantities import Floats, Value, at_tuned, problem

CLASSES = ("affine", "relu", "cosine")
NODES, FEWER = 14, 11
"""Nodes in log w between the optima of the classes, where the optimum of a mixture lies; fewer nodes give the error."""
SMOOTH = {"p": "0", "q": "4/(d + 3)"}
FROM_RELU = {"p": "(d - 1)/((d + 2)*(d + 3))", "q": "3/(d + 2)"}
TO_RELU = {"p": "3/((d + 2)*(d + 3))", "q": "3/(d + 3)"}
PAIRS = {
    ("affine", "relu"): TO_RELU, ("affine", "cosine"): SMOOTH, ("relu", "affine"): FROM_RELU,
    ("relu", "cosine"): FROM_RELU, ("cosine", "affine"): SMOOTH, ("cosine", "relu"): TO_RELU,
}  # fmt: skip
"""The loss falls like n^-q, and is n^p times the loss at the tuned w. With bias w^-beta and w* ~ n^(1/(a + beta)), a =
(d - 1)/2, the noise is n^(-beta/(a + beta)) and the bias of the tested class n^(-beta'/(a + beta)); the slower one
dominates."""


def table(d: int, n: float, sigma: float = 1.0) -> dict[str, Value]:
    """The optimal w of each of the three classes with L = 1, its loss on each, and that loss divided by the minimal one."""
    from lipverify.optimum import transfers

    return transfers({law: problem(law, d, n, sigma=sigma) for law in CLASSES})


def sampled(trained: str, tested: str, d: int, n: float, contexts: int, seed: int, backend: str) -> dict[str, Value]:
    """The loss at the w tuned to one class on contexts of another."""
    drawn = {"contexts": contexts, "seed": seed, "backend": backend, "stream": f"transfer/{trained}/{tested}/{d}/{n:g}"}
    loss = at_tuned(problem(trained, d, n), problem(tested, d, n), "montecarlo", **drawn)
    return {f"loss of {trained} on {tested}": loss}


def on_waves(d: int, n: float) -> Value:
    """The loss of the affine class's w on the 1-Lipschitz waves cos(k <q, x>) / k with k^2 = w*, relative to tuned attention.

    The loss of cos(k z) / k with noise 1 is that of cos(k z) with noise k, divided by k^2.
    """
    from lipverify.optimum import quotient, transferred_loss

    tuned = lv.optimal_window(problem("affine", d, n))
    wave = problem("cosine", d, n, math.sqrt(tuned.w), math.sqrt(tuned.w))
    own = lv.optimal_window(wave)
    return quotient(transferred_loss(tuned, wave), (own.loss, own.loss_error))


def worst_task(d: int, n: float) -> dict[str, Value]:
    """The loss at the w of the ReLU law, L = sigma = 1, on the worst 1-Lipschitz function, as bounds from above and below."""
    from lipverify.loss import worst_bias
    from lipverify.optimum import at_optima

    here = problem("relu", d, n)
    tuned = lv.optimal_window(here)

    @cache
    def worst(windows: bytes) -> Any:
        return worst_bias(d, n, np.frombuffer(windows))

    def losses(side: str) -> Callable[[Floats], tuple[Floats, Floats]]:
        def at(w: Floats) -> tuple[Floats, Floats]:
            noise, bias = lv.loss_terms(here, w), worst(w.tobytes())
            return noise.noise + getattr(bias, side), noise.noise_error + getattr(bias, f"{side}_error")

        return at

    return {side: at_optima([tuned], losses(side))[0] for side in ("high", "low")}


def mixed(d: int, n: float, sigma: float = 1.0) -> dict[str, Value]:
    """w* for tasks of each of the three classes with probability 1/3, and its loss on each divided by the minimal one.

    The loss of a mixture is the mean of the losses: it falls where all three fall and rises where all rise, so its
    minimum lies between theirs.
    """
    from lipverify.optimum import quotient

    here = {law: problem(law, d, n, sigma=sigma) for law in CLASSES}
    best = {law: lv.optimal_window(each) for law, each in here.items()}
    ends = [math.log(end(each.w for each in best.values())) for end in (min, max)]
    (w, error), (rough, _) = (between(here, ends, nodes) for nodes in (NODES, FEWER))
    error += abs(w - rough)
    found = {"w": (w, error)}
    for law, each in here.items():
        terms = lv.loss_terms(each, np.array([w, w * (1 + 1e-3)]))
        drift = abs(float(terms.total[1] - terms.total[0])) * 1e3 * error / w
        loss = float(terms.total[0]), float(terms.total_error[0]) + drift
        found[f"mixture on {law}"] = quotient(loss, (best[law].loss, best[law].loss_error))
    return found


def between(problems: dict[str, lv.Problem], ends: list[float], nodes: int) -> Value:
    """The minimiser of the mean loss, by interpolation in log w, and its uncertainty from rounding."""
    from numpy.polynomial import Chebyshev

    x = np.cos(np.pi * (np.arange(nodes) + 0.5) / nodes) * (ends[1] - ends[0]) / 2 + sum(ends) / 2
    terms = [lv.loss_terms(each, np.exp(x)) for each in problems.values()]
    loss = np.mean([each.total for each in terms], axis=0)
    fitted = Chebyshev.fit(x, loss, nodes - 1, domain=ends)
    roots = np.asarray(fitted.deriv().roots(), dtype=complex)
    inside = roots.real[(np.abs(roots.imag) < 1e-9) & (roots.real >= ends[0]) & (roots.real <= ends[1])]
    place = float(min(inside, key=lambda at: float(fitted(at))))
    slope = nodes**2 * max(float(np.max(each.total_error)) for each in terms) / (ends[1] - ends[0])
    return math.exp(place), math.exp(place) * slope / float(fitted.deriv(2)(place))


def derivation(kinked: str = "relu") -> Any:
    """The difference of the exponents that leading terms imply from p and q below, by SymPy, for every d."""
    import sympy

    from lipverify.loss import transferred_power

    laws = {"relu": lv.laws.law_named(kinked), "affine": lv.laws.Affine(), "cosine": lv.laws.Affine()}  # equally smooth
    apart = []
    for (trained, tested), stated in PAIRS.items():
        falls = transferred_power(laws[trained], laws[tested])
        implied = {"q": -falls, "p": falls - lv.leading(laws[tested]).loss_exponent}
        apart += [
            implied[name] - sympy.sympify(text, {each.name: each for each in falls.free_symbols})
            for name, text in stated.items()
        ]
    return sympy.Matrix(apart)
