"""Tables as CSV: RFC 4180 in UTF-8, numbers that read back as they were, text that no spreadsheet runs."""

from __future__ import annotations

import csv
import io
import re

from lipverify.export.rows import Table, Value
from lipverify.report.visible import visible

_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
"""What a spreadsheet takes for the beginning of a formula."""
_NUMBER = re.compile(r"[-+]\d+(?:\.\d*)?(?:e[-+]?\d+)?(?![^\s,;:±°%])(?!\s*[-+*/^&=<>|!(])|[-+]+\s*$|[-+]\s+[^\W\d]")
"""A signed number that no operator follows, a sign alone, a dash before words: nothing there is calculated."""


def comma_separated(table: Table) -> bytes:
    r"""The table, its header first.

    A number is its shortest decimal that reads back as the same double; what is not there is empty; true and false are
    words. Text is on one line, characters that would not show are named, and an apostrophe stands before what a
    spreadsheet would calculate; not before a signed number with words after it.

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
