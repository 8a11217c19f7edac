"""Density estimation for statistics and data analysis: the width 1.06 n^(-1/5), and how efficient kernels are."""

import numpy as np
import sympy as sp
from scipy.optimize import brentq

from lipverify.claims import Figure, Panel, Series, agree, at, bound, claim, identity

BOOK = "Silverman, Density Estimation (1986)"  # from memory


def width(d, n):
    """h n^(1/(d + 4)) at the minimum: h^(d + 2) ((1 + h^2/2)^-m - (1 - 1/n) (1 + h^2)^-m) = 1/n, m = d/2 + 1."""

    def slope(log_h):
        h = np.exp(log_h)
        once, twice = (-(d / 2 + 1) * np.log1p(h**2 / k) for k in (1, 2))
        return h ** (d + 2) * np.exp(once) * (np.expm1(twice - once) + 1 / n) - 1 / n

    return np.exp(brentq(slope, -np.log(n) / (d + 4) - 3, 2, xtol=1e-14)) * n ** (1 / (d + 4)), 1e-8


def by_search(d, n):
    """The same by a search over h for the least integrated squared error, a sum of normal integrals."""
    h = np.linspace(0.1, 1.2, 200_001)
    pairs = (1 - 1 / n) * (4 * np.pi * (1 + h**2)) ** (-d / 2) - 2 * (2 * np.pi * (2 + h**2)) ** (-d / 2)
    return h[((4 * np.pi * h**2) ** (-d / 2) / n + pairs).argmin()] * n ** (1 / (d + 4)), 1e-4


X = sp.symbols("x", positive=True)
KERNELS = {"biweight": ((1 - X**2) ** 2, sp.Rational(3087, 3125)), "triangular": (1 - X, sp.Rational(243, 250)),
           "normal": (sp.exp(-(X**2) / 2), 36 * sp.pi / 125), "rectangular": (X**0, sp.Rational(108, 125))}  # fmt: skip


def efficiency(kernel, off=0):
    """Its square as printed minus that of 3 / (5 sqrt 5) over the standard deviation and the integral of K^2."""
    K, printed = KERNELS[kernel]
    ends = (X, 0, sp.oo if kernel == "normal" else 1)
    mass, second, square = (2 * sp.integrate(f, ends) for f in (K, X**2 * K, K**2))
    return printed - sp.Rational(off, 1000) - 9 * mass**5 / (125 * second * square**2)


# fmt: off
def picture(n=tuple(map(lambda k: 5 * 2.0**k, range(18)))):
    curves = (Series(label="best width", x=n, y=tuple(float(width(1, m)[0]) for m in n)),
              Series(label="1.06", x=n, y=(1.06,) * 18, style="dashed"))
    panel = Panel(title="", xlabel="$n$", ylabel="$h n^{1/5}$", yscale="linear", series=curves)
    return Figure(caption="The best width.", alt="It falls to 1.06 from above.", panels=(panel,))
RULE = (BOOK, "the normal reference rule", r"$h = 1.06 \sigma n^{-1/5}$; in $d$ dimensions $(4/(d + 2))^{1/(d + 4)}$")
claim("window.constant", bound(width, "h n^{1/(d + 4)}", along={"n": (1e3, 1e15)}, equals="(4/(d + 2))**(1/(d + 4))",
      within=1e-3),
      agree(width, by_search, "h", over={"d": (1, 3), "n": (100, 1000)}), over={"d": (1, 2, 3, 5)}, source=RULE,
      kind="printed", expected="supported", title="The constant of the best window")
claim("window.finite", bound(width, "h n^{1/5}", equals="1.06", within=0.02, control=(None, {"n": 1_000_000})),
      over={"d": 1, "n": (20, 100, 1000)}, source=RULE, kind="stronger", expected="refuted",
      corrected="1.17 at n = 20, 1.12 at n = 100", title="The constant at n tokens", shows=at(picture))
claim("window.efficiency", identity(efficiency, "e^2 - e_K^2", control={"off": 1}), over={"kernel": tuple(KERNELS)},
      kind="printed", expected="supported", title="The efficiency of kernels", source=(BOOK, "the table of kernels",
      "biweight 0.9939, triangular 0.9859, normal 0.9512, rectangular 0.9295, and their squares"))
