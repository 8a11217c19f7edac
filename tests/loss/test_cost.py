"""The work of an exact loss: counted, kept to a budget, shown, and the same on every machine."""

from __future__ import annotations

import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lipverify import Problem, budget, loss_terms, optimal_window
from lipverify.errors import OutOfReach
from lipverify.laws import Affine, ReLU, Ridge
from lipverify.loss import work  # internal: its limits are set so that every loss exceeds them
from tests.commands import Commands, Done

EVER = 1e9
"""A budget that no loss exceeds."""


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
    tracemalloc.start()
    with budget(EVER) as meter, warnings.catch_warnings():
        warnings.simplefilter("error")
        terms = loss_terms(problem, w)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert meter.done < 1
    assert peak < 0.2 * 2**30
    flat = loss_terms(problem, 0.0)
    # all weights are within e^{2w} of each other
    assert abs(terms.bias - flat.bias) <= terms.bias_error + flat.bias_error + 10 * w * flat.bias


def test_a_loss_beyond_its_budget_is_refused_in_time() -> None:
    """The search for an order foresees the table, whose values would be twenty times as many."""
    calls = []

    def link(z: Any) -> Any:
        calls.append(np.size(z))
        return np.abs(z - 0.3) ** 0.4 + np.abs(z + 0.4) ** 0.4

    problem = Problem(d=20, n=1000, law=Ridge(link, kinks=(-0.4, 0.3)))
    with budget(1.0) as meter, pytest.raises(OutOfReach) as refusal:
        loss_terms(problem, 10.0, route="ridge")
    assert meter.done < 0.5
    assert sum(calls) < 3e7
    for part in ("its budget of 1 s", "the variogram of the link", "kinks=", "montecarlo"):
        assert part in str(refusal.value)


def test_a_route_leaves_half_of_the_budget_to_the_other() -> None:
    """The harmonics take a second, and the variogram of the roots more than twenty."""
    problem = Problem(
        d=20, n=1000, law=Ridge(lambda z: np.abs(z - 0.3) ** 0.4 + np.abs(z + 0.4) ** 0.4, kinks=(-0.4, 0.3))
    )
    terms = loss_terms(problem, 80.0, budget=6.0)
    assert "ridge: the exact loss takes more than its budget of 6 s, of which 50% is for this route" in terms.reason
    alone = loss_terms(problem, 80.0, route="zonal")
    assert (terms.bias, terms.noise) == (alone.bias, alone.noise)


def test_a_loss_beyond_the_memory_is_refused() -> None:
    with pytest.raises(OutOfReach, match="do not fit into memory"):
        loss_terms(Problem(d=10**6, n=100, law=Affine()), 1e6, route="ridge")


def test_losses_in_one_budget_share_it() -> None:
    problem = Problem(d=3, n=1000, law=kinked(-0.2, 0.5))
    with budget(EVER) as one:
        loss_terms(problem, 4.0)
    with budget(50 * one.done) as meter:
        for _ in range(3):
            loss_terms(problem.replace(law=kinked(-0.2, 0.5)), 4.0)
    assert 2.5 * one.done < meter.done < 3.5 * one.done  # results that do not depend on the link are tabulated once
    with budget(50 * one.done) as meter:
        meter.done = 49.9999 * one.done
        with pytest.raises(OutOfReach, match="budget"):
            loss_terms(problem.replace(law=kinked(-0.2, 0.5)), 4.0)


def test_all_losses_of_a_window_count() -> None:
    with budget(EVER) as one:
        loss_terms(Problem(d=4, n=1000, law=kinked(0.1)), 4.0)
    with budget(1000.0) as meter:
        optimal_window(Problem(d=4, n=1000, law=kinked(0.1)))
    assert meter.done > one.done
    with pytest.raises(OutOfReach, match="budget"):
        optimal_window(Problem(d=4, n=1001, law=kinked(0.1)), budget=meter.done / 10)


def test_progress_rises_below_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "LONG", 0.0)
    calls: list[tuple[int, int]] = []
    loss_terms(Problem(d=6, n=100, law=kinked(-0.1, 0.7)), 3.0, progress=lambda *call: calls.append(call))
    assert len(calls) > 3
    assert all(done <= limit == 3000 for done, limit in calls)
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)


def test_a_short_loss_calls_no_progress() -> None:
    def progress(done: int, limit: int) -> None:
        raise AssertionError

    loss_terms(Problem(d=6, n=100, law=ReLU()), 3.0, progress=progress)


def test_a_long_loss_that_nobody_follows_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "MANY", 0.01)
    problem = Problem(d=6, n=100, law=kinked(-0.15, 0.7))
    with pytest.warns(UserWarning, match=r"has taken .* s of its budget of 300 s, now for .*progress="):
        loss_terms(problem, 3.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loss_terms(problem.replace(law=kinked(-0.15, 0.7)), 3.0, progress=lambda done, limit: None)


def asked(folder: Path, capture: pytest.CaptureFixture[str], *arguments: str) -> Done:
    (folder / "own.py").write_text(
        "import numpy as np\nfrom lipverify.laws import Ridge\n"
        "LAW = Ridge(lambda z: np.abs(z - .3)**.4 + np.abs(z + .4)**.4, kinks=(-.4, .3))\n"
    )
    given = ("--d", "20", "--n", "1000", "--w", "10", "--law", f"{folder}/own.py:LAW")
    return Commands(capture)("loss", *given, *arguments)


def test_the_command_refuses_work_beyond_its_budget(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = asked(tmp_path, capsys, "--route", "ridge", "--budget", "1")
    assert (done.returncode, done.stdout) == (2, "")
    # on a busy machine a log has a line of progress after two seconds
    [line] = [line for line in done.stderr.splitlines() if not line.startswith("worked ")]
    assert "its budget of 1 s" in line
    done = asked(tmp_path, capsys, "--budget", "1", "--method", "montecarlo")
    assert done.returncode == 2
    assert "budget is an option of method 'exact'" in done.stderr
