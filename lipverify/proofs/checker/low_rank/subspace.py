r"""Tasks that depend on a few directions: of all M with ||B^T M B||_2 <= C, C BB^T alone has the least loss.

Tokens and query are uniform on S^{d-1}, f(x) = a^T B^T x with E a a^T = I / k, and B has k < d orthonormal columns. At
a query x = B z + B' v let w = M x, omega = |w|, p = B^T w. Tokens may be rotated about w. So with t_i, the coordinates
of the tokens along w, T = sum a_i t_i and y_i = (1 - t_i^2) / (d - 1), and

    F = E T,    alpha = E T^2,    beta = E sum a_i^2 y_i,    N = E sum a_i^2,

k times the loss at x is |z|^2 - 2 <p, z> F / omega + k beta + (alpha - beta) |p|^2 / omega^2 + k sigma^2 N. With

    h = F / omega,    gamma = (alpha - beta) / omega^2,    e = k (beta + sigma^2 N - those at 0) / omega^2,

it is that at M = 0 plus V |z|^2, where r = omega / |z| and p' is the coordinate of p along z divided by |z|:

    V = -2 h p' + gamma p'^2 + e r^2 at least, with equality if p is a multiple of z.

At C BB^T p' = r = C: V = g(C), g(r) = -2 h r + f r^2, f = gamma + e, with h and f at omega = r |z|. Let lambda_1 =
g'(C) < 0, lambda_0 = g(C) - C lambda_1, and K = V - lambda_0 - lambda_1 p'.

**Two queries at once.** At B z + B' v and B z - B' v the two p' have the mean <M_1 z, z> / |z|^2 <= C, M_1 = B^T M B.
If both p' >= 0, and K >= 0 there, then the mean of the two V is at least lambda_0 + lambda_1 C = g(C). If one p' is
negative, its V >= 0, as h, gamma and e are; the other V is at least -h^2 / f, and more than 2 g(C) if h^2 / f < -2
g(C). So the mean loss at these two queries is at least that of C BB^T. It is equal only if p = C z and omega = C |z| at
both (K = 0 there alone), and for almost all z and v only if M = C BB^T.

**Identities.** A rotation of one token in the plane of w and a direction across gives F = omega (E sum a_i y_i - beta).
The slope of E sum a_i t_i^2 is E sum_{i<j} a_i a_j (t_i - t_j)^2 (t_i + t_j); the factors a_i a_j are 1 / (2 cosh(omega
(t_i - t_j) / 2) + R e^{-omega (t_i + t_j) / 2})^2, R >= 0 from the other tokens. They rise in t_i + t_j, whose law is
symmetric. So E sum a_i t_i^2 rises, and E sum a_i y_i falls to E (1 - t^2) / (d - 1), t the largest of the t_i. F' = E
sum a_i (t_i - T)^2 >= 0: F rises to E t. alpha' = 2 E T sum a_i (t_i - T)^2 >= -2 F', and alpha = E sum a_i t_i^2 - F',
where F' is at most E sum a_i (t_i - t)^2 <= (n - 1) max_x x^2 e^{-omega x} = 4 (n - 1) / (e omega)^2. N' = 2 E sum
a_i^2 (t_i - T) >= 0, by Chebyshev's inequality for sums.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise, starmap
from typing import Any

from flint import acb, arb

from ..kernel import form
from ..kernel.contexts import STRIP, Averages, averages
from ..kernel.curves import Curve, combined, even_curves, remembered
from ..kernel.form import Ball, Known, Obligations, least, most, size

CURVES = ("d", "k", "n", "sigma", "near")
"""The facts on which h, gamma and e depend."""


@dataclass(frozen=True)
class Line:
    """For |z| from `low` to `high`: lambda_0, lambda_1 and g(C)."""

    low: Ball
    high: Ball
    start: Ball
    slope: Ball
    level: Ball


@remembered(*CURVES)
def loss(k: Known) -> list[Curve]:
    """h, gamma and e for omega up to near."""
    d, known, n, noise = k["d"], k["k"], k["n"], k["sigma"] ** 2

    def values(omega: Ball) -> tuple[Ball, ...]:
        means = averages(d, n, omega, (1, 2), 36.0)  # more exact than elsewhere, as slopes of the curves are taken
        beta, square = means.alone[2] / d, omega**2  # y = (1 - P_2) / d
        alpha = moment(means, (d - 1) * beta)
        spread = beta - arb(1) / (d * n) + noise * (means.noise - arb(1) / n)
        return (1 - means.mean[1]) / omega, (alpha - beta) / square, known * spread / square

    # in the strip |T| <= 1 / cos b, sum |a_i|^2 <= 1 / cos(b)^2; on its edges |omega| >= b
    c, b = arb(STRIP).cos(), arb(STRIP)
    bounds = [1 / (c * b), 2 / (c * b) ** 2, known * (1 + noise) * (1 + 1 / c**2) / b**2]
    # a little farther, because bounds over a part are wide next to the ends of a curve
    return even_curves(values, bounds, k["near"] * 9 / 8, 1e-15)


def moment(means: Averages, rest: Ball) -> Ball:
    """alpha = E T^2, from T = 1 - sum a_i h_i and h_i^2 = 2 h_i - (1 - t_i^2), where rest = E sum a_i^2 (1 - t_i^2)."""
    return 1 - 2 * means.mean[1] + means.pairs[1] + 2 * means.alone[1] - rest


@dataclass(frozen=True)
class Part:
    """h, gamma and e, and their slopes, for omega from `low` to `high`."""

    low: Ball
    high: Ball
    omega: Ball
    h: tuple[Ball, ...]
    gamma: tuple[Ball, ...]
    e: tuple[Ball, ...]


def parts(curves: list[Curve], end: Ball, orders: int) -> list[Part]:
    """All omega from 0 to some end, in parts."""
    columns = [[curve, *(curve.slope(order) for order in range(1, orders + 1))] for curve in curves]
    edges = [end * j / 96 for j in range(97)]
    s = curves[0].inner(edges)
    rows = (zip(*(starmap(arb.union, curve.between(s)) for curve in column), strict=True) for column in columns)
    return [
        Part(low, high, low.union(high), *balls) for (low, high), *balls in zip(pairwise(edges), *rows, strict=True)
    ]


@remembered(*CURVES, "C")
def lines(k: Known) -> list[Line]:
    """All |z| from 0 to 1 in parts."""
    c, pieces = k["C"], []
    for part in parts(loss(k), c, 1):
        omega, (h, dh) = part.omega, part.h
        f, df = (x + y for x, y in zip(part.gamma, part.e, strict=True))
        slope = -2 * (h + omega * dh) + c * (2 * f + omega * df)
        start = 2 * c * omega * dh - c**2 * (f + omega * df)
        pieces.append(Line(part.low / c, part.high / c, start, slope, f * c**2 - 2 * h * c))
    return pieces


def descent(k: Known) -> Obligations:
    """At every |z| lambda_1 <= -fall and g(C) <= -level, and lambda_0 < 0.

    Because h, gamma and e are curves up to omega = near >= C, with slopes.
    """
    all_lines = lines(k)
    return {
        "fall": most(reduce(arb.min, [(-line.slope).lower() for line in all_lines])),
        "level": most(reduce(arb.min, [(-line.level).lower() for line in all_lines])),
    }, {
        "lambda_0 < 0": all(line.start < 0 for line in all_lines),
        "C <= near": bool(k["C"] <= k["near"]),
    }


def across(k: Known) -> Obligations:
    """With p fixed, 0 <= p' <= reach, V rises in the part of M x across B, up to omega = near.

    Because the slope of V |z|^2 in omega is e's, (e omega^2)' > 0, plus p' |z|^2 (-2 h' + gamma' p'), where h' < 0 and
    gamma' reach > 2 h'; at omega = 0 h' = gamma' = 0, and on the first part the same of h'' and gamma'' is enough.
    """
    pieces = parts(loss(k), k["near"], 1)
    h, gamma, _ = loss(k)
    rising = [combined([(arb(-1), h)]), combined([(k["reach"], gamma), (arb(-2), h)])]
    slopes = {order: [curve.slope(order) for curve in rising] for order in (1, 2)}
    return {}, {
        "reach >= C": bool(k["reach"] >= k["C"]),
        "reach <= near": bool(k["reach"] <= k["near"]),
        "e omega^2 rises": all(2 * part.e[0] + part.omega * part.e[1] > 0 for part in pieces),
        "h falls, and gamma slowly": all(
            curve.over(part.low, part.high) > 0 for i, part in enumerate(pieces) for curve in slopes[2 if i == 0 else 1]
        ),
    }


def along(k: Known) -> Obligations:
    """For r <= reach g is strictly convex: where p' <= reach and omega <= near, K >= 0, and K = 0 at p' = r = C alone.

    Because g'' = -2 |z| (2 h' + omega h'') + 2 f + 4 omega f' + omega^2 f'' > 0 at both ends of |z|, 1 and omega /
    reach, and g then lies above its tangent at C.
    """
    convex = True
    for part in parts(loss(k), k["reach"], 2):
        (_, dh, ddh), omega = part.h, part.omega
        f, df, ddf = (x + y for x, y in zip(part.gamma, part.e, strict=True))
        linear, rest = -2 * (2 * dh + omega * ddh), 2 * f + 4 * omega * df + omega**2 * ddf
        convex &= bool(linear + rest > 0 and linear * omega / k["reach"] + rest > 0)
    return {}, {"g is convex": convex}


def beyond(k: Known) -> Obligations:
    """K > 0 where p' >= reach and omega <= near, and up to there h, gamma and e are positive.

    Because V >= -2 h p' + f p'^2, and so K is at least a quadratic polynomial in p' with known coefficients.
    """
    pieces = parts(loss(k), k["near"], 0)
    return {}, {
        "h, gamma and e are positive": all(part.h[0] > 0 and part.gamma[0] > 0 and part.e[0] > 0 for part in pieces),
        "K > 0": all(
            past(part, line, k["C"], k["reach"])
            for part in pieces
            for line in lines(k)
            if not part.high < k["reach"] * line.low
        ),
    }


def past(part: Part, line: Line, C: Ball, reach: Ball) -> bool:
    """Whether K > 0 for p' >= reach: it is at least f p'^2 - 2 h p' - g(C) - lambda_1 (p' - C), as r >= p'."""
    f, falls = part.gamma[0] + part.e[0], 2 * part.h[0] + line.slope
    return bool(
        falls <= 0
        or -4 * f * line.start > falls**2
        or (2 * f * reach >= falls and (f * reach - 2 * part.h[0]) * reach - line.level - line.slope * (reach - C) > 0)
    )


