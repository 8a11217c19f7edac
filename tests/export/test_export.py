"""Exports: the files read back as the content of the ledger, and each is written whole or not."""

from __future__ import annotations

import csv
import io
import math
import os
import re
import sys
from base64 import b64decode
from importlib import import_module
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from lipverify.claims.ledger import Allowed, Figure, HeatMap, Panel, Series, write_ledger
from lipverify.errors import InvalidInput

# internal: the tables before they are written to a file; which figures there are, and each one drawn twice
from lipverify.export import FORMATS, drawn, exhibits, export_ledger, rows
from lipverify.export.rows import comma_separated, file_name  # internal: one table read back, the name for any id
from lipverify.export.theorems import formula, theorems, words  # internal: one text, compiled alone
from tests.commands import Commands
from tests.ledgers import cell, ledger, realistic, record

pymupdf: Any = import_module("pymupdf")  # it has no types

BOOK = realistic()
CELLS = [(claim, each) for claim in BOOK.claims for each in claim.cells]


def read(table: rows.Table) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(comma_separated(table).decode(), newline="")))


# ---- CSV ----


def test_every_cell_is_a_row_that_reads_back() -> None:
    found = read(rows.cells(BOOK.claims))
    assert len(found) == len(CELLS) >= 30
    for row, (claim, each) in zip(found, CELLS, strict=True):
        assert (row["id"], row["claim_verdict"], row["verdict"]) == (claim.id, claim.verdict, each.verdict)
        assert (row["d"], row["law"]) == (str(each.where["d"]), each.where["law"])
        for name, value in (("measured", each.measured), ("error", each.error), ("low", each.allowed.low)):
            assert row[name] == ("" if value is None else repr(value))
        assert row["open"] == str(each.allowed.open).lower()
        assert row["control_verdict"] == each.control.verdict
        assert row["control_expects"] == each.control.expects


@given(st.floats(allow_nan=True))
def test_a_number_reads_back_bit_for_bit(value: float) -> None:
    (row,) = read(rows.Table(header=("x",), rows=((value,),)))
    assert float(row["x"]).hex() == value.hex()


def test_the_usual_coordinates_come_first_and_none_hides_a_column() -> None:
    odd = cell(3, "relu", Allowed(), "", where={"method": "m", "run": 1, "w": 2.0, "d": 3})
    table = rows.cells([record(cells=(odd,))])
    assert table.header[5:9] == ("d", "w", "where.method", "run")
    assert len(set(table.header)) == len(table.header)
    assert read(table)[0]["where.method"] == "m"


def test_curves_and_heat_maps_are_all_there() -> None:
    maps = Figure(caption="", alt="", maps=(HeatMap(title="P", values=((1.0, 2.0), (3.0, math.nan))),))
    claim = replace(record(), figures=(*record().figures, maps))
    points = read(rows.curves([claim]))
    assert len(points) == sum(len(s.x) for p in claim.figures[0].panels for s in p.series)
    assert points[0]["xlabel"] == "$n$"
    assert [row["value"] for row in read(rows.heat_maps([claim]))] == ["1.0", "2.0", "3.0", "nan"]
    assert len(read(rows.cross_checks(BOOK.claims))) == sum(len(c.cross_checks) for c in BOOK.claims) > 0


def test_a_claim_is_a_row_with_the_number_that_decides_it() -> None:
    found = read(rows.claims(BOOK.claims))
    assert [row["id"] for row in found] == [c.id for c in BOOK.claims]
    first, upper, *_, broken, floor = found
    assert [float(first[name]) for name in ("value", "error", "low")] == [0.4 + 3e-7, 2e-6 / 3, 0.5]
    assert (first["high"], float(upper["high"])) == ("", 0.25)
    assert [broken[name] for name in ("value", "error", "low", "high")] == ["", "", "", ""]
    assert float(floor["value"]) > float(floor["low"]) == 0.0


def test_rows_end_as_the_standard_says_and_hold_no_other_line() -> None:
    content = comma_separated(rows.claims([record(title='two\nlines, and a "quote"')]))
    assert content.count(b"\r\n") == 2
    assert content.count(b"\n") == 2
    assert b'"two lines, and a ""quote"""' in content


# ---- NetCDF ----


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Any:
    xarray = pytest.importorskip("xarray")
    folder = tmp_path_factory.mktemp("nc")
    export_ledger(BOOK, folder, ["netcdf"])
    with xarray.open_datatree(folder / "cells.nc", engine="h5netcdf") as tree:
        yield tree.load()


