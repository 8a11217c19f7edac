"""The next step of an open claim, its predicted cost, and the steps that are taken."""

from __future__ import annotations

import math
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lipverify.claims.ledger import Allowed, Interval, Ledger, Record, Step, decide, read_ledger
from lipverify.claims.run import run

# internal: the rule at more intervals than runs take
from lipverify.claims.run.deciding import SURE, duration, likely, needed, wants
from tests.commands import Commands
from tests.toys import claims_in

pytestmark = pytest.mark.usefixtures("no_reports")
SOURCE = 'source=("My notes", "Lemma 1", "x"), kind="printed"'
SAMPLED = dedent(f"""\
    from lipverify.claims import bound, claim

    def sampled(d, seed, contexts):
        return 1.0, d * contexts ** -0.5

    claim(
        "mine.sampled",
        bound(sampled, "q", high="EDGE", control="1/2", method="montecarlo"),
        over={{"d": (2, 3)}}, {SOURCE},
    )
""")
BLUNT = dedent(f"""\
    import lipverify as lv
    from lipverify.claims import bound, claim

    def bias(d):
        terms = lv.loss_terms(lv.Problem(d=d, n=20, law=lv.laws.ReLU()), 3.0)
        return float(terms.bias), 4e4 if terms.method == "exact" else float(terms.bias_error)

    claim("mine.blunt", bound(bias, "B", high="0.1", control="0.0005"), over={{"d": 3}}, {SOURCE})
""")
GROWING = dedent(f"""\
    from lipverify.claims import claim, exponent

    def slow(n):
        return n ** 0.5 * (1 + 3 * n ** -0.15), 1e-13

    claim("mine.slow", exponent(slow, "q", equals="1/2", along={{"n": (1e2, 1e6)}}, control="0.6"),
          {SOURCE})
""")


def opened(folder: Path, text: str) -> Record:
    [record] = run(claims_in(folder, text), jobs=0).claims
    return record


def step_of(record: Record) -> Step:
    """The next step of an open claim."""
    assert record.verdict == "inconclusive"
    assert record.step is not None
    return record.step


def verified(lipverify: Commands, folder: Path, *more: str) -> tuple[Any, Ledger]:
    done = lipverify("verify", str(folder / "my_claims.py"), "--jobs", "1", "--out", str(folder / "out"), *more)
    return done, read_ledger(folder / "out" / "ledger.json")


@settings(max_examples=200, deadline=None)
@given(st.floats(-10, 10), st.floats(1e-6, 10), st.floats(-10, 10), st.booleans())
def test_the_error_that_is_needed_decides_and_no_larger_one_does(
    value: float, error: float, edge: float, upper: bool
) -> None:
    allowed = Allowed(high=edge) if upper else Allowed(low=edge)
    interval = Interval.around(value, error)
    if decide(interval, allowed) == "inconclusive":
        wanted = needed(interval, allowed)
        assert wanted <= error * (1 + 1e-9) + 1e-12
        assert wanted < 1e-6 or decide(Interval.around(value, 0.99 * wanted), allowed) in ("supported", "refuted")
        assert decide(Interval.around(value, 1.01 * wanted + 1e-12), allowed) == "inconclusive"
    else:
        assert needed(Interval.around(edge, 1.0), allowed) <= 1e-9


@pytest.mark.parametrize("either", [True, False])
def test_a_step_with_more_contexts_decides_nine_times_in_ten(either: bool) -> None:
    """Edges anywhere within two half-widths of the true value, 400 of the open cells; half-widths are 1.96 errors."""
    rng = np.random.default_rng(0)
    decided: list[bool] = []
    while len(decided) < 400:
        distance = rng.uniform(-2, 2)
        middle = distance + rng.standard_normal() / 1.96
        if abs(middle) < 1 and (narrow := likely(abs(middle), 1.0, either=either)):
            later = (distance + narrow * rng.standard_normal() / 1.96) * (1 if either else np.sign(middle))
            decided.append(bool((abs(later) if either else later) > narrow))
    assert 0.85 < np.mean(decided) < 0.96  # a step far too large would always decide


