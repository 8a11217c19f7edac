"""The fixed texts of the report, independent of the ledger."""

from __future__ import annotations

import msgspec

VERDICTS = {
    "supported": "supported",
    "refuted": "refuted",
    "inconclusive": "inconclusive",
    "error": "error",
}
"""The word for a verdict, short enough for a table."""
SIGNS = {"supported": "✓", "refuted": "✗", "inconclusive": "?", "error": "!"}

LEGEND = (
    "A number with its signed distance to the edge of the set that a reading allows: ✓ inside, ✗ outside, ? across the "
    "edge; ‡ marks a control that was not caught there. Readings of one statement that rest on the same measurement "
    "share a table, with a column for each. A dash means that no finite edge bounds the set."
)
"""Explains the tables of evidence."""

HOW_VERDICTS_ARE_MADE = (
    "A measurement is an interval, the measured value ± its error; a claim allows a set of values. If the interval "
    "lies inside the set, the claim is supported at that point; if it lies outside, it is refuted there; if it "
    "crosses the edge, the point is inconclusive. A narrower interval can decide an open case and never overturns a "
    "decided one.",
    "A claim over several points is refuted if it is refuted at any of them, and supported only if it is supported "
    "at all of them; its range names these points. The number beside a claim is that of one point: the smallest "
    "that refutes it, or else the first that is inconclusive, or else the one nearest to the edge of what the claim "
    "allows.",
    "Every point has a control, a similar statement with the opposite answer, which the same measurement must "
    "decide: a false one where the claim holds, a true one (its correction) where it fails. Otherwise the point is "
    "inconclusive, and so is a claim for which two methods disagree.",
    "Only claims of the kind printed, which state exactly the law, range and convention of their source, count for "
    "or against a paper. A claim has the weakest grade of its points; if another claim proves the same quantity and "
    "bounds at all of them, it has that grade. A claim that needs an argument in words is by hand, and names the "
    "document.",
    "An asymptotic claim ($\\Omega$, $O$, $\\Theta$) is decided by the limit of the local exponent along a ray, "
    "extrapolated over many decades with a stated error; where that equals the claimed exponent, by whether the "
    "ratio of the quantity to the claimed power tends to a positive constant. Such evidence is numerical: a finite "
    "computation does not establish a limit; a proof does, with its constants and range.",
)


LAWS = {
    "ReLU law": r"$f(x) = a\, (\langle q, x \rangle)_+ + b\, (-\langle q, x \rangle)_+ + c$ with $a, b$ uniform on "
    r"$[-L, L]$, $q$ uniform on the sphere, any $c$",
    "affine law": r"$f(x) = a \langle q, x \rangle + c$ with $a$ uniform on $[-L, L]$, $q$ on the sphere, any $c$",
    "cosine law": r"$f(x) = \cos(L \langle q, x \rangle)$ with $q$ uniform on the sphere",
    "quadratic law": r"$f(x) = L \langle q, x \rangle^2$ with $q$ uniform on the sphere",
}
"""The laws of tasks of lipverify, by the words for them in a table."""


class Entry(msgspec.Struct, frozen=True):
    """A symbol, its meaning, the forms in LaTeX that it stands for, and its family of statements."""

    symbol: str
    meaning: str
    names: frozenset[str]
    linear: bool
    """True for a symbol of linear transformers, whose ids begin with `lt.`; False for softmax attention."""
    anywhere: bool
    """True if it has the same meaning in users' files, whose letters are their own."""

    def holds_for(self, stem: str, own: bool) -> bool:
        """True if the symbol has this meaning in a statement; users' claims (not `own`) define their own letters."""
        return (stem.startswith("lt.") == self.linear) if own else self.anywhere


def _entry(names: str, symbol: str, meaning: str, *, linear: bool = False, anywhere: bool = False) -> Entry:
    return Entry(symbol, meaning, frozenset(names.split()), linear, anywhere)


def _linear(names: str, symbol: str, meaning: str) -> Entry:
    return _entry(names, symbol, meaning, linear=True)


