r"""The loss of any isotropic law from its harmonics, in extended precision: slow, and without the library's
quadratures.

    N / sigma^2 = n int A_2[1] phi^{n-1} du,
    B = n int A_2[V] phi^{n-1} du + n (n-1) int sum_l k_l A_1[1 - P_l]^2 phi^{n-2} du,

with A_k[h] = E[h e^{ky} exp(-e^y)] over one token, y = u - w (1 - t), phi = A_0[1], E f(x) f(x') = sum_l k_l P_l(t). At
-w it is L(-w) - L(w) = 4 n int A_1[K_odd] phi^{n-1} du, K_odd = sum over odd l of k_l P_l. Gauss rules on panels of u
and of the angle; the 64 bits of a long double are 2,000 times more accurate than the doubles of the library.
Coefficients come from Arb at hundreds of bits. The uncertainty of a value is its difference to rules of lower order on
the same panels, plus bounds for later harmonics and for rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, ctx

Extended = np.longdouble
Numbers = Any
EPS = float(np.finfo(Extended).eps)
PI = 4 * np.arctan(Extended(1))
ORDERS = (20, 15)
SPAN = 10.0
"""One rule over the angle serves an interval of u of this length."""
BELOW, ABOVE = 6.5, 60.0
"""psi_1(y) is below e^-600 for y > BELOW, and below e^-60 for y < -ABOVE."""
GONE = 62.0
"""The relative size of the neglected tails of phi^n and of e^{2u}: e^-62."""
SILENT = 64 * EPS
"""Averages of harmonics, relative to that of 1, below which later ones are not computed; their bound is added."""
NEGLIGIBLE = 1e-24
"""Coefficients at the end of a spectrum whose sum is below this share are left out; D_l is at most l (l + d) D_1."""
LEAST_BITS = 220
BATCH = 8
FIRST = 64


def require_extended() -> None:
    """Refuse to compute where a long double is a double."""
    if EPS > 2e-19:
        raise ValueError(f"np.longdouble has eps = {EPS:.0e}: a reference value needs 64 bits, as on x86-64.")


@dataclass(frozen=True)
class Harmonics:
    """k_1, k_2, ..., the sum of all, and the variogram of 1 - t if not all are listed; `off` bounds their errors."""

    d: int
    k: Numbers
    total: Numbers
    variogram: Callable[[Numbers], Numbers] | None = None
    off: Numbers | None = None


@dataclass(frozen=True)
class Loss:
    """Noise over sigma^2, bias, L(-w) - L(w), and their uncertainties."""

    noise: float
    noise_error: float
    bias: float
    bias_error: float
    excess: float
    excess_error: float


def loss(law: Harmonics, n: float, w: float) -> Loss:
    require_extended()
    if w == 0 or n == 1:
        noise, bias = 1 / Extended(n), (1 + 1 / Extended(n)) * law.total
        values = [[noise, bias, 0, 0, 0], [noise, bias, 0, 0, 0]]
    else:
        edges = panels(law.d, n, w)
        values = [integrals(law, n, w, edges, order) for order in ORDERS]
    (noise, bias, left, excess, left_odd), coarse = values
    rounding = 600 * EPS
    noise_error = abs(noise - coarse[0]) + rounding * noise
    bias_error = abs(bias - coarse[1]) + left + rounding * bias
    excess_error = abs(excess - coarse[3]) + left_odd + rounding * 4 * law.total
    return Loss(*(float(each) for each in (noise, noise_error, bias, bias_error, excess, excess_error)))


# The panels of u.


def panels(d: int, n: float, w: float) -> Numbers:
    """Edges in u: halved until the noise's integrand, and the exponent of phi^n, are resolved."""
    low, high = -2.0 - math.log(n), 2 * w + math.log(GONE) + 1
    while single(d, n, w, np.array([low]))[1][0] > -1 and low < 0:  # n (1 - phi) = 1 lies beyond
        low += 1.0
    low = min(low, 0.0) - GONE / 2 - 1
    left, right = low, high
    while right - left > 0.01 * max(1.0, abs(right)):
        middle = (left + right) / 2
        left, right = (middle, right) if single(d, n, w, np.array([middle]))[1][0] > -GONE else (left, middle)
    high = right
    start = [*np.arange(low, min(high, 8.0), 2.5)]
    scale = 2.5
    while start[-1] + scale < high:
        start.append(start[-1] + scale)
        scale = max(2.5, 0.3 * min(start[-1], 2 * w - start[-1]))
    todo = np.array([[a, b] for a, b in zip(start, [*start[1:], high], strict=True)])
    done, whole = [], 0.0
    values = rough(d, n, w, todo)
    for _ in range(30):
        halves = np.sort(np.concatenate([todo, todo.mean(axis=1, keepdims=True)], axis=1), axis=1)
        halves = np.stack([halves[:, :2], halves[:, 1:]], axis=1).reshape(-1, 2)
        finer = rough(d, n, w, halves)
        whole = max(whole, float(np.abs(finer).sum()))
        off = np.abs(values - finer.reshape(-1, 2).sum(axis=1)) > 1e-11 * whole
        off &= np.diff(todo, axis=1)[:, 0] > 1.0
        done += todo[~off].tolist()
        if not off.any():
            break
        keep = np.repeat(off, 2)
        todo, values = halves[keep], finer[keep]
    return np.unique(np.array(done))