def positive(spread: Ball, twice: Ball, share: Ball, omega: Ball, line: Line) -> bool:
    """Whether spread - lambda_0 z^2 - (twice + lambda_1 omega) z x + share x^2 > 0 for 0 <= x <= 1.

    It is given that spread and share are positive, and lambda_0 and lambda_1 negative.
    """
    falls, z = twice + line.slope * omega, line.low.union(line.high)
    if falls <= 0 or -4 * share * line.start > falls**2:
        return True
    whole, falls = spread - line.start * z**2, falls * z
    return bool(4 * whole * share > falls**2 or (falls >= 2 * share and whole - falls + share > 0))


def largest(d: int, n: int) -> tuple[Ball, Ball]:
    """E t and E (1 - t^2) / (d - 1), t the largest of n coordinates.

    With theta the least of the angles, each of which is at most theta with probability G, E cos theta = 1 - int sin
    theta (1 - G)^n and E sin^2 theta = int sin(2 theta) (1 - G)^n.
    """

    def power(m: int, theta: Any) -> Any:
        """The integral of sin^m from 0 to theta."""
        if m < 2:
            return 1 - theta.cos() if m else theta
        return ((m - 1) * power(m - 2, theta) - theta.cos() * theta.sin() ** (m - 1)) / m

    whole = power(d - 2, acb(arb.pi()))

    def mean(factor: Any) -> Ball:
        return acb.integral(
            lambda theta, _: factor(theta) * (1 - power(d - 2, theta) / whole) ** n, acb(0), acb(arb.pi())
        ).real

    return 1 - mean(lambda theta: theta.sin()), mean(lambda theta: (2 * theta).sin()) / (d - 1)


