"""Sampled risks: exact values, intervals that cover or a refusal, and models that are no functions of a prompt."""

from __future__ import annotations

from typing import Any

import array_api_strict
import numpy as np
import pytest

from lipverify.covariates import Coordinates, Gaussian, Mixture, Pool, Sphere
from lipverify.errors import InvalidInput, OutOfReach
from lipverify.linear_transformer import step_risk
from lipverify.prompts import Prompts, predictors, probability, risk, risk_curve
from lipverify.prompts.risks import _with_rare  # internal: the weights of single prompts
from lipverify.sampling import mean_with_half_width

HERE = Prompts(d=5, n=8, sigma=0.5)
LEAST_SQUARES, DESCENT = predictors.ridge(0.0), predictors.gradient_descent


@pytest.mark.parametrize(
    ("prompts", "model", "exact"),
    [
        (HERE.replace(n=20), LEAST_SQUARES, 5 * 0.25 / (20 - 5 - 1)),
        (HERE.replace(n=20, covariates=Gaussian([1.0, 2.0, 3.0, 4.0, 5.0])), LEAST_SQUARES, 5 * 0.25 / 14),
        (Prompts(d=10, n=10, covariates=Coordinates("uniform")), DESCENT(1, 50 / 33), 1.649832),
        (Prompts(d=10, n=10, covariates=Coordinates("uniform")), DESCENT(1, 10 / 7), 1.655329),
    ],
)
def test_a_risk_is_the_exact_one(prompts: Prompts, model: Any, exact: float) -> None:
    value, half_width = risk(prompts, model)
    assert abs(value - exact) < 1.5 * half_width < 0.05 * exact


def test_a_mean_over_the_query_and_its_samples_agree() -> None:
    here = HERE.replace(n=20, query=Sphere())
    weights, wrapped = DESCENT(1, 0.5), lambda x, y, query: DESCENT(1, 0.5)(x, y, query)
    exact = step_risk(here, 0.5 * np.eye(5)).value
    (mean, narrow), (value, wide) = (risk(here, model) for model in (weights, wrapped))
    assert abs(mean - exact) < 1.5 * narrow < wide
    assert abs(value - exact) < 1.5 * wide


def test_the_posterior_mean_errs_by_nothing_on_its_own_pool_and_by_much_on_new_tasks() -> None:
    pool = Pool(16)
    here = Prompts(d=8, n=20, tasks=pool)
    value, half_width = risk(here, predictors.dmmse(pool, 0.0))
    assert value == 0
    assert half_width < 0.03  # by the bound that the pool is
    other = predictors.Linear(predictors.dmmse(pool, 0.5).weights, pool="a layer of that name")  # type: ignore[arg-type]
    with pytest.raises(OutOfReach, match="a few samples carry most of it"):
        risk(here, other)
    new = here.replace(tasks=Coordinates())
    assert risk(new, predictors.dmmse(pool, 0.0))[0] > 3
    with pytest.raises(OutOfReach, match="did not vary"):
        risk(here, lambda x, y, query: 0 * y[:, 0], less=lambda x, y, query: 0 * y[:, 0])  # of which no bound is known


def test_the_posterior_mean_is_the_best_on_its_pool() -> None:
    pool = Pool(16)
    here = Prompts(d=8, n=6, tasks=pool, sigma=1.0)
    for other in (predictors.ridge(1.0), predictors.dmmse(pool, 0.5), predictors.dmmse(Pool(16, seed=1), 1.0)):
        value, half_width = risk(here, predictors.dmmse(pool, 1.0), less=other)
        assert value + half_width < 0


def test_a_difference_is_paired() -> None:
    one, other = predictors.ridge(0.25), predictors.ridge(0.5)
    value, half_width = risk(HERE, one, less=other)
    apart = [risk(HERE, model) for model in (one, other)]
    assert value == pytest.approx(apart[0][0] - apart[1][0], rel=1e-9)
    assert value + half_width < 0
    assert half_width < 0.5 * apart[0][1]