def test_the_suggested_step_decides_a_sampled_claim(lipverify: Commands, tmp_path: Path) -> None:
    record = opened(tmp_path, SAMPLED.replace("EDGE", "1.01"))
    step = step_of(record)
    assert (step.what, record.cells[step.cell].where["d"]) == ("contexts", 3)
    assert step.error is not None
    assert step.needed is not None
    assert step.error == pytest.approx(3 / math.sqrt(20_000))
    assert step.needed == pytest.approx(likely(0.01, step.error, SURE**0.5))  # two cells are open
    assert step.times == math.ceil((step.error / step.needed) ** 2)
    done, before = verified(lipverify, tmp_path)
    assert f"at d = 3 it needs an error of {step.needed:.2g}: {step.times:g} times the contexts" in " ".join(
        done.stdout.split()
    )
    assert f"--decide {math.ceil(2 * step_of(before.claims[0]).seconds)}" in " ".join(done.stdout.split())
    done, after = verified(lipverify, tmp_path, "--decide", "60")
    assert [after.claims[0].verdict, after.claims[0].step] == ["supported", None], done.stderr
    assert after.claims[0].reproduce.endswith("--decide 60")
    assert lipverify("audit", str(tmp_path / "out" / "ledger.json")).returncode == 0


def test_a_step_beyond_the_budget_is_not_begun(lipverify: Commands, tmp_path: Path) -> None:
    opened(tmp_path, SAMPLED.replace("EDGE", "1.01"))
    done, ledger = verified(lipverify, tmp_path, "--decide", "0.001")
    assert ledger.claims[0].verdict == "inconclusive"
    assert "is left open: at d = 3 it needs an error of" in done.stderr
    assert lipverify("verify", str(tmp_path / "my_claims.py"), "--decide", "0").returncode == 2


def test_the_suggested_commands_run_after_insufficient_steps(lipverify: Commands, tmp_path: Path) -> None:
    value = "1.001 - (1e-3 if contexts < 1e6 else 5e-4 if contexts < 2e7 else 1e-9)"
    slow = SAMPLED.replace("    return", "    time.sleep(contexts * 1e-9)\n    return").replace(
        "return 1.0,", f"return {value},"
    )
    opened(tmp_path, f"import time\n{slow}".replace("EDGE", "1.001"))
    done, ledger = verified(lipverify, tmp_path, "--decide", "60")
    [record] = ledger.claims
    assert done.stderr.count("is inconclusive") == 2, done.stderr
    file, said = str(tmp_path / "my_claims.py"), "".join(done.stdout.split())
    assert record.reproduce == f"lipverify verify {file} mine.sampled --decide 60"
    again = math.ceil(60 + 2 * step_of(record).seconds)  # the steps that were taken are taken again
    assert f"lipverifyverify{file}mine.sampled--decide{again}" in said
    assert f"lipverifyexplain{file}mine.sampled;" in said


def test_an_inaccurate_quadrature_is_replaced_by_another_method(lipverify: Commands, tmp_path: Path) -> None:
    assert step_of(opened(tmp_path, BLUNT)).what == "method"
    done, ledger = verified(lipverify, tmp_path, "--decide", "600")  # it takes a second, and a busy machine a minute
    [decided] = ledger.claims
    assert decided.verdict == "supported", done.stderr
    assert decided.cells[0].method == "certified"
    assert "now balls" in done.stderr


def test_a_function_that_asks_for_no_loss_stays_open(lipverify: Commands, tmp_path: Path) -> None:
    record = opened(tmp_path, BLUNT.replace("terms = lv.loss_terms(", "return 0.02, 4e4\n    terms = lv.loss_terms("))
    assert record.step is None, "no other method of lipverify would change what lipverify did not make"
    _, ledger = verified(lipverify, tmp_path, "--decide", "60")
    assert ledger.claims[0].verdict == "inconclusive"


def test_a_route_that_a_function_chooses_is_kept_and_named(lipverify: Commands, tmp_path: Path) -> None:
    """A comparison of two routes requests both: if one replaced the other, they would agree trivially."""
    opened(tmp_path, BLUNT.replace(", 3.0)", ", 3.0, route='ridge')"))
    done, ledger = verified(lipverify, tmp_path, "--decide", "60")
    assert ledger.claims[0].verdict == "inconclusive"
    assert done.stderr.count("the function chooses route='ridge'") == 3


def test_an_unsettled_limit_is_measured_on_more_points(lipverify: Commands, tmp_path: Path) -> None:
    """A true Theta is decided by the ratio: the same values, interpolated at 27 points, show that it tends to 1."""
    record = opened(tmp_path, GROWING.replace("1e2, 1e6", "1e4, 1e16"))
    step = step_of(record)
    assert (step.what, step.times) == ("points", 27 / 12)
    assert step.route == "support"
    assert step.error is not None
    assert step.needed is not None
    assert 0 < step.needed < step.error
    assert wants(record).startswith(f"needs an error of {step.needed:.2g}: 27 points on the ray")
    done, ledger = verified(lipverify, tmp_path, "--decide", "60")
    assert len(ledger.claims[0].cells) == 1
    assert (ledger.claims[0].verdict, ledger.claims[0].step) == ("supported", None), done.stderr


