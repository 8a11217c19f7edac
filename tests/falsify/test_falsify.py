"""The search for counterexamples: its finds, its misses, and the files that it writes."""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path
from textwrap import dedent
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lipverify import Problem, loss_terms
from lipverify.claims.language.family import Point  # internal: one point, tested against a range
from lipverify.claims.plan.registry import sought_in  # internal: the search space, before the search
from lipverify.covariates import covariates_named
from lipverify.errors import InvalidInput
from lipverify.falsify import Search, search

# internal: the strategies for points, under test themselves
from lipverify.falsify.axes import assumptions, axes_of, points_of, written_covariates, written_laws
from lipverify.falsify.trial import again, tried  # internal: one trial without a search, and a second check of it
from lipverify.laws import Affine, Sum, law_named
from lipverify.loss.methods import TABLE  # internal: a registered method is removed again
from tests.commands import Commands
from tests.toys import QUICK, write

pytestmark = pytest.mark.usefixtures("no_reports")
SOURCE = 'source=("My notes", "Lemma 1", "smaller"), kind="printed"'
SQUARE = dedent(f"""\
    from lipverify.claims import bound, claim

    def square(x):
        return x * x, 1e-12

    WIDE = {{"over": {{"x": (0.1, 0.8)}}, "assumes": "0.01 <= x <= 8"}}
    claim("mine.square", bound(square, "x^2", high="x", control="x / 20"), **WIDE, {SOURCE})
    claim("mine.true", bound(square, "x^2", high="x + x**2", control="x / 20"), **WIDE, {SOURCE})
""")
LOSSES = dedent(f"""\
    import lipverify as lv
    from lipverify.claims import bound, claim

    def bias(law, d, n, w):
        terms = lv.loss_terms(lv.Problem(d=d, n=n, law=lv.laws.law_named(law)), w)
        return float(terms.bias), float(terms.bias_error)

    claim("mine.bias", bound(bias, "B", high="1/w", control="1/(100*w)"),
          over={{"law": ("affine", "relu"), "d": 3, "n": 100, "w": (2.0, 8.0)}}, {SOURCE})
""")


def verified(lipverify: Commands, ready: Path | str) -> str:
    """The output of a run of the claim that a search has written, which comes out as recorded."""
    done = lipverify("verify", str(ready), "--jobs", "1", "--out", str(Path(ready).with_name("reports")))
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def slow_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that is a second later at each look of the search, about four a trial: its budget is then so many looks.

    Without it a search without a find takes all of its seconds, with as many trials as the machine makes in these.
    """
    looks = itertools.count()
    module = sys.modules["lipverify.falsify.search"]
    monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=lambda: float(next(looks))))


def searched(folder: Path, text: str, id: str | None = None, seconds: float = 4.0, **how: Any) -> Search:
    return search(sought_in(write(folder, text), id, QUICK)[0], QUICK, seconds, **how)


def test_a_false_bound_is_refuted_where_it_was_not_measured(lipverify: Commands, tmp_path: Path) -> None:
    path, out = write(tmp_path, SQUARE), tmp_path / "found"
    done = lipverify("falsify", path, "mine.square", "--seconds", "600", "--out", str(out))
    assert done.returncode == 1, done.stdout + done.stderr
    assert "counterexample" in done.stdout
    assert "by another method: none, because the value does not come from a loss of lipverify" in done.stdout
    ready = out / "mine-square.py"
    assert ready.read_text().splitlines()[-1] == ")"
    assert "refuted" in verified(lipverify, ready)


def test_a_bound_of_zero_gets_a_smaller_control(lipverify: Commands, tmp_path: Path) -> None:
    """A share of 0 is 0, so its control would allow whatever the claim allows: no ready claim was written."""
    text = LOSSES.replace('high="1/w", control="1/(100*w)"', 'high="w", control="w/100"').replace(
        "over=", 'assumes="w in {0}", over='
    )
    done = lipverify("falsify", write(tmp_path, text), "--seconds", "600", "--out", str(tmp_path / "found"), "--json")
    [told] = json.loads(done.stdout)
    assert told["where"]["w"] == 0
    assert "refuted" in verified(lipverify, told["file"])


def test_the_end_of_the_budget_is_no_fault_of_a_point(tmp_path: Path) -> None:
    slow = SQUARE.replace("return x", "import time; time.sleep(0.7); return x")
    found = searched(tmp_path, slow, "mine.true", seconds=1.0)
    assert found.nearest is not None
    assert not found.not_reached


@pytest.mark.usefixtures("slow_clock")
def test_a_true_bound_is_kept_and_its_tightest_point_is_reported(lipverify: Commands, tmp_path: Path) -> None:
    path, out = write(tmp_path, SQUARE), str(tmp_path / "out")
    done = lipverify("falsify", path, "mine.true", "--seconds", "200", "--out", out)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no counterexample in" in done.stdout
    assert "nearest: x² = 64" in done.stdout


@pytest.mark.usefixtures("slow_clock")
def test_progress_is_reported_after_each_trial(tmp_path: Path) -> None:
    told: list[tuple[float, int]] = []
    found = searched(tmp_path, SQUARE, "mine.true", seconds=100.0, progress=lambda *said: told.append(said))
    assert [trials for _, trials in told] == list(range(1, found.trials + 1))
    assert sorted(told) == told


def test_a_counterexample_shrinks_and_is_found_by_other_methods_too(tmp_path: Path) -> None:
    quick = LOSSES.replace("over={", 'assumes=("law in {affine, relu}", "1 <= w <= 100"), over={')
    found = searched(tmp_path, quick, seconds=600.0)
    assert found.counterexample is not None
    where = found.counterexample.point.where
    assert (where["law"], where["d"], where["n"]) == ("affine", 2, 2)
    terms = loss_terms(Problem(d=2, n=2, law=law_named("affine")), float(where["w"]))
    assert float(terms.bias - terms.bias_error) > 1 / float(where["w"])
    others = {each.by: each.verdict for each in again(found.counterexample, found.sought, QUICK)}
    assert others == {"balls": "refuted", "route ridge": "refuted", "route zonal": "refuted"}


REGISTERED = dedent("""\
    from lipverify.loss.methods import LossMethod, register

    def doubled(problem, w):
        return msgspec.structs.replace(lv.loss_terms(problem, w, route="zonal"), method="doubled")

    register(LossMethod(name="doubled", words="", grade="bounded", function=doubled, repeats={"once more": {}}))
