"""The web page in a real browser: links, filters, figures and widths, with keyboard, pointer and screen reader."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from msgspec.structs import replace

from lipverify.claims.ledger import Ledger, Record
from lipverify.report import write_web_page
from tests.browser import OWN_SCHEMES, PATH, Page, browser
from tests.hostile import hostile_ledger
from tests.ledgers import realistic

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PATH is None, reason="no Chromium or Chrome on the PATH; Debian has it as `chromium`"),
]
WIDTHS = (320, 360, 414, 600, 768, 961, 1280, 1600)
CLAIM = "softmax.window-printed/affine/lower/ambient"
OPEN_ALL = """(async () => {
  let closed;
  while ((closed = document.querySelectorAll('details:not([open]), noscript')).length)
    await new Promise(done => { closed.forEach(each => each.open = true); setTimeout(done, 20); });
})()"""
"""Open every part. What a part contains is on the page only when the part has opened."""
BEYOND = """each => {
  for (let at = each; at; at = at.parentElement)
    if (getComputedStyle(at).overflowX === 'auto' || at.matches('.skip, .unseen')) return false;
  return each.getBoundingClientRect().right > innerWidth + 1;
}"""
"""True if an element extends beyond the window and is inside no scrolling element."""
CUT = "each => each.clientHeight > 0 && each.scrollHeight > each.clientHeight + 1"
"""True if the lines of an element are taller than the element, so that it would scroll vertically."""
AT = """id => document.getElementById(id)
  ?? [...document.querySelectorAll('.reading')].find(each => `${each.dataset.id}/`.startsWith(`${id}/`))"""
"""The element with an address, or the first claim whose id begins with it."""
IN_SIGHT = (
    "[...document.querySelectorAll('.reading')].filter(each => !each.closest('[hidden]')).map(each => each.dataset.id)"
)


@pytest.fixture(scope="module")
def book() -> Ledger:
    """Claims with every verdict. The text of one has a formula that is wider than a phone."""
    wide = r"$\sum_i a_i f(x_i) = " + " + ".join(f"a_{{{k}}} f(x_{{{k}}})" for k in range(20)) + "$"
    first, *rest = realistic().claims
    texts = {"finding": wide, "corrected": wide, "title": wide, "measured": wide, "assumptions": (wide,)}
    return replace(realistic(), claims=(replace(first, **texts), *rest))


@pytest.fixture(scope="module")
def file(book: Ledger, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("web") / "report.html"
    write_web_page(book, path)
    return path


@pytest.fixture(scope="module")
def tab() -> Iterator[Page]:
    with browser() as page:
        yield page


@pytest.fixture
def page(tab: Page, file: Path) -> Iterator[Page]:
    """A fresh page. In every test the browser must log no error and request nothing else."""
    tab.requests.clear()
    tab.complaints.clear()
    tab.prefer("light")
    tab.resize(1280)
    tab.open("about:blank")
    tab.open(file.as_uri())
    yield tab
    assert tab.complaints == []
    assert {address for address in tab.requests if address != file.as_uri()} <= {"about:blank", "data:,"}


def found(selector: str, test: str) -> str:
    """The expression for all elements that match a selector."""
    return f"[...document.querySelectorAll({selector!r})].filter({test}).map(each => each.outerHTML.slice(0, 200))"


def choose(page: Page, field: str, value: str) -> None:
    """Set a field of the filters as a reader would."""
    page.run(
        f"(field => {{ field.value = {value!r}; field.dispatchEvent(new Event('input', {{bubbles: true}})); }})"
        f"(document.forms[0].elements[{field!r}])"
    )


# ---- the page itself ----


@pytest.mark.parametrize("opened", [False, True])
def test_no_width_overflows(page: Page, opened: bool) -> None:
    if opened:
        page.run(OPEN_ALL)
    for width in WIDTHS:
        page.resize(width)
        assert page.run("document.documentElement.scrollWidth") <= width, width
        assert page.run(found("body *", BEYOND)) == [], width
        assert page.run(found("main p:not(.unseen), dd, figcaption, .legend", CUT)) == [], width


@pytest.mark.parametrize("width", [320, 768, 1280])
def test_the_first_screen_shows_the_questions_of_the_run(tab: Page, file: Path, width: int) -> None:
    """In a narrow window the fields and the contents are collapsed to one line each."""
    tab.resize(width)
    tab.open(file.as_uri())
    assert tab.run("document.querySelector('main p').getBoundingClientRect().bottom") < 800
    assert tab.run("[...document.querySelectorAll('.side details')].map(part => part.open)") == [width > 960] * 2
    if width < 960:
        tab.run("document.querySelector('.side summary').click()")
        assert tab.run("document.querySelector('#filters input').checkVisibility()")
    tab.resize(1280)


def test_no_heading_is_clipped(tab: Page, book: Ledger, tmp_path: Path) -> None:
    """A formula in a heading has room for its exponents, at the right and above."""
    first, *rest = book.claims
    title = r"the optimal scale is at least of order $\Lambda^{1 / d^{2}}$ and at most of order $\Lambda^{2 / d^{2}}$"
    claims = (replace(first, title=title), *rest)
    write_web_page(replace(book, claims=tuple(replace(claim, heading=None) for claim in claims)), tmp_path / "h.html")
    tab.resize(1280)
    tab.open((tmp_path / "h.html").as_uri())
    cut = """each => { const own = each.getBoundingClientRect(), room = each.closest('summary').getBoundingClientRect();
      return own.right > room.right || own.top < room.top || own.bottom > room.bottom; }"""
    assert tab.run("document.querySelectorAll('.theorem h3 msup').length") >= 2
    assert tab.run(found(".theorem h3 *", cut)) == []
    assert tab.run(found(".theorem h3", "each => getComputedStyle(each).overflow !== 'visible'")) == []


def test_a_width_that_overflows_is_seen(page: Page) -> None:
    page.resize(320)
    page.run("document.body.prepend(Object.assign(document.createElement('pre'), {textContent: 'y'.repeat(200)}))")
    assert page.run("document.documentElement.scrollWidth") > 320


class Heard(BaseHTTPRequestHandler):
    def __init__(self, calls: list[str], *rest: object) -> None:
        self.calls = calls
        super().__init__(*rest)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        self.calls.append(self.path)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Write no log."""


