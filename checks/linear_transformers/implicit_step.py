r"""Several layers compared with the recursion of the implicit model, in integers.

The layers are the library's forward pass token by token; `layers_in_words` has the step for every size.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from lipverify.linear_transformer import Layer, Tokens, forward, trajectory
from lipverify.sampling import generator

RIGHT = "of the theorem"
RANGE = 2**32
"""The number of integers from which an exact test draws."""


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


def in_integers(d: int, n: int, heads: int, layers: int, seed: int, model: str = RIGHT) -> Fraction:
    """Number of entries of the tokens and the query in which the model is wrong, in exact arithmetic."""
    random, size = generator(seed, f"identity/exact/{d}/{n}/{heads}/{layers}", 0), d + 1

    def draw(*shape: int) -> Any:
        return random.integers(1, RANGE, shape, endpoint=True).astype(object)

    context, query = draw(n, size), np.append(draw(d), np.asarray([0], dtype=object))
    weights = [Layer(draw(heads, size, size), draw(heads, size, size)) for _ in range(layers)]
    return Fraction(int(np.count_nonzero(missed(context, query, weights, model))))


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
