r"""Empirical scaling of |M| with L: the norm grows faster during pretraining for larger L, and where that ends."""

from __future__ import annotations

import math

from scipy.special import jv

from checks._running import run_file
from checks._slides import slides
from lipverify.claims.claim import CellPlan, Claim, CrossPlan, Reading, Task, side_by_side
from lipverify.claims.figure import Figure, Panel, Series
from lipverify.claims.registry import Profile
from lipverify.claims.softmax.rays import problem
from lipverify.claims.softmax.training import (
    SPREAD,
    NormGrowth,
    Recipe,
    derived_gradient_at_zero,
    descended_window,
    gradient_at_zero,
    norm_growth,
    paired_interval,
)
from lipverify.claims.verdict import Allowed, Interval
from lipverify.loss import loss_terms
from lipverify.optimum import optimal_window

SLIDE = slides(
    "Empirical Scaling of ||M|| with L",
    r"$\|\mathbf{M}\|$ grows faster during pretraining with larger $L$, on both ReLU and Cosine tasks, with both isotropic and "
    r"non-isotropic $x_i$",
)
D, N = 3, 16
SIGMA = {"relu": 0.5, "cosine": 0.3}
LADDERS = {"relu": (0.5, 1.0, 2.0, 4.0), "cosine": (0.5, 1.0, 2.0)}
COVARIATES = {"isotropic": "sphere", "anisotropic": "ellipsoid"}
RECIPES = {
    "relu": (
        Recipe(optimiser="gd", learning_rate=1.0, steps=160, batch=32, start=0.1),
        Recipe(optimiser="adam", learning_rate=0.05, steps=160, batch=32, start=0.1),
    ),
    # an even law has no gradient at M = 0: the start is larger, and so are the steps
    "cosine": (
        Recipe(optimiser="gd", learning_rate=4.0, steps=160, batch=32, start=0.5),
        Recipe(optimiser="adam", learning_rate=0.05, steps=160, batch=32, start=0.5),
    ),
}
HALF, END = 4, 8
"""The records, of nine from the start on, at which norms are compared."""
FASTER, SLOWER = Allowed(low=0.0, open=True), Allowed(high=0.0, open=True)

ROUGH_D, ROUGH_N, ROUGH_SIGMA, ROUGH = 2, 32, 0.1, (3.0, 5.0)
"""The smallest case where a larger L is learned more slowly, though its optimal window is narrower."""
ROUGH_RECIPES = (
    Recipe(optimiser="gd", learning_rate=2.0, steps=160, batch=32, start=0.5),
    Recipe(optimiser="adam", learning_rate=0.05, steps=160, batch=32, start=0.5),
)
FIRST_ZERO = 5.135622
"""Of the Bessel function J_2."""


def rough_window(L: float) -> tuple[float, float]:
    """(w*, error) of the cosine law on the circle by the exact method."""
    optimum = optimal_window(problem("cosine", ROUGH_D, ROUGH_N, L, ROUGH_SIGMA))
    return optimum.w, optimum.w_error


def curvature_at_zero(L: float, n: float) -> tuple[float, float]:
    """-(second derivative of the exact loss)/2 along M = w I at w = 0 for cosine functions on the circle, and an error."""
    p = problem("cosine", 2, n, L, 0.0)
    steps = (0.02, 0.04)
    at = loss_terms(p, [0.0, *steps])
    fine, coarse = ((float(at.total[0]) - float(at.total[i + 1])) / h**2 for i, h in enumerate(steps))
    return fine, abs(fine - coarse) + float(at.total_error.max()) / steps[0] ** 2


def derived_curvature(L: float) -> tuple[float, float]:
    """J_2(L)^2 / 2, the limit of that for many tokens."""
    return float(jv(2, L)) ** 2 / 2, 0.0


def claims(profile: Profile) -> tuple[Claim, ...]:
    """Both laws on both covariates over moderate L, and every L."""
    seeds = 8 if profile.name == "quick" else 24
    figure = [_claim(profile, law, shape, seeds) for law in LADDERS for shape in COVARIATES]
    return (*figure, _every(profile, seeds))


def _claim(profile: Profile, law: str, shape: str, seeds: int) -> Claim:
    constants, name = LADDERS[law], COVARIATES[shape]
    tasks = tuple(
        Task(norm_growth, (law, name, D, N, SIGMA[law], constants, recipe, seeds, profile.seed))
        for recipe in RECIPES[law]
    )
    return Claim(
        id=f"softmax.norm-growth/{law}/{shape}",
        title=f"The norm of M grows faster with larger L: {law} law, {shape} covariates",
        statement=r"L < L' \implies \|\mathbf{M}_L(t)\|_2 < \|\mathbf{M}_{L'}(t)\|_2 \quad \text{after } t \text{ steps}",
        source=SLIDE,
        assumptions=_assumed(law, shape, RECIPES[law], seeds),
        claimed="|M| larger for larger L at a fixed step",
        control="the order reversed",
        expected="supported",
        cells=tuple(
            _cell(task, recipe, law, D, constants, pair, record, SLOWER)
            for task, recipe in zip(tasks, RECIPES[law], strict=True)
            for pair in range(len(constants) - 1)
            for record in (HALF, END)
        ),
        cross_checks=_second_methods(profile, law, shape, tasks[0]),
        figures=lambda results: (_figure(law, shape, RECIPES[law], [results[task.address] for task in tasks]),),
        finding=FINDINGS[law],
    )


