r"""The forms of a claim: an exponent along a ray, bounds on a value, an identity.

A form is data: the function that measures, the quantity in LaTeX, the allowed range, and the controls. Its wording is
derived from these; `lipverify.claims.plan.cells` plans its cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, SupportsFloat, TypeAlias, get_args

from lipverify.claims.language.family import EDGES, Edge, Range, edge, plus, range_of, scaled
from lipverify.claims.language.file import Fault, caller_line
from lipverify.claims.language.formula import Formula, formula
from lipverify.claims.ledger.symbols import letter, on_one_line
from lipverify.foundation.calls import Call, names
from lipverify.foundation.latex import plain
from lipverify.foundation.noted import Grade

Value: TypeAlias = str | SupportsFloat | Callable[..., Any]
"""A number of a claim: a formula, a number, a SymPy expression, or a function of coordinates."""
Control: TypeAlias = Value | Mapping[str, Any]
Controls: TypeAlias = Control | tuple[Control | None, Control | None]
"""The false control, or (false, true)."""
Stretch: TypeAlias = tuple[Value, Value] | tuple[Value, Value, int]
"""The range of a growing coordinate: (start, stop), or (start, stop, points)."""
Over: TypeAlias = Mapping[Any, Any]
"""Coordinates with their values; see `lipverify.claims.language.family`."""

SHARE = 0.1
"""Default relative distance between the control of a bound and the true value. A smaller one needs smaller errors."""
UNDECLARED = "none declared"
EQUALITY_RESOLUTION = 0.02
"""An exponent may be called equal to the claimed one only if it is measured with at most this error."""
CONTROL_DISTANCE = 2 * EQUALITY_RESOLUTION
"""Distance between the control's exponent and the true one: the least that a limit with this resolution can detect."""
LANDAU = {
    ("low", False): ("Ω", r"\Omega"),
    ("high", False): ("O", r"\mathcal{O}"),
    ("equals", False): ("Θ", r"\Theta"),
    ("low", True): ("ω", r"\omega"),
    ("high", True): ("o", "o"),
    ("equals", True): ("Θ", r"\Theta"),
}
"""The letter of a claimed power in text and in LaTeX, by its edge and whether that is strict."""


@dataclass(frozen=True, kw_only=True)
class Form:
    """The fields that all forms share; see `exponent`, `bound` and `identity` for their meaning."""

    measure: Callable[..., Any]
    quantity: str
    range: Range
    of: str = ""
    truth: Edge | None = None
    false: Range | dict[str, Any] | None = None
    true: Range | dict[str, Any] | None = None
    method: str | None = None
    grade: Grade | None = None
    over: Any = None
    given: Mapping[str, Any] = field(default_factory=dict)
    line: int = 0
    name: ClassVar[str] = ""

    @property
    def plain_quantity(self) -> str:
        """The quantity in plain text."""
        return plain(self.quantity)

    def only(self, side: str | None) -> Form:
        """The one-sided form: of a lower bound or of an upper bound."""
        if side is None or self.range.equals is not None:
            return self
        return self.with_ranges(lambda allowed: allowed.only(side))

    def with_ranges(self, change: Callable[[Range], Range]) -> Form:
        """The form with a change of its range, and of its controls if they are ranges."""
        false, true = (change(value) if isinstance(value, Range) else value for value in (self.false, self.true))
        return replace(self, range=change(self.range), false=false, true=true)

    @property
    def observed(self) -> str:
        """The name of the measured quantity, as text with `$LaTeX$`."""
        return f"${self.quantity}$"

    def claimed(self, allowed: Range) -> str:
        """A claimed range of the quantity in plain text."""
        return allowed.text(self.plain_quantity)

    def statement(self, allowed: Range) -> str:
        """A claimed range of the quantity in LaTeX."""
        return allowed.latex(self.quantity)

    def control(self, true: bool) -> Range | dict[str, Any] | None:
        """The false or the true control: the given one, or one derived from the true value; None without either."""
        given = self.true if true else self.false
        return given if given is not None else self.slackened() if true else self.beyond_truth()

    def beyond_truth(self) -> Range | None:
        """The false control derived from the true value."""
        if self.truth is None or self.range.equals is not None:
            return self.off_target()
        return self.range.moved(
            {name: self.beyond(self.truth, +1 if name == "low" else -1) for name, _ in self.range.edges()}
        )

    def slackened(self) -> Range | None:
        """The true control derived from the true value."""
        if self.truth is None:
            return None
        if self.range.equals is not None:
            return self.range.moved({"equals": self.truth})
        return self.range.moved(
            {name: self.slack(self.truth, -1 if name == "low" else +1) for name, _ in self.range.edges()}
        )

    def off_target(self) -> Range | None:
        """The false control of an equality: a value at three times the tolerance."""
        target, within = self.range.equals, self.range.within
        if target is None or within is None:
            return None
        return self.range.moved({"equals": plus(target, within, times=3)})

    def beyond(self, truth: Edge, sign: int) -> Edge:
        """An edge just beyond the true value, where the bound is false."""
        return scaled(truth, 1 + sign * SHARE * _sign(truth))

    def slack(self, truth: Edge, sign: int) -> Edge:
        """An edge just short of the true value, where the bound is true."""
        return scaled(truth, 1 + sign * SHARE * _sign(truth))

    def control_in_words(self, true: bool, in_words: Callable[[Range], str]) -> str:
        """Describe the false or the true control of the claim as a whole; `in_words` turns a range into words."""
        control = self.control(true)
        if isinstance(control, dict):
            return f"{in_words(self.range)} with {', '.join(f'{k} = {v}' for k, v in control.items())}"
        return UNDECLARED if control is None else in_words(control)

    def typeset(self, allowed: Range) -> str:
        """A claimed range of the quantity as text with `$LaTeX$`."""
        return f"${self.statement(allowed)}$"


