r"""Measurements of transfer: the loss of a window that was tuned on one problem and is used on another.

The window w* that minimises the loss of one family of tasks is a number, and its loss on any other family is
`loss_terms` at that number: nothing is trained and nothing is sampled, so transfer is as exact as the optimum. Both
problems have the same dimension and context length; sigma = 1 unless it is an argument.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import msgspec
import numpy as np

from lipverify.claims.softmax.rays import LADDER, problem
from lipverify.loss import loss_terms
from lipverify.optimum import Optimum, optimal_window
from lipverify.problem import Problem
from lipverify.scaling import Growth, growth_of

Family = tuple[str, float]
"""A law by its name, and its constant L."""
Value = tuple[float, float]
"""A number and a bound on its error, in the same units."""

NUDGE = 1e-3
"""Step in log w of the difference that tells how far an error of w* moves the loss of another problem."""
WAVE_START = 1e3
SCALES = (1.0, 1e6)
"""Ends of the rays along L', along L and along the unit of y, at a fixed context length."""


class Transfers(msgspec.Struct, frozen=True, kw_only=True):
    """Losses of tuned windows along n, for every family that was trained on and every one that was tested on.

    `windows[i]` is w* of the i-th trained family, `losses[i][j]` the loss of that window on the j-th tested one, and
    `factors[i][j]` that loss over the loss of window i at home (`home=True`) or over the loss of the window that is
    tuned to the tested family (`home=False`).
    """

    n: tuple[float, ...]
    windows: tuple[tuple[float, ...], ...]
    losses: tuple[tuple[Growth, ...], ...]
    factors: tuple[tuple[Growth, ...], ...]


def transferred_loss(tuned: Optimum, tested: Problem) -> Value:
    r"""The loss of a tuned window on a problem that it was not tuned for, and its error.

    At home an error of w* does not matter, the loss being stationary there; elsewhere it enters at first order,

        |d loss| = |d loss / d log w| w_error / w.

    Parameters
    ----------
    tuned
        An optimum with a finite window.
    tested
        Any isotropic problem.

    Returns
    -------
    The loss in units of y squared, and a bound on its error.

    >>> from lipverify.laws import Affine
    >>> home = Problem(d=3, n=1000, law=Affine(L=1.0), sigma=1.0)
    >>> tuned = optimal_window(home)
    >>> away = [transferred_loss(tuned, home.replace(law=Affine(L=L)))[0] for L in (1.0, 3.0)]
    >>> [round(loss / tuned.loss, 6) for loss in away]  # (9 B + N) / (B + N)
    [1.0, 3.741555]
    """
    terms = loss_terms(tested, np.array([tuned.w, tuned.w * (1 + NUDGE)]))
    here, beside = (float(value) for value in terms.total)
    drift = abs(beside - here) / NUDGE * (tuned.w_error / tuned.w if tuned.w > 0 else 0.0)
    return here, float(terms.total_error[0]) + drift


def transfers(
    trained: tuple[Family, ...], tested: tuple[Family, ...], d: int, points: int, home: bool, start: float = LADDER[0]
) -> Transfers:
    """Every trained window on every tested family, on a ladder of n up to 1e30.

    With `home=False` every tested family must be among the trained ones: the loss that a factor is taken over is that
    of the window tuned to the tested family.
    """
    ladder = [float(round(n)) for n in np.geomspace(start, LADDER[1], points)]
    optima = [[optimal_window(problem(law, d, n, L)) for n in ladder] for law, L in trained]
    tables = [
        [
            [transferred_loss(tuned, problem(law, d, n, L)) for tuned, n in zip(row, ladder, strict=True)]
            for law, L in tested
        ]
        for row in optima
    ]
    own = {family: [(o.loss, o.loss_error) for o in row] for family, row in zip(trained, optima, strict=True)}
    return Transfers(
        n=tuple(ladder),
        windows=tuple(tuple(o.w for o in row) for row in optima),
        losses=tuple(tuple(_growth(ladder, losses) for losses in table) for table in tables),
        factors=tuple(
            tuple(
                _growth(ladder, losses, own[source if home else target])
                for target, losses in zip(tested, table, strict=True)
            )
            for source, table in zip(trained, tables, strict=True)
        ),
    )


def _growth(s: list[float], values: list[Value], over: list[Value] | None = None) -> Growth:
    """The growth of values, or of their ratio to others; relative errors add."""
    base = over or [(1.0, 0.0)] * len(values)
    return growth_of(
        s,
        [value / unit for (value, _), (unit, _) in zip(values, base, strict=True)],
        [error / value + slack / unit for (value, error), (unit, slack) in zip(values, base, strict=True)],
    )


