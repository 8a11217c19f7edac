"""Typeset the model as PDF: data in a private folder, with fixed template, fonts and time."""

from __future__ import annotations

import datetime
import tempfile
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec
import typst

from lipverify.report.model import Report
from lipverify.report.text import font_folder, formulas_in

_STANDARDS: list[typst.PDFStandard] = ["a-2a", "ua-1"]
"""The PDF standards of the report: archivable, tagged, and readable by a screen reader."""
_FORMULAS = b"""#set document(title: "formulas")
#for source in json("formulas.json") {
  math.equation(alt: "formula", eval(source, mode: "math").body)
}
"""


def typeset(report: Report, figures: dict[str, bytes]) -> bytes:
    """The PDF of a report whose drawings refer to `figures` by name; a refused formula is shown as its source."""
    with tempfile.TemporaryDirectory(prefix="lipverify-") as folder:
        root = Path(folder)
        for name, content in figures.items():
            (root / name).write_bytes(content)
        data = msgspec.to_builtins(report)
        return _as_it_can_be(root, data)


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


def _compile(root: Path, data: Any, standards: list[typst.PDFStandard] = _STANDARDS) -> bytes:
    (root / "report.json").write_bytes(msgspec.json.encode(data))
    for part in resources.files("lipverify.report").iterdir():
        if part.name.endswith(".typ"):
            (root / part.name).write_bytes(part.read_bytes())
    return _pdf(root, (root / "template.typ").read_bytes(), standards)


def _pdf(root: Path, source: bytes, standards: list[typst.PDFStandard] = _STANDARDS) -> bytes:
    fonts = typst.Fonts(include_system_fonts=False, font_paths=[font_folder()])
    undated = datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)  # reproducible bytes; the page has the run's own date
    pdf = typst.Compiler(root=root, font_paths=fonts).compile(
        source, format="pdf", pdf_standards=standards, timestamp=undated
    )
    assert isinstance(pdf, bytes), "a PDF is one file"
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
    if _compile_together(root, sources):
        return set()
    if len(sources) == 1:
        return set(sources)
    half = len(sources) // 2
    return _broken(root, sources[:half]) | _broken(root, sources[half:])


def _compile_together(root: Path, sources: list[str]) -> bool:
    (root / "formulas.json").write_bytes(msgspec.json.encode(sources))
    try:
        _pdf(root, _FORMULAS)
    except typst.TypstError:
        return False
    return True
