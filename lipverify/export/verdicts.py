r"""The table of verdicts in LaTeX, to be included by `\input`."""

from __future__ import annotations

from collections import Counter

from lipverify.claims.ledger.record import Ledger, Record
from lipverify.export.latex import breakable, formula, rich, words
from lipverify.export.rows import statements
from lipverify.report import readings
from lipverify.report.words import VERDICTS

_HEAD = r"""% The verdicts of a lipverify run; \input this file. The preamble needs
%   \usepackage{lipverify}, the package that was written beside it
\begingroup
\small
\setlength{\LTpre}{0pt}
\newcolumntype{F}[1]{>{\raggedright\arraybackslash}p{\dimexpr#1\linewidth-1.5\tabcolsep}}
\begin{longtable}{@{}F{0.25}F{0.31}F{0.26}F{0.18}@{}}
"""
_FOOT = r"""\end{longtable}
\endgroup
"""
_COLUMNS = r"""\toprule
claim & states & measured & verdict \\
\midrule
"""


def verdicts(ledger: Ledger) -> bytes:
    """All claims by statement: the claim, the measured value, the verdict."""
    lines = [_HEAD, rf"\caption{{{_caption(ledger)}}}\label{{tab:verdicts}}\\", "\n", _COLUMNS, "\\endfirsthead\n"]
    lines += [_COLUMNS, "\\endhead\n\\bottomrule\n\\endfoot\n\\bottomrule\n\\endlastfoot\n"]
    for position, (stem, records) in enumerate(statements(ledger).items()):
        lines += ["\\addlinespace\n"] if position else []
        lines.append(rf"\multicolumn{{4}}{{@{{}}l@{{}}}}{{\texttt{{{words(stem)}}}}} \\*" + "\n")
        lines += map(_row, records)
    return "".join([*lines, _FOOT]).encode()


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
