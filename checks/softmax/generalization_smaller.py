r"""Theorem 3: M is pretrained on L; tested on L' <= L, the loss is at least (n L^2 / sigma^2)^{2/(2(d+2))} / n.

With the displayed constant 1 the bound is false at d = 2 (proved for every n >= 10^9 and L' = L/3), and its units do not
match: sigma^2 belongs in front. Up to a constant, at fixed sigma, the bound holds for ReLU tasks.
"""

from lipverify.checks.softmax.figures import displayed
from lipverify.checks.softmax.quantities import DIMENSIONS, EXPONENT
from lipverify.checks.softmax.transfer import (
    ALONG,
    FAMILY,
    FIXED,
    PROVED,
    SHARP,
    SKETCH,
    THEOREM_3,
    TUNED,
    agreed,
    along_tested,
    and_sharp,
    derivation,
    in_other_units,
    losses,
    over_display,
    proved_display,
)
from lipverify.claims import at, bound, claim, exponent, identity, proved_rates

# fmt: off
HEADINGS = {"softmax.generalization-smaller": (4, 3, "Tested on smoother tasks")}
SMALLER_TASKS = ("S", r"Theorem 3, tested on $L' \leq L$", THEOREM_3)
TESTED = (*ALONG, "tested on $L' = L/3$")
DISPLAY = r"\mathcal{L} \Big/ \frac{1}{n} \Bigl(\frac{nL^2}{\sigma^2}\Bigr)^{\frac{2}{2(d+2)}}"

claim("softmax.generalization-smaller/relu/lower/displayed",
      bound(over_display, DISPLAY, low=1, control=(1.15, {"ratio": 1.0}),
            over={"d": 2, "n": 1e4, "ratio": (1 / 2, 1 / 3)}, method="exact"),
      bound(over_display, DISPLAY, low=1, along={"n": (1e4, 1e30)}, control=(1.15, {"low": "0.8", "high": "0.84"}),
            over={"d": 2, "ratio": 1 / 3}, method="exact"),
      source=SMALLER_TASKS, kind="printed", expected="refuted",
      title="the lower bound for smaller L, with the constant 1 that is displayed",
      statement=r"""\mathcal{L}(\mathbf{M}) \geq \frac{1}{n} \Bigl(\frac{nL^2}{\sigma^2}\Bigr)^{\frac{2}{2(d+2)}} \qquad
      (L' \leq L)""", assumes=(*TUNED, r"ReLU law, $d = 2$, $L = \sigma = 1$; the ratio is $L'/L$"),
      finding=at(displayed, least=at(over_display, d=2, n=1e4, ratio=1 / 3),
                   at_l=at(over_display, d=2, n=1e4, ratio=1.0)),
      corrected=r"""$\mathcal{L} \geq C \frac{\sigma^2}{n} (nL^2/\sigma^2)^{\frac{1}{d+2}}$ with a constant $C$
      (necessarily below 0.84 at $d = 2$), for large $n$""")
claim("softmax.generalization-smaller/relu/lower/displayed/proved",
      bound(proved_display, DISPLAY, low=1, control=(1.15, {"high": "95/100", "low": "7/10"}),
            over={"d": 2, "ratio": 1 / 3}, method="certified"),
      proves="softmax.generalization-smaller/relu/lower/displayed", source=SMALLER_TASKS, kind="derived",
      expected="refuted",
      title="the lower bound for smaller L, with the constant 1 that is displayed: disproved for every large n",
      statement=r"""\mathcal{L}(\mathbf{M}) \geq \frac{1}{n} \Bigl(\frac{nL^2}{\sigma^2}\Bigr)^{\frac{2}{2(d+2)}} \qquad
      (L' \leq L)""", assumes=(*TUNED, r"ReLU law, $d = 2$, $L = \sigma = 1$, $L' = 1/3$; every $n \geq 10^9$"),
      finding=r"""The window theorem gives $\mathcal{L}'(w^*(L')) \leq C L'^2 \Lambda'^{-3/4}$ with an explicit $C$, and
      the transfer theorem bounds $\mathcal{L}'(w^*(L))$ by an explicit multiple of that. At $d = 2$ the right side of
      the claim is $n^{-3/4}$ as well, so the quotient of both sides is at most the product of the two constants and
      $(L'/L)^{1/2}$. This is below 1 for every such $n$: no $n$ is large enough.""",
      corrected=r"""$\mathcal{L} \geq C \frac{\sigma^2}{n} (nL^2/\sigma^2)^{\frac{1}{d+2}}$ with a constant $C < 1$, for
      large $n$""")