def single(d: int, n: float, w: float, u: Numbers) -> tuple[Numbers, Numbers]:
    """(log of n A_2[1] phi^{n-1}, n log phi), to a few digits."""
    found = averages(None, d, w, u, 10)
    with np.errstate(divide="ignore"):
        log_phi = np.maximum(log_of(found), -1e6)
        return np.log(n * found.square) + (n - 1) * log_phi, (n - 2) * log_phi - np.exp(np.minimum(u - 2 * w, 9.0))


def rough(d: int, n: float, w: float, todo: Numbers) -> Numbers:
    """The integrals of the noise over panels by a rule of low order, which locates its variation."""
    x, weight = rule(10)
    u = (todo[:, :1] + np.diff(todo, axis=1) * x).ravel()
    values = np.exp(single(d, n, w, u)[0]).reshape(len(todo), -1)
    return np.asarray((values * weight).sum(axis=1) * np.diff(todo, axis=1)[:, 0], dtype=float)


def integrals(law: Harmonics, n: float, w: float, edges: Numbers, order: int) -> list[Numbers]:
    """Noise, bias, and a bound for harmonics beyond the last; the excess of -w, and its bound."""
    x, gauss = rule(order)
    width = np.diff(edges.astype(Extended))[:, None]
    u, du = (edges[:-1, None] + width * x).ravel(), (width * gauss).ravel()
    found = averages(law, law.d, w, u, order)
    log_phi, count = log_of(found), Extended(n)
    with np.errstate(invalid="ignore"):
        one = count * du * (np.exp((count - 1) * log_phi) if n > 1 else 1)
        two = count * (count - 1) * du * (np.exp((count - 2) * log_phi) if n > 2 else 1)
    bias = (one * found.variogram).sum() + (two * found.pairs).sum()
    left, left_odd = (two * found.left).sum() + (one * found.left_2).sum(), (one * found.left_odd).sum()
    return [(one * found.square).sum(), bias, left, (one * found.odd).sum(), left_odd]


# Averages over one token.


@dataclass
class Tokens:
    """At every u: phi, 1 - phi, A_2[1], A_2[V], sum_l k_l A_1[1 - P_l]^2, and bounds for what is left of the sums.

    `odd` is 4 A_1[K_odd], the sum over odd harmonics, and `left_odd` the bound for later ones.
    """

    phi: Numbers
    missing: Numbers
    square: Numbers
    variogram: Numbers
    pairs: Numbers
    left: Numbers
    left_2: Numbers
    odd: Numbers
    left_odd: Numbers


