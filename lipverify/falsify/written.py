"""Store a counterexample: as data, which the next search tries first, and as a claims file.

The claims file has the functions of the original file, and the claim at that one point.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from lipverify.claims.language.family import Point, Range
from lipverify.claims.language.file import ClaimsFile
from lipverify.claims.ledger.symbols import Scalar
from lipverify.claims.ledger.verdict import contains
from lipverify.claims.plan.declaration import Sought
from lipverify.errors import InvalidInput
from lipverify.falsify.trial import Trial
from lipverify.foundation.store import read_record, sealed, write_record

FORMS = ("exponent", "bound", "identity")
DROPPED: dict[str, Any] = {"shows": (), "finding": "", "corrected": "", "proves": ""}
"""Fields that belong to the claim as a whole and not to a single point, with their empty values."""
STEM = "found"
"""First part of the ids of counterexamples, which must differ from the stems of lipverify's own claims."""


def claim_at(trial: Trial, sought: Sought, file: ClaimsFile) -> str:
    """The text of the claims file.

    Raises
    ------
    InvalidInput
        If the claim is not declared by a call at the left margin of its file; no other declaration can be rewritten.
    """
    tree = ast.parse(file.text)
    calls = [node for node in tree.body if _declares(node)]
    line = sought.declaration.line
    own = next((node for node in calls if _is_claim(node) and node.lineno <= line <= (node.end_lineno or 0)), None)
    if own is None:
        raise InvalidInput(
            f"{file.name}:{line}: the claim is not declared by a call of claim(...) at the left "
            "margin, so it cannot be rewritten; the point is printed above."
        )
    lines = file.text.splitlines()
    for node in calls:
        lines[node.lineno - 1 : node.end_lineno] = [""] * ((node.end_lineno or 0) - node.lineno + 1)
    rest = "\n".join(lines).rstrip()
    assert isinstance(own, ast.Expr)
    assert isinstance(own.value, ast.Call)
    checks = {target.id for node in tree.body if isinstance(node, ast.Assign) and _agrees(node.value)
              for target in node.targets if isinstance(target, ast.Name)}  # fmt: skip
    first, *forms = own.value.args
    decides = [form for form in forms if not (_agrees(form) or (isinstance(form, ast.Name) and form.id in checks))]
    return f"{rest}\n\n\n{_call(ast.Call(own.value.func, [first, *decides], own.value.keywords), trial, sought)}\n"


def id_of(sought: Sought) -> str:
    """The id of the counterexample to a claim."""
    return f"{STEM}.{sought.id.partition('.')[2]}"


def _declares(node: ast.stmt) -> bool:
    """True if a statement declares claims, by a call or in a loop."""
    return not isinstance(node, ast.FunctionDef | ast.ClassDef) and any(
        isinstance(part, ast.Call) and _name(part.func) == "claim" for part in ast.walk(node)
    )


