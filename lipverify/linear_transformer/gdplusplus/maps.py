r"""The critical points of GD++ with two to four layers, and the ends of trainings among them, as data.

    python -m lipverify.linear_transformer.gdplusplus.maps [LAW ...] [--layers 2 3 4]

A record has the weights of all critical points that a search from many starts found; with three layers also a bound
below which branch and bound found all (see `complete`); and the minima in which Adam ended, on the expected loss, from
weights as small as training begins with. Starts have random zeros, or a random layer inserted in a point of the record
with one layer less. The file is trusted for that alone: every point is certified again where it is used.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

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
from lipverify.linear_transformer.gdplusplus.folds import deepened, folded
from lipverify.linear_transformer.gdplusplus.known import known_model, known_optimum
from lipverify.linear_transformer.gdplusplus.loss import ExcessLoss, flat_weights
from lipverify.linear_transformer.published import NOISES, printed, regression_named

FORMAT = 2
"""Version of the stored maps; a file with another one is refused."""
COMMAND = "python -m lipverify.linear_transformer.gdplusplus.maps"
STARTS, TRAININGS = {2: 600, 3: 3000, 4: 10_000}, {2: 50, 3: 50, 4: 20}
"""Starts of the search and trainings by the number of layers."""
COMPLETE = 3
"""The number of layers for which branch and bound is run: two layers have resultants, four are out of reach."""
STEPS, LONGEST, CONVERGED = 100, 0.3, 1e-9
"""Steps of a start, the largest change of the logarithm of a weight in one, and the last one where it has converged."""
BATCH = 50
"""Starts that are followed together: their derivatives fit into the cache of a core."""
HOPELESS, FLAT = 1e6, 1e-13
"""A start is given up at a larger excess; the least size of an eigenvalue, relative to the diagonal of the Hessian."""
PARTIAL, SPAN = 8, 1.2
"""Steps of a descent before the search, for a quarter of the starts; their widest range over the largest node."""
SAME = 1e-6
"""Relative distance of weights that are one point."""
HIGHEST = 5.0
"""Points of a larger loss, which that of weights 0 is without noise, are left out."""
TIMES_PRINTED, TIMES_BEST = 10.0, 4.0
"""The bound is the printed loss if its excess is 1 to 10 times the best one's; otherwise the excess is 4 times that."""
TINY = 1e-16
"""Smallest size by which is divided."""
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
    starts, late
        Number of starts of the search, most of which do not converge; and the number of points that the last tenth of
        them found first.
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
    late: int
    ends: dict[str, tuple[int, ...]]
    seconds: float
    machine: str
    digest: str = ""

    @property
    def losses(self) -> list[float]:
        """The expected adjusted losses of the points to a millionth, by Gauss's rule and the floor."""
        regression = regression_named(self.noise)
        loss, floor = on_gauss_nodes(regression, self.layers), gdplusplus_floor(regression, self.layers).value
        deviations, _ = deviations_of(loss, np.asarray(self.points))
        return [floor + float(residual @ residual) / 2 for residual in deviations]


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
    distinct = sum(hit > 0 for hit in hits)
    return once / max(sum(hits), 1), distinct + once**2 / (2 * twice) if twice else distinct + once * (once - 1) / 2


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
    (e, e1, e2), (tau, tau1, tau2) = (
        (value, np.zeros((batch, count, len(t))), np.zeros((batch, count, count, len(t))))
        for value in (np.ones((batch, len(t))), np.broadcast_to(t, (batch, len(t))))
    )
    for k in range(count):
        w, own, pairs = weights[:, k, None], tau1[:, :k], tau2[:, :k, :k]  # derivatives in the weights before this one
        product = w * tau
        if k % 2 == 0:  # e' = e (1 + w tau)
            part, cross = (w * e)[:, None], (w[:, None] * e1[:, :k])[:, :, None] * own[:, None]
            e2[:, :k, :k] = e2[:, :k, :k] * (1 + product)[:, None, None] + part[:, None] * pairs
            e2[:, :k, :k] += cross + cross.swapaxes(1, 2)
            e2[:, k, :k] = e2[:, :k, k] = e1[:, :k] * tau[:, None] + e[:, None] * own
            e1[:, :k] = e1[:, :k] * (1 + product)[:, None] + part * own
            e1[:, k] = e * tau
            e = e * (1 + product)
        else:  # tau' = tau (1 + w tau)^2
            slope = ((1 + product) * (1 + 3 * product))[:, None]
            bend = (2 * w * (2 + 3 * product))[:, None, None]
            tau2[:, :k, :k] = slope[:, None] * pairs + bend * own[:, :, None] * own[:, None]
            tau2[:, k, :k] = tau2[:, :k, k] = (2 * tau * (2 + 3 * product))[:, None] * own
            tau2[:, k, k] = 2 * tau**3
            tau1[:, :k] = slope * own
            tau1[:, k] = 2 * tau**2 * (1 + product)
            tau = tau * (1 + product) ** 2
    weight, target = np.exp(loss.rule.log_weights) * (1 + s / t), s / (t + s)
    r = weight * (e - target)
    return Derivatives(
        np.sum(r * (e - target), axis=1) / 2,
        (e1 @ r[:, :, None])[:, :, 0],
        (e2 @ r[:, None, :, None])[..., 0] + (e1 * weight) @ e1.swapaxes(1, 2),
    )


