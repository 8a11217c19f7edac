r"""Training with full key and query matrices, where scores may depend on labels and nothing forces the block form.

With z_i = (x_i, y_i), the query z = (x, 0) and A = K^T Q, all matrices (d+1) x (d+1), the score of token i is

    z_i^T A z = x_i^T M x + y_i r^T x,        A = [[M, u], [r^T, c]].

The query's own label slot is 0 and multiplies u and c, so no loss depends on them. The prediction is still sum_i a_i
y_i. Since labels enter the weights, label noise and amplitudes are sampled here and not averaged: a context contributes
(sum_i a_i y_i - f(x))^2, with the derivatives 2 e a_i (y_i - sum_j a_j y_j) in its scores, e = sum_i a_i y_i - f(x),
and then

    dA = sum_i slope_i z_i z^T,    dK = Q dA^T,    dQ = K dA.

If f(-x) has the same law as f(x) and -x the same as x, a change of sign of every x turns r into -r and changes nothing
else, so the loss is even in r. It is also even if -f has the same law as f and the noise is symmetric. In either case
every block matrix has a zero gradient in r.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lipverify import Problem
from lipverify.checks.softmax.quantities import Floats, softmax
from lipverify.errors import InvalidInput, OutOfReach
from lipverify.laws import RidgeLaw, Sampled, Transformed
from lipverify.sampling import draw_contexts, normals, uniforms

FORGOTTEN, SQUARES_FORGOTTEN, LEAST = 0.9, 0.999, 1e-8
"""beta_1, beta_2 and epsilon of Adam."""


@dataclass(frozen=True)
class LabelledContexts:
    """C contexts with everything sampled: tokens (C, n, d + 1) are (x_i, y_i), queries (C, d), targets f(x) (C,)."""

    tokens: Floats
    query: Floats
    targets: Floats


@dataclass(frozen=True)
class FullTrajectory:
    """Keys and queries (R, d + 1, d + 1) after `steps` (R,) steps of the training on a stream."""

    stream: str
    steps: Any
    keys: Any
    queries: Any

    @property
    def A(self) -> Floats:
        """K^T Q of every record."""
        return np.asarray(np.swapaxes(self.keys, 1, 2) @ self.queries)


def draw_labelled(problem: Problem, contexts: int, seed: int, stream: str) -> LabelledContexts:
    """Contexts with their amplitudes and label noise, for any law whose functions can be sampled."""
    drawn = draw_labelled_together(problem, contexts, seed, [stream])
    return LabelledContexts(drawn.tokens[0], drawn.query[0], drawn.targets[0])


def draw_labelled_together(problem: Problem, contexts: int, seed: int, streams: Sequence[str]) -> LabelledContexts:
    """Draw labelled contexts for each of R streams: every array has a first axis of length R."""
    drawn, shape = [draw_contexts(problem, contexts, seed, stream) for stream in streams], (len(streams), contexts)
    values, at_query = (
        [np.stack(part) for part in zip(*parts, strict=True)]
        for parts in ([each.values for each in drawn], [each.targets for each in drawn])
    )
    components, n = len(values), int(problem.n)
    u = np.concatenate(
        [uniforms(seed, f"{stream}/amplitudes", 0, (components, contexts)) for stream in streams], axis=1
    )
    amplitudes = [amplitude.reshape(shape) for amplitude in _amplitudes(problem, u)]
    f = sum(amplitude[..., None] * values for amplitude, values in zip(amplitudes, values, strict=True))
    targets = sum(amplitude * target for amplitude, target in zip(amplitudes, at_query, strict=True))
    noise = np.stack([normals(seed, f"{stream}/noise", 0, (contexts, n)) for stream in streams])
    labels = f + problem.sigma * noise
    tokens, query = (np.stack(part) for part in zip(*((each.tokens, each.query) for each in drawn), strict=True))
    return LabelledContexts(np.concatenate([tokens, labels[..., None]], axis=-1), query, targets)


def mirrored(contexts: LabelledContexts) -> LabelledContexts:
    """The same contexts with -x for every x, the query included, and the labels unchanged."""
    signs = np.append(-np.ones(contexts.query.shape[-1]), 1.0)
    return LabelledContexts(signs * contexts.tokens, -contexts.query, contexts.targets)


def full_loss_and_gradient(contexts: LabelledContexts, A: Floats) -> tuple[Floats, Floats]:
    r"""The mean squared error over contexts and its gradient in A, (d + 1, d + 1).

    Contexts (R, C, ...) and matrices (R, d + 1, d + 1) of R trainings may be given together.

    The loss is holomorphic in A, so Im L(A + i h E) / h is the derivative along E up to rounding. The last column of
    the gradient is exactly zero.
    """
    d, count = contexts.query.shape[-1], contexts.query.shape[-2]
    labels = contexts.tokens[..., d]
    towards = contexts.query @ np.swapaxes(A[..., :d], -1, -2)
    a = softmax((contexts.tokens @ towards[..., None])[..., 0])
    residual = np.sum(a * labels, axis=-1) - contexts.targets
    slopes = 2 * residual[..., None] * labels
    slopes = a * (slopes - np.sum(a * slopes, axis=-1, keepdims=True))
    along = (slopes[..., None, :] @ contexts.tokens)[..., 0, :]
    gradient = np.zeros(A.shape, dtype=along.dtype)
    gradient[..., :d] = np.swapaxes(along, -1, -2) @ contexts.query / count
    return np.sum(residual * residual, axis=-1) / count, gradient


def curvature_in_row(contexts: LabelledContexts, M: Floats) -> float:
    r"""The second derivative of the mean loss in r at r = 0, averaged over the directions of r.

    A step along axis k adds y_i x_k to the score of token i. Let m, v and t be the mean, the variance and the third
    central moment of the labels under the attention a. Then m' = x_k v and m'' = x_k^2 t, so the second derivative is

        (2 / d) E |x|^2 (v^2 + (m - f(x)) t).
    """
    d = len(M)
    labels, towards = contexts.tokens[..., d], contexts.query @ M.T
    a = softmax((contexts.tokens[..., :d] @ towards[..., None])[..., 0])
    mean = np.sum(a * labels, axis=-1)
    apart = labels - mean[:, None]
    variance, third = np.sum(a * apart**2, axis=-1), np.sum(a * apart**3, axis=-1)
    second = variance**2 + (mean - contexts.targets) * third
    return float(2 / d * np.mean(np.sum(contexts.query**2, axis=-1) * second))


def train_full(
    problem: Problem,
    streams: Sequence[str],
    *,
    optimiser: str = "adam",
    steps: int = 500,
    batch: int = 64,
    learning_rate: float = 0.02,
    size: float = 0.1,
    every: int = 0,
    seed: int = 0,
) -> list[FullTrajectory]:
    """Train K and Q on fresh contexts from entries of standard deviation `size`, one training for each stream.

    A training does not depend on the others, up to rounding. There are twenty records, or one `every` so many steps.
    """
    every = every or max(1, steps // 20)
    starts = [normals(seed, f"{stream}/start", 0, (2, problem.d + 1, problem.d + 1)) for stream in streams]
    K, Q = size * np.stack(starts, axis=1)
    of_keys = of_queries = (np.zeros_like(K), np.zeros_like(K))
    records = [(0, K, Q)]
    for t in range(1, steps + 1):
        contexts = draw_labelled_together(problem, batch, seed, [f"{stream}/training/{t}" for stream in streams])
        with np.errstate(over="ignore", invalid="ignore"):  # a loss that is not finite raises an error below
            _, slope = full_loss_and_gradient(contexts, np.swapaxes(K, 1, 2) @ Q)
            of_keys, by_keys = _moved(optimiser, learning_rate, t, of_keys, Q @ np.swapaxes(slope, 1, 2))
            of_queries, by_queries = _moved(optimiser, learning_rate, t, of_queries, K @ slope)
            K, Q = K + by_keys, Q + by_queries
        if not np.all(np.isfinite(K) & np.isfinite(Q)):
            raise OutOfReach(f"step {t} with learning_rate = {learning_rate:g} diverged: use a smaller learning rate.")
        if t % every == 0 or t == steps:
            records.append((t, K, Q))
    recorded, keys, queries = (np.array(column) for column in zip(*records, strict=True))
    return [FullTrajectory(stream, recorded, keys[:, k], queries[:, k]) for k, stream in enumerate(streams)]


def _moved(optimiser: str, rate: float, t: int, means: tuple[Floats, Floats], gradient: Floats) -> Any:
    """The running means of gradients and their squares after step t, and the change of the parameters.

    Source: Kingma and Ba, ICLR 2015, algorithm 1.
    """
    if optimiser == "gd":
        return means, -rate * gradient
    first = FORGOTTEN * means[0] + (1 - FORGOTTEN) * gradient
    second = SQUARES_FORGOTTEN * means[1] + (1 - SQUARES_FORGOTTEN) * gradient**2
    m, v = first / (1 - FORGOTTEN**t), second / (1 - SQUARES_FORGOTTEN**t)
    return (first, second), -rate * m / (np.sqrt(v) + LEAST)


def _amplitudes(problem: Problem, u: Floats) -> Floats:
    """The amplitudes l_k (K, C) of a law. A law that is a sampler has none; its functions include them."""
    law = problem.law
    ridge = law.ridge if isinstance(law, Transformed) else law
    if not isinstance(ridge, RidgeLaw | Sampled):
        raise InvalidInput(f"law = {law!r}: training with full matrices needs whole functions; write a Sampled law.")
    return np.asarray(ridge.amplitudes(u)) if isinstance(ridge, RidgeLaw) else np.ones_like(u)
