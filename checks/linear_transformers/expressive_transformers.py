r"""Theorem 4.2, what transformers reach and where its conclusion ends.

A transformer does not depend on the target x(1)^2. It has a mean square cosine of at most 5 / n, for every d, and no
bound of smaller order in n holds. Not every context obeys the bound, odd targets do not, and one quadratic network
between the layers breaks it.
"""

from lipverify.checks.linear_transformers import cosines
from lipverify.checks.linear_transformers.cosines import LINEAR, RMS, SQUARE, TOKENS
from lipverify.checks.linear_transformers.quantities import EXPRESSIVE
from lipverify.checks.linear_transformers.sampled_cosines import one_context, sampled_best, transformer
from lipverify.claims import agree, at, bound, claim, exponent, identity, per_profile

# fmt: off
REBUTTAL = ("V", "Rebuttal 1, networks between the layers", """With nonlinear FFNs, Theorem 4.2 no longer holds. A quadratic FFN can
    indeed introduce higher-order relationships, however the output of each attention layer is still a linear combination of its inputs
    (though the weights might be non-linear functions of the input).""")
MODEL = ("d", "n", "layers", "heads", "w")
NORMAL = ((3, 300, 2, 2, "normal"), (10, 1000, 3, 1, "normal"))
ALIGNED = ((3, 300, 1, 1, "e_1"), (10, 1000, 4, 2, "e_1"))
ALL = ((3, 300, 2, 2, "normal"), (3, 300, 1, 1, "e_1"), (10, 1000, 3, 1, "normal"), (10, 1000, 4, 2, "e_1"))
SAMPLED = at(transformer, contexts=per_profile(1000, 6000))

claim("lt.expressive-limit/transformer",
      bound(SAMPLED, SQUARE, of="averaged", equals="1 + 4/d", within="0.12*(1 + 4/d)", method="montecarlo", over={MODEL: NORMAL}),
      bound(SAMPLED, SQUARE, of="averaged", high=5, control="1 + 4/d", method="montecarlo", over={MODEL: ALIGNED}),
      bound(SAMPLED, r"n^{1/2}\, \mathbb{E} \cos", of="signed", equals=0, within="0.5", method="montecarlo", over={MODEL: ALL}),
      bound(at(transformer, contexts=per_profile(1000, 4000)), rf"\max_v {SQUARE}", of="ceiling", equals=5, within="4/sqrt(n)",
            method="montecarlo", over={MODEL: [(3, n, 0, 1, "e_1") for n in (300, 1000, 3000)]}),
      agree(SAMPLED, SAMPLED, SQUARE, of=("square", "averaged"), over={MODEL: ALL}),
      source=EXPRESSIVE, kind="sharp", expected="supported",
      title="A linear transformer's own cosine falls like the root of n, without the dimension",
      statement=r"\mathbb{E} \cos^2(y^l, y^*) \leq \frac{5}{n} (1 + o(1)), \qquad \mathbb{E} \cos(y^l, y^*) = 0",
      assumes=(TOKENS, LINEAR, "random full $P$ and $Q$, fresh for each context; $w = e_1$ or $w \\sim N(0, \\mathbf{I})$",
               r"""$n \gg d \log^2 n$, where single tokens do not dominate the sums; measured at $d = 3$ and $10$, $n =
          300$ to $3000$"""),
      finding=r"""The layers depend on the moments $\sum e_i e_i^\top$ only. Changing the sign of a single token $(x_i,
          y_i)$ leaves them unchanged and turns $y_i^l$ into $-y_i^l$, while $y_i^* > 0$ stays. So the mean cosine is
          exactly 0. Averaged over the $2^n$ signs $\cos^2 = \sum (y_i^l y_i^*)^2 / (\|y^l\|^2 \|y^*\|^2)$, which tends
          to $(1 + 4\cos^2\theta)/n$ for $v$ at the angle $\theta$ to $e_1$: between $1/n$ and $5/n$, and $(1 + 4/d)/n$
          in the mean over uniform directions $v$. The largest value over all $v$ that are the same for all signs of the
          tokens is 5. The printed proof counts dimensions of the column space, which is sharp for readouts fitted to
          the target, but no transformer depends on the target.""")
