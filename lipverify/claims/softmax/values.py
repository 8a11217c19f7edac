"""Measurements on the value matrix W_V: what it can change, the best v, and the best c, exactly along n."""

from __future__ import annotations

import math

import msgspec
import numpy as np
from numpy.typing import NDArray

from lipverify.claims.softmax.rays import problem
from lipverify.loss.attention import scores, softmax_weights
from lipverify.loss.montecarlo.contexts import Contexts, draw_contexts
from lipverify.loss.scaled import ScaledLoss, scaled_loss
from lipverify.loss.streams import generator, normals
from lipverify.optimum import optimal_window
from lipverify.optimum.jackknife import jackknife
from lipverify.problem.law import as_ridge
from lipverify.scaling import Growth, growth_of

Floats = NDArray[np.float64]

BATCHES = 16
LADDER, LINEAR_LADDER = (1e6, 1e24), (1e3, 1e8)
"""Context lengths; where the best loss falls like 1/n it is a difference that loses a digit with each decade."""
NODES, HALF_WIDTH = 9, 0.3
"""Windows of a local fit of the loss, and half its range in log w."""
WALK = np.exp2(np.arange(-2, 3))


class BestVector(msgspec.Struct, frozen=True, kw_only=True):
    """The first entry of the v that minimises the loss on sampled labels, and the least eigenvalue of its Hessian.

    Both with the half-widths of 95 % intervals, at M = w* I and c = 1.
    """

    v: tuple[float, float]
    curvature: tuple[float, float]


class BestScale(msgspec.Struct, frozen=True, kw_only=True):
    """C* - 1 at w*, its error, and the share of the loss that c* saves."""

    w: float
    excess: float
    excess_error: float
    saved: float


class JointGrowth(msgspec.Struct, frozen=True, kw_only=True):
    """Growth along n of the jointly optimal window, of c* - 1 there and of the loss, and of 2 w (c* - 1) / (d - 1)."""

    window: Growth
    excess: Growth
    loss: Growth
    product: Growth


def offset_variance(offset: bool, L: float = 1.0) -> float:
    """The variance of b ~ Unif[-L, L], or none."""
    return L**2 / 3 if offset else 0.0


def ignored_rows(d: int, n: int, seed: int) -> tuple[float, float]:
    """The largest change of the prediction when the first d rows of W_V are drawn anew, and its rounding."""
    address = f"rows/{d}/{n}"
    tokens, query = normals(seed, address, 0, (n, d + 1)), normals(seed, f"{address}/query", 0, (d,))
    a = softmax_weights((tokens[:, :d] @ query)[None], np)[0]
    predictions = []
    for draw in range(8):
        values = normals(seed, f"{address}/values", draw, (d + 1, d + 1))
        values[d] = normals(seed, f"{address}/row", 0, (d + 1,))
        predictions.append((values @ (tokens.T @ a))[d])
    scale = max(1.0, float(np.max(np.abs(predictions))))
    return float(np.ptp(predictions)), 8 * d * float(np.finfo(float).eps) * scale


def best_vector(law: str, d: int, n: int, contexts: int, seed: int) -> BestVector:
    """The regression of what the prediction misses on sum_i a_i x_i, with drawn amplitudes and drawn noise."""
    p = problem(law, d, n)
    drawn = draw_contexts(p, contexts, seed, f"values/{law}/{d}/{n}")
    a = softmax_weights(scores(drawn, optimal_window(p).w * np.eye(d), np), np)
    labels, target = _labels(drawn, p.sigma, seed, f"values/{law}/{d}/{n}/labels")
    means, missed = np.einsum("ci,cij->cj", a, drawn.tokens), target - np.sum(a * labels, axis=1)
    batch = np.arange(contexts) % BATCHES

    def estimates(kept: NDArray[np.bool_]) -> tuple[float, float]:
        X, e = means[kept], missed[kept]
        hessian = 2 * X.T @ X / len(X)
        return float(np.linalg.solve(hessian, 2 * X.T @ e / len(X))[0]), float(np.linalg.eigvalsh(hessian)[0])

    value, error = jackknife(estimates(batch >= 0), [estimates(batch != left) for left in range(BATCHES)])
    return BestVector(v=(float(value[0]), float(error[0])), curvature=(float(value[1]), float(error[1])))


def _labels(drawn: Contexts, sigma: float, seed: int, address: str) -> tuple[Floats, Floats]:
    """Labels of the tokens and values at the query, for amplitudes l ~ Unif[-1, 1] and normal noise."""
    contexts, n = drawn.values[0].shape
    amplitudes = 2 * generator(seed, address, 0).random((len(drawn.values), contexts)) - 1
    noise = sigma * normals(seed, f"{address}/noise", 0, (contexts, n))
    values = sum(each[:, None] * f for each, f in zip(amplitudes, drawn.values, strict=True))
    return values + noise, np.asarray(sum(each * f for each, f in zip(amplitudes, drawn.targets, strict=True)))


