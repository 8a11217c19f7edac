r"""Theorem 5.1: the coefficients of log kappa and log log 1/epsilon, the least one, and weights that do not know kappa."""

from __future__ import annotations

import math

from checks._running import run_file
from checks.linear_transformers._second_order import ACCURACIES, ASSUMED, CONDITIONS, THEOREM, order_cell
from lipverify.claims.claim import CellPlan, Claim, Reading, Task
from lipverify.claims.linear_transformers.second_order import (
    METHODS,
    chebyshev_against_condition,
    chebyshev_surplus,
    layers_against_accuracy,
    layers_against_condition,
)
from lipverify.claims.registry import Profile
from lipverify.claims.verdict import Allowed, Interval
from lipverify.linear_transformer.theory.second_order import MOST_GAIN

SLOPE = 1e-6
"""A slope is called equal to a logarithm if it is known to this much and agrees."""


def claims(profile: Profile) -> tuple[Claim, ...]:
    """The two coefficients, the least that is possible, and what not knowing kappa costs."""
    return (
        _coefficient("kappa"),
        _coefficient("epsilon"),
        _least(),
        _universal(),
    )


def _coefficient(which: str) -> Claim:
    """The slope of L in log kappa, or in log log(1 / epsilon)."""
    in_kappa = which == "kappa"
    function = layers_against_condition if in_kappa else layers_against_accuracy
    arguments: tuple[float, ...] = ACCURACIES if in_kappa else CONDITIONS
    symbol, key = (r"\log \kappa", "epsilon") if in_kappa else (r"\log \log 1/\epsilon", "kappa")
    gains = {name: method.gain if in_kappa else 2.0 for name, method in METHODS.items()}
    control = MOST_GAIN if in_kappa else 3.0
    printed = ", ".join(f"1/log {gain:g} ({method})" for method, gain in gains.items())
    return Claim(
        id=f"lt.second-order/{which}/coefficient",
        title=f"The coefficient of {'log κ' if which == 'kappa' else 'log log 1/ε'}",
        statement=rf"\frac{{d L}}{{d {symbol}}} \to \frac{{1}}{{\log g}}, \qquad "
        + (
            r"g = \tfrac{27}{4} \text{ if the weights know } \kappa,\ g = \tfrac{9}{4} \text{ if not}"
            if which == "kappa"
            else r"g = 2"
        ),
        source=THEOREM,
        assumptions=(*ASSUMED, "the best $\\omega_{xx}$ for $\\kappa$, or that of Newton and Schulz for all $\\kappa$"),
        claimed=printed,
        control=f"1/log {control:g}",
        expected="supported",
        cells=tuple(
            CellPlan(
                where={"weights": method, key: argument},
                task=Task(function, (method, argument)),
                quantity=f"limit of dL / d({'log κ' if which == 'kappa' else 'log log 1/ε'})",
                read=lambda found, _: Reading(Interval.around(found.slope.exponent, found.slope.error)),
                claimed=f"= 1/log {gain:g}",
                allowed=Allowed.near(1 / math.log(gain), SLOPE),
                control=Allowed.near(1 / math.log(control), SLOPE),
            )
            for method, gain in gains.items()
            for argument in arguments
        ),
        finding=(
            "The cubic $c + \\omega_{xx} c^3$, $c = \\sqrt{s}$, has slope 1 at the small end and can bring the large end down to $2/(3\\sqrt{3})$ of itself: $27/4$ in $s$. "
            "A weight that must serve every $\\kappa$ is the Newton-Schulz step, which gains $9/4$."
            if which == "kappa"
            else "Convergence is quadratic and not cubic, although a layer is a cubic: of its two critical points only one lies at positive $c$. For any weights whatever the degree allows no less than $1/\\log 3 = 0.910$; whether some weights come below $1/\\log 2$ is not decided here."
        ),
    )


