r"""Theorem 3: M is pretrained on L; tested on L' > L, the loss is at least L'^2 (sigma^2 / (n L^2))^{2/(d+2)}.

The dependence on L' is as printed. The exponent of Lambda fails at every measured d. The sketch's own lower bound of
the bias, L'^2 / w^2, gives twice the exponent, and with that the bound holds.
"""

from lipverify.checks.softmax import transfer
from lipverify.checks.softmax.quantities import DIMENSIONS
from lipverify.claims import at, bound, claim, exponent, identity, proved_rates

# fmt: off
HEADINGS = {"softmax.generalization-larger": (4, 2, "Tested on rougher tasks")}
TESTED = (*transfer.ALONG, "tested on $L' = 3L$")
LOSS = r"\text{limit exponent of } \mathrm{loss} / L'^2 \text{ in } \Lambda"
"""It is that of the tuned loss, because on $L' > L$ the loss at one w lies between one time and $(L'/L)^2$ times that on L."""

claim("softmax.generalization-larger/{law}/{side}/printed/{reading}",
      exponent(transfer.losses, r"\mathrm{loss} / L'^2", of="larger", scale=r"\Lambda", low="-2/E", truth="-fall",
               method="exact", over={"d": DIMENSIONS}),
      *transfer.agreed("larger"),
      source=transfer.LARGER_TASKS, kind=transfer.KINDS, expected="refuted", over=transfer.FAMILY, assumes=TESTED,
      finding=r"""The printed bound is $L'^2/w$ at the largest $w$ of the sketch, $\Lambda^{2/(d+2)}$; but the sketch
      states $L'^2/w$ as an upper bound of the bias. Its lower bound is $\Omega(L'^2/w^2)$, and with it the exponent
      doubles.""",
      corrected=transfer.and_sharp(r"$\mathcal{L} \geq C L'^2 (\sigma^2/(nL^2))^{4/(d+2)}$, with twice the printed exponent"))
claim("softmax.generalization-larger/{law}/{side}/derived/{reading}",
      exponent(transfer.losses, r"\mathrm{loss} / L'^2", of="larger", scale=r"\Lambda", low="-4/E", truth="-fall",
               method="exact", over={"d": DIMENSIONS}),
      identity(at(transfer.derivation, case="larger"), r"\text{implied} - \text{stated}", control={"above": 1.5}),
      *transfer.agreed("larger"),
      source=transfer.LARGER_TASKS, kind="derived", expected="supported", over=transfer.FAMILY, assumes=TESTED,
      finding=r"$B \geq C L'^2/w^2$ at the largest $w$ that the sketch allows, $\Lambda^{2/(d+2)}$.")
claim("softmax.generalization-larger/relu/lower/along-test-constant",
      exponent(at(transfer.along_tested, law="relu", n=1e4), r"\mathrm{loss}", of="larger", scale="(L'/L)", low="2", truth="2",
               method="exact", along={"rho": (1.0, 1e6, 9)}, over={"d": (2, 5, 8)}),
      source=transfer.LARGER_TASKS, kind="convention", expected="supported", assumes=(*transfer.FIXED, r"$L' \to \infty$"),
      finding=r"""The dependence on $L'$ is as printed, and sharp: the loss is $N(w^*) + (L'/L)^2 B(w^*)$ exactly. With
      $w$ tuned to $L'$ the loss grows like $L'^{2 - 2\beta/(a+\beta)}$ for large $\Lambda$, so without tuning the
      dependence on $L'$ is worse.""")
claim("softmax.generalization-larger/{law}/{side}/printed/{reading}/proved",
      bound(proved_rates, LOSS, of="loss", low="-2/E", truth="-fall", method="certified"),
      proves="softmax.generalization-larger/{law}/{side}/printed/{reading}", source=transfer.LARGER_TASKS, expected="refuted",
      **transfer.PROVED)
claim("softmax.generalization-larger/{law}/{side}/derived/{reading}/proved",
      bound(proved_rates, LOSS, of="loss", low="-4/E", truth="-fall", method="certified"),
      proves="softmax.generalization-larger/{law}/{side}/derived/{reading}", source=transfer.LARGER_TASKS, expected="supported",
      **transfer.PROVED)
