"""Hypothesis profiles: `dev` while working, `ci` repeatable, `nightly` for a long search."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from tests.commands import Commands

# as the command line does: threads that a BLAS starts inside of a test would only spin
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# a script that starts the tests in the background has Ctrl-C ignored, and so would every run that a test interrupts
signal.signal(signal.SIGINT, signal.default_int_handler)

SLOW_FUNCTIONS = [HealthCheck.too_slow]  # one exact evaluation may take a second; nothing else is waived
settings.register_profile("dev", max_examples=20, deadline=None, suppress_health_check=SLOW_FUNCTIONS)
settings.register_profile("ci", max_examples=25, deadline=None, derandomize=True, suppress_health_check=SLOW_FUNCTIONS)
settings.register_profile("nightly", max_examples=1000, deadline=None, suppress_health_check=SLOW_FUNCTIONS)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def lipverify(capfd: pytest.CaptureFixture[str]) -> Commands:
    """A command of lipverify: its exit code and what it prints."""
    from tests.commands import Commands

    return Commands(capfd)


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """CuPy without a device: its own signatures over NumPy."""
    from tests.stand_in import installed

    with installed(monkeypatch) as module:
        yield module