def test_text_of_a_ledger_neither_runs_nor_leaves_the_page(tab: Page, tmp_path: Path) -> None:
    write_web_page(hostile_ledger(), tmp_path / "hostile.html")
    tab.requests.clear()
    tab.complaints.clear()
    tab.open((tmp_path / "hostile.html").as_uri())
    tab.run(OPEN_ALL)
    tab.resize(320)
    assert tab.run("document.documentElement.scrollWidth") <= 320
    assert tab.run("document.scripts.length") == 1
    assert "<script>alert(1)</script>" in tab.run("document.querySelector('main').textContent")
    assert tab.complaints == []
    assert not [address for address in tab.requests if not address.startswith(OWN_SCHEMES)]


def test_even_a_script_on_the_page_reaches_nothing(tab: Page, file: Path, tmp_path: Path) -> None:
    """The same attempt leaves a page without the policy, so this test can fail."""
    calls: list[str] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Heard, calls))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    attempt = (
        f"new Promise(done => {{ const image = new Image(); image.onload = image.onerror = () => done();"
        f"image.src = 'http://127.0.0.1:{server.server_port}/x'; }})"
    )
    (tmp_path / "open.html").write_text("<!DOCTYPE html><title>t</title>")
    try:
        for address, expected in ((file.as_uri(), []), ((tmp_path / "open.html").as_uri(), ["/x"])):
            tab.open(address)
            tab.run(attempt)
            assert calls == expected
    finally:
        server.shutdown()
        server.server_close()
    tab.complaints.clear()


