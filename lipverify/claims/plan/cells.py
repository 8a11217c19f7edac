r"""The cells of a form: the points where it is measured, how the results are read, and the controls.

Omega, O and Theta of s^a are decided by the exponent, and if it equals a by the limit of the ratio to s^a.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace as replace_struct

from lipverify.claims.evidence.returned import SOMEWHERE
from lipverify.claims.language.family import RULE, Point, Range, edge, filled, is_number, meant_at, named_in, value_of
from lipverify.claims.language.file import Fault, located
from lipverify.claims.language.form import EQUALITY_RESOLUTION, UNDECLARED, Along, Exponent, Form, Identity, Limit
from lipverify.claims.ledger.reach import POWER, Spot
from lipverify.claims.ledger.record import Ratio, Ray
from lipverify.claims.ledger.verdict import Allowed, Interval, contains, decide
from lipverify.claims.plan.claim import CellPlan, ControlPlan, Estimate, Measurement, Read
from lipverify.claims.plan.measured import Measured, calling, measured_by, number, remark
from lipverify.claims.plan.profile import Profile, settled
from lipverify.errors import InvalidInput
from lipverify.foundation.calls import defaults
from lipverify.foundation.latex import plain

if TYPE_CHECKING:
    from lipverify.scaling import Growth

Plans = list[tuple[Point, CellPlan]]
"""The cells of a form, each with its point."""


def grid(over: Any, profile: Profile, keyword: str = "over") -> list[Point]:
    """All points of a family; the last coordinate varies fastest.

    Raises
    ------
    Fault
        If the family is empty, or a coordinate is neither text nor a finite number.

    >>> from lipverify.claims.plan.profile import profile_named
    >>> [point.where for point in grid({"law": ["affine"], "d": (2, 3)}, profile_named("quick"))]
    [{'law': 'affine', 'd': 2}, {'law': 'affine', 'd': 3}]
    """
    if over is None:
        return [Point()]
    if not isinstance(over, Mapping):
        raise Fault(f"{keyword} = {over!r}: {RULE}.", keyword)
    axes = [list(_axis(name, settled(values, profile), keyword)) for name, values in over.items()]
    for (name, values), axis in zip(over.items(), axes, strict=True):
        if not axis:
            raise Fault(f"{keyword}[{name!r}] = {values!r}: there is no value, so nothing could refute it.", keyword)
    points = [reduce(Point.joined, parts, Point()) for parts in itertools.product(*axes)]
    names = [name for point in points[:1] for name in point.where]
    if len(names) != sum(len(name) if isinstance(name, tuple) else 1 for name in over):
        raise Fault(f"{keyword} = {list(over)!r}: a coordinate occurs twice.", keyword)
    return points


def _axis(name: Any, values: Any, keyword: str) -> Iterator[Point]:
    """The values of one coordinate, or of several coordinates that vary together."""
    names = name if isinstance(name, tuple) else (name,)
    if not all(isinstance(part, str) and part.isidentifier() for part in names):
        raise Fault(f"{keyword}[{name!r}]: a coordinate is a name; {RULE}.", keyword)
    if isinstance(values, str | int | float):
        values = (values,)
    if not isinstance(values, Mapping | list | tuple | range):
        raise Fault(f"{keyword}[{name!r}] = {values!r}: {RULE}.", keyword)
    for value in values:
        together = value if isinstance(name, tuple) else (value,)
        if not isinstance(together, tuple | list) or len(together) != len(names):
            raise Fault(f"{keyword}[{name!r}] holds {value!r}: it needs {len(names)} values.", keyword)
        if not all(isinstance(part, str) or (is_number(part) and math.isfinite(part)) for part in together):
            raise Fault(f"{keyword}[{name!r}] holds {value!r}: a coordinate is a finite number or text.", keyword)
        meaning = values[value] if isinstance(values, Mapping) else {}
        if not isinstance(meaning, Mapping):
            raise Fault(
                f'{keyword}[{name!r}] gives {value!r} the meaning {meaning!r}: write {{"D": "d - 1"}}.', keyword
            )
        yield Point(dict(zip(names, together, strict=True)), {key: str(text) for key, text in meaning.items()})


def cells(form: Form, family: Point, over: Any, profile: Profile) -> Plans:
    """Plan a cell for each point of the family."""
    with located(form.line):
        points = points_of(form, family, over, profile)
        measured = function_of(form, points[0], family)
        return [(point, _cell(form, point, measured, profile)) for point in points]


def points_of(form: Form, family: Point, over: Any, profile: Profile) -> list[Point]:
    """The points of the family at which a form is measured."""
    inner = grid(form.over, profile)
    return [family.joined(outer).joined(point) for outer in grid(over, profile) for point in inner]


def spots(form: Form, family: Point, over: Any, profile: Profile) -> Iterator[Spot]:
    """The points of the cells for display: coordinates, other arguments, and the growing coordinate."""
    given = {name: settled(value, profile) for name, value in form.given.items()}
    numbers = {name: value for name, value in given.items() if isinstance(value, str | int | float)}
    with located(form.line):
        for point in points_of(form, family, over, profile):
            fixed = {name: value for name, value in numbers.items() if name not in point.where}
            ray = ray_of(form, point, profile) if isinstance(form, Along) else None
            yield Spot(dict(point.where), fixed, ray, plain(form.observed), form.observed)


def function_of(form: Form, point: Point, family: Point) -> Measured:
    """The function of a form; a fault if it cannot be called at the points.

    It must also take the growing coordinate. It need not take the coordinates that `of` names.
    """
    told = named_in(form.of)
    foreign = [name for name in told if name not in point.where]
    if foreign:
        raise Fault(f"of = {form.of!r}: {{{foreign[0]}}} is no coordinate of over=.", "of")
    grows = (form.along,) if isinstance(form, Along) else ()
    needed = [name for name in (*point.where, *grows) if name not in (*family.where, *told)]
    return measured_by(form.measure, needed, (*family.where, *told), tuple(form.given))


def measurement(form: Form, point: Point, measured: Measured, profile: Profile) -> Measurement:
    """The measurement at a point: of a value, or of the growth along a ray."""
    if isinstance(form, Along):
        of = filled(form.of, point.where)
        return measured.along(ray_of(form, point, profile), point, of, form.given, profile)
    return measured.at(point, form.given, profile)


def ray_of(form: Along, point: Point, profile: Profile) -> Ray:
    """The growing coordinate with its range and points."""
    start, stop = (value_of(end.with_symbols(point.meaning), point, "along") for end in (form.start, form.stop))
    ray = Ray(form.along, start, stop, settled(form.points, profile) or profile.points)
    try:
        _ = ray.ladder
    except InvalidInput as error:
        raise Fault(str(error), "along") from None
    return ray


def _cell(form: Form, point: Point, measured: Measured, profile: Profile) -> CellPlan:
    allowed, here = form.range.allowed(point), form.range.meaning(point)
    false, true = (_control(form, side, point, measured, profile) for side in (False, True))
    if isinstance(form.false, Range) and contains(form.false.allowed(point, "control"), allowed):
        raise Fault(
            f"control at {point} allows whatever the claim allows, {form.claimed(here)}; "
            "a control is a statement that must come out false.",
            "control",
        )
    return CellPlan(
        where=dict(point.where),
        measurement=measurement(form, point, measured, profile),
        quantity=plain(form.observed),
        quantity_latex=form.observed,
        read=reader(form, point, measured),
        claimed=here.text("").strip(),
        claimed_latex=f"${here.latex('').strip()}$",
        allowed=allowed,
        edges=form.range.formulas(point),
        false=false,
        true=true,
        method=form.method,
        grade=form.grade,
        of=filled(form.of, point.where),
    )


def reader(form: Form, point: Point, measured: Measured) -> Read:
    """The reader of a form's results: as a value, the limit of a growth, or the exponent of a growth."""
    if isinstance(form, Exponent):
        return _exponent_reader(form)
    return _limit if isinstance(form, Limit) else _value_reader(form, point, measured)