@pytest.mark.parametrize("cap", [0.5, 1e6])
def test_a_cap_gives_a_valid_interval_where_rare_prompts_rule(cap: float) -> None:
    six = DESCENT(6, 0.9)
    with pytest.raises(OutOfReach, match="a few samples carry most of it"):
        risk(HERE, lambda *batch: six(*batch))
    value, half_width = risk(HERE, six, most=cap)
    assert 0 < value < cap
    assert half_width < 0.02 if cap < 1 else half_width > 1


@pytest.mark.parametrize("covariates", [Coordinates(scale=2.0), Gaussian([1.0, 2.0, 3.0, 4.0, 5.0])])
@pytest.mark.parametrize("n", [7, 8, 20])
def test_importance_sampling_resolves_least_squares_near_n_equal_to_d(covariates: Any, n: int) -> None:
    here = HERE.replace(covariates=covariates, n=n, sigma=1.0)
    value, half_width = risk(here, LEAST_SQUARES)
    assert abs(value - 5 / (n - 6)) < 1.5 * half_width < 0.09 * 5 / (n - 6)


@pytest.mark.parametrize(("d", "n"), [(1, 1), (5, 4), (5, 8), (3, 30)])
def test_weights_of_rare_prompts_leave_every_mean_as_it_is(d: int, n: int) -> None:
    """Of 1, tr G, tr G^2 and, if it has one, tr G^-1: known moments of Wishart's law."""
    here = Prompts(d=d, n=n)
    chunks = [_with_rare(here.drawn(0, "a", k), np.eye(d), np.random.default_rng(k)) for k in range(20)]
    weight = np.concatenate([weight for _, weight in chunks])
    t = np.concatenate([np.linalg.eigvalsh(drawn.x.swapaxes(1, 2) @ drawn.x) for drawn, _ in chunks])
    moments: list[tuple[Any, float]] = [
        (np.ones_like(weight), 1),
        (t.sum(axis=1), n * d),
        ((t**2).sum(axis=1), n * d * (n + d + 1)),
    ]
    if n >= d + 2:
        moments.append(((1 / t).sum(axis=1), d / (n - d - 1)))
    for values, exact in moments:
        ratio = weight * values / exact
        assert abs(ratio.mean() - 1) < 4 * ratio.std() / len(ratio) ** 0.5 < 0.1
    assert weight.max() <= 2


SETTINGS: dict[str, tuple[Prompts, Any, float, int]] = {
    "two tokens more than d": (HERE.replace(n=7, sigma=1.0), LEAST_SQUARES, 5.0, 4000),
    "the same, of unknown weights": (HERE.replace(n=7, sigma=1.0), lambda *batch: LEAST_SQUARES(*batch), 5.0, 4000),
    "six steps": (HERE, DESCENT(6, 0.9), 23788.838170690622, 4000),
    "six of unknown weights": (HERE, lambda *batch: DESCENT(6, 0.9)(*batch), 23788.838170690622, 2000),
    "one step": (HERE, DESCENT(1, 0.9), step_risk(HERE, 0.9 * np.eye(5)).value, 4000),
    "many tokens": (HERE.replace(n=20, sigma=1.0), LEAST_SQUARES, 5 / 14, 2000),
}
"""Prompts, model, exact risk and contexts: of `benchmarks/coverage.py --predictors`, which takes 500 seeds of 20."""


@pytest.mark.parametrize("name", SETTINGS)
def test_an_interval_covers_or_is_refused(name: str) -> None:
    prompts, model, exact, contexts = SETTINGS[name]
    missed, refused, seeds = 0, 0, 60
    for seed in range(seeds):
        try:
            value, half_width = risk(prompts, model, contexts, seed)
        except OutOfReach:
            refused += 1
        else:
            missed += abs(value - exact) > half_width
    assert missed <= 0.07 * seeds + 3  # 3: two standard deviations of a count of mean 4
    assert refused > 0.8 * seeds if "unknown" in name else refused < 0.2 * seeds


