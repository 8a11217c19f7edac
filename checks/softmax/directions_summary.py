r"""The summary on the direction of the window: smoother functions, higher Lipschitzness, more noise.

The window narrows as the Lipschitz constant grows, for every n and d, and the summary's sentences are right about the
constant. Its word for a high constant, smooth, is the opposite of the usual one. The width is not proportional to 1/L.
"""

from lipverify.checks.softmax.directions_proofs import RISES, STRICT
from lipverify.checks.softmax.quantities import LAWS, MODEL
from lipverify.checks.softmax.window_moves import CAPTION, INVERSELY, SMOOTHER, window_rate
from lipverify.claims import at, bound, claim

# fmt: off
CONSTANT = "the Lipschitz constant counts: the window narrows as it grows"
NAMED = {
    "higher-lipschitzness": (SMOOTHER, CONSTANT, r"""Both sentences name the constant, "higher Lipschitzness" and "high
      Lipschitzness", and a word for it. By the constant they are right. The word is not the usual
      one: by its usual meaning, a smaller Lipschitz constant, they are false (`smoother/proved`)."""),
    "less-smooth": (CAPTION, "smooth means a high Lipschitz constant, as elsewhere in the summary", r"""Elsewhere the summary
      calls high Lipschitzness smooth; then "less smooth" means a smaller constant, and the focus widens.
      In the usual sense it is false (`rougher/proved`)."""),
    "in-direction": (INVERSELY, "in direction: narrower for a larger L, wider for more noise", ""),
}
"""Sentences of the summary on the direction in L: the printed place, the reading, and the result."""
for name, (printed, reading, finding) in NAMED.items():
    claim(f"softmax.window-directions/{{law}}/{name}/proved",
          RISES,
          source=printed, kind="convention", expected="supported", over={"law": ("affine", "relu")}, reading=reading,
          title="the window narrows with higher Lipschitzness and less noise: every n and d",
          statement=r"\rho < \rho' \implies w^*(\rho) < w^*(\rho'), \qquad \rho = L^2/\sigma^2",
          assumes=(*MODEL, r"any $n \geq 2$, $d \geq 2$; $w \geq 0$; higher Lipschitzness: a larger $L$"),
          forall=("n >= 2", "d", "L > 0", "sigma > 0"), by_hand=STRICT, finding=finding)
claim("softmax.window-directions/{law}/in-proportion/proved",
      bound(at(window_rate, power=-1), r"\text{limit exponent of } (w^*)^{-1/2} \text{ in } L", equals="-1", within="1e-15", truth="-rate",
            over={"d": (2, 3, 5, 8)}, method="certified"),
      bound(window_rate, r"\text{limit exponent of } (w^*)^{-1/2} \text{ in } \sigma", equals="1", within="1e-15", truth="rate",
            over={"d": (2, 3, 5, 8)}, method="certified"),
      source=INVERSELY, kind="convention", reading="in proportion: a width of order 1/L, and of order sigma", expected="refuted",
      over={"law": LAWS},
      title="the width of the window is inversely proportional to L and proportional to the noise: disproved",
      statement=r"(w^*)^{-1/2} = \Theta(\sigma / L)", assumes=(*MODEL, "$d = 2, 3, 5, 8$; every $n$ from an explicit number on"),
      finding=r"""By the window theorem the width $(w^*)^{-1/2}$ is of the order of $\Lambda^{-1/(d+2)}$ (ReLU) or $\Lambda^{-1/(d+3)}$
      (affine), with $\Lambda = n L^2/\sigma^2$: it falls with $L$, and more slowly than $1/L$ in every dimension.""",
      corrected=r"the width is of the order of $(\sigma / L)^{2/(d+2)}$ for the ReLU law, $(\sigma / L)^{2/(d+3)}$ for the affine one")
USUAL = bound(at(window_rate, of="L"), r"\text{limit exponent of } w^* \text{ in } L", high="0", strict=True, truth="2*rate",
              over={"d": (2, 3, 5, 8)}, method="certified")
claim("softmax.window-directions/{law}/rougher/proved",
      USUAL,
      source=CAPTION, kind="convention", reading="less smooth means a larger Lipschitz constant, as usual", expected="refuted",
      over={"law": LAWS}, title="the focus widens for rougher functions: disproved",
      statement=r"w^* = \Theta(L^e),\ e < 0", assumes=(*MODEL, "$d = 2, 3, 5, 8$; every $n$ from an explicit number on"),
      finding=r"By the window theorem $w^*$ is of the order of a positive power of $n L^2 / \sigma^2$: the window narrows.",
      corrected="the weights narrow their focus for less smooth functions (a larger Lipschitz constant)")
claim("softmax.window-directions/{law}/smoother/proved",
      USUAL,
      proves="softmax.window-directions/{law}/smoother", source=SMOOTHER, kind="derived", expected="refuted",
      over={"law": LAWS},
      title="the window narrows for smoother functions, smoother in the usual sense: disproved",
      statement=r"w^* = \Theta(L^e),\ e < 0",
      assumes=(*MODEL,
               "$d = 2, 3, 5, 8$; every $n$ from an explicit number on; smoother: a smaller Lipschitz constant"),
      finding=r"""By the window theorem $w^*$ is of the order of a positive power of $n L^2 / \sigma^2$; and it rises
      with $L$ for every $n$ (`relu/l/proved`).""",
      corrected="the window narrows for rougher functions (higher Lipschitzness) and widens for smoother ones")
