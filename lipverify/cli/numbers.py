"""`loss` and `window`: numbers with their errors."""

from __future__ import annotations

import json as json_module
import math
import os
import sys
from typing import Any

from rich.console import Console
from rich.table import Table

from lipverify.cli.laws import law_at
from lipverify.cli.progress import progress_of
from lipverify.problem import Problem

WORK = "tenths of a second, about"
"""What the progress of an exact loss counts."""


def print_loss(
    d: int,
    n: float,
    w: list[float],
    law: str,
    L: float,
    sigma: float,
    method: str,
    exact: dict[str, Any],
    sampled: dict[str, Any],
    json: bool,
) -> int:
    """Loss terms as a table, or as one JSON object."""
    problem = Problem(d=d, n=n, law=law_at(law, L), sigma=sigma)
    from lipverify.errors import InvalidInput
    from lipverify.loss import loss_terms

    threads = 1 if sampled.get("backend") == "cupy" else os.cpu_count() or 1
    options = {"workers": threads, **sampled} if method == "montecarlo" else {}
    for name in set(sampled) - set(options) - {"seed"}:
        raise InvalidInput(f"{name} is an option of method 'montecarlo'; the method is {method!r}.")
    exact = {name: value for name, value in exact.items() if value is not None}
    for name in exact if method != "exact" else ():
        raise InvalidInput(f"{name} is an option of method 'exact'; the method is {method!r}.")
    options |= exact
    what, unit = ("drew", "contexts") if method == "montecarlo" else ("worked", WORK)
    with progress_of(what) as progress:
        if method in ("montecarlo", "exact"):
            options["progress"] = lambda done, total: progress(done, total, unit)
        terms = loss_terms(problem, w, method, **options)
    columns = ("w", "bias", "noise", "total", "bias_error", "noise_error")
    if json:
        values: dict[str, Any] = {name: [float(x) for x in getattr(terms, name)] for name in columns}
        # a double cannot hold the digits of a ball
        values |= {name: list(getattr(terms, name)) for name in ("bias_ball", "noise_ball") if hasattr(terms, name)}
        _print_json({"problem": described(problem), "method": method, "error_kind": terms.error_kind, **values})
        return 0
    noted = ", errors estimated" if terms.error_kind == "estimated" else ""
    table = Table(title=f"{_title(problem)}, {method}{noted}", title_justify="left")
    for heading in ("w", "bias", "noise", "loss"):
        table.add_column(heading, justify="right")
    for i in range(len(w)):
        table.add_row(
            f"{w[i]:g}",
            with_error(terms.bias[i], terms.bias_error[i]),
            with_error(terms.noise[i], terms.noise_error[i]),
            with_error(terms.total[i], terms.total_error[i]),
        )
    Console().print(table)
    if terms.reason and noted:
        Console().print(terms.reason)
    return 0


def print_window(d: int, n: float, law: str, L: float, sigma: float, limits: dict[str, Any], json: bool) -> int:
    """The optimum as a few lines, or as one JSON object."""
    problem = Problem(d=d, n=n, law=law_at(law, L), sigma=sigma)
    from lipverify.optimum import optimal_window

    with progress_of("worked") as progress:
        optimum = optimal_window(problem, progress=lambda done, total: progress(done, total, WORK), **limits)
    fields = ("w", "loss", "bias", "noise", "w_error", "loss_error")
    if json:
        values = {name: _finite(getattr(optimum, name)) for name in fields}
        _print_json({"problem": described(problem), **values, "where": optimum.where, "error_kind": optimum.error_kind})
        return 0
    noted = ", errors estimated" if optimum.error_kind == "estimated" else ""
    table = Table(title=f"{_title(problem)}{noted}", title_justify="left", show_header=False)
    table.add_row("optimal w*", with_error(optimum.w, optimum.w_error), f"({optimum.where})")
    table.add_row("loss", with_error(optimum.loss, optimum.loss_error), "")
    table.add_row("  bias", f"{optimum.bias:.10g}", "")
    table.add_row("  noise", f"{optimum.noise:.10g}", "")
    Console().print(table)
    return 0


def described(problem: Problem) -> dict[str, Any]:
    """A problem as plain values."""
    return {
        "d": problem.d,
        "n": problem.n,
        "law": problem.law.name,
        "L": getattr(problem.law, "L", None),
        "sigma": problem.sigma,
    }


def with_error(value: float, error: float) -> str:
    """A value to the digits that its error supports, ten at most, and the error.

    >>> with_error(0.123456789, 2e-4)
    '0.12346 ± 2e-04'
    >>> with_error(0.0, 0.0)
    '0 ± 0'
    """
    value, error = float(value), float(error)
    if error == 0:
        return f"{value:.10g} ± 0"
    if not (math.isfinite(value) and math.isfinite(error)) or value == 0:
        return f"{value:g} ± {error:.0e}"
    digits = math.floor(math.log10(abs(value))) - math.floor(math.log10(error)) + 2
    return f"{value:.{min(max(digits, 1), 10)}g} ± {error:.0e}"


def _title(problem: Problem) -> str:
    L = f", L = {problem.law.L:g}" if hasattr(problem.law, "L") else ""
    return f"{problem.law.name} law, d = {problem.d}, n = {context_length(problem.n)}{L}, σ = {problem.sigma:g}"


def context_length(n: float) -> str:
    """An integer with all its digits, a double with those it has.

    >>> context_length(2**53 + 1), context_length(1e30)
    ('9007199254740993', '1e+30')
    """
    return str(n) if isinstance(n, int) else f"{n:g}"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _print_json(content: dict[str, Any]) -> None:
    json_module.dump(content, sys.stdout, allow_nan=False)
    sys.stdout.write("\n")
