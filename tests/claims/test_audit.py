"""The audit finds every change of a ledger, and accepts an unchanged one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lipverify.claims.ledger import Allowed, Ledger, Record, compare, decide, margin, settled

# internal: derives a summary from tampered cells
from lipverify.claims.ledger.reach import controls_caught, follows
from lipverify.claims.ledger.verdict import OTHER_WAY  # internal: the rule for the control of a tampered cell
from lipverify.claims.plan import CrossPlan, Measurement
from lipverify.claims.run import run
from lipverify.claims.run.audit import audit, ledger_digest, sealed, unread
from lipverify.cli import main
from tests import toys

NEAR_ONE, FALSE = Allowed(0.9, 1.1), Allowed(1.2, 1.4)


def value(x: float, error: float = 0.01) -> tuple[float, float]:
    return x, error


def judged(*values: float, **claim: Any) -> Ledger:
    """A ledger of one claim: that these values equal 1 within .1."""
    cells = [toys.cell(Measurement(value, (x,)), NEAR_ONE, FALSE, where={"k": k}) for k, x in enumerate(values)]
    return run([toys.claim(*cells, **claim)], jobs=0)


def crossed(second: float) -> CrossPlan:
    both = (Measurement(value, (1.0,)), Measurement(value, (second,)))
    return CrossPlan({}, "x", ("exact", "montecarlo"), both, lambda a, b: ((a[0], b[0]), (a[1], b[1])))


SOUND = {
    "supported": judged(1.0, 1.02),
    "refuted": judged(1.0, 1.3),
    "open": judged(1.1),
    "apart": judged(1.0, cross_checks=(crossed(1.2),)),
}


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_ledger_is_not_accused(name: str, tmp_path: Path) -> None:
    assert audit(SOUND[name]) == ()
    assert audit(msgspec.json.decode(msgspec.json.encode(SOUND[name]), type=Ledger)) == ()


def test_a_false_agreement_of_methods_is_found() -> None:
    changed = msgspec.to_builtins(SOUND["apart"])
    changed["claims"][0]["cross_checks"][0]["agrees"] = True
    assert "agrees" in {difference.what for difference in audit(msgspec.convert(changed, Ledger))}


@given(st.floats(0.5, 1.6), st.floats(1e-6, 0.3))
def test_whatever_was_measured_the_ledger_follows_from_its_data(x: float, error: float) -> None:
    cell = toys.cell(Measurement(value, (x, error)), NEAR_ONE, FALSE)
    assert audit(run([toys.claim(cell)], jobs=0)) == ()


def test_a_control_at_other_coordinates_may_keep_the_range_of_the_claim() -> None:
    """An infinite error leaves both intervals unknown; once one is known, such a control is rejected."""
    ledger = msgspec.to_builtins(judged(1.1))
    record, cell = ledger["claims"][0], ledger["claims"][0]["cells"][0]
    unknown = {"low": None, "high": None}
    cell.update(interval=unknown, measured=None, error=None, margin=0.0, note="an infinite error")
    cell["control"].update(low=0.9, high=1.1, interval=unknown, margin=0.0, verdict="inconclusive")
    record["margin"] = 0.0
    assert "control" not in {difference.what for difference in audit(msgspec.convert(ledger, Ledger))}
    half = {"low": 1.0, "high": None}
    cell.update(interval=half)
    cell["control"].update(interval=half)
    assert "not implied" in str(audit(msgspec.convert(ledger, Ledger)))


# ---- edits of a ledger of declared claims: with the old digests, and with new digests

DECLARED = dedent("""\
    from fractions import Fraction

    from lipverify.claims import bound, claim, exponent, identity, proved_window

    SAID = {"source": ("My notes", "Lemma 1", "$q$ is small"), "expected": "supported"}

    def square(x):
        return x * x, 1e-6

    def grows(n):
        return n**0.5 * (1 + 1 / n), 1e-12 * n**0.5

    def nothing(x, more=0):
        return Fraction(more)

    def window(d):
        return proved_window("affine", d).fact("window")

    def vanishing(more=0):
        import sympy

        x = sympy.Symbol("x")
        return (x + 1) ** 2 - x**2 - 2 * x - 1 + more * x

    claim("mine.square", bound(square, "x^2", high="x", control="x/10", over={"x": (0.125, 0.25)}),
          kind="printed", **SAID)
    claim("mine.square/false", bound(square, "x^2", high="x/2", control=("x/4", "x"), over={"x": 0.75}),
          kind="stronger", corrected="at most $x$", **{**SAID, "expected": "refuted"})
    claim("mine.wide", bound(square, "x^2", high="x**2 + 1e-7", control="x/5", over={"x": 0.25}), kind="derived",
          **{**SAID, "expected": "inconclusive"})
    claim("mine.grows", exponent(grows, "q", equals="1/2", control="3/5"), kind="convention", **SAID)
    claim("mine.nothing", identity(nothing, "0 x", control={"more": 1}, over={"x": 2}), kind="printed", **SAID)
    claim("mine.window", bound(window, "w^* / W", high=1, truth="3/5", over={"d": 3}), forall="large n", kind="derived",
          **SAID)
    claim("mine.vanishing", identity(vanishing, "0", control={"more": 1}), forall="x", kind="derived", **SAID)
