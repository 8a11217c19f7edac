"""Optimal global rates of convergence for nonparametric regression: reached by windows, beaten where f is smoother.

If |f(x) - f(x')| <= |x - x'|^b in k dimensions, no estimator's worst risk falls faster than n^(-2b/(2b+k)). The worst
function for a window has its tip at the query, f = |. - x|^b, so the supremum over the class is exact.
"""

import numpy as np
from scipy.integrate import quad
from scipy.optimize import minimize_scalar

import lipverify as lv
from lipverify.claims import agree, claim, exponent


def one_over(n, p):
    """E[1/m | m > 0] for the number m of n tokens in a window of mass p: an integral of the generating function."""
    none, ends = np.exp(n * np.log1p(-p)), np.minimum(1.0, np.array([0, 8, 60]) / (n * p))  # the rest is below e^-60

    def integrand(v):
        return (np.exp(n * np.log1p(-p * v)) - none) / (1 - v)

    return sum(quad(integrand, *ends[k : k + 2], epsrel=1e-12)[0] for k in (0, 1)) / (1 - none)


def box(k, b, n, h):
    """The worst risk of averaging over |x_i - x|_max < h in the cube, given that the window holds a token; noise 1."""
    q, mean, square = one_over(n, (2 * h) ** k), h**b * k / (k + b), h ** (2 * b) * k / (k + 2 * b)
    value = (1 - q) * mean**2 + q * square + q
    return value, 1e-10 * value


def sampled(k, b, n, h, contexts, seed):
    far = np.abs(np.random.default_rng((seed, k, n)).random((contexts // 8, n, k)) - 0.5).max(axis=2)
    far, m = far[np.any(far < h, axis=1)], np.count_nonzero(far < h, axis=1)
    risks = (np.where(far < h, far**b, 0.0).sum(axis=1) / m[m > 0]) ** 2 + 1 / m[m > 0]
    return np.mean(risks), 1.96 * np.std(risks) / len(risks) ** 0.5


def best_box(k, b, n):
    """The minimum over h; an error of h enters squared."""
    ends = (-np.log(n) / k, -np.log(2))
    best = minimize_scalar(lambda log_h: box(k, b, n, np.exp(log_h))[0], bounds=ends, method="bounded")
    return best.fun, 1e-9 * best.fun


def softmax(law, d, n):
    """Attention on the sphere at its best w, a Gaussian window in k = d - 1 dimensions."""
    best = lv.optimal_window(lv.Problem(d=d, n=n, law=lv.laws.law_named(law), sigma=1.0))
    return best.loss, best.loss_error


# fmt: off
RATE = ("Stone, Ann. Statist. 10 (1982)", "the rates", "smoothness $b$, $k$ dimensions: the rate is $n^{-2b/(2b+k)}$")
SAME = agree(box, sampled, r"\sup R", over={"k": (1, 2), "b": (0.5, 1.0), "n": 50, "h": (0.1, 0.3)})
POWER = "-2*b/(2*b + k)"
claim("stone.box", exponent(best_box, r"\min_h \sup R", along={"n": (1e6, 1e16)}, equals=POWER, truth=POWER),
      SAME, over={"k": (1, 2, 3), "b": (0.5, 1.0)}, source=RATE, kind="printed", expected="supported")
claim("stone.softmax", exponent(softmax, "R(w^*)", high="-2/(d + 1)", strict=True, truth="-s/(d + c)"), source=RATE,
      over={"law": {"relu": {"s": "3", "c": "2"}, "affine": {"s": "4", "c": "3"}}, "d": (2, 3, 5)}, kind="derived",
      finding="On functions smoother than their class the best w beats the minimax rate.", expected="supported")
