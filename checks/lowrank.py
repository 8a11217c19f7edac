r"""Theorem 4: attention pretrained on f(x) = a^T B^T x finds the columns of B, and attends along nothing else."""

from __future__ import annotations

from typing import Any

from checks._lowrank import (
    CASES,
    COVARIATES,
    NOT_POSITIVE,
    POSITIVE,
    TASKS,
    THEOREM_4,
    WORDS,
    agreement,
    determined,
    exactly,
    ratio_cell,
    sampled,
    scale_cell,
    settings,
)
from checks._running import run_file
from lipverify.claims.claim import CellPlan, Claim, Reading
from lipverify.claims.figure import Figure, Panel, Series
from lipverify.claims.registry import Profile
from lipverify.claims.softmax.lowrank import Found, Setting
from lipverify.claims.verdict import Interval

ASSUMPTION = {"two-tokens": "$n = 2$, $\\sigma = 0.5$", "noiseless": "$n = 20$, $\\sigma = 0$"}
SET = r"all symmetric $\mathbf{M}$ with $\|\mathbf{B}^\top \mathbf{M} \mathbf{B}\|_2 \leq C = d$"
DIRECTIONS = {
    "relevant": (
        "positive on the relevant directions",
        r"\mathbf{s} \in \mathrm{col}(\mathbf{B}) \implies \mathbf{s}^\top \mathbf{M}^* \mathbf{s} > 0",
    ),
    "spurious": (
        "zero on the spurious directions",
        r"\mathbf{s} \in \mathrm{col}(\mathbf{B})^\perp \implies \mathbf{s}^\top \mathbf{M}^* \mathbf{s} = 0",
    ),
}


def claims(profile: Profile) -> tuple[Claim, ...]:
    """M* = c BB^T in either case on either law of the covariates, and what it says of directions."""
    recovery = [_recovery(profile, covariates, case) for covariates in WORDS for case in CASES]
    return (*recovery, *(_directions(profile, covariates, side) for covariates in WORDS for side in DIRECTIONS))


def _recovery(profile: Profile, covariates: str, case: str) -> Claim:
    chosen = settings(profile, covariates, case)
    searched = [setting for setting in chosen if determined(setting)]
    return Claim(
        id=f"lowrank.recovery/{covariates}/{case}",
        title=f"M* = c BB^T, {WORDS[covariates]}, {'two tokens' if case == 'two-tokens' else 'no noise'}",
        statement=r"\mathbf{M}^* = c \mathbf{B} \mathbf{B}^\top, \quad 0 < c \leq C",
        source=THEOREM_4,
        assumptions=(COVARIATES[covariates], TASKS, ASSUMPTION[case], SET),
        claimed="M* = c BB^T, 0 < c ≤ C",
        control="M* = c I, or c ≤ 0",
        expected="supported",
        summary=lambda results: _spurious(results, profile, chosen, searched),
        cells=(
            *(scale_cell(setting, exactly(setting), "exact") for setting in chosen),
            *(ratio_cell(setting, exactly(setting), "exact") for setting in chosen),
            *(ratio_cell(setting, sampled(setting, profile), "montecarlo") for setting in searched),
        ),
        cross_checks=tuple(cross for setting in searched for cross in agreement(setting, profile)),
        figures=lambda results: _figure(results, profile, searched, covariates),
        finding=(
            "Exactly, the best $\\mathbf{M} = c \\mathbf{B} \\mathbf{B}^\\top + c' (\\mathbf{I} - \\mathbf{B} \\mathbf{B}^\\top)$ has $c' = 0$; and the "
            "minimiser over all symmetric matrices, found on sampled contexts with nothing assumed about its form, does not differ from it. "
            "The theorem asks for some $C = \\Omega(1)$; $C = d$ is such a constant here."
        ),
    )


def _spurious(results: dict[str, Any], profile: Profile, chosen: tuple[Setting, ...], searched: list[Setting]) -> str:
    """How large c'*/c* can be, by both methods."""
    exact = max(sum(results[exactly(setting).address].ratio) for setting in chosen)
    over_all = [results[sampled(setting, profile).address] for setting in searched]
    largest = max((abs(found.c_perp) + found.c_perp_error) / found.c for found in over_all)
    return f"c'*/c* at most {exact:.0e}; over all M {largest:.2g}"


