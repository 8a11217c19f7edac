"""The Lipschitz constant of self-attention: none for dot products, and a maximum for distances."""

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import lambertw

from lipverify.claims import Figure, Panel, Series, agree, at, bound, claim, exponent

PAPER = "Kim, Papamakarios, Mnih, ICML 2021"  # abstract read; the places from notes on it


def spread(d):
    """sum_j P_j d_j for squared distances d_j of the other tokens, P = softmax(-d), the token itself at distance 0."""
    return np.exp(-d) @ d / (1 + np.exp(-d).sum())


def peak(N):
    """The maximum over tokens at one common distance."""
    found = minimize_scalar(lambda d: -spread(np.full(N - 1, d)), bounds=(0, 2 + np.log(N)), method="bounded")
    return -found.fun, 1e-10


def searched(N, seed):
    """The maximum over all distances, from ten starts."""
    starts = np.random.default_rng((seed, N)).exponential(size=(10, N - 1)) ** 0.5
    return max(-minimize(lambda r: -spread(r**2), start).fun for start in starts), 1e-6


def lambert(N):
    """$W_0(N/e)$."""
    return lambertw(N / np.e).real


def phi(N):
    return peak(N)[0] * np.exp(peak(N)[0] + 1) / (N - 1), 1e-8


def slope(s, N):
    """d f_1/d x_1 of attention on scores x_i x_j, by a complex step, for x_1 = 0 and the others at s and -s."""
    x = np.append(1e-30j, s * (-1.0) ** np.arange(N - 1))
    weights = np.exp(x[0] * x)
    return (weights @ x / weights.sum()).imag / 1e-30, 1e-13 * s**2


# fmt: off
def picture(N=tuple(range(2, 31))):
    found = Series(label="maximum", x=N, y=tuple(float(peak(k)[0]) for k in N), style="points")
    printed = Series(label="$W_0(N/e)$", x=N, y=tuple(float(lambert(k)) for k in N), style="dashed")
    panel = Panel(title="", xlabel="$N$", ylabel="", xscale="linear", yscale="linear", series=(found, printed))
    return Figure(caption="The maximum and its printed value.", alt="The printed one is higher.", panels=(panel,))
claim("lipschitz.maximum", bound(phi, r"\varphi(\max) / (N - 1)", equals=1, within=1e-7),
      agree(peak, searched, r"\max", over={"N": (2, 5, 12)}), kind="printed", over={"N": (2, 5, 20, 1000)},
      expected="supported", title="The maximum in the constant of L2 attention",
      source=(PAPER, "Theorem 3.2, its constant", r"$\varphi^{-1}(N - 1)$, $\varphi(x) = x e^{x + 1}$"))
claim("lipschitz.lambert", bound(peak, r"\max", equals=lambert, within=1e-3, truth=lambda N: lambert(N - 1)),
      shows=at(picture), over={"N": (2, 5, 20, 100)}, kind="printed", expected="refuted", title="By Lambert's function",
      source=(PAPER, "Theorem 3.2, after it", r"$\varphi^{-1}(N - 1) = W_0(N/e)$"), corrected="$W_0((N - 1)/e)$")
claim("lipschitz.dot-product", exponent(slope, "f_1'", along={"s": (1e1, 1e7)}, equals=2, truth=2), over={"N": (3, 10)},
      kind="printed", expected="supported", title="Dot-product attention is not Lipschitz",
      source=(PAPER, "Theorem 3.1", "dot-product self-attention is not Lipschitz for any norm"))
