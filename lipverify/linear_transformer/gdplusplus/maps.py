r"""The critical points of GD++ with three and four layers, and the ends of trainings among them, as data.

    python -m lipverify.linear_transformer.gdplusplus.maps [LAW ...] --layers 3 --complete

A record has the weights of all critical points that Newton's method found from many starts; with three layers also a
bound below which branch and bound found all (see `complete`); and the minima in which Adam ended, on the expected loss,
from weights as small as training begins with. The file is trusted for that alone: every point is certified again where
it is used.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.arrays import Floats
from lipverify.foundation.optimisers import Adam, Moments
from lipverify.foundation.provenance import machine_here
from lipverify.foundation.shipped import shipped
from lipverify.foundation.store import names_in, read_record, sealed, write_record
from lipverify.foundation.streams import generator
from lipverify.linear_transformer.gdplusplus.complete import all_below
from lipverify.linear_transformer.gdplusplus.critical import NEAR, CriticalPoint, certified, on_gauss_nodes
from lipverify.linear_transformer.gdplusplus.descents import descended, deviations_of
from lipverify.linear_transformer.gdplusplus.floor import gdplusplus_floor
from lipverify.linear_transformer.gdplusplus.folds import folded
from lipverify.linear_transformer.gdplusplus.known import known_model, known_optimum
from lipverify.linear_transformer.gdplusplus.loss import ExcessLoss, flat_weights
from lipverify.linear_transformer.published import NOISES, printed, problem

FORMAT = 1
"""Version of the stored maps; a file with another one is refused."""
COMMAND = "python -m lipverify.linear_transformer.gdplusplus.maps"
STEPS, LONGEST, CONVERGED = 60, 0.3, 1e-9
"""Newton steps, the largest relative change of a weight in one, and the last one of a start that has converged."""
BATCH = 200
"""Starts that are followed together."""
PARTIAL = 8
"""Steps of a descent before Newton's method, for a third of the starts: they end near minima."""
SAME = 1e-6
"""Relative distance of weights that are one point."""
HIGHEST = 5.0
"""Points of a larger loss, which that of weights 0 is without noise, are left out."""
TIMES_PRINTED, TIMES_BEST = 10.0, 4.0
"""The bound is the printed loss if its excess is 1 to 10 times the best one's; otherwise the excess is 4 times that."""
TINY = 1e-8
"""Smallest size of a weight to which a Newton step is relative."""
RATE, TRAINED = 1e-4, 20_000
"""Adam's learning rate and steps."""
ENTRY = 0.002
"""Scale of the first weights in von Oswald et al. (2023), by two of the same authors: entries of a matrix of size d + 1
have variance ENTRY / (layers (d + 1))."""


