"""The claims of a claims file, or its refusal with the line and the rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from lipverify.claims.claim import Claim
from lipverify.claims.ledger import Heading
from lipverify.claims.own.fault import Fault
from lipverify.claims.own.file import DECLARATIONS, ClaimsFile, read_file
from lipverify.claims.own.lines import last_line_of, line_of
from lipverify.claims.own.statement import Declaration
from lipverify.errors import InvalidInput

if TYPE_CHECKING:
    from lipverify.claims.registry import Profile

T = TypeVar("T")


def claims_of(path: str, profile: Profile) -> tuple[Claim, ...]:
    """The claims of a file: those that it declares, `Claim` objects at module level, and those of `claims(profile)`.

    The file is executed: a claims file is code.

    Raises
    ------
    InvalidInput
        If the file cannot be read or executed, holds no claims, or a claim breaks a rule; the message begins with the
        file and, where it is known, the line.
    """
    file = read_file(path)
    module = _guarded(file, file.module)
    declared: list[Declaration] = getattr(module, DECLARATIONS)
    found = [*_guarded(file, lambda: _claims(declared, profile)), *_plain(module)]
    if callable(getattr(module, "claims", None)):
        found += _guarded(file, lambda: _returned(module.claims(profile)))
    if not found:
        raise InvalidInput(f"{path}: there are no claims in this file; `lipverify new claim` writes one to start from.")
    lines = dict(enumerate(each.statement.line for each in declared))
    _guarded(file, lambda: _require_own_ids(found, lines, file))
    heading = Heading(section=f"Claims of {file.name}", title="")
    return tuple(replace(claim, file=path, heading=claim.heading or heading) for claim in found)


def _claims(declared: Sequence[Declaration], profile: Profile) -> list[Claim]:
    """The claims that are declared; a fault is on the line of its declaration."""
    found = []
    for declaration in declared:
        try:
            found.append(declaration.claim(profile))
        except Fault as fault:
            raise Fault(str(fault), fault.keyword, fault.item, declaration.statement.line) from None
    return found


def _plain(module: Any) -> Iterator[Claim]:
    """The claims at module level, by themselves or in lists."""
    for value in vars(module).values():
        each = value if isinstance(value, list | tuple) else [value]
        yield from (claim for claim in each if isinstance(claim, Claim))


def _returned(claims: Any) -> list[Claim]:
    """What `claims(profile)` returned, refused unless it is claims whose tasks have addresses."""
    if not isinstance(claims, list | tuple) or not all(isinstance(claim, Claim) for claim in claims):
        raise InvalidInput(f"claims(profile) returned {claims!r}: it must return a list of Claim objects.")
    return list(claims)


def _require_own_ids(claims: Sequence[Claim], lines: dict[int, int], file: ClaimsFile) -> None:
    """Refuse an id that is taken: by an earlier claim of the file, or by a statement of `checks/`."""
    from lipverify.claims.registry import headings

    taken = headings()
    for k, claim in enumerate(claims):
        line = lines.get(k) or last_line_of(file, claim.id)
        if claim.id.split("/")[0] in taken:
            rule = "lipverify's own claims have this name; begin with one of yours, such as 'mine'"
            raise Fault(f"id = {claim.id!r}: {rule}.", "id", line=line)
        if any(claim.id == other.id for other in claims[:k]):
            raise Fault(f"id = {claim.id!r}: two claims have it; an id belongs to one claim.", "id", line=line)
        _ = claim.tasks  # their addresses must be made before anything is measured


def _guarded(file: ClaimsFile, step: Callable[[], T]) -> T:
    """The result of a step that runs code of the file; whatever that raises is a refusal with its line."""
    try:
        return step()
    except (Exception, SystemExit) as error:
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
