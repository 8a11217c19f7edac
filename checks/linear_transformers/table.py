r"""Table 1: trained models of 1 to 7 layers beside the printed losses and the ridge baselines."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from checks._running import run_file
from checks.linear_transformers._models import ASSUMED, QUICK, column, depth, laws, name_of, slug
from checks.linear_transformers._table import BASELINES, MODELS, Printed, printed_at
from lipverify.claims.claim import CellPlan, Claim, CrossPlan, Reading
from lipverify.claims.figure import Figure, Panel, Series
from lipverify.claims.ledger import Source, Table
from lipverify.claims.linear_transformers import comparison as compared
from lipverify.claims.linear_transformers.comparison import Comparison
from lipverify.claims.registry import Profile
from lipverify.claims.verdict import Allowed, Interval, Verdict
from lipverify.linear_transformer.families import NAMES
from lipverify.linear_transformer.regression.adjusted import SampledMean
from lipverify.linear_transformer.regression.noise import NoiseLaw, UniformNoise

ERRORS = 2.0
"""Standard errors of a printed number that a reproduction may be above it."""
HALF_WIDTH = 3.0
"""Standard errors of a measured loss to either side."""
AGREE = 4.0
"""Standard errors to either side when the two ways of averaging are compared; a false alarm in 10^4 tables."""
WORDS = {
    "GD++": "only $\\omega_{xx}$, $\\omega_{yx}$, at the exact optimum over the eigenvalues that 100,000 contexts show",
    "DIAG": "one diagonal head",
    "FULL": "one head with free matrices",
}


IMPOSSIBLE = ("GD++", UniformNoise(5.0))
"""The column whose printed GD++ losses are below the best constant ridge by more than their errors."""


def claims(profile: Profile) -> tuple[Claim, ...]:
    """For every column and model: training reaches the printed losses."""
    return tuple(_reached(profile, noise, model) for noise in laws(profile) for model in MODELS)


def _reached(profile: Profile, noise: NoiseLaw, model: str) -> Claim:
    task = column(profile, noise)
    depths = range(1, depth(profile, noise, model) + 1)
    cells = tuple(
        CellPlan(
            where={"noise": noise.label, "model": model, "layers": layers},
            task=task,
            quantity="loss above the printed one and two of its standard errors, in units of what layers with the wrong sign add",
            read=partial(_read, printed_at(layers, model, noise)),
            claimed="≤ 0",
            allowed=Allowed(high=0.0),
            control=Allowed(low=1.0),
            method="montecarlo",
        )
        for layers in depths
    )
    return Claim(
        id=f"lt.table-1/{model.lower().replace('+', 'p')}/{slug(noise)}",
        title=f"Table 1: {model} under {name_of(noise)}",
        statement=r"\mathcal{L}_{\mathrm{trained}} \leq \mathcal{L}_{\mathrm{printed}} + 2\, \mathrm{se}(\mathcal{L}_{\mathrm{printed}}) \quad \text{for every depth}",
        source=Source(
            paper="V",
            place="Table 1",
            printed=f"adjusted evaluation losses of {model} with 1 to 7 layers, {noise.label}",
        ),
        assumptions=(*ASSUMED, WORDS[model]),
        claimed="at or below the printed loss and two of its standard errors",
        control="layers with the wrong sign reach it as well",
        expected=_recorded(model, noise),
        cells=cells,
        cross_checks=tuple(
            CrossPlan(
                where={"noise": noise.label, "model": model, "layers": layers},
                quantity="adjusted loss, averaged over query and task; by the paper's protocol of one sampled query a sequence",
                methods=("conditional expectation", "protocol"),
                tasks=(task,),
                read=partial(_both, model, layers),
            )
            for layers in (1, 2)
        ),
        figures=partial(_figure, noise, task.address) if model == "FULL" else None,
        tables=partial(_table, noise, task.address) if model == "FULL" else None,
        finding=partial(_finding, noise, model, task.address, depths),
        corrected=CORRECTED if (model, noise) == IMPOSSIBLE else "",
    )


def _recorded(model: str, noise: NoiseLaw) -> Verdict | None:
    """The verdict on record; columns that only the full profile trains have none yet."""
    if noise not in QUICK:
        return None
    return "refuted" if (model, noise) == IMPOSSIBLE else "supported"


CORRECTED = (
    "a GD++ model is linear in the labels and cannot lose less than ridge with the constant $\\mathbb{E} \\sigma^2$; "
    "the printed losses of three and more layers are below that bound by more than their errors, and no training can reach them"
)


def _read(entry: Printed, found: Comparison, _: Allowed) -> Reading:
    """(loss - bar) / (wrong - bar)."""
    here = found.of(entry.model, entry.layers)
    bar = entry.value + entry.rounding + ERRORS * here.printed_error
    unit, loss = here.wrong_sign - bar, here.loss
    note = f"loss {loss.value:.4g} ± {loss.standard_error:.1g}, printed {entry.value:.4g} ± {here.printed_error:.1g} (standard errors)"
    return Reading(Interval.around((loss.value - bar) / unit, HALF_WIDTH * loss.standard_error / unit), note)


def _both(model: str, layers: int, found: Comparison) -> tuple[tuple[float, float], tuple[float, float]]:
    here = found.of(model, layers)
    each = (here.loss, here.protocol)
    return (each[0].value, each[1].value), (AGREE * each[0].standard_error, AGREE * each[1].standard_error)


def _finding(noise: NoiseLaw, model: str, address: str, depths: range, results: dict[str, Any]) -> str:
    """Which printed models were under-trained, and which reproductions are above."""
    found: Comparison = results[address]
    better, worse = [], []
    for layers in depths:
        entry, here = printed_at(layers, model, noise), found.of(model, layers)
        spread = (entry.rounding + ERRORS * here.printed_error) + ERRORS * here.loss.standard_error
        words = f"{layers} layers {here.loss.value:.3g} (printed {entry.value:.3g})"
        if here.loss.value < entry.value - spread:
            better.append(words)
        elif here.loss.value > entry.value + spread:
            worse.append(words)
    said = []
    if better:
        said.append(
            f"Below the printed loss by more than the errors of both: {'; '.join(better)}: there the printed model was under-trained."
        )
    if worse:
        said.append(f"Above it by more than the errors of both: {'; '.join(worse)}.")
    return " ".join(said) or "Every depth agrees with the printed loss within the errors of both."


def _table(noise: NoiseLaw, address: str, results: dict[str, Any]) -> tuple[Table, ...]:
    """Printed and reproduced losses, and paired differences from the baselines."""
    found: Comparison = results[address]
    body = [
        _row(found, noise, model, layers)
        for layers in range(1, 1 + max(each.layers for each in found.models))
        for model in ("GD++", *NAMES)
        if layers in found.depths(model)
    ]
    body += [
        (
            "–",
            name,
            f"{printed_at(0, name, noise).value:.4g}" if name in BASELINES else "–",
            concise(loss),
            *SHOWN_BLANK,
        )
        for name, loss in zip(compared.BASELINES, found.baselines, strict=True)
    ]
    marks = sorted({mark for mark in REMARKS if any(cell.endswith(mark) for row in body for cell in row)})
    caption = (
        f"{name_of(noise)}: adjusted losses, printed and reproduced, and the paired difference of the reproduced model from each baseline; "
        "in brackets the standard error in units of the last digit. OMEGA is DIAG with four free weights (two diagonal heads); Bayes is the floor of not knowing $\\sigma$. "
        + "; ".join(f"{mark} {REMARKS[mark]}" for mark in marks)
    )
    header = ("layers", "model", "printed", "reproduced", *(f"− {name}" for name in compared.BASELINES))
    return (Table(caption=caption.strip(), header=header, rows=tuple(body)),)


def _row(found: Comparison, noise: NoiseLaw, model: str, layers: int) -> tuple[str, ...]:
    """One model."""
    here = found.of(model, layers)
    printed = "–"
    if model in MODELS:
        value = printed_at(layers, model, noise).value
        error = SampledMean(value=value, standard_error=here.printed_error, doubt=0.0)
        printed = concise(error) + _impossible(found, noise, model, layers)
    reproduced = concise(here.loss) + ("" if here.loss.trusted else RARE)
    return (str(layers), model, printed, reproduced, *map(concise, here.less))


RARE, BELOW_BAYES, BELOW_RIDGE = "*", "†", "‡"
REMARKS = {
    RARE: "rare contexts rule the mean, and its error is not to be believed",
    BELOW_BAYES: "printed below the floor of Bayes: no model of any kind can be there",
    BELOW_RIDGE: "printed below the best constant ridge, which bounds every GD++",
}
SHOWN_BLANK = ("",) * len(compared.BASELINES)


def _impossible(found: Comparison, noise: NoiseLaw, model: str, layers: int) -> str:
    """The mark of a printed entry that cannot be right by more than two of its standard errors."""
    entry, here = printed_at(layers, model, noise), found.of(model, layers)
    least = entry.value + entry.rounding + ERRORS * here.printed_error
    if least < found.baselines[names_index("Bayes")].value:
        return BELOW_BAYES
    if model == "GD++" and least < found.baselines[names_index("ConstRR")].value:
        return BELOW_RIDGE
    return ""


def concise(mean: SampledMean) -> str:
    """A mean with its standard error in units of the last digit.

    >>> concise(SampledMean(value=0.08479, standard_error=3.6e-4, doubt=0.0))
    '0.0848(4)'
    >>> concise(SampledMean(value=-1.175, standard_error=0.0, doubt=0.0))
    '-1.175'
    """
    if not 0 < mean.standard_error < math.inf:
        return f"{mean.value:.4g}"
    places = -math.floor(math.log10(mean.standard_error))
    if places > 6:
        return f"{mean.value:.3g}({mean.standard_error:.0e})"
    last = round(mean.standard_error * 10**places)
    return f"{mean.value:.{max(places, 0)}f}({last})"


def names_index(name: str) -> int:
    """Place of a baseline."""
    return compared.BASELINES.index(name)


def _figure(noise: NoiseLaw, address: str, results: dict[str, Any]) -> tuple[Figure, ...]:
    """Loss against depth."""
    found: Comparison = results[address]
    series = []
    for model in ("GD++", *NAMES):
        depths = found.depths(model)
        x = tuple(map(float, depths))
        losses = [found.of(model, layers).loss for layers in depths]
        series.append(
            Series(
                label=f"{model}",
                x=x,
                y=tuple(each.value for each in losses),
                error=tuple(2 * each.standard_error for each in losses),
                style="line",
            )
        )
        if model in MODELS:
            series.append(
                Series(
                    label=f"{model}, printed",
                    x=x,
                    y=tuple(printed_at(layers, model, noise).value for layers in depths),
                    style="points",
                )
            )
    for name, loss in zip(compared.BASELINES, found.baselines, strict=True):
        if loss.value > 0:
            series.append(
                Series(label=name, x=(1.0, float(found.depths("GD++")[-1])), y=(loss.value, loss.value), style="dashed")
            )
    panel = Panel(
        title=f"loss by layers, {name_of(noise)}",
        xlabel="layers",
        ylabel="adjusted loss",
        xscale="linear",
        series=tuple(series),
    )
    return (
        Figure(
            panels=(panel,),
            caption=f"Adjusted loss against depth, {name_of(noise)}: reproduced (lines), printed (points) and baselines (dashed).",
            alt="Curves that fall with depth: GD++ levels off at ConstRR, DIAG, OMEGA and FULL go on to fall towards TunedRR and Bayes.",
        ),
    )


if __name__ == "__main__":
    run_file(__file__)
