"""Pretrain M by stochastic gradient descent on fresh tasks; a `Recipe` records the choices that papers do not state."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.arrays import Floats, Matrix
from lipverify.foundation.means.batches import mean_interval
from lipverify.foundation.optimisers import Moments, Optimiser, OptimiserName, optimiser_named
from lipverify.foundation.quoting import shown
from lipverify.foundation.streams import normals
from lipverify.foundation.validation import a_seed, function, whole
from lipverify.loss.attention import Attention, attention_for, losses_and_slopes
from lipverify.loss.montecarlo.contexts import Contexts, draw_together
from lipverify.loss.terms import AttentionName
from lipverify.optimum.matrix.sampled import BATCHES, BLOCK_TOKENS, SampledLoss, draw_loss, require_kept
from lipverify.problem import Problem
from lipverify.problem.law import as_functions
from lipverify.problem.matrices import rows
from lipverify.problem.problem import require_problem

Progress = Callable[[int, int], None]

LARGEST_SCORE = 1e8
"""Divergence: softmax then puts all weight on one token, and the gradient vanishes."""
MOST_DRAWS = 10**12
"""Random numbers of a training: days of work, although each batch fits by itself."""


class Trajectory(msgspec.Struct, frozen=True, kw_only=True):
    """M during a training run, with all settings of the run.

    Attributes
    ----------
    problem, attention, optimiser, batch, held_out, seed, stream
        The settings.
    steps
        Number of steps before each record, (R,), from 0 to the last.
    M
        The matrix at each record, (R, d, d).
    loss, loss_error
        The loss, (R,), in units of y squared, on held-out contexts that no step uses, the same for all records, and
        half-widths of 95 % intervals.
    gradient_norm
        Frobenius norm of its gradient, (R,).

    Examples
    --------
    >>> from lipverify.laws import Affine
    >>> run = pretrain(Problem(d=2, n=10, law=Affine(L=3.0)), steps=10, batch=64, held_out=64, every=5)
    >>> run.steps.tolist(), run.M.shape, run.loss.shape
    ([0, 5, 10], (3, 2, 2), (3,))
    """

    problem: Problem
    attention: AttentionName
    optimiser: Optimiser
    batch: int
    held_out: int
    seed: int
    stream: str
    steps: NDArray[np.int64]
    M: Floats
    loss: Floats
    loss_error: Floats
    gradient_norm: Floats


def pretrain(
    problem: Problem,
    *,
    optimiser: OptimiserName = "adam",
    steps: int = 500,
    batch: int = 256,
    learning_rate: float = 0.05,
    start: Matrix | None = None,
    attention: AttentionName = "softmax",
    every: int | None = None,
    held_out: int = 4096,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: float = 1e-8,
    seed: int = 0,
    stream: str = "",
    progress: Progress | None = None,
) -> Trajectory:
    r"""Train M on fresh tasks: each step uses the mean gradient over a batch of contexts that no other step uses.

    Label noise and amplitudes are averaged in closed form, so that a gradient has the mean of the gradient with drawn
    labels, and a smaller variance.

    Parameters
    ----------
    problem
        Any problem whose law can be drawn, with any covariates.
    optimiser
        "adam" or "gd", gradient descent.
    steps, batch, learning_rate
        Number of steps, contexts per step, and the learning rate.
    start
        The first M, d x d; by default its entries are normal with standard deviation 0.01 / (covariates' radius)^2.
    attention
        "softmax" or "linear".
    every
        Number of steps between two records of M; by default there are fifty. The first and the last M are always
        recorded.
    held_out
        Number of contexts on which the recorded losses are computed, >= 64.
    beta1, beta2, eps
        Constants of Adam.
    seed, stream
        Address of the random numbers; every step has its own stream within it.
    progress
        Called with (steps done, steps in all).

    Returns
    -------
    Trajectory
        M, the loss and its gradient norm at each record.

    Raises
    ------
    InvalidInput
        If an argument breaks its rule.
    OutOfReach
        If a gradient is not finite or M diverges, a batch does not fit, or the training would take days.

    Source: Collins et al., slides, the training figures.

    Examples
    --------
    >>> from lipverify.laws import Affine
    >>> run = pretrain(Problem(d=2, n=10, law=Affine(L=3.0)), steps=100, every=50)
    >>> run.steps.tolist(), run.M.shape, bool(run.loss[-1] < run.loss[0])
    ([0, 50, 100], (3, 2, 2), True)
    """
    rule = optimiser_named(optimiser, learning_rate, beta1=beta1, beta2=beta2, eps=eps)
    return pretrain_together(
        problem, rule, [stream], [start], steps=steps, batch=batch, attention=attention, every=every, held_out=held_out,
        seed=seed, progress=progress,
    )[0]  # fmt: skip


def pretrain_together(
    problem: Problem,
    rule: Optimiser,
    streams: Sequence[str],
    starts: Sequence[Matrix | None],
    *,
    steps: int,
    batch: int,
    attention: AttentionName = "softmax",
    every: int | None = None,
    held_out: int = 4096,
    seed: int = 0,
    progress: Progress | None = None,
) -> list[Trajectory]:
    """Run several trainings of one problem together; each equals `pretrain` with its stream and start.

    >>> from lipverify.laws import Affine
    >>> problem, how = Problem(d=2, n=10, law=Affine(L=3.0)), {"steps": 10, "batch": 256}
    >>> together = pretrain_together(problem, optimiser_named("adam", 0.05), ["a", "b"], [None] * 2, **how)
    >>> bool(np.allclose(together[1].M, pretrain(problem, **how, stream="b").M, rtol=1e-12))
    True
    """
    require_problem(problem)
    a_seed(seed)
    if progress is not None:
        function("progress", progress, "(steps done, steps in all)")
    steps, batch = whole("steps", steps, 1), whole("batch", batch, 1)
    _require_affordable(problem, steps, batch)
    every = max(1, steps // 50) if every is None else whole("every", every, 1)
    unseen = [_held_out(problem, attention, held_out, seed, stream) for stream in streams]
    M = np.stack([_start(problem, *pair, seed) for pair in zip(streams, starts, strict=True)])
    require_kept(problem, batch)
    moments, kind = Moments.none(problem.d, problem.d), attention_for(attention, problem.law)
    v, noise = as_functions(problem.law, "training").amplitude_variance, problem.sigma**2
    recorded, matrices, performances = [], [], []
    for t in range(steps + 1):
        if t > 0:
            contexts = draw_together(problem, batch, seed, [f"{stream}/training/{t - 1}" for stream in streams])
            with np.errstate(over="ignore", invalid="ignore"):  # values that are not finite are refused two lines below
                moments, change = rule.step(moments, _gradient(kind, contexts, M, noise, v))
                M = M + change
            _require_finite(problem, M, t, rule.learning_rate)
        if t % every == 0 or t == steps:
            recorded.append(t)
            matrices.append(M)
            performances.append([_performance(*arguments) for arguments in zip(unseen, M, strict=True)])
        if progress is not None and t > 0:
            progress(t, steps)
    kept = np.array(performances)
    every_run = Trajectory(
        problem=problem, attention=attention, optimiser=rule, batch=batch, held_out=held_out, seed=seed, stream="",
        steps=np.array(recorded), M=np.array(matrices), loss=kept[:, :, 0], loss_error=kept[:, :, 1],
        gradient_norm=kept[:, :, 2],
    )  # fmt: skip
    parts = ("M", "loss", "loss_error", "gradient_norm")
    return [
        replace(every_run, stream=stream, **{name: getattr(every_run, name)[:, k] for name in parts})
        for k, stream in enumerate(streams)
    ]


def _gradient(attention: Attention, contexts: Contexts, M: Floats, noise: float, v: float) -> Floats:
    """The mean gradients of R batches at R matrices, (R, d, d), summed over blocks of contexts to save memory."""
    runs, batch, n = contexts.tokens.shape[:3]
    total, size = np.zeros_like(M), max(1, BLOCK_TOKENS // (runs * n))
    for first in range(0, batch, size):
        part = contexts[first : first + size]
        _, z = losses_and_slopes(attention, part, M, noise, v)
        total += np.swapaxes(z, 1, 2) @ part.query
    return total / batch


def held_out_losses(
    problem: Problem,
    M: Floats,
    *,
    attention: AttentionName = "softmax",
    held_out: int = 4096,
    seed: int = 0,
    stream: str = "",
) -> Floats:
    """The loss at each of several matrices (record, d, d), on the held-out contexts of `pretrain`.

    Parameters
    ----------
    problem
        The problem: d, n, the law, sigma, the covariates.
    M
        Matrices, (record, d, d).
    attention, held_out, seed, stream
        As for `pretrain`.

    Returns
    -------
    ndarray
        The losses, (record,), in units of y squared.

    Raises
    ------
    InvalidInput
        As `pretrain`.

    Examples
    --------
    >>> from lipverify.laws import Affine
    >>> run = pretrain(Problem(d=2, n=10, law=Affine(L=3.0)), steps=10, held_out=64)
    >>> bool(np.all(held_out_losses(run.problem, run.M, held_out=64) == run.loss))
    True
    """
    unseen = _held_out(problem, attention, held_out, seed, stream)
    return np.array([mean_interval(unseen.of_batches(matrix))[0] for matrix in M])


def _held_out(problem: Problem, attention: AttentionName, contexts: int, seed: int, stream: str) -> SampledLoss:
    contexts = whole("held_out", contexts, 4 * BATCHES)
    return draw_loss(problem, attention, contexts, seed, f"{stream}/held-out")


def _performance(unseen: SampledLoss, M: Floats) -> tuple[float, float, float]:
    """The loss, its error and the norm of its gradient on the held-out contexts."""
    losses, gradient = unseen.at(M)
    return *mean_interval(losses), float(np.linalg.norm(gradient))


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


def _start(problem: Problem, stream: str, start: Matrix | None, seed: int) -> Floats:
    d = problem.d
    if start is None:
        return 0.01 / problem.covariates.scale**2 * normals(seed, f"{stream}/start", 0, (d, d))
    M = np.array(rows("start", start))
    if M.shape != (d, d):
        raise InvalidInput(f"start has shape {M.shape} and d = {d}: it must be a {d} x {d} matrix.")
    return M


class Recipe(msgspec.Struct, frozen=True, kw_only=True):
    """The optimiser, its learning rate, the number of steps, the contexts per step, and the start.

    Attributes
    ----------
    optimiser, learning_rate, steps, batch
        "gd" or "adam", its learning rate, the number of steps, and the fresh contexts for each step.
    start, spread
        M starts at start (I + spread G), with the entries of G standard normal, so that no run starts at a symmetric
        point.

    Examples
    --------
    >>> print(Recipe(optimiser="gd", learning_rate=0.5, steps=100, batch=32, start=0.1))
    gradient descent, learning rate 0.5, 100 steps of 32 fresh contexts, start $w_0 = 0.1$
    """

    optimiser: OptimiserName
    learning_rate: float
    steps: int
    batch: int
    start: float
    spread: float = 0.1

    def __str__(self) -> str:
        name = {"gd": "gradient descent", "adam": "Adam"}[self.optimiser]
        return (
            f"{name}, learning rate {self.learning_rate:g}, {self.steps} steps of {self.batch} fresh contexts, "
            f"start $w_0 = {self.start:g}$"
        )

    def runs(
        self,
        problem: Problem,
        streams: Sequence[str],
        *,
        attention: AttentionName = "softmax",
        every: int,
        held_out: int = 64,
        seed: int,
    ) -> list[Trajectory]:
        """Train M by this recipe once for each stream, all runs together; the arguments are those of `pretrain`.

        Runs with the same seed and stream share their start, tokens and directions: if two problems differ in L only,
        so do their runs.
        """
        d = problem.d
        noises = [normals(seed, f"{stream}/perturbation", 0, (d, d)) for stream in streams]
        starts = [self.start * (np.eye(d) + self.spread * noise) for noise in noises]
        return pretrain_together(
            problem, optimiser_named(self.optimiser, self.learning_rate), streams, starts, steps=self.steps,
            batch=self.batch, attention=attention, every=every, held_out=held_out, seed=seed,
        )  # fmt: skip


__all__ = ["Recipe", "Trajectory", "held_out_losses", "pretrain", "pretrain_together"]
