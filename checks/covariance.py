r"""Lemma 1: the optimal matrix inverts the data covariance, M* = w Sigma^{-1}: by which reading."""

from __future__ import annotations

from functools import partial
from typing import Any

from checks._running import run_file
from checks._slides import slides
from lipverify.claims.claim import CellPlan, Claim, CrossPlan, Reading, Task
from lipverify.claims.figure import Figure, Panel, Series
from lipverify.claims.registry import Profile
from lipverify.claims.softmax.covariance import (
    Whitened,
    ellipsoid,
    leading_tilt,
    whitened_optimum,
)
from lipverify.claims.verdict import Allowed, Interval, Verdict

LEMMA_1 = slides(
    "Lemma 1: Inverting the data covariance",
    r"Under natural symmetry conditions: $x_i \sim \Sigma^{1/2} \mathcal{U}^d$ implies $\mathbf{M}^* = w_{KQ} \Sigma^{-1}$ for any "
    r"$\mathbf{M}^* \in \mathrm{argmin}\, \mathcal{L}(\mathbf{M})$ and some $w_{KQ} \geq 0$",
)
CASES: dict[tuple[str, str], tuple[tuple[float, ...], float, int]] = {
    ("affine", "whitened"): ((10.0, 100.0), 0.2, 2048),
    ("affine", "space"): ((10.0, 100.0), 0.2, 3072),
    ("relu", "whitened"): ((100.0,), 0.5, 1280),
    ("relu", "space"): ((10.0,), 0.5, 1280),
}
"""Condition numbers of Sigma, sigma, and how many contexts the quick profile draws."""
VERDICTS: dict[str, Verdict] = {"whitened": "supported", "space": "refuted"}
READ_AS = {
    "whitened": "$f(x) = g(\\Sigma^{-1/2} x)$ with $g$ isotropic: $q \\sim \\Sigma^{-1/2} \\mathcal{U}^d$",
    "space": "$f(x) = h(\\langle q, x \\rangle)$ with $q$ uniform in the space of $x$",
}
N, LOUD = 20, 100.0
TOLERANCE = 0.2
"""How far from its claimed value, relative, an entry may be; the control M* = w I is off by the condition number."""
MIXED = 0.2


def claims(profile: Profile) -> tuple[Claim, ...]:
    """Both readings of Lemma 1, and what holds of the second."""
    return (
        *(_inversion(profile, law, reading) for law, reading in CASES),
        _loud(profile),
    )


def _optima(profile: Profile, law: str, reading: str) -> dict[float, Task]:
    conditions, sigma, contexts = CASES[law, reading]
    drawn = contexts * (1 if profile.name == "quick" else 8)
    return {c: Task(whitened_optimum, (law, reading, c, N, sigma, drawn, profile.seed)) for c in conditions}


def _inversion(profile: Profile, law: str, reading: str) -> Claim:
    tasks, sigma = _optima(profile, law, reading), CASES[law, reading][1]
    inverse = tuple(
        CellPlan(
            where={"d": 3, "n": N, "law": law, "condition": condition},
            task=task,
            quantity="(Σ^{1/2} M* Σ^{1/2})_11 / (...)_33",
            read=lambda found, _: Reading(Interval.around(*found.ratio)),
            claimed=f"= 1 ± {TOLERANCE}",
            allowed=Allowed.near(1.0, TOLERANCE),
            control=Allowed.near(condition, TOLERANCE),
            method="montecarlo",
        )
        for condition, task in tasks.items()
    )
    unmixed = tuple(
        CellPlan(
            where={"d": 3, "n": N, "law": law, "condition": condition},
            task=task,
            quantity="largest off-diagonal entry of Σ^{1/2} M* Σ^{1/2} over the mean diagonal one",
            read=lambda found, _: Reading(Interval(0.0, found.mixing)),
            claimed=f"< {MIXED}",
            allowed=Allowed(high=MIXED),
            control=Allowed(low=1.0),
            method="montecarlo",
        )
        for condition, task in tasks.items()
    )
    return Claim(
        id=f"softmax.covariance-inversion/{law}/{reading}",
        title=f"The optimal matrix inverts the covariance, {law} law, {_WORDS[reading]}",
        statement=r"x \sim \Sigma^{1/2} \mathcal{U}^d \quad \implies \quad \mathbf{M}^* = w\, \Sigma^{-1}",
        source=LEMMA_1,
        assumptions=(
            READ_AS[reading],
            f"{law} law",
            f"$L = 1$, $\\sigma = {sigma}$, minimised over all $3 \\times 3$ matrices",
        ),
        claimed="M* = w Σ⁻¹",
        control="M* = w I; off-diagonal entries as large as diagonal ones",
        expected=VERDICTS[reading],
        cells=(*inverse, *unmixed),
        cross_checks=_windows(tasks, law) if reading == "whitened" else (),
        figures=lambda results: _figure({c: results[task.address] for c, task in tasks.items()}, law, reading),
        finding=partial(_finding, tasks, reading),
        corrected=_TILTED if VERDICTS[reading] == "refuted" else "",
    )