def log_of(found: Tokens) -> Numbers:
    """log phi from whichever of phi and 1 - phi is small."""
    with np.errstate(divide="ignore"):
        small = np.minimum(found.missing, 0.9)
        return np.where(found.missing < 0.9, np.log1p(-small), np.log(found.phi))


def averages(law: Harmonics | None, d: int, w: float, u: Numbers, order: int) -> Tokens:
    parts = [by_rule(law, d, w, some, order) for some in alike(u.astype(Extended))]
    return Tokens(*(np.concatenate([getattr(each, name) for each in parts]) for name in Tokens.__annotations__))


def alike(u: Numbers) -> Iterator[Numbers]:
    """Points (rule, point) in order: some that are served by one rule, or `BATCH` that have each their own."""
    start = 0
    while start < u.size:
        stop = max(int(np.searchsorted(u, max(u[start], 0) + SPAN)), start + 1)
        if stop > start + 6:
            yield u[None, start:stop]
        else:
            far = np.nonzero(u[start + 6 :] - u[start:-6] <= SPAN)[0]
            stop = min(start + BATCH, start + int(far[0]) if far.size and far[0] else u.size if not far.size else stop)
            yield u[start:stop, None]
        start = stop


def by_rule(law: Harmonics | None, d: int, w: float, u: Numbers, order: int) -> Tokens:
    """The averages at u (rule, point)."""
    top = 0 if law is None else law.k.size
    # angles are counted from where the first step is, if that is not near 0
    theta_0 = np.where(u[:, 0] > 4, angle(np.clip(u[:, 0], 0, 2 * Extended(w)), w), 0)
    degrees = top if top < 2 * FIRST else FIRST
    while True:
        rules = token_rule(d, w, u, theta_0, degrees, order)
        found, silent = _averages(law, d, w, u, theta_0, rules, degrees)
        if silent:
            return found
        degrees = min(4 * degrees, top)


def _averages(
    law: Harmonics | None,
    d: int,
    w: float,
    u: Numbers,
    theta_0: Numbers,
    rules: tuple[Numbers, Numbers],
    degrees: int,
) -> tuple[Tokens, bool]:
    """The averages, and whether harmonics beyond `degrees` are negligible."""
    delta, weight = rules
    middle = theta_0[:, None] + delta / 2
    near = 2 * np.sin(theta_0[:, None] / 2 + delta / 2) ** 2
    # y = u - w (1 - cos theta), counted from theta_0
    y = (u - np.where(theta_0 > 0, np.clip(u[:, 0], 0, 2 * Extended(w)), 0)[:, None])[:, :, None] - (
        2 * Extended(w) * np.sin(delta / 2) * np.sin(middle)
    )[:, None, :]
    growth = np.exp(np.minimum(y, 11000))
    survival = np.exp(-growth) * weight[:, None, :]
    phi, missing = survival.sum(axis=-1), (-np.expm1(-growth) * weight[:, None, :]).sum(axis=-1)
    counts = np.nonzero((y < BELOW).any(axis=(0, 1)))[0]
    live = slice(counts[0], counts[-1] + 1)
    near, growth, survival = near[:, live], growth[..., live], survival[..., live]
    first = np.where(growth < 1e4, growth * survival, 0)
    second = growth * first
    mean, square = first.sum(axis=-1), second.sum(axis=-1)
    zero = np.zeros_like(mean)
    if law is None:
        return Tokens(*(each.ravel() for each in (phi, missing, square, *6 * [zero]))), True
    pairs, off, odd, listed, silent = zero.copy(), zero.copy(), zero.copy(), Extended(0), False
    deficit, rise = near.copy(), near.copy()
    increments = np.zeros_like(near)
    ones, twos = [mean] * 4, [square] * 4
    for degree, k in enumerate(law.k[:degrees], 1):
        if k != 0:
            average = np.einsum("run,rn->ru", first, deficit)
            pairs += k * average**2
            if degree % 2:
                odd += 4 * k * (mean - average)
            if law.off is not None:
                off += law.off[degree - 1] * average**2
            if law.variogram is None:
                increments += k * deficit
            ones = [*ones[1:], np.abs(mean - average)]
            if degree % 8 > 3:
                twos = [*twos[1:], np.abs(square - np.einsum("run,rn->ru", second, deficit))]
            if all(np.all(np.max(each, axis=0) <= SILENT * mean) for each in (ones, twos)):
                silent = True
        listed += k
        if silent:
            break
        # D_{l+1} - D_l = (l (D_l - D_{l-1}) + (2 l + d - 2) (1 - t) P_l) / (l + d - 2)
        rise *= Extended(degree) / (degree + d - 2)
        rise += (Extended(2 * degree + d - 2) / (degree + d - 2)) * (near * (1 - deficit))
        deficit += rise
    last, last_2 = np.max(ones, axis=0), np.max(twos, axis=0)
    rest = max(law.total - listed, Extended(0))
    if rest < 1e-25 * law.total:
        rest = Extended(0)
    pairs += rest * mean**2
    left = rest * (2 * mean * last + last**2) * 4 + off
    if law.variogram is None:
        variogram = 2 * np.einsum("run,rn->ru", second, increments) + 2 * rest * square
        left_2 = 4 * rest * last_2
    else:
        variogram, left_2 = np.einsum("run,rn->ru", second, law.variogram(near)), zero
    left_odd = 4 * rest * last
    columns = (phi, missing, square, variogram, pairs, left, left_2, odd, left_odd)
    return Tokens(*(each.ravel() for each in columns)), silent or degree >= law.k.size


