r"""Theorem 3 at a fixed context length: along the tested constant, along the trained one, and in another unit of y."""

from __future__ import annotations

import sympy

from checks._generalization import curves_figure
from checks._running import run_file
from checks._slides import ASSUMED, d, exponent_figure, growths_of
from checks._theorem3 import RATIOS, THEOREM_3, TITLES, agreement
from lipverify.claims.claim import Claim, Task
from lipverify.claims.figure import Figure
from lipverify.claims.registry import Profile
from lipverify.claims.scaling import scaling_cell
from lipverify.claims.softmax.transfer import along_tested, along_trained, along_units
from lipverify.scaling import Growth

LENGTH = 10_000
"""n of the rays along which L, L' or the unit of y moves."""


def claims(profile: Profile) -> tuple[Claim, ...]:
    """What the bounds say of L', of L, and of the unit of y."""
    along = [_along_tested(profile, case) for case in RATIOS]
    return (*along, _along_trained(profile), _units(profile))


def _along_tested(profile: Profile, case: str) -> Claim:
    larger = case == "larger"
    claimed, twin = (2 + 0 * d, sympy.Rational(5, 2) + 0 * d) if larger else (0 * d, sympy.Rational(1, 2) + 0 * d)
    tasks = {k: Task(along_tested, ("relu", k, LENGTH, 9, larger)) for k in profile.dimensions if k in (2, 5, 8)}
    growths = growths_of(tasks, _itself)
    ray = "L'" if larger else "L/L'"
    statement = r"\Omega(L'^2) \quad (L' \to \infty)" if larger else r"\Omega(1) \quad (L' \to 0)"
    return Claim(
        id=f"softmax.generalization-{case}/relu/lower/along-test-constant",
        title=f"{TITLES[case]}, ReLU law: along L' at fixed n and L",
        statement=rf"\mathcal{{L}}(w^*(L); L') = {statement}",
        source=THEOREM_3,
        assumptions=(*ASSUMED, "relu law", f"$n = {LENGTH}$ and $L = \\sigma = 1$ fixed"),
        claimed=f"loss = Ω({ray}^{claimed})",
        control=f"loss = Ω({ray}^{twin})",
        expected="supported",
        cells=tuple(
            scaling_cell(task, _itself, f"limit exponent of the loss in {ray}", "lower", claimed, twin, k, law="relu")
            for k, task in tasks.items()
        ),
        cross_checks=agreement(profile, case, "relu"),
        figures=lambda results: _along_figure(growths(results), larger),
        finding=(
            "The dependence on $L'$ is as printed, and sharp: $\\mathcal{L}(w^*(L); L') = N(w^*) + (L'/L)^2 B(w^*)$ exactly, for the "
            "affine law too. "
            + (
                "A window tuned to $L'$ has $L'^{2 - 2\\beta/(a+\\beta)}$ for large $\\Lambda$ instead, so the dependence on $L'$ is worse."
                if larger
                else "What is left as $L' \\to 0$ is the noise at $w^*(L)$, while a window tuned to $L'$ averages all tokens and has "
                "$\\sigma^2/n$: no benefit of a small $L'$."
            )
        ),
    )


def _itself(growth: Growth) -> Growth:
    return growth


def _along_figure(growths: dict[int, Growth], larger: bool) -> tuple[Figure, ...]:
    return curves_figure(
        {f"$d = {k}$": growth for k, growth in growths.items()},
        "$L'/L$" if larger else "$L/L'$",
        "loss",
        f"the window of $L$ on $L'$, ReLU law, $n = {LENGTH}$",
        "The loss of the window tuned to $L = \\sigma = 1$ against the constant of the tested tasks.",
    )


def _along_trained(profile: Profile) -> Claim:
    claimed, twin = 2 - 2 / (d + 2), sympy.Rational(3, 2) - 2 / (d + 2)
    tasks = {k: Task(along_trained, ("affine", k, LENGTH, 9)) for k in profile.dimensions if k == 3}
    growths = growths_of(tasks, _itself)
    return Claim(
        id="softmax.generalization-same/affine/upper/along-l",
        title="Tested on the same L, affine law: the printed bound along L at fixed n",
        statement=r"\mathcal{L}(w^*(L); L) = \mathcal{O}\left(L^{2 - \frac{2}{d+2}}\right) \quad (L \to \infty)",
        source=THEOREM_3,
        assumptions=(
            *ASSUMED,
            "affine law",
            f"$n = {LENGTH}$ and $\\sigma = 1$ fixed: 'large enough n' not depending on L",
        ),
        claimed=f"loss = O(L^({claimed}))",
        control=f"loss = O(L^({twin}))",
        expected="refuted",
        cells=tuple(
            scaling_cell(task, _itself, "limit exponent of the loss in L", "upper", claimed, twin, k, law="affine")
            for k, task in tasks.items()
        ),
        figures=lambda results: exponent_figure(growths(results), claimed, "upper", "$L$", "the loss"),
        finding=(
            "'Large enough $n$' must grow with $L/\\sigma$: at fixed $n$ the bias of the best window is of order $L^2$, however large "
            "$L$ is, and with $\\sigma = 0$ the printed bound is zero while the loss is positive for every $n$. The bias "
            "is $O(L^2/w)$ only while windows hold tokens; beyond, it is the squared distance to the nearest token, $n^{-2/(d-1)}$."
        ),
        corrected=r"$\mathcal{L} \leq C L^2 ((\sigma^2/(nL^2))^{2/(d+2)} + n^{-2/(d-1)})$ wherever $nL^2 \geq \sigma^2$.",
    )


def _units(profile: Profile) -> Claim:
    claimed, twin = 0 * d, sympy.Integer(1) + 0 * d
    tasks = {k: Task(along_units, ("relu", k, LENGTH, 8)) for k in profile.dimensions if k == 2}
    growths = growths_of(tasks, _itself)
    return Claim(
        id="softmax.generalization-smaller/relu/lower/units",
        title="Tested on L' ≤ L, ReLU law: the printed bound in another unit of y",
        statement=r"\mathcal{L} \geq \frac{C}{n} \Lambda^{\frac{1}{d+2}} \quad \text{with one constant } C \text{ for all } L' = L, \sigma",
        source=THEOREM_3,
        assumptions=(*ASSUMED, "relu law", f"$n = {LENGTH}$", "$L = L' = \\sigma = 1/s$, $s \\to \\infty$"),
        claimed="loss = Ω(1) in the unit of y",
        control="loss = Ω(s) in the unit of y",
        expected="refuted",
        cells=tuple(
            scaling_cell(task, _itself, "limit exponent of the loss in s", "lower", claimed, twin, k, law="relu")
            for k, task in tasks.items()
        ),
        figures=lambda results: exponent_figure(growths(results), claimed, "lower", "$s$", "the loss"),
        finding=(
            "The right side of the printed bound has no unit and the loss has that of $y^2$: with $y$ measured in a unit $s$ times as large "
            "both $L$ and $\\sigma$ fall by $s$ and the loss by $s^2$, while $(nL^2/\\sigma^2)^{1/(d+2)}/n$ stays. No constant serves "
            "all $\\sigma$. At $d = 2$ no $n$ is large enough either, since both sides fall at one rate there."
        ),
        corrected=r"$\sigma^2$ belongs in front: $\mathcal{L} \geq C \frac{\sigma^2}{n} (\dots)$, as in the noise term that the bound comes from.",
    )


if __name__ == "__main__":
    run_file(__file__)
