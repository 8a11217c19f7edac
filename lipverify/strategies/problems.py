"""Strategies for problems whose parts can each be fixed, bounded or drawn by a strategy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from lipverify.errors import InvalidInput
from lipverify.problem.covariates import Covariates, Sphere
from lipverify.problem.law import Law
from lipverify.problem.laws import Affine
from lipverify.problem.problem import Problem
from lipverify.strategies.geometry import covariates as covariates_in
from lipverify.strategies.laws import directed_laws, laws
from lipverify.strategies.numbers import constants, dimensions, lengths


def problems(
    *,
    d: int | tuple[int, int] | st.SearchStrategy[int] = (2, 20),
    n: float | tuple[float, float] | st.SearchStrategy[float] = (2, 1e30),
    sigma: float | tuple[float, float] | st.SearchStrategy[float] = (0.1, 10.0),
    law: Law | st.SearchStrategy[Law] | None = None,
    covariates: Covariates | st.SearchStrategy[Covariates] | None = None,
    isotropic: bool = True,
) -> st.SearchStrategy[Problem]:
    """Problems; each part is a value, a strategy, or for numbers a pair of bounds (low, high).

    Parameters
    ----------
    d, n, sigma
        See `dimensions`, `lengths` and `constants` for the bounds.
    law
        One of `laws()` by default; with `isotropic=False` also a low-rank or a linearly transformed law.
    covariates
        The sphere by default; with `isotropic=False` any of `covariates`.
    isotropic
        True to draw only isotropic problems, which every method accepts. Only sampling accepts the others.

    Returns
    -------
    SearchStrategy[Problem]
        A Hypothesis strategy, for `@given`.

    Raises
    ------
    InvalidInput
        Immediately, if a bound or a value breaks its rule.

    Shrinks to d = 2, n = 2, `Affine(L=1.0)`, sigma = 1 on the sphere.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(problems(sigma=0.5), lambda problem: problem.d > 3)
    Problem(d=4, n=2, law=Affine(L=1.0), sigma=0.5, covariates=Sphere())
    """
    _require_values(d, n, sigma, law, covariates)
    return _problems(
        _part("d", d, dimensions),
        _part("n", n, lengths),
        _part("sigma", sigma, constants),
        law if law is None or isinstance(law, st.SearchStrategy) else st.just(law),
        covariates if covariates is None or isinstance(covariates, st.SearchStrategy) else st.just(covariates),
        isotropic,
    )


@st.composite
def _problems(
    draw: st.DrawFn,
    dimension: st.SearchStrategy[int],
    length: st.SearchStrategy[float],
    noise: st.SearchStrategy[float],
    law: st.SearchStrategy[Law] | None,
    covariates: st.SearchStrategy[Covariates] | None,
    isotropic: bool,
) -> Problem:
    d, n, sigma = draw(dimension), draw(length), draw(noise)
    if law is None:
        law = laws() if isotropic else st.one_of(laws(), directed_laws(d))
    if covariates is None:
        covariates = st.just(Sphere()) if isotropic else covariates_in(d)
    return Problem(d=d, n=n, law=draw(law), sigma=sigma, covariates=draw(covariates))


def _part(name: str, given: Any, bounded: Callable[..., st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    if isinstance(given, st.SearchStrategy):
        return given
    if not isinstance(given, tuple):
        return st.just(given)
    if len(given) != 2:
        raise InvalidInput(f"{name} = {given!r}: bounds are a pair (low, high).")
    try:
        return bounded(*given)
    except InvalidInput as error:
        raise InvalidInput(f"{name} = {given!r}: {error}") from None


def _require_values(d: Any, n: Any, sigma: Any, law: Any, covariates: Any) -> None:
    """Refuse a value that breaks its rule, as `Problem` itself would."""
    given = {"d": d, "n": n, "sigma": sigma}
    values = {name: value for name, value in given.items() if not isinstance(value, tuple | st.SearchStrategy)}
    simplest = Problem(**{"d": 2, "n": 2, "law": Affine(), **values})
    own = {"law": law, "covariates": covariates}
    parts = {name: part for name, part in own.items() if part is not None and not isinstance(part, st.SearchStrategy)}
    for name, part in parts.items():
        if "d" in values or not isinstance(part, Law | Covariates):
            simplest.replace(**{name: part})
