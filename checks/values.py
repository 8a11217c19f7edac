r"""Lemma B.1: the optimal value matrix ignores the covariates; and c = 1, which the slides set "for simplicity"."""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from typing import Any

import sympy

from checks._running import run_file
from checks._slides import ASSUMED, LAWS, d, exponent_figure, limits_in_words, slides
from lipverify.claims.claim import CellPlan, Claim, CrossPlan, Reading, Task
from lipverify.claims.figure import Figure, Panel, Series
from lipverify.claims.ledger import Source
from lipverify.claims.registry import Profile
from lipverify.claims.scaling import scaling_cell
from lipverify.claims.softmax.values import (
    BestScale,
    JointGrowth,
    best_scale,
    best_vector,
    ignored_rows,
    joint_growth,
    sampled_scale,
)
from lipverify.claims.verdict import Allowed, Interval, Verdict
from lipverify.laws import law_named
from lipverify.loss.asymptotic import leading

LEMMA = Source(
    paper="R",
    place="Rebuttal to the fourth review, Lemma B.1",
    printed=r"the estimator does not depend on the first $d$ rows of $\mathbf{W}_V$; "
    r"the optimal value of the first $d$ elements in the $(d+1)$-th row of $\mathbf{W}_V$ is zero",
)
SIMPLICITY = slides(
    "Learning Model: One Layer of Softmax Self-Attention",
    r"for simplicity, we consider $\mathbf{W}_V = \begin{bmatrix} \mathbf{0} & \mathbf{0} \\ \mathbf{0} & 1 \end{bmatrix}$",
)
OFFSETS = {"offset": True, "no-offset": False}
CLASS = {"offset": r"$b \sim \mathrm{Unif}[-L, L]$ as on the slides", "no-offset": "$b = 0$"}
VALUES = r"\mathbf{W}_V = \begin{bmatrix} \mathbf{A} & \mathbf{b} \\ \mathbf{v}^\top & c \end{bmatrix}"
LENGTHS: dict[str, tuple[float, ...]] = {"affine": (10, 100, 1e4, 1e8, 1e30), "relu": (100, 1e4, 1e8, 1e30)}
DIMENSIONS = {"affine": (2, 3, 5), "relu": (3, 5)}
RESOLUTION, SHARE = 0.03, 1e-3
"""How near to 0 an entry of v must be, in units of L = sigma = 1; and how near to its limit a ratio, relative."""
SAMPLED_N = 100
FEWER = 10
"""Points of a ladder in the quick profile, each of them a minimisation over w and c."""


def claims(profile: Profile) -> tuple[Claim, ...]:
    """The rows that are ignored, v, c, and what the best c does to the window."""
    return (
        _rows(profile),
        *(_vector(profile, law) for law in LAWS),
        *(_scale(profile, law, reading) for law in LAWS for reading in OFFSETS),
        *(_window(profile, law, reading) for law in LAWS for reading in OFFSETS),
        *(_rate(profile, law, reading) for law in LAWS for reading in OFFSETS),
    )


def _rows(profile: Profile) -> Claim:
    rounding = 1e-12
    return Claim(
        id="softmax.values-ignore-covariates/rows",
        title="The prediction does not depend on the first d rows of the value matrix",
        statement=rf"\frac{{\partial}}{{\partial (\mathbf{{A}}, \mathbf{{b}})}} \Bigl({VALUES} \sum_i a_i z_i\Bigr)_{{d+1}} = 0",
        source=LEMMA,
        assumptions=("the prediction is the last entry of the output, as on the slides",),
        claimed="the change is 0",
        control="the change is 1",
        expected="supported",
        cells=tuple(
            CellPlan(
                where={"d": k, "n": 20},
                task=Task(ignored_rows, (k, 20, profile.seed)),
                quantity="largest change of the prediction over eight draws of (A, b)",
                read=lambda result, _: Reading(Interval.around(*result)),
                claimed="= 0",
                allowed=Allowed(low=-rounding, high=rounding),
                control=Allowed(low=1 - rounding, high=1 + rounding),
                method="identity",
            )
            for k in (2, 5, 8)
        ),
        finding="The last entry of a product with $\\mathbf{W}_V$ is made of its last row, $(\\mathbf{v}^\\top, c)$, alone.",
    )


