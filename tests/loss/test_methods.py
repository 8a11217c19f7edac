"""One table of methods: code that serves, grades, describes or repeats by a method reads it there."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from inspect import signature
from pathlib import Path
from typing import Any, get_overloads
from unittest import mock

import msgspec
import numpy as np
import pytest

import lipverify
from lipverify import Problem, loss_terms
from lipverify.claims.evidence.grade import METHODS as EXACT  # internal: the methods of exact values
from lipverify.claims.evidence.grade import OWN, Basis, grade_of  # internal: the grade of a number
from lipverify.claims.evidence.returned import Returned, returned  # internal: what a function returned
from lipverify.errors import InvalidInput
from lipverify.foundation.noted import watching  # internal: the calls of a measurement are noted
from lipverify.laws import ReLU
from lipverify.loss.methods import (  # internal: the table itself
    METHODS,
    TABLE,
    LossMethod,
    LossTerms,
    best_grade,
    draws,
    instead_of_exact,
    method_named,
    register,
    repeats,
)
from tests import ROOT, tree_of

PACKAGE = Path(lipverify.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
READERS = ("claims/run", "claims/plan", "claims/language", "falsify", "report", "cli/verify.py", "cli/prove.py")
"""The modules that know methods of measurement by their names."""
RELU = Problem(d=3, n=9, law=ReLU())


def texts(node: ast.AST) -> Iterator[str]:
    return (each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str))


def is_method(node: ast.AST) -> bool:
    return (isinstance(node, ast.Name) and node.id == "method") or (
        isinstance(node, ast.Attribute) and node.attr == "method"
    )


def compared(tree: ast.AST) -> set[str]:
    """The names that a module compares a method with: method == "...", cell.method in ("...", "...")."""
    asked = (node for node in ast.walk(tree) if isinstance(node, ast.Compare) and is_method(node.left))
    return {text for node in asked for other in node.comparators for text in texts(other)}


def given(tree: ast.AST) -> set[str]:
    """The names that a module assigns: @makes(made, "...")."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name))
    second = [node.args[1] for node in calls if getattr(node.func, "id", "") == "makes" and node.args[1:]]
    return {text for node in second for text in texts(node)}


def tabulated(tree: ast.Module) -> set[str]:
    """The keys of a module's own dictionaries that are names of methods, or names under which one repeats."""
    own = {*METHODS, *repeats()} - {"sampling"}
    tables = (node.value for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign))
    dicts = [node for node in tables if isinstance(node, ast.Dict)]
    return {text for each in dicts for key in each.keys if key is not None for text in texts(key)} & own


def test_every_specially_treated_name_is_in_the_table() -> None:
    readers = {path: tree_of(path) for path in FILES if str(path.relative_to(PACKAGE)).startswith(READERS)}
    asked = {name for tree in readers.values() for name in compared(tree)}
    told = {name for path in (*FILES, *(ROOT / "checks").rglob("*.py")) for name in given(tree_of(path))}
    assert asked >= {"certified", "symbolic"}, "the search finds who asks"
    assert told >= {"exact", "montecarlo", "symbolic"}, "the search finds who gives"
    assert asked | told | {OWN, *EXACT.values()} <= {*TABLE}


def test_no_other_module_has_a_table_of_methods() -> None:
    kinds = {"claims/evidence/grade.py": {"exact"}}  # a grade
    found = {str(path.relative_to(PACKAGE)): tabulated(tree_of(path)) for path in FILES}
    assert {name: words for name, words in found.items() if words} == kinds
    assert tabulated(ast.parse('AGAIN = {"balls": 1}')) == {"balls"}


@pytest.fixture
def halves() -> Iterator[LossMethod]:
    """A user's method, which is bounded at best, and whose terms state that."""

    def half(problem: Problem, w: Any, *, share: float = 0.5) -> LossTerms:
        return LossTerms(
            problem=problem, method="halves", w=w, bias=share + 0 * w, noise=0.25 + 0 * w, bias_error=1e-9 + 0 * w,
            noise_error=1e-9 + 0 * w,
        )  # fmt: skip

    repeats = {"thirds": {"share": 1 / 3}}
    with mock.patch.dict(TABLE):
        yield register(LossMethod(name="halves", words="a half", grade="bounded", function=half, repeats=repeats))


