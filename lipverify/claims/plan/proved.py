"""Proved numbers: recognise exact results of functions, and read committed proofs."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from functools import lru_cache, reduce
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import msgspec

from lipverify.claims.ledger.record import Exact, ProofRecord
from lipverify.errors import InvalidInput
from lipverify.foundation.noted import Grade, with_errors
from lipverify.foundation.shipped import shipped
from lipverify.foundation.store import remembered

if TYPE_CHECKING:
    from lipverify.problem import Problem
    from lipverify.problem.law import Law
    from lipverify.proofs import Fact, Proof, ProvedOptimum, Theorem

OWN = "own function"
"""Name of the method for a claim's own function."""
WORDS: dict[Exact, str] = {
    "symbolic": "symbolic",
    "fraction": "rational",
    "ball": "certified",
    "proof file": "certified",
}
"""Name of the method for each kind of exact result."""
LONGEST = 2000
"""Longest exact value, in characters, that a ledger stores; the digest is that of the stored text."""
SMALL = 2**20
"""Denominators from here on are not written by hand: a power of two this large is taken for a converted float."""
SOMEWHERE = "an expression that is not the same for all values of its symbols: one of its values supports nothing"
"""Note for the value of an expression at one point, which can refute and cannot support."""


class Stood(msgspec.Struct, frozen=True):
    """The evidence for a number, valid if the error used with the number is at least `error`."""

    grade: Grade
    method: str = OWN
    error: float = 0.0
    proof: ProofRecord | None = None


class ProvedNumber(msgspec.Struct, frozen=True):
    """A number that follows from a proof: value ± error and the proof; made by `lipverify.claims.plan.proved`.

    Sums, differences, products and quotients with other proved or exact numbers are proved as well, and rounded
    outwards.
    """

    low: float
    high: float
    proof: ProofRecord

    @property
    def pair(self) -> tuple[float, float]:
        """The middle of the interval, and a bound on its distance from any point of the interval."""
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
        products = [_exact(start) * end for start in (self.low, self.high) for end in ends]
        return outwards(min(products), max(products), proof)

    def __truediv__(self, other: Any) -> ProvedNumber:
        (low, high), proof = _operand(self, other)
        if low <= 0 <= high:
            raise ZeroDivisionError(f"{self} / {other}: the divisor may be 0")
        return self * ProvedNumber(*_outwards(1 / high, 1 / low), proof)


def _exact(value: float) -> Fraction:
    """A double as an exact fraction, without the note that a float was converted (`lipverify.foundation.noted`)."""
    return Fraction(*value.as_integer_ratio())


def _operand(number: ProvedNumber, operand: Any) -> tuple[tuple[Fraction, Fraction], ProofRecord]:
    """The ends of the other operand, and the proof of the result."""
    if isinstance(operand, ProvedNumber):
        return (_exact(operand.low), _exact(operand.high)), both(number.proof, operand.proof)
    if _library(operand) == "flint" and operand.is_finite():
        middle, error = map(_exact, _ball(operand)[0])
        return (middle - error, middle + error), number.proof
    if isinstance(operand, bool) or not isinstance(operand, int | Fraction):
        raise InvalidInput(f"{operand!r} is not exact; combine proved numbers with whole numbers, fractions and balls.")
    return (Fraction(operand), Fraction(operand)), number.proof


def outwards(low: Fraction, high: Fraction, proof: ProofRecord) -> ProvedNumber:
    """The least interval of doubles that contains both ends, as a proved number."""
    return ProvedNumber(*_outwards(low, high), proof)


def _outwards(low: Fraction, high: Fraction) -> tuple[float, float]:
    down, up = float(low), float(high)
    down = math.nextafter(down, -math.inf) if _exact(down) > low else down
    return down, math.nextafter(up, math.inf) if _exact(up) < high else up


def both(first: ProofRecord, second: ProofRecord) -> ProofRecord:
    """Two proofs as one record."""
    if first == second:
        return first
    digest = sha256(f"{first.digest}\n{second.digest}".encode()).hexdigest()
    return ProofRecord(kind="proof file", statement=f"{first.statement} And: {second.statement}", digest=digest)


def seen(result: Any) -> tuple[Any, dict[str, Stood]]:
    """A function's result as plain data, and the evidence of its exact quantities by name.

    >>> seen({"third": Fraction(1, 3), "plain": 1.0})[0]
    {'third': [0.3333333333333333, 0.0], 'plain': 1.0}
    """
    exact: dict[str, Stood] = {}
    if isinstance(result, Mapping):
        plain = {}
        for name, value in result.items():
            plain[str(name)], exact_here = _one(value)
            exact |= {str(name): exact_here} if exact_here is not None else {}
        return plain, exact
    plain_result, whole = _one(result)
    if _library(result) == "proof":
        return plain_result, {name: whole for name in plain_result if whole is not None}
    return plain_result, {"": whole} if whole is not None else {}


