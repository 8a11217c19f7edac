"""What ran: the grade of a number from what its function returned and from what the library made while it ran.

proved      the function returned something exact that the library can see: a proof, an expression of SymPy, a fraction,
            a ball of python-flint. A plain number is never that, whatever its claim says.
bounded     it returned a value of the library with the error that came with it, or a greater one; or its claim says
            that it derives its numbers from bounds of the library (`method="exact"`, or `grade="bounded"`), and the
            library made bounds, and drew nothing, while the function and what it needs ran.
sampled     it takes `contexts`, or the library made an interval from samples.
estimated   none of these: the function states its own error.

A claim can state a weaker grade than that, and no stronger one.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator, Mapping
from fractions import Fraction
from hashlib import sha256
from typing import Any

import msgspec

from lipverify.claims.ledger.record import Exact, Grade, ProofRecord, weakest
from lipverify.errors import InvalidInput
from lipverify.foundation.noted import Made, Note, Notes, with_errors

OWN = "own function"
"""The word for the method of a function that is not the library's."""
METHOD_GRADES: dict[str, Grade] = {
    "certified": "proved", "symbolic": "proved", "rational": "proved", "exact": "bounded", "montecarlo": "sampled",
    "training": "observed",
}  # fmt: skip
"""The best grade that a number can have which is measured in this way."""
WORDS: dict[Exact, str] = {
    "symbolic": "symbolic",
    "fraction": "rational",
    "ball": "certified",
    "proof file": "certified",
}
"""The word for the method of what is exact."""
MADE: dict[Made, Grade] = {
    "certified": "proved", "bounded": "bounded", "sampled": "sampled", "estimated": "estimated",
}  # fmt: skip
LONGEST = 2000
"""Letters of an exact value that a ledger holds: its digest is that of these."""
SMALL = 2**20
"""The denominator of a fraction that nobody writes."""
SMALLEST = 1e-9
"""What a divisor is at least, in size, to be no rounded zero of 15 digits."""
SOMEWHERE = "an expression that is not the same for all values of its symbols: one of its values bears out nothing"
"""Remark beside the value that an expression has somewhere: it can refute, and cannot support."""
SHORT = 20
"""A double of no more binary digits is no number by which its origin could be known: it is too likely by chance."""


class Stood(msgspec.Struct, frozen=True):
    """What stands behind a number, if the error that it is used with is no less than this one."""

    grade: Grade
    method: str = OWN
    error: float = 0.0
    proof: ProofRecord | None = None


class Ran(msgspec.Struct, frozen=True):
    """What ran while something was measured."""

    stood: dict[str, tuple[Stood, ...]] = {}
    """What stands behind each quantity of the result by its name, the strongest first; "" for the result as a whole."""
    made: tuple[Made, ...] = ()
    """How the library made errors while the function ran, each once."""
    by: tuple[str, ...] = ()
    """By which methods it bounded them."""


class ProvedNumber(msgspec.Struct, frozen=True):
    """A number that follows from a proof: value ± error, and what proves it; made by `lipverify.claims.plan.proved`.

    Sums, products and quotients with others, and with exact numbers, are proved too; they are rounded outwards.
    """

    low: float
    high: float
    proof: ProofRecord

    @property
    def pair(self) -> tuple[float, float]:
        """The middle, and a bound on its distance to any point of the interval."""
        middle = (self.low + self.high) / 2
        return middle, (self.high - self.low) / 2 * (1 + 4e-16) + 4e-16 * abs(middle) * (self.low != self.high)

    def __add__(self, other: Any) -> ProvedNumber:
        (low, high), proof = _operand(self, other)
        return outwards(_exact(self.low) + low, _exact(self.high) + high, proof)

    def __sub__(self, other: Any) -> ProvedNumber:
        (low, high), proof = _operand(self, other)
        return outwards(_exact(self.low) - high, _exact(self.high) - low, proof)

    def __mul__(self, other: Any) -> ProvedNumber:
        ends, proof = _operand(self, other)
        products = [_exact(one) * end for one in (self.low, self.high) for end in ends]
        return outwards(min(products), max(products), proof)

    def __truediv__(self, other: Any) -> ProvedNumber:
        (low, high), proof = _operand(self, other)
        if low <= 0 <= high:
            raise ZeroDivisionError(f"{self} / {other}: the divisor may be 0")
        return self * ProvedNumber(*_outwards(1 / high, 1 / low), proof)


