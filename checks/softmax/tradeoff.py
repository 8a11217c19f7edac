r"""The tradeoff table: large M, narrow window, low bias and high variance; small M the reverse.

Up to w* both directions hold, and for the noise at every w, n and d. The bias of the loss does not fall for every w: it
has a minimum beyond w*, where a window holds about one token, and rises again, because one token averages nothing.
"""

from typing import Any

from lipverify.checks.softmax import figures
from lipverify.checks.softmax.nearest import proved_slope_beyond, slope_beyond
from lipverify.checks.softmax.quantities import MODEL, curve, sampled_curve
from lipverify.checks.softmax.slopes import at_twice, slopes, squares_and_distances
from lipverify.checks.softmax.window_proofs import every_n
from lipverify.claims import DIMENSIONS, Source, agree, at, bound, claim, identity, per_profile

# fmt: off
TABLE = Source("S", "Tradeoff table", r"""paraphrased: $\mathbf{M}$ large: attention decays quickly with distance, fewer
    points that are attended to, estimator bias low, noise variance high; $\mathbf{M}$ small: slowly, more, high, low""")
LAWS = {"affine": {"linear": "1"}, "relu": {"linear": "1/(2 - d*(gamma(d/2)/gamma((d + 1)/2))**2/pi)"}}
"""The share of the linear part in the variance of f: it alone makes the bias fall at first, by the share 2 w / d."""
GRID = {"d": (2, 3, 5, 8), "n": per_profile((1000,), (100, 1000, 10**5)), "L": 10.0}
SEEN = {"d": 3, "n": 1000}
CONTEXTS = per_profile(10_000, 400_000)
"""A context of a thousand tokens says much: these give each term to a few percent."""
AGREED = {letter: [agree(curve, at(sampled_curve, contexts=CONTEXTS), name, of=name, over=SEEN)
                   for w in figures.SEEN for name in [f"{letter}({w:g})"]] for letter in "BN"}
CURVES = at(figures.tradeoff, exact=at(figures.terms_by_w, **SEEN),
              sampled=at(sampled_curve, contexts=CONTEXTS, **SEEN))
UP_TO_BEST: dict[str, Any] = {
    "source": TABLE, "kind": {"relu/*": "printed", "*": "stronger"}, "expected": "supported", "over": {"law": LAWS},
    "assumes": (*MODEL, r"""at seven $w$ from $0.01$ to $w^*$ at $L = 10 \sigma$, and so up to $w^*$ at every smaller $L
    / \sigma$"""),
}

claim("softmax.tradeoff/{law}/noise/relevant",
      bound(slopes, r"\frac{\mathrm{d} \log N}{\mathrm{d} \log w}", of="noise", low=0, strict=True, value="0.0002/d",
            over=GRID, method="exact"),
      title="the noise rises with w, up to w*", agrees=AGREED["N"], shows=CURVES, **UP_TO_BEST,
      finding=r"""The rise is slowest at the smallest $w$, where $N = \frac{\sigma^2}{n} (1 + w^2/d + \dots)$: the
      control claims more than its slope $2 w^2 / d$ there. $N/\sigma^2 = \mathbb{E} \sum_i a_i^2$ is also one over the
      number of points that are attended to: fewer as $w$ grows.""")
claim("softmax.tradeoff/{law}/bias/relevant",
      bound(slopes, r"-\frac{\mathrm{d} \log B}{\mathrm{d} \log w}", of="bias", low=0, strict=True,
            value="0.02*linear/d", over=GRID, method="exact"),
      title="the bias falls with w, up to w*", agrees=AGREED["B"], shows=CURVES, **UP_TO_BEST,
      finding="""The fall is slowest at the smallest $w$, where only the linear part of $f$ takes part, by the share $2
      w / d$: the control claims more than that.""")
EVERY: dict[str, Any] = {
    "source": TABLE, "kind": "stronger", "expected": "refuted",
    "statement": r"\frac{\mathrm{d} \log B}{\mathrm{d} \log w} < 0 \quad \text{for every } w",
    "corrected": "the bias falls with $w$ up to a window beyond $w^*$ that holds about one token, and rises again",
}
RISES: dict[str, Any] = {"high": 0, "strict": True}
BEYOND = (*MODEL, r"from $w = 4 n^{2/(d-1)}$ to twice that, $n = 1000$")
claim("softmax.tradeoff/{law}/bias/every-window",
      bound(slope_beyond, r"\frac{\mathrm{d} \log B}{\mathrm{d} \log w}", control=(-0.01, {"low": 0, "strict": True}),
            over={"n": 1000}, method="exact", **RISES),
      over={"law": "affine", "d": DIMENSIONS}, title="the bias falls with w, whatever w", assumes=BEYOND,
      agrees=AGREED["B"], shows=CURVES, **EVERY,
      finding=r"""The direction of the table holds up to the optimal window and past it, but not for every $w$: in every
      dimension measured the bias of the loss has a minimum and rises again towards that of the nearest neighbour,
      because a window that holds one token averages nothing. (This is $\mathcal{L}_{bias}$ of the decomposition, which
      contains the variance over contexts.)""")
claim("softmax.tradeoff/{law}/bias/every-window",
      bound(slope_beyond, r"\frac{\mathrm{d} \log B}{\mathrm{d} \log w}", control=(-0.01, {"low": 0, "strict": True}),
            over={"n": 1000}, method="exact", **RISES),
      over={"law": ("relu", "cosine", "quadratic"), "d": (2, 3, 5)}, title="the bias falls with w, whatever w",
      assumes=BEYOND, **EVERY)
