r"""Diagonal layers as gradient descent: with momentum (Lemma 4.4), and with a step that depends on the noise (Section 5.3).

For a least-squares fit w*, y_i = <w*, x_i> + r_i with sum r_i x_i = 0, a layer with the weights (xx, xy, yx, yy) takes
the state (M, u, a, w) to

    u' = (I - Lambda) u + Gamma Sigma (a w* - w),
    w' = (1 + s) w - Pi Sigma (a w* - w) - Phi u,

    Lambda = -xy a^2 rho I - xx Sigma^l,  Gamma = a xy (M + kappa u w*^T),   s = yy lambda^l,
    Pi = yx M^T (M + kappa u w*^T),       Phi = a rho yx M^T,                rho = sum r_i^2,

where Sigma = sum x x^T over the initial tokens, and Sigma^l = sum x^l x^lT and lambda^l = sum (y^l)^2 over the tokens
before the layer. This holds with kappa = 1; the paper prints kappa = a, and can be read with one Sigma for both.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np

from lipverify.checks.linear_transformers import layers_in_words as layers
from lipverify.checks.linear_transformers.quantities import Value
from lipverify.checks.linear_transformers.rounding import rounding_bound
from lipverify.linear_transformer import Diagonal, Tokens, forward, trajectory
from lipverify.proofs import identity, leftover, letters
from lipverify.sampling import generator, mean_with_half_width, normals

LEAST_SQUARES = "least squares"


class Fit(NamedTuple):
    """A linear fit of the labels: its weights w*, (d,), and rho = sum (y_i - <w*, x_i>)^2."""

    w: Any
    rho: Any


def least_squares(gram: Any) -> Fit:
    """Least squares from the moments (d + 1, d + 1) of the tokens, for Sigma of full rank.

    >>> E = np.asarray([[1.0, 1.0], [1.0, 3.0]])  # x = 1 and y = 1; x = 1 and y = 3
    >>> [float(part) for part in (*least_squares(E.T @ E).w, least_squares(E.T @ E).rho)]  # the mean 2, and 1 + 1 around it
    [2.0, 2.0]
    """
    Sigma, alpha, energy = gram[:-1, :-1], gram[:-1, -1], gram[-1, -1]
    w = np.linalg.solve(Sigma, alpha)
    return Fit(w, energy - np.sum(w * alpha))


def momentum_step(
    T: Any, gram: Any, weights: Any, fit: Fit, kappa: str = "one", moments: str = "current"
) -> tuple[Any, Any]:
    """(u', w') of the lemma: kappa is "one" or "a", the moments in Lambda are the "current" or the "original" ones.

    T = [[M, u], [-w^T, a]] is the state, `gram` holds the moments of the tokens before any layer.
    """
    M, u, w, a = T[:-1, :-1], T[:-1, -1], -T[-1, :-1], T[-1, -1]
    now, rho, one = T @ gram @ T.T, fit.rho, np.eye(len(u), dtype=int)
    mixed = M + (a if kappa == "a" else 1) * np.outer(u, fit.w)
    Lambda = -weights.xy * a * a * rho * one - weights.xx * (now if moments == "current" else gram)[:-1, :-1]
    Gamma, s = a * weights.xy * mixed, weights.yy * now[-1, -1]
    Pi, Phi = weights.yx * M.T @ mixed, a * rho * weights.yx * M.T
    descent = gram[:-1, :-1] @ (a * fit.w - w)
    return u - Lambda @ u + Gamma @ descent, w + s * w - Pi @ descent - Phi @ u


@dataclass(frozen=True)
class Exact:
    """Tokens (n, d + 1) of integers or fractions, a first layer that produces the state, and a second one for the lemma."""

    context: Any
    first: Any
    second: Any

    @cached_property
    def state(self) -> Any:
        """T between the layers."""
        return trajectory((self.context.T @ self.context)[None], [self.first])[-1].map[0]

    def fit(self, name: str) -> Fit:
        """Least squares, solved in fractions; or the weights 1, ..., d, whose residuals are not orthogonal to x."""
        from sympy import Matrix

        X, y = self.context[:, :-1], self.context[:, -1]
        w = np.arange(1, X.shape[1] + 1).astype(object)
        if name == LEAST_SQUARES:
            solved = Matrix(X.T @ X).LUsolve(Matrix(X.T @ y))
            w = np.asarray([Fraction(int(entry.p), int(entry.q)) for entry in solved], dtype=object)
        residuals = y - X @ w
        return Fit(w, residuals @ residuals)

    def lemma(self, kappa: str = "one", moments: str = "current", fit: str = LEAST_SQUARES) -> tuple[Any, Any]:
        """(u', w') of the lemma."""
        return momentum_step(self.state, self.context.T @ self.context, self.second, self.fit(fit), kappa, moments)

    @cached_property
    def by_tokens(self) -> tuple[Any, Any]:
        """(u', w'), column by column: the outputs of the layers for unit tokens that are not keys."""
        probes = np.eye(self.context.shape[1], dtype=object)
        T = np.stack([forward(Tokens(self.context, e), [self.first, self.second])[-1].query for e in probes], axis=1)
        return T[:-1, -1], -T[-1, :-1]


@lru_cache(maxsize=4)
def drawn(d: int, n: int, seed: int) -> Exact:
    """Integers from -9 to 9 for tokens; fractions for weights, with a = 3/2 and u, w != 0 after the first layer.

    Every reading of the lemma is compared on the same tokens and weights.
    """
    random = generator(seed, f"steps/momentum/{d}/{n}", 0)
    context = random.integers(-9, 10, (n, d + 1)).astype(object)
    weights: list[Any] = [Fraction(int(k), 100) for k in random.choice([-3, -2, -1, 1, 2, 3], 7)]
    weights.insert(3, Fraction(1, 2 * int(context[:, -1] @ context[:, -1])))
    return Exact(context, Diagonal(*weights[:4]), Diagonal(*weights[4:]))


def in_words(kappa: Any, moments: str, fit: str) -> Any:
    """The words that remain of the lemma at any state and any tokens, for every d and n."""
    return layers.momentum(kappa, moments, orthogonal=fit == LEAST_SQUARES)


def in_fractions(d: int, n: int, kappa: str, moments: str, fit: str, seed: int) -> Fraction:
    """Number of entries of (u', w') in which the lemma is wrong, for random tokens and weights."""
    case = drawn(d, n, seed)
    missed = np.concatenate(case.by_tokens) - np.concatenate(case.lemma(kappa, moments, fit))
    return Fraction(int(np.count_nonzero(missed)))


def smallest(kappa: str, moments: str, fit: str) -> dict[str, Fraction]:
    """One token x = y = 1; first xy = yy = 1, then xx = xy = yx = 1: (u', w') token by token minus the lemma."""
    case = Exact(np.ones((1, 2), dtype=int).astype(object), Diagonal(0, 1, 0, 1), Diagonal(1, 1, 1, 0))
    pairs = zip("uw", case.by_tokens, case.lemma(kappa, moments, fit), strict=True)
    return {name: Fraction(moved[0] - stated[0]) for name, moved, stated in pairs}


def kappa_of_tokens(d: int, n: int, seed: int) -> Fraction:
    """The kappa with which the lemma gives the w' of the tokens; w' is linear in kappa."""
    case = drawn(d, n, seed)
    (_, w_one), (_, w_a), (_, w) = case.lemma("one"), case.lemma("a"), case.by_tokens
    slope = (w_a - w_one) / (case.state[-1, -1] - 1)
    return 1 + ((w - w_one) @ slope) / (slope @ slope)


def length_in_words(squares: Literal["labels", "residuals", "noise"]) -> Any:
    """A layer with only xy and one with only yx minus the step with a sum of squares, as words that remain; for every d and n."""
    return layers.adaptive(squares)


def length_by_tokens(d: int, n: int, sigma: float, squares: str, seed: int) -> Value:
    """The sum (y_t'' / (yx <Sigma w*, x_t>) - 1) / xy that makes the step exact, divided by the stated one, minus 1."""
    cell = f"steps/adaptive/{d}/{n}/{sigma:g}"
    X, task, noise = (normals(seed, cell, k, shape) for k, shape in enumerate(((n, d), (d,), (n,))))
    y = X @ task + sigma * noise
    context, query = np.column_stack([X, y]), np.append(normals(seed, cell, 3, (d,)), 0.0)
    gram, xy, yx = context.T @ context, -1 / (2 * float(y @ y)), -1 / n
    if squares == "residuals":
        stated = least_squares(gram).rho
    else:
        stated = y @ y if squares == "labels" else np.sum((sigma * noise) ** 2)
    model = [Diagonal(0.0, xy, 0.0, 0.0), Diagonal(0.0, 0.0, yx, 0.0)]
    plain = yx * float(gram[:-1, -1] @ query[:-1])
    moved = float(forward(Tokens(context, query), model)[-1].query[-1])
    rounding = float(rounding_bound(query, context, [layer.layer(d) for layer in model])[-1])
    return float((moved / plain - 1) / xy / stated - 1), float(rounding / abs(plain * xy * stated))


def length(sigma: float, contexts: int, seed: int) -> dict[str, Value]:
    """E(1 + xy sum y^2), and the derivative of E sum y^2 / n in sigma^2, on sampled noise and <w*, x> ~ N(0, |w*|^2 = d).

    The paper's d = 10 and n = 20; xy = -1/800 makes the step 0 at sigma^2 = 1 / (n |xy|) - d = 30.
    """
    d, n, xy = 10, 20, -1 / 800
    random = generator(seed, f"steps/shrinking/{d}/{n}/{xy:g}/{sigma:g}", 0)
    signal, noise = random.standard_normal((2, contexts, n)) * np.sqrt([d, 1])[:, None, None]
    found = {"step": mean_with_half_width(1 + xy * np.sum((signal + sigma * noise) ** 2, axis=1))}
    if sigma:
        found["slope"] = mean_with_half_width(np.mean(noise * (signal / sigma + noise), axis=1))
    return found


def mean_length(noise: str = "1") -> Any:
    """E(1 + xy sum y^2) - 1 - xy n (|w|^2 + sigma^2) with `noise` times the variance, for every d, n, w and sigma.

    Each label is w^T x + sigma g^T z with x and z of covariance I and |g| = 1.
    """
    s = letters(w="d 1", x="d 1", g="m 1", z="m 1", sigma="", xy="", n="")
    square = ((s.w.T @ s.x + s.sigma * (s.g.T @ s.z)) ** 2).mean(s.x, identity("d")).mean(s.z, identity("m"))
    derived = 1 + s.xy * s.n * square.where({(s.g.T, s.g): 1})
    return leftover(derived, 1 + s.xy * s.n * (s.w.T @ s.w + Fraction(noise) * s.sigma**2), "d")
