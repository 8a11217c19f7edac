"""An interactive page: bias, noise and the optimal w of one problem, with sliders for its parameters.

The server answers three files and three queries, only to a browser on this machine. It runs no file that a query names:
laws in files of the user are given to `serve`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from select import select
from socket import MSG_PEEK
from threading import Lock
from typing import ClassVar
from urllib.parse import parse_qsl, urlsplit

import msgspec

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.explore.view import Own, Setting, View, look, picture, ray, setting_of
from lipverify.foundation.latex import plain
from lipverify.foundation.lazy import directory
from lipverify.laws import LAWS
from lipverify.loss.work import Progress
from lipverify.report.drawing import draw, hatches
from lipverify.report.looks import PALETTE, colour_rule
from lipverify.report.text import Text
from lipverify.report.web.markup import Markup, element, join
from lipverify.report.web.theorem import drawn

HOST = "127.0.0.1"
POLICY = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'"
"""Content security policy: the page loads nothing from elsewhere, and runs only its own script and style."""
LONGEST = 4000
"""Longest query, in characters: a formula has at most a thousand, of which some are written as three."""
LAW_FIELD = {"id": "law", "list": "laws", "autocomplete": "off", "spellcheck": "false", "aria_describedby": "law-help"}
"""The attributes of the field for the law."""


def serve(port: int = 0, laws: Sequence[str] = ("relu",), own: dict[str, Own] | None = None) -> ThreadingHTTPServer:
    """A server of the page, bound to this machine; call `serve_forever` on it. Port 0 chooses a free one.

    The page begins with the first of `laws` and offers the others; `own` are those in files, by name.
    """
    try:
        handler = type("Handler", (_Handler,), {"laws": tuple(laws), "own": own or {}})
        return ThreadingHTTPServer((HOST, port), handler)
    except (OSError, OverflowError) as error:
        raise InvalidInput(f"port = {port}: cannot be used ({error}); choose another, or 0 for a free one.") from None


class _Handler(BaseHTTPRequestHandler):
    """Handle one request. Queries are answered one at a time, because threads share the caches of the exact method."""

    server_version = "lipverify"
    turn = Lock()
    laws: ClassVar[tuple[str, ...]]
    own: ClassVar[dict[str, Own]]

    def do_GET(self) -> None:
        """Send a file of the page, or the answer to a query as JSON."""
        asked = urlsplit(self.path)
        if self.headers.get("Host", "").partition(":")[0] not in (HOST, "localhost"):
            # another site may let its name point to this machine; its pages get no answer
            return self._send(HTTPStatus.FORBIDDEN, "text/plain", b"this page answers to 127.0.0.1 and localhost\n")
        if name := {"/": "page.html", "/page.css": "page.css", "/page.js": "page.js"}.get(asked.path):
            text = resources.files("lipverify.explore").joinpath(name).read_text(encoding="utf-8")
            if name == "page.css":
                text += _shared_style()
            if name == "page.html":
                offered = dict.fromkeys((*self.laws, *sorted(LAWS)))
                text = text.replace("<!-- laws -->", join([element("option", law, value=law) for law in offered]))
                text = text.replace("<!-- law -->", element("input", value=self.laws[0], **LAW_FIELD))
                text = text.replace("<!-- hatches -->", hatches())
            kind = name.rpartition(".")[2].replace("js", "javascript")
            return self._send(HTTPStatus.OK, f"text/{kind}", text.encode())
        if question := {"/look": look, "/picture": picture, "/ray": ray}.get(asked.path):
            if len(asked.query) > LONGEST:
                return self._send(HTTPStatus.REQUEST_URI_TOO_LONG, "text/plain", b"a setting is shorter than that\n")
            return self._answer(question, dict(parse_qsl(asked.query, keep_blank_values=True)))
        return self._send(HTTPStatus.NOT_FOUND, "text/plain", b"no such page\n")

    def _require_reader(self) -> None:
        """End the work for a browser that has left, as it does when a slider moves on: others wait for their turn."""
        ready, _, _ = select([self.connection], [], [], 0)
        if ready and not self.connection.recv(1, MSG_PEEK):
            raise ConnectionAbortedError

    def _answer(self, question: Callable[[Setting, Progress], View], values: dict[str, str]) -> None:
        start = time.perf_counter()
        try:
            setting = setting_of(values, self.own)
            with self.turn:
                self._require_reader()
                view = question(setting, lambda *_: self._require_reader())
        except ConnectionAbortedError:
            return
        except (InvalidInput, OutOfReach) as error:
            return self._send(HTTPStatus.OK, "application/json", msgspec.json.encode({"refused": str(error)}))
        answer = {
            "html": str(drawn(draw(view.figure, paper=False), _label)),
            "numbers": view.numbers,
            "tokens": view.tokens,
            "caption": view.caption,
            "python": setting.python,
            "seconds": time.perf_counter() - start,
        }
        return self._send(HTTPStatus.OK, "application/json", msgspec.json.encode(answer))

    def _send(self, status: HTTPStatus, kind: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: object) -> None:
        """Do not log: a slider sends many requests a second."""


def _label(text: Text) -> Markup:
    return join("".join(plain(run.text) for run in text))


def _shared_style() -> str:
    """The figure style of the report's web page, with the colours of its curves."""
    style = resources.files("lipverify.report.web").joinpath("page.css").read_text(encoding="utf-8")
    return style + "\n".join(colour_rule(colour.removeprefix("#")) for colour in PALETTE)


__all__ = ["Setting", "look", "picture", "ray", "serve"]
__dir__ = directory(__name__)