def token_rule(d: int, w: float, u: Numbers, theta_0: Numbers, degrees: int, order: int) -> tuple[Numbers, Numbers]:
    """Angles less theta_0, and weights with the density: shape (rule, node)."""
    half = (d - 1) / 2
    beyond = ABOVE + 2 * half + 14 * math.sqrt(half)
    low, span = np.maximum(u[:, :1], 0), float(max(u[0, -1], 0) - max(u[0, 0], 0))
    near = np.concatenate([np.arange(-BELOW, 6.0 + span, 1.0), np.arange(6.0 + span, beyond + 6.0 + span, 6.0)])
    s = np.clip(low + near, 0, 2 * Extended(w))
    edges = angle(s, w) - theta_0[:, None]
    low, high = -theta_0[:, None], PI - theta_0[:, None]
    parts = [edges]
    if np.any(s[:, 0] > 0):
        parts.insert(0, low + (edges[:, :1] - low) * np.linspace(0, 1, 9)[:-1].astype(Extended))
    parts.append(high)
    edges = np.concatenate(parts, axis=1)
    widest = np.max(np.diff(edges, axis=1), axis=0).astype(float)
    pieces = 1 + (widest * max(2.0, 0.5 * math.sqrt(d), degrees / 6)).astype(int)
    fine = [
        edges[:, i, None] + (edges[:, i + 1, None] - edges[:, i, None]) * np.arange(count).astype(Extended) / count
        for i, count in enumerate(pieces)
    ]
    edges = np.concatenate([*fine, edges[:, -1:]], axis=1)
    x, gauss = rule(order)
    width = np.diff(edges, axis=1)[..., None]
    delta = (edges[:, :-1, None] + width * x).reshape(len(edges), -1)
    weight = (width * gauss).reshape(len(edges), -1)
    density = np.abs(np.sin(theta_0[:, None] + delta)) ** (d - 2) * constant(d)
    return delta, weight * density


def angle(s: Numbers, w: float) -> Numbers:
    """The angle theta with w (1 - cos theta) = s."""
    s = np.asarray(s, Extended)
    return 2 * np.arctan2(np.sqrt(s), np.sqrt(np.maximum(2 * Extended(w) - s, 0)))