NOTATION = (
    _entry("d", "$d$", r"the ambient dimension: tokens lie on the unit sphere $S^{d-1}$ in $\mathbb{R}^d$"),
    _entry("n", "$n$", "the number of tokens in the context"),
    _entry(
        "x y f", "$x_i, y_i$", "the tokens and their labels $y_i = f(x_i) + $ noise; $x$ is the query and $f$ the task"
    ),
    _entry(
        "D E",
        "$D, E$",
        r"the dimension in a printed rate, $D = d$ of the space (ambient) or $D = d - 1$ of the sphere (intrinsic), "
        r"and $E = D + 2$; in quotations $D(\cdot)$ is the law of the tasks",
    ),
    _entry("L", "$L$", "the Lipschitz constant of the tasks ($L'$ where they are tested on others)"),
    _entry(r"\sigma", r"$\sigma$", "the standard deviation of the label noise"),
    _entry(
        r"\mathbfM",
        r"$\mathbf{M}$",
        r"the attention matrix: token $x_i$ has the score $x_i^\top \mathbf{M} x$; $\mathbf{M}^*$ minimises the loss",
    ),
    _entry(
        "w",
        r"$w = w_{KQ}$",
        r"the scale of $\mathbf{M} = w \mathbf{I}$, the inverse square of the window's width; $w^*$ minimises the loss",
    ),
    _entry(r"\mathbfI", r"$\mathbf{I}$", "the identity"),
    _entry(r"a", "$a_i$", "the softmax weights"),
    _entry(
        r"B",
        "$B(w)$",
        r"the bias term of the loss, $\mathbb{E} (\sum_i a_i f(x_i) - f(x))^2$ with softmax weights $a_i$",
    ),
    _entry(r"N", "$N(w)$", r"its noise term, $\sigma^2\, \mathbb{E} \sum_i a_i^2$"),
    _entry(r"\mathcalL", r"$\mathcal{L}$", "the loss, the mean squared error of the prediction at the query: $B + N$"),
    _entry(r"\Lambda", r"$\Lambda$", r"$n L^2 / \sigma^2$, the strength of the signal"),
    _entry(
        r"\Omega \Theta O \mathcalO",
        r"$\Omega, \mathcal{O}, \Theta$",
        "at least, at most, and exactly of the order of, up to a constant",
        anywhere=True,
    ),
    _entry(
        r"\mathbfB",
        r"$\mathbf{B}$",
        r"a $d \times k$ matrix with orthonormal columns: tasks depend on $\mathbf{B}^\top x$ alone",
    ),
    _entry(r"\mathcalF", r"$\mathcal{F}$", "the class of tasks that its index names"),
    _entry(r"\Sigma", r"$\Sigma$", "the covariance of the tokens"),
    _linear("d", "$d$", "the dimension of the inputs"),
    _linear("n", "$n$", "the number of examples in the context"),
    _linear(
        "x y",
        "$x_i, y_i$",
        "the examples; $x_t$ is the query and $y_t$ its label, which a layer writes with its sign turned",
    ),
    _linear(r"\sigma", r"$\sigma$", "the standard deviation of the label noise, which differs from context to context"),
    _linear("l L", "$l, L$", "a layer, and the number of layers"),
    _linear(
        "w",
        "$w$",
        r"a weight vector: $w^*$ of the task, else of the model $\langle w, x \rangle$ that a layer keeps",
    ),
    _linear(
        "M u a",
        "$M, u, a$",
        r"the rest of that model: after a layer tokens are $M x_i + u y_i$ and $a y_i - \langle w, x_i \rangle$",
    ),
    _linear(r"\mathbfP \mathbfQ P Q", r"$P, Q$", "the two matrices of weights of a layer"),
    _linear(r"\omega", r"$\omega_{xx}, \omega_{xy}, \omega_{yx}, \omega_{yy}$", "the four weights of a diagonal layer"),
    _linear(
        r"\Sigma \alpha \lambda",
        r"$\Sigma, \alpha, \lambda$",
        r"$\sum_i x_i x_i^\top$, $\sum_i y_i x_i$, $\sum_i y_i^2$ over the context; $\lambda$ is also that of "
        "ridge regression",
    ),
    _linear(r"\mathcalL", r"$\mathcal{L}$", "the loss, the mean squared error of the prediction at the query"),
    _linear(
        r"\Omega \Theta O \mathcalO",
        r"$\Omega, \mathcal{O}, \Theta$",
        "at least, at most, and exactly of the order of, up to a constant",
    ),
)
"""Symbols in the order in which a page defines them; claims define any others."""
