"""The web page: it has the ledger's content, executes none of it, and can be read, navigated and heard."""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from lipverify.claims.ledger import Figure, HeatMap, Ledger, Panel, Region, Series, Source
from lipverify.foundation.latex import UnreadableError, typst_math  # internal: the refusal of one formula
from lipverify.report import digits  # internal: how a number is printed, to compare
from lipverify.report.drawing import BLANK, axis, draw, has_place, round_values  # internal: one drawing alone

# internal: the colours of the PDF, to compare with those of the page
from lipverify.report.looks import colour_class, colour_rule, series_looks  # internal: a colour's rule
from lipverify.report.text import APART, Run, formula  # internal: runs of a text without a page around them
from lipverify.report.web.markup import Markup, element, join  # internal: escaping, for random text
from lipverify.report.web.page import web_page  # internal: the page without a file
from lipverify.report.web.theorem import SAFE  # internal: the characters of an address that stand for themselves
from lipverify.report.web.words import Formulas, many  # internal: one text without a page
from tests.hostile import HOSTILE, hostile_ledger
from tests.ledgers import ledger, realistic, record, slopes_figure, terms_figure

EMPTY = {"meta", "link", "input", "br", "hr", "wbr"}


class Parsed(HTMLParser):
    """A page as a list of elements (tag, attributes, enclosing tags), and its text."""

    def __init__(self, content: bytes) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str], tuple[str, ...]]] = []
        self.texts: list[tuple[tuple[str, ...], str]] = []
        self._open: list[str] = []
        self.feed(content.decode())
        self.close()
        assert not self._open, "every element ends"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), "no attribute is given twice"
        self.elements.append((tag, {name: value or "" for name, value in attrs}, tuple(self._open)))
        if tag not in EMPTY:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}, tuple(self._open)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag, "elements end in the order in which they began"

    def handle_data(self, data: str) -> None:
        self.texts.append((tuple(self._open), data))

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes, _ in self.elements if name == tag]

    def text(self, without: frozenset[str] = frozenset({"script", "style"})) -> str:
        return " ".join(" ".join(text for around, text in self.texts if not without & set(around)).split())


@pytest.fixture(scope="module")
def book() -> Ledger:
    sheet = HeatMap(title="$M$", values=((1.0, -0.5), (math.nan, 2.0)), rows=("a", "b"), columns=("c", "d"))
    first, *rest = realistic().claims
    figures = (*first.figures, Figure(caption="A matrix.", alt="Two by two.", maps=(sheet,)))
    return replace(realistic(), claims=(replace(first, figures=figures), *rest))


@pytest.fixture(scope="module")
def content(book: Ledger) -> bytes:
    return web_page(book)


@pytest.fixture(scope="module")
def page(content: bytes) -> Parsed:
    return Parsed(content)


@pytest.fixture(scope="module")
def hostile() -> Parsed:
    return Parsed(web_page(hostile_ledger()))


# ---- the page has the content of the ledger ----


def test_every_number_of_the_evidence_is_on_the_page(book: Ledger, page: Parsed) -> None:
    text = page.text()
    cells = [cell for claim in book.claims for cell in claim.cells]
    assert len(cells) >= 20
    for cell in cells:
        assert digits.with_error(cell.measured, cell.error) in text
        assert digits.signed(cell.margin) in text
    for claim in book.claims:
        for check in claim.cross_checks:
            assert all(digits.with_error(v, e) in text for v, e in zip(check.values, check.errors, strict=True))


def test_every_claim_has_one_address_and_the_data_for_the_filters(book: Ledger, page: Parsed) -> None:
    found = {a["data-id"]: a for a in page.all("article")}
    assert sorted(found) == sorted(claim.id for claim in book.claims)
    addresses = {attributes["id"] for _, attributes, _ in page.elements if "id" in attributes}
    for claim in book.claims:
        shown = found[claim.id]
        assert (shown["data-kind"], shown["data-grade"], shown["data-verdict"]) == (
            claim.kind,
            claim.grade,
            claim.verdict,
        )
        assert shown["id"] in addresses
        assert f"#{claim.id}" in {link["href"] for link in page.all("a")}
    theorems = [a["id"] for a in page.all("details") if a.get("class") == "theorem"]
    assert len(theorems) == len({(claim.source.paper, claim.source.place) for claim in book.claims})
    assert set(theorems) <= {link["href"].removeprefix("#") for link in page.all("a")}


