r"""The slide of extreme examples, its limits: w* -> 0 as sigma grows, w* -> infinity for L >> sigma and as n grows.

The limits in sigma and n hold. For L >> sigma the slide names no n: w* -> infinity holds if n grows as well, and is
false at a fixed number of tokens, where the optimal w is finite even without noise.
"""

from lipverify.checks.softmax import figures
from lipverify.checks.softmax import window_moves as moves
from lipverify.checks.softmax.quantities import LARGE_N, LAWS, MODEL, optimum
from lipverify.claims import at, bound, claim, exponent, per_profile

# fmt: off

claim("softmax.window-directions/{law}/sigma-to-infinity",
      exponent(optimum, "w^*", of="w", along={"sigma": (10.0, 1e4, per_profile(9, 18))}, scale=r"\sigma", high=0,
               strict=True, truth=-2, method="exact"),
      source=moves.NOISE_GROWS, kind={"relu/*": "printed", "*": "stronger"}, expected="supported",
      over={"law": ("affine", "relu"), "d": (3, 5), "n": 50}, title="w* tends to 0 as the noise grows",
      assumes=(*MODEL, r"$\sigma \to \infty$ at $L = 1$, $n = 50$; $d = 3, 5$"),
      finding=r"The sharp exponent is $-2$: $w^*$ is proportional to $L^2/\sigma^2$ at first order.")
claim("softmax.window-directions/{law}/l-to-infinity",
      exponent(optimum, "w^*", of="w", along={"L": (1.0, 1e4, per_profile(9, 18))}, low=0, strict=True,
               control=("0.04", {"equals": 0}), method="exact"),
      source=moves.SIGNAL_GROWS, kind={"relu/*": "convention", "*": "stronger"},
      reading={"relu/*": "at a fixed number of tokens", "*": ""}, expected="refuted",
      over={"law": ("affine", "relu"), "d": (3, 5), "n": 50},
      title="w* tends to infinity as L grows, at a fixed number of tokens",
      statement=r"w^* \to \infty \quad (L / \sigma \to \infty)",
      assumes=(*MODEL, r"$L \to \infty$ at $\sigma = 1$, $n = 50$; $d = 3, 5$"),
      finding=at(figures.without_noise, found=at(figures.noiseless)),
      corrected=r"""$w^* \to w_0(n, d) < \infty$ as $L/\sigma \to \infty$ at fixed $n$: the limit needs $n \to \infty$
      as well""")
claim("softmax.window-directions/{law}/l-to-infinity/long-contexts",
      exponent(moves.with_context, "w^*", of="w", along={"L": (10.0, 1e4, 12)}, low=0, strict=True, truth="2*(d + 4)/(d + 2)",
               method="exact"),
      source=moves.SIGNAL_GROWS, kind="convention", reading="with more tokens as L grows", expected="supported",
      over={"law": "relu", "d": (3, 5)},
      title="w* tends to infinity as L grows and the context with it",
      statement=r"w^* \to \infty \quad (L / \sigma \to \infty, \ n \to \infty)",
      assumes=(*MODEL, r"$L \to \infty$ at $\sigma = 1$ with $n = 50 L^{d+2}$; $d = 3, 5$"),
      finding=r"""Theorem 2 is about sufficiently large $n$. With $n$ large enough for its window to hold many tokens, $w^*$
      is of the order of $(n L^2 / \sigma^2)^{2/(d+2)}$ and grows with $L$ without bound.""")
claim("softmax.window-directions/{law}/l-to-infinity/long-contexts/proved",
      bound(at(moves.window_rate, of="L"), r"\text{limit exponent of } w^* \text{ in } L", low="0", strict=True, truth="2*rate",
            over={"d": (3, 5)}, method="certified"),
      proves="softmax.window-directions/{law}/l-to-infinity/long-contexts", source=moves.SIGNAL_GROWS, kind="derived",
      expected="supported", over={"law": {"relu": LAWS["relu"]}},
      title="w* tends to infinity as L grows and the context with it: proved", forall=LARGE_N,
      assumes=(*MODEL, r"""$d = 3, 5$; any $\sigma$, every $L$ and $n$ with $\Lambda \geq \Lambda_0$, $n \geq K W^{d/2}$, $W =
               \Lambda^{2/(d+2)}$"""),
      finding=r"""By the window theorem $w^*$ lies between two multiples of $(n L^2 / \sigma^2)^{2/(d+2)}$ for all these $L$
      and $n$; $n = 50 L^{d+2}$ is among them from some $L$ on.""")
claim("softmax.window-directions/{law}/noiseless",
      bound(at(optimum, sigma=0.0), "w^*", of="w", equals=moves.at_no_noise, within=0.1, method="exact"),
      source=moves.SIGNAL_GROWS, kind="sharp", expected="supported", over={"law": "relu", ("d", "n"): figures.NOISELESS},
      title="without noise the optimal w is finite",
      statement=r"w^*|_{\sigma = 0} = 16.8\ (d = 3, n = 50),\quad 27.5\ (d = 3, n = 100),\quad 9.8\ (d = 5, n = 50)",
      assumes=(*MODEL, r"$\sigma = 0$, $L = 1$"),
      finding=r"""By `softmax.window-directions/any-amplitude/proved` $w^*$ never falls as $L / \sigma$ grows, and stays
      at or below this value.""")
claim("softmax.window-directions/{law}/n-to-infinity",
      exponent(optimum, "w^*", of="w", along={"n": (1e4, 1e30)}, low=0, strict=True, truth="rate", method="exact"),
      source=moves.CONTEXT_GROWS, kind={"relu/*": "convention", "*": "stronger"}, reading={"relu/*": moves.SHRINKS, "*": ""},
      expected="supported",
      over={"law": LAWS, "d": (2, 3, 5, 8)},
      title="w* tends to infinity as the context grows", assumes=(*MODEL, r"$n \to \infty$ at $L = \sigma = 1$"),
      finding="""Whether the optimal window then holds the nearest neighbour alone is another claim
      (`nearest-neighbour`): it holds more and more tokens.""")
