"""A theorem file is short and has only data: the statement, the quotation and the claims."""

from __future__ import annotations

import ast
import io
import statistics
import tokenize
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from lipverify.claims.language.contents import contents  # internal: the files of the theorems, by their statements

MOST_LINES, FIRST_CLAIM, WIDEST = 120, 45, 140
"""The maximal number of lines, the last line for the first claim, and the maximal width of a line."""
EARNED: dict[str, str] = {}
"""Files that need more lines, with the reason."""
MEDIAN = 80
"""The maximal median of the number of lines. The median in `examples/theorems/` is 59."""
MADE_FROM = ("__future__", "typing", "lipverify.checks", "lipverify.claims", "lipverify.proofs")
"""The only modules that a theorem file imports. Measurements, figures and sampling are in other files of `checks/`."""

FILES = sorted({path for paths in contents().files.values() for path in paths})


def claims_in(tree: ast.Module) -> list[int]:
    """The lines on which claims begin."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    return sorted(call.lineno for call in calls if call.func.id == "claim")  # type: ignore[attr-defined]


def glued(source: str) -> Iterator[int]:
    """The lines with a string that Python joins to the string before it."""
    quiet = (tokenize.NL, tokenize.COMMENT)
    tokens = [t for t in tokenize.generate_tokens(io.StringIO(source).readline) if t.type not in quiet]
    # since Python 3.12 a formatted string is several tokens
    ends, starts = ({tokenize.STRING, getattr(tokenize, f"FSTRING_{k}", tokenize.STRING)} for k in ("END", "START"))
    for before, token in pairwise(tokens):
        if before.type in ends and token.type in starts:
            yield token.start[0]


def faults(source: str) -> list[str]:
    """The faults of a theorem file, one message each."""
    tree, lines = ast.parse(source), source.splitlines()
    first = next(iter(claims_in(tree)), 0)
    found = [f"the string of line {line} is glued to the one before" for line in glued(source)]
    found += [f"line {k} is wider than {WIDEST}" for k, line in enumerate(lines, 1) if len(line) > WIDEST]
    if not ast.get_docstring(tree):
        found.append("nothing says what the theorem is and what holds")
    if not 0 < first <= FIRST_CLAIM:
        found.append(f"the first claim is in line {first}")
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            found.append(f"a function in line {node.lineno}")
        if isinstance(node, ast.Dict) and node.keys.count(None) > 1:
            found.append(f"dictionaries are merged in line {node.lineno}")
        if isinstance(node, ast.Import) or (
            isinstance(node, ast.ImportFrom) and not (node.module or "").startswith(MADE_FROM)
        ):
            found.append(f"an import in line {node.lineno} of more than measurements and claims")
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_theorem_file_is_statement_quotation_and_claims(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert faults(source) == []
    assert (len(source.splitlines()) > MOST_LINES) == (path.name in EARNED), "longer than the aim, or no longer"


def test_half_of_the_theorem_files_are_much_shorter() -> None:
    lengths = [len(path.read_text(encoding="utf-8").splitlines()) for path in FILES]
    assert len(FILES) > 50, "the contents name few files"
    assert statistics.median(lengths) <= MEDIAN


GOOD = '"""What holds."""\n\nfrom lipverify.claims import claim\n\nclaim("a.b", title="""a\n    b""")\n'


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        (GOOD.replace('"""What holds."""', ""), "nothing says"),
        (GOOD.replace("\n\nclaim", 50 * "\n" + "claim"), "the first claim is in line"),
        (GOOD.replace('"""a\n    b"""', '("a "\n    "b")'), "is glued to the one before"),
        (GOOD.replace('"""a\n    b"""', '"' + 140 * "a" + '"'), "is wider than"),
        (GOOD + "def f():\n    return 1\n", "a function"),
        (GOOD + "each = {**one, **other}\n", "dictionaries are merged"),
        (GOOD + "from lipverify.foundation.streams import normals\n", "of more than measurements"),
        (GOOD + "import numpy as np\n", "of more than measurements"),
        (GOOD.replace("claim(", "bound("), "the first claim is in line 0"),
    ],
)
def test_a_fault_is_seen(source: str, fault: str) -> None:
    assert faults(GOOD) == []
    assert any(fault in each for each in faults(source))
