"""Measurements on linear attention: its least loss, by three methods, and where softmax attention overtakes it."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec
import numpy as np

from lipverify.claims.softmax.rays import problem
from lipverify.laws import law_named
from lipverify.loss import loss_terms
from lipverify.loss.linear import LinearAttention, linear_attention
from lipverify.optimum import optimal_matrix, optimal_window
from lipverify.problem import Problem
from lipverify.problem.law import Array, RidgeLaw
from lipverify.problem.laws import RandomAmplitude
from lipverify.scaling import Growth, growth_of

LADDER = (1e4, 1e30)
FIRST_N, LARGEST_N = 2, 10**24
AHEAD, RESOLUTION = (10, 10**3, 10**6), 16
"""Softmax attention is looked at so many times past the crossing as well, which is known to one in 16."""


class WithOffset(RidgeLaw, frozen=True, tag="with-offset"):
    """f + b with b ~ Unif[-L, L] independent of f: the whole class of the slides.

    Attention whose weights sum to one never sees b; linear attention does.

    The offset is one more component, the constant 1, with an amplitude like those of `ridge`.

    >>> from lipverify.laws import ReLU
    >>> WithOffset(ReLU()).magnitudes()
    (1.0, 1.0, 1.0)
    """

    ridge: RandomAmplitude
    name: ClassVar[str] = "with-offset"

    @property
    def constant(self) -> bool:
        """Whether that of the ridge law is."""
        return self.ridge.constant

    @property
    def amplitude_variance(self) -> float:
        """L^2 / 3, that of b as well."""
        return self.ridge.amplitude_variance

    def extents(self, radius: float = 1.0) -> tuple[float, ...]:
        """Those of the ridge law, and 0."""
        return (*self.ridge.extents(radius), 0.0)

    def magnitudes(self, radius: float = 1.0) -> tuple[float, ...]:
        """Those of the ridge law, and 1."""
        return (*self.ridge.magnitudes(radius), 1.0)

    def links(self, z: Array, xp: Any) -> list[Array]:
        """Those of the ridge law, and 1."""
        return [*self.ridge.links(z, xp), xp.ones_like(z)]

    def amplitudes(self, uniforms: Array) -> Array:
        """As those of the ridge law."""
        return self.ridge.amplitudes(uniforms)


class SampledFloor(msgspec.Struct, frozen=True, kw_only=True):
    """The loss of linear attention on sampled contexts over the closed form of its least loss, with 95 % half-widths.

    `at_window` is taken at the closed form's own M = w I, `minimised` at the best M over all matrices on the draws.
    """

    at_window: tuple[float, float]
    minimised: tuple[float, float]


class Crossing(msgspec.Struct, frozen=True, kw_only=True):
    """Softmax attention has the larger loss at n = `behind` and the smaller one at n = `ahead` and beyond.

    `behind` is 1 if it is ahead from n = 2 on; `ahead` is None if it is behind at every n tried up to 1e24, or at one
    of those tried past a crossing.
    """

    behind: float
    ahead: float | None


def closed_form(law: str, offset: bool) -> LinearAttention:
    """The closed form of a named law, with or without the offset of the slides."""
    return linear_attention(law_named(law), offset)


def least_loss(law: str, offset: bool, d: int, n: float, L: float = 1.0) -> float:
    """The least loss over all M at sigma = 1."""
    form = closed_form(law, offset)
    return form.at(form.least, d=d, n=n, L=L, sigma=1.0)


def linear_growth(law: str, offset: bool, d: int, points: int) -> Growth:
    """Growth of the least loss of linear attention with n, L = sigma = 1."""
    ladder = [float(round(n)) for n in np.geomspace(*LADDER, points)]
    return growth_of(ladder, [least_loss(law, offset, d, n) for n in ladder])


def linear_floor(law: str, offset: bool, d: int) -> tuple[float, float]:
    """(floor / L^2, its error) from the limit that SymPy takes."""
    form = closed_form(law, offset)
    value = form.at(form.floor, d=d, L=1.0)
    return value, float(np.finfo(float).eps) * value


def sampled_floor(law: str, offset: bool, d: int, n: int, contexts: int, seed: int) -> SampledFloor:
    """The least loss on sampled contexts drawn in R^d, twice, over the closed form."""
    form = closed_form(law, offset)
    window = form.at(form.window, d=d, n=n, L=1.0, sigma=1.0)
    p, least = in_full(law, offset, d, n), least_loss(law, offset, d, n)
    address = f"linear/{law}/{offset}/{d}/{n}"
    at = loss_terms(p, [window], "montecarlo", attention="linear", contexts=contexts, seed=seed, cell=address)
    best = optimal_matrix(p, attention="linear", contexts=max(640, contexts // 4), starts=2, seed=seed, cell=address)
    return SampledFloor(
        at_window=(float(at.total[0]) / least, float(at.total_error[0]) / least),
        minimised=(best.loss / least, best.loss_error / least),
    )


def in_full(law: str, offset: bool, d: int, n: float) -> Problem:
    """The problem with its offset as a component of the law, where there is one."""
    p = problem(law, d, n)
    assert isinstance(p.law, RandomAmplitude)
    return p.replace(law=WithOffset(p.law)) if offset else p


def crossing(law: str, offset: bool, d: int, ratio: float) -> Crossing:
    """The n from which softmax attention at its exact w* has the smaller loss; `ratio` is L / sigma."""

    def ahead(n: int) -> bool:
        p, linear = problem(law, d, n, L=ratio), least_loss(law, offset, d, n, ratio)
        # the uniform window may do already, and no window averages more noise away than that
        if float(loss_terms(p, 0.0).total) < linear or linear < p.sigma**2 / n:
            return linear > p.sigma**2 / n
        return optimal_window(p).loss < linear

    low, high = 1, FIRST_N
    while high <= LARGEST_N and not ahead(high):
        low, high = high, high * 8
    if high > LARGEST_N or not all(ahead(high * factor) for factor in AHEAD):
        return Crossing(behind=float(low), ahead=None)
    while high > low + max(1, low // RESOLUTION):
        middle = round((low * high) ** 0.5)
        low, high = (low, middle) if ahead(middle) else (middle, high)
    return Crossing(behind=float(low), ahead=float(high))