def _vector(profile: Profile, law: str) -> Claim:
    tasks = {k: Task(best_vector, (law, k, 50, profile.contexts, profile.seed)) for k in (2, 3, 5)}
    nothing = tuple(
        CellPlan(
            where={"d": k, "n": 50, "law": law},
            task=task,
            quantity="first entry of the v that minimises the sampled loss",
            read=lambda result, _: Reading(Interval.around(*result.v)),
            claimed=f"= 0 ± {RESOLUTION}",
            allowed=Allowed(low=-RESOLUTION, high=RESOLUTION),
            control=Allowed(low=0.1 - RESOLUTION, high=0.1 + RESOLUTION),
            method="montecarlo",
        )
        for k, task in tasks.items()
    )
    convex = tuple(
        CellPlan(
            where={"d": k, "n": 50, "law": law},
            task=task,
            quantity="least eigenvalue of the Hessian in v",
            read=lambda result, _: Reading(Interval.around(*result.curvature)),
            claimed="> 0",
            allowed=Allowed(low=0.0, open=True),
            control=Allowed(high=0.0),
            method="montecarlo",
        )
        for k, task in tasks.items()
    )
    return Claim(
        id=f"softmax.values-ignore-covariates/{law}/v",
        title=f"The optimal v is 0, {law} law",
        statement=r"\operatorname{argmin}_{\mathbf{v}} \mathbb{E} \Bigl(\sum_i a_i (c\, y_i + \mathbf{v}^\top x_i) - f(x)\Bigr)^2 = 0".replace(
            r"\operatorname{argmin}", r"\argmin"
        ),
        source=LEMMA,
        assumptions=(*ASSUMED, f"{law} law", "$L = \\sigma = c = 1$, $w = w^*$"),
        claimed="v* = 0",
        control="v* has an entry of 0.1; the loss is not convex in v",
        expected="supported",
        cells=(*nothing, *convex),
        finding=(
            "With $X = \\sum_i a_i x_i$ the loss is $\\mathbf{v}^\\top \\mathbb{E}[X X^\\top] \\mathbf{v}$ plus a term linear in $\\mathbf{v}$, "
            "$2 \\mathbf{v}^\\top \\mathbb{E}[X (c \\sum_i a_i y_i - f(x))]$. Amplitudes, offset and noise are symmetric about 0 and independent of the "
            "covariates, so the linear term vanishes for every $c$ and $\\mathbf{M}$; $\\mathbb{E}[X X^\\top]$ is positive definite. Where "
            "$\\mathbb{E}_f f(x)$ is not zero but even in $x$ (cosine, quadratic), changing the sign of all covariates does the same. A "
            "law with an odd mean, $\\mathbb{E}_f f(x) = \\langle \\mu, x \\rangle$, is outside the lemma and has $\\mathbf{v}^* \\neq 0$. The rebuttal's display "
            "leaves out the weight $\\beta_i$ of $\\mathbf{v}^\\top x_i$, to no effect."
        ),
    )


def _scale(profile: Profile, law: str, reading: str) -> Claim:
    dimensions = DIMENSIONS[law] if profile.name == "full" else (3, 5) if law == "affine" else (3,)
    tasks = {(k, n): Task(best_scale, (law, OFFSETS[reading], k, n)) for k in dimensions for n in LENGTHS[law]}
    return Claim(
        id=f"softmax.values-ignore-covariates/{law}/c/{reading}",
        title=f"The optimal c is 1, {law} law, {_words(reading)}",
        statement=r"c^* = \argmin_c \mathbb{E} \Bigl(c \sum_i a_i y_i - f(x)\Bigr)^2 = 1 \quad \text{at } w = w^*",
        source=SIMPLICITY,
        assumptions=(*ASSUMED, f"{law} law", CLASS[reading], "$L = \\sigma = 1$"),
        claimed="c* = 1",
        control="c* = 1/2",
        expected="refuted",
        cells=tuple(
            CellPlan(
                where={"d": k, "n": n, "law": law},
                task=task,
                quantity="c* - 1 at w*",
                read=lambda found, _: Reading(
                    Interval.around(found.excess, found.excess_error), f"saves {100 * found.saved:.2g} % of the loss"
                ),
                claimed="= 0",
                allowed=Allowed(low=0.0, high=0.0),
                control=Allowed(low=-0.5, high=-0.5),
            )
            for (k, n), task in tasks.items()
        ),
        cross_checks=_agreement(profile, law, reading),
        summary=partial(_summary, tasks),
        finding=partial(_scale_finding, tasks),
        corrected=r"$c^* = 1 + (G - B - N) / \mathbb{E}[P^2]$, with $c^* < 1$ for few tokens, $c^* > 1$ for many, and $c^* \to 1$",
    )


def _agreement(profile: Profile, law: str, reading: str) -> tuple[CrossPlan, ...]:
    """C* at n = 100, exactly and on sampled contexts."""
    shared = (law, OFFSETS[reading], 3, SAMPLED_N)

    def read(exact: BestScale, sampled: tuple[float, float]) -> tuple[tuple[float, float], tuple[float, float]]:
        return (1 + exact.excess, sampled[0]), (exact.excess_error, sampled[1])

    return (
        CrossPlan(
            where={"d": 3, "n": SAMPLED_N, "law": law},
            quantity="c* at w*",
            methods=("exact", "montecarlo"),
            tasks=(Task(best_scale, shared), Task(sampled_scale, (*shared, profile.contexts, profile.seed))),
            read=read,
        ),
    )


