r"""The slide of extreme examples, its limits: w* -> 0 as sigma grows, w* -> infinity for L >> sigma and as n grows.

The limits in sigma and n hold. At a fixed number of tokens w* -> infinity for L >> sigma is false: without noise the
optimal w is finite.
"""

from lipverify.checks.softmax import figures
from lipverify.checks.softmax.quantities import LAWS, MODEL, optimum
from lipverify.checks.softmax.window_moves import CONTEXT_GROWS, NOISE_GROWS, SIGNAL_GROWS, at_no_noise
from lipverify.claims import at, bound, claim, exponent, per_profile

# fmt: off

claim("softmax.window-directions/{law}/sigma-to-infinity",
      exponent(optimum, "w^*", of="w", along={"sigma": (10.0, 1e4, per_profile(9, 18))}, scale=r"\sigma", high=0,
               strict=True, truth=-2, method="exact"),
      source=NOISE_GROWS, kind={"relu/*": "printed", "*": "stronger"}, expected="supported",
      over={"law": ("affine", "relu"), "d": (3, 5), "n": 50}, title="w* tends to 0 as the noise grows",
      assumes=(*MODEL, r"$\sigma \to \infty$ at $L = 1$, $n = 50$; $d = 3, 5$"),
      finding=r"The sharp exponent is $-2$: $w^*$ is proportional to $L^2/\sigma^2$ at first order.")
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
      title="without noise the optimal w is finite",
      statement=r"w^*|_{\sigma = 0} = 16.8\ (d = 3, n = 50),\quad 27.5\ (d = 3, n = 100),\quad 9.8\ (d = 5, n = 50)",
      assumes=(*MODEL, r"$\sigma = 0$, $L = 1$"),
      finding=r"""By `softmax.window-directions/any-amplitude/proved` $w^*$ never falls as $L / \sigma$ grows, and stays
      at or below this value.""")
claim("softmax.window-directions/{law}/n-to-infinity",
      exponent(optimum, "w^*", of="w", along={"n": (1e4, 1e30)}, low=0, strict=True, truth="rate", method="exact"),
      source=CONTEXT_GROWS, kind={"relu/*": "printed", "*": "stronger"}, expected="supported",
      over={"law": LAWS, "d": (2, 3, 5, 8)},
      title="w* tends to infinity as the context grows", assumes=(*MODEL, r"$n \to \infty$ at $L = \sigma = 1$"),
      finding="""Whether the optimal window then holds the nearest neighbour alone is another claim
      (`nearest-neighbour`): it holds more and more tokens.""")
