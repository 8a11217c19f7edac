r"""The slide of extreme examples: w* grows with L and n and falls with sigma; and the limits of each."""

from __future__ import annotations

import math
from typing import Any

import lipverify as lv
from lipverify.claims import Source, agree, bound, claim, exponent, per_profile

Value = tuple[float, float]


def window(law: str, d: int, n: float, L: float = 1.0, sigma: float = 1.0) -> Value:
    """w*, exactly."""
    found = lv.optimal_window(lv.Problem(d=d, n=n, law=lv.laws.law_named(law, L=L), sigma=sigma))
    return found.w, found.w_error


def sampled_window(law: str, d: int, n: float, contexts: int, seed: int) -> Value:
    """w* on sampled contexts alone."""
    from lipverify.optimum.window.empirical import empirical_window

    problem = lv.Problem(d=d, n=n, law=lv.laws.law_named(law), sigma=1.0)
    found = empirical_window(problem, contexts=contexts, seed=seed, stream=f"window/{law}/{d}/{n}")
    return found.w, found.w_error


def elasticities(law: str, d: int, n: float, L: float) -> dict[str, Value]:
    """d log w* / d log of L, n and sigma, over a factor of two in each from sigma = 1."""
    low, error = window(law, d, n, L)
    doubled = {"L": window(law, d, n, 2 * L), "n": window(law, d, 2 * n, L), "sigma": window(law, d, n, L, 2.0)}
    return {
        name: (math.log(w / low) / math.log(2), (w_error / w + error / low) / math.log(2))
        for name, (w, w_error) in doubled.items()
    }


def proved_windows(d: int, n: float, sigma: float, L: float, larger: float) -> dict[str, Value]:
    """Intervals that contain every w* of the cosine law at L and at a larger constant, and their difference, by balls."""
    from lipverify.optimum.window import certified_window

    problems = [lv.Problem(d=d, n=n, law=lv.laws.Cosine(L=each), sigma=sigma) for each in (L, larger)]
    (one, error), (other, further) = (certified_window(problem).value for problem in problems)
    return {"change": (other - one, (error + further) * (1 + 1e-15) + 1e-15 * abs(other - one)), "at": (one, error)}


EXAMPLES = Source(
    "S",
    "Some extreme examples",
    r"$\sigma \to \infty$: no signal, average the noise, $w_{KQ} \to 0$. $L \gg \sigma$: no point aggregating noise, pick the nearest "
    r"neighbour, $w_{KQ} \to \infty$. $n \to \infty$: the query token is in the context! Choose the nearest neighbour, $w_{KQ} \to \infty$",
)
SUMMARY = Source(
    "S",
    "Intuition Summary",
    r"Function change: rapid; desired (attention window, $w_{KQ}$): (small, large). Slow: (large, small)",
)
INSIGHTS = Source(
    "A",
    "In-depth insights, ICL Mechanism",
    "This window's size dynamically adjusts—shrinking with increased Lipschitzness (less noisy functions) and expanding with higher "
    "noise levels.",
)
MODEL = (
    r"tokens and query uniform on $S^{d-1}$, noise independent with variance $\sigma^2$",
    r"$\mathbf{M} = w \mathbf{I}$, attention scores $w \langle x_i, x \rangle$",
)
GRID = (
    *MODEL,
    r"$d = 2, 3, 5, 8$; $n = 10^3$ with $L/\sigma = 0.3$ and $1$, $n = 10^5$ with $L/\sigma = 1$; over a factor of two",
)
POINTS = [(1000, 0.3), (1000, 1.0), (10**5, 1.0)]
LOCAL: dict[str, Any] = {
    "kind": {"relu/n": "convention", "relu/*": "printed", "*": "stronger"},
    "expected": "supported",
    "over": {
        "law": ("affine", "relu"),
        "d": (2, 3, 5, 8),
        ("n", "L"): per_profile(POINTS, [*POINTS, (100, 1.0), (1000, 3.0), (10**5, 10.0)]),
    },
    "assumes": GRID,
    "agrees": agree(window, sampled_window, "w^*", over={"d": (3, 5), "n": 100}),
}
NOISE_ALONE = r"The twin lies a little beyond the largest elasticity of the grid; where noise dominates $w^* \propto n L^2 / \sigma^2$."

