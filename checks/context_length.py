r"""The figure of the intuition slides: functions of three Lipschitz constants, their windows, and the error against n."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec
import numpy as np
import sympy
from scipy.special import ive

from checks._generalization import mistuning, name_of, near, read_limit, transfer_agreement, transferred_power
from checks._running import run_file
from checks._slides import ASSUMED, d, slides
from lipverify.claims.claim import CellPlan, Claim, Reading, Task, exponent_at
from lipverify.claims.figure import Figure, Panel, Series
from lipverify.claims.registry import Profile
from lipverify.claims.scaling import read_exponent, scaling_cell
from lipverify.claims.softmax.rays import exact_window
from lipverify.claims.softmax.transfer import Family, Transfers, fixed_window, transfers
from lipverify.claims.verdict import Allowed, Interval
from lipverify.laws import Affine
from lipverify.loss.asymptotic import leading
from lipverify.scaling import Growth

FIGURE = slides(
    "ICL estimator intuition, figure",
    "Top: varying Lipschitzness in the ground truth results in different optimal attention windows. Middle: attention unit can adapt to "
    "these attention windows using softmax. Bottom: ICL error with varying number of context tokens.",
)
LEVELS: tuple[Family, ...] = (("affine", 1.0), ("affine", 3.0), ("affine", 10.0))
PAIRS = tuple((i, j) for i in range(3) for j in range(3) if i != j)
START, SHOWN = 100.0, 3
"""The shortest context, and the dimension of the figure."""


class Floor(msgspec.Struct, frozen=True, kw_only=True):
    """The loss of a fixed window on ever longer contexts, and what is left of it by the closed form."""

    loss: Growth
    limit: float


def floor(dimension: int, points: int) -> Floor:
    """Of the window tuned at n = 100, where the bias is left, (1/3d) (1 - I_{d/2}(w) / I_{d/2-1}(w))^2."""
    w, _ = exact_window("affine", dimension, int(START))
    shift = 1 - ive(dimension / 2, w) / ive(dimension / 2 - 1, w)
    loss = fixed_window(LEVELS[0], LEVELS[0], dimension, START, points)
    return Floor(loss=loss, limit=float(shift**2 / (3 * dimension)))


def claims(profile: Profile) -> tuple[Claim, ...]:
    """Tuned attention, mistuned attention, and attention that is not tuned again when the context grows."""
    return _tuned(profile), _mistuned(profile), _fixed(profile)


def _tasks(profile: Profile) -> dict[int, Task]:
    dimensions = profile.dimensions if profile.name == "full" else (2, 3, 5)
    return {k: Task(transfers, (LEVELS, LEVELS, k, profile.points, False, START)) for k in dimensions}


def _tuned(profile: Profile) -> Claim:
    power, twin = transferred_power(Affine(), Affine()), -sympy.Integer(1) + 0 * d
    tasks = _tasks(profile)
    return Claim(
        id="softmax.context-length/affine/theta/tuned",
        title="Error against context length, attention tuned to each of three Lipschitz constants",
        statement=rf"\mathcal{{L}}(w^*(L); L) = \Theta\left(n^{{{sympy.latex(power, fold_short_frac=True)}}}\right) \quad (n \to \infty)",
        source=FIGURE,
        assumptions=(*ASSUMED, "affine law, $L = 1, 3, 10$, $\\sigma = 1$", "the window is tuned at every $n$"),
        claimed=f"loss = Θ(n^({power})) for each L",
        control="loss = Θ(1/n), as if the tasks had finitely many parameters",
        expected="supported",
        cells=tuple(
            scaling_cell(
                task,
                partial(_own, i),
                "limit exponent of the loss in n",
                "theta",
                power,
                twin,
                k,
                law=name_of(LEVELS[i]),
            )
            for k, task in tasks.items()
            for i in range(3)
        ),
        cross_checks=transfer_agreement([(LEVELS[0], LEVELS[0])], profile),
        figures=lambda results: _figure(results[tasks[SHOWN].address]),
        finding=(
            "The three curves are one: the loss is $L^2$ times a function of $n$ and $\\Lambda = nL^2/\\sigma^2$, which for long contexts depends "
            "on $\\Lambda$ alone. The exponent is worse than $-1$ and tends to 0 as $d$ grows: softmax attention is a local average."
        ),
    )


def _own(i: int, result: Transfers) -> Growth:
    return result.losses[i][i]


def _limit(i: int, j: int, result: Transfers, _: Allowed) -> Reading:
    return read_limit(result.factors[i][j])


def _mistuned(profile: Profile) -> Claim:
    tasks, beta = _tasks(profile), leading(Affine()).beta

    def least(i: int, j: int, result: Transfers, _: Allowed) -> Reading:
        growth = result.factors[i][j]
        ends = [(v * (1 - e), v * (1 + e)) for v, e in zip(growth.values, growth.value_errors, strict=True)]
        at = int(np.argmin(growth.values))
        return Reading(Interval(min(low for low, _ in ends), ends[at][1]), note=f"least at n = {growth.s[at]:.3g}")

    def limit(i: int, j: int, k: int) -> float:
        rho2 = sympy.Rational(LEVELS[j][1]) ** 2 / sympy.Rational(LEVELS[i][1]) ** 2
        return exponent_at(mistuning(beta, rho2), k)

    def where(i: int, j: int, k: int) -> dict[str, str | int | float]:
        return {"d": k, "law": f"{name_of(LEVELS[i])} to {name_of(LEVELS[j])}"}

    return Claim(
        id="softmax.context-length/affine/lower/mistuned",
        title="Error against context length, attention tuned to another Lipschitz constant",
        statement=r"\frac{\mathcal{L}(w^*(L); L')}{\mathcal{L}(w^*(L'); L')} > 1 \quad \text{for every } n, \qquad \to "
        r"\frac{a \rho^2 + \beta}{(a+\beta) \rho^{2a/(a+\beta)}}, \quad \rho = L'/L",
        source=FIGURE,
        assumptions=(
            *ASSUMED,
            "affine law, $L, L' \\in \\{1, 3, 10\\}$, $\\sigma = 1$, $n \\geq 100$",
            "$a = (d-1)/2$, $\\beta = 2$",
        ),
        claimed="factor > 1 at every n measured, with the derived limit",
        control="factor ≤ 1; a limit one percent larger",
        expected="supported",
        cells=(
            *(
                CellPlan(
                    where=where(i, j, k),
                    task=task,
                    quantity="least factor at the n that were measured",
                    read=partial(least, i, j),
                    claimed="> 1",
                    allowed=Allowed(low=1.0, open=True),
                    control=Allowed(high=1.0),
                )
                for k, task in tasks.items()
                for i, j in PAIRS
            ),
            *(
                CellPlan(
                    where=where(i, j, k),
                    task=task,
                    quantity="limit of the factor",
                    read=partial(_limit, i, j),
                    claimed=f"= {limit(i, j, k):.6g}",
                    allowed=near(limit(i, j, k)),
                    control=near(1.01 * limit(i, j, k)),
                )
                for k, task in tasks.items()
                for i, j in PAIRS
            ),
        ),
        cross_checks=transfer_agreement([(LEVELS[0], LEVELS[1])], profile),
        figures=lambda results: _figure(results[tasks[SHOWN].address]),
        finding=(
            "Mistuned attention is worse at every length, and parallel in the limit: the curves of the figure keep a constant distance on "
            "logarithmic axes, as long as both windows are tuned at every $n$."
        ),
    )


def _fixed(profile: Profile) -> Claim:
    tasks = {k: Task(floor, (k, profile.points)) for k in (2, 3, 5)}
    return Claim(
        id="softmax.context-length/affine/fixed-window",
        title="Error against context length, attention that is not tuned again",
        statement=r"\mathcal{L}(w; L) \to 0 \quad (n \to \infty), \qquad w = w^*(L) \text{ at } n = 100",
        source=FIGURE,
        assumptions=(*ASSUMED, "affine law, $L = \\sigma = 1$", "pretrained at $n = 100$, used on longer contexts"),
        claimed="loss → 0",
        control="loss = O(n^(-1/10))",
        expected="refuted",
        cells=tuple(
            CellPlan(
                where={"d": k, "law": "affine L=1"},
                task=task,
                quantity="limit exponent of the loss in n",
                read=lambda result, _: read_exponent(result.loss, Allowed(low=0.0, high=0.0)),
                claimed="< 0",
                allowed=Allowed(high=0.0, open=True),
                control=Allowed(high=-0.1),
            )
            for k, task in tasks.items()
        ),
        figures=lambda results: _floor_figure({k: results[task.address] for k, task in tasks.items()}),
        finding=lambda results: (
            "A window is tuned to a context length as well as to $L$. On longer contexts the noise goes on falling like $1/n$ and the bias "
            "stays: $B \\to \\frac{L^2}{3d} (1 - I_{d/2}(w) / I_{d/2-1}(w))^2$ for the affine law. Limits, measured and from the closed form: "
            + "; ".join(
                f"$d = {k}$: {found.loss.limit_of_ratio(0.0)[0]:.8g} and {found.limit:.8g}"
                for k, found in ((k, results[task.address]) for k, task in tasks.items())
            )
            + ". "
        ),
        corrected="The error falls to 0 if the unit is pretrained for each number of tokens; else to the bias of its window.",
    )


def _figure(table: Transfers) -> tuple[Figure, ...]:
    """Functions, windows at one n, and the error of each window on the middle constant."""
    angles = np.linspace(0, np.pi, 61)
    at, few = (int(np.searchsorted(table.n, n)) for n in (1e4, 1e10))
    functions = tuple(
        Series(label=f"$L = {L:g}$", x=tuple(angles.tolist()), y=tuple((L * np.cos(angles)).tolist()))
        for _, L in LEVELS
    )
    windows = tuple(
        Series(label=f"$L = {L:g}$", x=tuple(angles.tolist()), y=tuple(np.exp(w[at] * (np.cos(angles) - 1)).tolist()))
        for (_, L), w in zip(LEVELS, table.windows, strict=True)
    )
    errors = tuple(
        Series(
            label=f"tuned to $L = {L:g}$", x=table.n[:few], y=row[1].values[:few], style="line" if i == 1 else "dashed"
        )
        for i, ((_, L), row) in enumerate(zip(LEVELS, table.losses, strict=True))
    )
    linear: Any = {"xscale": "linear", "yscale": "linear"}
    return (
        Figure(
            caption=f"Functions of three Lipschitz constants along a great circle; the attention of their optimal windows ($d = {SHOWN}$, "
            f"$n$ = {table.n[at]:.2g}), relative to a token at the query; the error on $L = 3$ against $n$ of each window, tuned at every $n$.",
            alt="Three functions, three attention windows, and error curves against context length.",
            panels=(
                Panel(title="functions", xlabel="angle", ylabel="$f$", series=functions, **linear),
                Panel(title="windows", xlabel="angle to the query", ylabel="attention", series=windows, **linear),
                Panel(title="error on $L = 3$", xlabel="$n$", ylabel="loss", series=errors),
            ),
        ),
    )


def _floor_figure(floors: dict[int, Floor]) -> tuple[Figure, ...]:
    losses = tuple(Series(label=f"$d = {k}$", x=each.loss.s, y=each.loss.values) for k, each in floors.items())
    limits = tuple(
        Series(label=f"limit, $d = {k}$", x=each.loss.s, y=(each.limit,) * len(each.loss.s), style="dashed")
        for k, each in floors.items()
    )
    panel = Panel(title="a window tuned at $n = 100$", xlabel="$n$", ylabel="loss", series=(*losses, *limits))
    caption = "The loss of the window tuned at $n = 100$ on longer contexts, and the bias that is left, in closed form."
    return (Figure(caption=caption, alt="Loss of a fixed window against n, ending in a floor.", panels=(panel,)),)


if __name__ == "__main__":
    run_file(__file__)
