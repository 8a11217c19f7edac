r"""Where softmax attention overtakes linear attention for good, and the quotient of their losses.

Linear attention has a floor if the tasks are not linear, and softmax attention is below it from some Lambda on. On
affine tasks without the offset b it never overtakes linear attention for good.
"""

from lipverify.checks.softmax import linear_floor
from lipverify.checks.softmax.linear_attention import SUMMARY
from lipverify.checks.softmax.linear_floor import ASSUMED, FLOORS, LEAST, LINEAR, RATIO, WITHOUT
from lipverify.claims import bound, claim, exponent, per_profile

# fmt: off
LAMBDA = r"""$\Lambda_\times = n_\times (L / \sigma)^2$: from $n_\times$ on softmax attention has the smaller loss,
    checked there and at $10$, $10^3$ and $10^6$ times as many tokens; the ratio is that of the cells' $d$ and $L /
    \sigma$"""

claim("linear-attention.floor/{law}/{reading}/crossing",
      RATIO,
      bound(linear_floor.crossing, r"\Lambda_\times", high="X", control="0.475*X", method="exact",
            over={"d": per_profile((2, 3, 5), (2, 3, 5, 8, 12)), "ratio": per_profile((0.1, 0.3), (0.1, 0.3, 1.0))}),
      source=SUMMARY, kind="stronger", expected="supported",
      over={("law", "reading"): FLOORS},
      title="Softmax attention overtakes linear attention for good",
      statement=rf"\mathcal{{L}}(w^*) = o\left({LEAST}\right), \quad \mathcal{{L}}(w^*) < {LEAST} \text{{ from }} \Lambda_\times \leq X",
      assumes={"*/offset/*": (*ASSUMED["*/offset/*"], LAMBDA), "*/no-offset/*": (*ASSUMED["*/no-offset/*"], LAMBDA)},
      finding={
          "*/offset/*": r"""The crossing is near $\Lambda = 3$ in every measured dimension. There the noise of a plain
              average, $\sigma^2/n$, equals what linear attention loses because it misses the mean of $f$ over the
              sphere: $L^2/3$ for the offset (and a little more for the mean of a ReLU function). The window hardly
              matters.""",
          "*": r"In the measured cells $\Lambda_\times$ hardly depends on $L/\sigma$ and grows with $d$.",
      })
claim("linear-attention.floor/{law}/{reading}/crossing",
      RATIO,
      source=SUMMARY, kind="stronger", expected="refuted", over={("law", "reading"): WITHOUT},
      title="Softmax attention overtakes linear attention for good",
      assumes=ASSUMED["*/no-offset/*"],
      finding=r"""The loss of linear attention falls like $1/n$ and that of softmax attention like $n^{-4/(d+3)}$: on linear functions
          without an offset softmax attention never overtakes linear attention for good.""",
      corrected=LINEAR)
claim("linear-attention.floor/{law}/{reading}/advantage",
      exponent(linear_floor.advantage, rf"\mathcal{{L}}(w^*) / {LEAST}", equals="p - q", over={"d": (2, 3, 5)}, method="exact"),
      source=SUMMARY, kind="sharp", expected="supported", over={("law", "reading"): FLOORS | WITHOUT},
      title="The loss of softmax attention divided by that of linear attention, as a rate",
      assumes=ASSUMED,
      finding={
          "affine/no-offset/*": r"""Here softmax attention falls behind, like $n^{1 - 4/(d+3)}$: linear attention
              averages all $n$ labels for one linear function.""",
          "*": r"""Linear attention keeps its floor, so the advantage is the whole rate of softmax attention,
              $n^{-3/(d+2)}$ (ReLU) and $n^{-4/(d+3)}$ (affine with an offset). The exponent tends to 0 as $d$ grows.""",
      })