claim(
    "softmax.window-directions/{law}/l",
    bound(elasticities, r"\frac{\mathrm{d} \log w^*}{\mathrm{d} \log L}", of="L", low=0, strict=True, twin=1.2),
    source=SUMMARY,
    title="w* grows with L, the window narrows",
    finding="A rougher function (larger $L$) wants a narrower window. The summary A calls high Lipschitzness smooth; the direction it "
    f"gives, a smaller window, is the one measured here. {NOISE_ALONE}",
    **LOCAL,
)
claim(
    "softmax.window-directions/{law}/n",
    bound(elasticities, r"\frac{\mathrm{d} \log w^*}{\mathrm{d} \log n}", of="n", low=0, strict=True, twin=0.7),
    source=EXAMPLES,
    title="w* grows with n, the window narrows",
    finding=NOISE_ALONE,
    **LOCAL,
)
claim(
    "softmax.window-directions/{law}/sigma",
    bound(
        elasticities, r"\frac{\mathrm{d} \log w^*}{\mathrm{d} \log \sigma}", of="sigma", high=0, strict=True, twin=-2
    ),
    source=INSIGHTS,
    title="w* falls with the noise, the window widens",
    finding=NOISE_ALONE,
    **LOCAL,
)
claim(
    "softmax.window-directions/{law}/sigma-to-infinity",
    exponent(
        window, "w^*", along="sigma", scale=r"\sigma", ray=(10.0, 1e4, per_profile(9, 18)), high=0, strict=True, sharp=-2
    ),
    source=EXAMPLES,
    kind={"relu/*": "printed", "*": "stronger"},
    expected="supported",
    over={"law": ("affine", "relu"), "d": (3, 5), "n": 50},
    title="w* tends to 0 as the noise grows",
    assumes=(*MODEL, r"$\sigma \to \infty$ at $L = 1$, $n = 50$; $d = 3, 5$"),
    finding=r"The sharp exponent is $-2$: $w = 0$ is left at first order in $L^2/\sigma^2$.",
)  # fmt: skip
claim(
    "softmax.window-directions/{law}/l-to-infinity",
    exponent(window, "w^*", along="L", ray=(1.0, 1e4, per_profile(9, 18)), low=0, strict=True, twin="0.04", instead={"equals": 0}),
    source=EXAMPLES,
    kind="stronger",
    expected="refuted",
    over={"law": "affine", "d": (3, 5), "n": 50},
    title="w* tends to infinity as L grows, at a fixed number of tokens",
    assumes=(*MODEL, r"$L \to \infty$ at $\sigma = 1$, $n = 50$; $d = 3, 5$"),
    finding=r"The slide's limit holds along $n \to \infty$. At fixed $n$ the optimal window does not narrow without bound as $L/\sigma \to "
    r"\infty$: without noise the bias itself has a minimum at a finite $w$, because averaging a few neighbours around the query cancels "
    "their first-order errors, which the nearest neighbour alone cannot.",
    corrected=r"$w^* \to w_0(n, d) < \infty$ as $L/\sigma \to \infty$ at fixed $n$",
)  # fmt: skip
COSINE: dict[str, Any] = {
    "source": SUMMARY,
    "kind": "stronger",
    "expected": "refuted",
    "over": {"d": 2, "n": 1000, "sigma": 13.0},
    "assumes": (*MODEL, r"cosine law, $d = 2$, $n = 1000$, $\sigma = 13$"),
}
claim(
    "softmax.window-directions/cosine/l",
    bound(
        proved_windows,
        "w^*(L') - w^*(L)",
        of="change",
        low=0,
        twin=5,
        instead={"low": "-2.1", "high": "-2"},
        over={"L": 3.0, "larger": 4.0},
        method="certified",
    ),
    title="w* grows with L, where L is a frequency",
    statement="L' > L \\implies w^*(L') \\geq w^*(L)",
    finding=r"By balls: $w^*$ at $L = 3$ lies in an interval about 2.05, and $w^* = 0$ at $L = 4$. A wave that a wide window cannot follow is "
    r"left to the average of all tokens: what attention can use at $w$ near 0 is the second harmonic, of size $J_2(L)^2$, which falls from "
    "$L = 3.05$ on.",
    corrected=r"$w^*$ grows with $L$ where $L$ is an amplitude (affine, ReLU), and for the cosine law while $J_2(L)^2$ does",
    **COSINE,
)
claim(
    "softmax.window-directions/cosine/positive",
    bound(
        proved_windows,
        "w^*",
        of="at",
        low=0,
        strict=True,
        twin={"L": 3.0},
        instead={"equals": 0, "within": "1e-15"},
        over={"L": (1.0, 4.0), "larger": 3.0},
        method="certified",
    ),
    title="some attention is better than the average of all tokens",
    statement="w^* > 0",
    finding=r"By balls: at $L = 1$ and at $L = 4$ the loss has its only minimum at $w = 0$. The cosine law is even, so $w = 0$ is always "
    r"stationary, and a minimum if $(\sigma^2 + \mathrm{Var} f) / n > 2 (1 - 2/n) k_2 / (d + 2)$, $k_2$ the weight of the second harmonic.",
    corrected=r"$w^* > 0$ for laws with a linear part (affine, ReLU); for an even law only if its second harmonic outweighs the noise",
    **COSINE,
)
