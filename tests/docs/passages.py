"""`docs/passages.md`, which says of every printed passage whether it is proved, and the README's table.

`python -m tests.docs LEDGER ...` writes both.
"""

from __future__ import annotations

import re
import textwrap
import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from lipverify.claims.ledger import GRADES, Judged, Passage, Record, measured, passages, read_ledger
from lipverify.claims.plan import all_claims, profile_named, recorded
from lipverify.foundation.shipped import table as contents
from lipverify.report.sources import short  # internal: the short title of a source, as the report has it
from tests import ROOT

PAGE = ROOT / "docs" / "passages.md"
README = ROOT / "README.md"
LINE = 119
TABLE = re.compile(r"(?<=<!-- passages -->\n).*?(?=<!-- /passages -->)", re.DOTALL)
MATHEMATICS, EXPERIMENT = "mathematics", "experiment"
NOUN = {MATHEMATICS: "mathematics", EXPERIMENT: "experiments"}
PAPERS = {key: paper["row"] for key, paper in contents()["papers"].items()}
"""The first column of the README's table."""
DECIDED = {
    "holds as printed": "proved",
    "holds in one of its readings": "proved in one reading",
    "false as printed": "disproved",
    "open": "open: the readings tried are disproved",
}
"""The name of each outcome where all of it is proved; a passage that is open needs a reason even so."""
SHOWN = {
    "holds as printed": "holds",
    "holds in one of its readings": "holds in one reading",
    "false as printed": "false",
    "open": "open",
}
WITHOUT_ERROR = ("proved", "exact", "by hand")
"""Grades of a decided passage that needs no reason why nothing decides it without an error."""
HEAD = """\
# All passages of the papers

A row for each passage that is counted, by source. It is about mathematics, or about an experiment: training or
sampling, whose result is a measured number. Digits of a printed table count as mathematics, which exact arithmetic
decides; it says nothing of other trainings. An outcome is proved or disproved by certified
[theorems](proofs.md), for the dimensions and sizes that their sentences name (`lipverify explain LEDGER ID`), or has
another [grade](verdicts.md#kinds-and-grades); if its numbers have errors, the row says why nothing decides it without.
For a passage to be false, one counterexample is enough. If a theorem follows by hand from checked identities, its claim
names one of [these arguments](arguments.md). If a wording leaves readings open, the row names those that hold and those
that fail; one that holds is enough. If all readings that were tried fail, the passage stays open, and the row says what
remains. The reasons stand in `checks/sentences.toml`; all else follows from the claims and the ledger of a run.
"""
COLUMNS = (
    "| place | about | outcome | readings; why nothing decides it without an error | claims |\n|---|---|---|---|---|\n"
)


class Reason(NamedTuple):
    """Why no proof decides a passage, and whether the passage is an experiment or mathematics."""

    about: str
    why: str


class Headline(NamedTuple):
    """A row of the README's table: a passage, its text in the paper, and what holds."""

    source: str
    place: str
    printed: str
    holds: str


def headlines() -> list[Headline]:
    listed = tomllib.loads((ROOT / "checks" / "sentences.toml").read_text(encoding="utf-8"))["headline"]
    return [Headline(**each) for each in listed]


def table(found: Sequence[Passage]) -> str:
    """Build the README's table, with the outcome and the grade of each row from the ledger."""
    passage = {(each.paper, each.place): each for each in found}
    rows = ((each, passage[each.source, each.place]) for each in headlines())
    return "| paper | where | printed | outcome | what holds | grade |\n|---|---|---|---|---|---|\n" + "".join(
        f"| {PAPERS[row.source]} | {row.place.replace('||', '‖')} | {row.printed} "
        f"| {became.outcome} | {row.holds} | {became.grade} |\n"
        for row, became in rows
    )


def reasons() -> dict[tuple[str, str], Reason]:
    listed = tomllib.loads((ROOT / "checks" / "sentences.toml").read_text(encoding="utf-8"))["passage"]
    return {(each["source"], each["place"]): Reason(each["about"], each["why"]) for each in listed}


