"""Kernel density estimation with spherical data: the kernel e^(kappa <x_i, x>) of softmax attention."""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import gamma, ive

from lipverify.claims import Figure, Panel, Series, agree, at, bound, claim, exponent

PAPER = "Hall, Watson, Cabrera, Biometrika 74 (1987)"  # from memory


def log_constant(d, kappa):
    return (d / 2 - 1) * np.log(kappa) - d / 2 * np.log(2 * np.pi) - np.log(ive(d / 2 - 1, kappa)) - kappa


def moments(d, kappa, c):
    """kappa (f - E K) / f and n Var / (f kappa^((d - 1)/2)) of the kernel K, <x, mu> = c; concentration 2."""
    totals = [np.sqrt((k * kappa) ** 2 + 4 + 4 * k * kappa * c) for k in (1, 2)]
    first, second = (np.exp(k * log_constant(d, kappa) - log_constant(d, totals[k - 1]) - 2 * c) for k in (1, 2))
    variance = (second - np.exp(log_constant(d, 2) + 2 * c) * first**2) / kappa ** ((d - 1) / 2)
    return {"bias": (kappa * (1 - first), 1e-14 * kappa**2), "variance": (variance, 1e-13 * kappa * variance)}


def sampled(d, kappa, c, contexts, seed):
    """The bias with weights for tokens uniform on the sphere."""
    x = np.random.default_rng((seed, d)).normal(size=(5 * contexts, d))
    x /= np.linalg.norm(x, axis=1)[:, None]
    query, area = x[:, 0] * c + x[:, 1] * np.sqrt(1 - c**2), 2 * np.pi ** (d / 2) / gamma(d / 2)
    values = area * np.exp(log_constant(d, kappa) + kappa * query + 2 * (x[:, 0] - c))
    return kappa * (1 - values.mean()), kappa * 1.96 * values.std() / len(values) ** 0.5


def best(d, n, c):
    """The least squared error over f^2, of all kappa."""

    def error(log_kappa):
        kappa, f = np.exp(log_kappa), np.exp(log_constant(d, 2) + 2 * c)
        (bias, _), (variance, _) = moments(d, kappa, c).values()
        return (bias / kappa) ** 2 + variance * kappa ** ((d - 1) / 2) / (n * f)

    found = minimize_scalar(error, bounds=(0, np.log(n)), method="bounded", options={"xatol": 1e-8}).fun
    return found, 1e-8 * found


# fmt: off
def picture(w=tuple(map(lambda k: 2.0**k, range(1, 13)))):
    curves = (Series(label=f"$d = {d}$", x=w, y=tuple(float(moments(d, k, 1)["bias"][0]) for k in w)) for d in (2, 5))
    panel = Panel(title="", xlabel=r"$\kappa$", ylabel=r"bias times $\kappa$", yscale="linear", series=(*curves,))
    return Figure(caption="The bias at the mode.", alt="It tends to d - 1.", panels=(panel,))
OVER, TIGHT, RAY = {"d": (2, 3, 5), "c": (0.9, 1.0)}, "(4*pi)**(-(d - 1)/2)", {"kappa": (1e1, 1e5)}
BIAS, VARIANCE, POWER = r"\kappa (f - E \hat f) / f", r"n Var / (f \kappa^{(d - 1)/2})", "-4/(d + 3)"
claim("sphere-kernel.bias", bound(moments, BIAS, of="bias", along=RAY, within=1e-2, equals="(d - 1)*c - 2*(1 - c**2)"),
      agree(moments, sampled, BIAS, of=("bias", ""), over=OVER | {"kappa": 8.0}), over=OVER, title="Bias",
      source=(PAPER, "the bias", r"$\Delta f / 2 \kappa$"), kind="printed", expected="supported", shows=at(picture))
claim("sphere-kernel.variance", bound(moments, VARIANCE, of="variance", along=RAY, equals=TIGHT, within=f"{TIGHT}/200"),
      source=(PAPER, "the variance", r"$f \kappa^{(d - 1)/2} (2 \sqrt \pi)^{1 - d} / n$"), over=OVER, title="Variance",
      kind="printed", expected="supported")
claim("sphere-kernel.window", exponent(best, r"\min R", along={"n": (1e4, 1e12)}, equals=POWER, truth=POWER), over=OVER,
      source=(PAPER, "the best window", r"$\kappa$ of order $n^{2/(d + 3)}$, error of order $n^{-4/(d + 3)}$"),
      kind="printed", expected="supported", title="Error at the best window")
