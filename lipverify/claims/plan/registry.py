"""The registry of claims: those shipped with lipverify, and those of files given by path.

Claims are built on request: only the files that can contain them are read.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import NoReturn, TypeVar

from lipverify.claims.language.claim import Declaration
from lipverify.claims.language.contents import contents
from lipverify.claims.language.file import DECLARATIONS, ClaimsFile, Fault, in_library, line_of, located, read_file
from lipverify.claims.ledger.record import Heading
from lipverify.claims.plan.claim import Claim
from lipverify.claims.plan.declaration import Sought, claims, sought
from lipverify.claims.plan.profile import Profile, profile_named
from lipverify.errors import InvalidInput
from lipverify.foundation.files import is_path
from lipverify.foundation.process import Interrupted
from lipverify.foundation.quoting import shown, told
from lipverify.foundation.shipped import shipped


def all_claims(profile: Profile | None = None) -> tuple[Claim, ...]:
    """Every claim shipped with lipverify, in the order of the table of contents."""
    return _built_in(tuple(contents().files), profile or profile_named("quick"))


def select_claims(patterns: Sequence[str] = (), profile: Profile | None = None) -> tuple[Claim, ...]:
    """Select the claims whose id equals a pattern, begins with one (up to a "/" or "."), or matches its wildcards.

    A pattern may also be the path of a claims file (it ends in .py, or begins with /, . or ~); the file's claims come
    first. The other patterns select among the claims of the files, and a pattern that matches none of them selects
    among lipverify's own claims. A file from which no pattern selects gives all its claims. Without patterns, all of
    lipverify's own claims are selected.

    Raises
    ------
    InvalidInput
        If a pattern matches nothing, a claims file is refused, or two files have a claim with the same id.
    """
    chosen_profile = profile or profile_named("quick")
    paths = list(dict.fromkeys(pattern for pattern in patterns if is_path(pattern)))
    wanted = [pattern for pattern in patterns if not is_path(pattern)]
    files = _claims_of_files(paths, chosen_profile)
    own = [claim for claims in files.values() for claim in claims]
    elsewhere = [pattern for pattern in wanted if not any(matches(claim.id, pattern) for claim in own)]
    chosen = [claim for claims in files.values() for claim in _chosen(claims, wanted) or claims]
    if not elsewhere:
        return (*chosen, *(() if paths else all_claims(chosen_profile)))
    built_in = _built_in(tuple(_stems(elsewhere)), chosen_profile)
    for pattern in elsewhere:
        if not any(matches(claim.id, pattern) for claim in built_in):
            _refuse(pattern, (*own, *built_in))
    return (*chosen, *_chosen(built_in, elsewhere))


@lru_cache(maxsize=8)
def _built_in(stems: tuple[str, ...], profile: Profile) -> tuple[Claim, ...]:
    """The shipped claims of these stems, in the order of the table of contents; each file is read once."""
    files, headings = contents().files, contents().headings
    paths = dict.fromkeys(path for stem in stems for path in files[stem])
    claims = [claim for path in paths for claim in library_claims(path, profile)]
    places = {stem: position for position, stem in enumerate(headings)}
    return tuple(sorted(claims, key=lambda claim: places[claim.id.partition("/")[0]]))


def _stems(patterns: Iterable[str]) -> list[str]:
    """The stems of claims that may match a pattern."""
    stems, wanted = list(contents().files), [pattern.partition("/")[0] for pattern in patterns]
    return [stem for stem in stems if any(matches(stem, first) or "*" in first for first in wanted)]


def entitled(patterns: Sequence[str], title: str | None = None, author: str | None = None) -> tuple[str, str]:
    """The title and the author of a report: as given, or `TITLE` and `AUTHOR` of the first claims file that has them.

    Empty if neither exists: the report then has lipverify's own title and no author.
    """
    modules = [read_file(pattern).module() for pattern in dict.fromkeys(patterns) if is_path(pattern)]

    def named(name: str, given: str | None) -> str:
        here = ((module.__file__, getattr(module, name.upper(), None)) for module in modules)
        stated = next(((f"{path}: {name.upper()}", text) for path, text in here if text is not None), (name, ""))
        where, text = stated if given is None else (name, given)
        if not isinstance(text, str) or len(text) > 200 or len(text.splitlines()) > 1:
            raise InvalidInput(f"{where} = {shown(text)}: give a text of one line, of at most 200 letters.")
        return text.strip()

    return named("title", title), named("author", author)


def _claims_of_files(paths: Sequence[str], profile: Profile) -> dict[str, tuple[Claim, ...]]:
    """The claims of each file; refused if two files have a claim with the same id, or a symbol with two meanings."""
    files = {path: claims_of(path, profile) for path in paths}
    homes: dict[str, str] = {}
    meanings: dict[str, str] = {}
    for path, held in files.items():
        for claim in held:
            if homes.setdefault(claim.id, path) != path:
                raise InvalidInput(f"{path}: id = {claim.id!r}: {homes[claim.id]} has a claim of this id too.")
            for symbol, meaning in claim.symbols.items():
                if meanings.setdefault(symbol, meaning) != meaning:
                    way_out = "one report has one meaning for a symbol, so rename it, or verify the files one by one"
                    raise InvalidInput(f"{path}: SYMBOLS: {symbol} has another meaning in another file; {way_out}.")
    return files


def _chosen(claims: Sequence[Claim], patterns: Sequence[str]) -> tuple[Claim, ...]:
    """The claims that a pattern selects; a full id selects only that claim, not longer ids that begin with it."""
    exact = {claim.id for claim in claims} & set(patterns)
    wide = [pattern for pattern in patterns if pattern not in exact]
    return tuple(c for c in claims if c.id in exact or any(matches(c.id, pattern) for pattern in wide))


def _refuse(pattern: str, claims: Sequence[Claim]) -> NoReturn:
    """The error for a pattern that matches nothing."""
    known = {part for claim in claims for part in (claim.id, claim.id.split("/")[0])} | set(contents().headings)
    near = difflib.get_close_matches(pattern, sorted(known), n=1, cutoff=0.4)
    hint = f" did you mean {near[0]!r}?" if near else ""
    raise InvalidInput(f"claim = {pattern!r} is not known;{hint} `lipverify list` has them; yours need their file.")


T = TypeVar("T")


def claims_of(path: str, profile: Profile) -> tuple[Claim, ...]:
    """The claims that a file declares.

    The file is executed, because a claims file is code.
    """
    if in_library(path):
        return library_claims(shipped() / Path(path).expanduser().resolve().relative_to(shipped()), profile)
    file = read_file(path)
    planned = _declared(file, profile)
    taken = set(contents().headings)
    rule = "lipverify's own claims have this name; begin with one of yours, such as 'mine'"
    guarded(file, lambda: _require_ids(planned, lambda stem: stem not in taken, rule))
    guarded(file, lambda: _plan(planned))
    symbols = guarded(file, lambda: file.symbols)
    heading = Heading(section=f"Claims of {file.name}", title="")
    return tuple(replace(claim, file=path, heading=heading, symbols=symbols) for claim, _ in planned)


def sought_in(path: str, pattern: str | None, profile: Profile) -> list[Sought]:
    """The claims of a file that a pattern selects, for the search for counterexamples.

    Raises
    ------
    InvalidInput
        If the file is refused, or the pattern selects none of its claims.
    """
    claims = {claim.id for claim in claims_of(path, profile)}
    file = read_file(str(Path(path).expanduser().resolve()) if in_library(path) else path)
    candidates = [candidate for candidate in _sought(file, profile) if candidate.id in claims]
    wanted = [candidate for candidate in candidates if pattern is None or matches(candidate.id, pattern)]
    if not wanted:
        ids = ", ".join(candidate.id for candidate in candidates)
        raise InvalidInput(f"claim = {pattern!r} is not in {path}; it has {ids}.")
    return wanted


@lru_cache
def sought_named(file: ClaimsFile, id: str, profile: Profile) -> Sought:
    """The claim with this id in a file that `sought_in` has read; works in any process."""
    return next(candidate for candidate in _sought(file, profile) if candidate.id == id)


def _sought(file: ClaimsFile, profile: Profile) -> Iterator[Sought]:
    declared: Sequence[Declaration] = getattr(file.module(), DECLARATIONS)
    for declaration in declared:
        for candidate in sought(declaration, profile):
            yield replace(candidate, file=file)


def matches(id: str, pattern: str) -> bool:
    """True if an id equals a pattern, begins with it (up to a "/" or "."), or matches its wildcards."""
    return id == pattern or id.startswith((f"{pattern}/", f"{pattern}.")) or fnmatchcase(id, pattern)


def library_claims(path: Path, profile: Profile) -> tuple[Claim, ...]:
    """The claims of a shipped file, with their headings."""
    file, headings = read_file(str(path)), contents().headings
    planned = _declared(file, profile)
    rule = "no file of the theorems gives it a heading, as HEADINGS = {stem: (section, place, title)}"
    guarded(file, lambda: _require_ids(planned, headings.__contains__, rule))
    under = [(claim, headings[claim.id.partition("/")[0]]) for claim, _ in planned]
    return tuple(replace(claim, heading=heading, title=f"{heading.title}: {claim.title}") for claim, heading in under)


def _declared(file: ClaimsFile, profile: Profile) -> list[tuple[Claim, int]]:
    """The claims of a file, with the lines of their declarations."""
    module = guarded(file, file.module)
    declared: Sequence[Declaration] = getattr(module, DECLARATIONS)
    planned = guarded(file, lambda: list(_claims(declared, profile)))
    if not planned:
        start = "`lipverify new claim` writes one to start from"
        raise InvalidInput(f"{file.path}: there are no claims in this file; {start}.")
    return planned


def _claims(declared: Sequence[Declaration], profile: Profile) -> Iterator[tuple[Claim, int]]:
    """The declared claims; a fault names the line of the declaration, or of the form in it."""
    for declaration in declared:
        with located(declaration.line):
            yield from ((claim, declaration.line) for claim in claims(declaration, profile))


def _plan(planned: Sequence[tuple[Claim, int]]) -> None:
    """Plan the evidence, so that faults in it are reported before anything is measured."""
    for claim, line in planned:
        with located(line):
            _ = claim.measurements


def _require_ids(planned: Sequence[tuple[Claim, int]], allowed: Callable[[str], bool], rule: str) -> None:
    """Refuse an id that two claims share, or whose stem is not allowed in this file."""
    seen: set[str] = set()
    for claim, line in planned:
        if not allowed(claim.id.partition("/")[0]):
            raise Fault(f"id = {claim.id!r}: {rule}.", "id", line=line)
        if claim.id in seen:
            raise Fault(f"id = {claim.id!r}: two claims have it; an id belongs to one claim.", "id", line=line)
        seen.add(claim.id)


def guarded(file: ClaimsFile, step: Callable[[], T]) -> T:
    """Run a step that executes code of the file; any exception becomes a refusal with its line."""
    try:
        return step()
    except Interrupted:
        raise
    except BaseException as error:
        line = line_of(error, file)
        where = f"{file.path}:{line}" if line else file.path
        raise InvalidInput(f"{where}: {' '.join(_reason(error).split())}") from None


def _reason(error: BaseException) -> str:
    """The reason for an exception in words, with the usual remedy if there is one."""
    if isinstance(error, InvalidInput):
        return str(error)
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg}."
    if isinstance(error, ModuleNotFoundError):
        return f"{error}; a claims file must be self-contained: its imports must be installed wherever it is measured."
    if isinstance(error, SystemExit):
        return "the file ended the program; a claims file only declares."
    return told(error)
