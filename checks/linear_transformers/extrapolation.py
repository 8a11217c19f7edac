r"""Loss against each noise level, inside and outside the levels of training; DIAG and FULL on categorical noise."""

from __future__ import annotations

from functools import partial
from typing import Any, cast

from checks._running import run_file
from checks.linear_transformers._models import ASSUMED, DEEP, column, laws, model, name_of
from checks.linear_transformers._table import MODELS, NOISES, D, N, printed_at
from lipverify.claims.claim import CellPlan, Claim, Reading, Task
from lipverify.claims.figure import Figure, Panel, Series, Style
from lipverify.claims.ledger import Source
from lipverify.claims.linear_transformers.comparison import Comparison
from lipverify.claims.linear_transformers.extrapolation import Profiles, profiles
from lipverify.claims.registry import Profile
from lipverify.claims.verdict import Allowed, Interval, Verdict
from lipverify.linear_transformer.regression.noise import NoiseLaw, UniformNoise

SECTION = Source(
    paper="V",
    place="section 6, figures of the loss against the noise level",
    printed="the diagonal parametrisation extrapolates better than the full one to noise levels that are not among the categorical ones of training",
)
READINGS: dict[str, tuple[str, tuple[float, ...], Verdict]] = {
    "midpoint": ("halfway between the levels of training", (2.0,), "supported"),
    "between-levels": ("between the levels of training", (1.5, 2.5), "refuted"),
    "above-levels": ("above the levels of training", (4.0, 5.0), "supported"),
    "below-levels": ("below the levels of training", (0.0, 0.5), "refuted"),
    "trained-levels": ("at the levels of training", (1.0, 3.0), "refuted"),
}
RANGE = UniformNoise(5.0)
LEVELS = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0)
HALF_WIDTH = 3.0
"""Standard errors to either side."""
NOTHING = 1e-9
"""Losses that have no place on a logarithmic axis beside the others."""
SHOWN_LAYERS = (1, 2, 3, 4)
FACTOR = 4.6
"""The control: log 100."""


def claims(profile: Profile) -> tuple[Claim, ...]:
    """DIAG against FULL halfway, between, above, below and at the two levels of training."""
    return tuple(_better(profile, reading, *rest) for reading, rest in READINGS.items())


def _task(profile: Profile, noise: NoiseLaw) -> Task:
    contexts = 40_000 if profile.name == "quick" else 200_000
    needs = tuple(model(profile, noise, family, layers) for layers in range(2, 5) for family in ("DIAG", "FULL"))
    return Task(profiles, (noise, D, N, LEVELS, contexts, profile.seed), needs=needs)


def _better(profile: Profile, reading: str, where: str, levels: tuple[float, ...], expected: Verdict) -> Claim:
    task, layers = _task(profile, DEEP), 4
    return Claim(
        id=f"lt.extrapolation/{reading}",
        title=f"DIAG against FULL on categorical noise, {where}",
        statement=r"\mathcal{L}_{\mathrm{DIAG}}(\sigma) < \mathcal{L}_{\mathrm{FULL}}(\sigma) \quad \text{for } \sigma \in \{"
        + ", ".join(f"{level:g}" for level in levels)
        + r"\}, \text{ trained on } \sigma \in \{1, 3\}",
        source=SECTION,
        assumptions=(
            *ASSUMED,
            f"{layers} layers, trained on {name_of(DEEP)}",
            "the loss of a context counts as at most $d/2$",
        ),
        claimed="log of the loss of FULL over that of DIAG > 0",
        control="FULL loses a hundred times as much",
        expected=expected,
        cells=tuple(
            CellPlan(
                where={"sigma": level, "layers": layers},
                task=task,
                quantity="log of the loss of FULL over the loss of DIAG",
                read=partial(_ratio, layers, level),
                claimed="> 0",
                allowed=Allowed(low=0.0, open=True),
                control=Allowed(low=FACTOR),
                method="montecarlo",
            )
            for level in levels
        ),
        extra_tasks=_extra(profile),
        figures=partial(_figures, profile) if reading == "between-levels" else None,
        finding=partial(_finding, task.address, layers, levels),
        corrected=CORRECTED if expected == "refuted" else "",
    )


