r"""The last slide: softmax attention learns the low-dimensional structure of nonlinear families, linear attention does not."""

from __future__ import annotations

import math

import numpy as np

from checks._running import run_file
from checks._slides import slides
from lipverify.claims.claim import CellPlan, Claim, CrossPlan, Reading, Task
from lipverify.claims.figure import Figure, Panel, Series
from lipverify.claims.ledger import Scalar
from lipverify.claims.registry import Profile
from lipverify.claims.softmax.block_training import (
    OFFSET,
    SPURIOUS,
    BlockTraining,
    block_training,
    linear_relevant_scale,
    minimised_scales,
)
from lipverify.claims.softmax.training import RELEVANT, SPREAD, Recipe, paired_interval
from lipverify.claims.verdict import Allowed, Interval, Verdict

LAST = slides(
    "Softmax Attention Learns Low-Dimensional Structure in Nonlinear Functions",
    r"GLMs with affine, quadratic, and cosine link functions: $w^\top x + 2$, $(w^\top x)^2$, $\cos(4 w^\top x)$ [and, A on the same figure: "
    r"softmax attention effectively learns the low-rank structure ($\rho(\mathbf{M}, \mathbf{B})$), leading to improved performance, while linear "
    "attention does not]",
)
N, SIGMA = 16, 0.1
FAMILIES = {
    "affine": r"w^\top x + 2",
    "quadratic": r"(w^\top x)^2",
    "cosine": r"\cos(4 w^\top x)",
}
COVARIATES = {"product": "product of two unit spheres", "sphere": "uniform on $S^{d-1}$"}
SOFTMAX = (
    Recipe(optimiser="gd", learning_rate=6.0, steps=200, batch=32, start=1.0),
    Recipe(optimiser="adam", learning_rate=0.05, steps=150, batch=32, start=1.0),
)
# linear attention on the even families has its minimum at M = 0, where rho says nothing: these steps stop before
LINEAR = (
    Recipe(optimiser="gd", learning_rate=0.1, steps=200, batch=32, start=1.0),
    Recipe(optimiser="adam", learning_rate=0.005, steps=150, batch=32, start=1.0),
)
# on the affine family it has a minimum, and is trained until it is near
LINEAR_AFFINE = (
    Recipe(optimiser="gd", learning_rate=0.2, steps=300, batch=32, start=1.0),
    Recipe(optimiser="adam", learning_rate=0.01, steps=200, batch=64, start=1.0),
)
LOWERED = {"rho": math.log(3 / 4), "error": math.log(0.95)}
"""What counts as lowering: rho by a quarter of itself or more, the test error by a twentieth."""
FIELD = {"rho": "rho", "error": "loss"}
NAMES = {"rho": r"\rho(\mathbf{M}, \mathbf{B})", "error": r"\text{test error}"}


def claims(profile: Profile) -> tuple[Claim, ...]:
    """Three families, two kinds of attention, rho and the test error."""
    return tuple(
        _claim(profile, family, attention, quantity)
        for family in FAMILIES
        for attention in ("softmax", "linear")
        for quantity in ("rho", "error")
    )


def _claim(profile: Profile, family: str, attention: str, quantity: str) -> Claim:
    seeds = 8 if profile.name == "quick" else 24
    runs = [
        (
            covariates,
            recipe,
            Task(block_training, (family, attention, covariates, N, SIGMA, recipe, seeds, profile.seed)),
        )
        for covariates in COVARIATES
        for recipe in _recipes(family, attention)
    ]
    lowers = attention == "softmax"
    refuted = family == "affine" and attention == "linear" and quantity == "rho"
    expected: Verdict = "refuted" if refuted else "supported"
    verb = "lowers" if lowers else "does not lower"
    what = "rho(M, B)" if quantity == "rho" else "the test error"
    share = "a quarter" if quantity == "rho" else "a twentieth"
    return Claim(
        id=f"lowrank.nonlinear/{family}/{attention}/{quantity}",
        title=f"Training {attention} attention {verb} {what}: {family} family",
        statement=rf"f(x) = {FAMILIES[family]}: \quad {NAMES[quantity]} \text{{ {'falls' if lowers else 'does not fall'} in training}}",
        source=LAST,
        assumptions=_assumed(family, attention, seeds),
        claimed=f"{verb} {what} by {share} or more",
        control=_control(lowers, refuted, quantity)[0],
        expected=expected,
        cells=tuple(
            _cell(family, covariates, recipe, task, quantity, lowers, _control(lowers, refuted, quantity)[1])
            for covariates, recipe, task in runs
        ),
        cross_checks=_closed_form(profile) if refuted else (),
        figures=lambda results: (_figure(family, attention, [(c, r, results[task.address]) for c, r, task in runs]),),
        finding=FINDINGS.get((family, attention, quantity), ""),
        corrected=_LINEAR_CORRECTED if refuted else "",
    )


