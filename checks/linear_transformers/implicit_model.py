r"""Theorem 4.1 and Lemma 4.3: after every layer, each token is a linear map of itself that all tokens share."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from lipverify.claims import Source, agree, claim, identity, per_profile

Value = tuple[float, float]

RIGHT = "of the theorem"
RANGE = 2**32
"""How many integers an exact test draws from."""
SIZE = 0.1
"""sum_k |P_k| |Q_k| times the energy of the context: how far one layer moves a token, relative."""


def recursion(name: str) -> Any:
    """A step of the recursion: that of the theorem, or one with a sign or a term wrong, called by its formula."""
    from lipverify.linear_transformer.implicit import advance, blocks

    def step(state: Any, gram: Any, layer: Any) -> Any:
        right, (_, b, c, delta) = advance(state, gram, layer), blocks(state, gram, layer)
        M, _, a, w = state
        wrong = {
            "M' = (I + A) M + b w^T": {"M": right.M + 2 * b[..., :, None] * w[..., None, :]},
            "u' = (I + A) u - a b": {"u": right.u - 2 * a[..., None] * b},
            "a' = (1 + δ) a": {"a": a + delta * a},
            "w' = (1 + δ) w + M^T c": {"w": right.w + 2 * (M.swapaxes(-1, -2) @ c[..., None])[..., 0]},
        }
        return right._replace(**wrong.get(name, {}))

    return step


def layer_in_symbols(d: int, n: int, heads: int, step: str = RIGHT) -> Any:
    """Terms left of each formula after one layer: any weights, any tokens, any state, all of them free symbols."""
    from lipverify.linear_transformer.theory.symbolic import implicit_step

    return implicit_step(d, n, heads, recursion(step))._asdict()


def every_size(recursion: str = RIGHT) -> Any:
    """Words left after one layer at any state, for every d, n, number of heads and token, and for the query."""
    from lipverify.proofs.layers import implicit_step

    return implicit_step(recursion)


def depth_in_integers(d: int, n: int, heads: int, layers: int, seed: int, model: str = RIGHT) -> Fraction:
    """Entries of the tokens and the query that the model misses, in exact arithmetic."""
    from lipverify.foundation.streams import generator
    from lipverify.linear_transformer import Layer

    random, size = generator(seed, f"identity/exact/{d}/{n}/{heads}/{layers}", 0), d + 1

    def draw(*shape: int) -> Any:
        return random.integers(1, RANGE, shape, endpoint=True).astype(object)

    context, query = draw(n, size), np.append(draw(d), np.asarray([0], dtype=object))
    weights = [Layer(draw(heads, size, size), draw(heads, size, size)) for _ in range(layers)]
    return Fraction(int(np.count_nonzero(missed(context, query, weights, model))))


def depth_in_floats(d: int, n: int, heads: int, layers: int, seed: int, model: str = RIGHT) -> Value:
    """The largest of what the model misses, in units of a bound on its rounding."""
    from lipverify.linear_transformer.theory.rounding import rounding_bound

    context, query, weights = drawn(d, n, heads, layers, seed)
    bound = rounding_bound(np.vstack([context, query]), context, weights)
    return float(np.max(np.abs(missed(context, query, weights, model)) / bound)), 1.0


def missed(context: Any, query: Any, layers: Any, model: str) -> Any:
    """The tokens and the query after all layers, less the linear map that the recursion makes of them."""
    from lipverify.linear_transformer import Tokens, forward
    from lipverify.linear_transformer.implicit import start

    every, gram = np.vstack([context, query]), (context.T @ context)[None]
    last = forward(Tokens(every if model == "the query is a key" else context, query), layers)[-1]
    state = start(gram)
    if model == "a = 0 at the start":
        state = state._replace(a=0 * state.a)
    for layer in layers:
        state = recursion(model)(state, gram, layer)
    return np.vstack([last.context[: len(context)], last.query]) - every @ state.map[0].T


def routes(d: int, n: int, heads: int, layers: int, seed: int) -> dict[str, Value]:
    """-y_t of drawn tokens and weights by four routes, with a bound on rounding; in fractions without any."""
    from lipverify.linear_transformer import Layer, Tokens, forward, readout, trajectory
    from lipverify.linear_transformer.theory.rounding import rounding_bound

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


def drawn(d: int, n: int, heads: int, layers: int, seed: int) -> tuple[Any, Any, Any]:
    """Tokens (n, d + 1), a query (d + 1,) with label 0, and layers of full weights, each of size `SIZE`."""
    from lipverify.foundation.streams import normals
    from lipverify.linear_transformer import Layer

    cell, size = f"identity/{d}/{n}/{heads}/{layers}", d + 1
    context, query = normals(seed, cell, 0, (n, size)), np.append(normals(seed, cell, 1, (d,)), 0.0)
    P, Q = normals(seed, cell, 2, (2, layers, heads, size, size))
    sizes = np.sum(np.linalg.norm(P, axis=(2, 3)) * np.linalg.norm(Q, axis=(2, 3)), axis=1) * np.sum(context**2)
    return context, query, [Layer(P[k] * SIZE / sizes[k], Q[k]) for k in range(layers)]


THEOREM = Source(
    "V",
    "Theorem 4.1 and Lemma 4.3",
    r"paraphrased: $x_i^l = M^l x_i + u^l y_i$, $y_i^l = a^l y_i - \langle w^l, x_i \rangle$, "
    r"$x_t^l = M^l x_t$, $y_t^l = -\langle w^l, x_t \rangle$",
)
RECURSION = (
    r"M' = (I + A) M - b w^\top, \quad u' = (I + A) u + a b, \quad "
    r"a' = (1 + \delta) a + \langle c, u \rangle, \quad w' = (1 + \delta) w - M^\top c"
)
ANY = (
    "any weights $P_k, Q_k$ and any number of heads; the tokens are any numbers",
    r"$\begin{bmatrix} A & b \\ c^\top & \delta \end{bmatrix} = \sum_k P_k \bigl(\sum_j e_j e_j^\top\bigr) Q_k$ over the "
    r"context at the current layer; $M = I$, $u = 0$, $a = 1$, $w = 0$ before the first",
    "the query is never a key",
)
SMALL = ((1, 1, 1), (1, 2, 2), (1, 3, 2), (2, 1, 1), (2, 2, 1), (2, 1, 2))
SYMBOLS = {("d", "n", "heads"): per_profile(SMALL, (*SMALL, (2, 2, 2), (2, 3, 1), (3, 1, 1)))}
DEEP = ("d", "n", "heads", "layers")
EXACT = ((1, 1, 1, 3), (2, 3, 2, 2), (3, 4, 2, 3), (2, 3, 4, 4))
FLOATING = ((1, 2, 1, 8), (2, 4, 1, 4), (3, 6, 2, 2), (3, 6, 4, 4), (5, 12, 3, 6), (5, 10, 4, 8))

claim(
    "lt.implicit-model/every-depth",
    identity(every_size, r"e' - T' e,\ T' = (\mathbf{I} + H) T", control={"recursion": "u' = (I + A) u - a b"}),
    source=THEOREM,
    kind="printed",
    expected="supported",
    title="The implicit model after any number of layers",
    statement=r"x_i^l = M^l x_i + u^l y_i, \quad y_i^l = a^l y_i - \langle w^l, x_i \rangle, \quad x_t^l = M^l x_t, \quad "
    r"y_t^l = -\langle w^l, x_t \rangle \qquad \text{for every } l",
    assumes=ANY,
    finding=r"By induction over layers. Before the first, $M = I$, $u = 0$, $a = 1$, $w = 0$ is the model of a token as it is. The step is "
    r"an identity of words in matrices whose sizes are letters, so that it holds for all of them: one head is written out with the "
    r"blocks of its $P$ and $Q$ as a sum over keys, what all other heads do together is any matrix $H_0$, and the images of any token "
    r"and of the query are $T' e$ with the $T'$ of the recursion; what is counted is the words that are left over. A recursion with "
    "one sign or one term wrong leaves some.",
)
claim(
    "lt.implicit-model/layer",
    identity(layer_in_symbols, r"x_i' - M' x_i - u' y_i", of="x_i", over=SYMBOLS, control={"step": "u' = (I + A) u - a b"}),
    identity(
        layer_in_symbols, r"y_i' - a' y_i + \langle w', x_i \rangle", of="y_i", over=SYMBOLS,
        control={"step": "a' = (1 + δ) a"},
    ),
    identity(layer_in_symbols, r"x_t' - M' x_t", of="x_t", over=SYMBOLS, control={"step": "M' = (I + A) M + b w^T"}),
    identity(
        layer_in_symbols, r"y_t' + \langle w', x_t \rangle", of="y_t", over=SYMBOLS,
        control={"step": "w' = (1 + δ) w + M^T c"},
    ),
    source=THEOREM,
    kind="derived",
    expected="supported",
    title="One layer takes an implicit model to an implicit model",
    statement=RECURSION,
    assumes=(*ANY, "any state $(M, u, a, w)$; at the sizes of the cells"),
    finding="Every weight, every token, the query and the state itself are free symbols; the layer is written out from its "
    "definition, as sums over heads, keys and entries, and the images of all tokens and of the query agree with the "
    "recursion as polynomials with integer coefficients: what is measured is how many terms are left over. As the state is "
    "general, this is the step of an induction over layers: at these sizes the theorem holds at every depth. In words: the "
    "attention of a layer is one matrix $H$, the same for all tokens and the query, so that every token is $T e_i$ with "
    r"$T = \begin{bmatrix} M & u \\ -w^\top & a \end{bmatrix}$ and $T' = (I + H) T$; the four formulas are its blocks. The "
    "query has $y_t = 0$ and so never meets $u$ and $a$.",
)  # fmt: skip
claim(
    "lt.implicit-model/depth",
    identity(
        depth_in_integers, r"\#\{e^L \neq T e\}", over={DEEP: EXACT}, method="rational", grade="bounded",
        control={"model": "the query is a key"},
    ),
    identity(
        depth_in_floats, r"\max |e^L - T e| / \text{rounding}", over={DEEP: FLOATING}, method="identity",
        grade="bounded", control={"model": "a = 0 at the start"},
    ),
    source=THEOREM,
    kind="derived",
    expected="supported",
    title="The implicit model after several layers, as it is computed",
    statement=r"x_i^l = M^l x_i + u^l y_i, \quad y_i^l = a^l y_i - \langle w^l, x_i \rangle, \quad x_t^l = M^l x_t, \quad "
    r"y_t^l = -\langle w^l, x_t \rangle",
    assumes=(*ANY, "at the sizes of the cells, up to 8 layers"),
    agrees=tuple(
        agree(routes, routes, "-y_t", of=(route, "rational"), methods=(route, "rational"), over={DEEP: [(2, 4, 2, 3)]})
        for route in ("tokens", "recursion", "moments")
    ),
    finding=r"Integers drawn from $2^{32}$ values go through the definition, token by token, and through the recursion, and not "
    r"one entry differs. Both are polynomials of degree at most $2 \cdot 3^L - 1$ in what is drawn, so that different "
    r"polynomials would agree with a chance below $4 \cdot 10^{-8}$ (Schwartz and Zippel). In floating point the two differ "
    "by less than a bound that follows from counting operations, at depths up to 8 and with up to four heads. The "
    "prediction is the same by four routes: token by token, by the recursion, by second moments alone, and in fractions.",
)  # fmt: skip
