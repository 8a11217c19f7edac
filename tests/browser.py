"""Control a headless browser over a pipe, by the protocol of its developer tools."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PATH = next(filter(None, map(shutil.which, NAMES)), None)
"""The path of the browser, or None if none is installed."""
OPTIONS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--hide-scrollbars",
    "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
)  # fmt: skip
OWN_SCHEMES = ("file:", "data:", "about:", "chrome:")
KEYS = {
    "ArrowRight": 39,
    "ArrowLeft": 37,
    "ArrowUp": 38,
    "ArrowDown": 40,
    "Tab": 9,
    "Enter": 13,
    "Escape": 27,
    "End": 35,
}


class Page:
    """One tab: its requests, its errors and warnings, and its content."""

    def __init__(self, sink: int, source: int) -> None:
        self._sink, self._source = sink, source
        self._rest = b""
        self._last = 0
        self._session: str | None = None
        self.requests: list[str] = []
        self.complaints: list[str] = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "Accessibility"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return the answer. Record the events that arrive before it."""
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._sink, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._last:
                assert "error" not in answer, answer
                return answer["result"]

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            more = os.read(self._source, 1 << 16)
            assert more, "the browser is gone"
            self._rest += more
        line, _, self._rest = self._rest.partition(b"\0")
        answer: dict[str, Any] = json.loads(line)
        self._note(answer.get("method", ""), answer.get("params", {}))
        self.event = answer.get("method", "")
        return answer

    def _note(self, method: str, said: dict[str, Any]) -> None:
        if method == "Network.requestWillBeSent":
            self.requests.append(said["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(said["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and said["type"] in ("error", "warning"):
            self.complaints.append(str(said["args"]))
        elif method == "Log.entryAdded" and said["entry"]["level"] in ("error", "warning"):
            self.complaints.append(said["entry"]["text"])

    def open(self, address: str) -> None:
        """Open an address and wait until the page has loaded."""
        self.send("Page.navigate", url=address)
        self.event = ""
        while self.event != "Page.loadEventFired":
            self._read()

    def run(self, expression: str) -> Any:
        """The value of an expression on the page. A promise is awaited."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def resize(self, width: int, height: int = 800) -> None:
        """Resize the window. A width below 600 emulates a phone."""
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )

    def prefer(self, scheme: str) -> None:
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def press(self, key: str) -> None:
        for kind in ("rawKeyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=KEYS[key])

    def hover(self, x: float, y: float) -> None:
        """Move the pointer to a point."""
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def picture(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"]))

    def spoken(self) -> list[tuple[str, str]]:
        """(role, name) of each element in the accessibility tree, in order."""
        nodes = self.send("Accessibility.getFullAXTree")["nodes"]
        return [
            (node.get("role", {}).get("value", ""), node.get("name", {}).get("value", ""))
            for node in nodes
            if not node["ignored"]
        ]


@contextmanager
def browser() -> Iterator[Page]:
    """A tab of a new browser with a temporary profile."""
    assert PATH is not None, "no browser"
    (theirs, sink), (source, back) = os.pipe(), os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        start = f'exec "$0" "$@" 3<&{theirs} 4>&{back}'
        running = subprocess.Popen(
            ["bash", "-c", start, PATH, *OPTIONS, f"--user-data-dir={profile}"],
            pass_fds=(theirs, back), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(theirs)
        os.close(back)
        try:
            yield Page(sink, source)
        finally:
            running.terminate()
            running.wait(20)
            os.close(sink)
            os.close(source)
