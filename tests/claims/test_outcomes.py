"""Counting passages: each once and with one outcome, derived from the verdicts of its claims alone."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from lipverify.claims.ledger import (
    OUTCOMES,
    VERDICTS,
    Judged,
    Kind,
    Record,
    Verdict,
    controls,
    counts,
    measured,
    outcome,
    passages,
    read_ledger,
)
from lipverify.claims.plan import all_claims, recorded
from lipverify.foundation.quoting import counted  # internal: singular and plural as the library writes them
from tests import ROOT
from tests.commands import Commands

EXAMPLE = read_ledger(ROOT / "reports" / "example" / "ledger.json")
DECIDED: tuple[Verdict, ...] = ("supported", "refuted")


@pytest.mark.parametrize("size", range(1, 4))
def test_printed_claims_decide_a_passage(size: int) -> None:
    for printed in itertools.product(VERDICTS, repeat=size):
        found = {outcome(printed, readings) for readings in ((), (("supported",),), (("refuted",), ("error",)))}
        broke, refuted = "error" in printed, "refuted" in printed
        held = set(printed) == {"supported"}
        assert found == {"holds as printed" if held else "false as printed" if refuted and not broke else "open"}


@pytest.mark.parametrize("shape", [(1,), (2,), (1, 1), (1, 2), (1, 1, 1)])
def test_one_reading_that_holds_is_enough_and_none_refutes(shape: tuple[int, ...]) -> None:
    for verdicts in itertools.product(VERDICTS, repeat=sum(shape)):
        left = iter(verdicts)
        readings = [list(itertools.islice(left, size)) for size in shape]
        holds = any(all(verdict == "supported" for verdict in reading) for reading in readings)
        assert outcome([], readings) == ("holds in one of its readings" if holds else "open")


def test_nothing_is_open() -> None:
    assert outcome([]) == "open"
    assert passages([]) == ()
    assert counts([]) == "no claims"


@pytest.mark.parametrize("kind", ["stronger", "derived", "sharp", None])
def test_stronger_claims_belong_to_no_passage(kind: Kind | None) -> None:
    claim = Judged(id="a.b", kind=kind, verdict="refuted", paper="P", place="Lemma 1")
    assert passages([claim]) == ()
    assert counts([claim]) == "1 claim: 1 refuted"


def slowly(records: tuple[Record, ...]) -> Counter[str]:
    """The outcomes of a ledger derived again by slow and obvious code."""
    found: Counter[str] = Counter()
    for paper, place in {(record.source.paper, record.source.place) for record in records}:
        there = [record for record in records if (record.source.paper, record.source.place) == (paper, place)]
        printed = [record.verdict for record in there if record.kind == "printed"]
        open_wording = [record for record in there if record.kind == "convention"]
        if printed:
            if "error" not in printed and "refuted" in printed:
                found["false as printed"] += 1
            elif all(verdict == "supported" for verdict in printed):
                found["holds as printed"] += 1
            else:
                found["open"] += 1
        elif open_wording:
            names = {record.reading or record.id for record in open_wording}
            held = [
                name
                for name in names
                if all(each.verdict == "supported" for each in open_wording if (each.reading or each.id) == name)
            ]
            found["holds in one of its readings" if held else "open"] += 1
    return found


@given(st.data())
def test_the_counts_of_a_ledger_are_those_of_slow_and_obvious_code(data: st.DataObject) -> None:
    """The committed ledger, with its claims changed to other kinds, places, readings and verdicts."""
    kinds = st.sampled_from(["printed", "convention", "stronger"])
    places = st.sampled_from(["Lemma 1", "Lemma 2", "Figure 1"])
    records = tuple(
        replace(
            record,
            id=f"a.b/{k}",
            kind=data.draw(kinds),
            source=replace(record.source, place=data.draw(places)),
            reading=data.draw(st.sampled_from(["", "wide", "narrow"])),
            verdict=data.draw(st.sampled_from(VERDICTS)),
        )
        for k, record in enumerate(EXAMPLE.claims[:8])
    )
    found = passages(measured(records))
    assert Counter(passage.outcome for passage in found) == slowly(records)
    stated = {(record.source.paper, record.source.place) for record in records if record.kind == "printed"}
    assert sorted(id for passage in found for id in passage.claims) == sorted(
        record.id
        for record in records
        if record.kind == "printed"
        or (record.kind == "convention" and (record.source.paper, record.source.place) not in stated)
    )


def test_the_counts_of_the_committed_ledger_and_of_the_recorded_verdicts() -> None:
    assert Counter(passage.outcome for passage in passages(measured(EXAMPLE.claims))) == slowly(EXAMPLE.claims)
    found = passages(recorded(all_claims()))
    assert {passage.outcome for passage in found} == set(OUTCOMES)
    places = [(passage.paper, passage.place) for passage in found]
    assert len(set(places)) == len(places)


def test_a_passage_false_as_printed_has_a_correction() -> None:
    false = [passage for passage in passages(recorded(all_claims())) if passage.outcome == "false as printed"]
    assert false
    assert [passage.place for passage in false if not passage.instead] == []


def test_the_grade_of_a_passage_is_the_weakest_that_its_outcome_needs() -> None:
    def claim(verdict: Verdict, grade: str) -> Judged:
        return Judged(id=f"a.b/{verdict}-{grade}", kind="printed", verdict=verdict, grade=grade)  # type: ignore[arg-type]

    (held,) = passages([claim("supported", "proved"), claim("supported", "sampled")])
    (false,) = passages([claim("refuted", "sampled"), claim("refuted", "proved"), claim("supported", "observed")])
    assert (held.grade, false.grade) == ("sampled", "proved")


def test_the_grade_of_an_open_wording_is_that_of_its_readings() -> None:
    """One supported reading suffices; that no reading holds must be shown for each, by one of its claims."""

    def claim(reading: str, verdict: Verdict, grade: str) -> Judged:
        id = f"a.b/{reading}-{verdict}-{grade}"
        return Judged(id=id, kind="convention", reading=reading, verdict=verdict, grade=grade)  # type: ignore[arg-type]

    weak, strong = claim("one", "supported", "sampled"), claim("other", "supported", "proved")
    false, too, by_proof = (claim(*each) for each in (
        ("third", "refuted", "observed"), ("fourth", "refuted", "bounded"), ("third", "refuted", "proved")
    ))  # fmt: skip
    found = {
        "proved": ([weak, strong, false], [false, by_proof], [strong, false]),
        "sampled": ([weak, false], [weak, claim("one", "supported", "proved")]),
        "bounded": ([false, by_proof, too],),
        "observed": ([false, too],),
    }
    for grade, groups in found.items():
        for group in groups:
            (passage,) = passages(group)
            assert passage.grade == grade


def test_the_sentence_on_controls_is_true_of_the_cells() -> None:
    cells = [cell for record in EXAMPLE.claims for cell in record.cells]
    decided = [cell for cell in cells if cell.verdict in DECIDED]
    assert len(decided) > 10
    assert all(cell.control.verdict == cell.control.expects for cell in decided)
    assert controls(EXAMPLE.claims) == f"the control of each of {len(decided)} decided cells came out the other way"

    record = EXAMPLE.claims[0]
    first, *others = record.cells
    escaped = replace(first, control=replace(first.control, verdict=first.verdict))
    assert controls([replace(record, cells=(escaped, *others))]) == (
        f"1 of {counted(len(record.cells), 'decided cell')} had a control that did not come out the other way"
    )
    powerless = replace(escaped, verdict="inconclusive")
    assert controls([replace(record, cells=(powerless,))]) == (
        "no cell is decided; 1 cell is undecided because its control did not come out the other way"
    )


OWN = '''
from lipverify.claims import bound, claim
from lipverify.foundation.quoting import counted

LEMMA, FIGURE = (("Mine", place, "$x > 0$") for place in ("Lemma 1", "Figure 2"))


def x(at: int) -> tuple[float, float]:
    """A number without an error."""
    return float(at), 0.0


def over(*numbers: float, **bounds: float) -> object:
    """A bound on x at some numbers."""
    return bound(x, "x", over={"at": numbers}, **bounds)


for k in (1, 2):
    claim(f"mine.lemma/{k}", over(k, low=0.5, control=3.5), source=LEMMA, kind="printed")
READ = {"source": FIGURE, "kind": "convention", "reading": {"high": "high", "low": "low"}}
claim("mine.figure/high", over(1, low=5, control=(6, 0.5)), **READ)
claim("mine.figure/low", over(1, high=5, control=0.5), **READ)
claim("mine.more", over(3, low=0.5, control=3.5), source=LEMMA, kind="stronger")
'''


@pytest.mark.usefixtures("no_reports")
def test_two_passages_of_a_file_of_ones_own(
    lipverify: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text(OWN)
    done = lipverify("verify", "own.py", "--jobs", "1")
    assert done.returncode == 0, done.stderr
    shown = " ".join(done.stdout.split())
    ledger = read_ledger(Path("reports", "ledger.json"))
    lemma, figure = passages(measured(ledger.claims))
    assert (lemma.place, lemma.outcome) == ("Lemma 1", "holds as printed")
    assert lemma.claims == ("mine.lemma/1", "mine.lemma/2")
    assert (figure.place, figure.outcome) == ("Figure 2", "holds in one of its readings")
    assert (figure.holds, figure.fails) == (("low",), ("high",))
    assert "2 passages: 1 holds as printed, 1 holds in one of its readings" in shown
    assert "5 claims: 4 supported, 1 refuted" in shown
    listed = lipverify("list", "--passages", "reports/ledger.json").stdout
    assert "Mine, Lemma 1" in listed
    assert "refuted: high" in listed
    listed = lipverify("list", "--passages", "own.py").stdout
    assert "2 passages: 2 are open; 5 claims: 5 new" in " ".join(listed.split())
