"""Write tables as CSV: RFC 4180 in UTF-8, with numbers that read back exactly and text that spreadsheets do not run."""

from __future__ import annotations

import csv
import io
import re

from lipverify.export.rows import Table, Value
from lipverify.report.visible import visible

_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
"""Characters that begin a formula in a spreadsheet."""
_NUMBER = re.compile(r"[-+]\d+(?:\.\d*)?(?:e[-+]?\d+)?(?![^\s,;:±°%])(?!\s*[-+*/^&=<>|!(])|[-+]+\s*$|[-+]\s+[^\W\d]")
"""Text that looks like a formula and is none: a signed number without an operator, a sign, a dash before words."""


def comma_separated(table: Table) -> bytes:
    r"""The table as CSV, header first.

    A number is written as the shortest decimal that reads back as the same double, None as an empty field, and a
    boolean as true or false. Text is put on one line, invisible characters are named, and text that a spreadsheet would
    evaluate gets an apostrophe in front, except for a signed number followed by words.

    >>> comma_separated(Table(header=("id", "x"), rows=(("a, b", 0.1), ("=1+1", None))))
    b'id,x\r\n"a, b",0.1\r\n\'=1+1,\r\n'
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(map(_written, table.header))
    writer.writerows(map(_written, row) for row in table.rows)
    return out.getvalue().encode()


def _written(value: Value) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case float():
            return repr(value)
        case int():
            return str(value)
    text = visible(value)
    bare = text.lstrip()
    return f"'{text}" if bare.startswith(_FORMULA) and not _NUMBER.match(bare) else text
