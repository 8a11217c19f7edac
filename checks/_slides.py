"""What the files share: the source, the laws and sides that claims are read for, and their figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import sympy

from lipverify.claims.claim import CrossPlan, Task, exponent_at, side_by_side
from lipverify.claims.figure import Figure, Panel, Series
from lipverify.claims.ledger import Source
from lipverify.claims.registry import Profile
from lipverify.claims.scaling import Side
from lipverify.claims.softmax.rays import (
    SAMPLED_WINDOWS,
    LossCurve,
    exact_window,
    loss_curve,
    sampled_window,
)
from lipverify.laws import law_named
from lipverify.loss.asymptotic import leading
from lipverify.scaling import Growth

LAWS = ("affine", "relu")
d = sympy.Symbol("d", positive=True)
AMBIENT, INTRINSIC = d, d - 1
READINGS = {"ambient": AMBIENT, "intrinsic": INTRINSIC}
"""What the letter d of the slides counts: the space R^d that tokens live in, or the sphere S^{d-1} itself."""

RELATION = {"lower": r"\Omega", "upper": r"\mathcal{O}", "theta": r"\Theta"}
SIGN = {"lower": r"\geq", "upper": r"\leq", "theta": "="}
SYMBOL = {"lower": "Ω", "upper": "O", "theta": "Θ"}
ASSUMED = (
    "tokens and query uniform on $S^{d-1}$, noise independent with variance $\\sigma^2$",
    "$\\mathbf{M} = w \\mathbf{I}$, attention scores $w \\langle x_i, x \\rangle$",
)


def slides(place: str, printed: str) -> Source:
    """A place in the slides of Collins et al."""
    return Source(paper="S", place=place, printed=printed)


def sharp_bias_power(law: str) -> sympy.Rational:
    """The power of w in B, from the leading term that SymPy derives for the law."""
    return -leading(law_named(law)).beta


def curve_agreement(term: str, law: str, profile: Profile) -> tuple[CrossPlan, ...]:
    """One term of the loss at n = 100 over the windows, by the exact method and by Monte Carlo."""
    task = Task(loss_curve, (law, 5, 100, profile.contexts, profile.seed, profile.backend))

    def read(at: int, curve: LossCurve) -> tuple[tuple[float, float], tuple[float, float]]:
        exact, sampled = getattr(curve, f"exact_{term}")[at], getattr(curve, f"sampled_{term}")[at]
        return (exact, sampled), (1e-9 * exact, getattr(curve, f"{term}_error")[at])

    return tuple(
        CrossPlan(
            where={"d": 5, "n": 100, "law": law, "w": w},
            quantity=term,
            methods=("exact", "montecarlo"),
            tasks=(task,),
            read=partial(read, at),
        )
        for at, w in enumerate(SAMPLED_WINDOWS)
    )


def window_agreement(law: str, profile: Profile) -> tuple[CrossPlan, ...]:
    """The optimal window at n = 100 by the exact method and on sampled contexts alone."""
    return tuple(
        CrossPlan(
            where={"d": dimension, "n": 100, "law": law},
            quantity="w*",
            methods=("exact", "montecarlo"),
            tasks=(
                Task(exact_window, (law, dimension, 100)),
                Task(sampled_window, (law, dimension, 100, profile.contexts, profile.seed)),
            ),
            read=side_by_side,
        )
        for dimension in (3, 5)
    )


def exponent_figure(
    growths: dict[int, Growth], claimed: sympy.Expr, side: Side, ray: str, quantity: str
) -> tuple[Figure, ...]:
    """Local exponents converging along the ray; their limits against d, and what is claimed of them.

    Readings of one measurement give figures that differ in the claimed curve alone, so that a report can draw them
    as one.
    """
    distance = tuple(
        Series(
            label=f"$d = {dimension}$",
            x=growth.slope_at,
            y=tuple(slope - growth.exponent for slope in growth.local_slopes),
        )
        for dimension, growth in growths.items()
    )
    dimensions = tuple(map(float, growths))
    limits = Panel(
        title="limit exponents",
        xlabel="$d$",
        ylabel=f"exponent of {quantity}",
        xscale="linear",
        yscale="linear",
        series=(
            Series(
                label="measured limit",
                x=dimensions,
                y=tuple(growth.exponent for growth in growths.values()),
                error=tuple(growth.error for growth in growths.values()),
                style="errorbars",
            ),
            Series(
                label=rf"claimed: ${SIGN[side]} {sympy.latex(claimed, fold_short_frac=True)}$",
                x=dimensions,
                y=tuple(exponent_at(claimed, dimension) for dimension in growths),
                style="dashed",
            ),
        ),
    )
    local = Panel(
        title="local exponents",
        xlabel=ray,
        ylabel="local exponent $-$ limit",
        yscale="linear",
        series=distance,
    )
    caption = (
        f"Left: the local exponent of {quantity} along the ray, less its extrapolated limit, for each dimension. "
        "Right: the limits, with their errors, and what is claimed of them."
    )
    alt = (
        f"Local exponents of {quantity} minus their limit against {ray}, tending to zero; "
        "limit exponents against d, with the claimed exponents."
    )
    return (Figure(caption=caption, alt=alt, panels=(local, limits)),)


def growths_of(tasks: dict[int, Task], pick: Callable[[Any], Growth]) -> Callable[[dict[str, Any]], dict[int, Growth]]:
    """The growth of each dimension, out of a claim's results."""
    return lambda results: {dimension: pick(results[task.address]) for dimension, task in tasks.items()}


def limits_in_words(growths: dict[int, Growth], dimensions: Sequence[int]) -> str:
    """The sharp exponents and constants of a few dimensions."""
    shown = [
        f"$d={k}$: exponent {growths[k].exponent:.5f}, constant {growths[k].constant:.4g}"
        for k in dimensions
        if k in growths
    ]
    return "Measured limits: " + "; ".join(shown) + "."