def compared(first: Growth, second: Growth) -> Growth:
    """The growth of the ratio of two quantities that were measured on one ladder."""

    def values(growth: Growth) -> list[Value]:
        return [(value, value * error) for value, error in zip(growth.values, growth.value_errors, strict=True)]

    return _growth(list(first.s), values(first), values(second))


def along_tested(law: str, d: int, n: float, points: int, larger: bool) -> Growth:
    """The loss on L' of a window tuned to L = 1, against s = L' (larger) or s = 1/L' (smaller), from 1 to 1e6."""
    tuned = optimal_window(problem(law, d, n))
    s = np.geomspace(*SCALES, points)
    return _growth(s.tolist(), [transferred_loss(tuned, problem(law, d, n, float(x if larger else 1 / x))) for x in s])


def along_trained(law: str, d: int, n: float, points: int) -> Growth:
    """The loss at w* against L at fixed n, trained and tested on the same L from 1 to 1e6."""
    s = np.geomspace(*SCALES, points)
    return _growth(s.tolist(), _own(problem(law, d, n, float(L)) for L in s))


def along_units(law: str, d: int, n: float, points: int) -> Growth:
    """The loss at w* against s, with y measured in a unit s times as large: L = sigma = 1/s, s from 1 to 1e6."""
    s = np.geomspace(*SCALES, points)
    return _growth(s.tolist(), _own(problem(law, d, n, float(1 / x), float(1 / x)) for x in s))


def _own(problems: Iterable[Problem]) -> list[Value]:
    """The loss at w* of each problem, and its error."""
    return [(o.loss, o.loss_error) for o in map(optimal_window, problems)]


class RoughWaves(msgspec.Struct, frozen=True, kw_only=True):
    """Transfer from affine tasks to the 1-Lipschitz waves cos(k <q, x>) / k with k^2 = w*(affine, n)."""

    loss: Growth
    factor: Growth


def rough_waves(d: int, points: int, stop: float) -> RoughWaves:
    """The window of the affine law with L = 1 on waves that are as short as it, on a ladder of n up to `stop`.

    The loss of cos(k z) / k with noise sigma is that of cos(k z) with noise k sigma, over k^2. The quadrature
    has to resolve the waves, so the cost grows with `stop`.
    """
    ladder = [float(round(n)) for n in np.geomspace(WAVE_START, stop, points)]
    losses, best = [], []
    for n in ladder:
        tuned = optimal_window(problem("affine", d, n))
        k = math.sqrt(tuned.w)
        wave = problem("cosine", d, n, k, k)
        own = optimal_window(wave)
        loss, error = transferred_loss(tuned, wave)
        losses.append((loss / k**2, error / k**2))
        best.append((own.loss / k**2, own.loss_error / k**2))
    return RoughWaves(loss=_growth(ladder, losses), factor=_growth(ladder, losses, best))


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """Factors at one context length: the loss of window i on family j over that of the window tuned to j."""

    windows: tuple[Value, ...]
    factors: tuple[tuple[Value, ...], ...]


def factor_table(trained: tuple[Family, ...], tested: tuple[Family, ...], d: int, n: float, sigma: float) -> Table:
    """All factors at one context length and noise level; tested families must be among the trained ones."""
    optima = {family: optimal_window(problem(family[0], d, n, family[1], sigma)) for family in trained}

    def factor(source: Family, target: Family) -> Value:
        loss, error = transferred_loss(optima[source], problem(target[0], d, n, target[1], sigma))
        best = optima[target]
        return loss / best.loss, loss / best.loss * (error / loss + best.loss_error / best.loss)

    return Table(
        windows=tuple((o.w, o.w_error) for o in optima.values()),
        factors=tuple(tuple(factor(source, target) for target in tested) for source in trained),
    )


def transferred_at(trained: Family, tested: Family, d: int, n: float, method: str, contexts: int, seed: int) -> Value:
    """The loss of the exact w* of one family on another by `method`; error as that method states it."""
    tuned, away = optimal_window(problem(trained[0], d, n, trained[1])), problem(tested[0], d, n, tested[1])
    if method == "exact":
        return transferred_loss(tuned, away)
    drawn = {"contexts": contexts, "seed": seed, "cell": f"transfer/{trained}/{tested}/{d}/{n:g}"}
    terms = loss_terms(away, tuned.w, method, **(drawn if method == "montecarlo" else {}))
    return float(terms.total), float(terms.total_error)


def fixed_window(trained: Family, tested: Family, d: int, tuned_at: float, points: int) -> Growth:
    """The loss on longer contexts, up to 1e30, of the window tuned to one family at the context length `tuned_at`."""
    tuned = optimal_window(problem(trained[0], d, tuned_at, trained[1]))
    ladder = [float(round(n)) for n in np.geomspace(tuned_at, LADDER[1], points)]
    return _growth(ladder, [transferred_loss(tuned, problem(tested[0], d, n, tested[1])) for n in ladder])
