r"""The identities of a layer as identities of polynomials: every weight, every token and every state is a free symbol.

A statement and what follows from the definition are both polynomials with integer coefficients; what is left of their
difference is counted. No term left over at a general state (M, u, a, w) is the induction step of a proof for every
depth at that size; `lipverify.proofs.layers` has the identities for every size. The definition is written out here as
sums over tokens and entries and shares nothing with the numerical forward passes; the stated side is the library's own
formula, run on arrays of polynomials.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from lipverify.linear_transformer.implicit import State, advance
from lipverify.linear_transformer.layer import Layer
from lipverify.linear_transformer.theory.polynomials import Leftover, Objects, Symbols, array, leftover, total

Step = Callable[[State, Objects, Layer], State]


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


def product_condition(heads: int) -> Leftover:
    """xx yy - xy yx for diagonal heads with free weights."""
    s = Symbols(p=(heads, 2), q=(heads, 2))
    xx, xy, yx, yy = (total(s.p[k, i] * s.q[k, j] for k in range(heads)) for i in (0, 1) for j in (0, 1))
    return leftover([[xx * yy]], [[xy * yx]])


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