""")


def test_a_counterexample_is_repeated_by_a_method_of_the_claims_file(tmp_path: Path) -> None:
    path = write(tmp_path, "import msgspec\n" + LOSSES.replace("\ndef bias", f"\n{REGISTERED}\ndef bias", 1))
    with mock.patch.dict(TABLE):  # the file registers in this process too
        [sought] = sought_in(path, None, QUICK)
        trial = tried(sought, 0, Point({"law": "affine", "d": 2, "n": 2, "w": 8.0}), QUICK)
        others = {each.by: each.verdict for each in again(trial, sought, QUICK)}
    assert others == dict.fromkeys(("balls", "route ridge", "route zonal", "once more"), "refuted")


def test_a_disagreement_of_methods_is_reported(lipverify: Commands, tmp_path: Path) -> None:
    text = LOSSES.replace("return float(terms.bias),", 'return float(terms.method != "certified"),')
    path = write(tmp_path, text.replace('high="1/w", control="1/(100*w)"', 'high="0.5", control="-1"'))
    done = lipverify("falsify", path, "--seconds", "600", "--out", str(tmp_path / "out"))
    assert done.returncode == 3
    assert "the methods disagree" in done.stdout


NOISY = dedent(f"""\
    import numpy as np
    from lipverify.claims import bound, claim

    def noisy(x, seed, contexts):
        return np.random.default_rng([seed, int(1000 * x)]).standard_normal(), 2.0

    claim("mine.noisy", bound(noisy, "x", high="0", control="-9", method="montecarlo"),
          over={{"x": (1.0, 2.0)}}, {SOURCE})