def _cell(
    task: Task, recipe: Recipe, law: str, d: int, constants: tuple[float, ...], pair: int, record: int, twin: Allowed
) -> CellPlan:
    """The larger constant of a neighbouring pair against the smaller one, at one step."""
    low, high = constants[pair], constants[pair + 1]
    step = record * recipe.steps // END
    return CellPlan(
        where={"d": d, "law": law, "optimiser": recipe.optimiser, "L": f"{low:g} to {high:g}", "step": step},
        task=task,
        quantity="log of |M| at the larger L over |M| at the smaller",
        read=lambda growth, _: Reading(Interval.around(*growth.log_ratio(pair, pair + 1, record))),
        claimed="> 0",
        allowed=FASTER,
        control=twin,
        method="montecarlo",
    )


def _assumed(law: str, shape: str, recipes: tuple[Recipe, ...], seeds: int) -> tuple[str, ...]:
    covariates = (
        "uniform on $S^{d-1}$" if shape == "isotropic" else "$\\Sigma^{1/2} U$, $\\Sigma = \\mathrm{diag}(2, 1, 1/2)$"
    )
    return (
        f"covariates {covariates}, $d = {D}$, $n = {N}$, $\\sigma = {SIGMA[law]:g}$, {law} law",
        f"start $\\mathbf{{M}} = w_0 (\\mathbf{{I}} + {SPREAD:g}\\, \\mathbf{{G}})$ with standard normal entries of $\\mathbf{{G}}$",
        *(recipe.words for recipe in recipes),
        f"99 % t-intervals of paired differences over {seeds} runs: tokens, directions and starts are the same for all $L$",
    )


def _second_methods(profile: Profile, law: str, shape: str, descent: Task) -> tuple[CrossPlan, ...]:
    """On the sphere, descent on the exact loss; elsewhere, the derived gradient at M = 0."""
    constants, recipe = LADDERS[law], RECIPES[law][0]
    if shape == "isotropic":
        at, reach = (1, 1.5) if law == "relu" else (2, 6.0)
        exact = Task(descended_window, (law, D, N, SIGMA[law], constants[at], recipe, reach))
        return (
            CrossPlan(
                where={"d": D, "n": N, "law": law, "L": constants[at]},
                quantity=f"tr M / d after {recipe.steps} steps of gradient descent",
                methods=("stochastic gradients", "descent on the exact loss"),
                tasks=(descent, exact),
                read=lambda growth, other: side_by_side(paired_interval([c[END] for c in growth.scales[at]]), other),
            ),
        )
    if law != "relu":
        return ()
    sampled = Task(gradient_at_zero, (law, "ellipsoid", D, N, SIGMA[law], 1.0, profile.contexts, profile.seed))
    derived = Task(derived_gradient_at_zero, ("ellipsoid", D, N, 1.0))
    return (
        CrossPlan(
            where={"d": D, "n": N, "law": law, "L": 1.0},
            quantity="- trace of the gradient at M = 0",
            methods=("montecarlo", "derived"),
            tasks=(sampled, derived),
            read=side_by_side,
        ),
    )


def _every(profile: Profile, seeds: int) -> Claim:
    """The same sentence with no bound on L: the cosine law on the circle, just below the first zero of J_2."""
    tasks = tuple(
        Task(norm_growth, ("cosine", "sphere", ROUGH_D, ROUGH_N, ROUGH_SIGMA, ROUGH, recipe, seeds, profile.seed))
        for recipe in ROUGH_RECIPES
    )
    optima = tuple(Task(rough_window, (L,)) for L in ROUGH)
    curvatures = tuple(
        CrossPlan(
            where={"d": 2, "n": 1e12, "law": "cosine", "L": L},
            quantity="- half the curvature of the loss at M = 0",
            methods=("exact", "derived"),
            tasks=(Task(curvature_at_zero, (L, 1e12)), Task(derived_curvature, (L,))),
            read=side_by_side,
        )
        for L in ROUGH
    )
    return Claim(
        id="softmax.norm-growth/cosine/every-l",
        title="The norm of M grows faster with larger L, without a bound on L: cosine law",
        statement=r"L < L' \implies \|\mathbf{M}_L(t)\|_2 < \|\mathbf{M}_{L'}(t)\|_2 \quad \text{for all } L, L'",
        source=SLIDE,
        assumptions=(
            f"covariates uniform on $S^1$, $n = {ROUGH_N}$, $\\sigma = {ROUGH_SIGMA:g}$, cosine law",
            *(recipe.words for recipe in ROUGH_RECIPES),
            f"99 % t-intervals of paired differences over {seeds} runs",
        ),
        claimed="|M| larger for larger L at a fixed step, whatever L",
        control="|M| ten times as large at the larger L",
        expected="refuted",
        cells=tuple(
            _cell(task, recipe, "cosine", ROUGH_D, ROUGH, 0, record, Allowed(low=math.log(10)))
            for task, recipe in zip(tasks, ROUGH_RECIPES, strict=True)
            for record in (HALF, END)
        ),
        cross_checks=curvatures,
        extra_tasks=optima,
        figures=lambda results: (
            _figure("cosine", "isotropic", ROUGH_RECIPES, [results[task.address] for task in tasks]),
        ),
        finding=lambda results: _rough(*(results[task.address][0] for task in optima)),
        corrected=_LOWEST_HARMONIC,
    )


