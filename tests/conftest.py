"""Hypothesis profiles: `ci`, the default, is the same on every machine; `dev` is for development; `nightly` searches.

The profile `ci` draws the same examples everywhere and reports a failing one as it was drawn: it does not climb
towards large values of `target`, which are rounding in part, and does not shrink, which takes up to five minutes.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.internal.conjecture import providers

from tests import PROFILE

if TYPE_CHECKING:
    from tests.commands import Commands

# one BLAS thread, as on the command line: more threads within a test would only wait
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# bytecode is written even where the environment forbids it: tests start hundreds of processes, and half of the time of
# one would be to compile the library again
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# a script that runs the tests in the background ignores Ctrl-C, and runs that a test interrupts would inherit that
signal.signal(signal.SIGINT, signal.default_int_handler)

SLOW_FUNCTIONS = [HealthCheck.too_slow]  # one exact evaluation may take a second
settings.register_profile("dev", max_examples=20, deadline=None, suppress_health_check=SLOW_FUNCTIONS)
settings.register_profile(
    "ci", max_examples=25, deadline=None, derandomize=True, suppress_health_check=SLOW_FUNCTIONS,
    phases=(Phase.explicit, Phase.generate),
)  # fmt: skip
settings.register_profile("nightly", max_examples=1000, deadline=None, suppress_health_check=SLOW_FUNCTIONS)
settings.register_profile("examples", settings.get_profile("ci"), phases=tuple(Phase))
settings.load_profile(PROFILE)
if PROFILE == "ci" and hasattr(providers, "_get_local_constants"):  # since Hypothesis 6.131
    # Hypothesis draws numbers found in the modules loaded so far, which are those of the tests run before
    providers._get_local_constants = lambda: providers._local_constants


class Examples:
    """Examples of docstrings show what users see, who have Hypothesis shrink."""

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        settings.load_profile("examples" if isinstance(item, pytest.DoctestItem) else PROFILE)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """With `-n`, a file runs in one process: what its tests share is computed once."""
    if getattr(config.option, "numprocesses", None) and config.option.dist == "no":
        config.option.dist = "loadfile"


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Examples())


def pytest_collection_finish() -> None:
    """Keep memory as the command line does, and take the thousands of tests out of garbage collection."""
    from lipverify.foundation.process import keep_memory  # internal: what the command line sets

    keep_memory()
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture(autouse=True)
def no_limit_in_seconds(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock decides only in nightly tests."""
    if request.node.get_closest_marker("nightly") is None:
        monkeypatch.setattr(signal, "setitimer", _refused)


def _refused(*_: Any) -> None:
    raise AssertionError("a limit in seconds decides the outcome: only in tests marked nightly")


@pytest.fixture
def lipverify(capfd: pytest.CaptureFixture[str]) -> Commands:
    """Run a command of lipverify and return its exit code and output."""
    from tests.commands import Commands

    return Commands(capfd)


@pytest.fixture
def no_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run in this process writes two files in place of its reports, which take longer than small measurements."""
    from lipverify.cli.reports import WRITERS  # internal: the writers of a run, which most tests of runs do not need

    for name in WRITERS:
        monkeypatch.setitem(WRITERS, name, lambda ledger, path, evidence: path.write_text("no report"))


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A stand-in for CuPy without a device: CuPy's signatures over NumPy."""
    from tests.stand_in import installed

    with installed(monkeypatch) as module:
        yield module
