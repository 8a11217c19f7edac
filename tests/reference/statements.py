r"""An independent evaluator of proofs: is the statement that a proof *prints* true at the borders of its range?

`wrong(statement)` parses the printed sentence and computes its quantities from the definition of the problem alone.
It shares no code with the checker, the search for constants or the exact method. For n tokens uniform on the sphere of
R^d and a law with the covariance K(t) = sum_l k_l P_l(t),

    N / sigma^2 = E sum a_i^2,    B = sum_l k_l (2 E sum a_i^2 h_l(t_i) + E sum_{i != j} a_i a_j h_l(t_i) h_l(t_j)),

with h_l = 1 - P_l. The average uses 1/S^2 = int lambda e^{-lambda S} d lambda. Gauss rules on panels of the angle
integrate over t, and the trapezoidal rule over log lambda: for each lambda only the panels count where lambda g is
neither huge nor tiny. The k_l are projections of the law's link or covariance.
The evaluator is slow and accurate to about ten digits. `tests/proofs/test_mutants.py` compares it with a reference in
Arb's arithmetic. For statements about linear transformers it uses the theory of `lipverify.linear_transformer`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.optimize import minimize_scalar
from scipy.special import jv, roots_legendre

Array = Any
Long = np.longdouble
NUMBER = r"\(?(-?[\d.]+(?:e[+-]?\d+)?(?:/\d+)?)\)?"
ROUNDING = 1e-9
"""The relative error of a computed value. Printed bounds are compared with this tolerance."""
SLOPE = 1e-3
"""The relative error of a computed w*. Printed bounds on w* are further apart."""
BEYOND = (1.0, 30.0)
"""Factors by which w or W exceeds the border of a range at the points of evaluation."""
INTERPOLATED = 1e-5
"""The error of a loss from interpolated moments."""
INSIDE = (1.0,)
"""The factors for statements about w*. They are fewer, because each point needs a minimisation."""


def value(text: str) -> float:
    over, _, under = text.strip("()").partition("/")
    return float(over) / float(under or 1)


@cache
def tokens(d: int) -> tuple[Array, Array, Array]:
    """A tanh-sinh rule for the density (1 - t^2)^{(d-3)/2}: t, 1 - t without cancellation, and the weights."""
    u = np.arange(-108, 109, dtype=Long) / 24
    x = np.pi * np.sinh(u)
    below, above = 2 / (1 + np.exp(x)), 2 / (1 + np.exp(-x))  # 1 - t and 1 + t
    # dt/du = (pi/2) cosh(u) (1 - t^2)
    p = (below * above) ** Long((d - 1) / 2) * np.cosh(u)
    return above - 1, below, p / p.sum()


def deficits(d: int, degree: int, h: Array) -> Array:
    """1 - P_l at 1 - t = h for l = 1 to degree, by Legendre's recursion for 1 - P."""
    before, now, found = 0 * h, h, []
    for k in range(1, degree + 1):
        found.append(now)
        before, now = now, ((2 * k + d - 2) * ((1 - h) * now + h) - k * before) / (k + d - 2)
    return np.array(found)


FAINT = 36
"""Tokens with g and lambda g below e^-FAINT count for nothing."""
GAUSS = roots_legendre(16)
"""Nodes and weights on each panel of the angle."""
ROWS = 16
"""The number of lambda that are summed at once; they share the tokens that matter."""


def panels(d: int, w: float, degree: int, reach: float) -> tuple[Array, Array]:
    """Gauss rules for the tokens with w h <= reach: h = 1 - t in rising order, and the weights.

    The angle changes by 12 / degree at most in a panel, and w h by 2 at most, so that e^{-lambda g} and P_l are
    polynomials there to some fourteen digits.
    """
    last = 2 * math.asin(math.sqrt(min(reach / (2 * w), 1.0) if w > 0 else 1.0))
    drops = np.concatenate([[0.5], np.arange(2, w * (1 - math.cos(last)), 2)])
    steep = 2 * np.arcsin(np.sqrt(np.minimum(drops / (2 * w), 1.0))) if w > 0 else drops
    even = np.linspace(0, last, 1 + math.ceil(last * max(2.0, degree / 12)))
    ends = np.union1d(even, steep[steep < last])
    half = np.diff(ends)[:, None] / 2
    angle = (ends[:-1, None] + half * (1 + GAUSS[0])).ravel()
    norm = math.sqrt(math.pi) * math.exp(math.lgamma((d - 1) / 2) - math.lgamma(d / 2))
    return 2 * np.sin(angle / 2) ** 2, (half * GAUSS[1]).ravel() * np.sin(angle) ** (d - 2) / norm


@cache
def averages(d: int, n: int, w: float, degree: int) -> tuple[float, Array, Array, Array]:
    """E sum a_i^2, and for each degree E sum a_i^2 h, E sum_{i != j} a_i a_j h h and E sum a_i h."""

    def log_average(x: Array, p: Array, gone: float) -> Array:
        """log E e^{-x}, where a share of the tokens has x = infinity."""
        return np.log1p(np.maximum(np.expm1(-x) @ p - gone, -1 + 1e-16))

    last, most = 6.0, 2 * w + 6
    while last < most:  # phi^{n-2} is below e^-60 beyond `last`
        h, p = panels(d, w, degree, last + FAINT)
        if (n - 2) * log_average(np.exp(np.minimum(last - w * h, 700)), p, 0.0) < -60:
            break
        last = min(1.25 * last, most)
    h, p = panels(d, w, degree, last + FAINT)
    s, before, columns = w * h, np.concatenate([[0.0], np.cumsum(p)]), deficits(d, degree, h).T
    first = -math.log(n * float(p @ np.exp(-s))) - 45
    noise, found = 0.0, np.zeros((3, degree))
    for v in np.split(lambdas := np.arange(first, last + 0.25, 0.25), range(ROWS, len(lambdas), ROWS)):
        # nearer tokens have e^{-lambda g} = 0, farther ones 1
        start, stop = np.searchsorted(s, (v[0] - 7, max(v[-1], 0.0) + FAINT))
        part, near = slice(start, stop), columns[start:stop]
        x = np.exp(v[:, None] - s[part])
        log_phi, once = log_average(x, p[part], before[start]), p[part] * x * np.exp(-x)
        one, two = (0.25 * np.exp((n - k) * log_phi) for k in (1, 2))
        pair = once @ near
        noise += n * float(one @ (x * once).sum(axis=1))
        found += n * one @ ((x * once) @ near), n * (n - 1) * two @ pair**2, n * one @ pair
    return noise, *found


@cache
def count(d: int, degree: int) -> float:
    """The number of spherical harmonics of a degree >= 1."""
    return (2 * degree + d - 2) / degree * math.comb(degree + d - 3, degree - 1)


