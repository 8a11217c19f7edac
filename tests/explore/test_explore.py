"""The interactive page: its numbers are those of the library, it states refusals, and it answers only this machine."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from http.server import ThreadingHTTPServer
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest

import lipverify as lv
from lipverify.errors import InvalidInput
from lipverify.explore import Setting, picture, ray, serve


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
    assert dict(view.numbers)["optimal w"].startswith("1.94129984")
    curves = {series.label: series for series in view.figure.panels[0].series}
    w = np.array(curves["B(w), bias"].x)
    terms = lv.loss_terms(setting.problem, w)
    assert curves["B(w), bias"].y == tuple(terms.bias)
    assert curves["N(w), noise"].y == tuple(terms.noise)
    assert curves["optimal w"].x == (best.w,)


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
    regions = {region.label: region for region in view.figure.panels[0].regions}
    (points,) = view.figure.panels[0].series
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
    ],
)
def test_a_refused_input_is_explained(server: ThreadingHTTPServer, values: dict[str, Any], words: str) -> None:
    assert words in asked(server, "picture", **values)["refused"]


def test_a_question_is_answered_with_a_drawing_and_its_python(server: ThreadingHTTPServer) -> None:
    for question in ("picture", "ray"):
        answer = asked(server, question, d=3, n=100, law="affine", L=1, sigma=1)
        assert "<svg" in answer["html"]
        assert "optimal_window" in answer["python"]


def test_only_a_page_of_this_machine_is_answered(server: ThreadingHTTPServer) -> None:
    assert get(server, "/picture?d=3", Host="example.org")[0] == 403
    assert get(server, "/../pyproject.toml")[0] == 404
    assert get(server, f"/picture?law={'x' * 1000}")[0] == 414
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

    def counted(setting: Setting, progress: Any) -> Any:
        worked.append(setting)
        return ray(setting, progress)

    monkeypatch.setattr("lipverify.explore.ray", counted)
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
