"""Determine the grade of a number from the function's result and from the bounds that lipverify made while it ran.

proved      the function returned an exact object that lipverify recognises: a proof, a SymPy expression, a fraction,
            or a ball of python-flint. A plain number is never proved, whatever its claim states.
bounded     it returned a value of lipverify with an error at least as large as lipverify's; or its claim states
            that it derives its numbers from bounds of lipverify (`method="exact"`, or `grade="bounded"`), and lipverify
            made bounds, and drew nothing, while the function and its needs ran.
sampled     it takes `contexts`, or lipverify made an interval from samples.
estimated   none of these: the function states its own error.

A claim can state a weaker grade, but not a stronger one.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from lipverify.claims.ledger.record import Exact, weakest
from lipverify.claims.plan.claim import Measurement
from lipverify.claims.plan.proved import Stood, recorded
from lipverify.foundation.noted import Grade, Made, Note, Notes, watching
from lipverify.loss.methods import best_grade

MADE: dict[Made, Grade] = {
    "certified": "proved", "bounded": "bounded", "sampled": "sampled", "estimated": "estimated",
}  # fmt: skip


class Ran(msgspec.Struct, frozen=True):
    """The code that ran during a measurement, as far as it matters for grades."""

    stood: dict[str, tuple[Stood, ...]] = {}
    """The evidence for each quantity of the result by name, the strongest first; "" for the result as a whole."""
    made: tuple[Made, ...] = ()
    """The kinds of errors that lipverify made while the function ran, each once."""
    by: tuple[str, ...] = ()
    """The methods of lipverify's bounds."""


def watched(measurement: Measurement, needed: Iterable[Any]) -> tuple[Any, Ran]:
    """Run a measurement, given the results that it needs, and observe the code that runs."""
    while True:
        with watching() as notes:
            result = measurement.run(*needed)
        if notes.symbols or not is_symbolic(notes):
            return result, ran(notes, result)  # SymPy was loaded while it ran, and must be observed too


def ran(notes: Notes, result: Any) -> Ran:
    """Make the observation from the notes taken during a measurement and its result as plain data."""
    exact: dict[str, Stood] = notes.told or {}
    if notes.floats:
        exact = {name: stood for name, stood in exact.items() if not _of(stood, "symbolic", "fraction")}
    quantities = {"": result, **(result if isinstance(result, Mapping) else {})}
    written_out = {  # an exact number that equals a rounded number of lipverify
        name
        for name, stood in exact.items()
        if _of(stood, "symbolic", "fraction", "ball")
        and any(
            evidence.grade != "proved" for evidence in _of_the_library(name, quantities.get(name), result, notes.calls)
        )
    }
    exact = {name: stood for name, stood in exact.items() if name not in written_out}
    stood = {}
    for name, quantity in quantities.items():
        evidence = (exact[name],) if name in exact else tuple(_of_the_library(name, quantity, result, notes.calls))
        if evidence:
            stood[name] = tuple(sorted(evidence, key=lambda value: [*MADE.values()].index(value.grade)))
    by = {note.method for note in notes.calls if note.made in ("certified", "bounded")}
    return Ran(stood, tuple(sorted({note.made for note in notes.calls})), tuple(sorted(by)))


def is_symbolic(notes: Notes) -> bool:
    """True if part of the result is a SymPy number or expression."""
    return any(_of(stood, "symbolic") for stood in (notes.told or {}).values()) and "sympy" in sys.modules


def _of(stood: Stood, *kinds: Exact) -> bool:
    return stood.proof is not None and stood.proof.kind in kinds


def _of_the_library(name: str, quantity: Any, result: Any, calls: list[Note]) -> Iterator[Stood]:
    """The numbers of lipverify that equal a quantity, each with its error."""
    value = quantity[0] if isinstance(quantity, list) and len(quantity) in (2, 3) else quantity
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return
    # a double of at most 20 significant bits is too likely by chance to identify where it came from
    short = (math.frexp(value)[0] * 2**20).is_integer()
    if short and not (isinstance(result, Mapping) and f"{name}_error" in result):
        return
    for note in calls:
        for known, error in note.pairs:
            if known == value and math.isfinite(error):
                proof = recorded("ball", f"{known!r} ± {error!r}") if note.made == "certified" else None
                yield Stood(MADE[note.made], note.method, error, proof)


def behind(ran: Ran, made: set[Made], of: str, spread: float, *, derives: bool, sampled: bool) -> Stood:
    """The evidence for a quantity that is used with the error `spread`.

    `made` are the kinds of errors that lipverify made while the function and all its needs ran. The function `derives`
    its numbers from bounds of lipverify if its claim says so, and is `sampled` if it takes `contexts`.
    """
    for stood in ran.stood.get(of, ()):
        if spread >= stood.error and stood.grade != "estimated":
            return stood
    if ran.stood.get(of):  # a number of lipverify with less than its own error
        return Stood("estimated")
    if sampled or "sampled" in made:
        return Stood("sampled", "montecarlo")
    if derives and made & {"bounded", "certified"} and "estimated" not in made:
        return Stood("bounded", ran.by[0] if len(ran.by) == 1 else "exact")
    return Stood("estimated")


def no_stronger(stood: Stood, declared: Grade | None, method: str | None) -> Stood:
    """Weaken the evidence to the grade that the claim states; name the claim's method if that method is earned."""
    grade = weakest([stood.grade, declared or "proved", best_grade(method) or "proved"])
    assert grade is not None
    implied = best_grade(method)
    earned = method is not None and (implied is None or weakest([implied, stood.grade]) == implied)
    word = method if method is not None and earned else stood.method
    return Stood(grade, word, stood.error, stood.proof if grade == "proved" else None)
