r"""Theorem 3: what is printed, what is measured for it, and what its bounds come from, in words."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

import sympy

from checks._generalization import slide_bounds, transfer_agreement, transferred_power
from checks._slides import ASSUMED, limits_in_words, slides
from lipverify.claims.claim import CrossPlan, Task, exponent_at
from lipverify.claims.registry import Profile
from lipverify.claims.scaling import Side
from lipverify.claims.softmax.rays import window_growth
from lipverify.claims.softmax.transfer import Family, transfers
from lipverify.laws import law_named
from lipverify.scaling import Growth

THEOREM_3 = slides(
    "Theorem 3",
    r"tested on $D(\mathcal{F}_L^+)$, for large enough $n$, $\mathcal{L} \leq L^{2-\frac{2}{d+2}} (\sigma^2/n)^{\frac{1}{d+2}}$; "
    r"on $D(\mathcal{F}_{L'}^+)$: $\mathcal{L} \geq L'^2 (\frac{\sigma^2}{nL^2})^{\frac{2}{d+2}}$ if $L' > L$, "
    r"$\mathcal{L} \geq (\frac{nL^2}{\sigma^2})^{\frac{2}{2(d+2)}} / n$ if $L' \leq L$",
)
SKETCH = slides(
    "Theorem 3 and Proof Sketch",
    r"$\mathcal{L}_{noise} = \Theta(\sigma^2 (w^{d/2}+1)/n)$, $\Omega(L^2/w^2) < \mathcal{L}_{bias} < \Theta(L^2/w + L^2/n)$",
)
RATIOS = {"larger": 3.0, "smaller": 1 / 3}
"""L'/L along n: any fixed ratio has the same limit exponent."""
SIDES: dict[str, Side] = {"same": "upper", "larger": "lower", "smaller": "lower"}
TITLES = {"same": "Tested on the same L", "larger": "Tested on L' > L", "smaller": "Tested on L' ≤ L"}


def powers(form: str, dimension: sympy.Expr) -> dict[str, sympy.Expr]:
    """Powers of n at fixed L, L', sigma of the three bounds, as printed or as the sketch's bounds imply."""
    if form == "derived":
        return slide_bounds(dimension)
    step = 1 / (dimension + 2)
    return {"same": -step, "larger": -2 * step, "smaller": 2 * step / 2 - 1}


def dimensions(profile: Profile) -> tuple[int, ...]:
    """Those in which transfer along n is measured."""
    return profile.dimensions if profile.name == "full" else tuple(k for k in profile.dimensions if k in (2, 3, 5, 8))


def measurements(profile: Profile, case: str, law: str) -> tuple[dict[int, Task], Callable[[Any], Growth]]:
    """The measurement of a case along n in each dimension, and where in its result the loss is."""
    if case == "same":
        tasks = {k: Task(window_growth, (law, k, profile.points)) for k in profile.dimensions}
        return tasks, attrgetter("loss")
    tested = tuple((law, ratio) for ratio in RATIOS.values())
    tasks = {k: Task(transfers, (((law, 1.0),), tested, k, profile.points, True)) for k in dimensions(profile)}
    at = list(RATIOS).index(case)
    return tasks, lambda result: result.losses[0][at]


def agreement(profile: Profile, case: str, law: str) -> tuple[CrossPlan, ...]:
    """The transferred loss of a case by two more methods."""
    home: Family = (law, 1.0)
    return transfer_agreement([(home, (law, RATIOS.get(case, 1.0)))], profile)


def assumed(case: str, law: str) -> tuple[str, ...]:
    """What a claim along n assumes."""
    tested = {"same": "$L' = L$", "larger": "$L' = 3L$", "smaller": "$L' = L/3$"}[case]
    return (*ASSUMED, f"{law} law in training and test, {tested}", "limit along $n \\to \\infty$ at fixed $L/\\sigma$")


def latex(expression: sympy.Expr) -> str:
    """An exponent, with short fractions on one line."""
    return str(sympy.latex(expression, fold_short_frac=True))


def sharp_power(law: str) -> sympy.Expr:
    """The power of n in the loss of w*(L) on L', derived."""
    return transferred_power(law_named(law), law_named(law))