def _is_claim(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _name(node.value.func) == "claim"


def _agrees(node: ast.expr) -> bool:
    """True if an expression is a cross-check, which is not part of the claim at a point."""
    return isinstance(node, ast.Call) and _name(node.func) == "agree"


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _call(call: ast.Call, trial: Trial, sought: Sought) -> str:
    """The rewritten declaration, with the point's coordinates and without the fields of the claim as a whole."""
    first, *forms = call.args
    plain = not any(isinstance(form, ast.Starred) for form in forms)
    kept = [forms[trial.form]] if plain and len(forms) == len(sought.forms) else forms
    control = _control(trial, sought) if len(kept) == 1 else None
    bare = [_without_over(form, control) for form in kept]
    free = dict(trial.point.where)
    if any(text is None for text in bare):  # a form made by a function keeps its own coordinates
        own = {
            name for name in sought.forms[trial.form].over or {} for name in ([name] if isinstance(name, str) else name)
        }
        free = {name: value for name, value in free.items() if name not in own}
    texts = [text or ast.unparse(form) for text, form in zip(bare, kept, strict=True)]
    changed = {**DROPPED, "over": _over(free, trial, sought), "expected": _expected(sought)}
    changed |= {"title": f"counterexample to {sought.id}"}
    id = f"{STEM}.{sought.declaration.id.partition('.')[2]}" if isinstance(first, ast.Constant) else id_of(sought)
    keywords = [keyword for keyword in call.keywords if keyword.arg is None or keyword.arg not in changed]
    spread = [keyword for keyword in keywords if keyword.arg is None]
    arguments = [f"    {ast.unparse(keyword)}," for keyword in keywords if keyword.arg is not None]
    new = {name: value for name, value in changed.items() if value not in ((), "", None)}
    if spread:
        others = ", ".join(f"**{ast.unparse(keyword.value)}" for keyword in spread)
        arguments.append(f"    **{{{others}, **{changed!r}}},")
    else:
        arguments += [f"    {name}={value!r}," for name, value in new.items()]
    return "\n".join(["claim(", f"    {id!r},", *(f"    {text}," for text in texts), *arguments, ")"])


def _expected(sought: Sought) -> str | dict[str, str | None]:
    """The expected verdict of this claim; the claim of the other side, if there is one, has none yet."""
    tail = sought.id.partition("/")[2]
    return {tail: "refuted", "*": None} if "{side}" in sought.declaration.id else "refuted"


def _control(trial: Trial, sought: Sought) -> dict[str, float] | None:
    """A control, if the old one allows all that the claim does: as far beyond the edge as the measured value, mirrored.

    This happens for a bound that is 0 at the point, because the old control is a multiple of the bound.
    """
    form, point = sought.forms[trial.form], sought.family.joined(trial.point)
    if not (isinstance(form.false, Range) and contains(form.false.allowed(point, "control"), trial.allowed)):
        return None
    value, (least, most) = sum(trial.interval.ends) / 2, trial.allowed.ends
    return {"high": 2 * most - value} if value > most else {"low": 2 * least - value}


def _without_over(form: ast.expr, control: dict[str, float] | None) -> str | None:
    """The call of a form without its own coordinates and with another control; None if it is not such a call."""
    if not (isinstance(form, ast.Call) and _name(form.func) in FORMS):
        return None
    keywords = [keyword for keyword in form.keywords if keyword.arg != "over"]
    if control is not None:
        keywords = [keyword for keyword in keywords if keyword.arg != "control"]
        keywords.append(ast.keyword("control", ast.parse(repr(control), mode="eval").body))
    for keyword in keywords:
        if keyword.arg is None:
            keyword.value = ast.parse(f"{{**{ast.unparse(keyword.value)}, 'over': None}}", mode="eval").body
    return ast.unparse(ast.Call(form.func, form.args, keywords))


def _over(free: Mapping[str, Any], trial: Trial, sought: Sought) -> dict[str, Any]:
    """The coordinates, with the meanings of symbols."""
    over: dict[str, Any] = {**sought.family.where, **free}
    meaning = {**sought.family.meaning, **trial.point.meaning}
    named = [name for name, value in over.items() if meaning and isinstance(value, str | int | float)]
    if named:  # meanings belong to a coordinate that the id or the claim names
        over[named[0]] = {over[named[0]]: meaning}
    return over


FORMAT = 2
"""Version of the file format; files of other versions are refused."""
NAME = "counterexamples.json"
MOST = 20
"""Most counterexamples stored for one claim, the latest first."""


class Kept(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A point at which a claim failed."""

    form: int
    where: dict[str, Scalar]
    meaning: dict[str, str] = {}


class Store(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All stored counterexamples of a folder, by the id of the claim."""

    format: int = FORMAT
    claims: dict[str, list[Kept]] = {}
    digest: str = ""

    @classmethod
    def read(cls, folder: Path) -> Store:
        """Read the store of a folder; empty if it has no such file.

        Raises
        ------
        InvalidInput
            If the file is not a store, or was edited.
        """
        path = folder / NAME
        return read_record(path, cls, FORMAT, str(path), "give another --out") if path.exists() else cls()

    def of(self, id: str) -> Iterator[tuple[int, Point]]:
        """The points at which a claim failed before, with the number of the form."""
        for entry in self.claims.get(id, ()):
            yield entry.form, Point(dict(entry.where), dict(entry.meaning))

    def added(self, id: str, form: int, point: Point) -> Store:
        """The store with one more counterexample, in first place."""
        new = Kept(form, dict(point.where), dict(point.meaning))
        others = [entry for entry in self.claims.get(id, ()) if entry != new]
        return Store(claims={**self.claims, id: [new, *others][:MOST]})

    def write(self, folder: Path) -> None:
        """Write the store; the file appears whole or not at all."""
        write_record(sealed(self), folder / NAME)