def _directions(profile: Profile, covariates: str, side: str) -> Claim:
    words, statement = DIRECTIONS[side]
    chosen = [setting for case in CASES for setting in settings(profile, covariates, case)]
    searched = [setting for setting in chosen if determined(setting)]
    relevant = side == "relevant"
    cell = scale_cell if relevant else ratio_cell
    quantity = "s'M*s" if relevant else "s'M*s over that on col(B)"
    full = (
        [_least_relevant(setting, profile) for setting in searched]
        if relevant
        else [ratio_cell(setting, sampled(setting, profile), "montecarlo", quantity) for setting in searched]
    )
    return Claim(
        id=f"lowrank.directions/{covariates}/{side}",
        title=f"Attention is {words}, {WORDS[covariates]}",
        statement=statement,
        source=THEOREM_4,
        assumptions=(COVARIATES[covariates], TASKS, "$n = 2$ with noise, or $\\sigma = 0$", SET),
        claimed="s'M*s > 0 on col(B)" if relevant else "s'M*s = 0 off col(B)",
        control="s'M*s ≤ 0 on col(B)" if relevant else "s'M*s off col(B) as large as on it",
        expected="supported",
        cells=(*(cell(setting, exactly(setting), "exact", quantity) for setting in chosen), *full),
        cross_checks=tuple(cross for setting in searched for cross in agreement(setting, profile)),
        finding=(
            "Least over the unit vectors of $\\mathrm{col}(\\mathbf{B})$, from the sampled minimiser before any averaging."
            if relevant
            else "On average over the unit vectors off $\\mathrm{col}(\\mathbf{B})$; no single entry of the sampled minimiser stands out."
        ),
    )


def _least_relevant(setting: Setting, profile: Profile) -> CellPlan:
    """The least s^T M* s over unit vectors of col(B), with nothing assumed about M*."""

    def read(found: Found, _: Any) -> Reading:
        return Reading(Interval.around(found.relevant, found.relevant_error))

    return CellPlan(
        where=setting.where,
        task=sampled(setting, profile),
        quantity="least s'M*s on col(B)",
        read=read,
        claimed="> 0",
        allowed=POSITIVE,
        control=NOT_POSITIVE,
        method="montecarlo",
    )


def _figure(results: dict[str, Any], profile: Profile, searched: list[Setting], covariates: str) -> tuple[Figure, ...]:
    """C and c' of the sampled minimiser, in units of C, with the exact ones."""
    at = tuple(float(setting.d) for setting in searched)
    found = [results[sampled(setting, profile).address] for setting in searched]
    exact = [results[exactly(setting).address] for setting in searched]
    radii = [setting.C for setting in searched]

    def series(label: str, name: str) -> Series:
        return Series(
            label=label,
            x=at,
            y=tuple(getattr(one, name) / C for one, C in zip(found, radii, strict=True)),
            error=tuple(getattr(one, f"{name}_error") / C for one, C in zip(found, radii, strict=True)),
            style="errorbars",
        )

    pairs = ", ".join(f"({setting.d}, {setting.k})" for setting in searched)
    panel = Panel(
        title=f"$\\mathbf{{M}}^*$, {WORDS[covariates]}",
        xlabel=f"$d$, for $(d, k)$ = {pairs}",
        ylabel="eigenvalues of $\\mathbf{M}^*$ over $C$",
        xscale="linear",
        yscale="linear",
        series=(
            series("$c / C$, all symmetric $\\mathbf{M}$", "c"),
            series("$c' / C$, all symmetric $\\mathbf{M}$", "c_perp"),
            Series(
                label="$c / C$, exact",
                x=at,
                y=tuple(b.c / C for b, C in zip(exact, radii, strict=True)),
                style="points",
            ),
            Series(
                label="$c' / C$, exact",
                x=at,
                y=tuple(b.c_perp / C for b, C in zip(exact, radii, strict=True)),
                style="points",
            ),
        ),
    )
    caption = (
        "The scale of the minimiser along the columns of $\\mathbf{B}$ and across them, over all symmetric matrices on sampled contexts "
        "(95 % intervals) and exactly within the invariant family."
    )
    return (Figure(caption=caption, alt=f"c and c' of the optimal matrix for {pairs}.", panels=(panel,)),)


if __name__ == "__main__":
    run_file(__file__)
