r"""The forms of a claim, and how they are written: an exponent along a ray, bounds on a value, an identity.

A form is data: the function that measures, the quantity in LaTeX, what is allowed, and how its controls differ. What is
said of it in words is derived from that; its cells are planned elsewhere (`lipverify.claims.plan.cells`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, get_args

from lipverify.claims.language.family import EDGES, Edge, Range, edge, plus, range_of, scaled
from lipverify.claims.language.file import Fault, caller_line
from lipverify.claims.language.formula import Formula, formula
from lipverify.claims.ledger.record import Grade
from lipverify.claims.ledger.symbols import letter, on_one_line
from lipverify.foundation.calls import Call, names
from lipverify.foundation.latex import plain

SHARE = 0.1
"""How far the control of a bound is from the true value, as a share of it, where the claim does not say."""
NEAREST = "the nearest that the evidence bears out"
EQUALITY_RESOLUTION = 0.02
"""Exponents may be called equal only if the measured one is known to this much."""
CONTROL_DISTANCE = 2 * EQUALITY_RESOLUTION
"""How far the control's exponent is from the true one: the least that a limit known to the resolution tells apart."""
LETTERS = {"low": "Ω", "high": "O", "equals": "Θ"}
LATEX = {"low": r"\Omega", "high": r"\mathcal{O}", "equals": r"\Theta"}
STRICT = {"low": "ω", "high": "o", "equals": "Θ"}
STRICT_LATEX = {"low": r"\omega", "high": "o", "equals": r"\Theta"}


@dataclass(frozen=True, kw_only=True)
class Form:
    """What all forms share; see `exponent`, `bound` and `identity` for the meaning of the fields."""

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
    def said(self) -> str:
        """The quantity in plain text."""
        return plain(self.quantity)

    def only(self, side: str | None) -> Form:
        """The form of one side: of a lower bound, or of an upper one."""
        if side is None or self.range.equals is not None:
            return self
        controls: dict[str, Any] = {
            name: value.only(side) if isinstance(value, Range) else value
            for name, value in (("false", self.false), ("true", self.true))
        }
        return replace(self, range=self.range.only(side), **controls)

    @property
    def drawn(self) -> bool:
        """Whether other draws would give another number."""
        return self.method in ("montecarlo", "training")

    @property
    def observed(self) -> str:
        """What the interval is of, as text with `$LaTeX$`."""
        return f"${self.quantity}$"

    def claimed(self, allowed: Range) -> str:
        """A range of this quantity in plain text."""
        return allowed.text(self.said)

    def statement(self, allowed: Range) -> str:
        """A range of this quantity in LaTeX."""
        return allowed.latex(self.quantity)

    def control(self, true: bool) -> Range | dict[str, Any] | None:
        """The false or the true control: as it is given, else derived from the true value; None where neither is."""
        given = self.true if true else self.false
        return given if given is not None else self.slackened() if true else self.beyond_truth()

    def beyond_truth(self) -> Range | None:
        """The false control that the true value gives."""
        if self.truth is None or self.range.equals is not None:
            return self.off_target()
        return self.range.moved(
            {name: self.beyond(self.truth, +1 if name == "low" else -1) for name, _ in self.range.edges()}
        )

    def slackened(self) -> Range | None:
        """The true control that the true value gives."""
        if self.truth is None:
            return None
        if self.range.equals is not None:
            return self.range.moved({"equals": self.truth})
        return self.range.moved(
            {name: self.slack(self.truth, -1 if name == "low" else +1) for name, _ in self.range.edges()}
        )

    def off_target(self) -> Range | None:
        """The false control of an equality: another value, just outside the tolerance."""
        target, within = self.range.equals, self.range.within
        if target is None or within is None:
            return None
        return self.range.moved({"equals": plus(target, within, times=3)})

    def beyond(self, truth: Edge, sign: int) -> Edge:
        """Just beyond the true value, where the bound is false."""
        return scaled(truth, 1 + sign * SHARE * _sign(truth))

    def slack(self, truth: Edge, sign: int) -> Edge:
        """Just short of the true value, where the bound is true."""
        return scaled(truth, 1 + sign * SHARE * _sign(truth))

    def control_in_words(self, true: bool, said: Callable[[Range], str]) -> str:
        """A control of the claim as a whole, the false one or the true one; `said` puts a range into words."""
        control = self.control(true)
        if isinstance(control, dict):
            return f"{said(self.range)} with {', '.join(f'{k} = {v}' for k, v in control.items())}"
        return NEAREST if control is None else said(control)

    def typeset(self, allowed: Range) -> str:
        """A range of this quantity as text with `$LaTeX$`."""
        return f"${self.statement(allowed)}$"


