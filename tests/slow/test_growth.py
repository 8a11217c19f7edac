"""The class that the error of a growth covers, as a complete survey; and slow functions, most of them outside of it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from lipverify.foundation import Floats
from lipverify.scaling import growth_of
from tests.scaling.test_class import KINDS, LADDERS, drawn, off, power_and_logarithm, survey, wrongly
from tests.scaling.test_search import climb

pytestmark = pytest.mark.slow
TRIED = 10_000
"""Number of sums on each kind of ladder; their seeds are 0, 1, 2, ..."""
SLOW = 200
"""Number of slow functions on each ladder."""


@pytest.mark.parametrize("kind", KINDS)
def test_the_error_covers_the_class(kind: str | int) -> None:
    outside, wrong, worst, median = survey(kind, range(TRIED))
    for line in wrong:
        print(line)
    print(
        f"  growth, ladder {kind}: {TRIED} tried, {len(outside)} outside the error {outside[:9]}, worst true over "
        f"claimed error {worst:.2f}, median error {median:.3g}, {len(wrong)} false claims supported"
    )
    assert outside == []
    assert wrong == []


@pytest.mark.parametrize("decades", LADDERS)
def test_errors_of_wider_classes_may_fail_to_cover(decades: int) -> None:
    """The limits of the class: with half for the leading term, or exponents 0.01 apart, the error does not cover."""
    outside = 0
    for seed in range(TRIED // 4):
        sum_ = drawn(seed, decades, share=0.5, apart=0.01)
        outside += not off(growth_of(sum_.s, sum_.values), sum_.exponent) <= 1
    print(f"  wider class, ladder {decades}: {TRIED // 4} tried, {outside} outside the error")
    assert outside <= 5


@pytest.mark.parametrize("first", range(1000, 1400, 50))
def test_hill_climbs_find_few_sums_of_the_class_outside_the_error(first: int) -> None:
    """Climbs find what draws do not: powers that cancel a logarithm at the end of the ladder.

    Before models with both widened the error, 3 of 28 climbs ended outside, the worst 5.1 times; afterwards about 2,
    the worst 1.42 times.
    """
    found = {seed: climb(seed, 300) for seed in range(first, first + 50)}
    outside = {seed: place.tolist() for seed, (best, place) in found.items() if best > 1}
    print(f"  growth: 50 climbs, {len(outside)} outside, worst {max(best for best, _ in found.values()):.2f}")
    assert len(outside) <= 8
    assert max(best for best, _ in found.values()) <= 2


def slowly(seed: int) -> tuple[str, float, Callable[[Floats], Floats]]:
    """The kind of function, its exponent, and the function."""
    rng = np.random.default_rng([seed, 31])
    a, c, g = rng.uniform(-2, 2), rng.uniform(0.05, 1), rng.uniform(0.3, 0.98)
    sign, near, wave = rng.choice([-1.0, 1.0]), 10 ** rng.uniform(-2.3, -1), rng.uniform(0.05, 3)
    power, factor = rng.choice([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0]), 10 ** rng.uniform(-1, 1)
    kinds: dict[str, Callable[[Floats], Floats]] = {
        "iterated logarithm": lambda s: s**a * np.log(np.log(s)) ** power * np.log(s) ** (sign * c),
        "exp of a power of log": lambda s: s**a * np.exp(sign * c * np.log(s) ** g),
        "log-periodic": lambda s: s**a * (1 + 0.5 * c * np.sin(wave * np.log(s))),
        "near powers": lambda s: s**a * (np.log(s) ** power + factor * s**-near),
        "cancelling": lambda s: s**a * np.log(s) ** power * (1 - 0.9 * (s / s[0]) ** -near * (1 + 0.1 * c)),
    }
    name = list(kinds)[seed % len(kinds)]
    return name, a, kinds[name]


@pytest.mark.parametrize("decades", LADDERS)
def test_false_claims_about_slow_functions(decades: int) -> None:
    """Outside of the class there is no guarantee; these claims were refused all the same."""
    s = LADDERS[decades]
    counts: dict[str, list[int]] = {}
    for seed in range(SLOW):
        name, exponent, function = slowly(seed)
        values = function(s)
        assert np.all(values > 0)
        found = growth_of(s, values)
        count = counts.setdefault(name, [0, 0, 0])
        count[0] += 1
        count[1] += not off(found, exponent) <= 1
        count[2] += bool(wrongly(found, exponent))
    for name, (tried, outside, wrong) in counts.items():
        print(f"  {name}, {decades} decades: {tried} tried, {outside} outside the error, {wrong} supported falsely")
    assert sum(wrong for _, _, wrong in counts.values()) == 0


@pytest.mark.parametrize("noise", [1e-12, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2])
@pytest.mark.parametrize("decades", [12, 26])
def test_a_power_that_cancels_a_logarithm_is_not_hidden_by_noise(decades: int, noise: float) -> None:
    """Noise of 1e-5 to 1e-4 hid the drift at the end: 8 of 648 sums were outside, the worst by 6.8 times."""
    s, worst = np.geomspace(1e4, 10.0 ** (4 + decades), decades + 2 if decades == 12 else decades + 1), 0.0
    for log in (-1 / 3, 1 / 3, -1, 1, 0.5, -2):
        for seed in range(40):
            values, a = power_and_logarithm(s, seed, log, noise)
            if np.all(values > 0):
                worst = max(worst, off(growth_of(s, values, np.full(s.shape, noise)), a))
    print(f"  {decades} decades, values to {noise:g}: worst error over claimed {worst:.2f}")
    assert 0.05 < worst <= 1
