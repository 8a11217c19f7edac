"""Descents: Levenberg-Marquardt on the deviations of GD++ from ridge regression, for a batch of weights or to rounding.

On Gauss's nodes (see `floor`) the loss beyond the floor is a sum of D = (3^L - 1)/2 squares. In the tail neither the
weight of a node nor the residual e is a double, so each layer takes its share sigma_l = root^{3^{l-1}/D} of the root of
the weight: every factor stays within doubles while the model is any good.

    root e = prod_l (sigma_l + w_yx h_l),    h_1 = t sigma_1,    h_{l+1} = h_l (sigma_l + w_xx h_l)^2
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import least_squares

from lipverify.foundation.arrays import EPS, Floats
from lipverify.linear_transformer.gdplusplus.loss import ExcessLoss

ROUNDS = ((15, 0.3), (30, 0.3), (100, 0.4), (300, 1.0))
"""Steps of a round, and the share of descents that continue to the next: most starts turn out hopeless early."""
SAME = 1e-6
"""Largest relative difference of losses of two descents that ended in the same minimum."""
BARRIER = 1e100
"""Replaces a deviation that overflows, so that a descent turns back."""


class Ends(NamedTuple):
    """Ends of descents: losses (batch,), best first, and weights (batch, 2 L - 1)."""

    values: Floats
    weights: Floats


class Point(NamedTuple):
    """Losses (batch,), deviations (batch, nodes) and their derivatives (batch, nodes, 2 L - 1)."""

    values: Floats
    deviations: Floats
    jacobian: Floats


def descended(loss: ExcessLoss, starts: Floats, steps: int) -> Ends:
    """Run descents from starts (batch, 2 L - 1) for a number of steps."""
    # a few Jacobians of this size fit into the cache of a core
    size = max(1, 400_000 // (len(loss.rule.t) * starts.shape[1]))
    parts = [_descend(loss, starts[first : first + size], steps) for first in range(0, len(starts), size)]
    values, weights = np.concatenate([part.values for part in parts]), np.concatenate([part.weights for part in parts])
    order = np.argsort(values, kind="stable")
    return Ends(values[order], weights[order])


def raced(loss: ExcessLoss, starts: Floats) -> Ends:
    """Run many descents in rounds, keeping a share of the best after each round."""
    ends = Ends(np.zeros(len(starts)), starts)
    for steps, part in ROUNDS:
        ends = descended(loss, ends.weights, steps)
        kept = max(12, int(part * len(ends.values)))
        ends = Ends(ends.values[:kept], ends.weights[:kept])
    return ends


def _descend(loss: ExcessLoss, weights: Floats, steps: int) -> Ends:
    """Levenberg-Marquardt for a batch: a step that does not lower its loss is refused and the damping is raised."""
    point, damping, idle = _point(loss, weights), np.full(len(weights), 1e-2), 0
    for _ in range(steps):
        if idle == 6:
            break
        scale = np.linalg.norm(point.jacobian, axis=1)
        scale[scale == 0] = 1
        scaled = point.jacobian / scale[:, None, :]
        normal = scaled.transpose(0, 2, 1) @ scaled + damping[:, None, None] * np.eye(weights.shape[1])
        slope = np.einsum("bnp,bn->bp", scaled, point.deviations)
        tried = weights - np.linalg.solve(normal, slope[:, :, None])[:, :, 0] / scale
        new = _point(loss, tried)
        lower = new.values < point.values
        idle = 0 if np.any(new.values < point.values * (1 - 1e-9)) else idle + 1
        weights = np.where(lower[:, None], tried, weights)
        point = Point(
            *(np.where(lower.reshape(-1, *[1] * (b.ndim - 1)), b, a) for a, b in zip(point, new, strict=True))
        )
        damping = np.clip(np.where(lower, damping * 0.2, damping * 5.0), 1e-12, 1e12)
    return Ends(point.values, weights)


def _point(loss: ExcessLoss, weights: Floats) -> Point:
    """Losses and deviations. A loss that is not a double is infinite, so a step to it is refused."""
    deviations, jacobian = deviations_of(loss, weights)
    with np.errstate(over="ignore", invalid="ignore"):
        values = np.einsum("bn,bn->b", deviations, deviations) / 2
        broken = ~(np.isfinite(values) & (np.abs(jacobian).max((1, 2)) < 1e150))  # squares would overflow
    values[broken], deviations[broken], jacobian[broken] = np.inf, 0, 0
    return Point(values, deviations, jacobian)


@np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore")
def deviations_of(loss: ExcessLoss, weights: Floats) -> tuple[Floats, Floats]:
    """As `ExcessLoss.deviations` for a batch: (batch, nodes), (batch, nodes, 2 L - 1); not finite where too large."""
    t, s = loss.rule.t, loss.noise
    batch, count = weights.shape
    log_root = (loss.rule.log_weights + np.log1p(s / t)) / 2
    share = np.exp(log_root * 2 / (3 ** ((count + 1) // 2) - 1))
    root_e, h = np.ones((batch, len(t))), np.broadcast_to(t * share, (batch, len(t)))
    e_slope, tau_slope = np.zeros((batch, len(t), count)), np.zeros((batch, len(t), count))
    for index in range(count):
        weight = weights[:, index, None]
        factor = share + weight * h
        factor = np.where(factor == 0, 1e-300, factor)  # its logarithmic derivative is finite
        slope = h / factor
        if index % 2 == 0:
            root_e = root_e * factor
            e_slope[:, :, :index] += (weight * slope)[:, :, None] * tau_slope[:, :, :index]
            e_slope[:, :, index] = slope
        else:
            tau_slope[:, :, :index] *= (1 + 2 * weight * slope)[:, :, None]
            tau_slope[:, :, index] = 2 * slope
            h, share = h * factor**2, share**3
    return root_e - np.exp(log_root) * (s / (t + s)), root_e[:, :, None] * e_slope


class Minimum(NamedTuple):
    """The end of a descent: the excess loss and the weights."""

    value: float
    weights: Floats


def best_ends(loss: ExcessLoss, begin: Sequence[Floats]) -> list[Minimum]:
    """The ends of descents, best first: short descents from every start, long ones from the most promising ends."""
    short = sorted((_refined(loss, start, 40) for start in begin), key=lambda end: end.value)
    return sorted((_refined(loss, end.weights, 1000) for end in short[:6]), key=lambda end: end.value)


def _refined(loss: ExcessLoss, start: Floats, steps: int) -> Minimum:
    """Levenberg-Marquardt, at most until double precision is exhausted."""
    last: dict[bytes, tuple[Floats, Floats]] = {}

    def at(weights: Floats) -> tuple[Floats, Floats]:
        """The deviations and their Jacobian, which the solver asks for one after the other."""
        if weights.tobytes() not in last:
            last.clear()
            last[weights.tobytes()] = loss.deviations(weights)
        return last[weights.tobytes()]

    def deviations(weights: Floats) -> Floats:
        return np.clip(np.nan_to_num(at(weights)[0], nan=BARRIER), -BARRIER, BARRIER)

    def jacobian(weights: Floats) -> Floats:
        return np.clip(np.nan_to_num(at(weights)[1]), -BARRIER, BARRIER)

    end = 4 * EPS
    fit = least_squares(
        deviations, start, jacobian, method="lm", x_scale="jac", xtol=end, ftol=end, gtol=end, max_nfev=steps
    )
    return Minimum(loss(fit.x), fit.x)


def distinct(values: Sequence[float] | Floats) -> list[int]:
    """One position for each minimum among the losses at the ends of descents, best first."""
    kept: list[int] = []
    for index in np.argsort(values, kind="stable"):
        if not kept or values[index] > values[kept[-1]] * (1 + SAME):
            kept.append(int(index))
    return kept
