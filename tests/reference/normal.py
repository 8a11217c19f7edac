r"""Slow references for covariates N(0, I), L = 1 and sigma = 1; they know nothing of the library under test.

`two_tokens` integrates the definition for n = 2 in mpmath, without a Laplace integral. With z_i = <x_i, x> / r,
D = (z_1 - z_2) / sqrt(2) and S = (z_1 + z_2) / sqrt(2), the weights are (1 +- T) / 2, T = tanh(w r D / sqrt(2)), and
all else is a polynomial in S and in the coordinates of tokens off the query, whose moments are known.

`one_token` is the limit w -> infinity, where the token with the largest score has all weight.

`laplace` serves every n, in extended precision, by dense rules of fixed width over r, u = log(lambda), z and c, with
the increments h(<q, x_i>) - h(<q, x>) themselves, not their mean and variance.

`python -m tests.reference.normal` writes normal.json: each value with the relative difference of two computations.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from mpmath import mp, mpf
from scipy.special import erf

from tests.reference.oracle import nodes, require_precision

LONG = np.longdouble
VALUES = Path(__file__).with_name("normal.json")
TWO = [(1, 0.3), (2, 1e-6), (5, 3.0), (50, 1e4)]
MORE = [(1, 3, 1.0), (1, 10**12, 1.0)]
Number = Any


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


def laplace(d: int, n: float, w: float, fineness: float = 1.0) -> dict[str, float]:
    """Noise and the biases of the three laws for any n >= 2 and w of at most about 5."""
    rule = np.polynomial.legendre.leggauss(16)

    def panels(ends: Any) -> tuple[Any, Any]:
        ends = np.asarray(ends, dtype=LONG)
        half = np.diff(ends)[:, None] / 2
        return ((ends[:-1] + ends[1:])[:, None] / 2 + half * rule[0]).ravel(), (half * rule[1]).ravel()

    edge = float(np.sqrt(d))
    lengths = np.append(np.geomspace(1e-5, 0.5, 5), np.arange(0.5, edge + 9, 1.2 / fineness)[1:])
    rs, weights = panels(np.unique(np.append(0.0, lengths[lengths > edge - 11])))
    weights = weights * np.array([float(length_density(d, mpf(float(r)))) for r in rs])
    angles, shares = panels(np.arange(0, 1.0001, 0.25 / fineness) * np.pi / 2) if d > 1 else (np.array([0.0]), None)
    c, s = np.cos(angles), np.sin(angles)  # both signs of c are alike
    shares = np.array([1.0]) if d == 1 else shares * s ** (d - 2) / np.sum(shares * s ** (d - 2))
    total = np.zeros(4, dtype=LONG)
    for r, weight in zip(rs, weights, strict=True):
        if weight > 1e-22:
            total += weight * _given_length(d, n, w, LONG(r), c, s, shares, panels, fineness)
    names = ("noise", "affine", "quadratic", "relu")
    return {name: float(value) for name, value in zip(names, total, strict=True)}


def _given_length(d: int, n: float, w: float, r: Any, c: Any, s: Any, shares: Any, panels: Any, fineness: float) -> Any:
    """The four terms given |x| = r."""
    kappa = LONG(w) * r
    fine = 1.6 / fineness / max(1.0, float(kappa))
    around = np.geomspace(1e-5, 0.3, 8)
    top = 12 + 2 * float(kappa)
    z, weight = panels(np.unique(np.concatenate([np.arange(0, top, fine), -np.arange(0, 12, fine), around, -around])))
    weight = weight * np.exp(-z * z / 2) / np.sqrt(2 * LONG(np.pi))
    H = {"affine": c[:, None] * (z - r)}
    x = c[:, None] * z
    spread = s[:, None]
    ratio = (x / np.maximum(spread, 1e-30) / np.sqrt(2)).astype(float)
    folded = spread * np.sqrt(2 / np.pi) * np.exp(-np.minimum(ratio * ratio, 7e2)) + x * erf(ratio)
    H["relu"] = folded - c[:, None] * r
    H["quadratic"] = x * x + spread**2 - (c[:, None] * r) ** 2
    at = c[:, None] * r
    square = {
        "affine": (x - at) ** 2 + spread**2,
        "relu": x * x + spread**2 - 2 * at * folded + at**2,
        "quadratic": x**4 + 6 * x * x * spread**2 + 3 * spread**4 - 2 * at**2 * (x * x + spread**2) + at**4,
    }
    step = 0.24 / fineness
    log_n = float(np.log(n))
    bound = float(np.sqrt(2 * (log_n + 45)))
    us = np.arange(-30 - min(log_n + float(kappa) ** 2, float(kappa) * bound + log_n), 6 + 10 * float(kappa), step)
    noise, bias = LONG(0), {name: LONG(0) for name in H}
    for u in us:
        growth = np.exp(np.minimum(u + kappa * z, LONG(3000)))
        falling = np.sum(weight * -np.expm1(-growth))
        log_phi = np.log1p(-min(falling, LONG(1) - LONG(1e-18)))
        if falling > 0.5:
            log_phi = np.log(np.maximum(np.sum(weight * np.exp(-growth)), LONG(1e-4000)))
        single = n * np.exp((n - 1) * log_phi) * step
        double = n * LONG(n - 1) * np.exp((n - 2) * log_phi) * step
        if not single > 1e-4000 and not double > 1e-4000:
            continue
        one = weight * growth * np.exp(-growth)
        two = np.where(growth < 1e4, one * growth, 0)
        noise += single * np.sum(two)
        for name in H:
            bias[name] += single * np.sum(shares * (square[name] @ two)) + double * np.sum(
                shares * (H[name] @ one) ** 2
            )
    relu = (bias["affine"] + bias["relu"]) / 6
    return np.array([noise, bias["affine"] / 3, bias["quadratic"], relu])


def rows() -> list[dict[str, Any]]:
    """Every value of the reference with the relative difference of two computations."""
    found = []
    with mp.workdps(30):
        for d, w in TWO:
            found.append((d, 2, w, two_tokens(d, w, 12), two_tokens(d, w)))
    for d, n, w in MORE:
        found.append((d, n, w, laplace(d, n, w, 0.8), laplace(d, n, w)))
    return [
        {"d": d, "n": n, "w": w, "term": term, "value": float(value), "off": float(abs(rough[term] / value - 1))}
        for d, n, w, rough, fine in found
        for term, value in fine.items()
    ]


if __name__ == "__main__":
    VALUES.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows()) + "\n]\n")