def test_each_point_of_a_figure_says_its_values(book: Ledger, page: Parsed) -> None:
    said = Counter(text for around, text in page.texts if around[-1:] == ("title",))
    for claim in book.claims:
        for panel in (panel for figure in claim.figures for panel in figure.panels):
            for series in panel.series:
                errors = series.error or (None,) * len(series.x)
                for x, y, error in zip(series.x, series.y, errors, strict=True):
                    assert said[f"{digits.number(x, digits=6)}; {digits.with_error(y, error)}"] >= 1
    assert said["a, d; −0.5"] == 1
    assert said["b, c; not a number"] == 1


@pytest.mark.parametrize("latex", [r"\ x", r"x\ ", r"\ \tfrac{1}{2}\ ", r"\text{so long}\ x", r"\quad a \qquad b"])
def test_no_formula_has_inline_styles(latex: str) -> None:
    """The page's policy refuses inline styles, and the browser would log an error."""
    assert "style=" not in many([(typst_math(latex), True)])[0].replace("displaystyle=", "")


def test_the_parts_of_a_statement_stand_on_lines_and_its_words_are_words() -> None:
    parts = (formula("a = 1"), APART, formula("b = 2"), Run("words", " for every "), formula("w"))
    words = Formulas()
    shown = words.fill(words.display(parts))
    assert shown.count('<div class="formula"') == 2
    assert " for every " in shown
    assert "<code>" not in shown


def test_an_empty_ledger_is_a_page() -> None:
    assert "nothing was checked" in Parsed(web_page(ledger(()))).text()


# ---- the page executes nothing from the ledger, and loads nothing ----


def test_the_security_policy_allows_this_script_and_no_requests(page: Parsed, hostile: Parsed) -> None:
    for each in (page, hostile):
        (policy,) = [a["content"] for a in each.all("meta") if a.get("http-equiv") == "Content-Security-Policy"]
        assert policy.startswith("default-src 'none';")
        assert "unsafe" not in policy
        for kind in ("script", "style"):
            (text,) = ["".join(t for around, t in each.texts if around[-1:] == (kind,))]
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            assert f"{kind}-src 'sha256-{digest}'" in policy
            assert len(each.all(kind)) == 1


def test_no_element_or_attribute_comes_from_a_ledger(page: Parsed, hostile: Parsed) -> None:
    """For any text of a ledger the page has the same elements, and no attribute runs or loads anything."""
    known = {tag for tag, _, _ in page.elements}
    mathematics = {"munder", "mover", "munderover", "mtable", "mtr", "mtd", "msqrt", "mroot", "mspace", "mo", "mstyle"}
    assert {tag for tag, _, _ in hostile.elements} <= known | mathematics
    for each in (page, hostile):
        for _, attributes, _ in each.elements:
            assert not [
                name for name in attributes if name.startswith("on") or name in ("style", "src", "action", "srcset")
            ]
            assert attributes.get("href", "#").startswith(("#", "data:,"))
            assert attributes.get("fill", "").startswith(("url(#hatch-", "#", ""))


def test_code_in_a_ledger_is_shown_as_text_and_invisible_characters_are_named(hostile: Parsed) -> None:
    text = re.sub(r"\s", "", hostile.text())
    for shown in ("<script>alert(1)</script>", '#read("/etc/passwd")', "[red]markup[/red]", "&amp;&xxe;", "<!---->"):
        assert shown in text
    for unseen in ("\x1b", "\x00", "\u202e", "\u200b", "\x02", "\x03"):
        assert unseen not in text
    for name in ("U+001B", "U+0000", "U+202E", "U+200B"):
        assert name in text
    assert HOSTILE["long"][:2000] in text


def test_a_text_of_the_ledger_cannot_stand_for_a_formula() -> None:
    claim = record(finding="\x020\x03 and $w^2$")
    text = Parsed(web_page(ledger((claim,)))).text()
    assert "⟨U+0002⟩0⟨U+0003⟩" in text


marks = st.text(st.sampled_from("<>&\"'/!-[]=;#ab \n"))


