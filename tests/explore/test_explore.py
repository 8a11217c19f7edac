"""The interactive page: its numbers are those of the library, it states refusals, and it answers only this machine."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from http.client import HTTPConnection
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest

import lipverify as lv
from lipverify.errors import InvalidInput
from lipverify.explore import Setting, look, picture, ray, serve
from lipverify.laws import Law, Ridge
from tests.commands import Commands


@pytest.fixture(scope="module")
def server() -> Iterator[ThreadingHTTPServer]:
    served = serve()
    thread = threading.Thread(target=served.serve_forever)
    thread.start()
    yield served
    served.shutdown()
    thread.join()
    served.server_close()


def get(server: ThreadingHTTPServer, path: str, **headers: str) -> tuple[int, str, str]:
    with closing(HTTPConnection("127.0.0.1", server.server_port, timeout=60)) as connection:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.headers["Content-Security-Policy"], answer.read().decode()


def asked(server: ThreadingHTTPServer, question: str, **values: Any) -> dict[str, Any]:
    status, _, text = get(server, f"/{question}?{urlencode(values)}")
    assert status == 200
    answer: dict[str, Any] = json.loads(text)
    return answer


def test_the_numbers_are_those_of_the_library() -> None:
    setting = Setting(d=5, n=100, law="relu", L=1.0, sigma=1.0)
    view, best = picture(setting), lv.optimal_window(setting.problem)
    assert dict(view.numbers)["optimal w"] == "1.9413"
    curves = {series.label: series for series in view.figure.panels[0].series}
    w = np.array(curves["B(w), bias"].x)
    terms = lv.loss_terms(setting.problem, w)
    assert np.all(abs(np.array(curves["B(w), bias"].y) - terms.bias) <= 2 * terms.bias_error)
    assert np.all(abs(np.array(curves["N(w), noise"].y) - terms.noise) <= 2 * terms.noise_error)
    assert curves["optimal w"].x == (best.w,)


def test_a_number_has_five_digits_and_its_error_only_if_that_reaches_them() -> None:
    for setting in (Setting(d=5), Setting(d=15, n=1e12, L=3.0), Setting(d=2, n=7, sigma=0.01, w=2.0)):
        for _, text in picture(setting).numbers:
            digits = text.partition("e")[0].replace(".", "").lstrip("0")
            assert len(digits) <= 5 or "±" in text


@pytest.mark.parametrize("d", [3, 15])
@pytest.mark.parametrize("n", [50, 1e12])
@pytest.mark.parametrize(("law", "sigma"), [("relu", 1.0), ("affine", 0.1), ("relu + 2*cosine(3)", 3.0)])
def test_the_first_look_is_near_the_exact_picture_and_shows_the_same_w(
    law: str, d: int, n: float, sigma: float
) -> None:
    setting = Setting(d=d, n=n, law=law, sigma=sigma)
    first, exact = (view(setting).figure.panels[0].series for view in (look, picture))
    for rough, fine in zip(first[:2], exact[:2], strict=True):
        assert (rough.x[0], rough.x[-1]) == pytest.approx((fine.x[0], fine.x[-1]))
        drawn = np.exp(np.interp(np.log(fine.x), np.log(rough.x), np.log(rough.y)))
        assert drawn[::2] == pytest.approx(fine.y[::2], rel=2e-3), "about four digits where it was measured"
    (w,), (optimum,) = first[-1].x, exact[-1].x
    assert abs(np.log10(w / optimum)) < 0.25, "within half a step between the measured w"
    assert first[2].x[0] < w < first[2].x[-1]


def counted(monkeypatch: pytest.MonkeyPatch, name: str) -> list[Any]:
    """The arguments with which a function of the page is called from here on."""
    calls: list[Any] = []
    function: Callable[..., Any] = getattr(lv.explore.view, name)

    def called(*arguments: Any, **named: Any) -> Any:
        calls.append(arguments)
        return function(*arguments, **named)

    monkeypatch.setattr(f"lipverify.explore.view.{name}", called)
    return calls


@pytest.mark.parametrize("law", ["relu", "2*relu + cosine(3)"])
def test_the_sliders_of_L_and_sigma_measure_only_w_that_come_into_view(
    law: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    at: dict[str, Any] = {"d": 4, "n": 321, "law": law}
    look(Setting(**at))
    calls = counted(monkeypatch, "rough_terms")
    before, after = look(Setting(**at)), look(Setting(**at, L=1.05, sigma=1.1))
    assert calls == []
    ratios = {
        series.label: other.y[0] / series.y[0]
        for series, other in zip(before.figure.panels[0].series, after.figure.panels[0].series, strict=True)
    }
    assert ratios["B(w), bias"] == pytest.approx(1.05**2)
    assert ratios["N(w), noise"] == pytest.approx(1.1**2)
    look(Setting(**at | {"n": 322}))
    assert len(calls) > 0, "another n is another problem"


def test_the_frequency_of_a_wave_is_no_factor() -> None:
    """For cosine L is no factor: its bias is measured again."""
    one, two = (np.array(look(Setting(law="cosine", L=L)).figure.panels[0].series[0].y) for L in (1.0, 2.0))
    assert np.ptp(two / one) > 0.1


def test_an_exponent_lies_in_the_printed_range_at_large_n_and_may_leave_it_before() -> None:
    _, slope = ray(Setting(d=15)).figure.panels
    (band,), (exponents,) = slope.bands, slope.series
    assert (band.low, band.high) == (1 / 15, 2 / 15)
    assert 1 / 15 < exponents.y[-1] < 2 / 15 < exponents.y[0]


def test_points_of_n_are_kept_as_n_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    ray(Setting(d=4, n=1e4))
    calls = counted(monkeypatch, "optimal_window")
    ray(Setting(d=4, n=1.2e4))
    assert calls == []
    ray(Setting(d=4, n=1e6))
    assert 0 < len(calls) < 9


BUMP = """
import numpy as np
from lipverify.laws import Ridge