def test_a_registered_method_is_served_graded_and_repeated(halves: LossMethod) -> None:
    assert float(loss_terms(RELU, 2.0, halves, share=0.125).bias) == 0.125
    with pytest.raises(InvalidInput, match="it has share"):
        loss_terms(RELU, 2.0, method_named("halves"), parts=2)
    assert best_grade("halves") == "bounded"
    assert not draws("halves")
    exact = Basis(returned=Returned(form="symbolic"), best=best_grade("halves"))
    assert grade_of(exact)[0] == "bounded"
    assert list(repeats()) == ["balls", "route ridge", "route zonal", "thirds", "sampling"], (
        "bounds come before samples"
    )
    with instead_of_exact("thirds"):
        assert float(loss_terms(RELU, 2.0).bias) == 1 / 3


@pytest.mark.parametrize("grade", ["bounded", "sampled", "estimated"])
def test_the_grade_of_a_record_caps_the_grade_of_its_terms(halves: LossMethod, grade: Any) -> None:
    capped = register(LossMethod(name="halves", words="a half", grade=grade, function=halves.function))
    with watching() as notes:
        terms = loss_terms(RELU, 2.0, capped, share=1 / 3)
        _, known = returned((terms.bias, terms.bias_error))
    assert terms.error_kind == grade
    assert [note.made for note in notes.calls] == [grade]
    assert grade_of(Basis(returned=known[""], stated=1e-9))[0] == grade


def test_a_record_that_redefines_a_name_is_refused(halves: LossMethod) -> None:
    def like(**changed: Any) -> LossMethod:
        return LossMethod(**{**vars(halves), **changed})

    with pytest.raises(InvalidInput, match="lipverify has a method of this name"):
        register(like(name="exact"))
    with pytest.raises(InvalidInput, match="'certified' repeats losses under this name"):
        register(like(repeats={"balls": {}}))
    with pytest.raises(InvalidInput, match="grade = 'proved'"):
        register(like(grade="proved"))
    with pytest.raises(InvalidInput, match=r"function = 3: .* must be functions"):
        register(like(function=3))
    with pytest.raises(InvalidInput, match=r"repeats = .'a'.: give"):
        register(like(repeats=["a"]))
    with pytest.raises(InvalidInput, match="words = 3: both are text"):
        register(like(words=3))
    assert register(like(words="read again")) is TABLE["halves"], "a claims file may be imported twice"


@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        ({"bias": math.nan}, "bias = .*nan.*must be finite"),
        ({"bias_error": -1.0}, "bias_error = .*must be >= 0"),
        ({"noise_error": math.nan}, "noise_error = .*must be >= 0"),
        ({"noise": np.ones(7)}, "noise = .*in the shape of w"),
        ({"problem": RELU.replace(n=51)}, "they must be its own"),
        ({"method": "exact"}, "they must be its own"),
        ({"w": 3.0}, "for the problem and the w that it got"),
        (None, "returned None; it must return LossTerms"),
    ],
)
def test_wrong_terms_of_a_registered_method_are_refused(halves: LossMethod, changed: Any, rule: str) -> None:
    def wrong(problem: Problem, w: Any) -> Any:
        return None if changed is None else msgspec.structs.replace(halves.terms(problem, w), **changed)

    returns = register(LossMethod(name="halves", words="a half", grade="bounded", function=wrong))
    with pytest.raises(InvalidInput, match=rule):
        loss_terms(RELU, 2.0, returns)


def test_each_shipped_method_has_an_overload_with_its_options() -> None:
    """A type checker sees the overloads alone: an option that stands only in the function could not be given."""
    overloads = [signature(overload).parameters for overload in get_overloads(loss_terms)]
    named = {str(taken["method"].annotation): taken for taken in overloads}
    assert {*named} == {*(f"Literal['{name}']" for name in METHODS), "LossMethod"}
    for name in METHODS:
        options = [*named[f"Literal['{name}']"].values()][3:]
        function = signature(method_named(name).terms).parameters
        own = {option.name: option.annotation for option in options if option.name in function}
        assert own == {key: option.annotation for key, option in function.items() if option.kind is option.KEYWORD_ONLY}
        of_the_budget = {"M", "budget", "memory", "progress"} if name == "exact" else set()
        assert {option.name for option in options} - {*function} == of_the_budget