@dataclass(frozen=True, kw_only=True)
class Bound(Form):
    """A value with a lower bound, an upper bound or both."""

    name: ClassVar[str] = "bound"


@dataclass(frozen=True, kw_only=True)
class Identity(Form):
    """Two sides that are equal: their difference is zero, or no larger than its rounding error."""

    name: ClassVar[str] = "identity"

    def claimed(self, allowed: Range) -> str:
        """The equation itself."""
        return f"{self.plain_quantity} = 0"

    def statement(self, allowed: Range) -> str:
        """The equation itself."""
        return f"{self.quantity} = 0"


@dataclass(frozen=True, kw_only=True)
class Along(Form):
    """A quantity derived from the values along a ray."""

    along: str = "n"
    start: Formula
    stop: Formula
    points: Any = None
    scale: str = ""

    @property
    def symbol(self) -> str:
        """The symbol of the growing quantity, in LaTeX."""
        return self.scale or self.grows

    @property
    def grows(self) -> str:
        """The coordinate that is varied, in LaTeX."""
        return letter(self.along)


@dataclass(frozen=True, kw_only=True)
class Limit(Along):
    """Bounds on the limit of a value along a ray."""

    name: ClassVar[str] = "bound"

    @property
    def observed(self) -> str:
        """The name of the measured limit, as text with `$LaTeX$`."""
        return f"limit of ${self.quantity}$ in ${self.grows}$"

    def claimed(self, allowed: Range) -> str:
        """A claimed range of the limit in plain text."""
        return allowed.text(f"lim {self.plain_quantity}")

    def statement(self, allowed: Range) -> str:
        """A claimed range of the limit in LaTeX."""
        return allowed.latex(rf"\lim_{{{self.symbol} \to \infty}} {self.quantity}")