@given(marks, marks)
def test_text_is_escaped_and_markup_is_not(text: str, value: str) -> None:
    made = Parsed(element("p", text, element("b", "x"), title=value).encode())
    assert [(tag, attributes) for tag, attributes, _ in made.elements] == [("p", {"title": value}), ("b", {})]
    assert "".join(said for around, said in made.texts if around == ("p",)) == text
    assert join(Markup("<i>")) == "<i>"


# ---- navigation and screen readers ----


def test_addresses_are_unique_and_every_link_ends_at_one(page: Parsed, hostile: Parsed) -> None:
    for each in (page, hostile):
        addresses = Counter(a["id"] for _, a, _ in each.elements if "id" in a)
        assert max(addresses.values()) == 1
        assert not [address for address in addresses if not address or re.search(r"\s", address)]
        links = [a["href"].removeprefix("#") for a in each.all("a")]
        assert len(links) > 10
        ids = {quote(a["data-id"], safe=SAFE) for a in each.all("article")}  # by which the page finds a claim
        assert set(links) <= {*addresses, *ids}


def test_equal_ids_have_addresses_of_their_own() -> None:
    names = ("a.b/x y", "a.b/x%20y", "filters/1", "filters/1", "section-1", "")
    places = [Source(paper="S", place=f"Theorem {k}", printed="") for k, _ in enumerate(names)]
    claims = tuple(record(name, source=place) for name, place in zip(names, places, strict=True))
    page = Parsed(web_page(ledger(claims)))
    addresses = [a["id"] for _, a, _ in page.elements if "id" in a]
    assert len(addresses) == len(set(addresses))
    assert {f"theorem-{k}" for k, _ in enumerate(names, 1)} <= set(addresses)
    assert {"#a.b/x%20y", "#a.b/x%2520y", "#filters/1", "#section-1", "#"} <= {a["href"] for a in page.all("a")}


