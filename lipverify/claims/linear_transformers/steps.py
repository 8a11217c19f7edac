r"""Measurements of the printed steps: gradient descent with momentum, and a step that depends on the noise."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from sympy import QQ, Matrix
from sympy.polys.matrices import DomainMatrix

from lipverify.claims.linear_transformers.identities import Identity, compared
from lipverify.claims.linear_transformers.means import mean_with_half_width
from lipverify.linear_transformer.implicit import State, trajectory
from lipverify.linear_transformer.layer import Diagonal
from lipverify.linear_transformer.theory import symbolic
from lipverify.linear_transformer.theory.momentum import Fit, Reading, least_squares, momentum_step
from lipverify.linear_transformer.theory.rounding import rounding_bound
from lipverify.linear_transformer.tokens import Tokens, forward
from lipverify.loss.streams import generator, normals

Floats = NDArray[np.float64]
READINGS = {
    "derived": Reading(),
    "kappa": Reading(kappa="a"),
    "moments": Reading(moments="original"),
    "both": Reading(kappa="a", moments="original"),
}
"""The lemma with kappa = 1 and current moments in Lambda; with kappa = a; with the first moments; with both."""


def momentum_symbols(reading: str, d: int) -> Identity:
    """The lemma at a general state in free symbols, for a least-squares fit; its twins are other readings."""
    stated = symbolic.momentum_lemma(d, READINGS[reading])
    others = {
        name: symbolic.momentum_lemma(d, other) for name, other in READINGS.items() if name not in (reading, "derived")
    }
    return compared(stated, **others)


def true_weights_symbols(d: int) -> Identity:
    """The same for a w* with residuals that are not orthogonal to the covariates; its twins are other readings."""
    stated, *others = (symbolic.momentum_lemma(d, reading, orthogonal=False) for reading in READINGS.values())
    return compared(stated, **dict(zip(list(READINGS)[1:], others, strict=True)))


class Smallest(msgspec.Struct, frozen=True):
    """One covariate, one token, two layers, every number an integer: (u, w) by the lemma and token by token."""

    lemma: tuple[float, float]
    tokens: tuple[float, float]


def smallest_momentum(reading: str) -> Smallest:
    """One token, x = y = 1; first xy = yy = 1 and then xx = xy = yx = 1, all else 0."""
    exact = Exact(np.ones((1, 2), dtype=int).astype(object), Diagonal(0, 1, 0, 1), Diagonal(1, 1, 1, 0))
    (u, w), (u_, w_) = exact.lemma(READINGS[reading]), exact.by_tokens()
    return Smallest((float(u[0]), float(w[0])), (float(u_[0]), float(w_[0])))


def momentum_exact(reading: str, d: int, n: int, seed: int) -> Identity:
    """Drawn integers: the entries of (u', w') that the lemma misses, in exact rational arithmetic."""
    exact = drawn_exact(d, n, seed)
    truth = np.concatenate(exact.by_tokens())

    def left(name: str) -> float:
        return float(np.count_nonzero(truth - np.concatenate(exact.lemma(READINGS[name]))))

    twins = {name: left(name) for name in READINGS if name not in (reading, "derived")}
    return Identity(left(reading), float(np.count_nonzero(truth)), twins)


def true_weights_exact(d: int, n: int, seed: int) -> Identity:
    """The same with true weights, which are integers, for w*; the twins are other readings with those."""
    exact = drawn_exact(d, n, seed)
    task = np.arange(1, d + 1).astype(object)
    noise = exact.context[:, -1] - exact.context[:, :-1] @ task
    fit = Fit(task[None], np.asarray([noise @ noise], dtype=object))
    truth = np.concatenate(exact.by_tokens())
    left = {
        name: float(np.count_nonzero(truth - np.concatenate(exact.lemma(reading, fit))))
        for name, reading in READINGS.items()
    }
    return Identity(left.pop("derived"), float(np.count_nonzero(truth)), left)


class Kappa(msgspec.Struct, frozen=True):
    """The kappa with which the lemma gives the w' of the tokens, the a of the state, and what is left then."""

    kappa: float
    a: float
    unexplained: float


def exact_kappa(d: int, n: int, seed: int) -> Kappa:
    """Kappa solves <w' - w'(0) - kappa D, D> = 0, where w'(kappa) = w'(0) + kappa D; rational arithmetic throughout."""
    exact = drawn_exact(d, n, seed)
    a = exact.state.a[0]
    (_, w_one), (_, w_a) = (exact.lemma(READINGS[name]) for name in ("derived", "kappa"))
    _, w = exact.by_tokens()
    slope = (w_a - w_one) / (a - 1)
    beyond = w - (w_one - slope)
    kappa = (beyond @ slope) / (slope @ slope)
    return Kappa(float(kappa), float(a), float(np.count_nonzero(beyond - slope * kappa)))


