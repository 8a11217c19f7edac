"""Hypothesis profiles: `dev` while working, `ci` repeatable, `nightly` for a long search."""

import os

import pytest
from hypothesis import HealthCheck, settings

# as the command line does: threads that a BLAS starts inside of a test would only spin
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

SLOW_FUNCTIONS = [HealthCheck.too_slow]  # one exact evaluation may take a second; nothing else is waived
settings.register_profile("dev", max_examples=20, deadline=None, suppress_health_check=SLOW_FUNCTIONS)
settings.register_profile("ci", max_examples=25, deadline=None, derandomize=True, suppress_health_check=SLOW_FUNCTIONS)
settings.register_profile("nightly", max_examples=1000, deadline=None, suppress_health_check=SLOW_FUNCTIONS)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
