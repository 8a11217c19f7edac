r"""Theorem 4: attention pretrained on f(x) = a^T B^T x finds the columns of B, and attends along nothing else.

In the ball C = d it holds under each assumption without the other; in smaller balls there are proofs (lowrank_proofs.py).
"""

from lipverify.checks.softmax.figures import beside_aligned
from lipverify.checks.softmax.lowrank_blocks import CASES, KIND, averaged, best_in_case, searched_in_case
from lipverify.claims import agree, at, bound, claim, identity, per_profile

# fmt: off
HEADINGS = {
    "lowrank.recovery": (7, 1, "Attention finds the directions that matter"),
    "lowrank.directions": (7, 3, "Attention is positive on the relevant directions and zero on the others"),
}
THEOREM_4 = ("S", "Theorem 4 (Informal)", r"""Suppose $n = 2$ or $\sigma = 0$. Then for some $C = \Omega(1)$, any optimal solution
    $\mathbf{M}^*$ of the ICL pretraining loss induced by the task distribution $D(\mathcal{F}_{\mathbf{B}}^{\mathrm{lin}})$ optimized over
    the set $\mathcal{M} := \{\mathbf{M}: \mathbf{M} = \mathbf{M}^\top, \|\mathbf{B}^\top \mathbf{M} \mathbf{B}\|_2 \leq C\}$ satisfies, for
    $c \in (0, C]$, $\mathbf{M}^* = c \mathbf{B} \mathbf{B}^\top.$ - If $\mathbf{s} \in \operatorname{col}(\mathbf{B})$ then
    $\mathbf{s}^\top \mathbf{M}^* \mathbf{s} > 0$ - If $\mathbf{s} \in \operatorname{col}(\mathbf{B})^\perp$ then $\mathbf{s}^\top
    \mathbf{M}^* \mathbf{s} = 0$""")
TASKS = r"$f(x) = \mathbf{a}^\top \mathbf{B}^\top x$ with $\mathbf{a}$ uniform on $S^{k-1}$"
SET = (TASKS, r"all symmetric $\mathbf{M}$ with $\|\mathbf{B}^\top \mathbf{M} \mathbf{B}\|_2 \leq C = d$",
    r"""$\mathbf{M} = c \mathbf{B} \mathbf{B}^\top + c' (\mathbf{I} - \mathbf{B} \mathbf{B}^\top)$ by the exact reduction, all symmetric
    $\mathbf{M}$ by sampling, at the $(d, k)$ of the cells""",
)
EITHER = r"$n = 2$ with $\sigma = 0.5$ (two-tokens), or $n = 20$ with $\sigma = 0$ (noiseless)"
PAIRS = {("d", "k"): per_profile(((2, 1), (3, 2), (4, 2)), ((2, 1), (3, 1), (3, 2), (4, 2), (5, 3), (6, 2), (8, 3)))}
WIDE = {("d", "k"): per_profile(((3, 2), (4, 2)), ((3, 2), (4, 2), (5, 3), (6, 2), (8, 3)))}
"""The (d, k) at which sampling can decide on the product: with k = 1 and no noise the loss is flat for all large c."""
MEANT = {case: {name: str(value) for name, value in values.items()} for case, values in CASES.items()}
CONTEXTS = per_profile(4096, 65536)
SEARCHED = at(searched_in_case, contexts=CONTEXTS)
EXACT, SAMPLED = "3e-5", "0.1"  # three times the largest errors of a ratio, by each method
QUADRATIC = r"\mathbf{s}^\top \mathbf{M}^* \mathbf{s}"
for covariates, tokens, pairs in (
    ("sphere", r"tokens and query uniform on $S^{d-1}$", PAIRS),
    ("product", r"""$x = \mathbf{B} u + \mathbf{B}_\perp v$ with $u$ uniform on $S^{k-1}$ and $v$ on $S^{d-k-1}$ (other radii
        are other units)""", WIDE),
):
    scale = bound(best_in_case, "c^*", of="c", low="0", control="1.1*d", strict=True, over=PAIRS, method="exact")
    agrees = tuple(
        agree(best_in_case, SEARCHED, name, of=of, over={"covariates": covariates, "case": tuple(CASES)} | pairs)
        for of, name in (("c", "c^*"), ("loss", r"\mathcal{L}"))
    )
    claim(
        f"lowrank.recovery/{covariates}/{{case}}",
        scale,
        bound(best_in_case, "c'^* / c^*", of="ratio", equals=0, within=EXACT, over=PAIRS, method="exact"),
        bound(SEARCHED, "c'^* / c^*", of="ratio", equals=0, within=SAMPLED, over=pairs, method="montecarlo"),
        *tuple(
            agree(best_in_case, SEARCHED, name, of=of, over={"covariates": covariates} | pairs)
            for of, name in (("c", "c^*"), ("loss", r"\mathcal{L}"))
        ),
        source=THEOREM_4, kind=KIND[covariates], expected="supported", over={"covariates": covariates, "case": MEANT},
        title="M* = c BB^T",
        statement=r"\mathbf{M}^* = c \mathbf{B} \mathbf{B}^\top, \quad 0 < c \leq C, \quad C = d",
        assumes=(tokens, *SET),
        shows=at(beside_aligned, best=at(best_in_case, covariates=covariates, d=4, k=2),
                     found=at(searched_in_case, covariates=covariates, d=4, k=2, contexts=CONTEXTS)),
        finding=r"""The best $\mathbf{M} = c \mathbf{B} \mathbf{B}^\top + c' (\mathbf{I} - \mathbf{B} \mathbf{B}^\top)$
            of the exact method has $c' = 0$. The minimiser over all symmetric matrices, computed on sampled contexts
            with no assumption about its form, agrees with it. The theorem asks for some $C = \Omega(1)$; $C = d$ is
            such a constant at these $(d, k)$.""",
    )
    claim(
        f"lowrank.directions/{covariates}/relevant",
        scale,
        bound(SEARCHED, rf"\min {QUADRATIC}", of="relevant", low="0", strict=True, control="1.1*d", over=pairs, method="montecarlo"),
        *agrees,
        source=THEOREM_4, kind=KIND[covariates], expected="supported", over={"covariates": covariates, "case": tuple(CASES)},
        title="Attention is positive on the relevant directions",
        statement=rf"\mathbf{{s}} \in \mathrm{{col}}(\mathbf{{B}}) \implies {QUADRATIC} > 0",
        assumes=(tokens, *SET, EITHER),
        finding=r"""The smallest value over the unit vectors of $\mathrm{col}(\mathbf{B})$, from the sampled minimiser
              before any averaging.""",
    )
    claim(
        f"lowrank.directions/{covariates}/spurious",
        bound(best_in_case, rf"{QUADRATIC} / c^*", of="ratio", equals=0, within=EXACT, over=PAIRS, method="exact"),
        bound(SEARCHED, rf"{QUADRATIC} / c^*", of="ratio", equals=0, within=SAMPLED, over=pairs, method="montecarlo"),
        *agrees,
        source=THEOREM_4, kind=KIND[covariates], expected="supported", over={"covariates": covariates, "case": tuple(CASES)},
        title="Attention is zero on the spurious directions",
        statement=rf"\mathbf{{s}} \in \mathrm{{col}}(\mathbf{{B}})^\perp \implies {QUADRATIC} = 0",
        assumes=(tokens, *SET, EITHER),
        finding=r"""The mean over the unit vectors orthogonal to $\mathrm{col}(\mathbf{B})$, divided by that on it; no
            single entry of the sampled minimiser differs from 0 significantly.""",
    )

