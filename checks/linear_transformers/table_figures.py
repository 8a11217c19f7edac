"""Figures, tables and sentences of the theorems on trained models."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from lipverify.checks.linear_transformers.independent_tables import (
    DEPTHS,
    FORMS,
    RARE,
    ROWS,
    TABLES,
    TENTH,
    exploded,
    in_tables,
    measured,
    medians,
    opened,
    over,
    printed_ratio,
    unit,
    whole,
)
from lipverify.checks.linear_transformers.quantities import NOISE_LAWS, NOISY, TRAININGS, Value, named, printed
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


def counted(model: str, **columns: Any) -> str:
    """The number of entries that are met, above and below; and with noise, the number that are met to a tenth alone, and
    the farthest from the printed numbers.
    """
    name = ROWS[model]
    every = {(noise, k): outcome(noise, name, k, found) for noise, found in columns.items() for k in DEPTHS}
    counts = Counter(every.values())
    ratios = sorted(
        (shown(noise, name, k, columns[noise])[0] / printed(noise, name, k).value, noise, k)
        for noise, k in every if noise in NOISY
    )  # fmt: skip
    near = sum(abs(ratio - 1) <= TENTH for ratio, *_ in ratios)
    under = sum(ratio <= 1 for ratio, *_ in ratios)
    ends = (f"{ratio:.3g}, at {named(noise)} with {k} layers," for ratio, noise, k in (ratios[0], ratios[-1]))
    return (
        f"Of {len(every)} entries {', '.join(f'{counts[each]} {each}' for each in MARKS if counts[each])}. Of the {len(ratios)} with noise, "
        f"{near} are within a tenth of the printed number, and {under} not above it; the least and the largest quotient are {' and '.join(ends).rstrip(',')}."
    )


def by_layers(model: str, noise: str, found: Any) -> str:
    """Measured and printed losses of one law, by outcome."""
    name = ROWS[model]
    told: dict[str, list[str]] = {}
    for k in DEPTHS:
        value = shown(noise, name, k, found)[0]
        told.setdefault(outcome(noise, name, k, found), []).append(
            f"{k} ({value:.3g} for {printed(noise, name, k).value:.3g})"
        )
    return f"By layers, measured for printed. {'; '.join(f'{side}: {chr(44).join(told[side])}' for side in MARKS if side in told)}."


def losses(noise: str, found: Any) -> Figure:
    """Loss against depth: measured, printed, and the baselines."""
    here, series = opened(found), []
    for model in ROWS.values():
        points = [shown(noise, model, k, found) for k in DEPTHS]
        y, error = tuple(value for value, _ in points), tuple(min(each, value) for value, each in points)
        series.append(Series(label=model, x=tuple(map(float, DEPTHS)), y=y, error=error))
        y = tuple(printed(noise, model, k).value for k in DEPTHS)
        series.append(Series(label=f"{model}, printed", x=tuple(map(float, DEPTHS)), y=y, style="points"))
    ends = (float(DEPTHS[0]), float(DEPTHS[-1]))
    for name in ("ConstRR", "AdaRR", "TunedRR", "Bayes"):
        level = measured(noise, name, 0, here)[0]
        if level:
            series.append(Series(label=name, x=ends, y=(level, level), style="dashed"))
    panel = Panel(
        title=f"loss by layers, {named(noise)}",
        xlabel="layers",
        ylabel="adjusted loss",
        xscale="linear",
        series=tuple(series),
    )
    return Figure(
        caption=f"Adjusted loss against depth, {named(noise)}: measured (lines), printed (points) and baselines (dashed).",
        alt="Curves that fall with depth: GD++ levels off at ConstRR, DIAG and FULL continue to fall towards TunedRR and Bayes.",
        panels=(panel,),
        # one law represents all on the first page, whichever columns are refuted
        layer="front" if noise == "uniform-3" else "evidence",
    )


DEEP = DEPTHS[4:]
"""Models with five layers and more."""


def over_others(family: str, against: str, depths: tuple[int, ...], columns: dict[str, Any]) -> Table:
    """The quotients of all trainings of a family, by law of the noise and depth."""
    rows = []
    for noise, found in columns.items():
        cells = []
        for k in depths:
            each = [over(opened(found), f"{family.upper()}-{k}-{training}", against) for training in TRAININGS]
            cells.append(", ".join(short(*quotient[:2]) for quotient in each if quotient[1] < math.inf) or "–")
        rows.append((named(noise), *cells))
    return Table(
        caption=f"""Loss of each training of {family.upper()} divided by that of {against} on the same contexts, by law of the noise and
        layers: median over independent tables, in brackets its error in units of the last digit.""",
        header=("noise", *map(str, depths)),
        rows=tuple(rows),
    )  # fmt: skip


def quotients_in_words(family: str, against: str, depths: tuple[int, ...], noise: str, found: Any) -> str:
    """The quotients of all trainings under one law: the numbers of those below 1 and above 3/2, then all of them."""
    losses, name = opened(found), family.upper()
    quotients = {k: [over(losses, f"{name}-{k}-{each}", against)[:2] for each in TRAININGS] for k in depths}
    values = [value for row in quotients.values() for value, _ in row]
    rows = (f"{k}: {', '.join(short(*quotient) for quotient in row)}" for k, row in quotients.items())
    return (
        f"Of {len(values)} quotients of losses, {name} over {against} at {named(noise)}, {sum(v < 1 for v in values)} are below 1 and "
        f"{sum(v > 1.5 for v in values)} above 3/2. By number of layers, the trainings have {'; '.join(rows)}."
    )


def printed_above(against: str, depths: tuple[int, ...]) -> str:
    """The noise laws at which the better printed entry of DIAG and FULL is above that of a ridge regression, by depth."""
    laws = {k: [named(noise) for noise in NOISY if printed_ratio(noise, "best", k, k, against) > 1] for k in depths}
    return " ".join(
        f"With {k} layers the better printed entry is above that of {against} at {', '.join(above) or 'no noise law'}."
        for k, above in laws.items()
    )


def over_tuned(family: str, **columns: Any) -> Table:
    """Five layers and more compared with TunedRR."""
    return over_others(family, "TunedRR", DEEP, columns)


def over_tuned_in_words(family: str, noise: str, found: Any) -> str:
    """Five layers and more compared with TunedRR, under one law."""
    return quotients_in_words(family, "TunedRR", DEEP, noise, found)


def diagonal_over_full(**columns: Any) -> Table:
    """DIAG compared with FULL at every depth."""
    return over_others("diag", "FULL", DEPTHS, columns)


def diagonal_over_full_in_words(noise: str, found: Any) -> str:
    """DIAG compared with FULL at every depth, under one law."""
    return quotients_in_words("diag", "FULL", DEPTHS, noise, found)


def low_rank_over_full_in_words(noise: str, found: Any) -> str:
    """Diagonal plus rank one compared with FULL under one law, and the place of the part of rank one."""
    column = (
        r"The part of rank one is the column $\mathbf{P}_{xy}$ of one layer, and the entries of the next that read it"
    )
    return f"{quotients_in_words('lowrank', 'FULL', (2, 3, 4), noise, found)} {column} (lt.near-diagonal)."


def exploding_tables(family: str, layers: int, noise: str, found: Any) -> list[int]:
    """The number of tables in which each training of a family loses more than twice the entry of its form."""
    entry = printed(noise, "DIAG" if family in FORMS["DIAG"] else "FULL", layers).value
    return [exploded(opened(found).means[f"{family}-{layers}-{training}"], entry)[0] for training in TRAININGS]


def shares(**columns: Any) -> Table:
    """The number of tables in which each training explodes."""
    rows = []
    for family, depths in (("DIAG", DEPTHS), ("FULL", DEPTHS), ("SAFEFULL", DEEP)):
        for k in depths[-5:]:
            cells = (", ".join(map(str, exploding_tables(family, k, noise, found))) for noise, found in columns.items())
            rows.append((f"{family} {k}", *cells))
    totals = sorted({len(opened(found).means["TunedRR"]) for found in columns.values()})
    return Table(
        caption=f"""Number of tables, of {" or ".join(map(str, totals))}, in which each of three trainings loses more than twice the printed
              entry, by layers and law of the noise.""",
        header=("model", *map(named, columns)),
        rows=tuple(rows),
    )


def exploding_in_words(found: Any, noise: str, depths: tuple[int, ...]) -> str:
    """The numbers of exploding tables of FULL and SAFEFULL under one law."""
    total = len(opened(found).means["TunedRR"])
    counts = (
        f"{family} {k}: {', '.join(map(str, exploding_tables(family, k, noise, found)))}"
        for family in ("FULL", "SAFEFULL") for k in depths
    )  # fmt: skip
    return f"Of {total} tables, the three trainings of each kind lose more than twice the printed entry in so many. {'; '.join(counts)}."


EVERY_LAW = {noise: at(whole, noise=noise, **TABLES) for noise in NOISY}
OVER_TUNED, OVER_TUNED_IN_WORDS = at(over_tuned, **EVERY_LAW), at(over_tuned_in_words, found=at(whole, **TABLES))
DIAGONAL_OVER_FULL = at(diagonal_over_full, **EVERY_LAW)
"""A table of all laws, and the law with the largest quotients in words."""
DIAGONAL_IN_WORDS = at(diagonal_over_full_in_words, noise="levels-1-3", found=at(whole, noise="levels-1-3", **TABLES))
LOW_RANK_IN_WORDS = at(low_rank_over_full_in_words, found=at(whole, **TABLES))
ENTRIES, COUNTS = (
    at(show, **{noise: at(whole, noise=noise, **TABLES) for noise in NOISE_LAWS}) for show in (entries, counted)
)
BY_LAYERS, LOSSES, SHARES = (
    at(by_layers, found=at(whole, **TABLES)),
    at(losses, found=at(whole, **TABLES)),
    at(shares, **EVERY_LAW),
)
EXPLODING = at(exploding_in_words, depths=(6, 7), noise="levels-1-3", found=at(whole, noise="levels-1-3", **TABLES))
BY_LAYERS_SILENT, LOSSES_SILENT = (
    at(show, noise="uniform-0", found=at(whole, noise="uniform-0", **TABLES)) for show in (by_layers, losses)
)
"""The evidence on Table 1: all entries, those that are met, one law in words and as a figure, and the tables in which
a training explodes."""
