"""The sentences of the sources in `checks/sentences.toml` and `checks/quotations/`, and the counts of the README.

`python -m tests.docs` writes the counts.
"""

from __future__ import annotations

import re
import textwrap
import tomllib
from typing import NamedTuple

from lipverify.claims.ledger import counts
from lipverify.claims.plan import Claim, all_claims, profile_named, recorded
from lipverify.foundation.shipped import table
from tests import ROOT

README = ROOT / "README.md"
COUNTS = re.compile(r"(?<=<!-- counts -->\n).*?(?=<!-- /counts -->)", re.DOTALL)
LINE = 119
SOURCES = table()["papers"]
"""The papers by their keys: the slides, the reviews, the summary, and the paper on linear transformers."""


class Sentence(NamedTuple):
    """A sentence of a source: its place, its content, and its claims or the reason why it has none."""

    source: str
    place: str
    words: str
    claims: tuple[str, ...] = ()
    why: str = ""


def sentences() -> list[Sentence]:
    """The sentences of `checks/sentences.toml`, and the quoted ones, whose claims are those with that source."""
    listed = tomllib.loads((ROOT / "checks" / "sentences.toml").read_text(encoding="utf-8"))["sentence"]
    found = [Sentence(**{**each, "claims": tuple(each.get("claims", ()))}) for each in listed]
    stems: dict[tuple[str, str], dict[str, None]] = {}
    for claim in all_claims(profile_named("quick")):
        stems.setdefault((claim.source.paper, claim.source.place), {})[claim.id.partition("/")[0]] = None
    for path in sorted((ROOT / "checks" / "quotations").glob("*.toml")):
        for each in tomllib.loads(path.read_text(encoding="utf-8"))["quoted"]:
            place = each["paper"], each["place"]
            found.append(Sentence(*place, each["words"], tuple(stems.get(place, ())), each.get("why", "")))
    return found


def by_stem() -> dict[str, list[Claim]]:
    """The claims of each statement, in the order of the report."""
    found: dict[str, list[Claim]] = {}
    for claim in all_claims(profile_named("quick")):
        found.setdefault(claim.id.partition("/")[0], []).append(claim)
    return found


def counted() -> str:
    """Write the counts of the README: passages by outcome, then claims by verdict."""
    claims = recorded(all_claims(profile_named("quick")))
    return f"{textwrap.fill(f'{counts(claims)}.', LINE)}\n"