def best_scale(law: str, offset: bool, d: int, n: float) -> BestScale:
    """C* at the optimal window, exactly."""
    p = problem(law, d, n)
    w = optimal_window(p).w
    at = scaled_loss(p, [w], offset_variance(offset))
    return BestScale(
        w=w,
        excess=float(at.excess[0]),
        excess_error=float(at.excess_error[0]),
        saved=float(1 - at.least[0] / at.unscaled[0]),
    )


def sampled_scale(law: str, offset: bool, d: int, n: int, contexts: int, seed: int) -> tuple[float, float]:
    """(c* at w*, half-width of its 95 % interval) from the prediction and its product with f(x) on sampled contexts."""
    p = problem(law, d, n)
    drawn = draw_contexts(p, contexts, seed, f"scale/{law}/{d}/{n}")
    a = softmax_weights(scores(drawn, optimal_window(p).w * np.eye(d), np), np)
    v, beta = as_ridge(p.law, "sampling").amplitude_variance, offset_variance(offset)
    predictions = [np.sum(a * f, axis=1) for f in drawn.values]
    squares = v * sum(P**2 for P in predictions) + p.sigma**2 * np.sum(a * a, axis=1) + beta
    products = v * sum(P * f for P, f in zip(predictions, drawn.targets, strict=True)) + beta
    batch = np.arange(contexts) % BATCHES
    left_out = [products[batch != left].sum() / squares[batch != left].sum() for left in range(BATCHES)]
    value, error = jackknife(products.sum() / squares.sum(), left_out)
    return float(value), float(error)


def joint_growth(law: str, offset: bool, d: int, points: int) -> JointGrowth:
    """The joint minimiser over (w, c) along n."""
    linear = law == "affine" and not offset
    ladder = [float(round(n)) for n in np.geomspace(*(LINEAR_LADDER if linear else LADDER), points)]
    found: list[tuple[float, float, ScaledLoss]] = []
    for n in ladder:
        found.append(joint_optimum(law, offset, d, n, found[-1][0] if found else None))
    names = ("excess", "excess_error", "least", "least_error")
    w, w_error = (np.array([each[k] for each in found], dtype=np.float64) for k in (0, 1))
    excess, excess_error, least, least_error = (
        np.array([getattr(at, name)[0] for _, _, at in found], dtype=np.float64) for name in names
    )
    # c* - 1 is about inversely proportional to w
    relative = np.abs(excess_error / excess) + w_error
    return JointGrowth(
        window=growth_of(ladder, w, w_error),
        excess=growth_of(ladder, excess, relative),
        loss=growth_of(ladder, least, np.abs(least_error / least)),
        product=growth_of(ladder, 2 * w * excess / (d - 1), relative),
    )


def joint_optimum(
    law: str, offset: bool, d: int, n: float, start: float | None = None
) -> tuple[float, float, ScaledLoss]:
    """(w, its relative error, the loss there) at the joint minimiser; the walk begins at `start`, or at w*."""
    p, beta = problem(law, d, n), offset_variance(offset)
    centre = optimal_window(p).w if start is None else start
    while (lowest := int(np.argmin(scaled_loss(p, centre * WALK, beta).least))) in (0, WALK.size - 1):
        centre *= WALK[lowest]
    centre *= WALK[lowest]
    for half_width in (2 * HALF_WIDTH, HALF_WIDTH):
        x = half_width * np.polynomial.chebyshev.chebpts2(NODES)
        y = scaled_loss(p, centre * np.exp(x), beta).least
        steps = [_lowest_of_fit(x, y / y.min() - 1, NODES - 1 - drop) for drop in (0, 1)]
        centre *= math.exp(steps[0])
    rounding = float(np.finfo(float).eps) ** 0.5 / 10
    return centre, abs(steps[0] - steps[1]) + rounding, scaled_loss(p, [centre], beta)


def _lowest_of_fit(x: Floats, y: Floats, degree: int) -> float:
    """Where a polynomial fit to y(x) is lowest inside the range of x."""
    fit = np.polynomial.Polynomial.fit(x, y, degree)
    roots = fit.deriv().roots()
    inside = [float(r.real) for r in roots if abs(r.imag) < 1e-9 and x.min() <= r.real <= x.max()]
    return min(inside, key=lambda at: float(fit(at))) if inside else float(x[np.argmin(y)])
