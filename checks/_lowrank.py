"""What the files on Theorem 4 share: the source, the settings that are looked at, and what cells read off them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from checks._slides import slides
from lipverify.claims.claim import CellPlan, CrossPlan, Reading, Task
from lipverify.claims.ledger import Source
from lipverify.claims.registry import Profile
from lipverify.claims.softmax.lowrank import Best, Found, Setting, best_block, best_matrix
from lipverify.claims.verdict import Allowed, Interval
from lipverify.optimum.matrix.estimate import REJECTED

THEOREM_4 = slides(
    "Theorem 4 (Informal)",
    r"$n = 2$ or $\sigma = 0$; for some $C = \Omega(1)$ any optimal $\mathbf{M}^*$ over $\{\mathbf{M} = \mathbf{M}^\top, "
    r"\|\mathbf{B}^\top \mathbf{M} \mathbf{B}\|_2 \leq C\}$ satisfies, for $c \in (0, C]$, $\mathbf{M}^* = c \mathbf{B} \mathbf{B}^\top$",
)
BEYOND = Source(paper=THEOREM_4.paper, place=f"{THEOREM_4.place}, beyond its assumptions", printed=THEOREM_4.printed)
FORM = r"\mathbf{M}^* = c \mathbf{B} \mathbf{B}^\top, \quad 0 < c \leq C"
FAMILY = r"$\mathbf{M} = c \mathbf{B} \mathbf{B}^\top + c' (\mathbf{I} - \mathbf{B} \mathbf{B}^\top)$ by the exact reduction, all symmetric $\mathbf{M}$ by sampling"
WORDS = {"sphere": "tokens uniform on the sphere", "product": "tokens on a product of spheres"}
COVARIATES = {
    "sphere": "tokens and query uniform on $S^{d-1}$",
    "product": r"$x = \mathbf{B} u + \mathbf{B}_\perp v$ with $u$ uniform on $S^{k-1}$ and $v$ on $S^{d-k-1}$ (other radii are other units)",
}
TASKS = r"$f(x) = \mathbf{a}^\top \mathbf{B}^\top x$ with $\mathbf{a}$ uniform on $S^{k-1}$"
CASES = {"two-tokens": (2, 0.5), "noiseless": (20, 0.0)}
"""n and sigma: each of the two assumptions of the theorem, without the other."""
POSITIVE, NOT_POSITIVE = Allowed(low=0.0, open=True), Allowed(high=0.0)
WIDTH = {"exact": 1e-3, "montecarlo": 0.1}
"""How close to its claimed value a ratio c'/c must be known to lie, by each method."""
CONTEXTS = {"quick": 8192, "full": 65536}
DIMENSIONS: dict[str, tuple[tuple[int, int], ...]] = {
    "quick": ((2, 1), (3, 2), (4, 2)),
    "full": ((2, 1), (3, 1), (3, 2), (4, 2), (5, 3), (6, 2), (8, 3)),
}


def settings(profile: Profile, covariates: str, case: str) -> tuple[Setting, ...]:
    """The theorem's settings in one case, in the ball of radius C = d."""
    n, sigma = CASES[case]
    return tuple(Setting(covariates, d, k, n, sigma, float(d)) for d, k in DIMENSIONS[profile.name])


def exactly(setting: Setting) -> Task:
    """The best M of the invariant family."""
    return Task(best_block, (setting,))


def sampled(setting: Setting, profile: Profile, contexts: dict[str, int] = CONTEXTS) -> Task:
    """The best symmetric M."""
    return Task(best_matrix, (setting, contexts[profile.name], profile.seed))


def determined(setting: Setting) -> bool:
    """Whether samples can settle it: with k = 1 on the product and no noise the loss is flat wherever c is large."""
    return not (setting.covariates == "product" and setting.k == 1 and setting.sigma == 0)


def read_scale(result: Best | Found, setting: Setting) -> Reading:
    """c*, which the ball keeps from exceeding C."""
    low, high = result.c - result.c_error, min(result.c + result.c_error, setting.C)
    return Reading(Interval(low, high))


def read_ratio(result: Best | Found, _: Allowed) -> Reading:
    """|c'*|/c*; nothing is read off a sampled M that is not of the form c BB^T + c' (I - BB^T)."""
    if isinstance(result, Best):
        sign = "a minimum" if result.slope > result.slope_error else "no minimum"
        slope = f"$\\mathrm{{d}} L / \\mathrm{{d}} c'^2 = {result.slope:.3g}$ at $c' = 0$: {sign}"
        return Reading(Interval.around(*result.ratio), slope)
    note = f"largest entry off the form: {result.deviation:.1f} standard errors, chance {result.chance:.2g}"
    if result.chance < REJECTED:
        return Reading(Interval(None, None), note)
    ratio = abs(result.c_perp / result.c)  # the loss is even in c'
    error = (result.c_perp_error + abs(ratio) * result.c_error) / abs(result.c)
    return Reading(Interval.around(ratio, error), note)


def near(value: float, method: str) -> Allowed:
    """The ratios that count as this one."""
    return Allowed(low=value - WIDTH[method], high=value + WIDTH[method])


def ratio_cell(setting: Setting, task: Task, method: str, quantity: str = "c'*/c*") -> CellPlan:
    """Whether M* has a spurious part; the twin is M* = c I."""
    return CellPlan(
        where=setting.where,
        task=task,
        quantity=quantity,
        read=read_ratio,
        claimed="= 0",
        allowed=near(0.0, method),
        control=near(1.0, method),
        method=method,
    )


def scale_cell(setting: Setting, task: Task, method: str, quantity: str = "c*") -> CellPlan:
    """Whether 0 < c* <= C; the twin is c* <= 0."""
    return CellPlan(
        where=setting.where,
        task=task,
        quantity=quantity,
        read=lambda result, _: read_scale(result, setting),
        claimed=f"in (0, {setting.C:g}]",
        allowed=POSITIVE,
        control=NOT_POSITIVE,
        method=method,
    )


def agreement(setting: Setting, profile: Profile, contexts: dict[str, int] = CONTEXTS) -> tuple[CrossPlan, ...]:
    """The scale c* and the least loss by the exact reduction and over all symmetric M."""

    def read(name: str) -> Callable[[Best, Found], tuple[tuple[float, float], tuple[float, float]]]:
        def pair(best: Best, found: Found) -> tuple[tuple[float, float], tuple[float, float]]:
            error = f"{name}_error"
            return (getattr(best, name), getattr(found, name)), (getattr(best, error), getattr(found, error))

        return pair

    return tuple(
        CrossPlan(
            where=setting.where,
            quantity=quantity,
            methods=("exact", "montecarlo"),
            tasks=(exactly(setting), sampled(setting, profile, contexts)),
            read=read(name),
        )
        for name, quantity in (("c", "c*"), ("loss", "least loss"))
    )


def results_of(tasks: dict[Any, Task]) -> Callable[[dict[str, Any]], dict[Any, Any]]:
    """The results of some tasks under their own names."""
    return lambda results: {name: results[task.address] for name, task in tasks.items()}