def finding(
    case: str,
    form: str,
    law: str,
    claimed: sympy.Expr,
    growths: Callable[[dict[str, Any]], dict[int, Growth]],
    results: dict[str, Any],
) -> str:
    """Where the bound comes from, what is sharp, and what was measured."""
    sharp = (
        f"The sharp rate of the {law} law is $\\Theta(L^2 \\Lambda^{{{latex(sharp_power(law))}}})$ for every fixed "
        "$L'/L$: a window that is off by a factor moves bias and noise by factors, and neither by a power of $n$."
    )
    fall = _fall(growths(results), claimed, law) if SIDES[case] == "lower" else ""
    return f"{REASONS[case, form]} {sharp} {fall}{limits_in_words(growths(results), (2, 5, 8))}"


REASONS = {
    ("same", "printed"): (
        "The printed exponent is that of $L^2/w$ at the smallest window of the sketch, $\\Lambda^{1/(d+2)}$. "
        "The best loss is no larger than at any window, so the sketch's own bounds give its square, $\\Lambda^{-2/(d+2)}$."
    ),
    ("same", "derived"): (
        "$N + B \\leq C (\\sigma^2 w^{d/2}/n + L^2/w)$ at the window that balances these two; the minimum can only be smaller. "
        "With the sphere's dimension for $d$ this is the rate for the worst $L$-Lipschitz function, whose bias is of order $L^2/w$."
    ),
    ("larger", "printed"): (
        "The printed bound is the largest window of the sketch, $\\Lambda^{2/(d+2)}$, put into $L'^2/w$, which the sketch has as an "
        "upper bound of the bias. Its lower bound is $\\Omega(L'^2/w^2)$, and with it the exponent doubles."
    ),
    (
        "larger",
        "derived",
    ): "$B \\geq C L'^2/w^2$ at the largest window that the sketch allows, $w = \\Lambda^{2/(d+2)}$.",
    ("smaller", "printed"): (
        "With $d$ in place of the 2 in $\\frac{2}{2(d+2)}$ and $\\sigma^2$ in front this is the noise "
        "$\\sigma^2 w^{d/2}/n$ at the smallest window of the sketch, $\\Lambda^{1/(d+2)}$. "
        "As printed it is weaker for $d > 2$ and the same for $d = 2$, where the claim is at its tightest."
    ),
    ("smaller", "derived"): (
        "$N = \\sigma^2 w^{d/2}/n$ at the smallest window that the sketch allows, $w = \\Lambda^{1/(d+2)}$. Read with the ambient "
        "$d$ the noise is overstated by $w^{1/2}$, which the slack in the window covers for the ReLU law (at $d = 2$ just so), "
        "but not for the affine law at $d = 2$, whose window is smaller."
    ),
}
CORRECTED = {
    "same": r"$\mathcal{L} \leq C L^2 (\sigma^2/(nL^2))^{2/(d+2)}$, the square of what is printed",
    "larger": r"$\mathcal{L} \geq C L'^2 (\sigma^2/(nL^2))^{4/(d+2)}$, with twice the printed exponent",
    "smaller": r"$\mathcal{L} \geq C \frac{\sigma^2}{n} (nL^2/\sigma^2)^{\frac{d-1}{2(d+1)}}$, with $\sigma^2$ restored and the sphere's dimension for $d$",
}


def corrected(case: str, law: str) -> str:
    """What the sketch's bounds imply in place of what is printed, and what is sharp."""
    return f"{CORRECTED[case]}; sharp for the {law} law: $\\Theta(L^2 \\Lambda^{{{latex(sharp_power(law))}}})$."


def _fall(growths: dict[int, Growth], claimed: sympy.Expr, law: str) -> str:
    """How far the loss falls below the claimed rate along the ladder, in the smallest dimension where it does."""
    below = [k for k in growths if exponent_at(sharp_power(law) - claimed, k) < 0]
    if not below:
        return ""
    k = min(below)
    s, values = growths[k].s, growths[k].values
    ratio = values[-1] / values[0] * (s[0] / s[-1]) ** exponent_at(claimed, k)
    return f"At $d = {k}$ the loss over the claimed rate falls by a factor of {1 / ratio:.3g} from $n = {s[0]:g}$ to {s[-1]:g}. "
