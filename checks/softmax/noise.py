r"""Proof sketch: the noise is N(w) = Theta(sigma^2 (w^{d/2} + 1) / n) in the relevant range of w.

With d read as the dimension of the sphere the rate holds; with d that of the space it is only an upper bound. Beyond
the relevant range, at w >> n^{2/(d-1)}, no power of w can hold: N <= sigma^2.
"""

from lipverify.checks.softmax.quantities import (
    DIMENSIONS,
    EXPONENT,
    LARGE_N,
    MANY_TOKENS,
    MODEL,
    READINGS,
    few_tokens,
    many_tokens,
    sampled_terms,
)
from lipverify.claims import at, bound, claim, exponent, proved_rates

# fmt: off
HEADINGS = {"softmax.noise-rate": (2, 1, "The noise grows with the window parameter")}
SKETCH = ("S", "Proof Sketch, rate of the noise", r"""For the relevant range of $w_{KQ}$,
    $\mathcal{L}_{\text{noise}}(w_{KQ}) = \Theta(\sigma^2 \frac{w_{KQ}^{\frac{d}{2}} + 1}{n})$.""")
# D is d or d - 1, by the reading. `truth` is the true exponent; both controls are derived from it. n grows as w^(d/2 + 1).
FAMILY = {"reading": READINGS, "d": DIMENSIONS}
CORRECTED = r"$N(w) = \Theta(\sigma^2 (w^{(d-1)/2} + 1)/n)$ for $w = o(n^{2/(d-1)})$"

claim("softmax.noise-rate/{side}/{reading}",
      exponent(many_tokens, r"n N / \sigma^2", of="nN", along={"w": (30, "min(1e15, 1e30**(2/(d + 2)))")},
               low="D/2", high="D/2", truth="(d - 1)/2", method="exact"),
      sampled_terms("N", {"d": 5, "n": 100}, law="affine"),
      source=SKETCH, kind="convention", expected={"lower/ambient": "refuted", "*": "supported"}, over=FAMILY,
      assumes=MANY_TOKENS,
      reading={"*/intrinsic": "d is the dimension of the sphere", "*/ambient": "d is the dimension of the space"},
      finding=r"""The sharp exponent is $(d-1)/2$, half the dimension of the sphere: a window of angle $w^{-1/2}$ holds
      $n w^{-(d-1)/2}$ tokens. With $d$ read as the ambient dimension the rate is only an upper bound. Which $d$ is
      meant is open: the slides have $x_i \in \mathbb{R}^d$ and $\mathbf{I}_d$, and call the law of $x_i$ uniform on the
      $d$-dimensional hypersphere. Both readings are therefore conventions here.""",
      corrected={"*/ambient": CORRECTED, "*": ""})
claim("softmax.noise-rate/lower/every-window",
      exponent(few_tokens, r"N / \sigma^2", of="N", along={"n": (1e2, 1e8)}, low="1/2", truth="0",
               control=(None, "-0.1"), method="exact"),
      source=SKETCH, kind="stronger", expected="refuted",
      over={"d": (2, 3, 4, 5, 6)},  # for larger d the limit is approached too slowly for six decades of n to decide
      statement=r"N(w) = \Omega\left(\sigma^2\, \frac{w^{(d-1)/2} + 1}{n}\right) \quad \text{for every } w",
      assumes=(*MODEL, r"$n \to \infty$ with $w = n^{3/(d-1)}$, beyond $n^{2/(d-1)}$"),
      finding=r"""The relevant range is $1 \ll w \ll n^{2/(d-1)}$. Beyond it the nearest token takes all the attention
      and $N \to \sigma^2$. No power of $w$ can hold there, because $N \leq \sigma^2$ always.""",
      corrected=CORRECTED)
claim("softmax.noise-rate/{side}/{reading}/proved",
      bound(at(proved_rates, law="affine"), EXPONENT["noise"], of="noise", low="D/2", high="D/2", truth="(d - 1)/2",
            method="certified"),
      proves="softmax.noise-rate/{side}/{reading}", source=SKETCH, kind="derived",
      expected={"lower/ambient/*": "refuted", "*": "supported"}, over=FAMILY, corrected=CORRECTED,
      title="the proved envelope of the noise, for every n",
      assumes=(*MODEL, r"$n \geq K w^{(d-1)/2}$, $w \geq w_0$, with the numbers of `lipverify prove`"),
      forall=LARGE_N)
