"""Optimal global rates of convergence for nonparametric regression: softmax attention on the sphere attains them.

The worst function with |f(x) - f(x')| <= |x - x'|^b has its tip at the query, so the worst risk of attention there is E
(sum a_i |x_i - x|^b)^2 + E sum a_i^2 (noise 1): one integral at every n, as 1/S^2 is the integral of u e^(-u S).
"""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import betaln

from lipverify.claims import agree, claim, exponent


def tokens(d, w, order):
    """Weights, scores e^(w (t - 1)) > e^-60 and distances of a token uniform on the sphere, t = <x_i, x>."""
    s, ds = np.polynomial.legendre.leggauss(order)
    end = min(60.0, 2 * w) ** 0.25
    r, dr = (end * (1 + s) / 2) ** 4, end * ds / 2 * 4 * (end * (1 + s) / 2) ** 3  # r = w (1 - t) = s^4: smooth in s
    density = (r / w * (2 - r / w)) ** ((d - 3) / 2) / np.exp(betaln((d - 1) / 2, 0.5))
    return dr / w * density, np.exp(-r), np.sqrt(2 * r / w)


def by_rule(d, b, n, w, order):
    weight, K, far = tokens(d, w, order)
    u = np.exp(np.arange(-60 - np.log(n), min(60.0, 2 * w) + 9, 0.1))[:, None]
    tilted = np.exp(-u * K) * weight
    log_phi = np.log1p(-np.minimum(-np.expm1(-u * K) @ weight, 1 - 1e-16))
    own = (tilted * K**2) @ (far ** (2 * b) + 1) * np.exp((n - 1) * log_phi)
    pairs = ((tilted * K) @ far**b) ** 2 * np.exp((n - 2) * log_phi)
    return 0.1 * np.sum(u[:, 0] ** 2 * n * (own + (n - 1) * pairs))


def risk(d, b, n, w):
    """The worst risk at w, with the change from a coarser rule as its error."""
    value = by_rule(d, b, n, w, 160)
    return value, abs(value - by_rule(d, b, n, w, 120)) + 1e-11 * value


def sampled(d, b, n, w, contexts, seed):
    x = np.random.default_rng((seed, d, n)).normal(size=(contexts // 4, n, d))
    t = x[:, :, 0] / np.linalg.norm(x, axis=2)
    a = np.exp(w * (t - 1)) / np.exp(w * (t - 1)).sum(axis=1, keepdims=True)
    risks = (a * (2 - 2 * t) ** (b / 2)).sum(axis=1) ** 2 + (a**2).sum(axis=1)
    return np.mean(risks), 1.96 * np.std(risks) / len(risks) ** 0.5


def best(d, b, n):
    """The worst risk at the best w; an error of w enters squared."""
    found = minimize_scalar(lambda log_w: risk(d, b, n, np.exp(log_w))[0], bounds=(3.5, np.log(n)), method="bounded")
    return found.fun, risk(d, b, n, np.exp(found.x))[1] + 1e-9 * found.fun


# fmt: off
RATE = "-2*b/(2*b + d - 1)"
claim("stone-softmax.rate", exponent(best, r"\min_w \sup R", along={"n": (1e6, 1e16)}, equals=RATE, truth=RATE),
      agree(risk, sampled, r"\sup R", over={"d": 3, "b": (0.5, 1.0), "n": 50, "w": (5.0, 20.0)}),
      over={"d": (2, 3, 5), "b": (0.5, 1.0)}, kind="derived", expected="supported",
      source=("Stone, Ann. Statist. 10 (1982)", "the rates", "smoothness $b$, $k$ dimensions: $n^{-2b/(2b+k)}$"))
