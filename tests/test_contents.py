"""The table of contents: every claim has a place in it, and every place has a claim."""

from __future__ import annotations

from itertools import pairwise

import pytest

from checks._contents import CONTENTS, NOT_WRITTEN
from lipverify.claims.claim import Claim
from lipverify.claims.registry import all_claims, headings, select_claims

STEMS = [stem for titles in CONTENTS.values() for stem in titles]


@pytest.fixture(scope="module")
def claims() -> tuple[Claim, ...]:
    return all_claims()


@pytest.fixture(scope="module")
def written(claims: tuple[Claim, ...]) -> list[str]:
    """The stems of the claims there are, in their order."""
    return list(dict.fromkeys(claim.id.split("/")[0] for claim in claims))


def test_a_stem_has_one_place() -> None:
    assert len(set(STEMS)) == len(STEMS)
    assert list(headings()) == STEMS


def test_every_claim_has_a_place(written: list[str]) -> None:
    assert set(written) <= set(STEMS), "name these stems in checks/_contents.py"


def test_every_place_has_a_claim_or_is_kept_for_one(written: list[str]) -> None:
    assert set(STEMS) - set(written) <= NOT_WRITTEN, "no file of checks/ has a claim of these stems"


def test_no_place_is_kept_for_a_claim_that_is_there(written: list[str]) -> None:
    assert not NOT_WRITTEN & set(written), "take these stems out of NOT_WRITTEN"
    assert set(STEMS) >= NOT_WRITTEN


def test_claims_come_in_the_order_of_the_contents_and_know_their_heading(claims: tuple[Claim, ...]) -> None:
    places = [STEMS.index(claim.id.split("/")[0]) for claim in claims]
    assert all(first <= second for first, second in pairwise(places))
    for claim in claims:
        heading = headings()[claim.id.split("/")[0]]
        assert claim.heading == heading
        assert heading.title in CONTENTS[heading.section].values()


def test_a_selection_keeps_the_order_of_the_contents() -> None:
    patterns = ("softmax.window-printed", "softmax.split")
    chosen = [claim.id for claim in select_claims(patterns)]
    assert chosen[0] == "softmax.split"
    assert len(chosen) > 1