@np.errstate(all="ignore")
def followed(loss: ExcessLoss, starts: Floats, falling: NDArray[np.int64]) -> Floats:
    """Critical points from starts (batch, P), of given numbers (batch,) of falling directions; NaN where there is none.

    This is eigenvector following (Cerjan and Miller, 1981) in the logarithms of the weights, so that none changes its
    sign: uphill along the eigenvectors of the smallest eigenvalues, as many as `falling` says, and downhill along the
    others. Near a critical point with so many falling directions a step is that of Newton's method.
    """
    ends, places, weights = np.full(starts.shape, np.nan), np.arange(len(starts)), starts
    for _ in range(STEPS):
        value, gradient, hessian = derivatives(loss, weights)
        slope = gradient * weights
        H = hessian * weights[:, :, None] * weights[:, None] + slope[:, :, None] * np.eye(weights.shape[1])
        kept = (value < HOPELESS) & np.isfinite(H).all((1, 2))
        places, weights, slope, H = places[kept], weights[kept], slope[kept], H[kept]
        scale = 1 / (np.sqrt(np.abs(np.einsum("bkk->bk", H))) + TINY)
        eigenvalues, vectors = np.linalg.eigh(H * scale[:, :, None] * scale[:, None])
        along = np.einsum("bkj,bk->bj", vectors, slope * scale) / np.maximum(np.abs(eigenvalues), FLAT)
        along[np.arange(weights.shape[1]) < falling[places, None]] *= -1
        step = -scale * np.einsum("bkj,bj->bk", vectors, along)
        size = np.abs(step).max(axis=1)
        weights = weights * np.exp(step * np.minimum(1, LONGEST / np.maximum(size, TINY))[:, None])
        done = size < CONVERGED
        ends[places[done]] = weights[done]
        places, weights = places[~done], weights[~done]
        if not len(places):
            break
    return ends


