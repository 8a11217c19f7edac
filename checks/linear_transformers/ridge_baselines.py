r"""The ridge regressions of Table 1, and GD++ compared with the best constant.

At an eigenvalue t of Sigma a GD++ model is w = g(t) alpha, g a polynomial, and loses E t (t + sigma^2) (g - 1/(t +
sigma^2))^2 / 2. The minimum is at g = 1/(t + E sigma^2): ridge regression with the constant E sigma^2.
"""

from __future__ import annotations

import math
from functools import lru_cache, partial
from statistics import NormalDist
from typing import Any

import numpy as np

from lipverify.checks.linear_transformers.quantities import NOISY, Value, held_out, printed
from lipverify.linear_transformer import (
    AdaRR,
    GDPlusPlus,
    best_constant,
    estimate,
    regression_named,
    tuned_ridge,
)
from lipverify.proofs import leftover, letters

BASELINES = ("ConstRR", "AdaRR", "TunedRR")
LEVEL = 0.05
"""The probability that noise refutes a table without errors, for all its columns together."""
Z = round(NormalDist().inv_cdf(1 - LEVEL / len(NOISY)), 3)
"""The one-sided number of standard errors below the bound that noise explains, for the worst column."""
Z_BOTH = round(NormalDist().inv_cdf(1 - LEVEL / 2 / len(NOISY) / len(BASELINES)), 3)
"""The two-sided number of standard errors for each baseline in each column."""
UNCERTAIN = 0.05
"""The relative error of a sampled standard error: a few percent."""


def least(noise: str, fewest: int = 1) -> Any:
    """The smallest printed entry of GD++ with at least `fewest` layers, with half a unit of its last digit."""
    return min(printed(noise, "GD++", layers) for layers in range(fewest, 8))


def drawn(noise: str, contexts: int, seed: int, purpose: str) -> Any:
    """Fresh contexts, for evaluation or for fitting."""
    regression = regression_named(noise)
    stream = f"baselines/{regression.noise.label}/{regression.d}/{regression.n}/{purpose}"
    return held_out(regression, contexts, seed, stream)


@lru_cache(maxsize=len(NOISY))
def fresh(noise: str, contexts: int, seed: int) -> Any:
    """A small set of fresh contexts that several measurements of a column share."""
    return drawn(noise, contexts, seed, "fresh")


def optima(noise: str, layers: int, seen_in: float = 0.0) -> Any:
    """GD++ with 1, 2, ... layers at its optimum, by quadrature; with `seen_in`, over the eigenvalues that so many contexts show."""
    from lipverify.linear_transformer import known_optimum

    return [known_optimum(noise, depth, seen_in or None) for depth in range(1, layers + 1)]


def model_of(optimum: Any) -> Any:
    """The optimum as an estimator."""
    return partial(estimate, tuple(GDPlusPlus(xx, yx) for xx, yx in optimum["layers"]))


def excess(noise: str, layers: int, found: list[Any], factor: float = 1.0) -> Value:
    """The loss of GD++ at its optimum minus that of ridge regression with a multiple of the best constant."""
    from lipverify.linear_transformer import constant_ridge_loss

    own, regression = found[-1]["excess"], regression_named(noise)
    best, other = (constant_ridge_loss(regression, f * regression.noise.second_moment) for f in (1.0, factor))
    return own["value"] - (other.value - best.value), own["error"] + (best.error + other.error) * (factor != 1)


def paired(noise: str, layers: int, contexts: int, seed: int, found: list[Any]) -> Value:
    """The same difference through the layers themselves, on sampled contexts."""
    mean = fresh(noise, contexts, seed).difference(model_of(found[-1]), best_constant(regression_named(noise)))
    return mean.value, 2 * mean.standard_error


