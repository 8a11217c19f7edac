r"""Write a LaTeX package from a ledger: a paper quotes verdicts from it, and an outdated quotation is an error.

    \usepackage{lipverify}
    \lipverdict{softmax.window-printed}          a badge: verdict, grade, measured value, the ledger's digest
    \lipstatement{ID}, \lipmeasured{ID}          the statement as a formula, and the measured value
    \lipconstant{ID}{0.4}                        prints 0.4; an error unless it is a rounding of the ledger's value
    \lipconstant[d=2]{ID}{0.4}                   the same for one cell, given by the coordinates in which cells differ
    \lipexpect{ID}{refuted}                      prints nothing; an error unless this is the verdict
    \lipledger                                   the first digits of the ledger's SHA-256

An ID is the id of a claim, or the stem of a theorem with all its readings. `verdicts` is the table of all claims, to be
included by `\input`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256

from lipverify.claims.ledger.outcomes import behind, by_outcome, measured, numbered, passages
from lipverify.claims.ledger.reach import telling
from lipverify.claims.ledger.record import Cell, Ledger, Record, ledger_bytes
from lipverify.export.latex import breakable, formula, rich, words
from lipverify.export.rows import file_name, statements
from lipverify.report import readings
from lipverify.report.words import VERDICTS

DIGITS = 12
"""Digits of a printed digest, and largest number of digits of a constant."""
_SIGNS = {"supported": "supported", "refuted": "refuted", "inconclusive": "open", "error": "open"}

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
    date = ledger.provenance.started[:10].replace("-", "/") or "1970/01/01"
    lines = [_HEAD % {"digest": digest, "short": digest[:DIGITS], "date": date if _is_date(date) else "1970/01/01"}]
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
    """The outcome of the passages to which some claims belong."""
    outcomes = {name: len(held) for name, held in by_outcome(passages(measured(own))).items() if held}
    return ", ".join(name if len(outcomes) == 1 else numbered(name, many) for name, many in outcomes.items())


def _outcome_where(own: Sequence[Record]) -> str:
    """The outcome of these passages, each with the range where it holds."""
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
    sign = _SIGNS.get(verdict, "open")
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
    varying = [name for name in cell.where if len({str(other.where.get(name)) for other in cells}) > 1]
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


def _is_date(text: str) -> bool:
    return len(text) == 10 and text.replace("/", "").isdigit()


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
    """The verdict, its range, and the remarks that a reader must see."""
    verdict = f"{VERDICTS[record.verdict]} {readings.holds_at([record])}".strip()
    return rich("; ".join((verdict, *readings.marks(record))))
