r"""The tradeoff table: large M, narrow window, low bias and high variance; small M the reverse.

Up to w* both directions hold, and for the noise at every w, n and d. tradeoff_every_window.py shows that the bias of
the loss does not fall for every w.
"""

from typing import Any

from lipverify.checks.softmax import figures
from lipverify.checks.softmax.quantities import DIMENSIONS, LARGE_N, MODEL
from lipverify.checks.softmax.slopes import SAMPLED, at_twice, certified_slopes, falls, slopes, squares_and_distances
from lipverify.checks.softmax.window_proofs import every_n
from lipverify.claims import bound, claim, identity, per_profile

# fmt: off
HEADINGS = {"softmax.tradeoff": (3, 8, "The tradeoff between bias and noise")}
TABLE = ("S", "Tradeoff table", r"""Tradeoff & $\mathbf{M}$ large & $\mathbf{M}$ small \\ Attention decays & quickly with
    distance & slowly with distance \\ Number of points that are attended to & fewer & more \\ Estimator bias & Low & High
    \\ Noise Variance & High & Low""")
LAWS = {"affine": {"linear": "1"}, "relu": {"linear": "1/(2 - d*(gamma(d/2)/gamma((d + 1)/2))**2/pi)"}}
"""The share of the linear part in the variance of f. Only this part makes the bias fall at small w, by the share 2 w / d."""
GRID = {"d": (2, 3, 5, 8), "n": per_profile((1000,), (100, 1000, 10**5)), "L": 10.0}
READ: dict[str, Any] = {
    "kind": {"relu/*": "convention", "*": "stronger"}, "reading": {"relu/*": "up to the optimal w", "*": ""},
}
UP_TO_BEST: dict[str, Any] = {
    "source": TABLE, "expected": "supported", "over": {"law": LAWS},
    "assumes": (*MODEL, r"""at seven $w$ from $0.01$ to $w^*$ at $L = 10 \sigma$, and so up to $w^*$ at every smaller $L
    / \sigma$"""),
}

claim("softmax.tradeoff/{law}/noise/relevant",
      bound(slopes, r"\min_{w \leq w^*} \frac{\mathrm{d} \log N}{\mathrm{d} \log w}", of="noise", low=0, strict=True,
            truth="0.0002/d", over=GRID, method="exact"),
      *SAMPLED["N"],
      title="the noise rises with w, up to w*", shows=figures.TERMS_BY_W,
      statement=r"\frac{\mathrm{d} \log N}{\mathrm{d} \log w} > 0", **READ, **UP_TO_BEST,
      finding=r"""The increase is slowest at the smallest $w$, where $N = \frac{\sigma^2}{n} (1 + w^2/d + \dots)$: the
      control claims more than its logarithmic derivative $2 w^2 / d$ there. $N/\sigma^2 = \mathbb{E} \sum_i a_i^2$ is
      also the inverse of the number of points that receive attention: fewer as $w$ grows.""")
claim("softmax.tradeoff/{law}/bias/relevant",
      bound(slopes, r"\min_{w \leq w^*} \left(-\frac{\mathrm{d} \log B}{\mathrm{d} \log w}\right)", of="bias", low=0, strict=True,
            truth="0.02*linear/d", over=GRID, method="exact"),
      *SAMPLED["B"],
      title="the bias falls with w, up to w*", shows=figures.TERMS_BY_W,
      statement=r"\frac{\mathrm{d} \log B}{\mathrm{d} \log w} < 0", **READ, **UP_TO_BEST,
      finding="""The decrease is slowest at the smallest $w$, where only the linear part of $f$ contributes, by the
      share $2 w / d$: the control claims more than that.""")
claim("softmax.tradeoff/{law}/bias/relevant/proved",
      bound(certified_slopes, r"\min_{w \leq w^*} \left(-\frac{\mathrm{d} \log B}{\mathrm{d} \log w}\right)", low=0, strict=True,
            truth="0.02*linear/d", over=GRID | {"n": per_profile((1000,), (100, 1000))}, method="certified"),
      proves="softmax.tradeoff/{law}/bias/relevant", title="the bias falls with w at seven w up to w*: proved",
      kind="derived", **UP_TO_BEST,
      finding=r"""By ball arithmetic. Around each $w$ the bias of the degrees up to 30 is a polynomial through balls at
      a few points, with a bounded error of its derivative. The remaining degrees, of variance $r$, have a derivative of
      at most $4 r (\mathbb{E}\, \mathrm{Var}_a t)^{1/2}$: with $e = \sum_i a_i (f(x_i) - f(x))$ the derivative of
      $\mathbb{E} e^2$ is $2\, \mathbb{E}\, e\, \mathrm{Cov}_a(f, t)$, with $\mathbb{E}_f e^2 \leq 4r$ and $\mathbb{E}_f
      \mathrm{Cov}_a(f, t)^2 \leq r\, \mathrm{Var}_a t$.""")
