"""Controls of the lemmas of a proof, each false by one per cent or a longer range; a window between proved lines."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Iterator
from typing import Any

from flint import ctx
from hypothesis import assume, currently_in_test_context

from lipverify import Problem, optimal_window
from lipverify.foundation.shipped import shipped
from lipverify.laws import Law
from lipverify.proofs import checker, prove_window

# internal: the lemmas of a control are run one by one; the power of a law's bias decides which controls have slack
from lipverify.proofs.checker.kernel import form

# internal: what the checker knows of a law
from lipverify.proofs.checker.window import laws
from tests.strategies import target

SHARE = 0.01
"""By how much a constant is changed: a control that a change of one per cent does not make false shows slack."""
FARTHER = 0.05
"""W_least and K of a law whose bias falls more slowly than 1/w, and low and high of an optimum that the ends of parts
decide. The lemmas certify these with slack, and the slack is known."""
CHOSEN = {
    "g_low": +1, "g_high": -1, "T_least": -1, "W_least": -1, "K": -1, "low": +1, "high": -1, "end": +1,
    "F": -1, "slope": -1, "C": -1, "stop": -1, "gamma": -1, "over": -1, "least": +1,
}  # fmt: skip
"""The direction in which a chosen constant becomes false: a bound moved inwards, a range lengthened."""


def committed(name: str) -> dict[str, Any]:
    """The data of a proof file that comes with lipverify."""
    data: dict[str, Any] = json.loads((shipped() / "proofs" / f"{name}.json").read_text(encoding="utf-8"))
    return data


def controls(proof: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The controls of a proof: for each, its false statement in words, and the proof that states it.

    Bounds move by one per cent of their size (by at least 0.01 if they may be 0), ranges by one per cent (by five per
    cent if they have more slack); the range of `tilt` begins at w = 1.
    """
    signed = checker.KINDS[proof["theorem"]].signed
    with ctx.workprec(form.BITS):
        steps = list(checker.steps(proof))
    for i, (rule, stage, constants, bounds, _) in enumerate(steps):
        where = f"{rule.__name__} at stage {stage}"
        ways = {name: +1 if side == "at most" else -1 for name, (side, _) in bounds.items()} | {
            name: CHOSEN[name] for name in constants if name in CHOSEN
        }
        for name, way in ways.items():
            value = float(constants[name])
            size = max(abs(value), 1.0) if name in signed else abs(value)
            share = FARTHER if roomy(proof, name) else SHARE
            yield f"{where}: {name}", changed(proof, i, name, f"{value + way * share * size:.15g}")
        if "u" in constants:
            yield f"{where}: u", changed(proof, i, "u", "1")


def rejected(proof: dict[str, Any], control: dict[str, Any]) -> bool:
    """True if the checker rejects a control of a proof that it accepts.

    The lemmas before the changed one are those of the proof, so only it and the later ones are run, and none after the
    first that does not follow. The whole check of a control takes many times as long.
    """
    changes = [i for i, pair in enumerate(zip(proof["lemmas"], control["lemmas"], strict=True)) if pair[0] != pair[1]]
    stated = checker.read(control)
    kind = checker.KINDS[stated.theorem]
    try:
        with ctx.workprec(form.BITS):
            return any(any(form.missing(kind, *step)) for step in form.steps(kind, stated, changes[0]))
    except Exception:  # as in the checker: what cannot be computed is not proved
        return True


def every_control_is_rejected(proof: dict[str, Any]) -> None:
    """A proof is accepted, each of its lemmas has controls, and each control is rejected; the last one by all of it."""
    assert checker.failures(proof) == []
    seen, control = set(), proof
    for what, control in controls(proof):
        assert rejected(proof, control), what
        seen.add(what.partition(" ")[0])
    assert checker.failures(control)
    assert seen == {lemma["name"] for lemma in proof["lemmas"]}


def roomy(proof: dict[str, Any], name: str) -> bool:
    """True if the bound with a constant one per cent tighter might still hold."""
    if name in ("W_least", "K"):
        return "law" in proof and laws.beta(proof["law"]) < 1
    return name in ("low", "high") and proof["theorem"] == "optimum far"


def changed(proof: dict[str, Any], lemma: int, name: str, text: str) -> dict[str, Any]:
    """The proof with a different constant in one lemma."""
    control = copy.deepcopy(proof)
    control["lemmas"][lemma]["constants"][name] = text
    return control


def window_lies_between(law: Law, d: int, more: float, least_lambda: float | None = None) -> None:
    """The exact w* lies between the lines of the theorem, at 10^more times its least Lambda."""
    proved = prove_window(law, d, least_lambda=least_lambda)
    n = math.ceil(proved.least_lambda * 10**more * (1 + 1e-9))
    drawn = currently_in_test_context()
    if drawn:
        assume(n <= 1e30)
    assert proved.covers(n)
    found = optimal_window(Problem(d=d, n=n, law=law, sigma=1.0))
    low, high = proved.window(n)
    assert low - found.w_error < found.w < high + found.w_error
    if drawn:
        target(abs(math.log(found.w / math.sqrt(low * high))) / math.log(high / low))