def test_every_cell_is_at_its_labels(opened: Any) -> None:
    for claim, each in CELLS:
        group = opened[file_name(claim.id.split("/")[0])]
        at = {"claim": claim.id, **each.where}
        here = group.ds.sel(at) if "cell" not in group.sizes else None
        assert here is not None
        for name, value in (("measured", each.measured), ("error", each.error), ("high", each.allowed.high)):
            np.testing.assert_array_equal(here[name].item(), math.nan if value is None else value)
        assert (here.verdict.item(), here.control_verdict.item()) == (each.verdict, each.control.verdict)
        assert (here.quantity.item(), here.method.item()) == (each.quantity, each.method)


def test_a_group_has_the_dimensions_of_its_claims_and_says_where_it_is_from(opened: Any) -> None:
    group = opened["softmax.window-printed"].ds
    assert dict(group.sizes) == {"claim": 2, "d": 7, "law": 2}
    assert group.d.dtype == np.int64
    assert int(group.measured.notnull().sum()) == 14
    assert group.sel(law="affine", d=2).verdict.values.tolist() == ["refuted", ""]
    for attributes in (group.attrs, opened.attrs):
        assert (attributes["profile"], attributes["seed"], attributes["version"]) == ("quick", "7", "0.1.0")
    assert "Omega" in group.attrs["statement"]
    assert "Theorem 2" in group.attrs["source"]
    assert group.measured.attrs["units"]
    assert group.claim_verdict.values.tolist() == ["refuted", "supported"]


def test_a_claim_that_broke_is_in_the_file_without_cells(opened: Any) -> None:
    group = opened["lt.momentum"].ds
    assert group.claim_verdict.values.tolist() == ["error"]
    assert "overflows" in group.problem.item()
    assert "measured" not in group


def dataset(*places: dict[str, Any]) -> Any:
    from lipverify.export.arrays import dataset as built  # internal: the arrays before they are written to a file

    pytest.importorskip("xarray")
    cells = tuple(cell(2, "relu", Allowed(), "", where=where, measured=float(k)) for k, where in enumerate(places))
    return built([record(cells=cells)])


@pytest.mark.parametrize(
    ("values", "labels", "kind"),
    [
        ((3, 2), [2, 3], "i"),
        ((3, 0.5), [0.5, 3.0], "f"),
        ((10**30, 5), [5.0, 1e30], "f"),
        ((3, "any"), ["3", "any"], "O"),
        ((10**400, 5), [str(10**400), "5"], "O"),
        (("", "b\x00"), ["", "b⟨U+0000⟩"], "O"),
    ],
)
def test_labels_of_an_axis_are_of_one_type(values: tuple[Any, ...], labels: list[Any], kind: str) -> None:
    built = dataset(*({"k": value} for value in values))
    assert built.k.values.tolist() == labels
    assert built.k.dtype.kind == kind


def test_a_coordinate_that_a_cell_does_not_have_is_not_a_number_there() -> None:
    built = dataset({"n": 10}, {"n": 20, "d": 3})
    assert built.measured.sel(n=20, d=3).item() == 1.0
    assert int(built.d.isnull().sum()) == 1


@pytest.mark.parametrize(
    "places",
    [
        [{f"k{j}": i for j in range(12)} for i in range(20)],  # 20^12 places for 20 cells
        [{"d": 2}, {"d": 2}],  # two cells at one place
    ],
)
def test_sparse_or_ambiguous_blocks_become_lists(places: list[dict[str, Any]]) -> None:
    built = dataset(*places)
    assert built.sizes["cell"] == len(places)
    assert built.measured.values.tolist() == list(map(float, range(len(places))))
    for key in places[0]:
        assert built[key].values.tolist() == [place[key] for place in places]


def test_a_coordinate_called_like_something_else_keeps_its_values(tmp_path: Path) -> None:
    xarray = pytest.importorskip("xarray")
    names = {"measured": 1.5, "claim": 2.5, "L/sigma": 3.5, "L_sigma": 4.5, "../x": 5.5, "": 6.5, "σ": 7.5}
    claim = record("a.b", cells=(cell(2, "relu", Allowed(), "", where=names),))
    export_ledger(ledger((claim,)), tmp_path, ["netcdf"])
    with xarray.open_dataset(tmp_path / "cells.nc", group="a.b", engine="h5netcdf") as group:
        assert set(names.values()) <= {group[name].values.ravel()[0] for name in group.coords}
        assert {group[name].attrs.get("long_name") for name in group.coords} >= {"L/sigma", "σ", "measured"}