claim("lowrank.recovery/two-tokens/blocks/proved",
      identity(averaged, r"\frac{1}{2} \sum_\pm \tanh^1(A \pm S) - T^1 - \dots", control={"kept": "101/100"}, over={"power": 1}),
      identity(averaged, r"\frac{1}{2} \sum_\pm \tanh^2(A \pm S) - T^2 - \dots", control={"kept": "101/100"}, over={"power": 2}),
      source=THEOREM_4, kind="derived", expected="supported",
      title="Theorem 4 with two tokens, among matrices that do not mix the two spaces: every sigma, d and k",
      statement=r"""\mathbf{M}^* = c \mathbf{B} \mathbf{B}^\top, \quad 0 < c \leq C, \qquad \text{for every } C \leq
            \mathrm{artanh}(1/\sqrt{3}) \approx 0.658""",
      assumes=(
          r"$n = 2$, any $\sigma$, $d$ and $k < d$; tokens uniform on $S^{d-1}$ or on the product of spheres",
          TASKS,
          r"""all $\mathbf{M} = \mathbf{B} \mathbf{M}_1 \mathbf{B}^\top + \mathbf{B}_\perp \mathbf{M}_2 \mathbf{B}_\perp^\top$ with
              $\|\mathbf{M}_1\|_2 \leq C$: not those that mix $\mathrm{col}(\mathbf{B})$ with its complement, which are searched on
              samples""",
          "the identities are checked; the rest of the proof is by hand",
      ),
      finding=r"""With $\delta = x_1 - x_2$ and $\tau = \tanh(\delta^\top \mathbf{M} x / 2)$ the two weights are $(1 \pm
          \tau)/2$, and the loss is a constant plus $\mathbb{E} [\alpha \tau^2 - \beta \tau]$, $\alpha =
          |\mathbf{B}^\top \delta|^2 / (4k) + \sigma^2/2 > 0$, $\beta = \langle \mathbf{B}^\top \delta, \mathbf{B}^\top
          x \rangle / k$ (the remaining terms are odd in $x$). Half the score is $A + S$, where $S$ is the part off
          $\mathrm{col}(\mathbf{B})$. The sign of $S$ is that of the tokens' spurious parts: average over it, with $T =
          \tanh A$, $U = \tanh S$. As $|A| \leq C$, $T^2 \leq 1/3$. By the second identity the mean of $\tau^2$ is at
          least $T^2$, and larger unless $S = 0$. By the first the mean of $\tau$ is $T g$ with $0 \leq g = (1 - U^2)/(1
          - T^2 U^2) \leq 1$. For a given query let $v = \mathbf{M}_1 \mathbf{B}^\top x$. Tokens may be rotated within
          $\mathrm{col}(\mathbf{B})$, so $\mathbb{E} \beta T g$ is the cosine of $v$ and $\mathbf{B}^\top x$ times a
          positive number, which is largest at $g = 1$; $\alpha T^2$ depends on $|v|$ alone. So the loss at $x$ is at
          least that of $v = s \mathbf{B}^\top x$, $s = |\mathbf{M}_1 u| \leq C$ for the direction $u$ of
          $\mathbf{B}^\top x$, and $\mathbf{M}_2 = 0$. The direction is independent of the length, so
          $\mathcal{L}(\mathbf{M}) \geq \mathbb{E}_u \mathcal{L}(s(u) \mathbf{B} \mathbf{B}^\top) \geq \min_{c \leq C}
          \mathcal{L}(c \mathbf{B} \mathbf{B}^\top)$. The derivative in $c$ at $c = 0$ is $-\mathbb{E} \langle
          \mathbf{B}^\top \delta, \mathbf{B}^\top x \rangle^2 / (2k) < 0$: $c > 0$.""")
