"""Write the table of statements in LaTeX: `theorems.tex`, which an article needs nothing but booktabs for.

Words are escaped, for any engine, and formulas pass only if they are understood: `lipverify.foundation.latex` parses
them and writes them again. It knows no command that defines, includes or writes anything, or that has another meaning
inside a table. A formula that it does not know is printed as source text.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable
from hashlib import sha256

from lipverify.claims.ledger.record import Ledger, Record, ledger_bytes
from lipverify.foundation.latex import UnreadableError, latex_source, outside_words, pieces, plain, symbols
from lipverify.report import digits, readings, statements
from lipverify.report.visible import visible
from lipverify.report.words import VERDICTS

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': "''", "'": r"\textquotesingle{}", "`": r"\textasciigrave{}",
    "-": "{-}", "[": "{[}", "]": "{]}", "*": "{*}",
}  # fmt: skip
"""Characters with a meaning in LaTeX, alone, in pairs such as two hyphens, or after a line break."""
_TYPOGRAPHY = {
    "–": "--", "—": "---", "“": "``", "”": "''", "‘": "`", "’": "'", "…": r"\ldots{}", "−": r"\ensuremath{-}",
    "·": r"\ensuremath{\cdot}", "²": r"\ensuremath{^{2}}", "³": r"\ensuremath{^{3}}", "¹": r"\ensuremath{^{1}}",
    "⁻": r"\ensuremath{^{-}}", "√": r"\ensuremath{\surd}", "°": r"\ensuremath{^{\circ}}", "§": r"\S{}",
    "†": r"\dag{}", "‡": r"\ddag{}", "′": r"\ensuremath{'}", "µ": r"\ensuremath{\mu}", "⟨": r"\ensuremath{\langle}",
    "⟩": r"\ensuremath{\rangle}", "✓": r"\ensuremath{\checkmark}",
}  # fmt: skip
_MARKED = re.compile(rf"([^\W\d_])([{''.join(symbols.MARKS)}])|.", re.DOTALL)
"""A letter followed by a combining mark, or any single character."""


def rich(text: str) -> str:
    r"""Convert text that may hold `$LaTeX$`; a line can break between the formulas and words of a statement.

    >>> print(rich(r"$w^{1/d}$ at 5 % & $\input{x}$"))
    $w^{1/d}$ at 5 \% \& \$\textbackslash{}input\{x\}\$
    """
    return "".join(_broken(piece) if is_formula else words(piece) for is_formula, piece in pieces(text))


def _broken(statement: str) -> str:
    """A statement as its formulas and the words between them; as a whole if it has no such parts."""
    parts: list[str] = []
    for is_words, piece in outside_words(statement):
        formulas = [part.strip() for part in re.split(r"(?:,\s*)?\\q?quad(?![A-Za-z])", piece) if part.strip(" ,")]
        parts.append(words(piece.strip()) if is_words else ", ".join(map(formula, formulas)))
    whole = "$" not in formula(statement)[:1] or any(part.startswith(r"\$") for part in parts)
    return formula(statement) if whole else " ".join(filter(None, parts))


def formula(source: str) -> str:
    """A formula between dollar signs, or as words if it is not understood or could break the table."""
    try:
        written = latex_source(source)
    except UnreadableError:
        return words(f"${source}$")
    return f"${of_the_kernel(written)}{' ' * written.endswith(chr(92))}$"  # a control space must not escape the dollar


_KERNEL = {
    r"\\text\{": r"\\mbox{",
    r"\\operatorname\*\{([^{}]*)\}": r"\\mathop{\\mathrm{\1}}",
    r"\\operatorname\{([^{}]*)\}": r"\\mathop{\\mathrm{\1}}\\nolimits ",
    r"\\[dtc]frac\b": r"\\frac",
    " / ": r" /\\allowbreak ",
}
"""Commands of amsmath that LaTeX itself can replace, and the slash, behind which it breaks no line by itself."""
_BRACKETS = {"cases": [r"\{", r"."]} | {
    name: [symbols.LATEX.get(end, end) for end in ends or ".."] for name, ends in symbols.MATRICES.items()
}
"""The brackets of the environments of amsmath that LaTeX has as an array; those of no entry have none."""
_HIGH = re.compile(r"\\(?:frac|sqrt|binom|sum|prod|int|under|over|begin)|\\left\.|\\right\.|\\middle")
_PROVIDED = {
    r"\mathbb": r"\providecommand\mathbb{\mathbf}",
    r"\boldsymbol": r"\providecommand\boldsymbol{\mathbf}",
    r"\binom": r"\providecommand\binom[2]{{#1 \choose #2}}",
    r"\overset": r"\providecommand\overset[2]{\mathop{#2}\limits^{#1}}",
    r"\underset": r"\providecommand\underset[2]{\mathop{#2}\limits_{#1}}",
}
"""Commands of amsmath and amssymb that are defined within a table, where a paper does not load them."""
_SYMBOLS = re.compile(
    r"\\(?:blacksquare|checkmark|complement|dotplus|eth|geqslant|gtrless|gtrsim|iint|intercal|leqslant|lesssim|mho|"
    r"mathfrak|preccurlyeq|square|subsetneq|succcurlyeq|triangleq)\b"
)
"""Rare commands that amsmath or amssymb must define."""


def of_the_kernel(formula: str) -> str:
    r"""The formula without amsmath as far as LaTeX has the same, and with brackets that a line can break behind.

    >>> print(of_the_kernel(r"\operatorname{tr}\left(M + \text{ more}\right)"))
    \mathop{\mathrm{tr}}\nolimits (M + \mbox{ more})
    """
    for command, ours in _KERNEL.items():
        formula = re.sub(command, ours, formula)
    formula = re.sub(r"\\(begin|end)\{(\w+)\*?\}", _array, formula)
    return formula if _HIGH.search(formula) else re.sub(r"\\(?:left|right)(?![A-Za-z])", "", formula)


def _array(end: re.Match[str]) -> str:
    """The beginning or the end of an environment as that of an array between its brackets."""
    before, after = _BRACKETS.get(end[2], (".", "."))
    return rf"\left{before}\begin{{array}}{{*{{9}}{{l}}}}" if end[1] == "begin" else rf"\end{{array}}\right{after}"


def words(text: str) -> str:
    r"""Escape words, whatever characters they contain.

    >>> print(words("50 % of a_1 & \\end{table}, σ ≤ 1"))
    50 \% of a\_1 \& \textbackslash{}end\{table\}, \ensuremath{\sigma} \ensuremath{\leq} 1
    """
    parts = re.findall(r".*?\S{15}(?=\S)|.+", visible(text), re.DOTALL)  # a longer word may break
    return r"\allowbreak{}".join(_MARKED.sub(_letter_written, part) for part in parts)


def _letter_written(match: re.Match[str]) -> str:
    letter, mark = match.groups()
    return _formula_of(rf"\{symbols.MARKS[mark]}{{{letter}}}") if mark else _character(match[0])


def _character(character: str) -> str:
    for known in (_SPECIAL, _TYPOGRAPHY):
        if character in known:
            return known[character]
    if character.isascii() or (ord(character) < 0x180 and unicodedata.category(character).startswith("L")):
        return character
    return (character not in symbols.LATEX and _composed(character)) or _formula_of(character)


def _formula_of(latex: str) -> str:
    """A mathematical character in text, as a formula; any other unknown character by its code points."""
    try:
        return rf"\ensuremath{{{latex_source(latex)}}}"
    except UnreadableError:
        return "".join(rf"\texttt{{U+{ord(character):04X}}}" for character in latex)


def _composed(character: str) -> str:
    """A superscript, subscript or fraction from its Unicode decomposition; empty for any other character."""
    kind, _, parts = unicodedata.decomposition(character).partition(" ")
    signs = "".join(chr(int(part, 16)) for part in parts.split()) if kind.startswith("<") else ""
    signs = signs.replace("\u2212", "-").replace("\u2044", "/")
    if not re.fullmatch(r"[0-9A-Za-z+\-=()/]+", signs):
        return ""
    if kind == "<fraction>":
        return r"\ensuremath{\frac{" + signs.replace("/", "}{") + "}}"
    written = {"<super>": f"^{{{signs}}}", "<sub>": f"_{{{signs}}}", "<font>": rf"\mathbf{{{signs}}}"}.get(kind, "")
    return written and rf"\ensuremath{{{written}}}"


COLUMNS = {"printed": 0.34, "measured": 0.38, "verdict": 0.28}
"""The columns, and their shares of the width of a line."""
LINES, BETWEEN = 50, 0.5
"""Lines of one table, which leave room for its head on a page of an article; and the space between rows, in lines."""
LETTERS = 80
"""Letters of \footnotesize in a line of an article, which its columns share."""
_BEGIN = r"""\par\noindent\begingroup\ifdim\linewidth<300pt\scriptsize\tabcolsep=3pt\else\footnotesize\fi
%s\begin{tabular}{@{}%s@{}}
\toprule
%s\midrule
"""
_END = r"""\bottomrule
\end{tabular}\par\endgroup
"""


def theorems(ledger: Ledger) -> bytes:
    """The table of statements; a run that does not fit on a page has several, one below the other."""
    claims = {claim.id: claim for claim in ledger.claims}
    rows = [((row.paper, row.heading), _cells(row, claims[row.id])) for row in statements.rows(ledger)]
    several = len({paper for (paper, _), _ in rows}) > 1
    lines = [_line(map(rich, cells)) for _, cells in rows]
    provided = "".join(f"{ours}%\n" for command, ours in _PROVIDED.items() if any(command in line for line in lines))
    begin = _BEGIN % (provided, "".join(map(_column, COLUMNS.values())), _line(COLUMNS))
    written: list[str] = []
    room, before = 0.0, ("", "")
    for (above, cells), line in zip(rows, lines, strict=True):
        height = _height(cells) + BETWEEN + 3 * (above != before)
        if height > room:
            written += [_END, "\\medskip\n"] if written else []
            written += [begin]
            room, before = LINES, ("", "")
        else:
            written += ["\\addlinespace\n"]
        room -= height
        titles = [rf"\emph{{{rich(above[0])}}}"] * (several and above[0] != before[0])
        titles += [rf"\textbf{{{rich(above[1])}}}"] * (above != before)
        written += [
            rf"\multicolumn{{3}}{{@{{}}p{{\linewidth}}@{{}}}}{{\raggedright {title}}} \tabularnewline" + "\n"
            for title in titles
        ]
        written.append(line)
        before = above
    table = "".join([*written, _END]) if rows else "% no claim\n"
    return f"{_head(ledger, table)}{table}".encode()


def _head(ledger: Ledger, table: str) -> str:
    """What the table needs and what it was made from, in comments."""
    packages = "amsmath,amssymb,booktabs" if _SYMBOLS.search(table) else "booktabs"
    version = ledger.provenance.versions.get("lipverify", "")
    run = visible(f"lipverify {version}, profile {ledger.profile}, seed {ledger.seed}")
    digest = sha256(ledger_bytes(ledger)).hexdigest()
    return f"% \\input this file; the preamble needs \\usepackage{{{packages}}}\n% {run}, ledger {digest}\n"


def _column(share: float) -> str:
    return rf"p{{\dimexpr{share}\linewidth-1.34\tabcolsep\relax}}"


def _line(cells: Iterable[str]) -> str:
    return "\n& ".join(rf"\raggedright \hspace{{0pt}}{cell}" for cell in cells) + " \\tabularnewline\n"


def _height(cells: Iterable[str]) -> int:
    """The lines of a row, estimated from its letters."""
    return max(
        math.ceil(len(plain(cell)) / (LETTERS * share)) for cell, share in zip(cells, COLUMNS.values(), strict=True)
    )


def _cells(row: statements.Row, record: Record) -> tuple[str, ...]:
    """A row as texts that may hold `$LaTeX$`."""
    apart = f" ({row.apart})" if row.apart else ""
    verdict = f"{VERDICTS[row.verdict]} {row.range}".strip()
    printed = f"${row.statement}$" if row.statement.strip() else row.printed
    measured = "; ".join(map(_measured, row.numbers)) or "–"
    return (f"{printed}{apart}", measured, "; ".join(filter(None, [verdict, row.grade, *readings.marks(record)])))


def _measured(number: statements.Number) -> str:
    case = f" at {number.case}" if number.case else ""
    powers = rf"{digits.MINUS}?[0-9.]+e{digits.MINUS}?[0-9]+"
    value, ratio = (
        re.sub(powers, lambda match: digits.typeset(match[0]), text) for text in (number.measured, number.ratio)
    )
    return f"{number.quantity}{case}: {value}; {ratio or f'claimed {number.claimed}'}"
