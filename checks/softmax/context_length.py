r"""The figure of the intuition slides: functions of three Lipschitz constants, their windows, and the error against n."""

from __future__ import annotations

from typing import Any

import numpy as np

import lipverify as lv
from lipverify.claims import DIMENSIONS, Figure, Panel, Series, Source, agree, at, bound, claim, exponent, per_profile

Value = tuple[float, float]
LEVELS = (1.0, 3.0, 10.0)
PAIRS = [(trained, tested) for trained in LEVELS for tested in LEVELS if trained != tested]
TUNED_AT = 100
"""The length of the context for which the fixed window is tuned."""


def problem(L: float, d: int, n: float) -> lv.Problem:
    """Affine tasks with Lipschitz constant L, at sigma = 1."""
    return lv.Problem(d=d, n=n, law=lv.laws.Affine(L=L), sigma=1.0)


def table(d: int, n: float) -> dict[str, Value]:
    """The window of each L, its loss on each, and that over the least loss there."""
    from lipverify.optimum.transfer import transfers

    return transfers({f"{L:g}": problem(L, d, n) for L in LEVELS})


def tuned_loss(law: str, d: int, n: float) -> Value:
    """The least loss over w at L = sigma = 1, of any law."""
    found = lv.optimal_window(lv.Problem(d=d, n=n, law=lv.laws.law_named(law), sigma=1.0))
    return found.loss, found.loss_error


def sampled(
    trained: float, tested: float, d: int, n: float, contexts: int, seed: int, backend: str
) -> dict[str, Value]:
    """The loss of the exact window of one L on another, on sampled contexts."""
    drawn = {"contexts": contexts, "seed": seed, "backend": backend, "stream": f"transfer/{trained}/{tested}/{d}/{n:g}"}
    return transferred("montecarlo", trained, tested, d, n, **drawn)


def leading(trained: float, tested: float, d: int, n: float) -> dict[str, Value]:
    """The same from the leading terms."""
    return transferred("asymptotic", trained, tested, d, n)


def transferred(method: str, trained: float, tested: float, d: int, n: float, **drawn: Any) -> dict[str, Value]:
    """The loss of the exact window by another method."""
    terms = lv.loss_terms(problem(tested, d, n), lv.optimal_window(problem(trained, d, n)).w, method, **drawn)
    return {f"loss of {trained:g} on {tested:g}": (float(terms.total), float(terms.total_error))}


def fixed(d: int, n: float) -> Value:
    """The loss at n tokens of the window that is tuned at 100, L = 1."""
    from lipverify.optimum.transfer import transferred_loss

    return transferred_loss(lv.optimal_window(problem(1.0, d, TUNED_AT)), problem(1.0, d, n))


def floor(d: int, n: float) -> Value:
    """The bias that is left of it, (1/3d) (1 - I_{d/2}(w) / I_{d/2-1}(w))^2, in closed form."""
    from scipy.special import ive

    tuned = lv.optimal_window(problem(1.0, d, TUNED_AT))
    short = 1 - ive(d / 2, tuned.w) / ive(d / 2 - 1, tuned.w)
    # the bias falls no faster than w^-2, so that an error of w counts twice; and noise is left, about w^{(d-1)/2} / n
    error = 2 * tuned.w_error / tuned.w + 64 * float(np.finfo(float).eps) / short
    return float(short**2 / (3 * d)), float(short**2 / (3 * d) * error + tuned.w ** (d / 2) / n)


def panels(**found: dict[str, Value]) -> Figure:
    """Functions, windows at one n, and the error on L = 3 of each window, as on the slide."""
    angles, lengths = np.linspace(0, np.pi, 61), [10.0 ** int(name.removeprefix("n_")) for name in found]
    there = found["n_4"]
    windows = {L: np.exp(there[f"w* of {L:g}"][0] * (np.cos(angles) - 1)) for L in LEVELS}
    errors = {L: [each[f"loss of {L:g} on 3"][0] for each in found.values()] for L in LEVELS}
    linear: Any = {"xscale": "linear", "yscale": "linear"}

    def lines(x: Any, y: dict[float, Any], label: str = "") -> tuple[Series, ...]:
        return tuple(
            Series(label=f"{label}$L = {L:g}$", x=tuple(map(float, x)), y=tuple(map(float, y[L]))) for L in LEVELS
        )

    functions = {L: L * np.cos(angles) for L in LEVELS}
    return Figure(
        caption="Functions of three Lipschitz constants along a great circle; the attention of their optimal windows ($d = 3$, $n = 10^4$), "
        "relative to a token at the query; the error on $L = 3$ against $n$ of each window, tuned at every $n$.",
        alt="Three functions, three attention windows, and error curves against context length.",
        panels=(
            Panel(title="functions", xlabel="angle", ylabel="$f$", series=lines(angles, functions), **linear),
            Panel(
                title="windows",
                xlabel="angle to the query",
                ylabel="attention",
                series=lines(angles, windows),
                **linear,
            ),
            Panel(title="error on $L = 3$", xlabel="$n$", ylabel="loss", series=lines(lengths, errors, "tuned to ")),
        ),
    )