def first_places(noise: str, layers: int, count: int, rng: np.random.Generator) -> Floats:
    """Starts of the search in random order, (count, P).

    Half of them are the points known of one layer less with a random layer inserted, a quarter has random zeros, and
    a quarter has made some steps of a descent from such.
    """
    regression = regression_named(noise)
    loss = on_gauss_nodes(regression, layers)
    shorter = landscape(noise, layers - 1).points if layers > 2 else [flat_weights(known_model(noise, 1))]
    random = folded(rng, count // 2, layers, 2.0 * regression.n, SPAN * float(loss.rule.t[-1]))
    random[: count // 4] = descended(loss, random[: count // 4], PARTIAL).weights
    return rng.permutation(np.concatenate([deepened(rng, count - count // 2, np.asarray(shorter)), random]))


class Search(NamedTuple):
    """Certified critical points, the starts that ended in each, and how many points the last tenth of starts added."""

    points: list[CriticalPoint]
    hits: list[int]
    late: int


def searched(noise: str, layers: int, starts: int, seed: int) -> Search:
    """The critical points to which following eigenvectors leads from random places, and the best one known."""
    regression = regression_named(noise)
    loss, rng = on_gauss_nodes(regression, layers), generator(seed, f"gd++/landscape/{noise}/{layers}", 0)
    places, falling = first_places(noise, layers, starts, rng), rng.integers(layers + 1, size=starts)
    parts = [slice(first, first + BATCH) for first in range(0, starts, BATCH)]
    ends = np.concatenate([followed(loss, places[part], falling[part]) for part in parts])
    order = np.flatnonzero(np.isfinite(ends).all(axis=1))
    highest = HIGHEST - gdplusplus_floor(regression, layers).value
    order = order[derivatives(loss, ends[order]).value < highest]
    points, hits, late = list[CriticalPoint](), list[int](), 0
    while len(order):
        same = np.isclose(ends[order], ends[order[0]], rtol=SAME, atol=0).all(axis=1)
        point = _certified(noise, ends[order[0]])
        if point is not None:
            points.append(point)
            hits.append(int(np.count_nonzero(same)))
            late += int(order[0] >= starts - starts // 10)
        order = order[~same]
    best = certified(regression, flat_weights(known_model(noise, layers)))
    if _place(best, points) < 0:
        points.append(best)
        hits.append(0)
    return Search(points, hits, late)


def _certified(noise: str, weights: Floats) -> CriticalPoint | None:
    """The certified critical point near weights, if there is one."""
    try:
        point = certified(regression_named(noise), weights)
    except (OutOfReach, ZeroDivisionError):
        return None
    return point if np.allclose(point.weights, weights, rtol=NEAR, atol=0) else None


# ---- where training ends


Weights = Callable[[Floats], tuple[Floats, Floats]]
"""Weights (batch, P) and their Jacobians (batch, P, K) from parameters (batch, K)."""


def by_adam(loss: ExcessLoss, first: Sequence[Floats], weights_of: Sequence[Weights]) -> list[Floats]:
    """Weights after Adam on the expected loss, from parameters (batch, K) of each kind; all kinds share their steps."""
    parameters, moments = list(first), [Moments.none(*weights.shape) for weights in first]
    rows = np.cumsum([len(weights) for weights in first])[:-1]
    for _ in range(TRAINED):
        weights, jacobians = zip(*(of(values) for of, values in zip(weights_of, parameters, strict=True)), strict=True)
        deviations, slopes = deviations_of(loss, np.concatenate(weights))
        gradients = np.split(deviations[:, None] @ slopes, rows)
        for kind, (gradient, jacobian) in enumerate(zip(gradients, jacobians, strict=True)):
            moments[kind], change = Adam(RATE).step(moments[kind], (gradient @ jacobian)[:, 0])
            parameters[kind] = parameters[kind] + change
    return [of(values)[0] for of, values in zip(weights_of, parameters, strict=True)]


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


def first_weights(layers: int, d: int) -> dict[str, tuple[int, float, Weights]]:
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
    regression = regression_named(noise)
    loss, ends = on_gauss_nodes(regression, layers), dict[str, list[int]]()
    kinds, first = first_weights(layers, regression.d), list[Floats]()
    for name, (count, deviation, _) in kinds.items():
        rng = generator(seed, f"gd++/landscape/{name}/{noise}/{layers}", 0)
        first.append(deviation * rng.standard_normal((trainings, count)))
    for name, reached in zip(kinds, by_adam(loss, first, [kind[2] for kind in kinds.values()]), strict=True):
        counts, none = [0] * len(points), 0
        for weights in reached:
            near = followed(loss, weights[None], np.zeros(1, dtype=int))[0]
            point = _certified(noise, near) if np.isfinite(near).all() else None
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
    floor, entry = gdplusplus_floor(regression_named(noise), 3).value, printed(noise, "GD++", 3)
    value = entry.value + entry.rounding
    if best <= value <= floor + TIMES_PRINTED * (best - floor):
        return value
    return float(f"{floor + TIMES_BEST * (best - floor):.7f}")


def _place(point: CriticalPoint, points: Iterable[CriticalPoint]) -> int:
    """The index of a point in a list, up to the rounding of weights; -1 if it is not in the list."""
    same = (np.allclose(known.weights, point.weights, rtol=SAME, atol=0) for known in points)
    return next((index for index, is_same in enumerate(same) if is_same), -1)


def made(noise: str, layers: int, starts: int, trainings: int, seed: int) -> Landscape:
    """Search, for three layers list all below the bound, and train."""
    clock = time.process_time()
    points, hits, late = searched(noise, layers, starts, seed)
    below, boxes = 0.0, 0
    if layers == COMPLETE:
        below = bound_of(noise)
        complete = all_below(regression_named(noise), layers, below)
        boxes = complete.boxes
        loss, excess = (
            on_gauss_nodes(regression_named(noise), layers),
            below - gdplusplus_floor(regression_named(noise), layers).value,
        )
        missed = [
            point for point in points if loss(np.asarray(point.weights)) < excess and _place(point, complete.points) < 0
        ]
        if missed:
            raise OutOfReach(f"{noise}, {layers} layers: branch and bound missed {missed}; its code is wrong.")
        points += [point for point in complete.points if _place(point, points) < 0]
    ends = trained_ends(noise, layers, points, trainings, seed)
    hits += [0] * (len(points) - len(hits))
    loss = on_gauss_nodes(regression_named(noise), layers)
    order = np.argsort([loss(np.asarray(point.weights)) for point in points])
    return sealed(
        Landscape(
            format=FORMAT, command=f"{COMMAND} {noise} --layers {layers} --starts {starts} --trainings {trainings}"
            f" --seed {seed}", noise=noise, layers=layers, below=below, boxes=boxes,
            points=tuple(points[k].weights for k in order),
            indices=tuple(points[k].index for k in order), hits=tuple(hits[k] for k in order), starts=starts,
            late=late, ends={name: (*(counts[k] for k in order), counts[-1]) for name, counts in ends.items()},
            seconds=round(time.process_time() - clock, 1), machine=machine_here(),
        )
    )  # fmt: skip


def main() -> None:
    """Make records of the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [noise.name for noise in NOISES]
    parser.add_argument("law", nargs="*", default=names, help=f"one of {', '.join(names)}")
    parser.add_argument("--layers", type=int, nargs="+", default=list(STARTS), choices=list(STARTS))
    parser.add_argument("--starts", type=int, help=f"by default {STARTS}")
    parser.add_argument("--trainings", type=int, help=f"by default {TRAININGS}")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    for noise in asked.law:
        if noise not in names:
            raise InvalidInput(f"law = {noise!r}: choose from {', '.join(names)}.")
        for layers in sorted(asked.layers):
            starts, trainings = asked.starts or STARTS[layers], asked.trainings or TRAININGS[layers]
            record = made(noise, layers, starts, trainings, asked.seed)
            write_record(record, landscapes_path(), f"{noise}/{layers}")
            print(
                noise,
                layers,
                record.below,
                record.boxes,
                len(record.points),
                record.late,
                unseen(record.hits),
                record.ends,
                record.seconds,
                flush=True,
            )


if __name__ == "__main__":
    main()
