"""Formulas: values against Arb, SymPy and Python, printed forms parsed back, and the refusal of other text."""

from __future__ import annotations

import ast
import math
import operator
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
import sympy
from hypothesis import assume, example, given
from hypothesis import strategies as st

from lipverify.claims.language.formula import Formula, FunctionBound, bound, formula
from lipverify.claims.ledger.symbols import GREEK  # internal: every Greek letter that is printed must be readable
from lipverify.errors import InvalidInput
from lipverify.foundation.latex import typst_math
from tests.claims.readers import from_latex, from_plain

SYMBOLS = {  # as printed in plain text and in LaTeX
    "d": ("d", "d"), "n": ("n", "n"), "w_0": ("w_0", "w_{0}"), "kappa": ("κ", r"\kappa"), "gamma": ("γ", r"\gamma"),
    "Gamma": ("Γ", r"\Gamma"), "sigma_max": ("σ_max", r"\sigma_{\mathrm{max}}"), "rho2": ("ρ2", r"\rho_{2}"),
    "heads": ("heads", r"\mathrm{heads}"), "lamda": ("λ", r"\lambda"), "ε": ("ε", r"\varepsilon"),
    "zeta": ("ζ", r"\zeta"),
}  # fmt: skip
POINT = dict(zip(SYMBOLS, (3, 7.5, 0.3, 11, 1.25, 2.1, 0.7, 5, 8, 0.04, 1e-3, 2.5), strict=True))
LITERALS = ("0", "1", "2", "3", "10", "0.5", "2.50", "1e-3", "2.5e2", ".25", "7.")
CALLS = (
    "sqrt", "log", "exp", "sin", "cos", "sinh", "cosh", "tanh", "erf", "gamma", "zeta", "abs", "floor", "ceil",
)  # fmt: skip


