"""The cases of a night, by category: how many were tried, and how many of them failed."""

from __future__ import annotations

from collections import Counter

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print a line for each test: cases tried, failed and skipped."""
    counts: dict[str, Counter[str]] = {}
    for outcome in ("passed", "failed", "error", "skipped"):
        for report in terminalreporter.getreports(outcome):
            name = report.nodeid.partition("::")[2].partition("[")[0]
            counts.setdefault(name, Counter())[outcome] += 1
    for name, each in counts.items():
        tried, failed = each.total() - each["skipped"], each["failed"] + each["error"]
        terminalreporter.write_line(f"  {name}: {tried} tried, {failed} failed, {each['skipped']} skipped")
