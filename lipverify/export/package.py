"""Write a LaTeX package from a ledger (docs/data.md): an outdated quotation of a verdict is an error.

Words are escaped, for any engine, and formulas pass only if they are understood: `lipverify.foundation.latex` parses
them and writes them again. It knows no command that defines, includes or writes anything, or that has another meaning
inside a table. A formula that it does not know is printed as source text.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256

from lipverify.claims.ledger.outcomes import behind, by_outcome, measured, numbered, passages
from lipverify.claims.ledger.reach import telling
from lipverify.claims.ledger.record import Cell, Ledger, Record, ledger_bytes
from lipverify.export.rows import file_name, statements
from lipverify.foundation.latex import UnreadableError, latex_source, pieces, symbols
from lipverify.report import readings
from lipverify.report.visible import visible
from lipverify.report.words import VERDICTS

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "'": r"\textquotesingle{}", "`": r"\textasciigrave{}",
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
    r"""Convert text that may hold `$LaTeX$`.

    >>> print(rich(r"$w^{1/d}$ at 5 % & $\input{x}$"))
    $w^{1/d}$ at 5 \% \& \$\textbackslash{}input\{x\}\$
    """
    return "".join(formula(piece) if is_formula else words(piece) for is_formula, piece in pieces(text))


def formula(source: str) -> str:
    """A formula between dollar signs, or as words if it is not understood or could break the table."""
    try:
        written = latex_source(source)
    except UnreadableError:
        return words(f"${source}$")
    return f"${written}{' ' * written.endswith(chr(92))}$"  # a control space must not escape the dollar sign


def words(text: str) -> str:
    r"""Escape words, whatever characters they contain.

    >>> print(words("50 % of a_1 & \\end{table}, σ ≤ 1"))
    50 \% of a\_1 \& \textbackslash{}end\{table\}, \ensuremath{\sigma} \ensuremath{\leq} 1
    """
    return _MARKED.sub(_letter_written, visible(text))


def _letter_written(match: re.Match[str]) -> str:
    letter, mark = match.groups()
    return _formula_of(rf"\{symbols.MARKS[mark]}{{{letter}}}") if mark else _character(match[0])


def breakable(text: str) -> str:
    r"""Words in which a line may break after a punctuation mark.

    >>> print(breakable("a.b/c"))
    a.\allowbreak{}b/\allowbreak{}c
    """
    return re.sub(r"(?<=[./])(?=.)|(?<=\{-\})(?=.)", lambda _: r"\allowbreak{}", words(text))


def _character(character: str) -> str:
    for known in (_SPECIAL, _TYPOGRAPHY):
        if character in known:
            return known[character]
    if character.isascii() or (ord(character) < 0x180 and unicodedata.category(character).startswith("L")):
        return character
    return _composed(character) or _formula_of(character)


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
        return r"\ensuremath{\tfrac{" + signs.replace("/", "}{") + "}}"
    return {"<super>": rf"\ensuremath{{^{{{signs}}}}}", "<sub>": rf"\ensuremath{{_{{{signs}}}}}"}.get(kind, "")


DIGITS = 12
"""Digits of a printed digest, and largest number of digits of a constant."""

_HEAD = r"""%% Made by `lipverify export --latex`; the ledger's SHA-256 is %(digest)s
\NeedsTeXFormat{LaTeX2e}
\ProvidesPackage{lipverify}[%(date)s ledger %(short)s]
\RequirePackage{amsmath,amssymb,array,booktabs,graphicx,longtable,textcomp,xcolor}
\definecolor{lip@supported}{HTML}{1A7F37}
\definecolor{lip@refuted}{HTML}{B42318}
\definecolor{lip@open}{HTML}{8A6100}
\newcommand\lipledger{\texttt{%(short)s}}
\newcommand\lip@entry[8]{%%
  \expandafter\def\csname lip@#1@sign\endcsname{#2}%%
  \expandafter\def\csname lip@#1@verdict\endcsname{#3}%%
  \expandafter\def\csname lip@#1@word\endcsname{#4}%%
  \expandafter\def\csname lip@#1@grade\endcsname{#5}%%
  \expandafter\def\csname lip@#1@measured\endcsname{#6}%%
  \expandafter\def\csname lip@#1@statement\endcsname{#7}%%
  \expandafter\def\csname lip@#1@range\endcsname{#8}}
\newcommand\lip@value[3]{\expandafter\def\csname lip@#1@at@#2\endcsname{,#3,}}
\newcommand\lip@of[2]{\csname lip@#1@#2\endcsname}
\newcommand\lip@known[2]{\ifcsname lip@#1@sign\endcsname#2\else
  \PackageError{lipverify}{no claim `#1' in the ledger \lip@digest}{`lipverify list' shows the ids.}\fi}
\newcommand\lip@digest{%(short)s}
\DeclareRobustCommand\lipverdict[1]{\lip@known{#1}{\begingroup
  \edef\lip@sign{\lip@of{#1}{sign}}%%
  \setlength\fboxsep{1.5pt}%%
  \fcolorbox{lip@\lip@sign}{white}{\footnotesize\textcolor{lip@\lip@sign}{\lip@of{#1}{word}}}\endgroup
  \space{\footnotesize\lip@of{#1}{range}; \lip@of{#1}{grade}; \lip@of{#1}{measured}; \lipledger}}}
\DeclareRobustCommand\lipstatement[1]{\lip@known{#1}{\lip@of{#1}{statement}}}
\DeclareRobustCommand\lipmeasured[1]{\lip@known{#1}{\lip@of{#1}{measured}}}
\DeclareRobustCommand\lipexpect[2]{\lip@known{#1}{\begingroup
  \edef\lip@a{\lip@of{#1}{verdict}}\def\lip@b{#2}%%
  \ifx\lip@a\lip@b\else
    \PackageError{lipverify}{the verdict on `#1' is `\lip@a', and the text expects `#2'}%%
      {The ledger \lip@digest\space says otherwise: change the text, or look at what moved with `lipverify diff'.}%%
  \fi\endgroup}}
\DeclareRobustCommand\lipconstant[3][]{\begingroup
  \ifcsname lip@#2@at@#1\endcsname
    \edef\lip@a{\csname lip@#2@at@#1\endcsname}%%
    \edef\lip@b{\noexpand\in@{,#3,}{\lip@a}}\lip@b
    \ifin@\else
      \PackageError{lipverify}{the constant #3 of `#2' [#1] is not what the ledger holds:\lip@a}%%
        {It must be a rounding of what ledger \lip@digest\space holds, to no more digits than its error allows.}%%
    \fi
  \else
    \PackageError{lipverify}{no constant of `#2' at [#1] in the ledger \lip@digest}%%
      {Give the coordinates that tell its cells apart, such as [d=2].}%%
  \fi
  \ensuremath{\lip@show#3ee\@nil}\endgroup}
\def\lip@show#1e#2e#3\@nil{#1\def\lip@b{#2}\ifx\lip@b\@empty\else\cdot10^{#2}\fi}
%% a formula slightly wider than its column shrinks; a much wider one is broken first
\newsavebox\lip@box
\newcommand\lipfit[1]{\sbox\lip@box{#1}%%
  \ifdim\wd\lip@box>1.4\linewidth \resizebox{\linewidth}{!}{\parbox{1.4\linewidth}{\raggedright\sloppy #1}}%%
  \else\ifdim\wd\lip@box>\linewidth \resizebox{\linewidth}{!}{\usebox\lip@box}\else\usebox\lip@box\fi\fi}
"""


def package(ledger: Ledger) -> bytes:
    """The content of the package, `lipverify.sty`."""
    digest = sha256(ledger_bytes(ledger)).hexdigest()
    date = ledger.provenance.started[:10].replace("-", "/")
    dated = len(date) == 10 and date.replace("/", "").isdigit()
    lines = [_HEAD % {"digest": digest, "short": digest[:DIGITS], "date": date if dated else "1970/01/01"}]
    for stem, records in statements(ledger).items():
        if stem not in {record.id for record in records}:
            lines.append(_theorem(stem, records))
        for record in records:
            lines += [_claim(record), *_constants(record)]
    return "\n".join([*lines, "\\endinput\n"]).encode()


def theorems(ledger: Ledger) -> bytes:
    """A table of the printed statements, as narrow as a column: theorem, outcome, grade."""
    rows = []
    for stem, records in statements(ledger).items():
        own = [record for record in records if record.kind == "printed"]
        if own:
            grade = behind(own, records) or "--"
            rows.append(f"{breakable(stem)} & {rich(_outcome_where(own))} & {words(grade)} \\\\")
    return "\n".join([_TABLE, *rows, "\\bottomrule\n\\end{tabular}\\par\n\\endgroup\n"]).encode()


_TABLE = r"""% The printed statements of a lipverify run; the preamble needs \usepackage{lipverify}.
\par\noindent\begingroup\footnotesize
\begin{tabular}{@{}>{\raggedright\arraybackslash}p{\dimexpr0.46\linewidth-2\tabcolsep}%
>{\raggedright\arraybackslash}p{\dimexpr0.31\linewidth-2\tabcolsep}>{\raggedright\arraybackslash}p{0.23\linewidth}@{}}
\toprule
theorem & as printed & evidence \\
\midrule"""


def _theorem(stem: str, records: Sequence[Record]) -> str:
    """The entry of a theorem: of its printed claims if there are any, else of all readings."""
    own = [record for record in records if record.kind == "printed"] or list(records)
    verdicts = {record.verdict for record in own}
    verdict = own[0].verdict if len(verdicts) == 1 else "mixed"
    counts = Counter[str](record.verdict for record in records)
    tally = f"{len(records)} readings: " + ", ".join(f"{counts[v]} {word}" for v, word in VERDICTS.items() if counts[v])
    statement = "; ".join(dict.fromkeys(formula(record.statement) for record in own))
    word = _outcome(own) if any(record.kind == "printed" for record in own) else VERDICTS.get(verdict, verdict)
    return _entry(stem, verdict, word, behind(own, records), words(tally), statement, readings.holds_at(own))


def _outcome(own: Sequence[Record]) -> str:
    outcomes = {name: len(held) for name, held in by_outcome(passages(measured(own))).items() if held}
    return ", ".join(name if len(outcomes) == 1 else numbered(name, many) for name, many in outcomes.items())


def _outcome_where(own: Sequence[Record]) -> str:
    printed = passages(measured(own))
    ranges = readings.ranges_of(own, printed)
    parts = {name: held for name, held in by_outcome(printed).items() if held}
    words = [name if len(parts) == 1 else numbered(name, len(held)) for name, held in parts.items()]
    return "; ".join(f"{word} {ranges[name]}".strip() for word, name in zip(words, parts, strict=True))


def _claim(record: Record) -> str:
    word = "; ".join((VERDICTS[record.verdict], *readings.marks(record)))
    where, value = readings.holds_at([record]), rich(record.measured)
    return _entry(record.id, record.verdict, word, record.grade, value, formula(record.statement), where)


def _entry(id: str, verdict: str, word: str, grade: str | None, value: str, statement: str, where: str) -> str:
    sign = verdict if verdict in ("supported", "refuted") else "open"
    fields = (key(id), sign, verdict, words(word), words(grade or "no evidence"), value or "--", statement, rich(where))
    return "\\lip@entry" + "".join(f"{{{field}}}" for field in fields)


def _constants(record: Record) -> Iterator[str]:
    """The values of a claim by point, and of its decisive cells, each with all roundings that its error allows."""
    by_coordinates: dict[str, list[Cell]] = {"": list(telling(record.cells))}
    for cell in record.cells:
        by_coordinates.setdefault(coordinates(cell, record.cells), []).append(cell)
    for where, cells in by_coordinates.items():
        values = [text for cell in cells for text in roundings(cell.measured, cell.error)]
        if values:
            yield f"\\lip@value{{{key(record.id)}}}{{{words(where)}}}{{{','.join(dict.fromkeys(values))}}}"


def coordinates(cell: Cell, cells: Sequence[Cell]) -> str:
    """The coordinates of a cell in which the cells differ: `d=2,law=affine`."""
    varying = [name for name in cell.where if len({str(row.where.get(name)) for row in cells}) > 1]
    return ",".join(f"{name}={value}" for name, value in cell.where.items() if name in varying)


def roundings(value: float | None, error: float | None) -> list[str]:
    """The ways to write a value, for each number of digits that its error allows, as a decimal or with a power of ten.

    >>> roundings(0.4004, 1e-3)
    ['0.4', '0.40', '0.400', '0.4004']
    >>> roundings(-1.26e-9, 1e-9)
    ['-1e-9', '-1.3e-9']
    """
    if value is None or not math.isfinite(value) or error is None or not math.isfinite(error):
        return []
    if value == 0:
        return ["0", "0.0"]
    size = math.floor(math.log10(abs(value)))
    known = DIGITS if error <= 0 else size - math.floor(math.log10(error)) + 2
    return [_written(value, size, digits) for digits in range(1, min(max(known, 2), DIGITS) + 1)]


def _written(value: float, size: int, digits: int) -> str:
    if -5 < size < 6:
        return f"{round(value, digits - 1 - size):.{max(digits - 1 - size, 0)}f}"
    mantissa, _, power = f"{value:.{digits - 1}e}".partition("e")
    return f"{mantissa}e{int(power)}"


def key(id: str) -> str:
    """An id for use in a LaTeX name: unchanged if it has the usual form, else its file name."""
    return id if file_name(id) == id.replace("/", "_") else file_name(id)


_VERDICTS_HEAD = r"""% The verdicts of a lipverify run; \input this file. The preamble needs
%   \usepackage{lipverify}, the package written to the same folder
\begingroup
\small
\setlength{\LTpre}{0pt}
\newcolumntype{F}[1]{>{\raggedright\arraybackslash}p{\dimexpr#1\linewidth-1.5\tabcolsep}}
\begin{longtable}{@{}F{0.25}F{0.31}F{0.26}F{0.18}@{}}
"""
_VERDICTS_FOOT = r"""\end{longtable}
\endgroup
"""
_VERDICTS_COLUMNS = r"""\toprule
claim & states & measured & verdict \\
\midrule
"""


def verdicts(ledger: Ledger) -> bytes:
    """All claims by statement: the claim, the measured value, the verdict."""
    lines = [
        _VERDICTS_HEAD,
        rf"\caption{{{_caption(ledger)}}}\label{{tab:verdicts}}\\",
        "\n",
        _VERDICTS_COLUMNS,
        "\\endfirsthead\n",
    ]
    lines += [_VERDICTS_COLUMNS, "\\endhead\n\\bottomrule\n\\endfoot\n\\bottomrule\n\\endlastfoot\n"]
    for position, (stem, records) in enumerate(statements(ledger).items()):
        lines += ["\\addlinespace\n"] if position else []
        lines.append(rf"\multicolumn{{4}}{{@{{}}l@{{}}}}{{\texttt{{{words(stem)}}}}} \\*" + "\n")
        lines += map(_row, records)
    return "".join([*lines, _VERDICTS_FOOT]).encode()


def _caption(ledger: Ledger) -> str:
    counts: Counter[str] = Counter(record.verdict for record in ledger.claims)
    tally = ", ".join(f"{counts[verdict]} {word}" for verdict, word in VERDICTS.items() if counts[verdict])
    made = ledger.provenance
    run = f"lipverify {made.versions.get('lipverify', '')}, profile {ledger.profile}, seed {ledger.seed}"
    return words(f"{len(ledger.claims)} claims: {tally or 'no verdict'} ({run}).")


def _row(record: Record) -> str:
    stated = rf"\lipfit{{{formula(record.statement)}}}"
    cells = (breakable(readings.label(record)) or "--", stated, rich(record.measured), _verdict(record))
    return " & ".join(cells) + " \\\\\n"


def _verdict(record: Record) -> str:
    verdict = f"{VERDICTS[record.verdict]} {readings.holds_at([record])}".strip()
    return rich("; ".join((verdict, *readings.marks(record))))
