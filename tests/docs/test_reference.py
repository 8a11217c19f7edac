"""Every public name documents its arguments, results, errors and fields, and has an example for doctest."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from dataclasses import dataclass, fields, is_dataclass
from types import ModuleType
from typing import Any, NamedTuple

import msgspec
import pytest

from lipverify.claims import ledger

ROOMS = (
    "attention claims covariates errors falsify laws linear_transformer loss optimum proofs prompts properties sampling"
)
MODULES = ("lipverify", *(f"lipverify.{room}" for room in (*ROOMS.split(), "scaling", "strategies")))
"""The modules with public names for users."""
MADE = ("Band", "Figure", "HeatMap", "Panel", "Region", "Series", "Source", "Table")
"""The records of a ledger that a claim's own functions make. They need an example."""
RAISES_NOTHING = {
    "at": "what it is made of is checked where a claim takes it",
    "per_profile": "a pair: its values are checked where they are used",
    "few_tokens_a_window": "takes what the strategies draw",
}
"""Functions that raise no error themselves, with the reason."""


def public() -> dict[str, Any]:
    """Every public class and function once, by its module's name and its own name."""
    names: dict[str, Any] = {}
    for module in map(importlib.import_module, MODULES):
        for name in module.__all__:
            value = getattr(module, name)
            if callable(value) and not isinstance(value, ModuleType) and value not in names.values():
                names[f"{module.__name__}.{name}"] = value
    return names


def sections(text: str) -> dict[str, str]:
    parts = re.split(r"^(Parameters|Attributes|Returns|Raises|Examples)\n-+\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def entries(section: str) -> set[str]:
    """The names that a section explains: its lines at the margin. A line may have several names, as `low, high`.

    >>> sorted(entries("low, high\\n    Ends.\\nw\\n    A number."))
    ['high', 'low', 'w']
    """
    heads = [line for line in section.splitlines() if line and not line[0].isspace()]
    return {name.strip().lstrip("*") for line in heads for name in line.split(",")}


def taken(value: Any) -> list[str]:
    if not isinstance(value, type):
        return [name for name in inspect.signature(value).parameters if name != "self"]
    if issubclass(value, msgspec.Struct):
        return list(value.__struct_fields__)
    if is_dataclass(value):
        return [field.name for field in fields(value)]
    return list(getattr(value, "_fields", ()))


def lacks(value: Any) -> list[str]:
    text = inspect.cleandoc(value.__doc__ or "")
    has, missing = sections(text), []
    explained = entries(has.get("Parameters", "")) | entries(has.get("Attributes", ""))
    missing += [f"{name} is not explained" for name in taken(value) if name not in explained]
    if ">>> " not in has.get("Examples", ""):
        missing.append("no example under the heading Examples")
    if not isinstance(value, type):
        missing += ["no Returns"] if "Returns" not in has else []
        missing += ["no Raises"] if "Raises" not in has and value.__name__ not in RAISES_NOTHING else []
    return missing


def silent(value: type) -> list[str]:
    """The methods and properties of a class without a docstring, of their own or inherited."""
    members = {name: made for name, made in vars(value).items() if name[0] != "_" and name not in taken(value)}
    methods = [name for name, made in members.items() if callable(made) or isinstance(made, property)]
    return [name for name in methods if not inspect.getdoc(getattr(value, name))]


def records() -> dict[str, type]:
    """Every record of a ledger or of a comparison of two ledgers."""
    modules = {getattr(ledger, name).__module__ for name in dir(ledger) if isinstance(getattr(ledger, name), type)}
    found = [value for module in map(importlib.import_module, sorted(modules)) for value in vars(module).values()]
    return {
        value.__name__: value
        for value in found
        if isinstance(value, type) and value.__module__ in modules and value.__name__[0] != "_" and taken(value)
    }


def heads(value: type) -> list[str]:
    """The names in the section of a record's fields, with repetitions."""
    section = sections(inspect.cleandoc(value.__doc__ or "")).get("Attributes", "")
    lines = [line for line in section.splitlines() if line and not line[0].isspace()]
    return [name.strip() for line in lines for name in line.split(",")]


def said_below(value: type) -> list[str]:
    """Fields with a docstring below them in place of an entry in the section."""
    [made] = ast.parse(inspect.getsource(value)).body
    assert isinstance(made, ast.ClassDef)
    pairs = zip(made.body, made.body[1:], strict=False)
    return [
        ast.unparse(field.target)
        for field, text in pairs
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
    ]


@pytest.mark.parametrize("name", records())
def test_a_record_of_a_ledger_names_every_field_once(name: str) -> None:
    value = records()[name]
    assert sorted(heads(value)) == sorted(taken(value))
    assert said_below(value) == []
    if name in MADE:
        assert lacks(value) == []


def test_there_are_records() -> None:
    asked = "Ray Control CellControl Cell Ratio CrossCheck Record Provenance Passage Asked Ledger"
    others = "Interval Allowed Judged EvidenceChange ClaimChange Comparison Setting Heading"
    assert {*records()} >= {*asked.split(), *others.split(), *MADE}


@pytest.mark.parametrize("name", public())
def test_a_public_name_is_documented_whole(name: str) -> None:
    assert lacks(public()[name]) == []


@pytest.mark.parametrize("name", [name for name, value in public().items() if isinstance(value, type)])
def test_every_method_of_a_public_class_says_what_it_gives(name: str) -> None:
    assert silent(public()[name]) == []


def test_there_are_public_names() -> None:
    assert len(public()) > 160
    assert {name.rpartition(".")[2] for name in public()} >= {*RAISES_NOTHING, "Pieces", "Rough", "Proof", "AdaRR"}


class Bare(NamedTuple):
    """A record.

    Attributes
    ----------
    first
        Explained.
    """

    first: float
    second: float


class Twice(msgspec.Struct):
    """A record.

    Attributes
    ----------
    first, second
        Explained.
    first
        Explained again.
    """

    first: float
    second: float
    """Below."""


def test_a_field_that_is_explained_twice_is_seen() -> None:
    assert heads(Twice) == ["first", "second", "first"]
    assert said_below(Twice) == ["second"]


@dataclass
class Inherited:
    """A record without a section."""

    value: float


class Silent:
    """A class with a method that says nothing."""

    def says(self) -> float:
        """One."""
        return 1.0

    def says_nothing(self) -> float:
        return 0.0


def test_a_method_without_a_docstring_is_found() -> None:
    assert silent(Silent) == ["says_nothing"]


def bare(given: float) -> float:
    """A function."""
    return given


@pytest.mark.parametrize(
    ("value", "missing"),
    [
        (Bare, ["second is not explained", "no example under the heading Examples"]),
        (Inherited, ["value is not explained", "no example under the heading Examples"]),
        (bare, ["given is not explained", "no example under the heading Examples", "no Returns", "no Raises"]),
    ],
)
def test_an_incomplete_docstring_is_found(value: Any, missing: list[str]) -> None:
    assert lacks(value) == missing
