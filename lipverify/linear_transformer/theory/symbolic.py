r"""The identities of a layer as identities of polynomials: every weight, every token and every state is a free symbol.

A statement and what follows from the definition are both polynomials with integer coefficients; what is left of their
difference is counted. No term left over at a general state (M, u, a, w) is the induction step of a proof for every
depth at that size. The definition is written out here as sums over tokens and entries and shares nothing with the
numerical forward passes; the stated side is the library's own formula, run on arrays of polynomials.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np

from lipverify.linear_transformer.implicit import State, advance
from lipverify.linear_transformer.layer import Diagonal, Layer
from lipverify.linear_transformer.theory.contribution import delayed
from lipverify.linear_transformer.theory.momentum import Fit, Reading, adaptive_step, momentum_step
from lipverify.linear_transformer.theory.polynomials import Leftover, Objects, Symbols, array, leftover, total

Step = Callable[[State, Objects, Layer], State]
Energy = Literal["labels", "residuals", "none"]


class Formulas(NamedTuple):
    """What is left of the four formulas of the implicit model: of the tokens' x and y, and of the query's."""

    x_i: Leftover
    y_i: Leftover
    x_t: Leftover
    y_t: Leftover


def implicit_step(d: int, n: int, heads: int, step: Step = advance) -> Formulas:
    """One layer of any weights at a general state: the tokens and the query against the state that `step` gives."""
    s, first, moved = _written_out(d, n, heads)
    state = State(s.M[None], s.u[None], array([s.a]), s.w[None])
    after = step(state, _gram(s.e), Layer(s.P, s.Q))
    stated = [_seen(after.M[0], after.u[0], after.a[0], after.w[0], e) for e in first]

    def formulas(rows: Sequence[Sequence[Any]]) -> Any:
        context, query = rows[:n], rows[n]
        return [row[:d] for row in context], [row[d:] for row in context], [query[:d]], [query[d:]]

    return Formulas(*map(leftover, formulas(moved), formulas(stated)))


@lru_cache(maxsize=8)
def _written_out(d: int, n: int, heads: int) -> tuple[Symbols, list[list[Any]], list[list[Any]]]:
    """The symbols, the tokens with the query last, and what one layer makes of them: the same for every recursion."""
    size = d + 1
    s = Symbols(M=(d, d), u=(d,), a=(), w=(d,), P=(heads, size, size), Q=(heads, size, size), e=(n, size), t=(d,))
    first = [list(s.e[i]) for i in range(n)] + [[*s.t, 0]]
    keys = [_seen(s.M, s.u, s.a, s.w, e) for e in first]
    return s, first, [_layer(s.P, s.Q, keys[:n], key) for key in keys]


def diagonal_layer(d: int, n: int, heads: int, twisted: bool = False) -> Leftover:
    """The tokens after one layer against x + xx Sigma x + xy y alpha and y + yx <alpha, x> + yy lambda y.

    With two heads their products add up to the four weights; `twisted` exchanges xy and yx in the stated side.
    """
    s = Symbols(p=(heads, 2), q=(heads, 2), e=(n, d + 1), t=(d + 1,))
    P, Q = (array([_diagonal(head, d) for head in heads_]) for heads_ in (s.p, s.q))
    xx, xy, yx, yy = (total(s.p[k, i] * s.q[k, j] for k in range(heads)) for i in (0, 1) for j in (0, 1))
    if twisted:
        xy, yx = yx, xy
    X, y = s.e[:, :-1], s.e[:, -1]
    Sigma, alpha, energy = X.T @ X, X.T @ y, y @ y
    tokens = [list(row) for row in (*s.e, s.t)]
    moved = [_layer(P, Q, tokens[:n], e) for e in tokens]
    stated = []
    for *x, label in tokens:
        x_, along = np.asarray(x, dtype=object), alpha @ np.asarray(x, dtype=object)
        stated.append([*(x_ + Sigma @ x_ * xx + alpha * (xy * label)), label + yx * along + yy * energy * label])
    return leftover(moved, stated)


def product_condition(heads: int) -> Leftover:
    """xx yy - xy yx for diagonal heads with free weights."""
    s = Symbols(p=(heads, 2), q=(heads, 2))
    xx, xy, yx, yy = (total(s.p[k, i] * s.q[k, j] for k in range(heads)) for i in (0, 1) for j in (0, 1))
    return leftover([[xx * yy]], [[xy * yx]])


def momentum_lemma(d: int, reading: Reading, *, orthogonal: bool = True) -> Leftover:
    """(u', w') of a diagonal layer at a general state against the lemma.

    The moments are those of labels <w*, x_i> + r_i: general Sigma, w* and sum r^2, with sum r x = 0 if `orthogonal`,
    else general too.
    """
    s = Symbols(
        M=(d, d), u=(d,), a=(), w=(d,), S=(d, d), v=(d,), g=(d,), rho=(),
        omega_xx=(), omega_xy=(), omega_yx=(), omega_yy=(),
    )  # fmt: skip
    Sigma, cross = s.S + s.S.T, 0 * s.g if orthogonal else s.g
    alpha = Sigma @ s.v + cross
    energy = s.v @ alpha + s.v @ cross + s.rho
    gram = np.block([[Sigma, alpha[:, None]], [alpha[None, :], array([[energy]])]])[None]
    state = State(s.M[None], s.u[None], array([s.a]), s.w[None])
    weights, spread = _diagonal_weights(s, "omega"), _diagonal_weights(s, "omega", spread=True)
    after = advance(state, gram, weights.layer(d))
    fit = Fit(s.v[None], array([s.rho]))
    u, w = momentum_step(state, gram, spread, fit, reading)
    return leftover([after.u[0], after.w[0]], [u[0], w[0]])


def adaptive_layers(d: int, n: int, energy: Energy) -> Leftover:
    """A layer with only xy and one with only yx, token by token, against a step with a sum of squares.

    `energy` is "labels" (sum y^2), "residuals" (sum r^2 for labels <v, x> + r with any v), or "none" (a constant step).
    """
    s = Symbols(x=(n, d), r=(n,), v=(d,), t=(d,), omega_xy=(), omega_yx=())
    labels = s.x @ s.v + s.r
    context = np.concatenate([s.x, labels[:, None]], axis=1)
    tokens = [*map(list, context), [*s.t, 0]]
    for P, Q in (((s.omega_xy, 0), (0, 1)), ((0, s.omega_yx), (1, 0))):
        tokens = [_layer(_diagonal(P, d)[None], _diagonal(Q, d)[None], tokens[:n], e) for e in tokens]
    squares = {"labels": labels @ labels, "residuals": s.r @ s.r, "none": 0 * s.omega_xy}[energy]
    w = adaptive_step(_gram(context), array([s.omega_xy]), array([s.omega_yx]), array([squares]))[0]
    return leftover([[tokens[-1][-1]]], [[-(w @ s.t)]])


def delayed_effect(
    d: int, after: int, parts: Sequence[str] = ("query", "context", "both"), weight: Literal["xy", "yx"] = "xy"
) -> Leftover:
    """The query's label with xy of a layer less that without it, after 1 or 2 layers, against the stated parts.

    Moments and query are general. Right after the layer nothing is stated, and `weight` may be another; one layer
    later the stated parts are those of `delayed`.
    """
    effect = _effect(d, after, weight)
    if after == 1:
        return leftover([[effect.changed]], [[effect.unchanged]])
    stated = total(getattr(effect.stated, part)[0] for part in parts)
    return leftover([[effect.changed - effect.unchanged]], [[stated]])


class _Effect(NamedTuple):
    """The query's label with a weight of a layer and without it, and the terms that `delayed` states."""

    changed: Any
    unchanged: Any
    stated: Any


