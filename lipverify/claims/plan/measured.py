"""The measurements of declared claims: a function at a point, and the growth of a quantity along a ray."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from lipverify.claims.evidence.returned import returned
from lipverify.claims.language.family import Point, is_number
from lipverify.claims.language.file import FUNCTION, HOME, Fault, FileFunction, home_of
from lipverify.claims.ledger.record import Ray
from lipverify.claims.plan.claim import Measurement
from lipverify.claims.plan.profile import Profile, settled
from lipverify.errors import InvalidInput
from lipverify.foundation.calls import Call, parameters
from lipverify.foundation.noted import tell

if TYPE_CHECKING:
    from lipverify.scaling import Growth  # a claim is planned without importing a numerical library

LARGEST = 1_000_000
"""Largest number of numbers and letters in the result of a function."""
OFFERED = ("seed", "contexts", "backend")
"""Settings of the command line that a function receives if it has a parameter of that name."""


class LibraryFunction(msgspec.Struct, frozen=True):
    """A function of the library, identified by its name, which is the same in every process and every run.

    >>> str(LibraryFunction("lipverify.scaling", "growth"))
    'lipverify.scaling.growth'
    """

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"

    @property
    def __name__(self) -> str:
        """The name used in messages."""
        return self.name

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Import the module, and call the function."""
        return getattr(importlib.import_module(self.module), self.name)(*arguments, **named)


class Arguments(msgspec.Struct, frozen=True):
    """The arguments of a function: coordinates and settings by name.

    >>> str(Arguments({"d": 3, "n": 1e4}, {"seed": 0}))
    'd=3, n=10000.0, seed=0'
    """

    where: dict[str, Any]
    options: dict[str, Any]
    alone: dict[str, str] = {}
    """The addresses of the measurements whose results it receives, by argument."""

    def __str__(self) -> str:
        arguments = [f"{name}={value!r}" for name, value in sorted((self.where | self.options).items())]
        return ", ".join([*arguments, *(f"{name}={address}" for name, address in self.alone.items())])


def options_of(measurement: Measurement) -> set[str]:
    """The arguments of the functions of a measurement, and of all that it needs, that are not coordinates."""
    every = (argument for need in measurement.with_needs() for argument in need.arguments)
    return {name for argument in every if isinstance(argument, Arguments) for name in argument.options}


@dataclass(frozen=True)
class Measured:
    """A measuring function with the names of its parameters."""

    function: Callable[..., Any]
    takes: tuple[str, ...]
    anything: bool
    keyword: str

    def at(self, point: Point, given: Mapping[str, Any], profile: Profile) -> Measurement:
        """The measurement at a point of the family, with the measurements whose results the function receives."""
        arguments = self._arguments(point, given, profile)
        here = Point(arguments.where | arguments.options)
        alone = {
            name: call_at(call, here, profile, self.keyword) for name, call in given.items() if isinstance(call, Call)
        }
        arguments = replace(arguments, alone={name: measurement.address for name, measurement in alone.items()})
        return Measurement(value_at, (self.portable(), arguments), tuple(alone.values()))

    def along(self, ray: Ray, point: Point, of: str, given: Mapping[str, Any], profile: Profile) -> Measurement:
        """The growth of one of its quantities along a ray, which needs a value at each point of the ray."""
        values = tuple(self.at(point.joined(Point({ray.along: s})), given, profile) for s in ray.ladder)
        # the results that the values receive identify a growth as they identify its first value
        arguments = replace(self._arguments(point, given, profile), alone=values[0].arguments[1].alone)
        return Measurement(growth_along, (self.portable(), ray, arguments, of), values)

    def portable(self) -> Callable[..., Any]:
        """The function as other processes find it: by its claims file or by its module."""
        module, name = home_of(self.function), getattr(self.function, "__name__", repr(self.function))
        if module is None:
            if getattr(self.function, "__module__", "").partition(".")[0] == "lipverify":
                return LibraryFunction(self.function.__module__, name)
            raise Fault(f"{name} is not a function of this file; write it there with `def`.", self.keyword)
        try:
            file_function: FileFunction = getattr(module, HOME).function(self.function)
        except InvalidInput as error:
            raise Fault(str(error), self.keyword) from None
        if getattr(file_function.__wrapped__, "cached", file_function.__wrapped__) is not self.function:
            rule = "is not the function of that name in this file, by which other processes would find it"
            raise Fault(f"{name} {rule}; give it another name.", self.keyword)
        return file_function

    def _arguments(self, point: Point, given: Mapping[str, Any], profile: Profile) -> Arguments:
        """The arguments in the order of the function's parameters, so that equal arguments have one address."""
        known = {name: getattr(profile, name) for name in OFFERED}
        told = {name: settled(value, profile) for name, value in given.items() if not isinstance(value, Call)}
        known |= told | point.where
        further = [name for name in (*point.where, *told) if name not in self.takes] if self.anything else []
        taken = {name: known[name] for name in (*self.takes, *further) if name in known}
        where = {name: value for name, value in taken.items() if name not in OFFERED}
        return Arguments(where, {name: value for name, value in taken.items() if name in OFFERED})


