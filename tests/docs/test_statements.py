"""Every sentence of the sources has claims or a reason why not, and every statement is of some sentence."""

from __future__ import annotations

import pytest

from tests.docs.statements import COUNTS, PAGE, README, SOURCES, Sentence, by_stem, counted, page, sentences


def faults(listed: list[Sentence], stems: set[str]) -> list[str]:
    """What is wrong with a list of sentences."""
    found = []
    for each in listed:
        if bool(each.claims) == bool(each.why.strip()):
            found.append(f"{each.place}: {each.words}: claims or a reason why not, one of the two")
        found += [f"{each.place}: no claim {stem}" for stem in each.claims if stem not in stems]
        if each.source not in SOURCES or not each.place.strip() or not each.words.strip():
            found.append(f"{each.source}, {each.place}: a sentence has source, place and words")
    covered = {stem for each in listed for stem in each.claims}
    return found + [f"{stem} is of no sentence" for stem in sorted(stems - covered)]


def test_every_sentence_has_claims_or_a_reason_and_every_statement_a_sentence() -> None:
    assert faults(sentences(), set(by_stem())) == []


@pytest.mark.parametrize(
    "sentence",
    [
        Sentence("S", "Theorem 9", "$w$ grows"),
        Sentence("S", "Theorem 9", "$w$ grows", ("softmax.split",), "and a reason"),
        Sentence("S", "Theorem 9", "$w$ grows", ("softmax.no-such-claim",)),
        Sentence("S", "Theorem 9", "$w$ grows", (), " "),
        Sentence("X", "Theorem 9", "$w$ grows", ("softmax.split",)),
    ],
)
def test_a_sentence_without_either_is_a_fault(sentence: Sentence) -> None:
    assert len(faults([*sentences(), sentence], set(by_stem()))) == 1


def test_a_statement_that_nobody_printed_is_a_fault() -> None:
    assert faults(sentences(), {*by_stem(), "softmax.new"}) == ["softmax.new is of no sentence"]


def test_the_page_is_that_of_the_claims() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m tests.docs.statements writes it anew"


def test_the_readme_counts_are_those_of_the_claims() -> None:
    (block,) = COUNTS.findall(README.read_text(encoding="utf-8"))
    assert block == counted(), "python -m tests.docs.statements writes it anew"
