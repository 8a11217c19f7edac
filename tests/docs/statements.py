"""Write `docs/statements.md` and the counts of the README from the claims and `checks/sentences.toml`.

`python -m tests.docs.statements` writes both.
"""

from __future__ import annotations

import re
import textwrap
import tomllib
from collections import Counter
from typing import NamedTuple, get_args

from lipverify.claims.language.contents import contents
from lipverify.claims.ledger import Kind, Passage, counts, passages, recorded
from lipverify.claims.plan import Claim, all_claims, profile_named
from lipverify.report.sources import short  # internal: the short title of a source, as the report has it
from tests import ROOT

PAGE = ROOT / "docs" / "statements.md"
README = ROOT / "README.md"
COUNTS = re.compile(r"(?<=<!-- counts -->\n).*?(?=<!-- /counts -->)", re.DOTALL)
LINE = 119
SOURCES = {
    "S": "The slides",
    "A": "The summary",
    "R": "Reviews and rebuttal",
    "V": "Linear transformers, with reviews and rebuttals",
}
MARKS = {"supported": "✓", "refuted": "✗", "inconclusive": "?"}
HEAD = """\
# Every sentence of the sources

This page lists three things: every sentence that the sources assert, in shortened words, with the statements that
check it or the reason why none does; the passages that are counted, each with its outcome; and every statement with
its claims by kind and recorded verdict (✓ supported, ✗ refuted, ? open). `lipverify explain ID` explains each of
them. The page is made from the claims and `checks/sentences.toml`; the tests compare it with them.
"""


class Sentence(NamedTuple):
    """A sentence of a source: its place, its content, and its claims or the reason why it has none."""

    source: str
    place: str
    words: str
    claims: tuple[str, ...] = ()
    why: str = ""


def sentences() -> list[Sentence]:
    """The sentences of `checks/sentences.toml`."""
    listed = tomllib.loads((ROOT / "checks" / "sentences.toml").read_text(encoding="utf-8"))["sentence"]
    return [Sentence(**{**each, "claims": tuple(each.get("claims", ()))}) for each in listed]


def by_stem() -> dict[str, list[Claim]]:
    """The claims of each statement, in the order of the report."""
    found: dict[str, list[Claim]] = {}
    for claim in all_claims(profile_named("quick")):
        found.setdefault(claim.id.partition("/")[0], []).append(claim)
    return found


def verdicts(claims: list[Claim]) -> str:
    """The number of claims with each verdict, in words."""
    counts = Counter(MARKS[str(claim.expected)] for claim in claims)
    return " ".join(f"{counts[mark]} {mark}" for mark in MARKS.values() if counts[mark])


def said(sentence: Sentence) -> str:
    """A sentence as an item of the page's list."""
    end = ", ".join(f"`{stem}`" for stem in sentence.claims) if sentence.claims else f"*none: {sentence.why}*"
    return f"- {sentence.place}: {sentence.words}. → {end}\n"


def row(stem: str, claims: list[Claim]) -> str:
    """The page's row for a statement, with its claims by kind."""
    kinds = (verdicts([claim for claim in claims if claim.kind == kind]) for kind in get_args(Kind))
    return f"| `{stem}` | {contents().headings[stem].title} | " + " | ".join(kinds) + " |\n"


def counted() -> str:
    """Write the counts of the README: passages by outcome, then claims by verdict."""
    claims = recorded(all_claims(profile_named("quick")))
    return f"{textwrap.fill(f'{counts(claims)}.', LINE)}\n"


def printed(passage: Passage) -> str:
    """The page's row for a passage: its place, its outcome, and the corrected or sharper statement."""
    where = f"{short(passage.paper)}: {passage.place}".replace("|", r"\|")
    named = ", ".join(f"`{stem}`" for stem in dict.fromkeys(id.partition("/")[0] for id in passage.claims))
    readings = "; ".join([*passage.holds, *(f"not: {reading}" for reading in passage.fails)])
    instead = "; ".join(passage.instead).replace(r"\|", r"\Vert ").replace("|", r"\|")
    return f"| {where} | {passage.outcome} | {readings} | {instead} | {named} |\n"


def page() -> str:
    """The text of the page."""
    listed, found = sentences(), by_stem()
    missing = sum(not each.claims for each in listed)
    parts = [
        HEAD,
        f"\n{len(listed)} sentences: {len(listed) - missing} with claims, {missing} with a reason for none.\n",
    ]
    for source, title in SOURCES.items():
        parts += [f"\n## {title}\n\n", *(said(each) for each in listed if each.source == source)]
    parts += [
        f"\n## Passages\n\n{counted()}\n",
        "| printed in | outcome | readings | more sharply, or instead | claims |\n|---|---|---|---|---|\n",
        *(printed(each) for each in passages(recorded(all_claims(profile_named("quick"))))),
    ]
    kinds = get_args(Kind)
    parts += [
        f"\n## Kinds and verdicts\n\n| statement | title | {' | '.join(kinds)} |\n|---|---|{'---|' * len(kinds)}\n"
    ]
    return "".join([*parts, *(row(stem, claims) for stem, claims in found.items())])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    README.write_text(COUNTS.sub(lambda _: counted(), README.read_text(encoding="utf-8")), encoding="utf-8")
