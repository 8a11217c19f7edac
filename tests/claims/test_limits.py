"""Limits, o and omega, and quantities named by coordinates: the form of such claims and their verdicts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from lipverify.claims.plan import Claim
from lipverify.claims.run import run
from lipverify.claims.run.audit import audit  # internal: what the command prints
from lipverify.errors import InvalidInput
from tests.toys import claims_in

START = """
from lipverify.claims import agree, bound, claim, exponent

def tends(n, limit=3.0):
    return limit + n**-0.5, 1e-12

def grows(n):
    return 3 * n**0.05, 1e-12

def table(n):
    return {"a on b": (2.0 + 1 / n, 1e-12), "b on a": (n**0.5, 1e-12)}

def fades(n):
    return (n**-0.5 if n < 1e22 else 0.0), 4e-12

def falls(n):
    return (n**-0.5 if n < 1e26 else 0.0), 1e-20

def stops(n):
    return (n**-0.5 if n < 1e9 else 0.0), 1e-4

def decays(n):
    return n**-0.5, 1e-20

def below(n):
    return n**-0.5 - 1e-4, 1e-12

def one(x, y):
    return {"a on b": (1.0, 0.1)}

def pair(trained, tested, x, y):
    return {f"{trained} on {tested}": (1.0, 0.1)}

SAID = {"source": ("My notes", "Theorem 1", "$x$"), "kind": "derived"}
"""


Declared = Callable[[str], tuple[Claim, ...]]


@pytest.fixture
def claims(tmp_path: Path) -> Declared:
    """The claims that a file declares."""
    return lambda text: claims_in(tmp_path, START + text)


def verdict(found: tuple[Claim, ...]) -> tuple[str, bool]:
    """The verdict on a claim, and True if its control was caught."""
    record = run(found, jobs=0).claims[0]
    return record.verdict, record.control.caught


@pytest.mark.parametrize(
    ("form", "found"),
    [
        ('bound(tends, "q", along={"n": (1e4, 1e30)}, equals="3", within="0.001")', "supported"),
        ('bound(tends, "q", along={"n": (1e4, 1e30)}, high="3.01", truth="3")', "supported"),
        ('bound(tends, "q", along={"n": (1e4, 1e30)}, low="3.01", truth="3")', "refuted"),
        # a growing sequence with the last value 95 has no limit
        ('bound(grows, "q", along={"n": (1e4, 1e30)}, high="1e9", control="1")', "inconclusive"),
        # o and omega leave the power itself out
        ('exponent(tends, "q", low="0", strict=True, truth="0")', "refuted"),
        ('exponent(tends, "q", low="0", truth="0")', "supported"),
        ('exponent(grows, "q", low="0", strict=True, truth="1/20")', "supported"),
        ('exponent(grows, "q", high="0", strict=True, truth="1/20")', "refuted"),
        ('exponent(grows, "q", high="1/20", strict=True, truth="1/20")', "refuted"),
    ],
)
def test_limits_and_powers_are_judged_where_there_are_some(claims: Declared, form: str, found: str) -> None:
    assert verdict(claims(f'claim("mine.limit", {form}, **SAID)')) == (found, True)


def test_strict_bounds_use_small_letters(claims: Declared) -> None:
    [small] = claims('claim("mine.power", exponent(grows, "q", low="0", strict=True, truth="1/20"), **SAID)')
    [limit] = claims('claim("mine.limit", bound(tends, "q", along={"n": (1e4, 1e30)}, high="4", truth="3"), **SAID)')
    assert (small.claimed, small.statement) == ("q = ω(1)", r"q = \omega\left(1\right)")
    assert (limit.claimed, limit.statement) == ("lim q ≤ 4", r"\lim_{n \to \infty} q \leq 4")


def test_coordinates_name_a_quantity_and_are_not_given_to_the_function(claims: Declared) -> None:
    text = """claim("mine.{trained}",
        bound(table, "q", of="{trained} on {tested}", along={"n": (1e4, 1e30)}, equals="2", within="0.01"),
        over={("trained", "tested"): [("a", "b"), ("b", "a")]}, **SAID)"""
    record = run(claims(text), jobs=0).claims
    assert [each.verdict for each in record] == ["supported", "inconclusive"]
    assert record[0].cells[0].where == {"trained": "a", "tested": "b"}
    assert "no positive constant" in record[1].cells[0].note


def test_cross_checks_name_quantities_in_the_same_way(claims: Declared) -> None:
    text = """claim("mine.check", bound(one, "q", of="a on b", high="2", control="0.5", over={"x": 1, "y": 2}),
        agree(one, pair, "q", of="{trained} on {tested}",
            over={("trained", "tested"): [("a", "b")], "x": 1, "y": 2}), **SAID)"""
    record = run(claims(text), jobs=0).claims[0]
    assert record.verdict == "supported"
    assert [check.agrees for check in record.cross_checks] == [True]


def test_a_quantity_named_by_an_unknown_coordinate_is_refused(claims: Declared) -> None:
    limit = 'bound(table, "q", of="{trained} on b", along={"n": (1e4, 1e30)}, high="4", control="1")'
    with pytest.raises(InvalidInput, match=r"of = .*trained.*no coordinate"):
        verdict(claims(f'claim("mine.limit", {limit}, **SAID)'))


@pytest.mark.parametrize(
    ("form", "found", "note"),
    [
        ('bound(fades, "q", along=RAY, high="0.01", control="-1")', "supported", "is 0 within its error from 8.1"),
        ('bound(fades, "q", along=RAY, low="0.01", control=("1", "-1"))', "refuted", "is 0 within its error from 8.1"),
        ('bound(decays, "q", along=RAY, high="0.01", control="-1")', "supported", "tends to 0"),
        ('exponent(fades, "q", along=RAY, high="-1/4", control="-3/4")', "supported", ""),
        (
            'exponent(falls, "q", along=RAY, high="-1/4", control="-3/4")',
            "inconclusive",
            "below",
        ),
        (
            'exponent(stops, "q", along=RAY, high="-1/4", control="-3/4")',
            "inconclusive",
            "only 2 p",
        ),
    ],
)
def test_a_quantity_may_be_0_within_its_error(claims: Declared, form: str, found: str, note: str) -> None:
    """A bound O(n^-a) holds as far as the values go, if what follows agrees with it; the limit is 0."""
    text = f'RAY = {{"n": (1e4, 1e30)}}\nclaim("mine.zero", {form}, **SAID)'
    ledger = run(claims(text), jobs=0)
    record = ledger.claims[0]
    assert record.verdict == found, record.problem
    assert note in record.cells[0].note
    assert audit(ledger) == ()


def test_a_quantity_below_0_by_more_than_its_error_does_not_grow(claims: Declared) -> None:
    record = run(claims('claim("mine.below", exponent(below, "q", high="0", control="-1"), **SAID)'), jobs=0).claims[0]
    assert record.verdict == "error"
    assert "what grows like a power is positive" in record.problem


LOGARITHMS = START + dedent("""\
    import math

    def grows(n):
        return VALUE, 1e-12 * VALUE

    claim("mine.grows", exponent(grows, "q", SIDE, along={"n": RAY}), **SAID)
