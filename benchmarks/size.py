"""What a reader of the code has to hold: lines, code, complexity, constants, caches, words.

    python benchmarks/size.py [--functions N] [FOLDER ...]

Code is what is left of a file without docstrings, comments and blank lines. Complexity is McCabe's: one more than the
branches of a function, those of functions inside it included. A constant is a module's name in capitals.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("lipverify", "checks", "tests")
LIMIT = 20
"""Functions above this complexity are listed."""
CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]*")
CACHES = {"cache", "lru_cache", "cached_property"}
BRANCHES = (ast.If, ast.For, ast.While, ast.ExceptHandler, ast.IfExp, ast.comprehension, ast.match_case)
NOT_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
Function = ast.FunctionDef | ast.AsyncFunctionDef


def complexity(function: Function) -> int:
    """McCabe's number of a function."""
    count = 1
    for node in ast.walk(function):
        count += isinstance(node, BRANCHES)
        count += len(node.values) - 1 if isinstance(node, ast.BoolOp) else 0
    return count


def docstring_lines(tree: ast.Module) -> set[int]:
    """The lines of strings that stand as statements."""
    return {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def constants(tree: ast.Module) -> int:
    """How many assignments of the module bind names in capitals."""
    count = 0
    for statement in tree.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        targets = [statement.target] if isinstance(statement, ast.AnnAssign) else targets
        names = [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
        count += any(CONSTANT.fullmatch(name) for name in names)
    return count


def is_cache(decorator: ast.expr) -> bool:
    """True for `@cache`, `@lru_cache(...)`, `@functools.cached_property` and the like."""
    named = decorator.func if isinstance(decorator, ast.Call) else decorator
    return getattr(named, "attr", getattr(named, "id", "")) in CACHES


def measure(path: Path) -> tuple[Counter[str], list[tuple[int, str]]]:
    """The counts of a file, and its functions with their complexity."""
    source = path.read_text("utf-8")
    tree = ast.parse(source)
    tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    code = {line for token in tokens if token.type not in NOT_CODE for line in range(token.start[0], token.end[0] + 1)}
    functions = [node for node in ast.walk(tree) if isinstance(node, Function)]
    decorated = [node for node in ast.walk(tree) if isinstance(node, Function | ast.ClassDef)]
    counts = Counter(
        files=1,
        lines=len(source.splitlines()),
        code=len(code - docstring_lines(tree)),
        comments=sum(token.type == tokenize.COMMENT for token in tokens),
        constants=constants(tree),
        caches=sum(is_cache(decorator) for node in decorated for decorator in node.decorator_list),
        contexts=sum(isinstance(node, ast.Call) and "ContextVar" in ast.dump(node.func) for node in ast.walk(tree)),
        inner=sum(
            isinstance(node, ast.Import | ast.ImportFrom) for function in functions for node in ast.walk(function)
        ),
    )
    place = path.relative_to(ROOT)
    return counts, [(complexity(node), f"{place}:{node.lineno} {node.name}") for node in functions]


def pages() -> Iterator[Path]:
    """The documents: all pages of `docs/`."""
    yield from sorted((ROOT / "docs").rglob("*.md"))


def main() -> None:
    """Print a row a folder, then the functions that are hardest to read and the words of the documents."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", default=FOLDERS)
    parser.add_argument("--functions", type=int, default=LIMIT, help="list functions above this complexity")
    options = parser.parse_args()
    names = ("files", "lines", "code", "comments", "constants", "caches", "contexts", "inner")
    print(f"{'':14}" + "".join(f"{name:>11}" for name in names))
    total: Counter[str] = Counter()
    hard: list[tuple[int, str]] = []
    for folder in options.folders:
        counts: Counter[str] = Counter()
        for path in sorted((ROOT / folder).rglob("*.py")):
            found, functions = measure(path)
            counts += found
            hard += functions
        total += counts
        print(f"{folder:14}" + "".join(f"{counts[name]:>11,}" for name in names))
    print(f"{'together':14}" + "".join(f"{total[name]:>11,}" for name in names))
    listed = sorted((item for item in hard if item[0] > options.functions), reverse=True)
    print(f"{len(listed)} functions of complexity above {options.functions}")
    print(*(f"  {number:3} {place}" for number, place in listed), sep="\n")
    words = sum(len(page.read_text("utf-8").split()) for page in pages())
    print(f"{words:,} words in docs/")


if __name__ == "__main__":
    main()