def _exponent_reader(form: Exponent) -> Read:
    power = rf"{POWER} $\log {form.grows}$ in ${form.quantity}$"

    def read(growth: Any, allowed: Allowed) -> Estimate:
        exponent = estimate(growth, allowed)
        return exponent if exponent.allowed is None else replace(exponent, quantity=power)

    return read


def _limit(growth: Any, allowed: Allowed) -> Estimate:
    """Estimate the limit of a growth, if it has one; it is 0 if the exponent is negative."""
    if growth.rest is not None:
        begin, low, high = growth.rest
        return Estimate(Interval(low, high), f"it is 0 within its error from {begin:g} on")
    if growth.exponent < -growth.error:
        note = f"it tends to 0 like a power: exponent {growth.exponent:.4g} ± {growth.error:.2g}"
        return Estimate(Interval(0.0, 0.0), note)
    if not abs(growth.exponent) <= growth.error < math.inf:
        note = f"it tends to no positive constant: exponent {growth.exponent:.4g} ± {growth.error:.2g}"
        return Estimate(Interval(None, None), note)
    return _interval(*growth.limit_of_ratio(0.0))


def _value_reader(form: Form, point: Point, measured: Measured) -> Read:
    of, call = filled(form.of, point.where), calling(measured.portable(), point)
    interval = _difference if isinstance(form, Identity) else _interval

    def read(result: Any, allowed: Allowed) -> Estimate:
        estimated, why = interval(*number(result, of, call)), remark(result, of)
        if why == SOMEWHERE and decide(estimated.interval, allowed) == "supported":
            return Estimate(Interval(None, None), why)
        open_ended = why and estimated.interval == Interval(None, None)
        return replace(estimated, note=f"{estimated.note}: {why}") if open_ended else estimated

    return read