""")
HARMONIC = "n * (math.log(n) + 0.5772156649015329 + 1 / (2 * n))"


@pytest.mark.parametrize(
    ("value", "side", "verdict"),
    [
        (HARMONIC, 'equals="1", control="1.2"', "refuted"),
        (HARMONIC, 'high="1", control="0.8"', "refuted"),
        (HARMONIC, 'low="1", control="1.2"', "supported"),
        ("n / math.log(n)", 'equals="1", control="1.2"', "refuted"),
        ("n / math.log(n)", 'low="1", control="1.2"', "refuted"),
        ("n / math.log(n)", 'high="1", control="0.8"', "supported"),
        ("n * math.log(n) ** 0.1", 'equals="1", control="1.2"', "refuted"),
        ("n * (1 + 1 / math.log(n))", 'equals="1", control="1.2"', "supported"),
        ("n * (2 + n ** -0.3)", 'equals="1", control="1.2"', "supported"),
    ],
)
def test_a_power_of_the_logarithm_may_decide_a_claim(value: str, side: str, verdict: str, tmp_path: Path) -> None:
    """n H_n is not Theta(n): the exponent agrees, but log n grows."""
    text = LOGARITHMS.replace("VALUE", value).replace("SIDE", side).replace("RAY", "(1e4, 1e30)")
    assert run(claims_in(tmp_path, text), jobs=0).claims[0].verdict == verdict


@pytest.mark.parametrize("ray", ["(1e4, 1e30)", "(1e2, 1e8)", "(1e2, 1e6)"])
@pytest.mark.parametrize("power", ["-0.02", "-0.05", "-0.1", "-0.2", "-0.5"])
@pytest.mark.parametrize("size", ["-0.9", "0.5", "3", "100"])
def test_slow_corrections_are_not_taken_for_a_logarithm(ray: str, power: str, size: str, tmp_path: Path) -> None:
    value = f"n * (1 + {size} * n ** {power})"
    text = LOGARITHMS.replace("VALUE", value).replace("SIDE", 'equals="1", control="1.2"').replace("RAY", ray)
    assert run(claims_in(tmp_path, text), jobs=0).claims[0].verdict in ("supported", "inconclusive")


COUNTED = dedent("""
    from pathlib import Path
    from lipverify.claims import claim, exponent
    from lipverify.errors import OutOfReach

    def power(d, n):
        with (Path(__file__).parent / "calls").open("a") as calls:
            calls.write(f"{d} {n:g}\\n")
        if n > 1e28 and d == 3:
            raise OutOfReach("too many tokens")
        return n ** (1 / d), 1e-12

    def stated(name, dimensions):
        claim(name, exponent(power, "q", equals="1/d", control="1/(d + 1)", along={"n": (1e4, 1e30)}),
              over={"d": dimensions}, source=("My notes", "Theorem 1", "$q$"), kind="derived")

    stated("mine.first", (2, 3))
    stated("mine.second", (2,))
""")


@pytest.mark.parametrize("jobs", [0, 1])
def test_a_law_out_of_reach_at_the_far_end_of_a_ray_costs_one_call(tmp_path: Path, jobs: int) -> None:
    """The claim with d = 3 is an error whatever the other points give; another claim needs those at d = 2."""
    first, second = run(claims_in(tmp_path, COUNTED), jobs=jobs).claims
    assert first.verdict == "error"
    assert first.problem.endswith("too many tokens (my_claims.py:10)"), first.problem
    assert second.verdict == "supported"
    calls = (tmp_path / "calls").read_text().splitlines()
    assert len(calls) == len(set(calls)), "each point once"
    assert [call for call in calls if call.startswith("3")] == ["3 1e+30"]
    [ray] = [cell.ray for cell in second.cells]
    assert ray is not None
    assert len(calls) == len(ray.ladder) + 1


def test_a_claim_alone_is_told_after_its_far_ends(tmp_path: Path) -> None:
    run(claims_in(tmp_path, COUNTED)[:1], jobs=0)
    assert (tmp_path / "calls").read_text().splitlines() == ["2 1e+30", "3 1e+30"]