@dataclass(frozen=True)
class Bounded:
    """From omega on, up to the next part or for ever: F at most; alpha, beta - beta(0) and N - N(0) at least."""

    omega: Ball
    F: Ball
    alpha: Ball
    beta: Ball
    noise: Ball


@remembered("d", "n", "near")
def rungs(k: Known) -> list[Bounded]:
    """All omega >= near, in parts."""
    d, n, low = k["d"], k["n"], k["near"]

    def at(omega: Ball) -> tuple[Ball, Ball, Ball, Ball]:
        """F, E sum a_i y_i, alpha and N - N(0)."""
        mean = averages(d, n, omega, (1, 2))
        return 1 - mean.mean[1], mean.mean[2] / d, moment(mean, (d - 1) * mean.alone[2] / d), mean.noise - arb(1) / n

    def between(low: Ball, first: tuple[Ball, ...], last: tuple[Ball, ...]) -> Bounded:
        F, across, alpha, noise = first
        gathered = 1 - (d - 1) * across - 4 * (n - 1) / (arb(1).exp() * low) ** 2
        alpha = (F**2).max(alpha - 2 * (last[0] - F)).max(gathered)
        return Bounded(low, last[0], alpha, last[1] - last[0] / low - arb(1) / (d * n), noise)

    parts: list[Bounded] = []
    limits, now = largest(d, n), at(low)
    while low <= 200:
        rest = between(low, now, limits)
        if rest.beta > 0 and low > 15:
            return [*parts, rest]
        high = (low * (1 + (low / (16 * n)).min(arb(1) / 32))).mid()
        then = at(high)
        parts.append(between(low, now, then))
        if not parts[-1].beta > 0:
            break  # no later part would change that
        low, now = high, then
    raise ValueError(f"n = {n}: from omega = {low.str(6, radius=False)} on it is not certain that beta > beta(0)")