@dataclass(frozen=True, kw_only=True)
class Exponent(Along):
    """The exponent of a power law along a ray."""

    name: ClassVar[str] = "exponent"

    @property
    def observed(self) -> str:
        """The name of the measured exponent, as text with `$LaTeX$`."""
        return f"limit exponent of ${self.quantity}$ in ${self.symbol}$"

    def beyond(self, truth: Edge, sign: int) -> Edge:
        """The nearest exponent that a limit with this resolution can tell from the true one."""
        return plus(truth, sign * CONTROL_DISTANCE)

    def slack(self, truth: Edge, sign: int) -> Edge:
        """The true exponent itself: there the ratio to the power decides."""
        return truth

    def off_target(self) -> Range | None:
        """The false control of an equality of exponents."""
        target = self.range.equals
        return None if target is None else self.range.moved({"equals": plus(target, CONTROL_DISTANCE)})

    def slackened(self) -> Range | None:
        """The true control with strict edges made closed: at the true exponent O and Ω hold, and o and ω do not."""
        true = super().slackened()
        return None if true is None else replace(true, strict=False)

    def claimed(self, allowed: Range) -> str:
        """The claimed powers in plain text, as Ω, O and Θ, or ω and o."""
        powers = ((LANDAU[name, allowed.strict][0], plain(self.power(power))) for name, power in allowed.edges())
        return ", ".join(f"{self.plain_quantity} = {letter}({power})" for letter, power in powers)

    def statement(self, allowed: Range) -> str:
        """The claimed powers in LaTeX, as Omega, O and Theta, or omega and o."""
        return r", \quad ".join(
            rf"{self.quantity} = {LANDAU[name, allowed.strict][1]}\left({self.power(power)}\right)"
            for name, power in allowed.edges()
        )

    def power(self, power: Edge) -> str:
        """The power s^a in LaTeX; s if a = 1, and 1 if a = 0."""
        return {"0": "1", "1": self.symbol}.get(str(power), f"{self.symbol}^{{{power.inline_latex}}}")


def exponent(
    function: Callable[..., Any] | Call,
    quantity: str,
    /,
    *,
    along: Mapping[str, Stretch] | None = None,
    low: Value | None = None,
    high: Value | None = None,
    equals: Value | None = None,
    strict: bool = False,
    truth: Value | None = None,
    control: Controls | None = None,
    scale: str = "",
    of: str = "",
    method: str | tuple[str | None, Grade] | None = None,
    over: Over | None = None,
) -> Form:
    r"""Claim that a positive quantity grows like a power of s -> infinity: Omega(s^low), O(s^high) or Theta(s^equals).

    Parameters
    ----------
    function
        The measuring function, called by name with the coordinates of the cell and the growing coordinate; it returns
        (value, error), or a mapping of names to such pairs. It gets `seed`, `contexts` and `backend` if it takes them.
        Write `at(function, name=value)` to fix further arguments.
    quantity
        The measured quantity, in LaTeX.
    along
        The growing coordinate and its range: `{"n": (start, stop)}`, or (start, stop, points), as numbers or formulas
        in the coordinates; at least two decades. The points of n and d are whole numbers. By default n, from 1e4 to
        1e30.
    low, high, equals
        The exponent: a formula in the coordinates and in the symbols of the readings. If the law also has a power of
        log s, measure the quantity divided by that power.
    strict
        True if the power itself is excluded: omega(s^low), o(s^high).
    truth
        The true exponent. The controls are derived from it: the false one lies twice the resolution of limits beyond
        it, and the true one is the claim with this exponent.
    control
        The false control, if it is not derived: an exponent, `dict(low=..., high=...)`, or other coordinates for which
        the same claim is false. Or a pair (false, true), either of which may be None; the true control gives
        coordinates or exponents for which the claim is true.
    scale
        The base of the power in LaTeX, if it is not the growing coordinate: w* grows with Lambda while n is varied.
    of
        The name of the quantity among those that the function returns. Coordinates in braces in the name, such as
        "{trained} to {tested}", are passed to the function only if it takes them.
    method
        The method of measurement. The grade of the numbers depends on what was returned and what ran
        (`lipverify.claims.evidence`). A function that takes `contexts` is "montecarlo" by default. Any other one is
        graded "proved" if it returns a number of a certified theorem, "exact" if it returns an exact value, "bounded"
        if it returns what a method of lipverify returned to it, with its error, and "estimated" otherwise. "exact"
        declares that the function derives its numbers from bounds of lipverify by its own arithmetic: they are
        "bounded" if lipverify made bounds, and drew nothing, while it ran. A pair (method, grade) states the best grade
        that the numbers may have, such as ("montecarlo", "observed").
    over
        Coordinates of this form only, in addition to those of its claim.

    Returns
    -------
    Form
        For `claim`.

    Raises
    ------
    InvalidInput
        If a rule is broken; `lipverify verify` shows the line.

    Examples
    --------
    >>> def window(d, n): return n**0.5, 1e-12 * n**0.5
    >>> exponent(window, "w^*", low="1/d", truth="1/2").quantity
    'w^*'
    """
    line = caller_line()
    ray = _ray({"n": (1e4, 1e30)} if along is None else along, scale, line)
    return form_of(
        Exponent, function, quantity, line, **ray, low=low, high=high, equals=equals,
        strict=strict, truth=truth, control=control, of=of, method=method, over=over,
    )  # fmt: skip


