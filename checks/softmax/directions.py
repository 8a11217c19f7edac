r"""The slide of extreme examples: the optimal w grows with L and n and falls with sigma, and the limits of each.

All directions hold, the ones in L and sigma by proof for every n and d. w* -> 0 as sigma grows and w* -> infinity as n
grows hold; at a fixed number of tokens w* -> infinity for L >> sigma is false: without noise the best w is finite.
"""

from typing import Any

from lipverify.checks.softmax import figures
from lipverify.checks.softmax.quantities import LAWS, MODEL, optimum, sampled_optimum
from lipverify.checks.softmax.window_moves import (
    CONTEXT_GROWS,
    INSIGHTS,
    NOISE_GROWS,
    SIGNAL_GROWS,
    SMOOTHER,
    SUMMARY,
    at_no_noise,
    elasticities,
    local_elasticities,
)
from lipverify.claims import agree, at, bound, claim, exponent, per_profile

# fmt: off
POINTS = [(1000, 0.3), (1000, 1.0), (10**5, 1.0)]
LOCAL: dict[str, Any] = {
    "kind": {"relu/n": "convention", "relu/*": "printed", "*": "stronger"}, "expected": "supported",
    "over": {"law": {"affine": {"most_L": "0.95", "most_n": "0.53", "most_sigma": "1.5"},
                     "relu": {"most_L": "1.2", "most_n": "0.7", "most_sigma": "1.85"}}, "d": (2, 3, 5, 8),
             ("n", "L"): per_profile(POINTS, [*POINTS, (100, 1.0), (1000, 3.0), (10**5, 10.0)])},
    "assumes": (*MODEL, r"""$d = 2, 3, 5, 8$; $n = 10^3$ with $L/\sigma = 0.3$ and $1$, $n = 10^5$ with $L/\sigma = 1$;
    over a factor of two"""),
}
SAMPLED = agree(optimum, at(sampled_optimum, contexts=per_profile(8000, 400_000)), "w^*", of="w",
                over={"d": (3, 5), "n": 100})
BEYOND = r"""The control lies a little beyond the largest elasticity of the grid; where noise dominates $w^* \propto n
L^2 / \sigma^2$."""

claim("softmax.window-directions/{law}/l",
      bound(elasticities, r"\frac{\mathrm{d} \log w^*}{\mathrm{d} \log L}", of="L", low=0, strict=True,
            control="most_L", method="exact"),
      SAMPLED,
      source=SUMMARY, title="w* grows with L, the window narrows", **LOCAL,
      finding=rf"""A rougher function (larger $L$) wants a narrower window. The summary A calls high Lipschitzness
      smooth; the direction it gives, a smaller window, is the one measured here. {BEYOND}""")
claim("softmax.window-directions/{law}/n",
      bound(elasticities, r"\frac{\mathrm{d} \log w^*}{\mathrm{d} \log n}", of="n", low=0, strict=True,
            control="most_n", method="exact"),
      SAMPLED,
      source=CONTEXT_GROWS, title="w* grows with n, the window narrows", **LOCAL, finding=BEYOND)
claim("softmax.window-directions/{law}/sigma",
      bound(elasticities, r"\frac{\mathrm{d} \log w^*}{\mathrm{d} \log \sigma}", of="sigma", high=0, strict=True,
            control="-most_sigma", method="exact"),
      SAMPLED,
      source=INSIGHTS, title="w* falls with the noise, the window widens", **LOCAL, finding=BEYOND)
claim("softmax.window-directions/{law}/sigma-to-infinity",
      exponent(optimum, "w^*", of="w", along={"sigma": (10.0, 1e4, per_profile(9, 18))}, scale=r"\sigma", high=0,
               strict=True, truth=-2, method="exact"),
      source=NOISE_GROWS, kind={"relu/*": "printed", "*": "stronger"}, expected="supported",
      over={"law": ("affine", "relu"), "d": (3, 5), "n": 50}, title="w* tends to 0 as the noise grows",
      assumes=(*MODEL, r"$\sigma \to \infty$ at $L = 1$, $n = 50$; $d = 3, 5$"),
      finding=r"The sharp exponent is $-2$: $w = 0$ is left at first order in $L^2/\sigma^2$.")
claim("softmax.window-directions/{law}/l-to-infinity",
      exponent(optimum, "w^*", of="w", along={"L": (1.0, 1e4, per_profile(9, 18))}, low=0, strict=True,
               control=("0.04", {"equals": 0}), method="exact"),
      source=SIGNAL_GROWS, kind={"relu/*": "printed", "*": "stronger"}, expected="refuted",
      over={"law": ("affine", "relu"), "d": (3, 5), "n": 50},
      title="w* tends to infinity as L grows, at a fixed number of tokens",
      statement=r"w^* \to \infty \quad (L / \sigma \to \infty)",
      assumes=(*MODEL, r"$L \to \infty$ at $\sigma = 1$, $n = 50$; $d = 3, 5$"),
      finding=at(figures.without_noise, found=at(figures.noiseless)),
      corrected=r"""$w^* \to w_0(n, d) < \infty$ as $L/\sigma \to \infty$ at fixed $n$: the limit needs $n \to \infty$
      as well""")
