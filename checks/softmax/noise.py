r"""Proof sketch: N(w) = Theta(sigma^2 (w^{d/2} + 1) / n), for the relevant range of w."""

from __future__ import annotations

from typing import Any

import lipverify as lv
from lipverify.claims import DIMENSIONS, Source, agree, at, bound, claim, exponent, needs
from lipverify.claims.plan.proved import proved_rates

Value = tuple[float, float]
WINDOWS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
"""Where the cross-check is."""


def noise(d: int, w: float) -> Value:
    """n N / sigma^2 with n = w^(d/2 + 1), so that every window holds many tokens."""
    n = min(round(w ** (d / 2 + 1)), 1e30)
    value, error = noise_at(d, n, w)
    return n * value, n * error


def noise_beyond(d: int, n: float) -> Value:
    """N / sigma^2 at w = n^(3/(d - 1)), where the nearest token takes all the attention."""
    return noise_at(d, n, n ** (3 / (d - 1)))


def noise_at(d: int, n: float, w: float) -> Value:
    """N / sigma^2, exactly; it is the same for every law."""
    terms = lv.loss_terms(lv.Problem(d=d, n=n, law=lv.laws.Affine(L=1.0), sigma=1.0), w)
    return float(terms.noise), float(terms.noise_error)


def proved_rate(d: int) -> Any:
    """The exponent a of c_low w^a / n <= N / sigma^2 <= c_high w^a / n, proved for every n and w in a range."""
    return proved_rates("affine", d)["noise"]


def sampled_curve(d: int, n: float, contexts: int, seed: int, backend: str) -> dict[str, Value]:
    """N / sigma^2 by window on contexts that are drawn in full: the exact method begins with a reduction."""
    problem = lv.Problem(d=d, n=n, law=lv.laws.Affine(L=1.0), sigma=1.0)
    drawn = {"contexts": contexts, "seed": seed, "backend": backend, "stream": f"curve/affine/{d}/{n}"}
    terms = lv.loss_terms(problem, WINDOWS, "montecarlo", sampling="full", **drawn)
    return {f"{w:g}": (float(N), float(e)) for w, N, e in zip(WINDOWS, terms.noise, terms.noise_error, strict=True)}


@needs(curve=lambda d, n: [at(sampled_curve, d=d, n=n)])
def sampled_noise(d: int, n: float, w: float, curve: list[dict[str, Value]]) -> Value:
    """N / sigma^2 at one of these windows."""
    return curve[0][f"{w:g}"]


SKETCH = Source(
    "S",
    "Proof Sketch, rate of the noise",
    r"for the relevant range of $w_{KQ}$, $\mathcal{L}_{noise}(w_{KQ}) = \Theta(\sigma^2 (w_{KQ}^{d/2} + 1)/n)$",
)
READINGS = {"ambient": {"D": "d"}, "intrinsic": {"D": "d - 1"}}
ASSUMED = (
    r"tokens and query uniform on $S^{d-1}$, noise independent with variance $\sigma^2$",
    r"$\mathbf{M} = w \mathbf{I}$, attention scores $w \langle x_i, x \rangle$",
)
CORRECTED = r"$N(w) = \Theta(\sigma^2 (w^{(d-1)/2} + 1)/n)$ for $w = o(n^{2/(d-1)})$"

claim(
    "softmax.noise-rate/{side}/{reading}",
    exponent(
        noise, r"n N / \sigma^2", along="w", ray=(30, "min(1e15, 1e30**(2/(d + 2)))"),
        low="D/2", high="D/2", sharp="(d - 1)/2", method="exact",
    ),
    source=SKETCH,
    kind="convention",
    expected={"lower/ambient": "refuted", "*": "supported"},
    over={"reading": READINGS, "d": DIMENSIONS},
    assumes=(*ASSUMED, r"$w \to \infty$ with $n = w^{d/2+1}$, so that every window holds many tokens"),
    agrees=agree(noise_at, sampled_noise, "N", over={"d": 5, "n": 100, "w": WINDOWS}),
    finding="The sharp exponent is $(d-1)/2$, half the dimension of the sphere: a window of angle $w^{-1/2}$ holds "
    "$n w^{-(d-1)/2}$ tokens. With $d$ read as the ambient dimension the rate is an upper bound and no more. "
    r"Which $d$ is meant is open: the slides have $x_i \in \mathbb{R}^d$ and $\mathbf{I}_d$, and call the law of $x_i$ uniform on the $d$-dimensional hypersphere. "
    "Both readings are therefore conventions here.",
    corrected={"*/ambient": CORRECTED, "*": ""},
)  # fmt: skip
claim(
    "softmax.noise-rate/lower/every-window",
    exponent(noise_beyond, r"N / \sigma^2", ray=(1e2, 1e8), low="1/2", sharp="0", method="exact"),
    source=SKETCH,
    kind="stronger",
    expected="refuted",
    over={"d": (2, 3, 4, 5, 6, 7)},  # beyond, the limit is approached too slowly for six decades of n to decide it
    statement=r"N(w) = \Omega\left(\sigma^2\, \frac{w^{(d-1)/2} + 1}{n}\right) \quad \text{for every } w",
    assumes=(*ASSUMED, r"$n \to \infty$ with $w = n^{3/(d-1)}$, beyond $n^{2/(d-1)}$"),
    finding=r"The relevant range is $1 \ll w \ll n^{2/(d-1)}$. Beyond it the nearest token takes all the attention and "
    r"$N \to \sigma^2$, which no power of $w$ can follow: $N \leq \sigma^2$ always.",
    corrected=CORRECTED,
)
claim(
    "softmax.noise-rate/{side}/{reading}/proved",
    bound(proved_rate, "a", low="D/2", high="D/2", sharp="(d - 1)/2", method="certified"),
    proves="softmax.noise-rate/{side}/{reading}",
    source=SKETCH,
    kind="derived",
    expected={"lower/ambient/*": "refuted", "*": "supported"},
    over={"reading": READINGS, "d": DIMENSIONS},
    title="the envelope of the noise that is proved for every n",
    corrected=CORRECTED,
    assumes=(*ASSUMED, r"$n \geq K w^{(d-1)/2}$, $w \geq w_0$, with the numbers of `lipverify prove`"),
)
