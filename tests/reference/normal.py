r"""Slow references for covariates N(0, I), L = 1 and sigma = 1; they know nothing of the library under test.

`two_tokens` integrates the definition for n = 2 in mpmath, without a Laplace integral. With z_i = <x_i, x> / r,
D = (z_1 - z_2) / sqrt(2) and S = (z_1 + z_2) / sqrt(2), the weights are (1 +- T) / 2, T = tanh(w r D / sqrt(2)), and
all else is a polynomial in S and in the coordinates of tokens off the query, whose moments are known.

`many_tokens` does it for any n in long doubles, without a Laplace integral: S = sum_i e^{w r z_i} of a + b tokens is
the sum of two independent ones, and the density of log S a convolution. One token, or two, and the density of all
others give the means of a_i^p g(z_i) and of a_i a_j m(z_i) m(z_j).

`one_token` is the limit w -> infinity, where the token with the largest score has all weight.

`python -m tests.reference.normal` writes normal.json: each value with the relative difference of two computations.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from mpmath import mp, mpf
from scipy.special import erf

from tests.reference.oracle import nodes, require_precision

VALUES = Path(__file__).with_name("normal.json")
TWO = [(1, 0.3), (2, 1e-6), (5, 3.0)]
MANY = [(2, 2, 0.5), (2, 3, 0.5), (5, 4, 0.3)]
Number = Any
Extended = np.longdouble


def length_density(d: int, r: Number) -> Number:
    """The density of |x|."""
    return 2 ** (1 - mpf(d) / 2) / mp.gamma(mpf(d) / 2) * r ** (d - 1) * mp.exp(-r * r / 2)


def two_tokens(d: int, w: Number, order: int = 16) -> dict[str, Number]:
    """Noise, and the biases of the affine and the quadratic law, for n = 2."""
    require_precision()
    w = mpf(w)

    def given(r: Number) -> list[Number]:
        kappa = w * r
        # T is steep near 0 and then 1 to e^-80
        ends = sorted({mpf(0), *(x for x in (1 / kappa, 5 / kappa, 30 / kappa) if x < 12), mpf(1), mpf(4), mpf(12)})
        rule = [node for start, end in pairwise(ends) for node in nodes([start, end], order + 4)]
        T = [mp.tanh(kappa * D / mp.sqrt(2)) for D, _ in rule]
        density = [2 * weight * mp.npdf(D) for D, weight in rule]

        def mean(p: int, k: int) -> Number:
            """E T^p D^k, D ~ N(0, 1)."""
            return mp.fsum(t**p * D**k * weight for t, (D, _), weight in zip(T, rule, density, strict=True))

        noise = (1 + mean(2, 0)) / 2
        # sum a z = (S + T D) / sqrt(2)
        along = (1 + mean(2, 2)) / 2 - 2 * r * mean(1, 1) / mp.sqrt(2) + r * r
        affine = (along + (d - 1) * noise) / (3 * d)
        quadratic = mp.mpf(0)
        for (p, j, k), coefficient in squared_error(d, r).items():
            if (p + k) % 2 == 0 and j % 2 == 0:
                quadratic += coefficient * (mp.fac2(j - 1) if j else 1) * mean(p, k)
        return [noise, affine, quadratic / (d * (d + 2))]

    edge = mp.sqrt(d)
    ends = [mpf(0), edge / 4, edge / 2 + 1, edge + 2, edge + 5, edge + 12]
    totals = [mpf(0)] * 3
    for r, weight in nodes(ends, order):
        totals = [total + weight * length_density(d, r) * value for total, value in zip(totals, given(r), strict=True)]
    return dict(zip(("noise", "affine", "quadratic"), totals, strict=True))


def squared_error(d: int, r: Number) -> dict[tuple[int, int, int], Number]:
    """d (d + 2) E_q (sum a_i <q, x_i>^2 - <q, x>^2)^2, averaged off the query: coefficients of T^p S^j D^k.

    E <q, a>^2 <q, b>^2 = (|a|^2 |b|^2 + 2 <a, b>^2) / (d (d + 2)), and off the query |v|^2 has the mean d - 1 and the
    mean square (d - 1)(d + 1), and <v_1, v_2>^2 the mean d - 1.
    """
    half, off = mpf(1) / 2, mpf(d - 1)
    z = [{(0, 1, 0): mp.sqrt(half), (0, 0, 1): sign * mp.sqrt(half)} for sign in (1, -1)]
    a = [{(0, 0, 0): half, (1, 0, 0): sign * half} for sign in (1, -1)]
    squares = [_product(of, of) for of in z]
    total: dict[tuple[int, int, int], Number] = {(0, 0, 0): 3 * r**4}
    for i in (0, 1):
        fourth = _sum(_product(squares[i], squares[i]), _scaled(squares[i], 2 * off), {(0, 0, 0): off * (off + 2)})
        with_query = _sum(_scaled(squares[i], mpf(3)), {(0, 0, 0): off})
        own = _scaled(_product(_product(a[i], a[i]), fourth), mpf(3))
        total = _sum(total, own, _scaled(_product(a[i], with_query), -2 * r * r))
    cross = _product(z[0], z[1])
    pair = _sum(_scaled(_product(cross, cross), mpf(3)), _scaled(_sum(*squares), off), {(0, 0, 0): off * off + 2 * off})
    return _sum(total, _scaled(_product(_product(a[0], a[1]), pair), mpf(2)))


def _product(p: dict[Any, Number], q: dict[Any, Number]) -> dict[Any, Number]:
    result: dict[Any, Number] = {}
    for i, x in p.items():
        for j, y in q.items():
            key = tuple(a + b for a, b in zip(i, j, strict=True))
            result[key] = result.get(key, mpf(0)) + x * y
    return result


def _sum(*parts: dict[Any, Number]) -> dict[Any, Number]:
    return {key: mp.fsum(other.get(key, 0) for other in parts) for part in parts for key in part}


def _scaled(p: dict[Any, Number], factor: Number) -> dict[Any, Number]:
    return {key: factor * value for key, value in p.items()}


class Rest(NamedTuple):
    """log sum e^{kappa z_i} of some tokens: equidistant points and the density there; no points for no tokens."""

    points: Any
    density: Any


def rest(n: int, kappa: float, width: float) -> Rest:
    """The density for n tokens: of the halves, f(l) = int f_a(l - log(1 + e^-D)) f_b(l - log(1 + e^D)) dD."""
    if n == 0:
        return Rest(np.array([-np.inf], dtype=Extended), np.ones(1, dtype=Extended))
    step = Extended(min(width * kappa, 0.8 * width))
    low, high = -10 * kappa, 10 * kappa + np.log(n)
    points = step * np.arange(np.floor(low / step), np.ceil(high / step) + 1)
    known = {1: np.exp(-((points / kappa) ** 2) / 2) / np.sqrt(2 * Extended(mp.pi)) / kappa}

    def density(m: int) -> Any:
        if m not in known:
            pair, total = (density(m // 2), density(m - m // 2)), 0 * points
            for D in step * np.arange(-points.size, points.size + 1):
                total += moved(pair[0], np.logaddexp(0, -D) / step) * moved(pair[1], np.logaddexp(0, D) / step) * step
            known[m] = total
        return known[m]

    return Rest(points, density(n))


def moved(f: Any, steps: Any) -> Any:
    """f(l - steps) at the points, by its Whittaker-Shannon series: f has hardly any frequencies beyond 1 / (2 step)."""
    return np.convolve(f, np.sinc(np.arange(1 - f.size, f.size) - steps), mode="valid")


def panels(ends: Sequence[float], order: int) -> tuple[Any, Any]:
    """Gauss-Legendre nodes and weights between consecutive ends."""
    x, weight = (np.asarray(part, dtype=Extended) for part in np.polynomial.legendre.leggauss(order))
    start, length = np.array(ends[:-1], dtype=Extended)[:, None], np.diff(np.array(ends, dtype=Extended))[:, None]
    return (start + length * (1 + x) / 2).ravel(), (length * weight / 2).ravel()


def many_tokens(d: int, n: int, w: float, lengths: int, order: int, width: float) -> dict[str, float]:
    """Noise and the biases of three laws; `lengths` and `order` are nodes of a panel over r and z, `width` a step."""
    r_nodes, chances = panels([0, 1, 2.5, 4.5, 7, 11], lengths)
    chances = chances * r_nodes ** (d - 1) * np.exp(-r_nodes * r_nodes / 2)
    # E |c z + s zeta| bends over a width s / c around z = 0
    z, density = panels([0, 1e-3, 0.01, 0.05, 0.2, 0.7, 2, 4.5, 10.5], order)
    z, density = np.append(-z, z), np.tile(density * np.exp(-z * z / 2) / np.sqrt(2 * Extended(mp.pi)), 2)
    angle, weight = panels([0, 0.03, 0.15, 0.6, np.pi / 2], order) if d > 1 else (np.zeros(1), np.ones(1))
    weight = weight * np.sin(angle) ** (d - 2 if d > 1 else 0)
    total = np.zeros(4, dtype=Extended)
    for r, chance in zip(r_nodes, chances / chances.sum(), strict=True):
        if chance < 1e-17:
            continue
        kappa = float(w * r)
        e, (one, one_density), (two, two_density) = (
            np.exp(kappa * z),
            rest(n - 1, kappa, width),
            rest(n - 2, kappa, width),
        )
        a = e[:, None] / (e[:, None] + np.exp(one))
        first, second = (n * density * (a**k @ (one_density / one_density.sum())) for k in (1, 2))
        both = e[:, None, None] + e[:, None] + np.exp(two)
        pairs = n * (n - 1) * np.outer(density * e, density * e) * ((1 / both**2) @ (two_density / two_density.sum()))

        def bias(c: Number, h: Any, m: Any, v: Any) -> Number:
            label = h(c * r)  # noqa: B023
            return second @ (m * m + v) + m @ pairs @ m - 2 * label * (first @ m) + label**2  # noqa: B023

        noise = second.sum()
        along = bias(1, lambda t: t, z, 0 * z)
        quadratic, absolute = 0, 0
        for c, s, share_c in zip(np.cos(angle), np.sin(angle), weight / weight.sum(), strict=True):
            s = max(s, Extended(1e-30))
            quadratic += share_c * bias(c, np.square, (c * z) ** 2 + s**2, 4 * (s * c * z) ** 2 + 2 * s**4)
            folded = c * z * erf((c * z / s / np.sqrt(2)).astype(float)) + s * np.sqrt(2 / Extended(mp.pi)) * np.exp(
                -((c * z / s) ** 2) / 2
            )
            absolute += share_c * bias(c, np.abs, folded, (c * z) ** 2 + s**2 - folded**2)
        linear = along / d + (1 - Extended(1) / d) * noise
        total += chance * np.array([noise, linear / 3, quadratic, (linear + absolute) / 6])
    return dict(zip(("noise", "affine", "quadratic", "relu"), total.tolist(), strict=True))


def one_token(d: int, n: int) -> Number:
    """The affine bias for w -> infinity: (E z_max^2 + d - 1 + d) / (3 d), as the largest score is independent of r.

    Its product with r is not: E z_max r is subtracted twice.
    """
    require_precision()
    top = mp.sqrt(2 * mp.log(n)) if n > 2 else mpf(1)

    def density(z: Number) -> Number:
        return n * mp.npdf(z) * mp.exp((n - 1) * mp.log1p(-mp.erfc(z / mp.sqrt(2)) / 2))

    ends = [top + x for x in (-11, -8, -6, -4, -2, -1, 0, 1, 2, 4, 8)]
    first, second = (mp.quad(lambda z, k=k: z**k * density(z), ends) for k in (1, 2))
    length = mp.sqrt(2) * mp.gamma(mpf(d + 1) / 2) / mp.gamma(mpf(d) / 2)
    return (second - 2 * first * length + 2 * d - 1) / (3 * d)


def rows() -> list[dict[str, Any]]:
    """Every value of the reference with the relative difference of two computations."""
    found = []
    with mp.workdps(30):
        for d, w in TWO:
            found.append((d, 2, w, two_tokens(d, w, 12), two_tokens(d, w)))
    found += [(*at, many_tokens(*at, 8, 10, 0.36), many_tokens(*at, 9, 12, 0.32)) for at in MANY]
    return [
        {"d": d, "n": n, "w": w, "term": term, "value": float(value), "off": float(abs(rough[term] / value - 1))}
        for d, n, w, rough, fine in found
        for term, value in fine.items()
    ]


if __name__ == "__main__":
    VALUES.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows()) + "\n]\n")
