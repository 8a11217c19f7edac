r"""Choose the number of harmonics of an infinite spectrum to list.

As in `nodes`, no proof depends on the choice: too few harmonics make the balls wide, never wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from flint import arb
from scipy.special import gammaln

from lipverify.errors import OutOfReach
from lipverify.loss.certified.mellin import MellinTransform
from lipverify.loss.certified.series import PowerSeries
from lipverify.loss.certified.spectra import spectrum_of
from lipverify.problem.law import Law

HIGHEST_DEGREE = 320


def degree_by_mass(law: Law, d: int, goal: float) -> int:
    """The degree beyond which a law has less than e^{-goal} of its variance."""

    def enough(top: int) -> bool:
        spectrum = spectrum_of(law, d, top)
        return bool(spectrum.rest.abs_upper() < (-arb(goal)).exp() * spectrum.variance)

    return _first(enough, law)


def degree_by_series(law: Law, averages: PowerSeries, goal: float) -> int:
    """The degree beyond which no term of the series adds e^{-goal} to an average of P_l.

    log I_m(kappa) is about sqrt(kappa^2 + m^2) - m asinh(m / kappa) (Debye), and the terms are lambda^j / j! times
    I_{nu + l} / I_nu at kappa = (j + 1) w.
    """
    nu, j = averages.d / 2 - 1, np.arange(averages.terms)
    kappa = (j + 1) * float(averages.w)
    weight = j * averages.nodes.high - gammaln(j + 1)

    def log_bessel(m: float) -> Any:
        return np.hypot(kappa, m) - m * np.arcsinh(m / kappa)

    return _first(lambda top: np.max(weight + log_bessel(nu + top) - log_bessel(nu)) <= -goal, law)


def degree_by_transform(law: Law, averages: MellinTransform, goal: float) -> int:
    """The degree beyond which no frequency adds e^{-goal} to an average of P_l."""
    half, w = averages.d / 2, float(averages.w)
    tau = np.linspace(0, 2 * math.pi * averages.frequencies / averages.period, 400)
    x = np.hypot(tau, averages.tilt) * w / 2
    goal += averages.tilt * max(averages.nodes.high, 0.0)

    def largest(top: int) -> float:
        falling = top * np.log(x) - gammaln(half + top) + gammaln(half)
        return float(np.max(np.minimum(falling, 0) - math.pi / 2 * tau))

    return _first(lambda top: largest(top) <= -goal, law)


def _first(enough: Callable[[int], bool], law: Law) -> int:
    """The first degree that is enough, or a refusal."""
    for top in _degrees():
        if enough(top):
            return top
    raise OutOfReach(
        f"law = {law!r}: more than {HIGHEST_DEGREE} harmonics matter here, more than a few seconds' work; "
        "use method='exact', a smaller w or L, or fewer digits."
    )


def _degrees() -> Iterator[int]:
    """2, 4, 6, ..., then by an eighth each."""
    top = 2
    while top <= HIGHEST_DEGREE:
        yield top
        top += max(2, 2 * (top // 16))
