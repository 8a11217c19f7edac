r"""One layer, or several, compared with the recursion of the implicit model: in free symbols, in integers, in floating point.

In symbols every weight, every token and every state is free. The statement and the definition both give polynomials
with integer coefficients, and the functions count the terms that remain of their difference. If none remains at a
general state (M, u, a, w), this is the induction step of a proof for every depth at that size;
`layers_in_words` has it for every size. The definition is written out here as sums over heads, keys and entries
and shares nothing with the numerical forward passes; the stated side is the library's own recursion, run on arrays of
polynomials.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from lipverify.checks.linear_transformers.polynomials import Objects, Symbols, array, leftover, total
from lipverify.checks.linear_transformers.quantities import Value, tokens
from lipverify.checks.linear_transformers.rounding import rounding_bound
from lipverify.linear_transformer import Layer, Tokens, forward, readout, trajectory
from lipverify.sampling import generator, normals

RIGHT = "of the theorem"
RANGE = 2**32
"""The number of integers from which an exact test draws."""
SIZE = 0.1
"""sum_k |P_k| |Q_k| times the energy of the context: the relative change of a token by one layer."""


def stepped(state: Any, gram: Any, layer: Any, recursion: str = RIGHT) -> Any:
    """A step of the recursion: that of the theorem, or one with a wrong sign or term, named by its formula."""
    right, (_, b, c, delta) = state.after(gram, layer), state.blocks(gram, layer)
    M, _, a, w = state
    wrong = {
        "M' = (I + A) M + b w^T": {"M": right.M + 2 * b[..., :, None] * w[..., None, :]},
        "u' = (I + A) u - a b": {"u": right.u - 2 * a[..., None] * b},
        "a' = (1 + δ) a": {"a": a + delta * a},
        "w' = (1 + δ) w + M^T c": {"w": right.w + 2 * (M.swapaxes(-1, -2) @ c[..., None])[..., 0]},
    }
    return right._replace(**wrong.get(recursion, {}))


def in_symbols(d: int, n: int, heads: int, step: str = RIGHT) -> dict[str, Any]:
    """Terms that remain of each formula after one layer: of the tokens' x and y, and of the query's, at any state."""
    s, before, after = _written_out(d, n, heads)
    (first,) = trajectory(np.ones((1, d + 1, d + 1)), [])
    state = first._replace(M=s.M[None], u=s.u[None], a=array([s.a]), w=s.w[None])
    M, u, a, w = (part[0] for part in stepped(state, (s.e.T @ s.e)[None], Layer(s.P, s.Q), step))
    stated = [_seen(M, u, a, w, e) for e in before]
    parts = {"x_i": (slice(n), slice(d)), "y_i": (slice(n), slice(d, None)),
             "x_t": (slice(n, None), slice(d)), "y_t": (slice(n, None), slice(d, None))}  # fmt: skip
    return {
        name: leftover([e[entries] for e in after[rows]], [e[entries] for e in stated[rows]])
        for name, (rows, entries) in parts.items()
    }


@lru_cache(maxsize=8)
def _written_out(d: int, n: int, heads: int) -> tuple[Symbols, list[list[Any]], list[list[Any]]]:
    """The symbols, the tokens with the query last, and their images after one layer: the same for every recursion."""
    size = d + 1
    s = Symbols(M=(d, d), u=(d,), a=(), w=(d,), P=(heads, size, size), Q=(heads, size, size), e=(n, size), t=(d,))
    first = [list(s.e[i]) for i in range(n)] + [[*s.t, 0]]
    keys = [_seen(s.M, s.u, s.a, s.w, e) for e in first]
    return s, first, [_layer(s.P, s.Q, keys[:n], key) for key in keys]


def _layer(P: Objects, Q: Objects, keys: Sequence[Sequence[Any]], e: Sequence[Any]) -> list[Any]:
    """E_i + sum over heads, keys and entries of P_ia k_a k_b Q_bj e_j."""
    size = range(len(e))
    after = list(e)
    for head, other in zip(P, Q, strict=True):
        queried = [total(other[b, j] * e[j] for j in size) for b in size]
        scores = [total(key[b] * queried[b] for b in size) for key in keys]
        summed = [total(key[a] * score for key, score in zip(keys, scores, strict=True)) for a in size]
        after = [after[i] + total(head[i, a] * summed[a] for a in size) for i in size]
    return after


def _seen(M: Objects, u: Objects, a: Any, w: Objects, e: Sequence[Any]) -> list[Any]:
    """(M x + u y, a y - <w, x>)."""
    *x, y = e
    each = range(len(x))
    return [*(total(M[i, j] * x[j] for j in each) + u[i] * y for i in each), a * y - total(w[j] * x[j] for j in each)]


def in_integers(d: int, n: int, heads: int, layers: int, seed: int, model: str = RIGHT) -> Fraction:
    """Number of entries of the tokens and the query in which the model is wrong, in exact arithmetic."""
    random, size = generator(seed, f"identity/exact/{d}/{n}/{heads}/{layers}", 0), d + 1

    def draw(*shape: int) -> Any:
        return random.integers(1, RANGE, shape, endpoint=True).astype(object)

    context, query = draw(n, size), np.append(draw(d), np.asarray([0], dtype=object))
    weights = [Layer(draw(heads, size, size), draw(heads, size, size)) for _ in range(layers)]
    return Fraction(int(np.count_nonzero(missed(context, query, weights, model))))


def in_floats(d: int, n: int, heads: int, layers: int, seed: int, model: str = RIGHT) -> Value:
    """The largest error of the model in units of a bound on rounding."""
    context, query, weights = drawn(d, n, heads, layers, seed)
    bound = rounding_bound(np.vstack([context, query]), context, weights)
    return float(np.max(np.abs(missed(context, query, weights, model)) / bound)), 1.0


def missed(context: Any, query: Any, layers: Any, model: str) -> Any:
    """The tokens and the query after all layers minus their images under the linear map of the recursion."""
    every, gram = np.vstack([context, query]), (context.T @ context)[None]
    last = forward(Tokens(every if model == "the query is a key" else context, query), layers)[-1]
    (state,) = trajectory(gram, [])
    if model == "a = 0 at the start":
        state = state._replace(a=0 * state.a)
    for layer in layers:
        state = stepped(state, gram, layer, model)
    return np.vstack([last.context[: len(context)], last.query]) - every @ state.map[0].T


def routes(d: int, n: int, heads: int, layers: int, seed: int) -> dict[str, Value]:
    """-y_t of random tokens and weights by four routes, with a bound on rounding; in fractions without any."""
    context, query, weights = drawn(d, n, heads, layers, seed)
    gram, rounding = context.T @ context, float(rounding_bound(query, context, weights)[-1])
    exact = np.vectorize(Fraction, otypes=[object])
    fractions = [Layer(exact(layer.P), exact(layer.Q)) for layer in weights]
    return {
        "tokens": (float(forward(Tokens(context, query), weights)[-1].prediction), rounding),
        "recursion": (float(trajectory(gram, weights)[-1].w @ query[:-1]), rounding),
        "moments": (float(readout(gram, weights).w @ query[:-1]), rounding),
        "rational": (float(forward(Tokens(exact(context), exact(query)), fractions)[-1].prediction), 0.0),
    }


def drawn(d: int, n: int, heads: int, layers: int, seed: int) -> tuple[Any, Any, list[Layer]]:
    """Tokens (n, d + 1), a query (d + 1,) with label 0, and layers of full weights, each of size `SIZE`."""
    stream, size = f"identity/{d}/{n}/{heads}/{layers}", d + 1
    context, query = tokens(d, n, seed, stream)
    P, Q = normals(seed, stream, 2, (2, layers, heads, size, size))
    sizes = np.sum(np.linalg.norm(P, axis=(2, 3)) * np.linalg.norm(Q, axis=(2, 3)), axis=1) * np.sum(context**2)
    return context, query, [Layer(P[k] * SIZE / sizes[k], Q[k]) for k in range(layers)]
