"""Transfer: the loss of a w that was tuned to one problem and is used on another, as exact as the optimum."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np

from lipverify.foundation.arrays import Floats
from lipverify.foundation.noted import makes
from lipverify.loss.methods import loss_terms
from lipverify.optimum.window import Optimum, optimal_window
from lipverify.problem import Problem

Value = tuple[float, float]
"""A number and a bound on its error, in the same units."""


@makes("bounded", "exact")
def transferred_loss(tuned: Optimum, tested: Problem) -> Value:
    r"""The loss of a tuned w on another problem, and its error.

    On the problem it was tuned for, an error of w* does not matter, because the loss is stationary there. On any other
    problem it enters at first order,

        |d loss| = |d loss / d log w| w_error / w.

    Parameters
    ----------
    tuned
        An optimum with a finite w.
    tested
        Any isotropic problem.

    Returns
    -------
    loss, error
        The loss in units of y squared, and a bound on its error.

    Raises
    ------
    InvalidInput
        If `tested` is not isotropic.

    Examples
    --------
    >>> from lipverify.laws import Affine
    >>> home = Problem(d=3, n=1000, law=Affine(L=1.0), sigma=1.0)
    >>> tuned = optimal_window(home)
    >>> away = [transferred_loss(tuned, home.replace(law=Affine(L=L)))[0] for L in (1.0, 3.0)]
    >>> [round(loss / tuned.loss, 6) for loss in away]  # (9 B + N) / (B + N)
    [1.0, 3.741555]
    """
    return _losses([tuned], tested)[0]


def _losses(tuned: Sequence[Optimum], tested: Problem) -> list[Value]:
    def losses(w: Floats) -> tuple[Floats, Floats]:
        terms = loss_terms(tested, w)
        return terms.total, terms.total_error

    return at_optima(tuned, losses)


def at_optima(tuned: Sequence[Optimum], of: Callable[[Floats], tuple[Floats, Floats]]) -> list[Value]:
    """A function of w at the tuned w, with its errors enlarged by the effect of the errors of w*.

    Parameters
    ----------
    tuned
        Optima with a finite w.
    of
        The function: from an array of w to the values and their own errors.

    Returns
    -------
    list[tuple[float, float]]
        The value and its error for each optimum.

    Raises
    ------
    ValueError
        If `of` does not return a value and an error for each w.

    Examples
    --------
    >>> from lipverify.laws import Affine
    >>> best = optimal_window(Problem(d=3, n=1000, law=Affine(), sigma=1.0))
    >>> ((double, error),) = at_optima([best], lambda w: (2 * w, 0 * w))
    >>> double == 2 * best.w, 1.9 < error / best.w_error < 2.1
    (True, True)
    """
    w = np.array([optimum.w for optimum in tuned])
    nudge = 1e-3  # in log w, of the difference that propagates the error of w*
    values, errors = of(np.concatenate([w, w * (1 + nudge)]))
    at_optimum, nudged = np.split(values, 2)
    moved = [optimum.w_error / optimum.w if optimum.w > 0 else 0.0 for optimum in tuned]
    enlarged = errors[: w.size] + np.abs(nudged - at_optimum) / nudge * moved
    return list(zip(at_optimum.tolist(), enlarged.tolist(), strict=True))


@makes("bounded", "exact")
def transfers(problems: Mapping[str, Problem], tested: Collection[str] = ()) -> dict[str, Value]:
    r"""The w tuned to each problem, its loss on each problem, and the ratio of that to the problem's own least loss.

    Parameters
    ----------
    problems
        Isotropic problems by name.
    tested
        The names of the problems on which each w is tested; all by default.

    Returns
    -------
    dict[str, tuple[float, float]]
        "w* of a", "loss of a on b" (in units of y squared) and the factor "a on b", for every a and every tested b,
        each with a bound on its error.

    Raises
    ------
    InvalidInput
        If a problem is not isotropic.

    Examples
    --------
    >>> from lipverify.laws import Affine
    >>> home = Problem(d=3, n=1000, law=Affine(L=1.0), sigma=1.0)
    >>> found = transfers({"smooth": home, "rough": home.replace(law=Affine(L=3.0))})
    >>> round(found["smooth on rough"][0], 3), round(found["rough on rough"][0], 3)
    (1.722, 1.0)
    """
    optima = {name: optimal_window(problem) for name, problem in problems.items()}
    table = {f"w* of {name}": (optimum.w, optimum.w_error) for name, optimum in optima.items()}
    for target in tested or problems:
        best = optima[target].loss, optima[target].loss_error
        away = [name for name in problems if name != target]
        losses = _losses([optima[name] for name in away], problems[target]) if away else []
        for name, loss in [(target, best), *zip(away, losses, strict=True)]:
            table[f"loss of {name} on {target}"] = loss
            table[f"{name} on {target}"] = quotient(loss, best)
    return table


def quotient(numerator: Value, denominator: Value) -> Value:
    """The quotient of two positive values and its error; to first order their relative errors add.

    Parameters
    ----------
    numerator, denominator
        Pairs of a value and its error.

    Returns
    -------
    quotient, error
        The quotient, and the sum of the relative errors in its units.

    Raises
    ------
    ZeroDivisionError
        If a value is 0.

    Examples
    --------
    >>> quotient((2.0, 0.1), (4.0, 0.2))
    (0.5, 0.05)
    """
    ratio = numerator[0] / denominator[0]
    return ratio, ratio * (numerator[1] / numerator[0] + denominator[1] / denominator[0])
