"""Read a function's result: as plain data, what each number of it rests on, and what ran to make it.

    theorem     a number that a certified theorem states
    computed    a number computed exactly from numbers of theorems
    fraction    a fraction; symbolic: an expression of SymPy or a sum of words; ball: a ball of python-flint
    library     the very object that a method of lipverify returned, with its error
    number      anything else

An exact type says that the function returned an exact value. Whether the value is what the claim speaks of, nobody can
see from outside, and no number is compared with another to guess where it came from.
"""

from __future__ import annotations

import ast
import json
import math
import operator
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from lipverify.claims.evidence.ranges import NAME
from lipverify.claims.evidence.theorems import certified, shipped_proofs
from lipverify.foundation.noted import Made, Note, noted, watching, with_errors

if TYPE_CHECKING:
    from lipverify.proofs import Fact, Proof

Form = Literal["number", "library", "fraction", "symbolic", "ball", "theorem", "computed"]
LONGEST = 2000
"""Longest exact value, in characters, that a ledger stores."""
FACT, WORDS = ("lipverify.proofs.record", "Fact"), ("lipverify.proofs.words", "Leftover")
SYMBOLIC, BALL = ("sympy", "Expr", "MatrixBase"), ("flint", "arb", "fmpq", "fmpz")
"""The modules and names of exact types."""
SOMEWHERE = "an expression that is not the same for all values of its symbols: one of its values supports nothing"
"""Note for the value of an expression at one point, which can refute and cannot support."""


class Certified(msgspec.Struct, frozen=True, kw_only=True):
    """A theorem that lipverify's checker certified, and the number of it that was used.

    Attributes
    ----------
    sentence
        The theorem, in the checker's words.
    digest
        SHA-256 of the proof file.
    ranges
        The conditions under which it holds, such as "d = 3" and "n >= 2".
    fact, quantity
        The name of the number, and what it is, in LaTeX; empty for a number computed from theorems.
    low, high
        The bounds that the theorem states for it, as exact fractions.
    proof
        The text of the proof file, if it is none of lipverify's.
    """

    sentence: str
    digest: str
    ranges: tuple[str, ...] = ()
    fact: str = ""
    quantity: str = ""
    low: str = ""
    high: str = ""
    proof: str = ""


class Returned(msgspec.Struct, frozen=True, kw_only=True):
    """What one number of a result is.

    Attributes
    ----------
    form
        What was returned: see the module.
    says
        An exact value as text.
    error
        The error that belongs to the value, in its units: its rounding to a double, half the width of a ball or of a
        theorem's bounds, or the error that lipverify made.
    symbols
        The symbols for all values of which an expression is this value, with their assumptions: "a", "x > 0".
    theorems
        The theorems that it comes from.
    made, method
        For a number of lipverify: how its error was made, and by which method.
    """

    form: Form = "number"
    says: str = ""
    error: float = 0.0
    symbols: tuple[str, ...] = ()
    theorems: tuple[Certified, ...] = ()
    made: Made | None = None
    method: str = ""


class Ran(msgspec.Struct, frozen=True):
    """What a measurement returned, and the methods of lipverify that ran, as far as it matters for grades."""

    returned: dict[str, Returned] = {}
    """What each quantity of the result is, by name; "" for a result that is one number."""
    made: tuple[Made, ...] = ()
    """How errors were made by the methods that ran, each once."""
    by: tuple[str, ...] = ()
    """The methods of the bounds among them."""


def watched(measure: Callable[[], Any]) -> tuple[Any, Ran]:
    """The result of a measurement, and what ran."""
    with watching() as notes:
        result = measure()
    by = {note.method for note in notes.calls if note.made in ("certified", "bounded")}
    return result, Ran(notes.told or {}, tuple(sorted({note.made for note in notes.calls})), tuple(sorted(by)))


def returned(result: Any) -> tuple[Any, dict[str, Returned]]:
    """A function's result as plain data, and what its quantities are, by name; "" for a result that is one number.

    >>> returned({"third": Fraction(1, 3), "plain": 1.0})[0]
    {'third': [0.3333333333333333, 0.0], 'plain': 1.0}
    """
    if isinstance(getattr(result, "facts", None), Mapping):  # a proof: its numbers by name
        result = result.facts
    if isinstance(result, Mapping):
        read = {str(name): _one(value) for name, value in result.items()}
        return {name: plain for name, (plain, _) in read.items()}, {name: one for name, (_, one) in read.items() if one}
    plain, whole = _one(result)
    if note := next((note for note in noted() if note.result is result), None):  # a record of lipverify
        return plain, {name: _noted(note, getattr(result, f"{name}_error")) for name in with_errors(result)}
    return plain, {"": whole} if whole else {}