def bound(
    function: Callable[..., Any] | Call,
    quantity: str,
    /,
    *,
    low: Value | None = None,
    high: Value | None = None,
    equals: Value | None = None,
    within: Value | None = None,
    strict: bool = False,
    truth: Value | None = None,
    control: Controls | None = None,
    along: Mapping[str, Stretch] | None = None,
    scale: str = "",
    of: str = "",
    method: str | tuple[str | None, Grade] | None = None,
    over: Over | None = None,
) -> Form:
    r"""Claim that a value lies between bounds in each cell, or equals another value within a tolerance.

    Parameters
    ----------
    function, quantity, of, method, over
        As for `exponent`; the function is called with the coordinates of the cell.
    low, high, equals, within
        The bounds: formulas in the coordinates, numbers, or functions of coordinates by name. `within` is the largest
        allowed distance from `equals`, in units of the value; the control of an equality lies three times as far away.
    strict
        True if the value must differ from low and high.
    truth
        The true value; the controls differ from it by a tenth.
    control
        The false control, or a pair (false, true): a bound that replaces the given one, `dict(low=..., high=...)`, or
        other coordinates for which the same bound fails (holds).
    along, scale
        As for `exponent`: with them the bounds apply to the limit of a positive value along a ray.

    Returns
    -------
    Form
        For `claim`.

    Raises
    ------
    InvalidInput
        If a rule is broken; `lipverify verify` shows the line.

    Examples
    --------
    >>> def noise(d): return 1.0 / d, 1e-15
    >>> bound(noise, "N", high="2/d", control="1/(2*d)").quantity
    'N'
    """
    line = caller_line()
    kind, limit = (Bound, {}) if along is None else (Limit, _ray(along, scale, line))
    return form_of(
        kind, function, quantity, line, **limit, low=low, high=high, equals=equals, within=within, strict=strict,
        truth=truth, control=control, of=of, method=method, over=over,
    )  # fmt: skip


def identity(
    function: Callable[..., Any] | Call,
    quantity: str,
    /,
    *,
    control: Controls,
    of: str = "",
    method: str | tuple[str | None, Grade] | None = None,
    over: Over | None = None,
) -> Form:
    r"""Claim that two sides are equal: their difference is exactly zero, or at most a bound on its rounding error.

    Parameters
    ----------
    function
        A function that returns the difference: as a SymPy expression or matrix, which must be 0 for all values of its
        symbols; as a fraction; or as (difference, bound on its rounding error).
    quantity
        The difference, in LaTeX.
    control
        Other coordinates for which the identity is false, for example with one letter of the formula changed. Or a pair
        of these, (false, true).
    of, method, over
        As for `exponent`.

    Returns
    -------
    Form
        For `claim`.

    Raises
    ------
    InvalidInput
        If a rule is broken; `lipverify verify` shows the line.

    The rest is as for `bound`. An exact difference is graded "exact", a difference of floats "estimated".

    Examples
    --------
    >>> def difference(kappa): return kappa - 1.0, 1e-15
    >>> identity(difference, "a - b", over={"kappa": 1.0}, control={"kappa": 0.9}).quantity
    'a - b'
    """
    line = caller_line()
    return form_of(
        Identity, function, quantity, line, equals=0, control=control, of=of, method=method, over=over,
    )  # fmt: skip


def _ray(along: Any, scale: str, line: int) -> dict[str, Any]:
    """The growing coordinate and its range, as fields of a form."""
    rule = "along = {!r}: give the growing coordinate and its range: {{'n': (start, stop)}} or (start, stop, points)."
    if not isinstance(along, Mapping) or len(along) != 1:
        raise Fault(rule.format(along), "along", line=line)
    ((grows, ray),) = along.items()
    if not isinstance(grows, str) or not isinstance(ray, tuple | list) or len(ray) not in (2, 3):
        raise Fault(rule.format(along), "along", line=line)
    start, stop = (formula(end, name="along") for end in ray[:2])
    return {"along": grows, "start": start, "stop": stop, "points": ray[2] if len(ray) == 3 else None, "scale": scale}


