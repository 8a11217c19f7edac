r"""Theorem 4: attention pretrained on f(x) = a^T B^T x finds the columns of B, and attends along nothing else.

In the ball C = d it holds under each assumption without the other; in smaller balls there are proofs (lowrank_proofs.py).
"""

from lipverify.checks.softmax.figures import beside_aligned
from lipverify.checks.softmax.lowrank_blocks import CASES, DECIDED, KIND, PAIRS, best_in_case, searched_in_case
from lipverify.claims import agree, at, bound, claim, per_profile

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
MEANT = {case: {name: str(value) for name, value in values.items()} for case, values in CASES.items()}
CONTEXTS = per_profile(4096, 65536)
SEARCHED = at(searched_in_case, contexts=CONTEXTS)
EXACT, SAMPLED = "3e-5", "0.1"  # three times the largest errors of a ratio, by each method
QUADRATIC = r"\mathbf{s}^\top \mathbf{M}^* \mathbf{s}"
for covariates, tokens in (
    ("sphere", r"tokens and query uniform on $S^{d-1}$"),
    ("product", r"""$x = \mathbf{B} u + \mathbf{B}_\perp v$ with $u$ uniform on $S^{k-1}$ and $v$ on $S^{d-k-1}$ (other radii
        are other units)"""),
):
    every, pairs = PAIRS[covariates], DECIDED[covariates]
    scale = bound(best_in_case, "c^*", of="c", low="0", strict=True, over=every, method="exact",
                  control={"low": "2.1*sigma*two + (1 - 2*sigma)*none", "high": "d - 1e-5", "strict": True})
    agrees = tuple(
        agree(best_in_case, SEARCHED, name, of=of, over={"covariates": covariates, "case": tuple(CASES)} | pairs)
        for of, name in (("c", "c^*"), ("loss", r"\mathcal{L}"))
    )
    claim(
        f"lowrank.recovery/{covariates}/{{case}}",
        scale,
        bound(best_in_case, "c'^* / c^*", of="ratio", equals=0, within=EXACT, over=every, method="exact"),
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
        bound(SEARCHED, rf"\min {QUADRATIC}", of="relevant", low="0", strict=True, over=pairs, method="montecarlo",
              control={"low": "2.6*sigma*two + (1 - 2*sigma)*none", "high": "d - 1e-5", "strict": True}),
        *agrees,
        source=THEOREM_4, kind=KIND[covariates], expected="supported", over={"covariates": covariates, "case": MEANT},
        title="Attention is positive on the relevant directions",
        statement=rf"\mathbf{{s}} \in \mathrm{{col}}(\mathbf{{B}}) \implies {QUADRATIC} > 0",
        assumes=(tokens, *SET, EITHER),
        finding=r"""The smallest value over the unit vectors of $\mathrm{col}(\mathbf{B})$, from the sampled minimiser
              before any averaging.""",
    )
    claim(
        f"lowrank.directions/{covariates}/spurious",
        bound(best_in_case, rf"{QUADRATIC} / c^*", of="ratio", equals=0, within=EXACT, over=every, method="exact"),
        bound(SEARCHED, rf"{QUADRATIC} / c^*", of="ratio", equals=0, within=SAMPLED, over=pairs, method="montecarlo"),
        *agrees,
        source=THEOREM_4, kind=KIND[covariates], expected="supported", over={"covariates": covariates, "case": tuple(CASES)},
        title="Attention is zero on the spurious directions",
        statement=rf"\mathbf{{s}} \in \mathrm{{col}}(\mathbf{{B}})^\perp \implies {QUADRATIC} = 0",
        assumes=(tokens, *SET, EITHER),
        finding=r"""The mean over the unit vectors orthogonal to $\mathrm{col}(\mathbf{B})$, divided by that on it; no
            single entry of the sampled minimiser differs from 0 significantly.""",
    )
