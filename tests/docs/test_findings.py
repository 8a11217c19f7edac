"""The pages of findings: each misprint and gap has one, its words are the registry's, and no other claim has one."""

from __future__ import annotations

import fnmatch
import re
from dataclasses import replace
from pathlib import Path

import pytest

from lipverify.claims.plan import Claim, all_claims
from tests import ROOT

FOLDER = ROOT / "docs" / "findings"
PAGES = sorted(FOLDER.glob("*.md"))
MOST_LINES = 50
"""The maximal number of lines of a page."""
PARTS = ("```{printed} ", "**Smallest case", "```python", "**What holds.**", "**Why", "```{behind}")
"""The parts of a page, in this order."""


def claims() -> dict[str, Claim]:
    return {claim.id: claim for claim in all_claims()}


def printed_in(page: str) -> list[str]:
    """The ids of the claims that a page presents: one, or several places with the same misprint."""
    found = re.findall(r"^```\{printed\} (\S+)$", page, re.MULTILINE)
    assert found
    return found


def behind(page: str) -> list[str]:
    """The ids of the claims that support a page."""
    found = re.search(r"^```\{behind\}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1].split()


def faults(page: str, known: dict[str, Claim]) -> list[str]:
    places = [page.find(part) for part in PARTS]
    found = [
        f"no {part!r} in its place" for part, at, last in zip(PARTS, places, [-1, *places], strict=False) if at <= last
    ]
    if len(page.splitlines()) > MOST_LINES:
        found.append(f"longer than {MOST_LINES} lines")
    if found:
        return found
    ids = behind(page)
    unknown = [each for each in (*printed_in(page), *ids) if each not in known]
    if unknown:
        return [f"no claim {each}" for each in unknown]
    for subject in (known[each] for each in printed_in(page)):
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
        ("lt.momentum/lemma\n", "lt.momentum/no-such-claim\n"),
        ("{printed} lt.momentum/printed", "{printed} lt.momentum/lemma"),
        ("lt.momentum/lemma\nlt.momentum/kappa\n", ""),
        ("**Why.**", "\n" * MOST_LINES + "**Why.**"),
    ],
)
def test_a_fault_is_seen(was: str, becomes: str) -> None:
    page = (FOLDER / "lemma-4-4.md").read_text(encoding="utf-8")
    assert was in page
    assert faults(page.replace(was, becomes), claims())


def test_every_printed_statement_that_fails_has_a_page() -> None:
    missing = {each.id for each in claims().values() if each.kind == "printed" and each.expected == "refuted"}
    assert missing
    assert missing <= {each for path in PAGES for each in printed_in(path.read_text(encoding="utf-8"))}


def test_the_index_of_findings_names_every_page() -> None:
    index = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^findings/(\S+)$", index, re.MULTILINE)) == [path.stem for path in PAGES]


FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def unprinted(page: str, known: dict[str, Claim]) -> list[str]:
    """Decimal numbers in the prose of a page that neither its blocks print nor the claims behind it declare."""
    given = " ".join(FENCED.findall(page))
    for claim in (known[each] for each in behind(page)):
        given += f" {words_of(claim)} {claim.source.printed} {claim.evidence.finding}"
    prose = NAMES.sub("", FENCED.sub("", page))
    return [number for number in re.findall(r"(?<![\w.])\d*(\.\d+)(?![\w.])", prose) if number not in given]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_page_prints_the_numbers_of_its_prose(path: Path) -> None:
    assert unprinted(path.read_text(encoding="utf-8"), claims()) == []


def test_a_number_that_a_page_does_not_print_is_seen() -> None:
    page = (FOLDER / "section-6-three-variances.md").read_text(encoding="utf-8")
    assert unprinted(page.replace(".046", ".0461"), claims()) == [".0461"]


FOUND = (ROOT / "docs" / "findings.md").read_text("utf-8").partition("## What was found")[2].partition("\n```")[0]
CITED = re.compile(r"<!-- (?!/?counts)(.*?) -->", re.DOTALL)
VERDICTS = {"✓": "supported", "✗": "refuted", "?": "inconclusive"}
NAMES = re.compile(r"(Theorem|Lemma|section|Section|Table) [A-Z]?[\d.]*\d|2 to 8|Λ = nL²")
"""Names with digits, which are not measured numbers, and the range of d in the section's first sentence.

Every citation of d repeats that range.
"""


def sentences(text: str) -> list[tuple[str, str]]:
    """Each sentence of the findings with the citation after it, as (citation, words); "" if there is no citation."""
    text = re.sub(r"^\*\*.*:$", "", text, flags=re.MULTILINE)
    found, start = [], text.index("- *")
    for cited in CITED.finditer(text, start):
        found.append((cited[1], text[start : cited.start()]))
        start = cited.end()
    return [*found, *([("", text[start:])] if re.search(r"\w", text[start:]) else [])]


def cited(citation: str, known: dict[str, Claim]) -> list[tuple[Claim, str, dict[str, set[str]]]]:
    """Each claim that a citation matches, as (claim, mark of its verdict, values of the named coordinates).

    A name such as "FULL.layers" is that coordinate where another has this value.
    """
    found = []
    for each in citation.split(";"):
        pattern, mark, *ranges = each.split()
        where = {name: values_in(values) for name, _, values in (part.partition("=") for part in ranges)}
        depth = pattern.count("/")
        matched = [known[id] for id in fnmatch.filter(known, pattern) if id.count("/") == depth]
        found += [(claim, mark, where) for claim in matched] or [(None, pattern, where)]  # type: ignore[list-item]
    return found


