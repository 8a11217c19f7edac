r"""Beyond Theorem 4: on the sphere, in large balls, attention without noise forgets B. The smallest counterexample."""

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
from lipverify.claims.figure import Figure, Panel, Series
from lipverify.claims.ledger import Table
from lipverify.claims.registry import Profile
from lipverify.claims.softmax.lowrank import Best, Setting
from lipverify.claims.softmax.lowrank_boundary import first_failure, gain_on_common_draws, losses_along_n
from lipverify.claims.verdict import Allowed, Interval

EVERY = tuple(Setting("sphere", 2, 1, n, 0.0, 8.0) for n in (2, 3, 4, 5, 6, 7, 8, 9, 12))
SMALLEST, CLEAR = EVERY[-2:]
SEARCHED = Setting("sphere", 2, 1, 20, 0.0, 5.0)
"""A ball whose bound is felt, so that samples determine M*."""
CONTEXTS = {"quick": 4096, "full": 32768}
BATCHES = {"quick": {SMALLEST.n: 320, CLEAR.n: 32}, "full": {SMALLEST.n: 3200, CLEAR.n: 320}}
"""Of 8192 contexts each: the gain is a hundredth of the loss at the smallest n, and a tenth at the next."""
FIGURE_BALL = 8.0
ALONG = {
    "quick": (3, 5, 8, 12, 20, 50, 200),
    "full": (3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20, 30, 50, 100, 200, 500),
}
NOISES = (0.0, 0.25, 0.5, 1.0)


def claims(profile: Profile) -> tuple[Claim, ...]:
    """One claim, refuted: without noise on the sphere, whatever the ball."""
    return (_every_ball(profile),)


def _every_ball(profile: Profile) -> Claim:
    gains = {s.n: Task(gain_on_common_draws, (s, BATCHES[profile.name][s.n], profile.seed)) for s in (SMALLEST, CLEAR)}
    along = Task(losses_along_n, (2, 1, 0.0, FIGURE_BALL, ALONG[profile.name]))
    failures = {sigma: Task(first_failure, (2, 1, sigma, FIGURE_BALL, 1000)) for sigma in NOISES}
    return Claim(
        id="lowrank.boundary/sphere/every-ball",
        title="On the sphere M* = c BB^T without noise, whatever the radius of the ball",
        statement=FORM + r" \quad \text{for every } C \text{ if } \sigma = 0",
        source=BEYOND,
        assumptions=(
            COVARIATES["sphere"],
            TASKS,
            FAMILY,
            "$\\sigma = 0$",
        ),
        claimed="c'* = 0 for every C",
        control="M* = c I; a gain of 0.01",
        expected="refuted",
        cells=(
            *(ratio_cell(setting, exactly(setting), "exact") for setting in EVERY),
            ratio_cell(SEARCHED, exactly(SEARCHED), "exact"),
            ratio_cell(SEARCHED, sampled(SEARCHED, profile, CONTEXTS), "montecarlo"),
            *(_gain_cell(setting, gains[setting.n]) for setting in (SMALLEST, CLEAR)),
        ),
        cross_checks=(
            *(_gain_check(setting, gains[setting.n]) for setting in (SMALLEST, CLEAR)),
            *agreement(SEARCHED, profile, CONTEXTS),
        ),
        summary=_first_refuted,
        extra_tasks=(along, *failures.values()),
        figures=lambda results: _forgetting(results[along.address], ALONG[profile.name]),
        tables=lambda results: (_failure_table(results, failures),),
        finding=lambda results: _counterexample(results, gains[SMALLEST.n]),
        corrected=_CORRECTED,
    )


def _first_refuted(results: dict[str, Any]) -> str:
    failed = [setting.n for setting in EVERY if results[exactly(setting).address].c_perp > 0]
    return f"c'* ≠ 0 from n = {min(failed):g} on: refuted" if failed else f"c'* = 0 up to n = {EVERY[-1].n:g}"


def _gain_cell(setting: Setting, task: Task) -> CellPlan:
    """What a spurious part of M saves, on the same contexts."""

    def read(gain: tuple[float, float], _: Allowed) -> Reading:
        return Reading(Interval.around(*gain), f"{2 * gain[0] / gain[1]:.0f} standard errors")

    return CellPlan(
        where=setting.where,
        task=task,
        quantity="L(best cBB') - L(M*)",
        read=read,
        claimed="≤ 0",
        allowed=Allowed(high=0.0),
        control=Allowed(low=0.01),
        method="montecarlo",
    )


def _gain_check(setting: Setting, task: Task) -> CrossPlan:
    """The gain exactly and on common draws."""

    def read(best: Best, gain: tuple[float, float]) -> tuple[tuple[float, float], tuple[float, float]]:
        return (best.gain, gain[0]), (2 * best.loss_error, gain[1])

    return CrossPlan(
        where=setting.where,
        quantity="L(best cBB') - L(M*)",
        methods=("exact", "montecarlo"),
        tasks=(exactly(setting), task),
        read=read,
    )


