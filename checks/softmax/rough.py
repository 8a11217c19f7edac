r"""Tasks of Hölder order s: random fields that are rough everywhere, and functions that are rough on a hyperplane."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

import lipverify as lv
from lipverify.checks.softmax.quantities import Value
from lipverify.claims import proved_rates

STEP = 0.1
"""The step in log w of the finite differences for the derivatives of both terms."""


@cache
def law_of(kind: str, s: float) -> lv.laws.Law:
    """Random fields with E (f(x) - f(x'))^2 = |x - x'|^2s, rough everywhere; or f = |<q, x>|^s, rough where <q, x> = 0."""
    if kind == "field":
        from lipverify.proofs import Rough

        return lv.laws.Zonal(variogram=Rough(s))
    return lv.laws.Ridge(lambda z: abs(z) ** s, kinks=(0.0,))


def best(kind: str, d: int, s: float, n: float) -> dict[str, Value]:
    """w* and the loss there at sigma = 1, by one step from the derived optimum W.

    From the derivatives of both terms at W follows the sigma for which B + sigma^2 N has its minimum at W. As w* ~
    Lambda^e, this gives the step from W to w* at sigma = 1. The error of w* is the step itself, and that of the loss
    the square of it.
    """
    law = law_of(kind, s)
    form = lv.leading(law, d)
    e = float(form.window_exponent)
    W = float(form.window_constant.evalf()) * n**e
    terms = lv.loss_terms(lv.Problem(d=d, n=n, law=law, sigma=1.0), W * np.exp([-STEP, 0.0, STEP]))
    (fall, off), (rise, further) = (
        (sign * math.log(values[2] / values[0]) / (2 * STEP), float(np.max(errors / values)) / STEP)
        for sign, values, errors in ((-1, terms.bias, terms.bias_error), (1, terms.noise, terms.noise_error))
    )
    variance = fall * terms.bias[1] / (rise * terms.noise[1])
    step = e * (abs(math.log(variance)) + off / fall + further / rise)
    w, loss = W * variance**e, float(terms.total[1])
    return {"w": (w, w * step), "loss": (loss, loss * (fall**2 + rise**2) * step**2 + float(terms.total_error[1]))}


def proved(kind: str, d: int, s: float) -> dict[str, Any]:
    """The exponents of w* and of the loss there in Lambda, proved for every n, L and sigma in a range."""
    return proved_rates(f"rough-{s:g}", d, law_of(kind, s))


def bias(d: int, s: float, w: float, n: int) -> Value:
    """B of the field, by the exact method."""
    terms = lv.loss_terms(lv.Problem(d=d, n=n, law=law_of("field", s), sigma=1.0), w)
    return float(terms.bias), float(terms.bias_error)


def sampled_bias(d: int, s: float, w: float, n: int, contexts: int, seed: int) -> Value:
    """B of the field on sampled tokens, averaged over f in closed form."""
    problem = lv.Problem(d=d, n=n, law=law_of("field", s), sigma=1.0)
    terms = lv.loss_terms(problem, w, "montecarlo", contexts=contexts, seed=seed, stream=f"hoelder/{d}/{s}/{n}")
    return float(terms.bias), float(terms.bias_error)
