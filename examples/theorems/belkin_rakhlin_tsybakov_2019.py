"""Does data interpolation contradict statistical optimality? Kernels r^-a on r < 1 fit noise at Stone's rate.

The worst function for |f(x) - f(x')| <= |x - x'|^b is |. - x|^b, and 1/S^2 is the integral of u e^(-uS), so that the
worst risk is one integral at every n. The condition a < k/2 in k dimensions is needed: beyond, the rate is slower.
"""

import numpy as np

from lipverify.claims import Figure, Panel, Series, agree, at, claim, exponent

PAPER = "Belkin, Rakhlin, Tsybakov, AISTATS 2019, arXiv 1806.09471"  # abstract read


def by_rule(k, b, a, n, p, nodes, step):
    """The worst risk, noise 1, if a window of radius h holds a token with the chance p = h^k; kernel |u|^(-a k)."""
    tau, weight = np.polynomial.legendre.leggauss(nodes)
    tau, weight = 30 * (1 + tau), 30 * weight * np.exp(-30 * (1 + tau))  # e^-tau is (r/h)^k
    X, far = np.exp(a * tau), p ** (b / k) * np.exp(-b / k * tau)
    u = np.exp(np.arange(-25 - np.log(n * p), 8, step))[:, None]
    tilted = np.exp(-u * X) * weight
    log_phi = np.log1p(p * (np.expm1(-u * X) @ weight))
    own = p * ((tilted * X**2) @ (1 + far**2)) * np.exp((n - 1) * log_phi)
    pairs = (p * ((tilted * X) @ far)) ** 2 * np.exp((n - 2) * log_phi)
    return step * np.sum(u[:, 0] ** 2 * n * (own + (n - 1) * pairs))


def risk(k, b, a, n, p):
    """With the change from a coarser rule as its error."""
    value = by_rule(k, b, a, n, p, 120, 0.25)
    return value, abs(value - by_rule(k, b, a, n, p, 90, 0.33)) + 1e-10 * value


def sampled(k, b, a, n, p, contexts, seed):
    share = np.random.default_rng((seed, k, n)).random((contexts // 4, n)) / p
    X = np.where(share < 1, share**-a, 0.0)
    weights = X / np.maximum(X.sum(axis=1, keepdims=True), 1e-300)
    risks = (weights * (p * share) ** (b / k)).sum(axis=1) ** 2 + (weights**2).sum(axis=1)
    return risks.mean(), 1.96 * risks.std() / len(risks) ** 0.5


def at_width(k, b, a, n):
    """The worst risk at the printed width h = n^(-1/(2 b + k))."""
    return risk(k, b, a, n, n ** (-k / (2 * b + k)))


# fmt: off
def picture(n=tuple(map(lambda k: 10.0**k, range(2, 11)))):
    curves = [Series(label=f"$a = {a}$", x=n, y=tuple(float(at_width(1, 1, a, m)[0]) for m in n)) for a in (0.2, 0.75)]
    panel = Panel(title="", xlabel="$n$", ylabel="worst risk", series=tuple(curves))
    return Figure(caption="Kernels of three singularities.", alt="Slower for a > 1/2.", panels=(panel,))
STONE, OVER = "-2*b/(2*b + k)", {("k", "b"): [(1, 0.5), (1, 1.0), (3, 1.0)]}
SINGULAR = (PAPER, "the theorem on singular kernels", r"$0 < a < k/2$, $h = n^{-1/(2b + k)}$: $n^{-2b/(2b + k)}$")
claim("interpolation.rate", exponent(at_width, r"\sup R", along={"n": (1e4, 1e14)}, equals=STONE, truth=STONE),
      agree(risk, sampled, r"\sup R", over={("k", "b"): [(1, 1.0), (3, 0.5)], "a": (0.3, 0.75), "n": 100, "p": 0.1}),
      over=OVER | {"a": (0.2, 0.35)}, source=SINGULAR, kind="printed", expected="supported",
      title="An interpolating kernel reaches the minimax rate")
claim("interpolation.condition", exponent(at_width, r"\sup R", along={"n": (1e6, 1e22)}, high=STONE,
      truth=f"{STONE}*(1/a - 1)"), over=OVER | {"a": 0.75}, source=SINGULAR, kind="stronger", expected="refuted",
      corrected=r"$(1/a - 1)$ of the exponent for $1/2 < a < 1$, in units of $k$", title="More singular kernels",
      shows=at(picture))
