"""Figures, tables and sentences of the theorems on trained models."""

from __future__ import annotations

import math
from typing import Any

from lipverify.checks.linear_transformers.independent_tables import (
    FORMS,
    RARE,
    ROWS,
    TABLES,
    in_tables,
    measured,
    medians,
    opened,
    unit,
    whole,
)
from lipverify.checks.linear_transformers.quantities import DEPTHS, NOISE_LAWS, NOISY, Value, named, printed
from lipverify.claims import Figure, Panel, Series, Table, at

MARKS = {"above": "▲", "met": "=", "among its tables": "~", "below": "▼", "open": "?"}


def outcome(noise: str, model: str, layers: int, found: Any) -> str:
    """The outcome of an entry: met, or above or below the printed number by more than a tenth and its noise.

    Without noise it is met if the median is the printed number to a tenth; otherwise single tables are compared with it.
    """
    if noise not in NOISY:
        shares = {
            side: in_tables(noise, model, layers, of, found) for side, of in (("above", "below"), ("below", "above"))
        }
        lows = {side: share - half for side, (share, half) in shares.items()}
        side = min(lows, key=lambda each: lows[each])
        if lows[side] < RARE:
            return side if sum(shares[side]) < RARE else "open"
        return "met" if lows[side] > 1 / 2 else "among its tables"
    here = opened(found)
    value, error = measured(noise, model, layers, here)
    away, slack = value - printed(noise, model, layers).value, unit(noise, model, layers, here)
    if abs(away) + error <= slack:
        return "met"
    if abs(away) - error <= slack:
        return "open"
    return "above" if away > 0 else "below"


def short(value: float, error: float) -> str:
    """A number with its error in units of the last digit."""
    if not 0 < error < math.inf:
        return f"{value:.4g}"
    if error >= abs(value):
        return f"{value:.2g}"
    places = max(-math.floor(math.log10(error)), 0)
    power = math.floor(math.log10(abs(value))) if places > 6 else 0
    digits = f"{value / 10**power:.{max(places + power, 0)}f}({math.ceil(error * 10**places)})"
    return digits + (f"e{power}" if power else "")


def shown(noise: str, model: str, layers: int, found: Any) -> Value:
    """The loss of an entry, and the larger distance to an end of its interval: of DIAG and FULL the smallest median itself.

    That is in the interval of `measured`, but not in its middle if some tables explode.
    """
    middle, half = measured(noise, model, layers, opened(found))
    value = medians(noise, model, layers, opened(found))[0] if model in FORMS else middle
    return value, half + abs(value - middle)


def entry(noise: str, model: str, layers: int, found: Any) -> str:
    """The measured loss, and its outcome compared with the printed number."""
    return f"{short(*shown(noise, model, layers, found))} {MARKS[outcome(noise, model, layers, found)]}"


def entries(model: str, **columns: Any) -> Table:
    """All entries of a model."""
    name, rows = ROWS[model], []
    for k in DEPTHS:
        rows.append((str(k), "printed", *(f"{printed(noise, name, k).value:.3g}" for noise in columns)))
        rows.append(("", "measured", *(entry(noise, name, k, found) for noise, found in columns.items())))
    how = (
        "at the best minimum known, over the eigenvalues that 100,000 contexts show, by quadrature"
        if model == "gdpp"
        else """the smallest median over independent tables of 100,000 contexts among models of this form; in brackets its error in units of
              the last digit"""
    )
    return Table(
        caption=f"""{name}, by layers and law of the noise: {how}. = the printed number to a tenth and its noise, ▲ above, ▼ below, ? not
              decided; without noise = to a tenth, ~ the median is not, but one table in twenty or more is not above and one not below""",
        header=("layers", "", *map(named, columns)),
        rows=tuple(rows),
    )


def losses(noise: str, found: Any) -> Figure:
    """Loss against depth: measured, printed, and the baselines."""
    here, series = opened(found), []
    for model in ROWS.values():
        points = [shown(noise, model, k, found) for k in DEPTHS]
        y, error = tuple(value for value, _ in points), tuple(min(each, value) for value, each in points)
        series.append(Series(label=model, x=tuple(map(float, DEPTHS)), y=y, error=error))
        y = tuple(printed(noise, model, k).value for k in DEPTHS)
        series.append(Series(label=model, x=tuple(map(float, DEPTHS)), y=y, style="points"))
    ends = (float(DEPTHS[0]), float(DEPTHS[-1]))
    levels = {name: measured(noise, name, 0, here)[0] for name in ("ConstRR", "AdaRR", "TunedRR", "Bayes")}
    ordered = sorted((name for name, level in levels.items() if level), key=lambda name: -levels[name])
    for name in ordered:
        series.append(Series(label="ridge regression", x=ends, y=(levels[name],) * 2, style="dashed"))
    panel = Panel(
        title=f"loss by layers, {named(noise)}",
        xlabel="layers",
        ylabel="adjusted loss",
        xscale="linear",
        series=tuple(series),
    )
    return Figure(
        caption=f"Adjusted loss against depth, {named(noise)}: measured (lines), printed (points); ridge regression "
        f"(dashed), from above: {', '.join(ordered)}.",
        alt="Curves that fall with depth: GD++ levels off at ConstRR, DIAG and FULL continue to fall towards TunedRR and Bayes.",
        panels=(panel,),
        # one law represents all on the first page, whichever columns are refuted
        layer="front" if noise == "uniform-3" else "evidence",
    )


ENTRIES = at(entries, **{noise: at(whole, noise=noise, **TABLES) for noise in NOISE_LAWS})
LOSSES = at(losses, found=at(whole, **TABLES))
LOSSES_SILENT = at(losses, noise="uniform-0", found=at(whole, noise="uniform-0", **TABLES))
"""The evidence on Table 1: all entries, and the losses of one law."""