RULES: dict[int, tuple[Numbers, Numbers]] = {}


def rule(order: int) -> tuple[Numbers, Numbers]:
    if order not in RULES:
        with ctx.workprec(LEAST_BITS):
            pairs = [arb.legendre_p_root(order, k, weight=True) for k in reversed(range(order))]
            RULES[order] = tuple(
                extended(each) for each in ([(1 + x) / 2 for x, _ in pairs], [v / 2 for _, v in pairs])
            )
    return RULES[order]


def constant(d: int) -> Numbers:
    """C such that C sin^{d-2}(theta) is the density of the angle between two points."""
    with ctx.workprec(LEAST_BITS):
        return extended([(arb(d) / 2).gamma() / (arb.pi().sqrt() * (arb(d - 1) / 2).gamma())])[0]


def extended(balls: list[Any]) -> Numbers:
    if any(float(ball.rad()) > 1e-22 * abs(float(ball.mid())) + 1e-200 for ball in balls):
        raise ArithmeticError("a coefficient is known to fewer than 22 digits: more bits are needed.")
    high = [float(ball.mid()) for ball in balls]
    low = [float((ball - value).mid()) for ball, value in zip(balls, high, strict=True)]
    return np.array(high, Extended) + np.array(low, Extended)


# The laws.


def dimension(d: int, degree: int) -> Any:
    if degree == 0:
        return arb(1)
    return arb((2 * degree + d - 2) * math.comb(degree + d - 3, degree - 1)) / degree


def one_harmonic(d: int, degree: int, k: Any) -> Harmonics:
    """A law with one harmonic: E f(x) f(x') = k P_degree."""
    with ctx.workprec(LEAST_BITS):
        column = extended([arb(0)] * (degree - 1) + [arb(k)])
    return Harmonics(d, column, column.sum())


def affine(d: int, L: float) -> Harmonics:
    """k_1 = L^2 / 3d."""
    with ctx.workprec(LEAST_BITS):
        return one_harmonic(d, 1, arb(L) ** 2 / (3 * d))


def quadratic(d: int, L: float) -> Harmonics:
    """k_2 = 2 (d - 1) L^2 / (d^2 (d + 2))."""
    with ctx.workprec(LEAST_BITS):
        return one_harmonic(d, 2, 2 * (d - 1) * arb(L) ** 2 / (arb(d) ** 2 * (d + 2)))


def trimmed(d: int, k: Numbers, total: Numbers) -> Harmonics:
    """A law without the negligible coefficients at its end."""
    degree = np.arange(1, k.size + 1).astype(Extended)
    counts = np.cumsum((k * (degree * (degree + d)) ** 2)[::-1])[::-1]
    return Harmonics(d, k[: max(2, int(np.count_nonzero(counts > NEGLIGIBLE * counts[0])))], total)


def linear(d: int, L: float) -> Harmonics:
    """k_1 = L^2 / d."""
    with ctx.workprec(LEAST_BITS):
        return one_harmonic(d, 1, arb(L) ** 2 / d)


def power(d: int, j: int) -> Harmonics:
    """z^j: E[z^j P_l] = j! / (j - l)! / (2^l (d/2)_l) E[z^{j-l}] in D = d + 2l, where E z^{2m} = (1/2)_m / (D/2)_m."""
    with ctx.workprec(LEAST_BITS):
        half, k = arb(d) / 2, []
        for degree in range(1, j + 1):
            m, odd = divmod(j - degree, 2)
            mean = (arb(1) / 2).rising(m) / (half + degree).rising(m)
            average = math.perm(j, degree) * mean / (arb(2) ** degree * half.rising(degree))
            k.append(arb(0) if odd else dimension(d, degree) * average**2)
        return Harmonics(d, extended(k), extended([sum(k, arb(0))])[0])


