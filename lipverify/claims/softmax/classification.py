r"""Measurements of classification: one attention unit predicts a class probability, and its window is tuned to a loss.

Labels are 0 or 1 with P(y = 1 | x) = p(x), the prediction is the attention average of the labels, and the Lipschitz
constant is that of p: L = sup |p(x) - p(x')| / |x - x'|, a probability per unit of length. Two losses:

    Brier          E (hat p - y)^2 over the query's own label y
    cross-entropy  -E [p log q + (1 - p) log(1 - q)],   q = (1 - eps) hat p + eps / 2,

the second smoothed because an average of labels may be exactly 0 or 1, where it is infinite. For a law that is the same
in every direction the mean of p(x)(1 - p(x)) over tasks is one number v for all x, and the Brier loss is that of
regression on f = p with noise of variance v, but for a constant:

    E (hat p - p(x))^2 = B(w) + v E sum_i a_i^2.

So its optimal window is exact. That of cross-entropy is found on common draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline
from scipy.special import expit, roots_jacobi

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.laws import Ridge
from lipverify.loss.attention import softmax_weights
from lipverify.loss.montecarlo.contexts import draw_contexts
from lipverify.loss.streams import uniforms
from lipverify.optimum import optimal_window
from lipverify.optimum.jackknife import jackknife
from lipverify.optimum.matrix.sampled import BATCHES
from lipverify.problem import Problem

Floats = NDArray[np.float64]

WINDOWS = np.geomspace(0.1, 400.0, 43)
"""The grid on which losses are sampled; a cubic spline in log w between them."""
BLOCK = 1024
"""Contexts evaluated at a time."""
NODES = 64


LINKS: dict[str, Callable[[ClassLaw, Floats], Floats]] = {
    "linear": lambda law, z: law.base + law.L * z,
    "logistic": lambda law, z: expit(4 * law.L * z),
    "cosine": lambda law, z: (1 + np.cos(2 * law.L * z)) / 2,
}


class ClassLaw(msgspec.Struct, frozen=True, kw_only=True):
    r"""Class probabilities p(x) = flip + (1 - 2 flip) pi(<q, x>), q uniform on the sphere.

    Parameters
    ----------
    link
        "linear": pi(z) = base + L z; "logistic": pi(z) = 1 / (1 + exp(-4 L z)); "cosine": pi(z) = (1 + cos(2 L z)) / 2.
        All have Lipschitz constant L (the cosine for L >= pi/4, or its slope is not reached).
    L
        The Lipschitz constant of the clean probabilities, > 0.
    base
        The mean of the clean probabilities with the linear link; the others have 1/2.
    flip
        The chance that a label is turned around.

    Raises
    ------
    InvalidInput
        If the link is not known or a probability would leave [0, 1].

    >>> ClassLaw(link="linear", L=0.25, flip=0.1).lipschitz
    0.2
    """

    link: str
    L: float
    base: float = 0.5
    flip: float = 0.0

    def __post_init__(self) -> None:
        if self.link not in LINKS:
            raise InvalidInput(f"link = {self.link!r} is not known; choose one of: {', '.join(LINKS)}.")
        if not 0 <= self.flip < 0.5:
            raise InvalidInput(f"flip = {self.flip!r}: a label is turned around with a chance from 0 to less than 1/2.")
        if not 0 < self.L < math.inf:
            raise InvalidInput(f"L = {self.L!r}: the Lipschitz constant must be finite and > 0.")
        if self.link == "linear" and min(self.base, 1 - self.base) < self.L:
            raise InvalidInput(f"L = {self.L!r}, base = {self.base!r}: base - L and base + L must lie in [0, 1].")
        if self.link != "linear" and self.base != 0.5:
            raise InvalidInput(f"base = {self.base!r}: the {self.link} link has base 1/2; use the linear link.")

    @property
    def lipschitz(self) -> float:
        """The Lipschitz constant of p."""
        return (1 - 2 * self.flip) * self.L

    @property
    def ridge(self) -> Ridge:
        """The law of p as a law of functions."""
        return Ridge(partial(_probability, self))

    def variance(self, d: int) -> float:
        """The mean variance of a label, E p (1 - p)."""
        z, weights = roots_jacobi(NODES, (d - 3) / 2, (d - 3) / 2)
        p = _probability(self, z)
        return float(np.sum(weights * p * (1 - p)) / np.sum(weights))

    def regression(self, d: int, n: int) -> Problem:
        """The regression problem whose loss is the Brier loss but for a constant."""
        return Problem(d=d, n=n, law=self.ridge, sigma=math.sqrt(self.variance(d)))


class WindowChange(msgspec.Struct, frozen=True, kw_only=True):
    """Optimal windows (with errors) of a ladder of laws, and log w* of each over that of the one before."""

    windows: tuple[tuple[float, float], ...]
    changes: tuple[tuple[float, float], ...]
    curves: tuple[tuple[float, ...], ...]


def exact_windows(laws: tuple[ClassLaw, ...], d: int, n: int) -> WindowChange:
    """Windows of the Brier loss by the exact method."""
    optima = [optimal_window(law.regression(d, n)) for law in laws]
    pairs = list(pairwise(optima))
    return WindowChange(
        windows=tuple((o.w, o.w_error) for o in optima),
        changes=tuple((math.log(b.w / a.w), a.w_error / a.w + b.w_error / b.w) for a, b in pairs),
        curves=(),
    )


def sampled_windows(laws: tuple[ClassLaw, ...], d: int, n: int, loss: str, contexts: int, seed: int) -> WindowChange:
    """Windows of a loss on common draws: the same tokens, directions and uniforms behind the labels for all laws.

    `loss` is "brier" or "cross-entropy/EPS". Errors are half-widths of 95 % intervals by the jackknife over batches.
    """
    batches = [loss_of_batches(law, d, n, loss, contexts, seed) for law in laws]
    whole = np.array([log_minimiser(curves.mean(axis=0)) for curves in batches])
    left_out = np.array(
        [[log_minimiser(np.delete(curves, b, axis=0).mean(axis=0)) for curves in batches] for b in range(BATCHES)]
    )
    at, at_error = jackknife(whole, left_out)
    change, change_error = jackknife(np.diff(whole), np.diff(left_out, axis=1))
    return WindowChange(
        windows=tuple((math.exp(x), math.exp(x) * e) for x, e in zip(at.tolist(), at_error.tolist(), strict=True)),
        changes=tuple(zip(change.tolist(), change_error.tolist(), strict=True)),
        curves=tuple(tuple(map(float, curves.mean(axis=0))) for curves in batches),
    )


def loss_of_batches(law: ClassLaw, d: int, n: int, loss: str, contexts: int, seed: int) -> Floats:
    """The mean loss of each of 16 batches of contexts at every window of the grid, (16, windows)."""
    problem, cell = Problem(d=d, n=n, law=law.ridge), f"classification/{d}/{n}"
    sums, counts = np.zeros((BATCHES, len(WINDOWS))), np.zeros((BATCHES, 1))
    for chunk in range(-(-contexts // BLOCK)):
        drawn = draw_contexts(problem, BLOCK, seed, cell, chunk)
        labels = (uniforms(seed, f"{cell}/labels", chunk, (BLOCK, n)) < drawn.values[0]).astype(np.float64)
        scores = (drawn.tokens @ drawn.query[:, :, None])[:, :, 0]
        predictions = np.stack([_average(w, scores, labels) for w in WINDOWS], axis=1)
        losses = loss_named(loss)(predictions, drawn.targets[0][:, None])
        # whole blocks, so that a context's place in its block tells its batch
        sums += losses.reshape(BLOCK // BATCHES, BATCHES, -1).sum(axis=0)
        counts += BLOCK // BATCHES
    return np.asarray(sums / counts)


def log_minimiser(curve: Floats) -> float:
    """The logarithm of the window at the least value of a spline through the losses on the grid.

    Raises
    ------
    OutOfReach
        If the least loss is at an end of the grid.
    """
    logs = np.log(WINDOWS)
    fine = np.linspace(logs[0], logs[-1], 64 * (len(logs) - 1) + 1)
    spline = CubicSpline(logs, curve)
    at = int(np.argmin(spline(fine)))
    if at in (0, len(fine) - 1):
        raise OutOfReach(
            f"the least loss is at w = {math.exp(fine[at]):.3g}, an end of the grid of windows: take a larger L or n."
        )
    roots = spline.derivative().solve(0.0, extrapolate=False)
    return float(roots[np.argmin(spline(roots))])


def loss_named(name: str) -> Any:
    """The loss of predictions given true probabilities, both arrays: "brier", or "cross-entropy/EPS".

    >>> round(float(loss_named("cross-entropy/0.1")(np.array(0.0), np.array(0.5))), 4)
    1.5235
    """
    if name == "brier":
        return lambda predicted, p: (predicted - p) ** 2
    return partial(_cross_entropy, float(name.removeprefix("cross-entropy/")))


def _cross_entropy(eps: float, predicted: Floats, p: Floats) -> Floats:
    q = (1 - eps) * predicted + eps / 2
    return np.asarray(-p * np.log(q) - (1 - p) * np.log1p(-q))


def _average(w: float, scores: Floats, labels: Floats) -> Floats:
    """Attention averages of the labels."""
    return np.asarray(np.sum(softmax_weights(w * scores, np) * labels, axis=1))


def _probability(law: ClassLaw, z: Floats) -> Floats:
    return np.asarray(law.flip + (1 - 2 * law.flip) * LINKS[law.link](law, z))
