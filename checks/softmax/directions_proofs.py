r"""How L, n and the noise move the optimal w: w* never falls with L nor rises with the noise, for every n, d and law f = L g.

The noise term increases with w for every n and fixed tokens (an identity); the rest is by hand. The strict directions
for laws with a linear part and w* -> 0 as the noise grows follow from it. The window theorem gives w* -> infinity as
the context grows, and ball arithmetic shows that w* stays finite as L grows at a fixed number of tokens.
"""

from lipverify.checks.softmax import window_moves as moves
from lipverify.checks.softmax.nearest import over_nearest
from lipverify.checks.softmax.quantities import LARGE_N, LAWS, MODEL
from lipverify.checks.softmax.slopes import squares
from lipverify.claims import bound, claim, identity

# fmt: off
RISES = identity(squares, r"\frac{\mathrm{d}}{\mathrm{d} w} \sum_i a_i^2 - \sum_{ij} a_i a_j (a_i - a_j)(t_i - t_j)",
                 control={"kept": "101/100"})
COMPARED = "docs/arguments.md#comparison-of-optimal-windows"
STRICT = "docs/arguments.md#strictly-monotone-windows"
ANY = r"""any $n \geq 2$, any law $f = L g$, $\mathbb{E}\, g(x)^2 < \infty$ and $\mathbb{E}\, g(x_i)^2 < \infty$; any covariates of
    which two have different scores with positive probability; $\sigma > 0$, $w \geq 0$, with $w^* = \infty$ if no other $w$
    is as good as the limit"""

claim("softmax.window-directions/any-amplitude/proved",
      RISES,
      source=moves.SUMMARY, kind="derived", expected="supported",
      title="w* never falls with L nor rises with the noise: every n, d and law f = L g",
      statement=r"\rho_1 < \rho_2 \implies w^*(\rho_1) \leq w^*(\rho_2), \qquad \rho = L^2/\sigma^2",
      assumes=(MODEL[1], ANY), forall=("n >= 2", "d", "L", "sigma > 0", "w >= 0"), by_hand=COMPARED)
LINEAR = r"""any rotation-invariant law $f = L g$ with a linear part and a continuous covariance, such as the affine and the ReLU law"""
MOVES = {
    "l": (moves.SUMMARY, r"L < L' \implies w^*(L) < w^*(L')", "w* grows with L: every n and d"),
    "sigma": (moves.INSIGHTS, r"\sigma < \sigma' \implies w^*(\sigma') < w^*(\sigma)", "w* falls with the noise: every n and d"),
    "sigma-to-infinity": (moves.NOISE_GROWS, r"w^* \to 0 \quad (\sigma \to \infty)",
                          "w* tends to 0 as the noise grows: every n and d"),
}
"""The consequences of the monotone noise term: for each the printed place, the statement, and its title."""
for moved, (printed, statement, title) in MOVES.items():
    claim(f"softmax.window-directions/{{law}}/{moved}/proved",
          RISES,
          proves=f"softmax.window-directions/{{law}}/{moved}", source=printed, kind="derived", expected="supported",
          over={"law": ("affine", "relu")}, title=title, statement=statement,
          assumes=(*MODEL, rf"any $n \geq 2$, $d \geq 2$; {LINEAR}; $w \geq 0$"),
          # the limit has a noise level for each epsilon, and no range of it
          forall=("n >= 2", "d", "L > 0") if moved == "sigma-to-infinity" else ("n >= 2", "d", "L > 0", "sigma > 0"), by_hand=STRICT)
claim("softmax.window-directions/{law}/n-to-infinity/proved",
      bound(moves.window_rate, r"\text{limit exponent of } w^* \text{ in } n", low="0", strict=True, truth="rate",
            over={"d": (2, 3, 5, 8)}, method="certified"),
      proves="softmax.window-directions/{law}/n-to-infinity", source=moves.CONTEXT_GROWS, kind="derived",
      expected="supported", over={"law": LAWS},
      title="w* tends to infinity as the context grows: proved",
      assumes=(*MODEL, r"$d = 2, 3, 5, 8$; any $L$ and $\sigma$, $n \to \infty$"), forall=LARGE_N,
      finding=r"""By the window theorem $w^*$ lies between two multiples of $\Lambda^{2/(d+2)}$ (ReLU) or
      $\Lambda^{2/(d+3)}$ (affine) for every $n$ from an explicit number on.""")
claim("softmax.window-directions/relu/l-to-infinity/proved",
      bound(over_nearest, r"\mathcal{L}_{bias}(w_0) / \lim_{w \to \infty} \mathcal{L}_{bias}(w)", low=1,
            control=({"low": "11/10"}, {"high": "95/100", "low": "7/10"}),
            over={"d": 3, ("n", "w"): ((2, 2.0), (50, 8.0))}, method="certified"),
      proves="softmax.window-directions/relu/l-to-infinity", source=moves.SIGNAL_GROWS, kind="derived", expected="refuted",
      title="w* tends to infinity as L grows, at a fixed number of tokens: disproved",
      statement=r"w^* \to \infty \quad (L / \sigma \to \infty)",
      assumes=(*MODEL, "ReLU law, $d = 3$, $n = 2$ and $50$; $w_0 = 2$ and $8$"),
      finding=r"""As $w \to \infty$ attention tends to the nearest neighbour, and the bias to that of its label. If $w^*
      \to \infty$, then $\mathcal{L}(w^*) \leq \mathcal{L}(w_0)$ and $\nu(w^*) \geq \nu(w_0)$ (`any-amplitude/proved`)
      give $b(w^*) \leq b(w_0)$ at arbitrarily large $w^*$, and so a quotient of at least 1. Ball arithmetic shows that
      it is smaller: a window that holds a few tokens has a smaller bias than the nearest neighbour alone. By hand
      this holds for every $n, d \geq 2$ (`docs/arguments.md#finite-windows-without-noise`).""",
      corrected=r"""$w^* \to w_0(n, d) < \infty$ as $L/\sigma \to \infty$ at fixed $n$: the limit needs $n \to \infty$
      as well""")
