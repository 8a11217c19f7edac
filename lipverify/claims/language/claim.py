r"""Declare a theorem: functions measure its quantities, and claims are data that refer to them.

    claim(
        "softmax.window-printed/{law}/{side}/{reading}",
        exponent(optimum, "w^*", scale=r"\Lambda", low="1/D", high="2/D", truth="rate"),
        over={"law": LAWS, "reading": {"ambient": {"D": "d"}, "intrinsic": {"D": "d - 1"}}, "d": (2, 3, 5)},
        source=("S", "Theorem 2", "..."),
        kind="printed",
        expected={"affine/lower/*": "refuted", "*": "supported"},
    )

The claim's wording, range, control and figure are derived from the declaration.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from lipverify.claims.language.file import DECLARATIONS, Fault, caller_line
from lipverify.claims.language.form import Form, Over
from lipverify.claims.ledger.symbols import on_one_line
from lipverify.foundation.calls import Call

if TYPE_CHECKING:
    from lipverify.claims.ledger.record import Kind as ClaimKind
    from lipverify.claims.ledger.record import Source


def at(function: Callable[..., Any], /, **where: Any) -> Call:
    """A function with fixed arguments, for a form, a cross-check, a figure or a table.

    Arguments that `where` leaves out are taken from the coordinates of the cell or of the reading. An argument that is
    itself `at(...)` is measured first, and the function receives the result.

    Parameters
    ----------
    function
        The function to call.
    where
        Its arguments by name; one may be another `at(...)`.

    Returns
    -------
    Call
        For a form, an agreement, a figure or a table.

    Examples
    --------
    >>> def noise(d, w): return w / d, 0.0
    >>> at(noise, w=2.0).where
    {'w': 2.0}
    """
    return Call(function, where)


T = TypeVar("T")
ByReading: TypeAlias = T | Mapping[str, T]
"""A value, or patterns of ids with values."""
Expected: TypeAlias = Literal["supported", "refuted", "inconclusive"]


def calls_of(value: Any) -> Any:
    """The calls that make figures and tables: one call, several, or a mapping of patterns to them."""
    if isinstance(value, Mapping):
        return {pattern: calls_of(calls) for pattern, calls in value.items()}
    return (value,) if isinstance(value, Call) else tuple(value)


@dataclass(frozen=True)
class Agreement:
    """A cross-check: one quantity, computed by two functions that share no method."""

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
    over: Over | None = None,
) -> Agreement:
    """Declare a cross-check: if two functions differ by more than their errors allow, the claim is not decided.

    Parameters
    ----------
    function, other
        The two functions, called with the coordinates by name; both return (value, error) or a mapping of names to such
        pairs. Write `at(function, name=value)` to fix further arguments of one of them.
    quantity
        The quantity that both compute, in LaTeX.
    of
        The name of the quantity in the mapping, as for `exponent`; a pair if the two functions use different names.
    over
        The coordinates at which they are compared, in addition to those of the reading.

    Returns
    -------
    Agreement
        An argument of `claim`, after its forms.

    Raises
    ------
    InvalidInput
        If a rule is broken; `lipverify verify` shows the line.

    Examples
    --------
    >>> def fast(d): return 1.0 / d, 1e-15
    >>> def slow(d): return 1.0 / d, 1e-3
    >>> agree(fast, slow, "1/d").quantity
    '1/d'
    """
    line = caller_line()
    pair = (of, of) if isinstance(of, str) else of
    functions = tuple(side if isinstance(side, Call) else Call(side) for side in (function, other))
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
    forall: Any = ()
    by_hand: Any = ""
    finding: Any = ""
    agrees: tuple[Agreement, ...] = ()
    shows: Any = ()
    line: int = 0
    file: str = field(default="", compare=False)


def claim(
    id: str,
    /,
    *forms: Form | Agreement,
    source: ByReading[Source | tuple[str, str, str]],
    kind: ByReading[ClaimKind],
    expected: ByReading[Expected | None] = None,
    over: Over | None = None,
    title: ByReading[str] = "",
    statement: ByReading[str] = "",
    assumes: ByReading[str | Sequence[str]] = (),
    corrected: ByReading[str] = "",
    proves: str = "",
    reading: ByReading[str] = "",
    forall: ByReading[str | Sequence[str]] = (),
    by_hand: ByReading[str] = "",
    finding: ByReading[str | Call] = "",
    shows: ByReading[Call | Sequence[Call]] = (),
) -> Declaration:
    r"""Declare a theorem: a statement, its readings, and the forms that decide it.

    Every field but the id and the forms may be a mapping of patterns to values; the first pattern that matches the end
    of a claim's id (what follows its first "/") gives the value: `kind={"relu/*": "printed", "*": "stronger"}`.

    Parameters
    ----------
    id
        `family.name` names the theorem, and what follows the first "/" tells its claims apart, in parts joined by "/";
        `{law}` makes a claim for each value of the coordinate `law`, and `{side}` one for each side of the bounds.
    forms
        `exponent`, `bound` and `identity` forms, all of which must hold, and cross-checks made by `agree`.
    source
        (paper, place, printed), where `printed` quotes the text printed there and may hold `$LaTeX$`. Claims with the
        same paper and place belong to one passage, which counts once.
    kind
        "printed", "convention", "stronger", "derived" or "sharp".
    expected
        The recorded verdict, once a run has shown it; use `per_profile` if a larger profile decides more.
    over
        The coordinates: names to values; see `lipverify.claims.language.family`.
    title
        The statement in words; by default its formula. Each claim of a family adds the values that its id names.
    statement
        LaTeX of the statement, if the forms do not state it completely.
    assumes
        The assumptions: one text or several. A text that bounds a coordinate also limits where `lipverify falsify`
        looks for counterexamples: "n >= 100", "0 <= p <= 1", "n in {50, 60}", "law is 1-Lipschitz". Elsewhere it looks
        in the natural range of d, n, w, L, sigma and laws, and between the least and the largest declared value of any
        other coordinate.
    corrected, finding
        `corrected`: the statement that holds in place of one that fails. `finding`: what the evidence shows, in
        sentences.
    proves
        The id of the claim that this one proves, such as "mine.window/{law}". If it has the same quantity and bounds at
        all points of that claim, and the same verdict, the statement gets its grade.
    reading
        The name of the reading that the claim belongs to, if the wording of the source allows several. Claims of the
        same passage (paper and place) and reading must all hold. The default is the coordinate `reading`, if `over` has
        it; otherwise the claim is a reading by itself.
    forall
        The range for all values of which the claim holds: coordinates and conditions, such as `("n >= 2", "L")`; "large
        n" for all n from a number on that a theorem names. If the claim is supported, its evidence must cover the
        range: expressions with these symbols, or theorems. Nothing in a title or statement declares a range.
    by_hand
        The document with the argument in words by which the claim holds for the range of `forall`, if the evidence is
        only its exact steps, or measures points: "docs/arguments.md#isotropic".
    shows
        Calls made by `at` of functions that return a `Figure`, a `Table`, or several; they receive the measured values.
        If none returns a figure, one is derived from the first form.

    Returns
    -------
    Declaration
        The declaration; the loader finds it without further registration.

    Raises
    ------
    InvalidInput
        If a rule is broken; `lipverify verify` shows the line.

    Examples
    --------
    >>> from lipverify.claims import bound
    >>> def noise(d): return 1.0 / d, 1e-15
    >>> declared = claim(
    ...     "mine.noise", bound(noise, "N", high="2/d", control="1/(2*d)"), over={"d": (2, 3)},
    ...     source=("My notes", "Lemma 1", "N is at most 2/d"), kind="printed")
    >>> declared.id
    'mine.noise'
    """
    line, frame = caller_line(), sys._getframe(1).f_globals
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
        corrected=on_one_line(corrected), proves=proves, reading=reading, forall=forall, by_hand=by_hand,
        finding=on_one_line(finding), agrees=agrees, shows=calls_of(shows), line=line,
    )  # fmt: skip
    frame.setdefault(DECLARATIONS, []).append(declared)
    if frame.get("__name__") == "__main__" and "__file__" in frame:
        _verify(frame["__file__"])
    return declared


def _verify(path: str) -> None:
    """A claims file run as a program verifies itself, in a new process that starts like the command line."""
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "lipverify", "verify", path, *sys.argv[1:]])