claim("softmax.generalization-smaller/{law}/{side}/printed/{reading}",
      exponent(losses, r"\mathrm{loss}", of="smaller", low="1/E - 1", truth="-fall", method="exact",
               over={"d": DIMENSIONS}),
      *agreed("smaller"),
      source=SMALLER_TASKS, kind={"relu/*": "convention", "*": "stronger"},
      expected={"relu/*/ambient": "supported", "*": "refuted"}, over=FAMILY, assumes=TESTED,
      finding=r"""With $d$ instead of the 2 in $\frac{2}{2(d+2)}$ and $\sigma^2$ in front, the bound is the noise term
      $\sigma^2 w^{d/2}/n$ at the smallest $w$ of the sketch, $\Lambda^{1/(d+2)}$. The printed bound is weaker than this
      for $d > 2$ and equal to it for $d = 2$, where the claim is tightest. This claim allows any constant; the claim
      `displayed` has the constant 1.""",
      corrected=and_sharp(r"""$\mathcal{L} \geq C \frac{\sigma^2}{n} (nL^2/\sigma^2)^{\frac{d-1}{2(d+1)}}$, with the
      sphere's dimension for $d$"""))
claim("softmax.generalization-smaller/{law}/{side}/derived/{reading}",
      exponent(losses, r"\mathrm{loss} / \sigma^2", of="smaller", low="D/(2*E) - 1", truth="-fall", method="exact",
               over={"d": DIMENSIONS}),
      identity(at(derivation, case="smaller"), r"\text{implied} - \text{stated}", control={"above": 1.5}),
      *agreed("smaller"),
      source=SKETCH, kind="derived", expected={"affine/*/ambient": "refuted", "*": "supported"}, over=FAMILY,
      assumes=TESTED,
      finding=r"""The bound is $N = \sigma^2 w^{d/2}/n$ at the smallest $w$ of the sketch, $\Lambda^{1/(d+2)}$. With the
      ambient $d$ it overstates the noise by a factor $w^{1/2}$. The slack in the window makes up for this for the ReLU
      law (at $d = 2$ only just), but not for the affine law at $d = 2$, whose $w^*$ is smaller.""",
      corrected={"affine/*/ambient": SHARP["*"], "*": ""})
claim("softmax.generalization-smaller/relu/lower/along-test-constant",
      exponent(at(along_tested, law="relu", n=1e4), r"\mathrm{loss}", of="smaller", scale="(L/L')", low="0", truth="0",
               method="exact", along={"rho": (1.0, 1e6, 9)}, over={"d": (2, 5, 8)}),
      source=SMALLER_TASKS, kind="convention", expected="supported", assumes=(*FIXED, r"$L' \to 0$"),
      finding=r"""As $L' \to 0$ the loss tends to the noise term at $w^*(L)$, while attention tuned to $L'$ averages all
      tokens and has the loss $\sigma^2/n$. So $M$ does not benefit from a small $L'$.""")
claim("softmax.generalization-smaller/relu/lower/units",
      exponent(at(in_other_units, law="relu", n=1e4), r"\mathrm{loss}", along={"s": (1.0, 1e6, 8)}, low="0", truth="-2",
               over={"d": 2}, method="exact"),
      source=SMALLER_TASKS, kind="printed", expected="refuted",
      statement=r"""\mathcal{L} \geq \frac{C}{n} \Lambda^{\frac{1}{d+2}}, \quad C = 1 \text{ as displayed, or any one }
      C \text{ for all } L' = L, \sigma""",
      assumes=(*TUNED, "ReLU law, $d = 2$", "$n = 10^4$",
               r"$L = L' = \sigma = 1/s$, $s \to \infty$: the right side is fixed"),
      finding=r"""The loss has the unit of $y^2$, and the right side of the printed bound has none. If $y$ is measured in a
      unit $s$ times as large, the loss falls by $s^2$, while $(nL^2/\sigma^2)^{1/(d+2)}/n$ stays the same. At $d = 2$ both
      sides fall at the same rate in $n$, so no $n$ is large enough. If the constant may depend on $\sigma$, the bound
      holds.""",
      corrected=r"""$\sigma^2$ belongs in front: $\mathcal{L} \geq C \frac{\sigma^2}{n} (\dots)$, as in the noise term
      that the bound comes from.""")
claim("softmax.generalization-smaller/{law}/{side}/printed/{reading}/proved",
      bound(proved_rates, EXPONENT["loss"], of="loss", low="1/E - 1", truth="-fall", method="certified"),
      proves="softmax.generalization-smaller/{law}/{side}/printed/{reading}", source=SMALLER_TASKS,
      expected={"relu/*/ambient/proved": "supported", "*": "refuted"}, **PROVED)
claim("softmax.generalization-smaller/{law}/{side}/derived/{reading}/proved",
      bound(proved_rates, EXPONENT["loss"], of="loss", low="D/(2*E) - 1", truth="-fall", method="certified"),
      proves="softmax.generalization-smaller/{law}/{side}/derived/{reading}", source=SKETCH,
      expected={"affine/*/ambient/proved": "refuted", "*": "supported"}, **PROVED)
