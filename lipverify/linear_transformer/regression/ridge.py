r"""The ridge regression baselines: one constant, an estimate of the noise, and an estimate with a tuned cap and factor.

Source: Vladymyrov, von Oswald, Sandler, Ge, NeurIPS 2024, section 6: ConstRR, AdaRR, TunedRR.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Array
from lipverify.foundation.validation import number
from lipverify.linear_transformer.regression.adjusted import Evaluation
from lipverify.linear_transformer.regression.contexts import require_regression
from lipverify.linear_transformer.regression.eigenbasis import Eigenbasis, SpectralEstimator
from lipverify.problem.prompts import Prompts


@dataclass(frozen=True)
class ConstRR(SpectralEstimator):
    """Ridge regression with one constant for all contexts; n < d is allowed.

    Parameters
    ----------
    penalty
        The constant, sigma^2 in the best case; finite, >= 0.

    Raises
    ------
    InvalidInput
        If `penalty` breaks its rule.

    Examples
    --------
    >>> ConstRR(-1.0)
    Traceback (most recent call last):
        ...
    lipverify.errors.InvalidInput: penalty = -1.0: a constant of ridge must be a finite number >= 0.
    """

    penalty: float

    def __post_init__(self) -> None:
        number("penalty", self.penalty, "a constant of ridge", least=0)

    def coordinates(self, basis: Eigenbasis) -> Array:
        """The coordinates z / (t + penalty)."""
        return basis.shrunk(self.penalty)


@dataclass(frozen=True)
class AdaRR(SpectralEstimator):
    """Ridge regression with the unbiased estimate of the variance, sum (y - y_OLS)^2 / (n - d), for each context.

    Raises
    ------
    InvalidInput
        On use, if n <= d.

    Examples
    --------
    >>> from lipverify.linear_transformer import draw_contexts, evaluation
    >>> fresh = evaluation(draw_contexts(Prompts(d=5, n=20, sigma=2.0), 4096, seed=0, stream="doc"))
    >>> 0 < fresh.loss(AdaRR()).value < fresh.loss(ConstRR(0.0)).value  # better than least squares
    True
    """

    def coordinates(self, basis: Eigenbasis) -> Array:
        """The coordinates z / (t + estimate); refused for n <= d, where least squares has no residual."""
        return basis.shrunk(variance_estimate(basis))


@dataclass(frozen=True)
class TunedRR(SpectralEstimator):
    """Ridge regression with the penalty min(factor * estimate, cap), where `AdaRR` defines the estimate.

    Parameters
    ----------
    cap
        Largest penalty, in units of y squared per unit of x squared; >= 0.
    factor
        Factor on the estimate of the variance; >= 0.

    Raises
    ------
    InvalidInput
        If a number breaks its rule; on use, if n <= d.

    Examples
    --------
    >>> from lipverify.linear_transformer import UniformNoise, draw_contexts, evaluation
    >>> fresh = evaluation(draw_contexts(Prompts(d=5, n=20, sigma=UniformNoise(3.0)), 4096, seed=0, stream="doc"))
    >>> tuned = tuned_ridge(fresh)  # cap and factor with the least loss on these contexts
    >>> fresh.loss(tuned).value < fresh.loss(AdaRR()).value
    True
    """

    cap: float
    factor: float

    def __post_init__(self) -> None:
        number("cap", self.cap, "a constant of ridge", least=0)
        number("factor", self.factor, "a constant of ridge", least=0)

    def coordinates(self, basis: Eigenbasis) -> Array:
        xp = basis.values.__array_namespace__()
        penalty = self.factor * variance_estimate(basis)
        return basis.shrunk(xp.where(penalty < self.cap, penalty, self.cap))


def variance_estimate(basis: Eigenbasis) -> Array:
    """The estimate sum (y - y_OLS)^2 / (n - d), (contexts,)."""
    if basis.n <= basis.d:
        raise InvalidInput(
            f"n = {basis.n} <= d = {basis.d}: least squares fits every label, so that the noise cannot be estimated; "
            "use ConstRR or a Bayes estimator."
        )
    return basis.residual / (basis.n - basis.d)


def best_constant(regression: Prompts) -> ConstRR:
    """Ridge regression with the exact best constant, E sigma^2.

    Parameters
    ----------
    regression
        The problem.

    Returns
    -------
    ConstRR
        An estimator.

    Raises
    ------
    InvalidInput
        If the covariates or tasks have another law.

    Examples
    --------
    >>> from lipverify.problem.noise import UniformNoise
    >>> best_constant(Prompts(d=5, n=20, sigma=UniformNoise(3.0)))
    ConstRR(penalty=3.0)
    """
    require_regression(regression)
    return ConstRR(regression.noise.second_moment)


def tuned_ridge(fitted: Evaluation) -> TunedRR:
    """Adaptive ridge regression with the cap and the factor that lose least on sampled contexts.

    Parameters
    ----------
    fitted
        The contexts to fit to, from `evaluation`; evaluate on fresh ones.

    Returns
    -------
    TunedRR
        An estimator.

    Raises
    ------
    InvalidInput
        If n <= d: least squares then leaves nothing to estimate the noise from.

    Examples
    --------
    >>> from lipverify.linear_transformer.regression.adjusted import evaluation
    >>> from lipverify.linear_transformer.regression.contexts import draw_contexts
    >>> known = Prompts(d=5, n=20, sigma=2.0)
    >>> tuned = tuned_ridge(evaluation(draw_contexts(known, 2048, seed=0, stream="tune")))
    >>> 3.9 < tuned.cap < 4.1  # sigma^2, as there is nothing to estimate
    True
    """
    highest = float(np.max(np.asarray(fitted.contexts.sigma))) ** 2
    if highest == 0:
        return TunedRR(0.0, 1.0)
    oracle = fitted.basis.into(fitted.oracle)

    def constants(logarithms: Any) -> TunedRR:
        return TunedRR(*(math.exp(min(max(value, -50.0), 50.0)) for value in logarithms))

    def loss(logarithms: Any) -> float:
        """The loss in the eigenbasis, which needs no rotation back."""
        away = np.asarray(constants(logarithms).coordinates(fitted.basis) - oracle)
        return float(np.einsum("cd,cd->", away, away)) / 2 / len(away)

    options = {"maxfev": 400, "xatol": 1e-5, "fatol": math.inf}  # stop by the constants alone
    from scipy.optimize import minimize  # modules that list claims import this one and do not optimise

    minimum = minimize(loss, [math.log(highest), 0.0], method="Nelder-Mead", options=options)
    return constants(minimum.x)
