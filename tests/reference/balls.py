r"""Noise, affine bias and relu bias for any n and d >= 2 in Arb's arithmetic, with 1/S^2 = int lambda e^{-lambda S}.

`oracle` has the same for n = 2 by the definition, in other arithmetic and without this integral. An Arb ball bounds
the rounding here, not the truncation of the quadrature: the digits of a value are those to which two calls with
different settings agree.

With (z)_+ = (z + |z|)/2 the odd and the even half of a link do not mix in an average over q, so

    relu pairs = (1/6) n (n-1) int lambda { (E g h)^2 / d + E_q (E[g A])^2 } phi^{n-2} dlambda

with h = 1 - t, A = E_r |<q, x_i>| - |<q, x>|, and every token average with the factor e^{-lambda g}. Let chi in [0,
pi/2] be the angle between q and the equator of x, so <q, x> = sin chi, and

    <q, x_i> = a + b r,   a = sin chi cos theta,   b = cos chi sin theta,   r zonal on S^{d-2}.

As long as b <= a no token changes sign and A = -h sin chi. So E[g A] = R(chi) - sin chi E[g h], where R collects the
contribution of the sign changes, delta = E_r |a + b r| - a, over theta > chi only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

from flint import arb, ctx

from tests.reference.splits import angle, inside, outer_panels

LEAST_BITS = 100
OFFSETS = (-5.0, -2.5, 0.0, 3.0, 8.0, 18.0, 45.0, 90.0)
"""Edges of token panels in w (1 - t), from the step at log lambda."""
Ball = Any


def require_precision() -> None:
    """Refuse to compute a reference value in fewer bits than the 30 digits of `oracle.LEAST_DIGITS` have."""
    if ctx.prec < LEAST_BITS:
        raise ValueError(
            f"flint.ctx.prec = {ctx.prec}: a reference value needs at least {LEAST_BITS} bits; "
            f"call it inside `with flint.ctx.workprec({LEAST_BITS}):` or more."
        )


@cache
def _rule(order: int, precision: int) -> list[tuple[Ball, Ball]]:
    """Nodes and weights of the Gauss-Legendre rule on [0, 1] at `precision` bits."""
    pairs = (arb.legendre_p_root(order, k, weight=True) for k in range(order))
    return [((1 + x) / 2, weight / 2) for x, weight in pairs]


def nodes(edges: Sequence[Any], order: int) -> list[tuple[Ball, Ball]]:
    """Nodes and weights of the composite rule: `order` nodes between neighbouring `edges`."""
    rule = _rule(order, ctx.prec)
    ends = [arb(edge) for edge in edges]
    return [(a + (b - a) * x, (b - a) * weight) for a, b in pairwise(ends) for x, weight in rule]


def zonal_constant(d: int) -> Ball:
    """C such that C sin^{d-2}(theta) is the density of the angle between two points of S^{d-1}."""
    return (arb(d) / 2).gamma() / (arb.pi().sqrt() * (arb(d - 1) / 2).gamma())


def token_edges(w: float, u: float) -> list[Any]:
    """Panels of theta in [0, pi]: the step at w (1 - t) = u, the tail behind it, and quarters."""
    taus = [max(u, 0.0) + offset for offset in OFFSETS]
    steps = [angle(tau, w) for tau in taus if 0 < tau < 2 * w]
    quarters = (0.7854, 1.5708, 2.3562)
    return [*inside((*steps, *quarters), 0.0, 3.14159)[:-1], arb.pi()]


def abs_variogram(d: int, theta: Ball) -> Ball:
    """E_q (|<q, x>| - |<q, x_i>|)^2 for points at angle theta in [0, pi]."""
    pi = arb.pi()
    covariance = 2 / (pi * d) * (theta.sin() + (pi / 2 - theta) * theta.cos())
    return 2 * (arb(1) / d - covariance)


class Token(NamedTuple):
    """Averages over one token at one lambda, each with the factor e^{-lambda g}; h = 1 - t."""

    phi: Ball  # E e^{-lambda g}
    missing: Ball  # 1 - phi, without cancellation
    gg: Ball  # E g^2
    gh: Ball  # E g h
    gg_affine: Ball  # E g^2 2 h = E g^2 d E_q <q, x_i - x>^2
    gg_abs: Ball  # E g^2 abs_variogram


def token(d: int, w: Ball, lam: Ball, edges: Sequence[Any], order: int) -> Token:
    """The averages at one lambda, by quadrature over the angle."""
    sums = [arb(0)] * 6
    for theta, weight in nodes(edges, order):
        h = 2 * (theta / 2).sin() ** 2
        g = (-w * h).exp()
        density = weight * theta.sin() ** (d - 2)
        lost = (-lam * g).expm1()
        kept = density * (-lam * g).exp()
        terms = (kept, -density * lost, kept * g**2, kept * g * h)
        squares = (kept * g**2 * 2 * h, kept * g**2 * abs_variogram(d, theta))
        sums = [s + term for s, term in zip(sums, terms + squares, strict=True)]
    return Token(*(zonal_constant(d) * s for s in sums))


def log_phi(of: Token) -> Ball:
    """log phi from whichever of phi and 1 - phi is known to full relative accuracy."""
    return (-of.missing).log1p() if of.missing < 0.5 else of.phi.log()


# The contribution of the sign changes.


def mean_abs_less(d: int, a: Ball, b: Ball, root: Ball) -> Ball:
    """E_r |a + b r| - a = a P(|r| < a/b) + 2 b Z (1 - a^2/b^2)^{(d-2)/2} / (d-2) - a; root = sqrt(b^2 - a^2) >= 0."""
    if d == 2:
        return b - a
    Z = zonal_constant(d - 1)
    return a * 2 * Z * cosine_power(d - 3, a / b, root / b) + 2 * b * Z * (root / b) ** (d - 2) / (d - 2) - a


def cosine_power(k: int, sine: Ball, cosine: Ball) -> Ball:
    """int_0^alpha cos^k for the angle alpha in [-pi/2, pi/2] with this sine and cosine."""
    if k < 2:
        return arb.atan2(sine, cosine) if k == 0 else sine
    return (cosine ** (k - 1) * sine + (k - 1) * cosine_power(k - 2, sine, cosine)) / k


def sign_changes(d: int, w: Ball, lam: Ball, chi: Ball, live: Sequence[float], order: int) -> Ball:
    """R(chi) = E[g delta e^{-lambda g}]: the tokens whose r decides the sign, then those that all change it."""
    return zonal_constant(d) * (_undecided(d, w, lam, chi, live, order) + _decided(d, w, lam, chi, live, order))


def _undecided(d: int, w: Ball, lam: Ball, chi: Ball, live: Sequence[float], order: int) -> Ball:
    r"""The part chi < theta < pi - chi, where delta goes like (sin^2 theta - sin^2 chi)^{d/2} at both ends.

    In the right triangle cos theta = cos chi cos beta that root is cos chi sin beta: smooth in beta. What is left
    are the branch points of theta(beta) at +-i chi and pi +- i chi, so panels thin out towards both ends.
    """
    near, far = float(chi), math.pi - float(chi)
    low, high = max(live[0], near), min(live[-1], far)
    if low >= high:
        return arb(0)
    first, last = (_beta(theta, near) for theta in (low, high))
    thin = [near * 3.0**k for k in range(40) if near * 3.0**k < math.pi / 2]
    inner = (*(_beta(t, near) for t in live if low < t < high), *thin, *(math.pi - b for b in thin))
    edges = inside((b for b in inner if first < b < last), first, last)
    total = arb(0)
    for beta, weight in nodes([*edges[:-1], arb.pi() if high == far else last], order):
        h = 2 * (chi / 2).sin() ** 2 + 2 * chi.cos() * (beta / 2).sin() ** 2
        sine, root = (h * (2 - h)).sqrt(), chi.cos() * beta.sin()
        delta = mean_abs_less(d, chi.sin() * (1 - h), chi.cos() * sine, root)
        total += weight * root * sine ** (d - 3) * tilt(w, lam, h) * delta
    return total


def _beta(theta: float, chi: float) -> float:
    """The leg beta of the right triangle with hypotenuse theta and leg chi: only a panel edge."""
    return math.acos(max(-1.0, min(1.0, math.cos(theta) / math.cos(chi))))


def _decided(d: int, w: Ball, lam: Ball, chi: Ball, live: Sequence[float], order: int) -> Ball:
    """The part pi - chi < theta, where delta = -2a."""
    far = math.pi - float(chi)
    low, high = max(live[0], far), live[-1]
    if low >= high:
        return arb(0)
    edges = inside((t for t in live if low < t < high), low, high)
    start = arb.pi() - chi if low == far else low
    total = arb(0)
    for theta, weight in nodes([start, *edges[1:-1], arb.pi() if high == math.pi else high], order):
        delta = -2 * chi.sin() * theta.cos()
        total += weight * theta.sin() ** (d - 2) * tilt(w, lam, 2 * (theta / 2).sin() ** 2) * delta
    return total


def tilt(w: Ball, lam: Ball, h: Ball) -> Ball:
    """g e^{-lambda g} at h = 1 - t."""
    g = (-w * h).exp()
    return g * (-lam * g).exp()


def live_edges(w: float, u: float, reach: float) -> list[float]:
    """Panels of the angles that R integrates over: from the step until the tail has fallen to e^{-reach}."""
    centre = max(u, 0.0)
    low = angle(min(max(centre + OFFSETS[0], 0.0), 2 * w), w)
    high = angle(centre + reach, w) if centre + reach < 2 * w else math.pi
    return inside((float(t) for t in token_edges(w, u)[1:-1] if low < float(t) < high), low, high)


def mean_square_even(d: int, w: Ball, u: Ball, gh: Ball, order: int, reach: float) -> Ball:
    """E_q (E[g A])^2 = E_q (R - sin chi E[g h])^2, over both hemispheres of q."""
    live, lam = live_edges(float(w), float(u), reach), u.exp()
    high = min(live[-1], math.pi / 2)
    edges = inside((t for t in live if 0 < t < high), 0.0, high)
    total = arb(0)
    for chi, weight in nodes([*edges[:-1], arb.pi() / 2 if high == math.pi / 2 else high], order):
        R = sign_changes(d, w, lam, chi, live, order)
        total += weight * chi.cos() ** (d - 2) * R * (R - 2 * chi.sin() * gh)
    return gh**2 / d + 2 * zonal_constant(d) * total


class Terms(NamedTuple):
    """The two terms of the loss for L = sigma = 1."""

    noise: Ball
    affine: Ball
    relu: Ball


def laplace(
    d: int,
    n: int,
    w: float,
    order: int,
    ratio: float = 3.0,
    pieces: int = 3,
    decades: float = 16,
    reach: float | None = 45.0,
) -> Terms:
    """Both terms for any n >= 2.

    `ratio` and `pieces` move the panels of u, `decades` the ends of its range, `reach` the angles that R
    ignores, those with g or e^{-lambda g} below e^{-reach} (None leaves the relu law out, as nan).
    """
    require_precision()
    many, window = arb(n), arb(w)
    panels = outer_panels(w, _exponent(d, n, w), decades=decades, pieces=pieces, ratio=ratio)
    noise = affine = arb(0)
    even = arb(0) if reach is not None else arb("nan")
    for u, weight in nodes(panels, order):
        of = token(d, window, u.exp(), token_edges(w, float(u)), order)
        single = weight * many * (2 * u + (many - 1) * log_phi(of)).exp()
        double = weight * many * (many - 1) * (2 * u + (many - 2) * log_phi(of)).exp()
        noise += single * of.gg
        affine += (single * of.gg_affine + double * of.gh**2) / d
        if reach is not None:
            even += single * of.gg_abs + double * mean_square_even(d, window, u, of.gh, order, reach)
    return Terms(noise, affine / 3, (affine + even) / 6)


def _exponent(d: int, n: int, w: float) -> Callable[[float], float]:
    """u -> -(n - 1) log phi(e^u), roughly: it only places panels."""

    def exponent(u: float) -> float:
        of = token(d, arb(w), arb(u).exp(), token_edges(w, u), 8)
        return float(-(n - 1) * log_phi(of)) if of.phi > 1e-300 else 1e9

    return exponent