def _interval(value: float, error: float) -> Estimate:
    """Estimate a value from the value and its error."""
    if math.isinf(error):
        return Estimate(Interval(None, None), f"{value:.6g} with an infinite error")
    return Estimate(Interval.around(value, error))


def _difference(value: float, error: float) -> Estimate:
    """Estimate a difference: exactly zero if it is within its rounding error."""
    if abs(value) <= error < math.inf:
        note = f"{value:.3g}, rounding explains {error:.3g}" if error else ""
        return Estimate(Interval(0.0, 0.0), note, measured=Interval.around(value, error) if error else None)
    return _interval(value, error)


def _control(form: Form, true: bool, point: Point, measured: Measured, profile: Profile) -> ControlPlan:
    """Plan the false or the true control of a cell."""
    control = form.control(true)
    if isinstance(control, dict):
        return _elsewhere(form, control, point, measured, profile)
    if control is not None:
        claimed = control.meaning(point).text("").strip()
        return ControlPlan(claimed, control.allowed(point, "control"), edges=control.formulas(point))
    if true:
        return ControlPlan(UNDECLARED, None)
    raise Fault(
        "no control: a control is a near statement that is false, and must come out refuted on the same "
        "evidence; give truth= (the true exponent or value, from which it is derived) or control= (its bound); a "
        "claim without it is refused.",
        "control",
    )


def _elsewhere(form: Form, changed: dict[str, Any], point: Point, measured: Measured, profile: Profile) -> ControlPlan:
    """A control that measures at other coordinates and allows the same range."""
    foreign = [name for name in changed if name not in measured.takes and not measured.anything]
    if foreign:
        raise Fault(f"control = {changed!r}: the function does not take {foreign[0]}.", "control")
    values = {name: _changed(form, name, value, point) for name, value in changed.items()}
    changes = ", ".join(
        f"{name} = {value}" if value == values[name] else f"{name} = {value} = {values[name]:g}"
        for name, value in changed.items()
    )
    moved = measurement(form, point.joined(Point(values)), measured, profile)
    says = f"{form.range.meaning(point).text('').strip()} with {changes}"
    return ControlPlan(says, form.range.allowed(point), moved, form.range.formulas(point))