""")
Edit = Callable[[dict[str, Any]], Any]


@pytest.fixture(scope="module")
def declared(tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    """A ledger of claims: supported, refuted, open, at equality of exponents, exact, proved, and for all x."""
    ledger = run(toys.claims_in(tmp_path_factory.mktemp("audited"), DECLARED), jobs=1)
    assert [record.verdict for record in ledger.claims] == [
        "supported", "refuted", "inconclusive", "supported", "supported", "supported", "supported",
    ]  # fmt: skip
    assert ledger.claims[3].cells[0].ratio
    assert [record.grade for record in ledger.claims[4:]] == ["exact", "proved", "exact"]
    return ledger


def record_of(place: int, **changes: Any) -> Edit:
    return lambda all: all["claims"][place].update(changes)


def cell_at(place: int, *path: str, **changes: Any) -> Edit:
    def edit(all: dict[str, Any]) -> None:
        piece = all["claims"][place]["cells"][0]
        for name in path:
            piece = piece[name]
        piece.update(changes)

    return edit


def theorem(**changes: Any) -> Edit:
    return lambda all: all["claims"][5]["cells"][0]["basis"]["returned"]["theorems"][0].update(changes)


def dropped(place: int, name: str) -> Edit:
    return lambda all: all["claims"][place][name].pop()


ANYWAY: dict[str, Edit] = {
    "a verdict": record_of(0, verdict="refuted"),
    "a refuted claim supported": record_of(1, verdict="supported"),
    "a refuted claim an error, its refuting cell left": record_of(1, verdict="error", problem="it broke"),
    "a refuted claim an error without a reason": record_of(1, verdict="error", problem="", cells=[]),
    "an open claim supported": record_of(2, verdict="supported", problem=""),
    "why a claim is open": record_of(2, problem="it needs more contexts"),
    "a problem of a claim that is decided": record_of(0, problem="none to speak of"),
    "the grade of a claim": record_of(0, grade="bounded"),
    "the number in words": record_of(0, measured="0.0157"),
    "the margin of a claim": record_of(0, margin=0.5),
    "whether the control was caught": lambda all: all["claims"][0]["control"].update(caught=False),
    "the verdict of a cell": cell_at(0, verdict="refuted"),
    "the margin of a cell": cell_at(0, margin=1.0),
    "the measured value": cell_at(0, measured=0.02),
    "the error": cell_at(0, error=0.1),
    "the interval": cell_at(0, "interval", low=0.0, high=0.001),
    "the measured value, with a note on the interval": cell_at(3, measured=0.7),
    "the interval, with a note on it": cell_at(3, "interval", low=0.9, high=0.9),
    "a negative error": cell_at(3, error=-1.0),
    "the allowed number": cell_at(0, "allowed", high=0.2),
    "the allowed number of a claim that it refutes": cell_at(1, "allowed", high=0.9),
    "the allowed range in words": cell_at(0, claimed="≤ 2 x"),
    "the formula of the allowed range": cell_at(0, "edges", high="2*x"),
    "a formula that is none": cell_at(0, "edges", high="x +"),
    "a formula of a foreign symbol": cell_at(0, "edges", high="y"),
    "an edge of another name": cell_at(0, "edges", los="x"),
    "where it was measured": cell_at(0, "where", x=0.5),
    "the control's verdict": cell_at(0, "control", verdict="supported"),
    "the control's number": cell_at(0, "control", high=0.001),
    "the control in words": cell_at(0, "control", says="≤ x/100"),
    "the control's expected verdict": cell_at(0, "control", expects="supported"),
    "a control that is implied": cell_at(0, "control", high=0.5, edges={}, says="≤ 0.5"),
    "a grade that its method cannot have": cell_at(0, grade="bounded", method="montecarlo"),
    "an exact value": cell_at(4, "basis", "returned", says="1"),
    "the form of an exact value": cell_at(4, "basis", "returned", form="number"),
    "an exact value promoted": cell_at(4, grade="proved"),
    "the reasons": cell_at(0, reasons=["a theorem"]),
    "what ran": cell_at(0, "basis", made=["sampled"]),
    "the stated error": cell_at(0, "basis", stated=1e-9),
    "a number called exact": cell_at(0, "basis", "returned", form="fraction", says="1/64"),
    "the sentence of a theorem": theorem(sentence="w* = 7 W for every n"),
    "the digest of a theorem": theorem(digest="0" * 64),
    "the proof of a theorem": theorem(proof="{}"),
    "the number of a theorem": theorem(low="7", high="7"),
    "the quantity of a theorem": theorem(quantity="w^*"),
    "the name of a number": theorem(fact="loss"),
    "the range of a theorem": theorem(ranges=["d >= 2"]),
    "a theorem left out": lambda all: all["claims"][5]["cells"][0]["basis"]["returned"].update(theorems=[]),
    "a range that the theorem does not cover": record_of(5, forall=["n"], range="for every n, at d = 3"),
    "an expression": cell_at(6, "basis", "returned", says="x - x + 1"),
    "an expression that is not read": cell_at(6, "basis", "returned", says="f(x)"),
    "a symbol": cell_at(6, "basis", "returned", symbols=["x", "y"]),
    "a cell left out": dropped(0, "cells"),
    "all cells left out": record_of(0, cells=[]),
    "a claim left out": lambda all: all["claims"].pop(1),
    "a claim put in twice": lambda all: all["claims"].append(all["claims"][0]),
    "a claim renamed": record_of(0, id="mine.round"),
    "the manifest left out": lambda all: all.update(asked=[]),
    "the counts": lambda all: all.update(counts=all["counts"].replace("1 holds", "2 hold")),
    "the outcome of a passage": lambda all: all["passages"][0].update(outcome="false as printed"),
    "the grade of a passage": lambda all: all["passages"][0].update(grade="proved"),
    "a passage left out": lambda all: all.update(passages=[]),
    "the range in words": record_of(0, range="for every x"),
    "the assumption of a limit": record_of(3, condition=""),
    "how to repeat it": record_of(0, reproduce="lipverify verify other.claim"),
    "one end of the allowed range": cell_at(4, "allowed", low=None),
    "one end of the interval": cell_at(0, "interval", low=None),
    "an interval that excludes the measured value": cell_at(3, "interval", high=0.51),
    "the start of a ray": cell_at(3, "ray", start=0.0),
    "the end of a ray": cell_at(3, "ray", stop=-1.0),
}
"""Edits that the data itself reveals, whatever the digests are."""
SEEN = {
    "a verdict": "verdict", "the verdict of a cell": "verdict", "the margin of a cell": "margin",
    "the allowed number of a claim that it refutes": "verdict, claimed", "the interval": "interval",
    "the measured value": "interval", "the control's verdict": "control's verdict",
    "a control that is implied": "control's verdict, control", "the control's expected verdict": "control must be",
    "whether the control was caught": "control", "the grade of a claim": "grade", "a claim put in twice": "id",
    "a refuted claim an error without a reason": "problem", "a grade that its method cannot have": "grade",
}  # fmt: skip
"""What is named as changed, whatever the digests are."""
BY_DIGEST: dict[str, Edit] = {
    "the kind": record_of(0, kind="stronger"),
    "the kind of a stronger one": record_of(1, kind="printed"),
    "the statement": record_of(0, statement="x^2 < x"),
    "the title": record_of(0, title="every x"),
    "the source": lambda all: all["claims"][0]["source"].update(printed="$q$ is large"),
    "the recorded verdict": record_of(0, expected="refuted"),
    "the claimed range": record_of(0, claimed="x² ≤ 2 x"),
    "the corrected statement": record_of(1, corrected="nothing"),
    "the control of a claim": lambda all: all["claims"][0]["control"].update(statement="x² ≤ x/100"),
    "the control of a claim in LaTeX": lambda all: all["claims"][0]["control"].update(latex="$x > 0$"),
    "the arguments of the function": cell_at(0, given={"case": "smaller"}),
    "a ray": cell_at(3, ray=None),
    "the points of a ray": cell_at(3, "ray", points=100),
    "a range without its formulas": cell_at(0, edges={}),
    "a control without its formulas": cell_at(0, "control", edges={}),
    "the quantity in LaTeX": cell_at(0, quantity_latex="$r$"),
    "the claim of a cell in LaTeX": cell_at(0, claimed_latex="$< 0$"),
    "a control of another quantity": cell_at(0, "control", quantity="r"),
    "the section": record_of(0, heading={"section": "Proofs", "title": "Proved"}),
    "the reading": record_of(0, reading="another"),
    "the file": record_of(0, file="others.py", reproduce="lipverify verify others.py mine.square"),
    "the finding": record_of(0, finding="It holds for every $x$."),
    "the seconds": record_of(0, seconds=1e6),
    "the seed": lambda all: all.update(seed=1),
    "the profile": lambda all: all.update(profile="full"),
    "the backend": lambda all: all.update(backend="cupy"),
    "the version": lambda all: all["provenance"]["versions"].update(numpy="9.9"),
    "the machine": lambda all: all["provenance"].update(machine="another"),
    "the start": lambda all: all["provenance"].update(started="2020-01-01T00:00:00+00:00"),
}
"""Edits that the digests reveal."""
BY_COMPARISON = (
    "the kind", "the kind of a stronger one", "the statement", "the title", "the source", "the recorded verdict",
    "the claimed range", "the corrected statement", "the control of a claim", "the section", "the reading",
)  # fmt: skip
"""The edits of these that a comparison with another run reveals if the digests are new."""


def edited(ledger: Ledger, edit: Edit) -> Ledger:
    changed = json.loads(msgspec.json.encode(ledger))
    edit(changed)
    return msgspec.convert(changed, Ledger)


def test_a_ledger_of_declared_claims_is_not_accused(declared: Ledger) -> None:
    ledger = declared
    assert audit(ledger) == ()
    assert audit(edited(ledger, lambda all: None)) == ()


@pytest.mark.parametrize("what", [*ANYWAY, *BY_DIGEST])
def test_no_edit_passes(declared: Ledger, what: str) -> None:
    found = {difference.what for difference in audit(edited(declared, (ANYWAY | BY_DIGEST)[what]))}
    assert found
    assert what not in SEEN or {*SEEN[what].split(", ")} <= found


def audited(ledger: Ledger | dict[str, Any], folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[Any, str]:
    """The exit code and the output of the command for a ledger."""
    (folder / "ledger.json").write_bytes(msgspec.json.encode(ledger))
    with pytest.raises(SystemExit) as ended:
        main(["audit", str(folder / "ledger.json")])
    return ended.value.code, capsys.readouterr().out


@pytest.mark.parametrize("what", ANYWAY)
def test_an_edit_that_contradicts_the_data_is_found_despite_new_digests(declared: Ledger, what: str) -> None:
    ledger = edited(declared, ANYWAY[what])
    counts = {each.id: (each.cells, each.cross_checks) for each in declared.asked}
    known = [record for record in ledger.claims if record.id in counts]
    manifest = sealed(msgspec.structs.replace(ledger, claims=tuple(known)), counts)
    missing = tuple(each for each in declared.asked if each.id not in {record.id for record in known})
    with_all = msgspec.structs.replace(
        manifest,
        claims=ledger.claims,
        passages=ledger.passages,
        counts=ledger.counts,
        asked=() if "manifest" in what else (*manifest.asked, *missing),
    )
    assert audit(msgspec.structs.replace(with_all, digest=ledger_digest(with_all)))


@pytest.mark.parametrize("what", BY_COMPARISON)
def test_an_edit_that_contradicts_the_claims_is_found_by_comparison(declared: Ledger, what: str) -> None:
    made = sealed(edited(declared, BY_DIGEST[what]))
    assert audit(made) == ()
    assert [claim.restated for claim in compare(made, declared).claims if claim.restated]


# ---- edits after which all derived fields are derived again, with new digests


def remade(ledger: Ledger) -> Ledger:
    """The ledger with every verdict, margin, grade, number in words and range derived again from its cells."""
    return sealed(
        msgspec.structs.replace(ledger, claims=tuple(map(_remade, ledger.claims))),
        {record.id: (len(record.cells), len(record.cross_checks)) for record in ledger.claims},
    )


def _remade(record: Record) -> Record:
    cells = []
    for cell in record.cells:
        control = cell.control
        verdict = decide(control.interval, control.allowed)
        control = msgspec.structs.replace(
            control, verdict=verdict, margin=margin(control.interval, control.allowed),
            expects=OTHER_WAY.get(cell.alone, "refuted"),
        )  # fmt: skip
        own = {"verdict": settled(cell.alone, verdict), "margin": margin(cell.interval, cell.allowed)}
        made_again = msgspec.structs.replace(cell, control=control, **own)
        grade, reasons = made_again.graded
        cells.append(msgspec.structs.replace(made_again, grade=grade, reasons=reasons))
    made = follows(record.id, cells, record.cross_checks, record.forall, record.by_hand)
    caught = controls_caught(made["verdict"], cells)
    whole = msgspec.structs.replace(record.control, caught=caught)
    return msgspec.structs.replace(record, cells=tuple(cells), control=whole, **made)


REMADE: dict[str, tuple[str, Edit]] = {
    "a fraction of another number": ("evidence", cell_at(0, "basis", "returned", form="fraction", says="1/32")),
    "a fraction that is none": ("evidence", cell_at(4, "basis", "returned", says="x")),
    "a ball about another number": ("evidence", cell_at(
        4, "basis", "returned", form="ball", says="[0.5 +/- 0.1]")),
    "a ball with less than its radius": ("error of the exact value", cell_at(
        4, "basis", "returned", form="ball", says="[0.0 +/- 0.1]")),
    "a theorem about another number": ("number of the theorem", lambda all: (
        cell_at(5, measured=0.5, error=0.01)(all), cell_at(5, "interval", low=0.49, high=0.51)(all),
        cell_at(5, "basis", stated=0.01)(all))),
    "the distance of a control": ("what could go unnoticed", cell_at(0, "control", unnoticed=1e-9)),
    "a note that nothing narrows": ("note", cell_at(0, note="checked by hand")),
    "an interval narrowed by a note of no kind": ("note", lambda all: (
        cell_at(2, note="by symmetry")(all), cell_at(2, "interval", low=0.0625, high=0.0625)(all))),
    "a limit at equality with another exponent": ("note", cell_at(3, "ratio", power=0.6)),
    "a limit at equality that is not known": ("note", cell_at(3, "ratio", error=0.5)),
    "a limit at equality of 0": ("note", cell_at(3, "ratio", value=0.0)),
    "a ratio with a note": ("note", cell_at(3, note="by symmetry")),
    "a ratio without a ray": ("note", cell_at(0, ratio={"power": 0.125, "value": 1.0, "error": 1e-5})),
    "another command": ("reproduce", lambda all: all["claims"][0].update(
        reproduce=all["claims"][0]["reproduce"] + " --profile full")),
    "a negative time": ("seconds", record_of(0, seconds=-1.0)),
    "a negative time of the run": ("seconds", lambda all: all["provenance"].update(seconds=-1.0)),
    "a start that is no time": ("start", lambda all: all["provenance"].update(started="yesterday")),
    "no version": ("versions", lambda all: all["provenance"].update(versions={})),
}  # fmt: skip


def test_recomputing_a_sound_ledger_changes_nothing(declared: Ledger) -> None:
    assert audit(remade(declared)) == ()


@pytest.mark.parametrize("what", REMADE)
def test_a_consistent_ledger_that_no_run_makes_is_found(declared: Ledger, what: str) -> None:
    seen, edit = REMADE[what]
    assert seen in {difference.what for difference in audit(remade(edited(declared, edit)))}


LOGARITHMS = dedent("""\
    from math import log

    from lipverify.claims import claim, exponent

    def grows(n):
        return n**0.5 * log(n), 1e-14

    for side, control in {"low": "3/5", "high": "2/5", "equals": "3/5"}.items():
        claim("mine." + side, exponent(grows, "q", along={"n": (1e4, 1e30)}, control=control, **{side: "1/2"}),
              source=("My notes", "Lemma 2", "$q$ grows"), kind="printed")