def _one(value: Any) -> tuple[Any, Returned | None]:
    """One value as plain data, and what it is unless it is a plain number."""
    if isinstance(value, tuple | list) and len(value) == 2:
        alone, error = value
        if not (isinstance(error, int | float) and error == 0 and _is_exact(alone)):
            return _plain(value), _of_the_library(alone)
        value = alone  # (exact value, 0)
    if isinstance(value, Fraction):
        return _fraction(value, "fraction", str(value))
    if isinstance(value, _loaded(*FACT)):
        return _fact(value)
    if isinstance(value, _loaded(*WORDS)):
        return [float(value.terms), 0.0], Returned(form="symbolic", says=_short(str(value)), symbols=value.symbols)
    if isinstance(value, _loaded(*SYMBOLIC)):
        return _symbolic(value)
    if isinstance(value, _loaded(*BALL)):
        return _ball(value)
    return _plain(value), _of_the_library(value)


def _loaded(module: str, *names: str) -> Any:
    """Types of a module; none if nothing has imported it, for then there is no value of them."""
    found = (getattr(sys.modules.get(module), name, None) for name in names)
    return tuple(kind for kind in found if kind is not None)


def _is_exact(value: Any) -> bool:
    return isinstance(value, (Fraction, *_loaded(*FACT), *_loaded(*WORDS), *_loaded(*SYMBOLIC), *_loaded(*BALL)))


def _of_the_library(value: Any) -> Returned | None:
    """What a value is if a method of lipverify returned this very object in the measurement that is being watched."""
    for note in noted():
        if (error := note.error_of(value)) is not None:
            return _noted(note, error)
    return None


def _noted(note: Note, error: Any) -> Returned:
    largest = float(max(error.ravel())) if hasattr(error, "ravel") else float(error)
    return Returned(form="library", error=largest, made=note.made, method=note.method)


def _fraction(value: Fraction, form: Form, text: str, symbols: tuple[str, ...] = ()) -> tuple[Any, Returned]:
    error = 0.0 if nearest(value) is not None else math.ulp(float(value)) / 2 * (1 + 1e-15)
    return [float(value), error], Returned(form=form, says=_short(text), error=error, symbols=symbols)


def nearest(value: Fraction) -> float | None:
    """The double for a fraction: exact, or the nearest one if no other small fraction shares it; None otherwise.

    Small fractions, with denominators below 2^20, differ by more than 2^-40, also from those in ranges, so rounding
    does not change how they compare.
    """
    near = float(value)
    small = value.denominator < 2**20 and abs(value) < 1024
    return near if small or Fraction(near) == value else None


def _fact(fact: Fact) -> tuple[Any, Returned]:
    """A number of a theorem, or one computed from such numbers."""
    value, error = fact.pair
    if fact.low == fact.high and (near := nearest(fact.low)) is not None:
        value, error = near, 0.0
    theorems = tuple(_certified(proof, fact) for proof in fact.proofs)
    form: Form = "theorem" if len(theorems) == 1 and theorems[0].fact else "computed"
    return [value, error], Returned(form=form, says=f"[{value!r} ± {error!r}]", error=error, theorems=theorems)


def _certified(proof: Proof, fact: Fact) -> Certified:
    """The theorem of a proof, and the number of it if the fact is one: all from the text that the checker certified."""
    from lipverify.proofs import Fact, checker

    def ends(number: Any) -> tuple[str, str]:
        return str(number.low), str(number.high)

    text = proof.text  # once: a type of its own could give another text the second time
    digest, said = certified(text), checker.sentence(json.loads(text))
    stated = said.facts.get(fact.name)
    own = "" if digest in shipped_proofs() else text
    theorem = Certified(sentence=said.text, digest=digest, ranges=said.ranges, proof=own)
    if stated is None or type(fact).pair is not Fact.pair or ends(stated) != ends(fact):
        return theorem  # a type of its own may say anything
    return msgspec.structs.replace(
        theorem, fact=fact.name, quantity=stated.quantity, low=str(stated.low), high=str(stated.high),
        ranges=stated.ranges or theorem.ranges,
    )  # fmt: skip


def _ball(value: Any) -> tuple[Any, Returned | None]:
    """A number or a ball of python-flint."""
    if type(value).__name__ != "arb":
        return _fraction(Fraction(str(value)), "fraction", str(value))
    if not value.is_finite():
        return [0.0, math.inf, f"the ball {value} has no finite radius"], None
    middle = float(value.mid())
    error = float(abs(value - middle).upper()) * (1 + 1e-15)
    return [middle, error], Returned(form="ball", says=f"[{middle!r} +/- {error!r}]", error=error)


