"""Filters, estimators linear in the labels that act on eigenvalues: their exact loss, and the least possible loss.

A filter is a function g of the eigenvalues of Sigma = V diag(t) V^T: w = V g(t) V^T alpha. Given Sigma and sigma,
z = V^T alpha has E z_k^2 = t_k (t_k + sigma^2), and w_ridge = V z / (t + sigma^2), so that the adjusted loss is

    1/2 int rho(t) E_sigma [ t (t + sigma^2) (g - 1/(t + sigma^2))^2 ] dt.

But for a term without g it depends on sigma through s = E sigma^2 alone and is least at g = 1/(t + s), at every t
separately: no filter beats ridge regression with the constant s, to which e = 1 - t g loses

    1/2 int rho(t) (t + s)/t (e(t) - s/(t + s))^2 dt.
"""

from __future__ import annotations

import msgspec

from lipverify.foundation.arrays import EPS
from lipverify.foundation.noted import makes
from lipverify.foundation.validation import number
from lipverify.linear_transformer.gdplusplus.spectrum import POINTS, SpectralRule, spectral_rule
from lipverify.linear_transformer.regression.contexts import require_regression
from lipverify.problem.noise import NoiseLaw
from lipverify.problem.prompts import Prompts


class ExactLoss(msgspec.Struct, frozen=True, kw_only=True):
    """An adjusted loss by quadrature, with a bound on its error, in the units of the squared target."""

    value: float
    error: float


@makes("bounded", "exact")
def constant_ridge_loss(regression: Prompts, penalty: float | None = None) -> ExactLoss:
    r"""The exact adjusted loss of ridge regression with a constant.

    Parameters
    ----------
    regression
        n >= d tokens in R^d, and the law of the noise.
    penalty
        The constant; by default E sigma^2, which is the best.

    Returns
    -------
    ExactLoss
        The loss; its error is the difference to rules with fewer nodes in t and sigma, plus rounding.

    Raises
    ------
    InvalidInput
        If n < d, or the constant is negative.

    Examples
    --------
    >>> from lipverify.problem.noise import CategoricalNoise
    >>> found = constant_ridge_loss(Prompts(d=10, n=20, sigma=CategoricalNoise((1.0, 3.0))))
    >>> round(found.value, 6), found.error < 1e-12
    (0.219537, True)
    """
    require_regression(regression)
    best = regression.noise.second_moment
    penalty = best if penalty is None else number("penalty", penalty, "a constant of ridge regression", least=0)
    fine, coarse = (
        _ridge_loss(spectral_rule(regression.n, regression.d, points=points), regression.noise, penalty, nodes)
        for points, nodes in ((POINTS, 96), (POINTS - 4, 64))
    )
    return ExactLoss(value=fine, error=abs(fine - coarse) + 64 * EPS * fine)


def _ridge_loss(rule: SpectralRule, noise: NoiseLaw, penalty: float, nodes: int) -> float:
    """1/2 int rho E t (sigma^2 - lambda)^2 / ((t + lambda)^2 (t + sigma^2)): all terms are positive."""
    sigma, weights = noise.nodes(nodes)
    t = rule.t[:, None]
    lost = t * (sigma**2 - penalty) ** 2 / ((t + penalty) ** 2 * (t + sigma**2))
    return rule.mean(lost @ weights) / 2
