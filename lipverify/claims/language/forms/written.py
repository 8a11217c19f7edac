"""How a form is written in a claims file: `exponent`, `bound`, `identity`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, get_args

from lipverify.claims.language.fault import Fault
from lipverify.claims.language.forms.along import Exponent, Limit
from lipverify.claims.language.forms.form import Form
from lipverify.claims.language.forms.values import Bound, Identity
from lipverify.claims.language.formula import formula
from lipverify.claims.language.place import caller_line
from lipverify.claims.language.range import EDGES, Range, edge, range_of
from lipverify.claims.ledger.record import Grade
from lipverify.foundation.calls import names


def exponent(
    measure: Callable[..., Any],
    quantity: str,
    *,
    along: str = "n",
    ray: tuple[Any, ...] = (1e4, 1e30),
    low: Any = None,
    high: Any = None,
    equals: Any = None,
    log: Any = None,
    strict: bool = False,
    sharp: Any = None,
    control: Any = None,
    instead: Any = None,
    scale: str = "",
    of: str = "",
    error: float | None = 1e-12,
    method: str | None = None,
    grade: str | None = None,
    over: Any = None,
    given: Mapping[str, Any] | None = None,
) -> Form:
    r"""A positive quantity grows like a power of s: Omega(s^low), O(s^high) or Theta(s^equals) as s -> infinity.

    Parameters
    ----------
    measure
        The function, called by name with the coordinates of the cell and with what grows; it returns (value, error), a
        value alone, or a mapping of named ones. It gets `seed`, `contexts` and `backend` if it takes them.
    quantity
        What it measures, in LaTeX.
    along, ray
        What grows, and (start, stop) or (start, stop, points): numbers, or formulas in the coordinates; two decades at
        least. If it is n or d, the points are whole numbers.
    low, high, equals
        The exponent: a formula in the coordinates and in the symbols of the readings.
    log
        The power of log s beside it.
    strict
        Whether the power itself is left out: omega(s^low), o(s^high).
    sharp
        The true exponent. The controls are derived from it: the false one lies beyond it by twice the resolution of
        limits, the true one is the claim with this exponent.
    control, instead
        The false and the true control, where they are not derived: an exponent, `dict(low=..., high=...)`, or other
        coordinates, for which the same claim is false (true).
    scale
        What the power is of in words, in LaTeX, where it is not what grows: w* grows with Lambda, and n is varied.
    of
        Which quantity of those that the function returns; coordinates that its name holds in braces, such as
        "{trained} to {tested}", are not given to the function unless it takes them.
    error
        Relative error of values that come alone.
    method, grade
        How it measures, and the best grade that the numbers may have; what ran decides (`lipverify.claims.run.ran`). A
        function that takes `contexts` is "montecarlo" by default, and any other is the claim's own: "proved" where it
        returns something exact, "bounded" where it returns a value of lipverify with its error, else "estimated".
        "exact" says that it derives its numbers from bounds of lipverify by its own arithmetic: they are "bounded" if
        lipverify made bounds, and drew nothing, while it ran.
    over
        Coordinates of this form alone, beside those of its claim.
    given
        What else the function is called with.

    Raises
    ------
    InvalidInput
        If a rule is broken; `lipverify verify` shows the line.
    """
    line = caller_line()
    return form_of(
        Exponent, measure, quantity, line, **_ray(along, ray, scale, line), low=low, high=high, equals=equals, log=log,
        strict=strict, sharp=sharp, control=control, instead=instead, of=of, error=error, method=method, grade=grade,
        over=over, given=given or {},
    )  # fmt: skip


def bound(
    measure: Callable[..., Any],
    quantity: str,
    *,
    low: Any = None,
    high: Any = None,
    equals: Any = None,
    within: Any = None,
    strict: bool = False,
    sharp: Any = None,
    control: Any = None,
    instead: Any = None,
    along: str = "",
    ray: tuple[Any, ...] = (1e4, 1e30),
    scale: str = "",
    of: str = "",
    error: float | None = None,
    method: str | None = None,
    grade: str | None = None,
    over: Any = None,
    given: Mapping[str, Any] | None = None,
) -> Form:
    r"""A value lies between bounds, cell by cell, or equals another one within a tolerance.

    Parameters
    ----------
    measure, quantity, of, method, grade, over, given
        As for `exponent`; the function is called with the coordinates of the cell.
    low, high, equals, within
        The bounds: formulas in the coordinates, numbers, or functions of coordinates by name. `within` is how far the
        value may be from `equals`, in its own units; the control of an equality lies three times as far.
    strict
        Whether the value must differ from low and high.
    sharp
        The true value; the controls are a tenth of it away.
    control, instead
        The false and the true control: a bound in place of the one that is given, `dict(low=..., high=...)`, or other
        coordinates, for which the same bound fails (holds).
    along, ray, scale
        As for `exponent`: with them the bounds are on the limit of a positive value along a ray.
    error
        Relative error of values that the function returns alone; where none is declared these are refused.

    Raises
    ------
    InvalidInput
        If a rule is broken; `lipverify verify` shows the line.
    """
    line = caller_line()
    kind, limit = (Limit, _ray(along, ray, scale, line)) if along else (Bound, {})
    return form_of(
        kind, measure, quantity, line, **limit, low=low, high=high, equals=equals, within=within, strict=strict,
        sharp=sharp, control=control, instead=instead, of=of, error=error, method=method, grade=grade, over=over,
        given=given or {},
    )  # fmt: skip


def _ray(along: str, ray: Any, scale: str, line: int) -> dict[str, Any]:
    """What grows, from where to where, as fields of a form."""
    if not isinstance(ray, tuple | list) or len(ray) not in (2, 3):
        raise Fault(f"ray = {ray!r}: it is (start, stop) or (start, stop, points).", "ray", line=line)
    start, stop = (formula(end, name="ray") for end in ray[:2])
    return {"along": along, "start": start, "stop": stop, "points": ray[2] if len(ray) == 3 else None, "scale": scale}


def identity(
    measure: Callable[..., Any],
    quantity: str,
    *,
    control: Mapping[str, Any],
    instead: Mapping[str, Any] | None = None,
    of: str = "",
    method: str | None = None,
    grade: str | None = None,
    over: Any = None,
    given: Mapping[str, Any] | None = None,
) -> Form:
    r"""Two sides are equal: their difference is zero exactly, or no larger than a bound on its rounding.

    Parameters
    ----------
    measure
        The function returns the difference as an expression or a matrix of SymPy, which is 0 for all values of its
        symbols or is not; or as a fraction; or as (difference, bound on its rounding).
    quantity
        The difference, in LaTeX.
    control, instead
        Other coordinates, for which the identity is false (true): one letter of the formula exchanged, ...

    The rest is as for `bound`. What is exact is proved, and a difference of floats is estimated.
    """
    return form_of(
        Identity, measure, quantity, caller_line(), equals=0, control=control, instead=instead, of=of, method=method,
        grade=grade, over=over, given=given or {},
    )  # fmt: skip


def form_of(kind: type[Form], function: Any, quantity: Any, line: int, **given: Any) -> Form:
    """A form from what is declared, refused where it breaks a rule that needs no points."""
    if not isinstance(quantity, str) or not quantity.strip():
        raise Fault("no quantity: the quantity is what the function measures, in LaTeX such as r'w^*'; a claim without "
                    "it is refused.", "quantity", line=line)  # fmt: skip
    if not callable(function):
        raise Fault(f"{function!r} is not a function that measures {quantity}.", line=line)
    try:
        sampled = "contexts" in names(function)
    except ValueError:
        raise Fault(f"{function!r} does not say what it takes: write a function that calls it.", line=line) from None
    if given.get("method") is None and sampled:
        given["method"] = "montecarlo"
    edges = {name: given.pop(name, None) for name in (*EDGES, "within")}
    strict = bool(given.pop("strict", False))
    try:
        given["range"] = range_of(**edges, strict=strict)
        for name in ("control", "instead"):
            given[name] = _control(given.get(name), name, given["range"])
        for name in ("sharp", "log"):
            if given.get(name) is not None:
                given[name] = edge(given[name], name)
        _refuse_words(given)
    except Fault as fault:
        raise Fault(str(fault), fault.keyword, fault.item, line) from None
    return kind(measure=function, quantity=quantity, line=line, **{k: v for k, v in given.items() if v is not None})


def _control(value: Any, name: str, claimed: Range) -> Range | dict[str, Any] | None:
    """A control: a bound in place of the only one, bounds by name, or other coordinates."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        if set(value) & {*EDGES, "within"}:
            strict, slack = value.get("strict", claimed.strict), value.get("within", claimed.within)
            given = {edge_name: value[edge_name] for edge_name in EDGES if edge_name in value}
            slack = slack if "equals" in given else None
            return range_of(**given, within=slack, strict=bool(strict), keyword=name)
        return dict(value)
    edges = [edge_name for edge_name, _ in claimed.edges()]
    if len(edges) != 1:
        raise Fault(f"{name} = {value!r}: which bound is it? Write dict(low=...), dict(high=...) or both.", name)
    return claimed.moved({edges[0]: edge(value, name)})


def _refuse_words(given: Mapping[str, Any]) -> None:
    method, grade, error = given.get("method"), given.get("grade"), given.get("error")
    if method is not None and (not isinstance(method, str) or not method.strip()):
        raise Fault(f"method = {method!r}: it is a word for how the function measures, such as 'exact'.", "method")
    if grade is not None and grade not in get_args(Grade):
        raise Fault(f"grade = {grade!r}: choose one of {', '.join(get_args(Grade)[1:])}.", "grade")
    if grade == "proved":
        rule = "nothing is proved by saying so"
        way_out = "leave it out and return what proves it: an expression of SymPy, a fraction, a ball or a proof"
        raise Fault(f"grade = {grade!r}: {rule}; {way_out}.", "grade")
    if error is not None and (
        isinstance(error, bool) or not isinstance(error, int | float) or not 0 <= error < math.inf
    ):
        raise Fault(f"error = {error!r}: the relative error of a value must be finite and >= 0.", "error")