""")


@pytest.mark.usefixtures("slow_clock")
def test_a_sampled_counterexample_counts_only_if_other_draws_confirm_it(tmp_path: Path) -> None:
    """One sample in 44 is outside of the interval of a true bound: a search would always find one."""
    assert searched(tmp_path, NOISY, seconds=800.0).counterexample is None
    module = sys.modules["lipverify.falsify.search"]
    with mock.patch.object(module, "refutes", lambda trial, *_: trial.verdict == "refuted"):
        assert searched(tmp_path, NOISY, seconds=800.0).counterexample is not None


@pytest.mark.usefixtures("slow_clock")
def test_an_exception_at_some_points_is_reported_and_the_search_continues(tmp_path: Path) -> None:
    found = searched(tmp_path, SQUARE.replace("return x", "assert x < 1.5\n    return x"), "mine.square", seconds=400.0)
    assert found.counterexample is not None
    assert 1 < float(found.counterexample.point.where["x"]) < 1.5
    nothing = searched(tmp_path, SQUARE.replace("return x", "1 / 0\n    return x"), "mine.square", seconds=100.0)
    assert (nothing.counterexample, nothing.nearest) == (None, None)
    assert "ZeroDivisionError" in next(iter(nothing.not_reached))


def test_a_killed_process_is_reported_and_the_search_continues(tmp_path: Path) -> None:
    killer = "import os\n" + SQUARE.replace("return x", "x < 1.5 or os._exit(0)\n    return x")
    found = searched(tmp_path, killer, "mine.square", seconds=600.0)
    assert found.counterexample is not None
    assert 1 < float(found.counterexample.point.where["x"]) < 1.5
    assert any("killed its process" in reason for reason in found.not_reached)


@pytest.mark.usefixtures("slow_clock")
def test_a_claim_states_its_range(tmp_path: Path) -> None:
    within = SQUARE.replace("0.01 <= x <= 8", "0.1 <= x <= 0.9")
    assert searched(tmp_path, within, "mine.square", seconds=200.0).counterexample is None
    meant = LOSSES.replace("over={", 'assumes=("law is 1-Lipschitz", "3 <= d <= 5", "n in {50, 60}"), over={')
    [sought] = sought_in(write(tmp_path, meant), None, QUICK)
    seen: list[dict[str, Any]] = []

    @settings(max_examples=60, deadline=None, database=None)
    @given(points_of(axes_of(sought.forms[0], sought.over, assumptions(sought.assumes), QUICK)))
    def look(place: Any) -> None:
        seen.append(place.where)

    look()
    assert {each["d"] for each in seen} == {3, 4, 5}
    assert {each["n"] for each in seen} == {50, 60}
    assert not any(word in each["law"] for each in seen for word in ("steps", "zonal", "+"))


def test_contradictory_assumptions_are_refused(lipverify: Commands, tmp_path: Path) -> None:
    path = write(tmp_path, SQUARE.replace('"0.01 <= x <= 8"', '("x >= 3", "x <= 2")'))
    done = lipverify("falsify", path, "--out", str(tmp_path / "out"))
    assert done.returncode == 2
    assert "x: the assumptions exclude every value between 3 and 2" in done.stderr


READINGS = dedent(f"""\
    from lipverify.claims import bound, claim

    def value(d, x):
        return d * x, 1e-12

    MORE = {{"over": {{"reading": {{"one": {{"D": "d"}}, "two": {{"D": "d - 1"}}}}, "d": (2, 3)}}}}
    claim(
        "mine.value/{{reading}}/{{side}}",
        bound(value, "dx", low="D*x/2", high="D*x", control=dict(low="9*d*x", high="d*x/9"), over={{"x": (1.0, 2.0)}}),
        {SOURCE},
        assumes=("$x > 0$",),
        **MORE,
    )
    for name in ("a", "b"):
        claim(f"mine.{{name}}", bound(value, "dx", high="d", control="d/9"), over={{"d": 2, "x": (0.5, 2.0)}}, {SOURCE})