def _summary(tasks: dict[tuple[int, float], Task], results: dict[str, Any]) -> str:
    """The range of c* - 1."""
    excess = [results[task.address].excess for task in tasks.values()]
    return f"c* - 1 from {min(excess):.2g} to {max(excess):.2g}, never 0"


def _scale_finding(tasks: dict[tuple[int, float], Task], results: dict[str, Any]) -> str:
    shown = "; ".join(
        f"$n = {n:g}$: {1 + results[task.address].excess:.6g}" for (k, n), task in tasks.items() if k == 3
    )
    return (
        "For given weights the loss is a quadratic in $c$ with its minimum at $c^* = \\mathbb{E}[P f(x)] / \\mathbb{E}[P^2]$, $P = \\sum_i a_i y_i$, so "
        "$c^* - 1 = (G - B - N) / \\mathbb{E}[P^2]$ with $G = \\frac{1}{2} \\mathbb{E} \\sum_i a_i (f(x_i) - f(x))^2$. Both signs occur. Where tokens are few the "
        "noise dominates and $c^* < 1$ shrinks; where they are many $P$ is a mean of $f$ over the window, itself shrunk towards a constant, and "
        f"$c^* > 1$ undoes that. At $d = 3$: {shown}. Setting $c = 1$ is a simplification and not without loss of generality."
    )


_LINEAR = r"linear functions need no window once $c$ is free: $w^*$ stays bounded, $c^*$ tends to a limit above 1, the loss falls like $1/n$"


def _tasks(profile: Profile, law: str, reading: str) -> dict[int, Task]:
    points = FEWER if profile.name == "quick" else profile.points
    return {k: Task(joint_growth, (law, OFFSETS[reading], k, points)) for k in DIMENSIONS[law]}


def _window(profile: Profile, law: str, reading: str) -> Claim:
    tasks, claimed = _tasks(profile, law, reading), leading(law_named(law)).window_exponent
    claimed = claimed.subs(sympy.Symbol("d", positive=True), d)
    pick = attrgetter("window")

    def growths(results: dict[str, Any]) -> dict[int, Any]:
        return {k: pick(results[task.address]) for k, task in tasks.items()}

    return Claim(
        id=f"softmax.values-ignore-covariates/{law}/window/{reading}",
        title=f"The best c leaves the growth of the window as it is, {law} law, {_words(reading)}",
        statement=rf"(w^*, c^*) = \argmin_{{w, c}} \mathcal{{L}}(w, c): \qquad w^* = \Theta\left(\Lambda^{{{sympy.latex(claimed, fold_short_frac=True)}}}\right)",
        source=SIMPLICITY,
        assumptions=(*ASSUMED, f"{law} law", CLASS[reading], "limit along $n \\to \\infty$ at $L = \\sigma = 1$"),
        claimed=f"w* = Θ(Λ^({claimed})) as with c = 1",
        control="w* = Θ(Λ^(2/(d + 1)))",
        expected=_except_linear(law, reading),
        cells=tuple(
            scaling_cell(
                tasks[k], pick, "limit exponent of the joint w* in n", "theta", claimed, 2 / (d + 1), k, law=law
            )
            for k in tasks
        ),
        figures=lambda results: exponent_figure(growths(results), claimed, "theta", "$n$", "the joint $w^*$"),
        finding=partial(_window_finding, tasks, law, reading),
        corrected=_LINEAR if _except_linear(law, reading) == "refuted" else "",
    )


def _rate(profile: Profile, law: str, reading: str) -> Claim:
    """C* tends to 1 like 1/w*, with its constant."""
    tasks = _tasks(profile, law, reading)
    claimed = -leading(law_named(law)).window_exponent.subs(sympy.Symbol("d", positive=True), d)
    share = 1 / (d + 1) if OFFSETS[reading] else sympy.Integer(1)
    rates = (
        scaling_cell(
            tasks[k], attrgetter("excess"), "limit exponent of c* - 1 in n", "theta", claimed, -2 / (d + 1), k, law=law
        )
        for k in tasks
    )
    constants = (
        CellPlan(
            where={"d": k, "law": law},
            task=task,
            quantity="limit of 2 w* (c* - 1) / (d - 1)",
            read=_read_limit,
            claimed=f"= {share.subs(d, k)} ± 0.1 %",
            allowed=Allowed.near(float(share.subs(d, k)), SHARE),
            control=Allowed.near(-float(share.subs(d, k)), SHARE),
        )
        for k, task in tasks.items()
    )
    return Claim(
        id=f"softmax.values-ignore-covariates/{law}/rate/{reading}",
        title=f"The optimal c tends to 1 from above, {law} law, {_words(reading)}",
        statement=rf"c^* - 1 \sim \frac{{d - 1}}{{2 w^*}} \cdot {sympy.latex(share)} \qquad (n \to \infty)",
        source=SIMPLICITY,
        assumptions=(*ASSUMED, f"{law} law", CLASS[reading], "limit along $n \\to \\infty$ at $L = \\sigma = 1$"),
        claimed=f"c* - 1 ~ (d - 1)/(2 w*) * {share}",
        control="another exponent; the opposite sign (a shrinkage)",
        expected=_except_linear(law, reading),
        cells=(*rates, *constants),
        figures=lambda results: _figure({k: results[task.address] for k, task in tasks.items()}, law, reading),
        finding=_RATE[(law, reading) == ("affine", "no-offset")],
        corrected=_LINEAR if (law, reading) == ("affine", "no-offset") else "",
    )