@dataclass(frozen=True, kw_only=True)
class Bound(Form):
    """Bounds on a value."""

    name: ClassVar[str] = "bound"


@dataclass(frozen=True, kw_only=True)
class Identity(Form):
    """Two sides that are equal: their difference is zero, or no larger than its rounding."""

    name: ClassVar[str] = "identity"

    def claimed(self, allowed: Range) -> str:
        """An identity is an equation by itself."""
        return f"{self.said} = 0"

    def statement(self, allowed: Range) -> str:
        """An identity is an equation by itself."""
        return f"{self.quantity} = 0"


@dataclass(frozen=True, kw_only=True)
class Along(Form):
    """What is read off the values along a ray."""

    along: str = "n"
    start: Formula
    stop: Formula
    points: Any = None
    scale: str = ""

    @property
    def symbol(self) -> str:
        """What grows, in LaTeX."""
        return self.scale or self.grows

    @property
    def grows(self) -> str:
        """What is varied, in LaTeX."""
        return letter(self.along)


@dataclass(frozen=True, kw_only=True)
class Limit(Along):
    """Bounds on what a value tends to."""

    name: ClassVar[str] = "bound"

    @property
    def observed(self) -> str:
        """What the interval is of, as text with `$LaTeX$`."""
        return f"limit of ${self.quantity}$ in ${self.grows}$"

    def claimed(self, allowed: Range) -> str:
        """A range of the limit in plain text."""
        return allowed.text(f"lim {self.said}")

    def statement(self, allowed: Range) -> str:
        """A range of the limit in LaTeX."""
        return allowed.latex(rf"\lim_{{{self.symbol} \to \infty}} {self.quantity}")


@dataclass(frozen=True, kw_only=True)
class Exponent(Along):
    """A power of what grows, along a ray."""

    name: ClassVar[str] = "exponent"

    @property
    def observed(self) -> str:
        """What the interval is of, as text with `$LaTeX$`."""
        return f"limit exponent of ${self.quantity}$ in ${self.grows}$"

    def beyond(self, truth: Edge, sign: int) -> Edge:
        """The least that a limit known to the resolution tells apart."""
        return plus(truth, sign * CONTROL_DISTANCE)

    def slack(self, truth: Edge, sign: int) -> Edge:
        """At the true exponent itself the ratio decides."""
        return truth

    def off_target(self) -> Range | None:
        """The false control of an equality of exponents."""
        target = self.range.equals
        return None if target is None else self.range.moved({"equals": plus(target, CONTROL_DISTANCE)})

    def slackened(self) -> Range | None:
        """Of a quantity with the true exponent O and Ω are true, and o and ω are not."""
        true = super().slackened()
        return None if true is None else replace(true, strict=False)

    def claimed(self, allowed: Range) -> str:
        """Ω, O and Θ of powers, or ω and o, in plain text."""
        letters = STRICT if allowed.strict else LETTERS
        powers = ((letters[name], plain(self.power(power))) for name, power in allowed.edges())
        return ", ".join(f"{self.said} = {letter}({power})" for letter, power in powers)

    def statement(self, allowed: Range) -> str:
        """Omega, O and Theta of powers, or omega and o, in LaTeX."""
        letters = STRICT_LATEX if allowed.strict else LATEX
        return r", \quad ".join(
            rf"{self.quantity} = {letters[name]}\left({self.power(power)}\right)" for name, power in allowed.edges()
        )

    def power(self, power: Edge) -> str:
        """s^a in LaTeX."""
        return "1" if str(power) == "0" else f"{self.symbol}^{{{power.inline_latex}}}"


