r"""Measurements of training with full key and query matrices: which blocks of A = K^T Q are left at the end."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from lipverify.claims.softmax.training import Curves, Recipe, floats, norms
from lipverify.laws import Law, Sampled, law_named
from lipverify.loss.streams import normals
from lipverify.optimum.pretraining.full_form import (
    LabelledContexts,
    curvature_in_row,
    draw_labelled,
    full_loss_and_gradient,
    train_full,
)
from lipverify.problem import Problem
from lipverify.problem.sphere import on_sphere

Floats = NDArray[np.float64]

ONE_SIDED = "one-sided"
"""Linear functions that all rise along the first axis: neither f(-x) nor -f(x) is drawn like f(x)."""


class FormTraining(msgspec.Struct, frozen=True, kw_only=True):
    """Blocks of A = [[M, u], [r^T, c]] along training, each over |M|_2, [seed][record]; and the curvature at the end.

    `row` is |r|, `column` is |u| and `corner` |c|; `scale` is |M|_2 itself. `curvature` [seed] is the second
    derivative of the loss in r at r = 0 and the last M, on fresh contexts. `unseen` is the largest change of an entry
    of Q's last column, which is multiplied by the query's empty label slot.
    """

    steps: tuple[int, ...]
    scale: Curves
    row: Curves
    column: Curves
    corner: Curves
    curvature: tuple[float, ...]
    unseen: float

    def last(self, name: str) -> Floats:
        """The last record of "row", "column" or "corner", one number a seed."""
        return np.array(getattr(self, name))[:, -1]

    def change(self, name: str) -> Floats:
        """The logarithm of the last record over the first, one number a seed."""
        curves = np.array(getattr(self, name))
        return np.asarray(np.log(curves[:, -1] / curves[:, 0]))


def form_training(
    law: str, d: int, n: int, sigma: float, L: float, recipe: Recipe, seeds: int, contexts: int, seed: int
) -> FormTraining:
    """Train K and Q from normals of standard deviation `recipe.start`; labels and their noise are drawn."""
    problem = Problem(d=d, n=n, law=task_law(law, L), sigma=sigma)
    products, curvatures, unseen = [], [], 0.0
    for replication in range(seeds):
        cell = f"form/{law}/{d}/{replication}"
        run = train_full(
            problem,
            optimiser=recipe.optimiser,
            steps=recipe.steps,
            batch=recipe.batch,
            learning_rate=recipe.learning_rate,
            size=recipe.start,
            seed=seed,
            cell=cell,
        )
        fresh = draw_labelled(problem, contexts, seed, f"{cell}/curvature")
        products.append(run.A)
        unseen = max(unseen, float(np.max(np.abs(run.queries[:, :, d] - run.queries[0, :, d]))))
        curvatures.append(curvature_in_row(fresh, run.A[-1, :d, :d]))
    scales = [np.array(norms(A[:, :d, :d])) for A in products]
    pairs = list(zip(products, scales, strict=True))
    return FormTraining(
        steps=tuple(map(int, run.steps)),
        scale=tuple(floats(scale) for scale in scales),
        row=tuple(floats(np.linalg.norm(A[:, d, :d], axis=1) / scale) for A, scale in pairs),
        column=tuple(floats(np.linalg.norm(A[:, :d, d], axis=1) / scale) for A, scale in pairs),
        corner=tuple(floats(np.abs(A[:, d, d]) / scale) for A, scale in pairs),
        curvature=floats(np.array(curvatures)),
        unseen=unseen,
    )


def slope_in_row(law: str, d: int, n: int, sigma: float, L: float, contexts: int, seed: int) -> tuple[float, float]:
    """Norm of the gradient in r at r = 0: on contexts together with their mirror images, and on the contexts alone.

    The mirror image of a context has -x for every x, the query's included, and the same labels: it is as likely.
    """
    drawn = draw_labelled(Problem(d=d, n=n, law=task_law(law, L), sigma=sigma), contexts, seed, f"slope/{law}/{d}")
    A = np.zeros((d + 1, d + 1))
    A[:d, :d] = 2.0 * normals(seed, f"slope/{law}/{d}/matrix", 0, (d, d))
    both = [full_loss_and_gradient(one, A)[1][d, :d] for one in (drawn, mirrored(drawn))]
    return float(np.linalg.norm(both[0] + both[1])) / 2, float(np.linalg.norm(both[0]))


def mirrored(contexts: LabelledContexts) -> LabelledContexts:
    """The same contexts with -x for x in tokens and query, labels as they are."""
    signs = np.ones(contexts.tokens.shape[-1])
    signs[:-1] = -1.0
    return LabelledContexts(signs * contexts.tokens, -contexts.query, contexts.targets)


def task_law(name: str, L: float) -> Law:
    """A law by its name; besides those of the command line, "one-sided"."""
    if name != ONE_SIDED:
        return law_named(name, L=L)
    return Sampled(_Rising(L), extent=2 * L)


class _Rising:
    """Draws functions L <q, x> with q uniform on the half of the sphere where q_1 > 0."""

    def __init__(self, L: float) -> None:
        self.L = L

    def __call__(self, rng: np.random.Generator, contexts: int, d: int) -> Any:
        q = on_sphere(rng.standard_normal((contexts, 1, d)), np)
        q = q * np.sign(q[..., :1])
        return lambda x: self.L * np.sum(q * x, axis=-1)