_TILTED = (
    r"$\Sigma^{1/2} \mathbf{M}^* \Sigma^{1/2} = w \mathbf{I} + \mathbf{D} + O(1/w)$, with $\mathbf{D} = 0$ only where $f$ is isotropic "
    "after whitening"
)
_WORDS = {"whitened": "f isotropic after whitening", "space": "q uniform in the space of x"}


def _windows(tasks: dict[float, Task], law: str) -> tuple[CrossPlan, ...]:
    """The scale of the sampled M* against the exact w* of the isotropic problem."""

    def read(found: Whitened) -> tuple[tuple[float, float], tuple[float, float]]:
        return (found.window, found.scale[0]), (1e-8 * found.window, found.scale[1])

    return tuple(
        CrossPlan(
            where={"d": 3, "n": N, "law": law, "condition": condition},
            quantity="w in M* = w Σ⁻¹",
            methods=("exact", "montecarlo"),
            tasks=(task,),
            read=read,
        )
        for condition, task in tasks.items()
    )


def _finding(tasks: dict[float, Task], reading: str, results: dict[str, Any]) -> str:
    found = {condition: results[task.address] for condition, task in tasks.items()}
    shown = "; ".join(
        f"condition {condition:g}: {', '.join(f'{entry:.3g}' for entry in each.diagonal)}"
        for condition, each in found.items()
    )
    measured = f"Diagonal of $\\Sigma^{{1/2}} \\mathbf{{M}}^* \\Sigma^{{1/2}}$, longest axis first: {shown}"
    if reading == "whitened":
        window = next(iter(found.values())).window
        return (
            f"With $u = \\Sigma^{{-1/2}} x$ and $\\mathbf{{M}}' = \\Sigma^{{1/2}} \\mathbf{{M}} \\Sigma^{{1/2}}$ the problem is the isotropic one, whatever $\\Sigma$ is, and its "
            f"minimiser is a multiple of $\\mathbf{{I}}$. {measured}; the exact isotropic window is {window:.4g}."
        )
    tilts = "; ".join(
        f"condition {condition:g}: {', '.join(f'{entry:+.3f}' for entry in leading_tilt(ellipsoid(condition)))}"
        for condition in found
    )
    return (
        f"{measured}. In whitened coordinates $f$ is steeper along the long axes, and there the window is narrower: $\\mathbf{{M}}^*$ lies between $w \\mathbf{{I}}$ "
        "and $w \\Sigma^{-1}$. Corrected: $\\Sigma^{1/2} \\mathbf{M}^* \\Sigma^{1/2} = w \\mathbf{I} + D + O(1/w)$ as $n \\to \\infty$, where the constant matrix $D$ is zero only for "
        "$\\Sigma \\propto \\mathbf{I}$: the attention centres on $u + \\frac{1}{w} (P_u D u - \\frac{d-1}{2} u)$, and $D$ minimises the mean of $\\Sigma$ over this displacement. "
        "So $\\mathbf{M}^* / w \\to \\Sigma^{-1}$ in the limit of narrow windows, and equality holds for no finite $n$; where noise dominates, $\\mathbf{M}^* \\to w \\mathbf{I}$. "
        f"Diagonal of $D$ (trace 0) for the affine law: {tilts}."
    )


