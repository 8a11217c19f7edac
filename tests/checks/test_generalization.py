"""Theorem 3: its derivations, its recorded verdicts, the sharp powers, and altered evidence."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest
import sympy

import lipverify
from lipverify import optimal_window
from lipverify.checks.softmax import transfer
from lipverify.checks.softmax.quantities import LAWS
from lipverify.claims.evidence.returned import returned  # internal: what a function returned, as a run reads it
from lipverify.claims.plan import library_claims, profile_named
from lipverify.claims.run import run
from lipverify.foundation.shipped import shipped
from lipverify.laws import law_named
from lipverify.loss.asymptotic import d, transferred_power
from lipverify.optimum import Optimum
from lipverify.problem import Problem

FILES = ("generalization.py", "generalization_larger.py", "generalization_smaller.py")
CLAIMS = {
    each.id: each for file in FILES for each in library_claims(shipped() / "softmax" / file, profile_named("quick"))
}


@pytest.mark.parametrize("case", ["same", "larger", "smaller"])
def test_the_bounds_of_the_sketch_imply_the_stated_exponents(case: str) -> None:
    assert returned(transfer.derivation(case))[0] == [0.0, 0.0]
    assert abs(returned(transfer.derivation(case, above=1.5))[0][0]) > 0.01


@pytest.mark.parametrize("law", ["affine", "relu"])
def test_the_rates_are_those_of_the_leading_terms(law: str) -> None:
    rate = sympy.sympify(LAWS[law]["fall"], {"d": d})
    assert sympy.simplify(rate + transferred_power(law_named(law), law_named(law))) == 0
    for case, rho in transfer.RATIOS.items():
        *_, cell = CLAIMS[f"softmax.generalization-{case}/{law}/theta/sharp"].cells
        beta = sympy.Rational(3, 2) if law == "relu" else sympy.Integer(2)
        # a N = beta B at w*, and on the other family B is rho^2 times as large
        a = sympy.Rational(int(cell.where["d"]) - 1, 2)
        factor = float((a * sympy.nsimplify(rho) ** 2 + beta) / (a + beta))
        assert sum(cell.allowed.ends) / 2 == pytest.approx(factor, rel=1e-12)


@pytest.mark.parametrize("id", [id for id in CLAIMS if "/printed/" in id or "/derived/" in id])
def test_recorded_verdicts_are_those_of_the_derived_powers(id: str) -> None:
    claim, law = CLAIMS[id], id.split("/")[1]
    sharp = transferred_power(law_named(law), law_named(law))
    rays = [cell for cell in claim.cells if "d" in cell.where]
    assert len(rays) == 7
    holds = []
    for cell in rays:
        (low, high), power = cell.allowed.ends, float(sharp.subs(d, cell.where["d"]))
        slack = 1e-12  # at equality both exponents are the same fraction, rounded twice
        holds.append(low - slack <= power <= high + slack)
    assert claim.expected == ("supported" if all(holds) else "refuted")


def test_a_w_that_is_not_the_tuned_one_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def mistaken(problem: Problem) -> Optimum:
        found = optimal_window(problem)
        return msgspec.structs.replace(found, w=1.1 * found.w)

    claim = CLAIMS["softmax.generalization-larger/affine/theta/sharp"]
    cells = tuple(cell for cell in claim.cells if cell.where["d"] == 3)
    small = replace(claim, plan=lambda: replace(claim.evidence, cells=cells, cross_checks=(), figure=None))
    monkeypatch.setattr(lipverify, "optimal_window", mistaken)
    found = run([small], jobs=0).claims[0]
    assert [cell.verdict for cell in found.cells] == ["supported", "refuted"]  # the rate is the same, the factor is not
