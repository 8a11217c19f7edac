r"""Beyond Theorem 4: where M* = c BB^T goes on to hold. The sphere with a large ball is in `lowrank_large_ball`."""

from __future__ import annotations

from typing import Any

from checks._lowrank import (
    BEYOND,
    COVARIATES,
    FAMILY,
    FORM,
    TASKS,
    agreement,
    exactly,
    ratio_cell,
    sampled,
)
from checks._running import run_file
from lipverify.claims.claim import CellPlan, Claim, CrossPlan, Reading, Task
from lipverify.claims.figure import Band, Figure, Panel, Series
from lipverify.claims.ledger import Table
from lipverify.claims.registry import Profile
from lipverify.claims.softmax.lowrank import Setting
from lipverify.claims.softmax.lowrank_boundary import RadiusCurve, counterexamples, limit_radius, radii, radius
from lipverify.claims.verdict import Allowed, Interval

PRODUCT = tuple(
    Setting("product", *case)
    for case in (
        (2, 1, 3, 0.5, 4.0),
        (2, 1, 1e6, 0.5, 4.0),
        (3, 2, 10, 0.5, 8.0),
        (3, 2, 1000, 0.5, 8.0),
        (4, 3, 30, 2.0, 12.0),
        (5, 2, 1e6, 0.5, 8.0),
        (3, 2, 20, 0.0, 12.0),
    )
)
PRODUCT_SEARCHED = PRODUCT[2]
RANDOM_PROBLEMS = {"quick": 5, "full": 60}

NARROW = tuple(
    Setting("sphere", d, k, n, sigma, 4.0 * d)
    for d, k in ((2, 1), (3, 2), (6, 2))
    for n in (20, 1000, 10**6)
    for sigma in (0.0, 0.5)
)
LIMIT = tuple(Setting("sphere", d, k, 1e12, 0.5, 4.0 * d) for d, k in ((2, 1), (3, 1), (3, 2), (6, 2)))

CURVES = {
    "quick": (9, 10, 12, 16, 24, 60, 200, 1000),
    "full": (9, 10, 11, 12, 14, 16, 20, 24, 32, 50, 70, 100, 200, 500, 1000, 10_000),
}
NOISES = (0.0, 0.25, 0.5, 1.0)


def claims(profile: Profile) -> tuple[Claim, ...]:
    """The product of spheres, where nothing fails, and the sphere, where a small ball is enough."""
    return _product(profile), _narrow(profile)


def _count_cell(covariates: str, profile: Profile) -> CellPlan:
    """Counterexamples among random problems."""

    def read(counts: tuple[int, int], _: Allowed) -> Reading:
        return Reading(Interval.around(float(counts[0]), 0.0), f"{counts[1]} random problems")

    return CellPlan(
        where={"covariates": covariates},
        task=Task(counterexamples, (covariates, RANDOM_PROBLEMS[profile.name], profile.seed)),
        quantity="counterexamples found",
        read=read,
        claimed="none",
        allowed=Allowed(high=0.0),
        control=Allowed(low=1.0),
    )


def _product(profile: Profile) -> Claim:
    full = sampled(PRODUCT_SEARCHED, profile)
    return Claim(
        id="lowrank.boundary/product",
        title="M* = c BB^T beyond n = 2 and σ = 0, and in large balls, on a product of spheres",
        statement=FORM + r" \quad \text{for } n > 2 \text{ with } \sigma > 0 \text{, and for large } C",
        source=BEYOND,
        assumptions=(COVARIATES["product"], TASKS, FAMILY, "$n \\leq 10^6$, $C \\leq 6k$"),
        claimed="c'* = 0 for every n, σ and C",
        control="M* = c I; some counterexample",
        expected="supported",
        summary=lambda results: "c'* = 0 in all cells, none among random problems",
        cells=(
            *(ratio_cell(setting, exactly(setting), "exact") for setting in PRODUCT),
            ratio_cell(PRODUCT_SEARCHED, full, "montecarlo"),
            _count_cell("product", profile),
        ),
        cross_checks=agreement(PRODUCT_SEARCHED, profile),
        finding=(
            "No counterexample was found. On the product $|\\mathbf{B}^\\top x|$ is the same for every token, so $e^{c \\langle z_i, z \\rangle}$ is a "
            "function of the distance $|z_i - z|$ by itself, and a score along $\\mathbf{B}_\\perp$ only multiplies the weights by independent "
            "random factors, which cost variance. (At $n = 2$, with weights $1/2 \\pm h$, what the loss gains from $h$ is linear in it, and "
            "$\\mathbf{E} \\tanh(y + G) \\leq \\tanh y$ for every symmetric $G$ and $y \\geq 0$: random factors lose some of it.) This is evidence and not a proof; "
            "the assumption “$n = 2$ or $\\sigma = 0$” was not needed anywhere."
        ),
    )


def _radius_cell(setting: Setting) -> CellPlan:
    """The largest radius for which c' = 0 is best, in units of d."""

    def read(bracket: tuple[float, float | None], _: Allowed) -> Reading:
        low, high = bracket
        note = "" if high is not None else f"no failure up to C = {setting.C:g}"
        return Reading(Interval(low / setting.d, None if high is None else high / setting.d), note)

    return CellPlan(
        where={"d": setting.d, "k": setting.k, "n": setting.n, "sigma": setting.sigma},
        task=Task(radius, (setting,)),
        quantity="largest C with c'* = 0, over d",
        read=read,
        claimed="≥ 1",
        allowed=Allowed(low=1.0),
        control=Allowed(high=1.0),
    )


def _least_radius(results: dict[str, Any]) -> str:
    low = min(results[Task(radius, (setting,)).address][0] / setting.d for setting in NARROW)
    return f"largest C with c'* = 0: at least {low:.4g} d"


