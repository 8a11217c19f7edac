"""Asymptotic learning curves of kernel methods: the exponents of kernel regression on data of a given smoothness.

Teacher: a normal field with the spectrum |k|^-t on a circle, known at n equal distances. Student: a kernel, |k|^-s.
"""

import numpy as np
from scipy.special import zeta

from lipverify.claims import Figure, Panel, Series, agree, at, claim, exponent

PAPER = "Spigler, Geiger, Wyart, J. Stat. Mech. (2020), arXiv 1905.10843"  # abstract read


def lost(T, S, rest):
    """The error of the modes that are alike at the points, one of weights T, S and the others by sums of powers."""
    weights = (S**2 + rest(0, 2)) / (S + rest(0, 1)) ** 2
    first = T * (rest(0, 1) ** 2 + rest(0, 2)) / (S + rest(0, 1)) ** 2
    return first + rest(1, 0) * (1 + weights) - 2 * rest(1, 1) / (S + rest(0, 1))


def error(t, s, n):
    """The mean squared error over all modes m + j n, m up to n/2, by Hurwitz's zeta function; mode 0 has weight 1."""
    m = np.arange(1.0, n // 2 + 1)

    def rest(i, j, x=m / n):
        return n ** -(i * t + j * s) * (zeta(i * t + j * s, 1 + x) + zeta(i * t + j * s, 1 - x))

    own = lost(m**-t, m**-s, rest)
    value = lost(1.0, 1.0, lambda i, j: rest(i, j, 0.0)) + 2 * own.sum() - (own[-1] if n % 2 == 0 else 0)
    return value, 1e-12 * value


def by_matrices(t, s, n):
    k, points = np.arange(1.0, 4001), 2 * np.pi * np.arange(n) / n
    places = points[:, None] + 2 * np.pi / n * (np.arange(40) + 0.5) / 40

    def field(q, x):
        return 1 + 2 * np.cos(np.multiply.outer(x, k)) @ k**-q

    lags = places[..., None] - points
    kernel, teacher = (field(q, points[:, None] - points) for q in (s, t))
    weights = field(s, lags) @ np.linalg.inv(kernel)
    errors = field(t, 0.0) - 2 * (weights * field(t, lags)).sum(axis=-1) + ((weights @ teacher) * weights).sum(axis=-1)
    return errors.mean(), 1e-3 * errors.mean()


# fmt: off
def picture(n=tuple(map(lambda k: 2**k, range(2, 13)))):
    curves = (Series(label=f"$t = {t}$", x=n, y=tuple(float(error(t, 1.5, m)[0]) for m in n)) for t in (1.5, 3.0, 6.0))
    panel = Panel(title="", xlabel="$n$", ylabel="error, $s = 1.5$", series=tuple(curves))
    return Figure(caption="Learning curves.", alt="Straight lines on log axes.", panels=(panel,))
POWER, ERROR = "-min(t - 1, 2*s)", r"E (\hat f - f)^2"
claim("learning-curve.exponent", exponent(error, ERROR, along={"n": (16, 65536)}, equals=POWER, truth=POWER),
      agree(error, by_matrices, ERROR, over={"t": (2.0, 4.0), "s": 2.0, "n": (6, 9)}),
      over={("t", "s"): [(1.5, 2.0), (2.0, 2.0), (4.0, 2.0), (6.0, 2.0), (6.0, 1.5)]}, kind="printed",
      expected="supported", title="The exponent of the learning curve", shows=at(picture),
      source=(PAPER, "the exponent, on a lattice", r"$\beta = \frac{1}{d} \min(\alpha_T - d, 2 \alpha_S)$"))
claim("learning-curve.sensitive", exponent(error, ERROR, along={"n": (16, 65536)}, equals="1 - t", truth=POWER),
      over={("t", "s"): [(6.0, 2.0), (6.0, 1.5)]}, kind="stronger", expected="refuted", title="A sensitive student",
      corrected=r"$\beta = 2 \alpha_S$", source=(PAPER, "abstract", "depends only on the data, with a proviso"))
