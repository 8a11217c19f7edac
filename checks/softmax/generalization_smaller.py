r"""Theorem 3: M is pretrained on L; tested on L' <= L, the loss is at least (n L^2 / sigma^2)^{2/(2(d+2))} / n.

Up to a constant, at fixed sigma, the bound holds for ReLU tasks. generalization_displayed.py has the constant 1.
"""

from lipverify.checks.softmax import transfer
from lipverify.checks.softmax.quantities import DIMENSIONS
from lipverify.claims import at, bound, claim, exponent, identity, proved_rates

# fmt: off
HEADINGS = {"softmax.generalization-smaller": (4, 3, "Tested on smoother tasks")}
TESTED = (*transfer.ALONG, "tested on $L' = L/3$")

claim("softmax.generalization-smaller/{law}/{side}/printed/{reading}",
      exponent(transfer.losses, r"\mathrm{loss}", of="smaller", low="1/E - 1", truth="-fall", method="exact",
               over={"d": DIMENSIONS}),
      *transfer.agreed("smaller"),
      source=transfer.SMALLER_TASKS, kind={"relu/*": "convention", "*": "stronger"},
      expected={"relu/*/ambient": "supported", "*": "refuted"}, over=transfer.FAMILY, assumes=TESTED,
      finding=r"""With $d$ instead of the 2 in $\frac{2}{2(d+2)}$ and $\sigma^2$ in front, the bound is the noise term
      $\sigma^2 w^{d/2}/n$ at the smallest $w$ of the sketch, $\Lambda^{1/(d+2)}$. The printed bound is weaker than this
      for $d > 2$ and equal to it for $d = 2$, where the claim is tightest. This claim allows any constant; the claim
      `displayed` has the constant 1.""",
      corrected=transfer.and_sharp(r"""$\mathcal{L} \geq C \frac{\sigma^2}{n} (nL^2/\sigma^2)^{\frac{d-1}{2(d+1)}}$, with the
      sphere's dimension for $d$"""))
claim("softmax.generalization-smaller/{law}/{side}/derived/{reading}",
      exponent(transfer.losses, r"\mathrm{loss} / \sigma^2", of="smaller", low="D/(2*E) - 1", truth="-fall", method="exact",
               over={"d": DIMENSIONS}),
      identity(at(transfer.derivation, case="smaller"), r"\text{implied} - \text{stated}", control={"above": 1.5}),
      *transfer.agreed("smaller"),
      source=transfer.SMALLER_TASKS, kind="derived", expected={"affine/*/ambient": "refuted", "*": "supported"}, over=transfer.FAMILY,
      assumes=TESTED,
      finding=r"""The bound is $N = \sigma^2 w^{d/2}/n$ at the smallest $w$ of the sketch, $\Lambda^{1/(d+2)}$. With the
      ambient $d$ it overstates the noise by a factor $w^{1/2}$. The slack in the window makes up for this for the ReLU
      law (at $d = 2$ only just), but not for the affine law at $d = 2$, whose $w^*$ is smaller.""",
      corrected={"affine/*/ambient": transfer.SHARP["*"], "*": ""})
claim("softmax.generalization-smaller/relu/lower/along-test-constant",
      exponent(at(transfer.along_tested, law="relu", n=1e4), r"\mathrm{loss}", of="smaller", scale="(L/L')", low="0", truth="0",
               method="exact", along={"rho": (1.0, 1e6, 9)}, over={"d": (2, 5, 8)}),
      source=transfer.SMALLER_TASKS, kind="convention", expected="supported", assumes=(*transfer.FIXED, r"$L' \to 0$"),
      finding=r"""As $L' \to 0$ the loss tends to the noise term at $w^*(L)$, while attention tuned to $L'$ averages all
      tokens and has the loss $\sigma^2/n$. So $M$ does not benefit from a small $L'$.""")
claim("softmax.generalization-smaller/{law}/{side}/printed/{reading}/proved",
      bound(proved_rates, r"\text{limit exponent of } \mathrm{loss} \text{ in } n", of="loss",
            low="1/E - 1", truth="-fall", method="certified"),
      proves="softmax.generalization-smaller/{law}/{side}/printed/{reading}", source=transfer.SMALLER_TASKS,
      expected={"relu/*/ambient/proved": "supported", "*": "refuted"}, **transfer.PROVED)
claim("softmax.generalization-smaller/{law}/{side}/derived/{reading}/proved",
      bound(proved_rates, r"\text{limit exponent of } \mathrm{loss} / \sigma^2 \text{ in } n", of="loss",
            low="D/(2*E) - 1", truth="-fall", method="certified"),
      proves="softmax.generalization-smaller/{law}/{side}/derived/{reading}", source=transfer.SMALLER_TASKS,
      expected={"affine/*/ambient/proved": "refuted", "*": "supported"}, **transfer.PROVED)