def _changed(form: Form, name: str, value: Any, point: Point) -> Any:
    """The value of a coordinate that a control changes: a value of the same type, or a formula in the coordinates."""
    usual = point.where.get(name, defaults(form.measure).get(name))
    text, number = isinstance(value, str), is_number(value) and math.isfinite(value)
    if isinstance(usual, str) and not text:
        raise Fault(f"control: {name} = {value!r}: its values are texts such as {usual!r}; give a text.", "control")
    if not is_number(usual) or number:
        if not (text or number):
            raise Fault(f"control: {name} = {value!r}: give a finite number or a text.", "control")
        return value
    try:
        result = value_of(meant_at(edge(value, "control"), point), point, "control")
    except Fault as fault:
        rule = f"{name} is a number such as {usual:g}; give a number, or a formula such as '{name} + 1'"
        raise Fault(f"control: {name} = {value!r}: {rule} ({str(fault).rstrip('.')}).", "control") from None
    return int(result) if isinstance(usual, int) and result.is_integer() else result


def estimate(growth: Growth, allowed: Allowed) -> Estimate:
    r"""Estimate the limit exponent from a growth.

    If the interval contains an edge a of the allowed range, the exponent cannot decide and the ratio does: if Q / s^a
    tends to a positive constant, then Q = Theta(s^a) and the interval is the single exponent a. If it does not, and a
    power of log s is clearly present (as in n H_n compared with n), that power decides: the estimate is of the power,
    with 0 in place of a in the allowed range.

    If the quantity is 0 within its error from some point on, where the power would be larger than this error, it decays
    faster, and the exponent has no lower bound.
    """
    if growth.rest is not None:
        return _as_far(growth, allowed)
    settled = math.isfinite(growth.error)
    interval = Interval.around(growth.exponent, growth.error) if settled else Interval(None, None)
    if not settled:
        return Estimate(interval, f"the local exponents do not settle; the last is {growth.local_slopes[-1]:.4g}")
    for end in {end for end in (allowed.low, allowed.high) if end is not None}:
        if abs(growth.exponent - end) <= growth.error:
            ratio = Ratio(end, *growth.limit_of_ratio(end))
            if growth.error <= EQUALITY_RESOLUTION and ratio.decides:
                return Estimate(Interval(end, end), measured=interval, ratio=ratio)
            power, spread = growth.log_power(end)
            # corrections as slow as s^-0.02 over four decades look like a power of log s, but one with an error of 0.2
            if 2 * spread < abs(power) and spread <= 0.05:
                note = f"the exponent of s is {end:.6g}, and the power of log s decides"
                low, high = (0.0 if side == end else None for side in (allowed.low, allowed.high))
                at_0 = Allowed(low=low, high=high, open=allowed.open)
                return Estimate(Interval.around(power, spread), note, allowed=at_0)
    return Estimate(interval)


def _as_far(growth: Growth, allowed: Allowed) -> Estimate:
    """The estimate from the points before a quantity is 0 within its error."""
    assert growth.rest is not None
    begin, _, high = growth.rest
    if not math.isfinite(growth.error):
        few = f"only {len(growth.s)} points are left for an exponent"
        return Estimate(Interval(None, None), f"it is 0 within its error from {begin:g} on: {few}")
    before = estimate(replace_struct(growth, rest=None), allowed)
    if growth.values[-1] * (begin / growth.s[-1]) ** (growth.exponent - growth.error) <= high:
        return before
    note = f"from {begin:g} on it is 0 within its error, below this power"
    return replace(before, interval=Interval(None, before.interval.high), note=note)