@pytest.mark.parametrize(("a", "least", "most"), [(1.2, 95, 100), (1.8, 60, 95), (3.0, 0, 40), (6.0, 0, 10)])
def test_means_of_powers_are_covered_or_refused_and_only_heavy_tails_are(a: float, least: int, most: int) -> None:
    """P(x > t) = (1 + t)^-a, of mean 1 / (a - 1): up to a = 2 there is no variance for a normal interval."""
    missed, refused = 0, 0
    for seed in range(100):
        try:
            mean, half_width = mean_with_half_width(np.random.default_rng(seed).pareto(a, 4000))
        except OutOfReach:
            refused += 1
        else:
            missed += abs(mean - 1 / (a - 1)) > half_width
    assert least <= refused <= most
    assert missed <= 9


RARE: dict[str, tuple[Prompts, float]] = {
    "tasks of a pool": (Prompts(d=1, n=3, tasks=Pool([[1.0]] * 1999 + [[50.0]])), 0.05),
    "tasks of a mixture": (
        Prompts(d=1, n=3, tasks=Mixture([(0.999, Coordinates()), (0.001, Coordinates(scale=30.0))])),
        0.05,
    ),
    "queries": (Prompts(d=1, n=3, query=Pool([[1.0]] * 1999 + [[50.0]])), 0.05),
    "covariates": (Prompts(d=1, n=1, covariates=Coordinates("gamma", 0.05)), 1.0),
}


@pytest.mark.parametrize("name", RARE)
def test_rare_prompts_that_no_sample_shows_are_known_by_the_moments_of_their_law(name: str) -> None:
    """Without them a third to nine tenths of these seeds have intervals that miss the exact risk."""
    prompts, rate = RARE[name]
    exact, missed = step_risk(prompts, [[rate]]).value, 0
    step = predictors.gradient_descent(1, rate)
    model = (lambda x, y, query: step(x, y, query)) if name == "queries" else step
    for seed in range(40):
        try:
            value, half_width = risk(prompts, model, contexts=400, seed=seed)
        except OutOfReach:
            continue
        missed += abs(value - exact) > half_width
    assert missed <= 5


def test_an_exact_zero_is_inside_the_interval() -> None:
    """Least squares err by rounding alone without noise."""
    value, half_width = risk(Prompts(d=2, n=6), LEAST_SQUARES, contexts=2000)
    assert value <= half_width < 1e-25
    nothing = Prompts(d=2, n=4, tasks=Pool([[0.0, 0.0]]))
    value, half_width = risk(nothing, predictors.dmmse([[0.0, 0.0]], 0.0), contexts=200)
    assert (value, half_width) == (0.0, 0.0)


def test_light_tails_keep_the_normal_interval_and_scale() -> None:
    for values in (np.random.default_rng(0).random(5000), np.random.default_rng(0).standard_normal(5000)):
        mean, half_width = mean_with_half_width(values)
        assert half_width == pytest.approx(1.96 * values.std() / 5000**0.5, rel=0.03)
        for unit in (1e-200, 1e200):
            assert mean_with_half_width(values * unit) == pytest.approx((mean * unit, half_width * unit), rel=1e-12)
    exponential = np.random.default_rng(0).exponential(size=5000)
    assert mean_with_half_width(exponential)[1] < 1.15 * 1.96 * exponential.std() / 5000**0.5