def listed(d: int, k: tuple[float, ...]) -> Harmonics:
    """A law given by its coefficients k_0, k_1, ..."""
    column = np.array(k[1:], Extended)
    return Harmonics(d, column, column.sum())


def scaled(law: Harmonics, factor: Numbers) -> Harmonics:
    of, off = law.variogram, law.off
    return Harmonics(
        law.d,
        Extended(factor) * law.k,
        Extended(factor) * law.total,
        None if of is None else lambda near: Extended(factor) * of(near),
        None if off is None else Extended(factor) * off,
    )


def added(one: Harmonics, other: Harmonics) -> Harmonics:
    """The sum of two independent laws that list all their coefficients."""
    longer, shorter = sorted((one, other), key=lambda law: -law.k.size)
    k = longer.k.copy()
    k[: shorter.k.size] += shorter.k
    return Harmonics(one.d, k, one.total + other.total)


def wave(d: int, L: float, parity: int = 0) -> Harmonics:
    r"""cos(L z) for parity 0, sin(L z) for 1: k_l = N_l (Gamma(d/2) (2/L)^nu J_{nu+l}(L))^2, nu = d/2 - 1."""
    top = int(L + 12 * L ** (1 / 3) + 60)
    with ctx.workprec(int(2 * L) + 2 * LEAST_BITS + 8 * d + 8 * max(0, int(-math.log2(L)))):
        k = [each**2 for each in _bessel(d, arb(L), top, -1)]
        k = [dimension(d, degree) * each * ((degree + parity + 1) % 2) for degree, each in enumerate(k)]
        return trimmed(d, extended(k[1:]), extended([sum(k[1:], arb(0))])[0])


def _bessel(d: int, x: Any, top: int, sign: int) -> list[Any]:
    """Gamma(d/2) (2/x)^nu times J (sign -1) or I (sign 1) of order nu + l for l = 0, ..., top; nu = d/2 - 1."""
    half, value = arb(d) / 2, []
    for degree in (top + 1, top):
        bits = ctx.prec
        while True:
            with ctx.workprec(bits):
                one = (x / 2) ** degree / half.rising(degree) * (sign * x**2 / 4).hypgeom_0f1(half + degree)
            if one.rel_accuracy_bits() >= ctx.prec - 30:
                break
            bits *= 2
        value.append(one)
    for degree in range(top, 0, -1):
        value.append((d - 2 + 2 * degree) / x * value[-1] + sign * value[-2])
    return value[:0:-1]


def rbf(d: int, length: float, top: int) -> Harmonics:
    """K = exp(-(1 - t) / length^2): k_l = e^{-x} N_l Gamma(d/2) (2/x)^nu I_{nu+l}(x), x = 1 / length^2."""
    with ctx.workprec(2 * LEAST_BITS):
        x = 1 / arb(length) ** 2
        fall = (-x).exp()
        k = [fall * dimension(d, degree) * each for degree, each in enumerate(_bessel(d, x, top, 1))]
        total = extended([1 - k[0] if float(x) > 0.01 else sum(k[1:], arb(0))])[0]
        square = Extended(length) ** 2
        few = trimmed(d, extended(k[1:]), total).k
        return Harmonics(d, few, total, lambda near: -2 * np.expm1(-near / square))


def relu(d: int, top: int) -> Harmonics:
    """L = 1: k_1 = 1/6d, k_l = N_l b_l^2 / 6, b_{l+2} = -b_l (l - 1) / (l + d + 1), b_0 = E |z|; their sum is 1/3d."""
    with ctx.workprec(LEAST_BITS):
        half = arb(d) / 2
        b = half.gamma() / (arb.pi().sqrt() * (half + arb(1) / 2).gamma())
        total = arb(1) / (3 * d) - b**2 / 6
        k = [arb(1) / (6 * d)]
        for degree in range(0, top - 1, 2):
            b *= -arb(degree - 1) / (degree + d + 1)
            k += [dimension(d, degree + 2) * b**2 / 6, arb(0)]
        return Harmonics(d, extended(k), extended([total])[0], lambda near: arc_cosine(near, Extended(1) / (3 * d)))


