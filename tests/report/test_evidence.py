"""The evidence: every cell, cross-check and source, with shared facts printed once."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from lipverify.claims.ledger import Ledger, Source
from lipverify.report.build import build  # internal: the model with drawn figures, for references between figures
from lipverify.report.drawings import Drawings  # internal: the function that draws the figures of that model
from lipverify.report.readings import names  # internal: the function that names a set of readings, for random sets
from tests.ledgers import ledger, record
from tests.report.pages import model, pages, pdf, squeezed, text_of, theorems, topic_of, words_of


def test_the_evidence_is_left_out_unless_it_is_asked_for(book: Ledger, printed: bytes, folder: Path) -> None:
    short = model(book, evidence=False)
    assert not short.topics
    assert not any(theorem.topic for theorem in theorems(short))
    content = pdf(book, folder, "short.pdf", evidence=False)
    assert len(pages(content)) < len(pages(printed))
    assert squeezed("computed by two methods") in text_of(content), "how many numbers agree is said in any case"
    assert squeezed("which holds every measured number") in text_of(content)
    assert squeezed("which holds every measured number") not in text_of(printed)


def test_readings_of_one_measurement_share_a_table_and_no_others_do() -> None:
    same = (record("a.b/lower"), record("a.b/upper", title="other"))
    topic = topic_of(*same)
    (table,) = topic.evidence
    assert table.readings == ("lower", "upper")
    assert all(len(row.judgements) == 2 for row in table.rows)
    first = same[1].cells[0]
    for change in ({"measured": 0.123}, {"error": 0.5}, {"method": "other"}, {"quantity": "q"}, {"where": {"d": 99}}):
        moved = replace(same[1], cells=(replace(first, **change), *same[1].cells[1:]))
        topic = topic_of(same[0], moved)
        assert len(topic.evidence) == 2, change


def test_a_row_of_evidence_says_where_it_was_measured() -> None:
    (table,) = topic_of(record()).evidence
    assert [words_of(heading) for heading in table.where] == ["d"]
    assert [words_of(row.where[0]) for row in table.rows] == [str(c.where["d"]) for c in record().cells]
    assert "affine law" in words_of(table.common)
    mixed = replace(record(), cells=(record().cells[0], replace(record().cells[1], where={"n": 5})))
    (table,) = topic_of(mixed).evidence
    assert [words_of(row.where[0]) for row in table.rows] == ["d = 2, affine law", "n = 5"]


def test_shared_text_of_readings_is_printed_once_and_other_text_by_reading() -> None:
    shared, own = record("a.b/affine/lower"), record("a.b/relu/lower", source=Source(paper="V", place="p", printed="q"))
    topic = topic_of(shared, own)
    assert [remark.readings for remark in topic.assumptions] == [""] * len(shared.assumptions)
    assert [remark.readings for remark in topic.sources] == ["affine", "relu"]
    assert len(topic.agreements) == 2
    assert not topic.drawings, "the only figure stands on the theorem's page"


def test_cross_checks_and_figures_of_an_earlier_statement_are_referred_to() -> None:
    (shown, *_) = record().figures
    more = (shown, replace(shown, caption="how it settles", layer="evidence"))
    report = build(ledger((record("a.b", figures=more), record("a.c", figures=more))), Drawings().add, evidence=True)
    first, second = report.topics
    assert first.drawings
    assert not second.drawings
    assert second.drawn_before == (first.drawings[0].anchor,)
    assert not second.agreements
    assert second.agreed_before == (first.anchor,)


BLANK = record()

labels = st.lists(
    st.tuples(*(st.sampled_from(words) for words in (("affine", "relu"), ("lower", "upper"), ("x", "y")))),
    min_size=1, max_size=8, unique=True,
)  # fmt: skip


@given(labels=labels, chosen=st.integers(1, 255))
def test_a_name_covers_the_readings_for_which_it_was_made(labels: list[tuple[str, ...]], chosen: int) -> None:
    readings = [replace(BLANK, id=f"a.b/{'/'.join(parts)}") for parts in labels]
    some = [reading for k, reading in enumerate(readings) if chosen >> k & 1]
    if not some:
        return
    name = names(some, readings)
    kinds = [set(kind.split("/")) for kind in name.removeprefix("all but ").split(", ")] if name else [set()]
    meant = [r for r in readings if any(kind <= set(r.id.split("/")) for kind in kinds)]
    if name.startswith("all but "):
        meant = [r for r in readings if r not in meant]
    assert meant == some