def test_without_the_extra_netcdf_is_refused_and_the_rest_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from lipverify.cli.reports import export  # internal: the command without a process

    monkeypatch.setitem(sys.modules, "h5netcdf", None)
    with pytest.raises(InvalidInput, match=r"needs h5netcdf.*lipverify\[data\]"):
        export_ledger(BOOK, tmp_path, ["csv", "netcdf"])
    assert list(tmp_path.iterdir()) == []
    small = ledger((record(figures=()),))
    write_ledger(small, tmp_path / "ledger.json")
    assert export(tmp_path / "ledger.json", (), None) == 0
    assert "left out" in capsys.readouterr().err
    names = {path.name for path in (tmp_path / "export").iterdir()}
    assert "cells.csv" in names
    assert "cells.nc" not in names


# ---- figures ----


def test_figures_are_those_of_the_report_named_by_their_claims() -> None:
    found = list(exhibits(BOOK))
    names = [exhibit.name for exhibit in found]
    assert len(set(names)) == len(names)
    assert "softmax.bias-lower_affine-1" in names
    readings = [r for r in BOOK.claims if r.id.startswith("softmax.window-printed")]
    shown = {claim for exhibit in found for claim in exhibit.claims}
    assert {record.id for record in readings} <= shown


def test_a_joined_figure_is_named_after_the_common_part_of_its_claims() -> None:
    claims = (record("a.b/relu/lower"), record("a.b/relu/upper"))
    (exhibit,) = exhibits(ledger(claims))
    assert exhibit.name == "a.b_relu-1"
    assert exhibit.claims == ("a.b/relu/lower", "a.b/relu/upper")


def one_panel() -> Figure:
    figure = record().figures[0]
    return replace(figure, panels=figure.panels[:1])


@pytest.mark.parametrize(("panels", "inches"), [(1, 3.25), (3, 6.75)])
def test_a_figure_fits_a_paper_has_its_fonts_and_no_date(panels: int, inches: float) -> None:
    figure = replace(record().figures[0], panels=record().figures[0].panels[:panels])
    (exhibit,) = exhibits(ledger((record(figures=(figure,)),)))
    files, problem = drawn(exhibit, ("svg", "pdf"))
    assert problem == ""
    assert drawn(exhibit, ("svg", "pdf"))[0] == files
    document = pymupdf.open(stream=files["pdf"], filetype="pdf")
    assert document[0].rect.width / 72 == pytest.approx(inches, abs=1 / 72)
    fonts = document[0].get_fonts()
    assert fonts
    assert all("+" in font[3] and document.extract_font(font[0])[3] for font in fonts), "each is embedded, as a subset"
    assert not any(font[2] == "Type3" for font in fonts)
    assert document.metadata["creationDate"] == ""
    assert document.metadata["subject"] == figure.alt
    svg = ElementTree.fromstring(files["svg"])
    assert svg.attrib["width"] == f"{inches * 72:g}pt"
    held = [b64decode(data) for data in re.findall(rb"data:image/svg[^,]*,([^\"]+)", files["svg"])]
    assert held, "the panels"
    for drawing in (svg, *map(ElementTree.fromstring, held)):
        assert not [node for node in drawing.iter() if node.tag.endswith("}text")], "letters are outlines"
    assert b"date" not in files["svg"].lower()


def test_no_legend_is_wider_than_its_figure() -> None:
    long = tuple(Series(label=f"{k} {'x' * 30}", x=(1.0, 2.0), y=(1.0, float(k))) for k in (1, 2, 3))
    figure = replace(one_panel(), panels=(replace(one_panel().panels[0], series=long, bands=()),))
    (exhibit,) = exhibits(ledger((record(figures=(figure,)),)))
    page = pymupdf.open(stream=drawn(exhibit, ("pdf",))[0]["pdf"], filetype="pdf")[0]
    boxes = [word for word in page.get_text("words") if word[4].startswith("xxx")]
    assert len(boxes) == 3
    assert all(box[0] >= 0 and box[2] <= page.rect.width for box in boxes)


