"""The one-file law in docs/extending.md: its methods agree, and a wrong constant in any method is detected."""

from __future__ import annotations

from functools import singledispatch

import pytest

from lipverify.loss import asymptotic, certified, exact
from tests import ROOT
from tests.documents import blocks

FILE = next(block.body for block in blocks((ROOT / "docs/extending.md").read_text()) if "class Cubic" in block.body)
LARGEST = 60


@pytest.fixture(autouse=True)
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


def test_a_law_with_four_methods_is_one_short_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert FILE.count("\n") <= LARGEST
    assert agreements(FILE, capsys) == {"exact": "True", "asymptotic": "True", "montecarlo": "True"}


@pytest.mark.parametrize(
    ("right", "wrong", "caught"),
    [
        ("9 + 18 /", "9 + 19 /", {"exact"}),
        ("scale * 6", "scale * 5", {"exact"}),
        ("(asymptotic.c**3)", "(1.1 * asymptotic.c**3)", {"asymptotic"}),
        ("first = 9", "first = 8", {"exact", "asymptotic", "montecarlo"}),
        ("15 * arb", "16 * arb", {"exact", "asymptotic", "montecarlo"}),
        ("[z * z * z]", "[1.1 * z * z * z]", {"montecarlo"}),
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
