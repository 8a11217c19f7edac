"""The Lipschitz constant of self-attention: dot products have none; with distances the constant rests on one maximum.

The maximum is phi^{-1}(N - 1), phi(x) = x e^(x + 1), of the mean squared distance of N tokens from one of them under
its own weights. That this is W_0(N/e) is off by one token: it is W_0((N - 1)/e).
"""

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import lambertw

from lipverify.claims import agree, bound, claim, exponent

PAPER = "Kim, Papamakarios, Mnih, ICML 2021"


def spread(distances):
    """sum_j P_j d_j for squared distances d_j of the other tokens, P = softmax(-d), the token itself at distance 0."""
    weights = np.exp(-distances)
    return weights @ distances / (1 + weights.sum())


def peak(N):
    """The maximum over tokens at one common distance."""
    ends = (0, 2 + np.log(N))
    return -minimize_scalar(lambda d: -1 / (np.exp(d) / d / (N - 1) + 1 / d), bounds=ends, method="bounded").fun, 1e-10


def searched(N, seed):
    """The maximum over all distances, from ten starts."""
    starts = np.random.default_rng((seed, N)).exponential(size=(10, N - 1)) ** 0.5
    return max(-minimize(lambda r: -spread(r**2), start).fun for start in starts), 1e-6


def phi(N):
    return peak(N)[0] * np.exp(peak(N)[0] + 1) / (N - 1), 1e-9


def lambert(N):
    """$W_0(N/e)$."""
    return lambertw(N / np.e).real


def slope(s, N):
    """d f_1/d x_1 of attention on scores x_i x_j, by a complex step, for x_1 = 0 and the others at s and -s."""
    x = np.append(1e-30j, s * (-1.0) ** np.arange(N - 1))
    weights = np.exp(x[0] * x)
    return (weights @ x / weights.sum()).imag / 1e-30, 1e-13 * s**2


# fmt: off
LEMMA = (PAPER, "Theorem 3.2, its constant", r"$\varphi^{-1}(N - 1)$, $\varphi(x) = x e^{x + 1}$")
claim("lipschitz.maximum", bound(phi, r"\varphi(\max) / (N - 1)", equals=1, within=1e-7),
      agree(peak, searched, r"\max", over={"N": (2, 5, 12)}), over={"N": (2, 5, 20, 1000)}, source=LEMMA,
      kind="printed", expected="supported", title="The maximum in the constant of L2 attention")
claim("lipschitz.lambert", bound(peak, r"\max", equals=lambert, within=1e-3, truth=lambda N: lambert(N - 1)),
      over={"N": (2, 5, 20, 100)}, kind="printed", expected="refuted", title="The same by Lambert's function",
      source=(PAPER, "Theorem 3.2, after it", r"$\varphi^{-1}(N - 1) = W_0(N/e)$"), corrected="$W_0((N - 1)/e)$")
claim("lipschitz.dot-product", exponent(slope, "f_1'", along={"s": (1e1, 1e7)}, equals=2, truth=2), over={"N": (3, 10)},
      kind="printed", expected="supported", title="Dot-product attention is not Lipschitz",
      source=(PAPER, "Theorem 3.1", "dot-product self-attention is not Lipschitz for any norm"))
