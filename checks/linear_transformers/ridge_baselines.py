r"""The ridge baselines of Table 1, and GD++ beside the best constant ridge.

At an eigenvalue t of Sigma a GD++ model is w = g(t) alpha, g a polynomial, and loses E t (t + sigma^2) (g - 1/(t + sigma^2))^2 / 2,
which is least at g = 1/(t + E sigma^2): ridge with the constant E sigma^2.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache, partial
from statistics import NormalDist
from typing import Any

from lipverify.checks.linear_transformers.quantities import NOISY, Value, held_out, printed
from lipverify.linear_transformer import AdaRR, Bayes, GDPlusPlus
from lipverify.linear_transformer.published import problem
from lipverify.linear_transformer.regression.adjusted import difference_error, printed_error
from lipverify.linear_transformer.regression.bayes import bayes_gap
from lipverify.linear_transformer.regression.ridge import best_constant, tuned_ridge
from lipverify.linear_transformer.training.record import estimate

BASELINES = ("ConstRR", "AdaRR", "TunedRR")
LEVEL = 0.05
"""Chance that a table without slips is refuted by its noise anywhere in its columns, together."""
Z = round(NormalDist().inv_cdf(1 - LEVEL / len(NOISY)), 3)
"""Standard errors below the bound that noise explains, in one of the columns; one side."""
Z_BOTH = round(NormalDist().inv_cdf(1 - LEVEL / 2 / len(NOISY) / len(BASELINES)), 3)
"""The same for each baseline in each column, both sides."""


def least(noise: str, fewest: int = 1) -> Any:
    """The least printed entry of GD++ with so many layers or more, with half a unit of its last digit."""
    return min(printed(noise, "GD++", layers) for layers in range(fewest, 8))


def drawn(noise: str, contexts: int, seed: int, purpose: str) -> Any:
    """Contexts that nothing was fitted to, or that are used to fit."""
    regression = problem(noise)
    stream = f"baselines/{regression.noise.label}/{regression.d}/{regression.n}/{purpose}"
    return held_out(regression, contexts, seed, stream)


@lru_cache(maxsize=len(NOISY))
def fresh(noise: str, contexts: int, seed: int) -> Any:
    """A few that nothing was fitted to, which several measurements of a column share."""
    return drawn(noise, contexts, seed, "fresh")


def optima(noise: str, layers: int, seen_in: float = 0.0) -> Any:
    """GD++ with 1, 2, ... layers at its optimum, exactly; with `seen_in`, over eigenvalues that so many contexts show."""
    from lipverify.linear_transformer.gdplusplus.known import known_optimum

    return [known_optimum(noise, depth, seen_in or None) for depth in range(1, layers + 1)]


def model_of(optimum: Any) -> Any:
    """The optimum as an estimator."""
    return partial(estimate, tuple(GDPlusPlus(xx, yx) for xx, yx in optimum["layers"]))


def excess(noise: str, layers: int, found: list[Any], factor: float = 1.0) -> Value:
    """The loss of GD++ at its optimum less that of ridge with this multiple of the best constant."""
    from lipverify.linear_transformer.gdplusplus.filters import constant_ridge_loss

    own, regression = found[-1]["excess"], problem(noise)
    best, other = (constant_ridge_loss(regression, f * regression.noise.second_moment) for f in (1.0, factor))
    return own["value"] - (other.value - best.value), own["error"] + (best.error + other.error) * (factor != 1)


def paired(noise: str, layers: int, contexts: int, seed: int, found: list[Any]) -> Value:
    """The same through the layers themselves, on sampled contexts."""
    mean = fresh(noise, contexts, seed).difference(model_of(found[-1]), best_constant(problem(noise)))
    return mean.value, 2 * mean.standard_error


def constant(noise: str, contexts: int, seed: int) -> dict[str, Any]:
    """The loss of the best constant ridge, integrated and sampled; and the least printed GD++ entry beside it.

    That entry is given in units of the bound; and its distance from it in standard errors of a mean over the paper's sequences,
    where ridge with the true variance was measured on the same sequences, or on others of its own.
    """
    from lipverify.linear_transformer.gdplusplus.filters import constant_ridge_loss

    here, ridge = fresh(noise, contexts, seed), best_constant(problem(noise))
    exact, sampled, (value, rounding) = constant_ridge_loss(problem(noise)), here.loss(ridge), least(noise)
    errors = {f"{ours}-sequences": printed_error(here, ridge, paired=ours == "same").value for ours in ("same", "own")}
    distances = {name: ((value - exact.value) / error, rounding / error) for name, error in errors.items()}
    return distances | {
        "exact": (exact.value, exact.error),
        "sampled": (sampled.value, 2 * sampled.standard_error),
        "least": (value / exact.value, rounding / exact.value),
        "errors": errors,
    }


def difference(noise: str, contexts: int, seed: int, found: list[Any]) -> Value:
    """The least printed GD++ of three or more layers less ConstRR, in units of what rounding and noise explain."""
    here, ridge = fresh(noise, contexts, seed), printed(noise, "ConstRR")
    error = difference_error(here, model_of(found[-1]), best_constant(problem(noise)))
    value, rounding = least(noise, fewest=3)
    units = (value - ridge.value) / (rounding + ridge.rounding + Z * error)
    return units, 0.05 * abs(units)  # the standard error of a sampled standard error is a few percent


def baselines(noise: str, contexts: int, seed: int) -> dict[str, Any]:
    """Each baseline, tuned on one sample: printed less reproduced on another, beyond rounding, in standard errors."""
    tuned, here = tuned_ridge(drawn(noise, contexts, seed, "tuning")), drawn(noise, contexts, seed, "report")
    floor, away = bayes_gap(here, Bayes(problem(noise).noise)).averaged, {}
    for model, ridge in zip(BASELINES, (best_constant(problem(noise)), AdaRR(), tuned), strict=True):
        loss, (value, rounding) = here.loss(ridge), printed(noise, model)
        error = math.hypot(printed_error(here, ridge).value, loss.standard_error)
        away[model] = (math.copysign(max(abs(value - loss.value) - rounding, 0.0), value - loss.value) / error, 0.0)
    return away | {"cap": tuned.cap, "factor": tuned.factor, "floor": (floor.value, floor.standard_error)}


def at_size(d: int, n: int, contexts: int, seed: int) -> dict[str, Value]:
    """Losses of the baselines over each other at another size, sigma_max = 5; tuned on one sample, held out on another."""
    from lipverify.optimum.transfer import quotient

    regression = replace(problem("uniform-5"), d=d, n=n)
    tuning, report = (
        held_out(regression, contexts, seed, f"sizes/{d}/{n}/{purpose}") for purpose in ("tuning", "report")
    )
    losses = [report.loss(ridge) for ridge in (best_constant(regression), AdaRR(), tuned_ridge(tuning))]
    constant, adaptive, tuned = ((loss.value, 1.96 * loss.standard_error) for loss in losses)
    return {"AdaRR over ConstRR": quotient(adaptive, constant), "TunedRR over AdaRR": quotient(tuned, adaptive)}


def noisy_target(adjusted: str = "yes") -> Any:
    """By how much an adjusted loss moves when the query's target has noise e of its own, E e = 0, E e^2 = s, in symbols.

    `adjusted`: less that of ridge on the same target, or as it stands.
    """
    import sympy

    model, ridge, target, e, s = sympy.symbols("m r y e s")

    def loss(noise: Any) -> Any:
        squares = (model - target - noise) ** 2 - ((ridge - target - noise) ** 2 if adjusted == "yes" else 0)
        return sympy.Poly(squares / 2, e)

    moments = {0: 1, 1: 0, 2: s}
    moved = sum(coefficient * moments[power] for (power,), coefficient in (loss(e) - loss(0)).terms())
    return moved


SHOWN = ("uniform-1", "uniform-5", "levels-1-3")
"""Columns of the table that the quick profile measures."""
