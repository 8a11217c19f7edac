"""The interactive page in a real browser: sliders move curves, and refusals are read out."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from lipverify.explore import serve
from tests.browser import PATH, Page, browser

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PATH is None, reason="no Chromium or Chrome on the PATH; Debian has it as `chromium`"),
]
MOVE = (
    "const it = document.getElementById('%s'); it.value = '%s'; it.dispatchEvent(new Event('input', {bubbles: true}))"
)


@pytest.fixture(scope="module")
def tab() -> Iterator[Page]:
    server = serve()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    with browser() as page:
        page.open(f"http://127.0.0.1:{server.server_port}/")
        yield page
    server.shutdown()
    thread.join()
    server.server_close()


def until(tab: Page, expression: str) -> None:
    end = time.monotonic() + 60
    while not tab.run(expression):
        assert time.monotonic() < end, expression
        time.sleep(0.05)


def settled(tab: Page) -> None:
    until(tab, "document.body.dataset.ready === setting()")


def move(tab: Page, name: str, value: object) -> None:
    tab.run("{" + MOVE % (name, value) + "}")
    settled(tab)


def number(tab: Page, name: str) -> str:
    row = f"[...document.querySelectorAll('#numbers div')].find(row => row.children[0].textContent === '{name}')"
    return str(tab.run(f"{row}.children[1].textContent"))


def test_the_first_look_has_curves_tokens_and_numbers(tab: Page) -> None:
    settled(tab)
    assert tab.run("document.querySelectorAll('#loss svg.plot path.line').length") == 3
    assert tab.run("document.querySelectorAll('#sky circle.token').length") == 100
    assert number(tab, "optimal w").startswith("2.3327")
    until(tab, "document.body.dataset.complete === setting()")
    assert tab.run("document.querySelectorAll('#ray svg.plot path.marks').length") > 0
    assert tab.complaints == []


def test_a_slider_moves_the_optimum_and_the_python(tab: Page) -> None:
    before = number(tab, "optimal w")
    move(tab, "sigma", -1)
    assert number(tab, "optimal w") != before
    assert "sigma=0.1" in tab.run("document.getElementById('python').textContent")
    move(tab, "sigma", 0)
    assert number(tab, "optimal w") == before


def test_a_first_look_comes_before_the_exact_picture(tab: Page) -> None:
    tab.run("{" + MOVE % ("n", 4.5) + "}")
    until(tab, "document.body.dataset.looked === setting()")
    assert number(tab, "optimal w").startswith("≈")
    settled(tab)
    assert not number(tab, "optimal w").startswith("≈")
    move(tab, "n", 2)


def test_each_part_has_a_name_and_the_code_is_not_cut(tab: Page) -> None:
    spoken = tab.spoken()
    for role, name in (("form", "Problem"), ("region", "Where attention looks"), ("region", "Bias and noise")):
        assert (role, name) in spoken
    assert tab.run("document.getElementById('python').scrollWidth <= document.getElementById('python').clientWidth")


def test_attention_narrows_as_w_grows(tab: Page) -> None:
    tab.run("document.getElementById('best').click()")
    areas = []
    for w in (0, 3):
        move(tab, "w", w)
        areas.append(
            tab.run(
                "[...document.querySelectorAll('#sky circle.token')].reduce((s, c) => s + c.r.baseVal.value ** 2, 0)"
            )
        )
    assert areas[1] < areas[0] / 5
    tab.run("document.getElementById('best').click()")
    settled(tab)


def test_a_law_that_is_not_known_is_refused_where_it_is_read(tab: Page) -> None:
    move(tab, "law", "tanh")
    assert "tanh" in tab.run("document.getElementById('refused').textContent")
    assert not tab.run("document.getElementById('refused').hidden")
    move(tab, "law", "relu")
    assert tab.run("document.getElementById('refused').hidden")


@pytest.mark.parametrize("width", [360, 800, 1400])
def test_nothing_ends_beyond_the_window(tab: Page, width: int) -> None:
    tab.resize(width)
    assert tab.run("document.documentElement.scrollWidth") <= width
