"""A claim that is by hand names a section of a page, and that section is there."""

from __future__ import annotations

import re

import pytest

from lipverify.claims.plan import all_claims
from tests import ROOT

BY_HAND = sorted({claim.by_hand for claim in all_claims() if claim.by_hand})
HEADING = re.compile(r"^#{1,3} (.+)$", re.MULTILINE)


def anchors(page: str) -> set[str]:
    """The anchors that MyST gives to the headings of a page."""
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in HEADING.findall(page)}


def missing(by_hand: str) -> bool:
    """Whether no section is where a claim says that its argument is."""
    name, _, anchor = by_hand.partition("#")
    path = ROOT / name
    return path.parent != ROOT / "docs" or not path.is_file() or anchor not in anchors(path.read_text())


@pytest.mark.parametrize("by_hand", BY_HAND)
def test_the_argument_of_a_claim_is_a_section_of_the_documents(by_hand: str) -> None:
    assert not missing(by_hand)


@pytest.mark.parametrize(
    "by_hand",
    ["docs/arguments.md", "docs/arguments.md#no-such-section", "docs/none.md#whitening", "README.md#lipverify"],
)
def test_an_argument_that_is_not_there_is_missing(by_hand: str) -> None:
    assert missing(by_hand)


def test_every_argument_is_of_a_claim() -> None:
    page = (ROOT / "docs" / "arguments.md").read_text()
    sections = re.split(r"^(?=## )", page, flags=re.MULTILINE)[1:]
    argued = {f"docs/arguments.md#{anchor}" for each in sections if "**Argument" in each for anchor in anchors(each)}
    assert argued
    # a claim that is refuted declares no range: its finding names the section
    declared = " ".join(path.read_text() for path in (ROOT / "checks").glob("*/*.py"))
    named = set(re.findall(r"docs/arguments\.md#[\w-]+", declared))
    assert argued <= named
    assert not [each for each in sorted(named) if missing(each)]