def _recipes(family: str, attention: str) -> tuple[Recipe, ...]:
    if attention == "softmax":
        return SOFTMAX
    return LINEAR_AFFINE if family == "affine" else LINEAR


def _control(lowers: bool, refuted: bool, quantity: str) -> tuple[str, Allowed]:
    """The twin, in words and as a range."""
    if lowers or refuted:
        return "training raises it", Allowed(low=0.0, open=True)
    return "training lowers it as much as softmax attention does on the affine family", Allowed(high=-1.0)


def _cell(
    family: str, covariates: str, recipe: Recipe, task: Task, quantity: str, lowers: bool, twin: Allowed
) -> CellPlan:
    """The change from the first record to the last in one setting."""
    edge = LOWERED[quantity]
    shown = "rho" if quantity == "rho" else "the test error"

    def read(found: BlockTraining, _: Allowed) -> Reading:
        return Reading(Interval.around(*found.log_change(FIELD[quantity])))

    return CellPlan(
        where={"d": RELEVANT + SPURIOUS, "law": family, "covariates": covariates, "optimiser": recipe.optimiser},
        task=task,
        quantity=f"log of {shown} at the end over that at the start",
        read=read,
        claimed=f"{'≤' if lowers else '≥'} {edge:.3f}",
        allowed=Allowed(high=edge) if lowers else Allowed(low=edge),
        control=twin,
        method="montecarlo",
    )


def _closed_form(profile: Profile) -> tuple[CrossPlan, ...]:
    """Both scales of the best linear attention on the affine family: in closed form, and minimised over all matrices."""
    contexts = 8192 if profile.name == "quick" else 65536
    derived = Task(linear_relevant_scale, (N, SIGMA))
    minimised = Task(minimised_scales, (N, SIGMA, contexts, profile.seed))
    where: dict[str, Scalar] = {"d": RELEVANT + SPURIOUS, "n": N, "law": "affine", "covariates": "product"}
    methods = ("closed form", "minimised")
    return (
        CrossPlan(
            where=where,
            quantity="relevant scale c of the optimal matrix of linear attention",
            methods=methods,
            tasks=(derived, minimised),
            read=lambda c, found: ((c, found[0]), (0.0, found[1])),
        ),
        CrossPlan(
            where=where,
            quantity="spurious scale c' of the optimal matrix of linear attention",
            methods=methods,
            tasks=(derived, minimised),
            read=lambda _, found: ((0.0, found[2]), (0.0, found[3])),
        ),
    )


def _assumed(family: str, attention: str, seeds: int) -> tuple[str, ...]:
    return (
        f"$w = \\mathbf{{B}} a$, $a$ uniform on $S^{{k-1}}$, $k = {RELEVANT}$, $d = {RELEVANT + SPURIOUS}$, $n = {N}$, $\\sigma = {SIGMA:g}$",
        f"covariates: {'; '.join(COVARIATES.values())}",
        r"$\rho(\mathbf{M}, \mathbf{B}) = \|\mathbf{B}_\perp^\top \mathbf{M} \mathbf{B}_\perp\|_2 / \|\mathbf{B}^\top \mathbf{M} \mathbf{B}\|_2$",
        "linear attention: $\\frac{1}{n} \\sum_i y_i\\, x_i^\\top \\mathbf{M} x$"
        if attention == "linear"
        else "softmax attention; it does not see a constant",
        f"start $\\mathbf{{M}} = w_0 (\\mathbf{{I}} + {SPREAD:g}\\, \\mathbf{{G}})$ with standard normal entries of $\\mathbf{{G}}$",
        *(recipe.words for recipe in _recipes(family, attention)),
        f"test error on 1024 held-out contexts; 99 % t-intervals over {seeds} runs",
    )