def _binary(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(children, st.sampled_from(["+", "-", "*", "/", "**"]), children).map(
        lambda parts: f"({parts[0]}) {parts[1]} ({parts[2]})"
    )


def _calls(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    one = st.tuples(st.sampled_from(CALLS), children).map(lambda parts: f"{parts[0]}({parts[1]})")
    pair = st.tuples(children, children).map(lambda parts: f"binomial({parts[0]}, {parts[1]})")
    several = st.tuples(st.sampled_from(["min", "max"]), st.lists(children, min_size=2, max_size=3))
    return one | pair | several.map(lambda parts: f"{parts[0]}({', '.join(parts[1])})")


def _sparse(text: str) -> str:
    """The formula with the fewest brackets that Python's grammar needs, and unchanged literals."""
    coded = re.sub(r"(?<![\w.])[\d.]+(e-?\d+)?(?!\w)", lambda literal: f"L{LITERALS.index(literal[0])}L", text)
    return re.sub(r"L(\d+)L", lambda code: LITERALS[int(code[1])], ast.unparse(ast.parse(coded)))


TEXTS = st.recursive(
    st.sampled_from([*SYMBOLS, *LITERALS, "pi", "e"]),
    lambda children: _binary(children) | _calls(children) | children.map(lambda text: f"-({text})"),
    max_leaves=12,
).flatmap(lambda text: st.sampled_from([text, _sparse(text)]))


def read(text: str) -> Formula:
    """Parse a formula of moderate depth, which trees of twelve leaves have."""
    try:
        return formula(text, list(SYMBOLS))
    except InvalidInput as refusal:
        assume("nested" not in str(refusal))
        raise


def number_or_none(of: Formula, where: dict[str, Any] = POINT) -> float | None:
    try:
        return of.at(where)
    except InvalidInput:
        return None


# ---- values


ARB: dict[str, Any] = {
    **{name: operator.methodcaller(name) for name in CALLS if name != "abs"},
    "binomial": lambda n, k: (n + 1).gamma() / (k + 1).gamma() / (n - k + 1).gamma(),
    "abs": abs,
    "min": lambda *x: x[0] if len(x) == 1 else x[0].min(ARB["min"](*x[1:])),
    "max": lambda *x: x[0] if len(x) == 1 else x[0].max(ARB["max"](*x[1:])),
}  # fmt: skip
REFERENCE_BITS = 40
"""Precision lower than a float's: a ball that is still narrow contains the rounding errors of floats."""


def ball(text: str) -> Any:
    """An enclosure of the value at POINT, by Arb."""
    flint.ctx.prec = REFERENCE_BITS
    try:
        decimals = re.sub(r"(?<![\w.])[\d.]+(e-?\d+)?(?!\w)", r"arb('\g<0>')", text)
        names = {name: flint.arb(repr(value)) for name, value in POINT.items()}
        constants = {"arb": flint.arb, "pi": flint.arb.pi(), "e": flint.arb.const_e()}
        # a name may be both a symbol and a function: gamma, zeta
        decimals = re.sub(r"\b(\w+)\(", lambda call: f"call_{call[1]}(" if call[1] in ARB else call[0], decimals)
        calls = {f"call_{name}": function for name, function in ARB.items()}
        return eval(decimals, {**constants, **names, **calls})
    except ZeroDivisionError:
        return flint.arb("nan")
    finally:
        flint.ctx.prec = 53


@given(text=TEXTS)
@example(text="sqrt(2)**2 - 2")
@example(text="floor(log(1000)/log(10))")
@example(text="(1 - 1e-3/2.5e2)**(2.5e2*1e3)")
@example(text="binomial(1e3, 5e2) + binomial(1e3 + .25, 5e2) + binomial(7.5, 1/3)")
@example(text="binomial(1e300, 1/2)")
@example(text="zeta(3) + zeta(-1e1) + zeta(1/2) - erf(kappa/10) + sinh(d)/cosh(w_0) + sin(n)*cos(n) - tanh(1e-3)")
def test_the_value_is_within_the_enclosure_of_arb(text: str) -> None:
    value, enclosure = number_or_none(read(text)), ball(text)
    assume(enclosure.is_finite())
    if value is not None:
        assert enclosure.overlaps(flint.arb(value)), (value, enclosure)
    else:  # an intermediate number is too large
        assert plain_python(text) is None


def plain_python(text: str) -> float | None:
    """The value that Python itself computes from the text, in floats; it has neither zeta nor binomial."""
    names: dict[str, Any] = {f"call_{name}": getattr(math, name) for name in CALLS if hasattr(math, name)}
    called = re.sub(r"\b(\w+)\(", lambda call: f"call_{call[1]}(" if f"call_{call[1]}" in names else call[0], text)
    names |= {"pi": math.pi, "e": math.e, **POINT}
    try:
        value = eval(called, names)
        return float(value) if not isinstance(value, complex) and math.isfinite(value) else None
    except (ArithmeticError, ValueError, TypeError, NameError):
        return None


@given(text=TEXTS)
def test_python_itself_gives_the_same_value_where_that_is_well_conditioned(text: str) -> None:
    ours, theirs, enclosure = number_or_none(read(text)), plain_python(text), ball(text)
    assume(enclosure.is_finite())
    if theirs is None:
        return
    assert ours is not None
    assert enclosure.overlaps(flint.arb(theirs))
    assert abs(ours - theirs) <= 2 * float(enclosure.rad()) + 4 * sys.float_info.epsilon * abs(ours)


@pytest.mark.parametrize(
    "text",
    [
        "2/(d + 3)", "-min(1, 3/(d - 1))", "-d**2", "2**-d", "d**2**0.5", "gamma((d + 1)/2)/gamma(d/2)",
        "sqrt(d)*log(n)**2/exp(1/d)", "max(d, n, 2)/abs(1 - d)", "floor(n)+ceil(n)", "-d/n*3 - (d - n)", "pi*e**d",
    ],
)  # fmt: skip
def test_sympy_gives_the_same_value(text: str) -> None:
    functions = {
        "min": sympy.Min, "max": sympy.Max, "abs": sympy.Abs, "ceil": sympy.ceiling, "floor": sympy.floor, "e": sympy.E,
        "gamma": sympy.gamma,
    }  # fmt: skip
    exact = sympy.sympify(text, locals=functions).subs({"d": 3, "n": sympy.Rational("7.5")})
    assert formula(text, ["d", "n"]).at(POINT) == pytest.approx(float(exact.evalf(30)), rel=8 * sys.float_info.epsilon)


@given(
    numbers=st.lists(st.integers(-99, 99), min_size=3, max_size=6), signs=st.lists(st.sampled_from("+-*/"), min_size=5)
)
def test_fractions_are_exact_until_the_end(numbers: list[int], signs: list[str]) -> None:
    def spelled(each: Callable[[int], str]) -> str:
        return each(numbers[0]) + "".join(f" {s} {each(k)}" for s, k in zip(signs, numbers[1:], strict=False))

    try:
        exact = eval(spelled(lambda k: f"Fraction({k})"), {"Fraction": Fraction})
    except ZeroDivisionError:
        exact = None
    value = number_or_none(formula(spelled(lambda k: f"({k})")), {})
    assert value == (None if exact is None else float(exact))


@pytest.mark.parametrize(
    ("text", "where", "value"),
    [
        ("1/3 + 1/6", {}, 0.5),
        ("0.1 + 0.2", {}, 0.3),
        ("floor(10*w)", {"w": 0.3}, 3.0),
        ("floor(log(1000)/log(10)) + ceil(log(1000)/log(10))", {}, 6.0),
        ("(1 - 1/n)**n", {"n": 1e20}, math.exp(-1)),
        ("n*log(1 + 1/n)", {"n": 10**30}, 1.0),
        ("sqrt(n)**2 - n", {"n": 1e30}, 0.0),
        ("d", {"d": np.int64(3)}, 3.0),
        ("d/2", {"d": np.float32(0.5)}, 0.25),
        ("binomial(1/2, 3) + binomial(n, 3)/n**3", {"n": 10**30}, 1 / 16 + 1 / 6),
        ("binomial(-2, 3) + binomial(5, 6) + binomial(5, -1)", {}, -4.0),
        ("binomial(1000, 998)", {}, 499500.0),
        ("zeta(-1)*12 + zeta(-2)", {}, -1.0),
        ("d", {"d": 1, "law": "relu"}, 1.0),
    ],
)
def test_values_that_need_exact_arithmetic(text: str, where: dict[str, Any], value: float) -> None:
    assert formula(text).at(where) == value


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("1/(d - 1)", {"d": 1}), ("sqrt(1 - d)", {"d": 2}), ("(-8)**(1/3)", {}), ("9**9**9**9", {}), ("0**(-1)", {}),
        ("exp(1000)", {}), ("min(exp(1000), 1)", {}), ("gamma(0)", {}), ("zeta(1)", {}), ("binomial(-3, 1/2)", {}),
        ("log(0)", {}), ("d", {"d": "relu"}),
        ("d", {"d": math.nan}), ("d", {"d": math.inf}), ("d", {"d": None}), ("d", {"d": True}), ("2**(2**(2**10))", {}),
    ],
)  # fmt: skip
def test_a_value_that_is_not_finite_is_refused_with_formula_and_point(text: str, where: dict[str, Any]) -> None:
    point = ", ".join(f"{name} = {value}" for name, value in where.items()) or "any point"
    with pytest.raises(InvalidInput, match=re.escape(f"low = '{text}': it is not a finite number at {point}.")):
        formula(text).at(where, "low")


