r"""How the optimal w changes with L, n and sigma, and how many tokens its window holds."""

from __future__ import annotations

import math
from typing import Any

import lipverify as lv
from lipverify.checks.softmax.quantities import Value, optimum, problem


def with_context(law: str, d: int, L: float) -> dict[str, Value]:
    """The optimal w at sigma = 1 in a context that grows with L, n = 50 L^(d + 2)."""
    return optimum(law, d, round(50 * L ** (d + 2)), L)


def elasticities(law: str, d: int, n: float, L: float) -> dict[str, Value]:
    """The elasticities d log w* / d log of L, n and sigma, over a factor of two in each from sigma = 1."""
    low, error = optimum(law, d, n, L)["w"]
    doubled = {"L": optimum(law, d, n, 2 * L), "n": optimum(law, d, 2 * n, L), "sigma": optimum(law, d, n, L, 2.0)}
    windows = {name: best["w"] for name, best in doubled.items()}
    return {
        name: (math.log(w / low) / math.log(2), (w_error / w + error / low) / math.log(2))
        for name, (w, w_error) in windows.items()
    }


def local_elasticities(law: str, d: int, n: float, L: float) -> dict[str, Value]:
    """The elasticities d log w* / d log of L, n and sigma at sigma = 1, as exact derivatives."""
    moves = lv.sensitivity(lv.optimal_window(problem(law, d, n, L)))
    found = {"L": moves.window_L, "n": moves.window_n, "sigma": moves.window_sigma}
    return {name: (float(value), moves.window_error) for name, value in found.items() if value is not None}


def proved_windows(d: int, n: float, sigma: float, L: float, larger: float) -> dict[str, Any]:
    """Intervals that contain every w* of the cosine law at L and at a larger constant, and their difference, by balls."""
    from lipverify.claims import proved_optimum

    def window(L: float) -> Any:
        waves = problem("cosine", d, n, L, sigma)
        return proved_optimum(f"optimum-cosine-{L:g}-{d}-{n:g}-{sigma:g}", waves).fact("window")

    one, other = window(L), window(larger)
    return {"change": other - one, "at": one}


def window_rate(law: str, d: int, of: str = "n", power: int = 1) -> Any:
    """The exponent of w* in n, or in L, by the window theorem, times `power`: w* is of the order of a power of n L^2 / sigma^2."""
    from lipverify.claims import proved_window

    rate = proved_window(law, d).fact(f"window exponent in {of}")
    return rate if power == 1 else rate * power


def tokens(law: str, d: int, n: float, sigma: float = 1.0) -> Value:
    """1 / E sum_i a_i^2 at w*: the number of tokens in the optimal window."""
    here = problem(law, d, n, sigma=sigma)
    best = lv.optimal_window(here)
    # the exponent of w in the noise is at most (d - 1) / 2, which bounds the effect of an error of w*
    relative = (d - 1) / 2 * best.w_error / best.w
    if sigma > 0:
        return sigma**2 / best.noise, (relative + best.loss_error / best.noise) * sigma**2 / best.noise
    terms = lv.loss_terms(here.replace(sigma=1.0), best.w)
    noise = float(terms.noise)
    return 1 / noise, (relative + float(terms.noise_error) / noise) / noise


def at_no_noise(d: int, n: int) -> float:
    """The claimed value of w* at sigma = 0."""
    return {(3, 50): 16.8, (3, 100): 27.5, (5, 50): 9.8}[d, n]


NOISE_GROWS = (
    "S",
    r"Some extreme examples, $\sigma \to \infty$",
    r"$\sigma \to \infty$: no signal, average the noise, $w_{KQ} \to 0$.",
)
SIGNAL_GROWS = (
    "S",
    r"Some extreme examples, $L \gg \sigma$",
    r"$L \gg \sigma$: no point aggregating noise, pick the nearest neighbour, $w_{KQ} \to \infty$.",
)
CONTEXT_GROWS = (
    "S",
    r"Some extreme examples, $n \to \infty$",
    r"$n \to \infty$: the query token is in the context! Choose the nearest neighbour, $w_{KQ} \to \infty$.",
)
SHRINKS, ALONE = "the window shrinks to the query", "the window holds a bounded number of tokens"
"""Two readings of "choose the nearest neighbour"."""
SUMMARY = (
    "S",
    "Intuition Summary",
    r"""Function change & Desired (attention window, $w_{KQ}$) \\ Rapid & (Small, Large) \\ Slow & (Large, Small)""",
)
AMPLITUDE, FREQUENCY = "a class f = L g: rapid means a larger L", "waves: rapid means a higher frequency"
"""Two readings of "rapid"."""
INSIGHTS = (
    "A",
    "In-depth insights, ICL Mechanism, the window adjusts",
    "This window's size dynamically adjusts—[...] and expanding with higher noise levels.",
)
INVERSELY = (
    "A",
    "In-depth insights, Softmax Attention",
    "the attention window scales inversely with Lipschitzness and directly with label noise during the pretraining phase",
)
CAPTION = (
    "A",
    "More visual insights, captions of the figures on three functions",
    "The softmax model's weights show adaptation to Lipschitzness, widening their focus for less smooth functions.",
)
SMOOTHER = (
    "A",
    "TL;DR; In-depth insights, Attention Window",
    """The attention window narrows for smoother functions (higher Lipschitzness) and widens with increased noise or for
    functions that only change in specific directions. [...] A smaller
    attention window is observed in settings with high Lipschitzness (smooth functions) and low noise during pretraining, while a
    larger window is associated with low Lipschitzness (rougher functions) and high noise.""",
)