def form_of(kind: type[Form], called: Any, quantity: Any, line: int, **given: Any) -> Form:
    """Make a form from a declaration; refuse one that breaks a rule that can be checked without points."""
    if not isinstance(quantity, str) or not quantity.strip():
        raise Fault("no quantity: the quantity is what the function measures, in LaTeX such as r'w^*'; a claim without "
                    "it is refused.", "quantity", line=line)  # fmt: skip
    function, fixed = (called.function, called.where) if isinstance(called, Call) else (called, {})
    if not callable(function):
        raise Fault(f"{function!r} is not a function that measures {quantity}.", line=line)
    try:
        sampled = "contexts" in names(function)
    except ValueError:
        raise Fault(f"{function!r} does not say what it takes: write a function that calls it.", line=line) from None
    edges = {name: given.pop(name, None) for name in (*EDGES, "within")}
    strict = bool(given.pop("strict", False))
    try:
        given["method"], given["grade"] = _method(given.get("method"))
        given["range"] = range_of(**edges, strict=strict)
        given["false"], given["true"] = _controls(given.pop("control", None), given["range"])
        if given.get("truth") is not None:
            given["truth"] = edge(given["truth"], "truth")
    except Fault as fault:
        raise Fault(str(fault), fault.keyword, fault.item, line) from None
    if given["method"] is None and sampled:
        given["method"] = "montecarlo"
    told = {name: value for name, value in given.items() if value is not None}
    return kind(measure=function, quantity=on_one_line(quantity), given=fixed, line=line, **told)


def _controls(value: Any, claimed: Range) -> tuple[Range | dict[str, Any] | None, Range | dict[str, Any] | None]:
    """The false and the true control, from the false one or a pair."""
    if isinstance(value, tuple | list) and len(value) != 2:
        raise Fault(f"control = {value!r}: it is the false control, or both: (false, true).", "control")
    false, true = value if isinstance(value, tuple | list) else (value, None)
    return _control(false, claimed), _control(true, claimed)


def _control(value: Any, claimed: Range) -> Range | dict[str, Any] | None:
    """Read a control: a value for the only bound, bounds by name, or other coordinates."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        if set(value) & {*EDGES, "within"}:
            strict, slack = value.get("strict", claimed.strict), value.get("within", claimed.within)
            given = {edge_name: value[edge_name] for edge_name in EDGES if edge_name in value}
            slack = slack if "equals" in given else None
            return range_of(**given, within=slack, strict=bool(strict), keyword="control")
        return dict(value)
    edges = [edge_name for edge_name, _ in claimed.edges()]
    if len(edges) != 1:
        raise Fault(f"control = {value!r}: which bound is it? Write dict(low=...), dict(high=...) or both.", "control")
    return claimed.moved({edges[0]: edge(value, "control")})


def _method(value: Any) -> tuple[str | None, Grade | None]:
    """The method of measurement, and the best grade that its numbers may have."""
    method, grade = value if isinstance(value, tuple | list) and len(value) == 2 else (value, None)
    if method is not None and (not isinstance(method, str) or not method.strip()):
        rule = "it is a word for how the function measures, such as 'exact', or (method, grade)"
        raise Fault(f"method = {value!r}: {rule}.", "method")
    if grade is not None and grade not in get_args(Grade):
        raise Fault(f"method = {value!r}: its grade is one of {', '.join(get_args(Grade)[2:-1])}.", "method")
    if grade in ("proved", "exact", "by hand"):
        rule = f"nothing is {grade} by saying so"
        way_out = "leave the grade out and return a number of a theorem, an expression of SymPy, a fraction or a ball"
        raise Fault(f"method = {value!r}: {rule}; {way_out}.", "method")
    return method, grade


def _sign(truth: Edge) -> int:
    """The sign of a true value, read from its text: a negative value without a leading minus needs a given control."""
    return -1 if str(truth).startswith("-") else 1


def sides_of(forms: tuple[Form, ...]) -> Iterator[str]:
    """The sides of an id with {side}: "lower" if all one-sided forms have a low bound, "upper" if all have a high."""
    one_sided = [form for form in forms if form.range.equals is None]
    for side, name in (("lower", "low"), ("upper", "high")):
        if one_sided and all(getattr(form.range, name) is not None for form in one_sided):
            yield side
