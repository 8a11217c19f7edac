"""Pretrain M by stochastic gradient descent on fresh tasks; a `Recipe` records the choices that papers do not state."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from lipverify.errors import OutOfReach
from lipverify.foundation.arrays import Floats
from lipverify.foundation.means.batches import mean_interval
from lipverify.foundation.optimisers import OPTIMISERS, Moments, OptimiserName
from lipverify.foundation.quoting import shown
from lipverify.foundation.streams import normals
from lipverify.foundation.validation import a_seed, chosen, number, whole
from lipverify.loss.attention import attention_for, losses_and_slopes
from lipverify.loss.montecarlo.contexts import draw_together
from lipverify.loss.terms import AttentionName
from lipverify.optimum.matrix.sampled import BATCHES, draw_loss, require_kept
from lipverify.problem import Problem
from lipverify.problem.law import as_functions
from lipverify.problem.problem import require_problem

__all__ = ["Recipe", "held_out_losses"]

LARGEST_SCORE = 1e8
"""Divergence: softmax then puts all weight on one token, and the gradient vanishes."""
MOST_DRAWS = 10**12
"""Random numbers of a training: days of work, although each batch fits by itself."""


class Recipe(msgspec.Struct, frozen=True, kw_only=True):
    """The optimiser, its learning rate, the number of steps, the contexts per step, and the start.

    Attributes
    ----------
    optimiser, learning_rate, steps, batch
        "gd" or "adam", its learning rate, the number of steps, and the fresh contexts for each step.
    start
        M starts at start (I + G / 10), with the entries of G standard normal: no run starts at a symmetric point.

    Source: Collins et al., slides, the training figures.

    Examples
    --------
    >>> from lipverify.laws import Affine
    >>> recipe = Recipe(optimiser="gd", learning_rate=0.5, steps=100, batch=32, start=0.1)
    >>> recipe.runs(Problem(d=2, n=10, law=Affine(L=3.0)), ["a", "b"], every=50, seed=0).shape
    (2, 3, 2, 2)
    """

    optimiser: OptimiserName
    learning_rate: float
    steps: int
    batch: int
    start: float

    def runs(
        self,
        problem: Problem,
        streams: Sequence[str],
        *,
        attention: AttentionName = "softmax",
        every: int,
        seed: int,
    ) -> Floats:
        """Train M once for each stream, all runs together: M after 0, `every`, ... and all steps, (run, record, d, d).

        Each step uses the mean gradient over contexts that no other step uses. Label noise and amplitudes are averaged
        in closed form, so that a gradient has the mean of the gradient with drawn labels, and a smaller variance. Runs
        with the same seed and stream share their start, tokens and directions: if two problems differ in L only, so do
        their runs.

        Raises
        ------
        InvalidInput
            If a value breaks its rule.
        OutOfReach
            If a gradient is not finite or M diverges, a batch does not fit, or the training would take days.
        """
        require_problem(problem)
        a_seed(seed)
        for name, value in (("steps", self.steps), ("batch", self.batch), ("every", every)):
            whole(name, value, 1)
        number("start", self.start)
        rule = OPTIMISERS[chosen("optimiser", self.optimiser, OPTIMISERS)](self.learning_rate)
        _require_affordable(problem, self.steps, self.batch)
        require_kept(problem, self.batch)
        d, kind = problem.d, attention_for(attention, problem.law)
        noises = [normals(seed, f"{stream}/perturbation", 0, (d, d)) for stream in streams]
        M = np.stack([self.start * (np.eye(d) + 0.1 * noise) for noise in noises])
        v, noise = as_functions(problem.law, "training").amplitude_variance, problem.sigma**2
        moments, records = Moments.none(d, d), [M]
        for t in range(1, self.steps + 1):
            contexts = draw_together(problem, self.batch, seed, [f"{stream}/training/{t - 1}" for stream in streams])
            with np.errstate(over="ignore", invalid="ignore"):  # values that are not finite are refused below
                _, z = losses_and_slopes(kind, contexts, M, noise, v)
                moments, change = rule.step(moments, np.swapaxes(z, 1, 2) @ contexts.query / self.batch)
                M = M + change
            _require_finite(problem, M, t, self.learning_rate)
            if t % every == 0 or t == self.steps:
                records.append(M)
        return np.stack(records, axis=1)


def held_out_losses(
    problem: Problem,
    M: Floats,
    *,
    attention: AttentionName = "softmax",
    held_out: int = 4096,
    seed: int = 0,
    stream: str = "",
) -> Floats:
    """The loss at each of several matrices (record, d, d), on contexts that no step of a training uses.

    Parameters
    ----------
    problem
        The problem: d, n, the law, sigma, the covariates.
    M
        Matrices, (record, d, d).
    attention
        "softmax" or "linear".
    held_out
        Number of contexts, >= 64.
    seed, stream
        Address of the random numbers; with those of a training, its unseen contexts.

    Returns
    -------
    ndarray
        The losses, (record,), in units of y squared.

    Raises
    ------
    InvalidInput
        If an argument breaks its rule.

    Examples
    --------
    >>> from lipverify.laws import Affine
    >>> first, better = held_out_losses(Problem(d=2, n=10, law=Affine(L=3.0)), [np.zeros((2, 2)), 2 * np.eye(2)])
    >>> bool(better < first)
    True
    """
    contexts = whole("held_out", held_out, 4 * BATCHES)
    unseen = draw_loss(problem, attention, contexts, seed, f"{stream}/held-out")
    return np.array([mean_interval(unseen.of_batches(matrix))[0] for matrix in M])


def _require_affordable(problem: Problem, steps: int, batch: int) -> None:
    """Refuse a training that would take days."""
    most = int(MOST_DRAWS / (float(problem.n) * problem.d * batch)) if batch < MOST_DRAWS else 0
    if steps > most:
        raise OutOfReach(
            f"steps = {shown(steps)} with batch = {shown(batch)}, n = {problem.n}, d = {problem.d}: more than "
            f"{MOST_DRAWS:.0e} numbers would be drawn; take at most {most} steps, a smaller batch or a smaller n."
        )


def _require_finite(problem: Problem, M: Floats, step: int, learning_rate: float) -> None:
    """Refuse a diverged M; a gradient that is not finite leads to one."""
    score = float(np.max(np.abs(M))) * problem.covariates.scale**2
    if not score <= LARGEST_SCORE:  # written so that NaN is refused
        raise OutOfReach(
            f"step {step} with learning_rate = {learning_rate:g} led to scores of {score:.3g}, beyond "
            f"{LARGEST_SCORE:g}: training diverges; use a smaller learning rate."
        )
