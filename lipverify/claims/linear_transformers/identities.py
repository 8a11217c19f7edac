r"""Measurements of identities: what is left of the difference of two sides, and what is left for their falsified twins.

Three kinds of evidence, in one record. Symbols: terms left over. Exact integers: entries left over, where a
polynomial identity of degree D that holds at integers drawn from N values is false with a chance of at most D / N
(Schwartz and Zippel). Floating point: the largest difference over a derived bound on rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from lipverify.linear_transformer.collapsed import readout
from lipverify.linear_transformer.implicit import State, advance, blocks, start, trajectory
from lipverify.linear_transformer.layer import Layer
from lipverify.linear_transformer.theory import symbolic
from lipverify.linear_transformer.theory.polynomials import Leftover
from lipverify.linear_transformer.theory.rounding import magnitude, rounding_bound
from lipverify.linear_transformer.tokens import Tokens, forward
from lipverify.loss.streams import generator, normals

Floats = NDArray[np.float64]
Route = Literal["tokens", "recursion", "moments", "rational"]
RANGE = 2**32
"""How many integers an exact test draws from."""
SIZE = 0.1
"""sum_k |P_k| |Q_k| times the energy of the context: how far one layer moves a token, relative."""


class Identity(msgspec.Struct, frozen=True):
    """What is left of an identity, and of each of its falsified twins; `of` is what one side alone amounts to."""

    stated: float
    of: float
    twins: dict[str, float]
    first: str = ""

    @property
    def twin(self) -> float:
        """What is left of the twin that comes nearest to the truth."""
        return min(self.twins.values())


def compared(stated: Leftover, **twins: Leftover) -> Identity:
    """The record of a comparison of polynomials."""
    return Identity(stated.terms, stated.of, {name: twin.terms for name, twin in twins.items()}, stated.first)


def _minus_ab(state: State, gram: Any, layer: Layer) -> State:
    """U' = (I + A) u - a b."""
    right = advance(state, gram, layer)
    return right._replace(u=right.u - 2 * state.a[..., None] * blocks(state, gram, layer).b)


def _plus_bw(state: State, gram: Any, layer: Layer) -> State:
    """M' = (I + A) M + b w^T."""
    right = advance(state, gram, layer)
    return right._replace(M=right.M + 2 * blocks(state, gram, layer).b[..., :, None] * state.w[..., None, :])


def _without_cu(state: State, gram: Any, layer: Layer) -> State:
    """A' = (1 + delta) a."""
    return advance(state, gram, layer)._replace(a=state.a + blocks(state, gram, layer).delta * state.a)


def _plus_mc(state: State, gram: Any, layer: Layer) -> State:
    """W' = (1 + delta) w + M^T c."""
    right, c = advance(state, gram, layer), blocks(state, gram, layer).c
    return right._replace(w=right.w + 2 * (state.M.swapaxes(-1, -2) @ c[..., None])[..., 0])


TWINS: dict[str, symbolic.Step] = {
    "-ab": _minus_ab,
    "+bw": _plus_bw,
    "no cu": _without_cu,
    "+Mc": _plus_mc,
}
"""The recursion with one sign or one term wrong."""


def implicit_layer(d: int, n: int, heads: int) -> Identity:
    """One layer of any weights at any state, in free symbols."""
    return compared(
        symbolic.implicit_step(d, n, heads),
        **{name: symbolic.implicit_step(d, n, heads, step) for name, step in TWINS.items()},
    )


def implicit_depth_exact(d: int, n: int, heads: int, depth: int, seed: int) -> Identity:
    """All tokens after `depth` layers in exact integers: entries that the recursion misses, and those of the twins."""
    random = generator(seed, f"identity/exact/{d}/{n}/{heads}/{depth}", 0)
    draw = _integers(random)
    context, query = draw((n, d + 1)), np.append(draw((d,)), np.asarray([0], dtype=object))
    layers = [Layer(draw((heads, d + 1, d + 1)), draw((heads, d + 1, d + 1))) for _ in range(depth)]
    return _against_tokens(context, query, layers, lambda difference: float(np.count_nonzero(difference)))


def implicit_depth(d: int, n: int, heads: int, depth: int, seed: int) -> Identity:
    """All tokens after `depth` layers in floating point: the largest difference over the bound on rounding."""
    context, query, layers = drawn(d, n, heads, depth, seed)
    bound = rounding_bound(np.vstack([context, query]), context, layers)
    return _against_tokens(context, query, layers, lambda difference: float(np.max(np.abs(difference) / bound)))


