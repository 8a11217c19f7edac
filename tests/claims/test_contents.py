"""The table of contents: every claim has an entry, and every entry a claim."""

from __future__ import annotations

import ast

import pytest

from lipverify.claims.language.contents import HEADINGS, contents  # internal: how a file names its headings
from lipverify.claims.plan import Claim, all_claims, select_claims
from lipverify.foundation.shipped import shipped

STEMS = list(contents().headings)


@pytest.fixture(scope="module")
def claims() -> tuple[Claim, ...]:
    return all_claims()


@pytest.fixture(scope="module")
def written(claims: tuple[Claim, ...]) -> list[str]:
    """The stems of all claims, in order."""
    return list(dict.fromkeys(claim.id.split("/")[0] for claim in claims))


def test_a_stem_has_one_home() -> None:
    texts = [path.read_text("utf-8") for path in shipped().rglob("*.py")]
    named = [stem for text in texts for found in HEADINGS.findall(text) for stem in ast.literal_eval(found)]
    assert sorted(named) == sorted(STEMS)
    assert len(STEMS) > 30


def test_every_claim_has_a_place_and_every_place_a_claim_in_their_common_order(written: list[str]) -> None:
    """The stems of the headings and those of the claims are the same list."""
    assert written == STEMS


def test_claims_come_in_the_order_of_the_contents_and_know_their_heading(claims: tuple[Claim, ...]) -> None:
    places = [STEMS.index(claim.id.split("/")[0]) for claim in claims]
    assert places == sorted(places)
    for claim in claims:
        heading = contents().headings[claim.id.split("/")[0]]
        assert claim.heading == heading
        assert claim.title.startswith(f"{heading.title}: ")


def test_a_selection_keeps_the_order_of_the_contents() -> None:
    patterns = ("softmax.window-printed", "softmax.split")
    chosen = [claim.id for claim in select_claims(patterns)]
    assert chosen[0] == "softmax.split"
    assert len(chosen) > 1
