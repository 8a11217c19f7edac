"""Local polynomial modelling and its applications: the bias of local constant regression, which softmax attention is.

Tokens on the circle with density proportional to 1 + s sin(theta), query at 0, n -> infinity: an average with weights
e^(w cos theta), a kernel of width h = w^(-1/2). Bessel functions give every value exactly, for every w.
"""

import numpy as np
from scipy.integrate import quad
from scipy.special import ive

from lipverify.claims import agree, bound, claim

BOOK = "Fan, Gijbels, Local Polynomial Modelling and Its Applications (1996)"
EPS = np.finfo(float).eps


def interior(w, s, slope, bend):
    """The bias divided by h^2 on m = slope sin + bend (1 - cos): s slope E sin^2 + bend (1 - E cos), E sin^2 = E cos /
    w.
    """
    cos = ive(1, w) / ive(0, w)
    return s * slope * cos + bend * w * (1 - cos), 16 * EPS * (s * slope + bend * w)


def boundary(w):
    """The bias divided by h on m = sin where tokens are on one side only, uniform for theta from 0 to pi."""
    value = -np.expm1(-2 * w) / (np.pi * ive(0, w) * np.sqrt(w))
    return value, 16 * EPS * value


def by_quadrature(w, s, slope, bend, start=-np.pi):
    """The same average of m divided by h^2, by integrals over the tokens."""

    def mean(m):
        top = 8 / np.sqrt(w)  # further out, the weights are below e^-24 of those at the query
        return quad(lambda a: m(a) * np.exp(w * (np.cos(a) - 1)) * (1 + s * np.sin(a)), max(start, -top), top)[0]

    return w * mean(lambda a: slope * np.sin(a) + bend * (1 - np.cos(a))) / mean(np.ones_like), 1e-7


def boundary_by_quadrature(w):
    value, error = by_quadrature(w, 0.0, 1.0, 0.0, start=0.0)
    return value / np.sqrt(w), error


# fmt: off
OVER = {("s", "slope", "bend"): [(0.5, 1.0, 0.0), (0.0, 1.0, 1.0), (0.5, 1.0, 1.0), (0.9, 0.2, 3.0)]}
PRINTED, HERE = "bend/2 + s*slope", {"w": (30.0, 200.0)}
INSIDE = (BOOK, "interior", r"Nadaraya and Watson's bias is $h^2 (m''/2 + m' f'/f)$ times the kernel's second moment")
claim("fan-gijbels.interior", bound(interior, "b", along={"w": (10, 1e7)}, equals=PRINTED, within=1e-3),
      agree(interior, by_quadrature, "b", over=OVER | HERE),
      over=OVER, source=INSIDE, kind="printed", expected="supported")
claim("fan-gijbels.interior/window",
      bound(interior, "b", equals=PRINTED, within=1e-3, control=(None, {"w": 1e6})),
      over=OVER | {"w": (10.0, 100.0)}, source=INSIDE,
      corrected=r"$s m' \rho + w m'' (1 - \rho)$ with $\rho = I_1(w) / I_0(w)$", kind="stronger", expected="refuted")
claim("fan-gijbels.boundary", bound(boundary, "b", equals="sqrt(2/pi)", within=1e-3, along={"w": (10, 1e7)}),
      agree(boundary, boundary_by_quadrature, "b", over=HERE),
      source=(BOOK, "boundary", "at a boundary the bias is of order $h$"),
      kind="printed", expected="supported")