def _exact(value: float) -> Fraction:
    """A double as the fraction that it is, and no sign that a float became one (`lipverify.foundation.noted`)."""
    return Fraction(*value.as_integer_ratio())


def _operand(one: ProvedNumber, other: Any) -> tuple[tuple[Fraction, Fraction], ProofRecord]:
    """The ends of what a proved number is combined with, and what proves the result."""
    if isinstance(other, ProvedNumber):
        return (_exact(other.low), _exact(other.high)), both(one.proof, other.proof)
    if _library(other) == "flint" and other.is_finite():
        middle, error = map(_exact, _ball(other)[0])
        return (middle - error, middle + error), one.proof
    if isinstance(other, bool) or not isinstance(other, int | Fraction):
        raise InvalidInput(f"{other!r} is not exact; combine proved numbers with whole numbers, fractions and balls.")
    return (Fraction(other), Fraction(other)), one.proof


def outwards(low: Fraction, high: Fraction, proof: ProofRecord) -> ProvedNumber:
    """The least interval of doubles that contains both ends, as a proved number."""
    return ProvedNumber(*_outwards(low, high), proof)


def _outwards(low: Fraction, high: Fraction) -> tuple[float, float]:
    down, up = float(low), float(high)
    down = math.nextafter(down, -math.inf) if _exact(down) > low else down
    return down, math.nextafter(up, math.inf) if _exact(up) < high else up


def both(one: ProofRecord, other: ProofRecord) -> ProofRecord:
    """Two proofs as one record."""
    if one == other:
        return one
    digest = sha256(f"{one.digest}\n{other.digest}".encode()).hexdigest()
    return ProofRecord(kind="proof file", statement=f"{one.statement} And: {other.statement}", digest=digest)


def seen(result: Any) -> tuple[Any, dict[str, Stood]]:
    """What a function returned as plain data, and what is exact of it, by the name of the quantity.

    >>> seen({"third": Fraction(1, 3), "plain": 1.0})[0]
    {'third': [0.3333333333333333, 0.0], 'plain': 1.0}
    """
    exact: dict[str, Stood] = {}
    if isinstance(result, Mapping):
        plain = {}
        for name, each in result.items():
            plain[str(name)], exact_here = _one(each)
            exact |= {str(name): exact_here} if exact_here is not None else {}
        return plain, exact
    plain_result, whole = _one(result)
    if _library(result) == "proof":
        return plain_result, {name: whole for name in plain_result if whole is not None}
    return plain_result, {"": whole} if whole is not None else {}


def _one(value: Any) -> tuple[Any, Stood | None]:
    """One value as plain data, and what stands behind it if it is exact."""
    if isinstance(value, tuple | list) and len(value) == 2 and _is_zero(value[1]) and _library(value[0]) is not None:
        value = value[0]  # (exact value, 0)
    if isinstance(value, ProvedNumber):
        return list(value.pair), Stood("proved", "certified", value.pair[1], value.proof)
    if isinstance(value, Fraction):
        return _fraction(value)
    library = _library(value)
    if library == "sympy":
        return _symbolic(value)
    if library == "flint":
        return _ball(value)
    if library == "proof":
        return _proof(value)
    if library == "polynomials":
        return [float(value.terms), 0.0], _exactly("symbolic", str(value), 0.0, value.symbols)
    return _plain(value), None


