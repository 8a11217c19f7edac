"""Transformers learn in-context by gradient descent: the best single step in their own setting, x uniform on a cube.

Their d = 10 inputs are uniform on [-1, 1], n = 10, and the rate is found by line search; it is exact and derived here.
"""

import numpy as np

from lipverify.claims import Figure, Panel, Series, agree, at, bound, claim
from lipverify.covariates import Coordinates
from lipverify.linear_transformer import best_step, step_risk
from lipverify.prompts import Prompts, predictors, risk

PAPER = "von Oswald et al., ICML 2023"


def cube(d, n):
    return Prompts(d=d, n=n, covariates=Coordinates("uniform"))


def rate(d, n):
    """The best of all matrices, which is a number times the identity, and its distance from that."""
    best = best_step(cube(d, n))
    return best[0, 0], np.abs(best - best[0, 0] * np.eye(d)).max() + 64 * d * np.finfo(float).eps


def over_normal(d, n):
    """The best rate, in units of the formula for normal inputs of the same covariance."""
    value, error = rate(d, n)
    return value * (n + d + 1) / (3 * n), error


def loss(d, n, eta=None):
    found = step_risk(cube(d, n), np.eye(d) * (rate(d, n)[0] if eta is None else eta))
    return found.value, found.error


def sampled(d, n, contexts, seed, eta=None):
    step = predictors.gradient_descent(1, rate(d, n)[0] if eta is None else eta)
    return risk(cube(d, n), step, contexts, seed)


def picture():
    x = tuple(np.linspace(0.8, 2.2, 29).tolist())
    curves = tuple(Series(label=f"$n = {n}$", x=x, y=tuple(loss(10, n, eta)[0] for eta in x)) for n in (5, 10, 20))
    panel = Panel(title="", xlabel=r"$\eta$", ylabel="risk", xscale="linear", yscale="linear", series=curves)
    return Figure(caption="The risk of a step of the rate $\\eta$, $d = 10$.", alt="Parabolas.", panels=(panel,))


# fmt: off
SOURCE = (PAPER, "section 3, setting", r"$x \sim U(-1, 1)^{10}$, ten tokens, a line search for the rate $\eta$")
OVER = {"d": (2, 10, 20), "n": (5, 10, 40)}
claim("von-oswald-uniform.rate", bound(rate, r"\eta^*", equals="15*n/(5*n + 5*d - 1)", within="1e-12"), over=OVER,
      source=SOURCE, kind="derived", expected="supported", title="The best rate: 50/33 in the paper's setting")
claim("von-oswald-uniform.risk", bound(loss, "R", equals="d*(5*d - 1)/(15*n + 15*d - 3)", within="1e-10"),
      agree(loss, sampled, "R", over={"d": 10, "n": (5, 10)}), over=OVER, source=SOURCE, kind="derived",
      shows=at(picture), expected="supported", title="Its risk: 1.649832 in the paper's setting")
claim("von-oswald-uniform.normal", bound(over_normal, r"\eta^* (n + d + 1) / (3n)", equals=1, within=0.01,
      control=(None, {"n": 2000})), over={"d": 10, "n": (5, 10, 40)}, source=SOURCE, kind="stronger",
      expected="refuted", title="The best rate is that of normal inputs",
      corrected="the fourth moment of the inputs enters too")
