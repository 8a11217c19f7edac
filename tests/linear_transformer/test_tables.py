"""Independent tables, plain training, and the numbers that claims compute from them."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from lipverify.checks.linear_transformers import independent_tables, plain_runs, table_figures
from lipverify.checks.linear_transformers.quantities import DEPTHS, NOISE_LAWS
from lipverify.errors import InvalidInput
from lipverify.foundation.store import read_record, sealed, write_record  # internal: a file is forged and read
from lipverify.linear_transformer import draw_contexts, estimate, evaluation, trainings
from lipverify.linear_transformer.published import printed, regression_named
from lipverify.linear_transformer.regression import SEQUENCES

# internal: parts of tables before they are averaged
from lipverify.linear_transformer.training import protocol, tables

# internal: the kernel's batch, whose losses a training descends
from lipverify.linear_transformer.training.native import Packed

ERRORS = 5.0
"""The tolerance of a sampled mean in standard errors; a false alarm in two million."""


def test_a_part_agrees_with_its_definition() -> None:
    """Losses compared with ridge regression at the true variance, solved here, on contexts of the same address."""
    model = trainings("levels-1-3", "FULL", 3)[1]
    held_out = tables.part("levels-1-3", 2, 0, 0)
    found = tables.part_means(held_out, {"FULL-3-1": model})["FULL-3-1"]
    drawn = draw_contexts(regression_named("levels-1-3"), SEQUENCES // 10, 0, "tables/levels-1-3/2/0")
    shifted = drawn.covariance + (drawn.sigma**2)[:, None, None] * np.eye(10)
    ridge = np.linalg.solve(shifted, drawn.alpha[..., None])[..., 0]
    losses = np.sum((estimate(model.model, drawn) - ridge) ** 2, axis=1) / 2
    assert found == pytest.approx(float(losses.mean()), rel=1e-9)


def test_stored_tables_equal_new_measurements() -> None:
    found = tables.column("uniform-3", 0, 1)
    assert found.number == 1
    assert found.stored.keys() == found.anew.keys()
    for name, value in found.anew.items():
        assert value == pytest.approx(found.stored[name], rel=1e-6), name
    assert found.means["GD++-1"][0] == pytest.approx(1.1757, rel=0.02)  # printed: 1.175
    for name in ("GD++-1", "DIAG-2-0"):
        (loss, error), (sampled, other) = found.protocol[name]
        assert abs(loss - sampled) <= ERRORS * other
        assert error < other  # the protocol leaves the average over query and task to chance
    assert 0.003 < found.printed_errors["GD++-2"] < 0.006  # one or two percent of .265
    assert set(found.printed_errors) >= {"FULL-7", "AdaRR", "DIAG-1"}


def test_tables_of_other_models_or_edited_ones_are_refused(tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    stored = tables.stored_tables("uniform-3")
    other = msgspec.structs.replace(stored, models={**stored.models, "DIAG-2-0": "another"})
    monkeypatch.setattr(tables, "tables_path", lambda noise: tmp_path / "tables.json.xz")
    for record, message in (
        (other, "digest"),
        (sealed(other), "has changed since"),
    ):
        write_record(record, tmp_path / "tables.json.xz")
        tables.stored_tables.cache_clear()
        with pytest.raises(InvalidInput, match=message):
            tables.stored_tables("uniform-3")
    tables.stored_tables.cache_clear()


def test_every_law_has_as_many_tables_as_the_guide_says() -> None:
    counts = {noise: tables.stored_tables(noise).count for noise in NOISE_LAWS}
    assert {noise: count for noise, count in counts.items() if count < 20} == {}
    assert counts["uniform-0"] == 150


LOSSES = {
    "met": [0.9] * 50 + [1.0] * 60 + [1e9] * 40,
    "among its tables": [0.01] * 90 + [1e9] * 60,
    "above": [1.2] * 150,
    "below": [0.5] * 150,
    "open": [1.0] * 9 + [1.2] * 141,
}
"""Means of 150 tables, over the printed loss, by the outcome that they give."""


@pytest.mark.parametrize("outcome", LOSSES)
def test_without_noise_an_entry_is_met_only_if_the_median_is_near_it(outcome: str) -> None:
    """A tolerance with the error of the printed number is there several times the number, and would allow 0."""
    entry = printed("uniform-0", "DIAG", 5).value
    models = dict.fromkeys(
        independent_tables.of_form("uniform-0", "DIAG", 5), tuple(entry * k for k in LOSSES[outcome])
    )
    found = tables.Column(means=models, printed_errors={}, number=0, stored={}, anew={}, protocol={})
    assert table_figures.outcome("uniform-0", "DIAG", 5, found) == outcome


def test_the_tolerance_of_an_entry_with_noise_is_smaller_than_the_entry() -> None:
    """Otherwise a loss of 0 would count as the printed one."""
    here = tables.column("uniform-1", 0, 0)  # one digit is printed
    for model in ("GD++", "DIAG", "FULL"):
        for k in DEPTHS:
            assert independent_tables.unit("uniform-1", model, k, here) < printed("uniform-1", model, k).value


def test_the_best_model_known_of_a_form_may_be_of_a_smaller_family() -> None:
    means = tables.stored_tables("uniform-3").means
    best = plain_runs.best_known("uniform-3", "FULL", 3)
    assert best in trainings("uniform-3", "LOWRANK", 3).values()
    assert np.median(means["LOWRANK-3-2"]) < min(np.median(means[f"FULL-3-{k}"]) for k in range(3))
    assert plain_runs.best_known("uniform-3", "FULL", 3, ("FULL",)) in trainings("uniform-3", "FULL", 3).values()


def test_the_best_run_of_three_full_layers_falls_in_its_second_half() -> None:
    run = protocol.runs("uniform-3").best("FULL", 3)
    assert run.losses[-1] < run.losses[len(run.losses) // 2] - 0.01


@given(st.integers(6, 40))
def test_the_interval_of_a_median_holds_it_as_often_as_it_says(count: int) -> None:
    """By the binomial law of the number of values below the median; an interval shorter by one would be too short."""
    value, error = independent_tables.median(list(np.arange(count, dtype=float)))
    inside = round(count / 2 - 0.5 - error)  # values 0, 1, ...: this many are below the interval
    assert value == (count - 1) / 2
    assert 1 - 2 * binom.cdf(inside, count, 0.5) >= 0.95 > 1 - 2 * binom.cdf(inside + 1, count, 0.5)


def test_few_tables_give_no_interval_and_one_outlier_does_not_move_the_median() -> None:
    assert independent_tables.median([1.0, 1.1, 0.9])[1] == math.inf
    calm = [1 + 0.001 * k for k in range(17)]
    value, error = independent_tables.median([*calm, 1e10, 1e100, 1e300])
    assert 1.0 < value < 1.02
    assert error < 0.02


def test_the_interval_of_a_median_is_as_far_up_as_down_from_its_middle_alone() -> None:
    """17 quotients above 1, some of which explode: their interval is above 1, median less half width is not."""
    quotients = [1.5 * 3.0**k for k in range(17)]
    (low, high), (middle, half), (value, error) = (
        of(quotients) for of in (independent_tables.ends, independent_tables.between, independent_tables.median)
    )
    assert middle - half == pytest.approx(low)
    assert middle + half == pytest.approx(high)
    assert middle - half > 1
    assert value - error < 0
    assert independent_tables.between([1.0, 2.0])[1] == math.inf


def test_the_least_median_is_that_of_a_model_that_does_not_explode() -> None:
    """One that explodes in most tables has no upper bound, and does not widen the others'."""
    calm, wild = [1 + 0.001 * k for k in range(20)], [0.9, *[1e100] * 19]
    value, error = independent_tables.least([calm, wild])
    assert value + error <= calm[-1]
    assert value - error >= calm[0]
    alone = independent_tables.median(calm)[1]
    assert error >= alone  # for two intervals to hold simultaneously each must be wider