def constant(noise: str, contexts: int, seed: int) -> dict[str, Any]:
    """The loss of ridge regression with the best constant, integrated and sampled; and the smallest printed GD++ entry.

    That entry is divided by the bound. Its distance from the bound is given in standard errors of a mean over the
    paper's sequences, with ridge regression at the true variance measured on the same sequences, or on others.
    """
    from lipverify.linear_transformer import constant_ridge_loss

    here, ridge = fresh(noise, contexts, seed), best_constant(regression_named(noise))
    exact, sampled, (value, rounding) = constant_ridge_loss(regression_named(noise)), here.loss(ridge), least(noise)
    errors = {f"{ours}-sequences": here.printed_error(ridge, paired=ours == "same").value for ours in ("same", "own")}
    distances = {name: ((value - exact.value) / error, rounding / error) for name, error in errors.items()}
    return distances | {
        "exact": (exact.value, exact.error),
        "sampled": (sampled.value, 2 * sampled.standard_error),
        "least": (value / exact.value, rounding / exact.value),
        "errors": errors,
    }


def difference(noise: str, contexts: int, seed: int, found: list[Any]) -> Value:
    """The smallest printed GD++ entry of three or more layers minus ConstRR, in units of the tolerance for rounding and noise."""
    here, ridge = fresh(noise, contexts, seed), printed(noise, "ConstRR")
    error = here.difference_error(model_of(found[-1]), best_constant(regression_named(noise)))
    value, rounding = least(noise, fewest=3)
    units = (value - ridge.value) / (rounding + ridge.rounding + Z * error)
    return units, UNCERTAIN * abs(units)


def baselines(noise: str, contexts: int, seed: int) -> dict[str, Any]:
    """Each baseline, tuned on one sample: printed minus reproduced on another, beyond rounding, in standard errors."""
    tuned, here = tuned_ridge(drawn(noise, contexts, seed, "tuning")), drawn(noise, contexts, seed, "report")
    away = {}
    for model, ridge in zip(BASELINES, (best_constant(regression_named(noise)), AdaRR(), tuned), strict=True):
        loss, (value, rounding) = here.loss(ridge), printed(noise, model)
        error = math.hypot(here.printed_error(ridge).value, loss.standard_error)
        units = math.copysign(max(abs(value - loss.value) - rounding, 0.0), value - loss.value) / error
        away[model] = (units, UNCERTAIN * abs(units))
    return away


def residuals(noise: int) -> Any:
    """The residuals of labels <v, x_i> + noise r_i at v, as words that remain; for every d and n."""
    s = letters(X="d n", v="d 1", r="n 1")
    return leftover(s.X.T @ s.v + noise * s.r, s.X.T @ s.v, "d n")


def growth(sigma: int, contexts: int, seed: int) -> Value:
    """The adjusted loss of AdaRR at a noise level minus that at the level one below."""
    losses = [
        held_out(regression_named("uniform-5").replace(sigma=float(level)), contexts, seed,
                 f"baselines/adaptive/{level}").loss(AdaRR())
        for level in (sigma, sigma - 1)
    ]  # fmt: skip
    return losses[0].value - losses[1].value, 2 * math.hypot(*(loss.standard_error for loss in losses))


def descended(noise: str, steps: int, contexts: int, seed: int, length: float = 0.01) -> Value:
    """The loss after steps of gradient descent on AdaRR's own objective, from 0, over AdaRR's, on the same contexts."""
    here = drawn(noise, contexts, seed, "descent")
    own, best = here.contexts, here.weights(AdaRR())
    fit = np.linalg.solve(own.covariance, own.alpha[..., None])[..., 0]
    variance = (own.energy - np.sum(fit * own.alpha, axis=-1)) / (own.n - own.covariance.shape[-1])
    curved = own.covariance + variance[:, None, None] * np.eye(own.covariance.shape[-1])
    left = np.linalg.matrix_power(np.eye(curved.shape[-1]) - length * curved, steps)  # of the distance from AdaRR
    w = best - (left @ best[..., None])[..., 0]
    losses, others = (np.sum((each - here.oracle) ** 2, axis=-1) / 2 for each in (w, best))
    ratio = losses.mean() / others.mean()
    spread = np.std(losses / losses.mean() - others / others.mean()) / math.sqrt(contexts)
    return float(ratio), float(2 * ratio * spread)


SHOWN = ("uniform-1", "uniform-5", "levels-1-3")
"""The columns of the table in the quick profile."""
