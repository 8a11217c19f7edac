"""Descents on one sampled loss from several starts, and leave-one-batch-out descents for the jackknife errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from lipverify.errors import OutOfReach
from lipverify.foundation.arrays import Floats
from lipverify.foundation.means.batches import jackknife
from lipverify.optimum.matrix.boundary import settled
from lipverify.optimum.matrix.constraints import Constraint
from lipverify.optimum.matrix.descent import ACCEPTED, End, Units, descend
from lipverify.optimum.matrix.ends import Ends
from lipverify.optimum.matrix.estimate import Estimate
from lipverify.optimum.matrix.nearby import Nearby
from lipverify.optimum.matrix.sampled import BATCHES, SampledLoss
from lipverify.problem.symmetry import Symmetry


@dataclass(frozen=True, eq=False)
class Descents:
    """Descents on a loss over a set; `report` is called after each."""

    loss: SampledLoss
    constraint: Constraint
    units: Units
    report: Callable[[], None]

    def end(self, start: Floats, without: int | None = None) -> End:
        """The end of the descent from `start`, on all batches or all but one."""
        loss = self.loss if without is None else partial(self.loss, without=without)
        reached = descend(loss, self.constraint, start, self.units)
        self.report()
        return reached

    def left_out(self, whole: End) -> list[End]:
        """The minimisers without one batch, each started at the minimiser of all batches.

        Raises
        ------
        OutOfReach
            If one of the descents does not converge.
        """
        nearby = Nearby.of(self.loss, self.constraint, whole.M, self.units)
        firsts = self.loss.without_each(whole.M)
        ends = [self._end_near(whole, nearby, batch, first) for batch, first in enumerate(firsts)]
        worst = max(end.stationarity for end in ends)
        if not worst <= ACCEPTED:
            raise OutOfReach(
                f"without one of {BATCHES} batches a descent ended with a scaled gradient of {worst:.1g}, more than "
                f"{ACCEPTED:g}: the loss is too flat near |M| = {np.linalg.norm(whole.M, 2):.3g}; draw more contexts."
            )
        return ends

    def _end_near(self, whole: End, nearby: Nearby | None, batch: int, first: tuple[float, Floats]) -> End:
        """The minimiser without a batch: by quasi-Newton steps, or by a descent if they fail."""
        found = nearby.end(partial(self.loss, without=batch), first) if nearby is not None else None
        if found is None:
            return self.end(whole.M, without=batch)
        self.report()
        return found

    def estimated(self, ends: Ends, group: Symmetry) -> tuple[Estimate, float, float]:
        """The minimiser with its errors, the smallest loss and its error."""
        best, left_out = ends.best, self.left_out(ends.best)
        # the ends differ by the descents' residual errors, and the jackknife's bias correction multiplies these
        slack = BATCHES * (ends.spread + self.units.resolution)
        if settled(self.loss, self.constraint, best, left_out):
            estimate = Estimate.of(best.M, [end.M for end in left_out], group, self.constraint, slack)
        else:
            estimate = self._relaxed(best, group, slack).about(best.M, group)
        loss, error = jackknife(best.loss, [end.loss for end in left_out])
        return estimate, float(loss), float(error)

    def _relaxed(self, best: End, group: Symmetry, slack: Floats) -> Estimate:
        """The nearest minimiser without the bound; its errors are at least those of the bounded minimiser."""
        free = replace(self, constraint=self.constraint.relaxed)
        whole = free.end(best.M)
        if not whole.converged:
            raise OutOfReach(
                f"constraint = {self.constraint!r}: the draws do not settle whether the bound is active, and "
                "without it there is no minimum; use another C, or draw more contexts."
            )
        return Estimate.of(whole.M, [end.M for end in free.left_out(whole)], group, free.constraint, slack)
