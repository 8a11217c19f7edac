r"""What transfer implies: the loss of a tuned window elsewhere, from the leading terms and from the slides' bounds.

With N ~ A sigma^2 w^a / n and B ~ C w^{-beta}, a = (d-1)/2, the window of the trained family is where a N = beta B. On
a family whose bias is rho^2 times as large (rho = L'/L for the same law) the loss there is N + rho^2 B, so

    loss(w*(L); L') / loss(w*(L); L)   ->  (a rho^2 + beta) / (a + beta),
    loss(w*(L); L') / loss(w*(L'); L') ->  (a rho^2 + beta) / ((a + beta) rho^{2a / (a + beta)}),

because the best loss is proportional to C^{a / (a + beta)}. The second is 1 at rho = 1 alone (arithmetic against
geometric mean): a wrong L costs a factor, whatever n is. A wrong beta costs a power of n.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import sympy

from checks._slides import d
from checks.window import implied
from lipverify.claims.claim import CrossPlan, Reading, Task, side_by_side
from lipverify.claims.figure import Figure, Panel, Series
from lipverify.claims.registry import Profile
from lipverify.claims.softmax.transfer import Family, transferred_at
from lipverify.claims.verdict import Allowed, Interval
from lipverify.laws import law_named
from lipverify.loss.asymptotic import Leading, leading
from lipverify.loss.asymptotic.leading import exponent
from lipverify.loss.asymptotic.sphere import L, n, w
from lipverify.problem.law import Law
from lipverify.scaling import Growth

SLIDE_BIAS = {"upper": sympy.Integer(-1), "lower": sympy.Integer(-2)}
"""Powers of w in the proof sketch: Omega(L^2 / w^2) < B < O(L^2 / w)."""
RESOLUTION = 1e-3
"""A measured limit is called equal to a derived one if it is known, and agrees, to this share of itself."""


@cache
def slide_bounds(dimension: sympy.Expr) -> dict[str, sympy.Expr]:
    """Powers of Lambda in loss / L^2 that the proof sketch's bounds on N, B and w* imply, its d read as `dimension`.

    "same": the best loss is no larger than where N and the upper bias balance. "larger": B >= its lower bound at the
    largest w*. "smaller": N at the smallest w*.
    """
    noise = dimension / 2
    window = implied(noise, SLIDE_BIAS["upper"], SLIDE_BIAS["lower"])
    return {
        "same": sympy.simplify(SLIDE_BIAS["upper"] * window["upper"]),
        "larger": sympy.simplify(SLIDE_BIAS["lower"] * window["upper"]),
        "smaller": sympy.simplify(noise * window["lower"] - 1),
    }


@cache
def transferred_powers(trained: Leading, tested: Leading) -> tuple[sympy.Expr, sympy.Expr]:
    """The powers of n in N and in B of the tested family, at the window of the trained one."""
    noise, bias = (term.subs(w, trained.window) for term in (tested.noise, tested.bias))
    return exponent(noise, n), exponent(bias, n)


def transferred_power(trained: Law, tested: Law) -> sympy.Expr:
    """The power of n in the loss of a window tuned to one law and used on another, the same for every L.

    >>> from lipverify.laws import Affine, ReLU
    >>> transferred_power(ReLU(), ReLU()), transferred_power(ReLU(), Affine()), transferred_power(Affine(), ReLU())
    (-3/(d + 2), -3/(d + 2), -3/(d + 3))
    """
    noise, bias = transferred_powers(leading(trained), leading(tested))
    beyond_two = sympy.Symbol("m", nonnegative=True)
    noise_wins = sympy.factor((noise - bias).subs(d, beyond_two + 2)).is_nonnegative
    return noise if noise_wins else bias


def home_factor(beta: sympy.Expr, rho2: sympy.Expr) -> sympy.Expr:
    """The limit of the transferred loss over the loss at home; `rho2` is the ratio of the bias constants."""
    a = (d - 1) / 2
    return (a * rho2 + beta) / (a + beta)


@cache
def mistuning(beta: sympy.Expr, rho2: sympy.Expr) -> sympy.Expr:
    """The limit of the transferred loss over the loss of the window tuned to the tested family.

    >>> mistuning(sympy.Integer(2), sympy.Integer(1))
    1
    """
    a = (d - 1) / 2
    return home_factor(beta, rho2) / rho2 ** (a / (a + beta))


def bias_constant(law: Law, dimension: int) -> sympy.Expr:
    """C in B ~ C w^{-beta}, to thirty digits, at the law's own L."""
    value = sympy.nsimplify(str(getattr(law, "L", 1)))
    return leading(law).bias.subs({w: 1, d: dimension}).subs(L, value).evalf(30)


def mistuning_at(trained: Family | Law, tested: Family | Law, dimension: int) -> float:
    """The limit factor between two laws of the same beta at one dimension, as a number."""
    source, target = (law if isinstance(law, Law) else law_named(*law) for law in (trained, tested))
    rho2 = bias_constant(target, dimension) / bias_constant(source, dimension)
    return float(mistuning(leading(source).beta, rho2).subs(d, dimension))


def near(value: float) -> Allowed:
    """What counts as equal to a derived limit."""
    return Allowed.near(value, RESOLUTION)


def read_limit(growth: Growth) -> Reading:
    """The limit of a quantity that tends to a constant; unbounded where the limit exponent is not known to be 0."""
    if abs(growth.exponent) > growth.error:
        return Reading(Interval(None, None), note=f"does not tend to a constant: exponent {growth.exponent:.6g}")
    return Reading(Interval.around(*growth.limit_of_ratio(0.0)))


def transfer_agreement(
    pairs: Sequence[tuple[Family, Family]], profile: Profile, short: float = 100.0
) -> tuple[CrossPlan, ...]:
    """The transferred loss by the exact method and by sampling at a `short` context, by the leading terms at 1e30."""
    return tuple(
        CrossPlan(
            where={"d": 5, "n": length, "law": f"{name_of(trained)} to {name_of(tested)}"},
            quantity="loss of w*",
            methods=("exact", method),
            tasks=tuple(
                Task(transferred_at, (trained, tested, 5, length, each, profile.contexts, profile.seed))
                for each in ("exact", method)
            ),
            read=side_by_side,
        )
        for trained, tested in pairs
        for length, method in ((short, "montecarlo"), (1e30, "asymptotic"))
    )


def name_of(family: Family) -> str:
    """A family in words.

    >>> name_of(("cosine", 0.1))
    'cosine L=0.1'
    """
    return f"{family[0]} L={family[1]:.3g}"


def curves_figure(curves: dict[str, Growth], xlabel: str, ylabel: str, title: str, caption: str) -> tuple[Figure, ...]:
    """Measured values along a ray, one curve a label."""
    series = tuple(Series(label=label, x=growth.s, y=growth.values) for label, growth in curves.items())
    panel = Panel(title=title, xlabel=xlabel, ylabel=ylabel, series=series)
    return (Figure(caption=caption, alt=f"{title}: {ylabel} against {xlabel}.", panels=(panel,)),)
