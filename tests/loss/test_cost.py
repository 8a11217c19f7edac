"""The cost of an exact loss: estimated before it begins, kept to a budget, shown, and the same on every machine."""

from __future__ import annotations

import tracemalloc
import warnings
from typing import Any

import numpy as np
import pytest

from lipverify import Problem, budget, loss_cost, loss_terms, optimal_window
from lipverify.errors import OutOfReach
from lipverify.laws import Affine, Cosine, ReLU, Ridge

# internal: its limits are set so that every loss exceeds them
from lipverify.loss import work
from lipverify.loss.exact.ridge import cost as estimates  # internal: the estimates are set to nothing
from lipverify.loss.work import (  # internal: the cost of a call, counted next to its estimate
    GIB,
    Cost,  # internal: a type of result
    counted,
    price_of,
)


def root(z: Any) -> Any:
    return np.abs(z - 0.5) ** 0.3


def kinked(*kinks: float) -> Ridge:
    """A new law each time, without any tables."""
    return Ridge(lambda z: sum(np.abs(z - at) for at in kinks) + np.sin(3 * z), kinks=kinks)


@pytest.mark.parametrize("w", [1e-13, 1e-9, 1e-7, 1e-4])
@pytest.mark.parametrize("kinks", [(), (0.5,)])
def test_a_root_at_a_flat_window_is_small_and_quick(w: float, kinks: tuple[float, ...]) -> None:
    """It requested 184 TiB at w = 1e-13 and 19 GiB at 1e-9, and did not end at 1e-7."""
    problem = Problem(d=30, n=65, law=Ridge(root, kinks=kinks))
    cost = loss_cost(problem, w)
    assert cost.seconds < 1
    assert cost.memory < 0.2
    tracemalloc.start()
    with counted() as meter, warnings.catch_warnings():
        warnings.simplefilter("error")
        terms = loss_terms(problem, w)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert meter.done < 1
    assert peak < 0.2 * GIB
    flat = loss_terms(problem, 0.0)
    # all weights are within e^{2w} of each other
    assert abs(terms.bias - flat.bias) <= terms.bias_error + flat.bias_error + 10 * w * flat.bias


def test_the_other_route_is_refused_at_once() -> None:
    with counted() as meter, pytest.raises(OutOfReach, match=r"panels.*montecarlo"):
        loss_terms(Problem(d=30, n=65, law=Ridge(root, kinks=(0.5,))), 1e-13, route="ridge")
    assert meter.done < 1


@pytest.mark.parametrize(
    ("problem", "w"),
    [
        (Problem(d=3, n=100, law=Affine()), 3.0),
        (Problem(d=8, n=1e6, law=ReLU()), 50.0),
        (Problem(d=2, n=50, law=Cosine(L=5.0)), 10.0),
        (Problem(d=5, n=1000, law=kinked(0.2)), 5.0),
        pytest.param(Problem(d=3, n=1000, law=kinked(-0.5, 0.1, 0.4)), 5.0, marks=pytest.mark.slow),
        (Problem(d=4, n=30, law=Ridge(np.tanh)), 2.0),
    ],
    ids=lambda each: f"{each.law.name} {each.d}" if isinstance(each, Problem) else str(each),
)
def test_an_estimate_predicts_the_counted_evaluations(problem: Problem, w: float) -> None:
    """Counts, not seconds: the same everywhere. Short losses are estimated from above."""
    cost = loss_cost(problem, w)
    with counted() as meter:
        loss_terms(problem, w)
    assert loss_cost(problem, w) == cost
    assert meter.done < 3 * cost.seconds
    assert cost.seconds < 3 * meter.done + 0.5


def test_a_loss_beyond_its_budget_is_refused_before_it_begins() -> None:
    calls = []

    def link(z: Any) -> Any:
        calls.append(np.size(z))
        return np.abs(z - 0.3) ** 0.4 + np.abs(z + 0.4) ** 0.4 + np.abs(z - 0.7) ** 0.4

    problem = Problem(d=20, n=1000, law=Ridge(link, kinks=(-0.4, 0.3, 0.7)))
    cost = loss_cost(problem, 10.0, route="ridge")
    assert cost.seconds > 5
    before = sum(calls)
    with budget(1.0) as meter, pytest.raises(OutOfReach) as refusal:
        loss_terms(problem, 10.0, route="ridge")
    assert meter.done < 0.1 * cost.seconds
    assert sum(calls) - before < 1e6
    for part in ("would take about", "the variogram of the link", "the budget is 1 s", "kinks=", "montecarlo"):
        assert part in str(refusal.value)