def test_a_figure_that_cannot_be_drawn_costs_no_other(tmp_path: Path) -> None:
    broken = Figure(caption="broken", alt="", panels=(
        Panel(title="", xlabel="", ylabel="", series=(Series(label="s", x=(1.0, 2.0), y=(1.0,)),)),
    ))  # fmt: skip
    book = ledger((record("a.broken", figures=(broken,)), record("a.whole", figures=(one_panel(),))))
    written = {path.name for path in export_ledger(book, tmp_path, ["svg"])}
    assert written == {"a.whole-1.svg", "figures.csv"}
    listed = list(csv.DictReader(io.StringIO((tmp_path / "figures.csv").read_text())))
    assert [(row["file"], bool(row["problem"])) for row in listed] == [("a.broken-1", True), ("a.whole-1", False)]


# ---- LaTeX ----


def checked(source: str) -> list[str]:
    """Raise unless braces, environments and dollars close, and each row has its columns; the rows."""
    source = re.sub(r"(?m)(?<!\\)%.*$", "", source)
    depth, environments, math_mode = 0, [], False
    for token in re.findall(r"\\[A-Za-z]+\*?(?:\{[a-z]+\})?|\\.|.", source, re.DOTALL):
        if token.startswith(("\\begin{", "\\end{")):
            name = token[token.index("{") :]
            if token.startswith("\\begin"):
                environments.append(name)
            else:
                assert environments.pop() == name
            continue
        depth += token.count("{") - token.count("}") if not token.startswith("\\") or len(token) > 2 else 0
        assert depth >= 0
        math_mode ^= token == "$"
    assert (depth, environments, math_mode) == (0, [], False)
    body = source[source.index("\\midrule") : source.rindex("\\bottomrule")]
    body = re.sub(r"(?s)\\begin\{array\}.*?\\end\{array\}", "", body)  # of a matrix
    lines = [line for line in body.split(" \\tabularnewline\n") if "\n& " in line]
    assert all(len(re.findall(r"(?<!\\)&", line)) == 2 for line in lines), lines
    return lines


HOSTILE = st.text(alphabet=st.sampled_from(list("\\{}$&#%_^~'\"`-[]*<>|ab1 \n\x00\x1b\u202eσ²é漢")), max_size=40)


@given(HOSTILE)
@example(r"$\input{/etc/passwd}$ \write18{x}")
@example(r"$x \\ y$ & $\begin{matrix} a & b \end{matrix}$")
@example(r"$\def\x{\x}\x$")
@example("\\\\*[5cm] %")
@example("\\ ")
def test_no_text_breaks_the_table(text: str) -> None:
    source = replace(record().source, place=text, paper=text)
    odd = record("a.b/" + text, statement=text, title=text, source=source, kind="printed")
    assert len(checked(theorems(ledger((odd, record("a.b/c")))).decode())) == 2


@given(HOSTILE)
def test_words_hold_no_command_of_their_own(text: str) -> None:
    source = words(text)
    bare = re.sub(
        r"\\(?:text[a-z]+|ensuremath|ldots|dag|[A-Za-z]+)\{\}|\\ensuremath\{[^{}]*(?:\{[^{}]*\})?\}", "", source
    )
    bare = re.sub(r"\\[&#%_{}$]|\\texttt\{U\+[0-9A-F]+\}|\{[-*\[\]]\}", "", bare)
    assert not set(bare) & set("\\{}$&#%_^~"), bare
    assert source.isascii() or all(ord(character) < 0x180 for character in source)


@pytest.mark.parametrize(
    ("source", "written"),
    [
        (r"x^\hat a", r"x^{\hat{a}}"),
        ("x^2'", "x'^2"),
        (r"x\limits_a", "x_a"),
        ("σ^2", r"\sigma^2"),
        (r"{\rm Var}\,x", r"{\mathrm{Var}}\,x"),
        (r"\langle q, x \rangle_+", r"\langle q, x \rangle_+"),
        (r"\not= \not< b", r"\neq \not< b"),
    ],
)
def test_special_characters_are_written_so_that_all_latex_engines_accept_them(source: str, written: str) -> None:
    assert formula(source) == f"${written}$"


@pytest.mark.parametrize("source", [r"w^{1/d}", r"\frac{a}{b_1}", r"\Theta(\Lambda^{2/(d+2)})", r"\hat{w}", "w^*"])
def test_formulas_of_ours_pass(source: str) -> None:
    assert formula(source) == f"${source}$"


