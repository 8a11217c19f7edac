r"""The tradeoff table: large M, narrow window, low bias and high variance; small M the reverse."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from checks._running import run_file
from checks._slides import ASSUMED, LAWS, curve_agreement, slides
from lipverify.claims.claim import CellPlan, Claim, Reading, Task
from lipverify.claims.figure import Figure, Panel, Series
from lipverify.claims.registry import Profile
from lipverify.claims.softmax.rays import LossCurve, loss_curve, problem
from lipverify.claims.verdict import Allowed, Interval
from lipverify.loss import loss_terms
from lipverify.optimum import optimal_window

TABLE = slides(
    "Tradeoff table",
    r"$\mathbf{M}$ large: attention decays quickly, estimator bias low, noise variance high; $\mathbf{M}$ small: the reverse",
)
N = 1000
RISING, FALLING = Allowed(low=0.0, open=True), Allowed(high=0.0, open=True)


class Slopes(msgspec.Struct, frozen=True, kw_only=True):
    """The smallest and largest d log(term) / d log w over a range of windows, and their errors."""

    noise: tuple[float, float]
    bias: tuple[float, float]
    noise_error: float
    bias_error: float


def slopes(law: str, d: int, beyond: bool) -> Slopes:
    """Slopes between neighbours of a grid: from w = 0.1 to w*, or about 4 n^{2/(d-1)}, far beyond it."""
    p = problem(law, d, N)
    far = 4 * N ** (2 / (d - 1)) * np.array([1.0, 2.0])
    w = far if beyond else np.geomspace(0.1, optimal_window(p).w, 7)
    terms, step = loss_terms(p, w), np.diff(np.log(w))

    def range_of(values: Any) -> tuple[float, float]:
        found = np.diff(np.log(values)) / step
        return float(found.min()), float(found.max())

    return Slopes(
        noise=range_of(terms.noise),
        bias=range_of(terms.bias),
        noise_error=float(2 * np.max(terms.noise_error / terms.noise) / step.min()),
        bias_error=float(2 * np.max(terms.bias_error / terms.bias) / step.min()),
    )


def claims(profile: Profile) -> tuple[Claim, ...]:
    """Noise rises and bias falls up to the optimal window; whether bias goes on falling."""
    relevant = [_claim(profile, term, law, beyond=False) for law in LAWS for term in ("noise", "bias")]
    return (*relevant, _claim(profile, "bias", "affine", beyond=True))


def _claim(profile: Profile, term: str, law: str, beyond: bool) -> Claim:
    allowed, twin = (RISING, FALLING) if term == "noise" else (FALLING, RISING)
    verb, opposite = ("rises", "falls") if term == "noise" else ("falls", "rises")
    where = "beyond n^(2/(d-1))" if beyond else "up to w*"
    reading = "every-window" if beyond else "relevant"
    relation = ">" if term == "noise" else "<"
    letter = "N" if term == "noise" else "B"

    def read(result: Slopes, _: Allowed) -> Reading:
        low, high = getattr(result, term)
        error = getattr(result, f"{term}_error")
        return Reading(Interval(low - error, high + error))

    dimensions = profile.dimensions if law == "affine" else tuple(k for k in profile.dimensions if k in (2, 3, 5, 8))
    curve = Task(loss_curve, (law, 5, 100, profile.contexts, profile.seed, profile.backend))
    return Claim(
        id=f"softmax.tradeoff/{law}/{term}/{reading}",
        title=f"Tradeoff, {law} law: the {term} {verb} with M, {where}",
        statement=rf"\frac{{\mathrm{{d}} \log {letter}}}{{\mathrm{{d}} \log w}} {relation} 0"
        + (r" \quad \text{for every } w" if beyond else r" \quad \text{for } w \leq w^*"),
        source=TABLE,
        assumptions=(*ASSUMED, f"{law} law", f"$n = {N}$, $L = \\sigma = 1$"),
        claimed=f"{term} {verb} with w {where}",
        control=f"{term} {opposite} with w {where}",
        expected="refuted" if beyond else "supported",
        cells=tuple(
            CellPlan(
                where={"d": k, "n": N, "law": law},
                task=Task(slopes, (law, k, beyond)),
                quantity=f"d log {letter} / d log w, {where}",
                read=read,
                claimed=f"{relation} 0",
                allowed=allowed,
                control=_twin(twin, beyond, k),
            )
            for k in dimensions
        ),
        cross_checks=curve_agreement(term, law, profile),
        extra_tasks=(curve,),
        figures=lambda results: _figure(results[curve.address], law),
        finding=_BEYOND if beyond else "",
        corrected="the bias falls with $w$ up to a window beyond $w^*$ that holds about one token, and rises again"
        if beyond
        else "",
    )


def _twin(twin: Allowed, beyond: bool, d: int) -> Allowed:
    """Beyond the relevant range the sign depends on d, so there the twin is a rate that no law has."""
    return Allowed(high=-5.0) if beyond else twin


_BEYOND = (
    "The direction of the table holds up to the optimal window and past it, but not for every $w$: in every dimension measured the "
    "bias of the loss has a minimum and rises again towards that of the nearest neighbour, because a window that holds "
    "one token averages nothing. (This is $\\mathcal{L}_{bias}$ of the decomposition, which contains the variance over contexts.)"
)


def _figure(curve: LossCurve, law: str) -> tuple[Figure, ...]:
    """Loss terms against w, exactly and sampled, with the bounds of the proof sketch."""
    total = tuple(n + b for n, b in zip(curve.noise, curve.bias, strict=True))
    large = tuple(w for w in curve.w if w >= 1)
    panel = Panel(
        title=f"loss terms, {law} law, $d = 5$, $n = 100$, $L = \\sigma = 1$",
        xlabel="$w$",
        ylabel="loss",
        series=(
            Series(label="bias $B$", x=curve.w, y=curve.bias),
            Series(label="noise $N$", x=curve.w, y=curve.noise),
            Series(label="loss", x=curve.w, y=total),
            Series(
                label="$B$, Monte Carlo",
                x=curve.sampled_w,
                y=curve.sampled_bias,
                error=curve.bias_error,
                style="errorbars",
            ),
            Series(
                label="$N$, Monte Carlo",
                x=curve.sampled_w,
                y=curve.sampled_noise,
                error=curve.noise_error,
                style="errorbars",
            ),
            Series(label="$w^{-1}/5$", x=large, y=tuple(0.2 / w for w in large), style="dashed"),
            Series(label="$w^{-2}/5$", x=large, y=tuple(0.2 / w**2 for w in large), style="dashed"),
        ),
    )
    caption = (
        "Bias, noise and their sum against the window, by the exact method (lines) and by Monte Carlo (points with 95 % intervals); "
        "the dashed lines have the slopes of the printed bounds on the bias."
    )
    return (Figure(caption=caption, alt=f"Loss terms against w for the {law} law.", panels=(panel,)),)


if __name__ == "__main__":
    run_file(__file__)