def prediction(route: Route, d: int, n: int, heads: int, depth: int, seed: int) -> tuple[float, float]:
    """(-y_t, bound on its rounding) for the same drawn tokens and weights by one route."""
    context, query, layers = drawn(d, n, heads, depth, seed)
    error = float(rounding_bound(query, context, layers)[-1])
    if route == "rational":
        return _rational(context, query, layers), 0.0
    if route == "tokens":
        return float(forward(Tokens(context, query), layers)[-1].prediction), error
    gram = context.T @ context
    w = trajectory(gram, layers)[-1].w if route == "recursion" else readout(gram, layers).w
    return float(w @ query[:-1]), error


class RoundingGrowth(msgspec.Struct, frozen=True):
    """How far tokens and recursion are apart after 1, 2, ... layers, relative to the magnitude that has accumulated."""

    depth: tuple[int, ...]
    difference: tuple[float, ...]
    bound: tuple[float, ...]


def rounding_growth(d: int, n: int, heads: int, depth: int, draws: int, seed: int) -> RoundingGrowth:
    """The largest difference of several draws, and the derived bound."""
    apart, bounds, each = np.zeros(depth), np.zeros(depth), range(1, depth + 1)
    for draw in range(draws):
        context, query, layers = drawn(d, n, heads, depth, seed, draw)
        tokens, states = forward(Tokens(context, query), layers), trajectory(context.T @ context, layers)
        for k in each:
            gap = np.abs(tokens[k].query - states[k].map @ query)
            scale = magnitude(query, context, layers[:k])
            apart[k - 1] = max(apart[k - 1], float(np.max(gap / scale)))
            bounds[k - 1] = max(bounds[k - 1], float(np.max(rounding_bound(query, context, layers[:k]) / scale)))
    return RoundingGrowth(tuple(each), tuple(map(float, apart)), tuple(map(float, bounds)))


def diagonal_update(d: int, n: int, heads: int) -> Identity:
    """One layer of diagonal heads against its four weights, in free symbols; the twin exchanges xy and yx."""
    stated, twin = (symbolic.diagonal_layer(d, n, heads, twisted) for twisted in (False, True))
    return compared(stated, **{"xy for yx": twin})


def diagonal_product(heads: int, other: int) -> Identity:
    """The difference xx yy - xy yx for some number of heads, in free symbols; the twin has another number of them."""
    return compared(symbolic.product_condition(heads), **{f"{other} heads": symbolic.product_condition(other)})


def drawn(d: int, n: int, heads: int, depth: int, seed: int, draw: int = 0) -> tuple[Floats, Floats, list[Layer]]:
    """Tokens (n, d + 1), a query (d + 1,) with label 0, and layers of full weights, each of size `SIZE`."""
    cell = f"identity/{d}/{n}/{heads}/{depth}"
    size = d + 1
    context = normals(seed, cell, 3 * draw, (n, size))
    query = np.append(normals(seed, cell, 3 * draw + 1, (d,)), 0.0)
    P, Q = normals(seed, cell, 3 * draw + 2, (2, depth, heads, size, size))
    sizes = np.sum(np.linalg.norm(P, axis=(2, 3)) * np.linalg.norm(Q, axis=(2, 3)), axis=1) * np.sum(context**2)
    return context, query, [Layer(P[k] * SIZE / sizes[k], Q[k]) for k in range(depth)]


def _against_tokens(context: Any, query: Any, layers: Sequence[Layer], left: Callable[[Any], float]) -> Identity:
    """What the recursion and its twins leave of the tokens; two further twins start wrong, or count the query in."""
    gram, every = context.T @ context, np.vstack([context, query])
    last = forward(Tokens(context, query), layers)[-1]
    moved = np.vstack([last.context, last.query])
    ends = {name: _follow(start(gram[None]), gram[None], layers, step) for name, step in {"": advance, **TWINS}.items()}
    begin = start(gram[None])
    ends["a = 0 at the start"] = _follow(begin._replace(a=0 * begin.a), gram[None], layers, advance)
    keyed = forward(Tokens(every, query), layers)[-1]
    twins = {name: left(moved - every @ end.map[0].T) for name, end in ends.items()}
    twins["query as a key"] = left(np.vstack([keyed.context[:-1], keyed.query]) - every @ ends[""].map[0].T)
    return Identity(twins.pop(""), left(moved), twins)


def _follow(state: State, gram: Any, layers: Sequence[Layer], step: symbolic.Step) -> State:
    """The state after all layers."""
    for layer in layers:
        state = step(state, gram, layer)
    return state


def _rational(context: Floats, query: Floats, layers: Sequence[Layer]) -> float:
    """The same doubles as fractions, without any rounding but the last."""
    exact = np.vectorize(Fraction, otypes=[object])
    fractions = [Layer(exact(layer.P), exact(layer.Q)) for layer in layers]
    return float(forward(Tokens(exact(context), exact(query)), fractions)[-1].prediction)


def _integers(random: np.random.Generator) -> Callable[[tuple[int, ...]], Any]:
    """Arrays of Python's integers, none of them zero."""
    return lambda shape: random.integers(1, RANGE, shape, endpoint=True).astype(object)