claim("lt.expressive-limit/attained",
      exponent(cosines.first_coordinate, RMS, of="cosine", along={"n": (100, 1e30, per_profile(13, 25))}, equals="-1/2", method="exact"),
      bound(cosines.first_coordinate, SQUARE, of="n square", equals=5, within="5e-12", over={"n": 1e30}, method="exact"),
      source=EXPRESSIVE, kind="sharp", expected="supported", title="The order in n is attained: no bound of smaller order holds",
      statement=rf"{RMS} = \Theta(n^{{-1/2}}) \text{{ for }} w = e_1, \quad \lim {SQUARE} = 5",
      assumes=(TOKENS, LINEAR, "$w = e_1$, no layer: $y^0 = x(1)$, in any dimension"),
      finding=r"""$5 = \mathbb{E} g^6 / (\mathbb{E} g^2\, \mathbb{E} g^4)$: the two vectors are independent up to the
          signs, and their entries are large together.""")
claim("lt.expressive-limit/every-context",
      bound(one_context, r"\cos(y^*, y)", high="0.1", control=("0.05", {"equals": 1, "within": "1e-15*n"}), method="exact",
            over={("d", "n"): ((1, 1000), (3, 1000), (3, 100_000)), "fixed": "x(1) = 1"}),
      source=EXPRESSIVE, kind="stronger", expected="refuted", title="At most 0.1 for every context, however long",
      statement=r"|\cos(y^l, y^*)| \leq 0.1 \text{ for all } x_1, \ldots, x_n, \quad n \gg d",
      assumes=(TOKENS, LINEAR, "$w = e_1$ and no layer"),
      finding="""Tokens with $x(1) = 1$ have $y = y^* = 1$ for $w = e_1$. They have probability 0, but by continuity
          contexts near them do not: no $n$ guarantees the bound.""",
      corrected=r"the bound holds in root mean square, and with probability tending to 1 as $n/d \to \infty$; not for every context")
claim("lt.expressive-limit/odd-target",
      bound(at(sampled_best, contexts=per_profile(100, 1000)), RMS, of="cosine", high="0.1", truth="sqrt(3/5)",
            control=(None, {"equals": "sqrt(3/5)", "within": "0.02"}), method="montecarlo",
            over={("d", "n"): ((1, 1000), (3, 1000), (10, 1000)), "power": 3}),
      source=EXPRESSIVE, kind="stronger", expected="refuted", title="The same bound for the target x(1)³",
      statement=rf"{RMS} \leq 0.1 \text{{ for }} n \gg d \text{{ and }} y^* = x(1)^3",
      assumes=(TOKENS.replace("x(1)^2", "x(1)^3"), LINEAR, "the best $v$ for each context; root mean square over contexts"),
      finding="""Not printed. The theorem is about parity, not about degree: $x(1)^2$ is even, and every linear readout
          is odd; $x(1)^3$ is odd.""",
      corrected=r"for an odd target $f(x(1))$ the cosine tends to a constant: here $\sqrt{3/5}$")
claim("lt.expressive-limit/network",
      bound(one_context, r"\cos(y^*, y^2)", low="0.1", strict=True, control={"power": 1}, method="exact",
            over={("d", "n"): ((1, 10_000), (10, 10_000)), "power": 2}),
      source=REBUTTAL, kind="printed", expected="supported", title="A quadratic network between the layers breaks the bound",
      statement=r"\exists \text{ one network } y \mapsto y^2: \quad \cos(y^l, y^*) = 1 > 0.1",
      assumes=(TOKENS, "$w = e_1$; one network that squares a label, no attention"),
      finding="""The rebuttal is right: labels are then no longer odd in the tokens. Without the network the same
          context stays below the bound.""")
claim("lt.expressive-limit/network/proved",
      identity(cosines.squared, r"\bigl(\sum_i y_i^p x_i(1)^2\bigr)^2 - \sum_i y_i^{2p} \sum_i x_i(1)^4", control={"power": 1},
               over={"power": 2}),
      proves="lt.expressive-limit/network", source=REBUTTAL, kind="derived", expected="supported",
      title="A quadratic network between the layers reaches the target in every context",
      statement=r"y = x(1),\ y \mapsto y^2: \quad \cos(y^l, y^*) = 1 \quad \text{for every } n \text{ and every context}",
      assumes="any tokens, not all $x_i(1) = 0$; $w = e_1$, one network that squares a label, no attention")
