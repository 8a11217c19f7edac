"""Certified loss terms: Arb balls that are proved to contain them, with the digits asked for.

No function is passed to an integrator. Arb's integrator relies on the integrand to flag where it is not analytic, and
an integrand that fails to do so gives a wrong ball that looks certified. The integrals here are sums over the whole
line of functions with proved analyticity and size, built from closed forms only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from flint import arb, ctx
from scipy.special import gammaln

from lipverify.errors import OutOfReach
from lipverify.foundation.validation import whole
from lipverify.loss.certified.averages import MellinTransform, PowerSeries
from lipverify.loss.certified.context import Context, Nodes
from lipverify.loss.certified.harmonics import Ball
from lipverify.loss.certified.spectra import Spectrum, spectrum, spectrum_of
from lipverify.loss.terms import LossTerms
from lipverify.problem import Problem
from lipverify.problem.law import Law, Sum, summands
from lipverify.problem.laws import Affine


class CertifiedTerms(LossTerms, frozen=True, kw_only=True):
    r"""Loss terms that are proved to lie in balls.

    Attributes
    ----------
    bias, noise
        The midpoints, rounded to doubles.
    bias_error, noise_error
        Bounds on the distance from these doubles to the truth: the radius and the rounding to a double.
    bias_ball, noise_ball
        The balls themselves as text, "[midpoint +/- radius]" in decimal, arrays shaped like `w`; `flint.arb(text)`
        reads one back. A double cannot hold 20 digits.
    digits
        Every ball has a radius of at most 10^-digits of its value.
    """

    bias_ball: NDArray[np.object_]
    noise_ball: NDArray[np.object_]
    digits: int


def text(ball: Ball, digits: int) -> str:
    """The ball in decimal, outwards rounded, with a few digits more than are promised."""
    return ball.str(digits + 5, more=True)


def double(ball: Ball) -> tuple[float, float]:
    """The midpoint as a double, and a bound on its distance to any point of the ball."""
    value = float(ball.mid())
    if not math.isfinite(value):
        raise OutOfReach(f"the value {ball.str(3)} exceeds the largest double; rescale L or sigma.")
    error = (ball - value).abs_upper()
    return value, 0.0 if error == 0 else math.nextafter(float(error), math.inf)


HIGHEST_DEGREE, HIGHEST_IN_SERIES = 320, 4000
"""Largest degree of a harmonic: some seconds' work; by a power series, where windows hold many tokens, it is less."""


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

    return _first(lambda top: np.max(weight + log_bessel(nu + top) - log_bessel(nu)) <= -goal, law, HIGHEST_IN_SERIES)


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