""")


@pytest.mark.usefixtures("slow_clock")
def test_a_reading_is_written_with_the_meanings_of_its_symbols(lipverify: Commands, tmp_path: Path) -> None:
    path, out = write(tmp_path, READINGS), tmp_path / "out"
    options = ("--seconds", "100", "--out", str(out))
    done = lipverify("falsify", path, "mine.value", *options, "--json")
    found = {each["id"]: each for each in json.loads(done.stdout)}
    assert {id for id, each in found.items() if each["found"]} == {"mine.value/two/upper"}
    assert "found.value/two/upper" in verified(lipverify, found["mine.value/two/upper"]["file"])
    loop = lipverify("falsify", path, "mine.a", *options)
    assert loop.returncode == 1
    assert "not declared by a call of claim(...) at the left margin" in loop.stdout


@pytest.mark.parametrize(
    ("options", "says"),
    [(("mine.square", "--seconds", "0"), "seconds = 0"), (("mine.nix",), "it has mine.square, mine.true")],
)
def test_bad_input_is_refused_in_a_line(
    options: tuple[str, ...], says: str, lipverify: Commands, tmp_path: Path
) -> None:
    done = lipverify("falsify", write(tmp_path, SQUARE), *options, "--out", str(tmp_path / "out"))
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def test_without_hypothesis_the_message_names_the_package(lipverify: Commands, tmp_path: Path) -> None:
    loads = ("lipverify.falsify", "lipverify.cli.falsify")  # the command imports the package at its top
    gone = {name: module for name, module in sys.modules.items() if not name.startswith(loads)}
    with mock.patch.dict(sys.modules, {**gone, "hypothesis": None}, clear=True):
        done = lipverify("falsify", write(tmp_path, SQUARE), "--out", str(tmp_path / "out"))
    assert done.returncode == 2
    assert (
        done.stderr
        == "lipverify: lipverify falsify needs Hypothesis, which is not installed: pip install 'lipverify[testing]'.\n"
    )


@settings(max_examples=60, deadline=None)
@given(written_laws(), st.integers(2, 6))
def test_every_law_that_is_drawn_is_a_law(text: str, d: int) -> None:
    law = law_named(text)
    assert law.isotropic
    assert Problem(d=d, n=5, law=law).law is law
    assert isinstance(law, Sum) == ("+" in text) or "*" in text


NEEDLE = dedent(f"""\
    import math
    from lipverify.claims import bound, claim

    def hill(x, y, z):
        return 10 - (math.log(x) - 1) ** 2 - (math.log(y) + 1) ** 2 - (math.log(z) - 0.5) ** 2, 1e-12

    claim("mine.hill", bound(hill, "q", high="9.99", control="-99"), over={{"x": 1.0, "y": 1.0, "z": 1.0}},
          assumes=[f"0.1 <= {{name}} <= 10" for name in "xyz"], {SOURCE})
