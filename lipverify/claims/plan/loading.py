"""The claims of a claims file, or its refusal with the line and the rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NoReturn, TypeVar

from lipverify.claims.language.claim import Declaration, Sought
from lipverify.claims.language.contents import contents, in_library
from lipverify.claims.language.fault import Fault
from lipverify.claims.language.file import DECLARATIONS, ClaimsFile, read_file
from lipverify.claims.language.lines import line_of
from lipverify.claims.ledger.record import Heading
from lipverify.claims.plan.claim import Claim
from lipverify.claims.plan.profile import Profile
from lipverify.errors import InvalidInput
from lipverify.foundation.interruption import Interrupted
from lipverify.foundation.shipped import shipped

T = TypeVar("T")


def claims_of(path: str, profile: Profile) -> tuple[Claim, ...]:
    """The claims that a file declares.

    The file is executed: a claims file is code.

    Raises
    ------
    InvalidInput
        If the file cannot be read or executed, declares no claims, or a claim breaks a rule; the message begins with
        the file and, where it is known, the line.
    """
    if in_library(path):
        return library_claims(shipped() / Path(path).expanduser().resolve().relative_to(shipped()), profile)
    file = read_file(path)
    found = _declared(file, profile)
    taken = set(contents().headings)
    rule = "lipverify's own claims have this name; begin with one of yours, such as 'mine'"
    guarded(file, lambda: _require_ids(found, lambda stem: stem not in taken, rule))
    guarded(file, lambda: _plan(found))
    heading = Heading(section=f"Claims of {file.name}", title="")
    return tuple(replace(claim, file=path, heading=heading) for claim, _ in found)


def sought_in(path: str, pattern: str | None, profile: Profile) -> list[Sought]:
    """The claims of a file whose ids are the pattern or begin with it, to be searched for counterexamples.

    Raises
    ------
    InvalidInput
        If the file is refused, or none of its claims is meant.
    """
    claims = {claim.id for claim in claims_of(path, profile)}
    file = read_file(str(Path(path).expanduser().resolve()) if in_library(path) else path)
    declared: Sequence[Declaration] = getattr(file.module(), DECLARATIONS)
    found = [each for declaration in declared for each in declaration.sought(profile) if each.id in claims]
    wanted = [each for each in found if pattern is None or matches(each.id, pattern)]
    if not wanted:
        raise InvalidInput(f"claim = {pattern!r} is not in {path}; it has {', '.join(each.id for each in found)}.")
    return wanted


def matches(id: str, pattern: str) -> bool:
    """Whether an id is a pattern, begins with it (up to a "/" or "."), or matches it with wildcards."""
    return id == pattern or id.startswith((f"{pattern}/", f"{pattern}.")) or fnmatchcase(id, pattern)


def library_claims(path: Path, profile: Profile) -> tuple[Claim, ...]:
    """The claims of a file that comes with lipverify, under their headings."""
    file, headings = read_file(str(path)), contents().headings
    found = _declared(file, profile)
    own = {stem for stem, home in contents().files.items() if home == path}
    rule = "the table of contents does not name this file as its home"
    guarded(file, lambda: _require_ids(found, own.__contains__, rule))
    under = [(claim, headings[claim.id.partition("/")[0]]) for claim, _ in found]
    return tuple(replace(claim, heading=heading, title=_titled(claim, heading)) for claim, heading in under)


def _titled(claim: Claim, heading: Heading) -> str:
    """The title of its statement, and then what is its own."""
    return f"{heading.title}: {claim.title}"


def _declared(file: ClaimsFile, profile: Profile) -> list[tuple[Claim, int]]:
    """The claims of a file with the lines of their declarations."""
    module = guarded(file, file.module)
    declared: Sequence[Declaration] = getattr(module, DECLARATIONS)
    found = guarded(file, lambda: list(_claims(declared, profile)))
    if not found:
        start = "`lipverify new claim` writes one to start from"
        raise InvalidInput(f"{file.path}: there are no claims in this file; {start}.")
    return found


def _claims(declared: Sequence[Declaration], profile: Profile) -> Iterator[tuple[Claim, int]]:
    """The claims that are declared; a fault is on the line of its declaration, or of the form in it."""
    for declaration in declared:
        try:
            yield from ((claim, declaration.line) for claim in declaration.claims(profile))
        except Fault as fault:
            raise fault.within(declaration.line) from None


def _plan(found: Sequence[tuple[Claim, int]]) -> None:
    """Plan the evidence, so that what is wrong with it is said before anything is measured."""
    for claim, line in found:
        try:
            _ = claim.measurements
        except Fault as fault:
            raise fault.within(line) from None


def _require_ids(found: Sequence[tuple[Claim, int]], allowed: Callable[[str], bool], rule: str) -> None:
    """Refuse an id that two claims have, or whose stem belongs elsewhere."""
    seen: set[str] = set()
    for claim, line in found:
        if not allowed(claim.id.partition("/")[0]):
            raise Fault(f"id = {claim.id!r}: {rule}.", "id", line=line)
        if claim.id in seen:
            raise Fault(f"id = {claim.id!r}: two claims have it; an id belongs to one claim.", "id", line=line)
        seen.add(claim.id)


def guarded(file: ClaimsFile, step: Callable[[], T]) -> T:
    """The result of a step that runs code of the file; whatever that raises is a refusal with its line."""
    try:
        return step()
    except Interrupted:
        raise
    except BaseException as error:
        _refuse(file, error)


def _refuse(file: ClaimsFile, error: BaseException) -> NoReturn:
    line = line_of(error, file)
    place = f"{file.path}:{line}" if line else file.path
    raise InvalidInput(f"{place}: {' '.join(_reason(error).split())}") from None


def _reason(error: BaseException) -> str:
    """What happened, in words, and the way out where there is a usual one."""
    if isinstance(error, InvalidInput):
        return str(error)
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg}."
    if isinstance(error, ModuleNotFoundError):
        return f"{error}; a claims file stands by itself: what it imports must be installed wherever it is measured."
    if isinstance(error, SystemExit):
        return "the file ended the program; a claims file only declares."
    return f"{type(error).__name__}: {error}"
