"""Write a counterexample as a claims file with the claim at that point."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any, TypeGuard

from lipverify.claims.language.family import Range
from lipverify.claims.language.file import ClaimsFile
from lipverify.claims.ledger.verdict import contains
from lipverify.claims.plan.declaration import Sought
from lipverify.errors import InvalidInput
from lipverify.falsify.trial import Trial

FORMS = ("exponent", "bound", "identity")


def claim_at(trial: Trial, sought: Sought, file: ClaimsFile) -> str:
    """The text of the claims file."""
    tree = ast.parse(file.text)
    lines = file.text.splitlines()
    own: ast.Call | None = None
    for node in filter(_declares, tree.body):
        last = node.end_lineno or node.lineno
        lines[node.lineno - 1 : last] = [""] * (last - node.lineno + 1)
        if (
            isinstance(node, ast.Expr)
            and _calls(node.value, "claim")
            and node.lineno <= sought.declaration.line <= last
        ):
            own = node.value
    if own is None:
        raise InvalidInput(
            f"{file.name}:{sought.declaration.line}: the claim is not declared by a call of claim(...) at the left "
            "margin, so it cannot be rewritten; the point is printed above."
        )
    rest = "\n".join(lines).rstrip()
    return f"{rest}\n\n\n{_call(own, _checks(tree), trial, sought)}\n"


def id_of(sought: Sought) -> str:
    """The id of the counterexample to a claim."""
    return _found(sought.id)


def _found(id: str) -> str:
    return f"found.{id.partition('.')[2]}"  # no claim of lipverify's own begins so


def _declares(node: ast.stmt) -> bool:
    """True if a statement declares claims, by a call or in a loop."""
    defines = isinstance(node, ast.FunctionDef | ast.ClassDef)
    return not defines and any(_calls(part, "claim") for part in ast.walk(node))


def _calls(node: ast.AST, *names: str) -> TypeGuard[ast.Call]:
    """True if a part is a call of one of these functions."""
    return isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in names


def _checks(tree: ast.Module) -> set[str]:
    """The names of cross-checks, which are not part of the claim at a point."""
    assigned = [node for node in tree.body if isinstance(node, ast.Assign) and _calls(node.value, "agree")]
    return {target.id for node in assigned for target in node.targets if isinstance(target, ast.Name)}


def _call(call: ast.Call, checks: set[str], trial: Trial, sought: Sought) -> str:
    """The rewritten declaration, with the point's coordinates and without the fields of the claim as a whole."""
    forms = [form for form in call.args[1:] if not (_calls(form, "agree") or getattr(form, "id", None) in checks)]
    if len(forms) == len(sought.forms) and not any(isinstance(form, ast.Starred) for form in forms):
        forms = [forms[trial.form]]
    free = dict(trial.point.where)
    if not all(_calls(form, *FORMS) for form in forms):  # a form made by a function keeps its own coordinates
        for key in sought.forms[trial.form].over or {}:
            for name in [key] if isinstance(key, str) else key:
                free.pop(name, None)
    control = _control(trial, sought) if len(forms) == 1 else None
    id = sought.declaration.id if isinstance(call.args[0], ast.Constant) else sought.id
    fields: dict[str, Any] = {"over": _over(free, trial, sought), "expected": _expected(sought)}
    # what belongs to the claim as a whole and not to a single point is emptied
    fields |= {"title": f"counterexample to {sought.id}", "shows": (), "finding": "", "corrected": "", "proves": ""}
    written = [repr(_found(id)), *(ast.unparse(_at_the_point(form, control)) for form in forms)]
    return "\n".join(["claim(", *(f"    {each}," for each in (*written, *_fields(call, fields))), ")"])


def _fields(call: ast.Call, changed: dict[str, Any]) -> list[str]:
    """The keywords of a call, some of them changed; an empty value is written only where another could stand."""
    kept = [ast.unparse(keyword) for keyword in call.keywords if keyword.arg not in (None, *changed)]
    if spread := [ast.unparse(keyword) for keyword in call.keywords if keyword.arg is None]:
        return [*kept, f"**{{{', '.join(spread)}, **{changed!r}}}"]
    return kept + [f"{name}={value!r}" for name, value in changed.items() if value not in ((), "", None)]


def _expected(sought: Sought) -> str | dict[str, str | None]:
    """The expected verdict of this claim; the claim of the other side, if there is one, has none yet."""
    tail = sought.id.partition("/")[2]
    return {tail: "refuted", "*": None} if "{side}" in sought.declaration.id else "refuted"


def _control(trial: Trial, sought: Sought) -> dict[str, float] | None:
    """A control for a bound that is 0 at the point, of which the old one is a multiple: as far beyond the edge as the
    measured value, mirrored.
    """
    form, point = sought.forms[trial.form], sought.family.joined(trial.point)
    if not (isinstance(form.false, Range) and contains(form.false.allowed(point, "control"), trial.allowed)):
        return None
    value, (least, most) = sum(trial.interval.ends) / 2, trial.allowed.ends
    return {"high": 2 * most - value} if value > most else {"low": 2 * least - value}


def _at_the_point(form: ast.expr, control: dict[str, float] | None) -> ast.expr:
    """The call of a form without its own coordinates and with another control; any other expression as it is."""
    if not _calls(form, *FORMS):
        return form
    changed: dict[str, Any] = {"over": None} | ({"control": control} if control else {})
    keywords = [keyword for keyword in form.keywords if keyword.arg not in changed]
    for keyword in keywords:
        if keyword.arg is None:
            keyword.value = _parsed(f"{{**{ast.unparse(keyword.value)}, 'over': None}}")
    if control:
        keywords.append(ast.keyword("control", _parsed(repr(control))))
    return ast.Call(form.func, form.args, keywords)


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _over(free: Mapping[str, Any], trial: Trial, sought: Sought) -> dict[str, Any]:
    """The coordinates, with the meanings of symbols."""
    over: dict[str, Any] = {**sought.family.where, **free}
    meaning = {**sought.family.meaning, **trial.point.meaning}
    named = [name for name, value in over.items() if meaning and isinstance(value, str | int | float)]
    if named:  # meanings belong to a coordinate that the id or the claim names
        over[named[0]] = {over[named[0]]: meaning}
    return over
