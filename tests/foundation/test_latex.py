"""Formulas: every printed formula can be read, and each writer preserves its meaning."""

from __future__ import annotations

import ast
import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lipverify.claims.plan import select_claims
from lipverify.foundation.latex import UnreadableError, latex_source, pieces, plain, read, symbols, typst_math
from tests import ROOT


def texts(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict | list):
        for part in data.values() if isinstance(data, dict) else data:
            yield from texts(part)


def constants(tree: ast.AST) -> Iterator[str]:
    """The texts of a Python file, with docstrings; without the parts of texts that are assembled at run time."""
    if isinstance(tree, ast.Constant) and isinstance(tree.value, str):
        yield tree.value
    if not isinstance(tree, ast.JoinedStr | ast.BinOp):
        for part in ast.iter_child_nodes(tree):
            yield from constants(part)


@cache
def printed() -> dict[str, str]:
    """Every formula of checks/, of examples/ and of their claims, and its position."""
    found: dict[str, str] = {}
    for folder in ("checks", "examples"):
        for path in sorted((ROOT / folder).rglob("*")):
            written: list[str] = []
            if path.suffix == ".toml" and path.parent.name != "quotations":  # words of the sources, with `$$`
                written = list(texts(tomllib.loads(path.read_text())))
            elif path.suffix == ".py":
                written = list(constants(ast.parse(path.read_text())))
            found |= {piece: path.name for text in written for formula, piece in pieces(text) if formula}
    files = map(str, sorted((ROOT / "examples" / "theorems").glob("*.py")))
    for claim in (*select_claims([]), *(each for file in files for each in select_claims([file]))):
        found |= {claim.statement: claim.id}
        said = [claim.title, claim.corrected, claim.false_latex, claim.true_latex, *claim.assumptions]
        said += [text for cell in claim.cells for text in (cell.quantity_latex, cell.claimed_latex)]
        found |= {piece: claim.id for text in said for formula, piece in pieces(text) if formula}
    return found


def test_there_are_formulas_of_every_kind() -> None:
    assert len(printed()) > 2500
    assert {"ahn_2023.py", "sentences.toml", "window.py"} <= set(printed().values())


FUNCTIONS = symbols.FUNCTIONS | (symbols.OPERATORS.keys() - {"argmax", "argmin"}) | {"binom"}
"""Commands that print their name."""


def letters(text: str) -> Counter[str]:
    """Latin letters and digits, with raised ones as plain ones; T may be a sign of transposition."""
    text = unicodedata.normalize("NFKD", text.replace("for every ", "").replace("ℓ", ""))
    return Counter(each for each in text if each.isascii() and each.isalnum() and each != "T")


def test_every_formula_is_plain_text_in_a_terminal_and_loses_no_letter() -> None:
    for formula, where in printed().items():
        text = plain(f"${formula}$")
        assert not re.search(r"[\\$&]|[\^_]\{", text), (where, formula, text)
        bare = re.sub(r"\\(?:begin|end)\{\w+\*?\}", "", formula)
        commands = {name for name in re.findall(r"\\([A-Za-z]+)", bare) if name not in FUNCTIONS}
        bare = re.sub(r"\\([A-Za-z]+)", lambda name: f" {name[1] if name[1] in FUNCTIONS else ''} ", bare)
        assert letters(text) == letters(bare) + letters("argmin" * len({"argmin"} & commands)), (where, formula, text)