fixed = Ridge(np.tanh)

def made(L):
    return Ridge(lambda z: np.sin(L * z))
"""


@pytest.mark.parametrize(
    ("name", "own"), [("fixed", Ridge(np.tanh)), ("made", lambda L: Ridge(lambda z: np.sin(L * z)))]
)
def test_a_law_in_a_file_is_shown_with_python_that_reads_the_file(
    name: str, own: Law | Callable[..., Law], tmp_path: Path
) -> None:
    path = tmp_path / "my.py"
    path.write_text(BUMP)
    setting = Setting(law=f"{path}:{name}", L=2.0, own=own)
    defined: dict[str, Any] = {}
    exec(setting.python, defined)
    w = picture(setting).figure.panels[0].series[-1].x[0]
    assert w == pytest.approx(defined["o"].w, rel=1e-6)


def test_only_a_file_that_was_given_at_the_start_is_read() -> None:
    served = serve(laws=["my.py:bump", "relu"], own={"my.py:bump": Ridge(np.tanh)})
    thread = threading.Thread(target=served.serve_forever)
    thread.start()
    _, _, page = get(served, "/")
    given, other = (asked(served, "look", law=law) for law in ("my.py:bump", "other.py:bump"))
    served.shutdown()
    thread.join()
    served.server_close()
    assert 'value="my.py:bump"' in page
    assert "html" in given
    assert "lipverify explore --law" in other["refused"]


@pytest.mark.parametrize("law", ["tanh", "relu^2", "no.py:bump"])
def test_a_law_that_cannot_be_shown_ends_the_command(law: str, lipverify: Commands) -> None:
    done = lipverify("explore", "--law", law)
    assert done.returncode == 2
    assert ".py" in done.stderr


def test_the_python_on_the_page_gives_the_numbers_on_the_page() -> None:
    setting = Setting(d=3, n=50, law="relu + 2*cosine(3)", sigma=0.5, w=4.0)
    made: dict[str, Any] = {}
    exec(setting.python, made)
    assert made["p"] == setting.problem
    assert dict(picture(setting).numbers)["bias B(w)"].startswith(f"{float(made['t'].bias):.4f}"[:5])


def test_a_token_at_the_query_has_the_largest_weight_and_a_wider_window_has_more_even_ones() -> None:
    narrow, wide = (picture(Setting(n=200, w=w)).tokens for w in (50.0, 0.5))
    assert len(narrow) == 200
    for tokens in (narrow, wide):
        angles, _, shares = np.array(tokens).T
        assert shares[np.argmin(angles)] == 1.0
        assert np.all(np.diff(shares[np.argsort(angles)]) <= 0)
    assert sum(share for *_, share in narrow) < sum(share for *_, share in wide)


def test_the_proved_range_contains_w_and_is_drawn_only_where_proved() -> None:
    view = ray(Setting(d=3, n=1e4, law="affine"))
    height, _ = view.figure.panels
    regions = {region.label: region for region in height.regions}
    (points,) = height.series
    optimum = dict(zip(points.x, points.y, strict=True))
    proved = regions["proved"]
    assert all(low < optimum[n] < high for n, low, high in zip(proved.x, proved.low, proved.high, strict=True))
    assert min(proved.x) > min(points.x)
    assert "proved" not in {region.label for region in ray(Setting(d=3, law="cosine(2)")).figure.panels[0].regions}


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"d": 1}, "d = 1"),
        ({"d": 2.5}, "d"),
        ({"n": 0}, "n = 0"),
        ({"law": "tanh"}, "law = 'tanh'"),
        ({"law": "__import__('os')"}, "law"),
        ({"sigma": -1}, "sigma = -1"),
        ({"L": "nan"}, "L = nan"),
        ({"w": "x"}, "w"),
        ({"k": 1}, "k is no parameter"),
        ({"own": 1}, "own is no parameter"),
        ({"law": "relu^2"}, "a law is written as"),
    ],
)
def test_a_refused_input_is_explained(server: ThreadingHTTPServer, values: dict[str, Any], words: str) -> None:
    assert words in asked(server, "picture", **values)["refused"]


def test_a_question_is_answered_with_a_drawing_and_its_python(server: ThreadingHTTPServer) -> None:
    for question in ("look", "picture", "ray"):
        answer = asked(server, question, d=3, n=100, law="affine", L=1, sigma=1)
        assert "<svg" in answer["html"]
        assert "optimal_window" in answer["python"]


def test_only_a_page_of_this_machine_is_answered(server: ThreadingHTTPServer) -> None:
    assert get(server, "/picture?d=3", Host="example.org")[0] == 403
    assert get(server, "/../pyproject.toml")[0] == 404
    assert get(server, f"/picture?law={'x' * 10_000}")[0] == 414
    status, policy, page = get(server, "/")
    assert status == 200
    assert "default-src 'none'" in policy
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_a_port_that_is_taken_is_refused(server: ThreadingHTTPServer) -> None:
    for port in (server.server_port, 70_000):
        with pytest.raises(InvalidInput, match=rf"port = {port}"):
            serve(port)


def test_no_work_is_done_for_a_browser_that_has_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty rays are asked for while another query has its turn; their browsers leave, and the next one is answered."""
    served, worked = serve(), list[Setting]()

    def noted(setting: Setting, progress: Any) -> Any:
        worked.append(setting)
        return ray(setting, progress)

    monkeypatch.setattr("lipverify.explore.ray", noted)
    thread = threading.Thread(target=served.serve_forever)
    thread.start()
    handler: Any = served.RequestHandlerClass
    with handler.turn:
        for d in range(2, 42):
            gone = HTTPConnection("127.0.0.1", served.server_port)
            gone.request("GET", f"/ray?{urlencode({'d': d})}")
            gone.close()
    assert "html" in asked(served, "ray", d=3)
    served.shutdown()
    thread.join()
    served.server_close()
    assert [setting.d for setting in worked] == [3]
