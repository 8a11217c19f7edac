"""What every declaration states: its words, its source, its recorded verdict, and the function that measures."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lipverify.claims.claim import ID, Claim
from lipverify.claims.ledger import Source
from lipverify.claims.own.fault import FUNCTION, Fault
from lipverify.claims.own.file import DECLARATIONS, FileFunction, home_of
from lipverify.claims.place import HOME
from lipverify.claims.verdict import VERDICTS, Verdict
from lipverify.errors import InvalidInput

if TYPE_CHECKING:
    from lipverify.claims.registry import Profile

RECORDABLE = tuple(verdict for verdict in VERDICTS if verdict != "error")
OFFERED = ("seed", "contexts", "backend")
"""What a function may ask for by name beside its coordinates: what the command line says of sampling."""
LEFT_OUT = {
    "id": "an id such as 'mine.window/tanh' names it",
    "title": "a title says what is claimed in words",
    "statement": "a statement says what is claimed, in LaTeX",
    "quantity": "the quantity is what the function measures, such as 'w*'",
    "source": "a source is (paper, place, what is printed there), such as ('My notes', 'Theorem 1', '$w$ grows')",
    "method": "method is a word for how the function measures, such as 'exact'",
    "claimed": "claimed is an expression such as '1/(d + 2)'",
    "control": "a control is a falsified twin, which must come out refuted on the same evidence",
}


def require(keyword: str, value: Any) -> None:
    """Refuse what is left out."""
    if value is None or (isinstance(value, str | tuple | list) and not value):
        raise Fault(f"no {keyword}: {LEFT_OUT[keyword]}; a claim without it is refused.", keyword)


@dataclass(frozen=True, kw_only=True)
class Statement:
    """The part of a declaration that all kinds share."""

    id: str
    title: str
    statement: str
    source: Source
    quantity: str
    expected: Verdict | None
    assumes: tuple[str, ...]
    corrected: str
    method: str
    line: int

    def claim(self, **evidence: Any) -> Claim:
        """The claim that this states, with its evidence."""
        return Claim(
            id=self.id,
            title=self.title,
            statement=self.statement,
            source=self.source,
            expected=self.expected,
            assumptions=tuple(self.assumes),
            corrected=self.corrected,
            **evidence,
        )


def stated_by(*, source: Any, assumes: Any, line: int, **words: Any) -> Statement:
    """A statement, refused where it breaks a rule."""
    for name in ("id", "title", "statement", "quantity", "method", "corrected"):
        value = words[name]
        if value is not None and not isinstance(value, str):
            raise Fault(f"{name} = {value!r}: it must be text.", name)
        if name != "corrected":
            require(name, value and value.strip())
    if not ID.fullmatch(words["id"]):
        rule = "an id is `family.name` and then parts joined by '/', in lower case, such as 'mine.window/tanh'"
        raise Fault(f"id = {words['id']!r}: {rule}.", "id")
    if words["expected"] is not None and words["expected"] not in RECORDABLE:
        choice = ", ".join(RECORDABLE)
        raise Fault(f"expected = {words['expected']!r}: choose one of {choice}, or leave it out.", "expected")
    if not isinstance(assumes, list | tuple) or not all(isinstance(each, str) for each in assumes):
        raise Fault(f"assumes = {assumes!r}: it must be a list of texts.", "assumes")
    return Statement(source=sourced(source), assumes=tuple(assumes), line=line, **words)


@dataclass(frozen=True)
class Measured:
    """A function that measures, and what it takes beside its coordinates."""

    function: Callable[..., Any]
    extras: tuple[str, ...]
    keyword: str

    def found(self) -> FileFunction:
        """The function as it can be sent to other processes."""
        module, name = home_of(self.function), getattr(self.function, "__name__", repr(self.function))
        if module is None:
            raise Fault(f"{name} is not a function of this file; write it there with `def`.", self.keyword)
        try:
            found: FileFunction = getattr(module, HOME).function(self.function)
        except InvalidInput as error:
            raise Fault(str(error), self.keyword) from None
        if found.__wrapped__ is not self.function:
            rule = "is not the function of that name in this file, by which other processes would find it"
            raise Fault(f"{name} {rule}; give it a name of its own.", self.keyword)
        return found

    def options(self, profile: Profile) -> dict[str, Any]:
        """What of the profile it asks for."""
        return {name: getattr(profile, name) for name in self.extras}


class Declaration:
    """A claim that a file declares: `statement`, and the claim it makes."""

    statement: Statement

    def claim(self, profile: Profile) -> Claim:
        """The claim, with its evidence as planned by the profile."""
        raise NotImplementedError


def sourced(source: Any) -> Source:
    """A source, from itself or from (paper, place, printed)."""
    require("source", source)
    if isinstance(source, list | tuple) and len(source) == 3 and all(isinstance(each, str) for each in source):
        source = Source(paper=source[0], place=source[1], printed=source[2])
    if not isinstance(source, Source) or not all(part.strip() for part in (source.paper, source.place, source.printed)):
        raise Fault(f"source = {source!r}: {LEFT_OUT['source']}.", "source")
    return source


def relative_error(error: Any) -> float | None:
    """The declared relative error of values that a function returns by themselves."""
    if error is None:
        return None
    if isinstance(error, bool) or not isinstance(error, int | float) or not 0 <= error < math.inf:
        raise Fault(f"error = {error!r}: the relative error of a value must be finite and >= 0.", "error")
    return float(error)


def measured_by(function: Any, coordinates: Sequence[str], keyword: str = FUNCTION) -> Measured:
    """The function, refused unless it can be called with the coordinates by name."""
    name = getattr(function, "__name__", repr(function))
    if not callable(function):
        raise Fault(f"{name} is not a function; it must take {', '.join(coordinates)}.", keyword)
    parameters = inspect.signature(function).parameters.values()
    anything = any(each.kind is each.VAR_KEYWORD for each in parameters)
    plain = [each for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)]
    names = {each.name for each in plain}
    needed = {each.name for each in parameters if each.default is each.empty} - {*coordinates, *OFFERED}
    extra = needed - {each.name for each in parameters if each.kind in (each.VAR_KEYWORD, each.VAR_POSITIONAL)}
    missing = [each for each in coordinates if each not in names and not anything]
    if missing or extra:
        wrong = f"it does not take {missing[0]}" if missing else f"nothing gives it {sorted(extra)[0]}"
        takes, offers = ", ".join(coordinates), ", ".join(OFFERED)
        raise Fault(f"{name}: {wrong}; it is called with {takes} by name, and with {offers} if it takes them.", keyword)
    return Measured(function, tuple(each for each in OFFERED if each in names and each not in coordinates), keyword)


def declare(function: Callable[..., Any], declaration: Declaration) -> None:
    """Add a declaration to those of the claims file that the function is from, if it is from one."""
    module = home_of(function)
    if module is not None:
        getattr(module, DECLARATIONS).append(declaration)


def caller_line() -> int:
    """The line on which the function that asks was called."""
    frame = inspect.currentframe()
    for _ in range(2):
        frame = frame.f_back if frame is not None else None
    return frame.f_lineno if frame is not None else 0
