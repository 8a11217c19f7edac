r"""How L, n and the noise move the optimal w, proved: w* never falls with L nor rises with the noise, for every n, d and law f = L g.

The noise term increases with w for every n and fixed tokens (an identity); the rest is by hand. The strict directions
for laws with a linear part and w* -> 0 as the noise grows follow from it. The window theorem gives w* -> infinity as
the context grows, and ball arithmetic shows that w* stays finite as L grows at a fixed number of tokens.
"""

from lipverify.checks.softmax.nearest import over_nearest
from lipverify.checks.softmax.quantities import LAWS, MODEL
from lipverify.checks.softmax.slopes import squares
from lipverify.checks.softmax.window_moves import (
    CONTEXT_GROWS,
    INSIGHTS,
    NOISE_GROWS,
    SIGNAL_GROWS,
    SMOOTHER,
    SUMMARY,
    window_rate,
)
from lipverify.claims import at, bound, claim, identity

# fmt: off
RISES = identity(squares, r"\frac{\mathrm{d}}{\mathrm{d} w} \sum_i a_i^2 - \sum_{ij} a_i a_j (a_i - a_j)(t_i - t_j)",
                 control={"kept": "101/100"})
MONOTONE = r"""For fixed tokens $\frac{d}{dw} \sum_i a_i^2 = \sum_{ij} a_i a_j (a_i - a_j)(t_i - t_j) \geq 0$, because
    $a$ increases with $t$: the noise term $\sigma^2 \nu(w)$ never falls in $w \geq 0$, and increases strictly if two
    scores differ with positive probability. Write the loss of $f = L g$ as $\sigma^2 (\rho\, b(w) + \nu(w))$ with $\rho =
    L^2/\sigma^2$. It is continuous on $[0, \infty]$, where $\infty$ stands for the limit, the nearest token; so it has
    minimisers. Let $w_1$, $w_2$ be any of them at $\rho_1 < \rho_2$. Each has the smaller loss at its own $\rho$; the sum of these two
    inequalities is $(\rho_2 - \rho_1)(b(w_2) - b(w_1)) \leq 0$, so $b(w_2) \leq b(w_1)$. The first of them then gives
    $\nu(w_2) \geq \nu(w_1)$, and $w_2 \geq w_1$."""
"""The proof that w* never falls with L and never rises with sigma, for every law that is proportional to L."""
ANY = r"""any $n \geq 2$, any law $f = L g$, $\mathbb{E}\, g(x)^2 < \infty$; any covariates of which two have different scores with
    positive probability; $\sigma > 0$, $w \geq 0$, with $w^* = \infty$ if no other $w$ is as good as the limit"""

claim("softmax.window-directions/any-amplitude/proved",
      RISES,
      source=SUMMARY, kind="derived", expected="supported",
      title="w* never falls with L nor rises with the noise: every n, d and law f = L g",
      statement=r"\rho_1 < \rho_2 \implies w^*(\rho_1) \leq w^*(\rho_2), \qquad \rho = L^2/\sigma^2",
      assumes=(MODEL[1], ANY, "the identity is symbolic, in matrices of any size $n$"), finding=MONOTONE)
FINITE = r"""No minimiser is 0, because $b'(0) = -2 (1 - \frac1n)\, \mathbb{E}\, \langle x, x' \rangle g(x) g(x') < 0$. None is
    $\infty$: with $s = \mathbb{E} (1 - \max_i a_i)$, $\nu(w) = \mathbb{E} \sum_i a_i^2 \leq 1 - s = \nu(\infty) - s$. Let
    $v(t) = \mathbb{E}_g (g(x_i) - g(x))^2$ at $t = \langle x_i, x \rangle$; it is continuous. By Jensen's inequality $b(w) -
    b(\infty) \leq \mathbb{E} \sum_i a_i (v(t_i) - v(\max_j t_j)) = o(s)$, because $s$ is at least of order $1/w$, and tokens that
    are not nearly nearest have a weight of order $e^{-\epsilon w}$."""
"""The proof that every minimiser is positive and finite, for laws with a linear part."""
LINEAR = r"""any rotation-invariant law $f = L g$ with a linear part and a continuous covariance, such as the affine and the ReLU law"""
MOVES = {
    "l": (SUMMARY, r"L < L' \implies w^*(L) < w^*(L')", "w* grows with L: every n and d",
          rf"""{FINITE} At a minimiser $w_1$ the two derivatives add to 0, and $\nu' > 0$, so $b'(w_1) < 0$: at a larger $L$
    the loss has a negative derivative there, $w_1$ is not a minimiser, and $w_2 > w_1$."""),
    "sigma": (INSIGHTS, r"\sigma < \sigma' \implies w^*(\sigma') < w^*(\sigma)",
              "w* falls with the noise: every n and d",
              rf"""{FINITE} At a minimiser $w_1$ the two derivatives add to 0, and $\nu' > 0$: with more noise the loss has a
    positive derivative there, $w_1$ is not a minimiser, and the new one is smaller."""),
    "sigma-to-infinity": (NOISE_GROWS, r"w^* \to 0 \quad (\sigma \to \infty)",
                          "w* tends to 0 as the noise grows: every n and d",
                          r"""Given $\epsilon > 0$, every $w \geq \epsilon$ loses to $w = 0$ once $\sigma^2
    (\nu(\epsilon) - 1/n) > L^2 b(0)$, because $\nu(w) \geq \nu(\epsilon) > \nu(0) = 1/n$ and $b \geq 0$."""),
}
"""The consequences of the monotone noise term: for each the printed place, the statement, its title, and the step from `MONOTONE`."""
for moved, (printed, statement, title, step) in MOVES.items():
    claim(f"softmax.window-directions/{{law}}/{moved}/proved",
          RISES,
          proves=f"softmax.window-directions/{{law}}/{moved}", source=printed, kind="derived", expected="supported",
          over={"law": ("affine", "relu")}, title=title, statement=statement,
          assumes=(*MODEL,
                   rf"any $n \geq 2$, $d \geq 2$; {LINEAR}; $w \geq 0$",
                   "the identity is checked; the rest of the proof is by hand"),
          finding=f"{MONOTONE} {step}")
