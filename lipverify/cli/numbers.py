"""`loss` and `window`: print numbers with their errors."""

from __future__ import annotations

import inspect
import math
import os
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from rich.console import Console
from rich.table import Table

from lipverify.claims.plan.registry import guarded
from lipverify.cli.app import ProblemOptions
from lipverify.errors import InvalidInput
from lipverify.foundation.output import write_json
from lipverify.problem import Problem
from lipverify.problem.law import Law
from lipverify.problem.written import law_named
from lipverify.report.digits import with_error
from lipverify.report.terminal.progress import progress_of

WORK = "tenths of a second, about"
"""Unit of the progress of an exact loss."""


def print_loss(asked: ProblemOptions, w: list[float], method: str, sampled: dict[str, Any], json: bool) -> int:
    """Print the loss terms as a table, or as one JSON object."""
    problem = problem_of(asked)
    from lipverify.loss.methods import loss_terms, method_named

    threads = 1 if sampled.get("backend") == "cupy" else os.cpu_count() or 1
    options = {"workers": threads, **sampled} if method == "montecarlo" else {}
    for name in set(sampled) - set(options) - {"seed"}:
        raise InvalidInput(f"{name} is an option of method 'montecarlo'; the method is {method!r}.")
    what, unit = ("drew", "contexts") if method == "montecarlo" else ("worked", WORK)
    with progress_of(what) as progress:
        if method in ("montecarlo", "exact"):
            options["progress"] = lambda done, total: progress(done, total, unit)
        terms = loss_terms(problem, w, method_named(method), **options)
    columns = ("w", "bias", "noise", "total", "bias_error", "noise_error")
    if json:
        values: dict[str, Any] = {name: [float(x) for x in getattr(terms, name)] for name in columns}
        # a double cannot hold the digits of a ball
        values |= {name: list(getattr(terms, name)) for name in ("bias_ball", "noise_ball") if hasattr(terms, name)}
        write_json({"problem": described(problem), "method": method, "error_kind": terms.error_kind, **values})
        return 0
    noted = ", errors estimated" if terms.error_kind == "estimated" else ""
    table = Table(title=f"{_title(problem)}, {method}{noted}", title_justify="left")
    for heading in ("w", "term", "value"):
        table.add_column(heading, justify="right" if heading == "w" else "left")
    for i in range(len(w)):
        table.add_row(f"{w[i]:g}", "bias", with_error(float(terms.bias[i]), float(terms.bias_error[i])))
        table.add_row("", "noise", with_error(float(terms.noise[i]), float(terms.noise_error[i])))
        table.add_row("", "loss", with_error(float(terms.total[i]), float(terms.total_error[i])))
    Console().print(table)
    if terms.reason and (noted or method == "montecarlo"):
        Console().print(terms.reason)
    return 0


def print_window(asked: ProblemOptions, json: bool) -> int:
    """Print the optimum as a few lines, or as one JSON object."""
    problem = problem_of(asked)
    from lipverify.optimum.window import optimal_window

    with progress_of("worked") as progress:
        optimum = optimal_window(problem, progress=lambda done, total: progress(done, total, WORK))
    fields = ("w", "loss", "bias", "noise", "w_error", "loss_error")
    if json:
        values = {name: _finite(getattr(optimum, name)) for name in fields}
        write_json({"problem": described(problem), **values, "where": optimum.where, "error_kind": optimum.error_kind})
        return 0
    noted = ", errors estimated" if optimum.error_kind == "estimated" else ""
    table = Table(title=f"{_title(problem)}{noted}", title_justify="left", show_header=False)
    table.add_row("optimal w*", with_error(optimum.w, optimum.w_error), f"({optimum.where})")
    table.add_row("loss", with_error(optimum.loss, optimum.loss_error), "")
    table.add_row("  bias", f"{optimum.bias:.10g}", "")
    table.add_row("  noise", f"{optimum.noise:.10g}", "")
    Console().print(table)
    return 0


def problem_of(asked: ProblemOptions) -> Problem:
    """The problem that a command's options describe."""
    return Problem(d=asked.d, n=asked.n, law=law_at(asked.law, asked.L), sigma=asked.sigma)


def described(problem: Problem) -> dict[str, Any]:
    """The fields of a problem as plain values."""
    return {
        "d": problem.d,
        "n": problem.n,
        "law": problem.law.name,
        "L": getattr(problem.law, "L", None),
        "sigma": problem.sigma,
    }


def _title(problem: Problem) -> str:
    L = f", L = {problem.law.L:g}" if hasattr(problem.law, "L") else ""
    return f"{problem.law.name} law, d = {problem.d}, n = {context_length(problem.n)}{L}, σ = {problem.sigma:g}"


def context_length(n: float) -> str:
    """A context length: an integer with all its digits, a double with its own.

    >>> context_length(2**53 + 1), context_length(1e30)
    ('9007199254740993', '1e+30')
    """
    return str(n) if isinstance(n, int) else f"{n:g}"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def law_at(text: str, L: float) -> Law:
    """The law of that name or text. `my.py:NAME`, whose file is run, is a law or a function of L that makes one."""
    law = in_file(text)
    if law is None:
        try:
            return law_named(text, L=L)
        except InvalidInput as error:
            raise InvalidInput(f"{str(error).rstrip('.')}; a law in a file of yours as my.py:NAME.") from None
    if not isinstance(law, Law):
        return law(L=L)
    if L != 1:
        way_out = f"leave out --L, or make it def {text.rpartition(':')[2]}(L)"
        raise InvalidInput(f"law = {text!r} with L = {L:g}: the law does not depend on L; {way_out}.")
    return law


def in_file(text: str) -> Law | Callable[..., Law] | None:
    """The law that `my.py:NAME` names, or the function of L that makes one; the file is run. None for another text."""
    named = re.fullmatch(r"(.+\.py):(\w+)", text)
    if re.fullmatch(r".+\.py:?", text):
        raise InvalidInput(f"law = {text!r} names a file and no law in it; write {text.rstrip(':')}:NAME.")
    if named is None:
        return None
    from lipverify.claims.language.file import read_file

    path, name = named.groups()
    file = read_file(path, "law file")
    module = guarded(file, file.module)
    law = getattr(module, name, None)
    if law is None:
        here = {
            key: value for key, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__
        }
        makers = [key for key, value in here.items() if inspect.isfunction(value) and _takes_L(value)]
        laws = [key for key, value in vars(module).items() if isinstance(value, Law)] + makers
        has = f"its laws are {', '.join(laws)}" if laws else "it has no law, such as NAME = Ridge(np.tanh)"
        raise InvalidInput(f"law = {text!r}: there is no {name} in the file; {has}.")
    if isinstance(law, Law):
        return law

    @lru_cache(maxsize=32)  # the same law for the same L, so that its values are kept
    def made(L: float) -> Law:
        result = guarded(file, lambda: law(L=L)) if _takes_L(law) else law
        if not isinstance(result, Law):
            rule = f"{name} must be a law, such as Ridge(np.tanh), or a function of L that makes one"
            raise InvalidInput(f"law = {text!r}: {rule}.")
        return result

    return made


def _takes_L(value: Any) -> bool:
    """True if the object is a function that can be called with L alone."""
    try:
        inspect.signature(value).bind(L=1.0)
    except (TypeError, ValueError):  # no function; a function of other things; one that does not say
        return False
    return True
