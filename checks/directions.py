r"""The slide of extreme examples: w* grows with L and n and falls with sigma; and the limits of each."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from checks._running import run_file
from checks._slides import ASSUMED, LAWS, exponent_figure, slides, window_agreement
from lipverify.claims.claim import CellPlan, Claim, Reading, Task
from lipverify.claims.registry import Profile
from lipverify.claims.scaling import read_exponent
from lipverify.claims.softmax.rays import problem
from lipverify.claims.verdict import Allowed, Interval, Verdict
from lipverify.optimum import optimal_window
from lipverify.scaling import Growth, growth_of

EXAMPLES = slides(
    "Some extreme examples",
    r"$\sigma \to \infty$: $w_{KQ} \to 0$; $L \gg \sigma$: $w_{KQ} \to \infty$; $n \to \infty$: $w_{KQ} \to \infty$",
)
RISING, FALLING = Allowed(low=0.0, open=True), Allowed(high=0.0, open=True)
STEP = math.log(2.0)
N = 1000
PARAMETERS: dict[str, tuple[str, Allowed, Allowed]] = {
    "L": ("grows with L", RISING, FALLING),
    "n": ("grows with n", RISING, FALLING),
    "sigma": ("falls with σ", FALLING, RISING),
}
LIMITS: dict[str, tuple[str, Allowed, Allowed, Verdict]] = {
    "sigma-to-infinity": ("w* → 0 as σ → ∞", FALLING, RISING, "supported"),
    "L-to-infinity": ("w* → ∞ as L/σ → ∞ at fixed n", RISING, Allowed(high=-0.05), "refuted"),
}
LIMIT_STATEMENT = {
    "sigma-to-infinity": r"\sigma \to \infty: \quad w^* \to 0",
    "L-to-infinity": r"L / \sigma \to \infty: \quad w^* \to \infty",
}


def elasticity(law: str, d: int, parameter: str) -> tuple[float, float]:
    """(d log w* / d log parameter over a factor of two, its error)."""
    values = {"L": 1.0, "n": float(N), "sigma": 1.0}
    low = optimal_window(problem(law, d, values["n"], values["L"], values["sigma"]))
    values[parameter] *= 2
    high = optimal_window(problem(law, d, values["n"], values["L"], values["sigma"]))
    error = high.w_error / high.w + low.w_error / low.w
    return math.log(high.w / low.w) / STEP, error / STEP


def ratio_growth(d: int, direction: str) -> Growth:
    """Growth of w* of the affine law along sigma (to infinity) or along L / sigma (to infinity), n = 50."""
    ladder = np.geomspace(0.3, 30.0, 9) if direction == "sigma-to-infinity" else np.geomspace(1.0, 1e4, 9)
    to_infinity = direction == "sigma-to-infinity"
    optima = [
        optimal_window(
            problem("affine", d, 50, sigma=float(s)) if to_infinity else problem("affine", d, 50, sigma=1 / float(s))
        )
        for s in ladder
    ]
    return growth_of(list(ladder), [o.w for o in optima], [o.w_error / o.w for o in optima])


def claims(profile: Profile) -> tuple[Claim, ...]:
    """Three directions for each law, and the limits that the local directions do not settle."""
    local = [_direction(profile, law, parameter) for law in LAWS for parameter in PARAMETERS]
    return (*local, *(_limit(profile, direction) for direction in LIMITS))


def _direction(profile: Profile, law: str, parameter: str) -> Claim:
    words, allowed, twin = PARAMETERS[parameter]
    symbol = {"L": "L", "n": "n", "sigma": r"\sigma"}[parameter]
    relation = ">" if allowed is RISING else "<"
    return Claim(
        id=f"softmax.window-directions/{law}/{parameter.lower()}",
        title=f"The optimal window {words}, {law} law",
        statement=rf"\frac{{\mathrm{{d}} \log w^*}}{{\mathrm{{d}} \log {symbol}}} {relation} 0",
        source=EXAMPLES,
        assumptions=(
            *ASSUMED,
            f"{law} law",
            f"$n = {N}$, $L = \\sigma = 1$, and twice the {parameter}",
        ),
        claimed=f"w* {words}",
        control="the opposite sign",
        expected="supported",
        cells=tuple(
            CellPlan(
                where={"d": k, "n": N, "law": law},
                task=Task(elasticity, (law, k, parameter)),
                quantity=f"d log w* / d log {parameter}",
                read=lambda result, _: Reading(Interval.around(*result)),
                claimed=f"{relation} 0",
                allowed=allowed,
                control=twin,
            )
            for k in profile.dimensions
            if k in (2, 3, 5, 8, 12)
        ),
        cross_checks=window_agreement(law, profile),
        finding=(
            "A rougher function (larger $L$) wants a narrower window. The summary A calls high Lipschitzness smooth; the direction "
            "it gives, a smaller window, is the one measured here."
            if parameter == "L"
            else ""
        ),
    )


def _limit(profile: Profile, direction: str) -> Claim:
    words, allowed, twin, expected = LIMITS[direction]
    dimensions = tuple(k for k in profile.dimensions if k in (3, 5))
    tasks = {k: Task(ratio_growth, (k, direction)) for k in dimensions}
    ray = r"$\sigma$" if direction == "sigma-to-infinity" else r"$L/\sigma$"

    def read(growth: Growth, range_: Allowed) -> Reading:
        reading = read_exponent(growth, Allowed(low=0.0, high=0.0))
        return Reading(reading.interval, reading.note, reading.shown)

    def figures(results: dict[str, Any]) -> Any:
        growths = {k: results[task.address] for k, task in tasks.items()}
        import sympy

        return exponent_figure(growths, sympy.Integer(0), "lower" if allowed is RISING else "upper", ray, "$w^*$")

    return Claim(
        id=f"softmax.window-directions/affine/{direction.lower()}",
        title=f"Extreme example, affine law: {words}",
        statement=LIMIT_STATEMENT[direction],
        source=EXAMPLES,
        assumptions=(*ASSUMED, "affine law", "$n = 50$ fixed along the ray"),
        claimed=words,
        control="the opposite direction",
        expected=expected,
        cells=tuple(
            CellPlan(
                where={"d": k, "n": 50, "law": "affine"},
                task=task,
                quantity=f"limit exponent of w* in {'σ' if direction == 'sigma-to-infinity' else 'L/σ'}",
                read=read,
                claimed="< 0" if allowed is FALLING else "> 0",
                allowed=allowed,
                control=twin,
            )
            for k, task in tasks.items()
        ),
        figures=figures,
        finding=(
            "At fixed $n$ the optimal window does not grow without bound as $L/\\sigma \\to \\infty$: without noise the bias itself has a "
            "minimum at a finite $w$, because averaging a few neighbours around the query cancels their first-order errors, which "
            "the nearest neighbour alone cannot. The slide's limit holds along $n \\to \\infty$. Corrected: $w^* \\to w_0(n, d) < \\infty$."
            if direction == "L-to-infinity"
            else "The limit exponent is $-2$: a window of zero is left at first order in $L^2/\\sigma^2$."
        ),
        corrected="$w^* \\to w_0(n, d) < \\infty$ as $L/\\sigma \\to \\infty$ at fixed $n$"
        if direction == "L-to-infinity"
        else "",
    )


if __name__ == "__main__":
    run_file(__file__)