def _is_zero(error: Any) -> bool:
    return isinstance(error, int | float) and error == 0


def _library(value: Any) -> str | None:
    """Which library an exact value is of; None for a plain one."""
    module = type(value).__module__
    if isinstance(value, Fraction | ProvedNumber):
        return "here"
    if module.startswith("sympy.") and hasattr(value, "free_symbols"):
        return "sympy"
    if module.startswith("flint.") and type(value).__name__ in ("arb", "fmpq", "fmpz"):
        return "flint"
    if module == "lipverify.linear_transformer.theory.polynomials" and type(value).__name__ == "Leftover":
        return "polynomials"
    return "proof" if module.startswith("lipverify.proofs.") and hasattr(value, "failures") else None


def _exactly(kind: Exact, text: str, error: float, symbols: tuple[str, ...] = ()) -> Stood:
    """What stands behind an exact value that reads like this."""
    return Stood("proved", WORDS[kind], error, recorded(kind, text, symbols))


def recorded(kind: Exact, text: str, symbols: tuple[str, ...] = (), digest: str = "") -> ProofRecord:
    """The record of an exact value or of a proof file, whose digest is given."""
    shown = text if len(text) <= LONGEST else f"{text[:LONGEST]}... ({len(text)} letters)"
    return ProofRecord(kind=kind, statement=shown, symbols=symbols, digest=digest or sha256(shown.encode()).hexdigest())


def _fraction(value: Fraction) -> tuple[Any, Stood | None]:
    """An exact number; one that came from a float says what the float was, and proves nothing."""
    near = float(value)
    error = 0.0 if nearest(value) is not None else math.ulp(near) / 2 * (1 + 1e-15)
    if _from_a_float(value):
        return [near, error], None
    return [near, error], _exactly("fraction", str(value), error)


def nearest(value: Fraction) -> float | None:
    """The double that stands for a fraction: itself, or the nearest one if no other small fraction has the same.

    Small fractions, of denominators below 2^20, differ by more than 2^-40, and so do those of ranges: rounded, they
    compare as they do. None for others.
    """
    near = float(value)
    small = value.denominator < SMALL and abs(value) < 1024
    return near if small or _exact(near) == value else None


def _from_a_float(value: Fraction) -> bool:
    """Whether a fraction looks like a double: a long binary one."""
    return value.denominator & (value.denominator - 1) == 0 and value.denominator >= SMALL


def _ball(value: Any) -> tuple[Any, Stood | None]:
    """A number or a ball of python-flint; a ball of radius 0 does not say where it is from, and so proves nothing."""
    if type(value).__name__ != "arb":
        return _fraction(Fraction(str(value)))
    if not value.is_finite():
        return [0.0, math.inf, f"the ball {value} has no finite radius"], None
    middle = float(value.mid())
    error = float(abs(value - middle).upper()) * (1 + 1e-15)
    return [middle, error], _exactly("ball", str(value), error) if error > 0 and value.rad() != 0 else None


def _proof(value: Any) -> tuple[Any, Stood | None]:
    """A proof: 0 by itself, and its constants by name.

    Raises
    ------
    ValueError
        If it is no proof.
    """
    missing = value.failures()
    if missing:
        raise ValueError(f"no proof of {value.statement!r}: {'; '.join(missing)}")
    constants = {name: [number, math.ulp(number)] for name, number in value.constants.items()}
    return {"": [0.0, 0.0], **constants}, Stood("proved", "certified", 0.0, proof_file(value))


def proof_file(proof: Any) -> ProofRecord:
    """The record of a proof: its theorem, and the digest of the file that it is, or would be saved as."""
    import json

    made = json.dumps(proof.data, indent=1) + "\n"
    return recorded("proof file", proof.statement, digest=sha256(made.encode()).hexdigest())