@cache
def spectrum(law: str, d: int, degree: int) -> tuple[Array, float]:
    """k_l for l = 1 to degree, at L = 1, and the sum of k_l over larger l."""
    name, _, text = law.partition(":")
    if name in PIECES:
        return pieces(text, d, degree)
    numbers = [value(each) for each in text.split(",")] if text else []
    t, h, p = tokens(d)
    if name == "zonal":
        listed = np.zeros(degree)
        listed[: len(numbers) - 1] = numbers[1:]
        return listed, 0.0
    counts = np.array([count(d, j) for j in range(1, degree + 1)])
    if name.startswith("matern-"):
        z = math.sqrt(2 * float(name.removeprefix("matern-"))) / numbers[0]
        # a covariance that depends on r = 2 sin(theta/2) is smooth in the angle theta, so a Gauss rule is accurate
        x, weight = roots_legendre(degree + 200)
        angle = np.pi * (x + 1) / 2
        r = z * 2 * np.sin(angle / 2)
        kernel = np.exp(-r) * {"0.5": 1 + 0 * r, "1.5": 1 + r, "2.5": 1 + r + r**2 / 3}[name.removeprefix("matern-")]
        weight *= np.sin(angle) ** (d - 2)
        means = legendre(d, np.cos(angle), degree) @ (weight * kernel) / weight.sum()
        k = np.array([count(d, j) for j in range(1, degree + 1)]) * numbers[1] * means[1:]
        return k, max(numbers[1] * (1 - means[0]) - k.sum(), 0.0)
    if name.startswith("rough-"):
        s = float(name.removeprefix("rough-"))
        k, ratio = np.zeros(degree), 1.0
        for j in range(1, degree + 1):
            ratio *= (j - 1 - s) / (j + s + d - 2)
            k[j - 1] = -ratio * counts[j - 1]
        constant = 2**s * float((p * h ** Long(s)).sum()) / 2
        return constant * k, constant * (1 - k.sum())
    if name in ("relu", "kinked"):
        A, C = numbers or (1 / math.sqrt(6), 1 / math.sqrt(6))
        k, b = np.zeros(degree), math.gamma(d / 2) / math.sqrt(math.pi) / math.gamma((d + 1) / 2)
        first = b
        for j in range(0, degree - 1, 2):
            b *= -(j - 1) / (j + d + 1)
            k[j + 1] = C**2 * counts[j + 1] * b**2
        total = A**2 / d + C**2 * (1 / d - first**2)
        k[0] = A**2 / d
        return k, max(total - k.sum(), 0.0)
    P = 1 - deficits(d, degree, h)
    links: dict[str, Callable[[], Array]] = {
        "affine": lambda: t / np.sqrt(Long(3)),
        "quadratic": lambda: t**2,
        "cosine": lambda: np.cos(Long(numbers[0]) * t) / Long(numbers[0]),
        "link": lambda: sum(c * t**j for j, c in enumerate(numbers)),
    }
    if name in links:
        return counts * ((p * links[name]()) * P).sum(axis=1) ** 2, 0.0
    kernels: dict[str, Callable[[], Array]] = {
        "powers": lambda: sum(c * t**j for j, c in enumerate(numbers)),
        "rbf": lambda: (numbers[1:] or [1.0])[0] * np.exp(-h / Long(numbers[0]) ** 2),
    }
    return counts * (p * kernels[name]() * P).sum(axis=1), 0.0


PIECES = ("kinks", "jumps")


def legendre(d: int, t: Array, degree: int) -> Array:
    """P_0 to P_degree in d dimensions, at numbers between -1 and 1."""
    t = np.asarray(t, dtype=float)
    found = [np.ones_like(t), t]
    for k in range(1, degree):
        found.append(((2 * k + d - 2) * t * found[k] - k * found[k - 1]) / (k + d - 2))
    return np.array(found[: degree + 1])


@cache
def pieces(text: str, d: int, degree: int) -> tuple[Array, float]:
    """k_l of a piecewise polynomial link, by Gauss and by parts for large l, and the sum of later k_l."""
    breaks, *coefficients = ([value(each) for each in part.split(",")] for part in text.split("|"))
    parts = [np.polynomial.Polynomial(each) for each in coefficients]
    ends, at, few = np.arccos([1.0, *breaks[::-1], -1.0]), np.array(breaks), min(degree, 40)
    norm, square, means = math.sqrt(math.pi) * math.gamma((d - 1) / 2) / math.gamma(d / 2), 0.0, np.zeros(degree + 1)
    x, weight = roots_legendre(200)
    for link, first, last in zip(parts[::-1], ends, ends[1:], strict=False):
        angle = first + (last - first) * (x + 1) / 2
        h, p = link(np.cos(angle)), weight * (last - first) / 2 * np.sin(angle) ** (d - 2) / norm
        means[: few + 1] += legendre(d, np.cos(angle), few) @ (p * h)
        square += p @ h**2
    factor, rest = 1 / norm, np.zeros(degree + 1)
    # int h P_l (1-t^2)^{(d-3)/2} is a sum over jumps plus int h' P_{l-1} (1-t^2)^{(d-1)/2}, with P in d + 2 dimensions
    for order in range(min(max(map(len, coefficients)), degree)):
        dim = d + 2 * order
        factor /= dim - 1
        jump = [float(right(z) - left(z)) for left, right, z in zip(parts, parts[1:], at, strict=False)]
        P = legendre(dim + 2, at, degree - order - 1)[: degree - order]
        rest[order + 1 :] += factor * (P @ (np.array(jump) * (1 - at**2) ** ((dim - 1) / 2)))
        parts = [each.deriv() for each in parts]
    means[few + 1 :] = rest[few + 1 :]
    k = np.array([count(d, j) for j in range(1, degree + 1)]) * means[1:] ** 2
    return k, max(square - means[0] ** 2 - k.sum(), 0.0)


def degrees(law: str, w: float) -> int:
    """The number of degrees in the sum: all of a finite law, otherwise those that attention with this w resolves."""
    name = law.partition(":")[0]
    if name in ("affine", "quadratic", "zonal", "link", "powers"):
        return {"affine": 1, "quadratic": 2}.get(name, law.count(",") + 1)
    return 24 if name in ("cosine", "rbf") else 200 * math.ceil((6 * math.sqrt(w) + 1) / 200)


def terms(law: str, d: int, n: int, w: float) -> tuple[float, float, float, float]:
    """N / sigma^2, B, E sum a_i (f(x_i) - f(x))^2 / 2 and E (f - E f)^2 at L = 1."""
    if w > SHARP and law.startswith(("rough", *PIECES)):
        x, k, rest = waves(law, d, w)
        noise, bias = many(d, math.log(n), w, rest, k, lambda h: risen(d, x, h))
        return noise, bias, math.nan, math.nan
    degree = degrees(law, w)
    k, rest = spectrum(law, d, degree)
    noise, alone, pairs, mean = averages(d, n, w, degree)
    bias = float((k * (2 * alone + pairs)).sum()) + rest * (1 + noise)
    return noise, bias, float((k * mean).sum()) + rest, float(k.sum()) + rest


SHARP = 1e5
"""For larger w, harmonics are summed in blocks and approximated by plane waves, with a relative error of 1/w."""


def waves(law: str, d: int, w: float) -> tuple[Array, Array, float]:
    """(l (l+d-2))^{1/2} for blocks of degrees, the sum of k_l in each block, and the sum of later k_l."""
    if law.partition(":")[0] in PIECES:
        degree = 2 ** math.ceil(math.log2(7 * math.sqrt(w)))
        k, rest = spectrum(law, d, degree)
        starts = np.unique(np.geomspace(1, degree, 700).astype(int)) - 1
        sums = np.add.reduceat(k, starts)
        square = np.arange(1, degree + 1) * (np.arange(1, degree + 1) + d - 2.0)
        return np.sqrt(np.add.reduceat(k * square, starts) / np.where(sums > 0, sums, 1)), sums, rest
    s, last = float(law.removeprefix("rough-")), 7 * math.sqrt(w)
    # Gamma(l-s) / Gamma(l+s+d-1) and the number of harmonics are approximated by powers of l + (d-2)/2
    log_x, step = np.linspace(0, math.log(last), 1200, retstep=True)
    _, h, p = tokens(d)
    constant = 2**s * float((p * h ** Long(s)).sum()) / 2
    factor = constant * 2 * math.gamma(s + d - 1) / (-math.gamma(-s) * math.gamma(d - 1))
    ends = np.where(np.arange(1200) % 1199 == 0, 0.5, 1.0)
    x = np.exp(log_x)
    found = np.sqrt(np.maximum(x**2 - (d - 2) ** 2 / 4, 0))
    return found, factor * step * ends * x ** (-2 * s), factor * last ** (-2 * s) / (2 * s)


