r"""Theorem 5.2: how fast the two layers approach ridge regression, in either order."""

from __future__ import annotations

from typing import Any

from checks._running import run_file
from checks.linear_transformers._two_levels import ASSUMED, PAIR, THEOREM, WORDS, growths
from lipverify.claims.claim import CellPlan, Claim, Reading, Task
from lipverify.claims.linear_transformers.noise_adaptive import DifferenceGrowth
from lipverify.claims.registry import Profile
from lipverify.claims.verdict import Allowed, Interval
from lipverify.linear_transformer.theory.noise_adaptive import ORDERS, Order

RATE = 1e-4
"""An exponent is called equal to -1/2 or -1 if it is known to this much and agrees."""


def claims(profile: Profile) -> tuple[Claim, ...]:
    """The rate and its constants in either order."""
    return tuple(_rate(profile, order) for order in ORDERS)


def _rate(profile: Profile, order: Order) -> Claim:
    tasks = growths(profile, order)
    cells = []
    for (d, level), task in tasks.items():
        where = {"d": d, "at": level, "order": order}
        cells += [
            _exponent_cell(where, task, "fluctuation", -0.5, -1.0),
            _exponent_cell(where, task, "mean", -1.0, -0.5),
            _constant_cell(where, task, "fluctuation", 2),
            _constant_cell(where, task, "mean", 1),
        ]
    constant = r"(1 + s)\left(2 (cvs)^2 + \frac{d + 1}{(1 + s)^4}\right), \quad s = \sigma_i^2"
    return Claim(
        id=f"lt.noise-adaptive/rate/{order}",
        title=f"How fast the two layers, {WORDS[order]}, approach ridge",
        statement=rf"\tfrac{{n}}{{d}} \mathbb{{E}} \|w - w_{{\mathrm{{ridge}}}}\|^2 \to {constant}, \qquad \mathbb{{E}} \langle w - w_{{\mathrm{{ridge}}}}, w^* \rangle = O(1/n)",
        source=THEOREM,
        assumptions=(*ASSUMED, f"$\\sigma_1 = {PAIR[0]:g}$, $\\sigma_2 = {PAIR[1]:g}$", WORDS[order]),
        claimed="n^(-1/2) fluctuation, 1/n mean, and both constants",
        control="1/n fluctuation, n^(-1/2) mean, constants 1 % larger",
        expected="supported",
        cells=tuple(cells),
        finding=(
            "The theorem states no rate. What is left is mostly chance: $\\lambda/n$ fluctuates by $\\sigma^2 \\sqrt{2/n}$ and $\\Sigma$ by $n^{-1/2}$ around $\\mathbf{I}$, which two scalar weights cannot follow. The mean difference is a power smaller; with "
            "$b = (1-c)^2$ or, if $\\omega_{yy}$ acts first, $b = 1$, its limit is $\\frac{n}{d} \\mathbb{E}\\langle w - w_{\\mathrm{ridge}}, w^* \\rangle \\to cv(b(d+2)(1+s) - ds) + (d+1)s/(1+s)^3$."
        ),
    )


def _exponent_cell(where: dict[str, Any], task: Task, which: str, exponent: float, twin: float) -> CellPlan:
    def read(found: DifferenceGrowth, _: Allowed) -> Reading:
        growth = getattr(found, which)
        return Reading(Interval.around(growth.exponent, growth.error))

    return CellPlan(
        where=where,
        task=task,
        quantity=f"limit exponent in n of the {which}",
        read=read,
        claimed=f"= {exponent:g}",
        allowed=Allowed.near(exponent, RATE),
        control=Allowed.near(twin, RATE),
    )


def _constant_cell(where: dict[str, Any], task: Task, which: str, power: int) -> CellPlan:
    """The limit of n times the square, or n times the mean, over what is derived for it."""

    def read(found: DifferenceGrowth, _: Allowed) -> Reading:
        growth = getattr(found, which)
        derived = found.leading_square if which == "fluctuation" else abs(found.leading_mean)
        limit, error = growth.limit_of_ratio(-1 / power)
        return Reading(Interval((limit - error) ** power / derived, (limit + error) ** power / derived))

    return CellPlan(
        where=where,
        task=task,
        quantity=f"limit of n times the {'mean square' if power == 2 else 'mean'} over the derived one",
        read=read,
        claimed="= 1",
        allowed=Allowed.near(1.0, 10 * RATE),
        control=Allowed.near(1.01, 10 * RATE),
    )


if __name__ == "__main__":
    run_file(__file__)
