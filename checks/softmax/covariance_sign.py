r"""Lemma 1: M* = w Sigma^{-1} with some w >= 0.

The sign is nonnegative where the odd part of f is linear (affine and ReLU tasks), and for every law once the window
holds many tokens. For an even law -M* is as good as M*. With few tokens, a law that is invariant under rotations can
have its optimal w below 0.
"""

from lipverify.checks.softmax.quantities import LEMMA_1, WHITENED
from lipverify.checks.softmax.sign import advantage, averaged_gap, excess, odd_gap, sampled_excess, sampled_gap
from lipverify.claims import agree, at, bound, claim, per_profile

# fmt: off
ANY_LAW = "any tasks that are invariant under rotations after whitening"
SIGNS = {"affine": {"most": "4/(3*d)"}, "relu": {"most": "2/(3*d)"}, "quadratic": {"most": "12/(d*(d + 2))"}}
"""4 K_odd(1): the excess loss if the query received all attention. For the even law K takes the place of K_odd."""
claim("softmax.covariance-inversion/{law}/sign",
      bound(excess, r"\mathcal{L}(-w^* \mathbf{I}) - \mathcal{L}(w^* \mathbf{I})", of="excess", low=0, strict=True,
            control=("most", {"equals": 0}), method="exact"),
      agree(excess, sampled_excess, r"\mathcal{L}(-w^*) / \mathcal{L}(w^*)", of="ratio", over={"d": 3, "n": 50}),
      source=LEMMA_1, kind={"quadratic/*": "convention", "*": "derived"}, reading={"quadratic/*": ANY_LAW, "*": ""},
      expected={"quadratic/*": "refuted", "*": "supported"},
      over={"law": SIGNS, ("d", "n"): [(3, 100), (5, 1000), (8, 10**6)]}, title="the optimal w cannot be negative",
      assumes=(WHITENED, r"$L = \sigma = 1$", r"$\mathbf{M}$ in whitened coordinates"),
      finding={"quadratic/*": r"""If all tokens change their sign, so do the scores and the odd part of $f$. An even law
      has no odd part: its loss is even in $w$, and $-\mathbf{M}^*$ is as good as $\mathbf{M}^*$, because attending to
      $-x$ is as good as attending to $x$.""",
               "*": r"""If all tokens change their sign, so do the scores and the odd part of $f$. Hence
      $\mathcal{L}(-w) - \mathcal{L}(w) = 4 \mathbb{E} \sum_i a_i K_{odd}(t_i)$, where $K_{odd}$ is the odd part of
      $K(t) = \mathbb{E} f(x) f(x')$. Here $K_{odd}(t) = k_1 t$. The sum $\mathbb{E} \sum_i a_i t_i$ is the derivative
      of the mean of the convex function $\log \sum_i e^{w t_i}$; it is zero at $w = 0$ and increases. So $w^* \geq 0$
      for every $n$, $\sigma$ and $d$. The control states that the average $\sum_i a_i t_i$ is 1."""},
      corrected={"quadratic/*": r"""for an even law $\mathcal{L}(-w) = \mathcal{L}(w)$: $\mathbf{M}^* = \pm w
      \Sigma^{-1}$, and $w \geq 0$ is a choice""", "*": ""})
SEEN = {"d": 3, "n": 8, "degree": 5, "kappa": 0.3, "w": 3.97}
claim("softmax.covariance-inversion/harmonics/sign",
      bound(advantage, r"\min_{1/2 \leq v \leq 32} \mathcal{L}(v \mathbf{I}) - \mathcal{L}(-w \mathbf{I})", high=0,
            control=(-0.01, {"low": 0, "strict": True}),
            over={("d", "n", "degree", "kappa", "w"): [(2, 5, 7, 0.1, 5.08), (3, 8, 5, 0.3, 3.85)]}, method="exact"),
      bound(at(averaged_gap, contexts=per_profile(200_000, 4_000_000)),
            r"\mathcal{L}(-w \mathbf{I}) - \mathcal{L}(w \mathbf{I})", low=0, method="montecarlo",
            control=(0.01, {"high": 0, "strict": True}), over=SEEN),
      agree(odd_gap, at(sampled_gap, contexts=per_profile(400_000, 4_000_000)),
            r"\mathcal{L}(-w \mathbf{I}) - \mathcal{L}(w \mathbf{I})", over=SEEN),
      source=LEMMA_1, kind="convention", reading=ANY_LAW, expected="refuted",
      title="the optimal w cannot be negative, for any law that is invariant under rotations",
      statement=r"\min_{w > 0} \mathcal{L}(w \Sigma^{-1}) \leq \min_{w < 0} \mathcal{L}(w \Sigma^{-1})",
      assumes=(WHITENED, "the only symmetry that is assumed is that of rotations",
               r"$\mathbb{E} f(x) f(x') = P_2(t) + \kappa P_\ell(t)$, $\ell$ odd, $\sigma = 0$"),
      finding=r"""As $\mathcal{L}(-w) - \mathcal{L}(w) = 4 \mathbb{E} \sum_i a_i K_{odd}(t_i)$, a negative $w$ is better
      wherever the softmax weights of few tokens are anticorrelated with an odd harmonic. That happens: at $n = 8$ on
      $S^2$, $\mathbb{E} \sum_i a_i P_5(t_i) < 0$ at $w \approx 4$, because the nearest of eight tokens typically lies
      where $P_5$ is negative. Let the even part of $f$ prefer a large $|w|$ and the odd part choose the sign: $f(x) =
      \sqrt{5} P_2(\langle q, x \rangle) + \sqrt{3.3} P_5(\langle q, x \rangle)$, $d = 3$, $n = 8$, $\sigma = 0$ has its
      minimum at $w < 0$. The smallest case found is $d = 2$, $n = 5$ with $\ell = 7$. The sign $w \geq 0$ holds where
      the odd part of $f$ is linear (affine, ReLU), and for every law once the window holds many tokens, because then
      $\mathbb{E} \sum_i a_i P_\ell(t_i) > 0$.""",
      corrected=r"""$\mathbf{M}^* = w \Sigma^{-1}$ with the sign of $-\mathbb{E} \sum_i a_i K_{odd}(t_i)$, which
      invariance under rotations does not determine""")
