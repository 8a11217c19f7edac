"""The table of keywords has exactly the keywords of the signatures, and each of its examples is accepted."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from functools import singledispatch
from pathlib import Path
from typing import Any

import pytest

import lipverify.claims
from lipverify.claims import agree, bound, claim, exponent, identity
from lipverify.errors import InvalidInput
from lipverify.loss import asymptotic, certified, exact
from tests import ROOT
from tests.documents import blocks
from tests.toys import claims_in

FUNCTIONS: dict[str, Callable[..., Any]] = {each.__name__: each for each in (claim, exponent, bound, identity, agree)}
PAGE = (ROOT / "docs/language.md").read_text()
ROW = re.compile(r"^\| `(\w+)` \| ([\w, ]+) \| (.+) \| `(.+)` \|$", re.MULTILINE)
TABLE = {name: (of.split(", "), example) for name, of, _, example in ROW.findall(PAGE)}
MEASURES = """
from lipverify.claims import agree, at, bound, claim, exponent, identity, per_profile
from lipverify.claims.ledger import Figure, Table

def power(d=2, n=100, shift=0):
    return (n + shift) ** (1 / d), 1e-12

def again(d=2, n=100, times=1.0):
    return times * n ** (1 / d), 1e-12

def off(d=2, shift=0):
    return float(shift != 0), 1e-12

def curve(end):
    return Figure(caption="q", alt="q")

def rows(end):
    return Table(caption="q", header=("q",), rows=((str(end[0]),),))
"""
POSITIONAL = {
    "exponent": ["power", '"q"'],
    "bound": ["power", '"q"'],
    "identity": ["off", '"q"'],
    "agree": ["power", "again", '"q"'],
    "claim": ['"mine.power"', 'exponent(power, "q", low="1/d", truth="1/d")'],
}
BESIDE: dict[str, dict[str, str]] = {
    "exponent": {"low": '"1/(d + 1)"', "truth": '"1/d"'},
    "bound": {"high": '"20"', "control": '"1"'},
    "identity": {"control": '{"shift": 1}'},
    "agree": {},
    "claim": {"over": '{"d": (2, 3)}', "source": '("Notes", "1", "q")', "kind": '"printed"'},
}
"""The other arguments that a call with the keyword needs."""
INSTEAD_OF = {"low": ("low", "high"), "high": ("low", "high"), "equals": ("low", "high")}
"""The arguments that the keyword replaces."""


def keywords(function: Callable[..., Any]) -> dict[str, Any]:
    """The arguments of a function, by name and by position, with the kind of each."""
    taken = inspect.signature(function).parameters.values()
    return {each.name: each.kind for each in taken}


def test_every_keyword_has_one_row_and_every_row_a_keyword() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (?:claim|exponent|bound|identity|agree)\b", PAGE, re.MULTILINE)
    assert sorted(rows) == sorted(TABLE), "a row that is not read, or one that stands there twice"
    for name, function in FUNCTIONS.items():
        assert {keyword for keyword, (of, _) in TABLE.items() if name in of} == {*keywords(function)}, name


def test_the_page_says_how_many_words_there_are() -> None:
    """The page counts imported names and keyword arguments. Positional arguments have no keyword."""
    functions = dir(lipverify.claims)
    written = {
        name for each in FUNCTIONS.values() for name, kind in keywords(each).items() if kind.name == "KEYWORD_ONLY"
    }
    count = len(functions) + len(written)
    assert f"{count} words: {len(functions)} functions and {len(written)} keywords" in " ".join(PAGE.split())


def test_every_name_that_a_claims_file_imports_is_on_the_page() -> None:
    mentioned = set(re.findall(r"`(\w+)[`(]", PAGE))
    assert {*dir(lipverify.claims)} <= mentioned


def call(function: str, keyword: str, example: str) -> str:
    """A call of a function with the example as argument."""
    shown = ast.parse(f"f({example})", mode="eval").body
    assert isinstance(shown, ast.Call)
    positional = list(POSITIONAL[function])
    if shown.args:
        order = list(inspect.signature(FUNCTIONS[function]).parameters)
        positional[order.index(keyword)] = example
    given = {each.arg: ast.unparse(each.value) for each in shown.keywords if each.arg}
    replaced = {*given, *(name for keyword in given for name in INSTEAD_OF.get(keyword, ()))}
    beside = {name: text for name, text in BESIDE[function].items() if name not in replaced}
    return f"{function}({', '.join([*positional, *(f'{k}={v}' for k, v in {**beside, **given}.items())])})"


def file_of(function: str, keyword: str, example: str) -> str:
    text = call(function, keyword, example)
    if function == "agree":
        return MEASURES + call("claim", "forms", f"{POSITIONAL['claim'][1]}, {text}")
    if function != "claim":
        return MEASURES + call("claim", "forms", text)
    return MEASURES + text


@pytest.mark.parametrize(
    ("keyword", "function"), [(keyword, each) for keyword, (of, _) in TABLE.items() for each in of]
)
def test_the_example_of_a_keyword_is_accepted(keyword: str, function: str, tmp_path: Path) -> None:
    assert claims_in(tmp_path, file_of(function, keyword, TABLE[keyword][1]))


def test_an_example_that_breaks_a_rule_is_seen(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="within"):
        claims_in(tmp_path, file_of("bound", "within", "within=1e-9"))


# The one-file law in docs/extending.md: its methods agree, and a wrong constant in any method is detected.


FILE = next(block.body for block in blocks((ROOT / "docs/extending.md").read_text()) if "class Cubic" in block.body)
LARGEST = 60


@pytest.fixture
def registers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove after the test what the file registers."""
    for method in (exact.spectrum, asymptotic.task, certified.spectrum):
        copy = singledispatch(method.default)
        for law, function in method.dispatcher.registry.items():
            copy.register(law, function)
        monkeypatch.setattr(method, "dispatcher", copy)


def agreements(file: str, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """The lines that the file prints for each method."""
    exec(compile(file, "cubic.py", "exec"), {"__name__": "cubic"})
    return dict(line.split(": ") for line in capsys.readouterr().out.splitlines())


@pytest.mark.usefixtures("registers")
def test_a_law_with_four_methods_is_one_short_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert FILE.count("\n") <= LARGEST
    assert agreements(FILE, capsys) == {"exact": "True", "asymptotic": "True", "montecarlo": "True"}


@pytest.mark.usefixtures("registers")
@pytest.mark.parametrize(
    ("right", "wrong", "caught"),
    [
        ("9 + 18 /", "9 + 19 /", {"exact"}),
        pytest.param("scale * 6", "scale * 5", {"exact"}, marks=pytest.mark.slow),
        ("(asymptotic.c**3)", "(1.1 * asymptotic.c**3)", {"asymptotic"}),
        pytest.param("first = 9", "first = 8", {"exact", "asymptotic", "montecarlo"}, marks=pytest.mark.slow),
        ("15 * arb", "16 * arb", {"exact", "asymptotic", "montecarlo"}),
        pytest.param("[z * z * z]", "[1.1 * z * z * z]", {"montecarlo"}, marks=pytest.mark.slow),
        ("return self.L**2", "return 1.1 * self.L**2", {"montecarlo"}),
    ],
)
def test_a_wrong_constant_in_one_method_shows(
    right: str, wrong: str, caught: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The constants are wrong by about a tenth. A wrong ball disagrees with every method: it is the reference."""
    assert FILE.count(right) == 1
    found = agreements(FILE.replace(right, wrong), capsys)
    assert {method for method, agrees in found.items() if agrees == "False"} == caught