_EVEN = (
    "For an even $f$ the mean of $f(x) x$ is zero, so that the cross term of the loss vanishes for every $\\mathbf{M}$: the loss is "
    "$\\mathbb{E} f^2$ and a positive quadratic form, minimal at $\\mathbf{M} = 0$. Linear attention can do nothing here but predict 0. The "
    "form is $\\frac{1}{n} \\mathrm{tr}(\\mathbf{M}^\\top \\mathbb{E}[y^2 x x^\\top] \\mathbf{M}\\, \\mathbb{E}[x x^\\top])$; on the product of spheres its curvature is "
    "as $1/k^2$ in the relevant block and as $1/(d-k)^2$ in the spurious one, so with $k < d - k$ the relevant block "
    "decays faster and $\\rho$ even rises on the way to $\\mathbf{M} = 0$, where it has no meaning."
)
_LINEAR_CORRECTED = (
    "Linear attention learns the column space of the family that is linear but for a constant, and of neither even family; on none of the three "
    "does its error fall as that of softmax attention does"
)
FINDINGS = {
    ("affine", "linear", "rho"): (
        "On the affine family linear attention does recover the column space. Its loss is quadratic in $\\mathbf{M}$; over $c \\mathbf{B} \\mathbf{B}^\\top + c' "
        "\\mathbf{B}_\\perp \\mathbf{B}_\\perp^\\top$ and on the product of unit spheres it is, up to a constant and with $v = 4 + 1/k + \\sigma^2$, "
        "$-\\frac{2c}{k^2} + c^2 \\left(\\frac{1 - 1/n}{k^3} + \\frac{v}{nk}\\right) + c'^2 \\frac{v}{n (d - k)}$: the minimiser has $c' = 0$ and "
        f"$c = {linear_relevant_scale(N, SIGMA):.4f}$, that is $\\rho = 0$. What it cannot learn is the constant 2, see the claim on the error."
    ),
    ("affine", "linear", "error"): (
        "The prediction of linear attention is odd in the query and $2$ is even, so the error splits into "
        "$\\mathbb{E}(\\hat f(x) - w^\\top x)^2$ and the square of the constant: it is at least "
        f"${OFFSET**2:g}$ for every $\\mathbf{{M}}$ and every $n$. The column space is learned (see $\\rho$), and the error does not show it."
    ),
    ("quadratic", "linear", "rho"): _EVEN,
    ("cosine", "linear", "rho"): _EVEN,
    ("quadratic", "softmax", "rho"): (
        "On the product of spheres $\\rho$ falls to a few percent. On the sphere it stays near one half: there $|\\mathbf{B}^\\top x|^2 = 1 - "
        "|\\mathbf{B}_\\perp^\\top x|^2$, so the spurious coordinates tell how large the relevant ones are, and an even family can use that. The "
        "column space is recovered where the two are independent, as in the hypotheses of Theorem 4."
    ),
}


def _figure(family: str, attention: str, runs: list[tuple[str, Recipe, BlockTraining]]) -> Figure:
    """Rho and the test error against steps in every setting; for linear attention also the error of predicting 0."""
    ends = {covariates: float(np.mean(found.nothing)) for covariates, _, found in runs if attention == "linear"}
    floors: dict[str, list[Series]] = {
        "rho": [],
        "loss": [Series(label=f"{c}, predicting 0", x=(0.0, 1.0), y=(e, e), style="dashed") for c, e in ends.items()],
    }
    panels = tuple(
        Panel(
            title=title,
            xlabel="share of the steps",
            ylabel=label,
            xscale="linear",
            yscale="log" if attention == "softmax" else "linear",
            series=(*(_series(c, recipe, found, field) for c, recipe, found in runs), *floors[field]),
        )
        for field, title, label in (
            ("rho", "representation", r"$\rho(\mathbf{M}, \mathbf{B})$"),
            ("loss", "prediction", "test error"),
        )
    )
    caption = (
        f"{attention.capitalize()} attention on the {family} family: the spurious over the relevant block of $\\mathbf{{M}}$, and the error on "
        "held-out contexts, against the share of the steps taken; means over runs with 99 % intervals."
    )
    return Figure(caption=caption, alt=f"rho and test error against steps, {attention}, {family}.", panels=panels)


def _series(covariates: str, recipe: Recipe, found: BlockTraining, field: str) -> Series:
    curves = getattr(found, field)
    means, errors = zip(
        *(paired_interval([curve[record] for curve in curves]) for record in range(len(found.steps))), strict=True
    )
    # on a logarithmic axis an interval may not reach 0
    shown = tuple(min(error, 0.9 * mean) for mean, error in zip(means, errors, strict=True))
    name = "GD" if recipe.optimiser == "gd" else "Adam"
    return Series(
        label=f"{covariates}, {name}",
        x=tuple(step / found.steps[-1] for step in found.steps),
        y=means,
        error=shown,
        style="errorbars",
    )


if __name__ == "__main__":
    run_file(__file__)
