"""The figures and findings that declared claims come with."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import sympy

from lipverify.claims.claim import exponent_at
from lipverify.claims.figure import Band, Figure, Panel, Scale, Series
from lipverify.claims.scaling import SIGN, Side, allowed_exponents
from lipverify.scaling import Growth

Value = tuple[float, float]
"""A value and its error."""


def slopes_figure(
    growths: Mapping[int, Growth], claimed: sympy.Expr, control: sympy.Expr, side: Side, along: str, quantity: str
) -> Figure:
    """Local exponents less the claimed one along the ray, with what is allowed as a band; the limits against d."""
    allowed = allowed_exponents(side, 0.0)
    local = Panel(
        title="local exponents",
        xlabel=_symbol(along),
        ylabel="local exponent $-$ claimed",
        yscale="linear",
        series=tuple(
            Series(
                label=f"$d = {d}$",
                x=growth.slope_at,
                y=tuple(slope - exponent_at(claimed, d) for slope in growth.local_slopes),
            )
            for d, growth in growths.items()
        ),
        bands=(Band(label="claimed", low=allowed.low, high=allowed.high),),
    )
    x = tuple(map(float, growths))
    settled = {float(d): growth for d, growth in growths.items() if math.isfinite(growth.error)}
    measured = Series(
        label="measured limit",
        x=tuple(settled),
        y=tuple(growth.exponent for growth in settled.values()),
        error=tuple(growth.error for growth in settled.values()),
        style="errorbars",
    )
    twins = tuple(
        Series(
            label=rf"{name}: ${SIGN[side]} {sympy.latex(power, fold_short_frac=True)}$".replace("≥", r"\geq").replace(
                "≤", r"\leq"
            ),
            x=x,
            y=tuple(exponent_at(power, d) for d in growths),
            style="dashed",
        )
        for name, power in (("claimed", claimed), ("control", control))
    )
    limits = Panel(
        title="limit exponents",
        xlabel="$d$",
        ylabel=f"exponent of {quantity}",
        xscale="linear",
        yscale="linear",
        series=(*((measured,) if settled else ()), *twins),
    )
    caption = (
        f"Left: the local exponent of {quantity} along {_symbol(along)}, less the claimed one; its limit must "
        "lie in the shaded range. Right: the limits with their errors, what is claimed of them, and the control."
    )
    alt = f"Local exponents of {quantity} minus the claimed one against {along}; limit exponents against d."
    return Figure(caption=caption, alt=alt, panels=(local, limits))


def exponents_found(growths: Mapping[int, Growth], quantity: str) -> str:
    """The measured limits in a sentence."""
    found = "; ".join(
        f"$d = {d}$: {growth.exponent:.6g} ± {growth.error:.1g}, constant {growth.constant:.4g}"
        if math.isfinite(growth.error)
        else f"$d = {d}$: the local exponents do not settle, the last is {growth.local_slopes[-1]:.4g}"
        for d, growth in growths.items()
    )
    return f"Measured limit exponents of {quantity}: {found}."


def bounds_figure(
    where: Sequence[Mapping[str, Any]], values: Sequence[Value], bounds: Mapping[str, Sequence[float]], quantity: str
) -> Figure:
    """Values with their errors beside their bounds, against the coordinate that tells the cells apart."""
    along = _coordinate(where)
    x = [float(point[along]) if along else float(k) for k, point in enumerate(where, 1)]
    order = sorted(range(len(x)), key=x.__getitem__)
    series = [
        Series(
            label="measured",
            x=tuple(x[k] for k in order),
            y=tuple(values[k][0] for k in order),
            error=tuple(values[k][1] for k in order),
            style="errorbars",
        )
    ]
    series += [
        Series(label=name, x=tuple(x[k] for k in order), y=tuple(bound[k] for k in order), style="dashed")
        for name, bound in bounds.items()
    ]
    panel = Panel(
        title=f"{quantity} and its bounds",
        xlabel=_symbol(along) if along else "cell",
        ylabel=quantity,
        xscale=_scale(x),
        yscale=_scale([each for one in series for each in one.y]),
        series=tuple(series),
    )
    caption = f"{quantity} with its errors, and the bounds of the claim and of its control."
    return Figure(caption=caption, alt=f"{quantity} against {along or 'the cell'}, with bounds.", panels=(panel,))


def closest_found(where: Sequence[Mapping[str, Any]], values: Sequence[Value], quantity: str) -> str:
    """The smallest and the largest value in a sentence."""

    def said(k: int) -> str:
        coordinates = ", ".join(f"{name} = {value}" for name, value in where[k].items())
        return f"{values[k][0]:.6g} ± {values[k][1]:.1g} at {coordinates}"

    order = sorted(range(len(values)), key=lambda k: values[k][0])
    least, most = said(order[0]), said(order[-1])
    return f"Smallest measured {quantity}: {least}; largest: {most}."


def _coordinate(where: Sequence[Mapping[str, Any]]) -> str:
    """A coordinate that is a number and different in every cell; empty if there is none."""
    for name in reversed(list(where[0])):
        values = {point[name] for point in where}
        if len(values) == len(where) > 1 and all(isinstance(value, int | float) for value in values):
            return name
    return ""


def _symbol(name: str) -> str:
    return f"${name}$" if len(name) == 1 else name


def _scale(values: Sequence[float]) -> Scale:
    """Logarithmic where values are positive and a decade or more apart."""
    return "log" if min(values) > 0 and max(values) >= 10 * min(values) else "linear"
