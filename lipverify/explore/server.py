"""The page on this machine: three files and two questions, answered to a browser here and to nobody else."""

from __future__ import annotations

import time
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from threading import Lock
from urllib.parse import parse_qsl, urlsplit

import msgspec

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.explore.view import Setting, View, picture, ray, setting_of
from lipverify.laws import LAWS
from lipverify.report.looks import PALETTE
from lipverify.report.web.colours import colour_rule
from lipverify.report.web.drawing import drawing, spoken
from lipverify.report.web.markup import Markup, element, join
from lipverify.report.web.page import hatches

HOST = "127.0.0.1"
FILES = {"/": "page.html", "/page.css": "page.css", "/page.js": "page.js"}
TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
QUESTIONS: dict[str, Callable[[Setting], View]] = {"/picture": picture, "/ray": ray}
POLICY = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'"
"""Nothing is loaded from elsewhere, and no script or style but the page's own runs."""
REQUESTS = 200
"""The longest query that is read; a setting has some forty letters."""


def serve(port: int = 0) -> ThreadingHTTPServer:
    """A server of the page, bound to this machine; `serve_forever` answers until it is shut down.

    Parameters
    ----------
    port
        The port; 0 for a free one. `server_port` of the result is the one that was taken.

    Raises
    ------
    InvalidInput
        If the port is taken or not allowed.
    """
    try:
        return ThreadingHTTPServer((HOST, port), _Handler)
    except (OSError, OverflowError) as error:
        raise InvalidInput(f"port = {port}: cannot be used ({error}); choose another, or 0 for a free one.") from None


class _Handler(BaseHTTPRequestHandler):
    """One request. Questions are answered one at a time: the exact method uses caches that threads share."""

    server_version = "lipverify"
    turn = Lock()

    def do_GET(self) -> None:
        """A file of the page, or the answer to a question as JSON."""
        asked = urlsplit(self.path)
        if self.headers.get("Host", "").partition(":")[0] not in (HOST, "localhost"):
            # another site may point its name at this machine; its pages are not answered
            return self._send(HTTPStatus.FORBIDDEN, "text/plain", b"this page answers to 127.0.0.1 and localhost\n")
        if asked.path in FILES:
            name = FILES[asked.path]
            text = resources.files("lipverify.explore").joinpath(name).read_text(encoding="utf-8")
            if name == "page.css":
                text += _shared_style()
            if name == "page.html":
                text = text.replace("<!-- laws -->", join([element("option", law, value=law) for law in sorted(LAWS)]))
                text = text.replace("<!-- hatches -->", hatches())
            return self._send(HTTPStatus.OK, TYPES[name.rpartition(".")[2]], text.encode())
        if asked.path in QUESTIONS:
            if len(asked.query) > REQUESTS:
                return self._send(HTTPStatus.REQUEST_URI_TOO_LONG, "text/plain", b"a setting is shorter than that\n")
            return self._answer(QUESTIONS[asked.path], dict(parse_qsl(asked.query, keep_blank_values=True)))
        return self._send(HTTPStatus.NOT_FOUND, "text/plain", b"no such page\n")

    def _answer(self, question: Callable[[Setting], View], values: dict[str, str]) -> None:
        start = time.perf_counter()
        try:
            setting = setting_of(values)
            with self.turn:
                view = question(setting)
        except (InvalidInput, OutOfReach) as error:
            return self._send(HTTPStatus.OK, "application/json", msgspec.json.encode({"refused": str(error)}))
        answer = {
            "html": str(drawing(view.figure, _label)),
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
        """Say nothing: a slider asks many times a second."""


def _label(text: str) -> Markup:
    """Text of a figure, its formulas as plain words."""
    return join(spoken(text))


def _shared_style() -> str:
    """How the report's web page draws figures, and the colours of its curves."""
    style = resources.files("lipverify.report.web").joinpath("page.css").read_text(encoding="utf-8")
    return style + "\n".join(colour_rule(colour.removeprefix("#")) for colour in PALETTE)