def _symbolic(value: Any) -> tuple[Any, Stood | None]:
    """An expression or a matrix of SymPy: 0 where it is 0 for all values of its symbols, else its value somewhere."""
    import sympy

    entries = [sympy.sympify(each) for each in (value if isinstance(value, sympy.MatrixBase) else [value])]
    text = str(value)
    symbols = tuple(sorted({str(each) for entry in entries for each in entry.free_symbols}))
    found = [_value_of(each) for each in entries]
    if not found or any(each is None for each in found):
        cannot = f"SymPy cannot decide exactly whether {text[:200]} is 0"
        return [0.0, math.inf, cannot], None
    numbers = [each for each in found if each is not None]
    worst = max(numbers, key=abs, default=Fraction(0))
    plain, stood = _fraction(worst)
    if worst and any(sympy.cancel(sympy.together(each)).free_symbols for each in entries):
        plain = [*plain, SOMEWHERE]
    return plain, _exactly("symbolic", text, plain[1], symbols) if stood is not None or worst == 0 else None


def _value_of(expression: Any) -> Fraction | None:
    """0 if an expression is 0 for all values of its symbols, else its value somewhere; None if neither is known.

    What is no rational function of the symbols with rational coefficients is one in its parts, such as exp(x): if it
    is 0 for all values of these, it is 0.

    >>> import sympy
    >>> x, y = sympy.symbols("x y")
    >>> _value_of((x + y)**2 - x**2 - 2*x*y - y**2), _value_of(x - y), _value_of(sympy.sqrt(x**2) - x)
    (Fraction(0, 1), Fraction(-2, 1), None)
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
    symbols = sorted(reduced.free_symbols, key=str)
    if not symbols or not reduced.is_rational_function(*symbols):
        return None
    for start in (2, 3, 5, 7, 11, 101):
        values = {symbol: sympy.prime(start + place) for place, symbol in enumerate(symbols)}
        there = reduced.subs(values)
        if there.is_Rational and there != 0:
            return Fraction(int(there.p), int(there.q))
    return None


def _divides(power: Any) -> bool:
    """Whether what a negative power divides by is seen to be no zero, at numbers of both signs for its symbols.

    Where it is 0 an expression such as e/e - 1 is no number, though algebra makes it 0.

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
            symbol: (1 if symbol.is_nonnegative else sign) * sympy.Rational(sympy.prime(place), 7)
            for place, symbol in enumerate(symbols, start=5)
        }
        there = power.base.subs(values).evalf()
        if not there.is_number or there.has(sympy.nan, sympy.zoo) or abs(there) < SMALLEST:
            return False
    return True


def _plain(value: Any) -> Any:
    """What was returned, as numbers, text, lists and mappings: other processes and files can hold these.

    >>> _plain({"w": (1, 2.0)})
    {'w': [1, 2.0]}
    """
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, msgspec.Struct):
        derived = {name: getattr(value, name) for name in with_errors(value)}
        errors = {f"{name}_error": getattr(value, f"{name}_error") for name in derived}
        return {**msgspec.to_builtins(value, enc_hook=_plain), **_plain(derived | errors)}
    if isinstance(value, Fraction | ProvedNumber) or _library(value) in ("sympy", "flint", "polynomials"):
        return _one(value)[0]
    return value


def ran(notes: Notes, result: Any) -> Ran:
    """What ran, from what was noted while a measurement was made, and from its result as plain data."""
    exact: dict[str, Stood] = notes.told or {}
    if notes.floats:
        exact = {name: stood for name, stood in exact.items() if not _of(stood, "symbolic", "fraction")}
    quantities = {"": result, **(result if isinstance(result, Mapping) else {})}
    written_out = {  # an exact number that is one of the library's rounded ones
        name
        for name, stood in exact.items()
        if _of(stood, "symbolic", "fraction", "ball")
        and any(each.grade != "proved" for each in _of_the_library(name, quantities.get(name), result, notes.calls))
    }
    exact = {name: stood for name, stood in exact.items() if name not in written_out}
    stood = {}
    for name, quantity in quantities.items():
        found = (exact[name],) if name in exact else tuple(_of_the_library(name, quantity, result, notes.calls))
        if found:
            stood[name] = tuple(sorted(found, key=lambda each: MADE_ORDER.index(each.grade)))
    by = {note.method for note in notes.calls if note.made in ("certified", "bounded")}
    return Ran(stood, tuple(sorted({note.made for note in notes.calls})), tuple(sorted(by)))


