r"""The slide of extreme examples: the optimal w grows with L and n and falls with sigma.

All three directions hold, those in L and sigma by proof for every n and d. directions_limits.py has the limits of w* as
L, n or sigma grows.
"""

from typing import Any

from lipverify.checks.softmax import window_moves as moves
from lipverify.checks.softmax.quantities import MODEL, optimum, sampled_optimum
from lipverify.claims import agree, at, bound, claim, per_profile

# fmt: off
HEADINGS = {"softmax.window-directions": (3, 7, "What widens the window and what narrows it")}
POINTS = [(1000, 0.3), (1000, 1.0), (10**5, 1.0)]
LOCAL: dict[str, Any] = {
    "expected": "supported",
    "over": {"law": {"affine": {"most_L": "0.95", "most_n": "0.53", "most_sigma": "1.5"},
                     "relu": {"most_L": "1.2", "most_n": "0.7", "most_sigma": "1.85"}}, "d": (2, 3, 5, 8),
             ("n", "L"): per_profile(POINTS, [*POINTS, (100, 1.0), (1000, 3.0), (10**5, 10.0)])},
    "assumes": (*MODEL, r"""$d = 2, 3, 5, 8$; $n = 10^3$ with $L/\sigma = 0.3$ and $1$, $n = 10^5$ with $L/\sigma = 1$;
    over a factor of two"""),
}
SAMPLED = agree(optimum, at(sampled_optimum, contexts=per_profile(8000, 400_000)), "w^*", of="w",
                over={"d": (3, 5), "n": 100})
BEYOND = r"""The control lies slightly above the largest elasticity of the grid; where noise dominates $w^* \propto n
L^2 / \sigma^2$."""

claim("softmax.window-directions/{law}/l",
      bound(moves.elasticities, r"\frac{\mathrm{d} \log w^*}{\mathrm{d} \log L}", of="L", low=0, strict=True,
            control="most_L", method="exact"),
      SAMPLED,
      source=moves.SUMMARY, kind={"relu/*": "convention", "*": "stronger"}, reading={"relu/*": moves.AMPLITUDE, "*": ""},
      title="w* grows with L, the window narrows", **LOCAL,
      finding=rf"""A rougher function (larger $L$) needs a narrower window. The summary A calls high Lipschitzness
      smooth; the direction that it gives, a smaller window, is the one measured here. {BEYOND}""")
claim("softmax.window-directions/{law}/n",
      bound(moves.elasticities, r"\frac{\mathrm{d} \log w^*}{\mathrm{d} \log n}", of="n", low=0, strict=True,
            control="most_n", method="exact"),
      SAMPLED,
      source=moves.CONTEXT_GROWS, kind="stronger", title="w* grows with n, the window narrows",
      **LOCAL, finding=BEYOND)
claim("softmax.window-directions/{law}/sigma",
      bound(moves.elasticities, r"\frac{\mathrm{d} \log w^*}{\mathrm{d} \log \sigma}", of="sigma", high=0, strict=True,
            control="-most_sigma", method="exact"),
      SAMPLED,
      source=moves.INSIGHTS, kind={"relu/*": "printed", "*": "stronger"}, title="w* falls with the noise, the window widens", **LOCAL,
      finding=BEYOND)
claim("softmax.window-directions/{law}/smoother",
      bound(moves.elasticities, r"\frac{\mathrm{d} \log w^*}{\mathrm{d} \log L}", of="L", high=0, strict=True,
            control=(-0.1, {"low": 0, "strict": True}), method="exact"),
      source=moves.SMOOTHER, kind="convention", expected="refuted",
      over={"law": ("affine", "relu"), "d": (2, 3, 5, 8), "n": 1000, "L": 1.0},
      title="the window narrows for smoother functions, smoother in the usual sense",
      assumes=(*MODEL, r"$n = 1000$, $L = \sigma = 1$; smoother: a smaller Lipschitz constant"),
      reading="the word counts: smoother means a smaller Lipschitz constant",
      finding="""A large Lipschitz constant means a rough function. The summary is right about the constant
      (`higher-lipschitzness/proved`), and its words mean the opposite.""",
      corrected="the window narrows for rougher functions (higher Lipschitzness) and widens for smoother ones")
GRIDS = {
    "affine": ((2, 1.75), [(4, 2, 1.0), (4, 5, 1e3), (4, 20, 1.0), (1000, 2, 1e3), (1000, 5, 1.0), (10**12, 2, 1e-3),
                           (10**12, 5, 1e-3), (10**12, 20, 1e3)]),
    "relu": ((1.1, 0.55), [(1000, 2, 1.0), (1000, 5, 1.0), (1000, 20, 1.0), (10**12, 2, 1e-3), (10**12, 5, 1e3),
                           (10**12, 20, 1e-3)]),
}
"""The controls for the elasticities in L and n, just above the largest of the grid (2 where noise dominates), and the
cells (n, d, L / sigma): from 4 tokens to 10^12, d = 2 to 20, six decades of L / sigma. Cells with a loss that is flat
up to rounding are left out."""
for law, ((most, more), cells) in GRIDS.items():
    HERE: dict[str, Any] = {"strict": True, "method": "exact"}
    claim(f"softmax.window-directions/{law}/grid",
          bound(at(moves.local_elasticities, law=law), r"\frac{\mathrm{d} \log w^*}{\mathrm{d} \log L}", of="L",
                low=0, control=most, **HERE),
          bound(at(moves.local_elasticities, law=law), r"\frac{\mathrm{d} \log w^*}{\mathrm{d} \log n}", of="n",
                low=0, control=more, **HERE),
          bound(at(moves.local_elasticities, law=law), r"\frac{\mathrm{d} \log w^*}{\mathrm{d} \log \sigma}", of="sigma",
                high=0, control=-most, **HERE),
          source=moves.SUMMARY, kind="stronger", expected="supported", over={("n", "d", "L"): cells},
          title="w* grows with L and n and falls with the noise, from 4 tokens to 10^12",
          assumes=(*MODEL,
                   r"""$n = 4$ to $10^{12}$, $d = 2$ to $20$, $L/\sigma = 10^{-3}$ to $10^3$: the cells; exact
          derivatives"""),
          finding=r"""The directions in $L$ and $\sigma$ hold for every $n$ and $d$
          (`softmax.window-directions/any-amplitude/proved`). The elasticity in $n$ is measured: it is 1 where noise
          dominates, $2/(d+2)$ (ReLU) or $2/(d+3)$ (affine) in the relevant range, and up to $2/(d-1)$ where there is
          hardly any noise and the optimal window holds a few tokens.""")