claim("softmax.tradeoff/{law}/bias/every-window/proved",
      bound(proved_slope_beyond, r"\frac{\Delta \log B}{\Delta \log w}", control=(-0.01, {"low": 0, "strict": True}),
            method="certified", over={"d": per_profile((2, 3, 5), DIMENSIONS.full), "n": 3}, **RISES),
      over={"law": "affine"}, title="the bias falls with w, whatever w: disproved",
      assumes=(*MODEL, "from $w = 4 n^{2/(d-1)}$ to twice that, $n = 3$"), **EVERY,
      finding="By balls, for one number of tokens in each dimension: the bias at one $w$ is less than at twice that.")
claim("softmax.tradeoff/{law}/noise/every-w/proved",
      identity(squares_and_distances, r"""\frac{\mathrm{d}}{\mathrm{d} w} \sum_i a_i^2 - \sum_{ij} a_i a_j (a_i -
      a_j)(t_i - t_j),\ \frac{\mathrm{d}}{\mathrm{d} w} \sum_i a_i (1 - t_i) + \mathrm{Var}_a(t)""",
      control={"kept": "101/100"}),
      source=TABLE, kind="derived", expected="supported", over={"law": LAWS},
      proves="softmax.tradeoff/{law}/noise/relevant",
      title="noise and attended points are monotone in w, and so is the mean distance: every w, n and d",
      statement=r"""w < w' \implies N(w) < N(w'), \quad \mathbb{E} \sum_i a_i (1 - t_i) \text{ falls}, \qquad \text{for
      every } w \geq 0""",
      assumes=(*MODEL, r"any $n \geq 2$, $d \geq 2$; the identities are checked, and both hold context by context",
               "any law of the functions"),
      finding=r"""Attention rises with the score, so every $a_i a_j (a_i - a_j)(t_i - t_j) \geq 0$, and is positive
      where two scores differ: $\mathbb{E} \sum_i a_i^2$ rises, and the number of attended points, one over it, falls.
      $\frac{1}{2} |x_i - x|^2 = 1 - t_i$: the mean squared distance of what is attended to falls by the variance of the
      scores. For the affine law the latter is the bias of the estimator in the statistical sense: given $f$ and $x$ its
      mean misses $f(x)$ by $\langle q, x \rangle\, \mathbb{E} \sum_i a_i (1 - t_i)$, which falls for every $w$.
      $\mathcal{L}_{bias}$, with the variance over contexts in it, falls along the optimal windows: of two of them, at
      any two values of $L / \sigma$, the larger has the smaller $B / L^2$
      (`softmax.window-directions/any-amplitude/proved`), but not for every $w$ (`bias/every-window`).""")
PROVED: dict[str, Any] = {
    "source": TABLE, "expected": "supported", "kind": "derived",
    "over": {"law": {"affine": {"beta": "2"}, "relu": {"beta": "3/2"}}, "d": per_profile((2, 3, 5), DIMENSIONS.full)},
    "assumes": (*MODEL, r"""$w \geq 1000$ and $n \geq 100 (2w)^{(d-1)/2 + \beta - 1}$, which at fixed $L / \sigma$ the
    optimal window of every long context satisfies"""),
    "finding": r"""The quotient stands here as the interval that contains it for every context and every $w$ of the
    range: both terms lie between multiples of one power of $w$ that are close to each other. It compares $w$ with $2w$;
    that the term is monotone between the two is not proved by it.""",
}
claim("softmax.tradeoff/{law}/noise/proved",
      bound(at_twice, "N(2w) / N(w)", of="noise", low=1, strict=True, control="1.2*2**((d - 1)/2)", method="certified"),
      title="the noise at 2w is above that at w, proved for every n",
      statement=r"N(2w) > N(w) \quad \text{for every } w \geq 1000", **PROVED)
claim("softmax.tradeoff/{law}/bias/proved",
      bound(at_twice, "B(2w) / B(w)", of="bias", high=1, strict=True, control="2**(-beta)/1.25", method="certified"),
      title="the bias at 2w is below that at w, proved for every n",
      statement=r"B(2w) < B(w) \quad \text{for every } w \geq 1000", **PROVED)
claim("softmax.tradeoff/affine/bias/up-to-optimum/proved",
      bound(every_n, r"|{w \leq w^* : B'(w) < 0}| / w^*", of="falling", low=1, control=1.01, method="certified"),
      source=TABLE, kind="stronger", expected="supported", over={"d": per_profile((3,), (2, 3, 5))},
      title="the bias falls at every w up to w*, for every number of tokens",
      statement=r"""B'(w) < 0 \quad \text{for } 0 \leq w \leq w^*, \text{ every } n \geq 2 \text{ and all } L \leq \sigma
      \text{ or } n \geq 2 W^{(d+1)/2}""",
      assumes=(*MODEL, "the affine law; with one token the bias is the same at every $w$"),
      finding=r"""The theorem about every number of tokens (`softmax.window-every-n/affine`) bounds both slopes from
      both sides at every $w$ that can be best for one of these $L$, and at all $w$ before it. Beyond $w^*$ the bias
      rises again (`bias/every-window`).""")