def test_without_a_network_the_page_is_whole(page: Page, book: Ledger, file: Path) -> None:
    page.send("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)
    page.open(file.as_uri())
    page.run(OPEN_ALL)
    assert page.run("document.querySelectorAll('.reading').length") == len(book.claims)
    assert page.run("[...document.querySelectorAll('math')].every(each => each.getClientRects || true)")
    page.send("Network.emulateNetworkConditions", offline=False, latency=0, downloadThroughput=-1, uploadThroughput=-1)


# ---- links ----


def test_an_address_opens_the_claim_and_leads_to_it(page: Page, file: Path) -> None:
    for address in (CLAIM, "linear-attention.floor", "softmax.window-printed"):
        page.open("about:blank")
        page.open(f"{file.as_uri()}#{address}")
        assert page.run("document.activeElement.closest('details').open")
        where = page.run(f"({AT})({address!r}).getBoundingClientRect().top")
        bottom = page.run("document.documentElement.scrollHeight - scrollY - innerHeight")
        assert -1 <= where <= 40 or (bottom < 1 and 0 <= where < 800)
    assert page.run("document.querySelectorAll('.theorem[open]').length") == 1, "the others stay closed"


def test_every_link_leads_to_a_place_in_sight(page: Page) -> None:
    text = "document.body.outerHTML + [...document.querySelectorAll('noscript')].map(e => e.textContent)"
    links = list(dict.fromkeys(re.findall(r'href="(#[^"]+)"', page.run(text))))
    assert len(links) > 10
    assert f"#{CLAIM}" in links
    for link in links:
        page.run(f"location.hash = {link!r}")
        page.run("new Promise(done => setTimeout(done, 20))")
        shown = f"({AT})({link[1:]!r}).checkVisibility()"
        assert page.run(shown), link


def test_a_part_is_parsed_when_it_opens(page: Page) -> None:
    """What stays closed costs nothing when a long page loads: it is text, and becomes elements once."""
    whole = page.run("document.documentElement.outerHTML.length")
    held = page.run("[...document.querySelectorAll('noscript')].map(each => each.textContent).join('').length")
    assert held > whole / 2
    assert page.run("document.querySelectorAll('.reading').length") == 0
    page.run("document.querySelector('.theorem summary').click()")
    page.run("new Promise(done => setTimeout(done, 50))")
    several = page.run("document.querySelector('.theorem').querySelectorAll('.reading').length")
    assert several >= 1
    page.run(f"{OPEN_ALL}.then(() => document.querySelector('.theorem summary').click())")
    page.run("document.querySelector('.theorem summary').click()")
    page.run("new Promise(done => setTimeout(done, 50))")
    assert page.run("document.querySelector('.theorem').querySelectorAll('.reading').length") == several


def test_without_scripts_the_page_has_everything(page: Page, book: Ledger, file: Path) -> None:
    page.send("Emulation.setScriptExecutionDisabled", value=True)
    page.open(file.as_uri())
    try:
        assert page.run("document.querySelectorAll('noscript > .reading').length") == len(book.claims)
        assert page.run("document.querySelectorAll('noscript figure').length") >= 1
        page.run("document.querySelector('.theorem').open = true")
        assert page.run("document.querySelector('.reading').checkVisibility()")
    finally:
        page.send("Emulation.setScriptExecutionDisabled", value=False)


def test_the_start_of_an_id_leads_to_its_first_claim(page: Page) -> None:
    page.run("location.hash = '#softmax.window-printed/affine'")
    page.run("new Promise(done => setTimeout(done, 50))")
    assert page.run("document.activeElement.dataset.id") == CLAIM


def test_an_address_shows_a_claim_that_a_filter_hides(page: Page) -> None:
    choose(page, "verdict", "error")
    assert CLAIM not in page.run(IN_SIGHT)
    page.run(f"location.hash = '#{CLAIM}'")
    page.run("new Promise(done => setTimeout(done, 50))")
    assert CLAIM in page.run(IN_SIGHT)
    assert page.run("document.forms[0].elements.verdict.value") == ""


# ---- filters ----


def test_filters_leave_exactly_the_claims_that_fit(page: Page, book: Ledger) -> None:
    from lipverify.report.sources import short  # internal: the title of a source as the page shortens it

    page.run(OPEN_ALL)
    everything = page.run(IN_SIGHT)
    assert sorted(everything) == sorted(claim.id for claim in book.claims)
    asked: dict[str, Callable[[Record], str]] = {
        "verdict": lambda claim: claim.verdict, "kind": lambda claim: claim.kind,
        "grade": lambda claim: claim.grade or "", "paper": lambda claim: short(claim.source.paper),
    }  # fmt: skip
    for field, of in asked.items():
        values = {of(claim) for claim in book.claims}
        for value in values:
            choose(page, field, value)
            wanted = {claim.id for claim in book.claims if of(claim) == value}
            assert set(page.run(IN_SIGHT)) == wanted, (field, value)
            said = page.run("document.getElementById('found').textContent")
            assert said.startswith(f"{len(wanted)} of {len(book.claims)}" if len(values) > 1 else str(len(wanted)))
        choose(page, field, "")
    assert page.run(IN_SIGHT) == everything


def test_filters_together_and_words(page: Page) -> None:
    choose(page, "words", "WINDOW ambient")
    assert page.run("document.getElementById('found').textContent") == "2 of 6 claims, in 1 theorem"
    page.run(OPEN_ALL)  # what a theorem has beside its matches stays hidden when it is parsed
    assert page.run(IN_SIGHT) == [CLAIM, "softmax.window-printed/relu/upper/ambient"]
    choose(page, "verdict", "refuted")
    assert page.run(IN_SIGHT) == [CLAIM]
    choose(page, "words", "momentum")
    assert page.run(IN_SIGHT) == []
    assert page.run("document.getElementById('found').textContent") == "0 of 6 claims, in 0 theorems"
    page.run("document.querySelector('[type=reset]').click()")
    page.run("new Promise(done => setTimeout(done, 50))")
    assert len(page.run(IN_SIGHT)) == 6
    choose(page, "words", "Λ")
    assert CLAIM in page.run(IN_SIGHT), "letters of formulas are found too"


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_a_filter_leaves_matches_alone_in_the_first_screen(page: Page, width: int, height: int) -> None:
    page.resize(width, height)
    for part in ("#result", "#notation"):
        assert page.run(f"document.querySelector({part!r}).checkVisibility()")
    page.run("scrollTo(0, document.documentElement.scrollHeight)")
    page.run("document.querySelector('.side details').open = true")
    choose(page, "words", "momentum")
    assert page.run("document.querySelector('.theorem:not([hidden]) h3').getBoundingClientRect().bottom") < height
    for part in ("#result", "#notation", "nav"):
        assert not page.run(f"document.querySelector({part!r}).checkVisibility()")
    choose(page, "words", "")
    assert page.run("document.querySelector('#result').checkVisibility()")


def test_a_count_of_an_outcome_shows_its_claims(page: Page) -> None:
    counts = page.run("[...document.querySelectorAll('.counts button')].map(each => [each.value, each.textContent])")
    assert counts
    assert not [text for _, text in counts if text.endswith(" 0")]
    for value, _ in counts:
        page.run(f"[...document.querySelectorAll('.counts button')].find(e => e.value === {value!r}).click()")
        assert page.run("document.forms[0].elements.outcome.value") == value
        assert page.run("document.activeElement.name") == "outcome"
        assert page.run(found(".theorem", "each => !each.hidden"))
        choose(page, "outcome", "")


def test_all_theorems_open_and_close(page: Page) -> None:
    button = "document.forms[0].elements.open.click()"
    page.run(button)
    assert page.run("document.querySelectorAll('.theorem:not([open])').length") == 0
    page.run(button)
    assert page.run("document.querySelectorAll('.theorem[open]').length") == 0


# ---- figures ----


def test_the_pointer_and_the_keys_show_values(page: Page, book: Ledger) -> None:
    page.run(OPEN_ALL)
    page.run("document.querySelector('.plot').scrollIntoView({block: 'center'})")
    tip = "document.getElementById('tip').hidden ? '' : document.getElementById('tip').textContent"
    until = time.monotonic() + 10
    while not page.run(tip) and time.monotonic() < until:  # a busy machine may not have finished the layout
        box = page.run(
            "(({x, y, width, height}) => [x + width / 2, y + height / 2])"
            "(document.querySelector('.plot circle').getBoundingClientRect())"
        )
        page.hover(box[0] + 3, box[1] + 2)
    series = book.claims[0].figures[0].panels[0].series[0]
    assert page.run(tip).startswith(f"{series.label}\nn: 10000\nlocal exponent of w*: ")
    page.hover(1, 1)
    assert page.run(tip) == ""
    page.run("document.querySelector('.plot').focus()")
    for key, said in (
        ("ArrowRight", "n: 10000"),
        ("ArrowRight", "n: 1e6"),
        ("ArrowLeft", "n: 10000"),
        ("ArrowDown", "extrapolated limit"),
    ):
        page.press(key)
        assert said in page.run(tip), key
    page.run("scrollBy(0, 30)")
    page.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert page.run(tip) == "", "it stays with its point"
    page.press("ArrowRight")
    page.press("Escape")
    assert page.run(tip) == ""
    sides = page.run(
        "(({left, right}) => [left, innerWidth - right])(document.getElementById('tip').getBoundingClientRect())"
    )
    assert min(sides) >= 0


# ---- colours, keyboard and screen reader ----


def test_colours_follow_the_system_or_the_choice(page: Page, file: Path) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.run(ground) == "rgb(255, 255, 255)"
    page.prefer("dark")
    dark = page.run(ground)
    assert dark == "rgb(22, 24, 28)"
    page.run(OPEN_ALL)
    assert page.run("getComputedStyle(document.querySelector('.plot text')).fill") != page.run(ground)
    pick = (
        "(field => { field.value = %r; field.dispatchEvent(new Event('change')); })(document.getElementById('theme'))"
    )
    page.run(pick % "light")
    assert page.run(ground) == "rgb(255, 255, 255)"
    page.open(file.as_uri() + "?again")
    assert page.run(ground) == "rgb(255, 255, 255)", "the choice is kept"
    page.run(pick % "")
    assert page.run(ground) == dark
    page.requests.remove(file.as_uri() + "?again")


def test_the_keyboard_reaches_everything_in_order_and_shows_where_it_is(page: Page) -> None:
    seen = []
    for _ in range(60):
        page.press("Tab")
        seen.append(page.run("(at => at.id || at.name || at.className || at.textContent)(document.activeElement)"))
        assert page.run("parseFloat(getComputedStyle(document.activeElement).outlineWidth) >= 2"), seen[-1]
    assert seen[0] == "skip"
    order = ["skip", "theme", "words", "paper", "kind", "outcome", "verdict", "grade"]
    named = [name for name in seen if name in order]
    assert named == (order * seen.count("skip"))[: len(named)], "the last round may end anywhere"
    assert len(named) >= len(order)
    assert page.run("document.querySelectorAll('summary').length") >= 5


def test_what_scrolls_is_reached_by_the_keyboard(page: Page) -> None:
    page.resize(390, 844)
    page.run(OPEN_ALL)
    for k in range(page.run("document.querySelectorAll('main section').length")):  # a part is laid out in sight
        page.run(f"document.querySelectorAll('main section')[{k}].scrollIntoView()")
        page.run("new Promise(done => setTimeout(done, 50))")
    scrolls = "each => getComputedStyle(each).overflowX === 'auto' && each.scrollWidth > each.clientWidth"
    assert page.run(found("main p", scrolls)), "the wide formula scrolls"
    reached = "each.tabIndex >= 0 || each.querySelector('a, summary, [tabindex]')"
    assert page.run(found("body *", f"each => ({scrolls})(each) && !({reached})")) == []


def test_the_skip_link_and_a_summary_work_by_key(page: Page) -> None:
    page.press("Tab")
    page.press("Enter")
    page.run("document.querySelector('.theorem summary').focus()")
    page.send("Input.dispatchKeyEvent", type="keyDown", key="Enter", code="Enter", windowsVirtualKeyCode=13, text="\r")
    page.send("Input.dispatchKeyEvent", type="keyUp", key="Enter", code="Enter", windowsVirtualKeyCode=13)
    assert page.run("document.querySelector('.theorem').open")


def test_a_screen_reader_finds_roles_and_names(page: Page) -> None:
    page.run(OPEN_ALL)
    heard = page.spoken()
    roles = [role for role, _ in heard]
    for landmark in ("banner", "navigation", "search", "main", "contentinfo", "status"):
        assert landmark in roles, landmark
    for role in ("textbox", "searchbox", "combobox", "button", "link", "application", "heading", "region"):
        assert all(name.strip() for found, name in heard if found == role), role
    assert roles.count("combobox") == 6
    assert ("link", "Link to this claim") in heard
    assert any(role == "application" and "Arrow keys" in name for role, name in heard)
    assert any(role.lower().startswith("math") for role in roles)