def test_a_loss_beyond_the_memory_is_refused() -> None:
    """Of a smooth link that needs the largest table."""
    law = Ridge(lambda z: np.exp(-((z / 0.05) ** 2)))
    problem = Problem(d=10, n=1e6, law=law)
    assert loss_cost(problem, 1.0, route="ridge").memory > 0.5
    with pytest.raises(OutOfReach, match=r"GiB.*budget is 0\.1 GiB"):
        loss_terms(problem, 1.0, route="ridge", memory=0.1)


def test_losses_in_one_budget_share_it() -> None:
    problem = Problem(d=3, n=1000, law=kinked(-0.2, 0.5))
    with counted() as one:
        loss_terms(problem, 4.0)
    with budget(50 * one.done) as meter:
        for _ in range(3):
            loss_terms(problem.replace(law=kinked(-0.2, 0.5)), 4.0)
    assert 2.5 * one.done < meter.done < 3.5 * one.done  # results that do not depend on the link are tabulated once
    with budget(50 * one.done) as meter:
        meter.done = 49.9 * one.done
        with pytest.raises(OutOfReach, match="budget"):
            loss_terms(problem.replace(law=kinked(-0.2, 0.5)), 4.0)


def test_all_losses_of_a_window_count() -> None:
    with counted() as one:
        loss_terms(Problem(d=4, n=1000, law=kinked(0.1)), 4.0)
    with budget(1000.0) as meter:
        optimal_window(Problem(d=4, n=1000, law=kinked(0.1)))
    assert meter.done > one.done
    with pytest.raises(OutOfReach, match="budget"):
        optimal_window(Problem(d=4, n=1001, law=kinked(0.1)), budget=meter.done / 10)


def test_an_estimate_that_was_too_low_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimates, "_variogram", lambda law, d, kinks: 0.0)
    monkeypatch.setattr(estimates, "TRACING", 1e-3)
    problem = Problem(d=6, n=100, law=kinked(-0.3, 0.6))
    budgeted = loss_cost(problem, 3.0).seconds * 1.01
    with budget(budgeted) as meter, pytest.raises(OutOfReach, match=r"stopped after .* more than 3 times the budget"):
        loss_terms(problem, 3.0)
    assert 3 * budgeted < meter.done


def test_progress_rises_to_the_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "LONG", 0.0)
    calls: list[tuple[int, int]] = []
    loss_terms(Problem(d=6, n=100, law=kinked(-0.1, 0.7)), 3.0, progress=lambda *call: calls.append(call))
    assert len(calls) > 3
    assert all(done <= expected for done, expected in calls)
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)


def test_a_short_loss_calls_no_progress() -> None:
    def progress(done: int, expected: int) -> None:
        raise AssertionError

    loss_terms(Problem(d=6, n=100, law=ReLU()), 3.0, progress=progress)


def test_a_long_loss_that_nobody_follows_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "MANY", 0.01)
    problem = Problem(d=6, n=100, law=kinked(-0.15, 0.7))
    with pytest.warns(UserWarning, match=r"takes about .* s, most of it .*progress="):
        loss_terms(problem, 3.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loss_terms(problem.replace(law=kinked(-0.15, 0.7)), 3.0, progress=lambda done, expected: None)


def test_the_price_of_a_link_follows_from_its_calls() -> None:
    assert price_of(np.abs) < price_of(np.sin) < price_of(lambda z: np.sin(z) + np.sin(2 * z) ** 0.3)
    assert price_of(lambda z: [float(each) for each in z]) > 0


def test_the_record_reads() -> None:
    cost = Cost(seconds=12.34, memory=0.5, stage="harmonics")
    assert str(cost).startswith("Cost(about 12 s and 0.5 GiB, most of it harmonics")
