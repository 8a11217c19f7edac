r"""The loss at the w tuned to one Lipschitz constant, on tasks with another: Theorem 3 in numbers."""

from __future__ import annotations

from typing import Any

import lipverify as lv
from lipverify.checks.softmax.quantities import (
    DIMENSIONS,
    LARGE_N,
    LAWS,
    MODEL,
    READINGS,
    Value,
    at_tuned,
    optimum,
    problem,
)
from lipverify.claims import agree

SAME_TASKS = (
    "S",
    "Theorem 3, tested on the same $L$",
    r"""Suppose $\mathbf{M}$ is pretrained on the loss induced by
    $D(\mathcal{F}_L^+)$. Suppose it is tested on $D(\mathcal{F}_L^+)$ then for large enough n, $\mathcal{L}(\mathbf{M}) \leq L^{2 -
    \frac{2}{d+2}} (\frac{\sigma^2}{n})^{\frac{1}{d+2}}$.""",
)
LARGER_TASKS = (
    "S",
    "Theorem 3, tested on $L' > L$",
    r"""Meanwhile, if it is tested on $D(\mathcal{F}_{L'}^+)$,
    $\mathcal{L}(\mathbf{M}) \geq L'^2 (\frac{\sigma^2}{nL^2})^{\frac{2}{d+2}} \quad L' > L$ (worse dependence on $L'$)""",
)
SMALLER_TASKS = (
    "S",
    r"Theorem 3, tested on $L' \leq L$",
    r"""Meanwhile, if it is tested on $D(\mathcal{F}_{L'}^+)$,
    $\mathcal{L}(\mathbf{M}) \geq$ [...] $\frac{(\frac{nL^2}{\sigma^2})^{\frac{2}{2(d+2)}}}{n} \quad L' \leq L$ (no benefit of $L'$)""",
)
"""The three parts of Theorem 3."""
RATIOS = {"larger": 3.0, "smaller": 1 / 3}
"""L'/L along n: the loss is N + (L'/L)^2 B, so any fixed ratio has the same limit exponent."""
STATED = {"same": "-2/E", "larger": "-4/E", "smaller": "D/(2*E) - 1"}
"""Powers of Lambda that the bounds of the proof sketch imply; D is the dimension that its d stands for, and E = D + 2."""


def losses(law: str, d: int, n: float) -> dict[str, Value]:
    """The loss at w*(L) on each L', and its ratio to the loss on L, at L = sigma = 1."""
    from lipverify.optimum import quotient, transferred_loss

    tuned = lv.optimal_window(problem(law, d, n))
    home = tuned.loss, tuned.loss_error
    away = {case: transferred_loss(tuned, problem(law, d, n, L)) for case, L in RATIOS.items()}
    return {"same": home, **away, **{f"{case} over same": quotient(loss, home) for case, loss in away.items()}}


def sampled_losses(law: str, d: int, n: float, contexts: int, seed: int, backend: str) -> dict[str, Value]:
    """The same losses at the same w on sampled contexts."""
    drawn = {"contexts": contexts, "seed": seed, "backend": backend, "stream": f"transfer/{law}/{d}/{n:g}"}
    return _losses_by(law, d, n, method="montecarlo", **drawn)


def leading_losses(law: str, d: int, n: float) -> dict[str, Value]:
    return _losses_by(law, d, n)


def _losses_by(law: str, d: int, n: float, **method: Any) -> dict[str, Value]:
    tested = {"same": 1.0, **RATIOS}
    return {case: at_tuned(problem(law, d, n), problem(law, d, n, L), **method) for case, L in tested.items()}


def along_tested(law: str, d: int, n: float, rho: float) -> dict[str, Value]:
    """The loss at w*(1) on L' = rho and on L' = 1/rho."""
    from lipverify.optimum import transferred_loss

    tuned = lv.optimal_window(problem(law, d, n))
    return {case: transferred_loss(tuned, problem(law, d, n, L)) for case, L in (("larger", rho), ("smaller", 1 / rho))}


def over_display(d: int, n: float, ratio: float) -> Value:
    """The loss at w*(1) on L' = ratio divided by the right side that Theorem 3 displays for L' <= L, at sigma = 1."""
    from lipverify.optimum import transferred_loss

    value, error = transferred_loss(lv.optimal_window(problem("relu", d, n)), problem("relu", d, n, ratio))
    display = n ** (1 / (d + 2)) / n
    return value / display, error / display


