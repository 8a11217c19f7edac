"""Rethinking attention with Performers: the exact errors of random features for softmax attention, SM = exp(<x, y>)."""

import numpy as np
from scipy.special import hyp1f1

from lipverify.claims import Figure, Panel, Series, agree, at, bound, claim
from lipverify.sampling import mean_with_half_width

PAPER = "Choromanski et al., ICLR 2021"  # read: Lemma 2, Theorem 2
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(150)


def squared(kind, x, y, c, plus, minus):
    """The squared error of one feature, from <omega, x + y> and <omega, x - y>; c is the cosine of the angle."""
    scale = np.exp((x**2 + y**2) / 2)
    feature = {"trig": scale * np.cos(minus), "plus": np.exp(plus) / scale, "hyperbolic": np.cosh(plus) / scale}[kind]
    return (feature - np.exp(x * y * c)) ** 2


def error(kind, x, y, c):
    plus, minus = (NODES * (x**2 + y**2 + sign * 2 * x * y * c) ** 0.5 for sign in (1, -1))
    return squared(kind, x, y, c, plus, minus) @ WEIGHTS / WEIGHTS.sum(), 1e-12 * np.exp(2 * x**2 + 2 * y**2)


def sampled_error(kind, x, y, c, contexts, seed):
    omega = np.random.default_rng((seed, int(10 * y))).normal(size=(2, 10 * contexts))
    u, v = x * omega[0], y * (c * omega[0] + (1 - c**2) ** 0.5 * omega[1])
    return mean_with_half_width(squared(kind, x, y, c, u + v, u - v))


def gain(d, z):
    """The gain of orthogonal features divided by (1 - 1/m) SM^2: |omega_1 + omega_2|^2 is chi squared with 2d."""
    return 1 - np.exp(-(z**2)) * hyp1f1(d, d / 2, z**2 / 2), 64 * np.finfo(float).eps


def sampled_gain(d, z, contexts, seed):
    random = np.random.default_rng((seed, d))
    directions = np.linalg.qr(random.normal(size=(contexts, d, 2)))[0]
    u, v = z * (directions[:, 0] * random.chisquare(d, size=(contexts, 2)) ** 0.5).T
    return mean_with_half_width(1 - np.exp(-(z**2)) * np.cosh(u) * np.cosh(v))


# fmt: off
def picture(z=tuple(map(lambda k: k / 20, range(2, 61)))):
    curves = [Series(label=f"$d = {d}$", x=z, y=tuple(float((d + 2) * gain(d, x)[0]) for x in z)) for d in (2, 8, 64)]
    printed = Series(label="printed", x=z, y=(2.0,) * len(z), style="dashed")
    panel = Panel(title="", xlabel="$|x + y|$", ylabel="$(d + 2) g$", xscale="linear", series=(*curves, printed))
    return Figure(caption="The gain of orthogonal features.", alt="Below 2 at small |x + y|.", panels=(panel,))
Z, OVER = "(x**2 + y**2 + 2*x*y*c)", {"x": 1.0, "y": (0.5, 1.0), "c": (-0.9, 0.0, 0.6)}
PLUS, FIXED = f"exp({Z})*exp(2*x*y*c)*(1 - exp(-{Z}))", "2/(d + 2)*(1 - exp(-z**2/2))**2"
TRIG = f"exp({Z})*exp(-2*x*y*c)*(1 - exp(-x**2 - y**2 + 2*x*y*c))**2/2"
for kind, printed in {"trig": TRIG, "plus": PLUS, "hyperbolic": f"(1 - exp(-{Z}))*{PLUS}/2"}.items():
    claim(f"performers.{kind}", bound(at(error, kind=kind), r"m \mathrm{MSE}", equals=printed, within="1e-9"),
          agree(at(error, kind=kind), at(sampled_error, kind=kind), "e", over=OVER | {"c": -0.9}), over=OVER,
          kind="printed", source=(PAPER, f"Lemma 2, {kind}", "error"), expected="supported", title=f"{kind} features")
claim("performers.orthogonal", bound(gain, "g", low="2/(d + 2)", control=({"low": "2.2/(d + 2)"}, {"low": FIXED})),
      agree(gain, sampled_gain, "g", over={"d": (2, 8), "z": 1.0}), over={"d": (2, 8, 64), "z": (0.25, 0.5, 1.0)},
      source=(PAPER, "Theorem 2, version read", r"orthogonal features gain at least $(1 - 1/m) \frac{2}{d + 2} SM^2$"),
      corrected=r"$SM - e^{-(|x|^2 + |y|^2)/2}$ in place of $SM$", kind="printed", expected="refuted",
      title="The gain of orthogonal features", shows=at(picture))
