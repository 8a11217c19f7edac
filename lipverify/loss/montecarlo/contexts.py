"""Draw whole contexts in R^d, each a query, n tokens and a task, for any covariates and any law that can be drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lipverify.foundation.arrays import Array, to_device
from lipverify.foundation.streams import generator, inverted
from lipverify.loss.montecarlo.backend import NUMPY, Backend
from lipverify.problem import Problem
from lipverify.problem.law import as_functions


@dataclass(frozen=True)
class Contexts:
    """C contexts, or a block of the tokens of C contexts, in arrays of one library.

    query (C, d), tokens (C, m, d); values[k] (C, m) and targets[k] (C,): the component f_k at the tokens and at the
    query. The label noise is not drawn, because users average over it in closed form; `Prompts` draw it.
    """

    query: Array
    tokens: Array
    values: list[Array]
    targets: list[Array]


def draw_contexts(problem: Problem, contexts: int, seed: int, stream: str, chunk: int = 0) -> Contexts:
    """Draw the contexts of one chunk with all their tokens.

    Parameters
    ----------
    problem
        Any problem whose law can be drawn.
    contexts
        Their number C.
    seed, stream, chunk
        The address of the random numbers.

    Returns
    -------
    Contexts
        `query` (C, d), `tokens` (C, n, d), and for every component f_k of the law `values[k]` (C, n) at the tokens and
        `targets[k]` (C,) at the query, as NumPy arrays.

    Raises
    ------
    InvalidInput
        If the law cannot be drawn.

    Examples
    --------
    >>> from lipverify.laws import ReLU
    >>> c = draw_contexts(Problem(d=3, n=10, law=ReLU()), contexts=4, seed=0, stream="example")
    >>> c.tokens.shape, len(c.values), c.values[0].shape
    ((4, 10, 3), 2, (4, 10))
    """
    return next(token_blocks(problem, contexts, int(problem.n), seed, stream, range(chunk, chunk + 1)))


def draw_together(problem: Problem, contexts: int, seed: int, streams: Sequence[str]) -> Contexts:
    """The draws of `draw_contexts` for each of R streams, stacked along a first axis of length R."""
    law, d, n = as_functions(problem.law, "Monte Carlo"), problem.d, int(problem.n)
    points = [generator(seed, stream, 0) for stream in streams]
    tasks = [law.draw(generator(seed, f"{stream}/tasks", 0), contexts, d) for stream in streams]

    def covariates(m: int) -> Array:
        drawn = np.concatenate([rng.random((contexts, m, d)) for rng in points])
        return problem.covariates.points(inverted(drawn), np)

    def values(x: Array) -> list[Array]:
        if all(isinstance(task, np.ndarray) for task in tasks):
            return law.values(np.concatenate(tasks), x, np)
        parts = [law.values(*draw, np) for draw in zip(tasks, np.split(x, len(streams)), strict=True)]
        return [np.concatenate(part) for part in zip(*parts, strict=True)]

    def apart(array: Array) -> Array:
        return array.reshape(len(streams), contexts, *array.shape[1:])

    query = covariates(1)
    targets = [apart(f[:, 0]) for f in values(query)]
    x = covariates(n)
    return Contexts(apart(query[:, 0, :]), apart(x), [apart(f) for f in values(x)], targets)


def token_blocks(
    problem: Problem,
    contexts: int,
    tokens: int,
    seed: int,
    stream: str,
    chunks: range,
    backend: Backend = NUMPY,
    part: slice = slice(None),
) -> Iterator[Contexts]:
    """The tokens of all or some contexts of chunks, in blocks of at most `tokens` per context, on the backend.

    A chunk has one stream for the points and one for the tasks, so that the tokens do not depend on how many numbers a
    law draws. Functions that are not arrays belong to all contexts of a chunk, and are drawn for the whole chunk.
    """
    law, d, n = as_functions(problem.law, "Monte Carlo"), problem.d, int(problem.n)
    xp, device = backend.xp, backend.device
    tasks = [law.draw(generator(seed, f"{stream}/tasks", chunk), contexts, d) for chunk in chunks]
    exact = len(chunks) == 1 and not callable(tasks[0])
    drawn, kept = (part, slice(None)) if exact else (slice(None), part)
    if not callable(tasks[0]):
        tasks = [to_device(np.concatenate(tasks)[drawn], xp, device)]
    start, stop, _ = drawn.indices(contexts)

    def covariates(before: int, m: int) -> Array:
        shape, first = (stop - start, m, d), (contexts * before + start * m) * d
        normals = to_device(backend.inverted(backend.uniforms(seed, stream, chunks, shape, first)), xp, device)
        return problem.covariates.points(normals, xp)

    def values_at(x: Array) -> list[Array]:
        if len(tasks) == 1:
            return law.values(tasks[0], x, xp)
        parts = [law.values(f, x[k * contexts : (k + 1) * contexts, ...], xp) for k, f in enumerate(tasks)]
        return [xp.concat(part) for part in zip(*parts, strict=True)]

    query = covariates(0, 1)
    targets = [f[kept, 0] for f in values_at(query)]
    for first in range(0, n, tokens):
        x = covariates(1 + first, min(tokens, n - first))
        values = [f[kept, ...] for f in values_at(x)]
        yield Contexts(query=query[kept, 0, :], tokens=x[kept, ...], values=values, targets=targets)