def test_every_formula_is_typeset_and_written_as_latex_again_with_the_same_meaning() -> None:
    refused = set()
    for formula, where in printed().items():
        typeset = typst_math(formula)
        try:
            again = latex_source(formula)
        except UnreadableError:
            refused.add(formula)
            continue
        assert typst_math(again) == typeset, (where, formula, again)
        assert latex_source(again) == again
    allowed = {formula for formula in refused if re.search(r"\\text\{[^}]*[_^<>]", formula)}
    assert refused <= allowed


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (r"{\rm Var} f \leq \lVert x \rVert^2", "Var f ≤ ‖ x ‖²"),
        (r"\rm tr", "tr"),
        (r"\left\{ x \,\middle|\, \widetilde{w} > 0 \right\}", "{ x | w\u0303 > 0 }"),
        (r"\operatorname{diag}(a)\ \text{for every } a \in \mathbb{R}", "diag(a) for every a ∈ R"),
        (r"\operatorname*{arg\,max}_v f", "arg max_v f"),
        (r"\frac12 x + \dfrac{a}{b} + \frac{a+b}{2d}", "(1 / 2) x + a / b + (a+b) / (2d)"),
        (r"\log \frac{a}{b}, \quad a \Big/ \frac{b}{c}", "log (a / b), a / (b / c)"),
        (r"\frac{a}{b}^2 + \sqrt[3]{x} + \sqrt 2", "(a / b)² + ³√x + √2"),
        (r"\left( \frac{a}{b} \right)^2 + f\bigl( x \bigr) + ( y )", "(a / b)² + f(x) + (y)"),
        (r"c'^* + \hat y + \bar{x} + \widehat{MSE}", "c'* + y\u0302 + x\u0304 + hat(MSE)"),
        (r"\begin{pmatrix} A & b \\ 0^\top & c \end{pmatrix}", "(A b; 0ᵀ c)"),
        (r"I_{d/2-1}(w), x_{n+1}, w_{\max}, \sigma_{1}", "I_(d/2-1)(w), x_(n+1), w_max, σ₁"),
        (r"\mathcal{O}(n^{-1}) \not\subset \pmb{M}", "O(n⁻¹) ⊄ M"),
        (r"a \pmod{c}, \binom{n}{k}, \stackrel{d}{=}", "a (mod c), binom(n, k), = ^d"),
    ],
)
def test_common_latex_is_read(formula: str, text: str) -> None:
    assert plain(f"${formula}$") == text
    assert typst_math(formula)


def test_plain_text_stays_as_it_is() -> None:
    texts = (
        "w* = Θ(Λ^(2/(d + 3)))",
        "M*_11 / (w + 1)",
        "made_for",
        "a\n  b",
        "f(x_i) <= 1",
        "5 % & #1",
        "~ 3",
        "k in {1, 3}",
    )
    for text in texts:
        assert plain(text) == " ".join(text.split())
        assert plain(plain(text)) == plain(text)


@pytest.mark.parametrize(
    ("formula", "place", "reason"),
    [
        (r"a + \foo b", 5, r"\foo is not known"),
        (r"\frac{a}", 1, "End of input"),
        (r"a + {b", 7, "expecting '}'"),
        (r"a } b", 3, "closing brace"),
        (r"x^2^3", 4, "two '^' on one base"),
        (r"w^{1/d} # x", 9, "'#' has no meaning here"),
        (r"\left( a + b", 13, r"'\right' is missing"),
        (r"\begin{table} a \end{table}", 1, "the environment 'table' is not known"),
        (r"x + \text{a # b}", 10, "not plain words"),
        (r"a \not x", 8, "is not known"),
        (r"\frac\hat a b", 6, r"\hat with its argument must stand in braces"),
        (r"{a + \sqrt{b_}}", 14, "the formula breaks off"),
    ],
)
def test_an_unreadable_part_is_named_with_its_place(formula: str, place: int, reason: str) -> None:
    with pytest.raises(UnreadableError, match=re.escape(reason)) as caught:
        read(formula)
    assert f"character {place} of the formula" in str(caught.value)


PIECES = st.sampled_from(
    ["\\frac", "\\left(", "\\right)", "{", "}", "^", "_", "'", "&", "\\\\", "\\text{a b}", "\\begin{cases}",
     "\\end{cases}", "\\rm", "\\not", "=", "\\sqrt[", "]", "x", "12", " ", "\\hat", "$", "%", "~", "\\", "\\mathbf",
     "\\middle|", "σ", "\x00"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=12).map("".join))
@example("{" * 2000)
@example("\\frac" * 2000)
@example("\\begin{aligned}" * 300)
@example("\\left(" * 2000)
@example("\\not" * 2000)
@example("x_\\rm " * 2000)
def test_a_text_is_read_or_refused_and_output_can_be_read_again(text: str) -> None:
    try:
        tree = read(text)
    except UnreadableError:
        assert "\\" not in plain(text.replace("\\", ""))
        return
    assert tree.parts
    plain(text)
    try:
        again = latex_source(text)
    except UnreadableError:
        return
    if again:
        assert latex_source(again) == again
