r"""One diagonal layer as gradient descent with momentum: Lemma 4.4 and the adaptive step, in each of their readings.

Let the labels be y_i = <w*, x_i> + r_i with residuals that are orthogonal to the covariates, sum r_i x_i = 0: w* is a
least-squares solution. Then sum_i y_i^l x_i^l = (M + u w*^T) Sigma (a w* - w) + a rho u with rho = sum r_i^2, and a
layer with the weights (xx, xy, yx, yy) takes (u, w) to

    u' = (I - Lambda) u + Gamma Sigma (a w* - w),
    w' = (1 + s) w - Pi Sigma (a w* - w) - Phi u,

    Lambda = -xy a^2 rho I - xx Sigma^l,  Gamma = a xy (M + kappa u w*^T),   s = yy lambda^l,
    Pi = yx M^T (M + kappa u w*^T),       Phi = a rho yx M^T,

where Sigma = sum x x^T over the tokens as they began, and Sigma^l = sum x^l x^lT and lambda^l = sum (y^l)^2 over the
tokens as the layer sees them. This holds with kappa = 1; what is printed has kappa = a, and can be read with one Sigma
for both.

Source: Vladymyrov, von Oswald, Sandler, Ge, NeurIPS 2024, Lemma 4.4 and section 5.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from lipverify.foundation.arrays import Array
from lipverify.linear_transformer.implicit import State
from lipverify.linear_transformer.layer import Diagonal


class Fit(NamedTuple):
    """A linear fit of the labels: its weights w*, (..., d), and rho = sum (y_i - <w*, x_i>)^2, (...)."""

    w: Array
    rho: Array


@dataclass(frozen=True)
class Reading:
    """How the lemma is read: kappa is 1 or the state's a; Sigma in Lambda is of the current or of the first tokens."""

    kappa: Literal["one", "a"] = "one"
    moments: Literal["current", "original"] = "current"


class Coefficients(NamedTuple):
    """Lambda, Gamma, Pi, Phi of shape (..., d, d) and s of shape (...)."""

    Lambda: Array
    Gamma: Array
    s: Array
    Pi: Array
    Phi: Array


def least_squares(gram: Array) -> Fit:
    """Ordinary least squares from the moments of the tokens, for Sigma of full rank.

    >>> import numpy as np
    >>> X, y = np.asarray([[1.0], [1.0]]), np.asarray([1.0, 3.0])
    >>> E = np.column_stack([X, y])
    >>> [float(part.squeeze()) for part in least_squares(E.T @ E)]  # the mean 2, and 1 + 1 around it
    [2.0, 2.0]
    """
    xp = gram.__array_namespace__()
    Sigma, alpha, energy = gram[..., :-1, :-1], gram[..., :-1, -1], gram[..., -1, -1]
    w = xp.linalg.solve(Sigma, alpha[..., None])[..., 0]
    return Fit(w, energy - xp.sum(w * alpha, axis=-1))


def coefficients(state: State, gram: Array, weights: Diagonal, fit: Fit, reading: Reading) -> Coefficients:
    """The five coefficients of the lemma; `gram` holds the moments of the tokens before any layer."""
    M, u, a, _ = state
    xp, now = M.__array_namespace__(), state.moments(gram)
    kappa = a if reading.kappa == "a" else xp.ones_like(a)
    Sigma = (now if reading.moments == "current" else gram)[..., :-1, :-1]
    identity = xp.tril(xp.triu(xp.ones_like(Sigma)))
    Mt, mixed = xp.matrix_transpose(M), M + _square(kappa) * u[..., :, None] * fit.w[..., None, :]
    return Coefficients(
        Lambda=-weights.xy * _square(a * a * fit.rho) * identity - weights.xx * Sigma,
        Gamma=weights.xy * _square(a) * mixed,
        s=weights.yy * now[..., -1, -1],
        Pi=weights.yx * Mt @ mixed,
        Phi=weights.yx * _square(a * fit.rho) * Mt,
    )


def momentum_step(
    state: State, gram: Array, weights: Diagonal, fit: Fit, reading: Reading | None = None
) -> tuple[Array, Array]:
    """(u', w') after one more layer, as the lemma has it; exact for a least-squares fit in the default reading."""
    (_, u, a, w), Sigma = state, gram[..., :-1, :-1]
    Lambda, Gamma, s, Pi, Phi = coefficients(state, gram, weights, fit, reading or Reading())
    descent = _apply(Sigma, a[..., None] * fit.w - w)
    return (
        u - _apply(Lambda, u) + _apply(Gamma, descent),
        w + s[..., None] * w - _apply(Pi, descent) - _apply(Phi, u),
    )


def adaptive_step(gram: Array, xy: Any, yx: Any, energy: Array) -> Array:
    r"""The w that a layer with only xy and then one with only yx reach from w = 0: -yx (1 + xy E) sum y_i x_i.

    With E = sum y_i^2 this is exact; the text has the sum of squared residuals in its place.

    >>> import numpy as np
    >>> gram = np.asarray([[1.0, 2.0], [2.0, 4.0]])  # one token, x = 1 and y = 2
    >>> adaptive_step(gram, -0.1, -0.5, gram[-1, -1])
    array([0.6])
    """
    return -yx * (1 + xy * energy)[..., None] * gram[..., :-1, -1]


def _square(scalar: Array) -> Array:
    """A number for each matrix of a stack."""
    return scalar[..., None, None]


def _apply(matrix: Array, vector: Array) -> Array:
    """A v for stacks of matrices and vectors."""
    return (matrix @ vector[..., None])[..., 0]