def _one(value: Any) -> tuple[Any, Stood | None]:
    """One value as plain data, with its evidence if it is exact."""
    if isinstance(value, tuple | list) and len(value) == 2 and _is_zero(value[1]) and _library(value[0]) is not None:
        value = value[0]  # (exact value, 0)
    if isinstance(value, ProvedNumber):
        return list(value.pair), Stood("proved", "certified", value.pair[1], value.proof)
    if _library(value) == "fact":
        plain = list(value.pair) if value.low != value.high else _fraction(value.low)[0]
        return plain, Stood("proved", "certified", plain[1], reduce(both, map(certified, value.proofs)))
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
    """The library of an exact value; None for a plain value."""
    module = type(value).__module__
    if isinstance(value, Fraction | ProvedNumber):
        return "here"
    if module.startswith("sympy.") and hasattr(value, "free_symbols"):
        return "sympy"
    if module.startswith("flint.") and type(value).__name__ in ("arb", "fmpq", "fmpz"):
        return "flint"
    if module == "lipverify.proofs.words" and type(value).__name__ == "Leftover":
        return "polynomials"
    if module == "lipverify.proofs.record" and type(value).__name__ == "Fact":
        return "fact"
    return "proof" if module.startswith("lipverify.proofs.") and hasattr(value, "failures") else None


def _exactly(kind: Exact, text: str, error: float, symbols: tuple[str, ...] = ()) -> Stood:
    """The evidence for an exact value with this text."""
    return Stood("proved", WORDS[kind], error, recorded(kind, text, symbols))


def recorded(kind: Exact, text: str, symbols: tuple[str, ...] = (), digest: str = "") -> ProofRecord:
    """The record of an exact value, or of a proof file if its digest is given."""
    short = text if len(text) <= LONGEST else f"{text[:LONGEST]}... ({len(text)} letters)"
    return ProofRecord(kind=kind, statement=short, symbols=symbols, digest=digest or sha256(short.encode()).hexdigest())


def _fraction(value: Fraction) -> tuple[Any, Stood | None]:
    """An exact fraction. A fraction that was converted from a float equals the float and proves nothing."""
    near = float(value)
    error = 0.0 if nearest(value) is not None else math.ulp(near) / 2 * (1 + 1e-15)
    if _from_a_float(value):
        return [near, error], None
    return [near, error], _exactly("fraction", str(value), error)


def nearest(value: Fraction) -> float | None:
    """The double for a fraction: exact, or the nearest one if no other small fraction shares it; None otherwise.

    Small fractions, with denominators below 2^20, differ by more than 2^-40, also from those in ranges, so rounding
    does not change how they compare.
    """
    near = float(value)
    small = value.denominator < SMALL and abs(value) < 1024
    return near if small or _exact(near) == value else None


def _from_a_float(value: Fraction) -> bool:
    """True if a fraction looks like a converted double: its denominator is a large power of two."""
    return value.denominator & (value.denominator - 1) == 0 and value.denominator >= SMALL


def _ball(value: Any) -> tuple[Any, Stood | None]:
    """A number or a ball of python-flint. A ball of radius 0 may come from a float, so it proves nothing."""
    if type(value).__name__ != "arb":
        return _fraction(Fraction(str(value)))
    if not value.is_finite():
        return [0.0, math.inf, f"the ball {value} has no finite radius"], None
    middle = float(value.mid())
    error = float(abs(value - middle).upper()) * (1 + 1e-15)
    return [middle, error], _exactly("ball", str(value), error) if error > 0 and value.rad() != 0 else None


def _proof(value: Any) -> tuple[Any, Stood | None]:
    """A proof as data: 0 as its value, and its constants by name."""
    record = certified(value)
    constants = {name: [number, math.ulp(number)] for name, number in value.constants.items()}
    return {"": [0.0, 0.0], **constants}, Stood("proved", "certified", 0.0, record)


def certified(proof: Any) -> ProofRecord:
    """The record of a proof: its theorem, and the digest of its file, saved or not.

    The checker certifies each proof once: the processes of a run share its answer, by the content of the file.
    """
    missing = _checked(proof.text).missing
    if missing:
        raise ValueError(f"no proof of {proof.statement!r}: {'; '.join(missing)}")
    return recorded("proof file", proof.statement, digest=sha256(proof.text.encode()).hexdigest())


class _Checked(msgspec.Struct, frozen=True):
    """What does not follow in a proof file."""

    missing: tuple[str, ...]


@lru_cache(maxsize=256)
def _checked(text: str) -> _Checked:
    return remembered(_check, text, _Checked)


def _check(text: str) -> _Checked:
    from lipverify.proofs import checker

    return _Checked(tuple(checker.failures(json.loads(text))))