def _limit_check(setting: Setting) -> CrossPlan:
    """The radius at n = 1e12 and its limit from Bessel functions."""

    def read(
        bracket: tuple[float, float | None], limit: tuple[float, float]
    ) -> tuple[tuple[float, float], tuple[float, float]]:
        low, high = bracket[0], bracket[1] if bracket[1] is not None else float("inf")
        return ((low + high) / 2, limit[0]), ((high - low) / 2, limit[1])

    return CrossPlan(
        where={"d": setting.d, "k": setting.k, "n": setting.n},
        quantity="C_max",
        methods=("exact", "limit n → ∞"),
        tasks=(Task(radius, (setting,)), Task(limit_radius, (setting.d, setting.k))),
        read=read,
    )


def _narrow(profile: Profile) -> Claim:
    limits = {(s.d, s.k): Task(limit_radius, (s.d, s.k)) for s in LIMIT}
    lengths = CURVES[profile.name]
    dimensions = {(d, k): Task(radii, ("sphere", d, k, 0.0, 4.0 * d, lengths)) for d, k in ((2, 1), (3, 2))}
    noises = {sigma: Task(radii, ("sphere", 2, 1, sigma, 8.0, lengths)) for sigma in NOISES[1:]}
    return Claim(
        id="lowrank.boundary/sphere/small-ball",
        title="On the sphere M* = c BB^T in balls of radius C ≤ d, for every n and σ",
        statement=FORM + r" \quad \text{if } C \leq d",
        source=BEYOND,
        assumptions=(COVARIATES["sphere"], TASKS, "invariant family, exactly", "$n > 2$, with noise and without"),
        claimed="c'* = 0 if C ≤ d",
        control="c'* = 0 only if C ≤ d, or less",
        expected="supported",
        summary=lambda results: _least_radius(results),
        cells=tuple(_radius_cell(setting) for setting in NARROW),
        cross_checks=tuple(_limit_check(setting) for setting in LIMIT),
        extra_tasks=(*limits.values(), *dimensions.values(), *noises.values()),
        figures=lambda results: _region(results, dimensions, noises, limits),
        tables=lambda results: (_limit_table(results, limits),),
        finding=(
            "As $n \\to \\infty$ the prediction at a query with $|z|^2 = s$ is $c h(\\omega) z$ with $h(\\omega) = A(\\omega)/\\omega \\leq 1/d$, "
            "$A = I_{d/2}/I_{d/2-1}$ and $\\omega^2 = c^2 s + c'^2 (1 - s)$. For $C \\leq d$ it falls short of $z$ at every query, and $h$ decreases, "
            "so any $c' \\neq 0$ makes it fall shorter: $c' = 0$ and $c = C$ are best. At every finite $n$ that was measured the radius is larger still. "
            "In such balls neither $n = 2$ nor $\\sigma = 0$ is needed."
        ),
    )


def _region(
    results: dict[str, Any],
    dimensions: dict[tuple[int, int], Task],
    noises: dict[float, Task],
    limits: dict[tuple[int, int], Task],
) -> tuple[Figure, ...]:
    """The largest radius against n: by dimension, and by noise."""

    def curve(label: str, task: Task) -> Series:
        found: RadiusCurve = results[task.address]
        middle = tuple((low + high) / 2 for low, high in zip(found.low, found.high, strict=True))
        return Series(label=label, x=found.n, y=middle)

    def panel(title: str, series: tuple[Series, ...], asymptote: tuple[int, int]) -> Panel:
        limit = results[limits[asymptote].address][0]
        ends = (min(s.x[0] for s in series if s.x), max(s.x[-1] for s in series if s.x))
        dashed = Series(label=f"$C_\\infty{asymptote}$", x=ends, y=(limit, limit), style="dashed")
        return Panel(
            title=title,
            xlabel="$n$",
            ylabel="$C_{\\max}$",
            yscale="linear",
            series=(*series, dashed),
            bands=(
                Band(label="$\\mathbf{M}^* = c \\mathbf{B} \\mathbf{B}^\\top$ for every $n$ and $\\sigma$", high=limit),
            ),
        )

    by_dimension = tuple(curve(f"$(d, k) = {pair}$", task) for pair, task in dimensions.items())
    by_noise = (
        curve("$\\sigma = 0$", dimensions[(2, 1)]),
        *(curve(f"$\\sigma = {sigma:g}$", task) for sigma, task in noises.items()),
    )
    caption = (
        "The largest radius $C$ of the ball for which the minimiser has no spurious part, on the sphere, against $n$. Below its curve a problem has "
        "$\\mathbf{M}^* = c \\mathbf{B} \\mathbf{B}^\\top$, above it $c'^* \\neq 0$; to the left of where a curve begins no ball fails. "
        "Left: without noise; right: $d = 2$, $k = 1$. Dashed: the limit $n \\to \\infty$, the same for every $\\sigma$."
    )
    panels = (panel("no noise", by_dimension, (2, 1)), panel("$(d, k) = (2, 1)$", by_noise, (2, 1)))
    return (
        Figure(caption=caption, alt="Largest radius of the ball without a spurious part against n.", panels=panels),
    )


def _limit_table(results: dict[str, Any], limits: dict[tuple[int, int], Task]) -> Table:
    return Table(
        caption="The radius up to which $\\mathbf{M}^* = c \\mathbf{B} \\mathbf{B}^\\top$ for every $n$, from the limit $n \\to \\infty$.",
        header=("$d$", "$k$", "$C_\\infty$"),
        rows=tuple((str(d), str(k), f"{results[task.address][0]:.4f}") for (d, k), task in limits.items()),
    )


if __name__ == "__main__":
    run_file(__file__)