def _counterexample(results: dict[str, Any], gain_task: Task) -> str:
    """The smallest counterexample, with its margins."""
    best: Best = results[exactly(SMALLEST).address]
    clear: Best = results[exactly(CLEAR).address]
    gain, half_width = results[gain_task.address]
    return (
        f"The smallest counterexample: $d = 2$, $k = 1$, $\\sigma = 0$, $n = {SMALLEST.n}$ (at no $n \\leq 8$ does a ball fail, up to $C = 8$). The best "
        f"$c \\mathbf{{B}} \\mathbf{{B}}^\\top$ has $c = {best.aligned_c:.4f}$ and the loss {best.aligned_loss:.8f}; "
        f"$c = {best.c:.4f}$, $c' = {best.c_perp:.4f}$ has {best.loss:.8f}. The difference, {best.gain:.6g}, is {best.gain / (2 * best.loss_error):.0e} times "
        f"the error bound; on common draws it is {gain:.3g} ± {half_width:.1g}. At $n = 20$, $C = 5$ the minimiser over all symmetric matrices is of this form too. "
        "The reason: on the sphere $|z|$ varies, and $e^{c \\langle z_i, z \\rangle}$ favours tokens farther out than $z$, because it is not a function of "
        "$|z_i - z|$. A score along $\\mathbf{B}_\\perp$ makes up for that, since $|z|^2 + |\\mathbf{B}_\\perp^\\top x|^2 = 1$: with $c' = c$ the weights are a Gaussian "
        "kernel and the bias tends to 0, while that of every $c \\mathbf{B} \\mathbf{B}^\\top$ stays above a positive constant. So more context and less noise make "
        "attention forget $\\mathbf{B}$: "
        f"$c'^*/c^*$ is {best.ratio[0]:.2f} at $n = {SMALLEST.n}$ and {clear.ratio[0]:.2f} at $n = {CLEAR.n}$, where no ball is felt."
    )


_CORRECTED = (
    "On the product of spheres $\\mathbf{M}^* = c \\mathbf{B} \\mathbf{B}^\\top$ in every case that was searched, for any $n$, $\\sigma$ and $C$. On the uniform sphere "
    "it holds exactly for $C \\leq C_{\\max}(n, \\sigma, d, k)$: in every ball while $n$ is small for the noise ($n \\leq 8$ for $d = 2$, $k = 1$, $\\sigma = 0$), and beyond that up "
    "to a radius which falls with $n$ to $C_\\infty(d, k) > d$, whatever $\\sigma$, where $C_\\infty$ is the zero in $c$ of "
    "$\\mathbf{E} [ s^{1/2} (1 - s) (1 - c h(c s^{1/2})) (-h'(c s^{1/2})) ]$, $s \\sim \\mathrm{Beta}(k/2, (d-k)/2)$, "
    "$h(\\omega) = I_{d/2}(\\omega) / (\\omega I_{d/2-1}(\\omega))$. So $C = d$ is a constant for which the theorem holds, and “for some $C = \\Omega(1)$” cannot be "
    "strengthened to every $C$; “$n = 2$ or $\\sigma = 0$” can be dropped where $C \\leq d$."
)


def _forgetting(best: tuple[Best, ...], lengths: tuple[int, ...]) -> tuple[Figure, ...]:
    """Both least losses against n, and the share of the spurious part."""
    n = tuple(map(float, lengths))
    losses = Panel(
        title="least loss, $(d, k) = (2, 1)$, $\\sigma = 0$",
        xlabel="$n$",
        ylabel="loss",
        series=(
            Series(
                label="best $c \\mathbf{B} \\mathbf{B}^\\top$",
                x=n,
                y=tuple(b.aligned_loss for b in best),
                style="dashed",
            ),
            Series(label=f"$\\mathbf{{M}}^*$, $C = {FIGURE_BALL:g}$", x=n, y=tuple(b.loss for b in best)),
        ),
    )
    share = Panel(
        title="spurious part over relevant part",
        xlabel="$n$",
        ylabel="$c'^* / c^*$",
        yscale="linear",
        series=(Series(label="$c'^* / c^*$", x=n, y=tuple(b.ratio[0] for b in best), style="points"),),
    )
    caption = (
        f"Without noise on the sphere, in the ball of radius {FIGURE_BALL:g}. "
        "Left: the least loss of all $c \\mathbf{B} \\mathbf{B}^\\top$ stays above a constant as $n$ grows, that of "
        "$\\mathbf{M}^*$ does not. Right: the share of $\\mathbf{M}^*$ across $\\mathbf{B}$ is 0 up to $n = 8$, and then grows with $n$."
    )
    return (
        Figure(
            caption=caption,
            alt="Least losses and spurious share of the optimal matrix against n.",
            panels=(losses, share),
        ),
    )


def _failure_table(results: dict[str, Any], failures: dict[float, Task]) -> Table:
    rows = tuple((f"{sigma:g}", str(results[task.address] or "> 1000")) for sigma, task in failures.items())
    return Table(
        caption="The smallest $n$ at which $\\mathbf{M}^* \\neq c \\mathbf{B} \\mathbf{B}^\\top$, $d = 2$, $k = 1$, $C = 8$.",
        header=("$\\sigma$", "smallest $n$"),
        rows=rows,
    )


if __name__ == "__main__":
    run_file(__file__)