def _symbolic(value: Any) -> tuple[Any, Stood | None]:
    """A SymPy expression or matrix: 0 if it vanishes for all values of its symbols, or else its value at one point."""
    import sympy

    entries = [sympy.sympify(entry) for entry in (value if isinstance(value, sympy.MatrixBase) else [value])]
    text = str(value)
    symbols = tuple(sorted({str(free_symbol) for entry in entries for free_symbol in entry.free_symbols}))
    values = [_value_of(entry) for entry in entries]
    if not values or any(value is None for value in values):
        cannot = f"SymPy cannot decide exactly whether {text[:200]} is 0"
        return [0.0, math.inf, cannot], None
    numbers = [value for value in values if value is not None]
    worst = max(numbers, key=abs, default=Fraction(0))
    plain, stood = _fraction(worst)
    if worst and symbols and any(sympy.cancel(sympy.together(entry)).free_symbols for entry in entries):
        plain = [*plain, SOMEWHERE]
    return plain, _exactly("symbolic", text, plain[1], symbols) if stood is not None or worst == 0 else None


def _value_of(expression: Any) -> Fraction | None:
    """0 if an expression vanishes for all values of its symbols, else its value at a point; None if neither is known.

    An expression that is not a rational function of its symbols is rational in parts such as exp(x). If it vanishes for
    all values of these parts, it vanishes.

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
        values = {symbol: sympy.prime(k) for k, symbol in enumerate(symbols, start)}
        there = reduced.subs(values)
        if there.is_Rational and there != 0:
            return Fraction(int(there.p), int(there.q))
    return None


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
        # a smaller value may be a zero rounded at 15 digits
        if not there.is_number or there.has(sympy.nan, sympy.zoo) or abs(there) < 1e-9:
            return False
    return True


def _plain(value: Any) -> Any:
    """Convert a result to numbers, text, lists and mappings, which other processes and files can hold.

    >>> _plain({"w": (1, 2.0)})
    {'w': [1, 2.0]}
    """
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, msgspec.Struct):
        derived = {name: getattr(value, name) for name in with_errors(value)}
        errors = {f"{name}_error": getattr(value, f"{name}_error") for name in derived}
        return {**msgspec.to_builtins(value, enc_hook=_plain), **_plain(derived | errors)}
    if isinstance(value, Fraction | ProvedNumber) or _library(value) in ("sympy", "flint", "polynomials", "fact"):
        return _one(value)[0]
    return value


FOLDER = "proofs"
"""Folder of the committed proofs, within the folder of the checks."""


def proved_rates(law: str, d: int, own: Law | None = None) -> dict[str, Fact]:
    """The exponents of n N in w, of B in w, and of w* and the loss in Lambda, by the window theorem.

    Parameters
    ----------
    law, d, own
        As for `proved_window`.

    Returns
    -------
    dict[str, lipverify.proofs.Fact]
        "noise", "bias", "window" and "loss".

    Raises
    ------
    ValueError
        As `proved_window`.

    Examples
    --------
    >>> proved_rates("relu", 3)["bias"].pair
    (-1.5, 0.0)
    """
    proof = proved_window(law, d, own)
    return {name: proof.fact(f"{name} exponent") for name in ("noise", "bias", "window", "loss")}


@lru_cache(maxsize=64)
def proved_window(law: str, d: int, own: Law | None = None) -> Theorem:
    """The window theorem: the committed proof, certified again, or a new proof if there is none.

    Parameters
    ----------
    law
        The name of a law, or that of the proof files of `own`.
    d
        The dimension.
    own
        A user's law.

    Returns
    -------
    Theorem
        k_1 W < w* < k_2 W with its constants.

    Raises
    ------
    ValueError
        If the file is not a proof, or proves something else.

    Examples
    --------
    >>> proved_window("affine", 3).exponent
    0.3333333333333333
    """
    from lipverify.problem.written import law_named
    from lipverify.proofs import Theorem, prove_window
    from lipverify.proofs.record import named

    meant = own or law_named(law)
    proof = committed(f"{law}-{d}", lambda: prove_window(meant, d))
    if not isinstance(proof, Theorem):
        raise ValueError(f"{law}-{d}.json: not a window theorem: {proof.statement}")
    stated(f"{law}-{d}", proof, ("window",), {"law": named(meant), "d": d})
    return proof


def stated(name: str, proof: Proof, theorems: Collection[str], about: Mapping[str, Any]) -> None:
    """Require that a proof states one of these theorems, about exactly the given objects.

    The checker reads both, so numbers are compared by value and the theorem compared is the one that is printed.
    """
    from lipverify.proofs import checker

    read = checker.read(proof.data)
    entries = about if "law" in checker.KINDS[read.theorem].keys else {"given": about}
    if (
        read.theorem not in theorems
        or checker.KINDS[read.theorem].about({"theorem": read.theorem, **entries}) != read.about
    ):
        wanted = f"{' or '.join(theorems)} for {dict(about)}"
        raise ValueError(f"{name}.json: not a proof of {wanted}: {proof.statement}")


_anew: ContextVar[dict[str, Proof] | None] = ContextVar("_anew", default=None)
"""No argument can bring them: proofs are asked for by functions of claims files, whose arguments are coordinates."""


@contextmanager
def found_anew(known: Mapping[str, Proof]) -> Iterator[dict[str, Proof]]:
    """In this block no committed proof is read: a requested proof that is not known is found and stored by name."""
    proofs = dict(known)
    token = _anew.set(proofs)
    proved_window.cache_clear()
    try:
        yield proofs
    finally:
        _anew.reset(token)
        proved_window.cache_clear()


def committed(name: str, prove: Callable[[], Proof]) -> Proof:
    """The committed proof of this name, certified again, or a new proof if there is none."""
    from lipverify.proofs import load

    anew = _anew.get()
    if anew is not None:
        if name not in anew:
            anew[name] = prove()
        return anew[name]
    path = shipped() / FOLDER / f"{name}.json"
    proof = load(path) if path.exists() else prove()
    try:
        certified(proof)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return proof


def proved(name: str, theorem: str, given: Mapping[str, Any] | Problem, prove: Callable[[], Proof]) -> Proof:
    """The committed proof of this theorem about the given objects, or a new proof if there is none.

    Parameters
    ----------
    name
        The name of its file, without the ending.
    theorem
        The name of the theorem in proof files, such as "bias falls".
    given
        What the theorem is about: a problem, or whole numbers, floats, fractions, words and pairs of them by the names
        of the file. Numbers are compared by value.
    prove
        Finds the proof if there is no file.

    Returns
    -------
    lipverify.proofs.Proof
        A proof that was certified again.

    Raises
    ------
    ValueError
        If it is not a proof, or proves something else.

    Examples
    --------
    >>> from lipverify.proofs import prove_cosine
    >>> proved("lt-cosine", "cosine", {}, prove_cosine).failures()
    []
    """
    proof = committed(name, prove)
    if isinstance(given, Mapping):
        given = {key: _as_filed(value) for key, value in given.items()}
    else:
        from lipverify.proofs.finite import about

        given = about(given)
    stated(name, proof, (theorem,), given)
    return proof


def _as_filed(value: Any) -> Any:
    """A value in the notation of a proof file.

    >>> _as_filed((0.5, Fraction(1, 3))), _as_filed(2), _as_filed("relu")
    (['0.5', '1/3'], 2, 'relu')
    """
    if isinstance(value, tuple):
        return [_as_filed(entry) for entry in value]
    if isinstance(value, float):
        return repr(float(value))
    return str(value) if isinstance(value, Fraction) else value


def proved_optimum(name: str, problem: Problem, offset: float | None = None) -> ProvedOptimum:
    """The committed proof that locates the optimum of a problem, or a new proof if there is none.

    Parameters
    ----------
    name
        The name of its file, without the ending.
    problem, offset
        As for `lipverify.proofs.prove_optimum`.

    Returns
    -------
    ProvedOptimum
        A proof that was certified again.

    Raises
    ------
    ValueError
        If it is not a proof, or proves something else.

    Examples
    --------
    >>> from lipverify import Problem
    >>> from lipverify.laws import Affine
    >>> low, high = proved_optimum("optimum-affine-example", Problem(d=3, n=10, law=Affine())).window
    >>> round(low, 3), round(high, 3)
    (0.799, 0.799)
    """
    from lipverify.proofs import ProvedOptimum, prove_optimum
    from lipverify.proofs.finite import about

    proof = committed(name, lambda: prove_optimum(problem, offset))
    if not isinstance(proof, ProvedOptimum):
        raise ValueError(f"{name}.json: not a proof about an optimum: {proof.statement}")
    kinds = ("scale",) if offset is not None else ("optimum", "optimum far", "optimum at zero")
    stated(name, proof, kinds, about(problem, offset))
    return proof


def between(proof: Proof, low: float | Fraction, high: float | Fraction) -> ProvedNumber:
    """The number that a proof places between two bounds. It counts as proved wherever a claim's function returns it.

    Parameters
    ----------
    proof
        The proof.
    low, high
        The bounds: constants of the proof.

    Returns
    -------
    ProvedNumber
        Sums, differences, products and quotients of it are proved as well.

    Raises
    ------
    ValueError
        If it is not a proof.

    Examples
    --------
    >>> theorem = proved_window("affine", 3)
    >>> between(theorem, 1.0, 2.0).pair
    (1.5, 0.5000000000000008)
    """
    return outwards(Fraction(*low.as_integer_ratio()), Fraction(*high.as_integer_ratio()), certified(proof))