def _symbolic(value: Any) -> tuple[Any, Returned | None]:
    """A SymPy expression or matrix: 0 if it vanishes for all values of its symbols, or else its value at one point."""
    import sympy

    entries = [sympy.sympify(entry) for entry in (value if isinstance(value, sympy.MatrixBase) else [value])]
    free = sorted({symbol for entry in entries for symbol in entry.free_symbols}, key=str)
    values = [value_of(entry) for entry in entries]
    numbers = [number for number in values if number is not None]
    if len(numbers) < len(values) or not values:
        cannot = f"SymPy cannot decide exactly whether {str(value)[:200]} is 0"
        return [0.0, math.inf, cannot], None
    worst = max(numbers, key=abs)
    plain, one = _fraction(worst, "symbolic", str(value), tuple(map(assumed, free)))
    if worst and free and any(sympy.cancel(sympy.together(entry)).free_symbols for entry in entries):
        plain = [*plain, SOMEWHERE]
    return plain, one


def assumed(symbol: Any) -> str:
    """A symbol of SymPy with its assumption, as a range prints it.

    >>> import sympy
    >>> assumed(sympy.Symbol("x", positive=True)), assumed(sympy.Symbol("a")), assumed(sympy.Symbol("k", integer=True))
    ('x > 0', 'a', 'integer k')
    """
    kind = "integer " if symbol.is_integer else ""
    sign = next((sign for sign, assumption in SIGNS.items() if getattr(symbol, f"is_{assumption}")), "")
    told = f"{kind or ('real ' if symbol.is_real and not sign else '')}{symbol}{sign}"
    if re.fullmatch(NAME, str(symbol)) and _symbol(told)[1].assumptions0 == symbol.assumptions0:
        return told
    return f"{told} with further assumptions"  # even, infinite, ...: the words do not say all, and cover nothing


def value_of(expression: Any) -> Fraction | None:
    """0 if an expression vanishes for all values of its symbols, else its value at a point; None if neither is known.

    An expression that is not a rational function of its symbols is rational in parts such as exp(x). If it vanishes for
    all values of these parts, it vanishes; otherwise SymPy simplifies it.

    >>> import sympy
    >>> x, y = sympy.symbols("x y")
    >>> value_of((x + y)**2 - x**2 - 2*x*y - y**2), value_of(x - y), value_of(sympy.sqrt(x**2) - x)
    (Fraction(0, 1), Fraction(-2, 1), None)
    >>> value_of(sympy.gamma(x + 1) - x*sympy.gamma(x)), float(value_of(sympy.cosh(x) - sympy.sinh(x)))
    (Fraction(0, 1), 0.049787068367863944)
    """
    import sympy

    if not isinstance(expression, sympy.Expr) or expression.atoms(sympy.Float) or expression.has(sympy.nan, sympy.zoo):
        return None
    if expression.has(sympy.oo, -sympy.oo) or not all(map(_divides, expression.atoms(sympy.Pow))):
        return None
    polynomial = expression.is_polynomial(*expression.free_symbols)
    reduced = sympy.expand(expression) if polynomial else sympy.cancel(sympy.together(expression))
    if reduced == 0:
        return Fraction(0)
    if reduced.is_Rational:
        return Fraction(int(reduced.p), int(reduced.q))
    rational = reduced.is_rational_function(*reduced.free_symbols)
    vanishes = not rational and sympy.simplify(expression) == 0
    # a value also speaks against a wrong simplification
    value = _at_a_point(reduced, rational, starts=(2,) if vanishes else (2, 3, 5, 7, 11, 101))
    return Fraction(0) if vanishes and value is None else value


def _at_a_point(expression: Any, rational: bool, starts: Sequence[int]) -> Fraction | None:
    """A value other than 0 where the symbols are successive primes, the first being number `start`; None if none is."""
    import sympy

    symbols = sorted(expression.free_symbols, key=str)
    for start in starts if symbols else ():
        values = {symbol: sympy.prime(k) for k, symbol in enumerate(symbols, start)}
        if not rational and not all(map(_may_be, values, values.values())):
            continue
        there = expression.subs(values) if rational else expression.subs(values).evalf(DIGITS)
        if there.is_Rational and there != 0:
            return Fraction(int(there.p), int(there.q))
        if there.is_Float and abs(there) > ROUNDED_ZERO:
            return Fraction(str(there))
    return None


def _may_be(symbol: Any, value: int) -> bool:
    """True if no assumption on a symbol speaks against a value; elsewhere an expression need not mean the same."""
    import sympy

    number = sympy.Integer(value)
    return all(getattr(number, f"is_{name}") in (assumed, None) for name, assumed in symbol.assumptions0.items())


DIGITS, ROUNDED_ZERO = 30, 1e-9
"""Digits of a value at a point, and the least value that is surely no zero rounded at 15 digits or more."""