def test_a_coordinate_that_is_missing_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"w has no value; there are d, n"):
        formula("d/w").at({"d": 1, "n": 2})


# ---- print


@given(text=TEXTS)
@example(text="-d/n*kappa")
@example(text="d - (n + kappa) - (-n) + (kappa - d)")
@example(text="d/(n*kappa)*(n/kappa)*(d*n)")
@example(text="d**n**kappa - (d**n)**kappa - (-d)**n - -d**n")
@example(text="Gamma*(d + 1)")
@example(text="heads*(d + 1)")
@example(text="2*(1/3)")
@example(text="1/2*d")
@example(text="(2.5e2)**2")
def test_a_printed_formula_means_the_same_as_the_written_one(text: str) -> None:
    of = read(text)
    plain = {printed: name for name, (printed, _) in SYMBOLS.items()}
    latex = {printed: name for name, (_, printed) in SYMBOLS.items()}
    for back in (from_plain(str(of), plain), from_latex(of.latex, latex), from_latex(of.inline_latex, latex)):
        assert normal(back) == normal(text), back


class _Normal(ast.NodeTransformer):
    """Normalise what printing may change: signs before products, and the form of numbers."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.Constant(float(node.value))  # type: ignore[arg-type] # numbers alone

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Mult | ast.Div) and isinstance(node.left, ast.UnaryOp):
            return ast.UnaryOp(node.left.op, self.visit(ast.BinOp(node.left.operand, node.op, node.right)))
        return node


def normal(text: str) -> str:
    """The tree with 2.5e2 as 2.5*10**2, as it is printed."""
    powers = re.sub(r"\b(?!1e)(\d[\d.]*)e(-?\d+)", r"(\1*10**(\2))", text)
    return ast.dump(_Normal().visit(ast.parse(re.sub(r"\b1e(-?\d+)", r"(10**(\1))", powers), mode="eval")))


@given(text=TEXTS)
def test_the_report_can_set_whatever_is_accepted(text: str) -> None:
    of = read(text)
    assert typst_math(of.latex)
    assert typst_math(of.inline_latex)


@pytest.mark.parametrize(
    "deep",
    [
        lambda inside: f"2**({inside})", lambda inside: f"sqrt({inside})", lambda inside: f"({inside})**2",
        lambda inside: f"1/(1 + {inside})", lambda inside: f"abs({inside})", lambda inside: f"2 - ({inside})",
        lambda inside: f"binomial(d, {inside})", lambda inside: f"erf({inside})", lambda inside: f"tanh({inside})**2",
    ],
)  # fmt: skip
def test_the_report_can_set_the_deepest_formula_and_a_deeper_one_is_refused(deep: Callable[[str], str]) -> None:
    text, accepted = "sigma_max", 0
    while (of := accepted_or_none(text)) is not None:
        assert typst_math(of.latex)
        assert typst_math(rf"w^{{{of.inline_latex}}}")
        text, accepted = deep(text), accepted + 1
    assert accepted >= 6
    with pytest.raises(InvalidInput, match="nested"):
        formula(text)


def accepted_or_none(text: str) -> Formula | None:
    try:
        return formula(text)
    except InvalidInput:
        return None


@pytest.mark.parametrize(
    ("text", "latex", "inline", "plain"),
    [
        ("2/(d + 3)", r"\frac{2}{d + 3}", "2/(d + 3)", "2/(d + 3)"),
        ("2*d", "2 d", "2 d", "2 d"),
        ("2*3", r"2 \cdot 3", r"2 \cdot 3", "2·3"),
        ("n**(2/(d+3))", "n^{2/(d + 3)}", "n^{2/(d + 3)}", "n^(2/(d + 3))"),
        ("-min(1, 3/(d-1))", r"-\min\left(1, \frac{3}{d - 1}\right)", r"-\min(1, 3/(d - 1))", "-min(1, 3/(d - 1))"),
        ("sqrt(kappa)", r"\sqrt{\kappa}", r"\sqrt{\kappa}", "√(κ)"),
        ("log(d)**2", r"(\log(d))^{2}", r"(\log(d))^{2}", "(log(d))^2"),
        ("-a/b*c", r"-\frac{a}{b} c", "-(a/b) c", "-(a/b) c"),
        ("gamma(d/2)*gamma", r"\Gamma\left(\frac{d}{2}\right) \gamma", r"\Gamma(d/2) \gamma", "Γ(d/2) γ"),
        ("zeta(3)*zeta", r"\zeta(3) \zeta", r"\zeta(3) \zeta", "ζ(3) ζ"),
        ("zeta*(d + 1)", r"\zeta \cdot (d + 1)", r"\zeta \cdot (d + 1)", "ζ·(d + 1)"),
        (
            "erf(w/2)/sinh(w)",
            r"\frac{\operatorname{erf}(w/2)}{\sinh(w)}",
            r"\operatorname{erf}(w/2)/\sinh(w)",
            "erf(w/2)/sinh(w)",
        ),
        ("binomial(n, d/2)**2", r"\binom{n}{\frac{d}{2}}^{2}", r"\binom{n}{d/2}^{2}", "(binomial(n, d/2))^2"),
        ("2*binomial(n, d)", r"2 \binom{n}{d}", r"2 \binom{n}{d}", "2 binomial(n, d)"),
        ("epsilon*Lambda*w0", r"\epsilon \Lambda w_{0}", r"\epsilon \Lambda w_{0}", "ε Λ w0"),
        ("2.5e-6*lamda", r"2.5 \cdot 10^{-6} \lambda", r"2.5 \cdot 10^{-6} \lambda", "2.5e-6 λ"),
        ("d/(50*w**2)", r"\frac{d}{50 w^{2}}", "d/(50 w^{2})", "d/(50 w^2)"),
        ("(d - 1)*4/4", r"\frac{(d - 1) \cdot 4}{4}", r"(d - 1) \cdot 4/4", "(d - 1)·4/4"),
    ],
)
def test_a_formula_is_typeset_as_it_was_written(text: str, latex: str, inline: str, plain: str) -> None:
    of = formula(text)
    assert (of.latex, of.inline_latex, str(of), of.text) == (latex, inline, plain, text)


@pytest.mark.parametrize("name", sorted({*GREEK, *GREEK.values()} - {"lambda", "pi", "π"}))
def test_every_greek_letter_is_printed(name: str) -> None:
    of = formula(name)
    assert len(str(of)) == 1
    assert of.latex.startswith("\\")
    assert typst_math(of.latex).startswith("\\u{")


# ---- other symbols


@given(text=TEXTS, meaning=st.dictionaries(st.sampled_from(list(SYMBOLS)), TEXTS, max_size=3))
@example(text="1/d", meaning={"d": "d - 1"})
@example(text="2*d - d", meaning={"d": "-d"})
@example(text="2 - d - d", meaning={"d": "n - 1"})
@example(text="-d", meaning={"d": "2*n"})
@example(text="2/d*d", meaning={"d": "n/w_0"})
@example(text="d**d", meaning={"d": "2*n"})
@example(text="(d)**2", meaning={"d": "n/2"})
@example(text="gamma(gamma)", meaning={"gamma": "1/ε"})
def test_a_formula_in_place_of_a_symbol_is_its_value_there(text: str, meaning: dict[str, str]) -> None:
    parts = {symbol: read(each) for symbol, each in meaning.items()}
    try:
        whole = read(text).with_symbols(parts)
    except InvalidInput as refusal:
        assume("nested" not in str(refusal))
        raise

    class Put(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> ast.AST:
            node.args = [self.visit(argument) for argument in node.args]
            return node

        def visit_Name(self, node: ast.Name) -> ast.AST:
            return ast.parse(parts[node.id].text, mode="eval").body if node.id in parts else node

    assert ast.dump(ast.parse(whole.text, mode="eval")) == ast.dump(Put().visit(ast.parse(text, mode="eval")))


@given(text=TEXTS, numbers=st.dictionaries(st.sampled_from(list(SYMBOLS)), st.floats(-9, 9), max_size=3))
def test_a_number_in_place_of_a_symbol_gives_its_very_value(text: str, numbers: dict[str, float]) -> None:
    of = read(text)
    try:
        whole = of.with_symbols(numbers)
    except InvalidInput as refusal:
        assume("nested" not in str(refusal))
        raise
    assert number_or_none(whole) == number_or_none(of, POINT | numbers)


# ---- the grammar of formulas


def test_a_formula_is_its_text() -> None:
    one, other = formula(" 2/(d\n + 3) ", ["d"]), Formula("2/(d + 3)")
    assert one == other
    assert len({one, other}) == 1
    assert pickle.loads(pickle.dumps(one)) == one
    assert one.text == "2/(d + 3)"
    assert formula(one) == one
    assert formula("w_0*gamma + d/w_0*pi").symbols == ("w_0", "gamma", "d")


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (2, "2"), (0.4, "0.4"), (-1e30, "-1e+30"), (Fraction(1, 3), "1/3"), (np.float64(0.1), "0.1"),
        (sympy.Rational(-5, 2) / (sympy.Symbol("d") + 2), "-5/(2*(d + 2))"),
        (-sympy.Min(1, 3 / (sympy.Symbol("d", positive=True) - 1)), "-min(1, 3/(d - 1))"),
        (sympy.Max(sympy.Abs(sympy.Symbol("x")), sympy.ceiling(sympy.Symbol("x"))), "max(abs(x), ceil(x))"),
        (sympy.erf(sympy.Symbol("w")) * sympy.zeta(sympy.Symbol("s")), "erf(w)*zeta(s)"),
        (sympy.binomial(sympy.Symbol("n"), 2) + sympy.cosh(sympy.Symbol("w")), "cosh(w) + binomial(n, 2)"),
        (sympy.E * sympy.pi * sympy.exp(sympy.Symbol("E")), "pi*e*exp(E)"),
        (sympy.sqrt(sympy.Symbol("d")) * sympy.gamma(sympy.Symbol("d") / 2), "sqrt(d)*gamma(d/2)"),
    ],
)  # fmt: skip
def test_numbers_and_expressions_of_sympy_are_read(given: Any, text: str) -> None:
    assert formula(given).text == text


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ("d.real", "has no place in it"), ("d if d else 1", "has no place in it"), ("lambda: d", "a word of Python"),
        ("[d]", "has no place in it"), ("d and 1", "has no place in it"), ("True", "has no place in it"),
        ("'d'", "has no place in it"), ("d := 1", "cannot be read"), ("", "it is empty"),
        ("d(2)", "a product is written"), ("2(d)", "has no place in it"), ("2 d", "a product is written"),
        ("d^2", "a power is written"), ("d < 1", "has no place in it"), ("d // 2", "has no place in it"),
        ("d % 2", "has no place in it"), ("~d", "has no place"), ("tan(d)", "is none of sqrt, log"),
        ("sqrt", "write sqrt"), ("sqrt(d, 2)", "one argument"), ("min(d)", "two arguments"),
        ("binomial(d)", "two arguments"), ("binomial(d, 1, 2)", "two arguments"), ("sin", "write sin"),
        ("min(*d)", "has no place in it|two arguments"), ("log(x=d)", "is none of"),
        ("__import__('os')", "is none of"), ("__d__", "no name of a symbol"), ("_d", "no name of a symbol"),
        ("d__d", "no name of a symbol"), ("é", "no name"), ("2*π", "no name of a symbol"), ("1j", "has no place in it"),
        ("0x10", "not a decimal number"), ("1_000", "not a decimal number"), ("1e999", "not a decimal"),
        ("9" * 31, "too long"), ("d" * 31, "too long|no name of a symbol"), ("d # d", "comment"),
        ("d; d", "cannot be read"), ("d\0", "cannot be read"), ("(" * 900 + "d" + ")" * 900, "cannot be read"),
        ("-" * 1900 + "d", "nested|cannot be read"), ("d" + "+d" * 900, "chains more than 100"),
        ("d+" * 1000 + "d", "2000 at most"), ("d" + "**d" * 600, "nested"), ("1/q", "q is not one of d"),
        (None, "text such as"), (True, "text such as"), (b"d", "text such as"), ([], "text such as"),
        (math.nan, "nan is not one of|not an expression"), (sympy.oo, "oo is not one of"),
        (sympy.I, "I is not one of"), (sympy.Integral(sympy.Symbol("d")), "is none of"),
        ("import os", "cannot be read"), ("yield d", "cannot be read|no place"),
        ("await d", "cannot be read|no place"), ("f'{d}'", "no place in it"), ("d[0]", "no place in it"),
        ("{d: d}", "no place in it"), ("...", "no place in it"),
    ],
)  # fmt: skip
def test_other_python_syntax_is_refused(bad: Any, why: str) -> None:
    with pytest.raises(InvalidInput, match=why) as refusal:
        formula(bad, ["d"], "claimed")
    assert str(refusal.value).startswith("claimed = ")
    assert len(str(refusal.value)) < 300


@given(text=st.text(alphabet="d2.+-*/^(), minsqrtloge_'\"#:=[]{}\\x\n", max_size=40))
def test_any_text_is_a_formula_or_refused(text: str) -> None:
    try:
        of = formula(text, ["d"])
    except InvalidInput:
        return
    number_or_none(of)
    assert typst_math(of.latex)


def test_a_coordinate_may_not_be_called_like_a_constant() -> None:
    with pytest.raises(InvalidInput, match="e is a number; give that coordinate another name"):
        formula("e/d", ["d", "e"])
    assert formula("1/d", ["d", "e"]).symbols == ("d",)


def test_a_symbol_may_be_called_gamma() -> None:
    assert formula("gamma*gamma(gamma)", ["gamma"]).at({"gamma": 4}) == 24.0


def test_formulas_need_neither_numpy_nor_sympy() -> None:
    """Only the modules of formulas are inspected, because `lipverify` itself may import both."""
    code = (
        "import sys, types; sys.modules['lipverify'] = package = types.ModuleType('lipverify'); "
        f"package.__path__ = [{str(next(iter(__import__('lipverify').__path__)))!r}]; "
        "sys.modules['lipverify.claims'] = claims = types.ModuleType('claims'); "
        "claims.__path__ = [package.__path__[0] + '/claims']; "
        "from lipverify.claims.language.formula import formula; formula('2/(d + 3)', ['d']).latex; "
        "print(sorted({'numpy', 'sympy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


# ---- functions


def envelope(d: int, w: float) -> float:
    """At most $d/w^{2}$, up to 5 % of it.

    More is said here.
    """
    return d / w**2


def test_a_bound_may_be_a_function() -> None:
    found = bound(envelope, ["d", "n", "w"], "high")
    assert isinstance(found, FunctionBound)
    assert found.symbols == ("d", "w")
    assert found.at({"d": 3, "n": 10, "w": 2.0, "law": "relu"}) == 0.75
    assert str(found) == "at most d/w^{2}, up to 5 % of it"
    assert found.latex == r"\text{at most }d/w^{2}\text{, up to 5   of it}"
    assert typst_math(found.latex)
    assert pickle.loads(pickle.dumps(found)) == found
    assert bound(found) is found
    assert bound("d/w", ["d", "w"]) == Formula("d/w")
    assert bound(sympy.Symbol("d") / 2, ["d"]) == Formula("d/2")


def test_a_function_without_words_is_printed_by_its_name() -> None:
    def upper_envelope(kappa: float) -> float:
        return kappa

    found = bound(upper_envelope)
    assert str(found) == "upper_envelope(kappa)"
    assert found.latex == r"\operatorname{upper envelope}(\kappa)"
    assert typst_math(found.inline_latex)


@pytest.mark.parametrize(
    ("docstring", "printed"),
    [
        ("Twice the noise.", "twice the noise"), ("A bound of $d$", "a bound of d"), ("Gamma(d/2)/n", "Gamma(d/2)/n"),
        ("Lambda / d", "Lambda / d"), ("Lambda of the problem", "Lambda of the problem"), ("Kd times n", "Kd times n"),
        ("Var(f)", "Var(f)"), ("ReLU of it", "ReLU of it"), ("L times d", "L times d"),
    ],
)  # fmt: skip
def test_only_the_first_word_of_a_sentence_becomes_small(docstring: str, printed: str) -> None:
    def edge(Kd: float) -> float:
        return Kd

    edge.__doc__ = docstring
    assert str(bound(edge)) == printed


@pytest.mark.parametrize("returned", [math.nan, math.inf, None, "1", 1j, True])
def test_a_function_that_gives_no_number_is_refused_where_it_does(returned: Any) -> None:
    found = bound(lambda d: returned, ["d"], "high")
    with pytest.raises(InvalidInput, match=r"it is not a finite number at d = 2"):
        found.at({"d": 2}, "high")


def test_a_function_of_something_else_is_refused() -> None:
    with pytest.raises(InvalidInput, match="q is not one of d, w"):
        bound(lambda q: q, ["d", "w"], "high")
    with pytest.raises(InvalidInput, match="its arguments have no names"):
        bound(min, ["d"])