def exponent(
    function: Callable[..., Any] | Call,
    quantity: str,
    /,
    *,
    along: Mapping[str, Any] | None = None,
    low: Any = None,
    high: Any = None,
    equals: Any = None,
    strict: bool = False,
    truth: Any = None,
    control: Any = None,
    scale: str = "",
    of: str = "",
    method: str | tuple[str | None, str] | None = None,
    over: Any = None,
    **retired: Any,
) -> Form:
    r"""A positive quantity grows like a power of s: Omega(s^low), O(s^high) or Theta(s^equals) as s -> infinity.

    Parameters
    ----------
    function
        What measures, called by name with the coordinates of the cell and with what grows; it returns (value, error),
        or a mapping of names to such pairs. It gets `seed`, `contexts` and `backend` if it takes them. What else it is
        called with stands in `at(function, name=value)`.
    quantity
        What it measures, in LaTeX.
    along
        What grows, from where to where: `{"n": (start, stop)}`, or (start, stop, points), numbers or formulas in the
        coordinates; two decades at least. If it is n or d, the points are whole numbers. By default n, from 1e4 to
        1e30.
    low, high, equals
        The exponent: a formula in the coordinates and in the symbols of the readings. Of a power of log s beside it,
        measure the quantity over that power.
    strict
        Whether the power itself is left out: omega(s^low), o(s^high).
    truth
        The true exponent. The controls are derived from it: the false one lies beyond it by twice the resolution of
        limits, the true one is the claim with this exponent.
    control
        The false control, where it is not derived: an exponent, `dict(low=..., high=...)`, or other coordinates, for
        which the same claim is false. Or both, (false, true), either of which may be None; the true one is for
        coordinates or exponents for which the claim is true.
    scale
        What the power is of in words, in LaTeX, where it is not what grows: w* grows with Lambda, and n is varied.
    of
        Which quantity of those that the function returns; coordinates that its name holds in braces, such as
        "{trained} to {tested}", are not given to the function unless it takes them.
    method
        How it measures; what ran decides which grade the numbers have (`lipverify.claims.run.ran`). A function
        that takes `contexts` is "montecarlo" by default, and any other is the claim's own: "proved" where it returns
        something exact, "bounded" where it returns a value of lipverify with its error, else "estimated". "exact" says
        that it derives its numbers from bounds of lipverify by its own arithmetic: they are "bounded" if lipverify
        made bounds, and drew nothing, while it ran. A pair (method, grade) states the best grade that the numbers may
        have, such as ("montecarlo", "observed").
    over
        Coordinates of this form alone, beside those of its claim.
    retired
        Words of earlier versions, refused with what replaces them.

    Returns
    -------
    Form
        For `claim`.

    Raises
    ------
    InvalidInput
        If a rule is broken; `lipverify verify` shows the line.

    >>> def window(d, n): return n**0.5, 1e-12 * n**0.5
    >>> exponent(window, "w^*", low="1/d", truth="1/2").quantity
    'w^*'
    """
    line = caller_line()
    refuse_retired("exponent", retired, line)
    return form_of(
        Exponent, function, quantity, line, **_ray({"n": RAY} if along is None else along, scale, line), low=low,
        high=high, equals=equals, strict=strict, truth=truth, control=control, of=of, method=method, over=over,
    )  # fmt: skip