def call_at(call: Call, family: Point, profile: Profile, keyword: str) -> Measurement:
    """A call as a measurement, with coordinates of the family for the arguments that it leaves out."""
    arguments = {name: value for name, value in call.where.items() if not isinstance(value, str) or "{" not in value}
    alone = {name: value for name, value in arguments.items() if isinstance(value, Call)}
    own = Point({name: settled(value, profile) for name, value in arguments.items() if name not in alone})
    return measured_by(call.function, (), (*family.where, *arguments), tuple(arguments), keyword).at(
        family.joined(own), alone, profile
    )


def measured_by(
    function: Any, coordinates: Sequence[str], optional: Sequence[str], given: Sequence[str], keyword: str = FUNCTION
) -> Measured:
    """A measuring function; a fault if it cannot be called with the coordinates by name.

    It must take the coordinates, may take the optional ones, which identify readings, and receives the given arguments.
    """
    name = getattr(function, "__name__", repr(function))
    if not callable(function):
        raise Fault(f"{name} is not a function; it must take {', '.join(coordinates)}.", keyword)
    takes = parameters(function)
    anything = any(parameter.kind is parameter.VAR_KEYWORD for parameter in takes)
    names = [
        parameter.name
        for parameter in takes
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    ]
    required = {entry.name for entry in takes if entry.default is entry.empty and entry.name in names}
    extra = sorted(required - {*coordinates, *optional, *given, *OFFERED})
    missing = [coordinate for coordinate in (*coordinates, *given) if coordinate not in names and not anything]
    if missing or extra:
        wrong = f"it does not take {missing[0]}" if missing else f"nothing supplies {extra[0]}"
        handed, offers = ", ".join((*coordinates, *given)), ", ".join(OFFERED)
        raise Fault(
            f"{name}: {wrong}; it is called with {handed} by name, and with {offers} if it takes them.", keyword
        )
    return Measured(function, tuple(names), anything, keyword)


def value_at(function: Callable[..., Any], arguments: Arguments, *results: Any) -> Any:
    """Call a function and return its result as plain data; `results` are its arguments from other measurements."""
    handed = dict(zip(arguments.alone, results, strict=True))
    result = function(**arguments.where, **arguments.options, **handed)
    if _size(result) > LARGEST:  # it would be copied between processes and written for minutes
        rule = f"returned more than {LARGEST:,} numbers and letters"
        raise InvalidInput(f"{calling(function, arguments)} {rule}; return (value, error), or such pairs by name.")
    plain, known = returned(result)
    tell(known)
    return plain


def _size(result: Any) -> int:
    """Number of numbers, letters and digits in a result, of a large one no more than the number of its entries."""
    if isinstance(result, int):
        return result.bit_length() // 3
    if isinstance(result, str | bytes):
        return len(result)
    if (entries := getattr(result, "size", None)) is not None and isinstance(entries, int):
        return entries
    if not isinstance(result, Mapping | list | tuple | set):
        return 1
    parts = (*result, *result.values()) if isinstance(result, Mapping) else result
    return len(result) if len(result) > LARGEST else sum(map(_size, parts))


