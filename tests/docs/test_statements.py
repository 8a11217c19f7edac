"""Every sentence of the sources has claims or a reason why it has none, and every statement has a sentence."""

from __future__ import annotations

import re

import pytest

from lipverify.claims.ledger import outcomes  # internal: outcomes of the passages, as the report counts them
from lipverify.claims.plan import all_claims, profile_named
from lipverify.claims.run import run
from lipverify.report.sources import short  # internal: the short title of a source, as the report has it
from tests.docs import passages
from tests.docs.statements import COUNTS, README, SOURCES, Sentence, by_stem, counted, sentences


def faults(listed: list[Sentence], stems: set[str]) -> list[str]:
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
def test_a_sentence_without_claims_and_reason_is_a_fault(sentence: Sentence) -> None:
    assert len(faults([*sentences(), sentence], set(by_stem()))) == 1


def test_a_statement_without_a_sentence_is_a_fault() -> None:
    assert faults(sentences(), {*by_stem(), "softmax.new"}) == ["softmax.new is of no sentence"]


def test_the_readme_counts_are_those_of_the_claims() -> None:
    (block,) = COUNTS.findall(README.read_text(encoding="utf-8"))
    assert block == counted(), "python -m tests.docs writes it again"


def wrong(text: str, reasons: dict[tuple[str, str], passages.Reason]) -> list[str]:
    """The faults of the page of passages: the registry gives places, kinds and outcomes, the page the reasons."""
    found, registered = [], passages.registered()
    rows = {place: (about, outcome) for place, about, outcome in passages.told(text)}
    places = {f"{short(each.paper)}: {each.place}".replace("|", r"\|"): each for each in registered}
    found += [f"{place}: in the page alone" for place in rows.keys() - places.keys()]
    found += [f"{place}: not in the page" for place in places.keys() - rows.keys()]
    for place in rows.keys() & places.keys():
        passage, (about, outcome) = places[place], rows[place]
        reason = reasons.get((passage.paper, passage.place))
        word, _, grade = outcome.rstrip(")").partition(" (")
        if word not in (passages.DECIDED[passage.outcome], passages.SHOWN[passage.outcome]):
            found.append(f"{place}: {outcome}, and by the claims it {passage.outcome}")
        decided = (grade or "proved") in passages.WITHOUT_ERROR and passage.outcome != "open"
        if decided and about == passages.MATHEMATICS and reason is not None:
            found.append(f"{place}: {outcome}: no reason for what is decided without an error")
        if not decided and reason is None:
            found.append(f"{place}: {outcome}: a reason for what nothing decides without an error")
        if about != (reason.about if reason else passages.MATHEMATICS):
            found.append(f"{place}: {about}")
    known = {(each.paper, each.place) for each in registered}
    return found + [f"{place}: no such passage" for place in reasons.keys() - known]


def test_every_passage_is_in_the_page_of_passages_with_its_outcome_and_a_reason_where_no_proof_decides_it() -> None:
    text = passages.PAGE.read_text(encoding="utf-8")
    assert wrong(text, passages.reasons()) == [], "python -m tests.docs LEDGER writes it again"
    one = next(iter(passages.reasons()))
    assert len(wrong(text, {key: value for key, value in passages.reasons().items() if key != one})) >= 1
    assert wrong(text, passages.reasons() | {("S", "Theorem 9"): passages.Reason("mathematics", "none")})
    assert wrong(text.replace("| proved |", "| disproved |", 1), passages.reasons())
    assert {each.about for each in passages.reasons().values()} == {passages.MATHEMATICS, passages.EXPERIMENT}
    assert all(each.why.strip() for each in passages.reasons().values())


def test_a_passage_without_its_own_reason_names_its_readings() -> None:
    """A row of mathematics that is decided in one reading says in which."""
    why = passages.reasons()
    decided = [each for each in passages.registered() if each.holds and (each.paper, each.place) not in why]
    assert len(decided) > 5
    for each in decided:
        assert passages.named((*each.holds, *each.fails), each) == [*each.holds, *each.fails], each.place
        assert all(f'"{name}"' in passages.row(each, why, passages.unmeasured()) for name in (*each.holds, *each.fails))


def test_an_open_passage_needs_a_reason_also_where_its_readings_are_disproved() -> None:
    text, why = passages.PAGE.read_text(encoding="utf-8"), passages.reasons()
    (place, paper), *_ = [(each.place, each.paper) for each in passages.registered() if each.outcome == "open"]
    without = {key: value for key, value in why.items() if key != (paper, place)}
    shown, disproved = passages.SHOWN["open"], passages.DECIDED["open"]
    assert wrong(re.sub(rf"\| {shown} \([a-z]+\) \|", f"| {disproved} |", text), why) == []
    assert any("a reason for what" in each for each in wrong(text.replace(shown, disproved), without))


def rows_of(text: str) -> list[list[str]]:
    """The cells of each row of the README's table."""
    (table,) = passages.TABLE.findall(text)
    return [re.split(r"(?<!\\) \| ", line.strip("| \n")) for line in table.splitlines()[2:]]


def test_the_readme_table_has_the_outcomes_of_the_claims() -> None:
    rows, registered = rows_of(passages.README.read_text(encoding="utf-8")), passages.registered()
    by_place = {(each.paper, each.place): each for each in registered}
    assert [row[:3] + row[4:5] for row in rows] == [
        [passages.PAPERS[each.source], each.place.replace("||", "‖"), each.printed, each.holds]
        for each in passages.headlines()
    ]
    assert [row[3] for row in rows] == [by_place[each.source, each.place].outcome for each in passages.headlines()]
    assert len(rows) <= 23  # with its header the table has at most 25 lines, which fit on one screen
    false = {(each.paper, each.place) for each in registered if each.outcome == "false as printed"}
    assert false <= {(each.source, each.place) for each in passages.headlines()}


def test_the_readme_table_says_proved_where_the_page_of_passages_does() -> None:
    told = {place: outcome for place, _, outcome in passages.told(passages.PAGE.read_text(encoding="utf-8"))}
    for row, each in zip(rows_of(passages.README.read_text(encoding="utf-8")), passages.headlines(), strict=True):
        place = f"{short(each.source)}: {each.place}".replace("|", r"\|")
        assert (row[5] == "proved") == (told[place] in passages.DECIDED.values()), place


@pytest.mark.slow
def test_passages_listed_as_proved_are_proved_in_a_run() -> None:
    """Run the claims that decide those passages and the claims that prove them: their grade is `proved`."""
    rows = {place: outcome for place, _, outcome in passages.told(passages.PAGE.read_text(encoding="utf-8"))}
    every = all_claims(profile_named("quick"))
    decided = [
        each
        for each in passages.registered()
        if rows[f"{short(each.paper)}: {each.place}".replace("|", r"\|")] in passages.DECIDED.values()
    ]
    telling = {id for each in decided for id in each.claims}
    ledger = run([each for each in every if each.id in telling or each.proves in telling], jobs=0)
    grades = {each.place: each.grade for each in outcomes.passages(outcomes.measured(ledger.claims))}
    assert len(decided) > 5
    assert {each.place: grades[each.place] for each in decided} == {each.place: "proved" for each in decided}
