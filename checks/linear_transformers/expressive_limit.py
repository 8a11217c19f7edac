r"""Theorem 4.2: labels that stay linear in the covariates are nearly orthogonal to the target x(1)^2.

The root mean square of the best cosine is at most sqrt((d + 4) / n) for every n, so it is at most 0.1 with high
probability for n much larger than d. expressive_transformers.py measures transformers, which do not depend on the
target.
"""

from lipverify.checks.linear_transformers import cosines
from lipverify.checks.linear_transformers.cosines import LINEAR, RMS, SQUARE, TOKENS
from lipverify.checks.linear_transformers.quantities import EXPRESSIVE
from lipverify.checks.linear_transformers.sampled_cosines import (
    above_tenth,
    mean_square_of_v,
    sampled_best,
    spread_of_norm,
)
from lipverify.claims import agree, at, bound, claim, exponent, identity, per_profile

# fmt: off
HEADINGS = {"lt.expressive-limit": (10, 1, "No depth reaches a quadratic target (Theorem 4.2)")}
NORMS = ("V", "Appendix A.3, the norms", r"""When $n \gg d$, with high probability the norm of $y^l$ is on the order of
    $\Theta(\sqrt{n})\|w^l\|$, and the norm of $y^*$ is $\Theta(\sqrt{n})$.""")
CORRELATION = ("V", "Appendix A.3, the correlation", r"with high probability $\|v\| = O(\sqrt{(nd)})$")
OF_EACH = "the best $v$ for each context; root mean square over contexts"
SURE = "the best $v$ for each context, which no transformer beats"
TENTH = r"P\bigl(\max_v |\cos(\mathbf{X} v, y^*)| > 0.1\bigr)"
DIMENSIONS = {"d": (1, 2, 3, 5, 10, 30)}

claim("lt.expressive-limit/length",
      exponent(cosines.best, RMS, of="cosine", along={"n": ("100*d", 1e30, per_profile(13, 25))}, high="-1/2", truth="-1/2",
               over=DIMENSIONS,
               method="exact"),
      bound(cosines.best, SQUARE, of="n square", high="d + 4", control="(d + 4)*(1 - 10/n)", over=DIMENSIONS | {"n": (1e2, 1e4, 1e6)},
            method="exact"),
      bound(cosines.best, SQUARE, of="n square", equals="d + 4", within="1e-12*(d + 4)", over=DIMENSIONS | {"n": 1e30}, method="exact"),
      agree(cosines.best, at(sampled_best, contexts=per_profile(400, 6000)), SQUARE, of="n square",
            over={("d", "n"): ((3, 300), (10, 1000))}),
      source=EXPRESSIVE, kind="printed", expected="supported",
      title="The best linear readout of a quadratic target: order in n, and constant",
      statement=rf"{RMS} = \mathcal{{O}}(n^{{-1/2}}), \qquad {RMS} \leq \sqrt{{(d + 4)/n}}",
      assumes=(TOKENS, LINEAR, OF_EACH, r"at $d = 1$ to $30$"),
      finding=r"""With $g = \mathbf{X} e_1$ the columns span $g$ and a uniformly random $(d-1)$-dimensional subspace of
          its complement, so $\cos^2 = q + (1-q) B$ with $q = (\sum g^3)^2/(\sum g^2 \sum g^4)$ and an independent $B
          \sim \mathrm{Beta}(\frac{d-1}{2}, \frac{n-d}{2})$. $\mathbb{E} q$ is a one-dimensional integral at every $n$;
          $n\, \mathbb{E} q$ increases to $15/3 = 5$. The constant of $\sqrt{d/n}$ is $\sqrt{5}$ at $d = 1$ and tends to
          1.""",
      corrected=r"""for a transformer, which does not depend on the target, $\mathbb{E} \cos^2(y^l, y^*) \leq
          \frac{5}{n} (1 + o(1))$ for every $d$""")
claim("lt.expressive-limit/length/proved",
      bound(cosines.every_length, rf"\sup_n {SQUARE}", high="d + 4", control="(d + 4)*(1 - 1/1000)", over={"d": (1, 2, 3, 5, 10, 30, 1000)},
            method="symbolic"),
      proves="lt.expressive-limit/length", source=EXPRESSIVE, kind="derived", expected="supported",
      title="The best linear readout of a quadratic target: for every n", forall=("n", "d >= 1"),
      statement=rf"{RMS} \leq \sqrt{{(d + 4)/n}} \quad \text{{for every }} n", assumes=(TOKENS, LINEAR, OF_EACH),
      finding=r"""By exact second moments. $\cos^2 = q + (1-q) B$ increases in $q$, and $\mathbb{E} q \leq 5/n$ gives
          $\mathbb{E} \cos^2 \leq \frac{5}{n} + (1 - \frac{5}{n}) \frac{d-1}{n-1} \leq \frac{d+4}{n}$ for $n > d$; for
          $n \leq d$ it is at most 1. The radius of $g$ is independent of its direction $u$, so $\mathbb{E} q =
          \mathbb{E}[\sum u^6 / \sum u^4]$. With $y = n \sum u^4 \geq 1$ the polynomial $p$ with $y\, p(y) = 1 + (y-3)^2
          (y-6)^2 (y-1)/324$ is above $1/y$: $n\, \mathbb{E} q$ is below a rational function of $n$, and 5 minus that
          has only positive coefficients in $n - 6$. For $n \leq 5$, $q \leq 1$. Every $d$ follows in the same way;
          those shown are examples.""")