@cache
def _effect(d: int, after: int, weight: str) -> _Effect:
    """The labels 1 or 2 layers after; products of polynomials, so each is made once."""
    s = Symbols(
        S=(d, d), alpha=(d,), lamda=(), t=(d + 1,),
        omega_xx=(), omega_xy=(), omega_yx=(), omega_yy=(), eta_xx=(), eta_xy=(), eta_yx=(), eta_yy=(),
    )  # fmt: skip
    gram = np.block([[s.S + s.S.T, s.alpha[:, None]], [s.alpha[None, :], array([[s.lamda]])]])[None]
    with_it = _diagonal_weights(s, "omega")
    without = replace(with_it, **{weight: 0 * s.omega_xy})
    following = _diagonal_weights(s, "eta").layer(d)
    changed, unchanged = (_label(gram, [first.layer(d), following][:after], s.t) for first in (with_it, without))
    stated = (
        None if after == 1 else delayed(gram, s.t[None], _diagonal_weights(s, "omega", spread=True), array([s.eta_yx]))
    )
    return _Effect(changed, unchanged, stated)


def _diagonal_weights(s: Symbols, name: str, spread: bool = False) -> Diagonal:
    """The four weights of a layer as symbols; `spread` as arrays of one, for formulas that work on stacks."""
    four: list[Any] = [getattr(s, f"{name}_{each}") for each in ("xx", "xy", "yx", "yy")]
    return Diagonal(*([array([each]) for each in four] if spread else four))


def _label(gram: Objects, layers: Sequence[Layer], query: Objects) -> Any:
    """y_t after the layers, from the maps I + H of all tokens."""
    for layer in layers:
        moved = np.eye(len(query), dtype=object) + layer.attention(gram)[0]
        gram, query = (moved @ gram[0] @ moved.T)[None], moved @ query
    return query[-1]


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


def _gram(tokens: Objects) -> Objects:
    return (tokens.T @ tokens)[None]


def _diagonal(weights: Any, d: int) -> Objects:
    """diag(x, ..., x, y)."""
    x, y = weights
    return np.diag(array([x] * d + [y]))