def _rough(smooth: float, rough: float) -> str:
    return (
        "The sentence holds for the moderate constants of the figure and not for every $L$. The cosine law is even, so "
        "$\\mathbf{M} = 0$ is a stationary point, and a small start leaves it at the rate of the curvature there. On the circle, "
        "$\\cos(L \\cos \\theta) = J_0(L) - 2 J_2(L) \\cos 2\\theta + \\ldots$, and with many tokens the loss is "
        "$\\mathcal{L}(w) = \\mathcal{L}(0) - J_2(L)^2 w^2 / 2 + O(w^3)$: only the second harmonic is felt by a wide window. The rate "
        f"$J_2(L)^2$ rises up to $L = 3.05$, falls after it and vanishes at $L = {FIRST_ZERO:.4f}$. At $L = {ROUGH[1]:g}$ training therefore "
        f"hardly leaves its start, although the optimal window is larger there ($w^* = {rough:.1f}$, against {smooth:.1f} at "
        f"$L = {ROUGH[0]:g}$, by the exact method)."
    )


_LOWEST_HARMONIC = (
    "The optimum grows with $L$. The norm during training from a small start grows faster with larger $L$ as long as the lowest harmonic "
    "that a wide window feels does: for every $L$ where $L$ is an amplitude (ReLU, affine), and up to $L \\approx 3$ for the cosine law on the "
    "circle, where the rate is proportional to $J_2(L)^2$"
)


FINDINGS = {
    "relu": (
        "For laws whose $L$ is an amplitude the order can be derived. The bias is $L^2 B_1$ with $B_1$ that of $L = 1$, so on isotropic "
        "covariates gradient flow from $w_0 \\mathbf{I}$ obeys $\\dot w = -(L^2 B_1'(w) + \\sigma^2 N_1'(w)) / d$. Up to the optimal window "
        "$B_1' < 0$ and $N_1' > 0$: at every $w$ the speed is larger for larger $L$, and by comparison of the two equations so is "
        "$w(t)$ at every $t$. At the start the gradient is $-(1 - 1/n) L^2 \\Sigma^2 / (3 d^3)$: the first steps are proportional to "
        "$L^2$, and on anisotropic covariates they grow $\\mathbf{M}$ along the long axes, as $\\Sigma^2$, the opposite of the "
        "optimum $\\Sigma^{-1}$ of Lemma 1."
    ),
    "cosine": (
        "The cosine law is even and $\\mathbf{M} = 0$ a stationary point: where the noise outweighs the curvature of the bias (small $L$) "
        "the norm shrinks from its start, and it grows exponentially at first where it does not. The order in $L$ is as printed "
        "over the constants measured here; see `softmax.norm-growth/cosine/every-l` for its end."
    ),
}


def _figure(law: str, shape: str, recipes: tuple[Recipe, ...], growths: list[NormGrowth]) -> Figure:
    """|M| against steps for each L, mean and interval over runs, one panel for each recipe."""
    panels = tuple(
        Panel(
            title={"gd": "gradient descent", "adam": "Adam"}[recipe.optimiser],
            xlabel="steps",
            ylabel=r"$\|\mathbf{M}\|_2$",
            xscale="linear",
            yscale="log",
            series=tuple(_series(growth, at) for at in range(len(growth.L))),
        )
        for recipe, growth in zip(recipes, growths, strict=True)
    )
    caption = (
        f"The spectral norm of $\\mathbf{{M}}$ during training, {law} law, {shape} covariates, by Lipschitz constant: "
        "means over runs with 99 % intervals."
    )
    return Figure(caption=caption, alt=f"Norm of M against steps for several L, {law} law, {shape}.", panels=panels)


def _series(growth: NormGrowth, at: int) -> Series:
    means, errors = zip(
        *(paired_interval([curve[record] for curve in growth.norms[at]]) for record in range(len(growth.steps))),
        strict=True,
    )
    # on a logarithmic axis an interval may not reach 0
    shown = tuple(min(error, 0.9 * mean) for mean, error in zip(means, errors, strict=True))
    return Series(
        label=f"$L = {growth.L[at]:g}$", x=tuple(map(float, growth.steps)), y=means, error=shown, style="errorbars"
    )


if __name__ == "__main__":
    run_file(__file__)
