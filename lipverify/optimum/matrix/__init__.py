"""The optimal matrix M* = argmin_M B(M) + N(M) of a set, by minimising a sampled loss; no form is assumed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import msgspec
import numpy as np

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Floats
from lipverify.foundation.noted import makes
from lipverify.foundation.quoting import shown
from lipverify.foundation.showing import Shown
from lipverify.foundation.streams import normals
from lipverify.foundation.validation import a_seed, function, whole
from lipverify.loss.attention import attention_for, attention_named
from lipverify.loss.terms import AttentionName
from lipverify.optimum.matrix.constraints import Constraint, SpectralBall, Symmetric, Unconstrained
from lipverify.optimum.matrix.descent import Units
from lipverify.optimum.matrix.estimate import Ends, require_bounded
from lipverify.optimum.matrix.replication import Descents
from lipverify.optimum.matrix.sampled import BATCHES, SampledLoss, affordable_contexts, draw_loss
from lipverify.problem import Problem
from lipverify.problem.problem import require_problem
from lipverify.problem.symmetry import Symmetry, symmetry


def natural_units(problem: Problem, loss: SampledLoss, constraint: Constraint) -> Units:
    """The w of the best w I on a coarse grid within the constraint, the loss there, and what whitens queries."""
    grid = 2.0 ** np.arange(-4, 11) / problem.covariates.scale**2
    windows = grid[grid <= max(constraint.reach, grid[0])]
    losses = [loss.mean(w * np.eye(problem.d)) for w in windows]
    best = int(np.argmin(losses))
    if not losses[best] > 0:
        raise InvalidInput(f"the loss is zero at M = {windows[best]:g} I: there is no minimiser to find.")
    whitening = _whitening(loss) if constraint.linear else np.eye(problem.d)
    return Units(matrix=float(windows[best]), whitening=whitening, loss=losses[best])


def starting_points(problem: Problem, units: Units, starts: int, seed: int, stream: str) -> list[Floats]:
    """The best w I of the grid, a random matrix near zero, and then random matrices of the size of w I."""
    d = problem.d
    random = units.matrix / np.sqrt(d) * normals(seed, f"{stream}/starts", 0, (max(starts, 2), d, d))
    # the second gives almost uniform weights; only the first assumes a form of the minimiser
    return [units.matrix * np.eye(d), 1e-3 * random[0], *random[1:]][:starts]


def _whitening(loss: SampledLoss) -> Floats:
    """S^{-1/2} with S the queries' second moments divided by their mean eigenvalue; small eigenvalues are raised."""
    S = np.mean([block.query.T @ block.query / len(block.query) for block in loss.blocks], axis=0)
    values, vectors = np.linalg.eigh(S)
    relative = np.maximum(values / np.mean(values), 1e-6)  # directions without queries are not stretched
    return np.asarray((vectors / np.sqrt(relative)) @ vectors.T)


Progress = Callable[[int, int], None]


class MatrixOptimum(Shown, msgspec.Struct, frozen=True, kw_only=True):
    """M* and the loss there, estimated by sampling; errors are half-widths of 95 % intervals, entry by entry.

    If there are rivals, the errors are those of the reported minimiser and do not cover the choice between them (for an
    even law both M and -M are minimisers; the one with trace >= 0 is reported).

    Attributes
    ----------
    problem, attention, constraint
        The loss that was minimised, and the set.
    M, M_error
        The minimiser, (d, d), and half-widths of 95 % intervals, entry by entry.
    M_raw, M_raw_error
        The same before the average over the group.
    averaged
        True if M is the group average of M_raw, else it is M_raw.
    loss, loss_error
        The loss at M, in units of y squared, and its half-width.
    losses
        The loss on the common draws at the end of each descent.
    agreeing, rivals
        Numbers of starts that ended at M, and at another matrix whose loss the draws cannot distinguish from its.
    asymmetry, asymmetry_chance
        The largest entry of M_raw minus its group average, in standard errors, and a bound on the probability of one as
        large if the symmetric form is right.
    contexts, starts, seed, stream
        The numbers of contexts and starts, and the address of the random numbers.

    Examples
    --------
    >>> from lipverify import Problem, optimal_matrix
    >>> from lipverify.laws import Affine
    >>> found = optimal_matrix(Problem(d=2, n=10, law=Affine(L=3.0)), contexts=4096, starts=2)
    >>> found.M.shape, found.averaged, found.agreeing
    ((2, 2), True, 2)
    """

    problem: Problem
    attention: AttentionName
    constraint: Constraint
    M: Floats
    M_error: Floats
    M_raw: Floats
    M_raw_error: Floats
    averaged: bool
    loss: float
    loss_error: float
    losses: tuple[float, ...]
    agreeing: int
    rivals: int
    asymmetry: float
    asymmetry_chance: float
    contexts: int
    starts: int
    seed: int
    stream: str

    def _title(self) -> str:
        return f"{self.problem.in_words}, {self.attention}, {self.contexts} contexts"

    def _columns(self) -> dict[str, Any]:
        return {"M": np.asarray(self.M), "M_error": np.asarray(self.M_error)}


