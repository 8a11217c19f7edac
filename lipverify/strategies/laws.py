"""Strategies for laws of tasks."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from lipverify.errors import InvalidInput
from lipverify.foundation.validation import chosen, whole
from lipverify.problem.composed import LowRank, Transformed
from lipverify.problem.functions import Kinked, PowerSeries, Wave
from lipverify.problem.law import FunctionLaw, Law, RidgeLaw
from lipverify.problem.own import Ridge, Zonal
from lipverify.problem.written import LAWS, law_named
from lipverify.strategies.geometry import rotations
from lipverify.strategies.numbers import constants

Bounds = tuple[float, float]


def named_laws(*names: str, L: Bounds = (0.1, 10.0)) -> st.SearchStrategy[RidgeLaw]:
    """Named laws: "affine", "relu", "cosine", "quadratic", or a selection; shrinks to the first with L = 1.

    Parameters
    ----------
    names
        Names of laws; all by default.
    L
        Bounds of the Lipschitz constant.

    Returns
    -------
    SearchStrategy[RidgeLaw]
        A Hypothesis strategy, for `@given`.

    Raises
    ------
    InvalidInput
        If a name is not known, or `L` is not a pair of bounds.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(named_laws(), lambda law: True)
    Affine(L=1.0)
    """
    for name in names:
        law_named(name)
    kinds = [LAWS[name] for name in names or LAWS]
    constant = constants(*pair("L", L))
    return st.one_of([constant.map(kind) for kind in kinds])


def ridge_laws(*kinds: str, L: Bounds = (0.1, 10.0)) -> st.SearchStrategy[Ridge]:
    """Laws f(x) = h(<q, x>) with custom links of slope at most L: "power", "wave", "kinked", or a selection.

    Powers L z^j / j have j up to 6, waves up to about two periods, and kinked links one to four declared kinks in
    (-0.99, 0.99). Shrinks to h(z) = z.

    Parameters
    ----------
    kinds
        Kinds of links; all by default.
    L
        Bounds of the Lipschitz constant.

    Returns
    -------
    SearchStrategy[Ridge]
        A Hypothesis strategy, for `@given`.

    Raises
    ------
    InvalidInput
        If a kind is not known, or `L` is not a pair of bounds.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(ridge_laws(), lambda law: len(law.kinks) == 2).link
    Kinked(L=1.0, kinks=(0.0, 0.5))
    """
    makers = {"power": _powers, "wave": _waves, "kinked": _kinked}
    for kind in kinds:
        chosen("kind", kind, makers)
    constant = constants(*pair("L", L))
    return st.one_of([makers[kind](constant) for kind in kinds or makers])


def _powers(L: st.SearchStrategy[float]) -> st.SearchStrategy[Ridge]:
    return st.builds(lambda j, c: Ridge(PowerSeries((*(0.0,) * j, c / j))), st.integers(1, 6), L)


def _waves(L: st.SearchStrategy[float]) -> st.SearchStrategy[Ridge]:
    return st.builds(lambda c, k: Ridge(Wave(c, k)), L, constants(0.1, 2 * np.pi))


def _kinked(L: st.SearchStrategy[float]) -> st.SearchStrategy[Ridge]:
    kink = st.floats(-0.99, 0.99)  # one nearer to a pole matters only for a window narrow enough to resolve it
    positions = st.lists(kink, min_size=1, max_size=4, unique=True).map(lambda kinks: tuple(sorted(kinks)))
    return st.builds(lambda c, kinks: Ridge(Kinked(c, kinks), kinks=kinks), L, positions)


def zonal_laws(degree: int = 8, scale: Bounds = (0.1, 10.0)) -> st.SearchStrategy[Zonal]:
    """Isotropic laws given by their covariance, as a spectrum or a power series; never constant.

    Parameters
    ----------
    degree
        The highest degree of a harmonic or a power, >= 1.
    scale
        Bounds of the nonzero coefficients.

    Returns
    -------
    SearchStrategy[Zonal]
        A Hypothesis strategy, for `@given`.

    Raises
    ------
    InvalidInput
        If a value breaks its rule.

    Shrinks to the spectrum (0, 1): a linear function.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(zonal_laws(), lambda law: True)
    Zonal(spectrum=(0.0, 1.0))
    """
    degree = whole("degree", degree, 1, "the highest degree")
    coefficient = st.one_of(st.just(0.0), constants(*pair("scale", scale)))
    last = constants(*scale)
    # a positive coefficient of the highest degree, so the law is not constant
    lower = st.lists(coefficient, max_size=degree - 1) if degree > 1 else st.just([])
    coefficients = st.builds(lambda below, top: (0.0, *below, top), lower, last)
    series = coefficients.map(lambda c: Zonal(PowerSeries(c)))
    return st.one_of(coefficients.map(lambda c: Zonal(spectrum=c)), series)


def directed_laws(d: int) -> st.SearchStrategy[FunctionLaw]:
    """Low-rank and linearly transformed laws in R^d, which only sampling accepts."""
    ridge = named_laws()

    def low_rank(k: int, R: Any, law: RidgeLaw) -> LowRank:
        return LowRank(R[:, :k], law)

    def transformed(axes: list[float], R: Any, law: RidgeLaw) -> Transformed:
        return Transformed(R @ np.diag(axes), law)

    axes = st.lists(constants(), min_size=d, max_size=d)
    return st.one_of(
        st.builds(low_rank, st.integers(1, d - 1), rotations(d), ridge),
        st.builds(transformed, axes, rotations(d), ridge),
    )


def laws(L: Bounds = (0.1, 10.0)) -> st.SearchStrategy[Law]:
    """Isotropic laws of every kind: named laws, custom links, covariances. Shrinks to `Affine(L=1.0)`.

    Parameters
    ----------
    L
        Bounds of the Lipschitz constant.

    Returns
    -------
    SearchStrategy[Law]
        A Hypothesis strategy, for `@given`.

    Raises
    ------
    InvalidInput
        If `L` is not a pair of bounds.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(laws(), lambda law: law.name == "zonal")
    Zonal(spectrum=(0.0, 1.0))
    """
    return st.one_of(named_laws(L=L), ridge_laws(L=L), zonal_laws())


def pair(name: str, bounds: Any) -> Bounds:
    """The pair (low, high); the error message names the arguments."""
    try:
        low, high = bounds
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(f"{name} = {bounds!r}: give the bounds as a pair (low, high).") from None
    try:
        constants(low, high)
    except InvalidInput as error:
        raise InvalidInput(f"{name} = {bounds!r}: {error}") from None
    return low, high
