"""The page to play with, served until it is interrupted."""

from __future__ import annotations

import contextlib
import sys
import webbrowser

from lipverify.cli.reports import has_screen


def explore(port: int, show: bool) -> int:
    """Serve the page and open it in a browser, where there is one; Ctrl-C ends it."""
    from lipverify.explore import serve

    server = serve(port)
    address = f"http://127.0.0.1:{server.server_port}/"
    print(f"{address} (Ctrl-C ends it)", flush=True)
    if show and has_screen() and not webbrowser.open(address):
        print(f"lipverify: no browser to show it in; open {address}", file=sys.stderr)
    with contextlib.suppress(KeyboardInterrupt), server:
        server.serve_forever()
    return 0