def risen(d: int, x: Array, h: Array) -> Array:
    """1 - P_l at 1 - t = h by a Bessel function, with one row per x = (l (l+d-2))^{1/2} and a relative error of h."""
    nu = (d - 3) / 2
    z = np.outer(x, 2 * np.arcsin(np.sqrt(h / 2)))
    found = z**2 / (4 * (nu + 1)) * (1 - z**2 / (8 * (nu + 2)))
    far = z > 0.1
    found[far] = 1 - math.gamma(nu + 1) * (2 / z[far]) ** nu * jv(nu, z[far])
    return found


def tokens_from(least: float) -> list[int]:
    """Numbers of tokens at the border of a range n >= least and inside it."""
    return [max(2, math.ceil(least * (1 + 1e-12) * more)) for more in (1.0, 1e4)]


STEPS = 4
"""The number of w at which losses are computed from one w to twice that. All problems share these w."""


@cache
def optimum(law: str, d: int, n: int, square: float, low: float, high: float) -> tuple[float, float]:
    """w* between about `low` and `high` at sigma = 1 and L^2 = square, and the loss at w*.

    The best power of two decides where a finer grid lies, and a polynomial goes through the losses at seven of its w.
    """

    def loss(w: float) -> float:
        noise, bias, *_ = terms(law, d, n, w)
        return noise + square * bias

    first, last = math.floor(math.log2(low)), math.ceil(math.log2(high))
    rough = min(range(first, last + 1), key=lambda power: loss(2.0**power))
    first, last = max(first, rough - 1), min(last, rough + 1)
    places = 2.0 ** (np.arange(STEPS * first, STEPS * last + 1) / STEPS)
    losses = np.array([loss(float(w)) for w in places])
    at = int(np.argmin(losses))
    near = slice(max(at - 3, 0), at + 4)
    x, ends = np.log(places[near]), np.log(places[[max(at - 1, 0), min(at + 1, len(places) - 1)]])
    curve = np.polynomial.Polynomial.fit(x, losses[near] / losses[at], len(x) - 1)
    turns = [float(root.real) for root in curve.deriv().roots() if abs(root.imag) < SLOPE / 10]
    best = min((turn for turn in turns if ends[0] < turn < ends[1]), key=curve, default=math.log(places[at]))
    return math.exp(best), loss(math.exp(best))


def within(what: str, low: float, found: float, high: float, error: float = ROUNDING) -> Iterator[str]:
    """Yield a message if a value is not between two numbers."""
    room = error * abs(found) + 1e-300
    if not low - room <= found <= high + room:
        yield f"{what} is {found:.12g}, not between {low:.12g} and {high:.12g}"


def wrong(statement: str) -> list[str]:
    """The parts of a printed statement that are false at the borders of its range, one message each."""
    return list(faults(statement))


def faults(statement: str) -> Iterator[str]:
    """The messages of `wrong` as they are found: the first is often enough. ValueError if no pattern matches."""
    for pattern, check in PATTERNS:
        match = re.fullmatch(pattern, statement)
        if match:
            return check(**match.groupdict())
    raise ValueError(f"no statement that is known: {statement}")


BOUNDS = {
    "envelope": {"c_low": 1, "c_high": -1, "b_low": 1, "b_high": -1},
    "tradeoff": {"rise_low": 1, "rise_high": -1, "fall_low": 1, "fall_high": -1},
    "window": {"low": 1, "high": -1, "loss_low": 1, "loss_high": -1},
    "every_dimension": {"low": 1, "high": -1, "loss_low": 1, "loss_high": -1},
    "every_n": {"least": 1, "largest": -1, "bound": 1},
    "transfer": {"low": 1, "high": -1},
    "circle": {"low": 1, "high": -1},
    "ridge": {"K": -1},
    "layers": {"C": -1},
    "cosine": {"offset": -1, "low": 1},
}
"""The bounds in each kind of statement. The sign is the direction that makes a bound sharper."""


def closer(statement: str, share: float) -> dict[str, str]:
    """Sharper statements, by the name of the bound that moved inwards by this share of its value."""
    found = {}
    for pattern, check in PATTERNS:
        match = re.fullmatch(pattern, statement)
        if not match:
            continue
        bounded = BOUNDS.get(check.__name__, {})
        moved = {name: (match.span(name), way) for name, way in bounded.items() if match[name]}
        if check is one_problem:
            for name, printed in PRINTED.items():
                bounds = re.search(printed.replace("#", NUMBER), statement)
                groups = range(1, bounds.re.groups + 1) if bounds else ()
                moved |= {f"{name} {i}": (bounds.span(i), 3 - 2 * i) for i in groups if bounds}
        for name, ((start, stop), way) in moved.items():
            number = value(statement[start:stop])
            found[f"{check.__name__} {name}"] = (
                f"{statement[:start]}{number + way * share * abs(number):.12g}{statement[stop:]}"
            )
    return found


PRINTED = {
    "w*": r" # <= w\* <= # for",
    "c*": r" # <= c\* - 1 <= # with",
    "slope": r"\)\^# <= .*\)\^#",
    "fall": "B' <= -# at",
}
"""The bounds in statements about one problem, lower bounds first."""


def named(law: str) -> str:
    """The name that `spectrum` takes, for a law in the words of a statement."""
    smooth = re.fullmatch(r"(matern-[\d.]+) .* = \((.*), (.*)\), times.*", law)
    if smooth:
        return f"{smooth[1]}:{smooth[2]},{smooth[3]}"
    words = re.fullmatch(r"([a-z0-9.-]+)(?: of L = (\S+)| .*\(([^()]*)\).*| with the variogram .*)?", law)
    if not words:
        raise ValueError(f"no law that is known: {law}")
    numbers = words[2] or words[3]
    return f"{words[1]}:{numbers}" if numbers else words[1]


HEAD = r"(?P<law>.+?), d = (?P<d>\d+): "


def g(*names: str) -> list[str]:
    """Named groups that match a number."""
    return [rf"\(?(?P<{name}>-?[\d./]+(?:e[+-]?\d+)?)\)?" for name in names]


def powers(law: str, d: int) -> tuple[float, float]:
    """a = (d-1)/2 and beta."""
    rough = {"relu": 1.5, "kinked": 1.5, "kinks": 1.5, "jumps": 0.5, "matern-0.5": 0.5, "matern-1.5": 1.5}
    beta = rough.get(law.partition(":")[0], 2.0)
    return (d - 1) / 2, float(law.removeprefix("rough-")) if law.startswith("rough-") else beta


def scale(law: str) -> float:
    """L^2 of a law with its own L. Both `spectrum` and the printed statements divide B by it."""
    return value(law.partition(":")[2]) ** 2 if law.startswith("cosine") else 1.0


def envelope(law: str, d: str, **text: str) -> Iterator[str]:
    """Check n N / (sigma^2 w^a) and w^beta B / L^2 at the least w and n and at larger ones."""
    name, dim, k = named(law), int(d), {key: value(each) for key, each in text.items() if each is not None}
    a, beta = powers(name, dim)
    yield from exponents({"a": a, "a2": a, "beta": beta, "spread": a + beta - 1, "next": 2 - beta}, k)
    for w in (k["u"] * more for more in BEYOND):
        for n in tokens_from(k["K"] * w**a):
            noise, bias, *_ = terms(name, dim, n, w)
            where = f"at w = {w:.12g}, n = {n}: "
            yield from within(where + "n N / (sigma^2 w^a)", k["c_low"], n * noise / w**a, k["c_high"])
            more = k.get("b_next", 0.0) / w ** (2 - beta) + k["s"] * w ** (a + beta - 1) / n
            yield from within(where + "w^beta B / L^2", k["b_low"], w**beta * bias, k["b_high"] + more)


