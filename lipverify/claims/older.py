"""Ledgers of the first format, read as those of today: what they did not hold is left out, nothing is invented."""

from __future__ import annotations

from typing import Any

FIRST_FORMAT = "lipverify-ledger-1"
GRADES = {"exact": "bounded", "certified": "proved", "symbolic": "proved", "montecarlo": "sampled"}


def upgraded(ledger: dict[str, Any]) -> dict[str, Any]:
    """The content of a ledger of the first format in today's form; it keeps its `format`, so that it can be told.

    The first format had no kinds and no grades; of a cell's control it held the verdict alone.
    """
    return {**ledger, "claims": [_record(record) for record in ledger["claims"]]}


def _record(record: dict[str, Any]) -> dict[str, Any]:
    cells = [_cell(cell, record["control"]["statement"]) for cell in record["cells"]]
    return {**record, "kind": None, "grade": None, "cells": cells}


def _cell(cell: dict[str, Any], says: str) -> dict[str, Any]:
    measured, error = cell["measured"], cell["error"]
    known = measured is not None and error is not None
    interval = {"low": measured - error, "high": measured + error} if known else {"low": None, "high": None}
    control = {"says": says, "interval": interval, "verdict": cell["control"], "margin": None}
    return {**cell, "grade": GRADES.get(cell["method"], "observed"), "interval": interval, "control": control}
