r"""Theorem 3: M is pretrained on Lipschitz constant L; tested on the same L, the loss is at most a power of n.

Printed: L^{2 - 2/(d+2)} (sigma^2 / n)^{1/(d+2)}. It holds with slack: the bounds of the sketch imply twice that
exponent in Lambda, and the sharp rates are Lambda^{-3/(d+2)} for ReLU tasks and Lambda^{-4/(d+3)} for affine ones. On
any fixed other L' the rate is the same and the factor a constant.
"""

from lipverify.checks.softmax import transfer
from lipverify.checks.softmax.quantities import DIMENSIONS, EXPONENT, LARGE_N, LAWS, optimum
from lipverify.claims import at, bound, claim, exponent, identity, proved_rates

# fmt: off
HEADINGS = {"softmax.generalization-same": (4, 1, "Tested on tasks of the same Lipschitz constant")}
SETTLED = (2, 3, 4, 5, 6, 7)
"""The cell in which the exponent of the loss at another L is known to two digits only: at d = 8, on L / 3, two powers
of n with close exponents and factors of opposite signs leave an error of 0.023 after 26 decades."""
PRICE = "((d - 1)*r + b)/((d - 1 + b)*r**((d - 1)/(d - 1 + b)))"
"""The loss at the w of L relative to the tuned w on L', in the limit; r = (L'/L)^2, b = 2 beta."""

claim("softmax.generalization-same/{law}/{side}/printed/{reading}",
      exponent(transfer.losses, r"\mathcal{L}(w^*) / L^2", of="same", scale=r"\Lambda", high="-1/E", truth="-fall", method="exact",
               over={"d": DIMENSIONS}),
      *transfer.agreed("same"),
      source=transfer.SAME_TASKS, kind=transfer.KINDS, expected="supported", over=transfer.FAMILY, assumes=transfer.ALONG,
      finding=r"""The printed exponent is that of $L^2/w$ at the smallest $w$ of the sketch, $\Lambda^{1/(d+2)}$. The
      best loss is at most the loss at any $w$, so the sketch's own bounds give its square, $\Lambda^{-2/(d+2)}$.""",
      corrected=transfer.and_sharp(r"tighter, from the same sketch: $\mathcal{L} \leq C L^2 (\sigma^2/(nL^2))^{2/(d+2)}$"))
claim("softmax.generalization-same/{law}/{side}/derived/{reading}",
      exponent(transfer.losses, r"\mathcal{L}(w^*) / L^2", of="same", scale=r"\Lambda", high="-2/E", truth="-fall", method="exact",
               over={"d": DIMENSIONS}),
      identity(at(transfer.derivation, case="same"), r"\text{implied} - \text{stated}", control={"above": 1.5}),
      *transfer.agreed("same"),
      source=transfer.SAME_TASKS, kind="derived", expected="supported", over=transfer.FAMILY, assumes=transfer.ALONG,
      finding=r"""$N + B \leq C (\sigma^2 w^{d/2}/n + L^2/w)$ at the $w$ that balances these two; the minimum can only
      be smaller.""")
claim("softmax.generalization-same/{law}/theta/sharp",
      exponent(transfer.losses, r"\mathcal{L}(w^*) / L^2", of="same", scale=r"\Lambda", equals="-fall", method="exact",
               over={"d": DIMENSIONS}),
      *transfer.agreed("same"),
      source=transfer.SAME_TASKS, kind="sharp", expected="supported", over={"law": LAWS}, assumes=transfer.ALONG)
claim("softmax.generalization-same/affine/upper/along-l",
      exponent(at(optimum, law="affine", n=1e4), r"\mathrm{loss}", of="loss", along={"L": (1.0, 1e6, 9)},
               high="2 - 2/(d + 2)", truth="2", over={"d": 3}, method="exact"),
      source=transfer.SAME_TASKS, kind="stronger", expected="refuted",
      assumes=(*transfer.TUNED, "affine law, $d = 3$",
               r"$n = 10^4$ and $\sigma = 1$ fixed: 'large enough $n$' not depending on $L$"),
      finding=r"""'Large enough $n$' must grow with $L/\sigma$: at fixed $n$ the bias at the optimal $w$ is of order
      $L^2$ for every $L$. The bias is $O(L^2/w)$ only while the window holds tokens; beyond that, it is the squared
      distance to the nearest token.""",
      corrected=r"""what the sketch implies once the error of the nearest token is added: $\mathcal{L} \leq C L^2
      ((\sigma^2/(nL^2))^{2/(d+2)} + n^{-2/(d-1)})$""")
