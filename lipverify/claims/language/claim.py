r"""How a theorem is declared: what is measured is functions, and the claims are data below them.

    claim(
        "softmax.window-printed/{law}/{side}/{reading}",
        exponent(optimum, "w^*", scale=r"\Lambda", low="1/D", high="2/D", truth="rate"),
        over={"law": LAWS, "reading": {"ambient": {"D": "d"}, "intrinsic": {"D": "d - 1"}}, "d": DIMENSIONS},
        source=("S", "Theorem 2", "..."),
        kind="printed",
        expected={"affine/lower/*": "refuted", "*": "supported"},
    )

The words of a claim, its range, its control and its figure are derived from that.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lipverify.claims.language.file import DECLARATIONS, Fault, caller_line
from lipverify.claims.language.form import Form, refuse_retired
from lipverify.claims.ledger.symbols import on_one_line
from lipverify.foundation.calls import Call


def at(function: Callable[..., Any], /, **where: Any) -> Call:
    """A function at some coordinates: what a form measures, what a function needs, what a figure or a table is made of.

    Coordinates that it does not say are those of the cell, or of the reading, where the function takes them. One that
    is itself `at(...)` is measured, and the function is handed what it returns.

    Parameters
    ----------
    function
        What is called.
    where
        Its arguments by name; one may be another `at(...)`.

    Returns
    -------
    Call
        For a form, an agreement, a figure or a table.

    >>> def noise(d, w): return w / d, 0.0
    >>> at(noise, w=2.0).where
    {'w': 2.0}
    """
    return Call(function, where)


def calls_of(value: Any) -> Any:
    """What makes figures and tables, from one call, several, or a mapping of patterns to them."""
    if isinstance(value, Mapping):
        return {pattern: calls_of(each) for pattern, each in value.items()}
    return (value,) if isinstance(value, Call) else tuple(value)


@dataclass(frozen=True)
class Agreement:
    """The same quantity by two functions that share no method."""

    functions: tuple[Call, Call]
    quantity: str
    of: tuple[str, str]
    over: Any
    line: int


def agree(
    function: Callable[..., Any] | Call,
    other: Callable[..., Any] | Call,
    quantity: str,
    /,
    *,
    of: str | tuple[str, str] = "",
    over: Any = None,
    **retired: Any,
) -> Agreement:
    """A cross-check: two functions must give the same quantity within their errors, or the claim is not decided.

    Parameters
    ----------
    function, other
        What measures, called by name with the coordinates; both return (value, error) or a mapping of such. What else
        one of them is called with stands in `at(function, name=value)`.
    quantity
        What both give, in LaTeX.
    of
        Which quantity of a mapping, as for `exponent`; a pair where the two call it differently.
    over
        Where they are compared, beside the coordinates of the reading.
    retired
        Words of earlier versions, refused with what replaces them.

    Returns
    -------
    Agreement
        For `claim`, beside its forms.

    Raises
    ------
    InvalidInput
        If a rule is broken; `lipverify verify` shows the line.

    >>> def fast(d): return 1.0 / d, 1e-15
    >>> def slow(d): return 1.0 / d, 1e-3
    >>> agree(fast, slow, "1/d").quantity
    '1/d'
    """
    line = caller_line()
    refuse_retired("agree", retired, line)
    pair = (of, of) if isinstance(of, str) else of
    functions = tuple(each if isinstance(each, Call) else Call(each) for each in (function, other))
    return Agreement((functions[0], functions[1]), quantity, pair, over, line)


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """A statement with all its readings."""

    id: str
    forms: tuple[Form, ...]
    source: Any
    kind: Any
    expected: Any = None
    over: Any = None
    title: Any = ""
    statement: Any = ""
    assumes: Any = ()
    corrected: Any = ""
    proves: str = ""
    reading: Any = ""
    finding: Any = ""
    agrees: tuple[Agreement, ...] = ()
    shows: Any = ()
    line: int = 0
    file: str = field(default="", compare=False)


def claim(
    id: str,
    /,
    *forms: Form | Agreement,
    source: Any,
    kind: Any,
    expected: Any = None,
    over: Any = None,
    title: Any = "",
    statement: Any = "",
    assumes: Any = (),
    corrected: Any = "",
    proves: str = "",
    reading: Any = "",
    finding: Any = "",
    shows: Any = (),
    **retired: Any,
) -> Declaration:
    r"""Declare a theorem: a statement, its readings, and what would decide it.

    Every field but the id and the forms may be a mapping of patterns to values; the first pattern that matches the end
    of a claim's id (what follows its first "/") gives the value: `kind={"relu/*": "printed", "*": "stronger"}`.

    Parameters
    ----------
    id
        `family.name`, then whatever tells readings of the statement apart, joined by "/"; `{law}` makes a claim for
        each value of the coordinate `law`, and `{side}` one for the lower and one for the upper bounds.
    forms
        What decides it: `exponent`, `bound`, `identity`, all of which must hold, and cross-checks, `agree`.
    source
        (paper, place, printed): the last is what is printed there, with `$LaTeX$`.
        Claims with the same paper and place are of one passage, which counts once.
    kind
        "printed", "convention", "stronger", "derived" or "sharp".
    expected
        The verdict that is recorded, once it has been seen; `per_profile` of two where more evidence decides.
    over
        The coordinates: names to values; see `lipverify.claims.language.family`.
    title
        The statement in words; by default its formula.
    statement
        LaTeX of the statement, where the forms do not say it all.
    assumes
        What is assumed: a text or several. One that bounds a coordinate also says where `lipverify falsify` looks for
        counterexamples: "n >= 100", "0 <= p <= 1", "n in {50, 60}", "law is 1-Lipschitz". Elsewhere it looks in the
        natural range of d, n, w, L, sigma and laws, and between the least and the largest declared value of any other
        coordinate.
    corrected, finding
        What holds in place of a statement that fails; what the evidence shows, in sentences.
    proves
        The id of the claim that this one is a proof of, such as "mine.window/{law}": where it comes to the same verdict
        at all points of that claim, the statement has its grade.
    reading
        Where the wording of a source leaves several readings open, the name of the one that the claim belongs to;
        claims of one passage (the same paper and place) and reading must all hold. By default the coordinate `reading`,
        if `over` has it; else the claim is a reading by itself.
    shows
        What is shown of it: calls from `at` of functions that make a `Figure` or a `Table` each, or several, handed
        what is measured. Where no figure is made, one is derived from the first form.
    retired
        Words of earlier versions, refused with what replaces them.

    Returns
    -------
    Declaration
        What was declared; the loader finds it by itself.

    Raises
    ------
    InvalidInput
        If a rule is broken; `lipverify verify` shows the line.

    >>> from lipverify.claims import bound
    >>> def noise(d): return 1.0 / d, 1e-15
    >>> declared = claim(
    ...     "mine.noise", bound(noise, "N", high="2/d", control="1/(2*d)"), over={"d": (2, 3)},
    ...     source=("My notes", "Lemma 1", "N is at most 2/d"), kind="printed")
    >>> declared.id
    'mine.noise'
    """
    line, frame = caller_line(), sys._getframe(1).f_globals
    refuse_retired("claim", retired, line)
    if not isinstance(id, str) or not id.strip():
        raise Fault("no id: an id such as 'mine.window/tanh' names a claim; a claim without it is refused.", line=line)
    if not isinstance(proves, str):
        raise Fault(f"proves = {proves!r}: it is the id of the claim that this one proves.", "proves", line=line)
    agrees = tuple(form for form in forms if isinstance(form, Agreement))
    decides = tuple(form for form in forms if isinstance(form, Form))
    if not decides or len(decides) + len(agrees) < len(forms):
        raise Fault(f"claim {id}: nothing would decide it; give exponent(...), bound(...) or identity(...).", line=line)
    declared = Declaration(
        id=id, forms=decides, source=on_one_line(source), kind=kind, expected=expected, over=over,
        title=on_one_line(title), statement=on_one_line(statement), assumes=on_one_line(assumes),
        corrected=on_one_line(corrected), proves=proves, reading=reading, finding=on_one_line(finding),
        agrees=agrees, shows=calls_of(shows), line=line,
    )  # fmt: skip
    frame.setdefault(DECLARATIONS, []).append(declared)
    if frame.get("__name__") == "__main__" and "__file__" in frame:
        _verify(frame["__file__"])
    return declared


def _verify(path: str) -> None:
    """A claims file that is run as a program verifies itself, in a process that starts as the command line does."""
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "lipverify", "verify", path, *sys.argv[1:]])