def exponents(true: dict[str, float], printed: dict[str, float]) -> Iterator[str]:
    """Check that every printed exponent has its exact value."""
    for name, exact in true.items():
        if name in printed and printed[name] != exact:
            yield f"an exponent is {exact}, not {printed[name]}"


def tradeoff(law: str, d: str, **text: str) -> Iterator[str]:
    """Check the ratios of N and of B between w and rho w."""
    name, dim, k = named(law), int(d), {key: value(each) for key, each in text.items()}
    a, beta = powers(name, dim)
    yield from exponents({"power": a + max(beta, 1.0) - 1}, k)
    for w in (k["u"] * more for more in BEYOND):
        for n in tokens_from(k["K"] * (k["rho"] * w) ** k["power"]):
            (N, B, *_), (N2, B2, *_) = terms(name, dim, n, w), terms(name, dim, n, k["rho"] * w)
            where = f"at w = {w:.12g}, n = {n}: "
            yield from within(where + "N(rho w) / N(w)", k["rise_low"], N2 / N, k["rise_high"])
            yield from within(where + "B(rho w) / B(w)", k["fall_low"], B2 / B, k["fall_high"])


def window(law: str, d: str, domain: str, terms: str, **text: str) -> Iterator[str]:
    """Check w* and its loss at the least W, for the least n and a larger one; what w* / W tends to; noise and bias."""
    name, dim, k = named(law), int(d), {key: value(each) for key, each in text.items()}
    a, beta = powers(name, dim)
    power = a + max(beta, 1.0) - 1
    yield from exponents({"beta": beta, "whole": a + beta, "power": power, "grow": power}, k)
    if domain == "over all real w" and not rises(name, dim):
        yield f"{law}: a w < 0 is as good as w > 0, or may be"
    yield from faults(f"{law}, d = {d}: {terms}")
    yield from within("the limit", k["low"], k["limit_low"], k["high"])
    if (beta == 2.0 and degrees(name, 1.0) < 200) or name.startswith(("relu", "kinked")):
        yield from within("the limit of w* / W", k["limit_low"], multiple(name, dim), k["limit_high"])
    for W in (k["W"] * more for more in INSIDE):
        for n in tokens_from(k["K"] * W ** k["power"]):
            where = f"at W = {W:.12g}, n = {n}: "
            w, loss = best(name, dim, n, W)
            yield from within(where + "w* / W", k["low"], w / W, k["high"], SLOPE)
            yield from within(where + "loss(w*) W^beta / L^2", k["loss_low"], loss, k["loss_high"])


def multiple(law: str, d: int) -> float:
    """What w* / W tends to: where w^a / (2^a c n) + b / w^beta is least; of smooth laws and of a kink at 0."""
    a, beta = powers(law, d)
    k, _ = spectrum(law, d, degrees(law, 1.0))
    if beta == 2.0:
        slopes = np.array([degree * (degree + d - 2) / (d - 1) for degree in range(1, len(k) + 1)])
        b = a**2 * float((k * slopes**2).sum())
    else:  # the square of the kink, 8 f(0) int E (Y - x)_+^2 dx, f the density of one coordinate
        kinked = (value(law.partition(":")[2].partition(",")[2] or "0") ** 2) or 1 / 6
        density = math.gamma(d / 2) / (math.sqrt(math.pi) * math.gamma(a))
        b = 8 * kinked * density * (2 - math.sqrt(2)) / (6 * math.sqrt(math.pi))
    c = math.gamma(d / 2) * 2 ** (d / 2 - 1) / math.sqrt(2 * math.pi)
    return float((beta * b * 2**a * c / a) ** (1 / (a + beta)))


def best(law: str, d: int, n: int, W: float) -> tuple[float, float]:
    """w* and loss(w*) W^beta / L^2 for W = (n L^2 / sigma^2)^{1/(a + beta)}."""
    a, beta = powers(law, d)
    w, loss = optimum(law, d, n, W ** (a + beta) / n, W / 100, 30 * W)
    return w, loss * W**beta / (W ** (a + beta) / n)


DIMENSIONS = (2, 3, 6, 50, 1000)
"""The dimensions at which a theorem about every dimension is evaluated."""
CENTRES: dict[tuple[str, str, str], Callable[[int], tuple[float, float]]] = {
    ("affine", "(d-1)! / (3 d Gamma((d-1)/2))", "(d-1) (d+3) / (12 d k^2)"): lambda d: (
        math.lgamma(d) - math.log(3 * d) - math.lgamma((d - 1) / 2),
        (d - 1) * (d + 3) / (12 * d),
    ),
    ("quadratic", "8 (d-2)! / ((d+2) Gamma((d-1)/2))", "2 (d+3) / ((d+2) k^2)"): lambda d: (
        math.log(8) + math.lgamma(d - 1) - math.log(d + 2) - math.lgamma((d - 1) / 2),
        2 * (d + 3) / (d + 2),
    ),
    (
        "relu",
        "(2 - sqrt(2)) Gamma(d/2) (d-1)! / (6 pi Gamma((d+1)/2)^2)",
        "(2 - sqrt(2)) (d+2) Gamma(d/2) / (9 pi Gamma((d+1)/2) k^1.5)",
    ): lambda d: (
        math.log((2 - math.sqrt(2)) / (6 * math.pi))
        + math.lgamma(d / 2)
        + math.lgamma(d)
        - 2 * math.lgamma((d + 1) / 2),
        (2 - math.sqrt(2)) * (d + 2) / (9 * math.pi) * math.exp(math.lgamma(d / 2) - math.lgamma((d + 1) / 2)),
    ),
}
"""By law and by the printed k^{(d-1)/2 + beta} and m: the values of log k^{(d-1)/2 + beta} and m k^beta."""


@cache
def ramp(d: int, log_n: float, w: float) -> tuple[float, float]:
    """E sum a_i^2 and B of ReLU at L = 1 for many tokens in any dimension, to first order in E sum a_i^2.

    The variogram is V(h) = 2 (K(1) - K(t)) = (2/3d) (h - S / pi) with S = sin theta - theta cos theta at the angle
    theta, because E |z z'| = (2/(pi d)) (t arcsin t + (1 - t^2)^{1/2}). The bias is
    B = E sum a_i V_i - E sum a_i a_j V_ij / 2. Sums over many tokens are averages with the weights g. A factor 1/T of
    the expansion turns one weight g into g^2.
    """
    noise, _ = many(d, log_n, w, 0.0, np.zeros(1), lambda h: np.zeros((1, len(h))))
    a = (d - 1) / 2
    step = min(0.16, 0.35 / math.sqrt(a))
    log_h = math.log(a / w) + np.arange(-9 / math.sqrt(a) - 9 / a, min(2 + 2 / a, 8 / math.sqrt(a)), step)
    h = np.exp(log_h[log_h < math.log(1.9)])
    base = a * np.log(h) + (a - 1) * np.log1p(-h / 2)
    weights = [np.exp(base - j * w * h - (base - j * w * h).max()) for j in (1, 2)]
    one, two = (each / each.sum() for each in weights)
    if d == 2:
        c, p = np.array([-1.0, 1.0]), np.array([0.5, 0.5])
    else:
        reach = min(np.pi / 2, 7 / math.sqrt(d))
        angle = np.pi / 2 + reach * ((np.arange(48) + 0.5) / 24 - 1)
        c, p = np.cos(angle), np.sin(angle) ** (d - 3)
        p = p / p.sum()
    h_1, h_2 = h[:, None], h[None, :]
    apart = np.zeros((len(h), len(h)))
    for cosine, weight in zip(c, p, strict=True):
        between = h_1 + h_2 - h_1 * h_2 - cosine * np.sqrt(h_1 * (2 - h_1) * h_2 * (2 - h_2))
        apart += weight * bent(np.maximum(between, 0.0))
    straight = [float(each @ h) for each in (one, two)]
    bends = [float(each @ bent(h)) for each in (one, two)]
    # the linear part of E V_12 / 2: E h_12 = 1 - E t_1 E t_2
    pairs = [
        (x + y - x * y, float(u @ apart @ v))
        for x, y, u, v in ((straight[0], straight[0], one, one), (straight[1], straight[0], two, one))
    ]
    V, V_2 = (s - b / np.pi for s, b in zip(straight, bends, strict=True))
    P, P_2 = (s - b / np.pi for s, b in pairs)
    # the largest terms, linear in h, cancel up to a square
    lead = straight[0] ** 2 / 2 - (bends[0] - pairs[0][1] / 2) / np.pi
    return noise, 2 / (3 * d) * float(lead + noise * (V - V_2 - 1.5 * P + 2 * P_2))


