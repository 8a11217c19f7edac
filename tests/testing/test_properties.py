"""The properties: a correct method passes them, and each property detects the faults that it is made for."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from lipverify import LossTerms, Problem, loss_terms, optimal_window
from lipverify.errors import InvalidInput, OutOfReach
from lipverify.laws import Affine, Bound, Cosine, Law, Linear, LowRank, Quadratic, ReLU, Ridge, Sampled, Zonal
from lipverify.optimum import Optimum
from lipverify.properties import (
    agree,
    bias_scales,
    covers,
    is_a_minimum,
    is_isotropic,
    is_lipschitz,
    keeps_its_extents,
    noise_is_between,
    noise_scales,
    weights_are_equal,
)
from lipverify.properties.ratio import require  # internal: the inequality behind each property, without the property
from lipverify.strategies import (
    constants,
    dimensions,
    named_laws,
    problems,
    ridge_laws,
    rotations,
    windows,
)
from tests.strategies import target

Estimator = Callable[[Problem, Any], LossTerms]
Drawn = dict[str, Any]
zonal = partial(loss_terms, route="zonal")

QUICK = named_laws("affine", "quadratic")
"""Laws for which the exact method is fastest; the faults below do not depend on the law."""
SMALL = problems(d=(2, 8), n=(2, 1e6), law=QUICK)


def changed(**changes: Callable[[LossTerms], Any]) -> Estimator:
    """The exact method with a fault: some fields are computed from the right ones."""

    def estimator(problem: Problem, w: Any) -> LossTerms:
        right = loss_terms(problem, w)
        return msgspec.structs.replace(right, **{name: change(right) for name, change in changes.items()})

    return estimator


def for_another(problem_of: Callable[[Problem], Problem]) -> Estimator:

    def estimator(problem: Problem, w: Any) -> LossTerms:
        return msgspec.structs.replace(loss_terms(problem_of(problem), w), problem=problem)

    return estimator


def at_windows(check: Callable[[LossTerms], float]) -> Callable[[Estimator, Drawn], float]:
    return lambda estimator, drawn: check(estimator(drawn["problem"], drawn["w"]))


def crowded(rng: np.random.Generator, contexts: int, d: int) -> Callable[[Any], Any]:
    """Functions whose directions prefer the first axis."""
    q = rng.standard_normal((contexts, 1, d)) * np.array([2.0, *[1.0] * (d - 1)])
    return lambda x: np.tanh((q * x).sum(axis=-1))


class Tilted(Affine, frozen=True, tag="tilted"):
    """A law that claims to be isotropic, and is twice as rough along the first axis."""

    def values(self, tasks: Any, points: Any, xp: Any) -> list[Any]:
        return super().values(tasks, points * np.array([2.0, *[1.0] * (points.shape[-1] - 1)]), xp)

    def bounds(self, radius: float = 1.0) -> tuple[Bound, ...]:
        return super().bounds(2 * radius)


class Understated(Affine, frozen=True, tag="understated"):
    """A law whose stated extent is a tenth too small."""

    def bounds(self, radius: float = 1.0) -> tuple[Bound, ...]:
        return (Bound(0.9 * super().bounds(radius)[0].extent),)


def optimum_of(problem: Problem, off: float = 1.0, cheaper: float = 1.0) -> Optimum:
    """The optimal w times a factor; its loss is the loss there, or a smaller one."""
    right = optimal_window(problem)
    if off == cheaper == 1:
        return right
    w = off * right.w
    terms = loss_terms(problem, w)
    loss, error = cheaper * float(terms.total), float(terms.total_error)
    return msgspec.structs.replace(right, w=w, loss=loss, loss_error=error)


def covers_terms(terms: LossTerms, reference: LossTerms) -> float:
    return max(
        covers(terms.bias, terms.bias_error, reference.bias, reference.bias_error),
        covers(terms.noise, terms.noise_error, reference.noise, reference.noise_error),
    )


def together(**parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Drawn]:
    return st.fixed_dictionaries(parts)


@dataclass(frozen=True)
class Power:
    """A property, its random inputs, a correct method, and the faults that it must detect within the given number of
    examples.
    """

    check: Callable[[Any, Drawn], float]
    drawn: st.SearchStrategy[Drawn]
    right: Any
    mutants: dict[str, Any]
    examples: int = 20


AT_ZERO = together(problem=SMALL, w=st.just(0.0))
SCALED = together(problem=SMALL, w=windows(0.0, 100.0), factor=constants(1.5, 10.0))

POWER: dict[str, Power] = {
    "noise_is_between": Power(
        at_windows(noise_is_between),
        together(problem=SMALL, w=windows(0.0, 100.0)),
        loss_terms,
        {
            "half the noise": changed(noise=lambda t: t.noise / 2),
            "n + 1 for n": changed(noise=lambda t: t.noise * t.problem.n / (t.problem.n + 1)),
            "sigma for sigma squared": changed(noise=lambda t: t.noise / t.problem.sigma),
            "wrong sign": changed(noise=lambda t: -t.noise),
            "not a number": changed(noise=lambda t: t.noise * math.nan),
        },
    ),
    "weights_are_equal": Power(
        at_windows(weights_are_equal),
        AT_ZERO,
        loss_terms,
        {
            "n - 1 for n": for_another(lambda p: p.replace(n=p.n - 1)),
            "n + 1 for n": for_another(lambda p: p.replace(n=p.n + 1)),
            "twice the noise": changed(noise=lambda t: 2 * t.noise),
            "without the query's own variance": changed(bias=lambda t: t.bias / (1 + t.problem.n)),
            "d + 1 for d": for_another(lambda p: p.replace(d=p.d + 1)),
        },
    ),
    "noise_scales": Power(
        lambda estimator, drawn: noise_scales(**drawn, loss=estimator),
        SCALED,
        loss_terms,
        {
            "sigma for sigma squared": changed(noise=lambda t: t.noise / t.problem.sigma),
            "a bias with noise in it": changed(bias=lambda t: t.bias + 1e-6 * t.noise),
            "sigma forgotten": for_another(lambda p: p.replace(sigma=1.0)),
        },
    ),
    "bias_scales": Power(
        lambda estimator, drawn: bias_scales(**drawn, loss=estimator),
        SCALED,
        loss_terms,
        {
            "L for L squared": changed(bias=lambda t: t.bias / t.problem.law.L),  # type: ignore[attr-defined]
            "a noise with bias in it": changed(noise=lambda t: t.noise + 1e-6 * t.bias),
            "L forgotten": for_another(lambda p: p.replace(law=type(p.law)())),
        },
    ),
    "agree": Power(
        lambda estimator, drawn: agree(**drawn, methods=(estimator, zonal)),
        together(problem=problems(d=(2, 8), n=(10, 1e6), law=QUICK), w=windows(0.5, 5.0)),
        loss_terms,
        {
            "one part in a million more": changed(bias=lambda t: t.bias * (1 + 1e-6)),
            "n + 1 for n": for_another(lambda p: p.replace(n=p.n + 1)),
            "the scale of a Gaussian": lambda problem, w: loss_terms(problem, 2 * w),
            "too blunt to say anything": changed(bias=lambda t: 2 * t.bias, bias_error=lambda t: 2 * t.bias),
        },
    ),
    "covers": Power(
        lambda estimator, drawn: covers_terms(estimator(drawn["problem"], drawn["w"]), zonal(**drawn)),
        together(problem=problems(d=(2, 8), n=(10, 1e6), law=QUICK), w=windows(0.5, 5.0)),
        loss_terms,
        {
            "off by a part in ten million": changed(bias=lambda t: t.bias * (1 + 1e-7)),
            "an error of nothing, and a value that is off": changed(
                noise=lambda t: t.noise * (1 + 1e-9), noise_error=lambda t: 0 * t.noise
            ),
            "an error that is no number": changed(noise_error=lambda t: t.noise * math.nan),
        },
    ),
    "is_isotropic": Power(
        lambda law, drawn: is_isotropic(law, **drawn),
        dimensions(2, 5).flatmap(lambda d: together(d=st.just(d), rotation=rotations(d))),
        ReLU(L=2.0),
        {
            "twice as rough along an axis": Tilted(),
            "a function of one coordinate": Sampled(lambda rng, contexts, d: lambda x: x[..., 0], extent=2.0),
            "directions that crowd around an axis": Sampled(crowded, extent=2.0),
        },
    ),
    "is_lipschitz": Power(
        lambda law, drawn: is_lipschitz(law, **drawn),
        together(d=dimensions(2, 10), L=st.just(1.0)),
        ReLU(L=1.0),
        {
            "a constant that is a tenth too small": Affine(L=1.1),
            "the kinked sum of two": Ridge(lambda z: np.abs(z) + np.maximum(z, 0), kinks=(0.0,)),
            "a power without its factor": Ridge(lambda z: z**3),
            "a jump": Ridge(np.sign),
            "a jump that is not declared": Ridge(lambda z: np.where(z > 0.123, 1e-3, 0 * z)),
            "steep on a millionth": Ridge(lambda z: 1e-3 * np.tanh(1e6 * (z - 0.31))),
        },
    ),
    "keeps_its_extents": Power(
        lambda law, drawn: keeps_its_extents(law, **drawn),
        together(d=dimensions(2, 10)),
        Cosine(L=3.0),
        {
            "a tenth too small": Understated(),
            "that of half the range": Sampled(lambda rng, contexts, d: lambda x: x[..., 0], extent=1.0),
        },
    ),
    "is_a_minimum": Power(
        lambda make, drawn: is_a_minimum(make(**drawn)),
        together(problem=problems(d=(2, 6), n=(10, 1e6), law=Affine(), sigma=(0.5, 2.0))),
        optimum_of,
        {
            "one per cent beside it": partial(optimum_of, off=1.01),
            "a loss that is too good": partial(optimum_of, cheaper=1 - 1e-6),
            "the scale of a Gaussian": partial(optimum_of, off=0.5),
        },
        examples=4,
    ),
}

FAULTS = [(name, fault) for name, power in POWER.items() for fault in power.mutants]


def search(power: Power) -> settings:
    """Settings for a number of examples, the same ones every time."""
    return settings(
        max_examples=power.examples,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        report_multiple_bugs=False,
    )


@pytest.mark.parametrize("name", POWER)
def test_correct_laws_pass_the_properties(name: str) -> None:
    power = POWER[name]

    @search(power)
    @given(drawn=power.drawn)
    def keeps(drawn: Drawn) -> None:
        ratio = power.check(power.right, drawn)
        assert 0 <= ratio <= 1
        target(ratio, label="error over allowed")

    keeps()


@pytest.mark.parametrize(("name", "fault"), FAULTS)
def test_each_fault_is_caught_within_the_examples(name: str, fault: str) -> None:
    power = POWER[name]

    @search(power)
    @given(drawn=power.drawn)
    def keeps(drawn: Drawn) -> None:
        power.check(power.mutants[fault], drawn)

    with pytest.raises(AssertionError, match="times as much"):
        keeps()


def test_every_property_is_tested_for_power() -> None:
    from lipverify import properties

    assert set(POWER) == set(properties.__all__)
    assert all(len(power.mutants) >= 2 for power in POWER.values())


@pytest.mark.parametrize("law", [Affine(2.0), Linear(2.0), ReLU(2.0), Quadratic(2.0), Cosine(8.0)])
@pytest.mark.parametrize("d", [2, 3, 9])
def test_the_named_laws_have_their_stated_properties(law: Any, d: int) -> None:
    # 2 z sqrt(1 - z^2) <= 1: along the sphere the slope of the quadratic reaches L; that of a slow cosine stays below
    assert 0.9 < is_lipschitz(law, d) <= 1
    assert keeps_its_extents(law, d) <= 1


@settings(max_examples=10)
@given(law=ridge_laws(L=(0.5, 3.0)), d=dimensions())
def test_drawn_links_have_their_lipschitz_constant(law: Ridge, d: int) -> None:
    assert is_lipschitz(law, d, L=3.0, contexts=100) <= 1
    assert keeps_its_extents(law, d, contexts=50) <= 1


def test_jumps_are_found_in_laws_that_are_made_of_others() -> None:
    jump = Ridge(np.sign, jumps=(0.0,))
    made: tuple[Any, ...] = LowRank(np.eye(3)[:, :2], jump), jump + Affine()
    for law in made:
        with pytest.raises(AssertionError, match="great circle"):
            is_lipschitz(law, 3, 1000.0)
    with pytest.raises(OutOfReach, match="fewer contexts"):
        is_lipschitz(ReLU(), 10_000)


@pytest.mark.parametrize(
    ("link", "kinks", "L"),
    [
        (lambda z: abs(z) ** 0.99, (0.0,), 1.2),  # 2 within 1e-30 of the root
        (lambda z: z + 1e-3 * abs(z) ** 0.9, (0.0,), 1.01),
        (lambda z: z + 1e-2 * np.sqrt(abs(z - 0.123)), (), 1.5),
        (lambda z: 0.01 * (z > 0.95), (), 1.0),
    ],
)
def test_a_single_steep_place_is_found(link: Callable[[Any], Any], kinks: Any, L: float) -> None:
    with pytest.raises(AssertionError, match=r"\|f\(x\) - f\(x'\)\| <= L"):
        is_lipschitz(Ridge(link, kinks=kinks), 3, L)


@pytest.mark.parametrize(
    ("link", "kinks", "L"),
    [
        (lambda z: np.where(z > 0, z, np.exp(z) - 1), (0.0,), 1.0),
        (lambda z: 1e6 + abs(z), (0.0,), 1.0),
        (lambda z: np.maximum(z - 0.3, 0) * 3, (0.3,), 3.0),
        (np.arcsin, (), math.pi / 2),
    ],
)
def test_rounding_is_not_taken_for_a_slope(link: Callable[[Any], Any], kinks: Any, L: float) -> None:
    """A link is not evaluated outside of [-1, 1], where np.arcsin is undefined."""
    assert is_lipschitz(Ridge(link, kinks=kinks), 2, L) <= 1


@pytest.mark.parametrize("law", [Affine(), ReLU(), Quadratic(), Cosine(3.0), Zonal(lambda t: t**3)])
@pytest.mark.parametrize("d", [2, 3, 8])
def test_equal_weights_have_the_variance_of_the_law(law: Law, d: int) -> None:
    for n in (1, 2, 100):
        assert weights_are_equal(loss_terms(Problem(d=d, n=n, law=law, sigma=0.7), 0.0 if n > 1 else 3.0)) <= 1


def test_sampling_agrees_with_the_exact_method_and_inaccurate_samples_fail() -> None:
    problem = Problem(d=3, n=20, law=ReLU())
    sampled = partial(loss_terms, method="montecarlo", contexts=20_000)
    assert agree(problem, 2.0, methods=("exact", sampled), alarm=2.0) <= 1
    with pytest.raises(AssertionError, match="agreement means nothing"):
        agree(problem, 2.0, methods=("exact", partial(sampled, contexts=8)))


def test_a_failure_names_the_values_the_rule_and_the_excess() -> None:
    with pytest.raises(AssertionError) as failed:
        covers(1.0, 0.1, 1.5)
    rule, _, rest = str(failed.value).partition(": ")
    assert rule == "the stated error covers the reference"
    assert rest == "missed by 0.5 where 0.1 is allowed, 5 times as much; value = 1.0; reference = 1.5"


def test_the_worst_of_an_array_is_shown() -> None:
    with pytest.raises(AssertionError, match="x = 7; limit = 5"):
        require("x <= limit", np.array([1.0, 7.0, 6.0]) - 5, 0.1, x=np.array([1, 7, 6]), limit=5)


@pytest.mark.parametrize(
    ("error", "allowed"), [(math.nan, 1.0), (1.0, math.nan), (0.5, -1.0), (-0.5, -1.0), (1e-300, 0.0), (-1.0, math.nan)]
)
def test_nan_and_values_beyond_the_tolerance_fail(error: float, allowed: float) -> None:
    with pytest.raises(AssertionError):
        require("x", error, allowed)


def test_a_property_that_holds_with_room_has_ratio_zero() -> None:
    assert require("x", [-1.0, 0.0], 0.0) == 0.0
    assert require("x", [0.5, 1.0], [1.0, 4.0]) == 0.5
    with pytest.raises(AssertionError, match="there are no values"):
        require("x", [], 1.0)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: weights_are_equal(loss_terms(Problem(d=2, n=3, law=Affine()), 1.0)), "w = 1"),
        (lambda: noise_scales(Problem(d=2, n=3, law=Affine()), 1.0, factor=1.0), "factor = 1.0"),
        (lambda: bias_scales(Problem(d=2, n=3, law=Cosine()), 1.0, factor=2.0), "not proportional"),
        (lambda: agree(Problem(d=2, n=3, law=Affine()), 1.0, methods=("exact",)), "two or more"),
        (lambda: is_isotropic(Affine(), 2, np.ones((2, 2))), "orthogonal"),
        (lambda: is_isotropic(Zonal(spectrum=(0.0, 1.0)), 2, np.eye(2)), "covariance only"),  # type: ignore[arg-type]
        (lambda: is_lipschitz(Ridge(np.tanh), 2), "no L"),
        (lambda: is_lipschitz(Ridge(np.tanh), 2, math.nan), "L = nan"),
        (lambda: is_lipschitz(Ridge(np.tanh), 2, "1"), "L = '1'"),  # type: ignore[arg-type]
        (lambda: is_lipschitz(Ridge(np.tanh), 1.0, 3), "d = 1.0"),  # type: ignore[arg-type]
        (lambda: is_lipschitz(np.tanh, 3, 1.0), "is not a Law"),  # type: ignore[arg-type]
        (lambda: is_isotropic(ReLU(), 2, np.eye(2), seed=-1), "seed = -1"),
        (lambda: keeps_its_extents(ReLU(), 3, contexts=0), "contexts = 0"),
        (lambda: is_a_minimum(optimal_window(Problem(d=2, n=1, law=Affine()))), "w = 0"),
    ],
)
def test_a_question_without_meaning_is_refused(call: Callable[[], object], says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        call()
