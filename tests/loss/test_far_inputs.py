"""Inputs at the far ends of their ranges, and functions that fail on large arrays alone: a number, or one line."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from lipverify import Problem, loss_terms, optimal_window
from lipverify.covariates import Ellipsoid
from lipverify.errors import InvalidInput, OutOfReach
from lipverify.laws import Affine, Ridge, Zonal

Floats = NDArray[np.float64]


def short(z: Floats) -> Floats:
    return z if z.size < 1000 else z[:10]


def undefined(z: Floats) -> Floats:
    return z if z.size < 1000 else np.full_like(z, np.nan)


def raising(z: Floats) -> Floats:
    if z.size > 1000:
        raise ValueError("too many")
    return z


REFUSED: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "sigma squared": (
        lambda: loss_terms(Problem(d=3, n=9, law=Affine(), sigma=1e200), 1.0, "montecarlo"), OutOfReach, "larger unit",
    ),
    "L squared": (
        lambda: loss_terms(Problem(d=3, n=9, law=Affine(L=1e200)), 1.0, "montecarlo"), OutOfReach, "larger unit",
    ),
    "balls": (
        lambda: loss_terms(Problem(d=100_000, n=9, law=Affine()), 1e3, "certified"), OutOfReach, "no finite ball",
    ),
    "complex axes": (lambda: Ellipsoid([1j, 1, 1]), InvalidInput, "finite real numbers"),  # type: ignore[arg-type]
    "axes of two shapes": (lambda: Ellipsoid([[1, 2], [2]]), InvalidInput, "finite real numbers"),
    "K": (lambda: loss_terms(Problem(d=3, n=9, law=Zonal(K=short)), 1.0), InvalidInput, "K returned the shape"),
    "w*": (lambda: optimal_window(Problem(d=3, n=9, law=Ridge(short))), InvalidInput, "link returned the shape"),
    **{
        f"{link.__name__}, {method}": (
            lambda link=link, method=method: loss_terms(Problem(d=3, n=9, law=Ridge(link)), 1.0, method),  # type: ignore[misc]
            InvalidInput, "^link r",
        )
        for link in (short, undefined, raising)
        for method in ("exact", "montecarlo")
    },
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_computed_is_refused_in_one_line(name: str) -> None:
    call, kind, message = REFUSED[name]
    with pytest.raises(kind, match=message) as error:
        call()
    assert len(str(error.value)) < 300


def test_an_array_that_memory_cannot_hold_is_refused() -> None:
    def greedy(z: Floats) -> Floats:
        return z + (np.empty((10**6, 10**7)).sum() if z.size > 1000 else 0.0)

    with pytest.raises(OutOfReach, match=r"Unable to allocate .*; make d, n or the number of contexts smaller"):
        loss_terms(Problem(d=3, n=9, law=Ridge(greedy)), 1.0)


def test_sampling_on_the_sphere_needs_no_square_matrix() -> None:
    terms = loss_terms(Problem(d=1_000_000, n=9, law=Affine()), 1.0, "montecarlo", contexts=200)
    exact = loss_terms(terms.problem, 1.0)
    assert abs(terms.bias - exact.bias) <= terms.bias_error + exact.bias_error


@pytest.mark.parametrize("L", [1e-139, 1e-60, 1e-20])
def test_a_task_without_a_signal_has_its_window_near_zero(L: float) -> None:
    """For small Lambda w* solves B'(0) + w N''(0) = 0: proportional to L^2."""
    best = optimal_window(Problem(d=5, n=100, law=Affine(L=L)))
    assert best.w / L**2 == pytest.approx(optimal_window(Problem(d=5, n=100, law=Affine(L=1e-10))).w / 1e-20)
