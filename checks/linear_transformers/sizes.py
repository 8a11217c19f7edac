r"""Table 1 at other sizes: which of its findings hold at d = 5 and 10 with n = 4 d, and at d = 20 with n = 2 d.

Every layer up to the fifth lowers the loss, and with three DIAG is below ridge regression with the best constant, the
limit of GD++. Five layers beat AdaRR at n = 4 d. With one head they match TunedRR at d = 5 under uniform laws, not at
every size, and with two heads at every n = 4 d. At d = 20 two heads beat AdaRR too, and so does FULL.
"""

from __future__ import annotations

from typing import Any

from lipverify.checks.linear_transformers import other_sizes as sizes
from lipverify.checks.linear_transformers.other_sizes import EVERY, LARGE, LONG, SMALL, compared
from lipverify.checks.linear_transformers.quantities import ADAPTIVE, DIAGONAL, TABLE_1, TUNED
from lipverify.claims import claim

# fmt: off
HEADINGS = {"lt.other-sizes": (11, 6, "The table at other sizes")}
ASSUMED: dict[str, Any] = {"kind": "stronger", "assumes": (
    r"""$x_i, w^* \sim \mathcal{N}(0, \mathbf{I})$, noiseless query target, adjusted losses; the sizes and laws of the cells, as
    law @ $d$ x $n$""", sizes.CAPPED,
    "three trainings a model, trained as those of the table; TunedRR: its cap and factor fitted to other contexts")}

claim("lt.other-sizes/depth",
      compared("a layer less", EVERY, (2, 3, 4, 5), high=0, strict=True, control={"sign": -1}),
      compared("a layer less", EVERY, (2, 3, 4, 5), "OMEGA", high=0, strict=True, control={"sign": -1}),
      compared("a layer less", SMALL[0], (2, 3, 4, 5), "FULL", high=0, strict=True, control={"sign": -1}),
      compared("a layer less", LARGE, (2, 3, 4, 5), "FULL", high=0, strict=True, control={"sign": -1}),
      source=TABLE_1, expected="supported", title="every layer up to the fifth lowers the loss", **ASSUMED)
claim("lt.other-sizes/gd-plus-plus",
      compared("ConstRR", EVERY, (3, 4, 5), high=0, strict=True, control={"layers": 1}),
      source=TABLE_1, expected="supported",
      title="with three layers DIAG is below ridge regression with the best constant, the limit of GD++",
      finding="""lt.constant-ridge-bound derives for every size that the mean loss of GD++ stays above ridge regression
            with the best constant.""",
      **ASSUMED)
claim("lt.other-sizes/adaptive",
      compared("AdaRR", (*SMALL, LONG), 5, high=0, strict=True, control={"layers": 3}),
      source=ADAPTIVE, expected="supported", title="at n = 4 d five layers of DIAG beat AdaRR", **ASSUMED)
claim("lt.other-sizes/match-tuned",
      compared("TunedRR", (SMALL[0], SMALL[2]), 5, high=sizes.CLOSE, control={"layers": 3}),
      source=TUNED, expected="supported", title="""at d = 5 five layers of DIAG match tuned ridge regression to a tenth,
            under uniform laws""",
      **ASSUMED)
claim("lt.other-sizes/match-tuned/every-size",
      compared("TunedRR", (SMALL[1], LONG, LARGE), 5, high=0, control=({"layers": 3}, {"against": "ConstRR"})),
      source=TUNED, expected="refuted", title="""five layers of DIAG match tuned ridge regression at every size and
            under every law""",
      **ASSUMED,
      corrected="""five layers do at $d = 5$ under uniform laws; at $d = 10$, $d = 20$ and under a law of two levels
          tuned ridge regression has the smaller loss""")
claim("lt.other-sizes/match-tuned/two-heads",
      compared("TunedRR", (*SMALL, LONG), 5, "OMEGA", high=sizes.CLOSE, control={"layers": 3}),
      source=TUNED, expected="supported", title="""at n = 4 d five layers of two diagonal heads match tuned ridge
            regression to a tenth""",
      finding="Two heads leave the four weights of a layer free; one head restricts them to a cone (lt.diagonal).", **ASSUMED)
claim("lt.other-sizes/match-tuned/two-heads/large",
      compared("AdaRR", LARGE, 5, "OMEGA", high=0, strict=True, control={"layers": 4}),
      compared("TunedRR", LARGE, 5, "OMEGA", high="log(5/4)", control={"family": "DIAG"}),
      source=TUNED, expected="supported", **ASSUMED,
      title="""at d = 20 five layers of two diagonal heads beat AdaRR and lose at most a quarter more than tuned ridge
            regression""")
claim("lt.other-sizes/match-tuned/full/large",
      compared("AdaRR", LARGE, 5, "FULL", high=0, strict=True, control={"layers": 3}),
      compared("TunedRR", LARGE, 5, "FULL", high="log(4/3)", control={"layers": 3}),
      source=TUNED, expected="supported", **ASSUMED,
      title="at d = 20 five layers of FULL beat AdaRR and lose at most a third more than tuned ridge regression")
claim("lt.other-sizes/two-heads",
      compared("FULL", SMALL[0], sizes.DEPTHS, "OMEGA", high=sizes.FAR, control="-log(3/2)"),
      compared("FULL", LARGE, (1, 2), "OMEGA", high=sizes.CLOSE, control="-log(11/10)"),
      compared("FULL", LARGE, (3, 4, 5), "OMEGA", high=sizes.FAR, control="-log(2)"),
      source=DIAGONAL, expected="supported", **ASSUMED,
      title="""two diagonal heads have at most 1.5 times the loss of FULL at d = 5 and 20, and 1.1 times at d = 20 with one and
            two layers""")
claim("lt.other-sizes/diagonal",
      compared("FULL", SMALL[0], sizes.DEPTHS, high=sizes.FAR, control="-log(3/2)"),
      compared("FULL", LARGE, (1, 2), high=sizes.CLOSE, control="-log(11/10)"),
      compared("FULL", LARGE, (3, 4, 5), high="log(2)", control="-log(2)"),
      source=DIAGONAL, expected="supported", **ASSUMED,
      title="""DIAG has at most 1.5 times the loss of FULL at d = 5, and at d = 20 1.1 times with one and two layers, twice with three
            to five""")