def _first(enough: Callable[[int], bool], law: Law, highest: int = HIGHEST_DEGREE) -> int:
    """The first degree that is enough among 2, 4, 6, ..., which grow by an eighth later, or a refusal."""
    top = 2
    while top <= highest:
        if enough(top):
            return top
        top += max(2, 2 * (top // 16))
    raise OutOfReach(
        f"law = {law!r}: more than {highest} harmonics matter here, more than a few seconds' work; use method='exact', "
        "a smaller w or L, fewer digits, or an n at which a window holds many tokens."
    )


LARGEST_W = 1e9
"""Largest w for which Arb encloses the Bessel functions in reasonable time."""
MANY, PLENTY = math.log(400.0), -2.0
"""The largest last node u = log(lambda) for a power series, whose terms grow to e^lambda, which costs 1.44 lambda bits;
and up to which `HIGHEST_IN_SERIES` harmonics suffice at 20 digits for every w up to 1e4."""
MOST_FREQUENCIES = 40_000
"""Most frequencies of a Mellin integral: a few seconds' work."""


def enclose(problem: Problem, w: float, goal: float) -> tuple[Ball, Ball]:
    """(N, B) as balls with a relative radius of about e^{-goal}; the goal is not guaranteed."""
    n = int(problem.n)
    # e^{-2w} and the averages that it scales are known to w times the working precision, and the rounding of a thousand
    # million operations takes thirty of the last forty bits
    with ctx.workprec(math.ceil(goal / math.log(2) + math.log2(1 + w)) + 40):
        if isinstance(problem.law, Sum):
            parts = [(weight, enclose(problem.replace(law=law), w, goal)) for weight, law in summands(problem.law)]
            noise, _ = parts[0][1] if parts else enclose(problem.replace(law=Affine()), w, goal)
            return noise, sum((arb(weight) * bias for weight, (_, bias) in parts), arb(0))
        noise, bias = _uniform(problem, n, goal) if w == 0 or n == 1 else _narrowed(problem, n, w, goal)
        return arb(problem.sigma) ** 2 * noise, bias


def _uniform(problem: Problem, n: int, goal: float) -> tuple[Ball, Ball]:
    """At w = 0 or n = 1 all weights are 1/n: N = sigma^2 / n, B = (1 + 1/n) Var f(x)."""
    law, d = problem.law, problem.d
    start = spectrum_of(law, d, 2)
    top = degree_by_mass(law, d, goal) if start.fast and start.infinite else 2
    return arb(1) / n, (1 + arb(1) / n) * spectrum_of(law, d, top).variance


def _narrowed(problem: Problem, n: int, w: float, goal: float) -> tuple[Ball, Ball]:
    """(N, B) for w > 0 and n > 1: by the power series where lambda stays small, by the Mellin transform elsewhere."""
    if w > LARGEST_W:
        raise OutOfReach(f"w = {w}: Bessel functions are enclosed up to w = {LARGEST_W:g}; use method='exact'.")
    nodes = Nodes.place(problem.d, n, w, goal)
    if nodes.high <= MANY:
        return _by_series(problem, n, w, goal, nodes)
    try:
        return _by_transform(problem, n, w, goal, nodes)
    except OutOfReach as refusal:
        many = (10**k for k in range(len(str(n)), 31) if Nodes.place(problem.d, 10**k, w, goal).high <= PLENTY)
        least = next((f" At n = {tokens:.0e} it is reached." for tokens in many), "")
        raise OutOfReach(f"{refusal}{least}") from None


def _by_series(problem: Problem, n: int, w: float, goal: float, nodes: Nodes) -> tuple[Ball, Ball]:
    law, d, largest = problem.law, problem.d, math.exp(nodes.high)
    with ctx.workprec(ctx.prec + math.ceil(largest / math.log(2))):  # for the cancellation of its terms
        start = spectrum_of(law, d, 2)
        averages = PowerSeries(d, arb(w), nodes, PowerSeries.terms_for(largest, goal), start.top)
        if start.infinite:
            top = _by_mass(problem, w, goal) if start.fast else degree_by_series(law, averages, goal)
            averages = replace(averages, top=top)
        return Context(d, n, arb(w), nodes, spectrum_of(law, d, averages.top)).enclose(averages)


def _by_transform(problem: Problem, n: int, w: float, goal: float, nodes: Nodes) -> tuple[Ball, Ball]:
    """(N, B) by the Mellin transform, whose absolute accuracy must serve terms of order 1/n^2."""
    law, d, absolute = problem.law, problem.d, goal + 2 * math.log(n) + 2 * math.log1p(w)
    start = spectrum_of(law, d, 2)
    if nodes.count <= MOST_FREQUENCIES:
        averages = MellinTransform.place(d, arb(w), nodes, absolute, start.top)
    if nodes.count > MOST_FREQUENCIES or averages.frequencies > MOST_FREQUENCIES:
        raise OutOfReach(
            f"d = {d}, n = {problem.n}, w = {w}: windows this narrow that hold few tokens need more than "
            f"{MOST_FREQUENCIES} frequencies, the work of a few seconds; use method='exact' or fewer digits."
        )
    with ctx.workprec(max(ctx.prec, averages.bits)):
        if start.infinite:
            top = _by_mass(problem, w, goal) if start.fast else degree_by_transform(law, averages, absolute)
            averages = replace(averages, top=top)
        return Context(d, n, arb(w), nodes, spectrum_of(law, d, averages.top)).enclose(averages)


def _by_mass(problem: Problem, w: float, goal: float) -> int:
    """The degree for a spectrum that falls fast, against a bias that falls as w^-2."""
    return degree_by_mass(problem.law, problem.d, goal + 4 * math.log1p(w))


def certified_terms(problem: Problem, w: Any, *, digits: int = 20) -> CertifiedTerms:
    r"""Balls that are proved to contain the bias and the noise.

    Parameters
    ----------
    problem
        Any d >= 2 and n; the law affine, quadratic, cosine, relu or `Zonal` by its spectrum, or a sum of these. The
        doubles sigma, L, w and the coefficients are taken as they are, exactly.
    w
        Values of w, finite and >= 0.
    digits
        Every ball has a radius of at most 10^-digits of its value; from 1 to 100.

    Returns
    -------
    CertifiedTerms
        Units of y squared, shaped like `w`.

    Raises
    ------
    InvalidInput
        If `digits` breaks its rule, or no ball is known for the law.
    OutOfReach
        If the digits would take more than a few seconds: w beyond some 1000 where windows hold few tokens, relu with
        w beyond 5 (beyond 1e4 where a window holds many tokens), and cosines with L of several hundred.

    Source: the bounds are stated and derived in `lipverify.loss.certified.context` and `averages`.

    >>> from lipverify.laws import Affine
    >>> certified_terms(Problem(d=3, n=10, law=Affine()), 5.0).noise_ball.item()
    '[0.4223067893770449277437168 +/- 3.40e-24]'
    """
    digits = whole("digits", digits, 1, "the number of digits", 100)
    windows = np.asarray(w, dtype=np.float64)
    balls = [_to_digits(problem, float(value), digits) for value in windows.flat]

    def shaped(values: Iterable[Any], dtype: type = float) -> Any:
        return np.reshape(np.array(list(values), dtype=dtype), windows.shape)

    doubles = [[double(ball) for ball in pair] for pair in balls]
    return CertifiedTerms(
        problem=problem,
        method="certified",
        w=windows,
        noise=shaped(noise[0] for noise, _ in doubles),
        bias=shaped(bias[0] for _, bias in doubles),
        noise_error=shaped(noise[1] for noise, _ in doubles),
        bias_error=shaped(bias[1] for _, bias in doubles),
        noise_ball=shaped((text(noise, digits) for noise, _ in balls), object),
        bias_ball=shaped((text(bias, digits) for _, bias in balls), object),
        digits=digits,
    )


def _to_digits(problem: Problem, w: float, digits: int) -> tuple[Ball, Ball]:
    """(N, B) with the digits, or a refusal."""
    nepers = digits * math.log(10)
    goal = needed = nepers + 6.0  # several errors of the size of the goal add up
    for _ in range(3):
        balls = enclose(problem, w, goal)
        known = min(_nepers(ball) for ball in balls)
        if known >= nepers + 0.01:  # what outward rounding to text may take
            return balls
        goal += min(needed - known, needed)
    raise OutOfReach(
        f"d = {problem.d}, n = {problem.n}, w = {w}: the ball has {max(known, 0) / math.log(10):.1f} of "
        f"the {digits} digits; ask for fewer digits or use method='exact'."
    )


def _nepers(ball: Ball) -> float:
    """-log of the relative radius; infinite for an exact ball."""
    if ball.is_exact():
        return math.inf
    size = ball.abs_lower()
    return -float((ball.rad() / size).log()) if ball.is_finite() and size > 0 else -math.inf


__all__ = ["CertifiedTerms", "Spectrum", "certified_terms", "spectrum"]
