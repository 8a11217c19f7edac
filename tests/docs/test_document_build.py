"""The pages are built completely, without a warning, and load nothing from elsewhere."""

from __future__ import annotations

import doctest
import importlib.util
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from lipverify.claims.plan import all_claims, claims_of, profile_named
from tests import ROOT
from tests.docs.test_reference import public
from tests.examples.listing import theorems

pytest.importorskip("sphinx")
pytest.importorskip("myst_parser")
pytest.importorskip("furo")

pytestmark = pytest.mark.slow  # Sphinx imports and reads the whole package

DOCS = ROOT / "docs"
LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
"""The attribute of each tag with an address that a browser loads."""
NAMED_ONLY = ("next", "prev", "index", "search", "canonical")
"""Relations of links that a browser does not load."""


def build(source: Path, out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "-d", f"{out}.doctrees"]
    return subprocess.run([*command, *options, source, out], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("pages") / "html"
    done = build(DOCS, out)
    assert done.returncode == 0, done.stderr
    return out


@pytest.mark.parametrize("path", sorted((DOCS / "_ext").glob("*.py")), ids=lambda path: path.stem)
def test_the_examples_of_the_extensions_hold(path: Path) -> None:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert doctest.testmod(module).failed == 0


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def test_the_public_names_are_in_the_reference(pages: Path) -> None:
    from sphinx.util.inventory import InventoryFile

    with (pages / "objects.inv").open("rb") as file:
        found = InventoryFile.load(file, "", lambda base, name: name)
    names = {name for kind, entries in found.items() if kind.startswith("py:") for name in entries}
    missing = {name for name, value in public().items() if not {name, home(name, value)} & names}
    assert missing == set()
    assert "lipverify.problem.written.LAWS" in names


def home(name: str, value: object) -> str:
    """A public name with the module that defines it."""
    return f"{getattr(value, '__module__', '')}.{name.rpartition('.')[2]}"


def test_every_refuted_claim_is_a_finding(pages: Path) -> None:
    page = re.sub(r"</?span[^>]*>", "", text_of(pages / "findings.html"))
    refuted = [claim for claim in all_claims() if claim.expected == "refuted"]
    assert len(refuted) > 40
    shown = re.findall(r"<code[^>]*>lipverify verify ([^<]+)</code>", page)
    assert sorted(shown) == sorted(claim.id for claim in refuted)


def test_every_theorem_of_others_has_a_row_with_a_picture(pages: Path) -> None:
    rows = re.findall(r"<tr.*?</tr>", text_of(pages / "theorems.html"), flags=re.DOTALL)
    claims = {path.name: claims_of(str(path), profile_named("quick")) for path in theorems()}
    names = {f"{file}: {claim.id.partition('/')[0]}" for file, found in claims.items() for claim in found}
    assert len(names) > 25
    assert {name for row in rows for name in names if f", {name}<" in row} == names
    assert len(rows) == len(names)
    marks = "".join(row[row.index("<ul") :] for row in rows)
    refuted = sum(claim.expected == "refuted" for found in claims.values() for claim in found)
    assert refuted > 5
    assert marks.count("✗ ") == refuted
    for row in rows:
        (picture,) = re.findall(r'<img src="([^"]+)"', row)
        assert b"<svg" in (pages / picture).read_bytes()[:1000]


def test_formulas_are_mathml_and_none_is_left_as_source(pages: Path) -> None:
    assert text_of(pages / "method.html").count("<math") > 30
    for page in pages.rglob("*.html"):
        source = r"<pre.*?</pre>|<code.*?</code>|<script.*?</script>|alttext=\"[^\"]*\""
        shown = re.sub(source, "", text_of(page), flags=re.DOTALL)
        assert not re.search(r"\\(frac|sum|mathbb|int|Lambda)\b", shown), page


class Fetched(HTMLParser):
    """The addresses that a browser loads with a page."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag in LOADED and found.get("rel") not in NAMED_ONLY:
            self.addresses.append(found.get(LOADED[tag]) or "")


def test_nothing_is_fetched_to_read_a_page(pages: Path) -> None:
    for page in pages.rglob("*.html"):
        fetched = Fetched()
        fetched.feed(text_of(page))
        assert fetched.addresses, page
        assert not [address for address in fetched.addresses if "//" in address], page


def test_links_between_pages_end_at_a_place_that_is_there(pages: Path) -> None:
    targets = {page.resolve(): set(re.findall(r'\bid="([^"]+)"', text_of(page))) for page in pages.rglob("*.html")}
    followed = 0
    for page in targets:
        for link in re.findall(r'<a [^>]*href="([^"]+)"', text_of(page)):
            if "//" in link or link.startswith(("mailto:", "data:")):
                continue
            name, _, place = link.partition("#")
            target = (page.parent / name).resolve() if name else page
            assert target.is_file(), f"{page.name}: {link}"  # a page or a download
            assert not place or place in targets[target], f"{page.name}: {link}"
            followed += 1
    assert followed > 500


FAULTS = {
    "a function that does not exist": ("{func}`lipverify.grow`", "reference target not found: lipverify.grow"),
    "a class that does not exist": ("{class}`lipverify.laws.Tent`", "reference target not found: lipverify.laws.Tent"),
    "a page that does not exist": ("[](nowhere.md)", "'nowhere.md'"),
    "a section that does not exist": ("[here](index.md#nowhere)", "'nowhere'"),
    "a formula that cannot be set": (r"$\nonsense{x}$", "nonsense"),
    "a formula that breaks off": (r"$\frac{1}$", "End of input: "),
    "a directive that does not exist": ("```{finding}\n```", "Unknown directive type"),
    "a language that does not exist": ("```pyhton\nx\n```", "pyhton"),
    "a signature of what is not there": ("```{eval-rst}\n.. autofunction:: lipverify.nothing\n```", "failed to import"),
    "a page without a place in the contents": ("", "isn't included in any toctree"),
    "none": (r"{func}`lipverify.growth`, [](index.md), $\frac{1}{2}$", None),
}
"""Faulty text of a page, and words of the warning."""
SIGNATURES = """\
# Index

```{toctree}
:glob:

page-?
```

```{eval-rst}
.. autofunction:: lipverify.growth

.. autoclass:: lipverify.scaling.Growth

.. automodule:: lipverify.errors
   :members:
```
"""
PAGES = {fault: f"page-{chr(ord('a') + k)}" for k, fault in enumerate(FAULTS)} | {
    "a page without a place in the contents": "alone"
}


@pytest.fixture(scope="module")
def warnings(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The warnings of a small project that has the settings of the documents and a page for each fault."""
    folder = tmp_path_factory.mktemp("faults")
    source = folder / "docs"
    source.mkdir()
    shutil.copy(DOCS / "conf.py", source)
    for name in ("_ext", "_static"):
        (source / name).symlink_to(DOCS / name)
    (source / "index.md").write_text(SIGNATURES)
    for fault, (text, _) in FAULTS.items():
        (source / f"{PAGES[fault]}.md").write_text(f"# Page\n\n{text}\n")
    done = build(source, folder / "out")
    assert done.returncode != 0
    return [line for line in done.stderr.splitlines() if "WARNING" in line or "ERROR" in line]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_a_page_is_the_only_one_reported(fault: str, warnings: list[str]) -> None:
    words, here = FAULTS[fault][1], [line for line in warnings if f"/{PAGES[fault]}.md" in line]
    if fault == "a signature of what is not there":  # this warning has no line number
        here = [line for line in warnings if ".md" not in line]
    assert [line for line in here if words is None or words not in line] == []
    assert bool(here) == (words is not None)
