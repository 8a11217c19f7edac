"""Remembered answers of a run: the same bits read or computed, and none for questions without an identity."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

import lipverify as lv
from lipverify.foundation import store as module  # internal: whether its folder is forgotten
from lipverify.foundation.store import remembered, remembering  # internal: remembered answers are counted
from lipverify.loss.methods import instead_of_exact  # internal: another route must not be answered from memory

RELU = lv.Problem(d=3, n=50, law=lv.laws.ReLU(L=1.0), sigma=0.1)


class Answer(msgspec.Struct, frozen=True):
    problem: lv.Problem
    value: float


class Counting:
    """Compute a number with all its digits, and count the calls."""

    def __init__(self) -> None:
        self.asked = 0
        self.__qualname__ = type(self).__qualname__

    def __call__(self, problem: lv.Problem) -> Answer:
        self.asked += 1
        return Answer(problem, 0.1 + problem.sigma / 3)


def ask(find: Counting, problem: lv.Problem) -> Answer:
    """Ask as `optimal_window` does."""
    return remembered(find, problem, Answer, problem=problem)


def test_a_second_process_reads_the_same_bits() -> None:
    first, second = Counting(), Counting()
    with remembering():
        found, read = ask(first, RELU), ask(second, RELU)
    assert (first.asked, second.asked) == (1, 0)
    assert found == read
    assert found.value.hex() == read.value.hex()


@pytest.mark.parametrize(
    "other",
    [
        RELU.replace(sigma=0.1 + 2**-56),
        RELU.replace(n=51),
        RELU.replace(law=lv.laws.Affine(L=1.0)),
        RELU.replace(law=lv.laws.ReLU(L=2.0)),
        RELU.replace(covariates=lv.covariates.Ellipsoid([1.0, 1.0, 2.0])),
    ],
)
def test_any_difference_is_computed_separately(other: lv.Problem) -> None:
    find = Counting()
    with remembering():
        ask(find, RELU)
        assert ask(find, other).problem is other
    assert find.asked == 2


class Somebodys(lv.laws.ReLU, frozen=True, tag="somebodys"):
    """A user's law, whose code is unknown."""


@pytest.mark.parametrize("law", [lv.Ridge(lambda z: z), lv.Zonal(lambda t: t), Somebodys()])
def test_a_question_without_an_identity_is_computed_each_time(law: lv.laws.Law) -> None:
    find = Counting()
    with remembering():
        for _ in range(2):
            ask(find, RELU.replace(law=law))
    assert find.asked == 2


def test_nothing_is_kept_outside_of_a_run_and_after_it() -> None:
    find = Counting()
    with remembering() as folder:
        ask(find, RELU)
        assert list(folder.iterdir())
    for _ in range(2):
        ask(find, RELU)
    assert find.asked == 3
    assert not folder.exists()
    assert module._folder is None


def torn(content: bytes) -> bytes:
    return content[:-3]


def flipped(content: bytes) -> bytes:
    """The answer with the last bit of its number changed, which is at the end."""
    return content[:-1] + bytes([content[-1] ^ 1])


@pytest.mark.parametrize("damaged", [torn, flipped])
def test_damaged_or_unwritable_results_are_computed_again(damaged: Callable[[bytes], bytes]) -> None:
    find = Counting()
    with remembering() as folder:
        ask(find, RELU)
        (kept,) = folder.iterdir()
        kept.write_bytes(damaged(kept.read_bytes()))
        assert ask(find, RELU).value == ask(find, RELU).value
        assert list(folder.iterdir()) == [kept]
    assert find.asked == 2
    with remembering() as folder:
        folder.rmdir()
        ask(find, RELU)
        folder.mkdir()
    assert find.asked == 3


def test_an_optimum_is_the_same_in_a_run_and_out_of_it() -> None:
    problem = lv.Problem(d=3, n=10**4, law=lv.laws.Affine(L=1.0), sigma=1.0)
    alone = lv.optimal_window(problem)
    with remembering() as folder:
        found, read = lv.optimal_window(problem), lv.optimal_window(problem)
        assert len(list(folder.iterdir())) == 1
    assert repr(alone) == repr(found) == repr(read)
    assert msgspec.structs.astuple(alone) == msgspec.structs.astuple(read)


def test_a_second_method_does_not_use_the_cache_of_the_first() -> None:
    """An optimal w by another route was once read from the run's memory, and would have been kept as the usual one."""
    problem = RELU.replace(law=lv.laws.Cosine(L=2.0))
    with remembering():
        before = lv.optimal_window(problem)
        with instead_of_exact("route zonal") as other:
            second = lv.optimal_window(problem)
        assert other.used > 0
        assert lv.optimal_window(problem) == before
    with remembering():
        with instead_of_exact("route zonal"):
            assert lv.optimal_window(problem) == second
        assert lv.optimal_window(problem) == before
    assert second.w != before.w  # the two are distinguishable
