"""The pages of findings: one for each misprint and gap, with words of the registry, none for what nobody printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lipverify.claims.claim import Claim
from lipverify.claims.registry import all_claims
from tests import ROOT

FOLDER = ROOT / "docs" / "findings"
PAGES = sorted(FOLDER.glob("*.md"))
MOST_LINES = 50
"""Of a page of print."""
PARTS = ("```{printed} ", "**Smallest case", "```python", "**What holds.**", "**Why", "```{behind}")
"""What a page has, in this order."""


def claims() -> dict[str, Claim]:
    return {claim.id: claim for claim in all_claims()}


def printed_in(page: str) -> str:
    """The id of the claim that a page is about."""
    found = re.search(r"^```\{printed\} (\S+)$", page, re.MULTILINE)
    assert found is not None
    return found[1]


def behind(page: str) -> list[str]:
    """The ids of the claims that stand behind a page."""
    found = re.search(r"^```\{behind\}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1].split()


def faults(page: str, known: dict[str, Claim]) -> list[str]:
    """What is wrong with a page."""
    places = [page.find(part) for part in PARTS]
    found = [
        f"no {part!r} in its place" for part, at, last in zip(PARTS, places, [-1, *places], strict=False) if at <= last
    ]
    if len(page.splitlines()) > MOST_LINES:
        found.append(f"longer than {MOST_LINES} lines")
    if found:
        return found
    ids = behind(page)
    unknown = [each for each in (printed_in(page), *ids) if each not in known]
    if unknown:
        return [f"no claim {each}" for each in unknown]
    subject = known[printed_in(page)]
    if subject.id not in ids:
        found.append("the claim that it is about is not among those behind it")
    if subject.expected != "refuted" or not subject.corrected or subject.kind == "stronger":
        found.append(f"{subject.id} is no reading of what is printed that is refuted and corrected")
    if not any(known[each].expected == "supported" for each in ids):
        found.append("nothing stands behind what holds")
    return found


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_page_has_its_parts_and_its_claims(path: Path) -> None:
    assert faults(path.read_text(encoding="utf-8"), claims()) == []


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ("**What holds.**", "What holds."),
        ("lt.momentum/derived\n", "lt.momentum/no-such-claim\n"),
        ("{printed} lt.momentum/printed", "{printed} lt.momentum/derived"),
        ("lt.momentum/derived\nlt.momentum/kappa\n", ""),
        ("**Why.**", "\n" * MOST_LINES + "**Why.**"),
    ],
)
def test_a_fault_is_seen(was: str, becomes: str) -> None:
    page = (FOLDER / "lemma-4-4.md").read_text(encoding="utf-8")
    assert was in page
    assert faults(page.replace(was, becomes), claims())


def test_every_printed_statement_that_fails_as_it_stands_has_a_page() -> None:
    missing = {each.id for each in claims().values() if each.kind == "printed" and each.expected == "refuted"}
    assert missing
    assert missing <= {printed_in(path.read_text(encoding="utf-8")) for path in PAGES}


def test_the_index_of_findings_names_every_page() -> None:
    index = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^findings/(\S+)$", index, re.MULTILINE)) == [path.stem for path in PAGES]