def _least() -> Claim:
    layers = (1, 2, 3, 5, 8, 12, 20, 40)
    slope = Task(chebyshev_against_condition, (0.5,))
    return Claim(
        id="lt.second-order/kappa/least",
        title="No GD++ has a smaller coefficient of log κ than 1/log 9, and at a fixed accuracy some has it",
        statement=r"L \geq \log_3\left(1 + \frac{\mathrm{arcosh}(1/\epsilon)}{\mathrm{artanh}(1/\sqrt{\kappa})}\right), \qquad "
        r"L = \log_9 \kappa + O(1) \text{ at } \epsilon = \tfrac{1}{2}",
        source=THEOREM,
        assumptions=(
            *ASSUMED,
            r"any $\omega_{xx}$ and $\omega_{yx}$ in each layer; attained by $\omega_{xx} = \omega_{yx} = -\frac{4}{3} 9^l$",
        ),
        claimed="less than one layer above the bound; coefficient 1/log 9",
        control="one layer below the bound; coefficient 1/log 6.75",
        expected="supported",
        cells=(
            *(
                CellPlan(
                    where={"layers": each, "epsilon": 0.5},
                    task=Task(chebyshev_surplus, (each, 0.5)),
                    quantity="layers less the lower bound, at the κ that they reach",
                    read=lambda found, _: Reading(Interval.around(found, 1e-9)),
                    claimed="in [0, 1)",
                    allowed=Allowed(low=0.0, high=1.0),
                    control=Allowed(low=-1.0, high=0.0),
                )
                for each in layers
            ),
            CellPlan(
                where={"epsilon": 0.5},
                task=slope,
                quantity="limit of dL / d(log κ)",
                read=lambda found, _: Reading(Interval.around(found.slope.exponent, found.slope.error)),
                claimed="= 1/log 9",
                allowed=Allowed.near(1 / math.log(9), SLOPE),
                control=Allowed.near(1 / math.log(27 / 4), SLOPE),
            ),
        ),
        finding=(
            "$r$ is a polynomial in $t$ of degree at most $(3^L - 1)/2$ with $r(0) = 1$, so Chebyshev's polynomial bounds it from below on $[1/\\kappa, 1]$: the growth with $\\log \\kappa$ "
            "cannot be avoided. With $\\omega_{xx} = \\omega_{yx}$ the residual is the token scale, $\\sqrt{t}\\, r$ is iterated by Chebyshev's cubic and "
            "$r = \\pm\\sin(3^L \\theta)/(3^L \\sin \\theta)$, $t = \\sin^2 \\theta$: the coefficient $1/\\log 9 = 0.455$ is attained at a fixed accuracy. These weights gain only a factor 3 a layer in $\\epsilon$; "
            "the weights of the other claims have $0.524$ and square it. Between $0.455$ and $0.524$ for both terms at once nothing is decided here."
        ),
    )


def _universal() -> Claim:
    cells = tuple(
        order_cell(
            {"weights": "one set for all κ", "epsilon": epsilon},
            Task(layers_against_condition, ("universal", epsilon)),
            "limit exponent of L in log κ",
        )
        for epsilon in ACCURACIES[:2]
    )
    return Claim(
        id="lt.second-order/kappa/universal",
        title="O(log κ) layers also when the weights do not know κ",
        statement=r"L(\kappa, \epsilon) = O(\log \kappa) \text{ with } \omega_{xx}^l = -\tfrac{1}{3} (\tfrac{9}{4})^l",
        source=THEOREM,
        assumptions=(*ASSUMED, "only the largest eigenvalue is known; $\\kappa$ enters the last $\\omega_{yx}$ alone"),
        claimed="L = O(log κ)",
        control="L = O((log κ)^(1/2))",
        expected="supported",
        cells=cells,
        finding="The theorem fixes the weights for one $\\kappa$; a trained model meets many. Newton-Schulz steps keep the order and cost $\\log(27/4)/\\log(9/4) = 2.35$ times the layers.",
    )


if __name__ == "__main__":
    run_file(__file__)
