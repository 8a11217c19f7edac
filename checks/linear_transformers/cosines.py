r"""The alignment of labels that are linear in the covariates with the quadratic target y* = x(1)^2.

For noise-free labels y = X w every layer of a linear transformer gives y^l = X v with some v in R^d, X of shape (n, d)
with rows x_i ~ N(0, I). Three cosines follow, each with y* = h, h_i = x_i(1)^2:

**The best v for each context**, cos = |P h| / |h| with P the projection on the columns of X. With g = X e_1 (so h =
g^2) the other columns span a uniformly random (d-1)-dimensional subspace of the complement of g, so

    cos^2 = q + (1 - q) B,    q = (sum g^3)^2 / (sum g^2 sum g^4),    B ~ Beta((d-1)/2, (n-d)/2) independent of q,

and E cos^2 = E q + (1 - E q)(d-1)/(n-1) = (d + 4)/n + O(n^{-2}), as E q ~ 15 n / (n * 3 n).

**The cosine of a transformer.** It depends only on the moments sum e e^T, which do not change when single tokens (x_i,
y_i) change sign. Such a change turns y_i^l into -y_i^l and leaves h_i > 0. Averaged over these signs the cosine is 0,
and with K = sum h_i^2 x_i x_i^T

    E cos^2 = v^T K v / (v^T Sigma v |h|^2) <= lambda_max(Sigma^{-1} K) / |h|^2 -> 5/n:

the limit does not depend on the dimension, for K / n tends to 3 I + 12 e_1 e_1^T, Sigma / n to I, and |h|^2 / n to 3.
For a fixed direction v of angle theta to e_1 the limit is (1 + 4 cos^2(theta)) / n.

**E q exactly.** Only squares remain after averaging over the signs: E q = E sum g^6 / (sum g^2 sum g^4). The radius of
g is independent of its direction, so E q = E[sum g^6 / sum g^4] / n, and with 1/S = int_0^oo e^{-rS} dr

    E q = int_0^oo E[g^6 e^{-r g^4}] (E e^{-r g^4})^{n-1} dr,

a one-dimensional integral whose cost does not depend on n.

Source: Vladymyrov, von Oswald, Sandler, Ge, NeurIPS 2024, Theorem 4.2.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from lipverify.checks.linear_transformers.quantities import Floats, Value, require
from lipverify.claims import makes, proved
from lipverify.proofs import leftover, letters

LARGEST_LOSS = 1 - float(np.finfo(float).eps)
"""1 - E e^{-r g^4} is at most this in floats, so that its logarithm is finite."""
STEP, LOWEST, HIGHEST = 1 / 8, -45.0, 45.0
"""The trapezoidal rule in log r between these values of log(r n); leaving out every other node gives its error."""
TOGETHER = 64
"""Number of nodes of that rule whose averages over g are computed at once."""
NORMAL_STEP, NORMAL_END = 1 / 32, 13.0
"""The trapezoidal rule over a standard normal, exact up to rounding for functions analytic in a strip of width 1/10."""


class Mean(NamedTuple):
    """A mean and a bound on its error."""

    value: float
    error: float


@makes("bounded", "exact")
def expected_alignment(n: float) -> Mean:
    """E q = E (sum g^3)^2 / (sum g^2 sum g^4) for n >= 1 standard normals g: the mean squared cosine at d = 1.

    >>> round(expected_alignment(1).value, 10), round(1e6 * expected_alignment(1e6).value, 3)
    (1.0, 5.0)
    """
    require(1 <= n < math.inf, f"n = {n!r}: at least one token.")
    first = math.floor((LOWEST - math.log(n)) / STEP)
    last = first + round((HIGHEST - LOWEST) / STEP)
    blocks = [_averages(block) for block in range(first // TOGETHER, last // TOGETHER + 1)]
    log_mean, moment = (
        np.concatenate(part)[first % TOGETHER :][: last - first + 1] for part in zip(*blocks, strict=True)
    )
    values = moment * np.exp((n - 1) * log_mean)
    fine, coarse = STEP * values.sum(), 2 * STEP * values[::2].sum()
    # the ends: the integrand is 15 r before the first node and falls like a power beyond the last
    ends = values[0] + 8 * values[-1]
    return Mean(float(fine), float(abs(fine - coarse) ** 2 / fine + ends + 64 * np.finfo(float).eps * fine))


@makes("bounded", "exact")
def mean_square_cosine(d: int, n: float) -> Mean:
    """E cos^2 for the best v of each context, n >= d tokens in R^d: E q + (1 - E q)(d - 1)/(n - 1).

    >>> round(1e6 * mean_square_cosine(10, 1e6).value, 3)  # d + 4
    14.0
    """
    require(1 <= d <= n, f"n = {n!r}: at least d = {d} tokens; with fewer the columns span everything they touch.")
    q, error = expected_alignment(n)
    share = (d - 1) / (n - 1) if n > 1 else 0.0
    return Mean(q + (1 - q) * share, error + 4 * float(np.finfo(float).eps) * (q + share))


@cache
def _averages(block: int) -> tuple[Floats, Floats]:
    """(log E e^{-r g^4}, r E[g^6 e^{-r g^4}]) at `TOGETHER` nodes log r, multiples of `STEP`, which all n share."""
    x = STEP * np.arange(block * TOGETHER, (block + 1) * TOGETHER)
    g = np.arange(NORMAL_STEP / 2, NORMAL_END, NORMAL_STEP)
    # r g^4 varies on the scale r^{-1/4}, which a fixed rule in g does not resolve for large r
    scale = np.minimum(1.0, np.exp(-x / 4))[:, None]
    z = scale * g
    weight = NORMAL_STEP * scale * math.sqrt(2 / math.pi) * np.exp(-(z**2) / 2)
    power = np.exp(x)[:, None] * z**4
    kept = np.exp(-power) * weight
    lost = np.sum(-np.expm1(-power) * weight, axis=1)
    # 1 - E e^{-r g^4} is exact for small r, where it matters; the scaled rule covers e^{-r g^4} completely
    log_mean = np.where(x > 0, np.log(np.sum(kept, axis=1)), np.log1p(-np.minimum(lost, LARGEST_LOSS)))
    return log_mean, np.exp(x) * np.sum(z**6 * kept, axis=1)


def best(d: float, n: float) -> dict[str, Value]:
    """The best v for each context: the root mean square of the cosine of X v and x(1)^2, and n E cos^2, by the exact integral."""
    return both(n, *mean_square_cosine(int(d), n))


def first_coordinate(n: float) -> dict[str, Value]:
    """The same for the labels x(1), which are y^0 for w = e_1; they do not depend on d."""
    return both(n, *expected_alignment(n))


def both(n: float, square: float, error: float) -> dict[str, Value]:
    """The square root of a mean square, and n times the mean square."""
    return {"cosine": (math.sqrt(square), error / math.sqrt(square) / 2), "n square": (n * square, n * error)}


def least_length(d: int) -> Value:
    """The smallest n from which on the root mean square of the best cosine is at most 0.1."""
    low, high = d, 2 * d
    while mean_square_cosine(d, high).value > 0.01:
        low, high = high, 2 * high
    while high > low + 1:
        middle = (low + high) // 2
        low, high = (low, middle) if mean_square_cosine(d, middle).value <= 0.01 else (middle, high)
    return float(high), 0.0


def every_length(d: int) -> Any:
    """The largest n E cos^2 over every n, which the limit attains: between the constants of a proof."""
    from lipverify.proofs import prove_cosine

    return proved("lt-cosine", "cosine", {}, prove_cosine).fact("excess") + d


def above_by_moment(d: int, times: int) -> Any:
    """A bound of P(cos > 0.1) at n = times (d + 4): Markov's inequality with the largest n E cos^2 over every n."""
    return every_length(d) * 100 / Fraction(times * (d + 4))


def squared(power: int) -> Any:
    """(sum y^p x(1)^2)^2 - sum y^(2p) sum x(1)^4 for w = e_1, for every n: if it is 0 the cosine is 1."""
    s = letters(symmetric=("X",), X="n n", one="n 1")  # X is the diagonal matrix of all x_i(1), and y = x(1)

    def total(degree: int) -> Any:
        return s.one.T @ s.X**degree @ s.one

    return leftover(total(power + 2) ** 2, total(2 * power) * total(4), "n")


TOKENS = r"tokens $x_i \sim N(0, \mathbf{I})$ in $\mathbb{R}^d$, labels $y = \mathbf{X} w$ without noise, $y^* = x(1)^2$ token by token"
LINEAR = r"$y^l = a y - \mathbf{X} w^l = \mathbf{X} v$ for some $v \in \mathbb{R}^d$, for any weights (Theorem 4.1)"
RMS, SQUARE = r"\sqrt{\mathbb{E} \cos^2}", r"n\, \mathbb{E} \cos^2"
"""The assumptions of the claims on Theorem 4.2, and their quantities."""
