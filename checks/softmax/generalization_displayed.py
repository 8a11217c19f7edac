r"""Theorem 3 for L' <= L with the constant 1 that is displayed, and its units.

The bound is false at d = 2 alone (proved for every n >= 10^9 and L' = L/3), where both sides fall at the same rate. Its
units do not match: sigma^2 belongs in front.
"""

from lipverify.checks.softmax.figures import displayed
from lipverify.checks.softmax.quantities import EXPONENT, LARGE_N, LAWS
from lipverify.checks.softmax.transfer import (
    COVERED,
    SMALLER_TASKS,
    TUNED,
    in_other_units,
    over_display,
    proved_display,
)
from lipverify.claims import at, bound, claim, exponent, proved_rates

# fmt: off
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
      (necessarily below 0.84 at $d = 2$; with $C = 1$ it holds at $d = 3, 5, 8$), for large $n$""")
claim("softmax.generalization-smaller/relu/lower/displayed/above-two",
      bound(over_display, DISPLAY, low=1, truth="quotient", method="exact",
            over={("d", "n"): {(3, 1e4): {"quotient": "2.64"}, (3, 1e12): {"quotient": "85.5"}, (5, 1e4): {"quotient": "7.1"},
                               (5, 1e12): {"quotient": "12895"}}}),
      exponent(over_display, DISPLAY, along={"n": (1e4, 1e30)}, low=0, strict=True, truth="(d - 2)/(d + 2)", over={"d": (3, 5, 8)},
               method="exact"),
      source=SMALLER_TASKS, kind="printed", expected="supported", over={"ratio": 1 / 3},
      title="the lower bound for smaller L, with the constant 1 that is displayed, at d = 3, 5 and 8",
      assumes=(*TUNED, r"ReLU law, $L = \sigma = 1$, $L' = 1/3$; $d = 3, 5$ and in the limit also $8$"),
      finding="""The loss falls more slowly than the bound in every dimension above 2, so for large $n$ the bound holds there with
      any constant.""")
claim("softmax.generalization-smaller/relu/lower/displayed/above-two/proved",
      bound(proved_rates, EXPONENT["loss"], of="loss", low="1/(d + 2) - 1", strict=True, truth="-fall", method="certified"),
      proves="softmax.generalization-smaller/relu/lower/displayed/above-two", source=SMALLER_TASKS, kind="derived",
      expected="supported", over={"law": {"relu": LAWS["relu"]}, "d": (3, 5, 8)},
      title="the loss at d = 3, 5 and 8 falls more slowly than the displayed bound: proved for every large n",
      statement=r"\mathcal{L}(w^*) = \Theta(\Lambda^e), \ e > \tfrac{1}{d+2} - 1", assumes=COVERED, forall=LARGE_N,
      finding=r"""At a fixed ratio $L'/L$ the loss lies between two multiples of that on $L$.""")
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