def _extra(profile: Profile) -> tuple[Task, ...]:
    """What the figures show besides: a continuous range of levels, and the columns that are trained."""
    return (_task(profile, RANGE), *(column(profile, noise) for noise in laws(profile)))


CORRECTED = (
    "the full parametrisation pays with the levels between and above those of training for what it gains at the larger one; "
    "at single other levels either may be the better one"
)


def _ratio(layers: int, level: float, found: Profiles, _: Allowed) -> Reading:
    value, error = found.log_ratio(("FULL", layers), ("DIAG", layers), level)
    if error == float("inf"):
        return Reading(Interval(None, None), "a few contexts rule the mean: more are needed")
    return Reading(Interval.around(value, HALF_WIDTH * error))


def _finding(address: str, layers: int, levels: tuple[float, ...], results: dict[str, Any]) -> str:
    found: Profiles = results[address]
    order = {(each.model, each.layers): each for each in found.profiles}
    said = []
    for level in levels:
        k = found.levels.index(level)
        diag, full, tuned = (order[key].losses[k].value for key in (("DIAG", layers), ("FULL", layers), ("TunedRR", 0)))
        said.append(f"$\\sigma = {level:g}$: DIAG {diag:.3g}, FULL {full:.3g}, TunedRR {tuned:.3g}")
    return "; ".join(said) + "."


def _figures(profile: Profile, results: dict[str, Any]) -> tuple[Figure, ...]:
    """Loss against sigma by layers, for each law of training; loss against the law by layers."""
    panels = []
    for noise in (DEEP, RANGE):
        task = _task(profile, noise)
        if task.address in results:
            panels += [_panel(results[task.address], noise, family) for family in ("DIAG", "FULL")]
    against = Figure(
        panels=tuple(panels),
        caption="Adjusted loss at each noise level by layers; dashed: TunedRR, tuned on the law of training, which loses nothing at $\\sigma = 0$.",
        alt="Losses are lowest at or inside the levels of training and rise outside, steeply beyond the largest.",
    )
    return against, _by_law(profile, results)


def _panel(found: Profiles, noise: NoiseLaw, family: str) -> Panel:
    series = []
    for each in found.profiles:
        if each.model in (family, "TunedRR"):
            points = [
                (x, loss.value) for x, loss in zip(found.levels, each.losses, strict=True) if loss.value > NOTHING
            ]
            x, y = zip(*points, strict=True)
            label, style = (each.model, "dashed") if each.layers == 0 else (f"{each.layers} layers", "line")
            series.append(Series(label=label, x=x, y=y, style=cast("Style", style)))
    return Panel(
        title=f"{family}, {name_of(noise)}",
        xlabel=r"$\sigma$",
        ylabel="adjusted loss",
        xscale="linear",
        series=tuple(series),
    )


def _by_law(profile: Profile, results: dict[str, Any]) -> Figure:
    """Loss against sigma_max by layers: what is printed, and the columns that were trained."""
    trained = {
        noise.sigma_max: results[column(profile, noise).address]
        for noise in laws(profile)
        if isinstance(noise, UniformNoise)
    }
    ranges = [noise for noise in NOISES if isinstance(noise, UniformNoise) and noise.sigma_max > 0]
    return Figure(
        panels=tuple(_family_panel(model, ranges, trained) for model in MODELS),
        caption="Adjusted loss against the range of the noise by layers: printed (dashed) and reproduced (points), where a model was trained.",
        alt="Losses of several layers rise with the range and fall with depth; reproduced points lie on the printed curves or below.",
    )


def _family_panel(model: str, ranges: list[UniformNoise], trained: dict[float, Comparison]) -> Panel:
    """One model."""
    series = []
    for layers in SHOWN_LAYERS:
        label = f"layers = {layers}"
        x = tuple(noise.sigma_max for noise in ranges)
        y = tuple(printed_at(layers, model, noise).value for noise in ranges)
        series.append(Series(label=label, x=x, y=y, style="dashed"))
        found = [(s, each.of(model, layers).loss.value) for s, each in trained.items()]
        x, y = zip(*found, strict=True)
        series.append(Series(label=label, x=x, y=y, style="points"))
    return Panel(title=model, xlabel=r"$\sigma_{\max}$", ylabel="adjusted loss", xscale="linear", series=tuple(series))


if __name__ == "__main__":
    run_file(__file__)