def bound(
    function: Callable[..., Any] | Call,
    quantity: str,
    /,
    *,
    low: Any = None,
    high: Any = None,
    equals: Any = None,
    within: Any = None,
    strict: bool = False,
    truth: Any = None,
    control: Any = None,
    along: Mapping[str, Any] | None = None,
    scale: str = "",
    of: str = "",
    method: str | tuple[str | None, str] | None = None,
    over: Any = None,
    **retired: Any,
) -> Form:
    r"""A value lies between bounds, cell by cell, or equals another one within a tolerance.

    Parameters
    ----------
    function, quantity, of, method, over
        As for `exponent`; the function is called with the coordinates of the cell.
    low, high, equals, within
        The bounds: formulas in the coordinates, numbers, or functions of coordinates by name. `within` is how far the
        value may be from `equals`, in its own units; the control of an equality lies three times as far.
    strict
        Whether the value must differ from low and high.
    truth
        The true value; the controls are a tenth of it away.
    control
        The false control, or both, (false, true): a bound in place of the one that is given, `dict(low=..., high=...)`,
        or other coordinates, for which the same bound fails (holds).
    along, scale
        As for `exponent`: with them the bounds are on the limit of a positive value along a ray.
    retired
        Words of earlier versions, refused with what replaces them.

    Returns
    -------
    Form
        For `claim`.

    Raises
    ------
    InvalidInput
        If a rule is broken; `lipverify verify` shows the line.

    >>> def noise(d): return 1.0 / d, 1e-15
    >>> bound(noise, "N", high="2/d", control="1/(2*d)").quantity
    'N'
    """
    line = caller_line()
    refuse_retired("bound", retired, line)
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
    control: Any,
    of: str = "",
    method: str | tuple[str | None, str] | None = None,
    over: Any = None,
    **retired: Any,
) -> Form:
    r"""Two sides are equal: their difference is zero exactly, or no larger than a bound on its rounding.

    Parameters
    ----------
    function
        What returns the difference: as an expression or a matrix of SymPy, which is 0 for all values of its
        symbols or is not; or as a fraction; or as (difference, bound on its rounding).
    quantity
        The difference, in LaTeX.
    control
        Other coordinates, for which the identity is false: one letter of the formula exchanged, ... Or two of these,
        (false, true).
    of, method, over
        As for `exponent`.
    retired
        Words of earlier versions, refused with what replaces them.

    Returns
    -------
    Form
        For `claim`.

    Raises
    ------
    InvalidInput
        If a rule is broken; `lipverify verify` shows the line.

    The rest is as for `bound`. What is exact is proved, and a difference of floats is estimated.

    >>> def difference(kappa): return kappa - 1.0, 1e-15
    >>> identity(difference, "a - b", over={"kappa": 1.0}, control={"kappa": 0.9}).quantity
    'a - b'
    """
    line = caller_line()
    refuse_retired("identity", retired, line)
    return form_of(
        Identity, function, quantity, line, equals=0, control=control, of=of, method=method, over=over,
    )  # fmt: skip


RAY = (1e4, 1e30)
"""From where to where n grows, where a claim does not say."""
RETIRED = {
    "instead": "control=(false, true) holds both controls",
    "sharp": "the true exponent, or the true value of a bound, is truth=",
    "rate": "the true exponent is truth=",
    "value": "the true value of a bound is truth=",
    "error": "the function returns (value, error)",
    "log": "measure the quantity over that power of the logarithm, and claim the exponent that is left",
    "search": "a bound in assumes= says where the statement is meant to hold, such as assumes='0 <= p <= 1'",
    "methods": "what ran is recorded",
    "agrees": "agree(...) stands beside the forms: claim(id, bound(...), agree(...), ...)",
    "given": "what else the function is called with stands in at(function, name=value)",
    "grade": "method=(method, grade) states both",
    "figures": "shows=at(function, name=...) holds figures and tables",
    "tables": "shows=at(function, name=...) holds figures and tables",
    "ray": "along={'n': (start, stop)} says what grows, and from where to where",
}
"""Keywords of earlier versions, and what is written in their place."""