claim("softmax.window-directions/{law}/higher-lipschitzness/proved",
      RISES,
      source=SMOOTHER, kind="convention", expected="supported", over={"law": ("affine", "relu")},
      reading="the Lipschitz constant counts: the window narrows as it grows",
      title="the window narrows with higher Lipschitzness and less noise: every n and d",
      statement=r"\rho < \rho' \implies w^*(\rho) < w^*(\rho'), \qquad \rho = L^2/\sigma^2",
      assumes=(*MODEL, r"any $n \geq 2$, $d \geq 2$; $w \geq 0$; higher Lipschitzness: a larger $L$",
               "the identity is checked; the rest of the proof is by hand"),
      finding=rf"""Both sentences name the constant, "higher Lipschitzness" and "high Lipschitzness", and a word
      for it. By the constant they are right. {MONOTONE} {MOVES["l"][3]} The word is not the usual one: by its usual
      meaning, a smaller Lipschitz constant, they are false (`smoother/proved`).""")
claim("softmax.window-directions/{law}/n-to-infinity/proved",
      bound(window_rate, r"\text{exponent of } w^* \text{ in } n", low="0", strict=True, truth="rate",
            over={"d": (2, 3, 5, 8)}, method="certified"),
      proves="softmax.window-directions/{law}/n-to-infinity", source=CONTEXT_GROWS, kind="derived",
      expected="supported", over={"law": LAWS},
      title="w* tends to infinity as the context grows: proved",
      assumes=(*MODEL, r"$d = 2, 3, 5, 8$; any $L$ and $\sigma$, $n \to \infty$"),
      finding=r"""By the window theorem $w^*$ lies between two multiples of $\Lambda^{2/(d+2)}$ (ReLU) or
      $\Lambda^{2/(d+3)}$ (affine) for every $n$ from an explicit number on.""")
claim("softmax.window-directions/relu/l-to-infinity/proved",
      bound(over_nearest, r"\mathcal{L}_{bias}(w_0) / \lim_{w \to \infty} \mathcal{L}_{bias}(w)", low=1,
            control=({"low": "11/10"}, {"high": "95/100", "low": "7/10"}),
            over={"d": 3, ("n", "w"): ((2, 2.0), (50, 8.0))}, method="certified"),
      proves="softmax.window-directions/relu/l-to-infinity", source=SIGNAL_GROWS, kind="derived", expected="refuted",
      title="w* tends to infinity as L grows, at a fixed number of tokens: disproved",
      statement=r"w^* \to \infty \quad (L / \sigma \to \infty)",
      assumes=(*MODEL, "ReLU law, $d = 3$, $n = 2$ and $50$; $w_0 = 2$ and $8$"),
      finding=r"""As $w \to \infty$ attention tends to the nearest neighbour, and the bias to that of its label. If $w^*
      \to \infty$, then $\mathcal{L}(w^*) \leq \mathcal{L}(w_0)$ and $\nu(w^*) \geq \nu(w_0)$ (`any-amplitude/proved`)
      give $b(w^*) \leq b(w_0)$ at arbitrarily large $w^*$, and so a quotient of at least 1. Ball arithmetic shows that
      it is smaller: a window that holds a few tokens has a smaller bias than the nearest neighbour alone. By hand this holds
      for every $n, d \geq 2$: $b(w) = \mathbb{E} \sum_i a_i v(t_i) - \mathbb{E}\, \mathrm{Var}_a(g)$ with $v$ of `relu/l/proved`.
      The first is at most $b(\infty) + \mathcal{O}(w^{-2} \log w)$; the variance is at least of order $1/w$, the chance that the
      scores of the two nearest tokens differ by $1/w$.""",
      corrected=r"""$w^* \to w_0(n, d) < \infty$ as $L/\sigma \to \infty$ at fixed $n$: the limit needs $n \to \infty$
      as well""")
claim("softmax.window-directions/{law}/smoother/proved",
      bound(at(window_rate, of="L"), r"\text{exponent of } w^* \text{ in } L", high="0", strict=True,
            control=("-1/10", {"low": "0", "strict": True}), over={"d": (2, 3, 5, 8)}, method="certified"),
      proves="softmax.window-directions/{law}/smoother", source=SMOOTHER, kind="derived", expected="refuted",
      over={"law": ("affine", "relu")},
      title="the window narrows for smoother functions, smoother in the usual sense: disproved",
      statement=r"w^* = \Theta(L^e),\ e < 0",
      assumes=(*MODEL,
               "$d = 2, 3, 5, 8$; every $n$ from an explicit number on; smoother: a smaller Lipschitz constant"),
      finding=r"""By the window theorem $w^*$ is of the order of a positive power of $n L^2 / \sigma^2$; and it rises
      with $L$ for every $n$ (`relu/l/proved`).""",
      corrected="the window narrows for rougher functions (higher Lipschitzness) and widens for smoother ones")