claim("softmax.window-directions/{law}/noiseless",
      bound(at(optimum, sigma=0.0), "w^*", of="w", equals=at_no_noise, within=0.1, method="exact"),
      source=SIGNAL_GROWS, kind="sharp", expected="supported", over={"law": "relu", ("d", "n"): figures.NOISELESS},
      title="the best window without any noise is finite",
      statement=r"w^*|_{\sigma = 0} = 16.8\ (d = 3, n = 50),\quad 27.5\ (d = 3, n = 100),\quad 9.8\ (d = 5, n = 50)",
      assumes=(*MODEL, r"$\sigma = 0$, $L = 1$"),
      finding=r"""By `softmax.window-directions/any-amplitude/proved` $w^*$ never falls as $L / \sigma$ grows, and stays
      at or below this.""")
claim("softmax.window-directions/{law}/n-to-infinity",
      exponent(optimum, "w^*", of="w", along={"n": (1e4, 1e30)}, low=0, strict=True, truth="rate", method="exact"),
      source=CONTEXT_GROWS, kind={"relu/*": "printed", "*": "stronger"}, expected="supported",
      over={"law": LAWS, "d": (2, 3, 5, 8)},
      title="w* tends to infinity as the context grows", assumes=(*MODEL, r"$n \to \infty$ at $L = \sigma = 1$"),
      finding="""Whether the best window then holds the nearest neighbour alone is another claim (`nearest-neighbour`):
      it holds more and more tokens.""")
claim("softmax.window-directions/{law}/smoother",
      bound(elasticities, r"\frac{\mathrm{d} \log w^*}{\mathrm{d} \log L}", of="L", high=0, strict=True,
            control=(-0.1, {"low": 0, "strict": True}), method="exact"),
      source=SMOOTHER, kind="convention", expected="refuted",
      over={"law": ("affine", "relu"), "d": (2, 3, 5, 8), "n": 1000, "L": 1.0},
      title="the window narrows for smoother functions, smoother in the usual sense",
      assumes=(*MODEL, r"$n = 1000$, $L = \sigma = 1$; smoother: a smaller Lipschitz constant"),
      reading="smoother: a smaller Lipschitz constant",
      finding="""A large Lipschitz constant means a rough function. What the summary says of the number is right, what
      it says in words is its opposite.""",
      corrected="the window narrows for rougher functions (higher Lipschitzness) and widens for smoother ones")
GRIDS = {
    "affine": ((2, 1.75), [(4, 2, 1.0), (4, 5, 1e3), (4, 20, 1.0), (1000, 2, 1e3), (1000, 5, 1.0), (10**12, 2, 1e-3),
                           (10**12, 5, 1e-3), (10**12, 20, 1e3)]),
    "relu": ((1.1, 0.55), [(1000, 2, 1.0), (1000, 5, 1.0), (1000, 20, 1.0), (10**12, 2, 1e-3), (10**12, 5, 1e3),
                           (10**12, 20, 1e-3)]),
}
"""Elasticities in L and n just beyond the largest of the grid (2 where noise dominates), and (n, d, L / sigma):
from 4 tokens to 10^12, d = 2 to 20, six decades of L / sigma; what is flat to rounding is left out."""
for law, ((most, more), cells) in GRIDS.items():
    HERE: dict[str, Any] = {"strict": True, "method": "exact"}
    claim(f"softmax.window-directions/{law}/grid",
          bound(at(local_elasticities, law=law), r"\frac{\mathrm{d} \log w^*}{\mathrm{d} \log L}", of="L",
                low=0, control=most, **HERE),
          bound(at(local_elasticities, law=law), r"\frac{\mathrm{d} \log w^*}{\mathrm{d} \log n}", of="n",
                low=0, control=more, **HERE),
          bound(at(local_elasticities, law=law), r"\frac{\mathrm{d} \log w^*}{\mathrm{d} \log \sigma}", of="sigma",
                high=0, control=-most, **HERE),
          source=SUMMARY, kind="stronger", expected="supported", over={("n", "d", "L"): cells},
          title="w* grows with L and n and falls with the noise, from 4 tokens to 10^12",
          assumes=(*MODEL,
                   r"""$n = 4$ to $10^{12}$, $d = 2$ to $20$, $L/\sigma = 10^{-3}$ to $10^3$: the cells; exact
          derivatives"""),
          finding=r"""The two in $L$ and $\sigma$ hold for every $n$ and $d$
          (`softmax.window-directions/any-amplitude/proved`). The one in $n$ is measured: it is 1 where noise dominates,
          $2/(d+2)$ (ReLU) or $2/(d+3)$ (affine) in the relevant range, and up to $2/(d-1)$ where there is hardly any
          noise and the best window holds a few tokens.""")