claim("lt.expressive-limit/dimension",
      exponent(cosines.best, RMS, of="cosine", along={"d": (1, 1e20, per_profile(21, 41))}, high="1/2", truth="1/2", over={"n": 1e30},
               method="exact"),
      source=EXPRESSIVE, kind="convention", expected="supported", title="The best linear readout of a quadratic target: order in d",
      statement=rf"{RMS} = \mathcal{{O}}(d^{{1/2}}) \quad (d \to \infty,\ d \ll n = 10^{{30}})", assumes=(TOKENS, LINEAR, OF_EACH),
      finding="""Tight for readouts that may depend on the target: each further column explains one more random
          direction. Transformers are another claim.""")
claim("lt.expressive-limit/tenth",
      bound(cosines.least_length, r"n_{\min}", high="100*(d + 4)", control="100*(d + 4) - 9", over=DIMENSIONS, method="exact"),
      source=EXPRESSIVE, kind="convention", expected="supported", title="""At most 0.1 for n much larger than d: where that
            begins""",
      statement=rf"{RMS} \leq 0.1 \text{{ for }} n \geq 100 (d + 4)",
      assumes=(TOKENS, LINEAR, OF_EACH, r"$n \gg d$ read as $n \geq 100 (d + 4)$"),
      finding=r"""The smallest $n$ is $100(d+4)$ minus 4 to 8. It is not a bound for each context: $n \cos^2$ tends in
          law to $5\chi^2_1 + \chi^2_{d-1}$, so a share of contexts at this $n$ lies above 0.1 (the control of
          `probability`).""")
claim("lt.expressive-limit/probability",
      bound(at(above_tenth, contexts=per_profile(1000, 10_000)), r"P(\cos > 0.1)", high=0.01, control={"times": 100},
            method="montecarlo", over={"d": (1, 3, 10), "times": 1000}),
      source=EXPRESSIVE, kind="stronger", expected="supported",
      title="At most 0.1 with high probability, for n much larger than d: from where on",
      statement=rf"{TENTH} \leq 0.01 \text{{ for }} n = 1000 (d + 4), \qquad \leq \frac{{100 (d + 4)}}{{n}} \text{{ for every }} n",
      assumes=(TOKENS, LINEAR, f"{SURE}; $n = $ times $(d + 4)$"),
      finding=r"""By Markov's inequality the share is at most $100 (d + 4) / n$ (`length/proved`), which falls to 0 as
          $n/d$ grows; on samples it is much smaller at $n = 1000 (d + 4)$. The control is a context of a tenth of the
          length.""")
claim("lt.expressive-limit/probability/proved",
      bound(cosines.above_by_moment, r"P(\cos > 0.1)", high="1/100", control={"times": 9000}, method="symbolic",
            over={"d": (1, 2, 3, 5, 10, 30, 1000), "times": 10_100}),
      source=EXPRESSIVE, kind="printed", expected="supported", title="At most 0.1 with high probability, for n much larger than d: proved",
      statement=rf"{TENTH} \leq \frac{{100 (d + 4)}}{{n}} \quad \text{{for every }} n",
      assumes=(TOKENS, LINEAR, f"{SURE}; less than 1/100 at $n = 10100 (d + 4)$ and beyond"),
      finding=r"""Markov's inequality with $\mathbb{E} \cos^2 \leq (d + 4)/n$ (`length/proved`): the share of contexts
          above 0.1 falls to 0 as $n/d$ grows. A more exact count starts at smaller $n$ (`probability`).""")
claim("lt.expressive-limit/norms",
      identity(spread_of_norm, r"\mathrm{Var}\, \|\cdot\|^2 \big/ (\mathbb{E} \|\cdot\|^2)^2 - c/n", control={"c": "3"},
               over={("of", "c"): (("target", "32/3"), ("labels", "2"))}),
      source=NORMS, kind="printed", expected="supported", title="The norms of the labels and of the target are of order √n",
      statement=r"\mathbb{E} \|y^*\|^2 = 3 n, \quad \mathbb{E} \|\mathbf{X} w\|^2 = n \|w\|^2", assumes=TOKENS,
      finding=r"""By Chebyshev's inequality both squared norms are within any fraction of their means with probability $1 - O(1/n)$. For
          $w^l$ that depends on the context, $\mathbf{X}^\top \mathbf{X} / n$ is near the identity for $n \gg d$.""")
claim("lt.expressive-limit/correlation",
      identity(mean_square_of_v, r"\mathbb{E} \|v\|^2 - 3 n (d + 4)", control={"power": 3}, over={"power": 2}),
      source=CORRELATION, kind="printed", expected="supported", title="The correlation is of order √(nd)",
      statement=r"\mathbb{E} \|v\|^2 = 3 n (d + 4), \qquad v = \sum_i x_i(1)^2 x_i", assumes=TOKENS,
      finding=r"""By Markov's inequality $\|v\| \leq \sqrt{3 n (d + 4) / \delta}$ with probability $1 - \delta$. Over the two norms this is
          a cosine of order $\sqrt{d/n}$, as the theorem has it. Different tokens are independent and $x_i(1)^2 x_i$ has mean 0, so only
          $\mathbb{E}\, x(1)^4 \|x\|^2 = 15 + 3 (d - 1)$ remains.""")