def refuse_retired(form: str, retired: Mapping[str, Any], line: int) -> None:
    """Refuse a keyword of an earlier version by what is written in its place, and any other as Python does."""
    for keyword, given in retired.items():
        if keyword in RETIRED:
            raise Fault(f"{keyword} = {given!r}: {RETIRED[keyword]}.", keyword, line=line)
        raise TypeError(f"{form}() got an unexpected keyword argument '{keyword}'")


def _ray(along: Any, scale: str, line: int) -> dict[str, Any]:
    """What grows, from where to where, as fields of a form."""
    rule = "along = {!r}: it says what grows, and from where to where: {{'n': (start, stop)}} or (start, stop, points)."
    if not isinstance(along, Mapping) or len(along) != 1:
        raise Fault(rule.format(along), "along", line=line)
    ((grows, ray),) = along.items()
    if not isinstance(grows, str) or not isinstance(ray, tuple | list) or len(ray) not in (2, 3):
        raise Fault(rule.format(along), "along", line=line)
    start, stop = (formula(end, name="along") for end in ray[:2])
    return {"along": grows, "start": start, "stop": stop, "points": ray[2] if len(ray) == 3 else None, "scale": scale}


def form_of(kind: type[Form], called: Any, quantity: Any, line: int, **given: Any) -> Form:
    """A form from what is declared, refused where it breaks a rule that needs no points."""
    if not isinstance(quantity, str) or not quantity.strip():
        raise Fault("no quantity: the quantity is what the function measures, in LaTeX such as r'w^*'; a claim without "
                    "it is refused.", "quantity", line=line)  # fmt: skip
    function, beside = (called.function, called.where) if isinstance(called, Call) else (called, {})
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
    return kind(measure=function, quantity=on_one_line(quantity), given=beside, line=line, **told)


def _controls(value: Any, claimed: Range) -> tuple[Range | dict[str, Any] | None, Range | dict[str, Any] | None]:
    """The false and the true control, from the false one or from both."""
    if isinstance(value, tuple | list) and len(value) != 2:
        raise Fault(f"control = {value!r}: it is the false control, or both: (false, true).", "control")
    false, true = value if isinstance(value, tuple | list) else (value, None)
    return _control(false, claimed), _control(true, claimed)


def _control(value: Any, claimed: Range) -> Range | dict[str, Any] | None:
    """A control: a bound in place of the only one, bounds by name, or other coordinates."""
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
    """How a function measures, and the best grade that its numbers may have."""
    method, grade = value if isinstance(value, tuple | list) and len(value) == 2 else (value, None)
    if method is not None and (not isinstance(method, str) or not method.strip()):
        rule = "it is a word for how the function measures, such as 'exact', or (method, grade)"
        raise Fault(f"method = {value!r}: {rule}.", "method")
    if grade is not None and grade not in get_args(Grade):
        raise Fault(f"method = {value!r}: its grade is one of {', '.join(get_args(Grade)[1:])}.", "method")
    if grade == "proved":
        rule = "nothing is proved by saying so"
        way_out = "leave the grade out and return what proves it: an expression of SymPy, a fraction, a ball or a proof"
        raise Fault(f"method = {value!r}: {rule}; {way_out}.", "method")
    return method, grade


def _sign(truth: Edge) -> int:
    """Of a negative value more is less; one that is negative without a minus in front needs a control of its own."""
    return -1 if str(truth).startswith("-") else 1


def sides_of(forms: tuple[Form, ...]) -> Iterator[str]:
    """The sides that an id with {side} has: lower, where a low bound is given, and upper, where a high one is."""
    one_sided = [form for form in forms if form.range.equals is None]
    for side, name in (("lower", "low"), ("upper", "high")):
        if one_sided and all(getattr(form.range, name) is not None for form in one_sided):
            yield side