""")


def test_where_the_power_of_a_logarithm_decides_a_sound_ledger_is_not_accused(tmp_path: Path) -> None:
    claims = toys.claims_in(tmp_path, LOGARITHMS)
    ledger = run(claims, jobs=1)
    assert [record.cells[0].quantity for record in ledger.claims] == 3 * ["power of log n in q"]
    assert audit(ledger) == ()


def test_whole_numbers_in_the_place_of_floats_do_not_change_a_digest(
    declared: Ledger,
) -> None:
    record = msgspec.structs.replace(declared.claims[0], seconds=1, margin=2)
    made = sealed(msgspec.structs.replace(declared, claims=(record, *declared.claims[1:])))
    read = msgspec.json.decode(msgspec.json.encode(made), type=Ledger)
    assert not {"digest", "manifest"} & {difference.what for ledger in (made, read) for difference in audit(ledger)}


BESIDE: dict[str, Callable[[dict[str, Any]], Any]] = {
    "of the ledger": lambda all: all.update(note="all of it holds"),
    "of a claim": record_of(0, proved="yes"),
    "of a cell": cell_at(0, checked=True),
    "of a control": cell_at(0, "control", checked=True),
    "of a basis": cell_at(4, "basis", checked=True),
    "of a theorem": theorem(checked=True),
    "of the manifest": lambda all: all["asked"][0].update(checked=True),
    "of the provenance": lambda all: all["provenance"].update(author="me"),
    "that is missing": lambda all: all.pop("format"),
}


@pytest.mark.parametrize("what", BESIDE)
def test_a_key_that_no_ledger_has_is_found(
    declared: Ledger, what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = json.loads(msgspec.json.encode(declared))
    BESIDE[what](changed)
    assert audited(changed, tmp_path, capsys)[0] == 1


def test_the_command_says_whether_all_of_it_follows_and_names_what_does_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = audited(SOUND["refuted"], tmp_path, capsys)
    assert code == 0
    assert said.startswith("1 claim, 2 cells with their controls: all of it follows")
    code, said = audited(edited(SOUND["supported"], record_of(0, verdict="refuted")), tmp_path, capsys)
    assert (code, "toy.value" in said) == (1, True)


def test_a_repeated_key_is_found_and_formatting_is_ignored(declared: Ledger) -> None:
    text = json.dumps(json.loads(msgspec.json.encode(declared)), indent=7, ensure_ascii=True)
    assert unread(text, declared) == ()
    (found,) = unread(text.replace('"seed": 0', '"seed": 7, "seed": 0'), declared)
    assert (found.where, found.what) == ("seed", "key")


def test_claims_in_another_order_than_the_manifest_are_found(declared: Ledger) -> None:
    assert audit(edited(declared, lambda all: all["claims"].reverse()))
