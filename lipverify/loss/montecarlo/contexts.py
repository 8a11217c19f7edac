r"""Whole contexts drawn in R^d: a query, n tokens and a task each, for any covariates and any law that can be drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from lipverify.loss.montecarlo.device import to_device
from lipverify.loss.streams import generator
from lipverify.problem import Problem
from lipverify.problem.law import as_functions
from lipverify.problem.sphere import standard_normals

Array = Any


@dataclass(frozen=True)
class Contexts:
    """C contexts, or a stretch of the tokens of C contexts, in the arrays of one library.

    query (C, d), tokens (C, m, d); values[k] (C, m) and targets[k] (C,): the component f_k at the tokens and
    at the query. The label noise is not drawn: what is made of contexts is averaged over it in closed form.
    """

    query: Array
    tokens: Array
    values: list[Array]
    targets: list[Array]


def draw_contexts(problem: Problem, contexts: int, seed: int, cell: str, chunk: int = 0) -> Contexts:
    """Contexts of one chunk, all tokens at once, as NumPy arrays.

    >>> from lipverify.laws import ReLU
    >>> c = draw_contexts(Problem(d=3, n=10, law=ReLU()), contexts=4, seed=0, cell="example")
    >>> c.tokens.shape, len(c.values), c.values[0].shape
    ((4, 10, 3), 2, (4, 10))
    """
    return next(token_blocks(problem, contexts, int(problem.n), seed, cell, chunk))


def token_blocks(
    problem: Problem, contexts: int, tokens: int, seed: int, cell: str, chunk: int, xp: Any = np, device: Any = None
) -> Iterator[Contexts]:
    """The tokens of one chunk of contexts, at most `tokens` of each at a time, on the device of `xp`.

    A chunk has a stream for the points and one for the tasks, so that how many numbers a law draws for
    itself does not move the tokens.
    """
    law, d, n = as_functions(problem.law, "Monte Carlo"), problem.d, int(problem.n)
    points, tasks = generator(seed, cell, chunk), generator(seed, f"{cell}/tasks", chunk)

    def covariates(shape: tuple[int, ...]) -> Array:
        return problem.covariates.points(to_device(standard_normals(points, shape), xp, device), xp)

    query = covariates((contexts, 1, d))
    functions = law.draw(tasks, contexts, d)
    functions = functions if callable(functions) else to_device(functions, xp, device)
    targets = [f[:, 0] for f in law.values(functions, query, xp)]
    for first in range(0, n, tokens):
        x = covariates((contexts, min(tokens, n - first), d))
        yield Contexts(query=query[:, 0, :], tokens=x, values=law.values(functions, x, xp), targets=targets)
