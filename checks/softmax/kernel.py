r"""On the unit sphere softmax scores are a Gaussian kernel in the distance, of one width or the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from lipverify.claims import Figure, Panel, Series, Source, at, bound, claim, identity

Value = tuple[float, float]


def steepest(w: float, d: int, n: int, seed: int) -> tuple[float, float]:
    """The largest |grad_x y-hat| over (w / 2) times the range of the labels, at drawn contexts and at two antipodes."""
    from lipverify.foundation.streams import normals

    drawn, labels = normals(seed, f"slope/{d}/{n}", 0, (200, n + 1, d)), normals(seed, f"slope/{d}/{n}", 1, (200, n))
    contexts = [(each / np.linalg.norm(each, axis=1, keepdims=True), y) for each, y in zip(drawn, labels, strict=True)]
    poles = np.zeros((3, d))
    poles[0, 0], poles[1, 0], poles[2, 1] = 1, -1, 1
    largest = 0.0
    for tokens, y in [*contexts, (poles, np.array([1.0, -1.0]))]:
        x, query = tokens[:-1], tokens[-1]
        a = np.exp(w * (x @ query - np.max(x @ query)))
        a = a / a.sum()
        gradient = w * (a * (y - a @ y)) @ x
        largest = max(largest, float(np.linalg.norm(gradient)) / (w / 2 * float(np.ptp(y))))
    return largest, 1e-13


def sensitivity(kept: str = "1") -> Any:
    """How the prediction moves with x along e, less w Cov_a(y, <x_i, e>), and Var_a(y) less what bounds it, for every n; `kept` of these.

    A, Y and T are the diagonal matrices of attention, labels and <x_i, e>; h and l bound the labels, and the columns sum.
    (h - l)^2 / 4 is Var + sum_i a_i (h - y_i)(y_i - l) + ((h + l) / 2 - sum_i a_i y_i)^2: Popoviciu's inequality.
    """
    from fractions import Fraction

    from lipverify.proofs.words import identity as unit
    from lipverify.proofs.words import leftover, letters

    s, times = (
        letters(symmetric=("A", "Y", "T"), A="n n", Y="n n", T="n n", one="n 1", w="", h="", l=""),
        Fraction(kept),
    )
    commute = {(s.T, s.A): s.A @ s.T, (s.Y, s.A): s.A @ s.Y, (s.T, s.Y): s.Y @ s.T}
    summed = {(s.one.T, s.A, s.one): 1}

    def mean(of: Any) -> Any:
        return s.one.T @ s.A @ of @ s.one

    moved = s.w * (s.A @ s.T - mean(s.T) * s.A)  # d a_i = w (t_i - sum_j a_j t_j) a_i
    covariance = mean(s.Y @ s.T) - mean(s.Y) * mean(s.T)
    variance, half = mean(s.Y @ s.Y) - mean(s.Y) ** 2, Fraction(1, 2)
    between = mean((s.h * unit("n") - s.Y) @ (s.Y - s.l * unit("n")))
    derived = s.one.T @ moved @ s.Y @ s.one, Fraction(1, 4) * (s.h - s.l) ** 2
    stated = times * s.w * covariance, times * (variance + between + (half * (s.h + s.l) - mean(s.Y)) ** 2)
    one, other = ([each.where(commute).where(summed) for each in side] for side in (derived, stated))
    return leftover(one, other, "n")


def log_ratio(slides: str) -> Any:
    """Log a_i / a_j less that of exp(-c w |x_i - x|^2), for any two tokens, query and w, all on the unit sphere."""
    from fractions import Fraction

    from lipverify.proofs.words import leftover, letters

    s = letters(x_i="d 1", x_j="d 1", x="d 1", w="")
    on_the_sphere = {(each.T, each): 1 for each in (s.x_i, s.x_j, s.x)}
    stated = (
        Fraction(SLIDES.get(slides, slides)) * s.w * ((s.x_j - s.x).T @ (s.x_j - s.x) - (s.x_i - s.x).T @ (s.x_i - s.x))
    )
    return leftover(s.w * (s.x_i - s.x_j).T @ s.x, stated.where(on_the_sphere), "d w")


def drawn(d: int, n: int, seed: int) -> tuple[Any, Any]:
    """A query and n tokens."""
    from lipverify.foundation.streams import normals
    from lipverify.problem.sphere import on_sphere

    points = on_sphere(normals(seed, f"kernel/{d}", 0, (n + 1, d)), np)
    return points[0], points[1:]


def weights(d: int, n: int, w: float, seed: int) -> list[tuple[float, float]]:
    """The attention of each token over that of the nearest, beside how much larger its squared distance is."""
    query, tokens = drawn(d, n, seed)
    scores, distance = w * tokens @ query, np.sum((tokens - query) ** 2, axis=1)
    nearest = int(np.argmax(scores))
    return sorted(zip((distance - distance[nearest]).tolist(), np.exp(scores - scores[nearest]).tolist(), strict=True))


def falling(found: list[tuple[float, float]]) -> Figure:
    """Attention against squared distance, with the two kernels of the slides."""
    x, y = zip(*found, strict=True)
    curves = {"$e^{-(w/2) \\Delta}$, intuition slides": DRAWN["w"] / 2, "$e^{-w \\Delta}$, proof slides": DRAWN["w"]}
    panel = Panel(
        title="attention of drawn tokens",
        xlabel="$\\Delta = |x_i - x|^2 - \\min_j |x_j - x|^2$",
        ylabel="$a_i / \\max_j a_j$",
        xscale="linear",
        series=(
            Series(label=f"$d = {DRAWN['d']}$, $n = {DRAWN['n']}$, $w = {DRAWN['w']:g}$", x=x, y=y, style="points"),
            *(
                Series(label=label, x=x, y=tuple(float(np.exp(-rate * each)) for each in x))
                for label, rate in curves.items()
            ),
        ),
    )
    caption = "The attention of each token over that of the nearest, against how much farther it is; lines are the kernels of the two slides."
    alt = (
        "Points lie on the kernel of the intuition slides; that of the proof slides falls twice as fast on a log axis."
    )
    return Figure(caption=caption, alt=alt, panels=(panel,))


DRAWN: dict[str, Any] = {"d": 3, "n": 50, "w": 7.0}
SLIDES = {"intuition": "1/2", "proof": "1"}
"""The c that stands before w |x_i - x|^2 in the exponent, by slide."""

claim(
    "softmax.gaussian-window/{slides}",
    identity(
        log_ratio,
        r"\log \frac{a_i}{a_j} - c\, w \bigl(\|x_j - x\|^2 - \|x_i - x\|^2\bigr)",
        control=({"slides": "51/100"}, {"slides": "intuition"}),
    ),
    source={
        "intuition": Source(
            "S",
            "ICL Estimator Intuition",
            r"Attention $x_{n+1} \to x_i$: $\frac{e^{-\frac{w_{KQ}}{2} \|x_i - x_{n+1}\|^2}}"
            r"{\sum_{j=1}^n e^{-\frac{w_{KQ}}{2} \|x_j - x_{n+1}\|^2}}$",
        ),
        "proof": Source(
            "S",
            "Proof Sketch, the noise recalled",
            r"Recall $\mathcal{L}_{noise}(w_{KQ}) = \sigma^2 \sum_i \frac{e^{-2 w_{KQ} \|x_i - x_{n+1}\|^2}}"
            r"{(\sum_j e^{-w_{KQ} \|x_j - x_{n+1}\|^2})^2}$",
        ),
    },
    kind="printed",
    expected={"intuition": "supported", "proof": "refuted"},
    over={"slides": tuple(SLIDES)},
    title="attention is a Gaussian kernel in the distance",
    statement=r"a_i \propto e^{w \langle x_i, x \rangle} \propto e^{-c\, w \|x_i - x\|^2}",
    assumes=r"tokens and query on $S^{d-1}$, $\mathbf{M} = w \mathbf{I}$, attention scores $w \langle x_i, x \rangle$",
    finding=r"On the unit sphere $\|x_i - x\|^2 = 2 - 2 \langle x_i, x \rangle$, so $e^{w \langle x_i, x \rangle}$ is "
    r"$e^{-\frac{w}{2} \|x_i - x\|^2}$ up to a factor that softmax cancels. Theorem 2 sets "
    r"$\mathbf{M} = w_{KQ} \mathbf{I}$, so the $w_{KQ}$ that the proof slides display in the exponent is off by the factor 2, which moves no rate.",
    figures=at(falling, found=at(weights, **DRAWN)),
    corrected={
        "proof": r"$\mathcal{L}_{noise}(w_{KQ}) = \sigma^2 \sum_i e^{-w_{KQ} \|x_i - x_{n+1}\|^2} / (\sum_j e^{-\frac{w_{KQ}}{2} \|x_j - x_{n+1}\|^2})^2$",
        "*": "",
    },
)
ADAPT = Source(
    "A",
    "In-depth insights, Lipschitz Adapt",
    "Softmax functions [...] could play a vital role in this adaptive behavior because their output is inherently bounded and smooth, promoting stability and preventing "
    "the model from becoming overly sensitive to small changes in input",
)
claim(
    "softmax.sensitivity",
    bound(
        steepest,
        r"\max |\nabla_x \hat{y}| \big/ \tfrac{w}{2} (\max_i y_i - \min_i y_i)",
        high="1 + 1e-12",
        control=0.9,
        method=("identity", "bounded"),
    ),
    source=ADAPT,
    kind="convention",
    expected="supported",
    over={"w": (0.5, 7.0, 100.0), "d": (2, 5), "n": 10},
    title="how sensitive the prediction is to the query",
    statement=r"\min_i y_i \leq \hat{y} \leq \max_i y_i, \qquad |\nabla_x \hat{y}| \leq \tfrac{w}{2} (\max_i y_i - \min_i y_i)",
    assumes=(
        r"tokens in the unit ball, $\mathbf{M} = w \mathbf{I}$; drawn contexts, and two antipodes with the query across",
    ),
    finding=r"The prediction is a mean of labels, so it is bounded by them. Its derivative along a unit vector $e$ is $w$ times the covariance of $y_i$ and $\langle x_i, e "
    r"\rangle$ under the attention, at most $w$ times half their ranges (Popoviciu), and two antipodes attain it. So softmax attention is as sensitive as its "
    r"window is narrow: what keeps it stable is $w^*$, not the softmax.",
)
claim(
    "softmax.sensitivity/proved",
    identity(
        sensitivity,
        r"\langle \nabla_x \hat{y}, e \rangle - w\, \mathrm{Cov}_a(y, t),\ \tfrac{1}{4} (h - l)^2 - \mathrm{Var}_a(y) - \dots",
        control={"kept": "101/100"},
    ),
    source=ADAPT,
    kind="derived",
    expected="supported",
    proves="softmax.sensitivity",
    title="how sensitive the prediction is to the query: every n, d, w and context",
    statement=r"\min_i y_i \leq \hat{y} \leq \max_i y_i, \qquad |\nabla_x \hat{y}| \leq \tfrac{w}{2} (\max_i y_i - \min_i y_i)",
    assumes=(
        r"any tokens in the unit ball, any labels, query, $n$, $d$ and $w \geq 0$; $\mathbf{M} = w \mathbf{I}$",
        "the identities are checked; what follows is by hand",
    ),
    finding=r"Along a unit vector $e$, with $t_i = \langle x_i, e \rangle$, the prediction moves by $w\, \mathrm{Cov}_a(y, t)$ (first identity). With $h = \max_i y_i$ and $l = \min_i y_i$ the "
    r"second identity is a sum of terms that are not negative: $\mathrm{Var}_a(y) \leq (h - l)^2 / 4$, and likewise $\mathrm{Var}_a(t) \leq 1$ as $|t_i| \leq 1$. So the covariance is at most "
    r"$(h - l) / 2$. The prediction is a mean of labels.",
)