def test_headings_leave_out_no_level_and_landmarks_are_there(page: Parsed) -> None:
    levels = [int(tag[1]) for tag, _, _ in page.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    for landmark in ("header", "nav", "main", "footer", "form"):
        assert len(page.all(landmark)) == 1
    assert page.all("html")[0]["lang"] == "en"


def test_every_field_and_figure_has_a_name(page: Parsed) -> None:
    for tag, attributes, around in page.elements:
        if tag in ("input", "select"):
            assert "label" in around, attributes
        if tag == "svg":
            assert attributes.get("aria-hidden") or attributes["aria-label"]
        if attributes.get("role") in ("application", "region", "search"):
            assert attributes["aria-label"]
    assert len([a for a in page.all("svg") if a.get("class") == "plot"]) >= 6


def luminance(shade: str) -> float:
    parts = [int(shade[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_text_and_curves_stand_out_in_both_themes(content: bytes) -> None:
    """WCAG 2 requires a contrast of 4.5 for text (1.4.3) and 3 for graphics (1.4.11)."""
    pairs = dict(re.findall(r"--(\w+): light-dark\((#\w{6}, #\w{6})\)", content.decode()))
    colours = {name: pair.split(", ") for name, pair in pairs.items()}
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    for theme in (0, 1):
        for name in ("ink", "faint", "link", "good", "bad", "open", "broken", "mended"):
            for ground in ("paper", "raised"):
                assert contrast(colours[name][theme], colours[ground][theme]) >= 4.5, (name, theme)
    looks = [look for figure in (slopes_figure(None, None), terms_figure()) for look in series_looks(figure).values()]
    assert len(looks) > 8
    for look in looks:
        shade = f"#{colour_class(look.color).removeprefix('s-')}"
        share = int(re.findall(r"#fff (\d+)%", colour_rule(shade[1:]))[0]) / 100
        mixed = "#" + "".join(f"{round(int(shade[k : k + 2], 16) * (1 - share) + 255 * share):02x}" for k in (1, 3, 5))
        for theme, drawn in enumerate((shade, mixed)):
            assert contrast(drawn, colours["paper"][theme]) >= 3, (drawn, theme)


# ---- figures ----

values = st.lists(st.floats(-1e200, 1e200) | st.sampled_from([math.nan, math.inf]), max_size=8)


@given(values, st.booleans())
def test_an_axis_holds_every_value_that_it_has_a_place_for(points: list[float], log: bool) -> None:
    made = axis(points, log=log, start=50.0, end=300.0)
    known = sorted(value for value in points if has_place(value, log))
    places = [made.position(value) for value in known]
    assert places == sorted(places)
    assert all(50 <= place <= 300 for place in places)
    assert all(50 <= place <= 300 for place, _ in made.ticks)
    if known and known[0] != known[-1] and not log and known[-1] - known[0] > 0.2 * max(map(abs, known)):
        assert places[-1] - places[0] > 200, "a spread takes most of its axis"


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9))
def test_ticks_are_round_and_few(low: float, wide: float) -> None:
    found = round_values(low, low + wide)
    assert len(found) <= 7
    if wide > 1e-6 * abs(low):
        steps = {f"{after - before:.0e}" for before, after in pairwise(found)}
        assert len(found) >= 2
        assert len(steps) == 1
        assert steps.pop()[0] in "125"


def test_a_tick_lies_where_a_value_of_the_same_size_does() -> None:
    decades = axis([1e4, 1e30], log=True, start=0.0, end=300.0)
    assert len(decades.ticks) >= 4
    for place, said in decades.ticks:
        power = re.fullmatch(r"10<tspan[^>]*>(\d+)</tspan>", said)
        assert power is not None
        assert place == pytest.approx(decades.position(10.0 ** int(power[1])))
    for made in (axis([0.2, 30], log=True, start=90.0, end=0.0), axis([0.2, 30], log=False, start=0.0, end=300.0)):
        assert len(made.ticks) >= 3
        assert all(place == pytest.approx(made.position(float(said))) for place, said in made.ticks)
    assert axis([0.5, 0.5], log=False, start=0.0, end=100.0).position(0.5) == pytest.approx(50)


def test_points_without_a_place_are_left_out_and_regions_and_maps_are_drawn() -> None:
    series = Series(label="s", x=(1.0, 2.0, 3.0, math.nan), y=(1.0, -1.0, math.inf, 1.0), style="points")
    region = Region(label="between", x=(1.0, 2.0), low=(0.5, 0.6), high=(2.0, 3.0))
    panel = Panel(title="t", xlabel="$x$", ylabel="y", series=(series,), regions=(region,))
    drawn = draw(Figure(caption="c", alt="a", panels=(panel,)), paper=False).plots[0].svg
    assert drawn.count("<circle") == 1
    assert 'class="band"' in drawn
    sheet = HeatMap(title="M", values=((1.0, math.nan),))
    assert BLANK in draw(Figure(caption="c", alt="a", maps=(sheet,)), paper=False).plots[0].svg


def test_a_figure_that_cannot_be_drawn_leaves_the_page_intact() -> None:
    series = Series(label="s", x=(1.0, 2.0), y=(1.0,))
    broken = Figure(caption="c", alt="a", panels=(Panel(title="t", xlabel="x", ylabel="y", series=(series,)),))
    text = Parsed(web_page(ledger((record(figures=(broken,)),)))).text()
    assert "This figure could not be drawn (ValueError" in text
    assert "0.4" in text


def test_a_figure_of_two_theorems_is_led_to() -> None:
    """A theorem's page shows its own figure and links to a figure of another theorem's page."""
    own, shared, other = (slopes_figure(low, None) for low in (None, lambda d: 1 / d, lambda d: 2 / d))
    figures = {"a.b": (terms_figure(),), "a.c": (own, shared), "a.d": (other, shared)}
    claims = [record(id, source=Source(paper="S", place=id, printed=""), figures=each) for id, each in figures.items()]
    page = Parsed(web_page(ledger(tuple(claims))))
    drawn = [a["id"] for a in page.all("figure") if "id" in a]
    assert len(drawn) == len(set(drawn)) == 4
    led = [a["href"] for a in page.all("a") if a["href"].startswith("#figure-")]
    assert led == ["#figure-4"], "the theorems have three, and the evidence of the second the fourth"
    assert set(drawn) >= {href[1:] for href in led}


# ---- formulas ----


def test_a_formula_that_cannot_be_set_is_shown_as_its_source() -> None:
    assert many([("x", False), ("nonsense", False), ("y", True)])[1] == ""
    with pytest.raises(UnreadableError):
        typst_math(r"\nonsense")


def test_formulas_are_heard_as_they_were_written(page: Parsed) -> None:
    spoken = {attributes.get("alttext", attributes.get("aria-label")) for attributes in page.all("math")}
    assert None not in spoken
    assert r"w^*(n) = O\left(\Lambda^{2/d}\right)" in spoken