""")
"""False in a ball of radius 0.1, of a cube with edges of 4.6: 4e-5 of the samples."""


@pytest.mark.usefixtures("slow_clock")
def test_the_search_climbs(tmp_path: Path) -> None:
    found = searched(tmp_path, NEEDLE, seconds=4000.0)
    assert found.counterexample is not None
    assert found.first < 1000, "as many draws hit it with probability 0.04"
    with mock.patch.object(sys.modules["lipverify.falsify.search"], "_steer", return_value=None):
        assert searched(tmp_path, NEEDLE, seconds=800.0).counterexample is None


def test_no_step_takes_longer_than_the_remaining_time(tmp_path: Path) -> None:
    """The first trial of a claim once had five seconds, whatever the budget."""
    slow = "import time\n" + SQUARE.replace("return x", "time.sleep(60)\n    return x")
    # a busy machine may use up less than this before a trial begins
    found = searched(tmp_path, slow, "mine.square", seconds=3.0)
    limits = [float(reason.partition("within ")[2].partition(" s")[0]) for reason in found.not_reached]
    assert limits
    assert max(limits) <= 3.0


COVARIATES = dedent(f"""\
    import lipverify as lv
    from lipverify.claims import bound, claim
    from lipverify.covariates import covariates_named

    def bias(covariates, seed, contexts):
        problem = lv.Problem(d=2, n=5, law=lv.laws.Affine(), covariates=covariates_named(covariates, 2))
        terms = lv.loss_terms(problem, 1.0, "montecarlo", interval="normal", contexts=contexts // 16, seed=seed)
        return float(terms.bias), float(terms.bias_error)

    claim("mine.spread", bound(bias, "B", high="0.3", control="1/1000", method="montecarlo"),
          over={{"covariates": ("sphere", "ellipsoid(1, 0.5)")}}, {SOURCE})
""")
"""On the unit sphere B(1) is 0.10; with larger variances it is not bounded by 0.3."""


def test_counterexamples_in_covariates_hold_with_other_draws(tmp_path: Path) -> None:
    found = searched(tmp_path, COVARIATES, seconds=600.0)
    assert found.counterexample is not None
    covariates = covariates_named(str(found.counterexample.point.where["covariates"]), 2)
    assert covariates != covariates_named("sphere", 2)
    problem = Problem(d=2, n=5, law=Affine(), covariates=covariates)
    fresh = loss_terms(problem, 1.0, "montecarlo", interval="normal", contexts=40_000, seed=99)
    assert fresh.bias - fresh.bias_error > 0.3
    on_the_sphere = loss_terms(problem.replace(covariates=covariates_named("sphere", 2)), 1.0)
    assert on_the_sphere.bias + on_the_sphere.bias_error < 0.3


@settings(max_examples=60, deadline=None)
@given(written_covariates(), st.integers(2, 6))
def test_all_covariates_that_are_drawn_are_covariates(text: str, d: int) -> None:
    covariates = covariates_named(text, d)
    assert Problem(d=d, n=5, law=Affine(), covariates=covariates).covariates is covariates


def test_covariates_that_are_written_in_other_words_are_refused() -> None:
    for text in ("cube(1)", "ellipsoid()", "ellipsoid(x)", "product(3)", "ellipsoid(-1)", "sphere + sphere"):
        with pytest.raises(InvalidInput, match=r"covariates = |Sigma|B has"):
            covariates_named(text, 3)


TRUE = dedent(f"""\
    import math
    from fractions import Fraction
    from lipverify.claims import bound, claim, identity

    def shifted(m, shift):
        return (m + 1) ** 2 - m**2 - 2 * m - 1 + shift, 0

    def chosen(m, kappa="b"):
        return (m if kappa == "a" else 0), 0

    def coin(p, m):
        return p**m, 1e-15

    def whole(k):
        return math.comb(2 * k, k) / 4**k * math.sqrt(math.pi * k), 1e-12

    def root(x):
        return math.sqrt(1 - x * x), 1e-15

    def ordered(low, high):
        return high - low, 1e-15

    def tokens(n):
        return 1 / n, 1e-15

    claim("mine.shift", identity(shifted, "s", control={{"shift": 1}}), over={{"m": (1, 2, 5), "shift": 0}}, {SOURCE})
    claim("mine.instead", bound(shifted, "s", high="0.5", control=("-1", {{"shift": -2}})),
          over={{"m": (1, 2, 5), "shift": 0}}, {SOURCE})
    claim("mine.word", identity(chosen, "c", control={{"kappa": "a"}}), over={{"m": (1, 7), "kappa": ("b",)}}, {SOURCE})
    claim("mine.coin", bound(coin, "p^m", high="1", control="-1"), over={{"p": (0.05, 0.9), "m": (1, 3)}}, {SOURCE})
    claim("mine.comb", bound(whole, "c", low="0.86", high="1", control=dict(high="0")), over={{"k": (1, 9)}}, {SOURCE})
    claim("mine.root", bound(root, "r", low="0", high="1", control=dict(high="-1")), over={{"x": (-0.9, 0.9)}},
          assumes="-5 <= x <= 5", {SOURCE})
    claim("mine.edge", bound(coin, "p^m", high=lambda p, m: math.acos(2 * p) + 9, control="-1"),
          over={{"p": (0.1, 0.5), "m": 1}}, assumes="0.1 <= p <= 0.9", {SOURCE})
    claim("mine.ordered", bound(ordered, "h - l", low="0", control="9"),
          over={{("low", "high"): [(1, 2), (3, 4), (7, 9)]}}, {SOURCE})
    claim("mine.tokens", bound(tokens, "1/n", high="0.01", control="0"), over={{"n": (100, 1000)}},
          assumes="$n ≥ 100$", {SOURCE})
""")
"""Statements that hold in their whole range: a refutation would be a control, not a probability, and not one of their
points."""
BUDGET = 400.0
"""About a hundred trials."""
IDS = ("shift", "instead", "word", "coin", "comb", "root", "edge", "ordered", "tokens")


@pytest.mark.usefixtures("slow_clock")
@pytest.mark.parametrize("name", IDS)
def test_a_true_statement_is_not_refuted_outside_its_range(name: str, tmp_path: Path) -> None:
    found = searched(tmp_path, TRUE, f"mine.{name}", seconds=BUDGET)
    assert found.counterexample is None, found.counterexample
    assert found.nearest is not None, found.not_reached
    if name in ("root", "edge"):
        assert any("math domain error" in reason or "not a finite number" in reason for reason in found.not_reached)


@pytest.mark.usefixtures("slow_clock")
@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("shift", "- 1 + shift", "- 1 + shift + (m == 4)"),
        ("word", "else 0)", "else int(m == 4))"),
        ("coin", "return p**m", "return p**m + (m == 2)"),
        ("comb", "return math", "return (k == 5) + math"),
        ("ordered", "return high - low", "return (low != 3) - 0.5"),
        ("tokens", "return 1 / n", "return 1 / n + (n > 2000)"),
    ],
)
def test_a_statement_made_false_within_its_range_is_refuted(name: str, old: str, new: str, tmp_path: Path) -> None:
    """The power of the tests above: the remaining range is searched."""
    assert old in TRUE
    assert searched(tmp_path, TRUE.replace(old, new), f"mine.{name}", seconds=BUDGET).counterexample is not None


def drawn(text: str, name: str, folder: Path) -> list[dict[str, Any]]:
    [sought] = sought_in(write(folder, text), f"mine.{name}", QUICK)
    seen: list[dict[str, Any]] = []

    @settings(max_examples=200, deadline=None, database=None, derandomize=True)
    @given(points_of(axes_of(sought.forms[0], sought.over, assumptions(sought.assumes), QUICK)))
    def look(place: Any) -> None:
        seen.append(place.where)

    look()
    return seen


def test_values_keep_their_kind_and_their_range(tmp_path: Path) -> None:
    coins = drawn(TRUE, "coin", tmp_path)
    assert all(0.05 <= each["p"] <= 0.9 and isinstance(each["p"], float) for each in coins)
    assert len({each["p"] for each in coins}) > 20, "the range is searched, and not its ends alone"
    assert {each["m"] for each in coins} == {1, 2, 3}
    assert {type(each["m"]) for each in coins} == {int}
    assert {each["shift"] for each in drawn(TRUE, "shift", tmp_path)} == {0}
    asked = TRUE.replace('over={"m": (1, 2, 5), "shift": 0}', 'assumes="0 <= shift <= 3", over={"m": 1, "shift": 0}')
    assert {each["shift"] for each in drawn(asked, "shift", tmp_path)} == {0, 1, 2, 3}, "the assumption says otherwise"
    every = {(each["low"], each["high"]) for each in drawn(TRUE, "ordered", tmp_path)}
    assert every == {(1, 2), (3, 4), (7, 9)}


BOUND = ('high="1/w", control="1/(100*w)"', 'high="9", control="-9"')


def test_arguments_known_to_the_library_have_their_natural_range(tmp_path: Path) -> None:
    text = LOSSES.replace('"w": (2.0, 8.0)', '"w": (2.0, 8.0), "sigma": 1, "L": 0.5').replace(
        "n, w)", "n, w, sigma, L)"
    )
    places = drawn(text, "bias", tmp_path)
    d, n, w, sigma, L = ({each[name] for each in places} for name in ("d", "n", "w", "sigma", "L"))
    assert min(d) == 2
    assert 20 < max(d) <= 50
    assert min(n) == 2
    assert 1e5 < max(n) <= 1e6
    assert min(w) == 0
    assert 100 < max(w) <= 1000
    assert 0.1 <= min(sigma) < 1 < max(sigma) <= 10
    assert 0.05 <= min(L) < 0.5 < max(L) <= 5
    other = 'over={"law": ("affine", "relu"), "d": (0.5, 1.0), "n": 100, "w": (-1.0, 8.0)}'
    text = text[: text.index("over={")] + other + text[text.index(f", {SOURCE}") :]
    places = drawn(text.replace("n, w, sigma, L)", "n, w)").replace(*BOUND), "bias", tmp_path)
    assert all(0.5 <= each["d"] <= 1 for each in places), "a d that is no dimension is a name like any other"
    assert all(-1 <= each["w"] <= 8 for each in places)


FALLING = dedent(f"""\
    from lipverify.claims import bound, claim

    def fall(d):
        return 1 - d / 9.5, 1e-12

    claim("mine.falling", bound(fall, "f", low="0", control="1e6"), over={{"d": (2, 3)}}, {SOURCE})
""")


def test_a_claim_true_at_its_cells_is_refuted_at_other_dimensions(lipverify: Commands, tmp_path: Path) -> None:
    """True up to d = 9; the search ends when it finds a larger d, long before its limit."""
    path, out = write(tmp_path, FALLING), tmp_path / "found"
    done = lipverify("falsify", path, "--seconds", "600", "--out", str(out), "--json")
    [told] = json.loads(done.stdout)
    assert done.returncode == 1, done.stdout + done.stderr
    assert told["where"]["d"] >= 10
    assert told["searched"] == ["d = 2 to 50"]
