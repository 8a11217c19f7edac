r"""The minimal loss of linear attention over all matrices, in closed form, and the minimal loss of softmax attention."""

from __future__ import annotations

from typing import Any

import numpy as np

import lipverify as lv
from lipverify.checks.softmax.quantities import MODEL, Value, problem
from lipverify.claims import agree, at, exponent, per_profile

OFFSET = {"offset": r"$b \sim \mathrm{Unif}[-L, L]$ as on the slides", "no-offset": "no offset, $b = 0$"}


def linear(law: str, reading: str, d: int, n: float) -> Value:
    """The minimal loss of linear attention over all M at L = sigma = 1: a sum of positive terms in rationals."""
    form = closed_form(law, reading)
    least = form.at(form.least, d=d, n=n, L=1.0, sigma=1.0)
    return least, 1e-12 * least


def softmax(law: str, d: int, n: float) -> Value:
    """The loss of softmax attention at w*, which no offset changes."""
    found = lv.optimal_window(problem(law, d, n))
    return found.loss, found.loss_error


def advantage(law: str, reading: str, d: int, n: float) -> Value:
    """Minimal loss of linear attention divided by that of softmax attention, at L = sigma = 1."""
    (floor, _), (loss, error) = linear(law, reading, d, n), softmax(law, d, n)
    return loss / floor, error / floor


def above_floor(law: str, reading: str, floor: str = "1") -> Any:
    """L(M) minus the floor and the terms above it, as squares and sums of positive terms; in free symbols, for every M.

    With k = k_1, R = K(1) - k_1 >= 0 and F = ||M||_F^2, T = tr M, so that ||M - eta I||_F^2 = F - 2 eta T + d eta^2:

        L(M) = R + k m / (n k + m) + A ||M - eta I||_F^2,    m = (d - 1) k + d R + d sigma^2,    A, eta > 0.
    """
    import sympy

    n, d, sigma = sympy.symbols("n d sigma", positive=True)
    F, T = sympy.symbols("F T", real=True)
    form = closed_form(law, reading)
    ours = {
        each: {"n": n, "d": d, "sigma": sigma}.get(each.name, each)
        for each in form.power.free_symbols | form.linear_power.free_symbols
    }
    power, k = form.power.subs(ours), form.linear_power.subs(ours)
    R = power - k
    A = (power + sigma**2 + (n - 1) * k / d) / (n * d**2)
    eta = k / (d**2 * A)
    m = (d - 1) * k + d * R + d * sigma**2
    loss = A * F - 2 * k * T / d**2 + power  # of the law only E x x^T = I / d, K(1) and k_1 enter
    return loss - (sympy.nsimplify(floor) * R + k * m / (n * k + m) + A * (F - 2 * eta * T + d * eta**2))


def falls(law: str, d: int) -> Any:
    """The exponent of the loss of softmax attention at w* in n, proved for every n of a range."""
    from lipverify.claims import proved_window

    return proved_window(law, d).fact("loss exponent in n")


def limit(law: str, reading: str, d: int) -> Any:
    """The limit in n of the minimal loss of linear attention divided by L^2, by SymPy."""
    import sympy

    floor = closed_form(law, reading).floor
    return floor.subs({each: {"d": sympy.Integer(d), "L": sympy.Integer(1)}[each.name] for each in floor.free_symbols})


def sampled(law: str, reading: str, d: int, n: int, contexts: int, seed: int) -> dict[str, Value]:
    """The loss on contexts sampled in R^d divided by the closed form: at its own M = w I, and at the best M on the samples."""
    form = closed_form(law, reading)
    window, least = form.at(form.window, d=d, n=n, L=1.0, sigma=1.0), linear(law, reading, d, n)[0]
    full = problem(law, d, n)
    if reading == "offset":
        full = full.replace(law=lv.laws.WithOffset(full.law))
    drawn: dict[str, Any] = {"seed": seed, "stream": f"linear/{law}/{reading == 'offset'}/{d}/{n}"}
    terms = lv.loss_terms(full, window, "montecarlo", attention="linear", contexts=contexts, **drawn)
    best = lv.optimal_matrix(full, attention="linear", contexts=max(640, contexts // 4), starts=2, **drawn)
    return {
        "least": (best.loss, best.loss_error),
        "at w I": (float(terms.total) / least, float(terms.total_error) / least),
        "over all M": (best.loss / least, best.loss_error / least),
    }


def closed_form(law: str, reading: str) -> Any:
    """The closed form of a named law, with or without the offset of the slides."""
    from lipverify.loss import linear_attention

    return linear_attention(lv.laws.law_named(law), reading == "offset")


FLOORS = {
    ("affine", "offset"): {"p": "0", "q": "4/(d + 3)", "F": "1/3", "T": "1/50"},
    ("relu", "offset"): {"p": "0", "q": "3/(d + 2)", "F": "1/3 + 1/(6*d)", "T": "1/50"},
    ("relu", "no-offset"): {"p": "0", "q": "3/(d + 2)", "F": "1/(6*d)", "T": "9/200"},
}
"""The minimal loss of linear attention falls like n^-p, and that of softmax attention like n^-q. F is the floor in
units of L^2, the part of f that is not linear: the variance of b, and that of the even part of a ReLU function, (l_1 +
l_2) |<q, x>| / 2. T is the tolerance of sampled values, three half-widths of their intervals."""
WITHOUT = {("affine", "no-offset"): {"p": "1", "q": "4/(d + 3)"}}
ROUNDING = f"{4 * float(np.finfo(float).eps)}*(F)"
LEARNED = (
    MODEL[0],
    r"linear attention predicts $\frac{1}{n} \sum_i y_i x_i^\top \mathbf{M} x$; the loss is minimised over all $\mathbf{M}$",
)
ASSUMED = {"*/offset/*": (*LEARNED, OFFSET["offset"]), "*/no-offset/*": (*LEARNED, OFFSET["no-offset"])}
LEAST = r"\min_{\mathbf{M}} \mathcal{L}_{\mathrm{lin}}"
LINEAR = r"""The floor is $K(1) - k_1$, the part of $f$ that is not linear: for affine tasks without offset it is 0, and the loss falls
      like $1/n$"""
SAMPLED = at(sampled, contexts=per_profile(32_768, 262_144))
DRAWN = agree(linear, SAMPLED, LEAST, of=("", "least"), over={"d": 3, "n": 30})
RATIO = exponent(
    advantage,
    rf"\mathcal{{L}}(w^*) / {LEAST}",
    high="0",
    strict=True,
    truth="p - q",
    over={"d": (2, 3, 5)},
    method="exact",
)
