"""Which claims there are, and in which order: the files of `checks/`, each with a function `claims(profile)`.

Claims of one's own come from files that are given by their paths.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Literal, NoReturn

from lipverify.claims.claim import Claim
from lipverify.claims.ledger import Heading
from lipverify.errors import InvalidInput

PROFILES = ("quick", "full")


@dataclass(frozen=True)
class Profile:
    """How much evidence to gather: dimensions, points on a ladder, sampled contexts."""

    name: Literal["quick", "full"]
    dimensions: tuple[int, ...]
    points: int
    contexts: int
    seed: int = 0
    backend: str = "numpy"


def profile_named(name: str, seed: int = 0, backend: str = "numpy") -> Profile:
    """The profile called `name`."""
    if name == "quick":
        return Profile("quick", (2, 3, 4, 5, 6, 7, 8), 12, 40_000, seed, backend)
    if name == "full":
        return Profile("full", (2, 3, 4, 5, 6, 7, 8, 9, 10, 12), 27, 400_000, seed, backend)
    raise InvalidInput(f"profile = {name!r} is not known; choose one of: {', '.join(PROFILES)}.")


@lru_cache(maxsize=8)
def all_claims(profile: Profile | None = None) -> tuple[Claim, ...]:
    """Every claim of every file in `checks/`, in the order of the table of contents.

    Readings of one statement stay in the order of their file; a claim that the contents do not know comes last.

    Raises
    ------
    InvalidInput
        If two claims have the same id.
    """
    import checks

    chosen = profile or profile_named("quick")
    found = [claim for module in _modules(checks.__path__) for claim in import_module(module).claims(chosen)]
    ids = [claim.id for claim in found]
    twice = sorted({id for id in ids if ids.count(id) > 1})
    if twice:
        raise InvalidInput(f"id = {twice[0]!r}: two claims have it; an id is permanent and belongs to one claim.")
    return _ordered(found, headings())


def _modules(path: Iterable[str]) -> list[str]:
    """The modules with claims: those whose name does not begin with an underscore, in folders too."""
    found = (info.name for info in walk_packages(path, "checks.") if not info.ispkg)
    return sorted(name for name in found if not any(part.startswith("_") for part in name.split(".")))


def headings() -> dict[str, Heading]:
    """The heading of each stem, in the order of the table of contents.

    >>> next(iter(headings()))
    'softmax.split'
    """
    from checks._contents import CONTENTS

    return {
        stem: Heading(section=section, title=title)
        for section, titles in CONTENTS.items()
        for stem, title in titles.items()
    }


def _ordered(claims: Sequence[Claim], headings: dict[str, Heading]) -> tuple[Claim, ...]:
    """The claims under their headings, in the order of the headings."""
    places = {stem: place for place, stem in enumerate(headings)}
    stems = {claim.id: claim.id.split("/")[0] for claim in claims}
    ordered = sorted(claims, key=lambda claim: places.get(stems[claim.id], len(places)))
    return tuple(replace(claim, heading=headings.get(stems[claim.id], claim.heading)) for claim in ordered)


def select_claims(patterns: Sequence[str] = (), profile: Profile | None = None) -> tuple[Claim, ...]:
    """The claims whose id is a pattern, begins with one (up to a "/" or "."), or matches one with wildcards.

    A pattern may also be the path of a claims file (it ends in .py, or begins with /, . or ~): its claims stand before
    the others. Patterns choose among them, and a pattern that matches none of them among the claims of `checks/`; a
    file of which no pattern chooses gives all its claims. Without patterns, these are all claims of `checks/`.

    Raises
    ------
    InvalidInput
        If a pattern matches nothing, a claims file is refused, or two files have a claim of the same id.
    """
    paths = list(dict.fromkeys(pattern for pattern in patterns if is_path(pattern)))
    wanted = [pattern for pattern in patterns if not is_path(pattern)]
    files = _claims_of_files(paths, profile or profile_named("quick"))
    own = [claim for claims in files.values() for claim in claims]
    elsewhere = [pattern for pattern in wanted if not any(_matches(claim.id, pattern) for claim in own)]
    chosen = [claim for claims in files.values() for claim in _chosen(claims, wanted) or claims]
    built_in = all_claims(profile) if elsewhere or not paths else ()
    for pattern in elsewhere:
        if not any(_matches(claim.id, pattern) for claim in built_in):
            _refuse(pattern, (*own, *built_in))
    return (*chosen, *(_chosen(built_in, elsewhere) if elsewhere else built_in))


def is_path(pattern: str) -> bool:
    """Whether it is the path of a claims file and not a pattern for ids.

    >>> is_path("my_claims.py"), is_path("softmax.split"), is_path("*/ambient")
    (True, False, False)
    """
    in_a_folder = os.sep in pattern and Path(pattern).exists()
    return in_a_folder or pattern.endswith(".py") or pattern.startswith(("/", ".", "~"))


def _claims_of_files(paths: Sequence[str], profile: Profile) -> dict[str, tuple[Claim, ...]]:
    """The claims of each file, refused if two files have a claim of the same id."""
    if not paths:
        return {}
    from lipverify.claims.own.loading import claims_of

    files = {path: claims_of(path, profile) for path in paths}
    homes: dict[str, str] = {}
    for path, claims in files.items():
        for claim in claims:
            if homes.setdefault(claim.id, path) != path:
                raise InvalidInput(f"{path}: id = {claim.id!r}: {homes[claim.id]} has a claim of this id too.")
    return files


def _chosen(claims: Sequence[Claim], patterns: Sequence[str]) -> tuple[Claim, ...]:
    return tuple(claim for claim in claims if any(_matches(claim.id, pattern) for pattern in patterns))


def _refuse(pattern: str, claims: Sequence[Claim]) -> NoReturn:
    """The message for a pattern that matches nothing."""
    stems = {part for claim in claims for part in (claim.id, claim.id.split("/")[0])}
    near = difflib.get_close_matches(pattern, sorted(stems), n=1, cutoff=0.4)
    hint = f" did you mean {near[0]!r}?" if near else ""
    raise InvalidInput(f"claim = {pattern!r} is not known;{hint} `lipverify list` shows them all.")


def _matches(id: str, pattern: str) -> bool:
    return id == pattern or id.startswith((f"{pattern}/", f"{pattern}.")) or fnmatchcase(id, pattern)
