"""Linear attention with weighted keys: decays, causal masks and gates, in exact arithmetic and symbolically.

A layer takes a token e at a position to e + P G Q e, with the moments G = sum_j c_j e_j e_j^T of the keys that it
attends to.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from lipverify.linear_transformer import Layer, trajectory
from lipverify.proofs import identity, leftover, letters
from lipverify.sampling import generator

DECAY, RANGE = Fraction(1, 2), 9
"""The decay of a key by one position, and the largest random entry."""


def attended(kind: str, keys: Any, token: Any, place: int) -> Any:
    """The moments sum_j c_j e_j e_j^T of the keys (n, d + 1) for a token at a position; the query is at position n.

    "plain": c_j = 1. "decay": c_j = gamma^(n-1-j), the same for every token. "retention": gamma^(place-j) for the keys
    up to it, the causal mask of RetNet. "gated keys": 1 / (1 + <x_j, 1>^2). "gated": that times a gate of the token
    itself, as in gated linear attention and selective state spaces. "shifted gates": 1 / (1 + (1 + <x_j, 1>)^2).
    """
    n = len(keys)
    weights = {
        "plain": [Fraction(1)] * n,
        "decay": [DECAY ** (n - 1 - j) for j in range(n)],
        "retention": [DECAY ** (place - j) if j <= place else Fraction(0) for j in range(n)],
        "gated keys": [gate(key) for key in keys],
        "shifted gates": [gate(key, 1) for key in keys],
        "gated": [gate(key) * gate(token) for key in keys],
    }[kind]
    return sum(c * np.outer(key, key) for c, key in zip(weights, keys, strict=True))


def gate(token: Any, shift: int = 0) -> Fraction:
    """1 / (1 + (shift + sum of the entries of x)^2), a rational gate in (0, 1]."""
    return 1 / (1 + Fraction(shift + sum(token[:-1])) ** 2)


def forward(kind: str, context: Any, query: Any, layers: Any) -> tuple[Any, Any]:
    """The tokens (n, d + 1) and the query (d + 1,) after all layers; the query is never a key."""
    for P, Q in layers:
        every = [*context, query]
        moved = [e + P @ attended(kind, context, e, place) @ Q @ e for place, e in enumerate(every)]
        context, query = np.stack(moved[:-1]), moved[-1]
    return context, query


def drawn(d: int, n: int, layers: int, seed: int) -> tuple[Any, Any, Any, Any]:
    """A context (n, d + 1), two queries (d + 1,) with label 0, and layers of full weights: integers as objects."""
    random, size = generator(seed, f"variants/{d}/{n}/{layers}", 0), d + 1

    def draw(*shape: int) -> Any:
        return random.integers(1, RANGE, shape, endpoint=True).astype(object)

    queries = [np.append(draw(d), np.asarray([0], dtype=object)) for _ in range(2)]
    return draw(n, size), *queries, [(draw(size, size), draw(size, size)) for _ in range(layers)]


def shared(kind: str, d: int, n: int, layers: int, seed: int, model: str = "its own") -> Fraction:
    """Number of entries of the tokens and the query that differ from one linear map, that of the recursion on the query's moments."""
    context, query, _, weights = drawn(d, n, layers, seed)
    # every token is T e with one T if all have the same moments, which then are T G T^T at the next layer
    gram = attended("plain" if model == "undecayed" else kind, context, query, n)[None]
    (state,) = trajectory(gram, [])
    for P, Q in weights:
        state = state.after(gram, Layer(P[None], Q[None]))
    last = np.vstack(forward(kind, context, query, weights))
    return Fraction(int(np.count_nonzero(last - np.vstack([context, query]) @ state.map[0].T)))


def additive(kind: str, d: int, n: int, layers: int, seed: int) -> Fraction:
    """The linearity of y_t in x_t: the number of entries of the query in which y_t at x + x' differs from the sum of both."""
    context, one, other, weights = drawn(d, n, layers, seed)
    ends = [forward(kind, context, query, weights)[1] for query in (one, other, one + other)]
    return Fraction(int(np.count_nonzero(ends[0] + ends[1] - ends[2])))


def mirrored(kind: str, d: int, n: int, layers: int, seed: int) -> Fraction:
    """With one token's x and y negated: entries of that token that do not change their sign, and of others that change."""
    context, query, _, weights = drawn(d, n, layers, seed)
    end, missed = forward(kind, context, query, weights)[0], 0
    for place in range(n):
        signs = np.where(np.arange(n) == place, -1, 1)[:, None]
        missed += int(np.count_nonzero(forward(kind, signs * context, query, weights)[0] - signs * end))
    return Fraction(missed)


def step_in_words(of: str, wrong: str = "") -> Any:
    """Words that remain of one layer for every size, at any tokens E; the diagonal matrix D holds the weights of a token's keys.

    "model": E = T E_0 becomes T' E_0, T' = (I + P T G T^T Q) T, with the moments G = E_0 D E_0^T of the start; wrong:
    without D. "prediction": the images of two queries add up to that of their sum; wrong: each query has its own
    weights. "signs": a token E u becomes s times its image if all tokens change signs F and F u = s u; wrong: D changes
    with them.
    """
    s = letters(
        symmetric=("D", "C", "F"), E="p n", T="p p", D="n n", C="n n", F="n n", P="p p", Q="p p", u="n 1", x="p 1", z="p 1", s="",
    )  # fmt: skip

    def layer(tokens: Any, weights: Any, token: Any) -> Any:
        return token + s.P @ tokens @ weights @ tokens.T @ s.Q @ token

    if of == "model":
        moments = s.E @ (identity("n") if wrong else s.D) @ s.E.T
        stated = (identity("p") + s.P @ s.T @ moments @ s.T.T @ s.Q) @ s.T
        return leftover(layer(s.T @ s.E, s.D, s.T @ s.E), stated @ s.E, "p n")
    if of == "prediction":
        one, other = layer(s.E, s.D, s.x), layer(s.E, s.C if wrong else s.D, s.z)
        return leftover(layer(s.E, s.D, s.x + s.z), one + other, "p n")
    signs = {(s.F, s.F): identity("n"), (s.F, s.u): s.s * s.u, (s.F, s.D): s.D @ s.F, (s.F, s.C): s.C @ s.F}
    flipped = layer(s.E @ s.F, s.C if wrong else s.D, s.E @ s.F @ s.u)
    return leftover(flipped.where(signs), s.s * layer(s.E, s.D, s.E @ s.u), "p n")