def bent(h: Array) -> Array:
    """sin theta - theta cos theta for cos theta = 1 - h."""
    theta = 2 * np.arcsin(np.sqrt(h / 2))
    square = theta * theta
    near = theta * square * (1 / 3 - square * (1 / 30 - square * (1 / 840 - square / 45360)))
    return np.where(theta < 0.1, near, np.sqrt(h * (2 - h)) - theta * (1 - h))


def many(
    d: int, log_n: float, w: float, rest: float, weights: Array, deficits: Callable[[Array], Array]
) -> tuple[float, float]:
    """E sum a_i^2 and B at L = 1, in logarithms, so that n and d may be very large.

    B belongs to harmonics with these weights. For the rest of the variance, attention averages the harmonics to zero.
    Trapezoidal rules integrate over log h and log lambda, with lambda in units of 1 / (n E g).
    """
    a = (d - 1) / 2
    step = min(0.08, 0.2 / math.sqrt(a))
    peak = math.log(a / w)
    log_h = np.arange(peak - 3 - 36 / a, min(peak + math.log(2 + 90 / a), math.log(1.9)), step)
    h, few = np.exp(log_h), math.exp(-log_n)
    log_g = -w * h
    constant = math.lgamma(2 * a) - 2 * math.lgamma(a) - a * math.log(2)
    log_p = constant + a * log_h + (a - 1) * np.log1p(-h / 2) + math.log(step)
    deficit = deficits(h)
    top = (log_p + log_g).max()
    log_mean = top + math.log(np.exp(log_p + log_g - top).sum())
    v = np.arange(-20.0, 4.6, 0.25)[:, None]
    log_y = v + log_g - log_n - log_mean
    y = np.exp(np.minimum(log_y, 700))
    vanished = np.where(log_y < -30, log_y, np.log(-np.expm1(-np.maximum(y, 1e-14))))
    nE = np.exp(log_n + log_p + vanished).sum(axis=1, keepdims=True)
    log_phi = -nE - few * nE**2 / 2 - few**2 * nE**3 / 3
    once = np.exp(log_p + log_g - log_mean - y)
    twice = np.exp(log_p + 2 * log_g - 2 * log_mean - log_n - y)
    one, two = (0.25 * np.exp(2 * v + (1 - j * few) * log_phi) for j in (1, 2))
    alone, pair = (one * twice).sum(axis=0) @ deficit.T, (two * (once @ deficit.T) ** 2).sum(axis=0)
    noise = float((one * twice).sum())
    return noise, float(weights @ (2 * alone + (1 - few) * pair)) + rest * (1 + noise)


HARMONIC: dict[str, tuple[Callable[[int], float], Callable[[int, Array], Array]]] = {
    "affine": (lambda d: 1 / (3 * d), lambda d, h: h),
    "quadratic": (lambda d: 2 * (d - 1) / (d**2 * (d + 2)), lambda d, h: d / (d - 1) * (2 * h - h**2)),
}
"""The weight k_l of a law with one harmonic, and 1 - P_l at 1 - t = h."""


def one_harmonic(law: str, d: int, log_n: float, w: float) -> tuple[float, float]:
    """The result of `many` for a law with one harmonic."""
    weight, deficit = HARMONIC[law]
    return many(d, log_n, w, 0.0, np.array([weight(d)]), lambda h: deficit(d, h)[None, :])


def centre_and_unit(law: str, d: int) -> tuple[float, float]:
    """log k^{(d-1)/2 + beta} and m k^beta of a law."""
    return next(found for (name, *_), found in CENTRES.items() if name == law)(d)


def every_dimension(law: str, domain: str, centre: str, unit: str, tokens: str, **text: str) -> Iterator[str]:
    """Check w* / kW and the loss divided by m in some dimensions, at the least W and n and at larger ones."""
    k = {key: value(each) for key, each in text.items()}
    if (law, centre, unit) not in CENTRES:
        yield f"{law}: k^((d-1)/2 + beta) = {centre} and m = {unit} are not what is known of it"
        return
    if domain == "over all real w" and not rises(law, 3):
        yield f"{law}: a w < 0 is as good as w > 0, or may be"
    beta = 1.5 if law == "relu" else 2.0
    yield from exponents({"power": beta, "two": 2 * beta - 1, "three": 2 * beta - 1}, k)
    if tokens != ("d/2" if law == "relu" else "(d+1)/2"):
        yield f"{tokens} is not (d-1)/2 + beta - 1"
    for d in DIMENSIONS:
        a = (d - 1) / 2
        root, least = CENTRES[law, centre, unit](d)
        for beyond, more in ((1.0, 1.0), (1.0, 1e4), (BEYOND[1], 1.0)):
            log_W = math.log(max(k["W"], k["per_d"] * d) * beyond)
            log_n = math.log(more) + max(
                math.log(k["K"]) + (a + beta - 1) * log_W, math.log(k["M"]) + a * (math.log(4 / 3) + log_W)
            )
            yield from nearest(law, d, log_n, log_W, root / (a + beta), k, least)


def nearest(
    law: str, d: int, log_n: float, log_W: float, log_k: float, k: dict[str, float], least: float
) -> Iterator[str]:
    """Check w* of one problem in units of k W, and its loss in units of m L^2 / W^beta."""
    beta = 1.5 if law == "relu" else 2.0

    def loss(log_x: float) -> float:
        w = math.exp(log_k + log_W + log_x)
        noise, bias = ramp(d, log_n, w) if law == "relu" else one_harmonic(law, d, log_n, w)
        return (
            (noise * math.exp(log_n - ((d - 1) / 2 + beta) * log_W) + bias) * math.exp(beta * (log_W + log_k)) / least
        )

    places = np.linspace(math.log(0.05), math.log(4), 12)
    at = int(np.argmin([loss(float(x)) for x in places]))
    ends = places[max(at - 1, 0)], places[min(at + 1, len(places) - 1)]
    found = minimize_scalar(loss, bounds=ends, method="bounded", options={"xatol": SLOPE / 10})
    where = f"at d = {d}, W = {math.exp(log_W):.6g}, n = e^{log_n:.6g}: "
    yield from within(where + "w* / kW", k["low"], math.exp(found.x), k["high"], SLOPE)
    error = 1e-5 if law == "relu" else ROUNDING
    yield from within(where + "loss(w*) W^beta / (m L^2)", k["loss_low"], float(found.fun), k["loss_high"], error)


