"""The ReLU bias for any n by a second route that shares no line with the first: Fourier series on the circle.

For d = 2 the zonal covariance has a cosine series, K = sum_l k_l cos(l theta), and

    B = sum_l k_l E sum_{i != j} a_i a_j (1 - cos l theta_i) (1 - cos l theta_j) + E sum_i a_i^2 2 (K(0) - K(theta_i)).

Every integral is a trapezoidal sum: over the angle because the integrands are even and periodic, over
u = log lambda because they decay doubly exponentially to one side and exponentially to the other.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from lipverify import Problem, loss_terms
from lipverify.laws import ReLU

ANGLES, FREQUENCIES, STEP = 2560, 1500, 0.05
"""Enough angles to resolve the product of the last frequency and the weights at w = 100 without aliases."""
TRUNCATION = 2e-12
"""The tail of the series is summed in closed form up to averages of cos(l theta) beyond l = 1500 and rounding."""


def bias_by_fourier(n: float, w: float) -> float:
    """B for L = 1: (1/6) of the bias of z (one frequency) and of |z| (even frequencies)."""
    theta = np.arange(ANGLES + 1) * math.pi / ANGLES
    mean = np.full(ANGLES + 1, 1 / ANGLES)
    mean[[0, -1]] /= 2
    half = np.arange(1, FREQUENCIES // 2)
    frequencies = np.concatenate([[1], 2 * half])
    # z: K = cos(theta) / 2; |cos| = 2/pi + (4/pi) sum (-1)^{k+1} cos(2 k alpha) / (4 k^2 - 1)
    k = np.concatenate([[0.5], 8 / math.pi**2 / (4.0 * half**2 - 1) ** 2])
    missing = 0.5 - 4 / math.pi**2 - k[1:].sum()
    both = 0.5 * np.cos(theta) + (np.sin(theta) + (math.pi / 2 - theta) * np.cos(theta)) / math.pi
    variogram = 2 * (1.0 - both)
    one_less = 1 - np.cos(np.outer(frequencies, theta))
    u = np.arange(-math.log(n) - 26, 2 * w + 5, STEP)
    log_weighted = u[:, None] - 2 * w * np.sin(theta / 2) ** 2
    growth = np.exp(np.minimum(log_weighted, 6.5))  # beyond, e^{-growth} is zero
    phi_missing = -np.expm1(-growth) @ mean
    first, second = growth * np.exp(-growth) * mean, growth**2 * np.exp(-growth) * mean
    log_phi = np.log1p(-np.minimum(phi_missing, 1 - 1e-16))
    seen = (n - 2) * log_phi > -700  # the others are zeros in what follows
    log_phi, first, second = log_phi[seen], first[seen], second[seen]
    single = n * STEP * np.exp((n - 1) * log_phi)
    double = n * (n - 1) * STEP * np.exp((n - 2) * log_phi)
    # frequencies beyond the last one average to nothing: each contributes k_l (E psi_1)^2
    pairs = (first @ one_less.T) ** 2 @ k + missing * first.sum(axis=1) ** 2
    diagonal = second @ variogram
    return float(single @ diagonal + double @ pairs) / 6


@pytest.mark.parametrize(
    ("n", "w"), [(2, 0.5), (3, 5.0), (10, 20.0), (100, 2.0), (100, 40.0), (1e6, 60.0), (1e12, 5.0), (1e30, 100.0)]
)
def test_two_routes_to_the_relu_bias_agree(n: float, w: float) -> None:
    terms = loss_terms(Problem(d=2, n=n, law=ReLU()), w)
    value, error = float(terms.bias), float(terms.bias_error)
    assert abs(bias_by_fourier(n, w) - value) <= error + TRUNCATION * value