@makes("sampled", "montecarlo")
def optimal_matrix(
    problem: Problem,
    *,
    constraint: Constraint | None = None,
    attention: AttentionName = "softmax",
    contexts: int | None = None,
    starts: int = 5,
    use_symmetry: bool = True,
    seed: int = 0,
    stream: str = "",
    progress: Progress | None = None,
) -> MatrixOptimum:
    r"""Minimise the mean loss over common draws, from several starts; jackknife over 16 batches for the errors.

    The score of token i is x_i^T M x. Label noise and amplitudes are averaged in closed form, and the gradient is
    analytic. The search covers the whole constraint set. If the set has the symmetry group of the problem, the
    minimiser is then averaged over the group: a unique true minimiser is invariant, and the average has the smaller
    error. The deviation from the invariant form is tested first.

    Parameters
    ----------
    problem
        Any problem whose law can be drawn, with any covariates.
    constraint
        `Unconstrained()` (by default), `Symmetric()` or `SpectralBall(B, C)`.
    attention
        "softmax" or "linear".
    contexts
        Number of contexts, >= 640; by default half a million tokens in all, with 2048 to 16384 contexts.
    starts
        Number of descents, >= 2: from w I, from near zero, then from random matrices.
    use_symmetry
        True to average over the symmetry group of the problem.
    seed, stream
        Address of the random numbers: the result is a function of it.
    progress
        Called with (descents done, descents in all); if the data do not settle which bound is active, 17 are added.

    Returns
    -------
    MatrixOptimum
        M*, the loss, their errors and the diagnostics of the search.

    Raises
    ------
    InvalidInput
        If an argument breaks its rule, or the loss does not depend on M.
    OutOfReach
        If the draws do not fit in memory, a descent does not converge, or the loss keeps falling as M grows.

    Source: Collins et al., slides, the minimisers of Lemma 1 and Theorem 4.

    Examples
    --------
    >>> from lipverify.laws import Affine
    >>> found = optimal_matrix(Problem(d=2, n=4, law=Affine(L=3.0)), contexts=640, starts=2)
    >>> found.averaged, found.agreeing, bool(abs(found.M[0, 0] - 1.901) < 2 * found.M_error[0, 0])
    (True, 2, True)
    """
    constraint = Unconstrained() if constraint is None else constraint
    contexts, starts = _validated(problem, constraint, attention, contexts, starts, progress)
    a_seed(seed)
    loss = draw_loss(problem, attention_for(attention, problem.law).name, contexts, seed, f"{stream}/matrix")
    units = natural_units(problem, loss, constraint)
    done = count(1)

    def report() -> None:
        if progress is not None:
            progress(number := next(done), max(number, starts + BATCHES))

    descents = Descents(loss, constraint, units, report)
    begins = starting_points(problem, units, starts, seed, stream)
    ends = Ends.of(loss, [descents.end(start) for start in begins], units)
    require_bounded(loss, constraint, ends.best, problem)
    ends.require_determined()
    estimate, least, least_error = descents.estimated(ends, _group(problem, constraint, use_symmetry))
    return MatrixOptimum(
        problem=problem, attention=attention, constraint=constraint, **msgspec.structs.asdict(estimate), loss=least,
        loss_error=least_error, losses=tuple(end.loss for end in ends.all), agreeing=ends.agreeing,
        rivals=len(ends.rivals), contexts=contexts,
        starts=starts, seed=seed, stream=stream,
    )  # fmt: skip


def _group(problem: Problem, constraint: Constraint, use_symmetry: bool) -> Symmetry:
    """The symmetry group of the problem, if the constraint set is invariant under it."""
    group, shape = symmetry(problem), constraint.shape(problem.d)
    shared = float(np.max(np.abs(group.average(shape) - shape))) <= 1e-9  # bases are orthonormal to 1e-10
    return group if use_symmetry and shared else Symmetry(())


def _validated(
    problem: Any, constraint: Any, attention: Any, contexts: Any, starts: Any, progress: Any
) -> tuple[int, int]:
    """The number of contexts and of starts; refused if one breaks its rule."""
    require_problem(problem)
    if not isinstance(constraint, Constraint):
        raise InvalidInput(f"constraint = {shown(constraint)} is not a constraint; use for example Symmetric().")
    if progress is not None:
        function("progress", progress, "(descents done, descents in all)")
    constraint.require_dimension(problem.d)
    if attention_named(attention).sum_to_one and problem.n == 1:
        raise InvalidInput("n = 1: the weight of a single token is 1, and the loss does not depend on M; use n >= 2.")
    if problem.law.constant and problem.sigma == 0:
        raise InvalidInput(f"law = {problem.law!r} is constant and sigma = 0: the loss does not depend on M.")
    contexts = _default_contexts(problem) if contexts is None else contexts
    return whole("contexts", contexts, 40 * BATCHES, most=10**12), whole("starts", starts, 2, most=10**4)


def _default_contexts(problem: Problem) -> int:
    """Half a million tokens in all, with 2048 to 16384 contexts, if they fit in memory."""
    count = min(max(round(2**19 / float(problem.n)), 2**11), 2**14)
    return max(40 * BATCHES, min(count, affordable_contexts(problem)))


__all__ = ["MatrixOptimum", "SpectralBall", "Symmetric", "Unconstrained", "optimal_matrix"]