def test_points_are_not_named_if_their_error_is_predicted_to_be_too_large(tmp_path: Path) -> None:
    """An error of 0.8 falls to no less than 0.36 on 27 points in place of 12, as the ladder is too short."""
    record = opened(tmp_path, GROWING)
    assert (record.verdict, record.step) == ("inconclusive", None)
    assert wants(record) == "no step is known to decide it"


def test_an_equality_that_holds_is_not_predicted_to_be_refuted(tmp_path: Path) -> None:
    text = SAMPLED.replace('high="EDGE", control="1/2"', 'equals="1", within="0", control="2"')
    record = opened(tmp_path, text.replace("return 1.0,", "return 1.00003,"))
    assert (record.verdict, record.step) == ("inconclusive", None)


WIDENING = dedent(f"""\
    from lipverify.claims import claim, exponent

    POINTS = []

    def rough(n):
        POINTS.append(n)
        return n ** 0.5 * (1 + 3 * n ** -0.15) * (1 + WAVE * (-1) ** len(POINTS)), 1e-13

    claim("mine.rough", exponent(rough, "q", equals="1/2", along={{"n": (1e4, 1e16)}}, control="0.6"), {SOURCE})
""")


def test_a_step_that_widens_the_error_keeps_the_evidence_before_it(lipverify: Commands, tmp_path: Path) -> None:
    wave = "(1e-3 if round(n) in DENSE else 0)".replace(
        "DENSE", "{round(1e4 * 10 ** (12 * k / 26)) for k in range(1, 26)}"
    )
    text = WIDENING.replace("WAVE", wave)
    before = opened(tmp_path, text)
    assert before.step is not None
    done, ledger = verified(lipverify, tmp_path, "--decide", "60")
    [record] = ledger.claims
    assert (record.verdict, record.step, record.cells) == ("inconclusive", None, before.cells), done.stderr
    assert "the evidence before it is kept" in " ".join(done.stderr.split())
    assert "27 points on the ray did not decide it" in wants(record)
    assert lipverify("audit", str(tmp_path / "out" / "ledger.json")).returncode == 0


def test_claims_decided_or_on_the_edge_have_no_next_step(tmp_path: Path) -> None:
    assert opened(tmp_path, SAMPLED.replace("EDGE", "2")).step is None
    assert opened(tmp_path, SAMPLED.replace("EDGE", "1")).step is None


def test_durations_are_printed_in_natural_units() -> None:
    assert [duration(s) for s in (0.2, 59, 119, 7300, 3e5)] == ["1 s", "59 s", "119 s", "2 h", "3 days"]


CELLS = dedent(f"""\
    from lipverify.claims import bound, claim

    VALUES = {{1: 0.999, 2: 1.05, 3: 0.7}}

    def sampled(x, seed, contexts):
        return VALUES[x], SCALE * contexts ** -0.5

    claim("mine.sampled", bound(sampled, "q", high="1", control=("0.5", "2")), over={{"x": (1, 2, 3)}}, {SOURCE})
""")
"""A value of 0.999 needs 3,000 times the contexts of 1.05, and is not needed if 1.05 refutes."""


def test_one_cell_that_refutes_is_enough_where_it_is_the_cheaper_route(lipverify: Commands, tmp_path: Path) -> None:
    record = opened(tmp_path, CELLS.replace("SCALE", "7.2"))  # 1.05 +- 0.0509
    step = step_of(record)
    assert (step.route, step.cell, step.cells) == ("refute", 1, (1,))
    assert step.error is not None
    assert step.needed == pytest.approx(likely(0.05, step.error, SURE, either=False))
    assert f"at x = 2 it needs an error of {step.needed:.2g}: {step.times:g} times the contexts" in wants(record)
    assert "predicted to refute the claim by itself" in wants(record)
    done, after = verified(lipverify, tmp_path, "--decide", "60")
    assert after.claims[0].verdict == "refuted", done.stderr
    assert done.stderr.count("times the contexts") == 1
    assert [tried.cell for tried in after.claims[0].tried] == [1]
    assert lipverify("audit", str(tmp_path / "out" / "ledger.json")).returncode == 0