def rises(law: str, d: int) -> bool:
    """True if B(-w) > B(w), that is E sum a_i (K(t_i) - K(-t_i)) > 0, for a small, a middle and a large w."""
    for w in (0.1, 3.0, 50.0):
        degree = degrees(law, w)
        k, mean = spectrum(law, d, degree)[0], averages(d, 9, w, degree)[3]
        odd = np.arange(1, degree + 1) % 2 == 1
        if not float((k * (1 - mean))[odd].sum()) > 1e-12:
            return False
    return True


def transfer(law: str, d: str, domain: str, **text: str) -> Iterator[str]:
    """Check the loss of L' at the w* of L, divided by its loss at its own w*."""
    name, dim, k = named(law), int(d), {key: value(each) for key, each in text.items()}
    a, beta = powers(name, dim)
    yield from exponents({"whole": a + beta, "power": a + max(beta, 1.0) - 1}, k)
    if domain == "over all real w" and not rises(name, dim):
        yield f"{law}: a w < 0 is as good as w > 0, or may be"
    shift = k["rho"] ** (2 / (a + beta))
    W = k["W"] * max(1.0, 1 / shift)
    for n in tokens_from(k["K"] * max(W, shift * W) ** k["power"]):
        square = W ** (a + beta) / n
        w = best(name, dim, n, W)[0]
        other = optimum(name, dim, n, square * k["rho"] ** 2, shift * W / 100, 30 * shift * W)[1]
        noise, bias, *_ = terms(name, dim, n, w)
        found = (noise + square * k["rho"] ** 2 * bias) / other
        yield from within(f"at W = {W:.12g}, n = {n}: worse by", k["low"], found, k["high"], SLOPE)


def every_n(law: str, d: str, domain: str, falls: str | None, **text: str | None) -> Iterator[str]:
    """Check w* for few and many tokens, from little signal up to values where the bias dominates."""
    name, dim, k = named(law), int(d), {key: value(each or "1") for key, each in text.items()}
    a, beta = powers(name, dim)
    yield from exponents({"whole": a + beta, "power": a + beta - 1, "unit": float(UNITS.get(name, 0) * dim)}, k)
    if name not in UNITS:
        yield f"{law}: of other laws nothing is known"
        return
    if domain == "over all real w" and not rises(name, dim):
        yield f"{law}: a w < 0 is as good as w > 0, or may be"

    # both parts of M are equal at this Lambda, and w* / M is least there
    middle = (k["unit"] * k["k"]) ** (k["whole"] / (k["whole"] - 1))
    for n in TOKENS:
        V = (n / k["K"]) ** (1 / k["power"])
        last, top, before = max(n * k["rho"] ** 2, V ** k["whole"]), k["again"] * V, 0.0
        corner = max(k["unit"] * top, V ** k["whole"])  # M is k V there
        more = [1.1 * last, corner, 30 * last] if n < 1000 else [1.1 * last]
        for Lambda in sorted({*last * np.geomspace(1e-4, 1, 9), middle, *more}):
            inside = last * (1 + ROUNDING) > Lambda
            M = min(Lambda / k["unit"], k["k"] * Lambda ** (1 / k["whole"]))
            bound = M if inside else min(M, top)
            where = f"at n = {n}, Lambda = {Lambda:.6g}"
            low, high = k["bound"] * min(M, top), math.inf
            if inside:
                low, high = max(low, k["least"] * M), k["largest"] * M
            w, _ = optimum(name, dim, n, Lambda / n, min(low, bound) / 4, max(4 * bound, 2 * k["largest"] * bound))
            yield from within(f"w* {where}", low, w, high, SLOPE)
            if w < before * (1 - SLOPE):
                yield f"w* falls {where}"
            before = w
            if inside and falls:
                places = 2.0 ** np.arange(math.floor(math.log2(w)) - 7, math.floor(math.log2(w)) + 1)
                biases = [terms(name, dim, n, float(place))[1] for place in (*places, w)]
                if sorted(biases, reverse=True) != biases:
                    yield f"the bias rises before w* = {w:.6g} at n = {n}"


TOKENS: tuple[int, ...] = (2, 3, 5, 10, 20, 255, 256, 1000, 10**5)
"""The numbers of tokens at which a theorem about each of them is evaluated."""
UNITS = {"affine": 3, "relu": 6}
"""1 / (d k_1): with little signal w* is near Lambda k_1."""


class Posed(NamedTuple):
    law: str
    d: int
    n: int
    square: float
    """L^2."""
    noise: float
    """sigma."""

    def loss(self, w: float) -> float:
        N, B, *_ = terms(self.law, self.d, self.n, w)
        return self.noise**2 * N + self.square * B


def one_problem(law: str, d: str, n: str, L: str, sigma: str, says: str) -> Iterator[str]:
    """Check w*, the best scale c*, or the slope of the bias of one problem."""
    posed = Posed(law, int(d), round(Fraction(n)), value(L) ** 2 * scale(law), value(sigma))
    for pattern, check in SAYINGS.items():
        match = re.fullmatch(pattern.replace("#", NUMBER), says)
        if match:
            return check(posed, *(value(each) for each in match.groups() if each))
    raise ValueError(f"no statement that is known: {says}")


def rising(posed: Posed, *printed: float) -> Iterator[str]:
    """Check the slope of the bias between two w, of which each is printed three times."""
    second, first, low, again, once, last, start, high = printed
    if not second == again == last or not first == once == start:
        yield "two different w"
    B, more = (terms(posed.law, posed.d, posed.n, w)[1] for w in (first, second))
    yield from within("the slope", low, math.log(more / B) / math.log(second / first), high, 1e-6)


def falling(posed: Posed, fall: float, stop: float, *again: float) -> Iterator[str]:
    """Check that the bias falls up to a w, below which the loss is least."""
    if {stop} != set(again):
        yield "two different w"
    places = [float(w) for w in np.linspace(0, 2 * stop, 41)]
    slopes = np.diff([posed.square * terms(posed.law, posed.d, posed.n, w)[1] for w in places[:21]]) / (stop / 20)
    yield from within("-B'", fall, float(-slopes.max()), math.inf)
    losses = [posed.loss(w) for w in places]
    if min(losses[20:]) <= min(losses[:20]):
        yield f"the loss is not least below w = {stop:g}"


def least(posed: Posed, low: float = 0.0, high: float = 0.0, *scales: float) -> Iterator[str]:
    """Check that w* is between two w, and there c*, if bounds on it and the variance of an offset are given."""
    inside = min(posed.loss(float(w)) for w in np.linspace(low, max(high, 1e-9), 9))
    outside = [*np.linspace(0, low * (1 - SLOPE), 12)] if low else []
    outside += [*(max(high, 0.05) * (1 + SLOPE) * np.geomspace(1, 20, 25))]
    for w in outside:
        if posed.loss(float(w)) <= inside:
            yield f"at w = {w:.6g} the loss is less than between {low:g} and {high:g}"
    if scales:
        near = [float(w) for w in np.linspace(low, high, 3)]
        at = [w for w in near if abs(posed.loss(w) - inside) < 1e-6 * inside]
        yield from scaled(posed, at, *scales)


def scaled(posed: Posed, at: list[float], low: float, high: float, offset: float) -> Iterator[str]:
    """Check c* - 1 at some w, for a law whose E f^2, which includes the mean, is L^2 / (3d)."""
    if posed.law.partition(":")[0] not in ("affine", "relu"):
        raise ValueError(f"E f^2 is not known: {posed.law}")
    for w in at:
        total, G = posed.loss(w), posed.square * terms(posed.law, posed.d, posed.n, w)[2]
        excess = (G - total) / (total + posed.square / (3 * posed.d) + offset - 2 * G)
        yield from within(f"c* - 1 at w = {w:.6g}", low, excess, high, 1e-6)