def proved_display(d: int, ratio: float) -> Any:
    """The same quotient for every n at which the window theorem holds for both L = 1 and L' = ratio; d = 2, where both
    sides are n^(-3/4).
    """
    from flint import arb

    from lipverify.claims import proved_window
    from lipverify.proofs import prove_transfer

    if d != 2:
        raise ValueError(f"d = {d}: both sides fall at the same rate at d = 2 only")
    theorem = proved_window("relu", d)
    least, cost = theorem.fact("loss"), prove_transfer(theorem, ratio).fact("cost")
    # the transfer theorem has L' with twelve digits: the loss is at most quadratic in L' and changes by less than 1e-11 of itself
    return least * cost * arb(ratio).sqrt() * arb(1, 1e-11)


def in_other_units(law: str, d: int, n: float, s: float) -> Value:
    """The same quotient with y in a unit that is s times as large: L = sigma = 1/s."""
    return optimum(law, d, n, 1 / s, 1 / s)["loss"]


def derivation(case: str, above: float = 1) -> Any:
    """The difference of the stated exponents from what N ~ w^(D/2) / Lambda and w^-2 < B < w^-above imply, by SymPy.

    In powers of Lambda, with w = Lambda^x: the minimal loss is at most the loss at which noise and upper bound of the
    bias balance. At the optimum neither the noise nor the lower bound exceeds it, and B >= w^-2 at the largest w*, N at
    the smallest.
    """
    import sympy

    D, x = sympy.symbols("D x", positive=True)
    noise, above = D / 2 * x - 1, sympy.nsimplify(above)
    best = -above * sympy.solve(noise + above * x, x)[0]
    narrowest = sympy.solve(noise - best, x)[0]
    implied = {"same": best, "larger": -2 * narrowest, "smaller": noise.subs(x, -best / 2)}[case]
    return implied - sympy.sympify(STATED[case], {"D": D, "E": D + 2})


def proved_cost(case: str, law: str, d: int) -> Any:
    """loss'(w*(L)) / loss'(w*(L')) for every n, L, sigma that the window theorem covers for both, L' = RATIOS[case] L."""
    from lipverify.claims import proved_window
    from lipverify.proofs import prove_transfer

    return prove_transfer(proved_window(law, d), RATIOS[case]).fact("cost")


def agreed(case: str) -> Any:
    """The loss of a case by sampling, where that is accurate, and from the leading terms, where these are."""
    few, many = {"d": 5, "n": 100.0}, {"d": 5, "n": 1e30}
    return (
        agree(losses, sampled_losses, r"\mathrm{loss}", of=case, over=few),
        agree(losses, leading_losses, r"\mathrm{loss}", of=case, over=many),
    )


FAMILY = {"law": LAWS, "reading": READINGS}
KINDS = {"relu/*/ambient": "printed", "relu/*": "convention", "*": "stronger"}
TUNED = (MODEL[0], r"$\mathbf{M} = w^*(L) \mathbf{I}$, attention scores $w \langle x_i, x \rangle$")
ALONG = (*TUNED, r"$\Lambda = nL^2/\sigma^2$, $n \to \infty$ at fixed $L$, $L'$, $\sigma$; constants are free")
FIXED = (*TUNED, r"ReLU law, $d = 2, 5, 8$; $n = 10^4$ and $L = \sigma = 1$ fixed")
COVERED = (
    *TUNED,
    r"""$L'/L$ fixed; $\Lambda \geq \Lambda_0$ and $n \geq K W^{(d-1)/2 + \beta - 1}$, with the numbers of `lipverify prove`""",
)
PROVED: dict[str, Any] = {
    "kind": "derived",
    "over": FAMILY | {"d": DIMENSIONS},
    "assumes": COVERED,
    "forall": LARGE_N,
    "corrected": {
        "relu/*": r"$\mathcal{L}(w^*) = \Theta(L^2 \Lambda^{-3/(d+2)})$ for the ReLU law",
        "*": r"$\mathcal{L}(w^*) = \Theta(L^2 \Lambda^{-4/(d+3)})$ for the affine law",
    },
}
"""The loss at w* lies between multiples of L^2 Lambda^-fall for every n, L and sigma in that range: the exponent is exact."""
SHARP = {
    "relu/*": r"sharp for the ReLU law: $\mathcal{L} = \Theta(L^2 \Lambda^{-3/(d+2)})$ at any fixed $L'/L$",
    "*": r"sharp for the affine law: $\mathcal{L} = \Theta(L^2 \Lambda^{-4/(d+3)})$ at any fixed $L'/L$",
}


def and_sharp(bounds: str) -> dict[str, str]:
    """The correction of a bound: what the sketch implies, and the sharp rate."""
    return {law: f"{bounds}; {sharp}" for law, sharp in SHARP.items()}
