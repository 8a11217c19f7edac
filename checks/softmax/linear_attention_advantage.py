r"""The quotient of the losses of softmax attention and linear attention, which has a floor if the tasks are not linear."""

from lipverify.checks.softmax import linear_floor
from lipverify.checks.softmax.linear_attention import SUMMARY
from lipverify.checks.softmax.linear_floor import ASSUMED, FLOORS, LEAST, WITHOUT
from lipverify.claims import claim, exponent

# fmt: off
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