def test_cells_must_support_together_if_none_is_predicted_to_refute(tmp_path: Path) -> None:
    record = opened(tmp_path, CELLS.replace("SCALE", "7.2").replace("2: 1.05", "2: 0.96"))
    step = step_of(record)
    assert (step.route, step.cell, step.cells) == ("support", 0, (0, 1))
    assert step.error is not None
    assert step.needed == pytest.approx(likely(0.001, step.error, SURE**0.5))
    assert "for 2 open cells" in wants(record)


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ("1: 1.0, 2: 0.96", "a cell on the edge can neither refute nor support"),
        ("1: 0.501, 2: 0.5", "the control of the second is on its edge"),
        ("1: 0.499, 2: 0.7", "the first is predicted to obey its control as well"),
    ],
)
def test_no_step_is_named_that_is_not_predicted_to_decide(values: str, why: str, tmp_path: Path) -> None:
    record = opened(tmp_path, CELLS.replace("SCALE", "7.2").replace("1: 0.999, 2: 1.05", values))
    assert record.verdict == "inconclusive"
    assert record.step is None, why


def test_an_open_control_asks_for_the_error_that_it_needs(lipverify: Commands, tmp_path: Path) -> None:
    text = CELLS.replace("SCALE", "7.2").replace("1: 0.999, 2: 1.05", "1: 0.7, 2: 0.52")
    record = opened(tmp_path, text)
    assert [cell.alone for cell in record.cells] == ["supported"] * 3
    step = step_of(record)
    assert (step.route, step.cells) == ("support", (1,))
    assert step.error is not None
    assert step.needed == pytest.approx(likely(0.02, step.error))
    done, after = verified(lipverify, tmp_path, "--decide", "60")
    assert after.claims[0].verdict == "supported", done.stderr


def test_more_contexts_are_not_suggested_after_they_failed(lipverify: Commands, tmp_path: Path) -> None:
    text = SAMPLED.replace("EDGE", "1.001").replace("d * contexts ** -0.5", "(d**2 / contexts + FLOOR**2) ** 0.5")
    opened(tmp_path, text.replace("FLOOR", "0.002"))
    done, ledger = verified(lipverify, tmp_path, "--decide", "60")
    [record] = ledger.claims
    assert (record.verdict, record.step) == ("inconclusive", None)
    assert done.stderr.count("times the contexts, about") == 1, done.stderr
    assert {tried.what for tried in record.tried} == {"contexts"}
    assert "times the contexts did not decide it" in wants(record)
    assert "times the contexts did not decide it" in done.stderr
    nearer = text.replace("return 1.0,", "return (1.0 if contexts < 1e6 else 1.0006),")
    opened(tmp_path, nearer.replace("FLOOR", "0.00002"))
    done, ledger = verified(lipverify, tmp_path, "--decide", "60")
    assert ledger.claims[0].verdict == "supported", "a part that is small enough is allowed for"
    assert done.stderr.count("times the contexts, about") == 2, done.stderr


def test_points_that_are_predicted_not_to_decide_are_not_named(tmp_path: Path) -> None:
    record = opened(tmp_path, GROWING.replace("n ** -0.15", "n ** -0.02"))
    assert (record.verdict, record.step) == ("inconclusive", None)
    assert wants(record) == "no step is known to decide it"


LOGARITHMS = dedent(f"""\
    import math
    from lipverify.claims import claim, exponent

    def grows(n):
        return VALUE, 1e-12 * VALUE

    claim("mine.grows", exponent(grows, "q", SIDE, along={{"n": RAY}}), {SOURCE})
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
    assert opened(tmp_path, text).verdict == verdict


@pytest.mark.parametrize("ray", ["(1e4, 1e30)", "(1e2, 1e8)", "(1e2, 1e6)"])
@pytest.mark.parametrize("power", ["-0.02", "-0.05", "-0.1", "-0.2", "-0.5"])
@pytest.mark.parametrize("size", ["-0.9", "0.5", "3", "100"])
def test_slow_corrections_are_not_taken_for_a_logarithm(ray: str, power: str, size: str, tmp_path: Path) -> None:
    value = f"n * (1 + {size} * n ** {power})"
    text = LOGARITHMS.replace("VALUE", value).replace("SIDE", 'equals="1", control="1.2"').replace("RAY", ray)
    assert opened(tmp_path, text).verdict in ("supported", "inconclusive")
