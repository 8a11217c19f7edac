r"""Diagonal layers as gradient descent: with momentum (Lemma 4.4), and with a step that depends on the noise (Section 5.3).

For a least-squares fit w*, y_i = <w*, x_i> + r_i with sum r_i x_i = 0, a layer with the weights (xx, xy, yx, yy) takes
the state (M, u, a, w) to

    u' = (I - Lambda) u + Gamma Sigma (a w* - w),
    w' = (1 + s) w - Pi Sigma (a w* - w) - Phi u,

    Lambda = -xy a^2 rho I - xx Sigma^l,  Gamma = a xy (M + kappa u w*^T),   s = yy lambda^l,
    Pi = yx M^T (M + kappa u w*^T),       Phi = a rho yx M^T,                rho = sum r_i^2,

where Sigma = sum x x^T over the initial tokens, and Sigma^l = sum x^l x^lT and lambda^l = sum (y^l)^2 over the tokens
before the layer. This holds with kappa = 1; the paper's appendix prints kappa = a.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from lipverify.checks.linear_transformers import layers_in_words as layers
from lipverify.checks.linear_transformers.quantities import Value
from lipverify.linear_transformer import (
    CategoricalNoise,
    Diagonal,
    Tokens,
    draw_contexts,
    forward,
    trajectory,
)
from lipverify.prompts import Prompts
from lipverify.proofs import identity, leftover, letters
from lipverify.sampling import generator, mean_with_half_width

LEAST_SQUARES = "least squares"


class Fit(NamedTuple):
    """A linear fit of the labels: its weights w*, (d,), and rho = sum (y_i - <w*, x_i>)^2."""

    w: Any
    rho: Any


def momentum_step(T: Any, gram: Any, weights: Any, fit: Fit, kappa: str = "one") -> tuple[Any, Any]:
    """(u', w') of the lemma: kappa is "one" or "a".

    T = [[M, u], [-w^T, a]] is the state, `gram` holds the moments of the tokens before any layer.
    """
    M, u, w, a = T[:-1, :-1], T[:-1, -1], -T[-1, :-1], T[-1, -1]
    now, rho, one = T @ gram @ T.T, fit.rho, np.eye(len(u), dtype=int)
    mixed = M + (a if kappa == "a" else 1) * np.outer(u, fit.w)
    Lambda = -weights.xy * a * a * rho * one - weights.xx * now[:-1, :-1]
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

    @cached_property
    def fit(self) -> Fit:
        """Least squares, solved in fractions."""
        from sympy import Matrix

        X, y = self.context[:, :-1], self.context[:, -1]
        solved = Matrix(X.T @ X).LUsolve(Matrix(X.T @ y))
        w = np.asarray([Fraction(int(entry.p), int(entry.q)) for entry in solved], dtype=object)
        residuals = y - X @ w
        return Fit(w, residuals @ residuals)

    def lemma(self, kappa: str = "one") -> tuple[Any, Any]:
        """(u', w') of the lemma."""
        return momentum_step(self.state, self.context.T @ self.context, self.second, self.fit, kappa)

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


def in_words(kappa: Any, fit: str) -> Any:
    """The words that remain of the lemma at any state and any tokens, for every d and n."""
    return layers.momentum(kappa, orthogonal=fit == LEAST_SQUARES)


def smallest(kappa: str) -> dict[str, Fraction]:
    """One token x = y = 1; first xy = yy = 1, then xx = xy = yx = 1: (u', w') token by token minus the lemma."""
    case = Exact(np.ones((1, 2), dtype=int).astype(object), Diagonal(0, 1, 0, 1), Diagonal(1, 1, 1, 0))
    pairs = zip("uw", case.by_tokens, case.lemma(kappa), strict=True)
    return {name: Fraction(moved[0] - stated[0]) for name, moved, stated in pairs}


def kappa_of_tokens(d: int, n: int, seed: int) -> Fraction:
    """The kappa with which the lemma gives the w' of the tokens; w' is linear in kappa."""
    case = drawn(d, n, seed)
    (_, w_one), (_, w_a), (_, w) = case.lemma("one"), case.lemma("a"), case.by_tokens
    slope = (w_a - w_one) / (case.state[-1, -1] - 1)
    return 1 + ((w - w_one) @ slope) / (slope @ slope)


def assumed_share(sigma: float, contexts: int, seed: int) -> Value:
    """E sum r_i^2 / E sum y_i^2 at the paper's sizes: the printed sum over that of the two layers themselves."""
    drawn = draw_contexts(
        Prompts(d=10, n=20, sigma=CategoricalNoise((sigma,))), contexts, seed, f"steps/assumed/{sigma:g}"
    )
    fit = np.linalg.solve(drawn.covariance, drawn.alpha[..., None])[..., 0]
    residual = drawn.energy - np.sum(fit * drawn.alpha, axis=-1)
    share = float(residual.mean() / drawn.energy.mean())
    return share, share * mean_with_half_width(residual / residual.mean() - drawn.energy / drawn.energy.mean())[1]


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
