"""Typeset the model as PDF: data in a private folder, with fixed template, fonts and time."""

from __future__ import annotations

import datetime
import tempfile
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import msgspec
import typst
from msgspec.structs import replace

from lipverify.report.drawing import outlined
from lipverify.report.model import Drawing, Report
from lipverify.report.text import font_folder, formulas_in

_STANDARDS: list[typst.PDFStandard] = ["a-2a", "ua-1"]
"""The PDF standards of the report: archivable, tagged, and readable by a screen reader."""
_FORMULAS = b"""#set document(title: "formulas")
#for source in json("formulas.json") {
  math.equation(alt: "formula", eval(source, mode: "math").body)
}
"""


def typeset(report: Report) -> bytes:
    """The PDF of a report; a refused formula is shown as its source."""
    with tempfile.TemporaryDirectory(prefix="lipverify-") as folder:
        return _as_it_can_be(Path(folder), _shown(report))


def _shown(report: Report) -> Any:
    """The report as plain data without what its PDF does not show: the compiler reads all of it many times."""
    data = msgspec.to_builtins(report)
    for reading in (each for part in data["sections"] for it in part["theorems"] for each in it["readings"]):
        reading["theorems"] = [*reading["theorems"][:1], *([] for _ in reading["theorems"][1:])]  # they are counted
        reading |= dict.fromkeys(() if report.topics else ("reasons", "assumptions", "instead", "reason", "limits"), ())
    return data


def typeset_alone(drawing: Drawing, kind: Literal["svg", "pdf"], title: str) -> bytes:
    """A drawing as a stand-alone file, as wide as a paper's column or page, with all fonts embedded."""
    if kind == "svg":  # the compiler puts the drawings of panels into the file as they are
        drawing = replace(drawing, plots=tuple(replace(plot, svg=outlined(plot.svg)) for plot in drawing.plots))
    inches = 3.25 if drawing.across == 1 and len(drawing.plots) == 1 else 6.75
    data = {"sections": [], "drawing": drawing, "inches": inches, "title": title}
    with tempfile.TemporaryDirectory(prefix="lipverify-") as folder:
        return _compile(Path(folder), data, [], "alone.typ", kind)


def _as_it_can_be(root: Path, data: Any) -> bytes:
    """Typeset all data; if that fails, with formulas as source; if that fails, without the standards."""
    try:
        return _compile(root, data)
    except typst.TypstError:
        _spell_out(root, data)
    try:
        return _compile(root, data)
    except typst.TypstError:  # the standards refuse the page itself, for example because of an empty heading
        return _compile(root, data, standards=[])


def _compile(
    root: Path,
    data: Any,
    standards: list[typst.PDFStandard] = _STANDARDS,
    template: str = "template.typ",
    kind: Literal["svg", "pdf"] = "pdf",
) -> bytes:
    (root / "report.json").write_bytes(msgspec.json.encode(data))
    for part in resources.files("lipverify.report").iterdir():
        if part.name.endswith(".typ"):
            (root / part.name).write_bytes(part.read_bytes())
    return _pdf(root, (root / template).read_bytes(), standards, kind)


def _pdf(
    root: Path,
    source: bytes,
    standards: list[typst.PDFStandard] = _STANDARDS,
    kind: Literal["svg", "pdf"] = "pdf",
) -> bytes:
    fonts = typst.Fonts(include_system_fonts=False, font_paths=[font_folder()])
    undated = datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)  # reproducible bytes; the page has the run's own date
    pdf = typst.Compiler(root=root, font_paths=fonts).compile(
        source, format=kind, pdf_standards=standards, timestamp=undated
    )
    assert isinstance(pdf, bytes), "the result is one file"
    return pdf


def _spell_out(root: Path, data: Any) -> None:
    """Replace the formulas that do not compile by their source as code."""
    runs = list(formulas_in(data))
    broken = _broken(root, sorted({run["source"] for run in runs}))
    for run in runs:
        if run["source"] in broken:
            run["kind"] = "code"


def _broken(root: Path, sources: list[str]) -> set[str]:
    """The formulas that do not compile: none if all of them do together, else those of both halves."""
    (root / "formulas.json").write_bytes(msgspec.json.encode(sources))
    with suppress(typst.TypstError):
        _pdf(root, _FORMULAS)
        return set()
    if len(sources) == 1:
        return set(sources)
    half = len(sources) // 2
    return _broken(root, sources[:half]) | _broken(root, sources[half:])