def number(result: Any, of: str, call: str) -> tuple[float, float]:
    """Read (value, error) of one quantity from a result; the error may be infinite, and neither is NaN.

    A third entry gives the reason why the error is infinite (`remark`).
    """
    if of:
        if not isinstance(result, Mapping) or of not in result:
            holds = (
                f"it returned {', '.join(map(str, result))}" if isinstance(result, Mapping) else "it returned one value"
            )
            raise InvalidInput(f"{call} has no quantity {of!r}; {holds}.")
        alone, error = result[of], result.get(f"{of}_error")
        result, call = alone if error is None else (alone, error), f"{of} of {call}"
    elif isinstance(result, Mapping) and "" in result:
        result = result[""]
    if isinstance(result, list | tuple) and len(result) == 3 and isinstance(result[2], str):
        result = result[:2]
    if not isinstance(result, list | tuple) or len(result) != 2:
        way_out = "return (value, error)"
        if isinstance(result, bool):  # such as simplify(lhs - rhs) == 0
            way_out = "return the difference itself, lhs - rhs, which is decided for all values of its symbols"
        raise InvalidInput(f"{call} is {result!r}, a value without an error; {way_out}.")
    value, spread = (float(part) if is_number(part) else math.nan for part in result)
    if not (math.isfinite(value) and spread >= 0):
        rule = "it must be (value, error): a finite real number, and an error >= 0"
        raise InvalidInput(f"{call} is {result!r}; {rule}.")
    return value, spread


def remark(result: Any, of: str = "") -> str:
    """The reason why an error is infinite: the third entry of (value, error, words); usually empty.

    >>> remark({"loss": (0.2, math.inf, "one training")}, "loss"), remark((0.2, 0.1))
    ('one training', '')
    """
    if of and isinstance(result, Mapping):
        result = result.get(of)
    note = result[2] if isinstance(result, list | tuple) and len(result) == 3 else ""
    return note if isinstance(note, str) else ""


def calling(function: Callable[..., Any], arguments: Arguments | Point) -> str:
    """A call as source text, with the location of the function if it is from a claims file."""
    name = function.name if isinstance(function, FileFunction) else function.__name__
    location = f" ({function.location})" if isinstance(function, FileFunction) else ""
    return f"{name}({', '.join(f'{key}={value}' for key, value in arguments.where.items())}){location}"


def growth_along(function: Callable[..., Any], ray: Ray, arguments: Arguments, of: str, *values: Any) -> Growth:
    """The growth of a quantity along a ray, from the values measured there."""
    from lipverify.scaling import growth_of, vanishing

    measured = [
        number(value, of, f"{calling(function, arguments)} at {ray.along}={s:g}")
        for s, value in zip(ray.ladder, values, strict=True)
    ]
    ends = [(value - spread, value + spread) for value, spread in measured]
    if all(value > 0 for value, _ in measured):
        return growth_of(ray.ladder, [value for value, _ in measured], [spread / value for value, spread in measured])
    seen = next(k for k, (low, _) in enumerate(ends) if low <= 0)
    for s, (value, _), (low, high) in list(zip(ray.ladder, measured, ends, strict=True))[seen:]:
        if not low <= 0 <= high:
            rule = f"what grows like a power is positive, and 0 within its error once it is so ({ray.ladder[seen]:g})"
            raise InvalidInput(f"{calling(function, arguments)} is {value:g} at {ray.along}={s:g}; {rule}.")
    rest = (ray.ladder[seen], min(low for low, _ in ends[seen:]), max(high for _, high in ends[seen:]))
    kept, errors = [value for value, _ in measured[:seen]], [spread / value for value, spread in measured[:seen]]
    return vanishing(ray.ladder[:seen], kept, errors, rest)
