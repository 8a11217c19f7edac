"""Multilevel splitting: its probabilities compared with known tails and plain samples, and the models trained on it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import chi2

from lipverify.foundation import Floats
from lipverify.linear_transformer import CategoricalNoise, Regression, UniformNoise, draw_contexts
from lipverify.linear_transformer.regression import Contexts
from lipverify.linear_transformer.regression.rare import FALL, FIRST, decades, with_rare  # internal: decades alone
from lipverify.linear_transformer.regression.thinned import sizes  # internal: the size by which contexts are ordered

FEW = 2048


def _trace(contexts: Contexts) -> Floats:
    return np.trace(contexts.covariance, axis1=1, axis2=2)


def _task(contexts: Contexts) -> Floats:
    return (contexts.task**2).sum(axis=1)


@pytest.mark.parametrize(("size", "freedom"), [(_trace, 3 * 8), (_task, 3)])
def test_levels_have_the_probabilities_of_a_known_law(size: object, freedom: int) -> None:
    """Squared lengths of Gaussian vectors are chi-squared: ten decades, within four stated errors."""
    found = decades(Regression(3, 8, UniformNoise(1.0)), 11, 0, "known", size, population=FEW)  # type: ignore[arg-type]
    for each in list(found)[1:]:
        off = math.log(chi2.sf(each.level, freedom) * 10**each.number)
        assert abs(off) < 4 * 3 * math.sqrt(each.number / FEW)


@pytest.mark.parametrize(
    "noise",
    [*(pytest.param(UniformNoise(size), marks=pytest.mark.slow) for size in (0.0, 3.0)), CategoricalNoise((1.0, 3.0))],
)
def test_decades_are_those_of_a_plain_sample(noise: UniformNoise | CategoricalNoise) -> None:
    """Level, sigma and the largest eigenvalue beyond it, where 200,000 contexts still contain some: decades 1 to 3."""
    regression = Regression(4, 10, noise)
    plain = draw_contexts(regression, 200_000, 0, "plain")
    size, largest = sizes(plain, regression), np.linalg.eigvalsh(plain.covariance)[:, -1]
    for each in list(decades(regression, 4, 0, "rare", population=FEW))[1:]:
        beyond = size > each.level
        assert np.mean(beyond) * 10**each.number == pytest.approx(1, abs=12 * math.sqrt(each.number / FEW))
        eigenvalue = np.linalg.eigvalsh(each.contexts.covariance)[:, -1]
        for ours, theirs in ((each.contexts.sigma, plain.sigma[beyond]), (eigenvalue, largest[beyond])):
            error = math.sqrt(10 * ours.var() / len(ours) + theirs.var() / len(theirs))
            assert abs(ours.mean() - theirs.mean()) <= 4 * error


def test_contexts_of_a_decade_are_beyond_its_level_and_reproducible() -> None:
    regression = Regression(2, 4, UniformNoise(1.0))
    one, again, other = (list(decades(regression, 4, seed, "a", population=200)) for seed in (0, 0, 1))
    assert all(np.all(each.size > each.level) for each in one[1:])
    assert all(np.array_equal(a.contexts.gram, b.contexts.gram) for a, b in zip(one, again, strict=True))
    assert one[1].level != other[1].level


def test_the_share_of_each_decade_in_training() -> None:
    """Each decade has a share `FALL` times smaller than the one before; the plain contexts have the rest."""
    few = with_rare(Regression(3, 20, UniformNoise(1.0)), 1024, rare=6, seed=0, stream="a")
    of_decade = few.share[-4 * 64 :].reshape(4, 64).sum(axis=1)
    expected = [1 - 1 / FALL, (1 - 1 / FALL) / FALL, (1 - 1 / FALL) / FALL**2, 1 / FALL**3]
    assert of_decade == pytest.approx(10.0**-FIRST * np.asarray(expected))
    assert few.share[: -4 * 64].sum() == pytest.approx(1 - 10.0**-FIRST)
    assert len(few.share) == len(few.contexts)