class Landscape(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The critical points known for one law and depth.

    Attributes
    ----------
    below, boxes
        Bound below which branch and bound found all, and the number of its boxes; 0 where it was not run.
    points, indices, hits
        Weights (yx_1, xx_1, yx_2, ...), by rising loss; in how many directions the loss falls there; and the number of
        starts that ended there.
    starts
        Number of starts of Newton's method, most of which do not converge.
    ends
        By the first weights: how many trainings ended in each point, and in none of them.
    """

    format: int
    command: str
    noise: str
    layers: int
    below: float
    boxes: int
    points: tuple[tuple[float, ...], ...]
    indices: tuple[int, ...]
    hits: tuple[int, ...]
    starts: int
    ends: dict[str, tuple[int, ...]]
    seconds: float
    machine: str
    digest: str = ""

    @property
    def losses(self) -> list[float]:
        """The expected adjusted losses of the points to a millionth, by Gauss's rule and the floor."""
        regression = problem(self.noise)
        loss, floor = on_gauss_nodes(regression, self.layers), gdplusplus_floor(regression, self.layers).value
        return [floor + loss(np.asarray(point)) for point in self.points]


def landscapes_path() -> Path:
    """The file that comes with lipverify."""
    return shipped() / "linear_transformers" / "models" / "landscapes.json"


@cache
def landscape(noise: str, layers: int) -> Landscape:
    """The critical points that come with lipverify.

    Raises
    ------
    InvalidInput
        If there are none, or the file was edited.

    >>> landscape("uniform-3", 3).below  # the printed loss .161, and half a unit of its last digit
    0.1615
    """
    way_out = f"`{COMMAND} {noise} --layers {layers}` makes it again"
    name = f"{noise}/{layers}"
    return read_record(landscapes_path(), Landscape, FORMAT, f"landscapes, {name}", way_out, name)


def landscapes() -> list[tuple[str, int]]:
    """The laws and depths of the file.

    >>> ("uniform-3", 2) in landscapes()
    True
    """
    return [(noise, int(layers)) for noise, _, layers in (name.partition("/") for name in names_in(landscapes_path()))]


def unseen(hits: tuple[int, ...]) -> tuple[float, float]:
    """Estimate how much a search misses: the share of starts that would end in a new point, and the number of points.

    By Good and Turing the share is that of points hit once. Chao's estimate of the number is a lower bound,
    points + f_1^2 / (2 f_2), with f_k the number of points hit k times.

    >>> unseen((5, 4, 2, 1))
    (0.08333333333333333, 4.5)
    """
    once, twice = (sum(hit == k for hit in hits) for k in (1, 2))
    found = sum(hit > 0 for hit in hits)
    return once / max(sum(hits), 1), found + once**2 / (2 * twice) if twice else found + once * (once - 1) / 2


# ---- many starts


class Derivatives(NamedTuple):
    """Losses (batch,) up to the floor, gradients (batch, P) and Hessians (batch, P, P)."""

    value: Floats
    gradient: Floats
    hessian: Floats


def derivatives(loss: ExcessLoss, weights: Floats) -> Derivatives:
    """The derivatives of the loss on its nodes for a batch of weights (batch, P)."""
    t, s = loss.rule.t, loss.noise
    batch, count = weights.shape
    none = np.zeros((batch, count, len(t))), np.zeros((batch, count, count, len(t)))
    e, tau = (np.ones((batch, len(t))), *none), (np.broadcast_to(t, (batch, len(t))), *none)
    for k in range(count):
        w = weights[:, k, None]
        first, second = w[:, None] * tau[1], w[:, None, None] * tau[2]
        first[:, k] += tau[0]
        second[:, k] += tau[1]
        second[:, :, k] += tau[1]
        factor = 1 + w * tau[0], first, second
        if k % 2 == 0:
            e = _multiplied(e, factor)
        else:
            tau = _multiplied(_multiplied(tau, factor), factor)
    weight, target = np.exp(loss.rule.log_weights) * (1 + s / t), s / (t + s)
    r = weight * (e[0] - target)
    return Derivatives(
        np.sum(r * (e[0] - target), axis=1) / 2,
        (e[1] @ r[:, :, None])[:, :, 0],
        np.einsum("bn,bjkn->bjk", r, e[2]) + (e[1] * weight) @ e[1].swapaxes(1, 2),
    )


Jet = tuple[Floats, Floats, Floats]


def _multiplied(a: Jet, b: Jet) -> Jet:
    cross = a[1][:, :, None] * b[1][:, None]
    return (
        a[0] * b[0],
        a[1] * b[0][:, None] + a[0][:, None] * b[1],
        a[2] * b[0][:, None, None] + cross + cross.swapaxes(1, 2) + a[0][:, None, None] * b[2],
    )


@np.errstate(all="ignore")
def newton(loss: ExcessLoss, weights: Floats) -> Floats:
    """Critical points (minima, saddles, maxima) to which Newton's method converges from weights (batch, P)."""
    last = np.full(len(weights), np.inf)
    for _ in range(STEPS):
        found = derivatives(loss, weights)
        size = np.maximum(np.abs(weights), TINY)  # steps are relative to the weights
        H = found.hessian * size[:, :, None] * size[:, None]
        scale = 1 / (np.sqrt(np.abs(np.einsum("bkk->bk", H))) + TINY**2)
        H = H * scale[:, :, None] * scale[:, None]
        kept = np.isfinite(H).all((1, 2)) & np.isfinite(found.gradient).all(1)
        weights, H, size, scale = weights[kept], H[kept], size[kept], scale[kept]
        slope = (found.gradient[kept] * size * scale)[:, :, None]
        step = np.linalg.solve(H + 1e-14 * np.eye(weights.shape[1]), slope)[:, :, 0] * scale
        last = np.abs(step).max(axis=1)
        weights = weights - step * size * np.minimum(1, LONGEST / np.maximum(last, TINY))[:, None]
    return weights[last < CONVERGED]


def searched(noise: str, layers: int, starts: int, seed: int) -> tuple[list[CriticalPoint], list[int]]:
    """Certified critical points that Newton's method finds from random places, and the best one known; hits of each."""
    regression = problem(noise)
    loss, rng = on_gauss_nodes(regression, layers), generator(seed, f"gd++/landscape/{noise}/{layers}", 0)
    places = folded(rng, starts, layers, 2.0 * regression.n, 1.2 * float(loss.rule.t[-1]))
    third = starts // 3
    places[:third] = descended(loss, places[:third], PARTIAL).weights
    places[third : 2 * third] *= rng.uniform(0.3, 1.5, (third, 2 * layers - 1))
    ends = np.concatenate([newton(loss, places[first : first + BATCH]) for first in range(0, starts, BATCH)])
    highest = HIGHEST - gdplusplus_floor(regression, layers).value
    ends = ends[(derivatives(loss, ends).value < highest) & (np.abs(ends).min(axis=1) > 0)]
    points, hits = list[CriticalPoint](), list[int]()
    while len(ends):
        same = np.isclose(ends, ends[0], rtol=SAME, atol=0).all(axis=1)
        point = _certified(noise, ends[0])
        if point is not None:
            points.append(point)
            hits.append(int(np.count_nonzero(same)))
        ends = ends[~same]
    best = certified(regression, flat_weights(known_model(noise, layers)))
    if _place(best, points) < 0:
        points.append(best)
        hits.append(0)
    return points, hits


def _certified(noise: str, weights: Floats) -> CriticalPoint | None:
    """The certified critical point near weights, if there is one."""
    try:
        point = certified(problem(noise), weights)
    except (OutOfReach, ZeroDivisionError):
        return None
    return point if np.allclose(point.weights, weights, rtol=NEAR, atol=0) else None


# ---- where training ends


def by_adam(loss: ExcessLoss, first: Floats, weights_of: Callable[[Floats], tuple[Floats, Floats]]) -> Floats:
    """Weights after Adam on the expected loss, from parameters (batch, K); `weights_of` gives weights and Jacobians."""
    parameters, moments = first, Moments.none(*first.shape)
    for _ in range(TRAINED):
        weights, jacobian = weights_of(parameters)
        deviations, slopes = deviations_of(loss, weights)
        moments, change = Adam(RATE).step(moments, (deviations[:, None] @ slopes @ jacobian)[:, 0])
        parameters = parameters + change
    return weights_of(parameters)[0]


def _direct(weights: Floats) -> tuple[Floats, Floats]:
    return weights, np.broadcast_to(np.eye(weights.shape[1]), (*weights.shape, weights.shape[1]))


def _factored(factors: Floats) -> tuple[Floats, Floats]:
    """w_yx = p_y q and w_xx = p_x q of one layer share q: factors (p_y, p_x, q) layer by layer."""
    batch, count = factors.shape
    p_y, p_x, q = factors.reshape(batch, -1, 3).transpose(2, 0, 1)
    weights = np.stack([p_y * q, p_x * q], axis=2).reshape(batch, -1)
    jacobian = np.zeros((batch, 2 * count // 3, count))
    for layer in range(count // 3):
        for row, p in enumerate((p_y, p_x)):
            jacobian[:, 2 * layer + row, 3 * layer + row] = q[:, layer]
            jacobian[:, 2 * layer + row, 3 * layer + 2] = p[:, layer]
    return weights[:, :-1], jacobian[:, :-1]


def first_weights(layers: int, d: int) -> dict[str, tuple[int, float, Callable[[Floats], tuple[Floats, Floats]]]]:
    """The kinds of first weights: number of parameters, their standard deviation, and the map to weights."""
    entry = (ENTRY / (layers * (d + 1))) ** 0.5
    return {
        "factors": (3 * layers, entry, _factored),
        "small": (2 * layers - 1, entry**2, _direct),
        "large": (2 * layers - 1, 0.02, _direct),
    }


def trained_ends(
    noise: str, layers: int, points: list[CriticalPoint], trainings: int, seed: int
) -> dict[str, list[int]]:
    """Count the trainings that end in each point and in none, by the first weights; add new minima to the points."""
    regression = problem(noise)
    loss, ends = on_gauss_nodes(regression, layers), dict[str, list[int]]()
    for name, (count, deviation, weights_of) in first_weights(layers, regression.d).items():
        rng = generator(seed, f"gd++/landscape/{name}/{noise}/{layers}", 0)
        reached = by_adam(loss, deviation * rng.standard_normal((trainings, count)), weights_of)
        counts, none = [0] * len(points), 0
        for weights in reached:
            near = newton(loss, weights[None])
            point = _certified(noise, near[0]) if len(near) else None
            if point is None or point.index or not np.allclose(point.weights, weights, rtol=0.3, atol=0):
                none += 1
                continue
            index = _place(point, points)
            if index < 0:
                points.append(point)
                counts.append(0)
            counts[index] += 1
        ends[name] = [*counts, none]
    width = len(points)
    return {name: [*counts[:-1], *[0] * (width + 1 - len(counts)), counts[-1]] for name, counts in ends.items()}


# ---- the file


def bound_of(noise: str) -> float:
    """The loss below which all critical points of three layers are listed."""
    best = known_optimum(noise, 3).loss.value
    floor, entry = gdplusplus_floor(problem(noise), 3).value, printed(noise, "GD++", 3)
    value = entry.value + entry.rounding
    if best <= value <= floor + TIMES_PRINTED * (best - floor):
        return value
    return float(f"{floor + TIMES_BEST * (best - floor):.7f}")


def _place(point: CriticalPoint, points: Iterable[CriticalPoint]) -> int:
    """The index of a point in a list, up to the rounding of weights; -1 if it is not in the list."""
    same = (np.allclose(other.weights, point.weights, rtol=SAME, atol=0) for other in points)
    return next((index for index, is_same in enumerate(same) if is_same), -1)


def made(noise: str, layers: int, starts: int, trainings: int, complete: bool, seed: int) -> Landscape:
    """Search, train, and for three layers list all below the bound."""
    clock = time.process_time()
    points, hits = searched(noise, layers, starts, seed)
    below, boxes = 0.0, 0
    if complete:
        below = bound_of(noise)
        found = all_below(problem(noise), layers, below)
        boxes = found.boxes
        loss, excess = on_gauss_nodes(problem(noise), layers), below - gdplusplus_floor(problem(noise), layers).value
        missed = [
            point for point in points if loss(np.asarray(point.weights)) < excess and _place(point, found.points) < 0
        ]
        if missed:
            raise OutOfReach(f"{noise}, {layers} layers: branch and bound missed {missed}; its code is wrong.")
        points += [point for point in found.points if _place(point, points) < 0]
    ends = trained_ends(noise, layers, points, trainings, seed)
    hits += [0] * (len(points) - len(hits))
    loss = on_gauss_nodes(problem(noise), layers)
    order = np.argsort([loss(np.asarray(point.weights)) for point in points])
    return sealed(
        Landscape(
            format=FORMAT, command=f"{COMMAND} {noise} --layers {layers} --starts {starts} --trainings {trainings}"
            f" --seed {seed}" + " --complete" * complete, noise=noise, layers=layers, below=below, boxes=boxes,
            points=tuple(points[k].weights for k in order),
            indices=tuple(points[k].index for k in order), hits=tuple(hits[k] for k in order), starts=starts,
            ends={name: (*(counts[k] for k in order), counts[-1]) for name, counts in ends.items()},
            seconds=round(time.process_time() - clock, 1), machine=machine_here(),
        )
    )  # fmt: skip


def main() -> None:
    """Make records of the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [noise.name for noise in NOISES]
    parser.add_argument("law", nargs="*", default=names, help=f"one of {', '.join(names)}")
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--starts", type=int, default=3000)
    parser.add_argument("--trainings", type=int, default=50)
    parser.add_argument(
        "--complete", action="store_true", help="branch and bound below the printed loss (three layers)"
    )
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    for noise in asked.law:
        if noise not in names:
            raise InvalidInput(f"law = {noise!r}: choose from {', '.join(names)}.")
        record = made(noise, asked.layers, asked.starts, asked.trainings, asked.complete, asked.seed)
        write_record(record, landscapes_path(), f"{noise}/{asked.layers}")
        print(
            noise,
            asked.layers,
            record.below,
            record.boxes,
            len(record.points),
            unseen(record.hits),
            record.ends,
            record.seconds,
            flush=True,
        )


if __name__ == "__main__":
    main()