SAYINGS: dict[str, Callable[..., Iterator[str]]] = {
    r"\(# / #\)\^# <= B\(#\) / B\(#\) <= \(# / #\)\^#": rising,
    r"B' <= -# at every w from 0 to #, and over w >= 0 every w\* is less than #; for every smaller L / sigma as well "
    r"B' < 0 there, and every w\* is less than #": falling,
    r"over all real w the loss is least at w\* = 0 alone": least,
    r"over w >= 0 the loss has a least value, and # <= w\* <= # for every w\* that attains it"
    r"(?:, where # <= c\* - 1 <= # with an offset of variance #)?": least,
}
"""What is said of one problem, each with the function that checks it; # is a number."""


def circle(n: str, sigma: str, S: str, M: str, others: str, low: str, high: str) -> Iterator[str]:
    """Check the loss of diag(M) on the circle against the least loss of a family of matrices."""
    many, noise = round(Fraction(n)), value(sigma)
    s, m = ([value(each) for each in text.split(", ")] for text in (S, M))

    def loss(one: float, two: float) -> float:
        total, points = 0.0, max(20, round(6 * max(abs(one), abs(two))))
        for j in range(points):
            x = math.cos(math.pi * (j + 0.5) / points), math.sin(math.pi * (j + 0.5) / points)
            y = one * x[0], two * x[1]
            omega = math.hypot(*y)
            e = (y[0] / omega, y[1] / omega) if omega else (1.0, 0.0)
            N, alone, pairs, mean = averages(2, many, omega, 2)
            T = 1 - float(mean[0])
            across = float(alone[1]) / 2
            TT = 1 - 2 * float(mean[0]) + float(pairs[0]) + 2 * float(alone[0]) - across
            along, side = s[0] * e[0] ** 2 + s[1] * e[1] ** 2, s[0] * e[1] ** 2 + s[1] * e[0] ** 2
            cross = s[0] * e[0] * x[0] + s[1] * e[1] * x[1]
            total += TT * along + across * side - 2 * T * cross + s[0] * x[0] ** 2 + s[1] * x[1] ** 2 + noise**2 * N
        return total / points

    bounded = re.fullmatch("diag\\(c, 0\\), \\|c\\| <= " + NUMBER, others)
    stop = value(bounded[1]) if bounded else 30.0

    def family(c: float) -> float:
        return loss(c, 0.0 if bounded else c)

    places = np.linspace(0, stop, 16)
    at = int(np.argmin([family(float(c)) for c in places]))
    ends = places[max(at - 1, 0)], places[min(at + 1, 15)]
    least = float(minimize_scalar(family, bounds=ends, method="bounded", options={"xatol": 1e-4}).fun)
    least = min(least, family(stop)) if bounded else least
    # the midpoint rule is accurate for moments that are smooth in the angle; for a score |x_1| its error is about 1e-5
    yield from within("the gain", value(low) - 2e-5, least - loss(*m), value(high) + 2e-5)


def subspace(d: str, k: str, n: str, sigma: str, C: str, best: str) -> Iterator[str]:
    """Check the loss of C BB^T against that of matrices of many sizes in the ball, at the same pairs of queries."""
    if value(best) != value(C):
        yield f"the matrix {best} BB^T, and not the radius {C}"
    yield from better(int(d), int(k), round(Fraction(n)), value(sigma), value(C), value(best), mixed=True)


def blocks(d: str, whole: str, sigma: str, C: str) -> Iterator[str]:
    """The same for several n, k, sigma and C of the range, among matrices that do not mix."""
    if int(d) != int(whole):
        yield f"every k < {whole} in dimension {d}"
    for many in (2, 12, 60):
        for kept in {1, int(d) - 1}:
            for share in (1.0, 0.3):
                noise, radius = share * value(sigma), share * value(C)
                for text in better(int(d), kept, many, noise, radius, radius, mixed=False):
                    yield f"n = {many}, k = {kept}, sigma = {noise:g}, C = {radius:g}: {text}"


def better(dim: int, kept: int, many: int, noise: float, radius: float, best: float, *, mixed: bool) -> Iterator[str]:
    """Matrices in the ball with a smaller loss than `best` BB^T; they mix the two spaces only if `mixed`."""
    moments, last = output_moments(dim, many)
    rng = np.random.default_rng(32)
    x = rng.standard_normal((4000, dim))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    x = np.concatenate([x, x * np.where(np.arange(dim) < kept, 1, -1)])

    def losses(M: Array) -> Array:
        """k times the loss at each pair of queries."""
        y = x @ M.T
        size = np.linalg.norm(y, axis=1)
        first, square, across, N = moments(np.minimum(size, last)).T
        e = y[:, :kept] / np.maximum(size, 1e-12)[:, None]
        z, part = x[:, :kept], (e**2).sum(axis=1)
        total = (z**2).sum(axis=1) - 2 * first * (e * z).sum(axis=1) + kept * across + (square - across) * part
        return (total + kept * noise**2 * N).reshape(2, -1).mean(axis=0)

    P = np.diag(np.arange(dim) < kept).astype(float)
    others = [c * radius * P for c in (-1, 0, 0.5, 0.8, 0.9, 0.95)]
    others += [radius * P + c * (np.eye(dim) - P) for c in (-3, -0.3, 0.1, 0.3, 1, 3, 10, 40)]
    for size in (0.1, 0.3, 1, 3, 10):
        for _ in range(8):
            M = size * rng.standard_normal((dim, dim))
            M = M if rng.random() < 0.3 else (M + M.T) / 2
            if not mixed:
                M[:kept, kept:] = 0
            inner = np.linalg.norm(M[:kept, :kept], 2)
            M[:kept, :kept] *= radius * rng.choice((0.5, 1)) / max(inner, 1e-9)
            others += [M, np.where(P @ np.ones((dim, dim)) @ P > 0, best * P, M)]
    least = losses(best * P)
    for M in others:
        more = losses(M) - least
        if not more.mean() > -INTERPOLATED - 4 * more.std() / math.sqrt(more.size):
            yield f"the loss of {np.round(M, 3).tolist()} is less by {-more.mean():.3g}"


@lru_cache(maxsize=16)
def output_moments(dim: int, many: int) -> tuple[CubicSpline, float]:
    """E T, E T^2, the variance across and E sum a_i^2 as functions of |M x|, and the last place."""
    omega = np.concatenate([np.linspace(0, 8, 33), np.geomspace(8.6, 40, 16)])
    table = []
    for w in omega:
        N, alone, pairs, mean = averages(dim, many, float(w), 2)
        across = float(alone[1]) / dim
        square = 1 - 2 * float(mean[0]) + float(pairs[0]) + 2 * float(alone[0]) - (dim - 1) * across
        table.append((1 - float(mean[0]), square, across, float(N)))
    return CubicSpline(omega, np.array(table)), float(omega[-1])


def ridge(K: str, level: str, one: str, two: str, d: str, first: str, n: str) -> Iterator[str]:
    """Check n E |w - w_ridge|^2 / d by exact moments for d = 1 and 2, and by its limit for larger d."""
    from lipverify.checks.linear_transformers.two_levels import TwoLevels, difference, leading_square

    model, dim, many = TwoLevels(value(one), value(two)), int(d), round(Fraction(n))
    sigma = value(one) if level == "1" else value(two)
    found = leading_square(model, dim, sigma)
    if dim <= 2 and 20 * dim < many < 10**12:
        order = "yx-yy" if first == "yx" else "yy-yx"
        exact = difference(dim, many, sigma, -model.c, model.v / many, order)
        found = many * exact.square
    yield from within("n E |w - w_ridge|^2 / d", 0.0, found, value(K), 1e-6)