@dataclass(frozen=True)
class Exact:
    """Tokens (n, d + 1) of integers or fractions, a layer that makes the state, and a second that is looked at."""

    context: Any
    first: Diagonal
    second: Diagonal

    @property
    def gram(self) -> Any:
        """The moments of the tokens."""
        return self.context.T @ self.context

    @property
    def state(self) -> State:
        """The state between the layers."""
        return trajectory(self.gram[None], [self.first])[-1]

    @property
    def fit(self) -> Fit:
        """Least squares, solved in fractions."""
        X, y = self.context[:, :-1], self.context[:, -1]
        Sigma, alpha = (DomainMatrix.from_Matrix(Matrix(part)).convert_to(QQ) for part in (X.T @ X, X.T @ y))
        solved = Sigma.lu_solve(alpha).to_Matrix()
        w = np.asarray([Fraction(int(entry.p), int(entry.q)) for entry in solved], dtype=object)
        residuals = y - X @ w
        return Fit(w[None], np.asarray([residuals @ residuals], dtype=object))

    def lemma(self, reading: Reading, fit: Fit | None = None) -> tuple[Any, Any]:
        """(u', w') as the lemma has them."""
        u, w = momentum_step(self.state, self.gram[None], self.second, fit or self.fit, reading)
        return u[0], w[0]

    def by_tokens(self) -> tuple[Any, Any]:
        """(u', w'), column by column: what the layers make of unit tokens that are no keys."""
        probes = np.eye(self.context.shape[1], dtype=object)
        T = np.stack([forward(Tokens(self.context, e), [self.first, self.second])[-1].query for e in probes], axis=1)
        return T[:-1, -1], -T[-1, :-1]


def drawn_exact(d: int, n: int, seed: int) -> Exact:
    """Integers from -9 to 9 for tokens; fractions for weights, with a = 3/2 and u, w != 0 after the first layer."""
    random = generator(seed, f"steps/momentum/{d}/{n}", 0)
    context = random.integers(-9, 10, (n, d + 1)).astype(object)
    weights: list[Any] = [Fraction(int(k), 100) for k in random.choice([-3, -2, -1, 1, 2, 3], 7)]
    energy = int(context[:, -1] @ context[:, -1])
    weights.insert(3, Fraction(1, 2 * energy))
    return Exact(context, Diagonal(*weights[:4]), Diagonal(*weights[4:]))


def adaptive_symbols(energy: symbolic.Energy, d: int, n: int) -> Identity:
    """The two layers token by token against the step with a sum of squares, in free symbols."""
    others: tuple[symbolic.Energy, ...] = ("labels", "residuals", "none")
    twins = {other: symbolic.adaptive_layers(d, n, other) for other in others if other not in (energy, "labels")}
    return compared(symbolic.adaptive_layers(d, n, energy), **twins)


class Sums(msgspec.Struct, frozen=True):
    """The sum of squares that makes the step exact, with the bound on its rounding; and the candidates."""

    exact: tuple[float, float]
    labels: float
    residuals: float
    noise: float


def adaptive_sum(d: int, n: int, sigma: float, seed: int) -> Sums:
    """(y_t'' / (yx <Sigma w*, x_t>) - 1) / xy for drawn tokens, token by token."""
    cell = f"steps/adaptive/{d}/{n}/{sigma:g}"
    X, task, noise = (normals(seed, cell, k, shape) for k, shape in enumerate(((n, d), (d,), (n,))))
    y = X @ task + sigma * noise
    context, query = np.column_stack([X, y]), np.append(normals(seed, cell, 3, (d,)), 0.0)
    gram = context.T @ context
    fit, xy, yx = least_squares(gram), -1.0 / (2 * float(y @ y)), -1.0 / n
    model = [Diagonal(0.0, xy, 0.0, 0.0), Diagonal(0.0, 0.0, yx, 0.0)]
    plain = yx * float(gram[:-1, -1] @ query[:-1])
    label = float(forward(Tokens(context, query), model)[-1].query[-1])
    error = float(rounding_bound(query, context, [weights.layer(d) for weights in model])[-1])
    return Sums(
        exact=((label / plain - 1) / xy, error / abs(plain * xy)),
        labels=float(y @ y),
        residuals=float(fit.rho),
        noise=float(np.sum((sigma * noise) ** 2)),
    )


class Shrinking(msgspec.Struct, frozen=True):
    """The factor 1 + xy sum y^2 of the step against sigma: its mean over contexts, 95 % half-widths, and E derived."""

    sigma: tuple[float, ...]
    step: tuple[float, ...]
    error: tuple[float, ...]
    derived: tuple[float, ...]


def step_against_noise(d: int, n: int, xy: float, sigmas: tuple[float, ...], contexts: int, seed: int) -> Shrinking:
    """E over contexts with |w*|^2 = d: 1 + xy n (|w*|^2 + sigma^2), from x, noise and labels that are really drawn."""
    means, errors = [], []
    for sigma in sigmas:
        random = generator(seed, f"steps/shrinking/{d}/{n}/{xy:g}/{sigma:g}", 0)
        y = random.standard_normal((contexts, n, d)).sum(axis=2) + sigma * random.standard_normal((contexts, n))
        factor = 1 + xy * np.sum(y**2, axis=1)
        mean, error = mean_with_half_width(factor)
        means.append(mean)
        errors.append(error)
    derived = tuple(1 + xy * n * (d + sigma**2) for sigma in sigmas)
    return Shrinking(sigmas, tuple(means), tuple(errors), derived)
