r"""The constants of the window theorem from its proofs: the multiples of a power of Lambda between which the optimal w lies."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import lipverify as lv
from lipverify.checks.softmax.quantities import Value, optimum
from lipverify.claims import proved, proved_window

if TYPE_CHECKING:
    from lipverify.proofs import Proof


def derivation(reading: str, d: int, below: float = 2) -> Any:
    """The difference of 1/(D + 2) and 2/(D + 2) from what N ~ w^(D/2) / Lambda and w^-below < B < 1/w imply, by SymPy.

    The minimal loss is at most the loss at which noise and upper bound of the bias balance; at w* neither the noise nor
    the lower bound of the bias can exceed it. In powers of Lambda, with w = Lambda^x.
    """
    import sympy

    D, x = sympy.Integer(d if reading == "ambient" else d - 1), sympy.Symbol("x")
    balance = sympy.solve(sympy.Eq(D / 2 * x - 1, -x), x)[0]
    upper = sympy.solve(sympy.Eq(D / 2 * x - 1, -balance), x)[0]
    lower = sympy.solve(sympy.Eq(-sympy.nsimplify(below) * x, -balance), x)[0]
    return abs(lower - 1 / (D + 2)) + abs(upper - 2 / (D + 2))


def theorem(law: str, d: int) -> dict[str, Any]:
    """The bounds of w* / Lambda^e for every n, L and sigma of a range, and the constant to which both bounds tend."""
    proof = proved_window(law, d)
    return {"window": proof.fact("window"), "limit": proof.fact("limit").pair}


def limit_of_both(law: str, d: int) -> float:
    """The constant to which both bounds tend."""
    return theorem(law, d)["limit"][0]


def quarter(law: str, d: int) -> float:
    """A quarter of it."""
    return limit_of_both(law, d) / 4


def derived_constant(law: str, d: int) -> Value:
    """The constant of w* ~ k Lambda^e that SymPy derives."""
    return float(lv.leading(lv.laws.law_named(law), d).window_constant), 1e-12


def closer(law: str, d: int, start: float) -> dict[str, Any]:
    """k_2 / k_1 - 1 of the theorem that is proved from Lambda_0 = start^{1/e} on."""
    from lipverify.proofs import prove_window

    proof = prove_window(lv.laws.law_named(law), d, least_lambda=start ** (1 / proved_window(law, d).exponent))
    return {"width": proof.fact("width")}


def every_n(d: int, law: str = "affine") -> dict[str, Any]:
    """The theorem for every n >= 2 and all L <= sigma, or n >= K W^((d-1)/2 + beta - 1), K = 2, for ReLU in the plane 8.

    The smallest and the largest w* / M; "any", the smallest w* / min(M, k V) for every L / sigma; and for the affine
    law "falling", the share of [0, w*] on which the bias falls, which is 1.
    """
    from lipverify.proofs import EveryN, prove_every_n

    name, K = f"every-{law}-{d}", 8 if (law, d) == ("relu", 2) else 2
    meant = lv.laws.law_named(law)
    proof = proved(name, "every n", {"law": law, "d": d}, lambda: prove_every_n(meant, d, least_tokens=K))
    if not isinstance(proof, EveryN) or proof.most_signal < 1 or proof.least_tokens > K or not in_units_of_limit(proof):
        raise ValueError(
            f"{name}.json: not about all L <= sigma, or about larger n than {K} allows, or with another k: {proof.statement}"
        )
    return {name: fact for name, fact in proof.facts.items() if name in ("least", "largest", "any", "falling")}


def in_units_of_limit(proof: Proof) -> bool:
    """Whether k of M is the limit constant of w* / Lambda^e, rounded to three digits."""
    return math.isclose(proof.constants["k"], proof.constants["limit_low"], rel_tol=5e-3)


CONTEXTS = (2, 5, 30, 1000, 10**6)
SIGNALS = (0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 100.0, 1e4)
"""n and L / sigma at which w* is compared with a scale."""


def over_scale(law: str, d: int) -> dict[str, Value]:
    """The least and the largest w* of the affine law over a scale, of all `CONTEXTS` and `SIGNALS`.

    The scale is the least of that of little and that of much signal, and of w_B, where the bias is least, to some
    twenty per cent beyond ten tokens. At d = 2 the bias has from w ~ n^(2/3) on a part ~ w^(-1/2) / n, which balances
    the noise at w = L^2 / (12 sigma^2).
    """
    shares = []
    for n in CONTEXTS:
        for ratio in SIGNALS:
            signal = n * ratio**2
            window = derived_constant(law, d)[0] * signal ** (2 / (d + 3))
            window = max(window, ratio**2 / 12) if d == 2 else window
            best = {2: 3 + n**2 / 50, 3: 1.18 * n ** (2 / 3), 5: 2.6 * n ** (1 / 3)}[d]
            scale = min(signal / (3 * d), window, best)
            w, error = optimum(law, d, n, L=ratio)["w"]
            shares.append((w / scale, error / scale))
    return {"least": min(shares), "largest": max(shares)}


def every_dimension(law: str, d: int) -> dict[str, Any]:
    """w* / (k_d W) and its exponent in Lambda, by the theorem about every d at once."""
    from lipverify.proofs import EveryDimension, prove_every_dimension

    meant = lv.laws.law_named(law)
    proof = proved(f"dimensions-{law}", "every dimension", {"law": law}, lambda: prove_every_dimension(meant))
    most = {"W_least": 1e6 if law == "relu" else 1e4, "W_per_d": 100 if law == "relu" else 10, "K": 1e4, "M": 1e3}
    if not isinstance(proof, EveryDimension) or any(proof.constants[name] > value for name, value in most.items()):
        raise ValueError(f"dimensions-{law}.json: not with ranges that begin at {most}: {proof.statement}")
    return {"share": proof.fact("window"), "rate": 2 / (proof.fact("shift") + d)}


def share(law: str, d: int) -> Value:
    """w* / (k_d W) by the exact method at the boundary of that theorem: W = 10^4 or 10^6, n = 10^4 W^((d-1)/2+beta-1)."""
    from scipy.special import gammaln

    W, power = (1e6, (d + 2) / 2) if law == "relu" else (1e4, (d + 3) / 2)
    n = 1e4 * W ** (power - 1)
    w, error = optimum(law, d, n, sigma=(n / W**power) ** 0.5)["w"]
    log_k = {
        "affine": math.log(1 / (3 * d)) + gammaln(d) - gammaln((d - 1) / 2),
        "quadratic": math.log(8 / ((d - 1) * (d + 2))) + gammaln(d) - gammaln((d - 1) / 2),
        "relu": math.log((2 - math.sqrt(2)) / (6 * math.pi)) + gammaln(d / 2) + gammaln(d) - 2 * gammaln((d + 1) / 2),
    }[law]
    unit = W * math.exp(log_k / power)
    return w / unit, error / unit