claim("softmax.tradeoff/relu/bias/up-to-optimum/proved",
      bound(falls, r"|{w \leq w^* : B'(w) < 0}| / w^*", low=1, control=1.01, method="certified"),
      source=TABLE, kind="stronger", expected="supported", over={"law": "relu", "d": per_profile((3, 5), (2, 3, 5, 8)), "n": 1000},
      title="the bias falls at every w up to w*, for the ReLU law at a thousand tokens",
      statement=r"B'(w) < 0 \quad \text{for } 0 \leq w \leq w^*, \ n = 1000 \text{ and all } L \leq \sigma",
      assumes=(*MODEL, "the ReLU law"), forall=("L <= sigma", "sigma > 0"),
      finding=r"""On the whole interval from 0 to the $w$ at which the noise alone exceeds the minimal loss at $L =
      \sigma$; beyond it no $w$ is best. With a smaller $L / \sigma$ no $w^*$ is larger
      (`softmax.window-directions/any-amplitude/proved`). The bias is that of `bias/relevant/proved`, on pieces of
      length 4. Any other $n$ and $L / \sigma$ need their own proof (`prove_falling`).""")
claim("softmax.tradeoff/{law}/noise/every-w/proved",
      identity(squares_and_distances, r"""\frac{\mathrm{d}}{\mathrm{d} w} \sum_i a_i^2 - \sum_{ij} a_i a_j (a_i -
      a_j)(t_i - t_j),\ \frac{\mathrm{d}}{\mathrm{d} w} \sum_i a_i (1 - t_i) + \mathrm{Var}_a(t)""",
      control={"kept": "101/100"}),
      source=TABLE, kind="derived", expected="supported", over={"law": LAWS},
      proves="softmax.tradeoff/{law}/noise/relevant",
      title="noise and attended points are monotone in w, and so is the mean distance: every w, n and d",
      statement=r"""w < w' \implies N(w) < N(w'), \quad \mathbb{E} \sum_i a_i (1 - t_i) \text{ falls}, \qquad \text{for
      every } w \geq 0""",
      assumes=(*MODEL, r"any $n \geq 2$, $d \geq 2$", "any law of the functions"),
      forall=("n >= 2", "d", "w >= 0", "sigma > 0"), by_hand="docs/arguments.md#monotone-noise",
      finding=r"""$\frac{1}{2} |x_i - x|^2 = 1 - t_i$: the mean squared distance of the attended points decreases at a rate
      equal to the variance of the scores. For the affine law this distance is the bias of the estimator in the
      statistical sense: given $f$ and $x$ its mean differs from $f(x)$ by $\langle q, x \rangle\, \mathbb{E} \sum_i a_i
      (1 - t_i)$, which falls for every $w$. $\mathcal{L}_{bias}$, which contains the variance over contexts, falls
      along the optimal $w$ (`docs/arguments.md#comparison-of-optimal-windows`), and not for every $w$
      (`bias/every-window`).""")
PROVED: dict[str, Any] = {
    "source": TABLE, "expected": "supported", "kind": "derived",
    "over": {"law": {"affine": {"beta": "2"}, "relu": {"beta": "3/2"}}, "d": per_profile((2, 3, 5), DIMENSIONS.full)},
    "assumes": (*MODEL, r"""$w \geq 1000$ and $n \geq 100 (2w)^{(d-1)/2 + \beta - 1}$, which at fixed $L / \sigma$ the
    optimal $w$ of every long context satisfies"""),
    "forall": ("w >= 1000", *LARGE_N),
    "finding": r"""The value is the interval that contains the quotient for every context and every $w$ of the range:
    both terms lie between two close multiples of one power of $w$. The claim compares $w$ with $2w$; it does not prove
    that the term is monotone between the two.""",
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
      statement=r"""B'(w) < 0 \quad \text{for } 0 \leq w \leq w^*, \text{ every } n \geq 2 \text{ and all } L \leq \sigma,
      \text{ or } n \geq 2 W^{(d+1)/2}""",
      assumes=(*MODEL, "the affine law; with one token the bias is the same at every $w$"),
      forall=("n >= 2", "sigma > 0", "L <= sigma or W <= V"),
      finding=r"""The theorem about every number of tokens (`softmax.window-every-n/affine`) bounds both derivatives
      from above and below at every $w$ that can be optimal for one of these $L$, and at all smaller $w$. Beyond $w^*$
      the bias rises again (`bias/every-window`).""")