@pytest.mark.parametrize(("count", "total"), [(0, 20), (3, 20), (20, 20)])
def test_the_interval_of_a_share_is_that_of_clopper_and_pearson(count: int, total: int) -> None:
    middle, half = independent_tables.share(count, total)
    low, high = middle - half, middle + half
    assert binom.sf(count - 1, total, low) == pytest.approx(0.025) if count else low == 0
    assert binom.cdf(count, total, high) == pytest.approx(0.025) if count < total else high == 1


def test_plain_training_descends_along_its_gradient() -> None:
    drawn = draw_contexts(regression_named("uniform-3"), 256, 0, "test/protocol")
    batch = Packed(drawn.gram, drawn.task, np.full(256, 1 / 256))
    for family in ("GD++", "DIAG", "FULL"):
        at = protocol._Training(family, 2, 0).weights
        move = 1e-6 * np.random.default_rng(0).standard_normal(at.shape)

        def loss(weights: np.ndarray, family: str = family) -> float:
            return float(batch.losses(protocol._numbers(family, weights), np.inf)[0].mean())

        slope = protocol._pulled(family, at, batch.losses(protocol._numbers(family, at), np.inf)[1])
        assert (loss(at + move) - loss(at - move)) / 2 == pytest.approx(float((slope * move).sum()), rel=1e-5)


@pytest.mark.parametrize(
    "family", [pytest.param(each, marks=[pytest.mark.slow] * (each == "GD++")) for each in protocol.SHAPES]
)
def test_the_losses_of_a_run_belong_to_its_model(family: str) -> None:
    """The last batches' loss, which is not adjusted and capped at d/2, is that of the layers on fresh contexts."""
    run = protocol.runs("uniform-3").best(family, 2)
    held_out = evaluation(draw_contexts(regression_named("uniform-3"), 20_000, 1, "test/runs"))
    w = estimate(run.model, held_out.contexts)
    losses = np.minimum(np.sum((w - held_out.contexts.task) ** 2, axis=1) / 2, 5.0)
    assert run.losses[-1] == pytest.approx(float(losses.mean()), rel=0.05)
    assert np.allclose(run(held_out.contexts), w, rtol=1e-9, atol=1e-9 * np.abs(w).max())


def test_a_short_training_is_stored_as_it_ran(tmp_path: Path) -> None:
    """A command adds its runs to the file, and another command keeps them; the same seed gives the same run."""
    path, command = tmp_path / "protocol.json", ["--layers", "1", "--steps", "10", "--out"]
    for family in ("GD++", "DIAG"):
        protocol.main(["--family", family, *command, str(path)])
    stored = read_record(path, protocol.Runs, protocol.FORMAT, "runs", "")
    assert [(run.family, run.steps) for run in stored.runs] == [("GD++", 10)] * 5 + [("DIAG", 10)] * 5
    (_, again), *_ = protocol.trained("uniform-3", [("DIAG", 1)], 10)
    assert again == stored.of("DIAG", 1)
    assert len(stored.seconds) == 2
