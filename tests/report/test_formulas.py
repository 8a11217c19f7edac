"""LaTeX becomes formulas of the PDF: known commands are set, others refused, and no formula can carry code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from lipverify.foundation.latex import UnreadableError, symbols, typst_math  # internal: the whole vocabulary
from lipverify.report.text import Run, rich  # internal: runs of text for the front, one of them a formula
from lipverify.report.typeset import typeset  # internal: typesets a report of formulas without a ledger
from tests.report.pages import model_of, text_of


def test_every_word_of_the_vocabulary_is_typeset(folder: Path) -> None:
    names = [*symbols.CHARACTERS, *symbols.FUNCTIONS, *symbols.OPERATORS]
    formulas = [rf"a \{name} b" for name in (*names, *symbols.SPACES, *symbols.SILENT)]
    formulas += [rf"\{name}{{x}}" for name in (*(symbols.COMMANDS.keys() - symbols.PAIRS - {"root"}), *symbols.TEXT)]
    formulas += [rf"\{name}{{x}}{{y}}" for name in symbols.PAIRS]
    formulas += [rf"\{name}( x" for name in symbols.SIZES]
    formulas += [rf"{{\{name} x + y}}" for name in symbols.SWITCHES]
    formulas += [rf"a \not{relation} b" for relation in "=<>∈≤≥≡∼⊂⊆∃"]
    formulas += [
        r"a \bmod b \pmod{c}",
        r"\xrightarrow{d}",
        r"\nicefrac12 + \dbinom{n}{k}",
        r"\mathop{x}_{\substack{i}}",
    ]
    formulas += [
        r"\left\{ a \,\middle|\, \frac{1}{2} \right.",
        r"\begin{aligned} a &= b \\ &\le c \end{aligned}",
        r"f = \begin{cases} a & \text{if } x > 0 \\ b & \text{else} \end{cases}",
        r"\begin{pmatrix} A & b \\ v^\top & c \end{pmatrix}",
        r"\sqrt[3]{x} + \binom{n}{k} + \overset{d}{=} + \underset{n}{x} + f''_i^2",
        r"\operatorname*{argmin}_v x + \mathbf{E} + {}^2 x",
    ]
    runs = [rich(f"${formula}$") for formula in formulas]
    assert {run.kind for (run,) in runs} == {"math"}
    empty = model_of()
    report = replace(empty, front=replace(empty.front, summary=tuple(runs)))
    broken = replace(report, front=replace(report.front, summary=(*runs, (Run("math", "s", "nonsense(x)"),))))
    # A formula that does not compile would be turned into code and show its backslash.
    assert "\\" not in text_of(typeset(broken))


def test_an_argument_without_braces_is_one_digit_as_in_latex() -> None:
    assert typst_math(r"\frac12") == "frac(1, 2)"


@pytest.mark.parametrize(
    ("formula", "means"),
    [
        (r"{\rm Var} x", r"\mathrm{Var} x"),
        (r"\rm x", r"\mathrm{x}"),
        (r"{\cal L}^2", r"\mathcal{L}^2"),
        (r"a \not= b", r"a \neq b"),
        (r"a \not\in b", r"a \notin b"),
        (r"\cfrac{a}{b}", r"\frac{a}{b}"),
        ("x^3.5", "x^{3}.5"),  # an argument without braces is one digit, as in LaTeX
        # a fraction in a script is on one line
        (r"w^{\frac{2}{d+3}}", r"w^{2/\left(d+3\right)}"),
        (r"w^{\frac{d}{2} - \frac{1}{2}}", "w^{d/2 - 1/2}"),
        (r"w^{\frac{d-1}{2}}", r"w^{\left(d-1\right)/2}"),
        (r"w^{2 \frac{1}{2}}", r"w^{2 \left(1/2\right)}"),
        (r"w^{\frac{1}{2} x}", r"w^{\left(1/2\right) x}"),
        (r"w^{\frac{\frac{1}{2}}{3}}", r"w^{\left(1/2\right)/3}"),
        (r"w^{\frac{1}{\frac{2}{3}}}", r"w^{1/\left(2/3\right)}"),
    ],
)
def test_formulas_written_in_other_ways_are_set_alike(formula: str, means: str) -> None:
    assert typst_math(formula) == typst_math(means)


@pytest.mark.parametrize(
    "formula",
    [r"\unknown", r"\frac{a}", "{", "}", "a & b", r"\left( a", r"\begin{x}a\end{x}", "a^b^c", "",
     r"\text{#x}", "#x", "x" * 60, "{" * 500, r"\frac" * 500, "\x00", r"\begin{cases}"],
)  # fmt: skip
def test_an_unreadable_formula_is_refused(formula: str) -> None:
    with pytest.raises(UnreadableError):
        typst_math(formula)


ALLOWED = re.compile(
    r'"(?:[^"\\]|\\.)*"'  # a string
    r"|\\u\{[0-9a-f]+\}|\\ "  # one character, a new line
    r"|#none|#h\(-1em/6\)|#\d\.\dem"
    r"|[A-Za-z0-9. (),;:&]",
    re.DOTALL,
)

CALLS = {"attach", "lr", "mid", "op", "bold", "cases", "mat", "class"}
CALLS |= {name for command in symbols.COMMANDS.values() for name in command.typst.split("(")}

pieces = st.sampled_from(
    ["#", "$", "\\", '"', "{", "}", "(", ")", "^", "_", "&", "\\\\", "\\text", "\\mathrm", "\\left",
     "\\right", "\\frac", "\\begin{cases}", "\\end{cases}", "eval", "read", "/", "..", ":", ",",
     ";", "//", "/*", "a", "1", " ", "'", "\\operatorname", "]", "[", "\u202e", "σ", "@", "<", ">"]
)  # fmt: skip


@given(st.lists(pieces, max_size=14).map("".join))
@example(r'\text{"}) #read("/etc/passwd")')
@example(r"read(a: b, ..c)")
def test_no_formula_can_carry_code(formula: str) -> None:
    try:
        source = typst_math(formula)
    except UnreadableError:
        return
    assert ALLOWED.sub("", source) == ""
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', '""', source)
    called = set(re.findall(r"([A-Za-z.]+)\(", bare))
    assert called <= CALLS | {"h"}