def arc_cosine(near: Numbers, scale: Numbers) -> Numbers:
    """2 scale (1 - cos a - (sin a - a cos a) / pi), cos a = t."""
    sine = np.sqrt(near / 2)
    a = 2 * np.arcsin(np.minimum(sine, 1))
    series, term = np.zeros_like(a), a * 1
    for j in range(1, 16):
        term = term * a * a / ((2 * j) * (2 * j + 1))
        series += (-1) ** (j + 1) * 2 * j * term
    rest = np.where(a < 1, series, np.sin(a) - a * np.cos(a))
    return 2 * scale * (2 * sine**2 - rest / PI)


def matern(d: int, nu: float, length: float, top: int) -> Harmonics:
    """V = 2 (1 - e^{-z} (1, 1 + z, 1 + z + z^2/3)), z = (2 nu)^{1/2} r / length, r^2 = 2 (1 - t)."""

    def variogram(near: Numbers) -> Numbers:
        z = np.sqrt(2 * Extended(nu)) * np.sqrt(2 * near) / Extended(length)
        first = int(nu + 0.5)
        term, tail, head = np.ones_like(z), np.zeros_like(z), np.zeros_like(z)
        for j in range(45):
            if j < first:
                head = head + term
            else:
                tail = tail + np.where(z < 2, term, 0)
            term = term * np.minimum(z, 1e6) / (j + 1)
        fall = np.exp(-z)
        value = np.where(z < 2, fall * tail, 1 - fall * head)
        return 2 * (value + (fall * np.minimum(z, 1e6) ** 2 / 6 if nu == 2.5 else 0))

    return tabulated(d, variogram, length / math.sqrt(2 * nu), top)


def tabulated(d: int, variogram: Callable[[Numbers], Numbers], scale: float, top: int) -> Harmonics:
    """k_l = -N_l E[V P_l] / 2, by Gauss rules in the angle, which narrow towards both ends from `scale` on."""
    near_ends = [min(scale, 0.1) * 2.0**j for j in range(-8, 60) if min(scale, 0.1) * 2.0**j < 1.5]
    edges = np.unique(np.array([0.0, *near_ends, 1.5707963, *(float(PI) - np.array(near_ends))], float)).astype(
        Extended
    )
    edges = np.append(edges, PI)
    pieces = 1 + (np.diff(edges).astype(float) * (top / 6 + 2 + math.sqrt(d))).astype(int)
    edges = np.concatenate(
        [a + (b - a) * np.arange(m) / Extended(m) for a, b, m in zip(edges[:-1], edges[1:], pieces, strict=True)]
        + [[PI]]
    )
    x, gauss = rule(ORDERS[0])
    width = np.diff(edges)[:, None]
    theta, weight = (edges[:-1, None] + width * x).ravel(), (width * gauss).ravel()
    near = 2 * np.sin(theta / 2) ** 2
    weight = weight * np.sin(theta) ** (d - 2) * constant(d)
    values = variogram(near) / 2
    mean = (weight * values).sum()
    k, off, size = [], [], (weight * np.abs(values - mean)).sum() + 0.01 * mean
    deficit, rise = near, near
    for degree in range(1, top + 1):
        with ctx.workprec(LEAST_BITS):
            ways = extended([dimension(d, degree)])[0]
        k.append(max(ways * (weight * (values - mean) * deficit).sum(), Extended(0)))
        off.append(ways * size * 40 * EPS)
        rise = (degree * rise + (2 * degree + d - 2) * near * (1 - deficit)) / (degree + d - 2)
        deficit = deficit + rise
    return Harmonics(d, np.array(k), mean, variogram, np.array(off))