def _read_limit(found: JointGrowth, _: Allowed) -> Reading:
    """The limit of the product, where it has one."""
    return Reading(Interval.around(*found.product.limit_of_ratio(0.0)))


def _except_linear(law: str, reading: str) -> Verdict:
    return "refuted" if (law, reading) == ("affine", "no-offset") else "supported"


def _words(reading: str) -> str:
    return "with the offset of the slides" if OFFSETS[reading] else "without an offset"


_RATE = {
    False: (
        "In a narrow window the mean of $f$ is $f + \\frac{1}{2w} \\Delta f$ and $-\\mathbb{E} f \\Delta f = (d-1) \\mathbb{E} f_0^2$ for the affine and the ReLU law, "
        "$f_0$ being $f$ without its offset. So the prediction falls short by the factor $1 - (d-1)/(2w)$, and the best $c$ restores it, as far as that does not "
        "spoil the offset: the share is $\\mathbb{E} f_0^2 / \\mathbb{E} f^2 = 1/(d+1)$ with $b \\sim \\mathrm{Unif}[-L, L]$ and 1 without. The noise in the "
        "prediction would ask for $c < 1$, but at $w^*$ it is of the order of the squared bias and too small to matter."
    ),
    True: (
        "On linear functions without an offset a scale is all that averaging takes away: $\\sum_i a_i x_i$ is close to $r(w) x$ for every $w$, and $c = 1/r(w)$ makes "
        "the prediction unbiased at a window of fixed width. So $c^*$ tends to a constant larger than 1, not to 1. Corrected: $c^* \\to 1/r(w_\\infty)$, "
        "$r(w) = I_{d/2}(w) / I_{d/2-1}(w)$, where $w_\\infty$ is the limit of $w^*$."
    ),
}


def _window_finding(tasks: dict[int, Task], law: str, reading: str, results: dict[str, Any]) -> str:
    windows = {k: results[task.address].window for k, task in tasks.items()}
    losses = "; ".join(f"$d={k}$: {results[task.address].loss.exponent:.5f}" for k, task in tasks.items())
    measured = f"{limits_in_words(windows, list(windows))} Exponents of the loss: {losses}."
    if (law, reading) == ("affine", "no-offset"):
        return (
            f"{measured} With $c$ free the window of the affine law does not narrow at all: it keeps a fixed width, $c^*$ undoes the shrinkage, and the loss falls "
            "like $1/n$ in every dimension instead of $n^{-4/(d+3)}$. For this law $c = 1$ is what makes the window adapt. Corrected: the window's exponent is "
            "that of the slides only if the class holds something that $c$ would spoil, such as the offset $b$."
        )
    if law == "affine":
        return f"{measured} The exponents are those of $c = 1$; the bias loses the share $1/(d+1)$, so that constants change."
    return f"{measured} The leading bias of the ReLU law comes from its kink, which no factor mends: exponent and constant of the window are those of $c = 1$."


def _figure(found: dict[int, JointGrowth], law: str, reading: str) -> tuple[Figure, ...]:
    """C* - 1 against n."""
    panel = Panel(
        title=f"joint optimum, {law} law, {_words(reading)}",
        xlabel="$n$",
        ylabel="$c^* - 1$",
        series=tuple(Series(label=f"$d = {k}$", x=g.excess.s, y=g.excess.values) for k, g in found.items()),
    )
    return (
        Figure(
            caption=f"By how much the optimal $c$ exceeds 1 at the joint optimum over $(w, c)$, {law} law, {_words(reading)}; $L = \\sigma = 1$.",
            alt=f"c* - 1 against n, {law} law, {_words(reading)}.",
            panels=(panel,),
        ),
    )


if __name__ == "__main__":
    run_file(__file__)