FIGURE = Source(
    "S",
    "ICL estimator intuition, figure",
    "Top: Varying Lipschitzness in the ground truth results in different optimal attention windows. Middle: Attention unit can adapt to "
    "these attention windows using softmax. Bottom: ICL error with varying number of context tokens.",
)
MODEL = (
    r"tokens and query uniform on $S^{d-1}$, noise independent with variance $\sigma^2 = 1$, affine law",
    r"$\mathbf{M} = w \mathbf{I}$, attention scores $w \langle x_i, x \rangle$",
)
EVERY = (*MODEL, r"$L, L' \in \{1, 3, 10\}$; the window is tuned at every $n$")
DEEP = per_profile((2, 3, 5), DIMENSIONS.full)
RAY = (100.0, 1e30)
FACTOR = r"\frac{\mathcal{L}(w^*(L); L')}{\mathcal{L}(w^*(L'); L')}"
LIMIT = "((d - 1)*(tested/trained)**2 + 4)/((d + 3)*(tested/trained)**(2*(d - 1)/(d + 3)))"
"""(a rho^2 + beta) / ((a + beta) rho^(2a/(a + beta))) with a = (d - 1)/2, beta = 2 and rho = L'/L."""
SLIDE = at(panels, **{f"n_{k}": at(table, d=3, n=10.0**k) for k in range(2, 11)})


def agreed(trained: float, tested: float) -> Any:
    """A loss by sampling at 100 tokens, and from the leading terms at 1e30."""
    pair = {"trained": trained, "tested": tested, "d": 5}
    loss: dict[str, Any] = {"quantity": r"\mathrm{loss}", "of": "loss of {trained} on {tested}"}
    return (
        agree(table, sampled, **loss, over={**pair, "n": 100.0}),
        agree(table, leading, **loss, methods=("exact", "asymptotic"), over={**pair, "n": 1e30}),
    )


claim(
    "softmax.context-length/affine/theta/tuned",
    exponent(
        table, r"\mathcal{L}(w^*(L); L)", of="loss of {L} on {L}", along={"n": RAY}, equals="-4/(d + 3)", method="exact"
    ),
    source=FIGURE,
    kind="sharp",
    expected="supported",
    over={"L": LEVELS, "d": DEEP},
    title="the error of attention that is tuned to each of three Lipschitz constants",
    assumes=EVERY,
    agrees=agreed(1.0, 1.0),
    figures=SLIDE,
    finding=r"The three curves are one: the loss is $L^2$ times a function of $n$ and $\Lambda = nL^2/\sigma^2$, which for long contexts "
    r"depends on $\Lambda$ alone. The exponent is worse than the $-1$ of finitely many parameters and tends to 0 as $d$ grows: softmax "
    "attention is a local average.",
)
claim(
    "softmax.context-length/affine/lower/mistuned",
    bound(
        table,
        FACTOR,
        of="{trained} on {tested}",
        low=1,
        strict=True,
        control=f"1.2*{LIMIT}",
        over={"n": (100.0, 1e4, 1e8)},
        method="exact",
    ),
    bound(table, FACTOR, of="{trained} on {tested}", along={"n": RAY}, equals=LIMIT, within=0.001, method="exact"),
    source=FIGURE,
    kind="derived",
    expected="supported",
    over={"d": DEEP, ("trained", "tested"): PAIRS},
    title="the error of attention that is tuned to another Lipschitz constant",
    statement=FACTOR
    + r" > 1 \quad (n = 10^2, 10^4, 10^8), \qquad \to \frac{a \rho^2 + \beta}{(a+\beta) \rho^{2a/(a+\beta)}}, \quad \rho = L'/L",
    assumes=(*EVERY, r"$a = (d-1)/2$, $\beta = 2$"),
    agrees=agreed(1.0, 3.0),
    figures=SLIDE,
    finding="Mistuned attention is worse at every length that is measured, and parallel in the limit: the curves of the figure keep a "
    "constant distance on logarithmic axes, as long as both windows are tuned at every $n$.",
)
claim(
    "softmax.context-length/affine/fixed-window",
    exponent(
        fixed,
        r"\mathcal{L}(w; L)",
        along={"n": RAY},
        high=0,
        strict=True,
        rate=0,
        control=(None, {"equals": 0}),
        method="exact",
    ),
    source=FIGURE,
    kind="convention",
    expected="refuted",
    over={"d": (2, 3, 5)},
    title="the error of attention that is not tuned again tends to 0",
    assumes=(*MODEL, "$L = 1$; pretrained at $n = 100$, used on longer contexts"),
    agrees=agree(
        fixed, floor, r"\mathcal{L}(w; L)", methods=("exact", "closed form"), over={"d": (2, 3, 5), "n": 1e30}
    ),
    finding=r"A window is tuned to a context length as well as to $L$. On longer contexts the noise goes on falling like $1/n$ and the bias "
    r"stays: $B \to \frac{L^2}{3d} (1 - I_{d/2}(w) / I_{d/2-1}(w))^2$ for the affine law, with which the measured limits agree.",
    corrected="the error falls to 0 if the unit is pretrained for each number of tokens; else to the bias of its window",
)
claim(
    "softmax.context-length/{law}/theta/tuned",
    exponent(tuned_loss, r"\mathcal{L}(w^*)", along={"n": (1e6, 1e24, 9)}, equals="-rate", method="exact"),
    source=FIGURE,
    kind="sharp",
    expected="supported",
    over={
        "law": {"relu": {"rate": "3/(d + 2)"}, "cosine": {"rate": "4/(d + 3)"}, "quadratic": {"rate": "4/(d + 3)"}},
        "d": (2, 3),
    },
    title="the error of tuned attention on the other classes of the slides",
    assumes=(MODEL[0].replace(", affine law", ", $L = 1$"), *MODEL[1:], "the window is tuned at every $n$"),
    finding=r"What sets the rate is the order at which the bias falls, $w^{-3/2}$ with a kink and $w^{-2}$ without, not the Lipschitz constant: that is in the factor alone.",
)
