r"""Attention with other kernels than the exponential on linear tasks, and with normalised scores."""

from __future__ import annotations

from typing import Any

import numpy as np

import lipverify as lv
from lipverify.checks.softmax.quantities import Value


def named(kernel: str, power: float = 0.0) -> lv.attention.Kernel:
    if kernel == "rational":
        return lv.attention.Rational(power)
    return {"box": lv.attention.Box(), "epanechnikov": lv.attention.Epanechnikov()}[kernel]


def terms(kernel: str, d: int, n: float, w: float, power: float = 0.0) -> dict[str, Value]:
    """B / L^2 and the loss on linear tasks, by the exact method."""
    problem = lv.Problem(d=d, n=n, law=lv.laws.Linear(), sigma=1.0)
    found = lv.loss_terms(problem, w, attention=named(kernel, power))
    return {
        "bias": (float(found.bias), float(found.bias_error)),
        "loss": (float(found.total), float(found.total_error)),
    }


def sampled(kernel: str, d: int, n: float, w: float, contexts: int, seed: int, power: float = 0.0) -> dict[str, Value]:
    """B / L^2 on sampled contexts."""
    problem = lv.Problem(d=d, n=n, law=lv.laws.Linear(), sigma=1.0)
    drawn: dict[str, Any] = {"contexts": contexts, "seed": seed, "stream": f"kernels/{kernel}/{power}/{d}/{n}/{w}"}
    found = lv.loss_terms(problem, w, "montecarlo", attention=named(kernel, power), **drawn)
    return {"bias": (float(found.bias), float(found.bias_error))}


def many(kernel: str, d: int, w: float, power: float = 0.0) -> dict[str, Value]:
    """The terms at n = w^(d/2 + 1), at which every window holds many tokens."""
    return terms(kernel, d, float(round(w ** (d / 2 + 1))), w, power)


def at_rate(kernel: str, d: int, n: float) -> Value:
    """The loss at w = n^(2/(d + 3)), which has the order of the best w of softmax attention."""
    return terms(kernel, d, n, n ** (2 / (d + 3)))["loss"]


def normalised(d: int, w: float) -> Value:
    """B divided by E f(x)^2 = 1/d, with weights (1 + s_i) / sum_j (1 + s_j), for 10^20 tokens."""
    problem = lv.Problem(d=d, n=1e20, law=lv.laws.Linear(), sigma=0.0)
    found = lv.loss_terms(problem, w, attention=lv.attention.NormalisedLinear())
    return d * float(found.bias), d * float(found.bias_error)


def tail(d: int, A: float) -> Value:
    """P(a_1^2 + a_2^2 > A) for a_i = s_i / (s_1 + s_2) and two tokens, for every w.

    The condition is |t_1 + t_2| k < |t_1 - t_2| with k^2 = 2 A - 1: -t_2 / t_1 lies between 1/r and r = (k + 1) / (k -
    1). Its probability is an integral over |t_1| of a difference of the distribution function of |t_2|, I_{t^2}(1/2, (d
    - 1)/2).
    """
    from scipy.integrate import quad
    from scipy.special import betainc, betaln

    k = np.sqrt(2 * A - 1)
    r, b = (k + 1) / (k - 1), (d - 1) / 2

    def share(v: float) -> float:
        """The integrand after t = sqrt(1 - v^2), dt = -v dv / t, with the density 2 (1 - t^2)^(b - 1) / B(1/2, b) of |t|."""
        t = np.sqrt(1 - v * v)
        return float(betainc(0.5, b, min(1.0, (r * t) ** 2)) - betainc(0.5, b, (t / r) ** 2)) * v ** (2 * b - 1) / t

    edge = float(np.sqrt(1 - 1 / r**2))
    value, error = quad(share, 0.0, 1.0, points=[edge], epsabs=1e-13, epsrel=1e-10, limit=200)
    unit = 2 / np.exp(betaln(0.5, b)) / 2
    return unit * value, unit * (error + 1e-13)


def drawn_tail(d: int, A: float, contexts: int, seed: int) -> Value:
    """P(a_1^2 + a_2^2 > A) as a frequency in samples."""
    x = np.random.default_rng((seed, d)).normal(size=(20 * contexts, 2, d))
    t = x[..., 0] / np.linalg.norm(x, axis=2)
    share = float(np.mean(np.sum(t * t, axis=1) > A * np.sum(t, axis=1) ** 2))
    return share, 1.96 * (share * (1 - share) / len(t)) ** 0.5
