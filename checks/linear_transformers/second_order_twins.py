r"""Theorem 5.1, what it rests on: the covariates' own weight, its sign, and least squares as w*."""

from __future__ import annotations

from checks._running import run_file
from checks.linear_transformers._second_order import ASSUMED, CHOSEN, READING, TWIN
from lipverify.claims.claim import CellPlan, Claim, Reading, Task
from lipverify.claims.linear_transformers.second_order import (
    descent_against_condition,
    reversed_residual,
    true_weights_ratio,
)
from lipverify.claims.registry import Profile
from lipverify.claims.verdict import Allowed, Interval


def claims(profile: Profile) -> tuple[Claim, ...]:
    """Two twins and a reading that fail."""
    return (
        _descent(),
        _reversed(),
        _truth(),
    )


def _descent() -> Claim:
    tasks = {steps: Task(descent_against_condition, (steps, 1e-6)) for steps in ("fixed", "best")}
    return Claim(
        id="lt.second-order/without-xx",
        title="Gradient descent without the covariates' own weight needs O(log κ) layers too",
        statement=r"L(\kappa, \epsilon) = O(\log \kappa) \quad \text{with } \omega_{xx} = 0",
        source=TWIN,
        assumptions=(*ASSUMED, "$\\omega_{xx} = 0$; one $\\omega_{yx}$ for all layers, or the best one for each"),
        claimed="L = O(κ^0 log κ)",
        control="L grows no faster than κ^(-1/2)",
        expected="refuted",
        cells=tuple(
            CellPlan(
                where={"steps": steps, "epsilon": 1e-6},
                task=task,
                quantity="limit exponent of L in κ",
                read=lambda found, _: Reading(Interval.around(found.exponent, found.error)),
                claimed="≤ 0",
                allowed=Allowed(high=0.0),
                control=Allowed(high=-0.5),
            )
            for steps, task in tasks.items()
        ),
        corrected=r"without $\omega_{xx}$, $L = \Theta(\kappa \log 1/\epsilon)$ for one step size and $\Theta(\sqrt{\kappa} \log 1/\epsilon)$ for the best ones",
        finding="This is the twin that shows what the theorem rests on: the residual is then a polynomial of degree $L$ in place of $3^L$. It is not printed anywhere as a claim.",
    )


def _reversed() -> Claim:
    return Claim(
        id="lt.second-order/wrong-sign",
        title="The sign of the covariates' own weight does not matter",
        statement=r"\max |r| \leq \tfrac{1}{2} \text{ after } L \text{ layers with } \omega_{xx} > 0",
        source=TWIN,
        assumptions=(
            *ASSUMED,
            "$\\omega_{xx}$ of the best size and positive, the best $\\omega_{yx}$ in the last layer",
        ),
        claimed="residual ≤ 1/2",
        control="residual ≤ 1/4",
        expected="refuted",
        cells=tuple(
            CellPlan(
                where={"kappa": kappa, "layers": layers},
                task=Task(reversed_residual, (kappa, layers)),
                quantity="worst residual",
                read=lambda found, _: Reading(Interval.around(found, 1e-12)),
                claimed="≤ 0.5",
                allowed=Allowed(high=0.5),
                control=Allowed(high=0.25),
            )
            for kappa in (4.0, 100.0)
            for layers in (2, 4, 6)
        ),
        corrected=r"$\omega_{xx}$ must be negative: $s(1 + \omega_{xx} s)^2$ spreads a spectrum apart for every $\omega_{xx} > 0$",
        finding="With the right sign four layers leave $4.6 \\cdot 10^{-5}$ at $\\kappa = 4$; with the wrong one every layer more is worse, whatever the size of the weight.",
    )


def _truth() -> Claim:
    return Claim(
        id="lt.second-order/true-weights",
        title="The same bound with the weights that made noisy labels in place of the least-squares solution",
        statement=r"|\hat{y} - x_t^\top w_{\mathrm{OLS}}| \leq \epsilon \|x_t\| \|w\|, \qquad y_i = \langle w, x_i \rangle + \sigma \varepsilon_i",
        source=READING,
        assumptions=(ASSUMED[0], CHOSEN, "$\\epsilon = \\max |r|$, what the layers leave; two tokens, $d = 2$"),
        claimed="ratio of the two sides ≤ 1",
        control="ratio ≤ 1/2",
        expected="refuted",
        cells=tuple(
            CellPlan(
                where={"kappa": 10.0, "sigma": sigma, "layers": 3},
                task=Task(true_weights_ratio, (10.0, sigma, 3)),
                quantity="worst ratio of the two sides",
                read=lambda found, _: Reading(Interval.around(found, 1e-9)),
                claimed="≤ 1",
                allowed=Allowed(high=1.0),
                control=Allowed(high=0.5),
            )
            for sigma in (0.5, 1.0, 4.0)
        ),
        corrected=r"$w^*$ is the least-squares solution: then the bound is exact for noisy labels as well",
        finding=(
            "The prediction is $x_t^\\top (\\mathbf{I} - r(\\Sigma)) w_{\\mathrm{OLS}}$ whatever the noise, so $\\|w_{\\mathrm{OLS}}\\|$ is the scale of the error. Read with the weights behind the labels the "
            "bound fails as soon as noise makes $w_{\\mathrm{OLS}}$ the longer of the two: here by $\\sqrt{1 + \\sigma^2 \\kappa}$."
        ),
    )


if __name__ == "__main__":
    run_file(__file__)