def is_symbolic(notes: Notes) -> bool:
    """Whether something of the result is a number or an expression of SymPy."""
    return any(_of(stood, "symbolic") for stood in (notes.told or {}).values()) and "sympy" in sys.modules


def _of(stood: Stood, *kinds: Exact) -> bool:
    return stood.proof is not None and stood.proof.kind in kinds


MADE_ORDER = list(MADE.values())


def _of_the_library(name: str, quantity: Any, result: Any, calls: list[Note]) -> Iterator[Stood]:
    """The numbers of the library that a quantity is, each with the error that came with it."""
    value = quantity[0] if isinstance(quantity, list) and len(quantity) in (2, 3) else quantity
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return
    short = (math.frexp(value)[0] * 2**SHORT).is_integer()
    if short and not (isinstance(result, Mapping) and f"{name}_error" in result):
        return
    for note in calls:
        for known, error in note.pairs:
            if known == value and math.isfinite(error):
                proof = recorded("ball", f"{known!r} ± {error!r}") if note.made == "certified" else None
                yield Stood(MADE[note.made], note.method, error, proof)


def behind(ran: Ran, made: set[Made], of: str, spread: float, *, derives: bool, sampled: bool) -> Stood:
    """What stands behind a quantity that is used with this error.

    Parameters
    ----------
    made
        How the library made errors while the function, and all that it needs, ran.
    derives
        Whether the claim says that the function derives its numbers from bounds of the library.
    sampled
        Whether the function takes contexts.
    """
    for stood in ran.stood.get(of, ()):
        if spread >= stood.error and stood.grade != "estimated":
            return stood
    if ran.stood.get(of):  # a number of the library, with less than the error that came with it
        return Stood("estimated")
    if sampled or "sampled" in made:
        return Stood("sampled", "montecarlo")
    if derives and made & {"bounded", "certified"} and "estimated" not in made:
        return Stood("bounded", ran.by[0] if len(ran.by) == 1 else "exact")
    return Stood("estimated")


def no_stronger(stood: Stood, declared: Grade | None, method: str | None) -> Stood:
    """The same, no stronger than its claim states; by the method that it states, if that says no more than what ran."""
    grade = weakest([stood.grade, declared or "proved", METHOD_GRADES.get(method or "", "proved")])
    assert grade is not None
    implied = METHOD_GRADES.get(method or "")
    earned = method is not None and (implied is None or weakest([implied, stood.grade]) == implied)
    word = method if method is not None and earned else stood.method
    return Stood(grade, word, stood.error, stood.proof if grade == "proved" else None)


_EVERY = re.compile(r"\b(?:every|all|any|each|whatever)\b|\\forall", re.IGNORECASE)
_REACH = 60


def speaks_of_all(text: str, names: tuple[str, ...]) -> bool:
    r"""Whether a text states something for all values of a coordinate; of no names, of anything.

    >>> speaks_of_all("the sum vanishes for every d", ("d",)), speaks_of_all("for every n, at d = 2", ("d",))
    (True, False)
    >>> speaks_of_all(r"\forall m: m^2 - m + 41", ()), speaks_of_all("2 + 2 = 4", ())
    (True, False)
    """
    for match in _EVERY.finditer(text):
        reach = re.split(r"[.;:,]", text[match.end() : match.end() + _REACH])[0]
        if not names or any(re.search(rf"(?<![A-Za-z]){re.escape(name)}(?![A-Za-z])", reach) for name in names):
            return True
    return False