def layers(C: str) -> Iterator[str]:
    """Check the number of layers by counts in ball arithmetic."""
    from lipverify.checks.linear_transformers.condition_numbers import MINIMAX
    from lipverify.checks.linear_transformers.layer_counts import layers_needed

    for kappa in (1.5, 10.0, 1e3, 1e6):
        for decades in (1, 3, 10, 100):
            needed = layers_needed(MINIMAX, kappa, decades)
            most = math.log(kappa) / math.log(27 / 4) + math.log2(decades * math.log(10)) + value(C)
            yield from within(f"layers at kappa = {kappa:g}, 10^-{decades}", 0, needed, most)


def cosine(offset: str, low: str) -> Iterator[str]:
    """Check n E cos^2 at several n, and its limit."""
    from lipverify.checks.linear_transformers.cosines import mean_square_cosine

    for d in (1, 2, 10):
        for n in (10, 1000, 10**7):
            found = n * mean_square_cosine(d, n).value
            yield from within(f"n E cos^2 at d = {d}, n = {n}", 0, found, d + value(offset), 1e-9)
        yield from within(f"the limit at d = {d}", d + value(low), found, math.inf, 1e-5)


NOISE = "{} <= n N / \\(sigma\\^2 w\\^{}\\) <= {} and {} <= w\\^{} B / L\\^2 <= {}(?: \\+ {} / w\\^{})?"
FREE = "for all n and all (?:L, )?sigma > 0"
BEST = "(?P<domain>over all real w|over w >= 0) the loss has a least value, and "
PATTERNS: list[tuple[str, Callable[..., Iterator[str]]]] = [
    (
        HEAD
        + (NOISE + " \\+ {} w\\^{} / n, for all w >= {} and all n >= {} w\\^{}").format(
            *g("c_low", "a", "c_high", "b_low", "beta", "b_high", "b_next", "next", "s", "spread", "u", "K", "a2")
        ),
        envelope,
    ),
    (
        HEAD
        + (
            "{} <= N\\(rho w\\) / N\\(w\\) <= {} and {} <= B\\(rho w\\) / B\\(w\\) <= {}, rho = {}, for all w >= {} "
            "and all n >= {} \\(rho w\\)\\^{}"
        ).format(*g("rise_low", "rise_high", "fall_low", "fall_high", "rho", "u", "K", "power")),
        tradeoff,
    ),
    (
        HEAD
        + BEST
        + (
            "every w\\* that attains it has {} W < w\\* < {} W and {} <= loss\\(w\\*\\) W\\^{} / L\\^2 <= {}, W = "
            "\\(n L\\^2 / sigma\\^2\\)\\^\\(1/{}\\), " + FREE + " with W >= {} and n >= {} W\\^{}; as W and n / W\\^{} "
            "grow, w\\* / W tends to a number between {} and {}; (?P<terms>.*)"
        ).format(
            *g("low", "high", "loss_low", "beta", "loss_high", "whole", "W", "K", "power", "grow"),
            *g("limit_low", "limit_high"),
        ),
        window,
    ),
    (
        HEAD
        + BEST
        + (
            "every w\\* that attains it has {} M <= w\\* <= {} M, M = min\\(Lambda / {}, {} W\\), W = "
            "Lambda\\^\\(1/{}\\), Lambda = n L\\^2 / sigma\\^2, for all n >= 2 and all L, sigma > 0 with L <= (?:{} )?"
            "sigma or W <= V, V = \\(n / {}\\)\\^\\(1/{}\\)(?P<falls>, where the bias falls from w = 0 to w\\*)?; for "
            "all n >= 2 and all L, sigma > 0 every w\\* that attains a least value is at least {} min\\(M, {} V\\), "
            "and at least every w\\* for the same n and less L / sigma; at n = 1 the loss is the same at all w"
        ).format(*g("least", "largest", "unit", "k", "whole", "rho", "K", "power", "bound", "again")),
        every_n,
    ),
    (
        HEAD
        + BEST
        + (
            "{} <= loss'\\(w\\*\\(L\\)\\) / loss'\\(w\\*\\(L'\\)\\) <= {} for all w\\* that attain it and the loss' of "
            "L' = {} L, W = \\(n L\\^2 / sigma\\^2\\)\\^\\(1/{}\\), " + FREE + " where W >= {} and n >= {} W\\^{}, for "
            "L and for L' alike"
        ).format(*g("low", "high", "rho", "whole", "W", "K", "power")),
        transfer,
    ),
    (
        "(?P<law>\\S+), d = (?P<d>\\d+), n = (?P<n>[\\d.e+]+), L = {}, sigma = {}: (?P<says>.*)".format(
            *g("L", "sigma")
        ),
        one_problem,
    ),
    (
        "d = 2, n = (?P<n>[\\d.e+]+), sigma = {}, S = diag\\((?P<S>[^()]*)\\): the loss of diag\\((?P<M>[^()]*)\\) is "
        "less than that of every (?P<others>.*): than the least of them by {} to {}".format(*g("sigma", "low", "high")),
        circle,
    ),
    (
        "d = (?P<d>\\d+), k = (?P<k>\\d+), n = (?P<n>[\\d.e+]+), sigma = {}: of all M with \\|\\|B\\^T M B\\|\\| <= {} "
        "the loss is least at M = {} BB\\^T alone".format(*g("sigma", "C", "best")),
        subspace,
    ),
    (
        (
            "d = (?P<d>\\d+): for all n >= 2, all k < (?P<whole>\\d+), (?:0 <= sigma <=|sigma =) {} and 0 < C <= {}, "
            "of all M with \\|\\|B\\^T M B\\|\\| <= C and B\\^T M B' = 0 the loss is least at M = C BB\\^T alone"
        ).format(*g("sigma", "C")),
        blocks,
    ),
    (
        "E \\|w - w_ridge\\|\\^2 / d <= {} / n at sigma_(?P<level>[12]) of \\({}, {}\\), d = (?P<d>\\d+), "
        "(?P<first>yx|yy) first, for all n >= (?P<n>[\\d.e+]+)".format(*g("K", "one", "two")),
        ridge,
    ),
    (
        "at most log\\(kappa\\) / log\\(27/4\\) \\+ log_2 log\\(1/epsilon\\) \\+ {} layers reach epsilon, for all "
        "kappa >= 1 and 0 < epsilon <= 1/2".format(*g("C")),
        layers,
    ),
    (
        "n E cos\\^2 <= d \\+ {} for all n >= 1 and d >= 1, and as n grows its limit is at least d \\+ {} for every "
        "d".format(*g("offset", "low")),
        cosine,
    ),
    (
        "(?P<law>\\w+), every d >= 2: "
        + BEST
        + (
            "every w\\* that attains it has {} k W < w\\* < {} k W and {} m <= loss\\(w\\*\\) W\\^{} / L\\^2 <= {} m, "
            "W = \\(n L\\^2 / sigma\\^2\\)\\^\\(2/\\(d\\+{}\\)\\), k\\^\\(\\(d\\+{}\\)/2\\) = (?P<centre>[^=]*), m = "
            "(?P<unit>[^=,]*), for all n and all L, sigma > 0 with W >= {}, W >= {} d, n >= {} "
            "W\\^\\((?P<tokens>[^ ]*)\\) and n >= {} \\(4/3\\)\\^\\(\\(d-1\\)/2\\) W\\^\\(\\(d-1\\)/2\\)"
        ).format(*g("low", "high", "loss_low", "power", "loss_high", "two", "three", "W", "per_d", "K", "M")),
        every_dimension,
    ),
]
"""The patterns of statements, each with the function that checks it."""
