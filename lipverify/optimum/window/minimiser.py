"""The optimal window w* = argmin_w B(w) + N(w), w >= 0.

Rough values select the local minima that may be the global one. Near each, a polynomial through exact values, in log w
or near 0 in w, locates the root of the derivative to many more digits than the values could; then the exact losses are
compared. There is no minimum at infinity: in a share of order 1/w of contexts the average of the two nearest labels is
better than one label, and the loss is L(infinity) - C/w + ..., C > 0.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar, Literal

import msgspec
import numpy as np
from msgspec.structs import replace

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.arrays import EPS, Floats, Matrix
from lipverify.foundation.noted import makes
from lipverify.foundation.showing import Shown, latex_number
from lipverify.foundation.store import remembered
from lipverify.foundation.style import in_style
from lipverify.loss.exact import least_noise, rough_terms
from lipverify.loss.methods import loss_terms
from lipverify.loss.terms import ErrorKind, Route
from lipverify.loss.work import Progress, budgeted
from lipverify.optimum.window.local import HALF_WIDTH, INSIDE, REACH, LocalLoss, Minimum, OriginLoss
from lipverify.problem import Problem
from lipverify.problem.covariates import Gaussian
from lipverify.problem.own import refusing
from lipverify.problem.problem import require_problem
from lipverify.problem.whitening import isotropic_form

STEP = math.log(2.0)
"""Step in log w between the windows of the scan."""
BLOCK = 6
"""Number of w evaluated in one call of the scan; the scan may end after each."""
TAKE_ONE = "To within that error any w near it is as good: loss_terms gives the loss at a w of yours."
"""The way out where no other is known."""
ROUGH = 1e-3
"""Bound on the relative error of rough values."""


@dataclasses.dataclass(frozen=True)
class Ends:
    """What is known of the loss at both ends of a scan, for tokens on the sphere."""

    problem: Problem
    least: ClassVar[float] = math.log(REACH)
    """log of the w up to which the minima are those of `minima`."""
    first: ClassVar[int] = 2
    """The first w of a scan that may be a minimum beyond them, counted from w = 0."""

    @property
    def far(self) -> float:
        """log of a w beyond 100 times the scale of the nearest token, where the loss rises to its limit like -1/w.

        That scale is from its distance, or in high dimension from those of the next ones.
        """
        return max(2 / (self.problem.d - 1) * math.log(float(self.problem.n)) + math.log(100.0), self._next_ones)

    @property
    def _next_ones(self) -> float:
        return math.log(2 * self.problem.d * math.log(float(self.problem.n))) / 2 + math.log(100.0)

    def noise(self, w: Floats) -> Floats:
        """A lower bound on the noise over sigma^2 that costs nothing."""
        return least_noise(self.problem.d, float(self.problem.n), w)

    def minima(self, route: Route | None) -> list[Minimum]:
        """The minima in [0, REACH]."""
        return list(OriginLoss.of(self.problem, route).minima())


class NormalEnds(Ends):
    """The same for covariates N(0, I): a minimum closer to zero than the first w is not told from it."""

    least = Ends.least - 12 * STEP
    first = 1

    @property
    def far(self) -> float:
        """By the next ones alone."""
        return self._next_ones

    def noise(self, w: Floats) -> Floats:
        """None is known."""
        return np.zeros(w.size)

    def minima(self, route: Route | None) -> list[Minimum]:
        """That at zero."""
        return [dataclasses.replace(_at_zero(self.problem, route), w_error=math.exp(self.least))]


def ends_of(problem: Problem) -> Ends:
    return (NormalEnds if isinstance(problem.covariates, Gaussian) else Ends)(problem)


def _lost(problem: Problem, w: float, route: Route | None, what: str) -> OutOfReach:
    """The refusal of a minimum that the error of the loss hides, with the reason for that error."""
    return OutOfReach(f"{what}, for {problem!r}. {loss_terms(problem, w, route=route).reason or TAKE_ONE}")


def competing(problem: Problem, route: Route | None = None) -> tuple[bool, list[float]]:
    """True if the best w may lie in [0, REACH], and log w of the other minima that may be the global one.

    The scan goes upwards in w and ends when the noise alone exceeds the smallest loss, since the noise grows with w.
    """
    x, loss = _scan(problem, route)
    if loss.min() <= 0:
        w = math.exp(x[np.argmin(loss)])
        raise _lost(problem, w, route, f"the loss at w = {w:.6g} is less than its error")
    if np.argmin(loss) == loss.size - 1:
        raise OutOfReach(f"the loss still falls at w = {math.exp(x[-1]):.3g}, for {problem!r}, by rounding. {TAKE_ONE}")
    ends = ends_of(problem)
    first = ends.first
    inside = first + np.flatnonzero((loss[first:-1] <= loss[first - 1 : -2]) & (loss[first:-1] <= loss[first + 1 :]))
    minima = [_refined(x, loss, i) for i in inside.tolist()]
    enough = 1.05 * min([float(loss.min()), *(value for _, value in minima)])
    near_zero = bool(loss[x <= ends.least].min() <= enough)
    return near_zero, [point for point, value in minima if value <= enough and point > ends.least - STEP / 2]


def _scan(problem: Problem, route: Route | None) -> tuple[Floats, Floats]:
    """log w of the scan, from w = 0 on, and the rough losses."""
    ends = ends_of(problem)
    x, loss, too_noisy = np.array([-math.inf]), np.atleast_1d(loss_terms(problem, 0.0, route=route).total), False
    noise, together = np.zeros(2), BLOCK
    while not too_noisy and x[-1] < ends.far:
        block = ends.least + STEP * (x.size - 3 + np.arange(together))
        w = np.exp(block)
        count = min(int(np.count_nonzero(block < ends.far + STEP)), _until(noise, float(loss.min())))
        beyond = problem.sigma**2 * ends.noise(w[:count]) > (1 + ROUGH) * loss.min()
        count = int(np.argmax(beyond)) + 1 if beyond.any() else count
        try:
            more, bias = rough_terms(problem, w, count, route)
        except OutOfReach:
            if together == 1:
                raise
            together = 1  # a larger w may be out of reach, where the noise already exceeds the least loss
            continue
        x, loss, noise = np.append(x, block[:count]), np.append(loss, more + bias), np.append(noise, more)
        too_noisy = bool(beyond.any() or noise[-1] > (1 + ROUGH) * loss.min())
    return x, loss


def _until(noise: Floats, least: float) -> int:
    """The number of further w, up to BLOCK, until noise that grows as it last did exceeds the least loss."""
    before, last = noise[-2:].tolist()
    if not 0 < before < last:
        return BLOCK
    if least <= last:
        return 1
    # differences of logs: the quotients overflow if the noise is far below the loss
    growth, missing = math.log(last) - math.log(before), math.log(least) - math.log(last)
    return BLOCK if missing >= BLOCK * growth else max(math.ceil(missing / growth), 1)


def _refined(x: Floats, loss: Floats, i: int) -> tuple[float, float]:
    """(log w, loss) at the minimum, within a step of point i, of a polynomial through the log losses near point i."""
    near = slice(max(i - 3, 1), i + 4)
    steps = (x[near] - x[i]) / STEP
    fit = np.polynomial.Polynomial.fit(steps, np.log(loss[near]), steps.size - 1)
    fine = np.linspace(-1, 1, 401)
    best = float(fine[np.argmin(fit(fine))])
    return float(x[i]) + STEP * best, math.exp(fit(best))


Where = Literal["interior", "zero"]

MOST_MOVES = 60
"""Most moves of the local fit, each by up to 1.8 half-widths."""


class Optimum(Shown, msgspec.Struct, frozen=True, kw_only=True):
    """The w that minimises the loss, and the loss there.

    Attributes
    ----------
    problem
        The problem.
    w, w_error
        The optimal w, which has no unit, and a finite bound on its error; it covers both if two minima have the same
        loss to rounding.
    loss, loss_error
        The loss there, in units of y squared, and a bound on its error.
    bias, noise
        Its two terms.
    where
        "interior" for a minimum at w > 0, "zero" for one that is 0 or cannot be distinguished from 0: then w = 0.
    error_kind
        "bounded" or "estimated", as in `LossTerms`.

    Examples
    --------
    >>> from lipverify import Problem, optimal_window
    >>> from lipverify.laws import Affine
    >>> best = optimal_window(Problem(d=3, n=1000, law=Affine()))
    >>> best.where, best.loss == best.bias + best.noise, best.w_error < 1e-6
    ('interior', True, True)
    """

    problem: Problem
    w: float
    loss: float
    bias: float
    noise: float
    w_error: float
    loss_error: float
    where: Where
    error_kind: ErrorKind = "bounded"

    def _title(self) -> str:
        return self.problem.in_words + (", errors estimated" if self.error_kind == "estimated" else "")

    def _columns(self) -> dict[str, Any]:
        names = ("w", "w_error", "loss", "loss_error", "bias", "noise", "where")
        return {name: getattr(self, name) for name in names}

    def _repr_latex_(self) -> str:
        w, loss = latex_number(self.w, self.w_error), latex_number(self.loss, self.loss_error)
        return rf"$w^* = {w},\quad L(w^*) = {loss}$"

    @in_style
    def plot(self, ax: Any = None) -> Any:
        """Draw the exact loss and its two terms from w*/10 to 10 w*, mark w*, and return the axes."""
        middle = self.w if self.w > 0 else 1.0
        ax = loss_terms(self.problem, np.geomspace(middle / 10, middle * 10, 21)).plot(ax)
        ax.plot([self.w] * (self.w > 0), [self.loss] * (self.w > 0), "o", color="black", label="w*")
        ax.legend()
        return ax


@makes("bounded", "exact")
def optimal_window(
    problem: Problem,
    *,
    route: Route | None = None,
    M: Matrix | None = None,
    budget: float | None = None,
    memory: float | None = None,
    progress: Progress | None = None,
) -> Optimum:
    r"""The global minimiser w* of the exact loss; it depends on L and sigma through L/sigma only.

    Parameters
    ----------
    problem
        Any problem that the exact method supports.
    route
        "ridge" or "zonal" of the exact method; by default the better one, see `lipverify.loss.exact.exact_terms`.
    M
        The matrix of the scores w x_i^T M x; the identity by default. Other matrices, and covariates on an ellipsoid,
        have an exact optimum if whitening makes the problem isotropic, see `lipverify.problem.whitening`; for all
        others use `empirical_window`.
    budget, memory, progress
        As for an exact loss, see `loss_terms`; here they apply to all losses of the search together.

    Returns
    -------
    Optimum
        w* with its error `w_error`: 1e-10 to 1e-7 of w* for named laws, more where the loss is known less accurately
        (3e-4 for the link |z|^1.2 at d = 3, n = 1e15); the loss and both terms there, with their errors.

    Raises
    ------
    InvalidInput
        If the problem is not isotropic in any coordinates, the law is constant and sigma = 0, where the loss is zero
        everywhere, or there is no such route.
    OutOfReach
        If the minimum cannot be located, because the loss around it is constant to within its error (the message says
        what would reduce the error, if that is known), or if the search exceeds its budget.

    Source: Collins et al., slides, Theorem 2 (the minimiser is w_KQ I).

    Examples
    --------
    >>> from lipverify.laws import Affine
    >>> optimum = optimal_window(Problem(d=3, n=1000, law=Affine(L=1.0), sigma=1.0))
    >>> round(optimum.w, 6), optimum.where
    (6.055341, 'interior')
    """
    require_problem(problem)
    with budgeted(budget, memory, progress), refusing(problem.law):
        return _optimal(problem, route, M)


def _optimal(problem: Problem, route: Route | None, M: Matrix | None) -> Optimum:
    if M is not None or not problem.isotropic:
        return _whitened(problem, route, M)
    return _located(problem, route)


def _located(problem: Problem, route: Route | None) -> Optimum:
    if problem.law.constant and problem.sigma == 0:
        condition = "L = 0" if hasattr(problem.law, "L") else f"law = {problem.law!r} is constant"
        raise InvalidInput(f"{condition} and sigma = 0: the loss is zero at every window; make one of them positive.")
    return remembered(_minimised, (problem, route), Optimum, problem=problem)


def _whitened(problem: Problem, route: Route | None, M: Matrix | None) -> Optimum:
    """The optimum in coordinates in which the problem is isotropic; there w is c times the w of the problem."""
    form = isotropic_form(problem, M)
    optimum = _located(form.problem, route)
    w, off = optimum.w / form.factor, (problem.d + 3) * (form.off + EPS)
    errors = {"w_error": optimum.w_error / form.factor + off * w, "loss_error": optimum.loss_error + off * optimum.loss}
    return replace(optimum, problem=problem, w=w, **errors)


def _minimised(question: tuple[Problem, Route | None]) -> Optimum:
    problem, route = question
    if problem.law.constant or problem.n == 1:
        return _optimum(problem, _at_zero(problem, route))
    near_zero, starts = competing(problem, route)
    minima = ends_of(problem).minima(route) if near_zero else []
    minima += [candidate for x in starts if (candidate := _polished(problem, x, route)) is not None]
    best = min(minima, key=lambda minimum: minimum.loss, default=None)
    if best is None:
        raise OutOfReach(f"the loss has no minimum that its error would let one locate, for {problem!r}. {TAKE_ONE}")
    if best.loss <= best.error:
        raise _lost(problem, best.w, route, f"the loss at w = {best.w:.6g} is less than its error")
    # minima whose losses agree to rounding are equally likely to be the global one
    equal = [rival for rival in minima if rival.loss - best.loss <= rival.error + best.error]
    w_error = max(abs(rival.w - best.w) + rival.w_error for rival in equal)
    if math.isinf(w_error):
        where = f"the minimum of the loss near w = {best.w:.6g}"
        raise _lost(problem, best.w, route, f"{where} is lost in its error, {best.error / best.loss:.0e} of it")
    return _optimum(problem, best, w_error)


def _polished(problem: Problem, x: float, route: Route | None) -> Minimum | None:
    """The minimum of the loss near w = e^x, by polynomials through exact values; None if it is below `REACH`."""
    for _ in range(MOST_MOVES):
        local = LocalLoss.at(problem, x, route)
        root = local.lowest()
        if abs(root) <= INSIDE:
            return local.minimum(root)
        x += HALF_WIDTH * root * (1 if abs(root) < 1 else 1.8)
        if x < ends_of(problem).least - 2 * HALF_WIDTH:
            return None
    raise OutOfReach(f"no minimum was found near w = {math.exp(x):.6g} for {problem!r}. {TAKE_ONE}")


def _at_zero(problem: Problem, route: Route | None) -> Minimum:
    """The optimum at w = 0, for problems in which no other w has a smaller loss."""
    terms = loss_terms(problem, 0.0, route=route)
    return Minimum(0.0, 0.0, float(terms.bias), float(terms.noise), float(terms.total_error), terms.error_kind)


def _optimum(problem: Problem, minimum: Minimum, w_error: float = 0.0) -> Optimum:
    where: Where = "interior" if minimum.w > 0 else "zero"
    return Optimum(
        problem=problem, w=minimum.w, loss=minimum.loss, bias=minimum.bias, noise=minimum.noise, w_error=w_error,
        loss_error=minimum.error, where=where, error_kind=minimum.kind,
    )  # fmt: skip
