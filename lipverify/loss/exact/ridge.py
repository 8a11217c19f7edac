r"""What the exact method needs to know of a law: three averages over the task.

For tokens x_i, x_j at deficits s_i, s_j from the query (1 - t = s/w, angle theta), a ridge law enters
the bias through

    variance     = Var f(x) over the sphere,
    variogram(s) = E_f (f(x_i) - f(x))^2,
    pair(u)      = E_f (E[psi_1(u - S) (f(x_i) - f(x)) | f])^2.

Affine needs only E <q, x_i - x>^2. The ReLU law splits by parity, (z)_+ = (z + |z|) / 2, and since the
amplitudes of (z)_+ and (-z)_+ are independent with equal variance v, all three are v/2 times the
sum of those of z and of |z|. For |z|, with c = <q, x> = sin a and m = d - 1,

    E[|<q, x_i>| - |c|] = |sin a| (|cos theta| - 1) + 2 cos a sin theta K(rho),  rho = |tan a / tan theta|,
    K(rho) = E (r - rho)_+ for r zonal on S^{d-2}, and 0 for rho >= 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import beta, betainc, betaincc, spherical_jn

from lipverify.errors import InvalidInput
from lipverify.loss.exact.context import Averages, moments
from lipverify.loss.exact.tokens import Floats, Token, gauss_rule, kernel, token_nodes
from lipverify.problem.law import Law
from lipverify.problem.laws import Affine, ReLU

BLOCK = 16
"""How many u are averaged at a time: bounds the memory of the kink's double integral."""

LARGEST_RECURSION = 30


@dataclass(frozen=True)
class TaskAverages:
    """The averages of a law of unit amplitude variance; shapes follow the arguments."""

    variance: Callable[[int], float]
    """Var h(<q, x>) over the sphere S^{d-1}."""
    variogram: Callable[[Token, Floats, Floats], Floats]
    pair: Callable[[Averages], Floats]


def linear_variance(d: int) -> float:
    """E <q, x>^2 = 1/d."""
    return 1 / d


def absolute_variance(d: int) -> float:
    """1/d - (E |<q, x>|)^2, with E |<q, x>| = 2 / ((d-1) B(1/2, (d-1)/2))."""
    return 1 / d - (2 / ((d - 1) * float(beta(0.5, (d - 1) / 2)))) ** 2


def linear_variogram(token: Token, s: Floats, reflected: Floats) -> Floats:
    """E <q, x_i - x>^2 = 2 (1 - t) / d."""
    return 2 * s / (token.w * token.d)


def linear_pair(averages: Averages) -> Floats:
    """E_c (c E[psi_1 (t - 1)])^2 = (E[psi_1 s/w])^2 / d."""
    token = averages.token
    return averages.mean(1, lambda s, _: s / token.w) ** 2 / token.d


def absolute_variogram(token: Token, s: Floats, reflected: Floats) -> Floats:
    """E (|<q, x_i>| - |<q, x>|)^2 = (2/d) (1 - cos th - (2/pi) (sin th - th cos th))."""
    theta = angle(token, s, reflected)
    # sin th - th cos th = th^2 j_1(th) has no cancellation
    return 2 / token.d * (s / token.w - 2 / np.pi * theta**2 * spherical_jn(1, theta))


def absolute_pair(averages: Averages) -> Floats:
    """E_c (E[psi_1 (|<q, x_i>| - |c|)])^2, the integral over c = sin a split at each scale of theta."""
    token, breaks = averages.token, averages.breaks
    a, weight = kink_nodes(token, breaks, averages.order)
    result = np.empty_like(averages.u)
    # place 0 is the power series, the others are one u each
    terms = moments(1, *_at_kinks(averages, slice(0, 1), a[:1]), averages.terms)[:, 0]
    result[~averages.direct] = (averages.series(1) @ terms) ** 2 @ weight[0]
    direct = np.empty(averages.places.size - 1)
    for start in range(1, averages.places.size, BLOCK):
        block = slice(start, start + BLOCK)
        y, weighted = _at_kinks(averages, block, a[block])
        mean = np.einsum("uai,uai->ua", kernel(1, y), weighted)
        direct[start - 1 : start - 1 + BLOCK] = np.einsum("ua,ua->u", mean**2, weight[block])
    result[averages.direct] = direct
    return result + _beyond_the_kink(averages)


def _at_kinks(averages: Averages, places: slice, a: Floats) -> tuple[Floats, Floats]:
    """(y, weight h) at the places given, for every a: shape (place, a, node).

    The integral over s is split where the great circle <q, .> = 0 first meets the sphere of angle
    theta about the query, theta = a, and last meets it, theta = pi - a.
    """
    token = averages.token
    near = 2 * token.w * np.sin(a / 2) ** 2
    breaks = averages.breaks[places][:, None, :]
    low, high = breaks[..., :1], breaks[..., -1:]
    meets = np.stack([near, 2 * token.w - near], axis=-1)
    split = np.concatenate([np.broadcast_to(breaks, (*a.shape, breaks.shape[-1])), np.clip(meets, low, high)], axis=-1)
    u = np.broadcast_to(averages.places[places][:, None], a.shape)
    nodes = token_nodes(token, u, np.sort(split, axis=-1), averages.order)
    return nodes.y, nodes.weight * absolute_increment(token, nodes.s, nodes.reflected, a[..., None])