def _loud(profile: Profile) -> Claim:
    contexts = 8192 if profile.name == "quick" else 65_536
    tasks = {c: Task(whitened_optimum, ("affine", "space", c, N, LOUD, contexts, profile.seed)) for c in (4.0, 10.0)}
    return Claim(
        id="softmax.covariance-inversion/affine/space/noise",
        title="Where noise dominates nothing is inverted, affine law, q uniform in the space of x",
        statement=r"\sigma \to \infty: \qquad \mathbf{M}^* \sim \frac{n L^2}{3 d \sigma^2}\, \mathbf{I}",
        source=LEMMA_1,
        assumptions=(
            READ_AS["space"],
            "affine law",
            f"$L = 1$, $\\sigma = {LOUD:g}$, minimised over all $3 \\times 3$ matrices",
        ),
        claimed="M* = w I",
        control="M* = w Σ⁻¹",
        expected="supported",
        cells=tuple(
            CellPlan(
                where={"d": 3, "n": N, "condition": condition},
                task=task,
                quantity="M*_11 / M*_33",
                read=lambda found, _: Reading(Interval.around(*found.plain)),
                claimed=f"= 1 ± {TOLERANCE}",
                allowed=Allowed.near(1.0, TOLERANCE),
                control=Allowed.near(1 / condition, TOLERANCE),
                method="montecarlo",
            )
            for condition, task in tasks.items()
        ),
        finding=(
            "For small scores the prediction is $\\bar y + \\frac{1}{n} \\sum_i y_i (x_i - \\bar x)^\\top \\mathbf{M} x$. The noise costs $\\sigma^2 \\mathrm{tr}(\\mathbf{M} \\Sigma \\mathbf{M}^\\top \\Sigma) / (n d^2)$ and the "
            "correlation with $f$ gains $2 \\frac{L^2}{3d} \\mathrm{tr}(\\Sigma \\mathbf{M} \\Sigma) / d^2$, both up to the factor $1 - 1/n$; the minimiser solves $\\Sigma \\mathbf{M} \\Sigma \\propto \\Sigma^2$ and is a multiple of "
            "$\\mathbf{I}$, the control of Lemma 1. With $f$ isotropic after whitening it is a multiple of $\\Sigma^{-1}$."
        ),
    )


def _figure(found: dict[float, Whitened], law: str, reading: str) -> tuple[Figure, ...]:
    """The entries along the axes."""
    series = tuple(
        Series(
            label=f"condition {condition:g}",
            x=tuple(ellipsoid(condition).tolist()),
            y=tuple(entry / each.window for entry in each.diagonal),
            style="points",
        )
        for condition, each in found.items()
    )
    ends = (1.0, max(found))
    panel = Panel(
        title=f"optimal matrix, {law} law",
        xlabel="variance of the axis",
        ylabel="$(\\Sigma^{1/2} M^* \\Sigma^{1/2})_{jj}$ / isotropic $w^*$",
        series=(
            *series,
            Series(label="$w \\Sigma^{-1}$", x=ends, y=(1.0, 1.0), style="dashed"),
            Series(label="$w I$", x=ends, y=ends, style="dashed"),
        ),
    )
    caption = f"Diagonal of the sampled optimal matrix in whitened coordinates, {_WORDS[reading]}; flat is $w \\Sigma^{{-1}}$, proportional is $w I$."
    return (
        Figure(
            caption=caption,
            alt=f"Diagonal of M* in whitened coordinates, {law} law, {_WORDS[reading]}.",
            panels=(panel,),
        ),
    )


if __name__ == "__main__":
    run_file(__file__)