def ladder(k: Known) -> list[tuple[Bounded, Ball, Ball]]:
    """`rungs`, with lower bounds of e omega^2 and gamma omega^2."""
    known, noise, start = k["k"], k["sigma"] ** 2, arb(1) / (k["d"] * k["n"])
    return [(part, known * (part.beta + noise * part.noise), part.alpha - part.beta - start) for part in rungs(k)]


def far(k: Known) -> Obligations:
    """Where omega >= near: K > 0 if p' >= 0, and V >= 0 if p' < 0.

    Because with x = p' |z| / omega V |z|^2 is at least -2 F x |z| + alpha x^2 + beta (k - x^2) - k / (d n) + k sigma^2
    (N - 1/n). This rises in alpha, beta and N, and falls in F if x >= 0. On each part F is at most its value at the
    end; N is at least its value at the beginning, beta at least E sum a_i y_i at the end less F / omega, and alpha at
    least F^2 and alpha less twice the rise of F and E sum a_i t_i^2 - F', all at the beginning. The last part ends at
    infinity.
    """
    steps = ladder(k)
    return {}, {
        "e > 0": all(spread > 0 for _, spread, _ in steps),
        "alpha > beta": all(share > 0 for *_, share in steps),
        "K > 0": all(
            positive(spread, 2 * part.F, share, part.omega, line) for part, spread, share in steps for line in lines(k)
        ),
    }


def half(k: Known) -> Obligations:
    """Wherever p' >= 0, V >= -share.

    Because V >= -2 h p' + f p'^2 >= -h^2 / f, as r >= p'; beyond near from the same bounds.
    """
    shares = [part.h[0] ** 2 / (part.gamma[0] + part.e[0]) for part in parts(loss(k), k["near"], 0)]
    shares += [part.F**2 / (spread + share) for part, spread, share in ladder(k)]
    return {"share": least(reduce(arb.max, [share.upper() for share in shares]))}, {}


def least_loss(k: Known) -> Obligations:
    """The loss of M is more than that of C BB^T unless M = C BB^T.

    Because K >= 0, and V > 2 g(C) wherever p' >= 0: share < 2 level.
    """
    return {}, {"share < 2 level": bool(k["share"] < 2 * k["level"])}


LEMMAS = {"14.1": descent, "14.2": across, "14.3": along, "14.4": beyond, "14.5": far, "14.6": half, "14.7": least_loss}
THEOREMS = {"aligned": (descent, across, along, beyond, far, half, least_loss)}


def about(stated: Mapping[str, Any]) -> dict[str, Any]:
    k = form.exactly("given", stated["given"], ("d", "k", "n", "sigma", "C"))
    d = size("d", k["d"], 2, 20)
    subject: dict[str, Any] = {"d": d, "k": size("k", k["k"], 1, d - 1), "n": size("n", k["n"], 2, 10**6)}
    subject |= {"sigma": form.number(k["sigma"]), "C": form.number(k["C"])}
    if not 0 <= subject["sigma"] <= 20 or not 0 < subject["C"] <= 20:  # the time of a check is bounded
        raise form.Malformed(f"{k}: 0 <= sigma and 0 < C, both at most 20")
    return subject


def sentence(proof: form.Proof) -> form.Sentence:
    k = {name: form.shown(value) for name, value in proof.about.items()}
    about, M = tuple(f"{name} = {value}" for name, value in k.items()), f"||B^T M B|| <= {k['C']}"
    text = f"{', '.join(about[:-1])}: of all M with {M} the loss is least at M = {k['C']} BB^T alone"
    return form.Sentence(text, form.BEST, (*about, M))


KIND = form.Kind(
    chain=lambda proof: [(rule, 0) for rule in THEOREMS[proof.theorem]],
    about=about,
    sentence=sentence,
    chosen={descent: ("near",), across: ("reach",)},
)