def test_bounds_replace_what_samples_cannot_show() -> None:
    assert mean_with_half_width(np.zeros(1000), (0.0, 1.0)) == pytest.approx((0.0, 0.0), abs=0.01)
    with pytest.raises(InvalidInput, match="outside of its bounds"):
        mean_with_half_width(np.full(1000, 2.0), (0.0, 1.0))
    for values in (np.array([np.nan, 1.0]), np.ones((3, 2))):
        with pytest.raises(InvalidInput, match=r"finite numbers in one dimension"):
            mean_with_half_width(values)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: mean_with_half_width(np.linspace(0, 1, 200) + 1j), "values = "),  # type: ignore[arg-type]
        (lambda: mean_with_half_width(np.ones(200), ("a", "b")), "bounds = "),  # type: ignore[arg-type]
        (lambda: mean_with_half_width(["a"] * 200), "values = "),  # type: ignore[arg-type]
    ],
)
def test_samples_and_bounds_that_break_a_rule_are_refused(call: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        call()


def test_a_curve_has_the_risk_at_each_length() -> None:
    values, half_widths = risk_curve(HERE, predictors.ridge(0.25), [4, 8, 16], contexts=4000)
    assert np.all(np.diff(values) < 0)
    alone = risk(HERE.replace(n=16), predictors.ridge(0.25), contexts=4000)
    assert (values[-1], half_widths[-1]) == alone
    assert abs(values[1] - risk(HERE, predictors.ridge(0.25), seed=1)[0]) < 2 * half_widths[1]


def test_a_probability_has_an_interval_that_holds_the_exact_one() -> None:
    """<w, query> of the prediction 0 at d = 1, w and query signs: the squared error is 1; with another w it is w^2."""
    zero = predictors.Linear(lambda x, y: 0 * x[:, 0, :])
    signs = Prompts(d=1, n=1, tasks=Coordinates("sign"), query=Coordinates("sign"))
    for within, exact in ((0.5, 0.0), (1.0, 1.0)):
        middle, half_width = probability(signs, zero, within, contexts=1000)
        assert abs(middle - exact) <= half_width < 0.003
    normal, missed = signs.replace(tasks=Coordinates()), 0
    for seed in range(40):
        middle, half_width = probability(normal, zero, 1.0, contexts=200, seed=seed)
        missed += abs(middle - 0.6826894921) > half_width  # P(|w| <= 1)
    assert missed <= 5
    better, half_width = probability(HERE, predictors.ridge(0.25), 0.0, less=predictors.ridge(2.0), contexts=4000)
    assert better - half_width > 0.5


def test_a_model_of_another_array_library_has_the_same_risk() -> None:
    def model(x: Any, y: Any, query: Any) -> Any:
        assert x.__array_namespace__() is array_api_strict
        return predictors.softmax_attention(0.5)(x, y, query)

    here = HERE.replace(covariates=Sphere())
    there = risk(here, model, contexts=2000, xp=array_api_strict)
    assert there == pytest.approx(risk(here, predictors.softmax_attention(0.5), contexts=2000), rel=1e-12)


class Stateful:
    """A model with a running mean, as batch norm has."""

    mean = 0.0

    def __call__(self, x: Any, y: Any, query: Any) -> Any:
        self.mean = 0.9 * self.mean + 0.1 * float(y.mean())
        return y.mean(axis=1) - self.mean


class Late:
    """A model that is another one from its third batch on."""

    calls = 0

    def __call__(self, x: Any, y: Any, query: Any) -> Any:
        self.calls += 1
        return y.mean(axis=1) * (1.0 if self.calls < 3 else 1.1)


REFUSED: dict[str, tuple[Any, str]] = {
    "no law": (lambda: risk(None, LEAST_SQUARES), "prompts = None"),  # type: ignore[arg-type]
    "no function": (lambda: risk(HERE, 3), "predictor = 3"),  # type: ignore[arg-type]
    "shape": (lambda: risk(HERE, lambda x, y, query: y), r"shape \(1024, 8\)"),
    "weights": (lambda: risk(HERE, predictors.Linear(lambda x, y: y)), r"shape \(1024, 8\)"),
    "NaN": (lambda: risk(HERE, lambda x, y, query: np.where(y[:, 0] > 0, np.nan, 0.0)), r"returned nan for prompt"),
    "infinite weights": (lambda: risk(HERE, predictors.Linear(lambda x, y: x[:, 0] / 0.0)), "must be finite"),
    "text": (lambda: risk(HERE, lambda x, y, query: ["a"] * len(y)), "numbers"),
    "batch norm": (lambda: risk(HERE, lambda x, y, query: (y - y.mean()).mean(axis=1)), "rest of the batch"),
    "order": (lambda: risk(HERE, lambda x, y, query: np.arange(len(y)) + y[:, 0]), "rest of the batch"),
    "state": (lambda: risk(HERE, Stateful()), "earlier calls"),
    "a state, late": (lambda: risk(HERE, Late(), contexts=4000), "earlier calls"),
    "size of the batch": (lambda: risk(HERE, lambda x, y, query: y[:, 0] * (len(y) > 100)), "rest of the batch"),
    "batch of weights": (lambda: risk(HERE, predictors.Linear(lambda x, y: x[:, 0] - x[:, 0].mean(axis=0))), "batch"),
    "column": (lambda: risk(HERE, lambda x, y, query: y[:, :1]), r"shape \(1024, 1\)"),
    "nothing": (lambda: risk(HERE, lambda x, y, query: None), r"shape \(\)"),
    "ragged": (lambda: risk(HERE, lambda x, y, query: [[1], [1, 2]]), "array of real numbers"),
    "too many": (lambda: risk(HERE, LEAST_SQUARES, contexts=10**15), "contexts = 1000000000000000"),
    "dropout": (
        lambda: risk(HERE, lambda x, y, query: y.mean(axis=1) * np.random.default_rng().random(len(y))),
        "dropout",
    ),
    "writes": (lambda: risk(HERE, lambda x, y, query: y.__imul__(2.0)[:, 0]), "earlier calls"),
    "cap": (lambda: risk(HERE, LEAST_SQUARES, most=0.0), r"most = 0\.0"),
    "contexts": (lambda: risk(HERE, LEAST_SQUARES, contexts=0), "contexts = 0"),
    "too few": (lambda: risk(HERE, LEAST_SQUARES, contexts=50), "50 samples are too few"),
    "seed": (lambda: risk(HERE, LEAST_SQUARES, seed=-1), "seed = -1"),
    "lengths": (lambda: risk_curve(HERE, LEAST_SQUARES, [0]), "lengths = 0"),
    "no lengths": (lambda: risk_curve(HERE, LEAST_SQUARES, []), "lengths = "),
    "complex": (lambda: risk(HERE, lambda x, y, query: y[:, 0] + 0j), "array of real numbers"),
    "within": (lambda: probability(HERE, LEAST_SQUARES, float("nan")), "within = nan"),
    "pool": (lambda: risk(HERE, predictors.dmmse([[1.0, 2.0]], 0.5)), r"members are in R\^2 and d = 5"),
    "a large pool": (lambda: risk(HERE.replace(tasks=Pool(10**12)), LEAST_SQUARES), "from 1 to 10000000"),
    "kernel": (lambda: risk(HERE, predictors.nadaraya_watson(lambda x, query: x)), "must return weights"),
    "no kernel": (lambda: risk(HERE, predictors.nadaraya_watson(lambda x, query: None)), "kernel returned None"),
    "signs": (lambda: risk(HERE, predictors.nadaraya_watson(lambda x, query: -np.ones(x.shape[:2]))), "weights >= 0"),
    "heads": (lambda: predictors.softmax_attention(1.0, heads=["a"]), "heads = "),  # type: ignore[list-item]
    "no heads": (lambda: predictors.softmax_attention(1.0, heads=[float("nan")]), "heads = nan"),
    "layers": (lambda: predictors.transformer(3), "layers = 3"),  # type: ignore[arg-type]
    "prior": (lambda: predictors.ridge(1.0, [[1.0, 5.0], [0.0, 1.0]]), "symmetric positive semidefinite"),
    "negative prior": (lambda: predictors.ridge(1.0, [[-1.0]]), "symmetric positive semidefinite"),
    "small noise": (lambda: predictors.dmmse([[1.0]], 1e-300), "sigma = 1e-300"),
    "a large cap": (lambda: risk(HERE, LEAST_SQUARES, most=1e300), r"most = 1e\+300"),
    "overflow": (lambda: risk(HERE.replace(sigma=1e200), predictors.nearest_neighbours(1)), "smaller unit of y"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_breaks_a_rule_is_refused_in_one_line(name: str) -> None:
    call, words = REFUSED[name]
    with (
        np.errstate(divide="ignore", invalid="ignore", over="ignore"),
        pytest.raises((InvalidInput, OutOfReach), match=words) as error,
    ):
        call()
    assert "\n" not in str(error.value)