def expanded(text: str, symbols: Sequence[str]) -> Fraction | None:
    """The value of an expression that a ledger holds as text, found again; None if it cannot be read or decided.

    Only numbers, the given symbols, arithmetic and SymPy's elementary functions are read; nothing else is evaluated.

    >>> expanded("(x + y)**2 - x**2 - 2*x*y - y**2", ["x", "y"]), expanded("sqrt(x**2) - x", ["x > 0"])
    (Fraction(0, 1), Fraction(0, 1))
    """
    import sympy

    known = {"pi": sympy.pi, "E": sympy.E, "I": sympy.I, **dict(map(_symbol, symbols))}
    text = text.removeprefix("Matrix(").removesuffix(")") if text.startswith("Matrix(") else text
    text, known = text.replace("'", "_"), {name.replace("'", "_"): value for name, value in known.items()}  # for z'
    try:
        tree = ast.parse(text, mode="eval")
        rows = tree.body.elts if isinstance(tree.body, ast.List) else [tree.body]
        entries = [entry for row in rows for entry in (row.elts if isinstance(row, ast.List) else [row])]
        values = [value_of(_evaluated(entry, known)) for entry in entries]
    except (ValueError, KeyError, SyntaxError, RecursionError, MemoryError):
        return None
    return None if None in values or not values else max((v for v in values if v is not None), key=abs)


def _symbol(condition: str) -> tuple[str, Any]:
    """The name and the symbol of SymPy that `assumed` wrote."""
    import sympy

    word, _, rest = condition.partition(" ")
    named, name = ({word: True}, rest) if word in ("integer", "real") else ({}, condition)
    for sign, assumption in SIGNS.items():
        if name.endswith(sign):
            name, named[assumption] = name.removesuffix(sign), True
    return name, sympy.Symbol(name, **named)


def _evaluated(node: ast.AST, known: Mapping[str, Any]) -> Any:
    """The expression of SymPy that a syntax tree is; nothing else is evaluated."""
    import sympy

    match node:
        case ast.Constant(value=int(value)):
            return sympy.Integer(value)
        case ast.Name(id=name):
            return known[name]
        case ast.UnaryOp(op=op, operand=operand) if type(op) in ARITHMETIC:
            return ARITHMETIC[type(op)](_evaluated(operand, known))
        case ast.BinOp(op=ast.Pow(), right=ast.Constant(value=int(value))) if abs(value) > 1000:
            raise ValueError(f"the power {value} is not expanded")
        case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC:
            return ARITHMETIC[type(op)](_evaluated(left, known), _evaluated(right, known))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in ELEMENTARY:
            return getattr(sympy, name)(*(_evaluated(argument, known) for argument in arguments))
    raise ValueError(f"{ast.dump(node)[:80]} is not read")


SIGNS = {" > 0": "positive", " < 0": "negative", " >= 0": "nonnegative", " <= 0": "nonpositive", " != 0": "nonzero"}
ARITHMETIC: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow, ast.USub: operator.neg, ast.UAdd: operator.pos,
}  # fmt: skip
ELEMENTARY = (
    "sqrt", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "Abs", "gamma", "factorial", "binomial",
    "erf", "zeta",
)  # fmt: skip


def _divides(power: Any) -> bool:
    """True if the base of a negative power is nonzero at test points of both signs.

    If the base e is 0, an expression such as e/e - 1 is undefined although algebra simplifies it to 0.

    >>> import sympy
    >>> x = sympy.Symbol("x")
    >>> _divides(1 / (x - 1)), _divides(1 / (sympy.sqrt(x**2) - x))
    (True, False)
    """
    import sympy

    if power.exp.is_nonnegative:
        return True
    symbols = sorted(power.base.free_symbols, key=str)
    for sign in (1, -1):
        values = {
            symbol: (1 if symbol.is_nonnegative else sign) * sympy.Rational(sympy.prime(k), 7)
            for k, symbol in enumerate(symbols, start=5)
        }
        there = power.base.subs(values).evalf()
        if not there.is_number or there.has(sympy.nan, sympy.zoo) or abs(there) < ROUNDED_ZERO:
            return False
    return True


def _plain(value: Any) -> Any:
    """Convert a result to numbers, text, lists and mappings, which other processes and files can hold.

    >>> _plain({"w": (1, 2.0)})
    {'w': [1, 2.0]}
    """
    if type(value) in (float, int, str):  # most of a large result
        return value
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, msgspec.Struct):
        names = (*value.__struct_fields__, *with_errors(value), *(f"{name}_error" for name in with_errors(value)))
        fields = {name: getattr(value, name) for name in names}
        return _plain({name: held for name, held in fields.items() if _is_data(held)})
    if _is_exact(value):
        return _one(value)[0]
    return value


def _is_data(value: Any) -> bool:
    """True for what other processes and files can hold; the functions of a law are no part of a result."""
    data = isinstance(value, str | int | float | list | tuple | Mapping | msgspec.Struct)
    return value is None or data or hasattr(value, "tolist")


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}... ({len(text)} letters)"
