r"""Optimal w of classification along a ladder of laws: the change of w* as one parameter changes.

The optimal w of the Brier loss is exact. For any other loss of a predicted probability it is the minimum on sampled
contexts that all laws of the ladder share (tokens, directions and the uniforms behind the labels), so that changes have
smaller errors than values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise, starmap

import msgspec
import numpy as np
from scipy.interpolate import CubicSpline

from lipverify import Problem, optimal_window
from lipverify.checks.softmax.class_probabilities import ClassLaw
from lipverify.checks.softmax.quantities import Floats
from lipverify.claims import makes
from lipverify.errors import OutOfReach
from lipverify.laws import Linear
from lipverify.optimum import Optimum
from lipverify.sampling import draw_contexts, jackknife, mean_interval, uniforms

Loss = Callable[[Floats, Floats], Floats]
"""The loss of predictions given the true probabilities, both arrays."""

WINDOWS = 0.1 * np.exp2(np.arange(49) / 4)
"""The grid of w at which losses are sampled, four points per octave; between them the loss is a cubic spline in log w."""
BATCHES = 16
"""Number of batches of contexts; the spread of their means gives the error."""
BLOCK = 1024
"""Number of contexts evaluated at a time."""


class Ladder(msgspec.Struct, frozen=True, kw_only=True):
    """The optimal w (with errors) of a ladder of laws, and the change of log w* from each law to the next."""

    windows: tuple[tuple[float, float], ...]
    changes: tuple[tuple[float, float], ...]


def brier(predicted: Floats, p: Floats) -> Floats:
    """(hat p - p)^2: the mean of (hat p - y)^2 over the label, up to a constant."""
    return np.asarray((predicted - p) ** 2)


def cross_entropy(eps: float) -> Loss:
    r"""-p log q - (1 - p) log(1 - q) with q = (1 - eps) hat p + eps / 2.

    An average of labels may be exactly 0 or 1, where the loss without the share `eps` is infinite.
    """

    def loss(predicted: Floats, p: Floats) -> Floats:
        q = (1 - eps) * predicted + eps / 2
        return np.asarray(-p * np.log(q) - (1 - p) * np.log1p(-q))

    return loss


@makes("bounded", "exact")
def exact_ladder(laws: Sequence[ClassLaw], d: int, n: int) -> Ladder:
    """The optimal w for the Brier loss, by the exact method. A change to or from w = 0 is infinite, as is its error."""
    optima = [optimal_window(law.regression(d, n)) for law in laws]
    return Ladder(
        windows=tuple((optimum.w, optimum.w_error) for optimum in optima),
        changes=tuple(starmap(_log_change, pairwise(optima))),
    )


def _log_change(low: Optimum, high: Optimum) -> tuple[float, float]:
    """The change of log w* and its error: 0 between two w of exactly 0, of unknown size if either interval contains 0."""
    if low.w == high.w == 0:
        return 0.0, math.inf if low.w_error + high.w_error > 0 else 0.0
    if low.w == 0 or high.w == 0:
        return math.copysign(math.inf, high.w - low.w), math.inf
    return math.log(high.w / low.w), low.w_error / low.w + high.w_error / high.w


def sampled_ladder(laws: Sequence[ClassLaw], d: int, n: int, loss: Loss, *, contexts: int, seed: int = 0) -> Ladder:
    """The optimal w for any loss on common draws; errors are half-widths of 95 % intervals by the jackknife over 16 batches."""
    return ladder_of(*losses_of_batches(laws, d, n, [loss], contexts, seed))


@makes("sampled", "montecarlo")
def ladder_of(batches: Floats) -> Ladder:
    """The optimal w from the losses of batches, (law, batch, w)."""
    for curves in batches:
        _require_told_from_the_ends(curves)
    whole = np.array([log_minimiser(curves.mean(axis=0)) for curves in batches])
    left_out = np.array(
        [[log_minimiser(np.delete(curves, b, axis=0).mean(axis=0)) for curves in batches] for b in range(BATCHES)]
    )
    log_w, log_w_error = jackknife(whole, left_out)
    change, change_error = jackknife(np.diff(whole), np.diff(left_out, axis=1))
    return Ladder(
        windows=tuple(
            (math.exp(x), math.exp(x) * e) for x, e in zip(log_w.tolist(), log_w_error.tolist(), strict=True)
        ),
        changes=tuple(zip(change.tolist(), change_error.tolist(), strict=True)),
    )


def _require_told_from_the_ends(curves: Floats) -> None:
    """Refuse losses (batch, w) whose minimum is not clearly below the losses at both ends of the grid."""
    lowest = int(np.argmin(curves.mean(axis=0)))
    for end in (0, -1):
        gain, error = mean_interval(curves[:, end] - curves[:, lowest])
        if gain <= error:
            raise OutOfReach(
                f"the loss near w = {WINDOWS[lowest]:.3g} is below that at w = {WINDOWS[end]:g}, an end of the grid of "
                f"windows, by only {gain:.2g} ± {error:.2g}; draw more contexts, or take a larger L or n."
            )


def losses_of_batches(
    laws: Sequence[ClassLaw], d: int, n: int, losses: Sequence[Loss], contexts: int, seed: int
) -> Floats:
    """Mean losses of each of 16 batches of contexts at every w of the grid, (loss, law, 16, w).

    The draws and the exponentials of their scores do not depend on the law, and are computed once.
    """
    problem, stream = Problem(d=d, n=n, law=Linear()), f"classification/{d}/{n}"
    sums = np.zeros((len(losses), len(laws), BATCHES, len(WINDOWS)))
    chunks = -(-contexts // BLOCK)
    for chunk in range(chunks):
        drawn = draw_contexts(problem, BLOCK, seed, stream, chunk)
        behind = uniforms(seed, f"{stream}/labels", chunk, (BLOCK, n))
        labels = [(behind < law(drawn.values[0])).astype(np.float64) for law in laws]
        columns = np.stack([np.ones_like(behind), *labels], axis=-1)
        scores = (drawn.tokens @ drawn.query[:, :, None])[:, :, 0]
        below = scores - np.max(scores, axis=1, keepdims=True)
        averaged = np.stack([(np.exp(w * below)[:, None] @ columns)[:, 0] for w in WINDOWS], axis=1)
        for k, law in enumerate(laws):
            predictions, p = averaged[..., k + 1] / averaged[..., 0], law(drawn.targets[0])[:, None]
            for j, loss in enumerate(losses):
                # whole blocks, so that the index of a context in its block gives its batch
                sums[j, k] += loss(predictions, p).reshape(BLOCK // BATCHES, BATCHES, -1).sum(axis=0)
    return sums / (chunks * (BLOCK // BATCHES))


def log_minimiser(curve: Floats) -> float:
    """The log w at the minimum of a spline through the losses on the grid."""
    logs = np.log(WINDOWS)
    fine = np.linspace(logs[0], logs[-1], 64 * (len(logs) - 1) + 1)
    spline = CubicSpline(logs, curve)
    lowest = int(np.argmin(spline(fine)))
    if lowest in (0, len(fine) - 1):
        raise OutOfReach(
            f"the least loss is at w = {math.exp(fine[lowest]):.3g}, an end of the grid of windows: take a larger L or n."
        )
    roots = spline.derivative().solve(0.0, extrapolate=False)
    roots = np.append(roots[np.isfinite(roots)], fine[lowest])  # where the spline is constant the root is NaN
    return float(roots[np.argmin(spline(roots))])