claim("softmax.generalization-same/{law}/{side}/printed/{reading}/proved",
      bound(proved_rates, EXPONENT["loss"], of="loss", high="-1/E", truth="-fall", method="certified"),
      proves="softmax.generalization-same/{law}/{side}/printed/{reading}", source=transfer.SAME_TASKS, expected="supported",
      **transfer.PROVED)
claim("softmax.generalization-same/{law}/{side}/derived/{reading}/proved",
      bound(proved_rates, EXPONENT["loss"], of="loss", high="-2/E", truth="-fall", method="certified"),
      proves="softmax.generalization-same/{law}/{side}/derived/{reading}", source=transfer.SAME_TASKS, expected="supported",
      **transfer.PROVED)
claim("softmax.generalization-same/{law}/theta/sharp/proved",
      bound(proved_rates, EXPONENT["loss"], of="loss", equals="-fall", within="1e-15", method="certified"),
      proves="softmax.generalization-same/{law}/theta/sharp", source=transfer.SAME_TASKS, kind="sharp", expected="supported",
      over={"law": LAWS, "d": DIMENSIONS}, assumes=transfer.COVERED, forall=LARGE_N)
for case, tasks, r, t in (("larger", transfer.LARGER_TASKS, "9", "0.003"), ("smaller", transfer.SMALLER_TASKS, "1/9", "0.0003")):
    claim("softmax.generalization-{case}/{law}/theta/sharp",
          exponent(transfer.losses, r"\mathrm{loss} / L^2", of="{case}", scale=r"\Lambda", equals="-fall", method="exact",
                   over={"d": SETTLED}),
          bound(transfer.losses, r"\mathrm{loss}(L') / \mathrm{loss}(L)", of="{case} over same", along={"n": (1e4, 1e30)},
                over={"d": (2, 3, 4, 5, 6, 7, 8)}, equals="((d - 1)*r + b)/(d - 1 + b)", within="t", method="exact"),
          *transfer.agreed("{case}"),
          source=tasks, kind="sharp", expected="supported",
          over={"case": {case: {"r": r, "t": t}}, "law": LAWS},
          assumes=(*transfer.ALONG, "larger: tested on $L' = 3L$; smaller: tested on $L' = L/3$", r"$r = (L'/L)^2$, $b = 2 \beta$"),
          finding=r"""At $w^*(L)$ the derivatives of both terms cancel, $a N = \beta B$ with $a = (d-1)/2$ and $B \propto
          w^{-\beta}$; on $L'$ the loss is $N + (L'/L)^2 B$. Relative to the $w$ that is tuned to $L'$ the factor is
          $\frac{a \rho^2 + \beta}{(a+\beta) \rho^{2a/(a+\beta)}}$, $\rho = L'/L$: above 1 unless $\rho = 1$, and constant
          in $n$. A wrong $L$, at a fixed ratio, costs a factor and not the rate.""")
    claim("softmax.generalization-{case}/{law}/theta/constant/proved",
          bound(transfer.proved_cost, r"\mathcal{L}'(w^*(L)) / \mathcal{L}'(w^*(L'))", equals=PRICE, within=f"3/10*{PRICE}",
                control={"equals": f"1.57*{PRICE}"}, method="certified"),
          source=tasks, kind="sharp", expected="supported",
          over={"case": {case: {"r": r}}, "law": LAWS, "d": DIMENSIONS},
          title="the factor by which the w of another Lipschitz constant is worse, proved for every n", assumes=transfer.COVERED,
          forall=LARGE_N,
          finding=r"""The value is the interval that contains the quotient for every context of the range: the loss at any
          multiple of $\Lambda^e$ lies between two explicit numbers, and $w^*(L)$ is such a multiple for $L'$. The limit in
          the middle of it is $\frac{a \rho^2 + \beta}{(a + \beta) \rho^{2a/(a+\beta)}}$, $\rho = L'/L$, $a = (d-1)/2$.""")