def outcome(passage: Passage) -> str:
    """The outcome: "proved" or "disproved" if theorems decide it, otherwise its name with the grade."""
    if passage.grade == "proved":
        return DECIDED[passage.outcome]
    return f"{SHOWN[passage.outcome]} ({passage.grade})"


def named(readings: Sequence[str], passage: Passage) -> list[str]:
    """The readings that have a name; a claim that is a reading by itself is listed by its id."""
    return [each for each in readings if each not in passage.claims]


def told_readings(passage: Passage, claims: Sequence[Judged]) -> str:
    """The named readings of a passage with their grades: those that hold, and those that fail."""

    def graded(name: str) -> str:
        place = passage.paper, passage.place, name
        (alone,) = passages(each for each in claims if (each.paper, each.place, each.reading) == place)
        return f'"{name}" ({alone.grade})'

    sides = ("Holds", named(passage.holds, passage)), ("Fails", named(passage.fails, passage))
    return " ".join(f"{verb}: {'; '.join(map(graded, names))}." for verb, names in sides if names)


def row(passage: Passage, why: dict[tuple[str, str], Reason], claims: Sequence[Judged]) -> str:
    """The row of a passage: its place, its kind, its outcome, its readings with the reason, and its claims."""
    reason = why.get((passage.paper, passage.place), Reason(MATHEMATICS, ""))
    words = " ".join(filter(None, (reason.why, told_readings(passage, claims)))).replace("|", r"\|")
    where = passage.place.replace("|", r"\|")
    stems = ", ".join(f"`{stem}`" for stem in dict.fromkeys(id.partition("/")[0] for id in passage.claims))
    return f"| {where} | {reason.about} | {outcome(passage)} | {words} | {stems} |\n"


def page(claims: Sequence[Judged]) -> str:
    """The text of the page: how many passages have which grade, and a table for each source."""
    found, why = passages(claims), reasons()
    about = [why.get((each.paper, each.place), Reason(MATHEMATICS, "")).about for each in found]
    graded = Counter(zip(about, (each.grade for each in found), strict=True))
    grades = {
        kind: ", ".join(f"{graded[kind, each]} {each}" for each in GRADES if graded[kind, each]) for kind in about
    }
    summed = " and ".join(
        f"{about.count(kind)} are about {NOUN[kind]} ({grades[kind]})" for kind in NOUN if kind in grades
    )
    parts = [HEAD, textwrap.fill(f"Of {len(found)} passages, by grade, {summed}.", LINE) + "\n"]
    for paper in dict.fromkeys(each.paper for each in found):
        rows = "".join(row(each, why, claims) for each in found if each.paper == paper)
        parts.append(f"## {short(paper)}\n\n{COLUMNS}{rows}")
    return "\n".join(parts)


def of_ledgers(paths: Sequence[str]) -> list[Judged]:
    """The claims of the ledgers, in the order of the report."""
    records: dict[str, Record] = {each.id: each for path in paths for each in read_ledger(Path(path)).claims}
    known = [records[claim.id] for claim in all_claims(profile_named("quick")) if claim.id in records]
    return measured(known)


def told(text: str) -> list[tuple[str, str, str]]:
    """The place with its source, the kind and the outcome of each row of a page."""
    found = []
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        source, *lines = section.splitlines()
        rows = [re.split(r"(?<!\\\\) \| ", line.strip("| ")) for line in lines if line.startswith("| ")]
        found += [(f"{source}: {row[0]}", row[1], row[2]) for row in rows[1:]]
    return found


def unmeasured() -> list[Judged]:
    """The claims with their recorded verdicts, without a run."""
    return recorded(all_claims(profile_named("quick")))


def registered() -> list[Passage]:
    """The place, kind and outcome of each passage by the claims alone, without a run."""
    return list(passages(unmeasured()))