def absolute_increment(token: Token, s: Floats, reflected: Floats, a: Floats) -> Floats:
    """E_r |<q, x_i>| - |<q, x>| at <q, x> = sin a, a in (0, pi/2)."""
    sine, cosine = np.sqrt(s * reflected) / token.w, np.abs(1 - s / token.w)
    rho = np.tan(a) * cosine / sine
    reached = rho < 1
    excess = np.zeros_like(rho)
    excess[reached] = mean_excess(token.d, rho[reached])
    return 2 * np.cos(a) * sine * excess - np.sin(a) * np.minimum(s, reflected) / token.w


def mean_excess(d: int, rho: Floats) -> Floats:
    """K(rho) = E (r - rho)_+ for r zonal on S^{d-2}, rho in [0, 1]; r = +-1 when d = 2.

    With p = (d-4)/2 and J_p = int_rho^1 (1-r^2)^p dr it is ((1-rho^2)^{p+1} / (2p+2) - rho J_p) / B(1/2, p+1).
    """
    if d == 2:
        return (1 - rho) / 2
    p = (d - 4) / 2
    rest = (1 - rho) * (1 + rho)
    return (rest ** (p + 1) / (2 * p + 2) - rho * _tail_integral(p, rho, rest)) / beta(0.5, p + 1)


def _tail_integral(p: float, rho: Floats, rest: Floats) -> Floats:
    """J_p, rest = 1 - rho^2: by J_q = (2q J_{q-1} - rho rest^q) / (2q + 1) from J_{-1/2} = arccos rho or
    J_0 = 1 - rho, ten times cheaper than the incomplete beta function that serves high dimensions.
    """
    if p > LARGEST_RECURSION:
        return beta(0.5, p + 1) / 2 * betainc(p + 1, 0.5, rest)
    even = p == int(p)
    q, power, tail = (0.0, np.ones_like(rest), 1 - rho) if even else (-0.5, rest**-0.5, np.arccos(rho))
    while q < p:
        q, power = q + 1, power * rest
        tail = (2 * q * tail - rho * power) / (2 * q + 1)
    return tail


def kink_nodes(token: Token, breaks: Floats, order: int) -> tuple[Floats, Floats]:
    """Nodes a (place, node) and weights for E_c over |a| < the largest angle at which a token can lie.

    The density of c = <q, x> = sin a is cos^{d-2} a / B(1/2, (d-1)/2) in a; both signs are counted.
    """
    folded = np.sort(fold(token, breaks[:, _SCALES]), axis=-1)
    top = _largest_fold(token, breaks)[:, None]
    edges = np.concatenate([np.zeros_like(top), folded[:, :-1], top], axis=-1)
    x, gauss = gauss_rule(order // 2 + 4)
    width = np.diff(edges, axis=-1)[..., None]
    a = (edges[:, :-1, None] + width * x).reshape(len(breaks), -1)
    weight = (width * gauss).reshape(len(breaks), -1)
    return a, 2 * weight * np.cos(a) ** (token.d - 2) / beta(0.5, (token.d - 1) / 2)


_SCALES = (0, 2, 4, -1)


def fold(token: Token, s: Floats) -> Floats:
    """min(theta, pi - theta): a kink at |a| below this is met by the sphere of angle theta."""
    return angle(token, np.minimum(s, 2 * token.w - s), np.maximum(s, 2 * token.w - s))


def angle(token: Token, s: Floats, reflected: Floats) -> Floats:
    """theta, from sin^2(theta/2) = s / 2w."""
    return 2 * np.arctan2(np.sqrt(s), np.sqrt(reflected))


def _largest_fold(token: Token, breaks: Floats) -> Floats:
    """The largest folded angle on [low, high], which is pi/2 where the window contains the equator."""
    ends = np.maximum(fold(token, breaks[:, 0]), fold(token, breaks[:, -1]))
    return np.where((breaks[:, 0] < token.w) & (token.w < breaks[:, -1]), np.pi / 2, ends)


def _beyond_the_kink(averages: Averages) -> Floats:
    """The part of E_c where no token can reach the kink: there |<q, x_i>| - |c| = |c| (|t| - 1)."""
    token = averages.token
    top = _largest_fold(token, averages.breaks)
    slope = averages.mean(1, lambda s, reflected: np.minimum(s, reflected) / token.w)
    place = np.zeros(averages.u.shape, dtype=int)
    place[averages.direct] = np.arange(1, averages.places.size)
    tail = betaincc(1.5, (token.d - 1) / 2, np.sin(top) ** 2) / token.d
    return slope**2 * tail[place]


LINEAR = TaskAverages(linear_variance, linear_variogram, linear_pair)
ABSOLUTE = TaskAverages(absolute_variance, absolute_variogram, absolute_pair)

PARTS: dict[type[Law], tuple[tuple[float, TaskAverages], ...]] = {
    Affine: ((1.0, LINEAR),),
    ReLU: ((0.5, LINEAR), (0.5, ABSOLUTE)),
}
"""Each law as a sum of (share of the amplitude variance, averages)."""


def parts_of(law: Law) -> tuple[tuple[float, TaskAverages], ...]:
    """The parts of a law, or a refusal that names the laws with exact averages."""
    try:
        return PARTS[type(law)]
    except KeyError:
        known = ", ".join(sorted(known.name for known in PARTS))
        raise InvalidInput(
            f"law = {law!r}: the exact method knows {known}; use method='montecarlo' for others."
        ) from None
