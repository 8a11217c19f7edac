"""Standard streams: accept any text, and keep standard output for what this program prints itself."""

from __future__ import annotations

import codecs
import contextlib
import json
import os
import sys
import threading
from collections.abc import Iterator
from typing import Any

OUT, ERR = 1, 2
"""Descriptors of standard output and of standard error."""
_LOCK = threading.Lock()
_depth = 0
_kept = -1


PLAINER = {
    "✓": "+", "✗": "x", "≈": "~", "·": "-", "±": "+-", "→": "->", "–": "-", "−": "-", "…": "...", "≤": "<=", "≥": ">=",
    "≠": "!=", "×": "x", "∞": "inf", "∈": "in", "⟨": "<", "⟩": ">", "‖": "||", "√": "sqrt ", "²": "^2", "³": "^3",
    "Λ": "Lambda", "Ω": "Omega", "Θ": "Theta", "Σ": "Sigma", "Δ": "Delta", "Γ": "Gamma", "Π": "Pi", "Φ": "Phi",
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "κ": "kappa", "λ": "lambda", "μ": "mu",
    "ρ": "rho", "σ": "sigma", "τ": "tau", "ω": "omega", "π": "pi", "ℓ": "l",
}  # fmt: skip
"""Substitutes for letters that ASCII lacks."""


def _plainer(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    known = (PLAINER.get(letter) or letter.encode("ascii", "backslashreplace").decode() for letter in letters)
    return "".join(known), error.end


codecs.register_error("lipverify-plainer", _plainer)


def prepare_streams() -> None:
    """Make the standard streams accept any text, whatever their encoding, even if they are closed."""
    # else the next file that is opened would get the number of a closed descriptor, and the output would go there
    with contextlib.suppress(OSError):
        while (free := os.open(os.devnull, os.O_RDWR)) <= ERR:
            os.set_inheritable(free, True)
        os.close(free)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))
        elif hasattr(stream, "reconfigure"):  # a notebook's has not
            stream.reconfigure(errors="lipverify-plainer")


def write_json(content: Any) -> None:
    """Print plain data as JSON, or bytes that are JSON already."""
    text = content.decode() if isinstance(content, bytes) else json.dumps(content, allow_nan=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:  # an escape of JSON is read back exactly
        text = "".join(letter if letter.isascii() else json.dumps(letter)[1:-1] for letter in text)
    sys.stdout.write(text + "\n")


@contextlib.contextmanager
def diverted() -> Iterator[None]:
    """Redirect standard output to standard error: `print`, the descriptor, and what subprocesses inherit. Nests."""
    _begin()
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        _end()


def _begin() -> None:
    global _depth, _kept
    with _LOCK:
        _depth += 1
        if _depth == 1:
            _flush()
            with contextlib.suppress(OSError):  # nobody can write to a closed descriptor
                _kept = os.dup(OUT)
                os.dup2(ERR, OUT)


def _end() -> None:
    global _depth, _kept
    with _LOCK:
        _depth -= 1
        if _depth == 0 and _kept >= 0:
            _flush()
            os.dup2(_kept, OUT)
            os.close(_kept)
            _kept = -1


def _flush() -> None:
    """Flush Python's buffers, so that earlier output goes where it was written."""
    for stream in (sys.stdout, sys.__stdout__):
        with contextlib.suppress(AttributeError, OSError, ValueError):
            if stream is not None:
                stream.flush()
