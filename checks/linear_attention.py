r"""Linear attention has a floor: on the ReLU law its loss stays Omega(L^2) for every M and n; on the affine law, only by b."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import sympy

from checks._running import run_file
from checks._slides import d
from lipverify.claims.claim import CellPlan, Claim, CrossPlan, Reading, Task
from lipverify.claims.figure import Figure, Panel, Series
from lipverify.claims.ledger import Source
from lipverify.claims.registry import Profile
from lipverify.claims.scaling import read_exponent, scaling_cell
from lipverify.claims.softmax.floor import (
    Crossing,
    SampledFloor,
    closed_form,
    crossing,
    linear_floor,
    linear_growth,
    sampled_floor,
)
from lipverify.claims.softmax.rays import window_growth
from lipverify.claims.verdict import Allowed, Interval, Verdict
from lipverify.loss.asymptotic.sphere import L

CLASSES: dict[tuple[str, str], Verdict] = {
    ("affine", "offset"): "supported",
    ("affine", "no-offset"): "refuted",
    ("relu", "offset"): "supported",
    ("relu", "no-offset"): "supported",
}
"""The class of the slides has a random offset b ~ Unif[-L, L]; without it the classes differ."""
FLOORS: dict[tuple[str, str], sympy.Expr] = {
    ("affine", "offset"): L**2 / 3,
    ("relu", "offset"): L**2 / 3 + L**2 / (6 * d),
    ("relu", "no-offset"): L**2 / (6 * d),
}
"""What is stated: the variance of b, and that of the even part of a ReLU function, (l_1 + l_2) |<q, x>| / 2."""
SOURCE = Source(
    paper="A",
    place="Summary, and figure 1",
    printed="This adaptive behavior is unique to softmax and cannot be replicated by linear attention units.",
)
ASSUMED = (
    "tokens and query uniform on $S^{d-1}$, noise independent with variance $\\sigma^2$",
    "linear attention predicts $\\frac{1}{n} \\sum_i y_i x_i^\\top \\mathbf{M} x$; the loss is minimised over all $\\mathbf{M}$",
)
OFFSET = {"offset": r"$b \sim \mathrm{Unif}[-L, L]$ as on the slides", "no-offset": "$b = 0$"}
DIMENSIONS, SAMPLED_D, SAMPLED_N = (2, 3, 5, 8), 3, 30
RATIOS = {"affine": (0.1, 0.3, 1.0), "relu": (0.1, 0.3)}
"""L / sigma at which crossings are sought."""
TOLERANCE = 0.05
SHALLOW = sympy.Rational(1, 20)
"""The exponent of the falsified twin of a loss that does not fall."""
BELOW_ZERO = Allowed(high=0.0, open=True)
_LINEAR = r"the floor is $K(1) - k_1$, what in $f$ is not linear: for affine tasks without offset it is 0, and the loss falls like $1/n$"


def claims(profile: Profile) -> tuple[Claim, ...]:
    """For each class the rate, the value of the floor where there is one, and where softmax overtakes."""
    return (
        *(_rate(profile, *which) for which in CLASSES),
        *(_value(profile, *which) for which in FLOORS),
        *(_crossing(profile, *which) for which in CLASSES),
    )


def _rate(profile: Profile, law: str, reading: str) -> Claim:
    linear = {k: Task(linear_growth, (law, reading == "offset", k, profile.points)) for k in DIMENSIONS}
    softmax = {k: Task(window_growth, (law, k, profile.points)) for k in DIMENSIONS}
    sampled = _sampled(profile, law, reading)
    floor = (
        scaling_cell(
            linear[k],
            lambda g: g,
            "limit exponent of min_M loss in n, linear",
            "lower",
            sympy.S.Zero,
            SHALLOW,
            k,
            law=law,
        )
        for k in DIMENSIONS
    )
    falls = (
        CellPlan(
            where={"d": k, "law": law, "attention": "softmax"},
            task=softmax[k],
            quantity="limit exponent of the loss at w* in n, softmax",
            read=lambda result, allowed: read_exponent(result.loss, allowed),
            claimed="< 0",
            allowed=BELOW_ZERO,
            control=Allowed(low=0.0),
        )
        for k in DIMENSIONS
    )
    return Claim(
        id=f"linear-attention.floor/{law}/{reading}/rate",
        title=f"Linear attention has a floor on the {law} law, {_words(reading)}; softmax attention has none",
        statement=r"\min_{\mathbf{M}} \mathcal{L}_{\mathrm{lin}}(\mathbf{M}) = \Omega(L^2), \qquad "
        r"\mathcal{L}(w^*) \to 0 \qquad (n \to \infty)",
        source=SOURCE,
        assumptions=(*ASSUMED, f"{law} law", OFFSET[reading], "$L = \\sigma = 1$"),
        claimed="linear Ω(L²), softmax → 0",
        control=f"linear Ω(L² n^({SHALLOW})); softmax does not fall",
        expected=CLASSES[law, reading],
        cells=(*floor, *falls),
        cross_checks=_agreement(sampled),
        figures=lambda results: _figure(results, linear, softmax, law, reading),
        finding=_finding(law, reading),
        corrected=_LINEAR if CLASSES[law, reading] == "refuted" else "",
    )


def _value(profile: Profile, law: str, reading: str) -> Claim:
    stated, sampled = FLOORS[law, reading] / L**2, _sampled(profile, law, reading)
    limits = tuple(
        CellPlan(
            where={"d": k, "law": law},
            task=Task(linear_floor, (law, reading == "offset", k)),
            quantity="lim min_M loss / L²",
            read=lambda result, _: Reading(Interval.around(*result)),
            claimed=f"= {stated.subs(d, k)}",
            allowed=Allowed.near(float(stated.subs(d, k)), 1e-12),
            control=Allowed.near(1.1 * float(stated.subs(d, k)), 1e-12),
            method="symbolic",
        )
        for k in profile.dimensions
    )
    seen = tuple(
        CellPlan(
            where={"d": SAMPLED_D, "n": SAMPLED_N, "law": law, "M": matrix},
            task=sampled,
            quantity="sampled loss / closed form of the least loss",
            read=partial(_read_ratio, field),
            claimed=f"= 1 ± {TOLERANCE}",
            allowed=Allowed.near(1.0, TOLERANCE),
            control=Allowed.near(1.1, TOLERANCE),
            method="montecarlo",
        )
        for field, matrix in (("at_window", "w I"), ("minimised", "best of all"))
    )
    return Claim(
        id=f"linear-attention.floor/{law}/{reading}/value",
        title=f"The floor of linear attention, {law} law, {_words(reading)}",
        statement=rf"\inf_{{n, \mathbf{{M}}}} \mathcal{{L}}_{{\mathrm{{lin}}}}(\mathbf{{M}}) = {sympy.latex(FLOORS[law, reading])}",
        source=SOURCE,
        assumptions=(*ASSUMED, f"{law} law", OFFSET[reading]),
        claimed=f"floor = {FLOORS[law, reading]}",
        control="1.1 times that",
        expected="supported",
        cells=(*limits, *seen),
        cross_checks=_agreement(sampled),
        finding=_derivation(law, reading),
    )


def _read_ratio(field: str, found: SampledFloor, _: Allowed) -> Reading:
    return Reading(Interval.around(*getattr(found, field)))


def _crossing(profile: Profile, law: str, reading: str) -> Claim:
    ratios = RATIOS[law] if profile.name == "quick" else (0.1, 0.3, 1.0)
    tasks = {
        (k, ratio): Task(crossing, (law, reading == "offset", k, ratio)) for k in _crossed(profile) for ratio in ratios
    }
    never = (law, reading) == ("affine", "no-offset")
    return Claim(
        id=f"linear-attention.floor/{law}/{reading}/crossing",
        title=f"Softmax attention overtakes linear attention, {law} law, {_words(reading)}",
        statement=r"\mathcal{L}(w^*) < \min_{\mathbf{M}} \mathcal{L}_{\mathrm{lin}}(\mathbf{M}) \quad \text{for every } n \geq n_\times(d, L/\sigma)",
        source=SOURCE,
        assumptions=(*ASSUMED, f"{law} law", OFFSET[reading]),
        claimed="softmax wins for every large n",
        control="it wins from n = 100 on" if never else "it never wins",
        expected="refuted" if never else "supported",
        cells=tuple(
            CellPlan(
                where={"d": k, "law": law, "L/sigma": ratio},
                task=task,
                quantity="log10 of the n beyond which softmax wins",
                read=_read_crossing,
                claimed="finite",
                allowed=Allowed(high=20.0),
                control=Allowed(high=2.0) if never else Allowed(low=20.0),
            )
            for (k, ratio), task in tasks.items()
        ),
        summary=partial(_summary, tasks),
        finding=partial(_table, tasks, reading),
        corrected=_LINEAR if (law, reading) == ("affine", "no-offset") else "",
    )


def _read_crossing(found: Crossing, _: Allowed) -> Reading:
    low = math.log10(found.behind)
    if found.ahead is None:
        return Reading(Interval(low, None), "behind at every n tried up to 1e23")
    return Reading(Interval(low, math.log10(found.ahead)), f"n from {found.behind:.0f} to {found.ahead:.0f}")


def _crossed(profile: Profile) -> tuple[int, ...]:
    return (2, 3, 5) if profile.name == "quick" else (2, 3, 5, 8, 12)


def _sampled(profile: Profile, law: str, reading: str) -> Task:
    contexts = 32_768 if profile.name == "quick" else 262_144
    return Task(sampled_floor, (law, reading == "offset", SAMPLED_D, SAMPLED_N, contexts, profile.seed))


def _agreement(sampled: Task) -> tuple[CrossPlan, ...]:
    """The closed form against the minimum over all matrices on sampled contexts."""

    def read(result: SampledFloor) -> tuple[tuple[float, float], tuple[float, float]]:
        return (1.0, result.minimised[0]), (0.0, result.minimised[1])

    return (
        CrossPlan(
            where={"d": SAMPLED_D, "n": SAMPLED_N, "law": sampled.arguments[0]},
            quantity="min_M loss of linear attention, in units of its closed form",
            methods=("symbolic", "montecarlo"),
            tasks=(sampled,),
            read=read,
        ),
    )


def _words(reading: str) -> str:
    return "with the offset of the slides" if reading == "offset" else "without an offset"


def _finding(law: str, reading: str) -> str:
    """What is true of the class, in one paragraph."""
    form = closed_form(law, reading == "offset")
    least = sympy.latex(form.least)
    begin = f"Exactly, for every $n$ and $d$: $\\min_\\mathbf{{M}} \\mathcal{{L}}_\\mathrm{{lin}} = {least}$."
    if (law, reading) == ("affine", "no-offset"):
        return (
            f"{begin} It tends to zero like $1/n$, faster than softmax attention's $n^{{-4/(d+3)}}$: linear attention learns "
            "linear functions, and on them it wins for every large $n$. What it cannot learn is the offset $b$ of the class, "
            "$L^2/3$ of the loss, because its weights do not sum to one. Corrected: no floor on linear functions; the floor of "
            "the affine class is $\\mathrm{Var}\\, b$."
        )
    if law == "affine":
        return (
            f"{begin} The floor is the variance of the offset $b$ alone: on the affine class the advantage of softmax attention is "
            "that its weights sum to one, so that a constant passes unchanged; not that its window adapts."
        )
    return (
        f"{begin} Its best window tends to $w = d$ whatever $L$ and $\\sigma$ are: there is nothing that could adapt to "
        "Lipschitzness, as the summary says."
    )


def _derivation(law: str, reading: str) -> str:
    parts = "the even part of $f$, $\\frac{1}{2}(l_1 + l_2)|\\langle q, x \\rangle|$" if law == "relu" else ""
    offset = "the offset $b$" if reading == "offset" else ""
    return (
        "Write $K(t) = \\mathbb{E} f(x) f(x')$ at $t = \\langle x, x' \\rangle$ and $k_1 = d\\, \\mathbb{E}\\, t K(t)$ for the variance of the "
        "linear part of $f$. As $\\mathbb{E}\\, x x^\\top = \\mathbf{I}/d$, the loss of linear attention is the convex quadratic "
        "$\\|\\mathbf{M}\\|_F^2 (K(1) + \\sigma^2 + (n-1) k_1/d) / (n d^2) - 2 k_1 \\mathrm{tr}(\\mathbf{M}) / d^2 + K(1)$; its minimiser is a "
        "multiple of $\\mathbf{I}$ and its minimum falls with $n$ to $K(1) - k_1$, which is attained in the limit only. That is all of $f$ "
        f"that is not linear: here {' and '.join(part for part in (parts, offset) if part)}."
    )


def _summary(tasks: dict[tuple[int, float], Task], results: dict[str, Any]) -> str:
    """The range of crossing points."""
    ahead = [results[task.address].ahead for task in tasks.values()]
    return "linear attention wins at n up to 1e23" if None in ahead else f"n from {min(ahead):.0f} to {max(ahead):.0f}"


def _table(tasks: dict[tuple[int, float], Task], reading: str, results: dict[str, Any]) -> str:
    """The crossing points in n, as far as `RESOLUTION` tells, and as Lambda."""
    found = {key: results[task.address].ahead for key, task in tasks.items()}
    if None in found.values():
        return (
            "Linear attention has the smaller loss at every $n$ that was tried up to $10^{23}$, in every dimension and for every $L/\\sigma$; its "
            "loss falls like $1/n$ and that of softmax attention like $n^{-4/(d+3)}$, so that it stays so. Corrected: on linear functions "
            "without an offset softmax attention never overtakes linear attention for good."
        )
    rows = "; ".join(
        f"$d={k}$, $L/\\sigma={ratio:g}$: $n_\\times = {n:.0f}$, $\\Lambda = {n * ratio**2:.2g}$"
        for (k, ratio), n in found.items()
    )
    reason = (
        " The crossing is near $\\Lambda = 3$ in every dimension: there the noise of a plain average, $\\sigma^2/n$, is what the mean of $f$ over the "
        "sphere costs linear attention, $L^2/3$ for the offset (and a little more for the mean of a ReLU function); the window hardly matters."
        if reading == "offset"
        else " In the table $\\Lambda$ at the crossing hardly depends on $L/\\sigma$ and grows with $d$."
    )
    return f"Smallest $n$ from which softmax attention wins, to 6 %: {rows}.{reason}"


def _figure(
    results: dict[str, Any], linear: dict[int, Task], softmax: dict[int, Task], law: str, reading: str
) -> tuple[Figure, ...]:
    """Both losses against n, and the floor."""
    lines = []
    for k in (2, 5):
        straight, window = results[linear[k].address], results[softmax[k].address].loss
        lines.append(Series(label=f"linear, $d = {k}$", x=straight.s, y=straight.values))
        lines.append(Series(label=f"softmax, $d = {k}$", x=window.s, y=window.values, style="dashed"))
    panel = Panel(title=f"least loss, {law} law, $L = \\sigma = 1$", xlabel="$n$", ylabel="loss", series=tuple(lines))
    caption = f"The least loss over all matrices of linear attention (closed form) and of softmax attention (exact, at $w^*$) against $n$, {_words(reading)}."
    return (Figure(caption=caption, alt=f"Least losses against n, {law} law, {_words(reading)}.", panels=(panel,)),)


if __name__ == "__main__":
    run_file(__file__)
