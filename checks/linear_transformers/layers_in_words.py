r"""Layers of a linear transformer for every d and n at once: the action of a layer on all tokens, as identities of
words.

The tokens are X (d by n) with labels y (a column of n), a query or any other token is (x, t), and a sum over tokens is
a product, sum_j x_j x_j^T = X X^T. Each function derives the claim of a statement from the definition of a layer, e +
sum_k P_k (sum_j e_j e_j^T) Q_k e, and counts the words that remain of the difference. If no word remains at a general
state, this is the induction step of a proof for every depth.

Source: Vladymyrov, von Oswald, Sandler, Ge, NeurIPS 2024, Theorem 4.1, Lemmas 4.3 and 4.4, sections 4 and 5.3.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from lipverify.proofs import Leftover, identity, leftover, letters

Words = Any
"""Sums of words of letters, as `letters` makes them."""
SIZES = "d n"
WRONG = ("M' = (I + A) M + b w^T", "u' = (I + A) u - a b", "a' = (1 + δ) a", "w' = (1 + δ) w + M^T c")
"""Recursions with one sign or term wrong, by their formulas."""


class Four(NamedTuple):
    """The weights of a diagonal layer."""

    xx: Words
    xy: Words
    yx: Words
    yy: Words


def implicit_step(recursion: str = "") -> Leftover:
    """One layer at any state (M, u, a, w), on any token and on the query, compared with the recursion of the state.

    One head is written out, with the nine blocks of its P and Q; the sum of all other heads is any matrix.
    """
    s = letters(
        X="d n", y="n 1", x="d 1", t="", M="d d", u="d 1", a="", w="d 1",
        Pxx="d d", Pxy="d 1", Pyx="d 1", Pyy="", Qxx="d d", Qxy="d 1", Qyx="d 1", Qyy="",
        A0="d d", b0="d 1", c0="d 1", delta0="",
    )  # fmt: skip
    one = identity("d")
    keys, labels = s.M @ s.X + s.u @ s.y.T, s.a * s.y - s.X.T @ s.w
    Sigma, alpha, energy = keys @ keys.T, keys @ labels, labels.T @ labels
    A = s.A0 + s.Pxx @ (Sigma @ s.Qxx + alpha @ s.Qyx.T) + s.Pxy @ (alpha.T @ s.Qxx + energy * s.Qyx.T)
    b = s.b0 + s.Pxx @ (Sigma @ s.Qxy + alpha * s.Qyy) + s.Pxy * (alpha.T @ s.Qxy + energy * s.Qyy)
    c = s.c0 + (s.Qxx.T @ Sigma + s.Qyx @ alpha.T) @ s.Pyx + (s.Qxx.T @ alpha + s.Qyx * energy) * s.Pyy
    delta = s.delta0 + s.Pyx.T @ (Sigma @ s.Qxy + alpha * s.Qyy) + s.Pyy * (alpha.T @ s.Qxy + energy * s.Qyy)
    signs = {formula: -1 if formula == recursion else 1 for formula in WRONG}
    first, second, third, last = (signs[formula] for formula in WRONG)
    M = (one + A) @ s.M - first * (b @ s.w.T)
    u = (one + A) @ s.u + second * (s.a * b)
    a = s.a + delta * s.a + (c.T @ s.u if third > 0 else 0)
    w = s.w + delta * s.w - last * (s.M.T @ c)

    def moved(x: Words, t: Words | int) -> tuple[Words, Words]:
        here, label = s.M @ x + s.u * t, s.a * t - s.w.T @ x
        queried, read = s.Qxx @ here + s.Qxy * label, s.Qyx.T @ here + s.Qyy * label
        scores = keys.T @ queried + labels * read  # <e_j, Q e> for all j
        pulled, summed = keys @ scores, labels.T @ scores
        return (
            here + s.Pxx @ pulled + s.Pxy * summed + s.A0 @ here + s.b0 * label,
            label + s.Pyx.T @ pulled + s.Pyy * summed + s.c0.T @ here + s.delta0 * label,
        )

    token, query = moved(s.x, s.t), moved(s.x, 0)
    stated = (M @ s.x + u * s.t, a * s.t - w.T @ s.x)
    return leftover((*token, *query), (*stated, M @ s.x, -(w.T @ s.x)), SIZES)


def diagonal_step(twisted: str = "no") -> Leftover:
    """A layer of any number of diagonal heads compared with the update with four weights; `twisted` exchanges xy and
    yx.

    The heads are columns: the k-th entries of px, py, qx and qy are diag(px I, py) and diag(qx I, qy).
    """
    s = letters(X="d n", y="n 1", x="d 1", t="", px="heads 1", py="heads 1", qx="heads 1", qy="heads 1")
    xx, xy, yx, yy = s.px.T @ s.qx, s.px.T @ s.qy, s.py.T @ s.qx, s.py.T @ s.qy
    scores = (s.X.T @ s.x) @ s.qx.T + (s.y * s.t) @ s.qy.T  # of every token j and every head k
    derived = s.x + s.X @ scores @ s.px, s.t + s.y.T @ scores @ s.py
    if twisted == "yes":
        xy, yx = yx, xy
    return leftover(derived, diagonal(s.X, s.y, Four(xx, xy, yx, yy), s.x, s.t), "d n heads")


def product(heads: int) -> Leftover:
    """xx yy compared with xy yx, for diagonal heads with free weights."""
    shape = "" if heads == 1 else "heads 1"
    s = letters(px=shape, py=shape, qx=shape, qy=shape)
    xx, xy, yx, yy = (p * q if heads == 1 else p.T @ q for p in (s.px, s.py) for q in (s.qx, s.qy))
    return leftover(xx * yy, xy * yx, "heads")


def two_heads(heads: int) -> Leftover:
    """Any four numbers compared with the sum of the heads p = (xx, yx), q = (1, 0) and p = (xy, yy), q = (0, 1), or the first."""
    s = letters(xx="", xy="", yx="", yy="")
    pairs = [((s.xx, s.yx), (1, 0)), ((s.xy, s.yy), (0, 1))][:heads]
    made = [sum(p[i] * q[j] for p, q in pairs) for i in (0, 1) for j in (0, 1)]
    return leftover([s.xx, s.xy, s.yx, s.yy], [s.xx * 0 + each for each in made], "heads")


def diagonal(X: Words, y: Words, weights: Four, x: Words, t: Words) -> tuple[Words, Words]:
    """The stated update: x + xx Sigma x + xy t alpha, t + yx <alpha, x> + yy lambda t."""
    alpha = X @ y
    return (
        x + weights.xx * (X @ X.T @ x) + weights.xy * alpha * t,
        t + weights.yx * (alpha.T @ x) + weights.yy * (y.T @ y) * t,
    )


def momentum(kappa: Literal["one", "a"] = "one", *, orthogonal: bool = True) -> Leftover:
    """(u', w') of a diagonal layer at any state compared with Lemma 4.4, for labels <v, x_i> + r_i.

    Least squares leaves sum r_i x_i = 0 (`orthogonal`). `kappa` is the factor before u w*^T in Gamma and Pi.
    """
    s = letters(X="d n", r="n 1", v="d 1", M="d d", u="d 1", a="", w="d 1", z="d 1", **_FOUR)
    weights, one, y = _four(s), identity("d"), s.X.T @ s.v + s.r
    keys, labels = s.M @ s.X + s.u @ y.T, s.a * y - s.X.T @ s.w
    u, _ = diagonal(keys, labels, weights, s.u, s.a)  # the token (0, 1) has become (u, a)
    _, along = diagonal(keys, labels, weights, s.M @ s.z, -(s.w.T @ s.z))  # (z, 0): the label -<w', z>
    rho, Sigma = s.r.T @ s.r, s.X @ s.X.T
    mixed = s.M + (s.a if kappa == "a" else 1) * (s.u @ s.v.T)
    descent = Sigma @ (s.a * s.v - s.w)
    Lambda = -weights.xy * s.a * s.a * rho * one - weights.xx * (keys @ keys.T)
    stated = (one - Lambda) @ s.u + s.a * weights.xy * mixed @ descent
    stated_w = (
        s.w + weights.yy * (labels.T @ labels) * s.w
        - weights.yx * s.M.T @ mixed @ descent - s.a * rho * weights.yx * s.M.T @ s.u
    )  # fmt: skip
    rules: dict[tuple[Words, ...], Words | int] = {(s.X, s.r): 0} if orthogonal else {}
    sides = (u, along, stated, -(stated_w.T @ s.z))
    u, along, stated, label = (side.where(rules) for side in sides)
    return leftover((u, along), (stated, label), SIZES)


def gradient(fit: str) -> Leftover:
    """Minus half the gradient of sum_i (a y_i - <w, x_i>)^2 in w compared with Sigma (a v - w), for labels <v, x_i> + r_i.

    v is the least-squares fit, or the task's own weights, whose residuals need not be orthogonal to the covariates.
    """
    s = letters(X="d n", r="n 1", v="d 1", a="", w="d 1")
    descent = s.X @ (s.a * (s.X.T @ s.v + s.r) - s.X.T @ s.w)
    rules: dict[tuple[Words, ...], Words | int] = {(s.X, s.r): 0} if fit == "least squares" else {}
    return leftover(descent.where(rules), s.X @ s.X.T @ (s.a * s.v - s.w), SIZES)


def one_step(fit: str) -> Leftover:
    """sum_i y_i x_i - v compared with (Sigma - I) v, for labels <v, x_i> + r_i; v as in `gradient`."""
    s = letters(X="d n", r="n 1", v="d 1")
    rules: dict[tuple[Words, ...], Words | int] = {(s.X, s.r): 0} if fit == "least squares" else {}
    return leftover((s.X @ (s.X.T @ s.v + s.r) - s.v).where(rules), s.X @ s.X.T @ s.v - s.v, SIZES)


def rescaled(weight: str = "yy") -> Leftover:
    """A layer with one weight compared with x' = x, t' = (1 + yy lambda) t, on any token."""
    s = letters(X="d n", y="n 1", x="d 1", t="", c="")
    nothing = s.t * 0
    weights = Four(nothing, nothing, nothing, nothing)._replace(**{weight: s.c})
    return leftover(diagonal(s.X, s.y, weights, s.x, s.t), (s.x, s.t + s.c * (s.y.T @ s.y) * s.t), SIZES)


def preconditioned(momentum: str = "none", at: str = "any w") -> Leftover:
    """A diagonal layer compared with a step of preconditioned gradient descent on 1/2 sum_i (y_i - <v, x_i>)^2, v = w
    / a.

    With momentum "none" the state has u = 0 and the layer xy = 0. Then u' = 0 and v' = v + yx / (1 + s) M^T M sum_i
    (<v, x_i> - y_i) x_i with s = yy lambda, which without divisions is a w' - a' w = -a yx M^T M Sigma (a w* - w). With
    "any" momentum u and xy are free. `at="the fit"` puts w = a w*, where every such step is 0.
    """
    s = letters(X="d n", r="n 1", v="d 1", M="d d", u="d 1", a="", w="d 1", z="d 1", **_FOUR)
    nothing, none = letters(t="").t * 0, momentum == "none"
    weights = Four(s.xx, nothing if none else s.xy, s.yx, s.yy)
    u, w, y = s.u * 0 if none else s.u, s.a * s.v if at == "the fit" else s.w, s.X.T @ s.v + s.r
    keys, labels = s.M @ s.X + u @ y.T, s.a * y - s.X.T @ w
    moved, a = diagonal(keys, labels, weights, u, s.a)  # the token (0, 1) has become (u, a)
    _, along = diagonal(keys, labels, weights, s.M @ s.z, -(w.T @ s.z))  # (z, 0): the label -<w', z>
    step = s.a * weights.yx * s.M.T @ s.M @ (s.X @ s.X.T) @ (s.a * s.v - w)
    derived, stated = [s.a * along + a * (w.T @ s.z)], [step.T @ s.z]
    if none:
        derived, stated = [*derived, moved], [*stated, s.u * 0]
    fit: dict[tuple[Words, ...], Words | int] = {(s.X, s.r): 0}
    return leftover([side.where(fit) for side in derived], [side.where(fit) for side in stated], SIZES)


def adaptive(squares: str, moved: str = "by labels") -> Leftover:
    """A layer with only xy and one with only yx, compared with y_t + yx (1 + xy E) <sum y_i x_i, x_t>.

    E is a sum of squares of the "labels", or of the "residuals" of least squares, with sum r_i x_i = 0. The first layer
    moves x_i "by labels", xy y_i sum y_i x_i; the section assumes "by residuals", xy r_i sum y_i x_i.
    """
    s = letters(X="d n", r="n 1", v="d 1", x="d 1", **_FOUR)
    y, nothing = s.X.T @ s.v + s.r, letters(t="").t * 0
    second = Four(nothing, nothing, s.yx, nothing)
    keys = s.X + s.xy * (s.X @ y) @ (s.r if moved == "by residuals" else y).T
    _, label = diagonal(keys, y, second, s.x, nothing)  # the query has no label yet: the first layer leaves it
    energy = y.T @ y if squares == "labels" else s.r.T @ s.r
    stated = s.yx * (1 + s.xy * energy) * (s.X @ y).T @ s.x
    rules: dict[tuple[Words, ...], Words | int] = {(s.X, s.r): 0} if squares == "residuals" else {}
    return leftover(label.where(rules), stated.where(rules), SIZES)


def residuals(fit: str) -> Leftover:
    """sum y_i x_i and sum y_i r_i compared with Sigma v and sum r_i^2, for labels <v, x_i> + r_i; v as in `gradient`."""
    s = letters(X="d n", r="n 1", v="d 1")
    y = s.X.T @ s.v + s.r
    rules: dict[tuple[Words, ...], Words | int] = {(s.X, s.r): 0} if fit == "least squares" else {}
    return leftover([(s.X @ y).where(rules), (y.T @ s.r).where(rules)], [s.X @ s.X.T @ s.v, s.r.T @ s.r], SIZES)


def delayed(after: int, ways: tuple[str, ...] = ("query", "context", "both"), weight: str = "xy") -> Leftover:
    """The query's label with a weight of a layer minus that without it, after 1 layer or 2, compared with the stated
    terms.

    After one layer there are no stated terms; after two, for xy, the terms through the query, the context, and both.
    """
    s = letters(X="d n", y="n 1", x="d 1", t="", eta_xx="", eta_xy="", eta_yx="", eta_yy="", **_FOUR)
    one, nothing, weights = identity("d"), s.t * 0, _four(s)
    following = Four(s.eta_xx, s.eta_xy, s.eta_yx, s.eta_yy)

    def label(first: Four) -> Words:
        x, t = diagonal(s.X, s.y, first, s.x, s.t)
        if after == 1:
            return t
        alpha = s.X @ s.y
        keys = (one + first.xx * s.X @ s.X.T) @ s.X + first.xy * alpha @ s.y.T
        labels = (1 + first.yy * s.y.T @ s.y) * s.y + first.yx * s.X.T @ alpha
        return diagonal(keys, labels, following, x, t)[1]

    alpha, energy = s.X @ s.y, s.y.T @ s.y
    spread = one + s.xx * s.X @ s.X.T
    beta = spread @ ((1 + s.yy * energy) * alpha + s.yx * s.X @ s.X.T @ alpha)
    square = alpha.T @ alpha
    mu = (1 + s.yy * energy) * energy + s.yx * square
    terms = {
        "query": s.t * (beta.T @ alpha),
        "context": mu * (alpha.T @ spread @ s.x),
        "both": s.xy * s.t * mu * square,
    }
    stated = sum((s.eta_yx * s.xy * terms[way] for way in ways), nothing) if after == 2 else nothing
    return leftover(label(weights) - label(weights._replace(**{weight: nothing})), stated, SIZES)


_FOUR = dict.fromkeys(Four._fields, "")


def _four(s: Any) -> Four:
    return Four(s.xx, s.xy, s.yx, s.yy)