def test_a_spreadsheet_calculates_nothing_and_numbers_with_words_stay_as_they_are() -> None:
    for threat in ("=1+1", "= 1/2", "-2+3+cmd|' /C calc'!A0", "@SUM(A1)", "+1*2", "-(1)", " =x", "＝1", "-A1"):
        assert comma_separated(rows.Table(header=(), rows=((threat,),))).decode().strip('\r\n"').startswith("'"), threat
    for plain in ("-0.5 at d = 2 (refuted in 1 of 7)", "-1e-3", "+1", "-", "--", "- 3 ± 1", "-0.4 ± 0.1"):
        assert not comma_separated(rows.Table(header=(), rows=((plain,),))).startswith(b"'") or plain == "- 3 ± 1"


@pytest.mark.parametrize(
    "source",
    [r"\input{x}", r"\write18{ls}", r"\def\a{b}", r"\catcode`\%=12", r"a \\ b", r"a & b",
     r"\begin{tabular}{l} a \end{tabular}", r"\csname input\endcsname", "a%b", "漢",
     r"\frac\hat a b", r"\text{a_b}", r"\cancel{a}"],
)  # fmt: skip
def test_other_formulas_are_set_as_their_source(source: str) -> None:
    assert not re.search(r"(?<!\\)\$", formula(source))


# ---- files ----


@pytest.mark.parametrize(
    "id",
    ["../../x", "/etc/passwd", "", ".", "..", ".hidden", "a\x00b", "a\\b", "C:x", "a b", "x" * 5000, "ü", "~", "-rf"],
)
def test_a_name_stays_in_its_folder(id: str, tmp_path: Path) -> None:
    name = file_name(id)
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name)
    assert len(name) <= 140
    assert (tmp_path / name).resolve().parent == tmp_path.resolve()


@given(st.lists(st.text(alphabet="ab./_-A\u202e", max_size=6), unique=True, min_size=2))
def test_different_ids_have_different_names(ids: list[str]) -> None:
    assert len({file_name(id) for id in ids}) == len(ids)


def test_an_unknown_format_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="'xls'"):
        export_ledger(BOOK, tmp_path, ["csv", "xls"])
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_the_old_file_and_no_half_of_a_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export_ledger(BOOK, tmp_path, ["tex"])
    before = (tmp_path / "theorems.tex").read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        export_ledger(replace(BOOK, seed=99), tmp_path, ["tex"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["theorems.tex"]
    assert (tmp_path / "theorems.tex").read_bytes() == before


def test_the_same_ledger_gives_the_same_bytes(tmp_path: Path) -> None:
    small = ledger((record(figures=(one_panel(),)),))
    contents = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        formats = [each for each in FORMATS if each != "netcdf"]
        contents.append({path.name: path.read_bytes() for path in export_ledger(small, tmp_path / name, formats)})
    assert contents[0] == contents[1]
    assert len(contents[0]) == 9


# ---- the command ----


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_ledger(ledger((record(figures=(one_panel(),)),)), tmp_path / "ledger.json")
    return tmp_path


def test_the_command_writes_all_formats_to_the_folder_of_the_ledger(lipverify: Commands, place: Path) -> None:
    pytest.importorskip("xarray")
    done = lipverify("export", "ledger.json")
    assert (done.returncode, done.stderr) == (0, "")
    written = {str(path.relative_to(place / "export")) for path in (place / "export").rglob("*") if path.is_file()}
    name = "figures/softmax.window-printed_affine_lower_ambient-1"
    assert written == {
        "cells.csv", "claims.csv", "cross_checks.csv", "curves.csv", "heat_maps.csv", "figures.csv", "cells.nc",
        "theorems.tex", f"{name}.svg", f"{name}.pdf",
    }  # fmt: skip
    for line in done.stdout.splitlines():
        assert (place / line.split(":")[0]).exists()


def test_the_command_writes_the_requested_format_to_the_requested_place(lipverify: Commands, place: Path) -> None:
    done = lipverify("export", "ledger.json", "--format", "tex", "csv", "--out", "deep/folder")
    assert done.returncode == 0
    assert not (place / "export").exists()
    assert {path.suffix for path in (place / "deep/folder").iterdir()} == {".tex", ".csv"}


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("ledger.json", "--format", "xls"), "xls"),
        (("missing.json",), "missing.json"),
        (("ledger.json", "--out", "ledger.json"), "ledger.json"),
        (("ledger.json", "--out", "/dev/null/x"), "/dev/null/x"),
        ((), "reports/ledger.json"),
    ],
)
def test_bad_input_is_one_line(lipverify: Commands, options: tuple[str, ...], named: str, place: Path) -> None:
    done = lipverify("export", *options)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert named in done.stderr
    assert [path.name for path in place.iterdir()] == ["ledger.json"]