def values_in(text: str) -> set[str]:
    """The values that a text such as "2..8" or "3,5" lists."""
    low, dots, high = text.partition("..")
    return {str(k) for k in range(int(low), int(high) + 1)} if dots else set(text.split(","))


def words_of(claim: Claim) -> str:
    """All words of a claim that `lipverify verify` compares with measurements, and the coordinates."""
    cells = [
        f"{cell.claimed} {' '.join(f'{key}={value}' for key, value in cell.where.items())}" for cell in claim.cells
    ]
    said = (claim.id, claim.title, claim.statement, claim.claimed, claim.corrected, *claim.assumptions, *cells)
    return " ".join(said)


def unsupported(text: str, known: dict[str, Claim]) -> list[str]:
    """Messages about sentences of the findings that their claims do not support."""
    found = []
    for citation, words in sentences(text):
        said = " ".join(words.split())[-90:]
        if not citation:
            found.append(f"no claim behind: {said}")
            continue
        claims = cited(citation, known)
        if missing := [mark for claim, mark, _ in claims if claim is None]:
            found.append(f"no claim {missing[0]}: {said}")
            continue
        for claim, mark, where in claims:
            if claim.expected != VERDICTS[mark]:
                found.append(f"{claim.id} is {claim.expected}: {said}")
            for name, values in where.items():
                *value, coordinate = name.rsplit(".", 1)
                measured = {
                    str(cell.where[coordinate])
                    for cell in claim.cells if coordinate in cell.where and {*value} <= set(cell.where.values())
                }  # fmt: skip
                if {re.sub(r"\.0$", "", value) for value in measured} != values:
                    found.append(f"{claim.id} was measured at {name} = {sorted(measured)}: {said}")
        declared = set(re.findall(r"\d+(?:\.\d+)?", " ".join(words_of(claim) for claim, _, _ in claims)))
        numbers = re.findall(r"\d+\.\d+|\d+", NAMES.sub("", words.translate(SMALL)))
        found += [f"{number} is in no claim behind: {said}" for number in numbers if number not in declared]
        methods = {cell.method for claim, _, _ in claims for cell in claim.cells}
        if "proved" in words and not methods & {"certified", "symbolic"}:
            found.append(f"nothing behind it is proved: {said}")
    return found


SMALL = str.maketrans("₀₁₂₃⁰¹²³", "01230123")


def test_every_sentence_of_the_findings_follows_from_the_claims_that_it_names() -> None:
    assert unsupported(FOUND, claims()) == []


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        ("softmax.window-printed/relu/*/ambient ✓", "softmax.window-printed/relu/*/ambient ✗", "is supported"),
        ("ambient ✓ d=2..8", "ambient ✓ d=2..9", "was measured at d"),
        ("FULL.layers=1..3", "FULL.layers=1..2", "was measured at FULL.layers"),
        ("n = 100 is 27.5", "n = 100 is 28.5", "28.5 is in no claim"),
        (
            "<!-- lt.table-1/exploding ✓; lt.tail-safe/full/uniform-1 ✓; lt.tail-safe/full/levels-1-3 ✓ -->",
            "",
            "no claim behind",
        ),
        ("lt.momentum/kappa ✓", "lt.momentum/of-nobody ✓", "no claim lt.momentum/of-nobody"),
        ("was met at n = 20", "was proved at n = 20", "nothing behind it is proved"),
        ("within 0.07", "within 0.01", "0.01 is in no claim"),
        ("at most 0.85 times", "at most 0.5 times", "0.5 is in no claim"),
    ],
)
def test_a_sentence_that_does_not_is_found(before: str, after: str, fault: str) -> None:
    assert before in FOUND
    assert any(fault in each for each in unsupported(FOUND.replace(before, after), claims()))


MEASURED = re.compile(r"(?<![\w.^{])\d+\.\d+(?![\w.])|\b\d+(?:\.\d+)? ?\\?%")
"""A number with a decimal point, or a percentage: only a measurement gives such numbers."""


def typed(claim: Claim, text: str) -> list[str]:
    """The numbers of a typed text that its claim does not declare, so that no run compares them."""
    numbers = MEASURED.findall(NAMES.sub("", text))
    if not numbers:
        return []
    controls = " ".join(f"{cell.false.says} {cell.true.says}" for cell in claim.cells)
    declared = f"{words_of(replace(claim, corrected=''))} {controls}"
    return [number for number in numbers if number not in declared]


def test_measured_numbers_of_findings_are_formatted_from_measurements_or_declared_by_the_claim() -> None:
    texts = [(claim, text) for claim in claims().values() for text in (claim.corrected, claim.evidence.finding)]
    assert {claim.id: found for claim, text in texts if isinstance(text, str) and (found := typed(claim, text))} == {}


def test_a_typed_number_is_found() -> None:
    claim = claims()["softmax.covariance-inversion/relu/whitened"]
    assert typed(claim, "up to 0.1 at Lemma 4.4") == []
    assert typed(claim, "up to 0.26, or 25 %") == ["0.26", "25 %"]
