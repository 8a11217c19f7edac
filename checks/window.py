r"""Theorem 2 and the proof sketch: how the optimal w* grows with Lambda = n L^2 / sigma^2."""

from __future__ import annotations

from typing import Any

import lipverify as lv
from lipverify.claims import (
    DIMENSIONS,
    Figure,
    Panel,
    Region,
    Series,
    Source,
    agree,
    at,
    bound,
    claim,
    draw,
    exponent,
    identity,
    per_profile,
)
from lipverify.claims.proved import proved_rates

Value = tuple[float, float]


def optimum(law: str, d: int, n: float) -> dict[str, Value]:
    """w* and the loss there, at L = sigma = 1: w* depends on L / sigma only, and Lambda is n."""
    found = lv.optimal_window(lv.Problem(d=d, n=n, law=lv.laws.law_named(law), sigma=1.0))
    return {"w": (found.w, found.w_error), "loss": (found.loss, found.loss_error)}


def sampled_optimum(law: str, d: int, n: float, contexts: int, seed: int) -> dict[str, Value]:
    """w* on sampled contexts alone."""
    problem = lv.Problem(d=d, n=n, law=lv.laws.law_named(law), sigma=1.0)
    from lipverify.optimum.window.empirical import empirical_window

    found = empirical_window(problem, contexts=contexts, seed=seed, stream=f"window/{law}/{d}/{n}")
    return {"w": (found.w, found.w_error)}


def derivation(reading: str, d: int, below: float = 2) -> Value:
    """How far 1/(D + 2) and 2/(D + 2) are from what N ~ w^(D/2) / Lambda and w^-below < B < 1/w imply, by SymPy.

    The best loss is no larger than where noise and upper bias balance; at w* neither the noise nor the lower bias can
    exceed it. In powers of Lambda, with w = Lambda^x.
    """
    import sympy

    D, x = sympy.Integer(d if reading == "ambient" else d - 1), sympy.Symbol("x")
    balance = sympy.solve(sympy.Eq(D / 2 * x - 1, -x), x)[0]
    upper = sympy.solve(sympy.Eq(D / 2 * x - 1, -balance), x)[0]
    lower = sympy.solve(sympy.Eq(-sympy.nsimplify(below) * x, -balance), x)[0]
    return float(abs(lower - 1 / (D + 2)) + abs(upper - 2 / (D + 2))), 0.0


def windows(law: str, d: int) -> list[tuple[float, float]]:
    """(Lambda, w*) over sixteen decades."""
    return [(s, optimum(law, d, s)["w"][0]) for s in (1e2, 1e4, 1e6, 1e9, 1e12, 1e15, 1e18)]


def against_lambda(law: str, **found: list[tuple[float, float]]) -> Figure:
    """w* against Lambda for several d, between the printed powers, on the sharp one."""
    caption = (
        rf"The optimal $w^*$ against $\Lambda = n L^2 / \sigma^2$, {law} law. Shaded: what the printed $\Omega(\Lambda^{{1/d}})$ and "
        r"$\mathcal{O}(\Lambda^{2/d})$ leave from the first point on. Dashed: the sharp power "
        rf"$\Lambda^{{{SHARP[law]}}}$ through the last point."
    )
    alt = f"For d = {', '.join(name[2:] for name in found)}, w* rises along a straight line on log axes inside the printed range, on the sharp power."
    panels = tuple(_panel(law, int(name[2:]), tuple(points)) for name, points in found.items())
    return Figure(caption=caption, alt=alt, panels=panels, layer="front")


def _panel(law: str, d: int, points: tuple[tuple[float, float], ...]) -> Panel:
    """One dimension: the printed range opens from the first point, the sharp power runs through the last."""
    x, y = zip(*points, strict=True)
    powers = {"low": 1 / d, "high": 2 / d}
    edges = {side: tuple(y[0] * (s / x[0]) ** power for s in x) for side, power in powers.items()}
    rate = 2 / (d + (2 if law == "relu" else 3))
    return Panel(
        title=f"$d = {d}$",
        xlabel=r"$\Lambda$",
        ylabel="$w^*$",
        series=(
            Series(label="$w^*$", x=x, y=y, style="points"),
            Series(label="the sharp power", x=x, y=tuple(y[-1] * (s / x[-1]) ** rate for s in x), style="dashed"),
        ),
        regions=(Region(label="printed range", x=x, **edges),),
    )


THEOREM_2 = Source(
    "S",
    "Theorem 2",
    r"For sufficiently large $n$, the minimizer of the pretraining population loss induced by $D(\mathcal{F}_L^+)$ is "
    r"$\mathbf{M}^* = w_{KQ} \mathbf{I}_d$ where $\Omega((nL^2/\sigma^2)^{1/d}) < w_{KQ} < \mathcal{O}((nL^2/\sigma^2)^{2/d})$",
)
SKETCH = Source(
    "S",
    "Proof Sketch",
    r"$\mathcal{L}_{noise} = \Theta(\sigma^2 (w^{d/2}+1)/n)$ and $\Omega(L^2/w^2) < \mathcal{L}_{bias} < \Theta(L^2/w + L^2/n)$; "
    r"use these to get a range for $w_{KQ}$",
)
LAWS = {"relu": {"rate": "2/(d + 2)"}, "affine": {"rate": "2/(d + 3)"}}
"""The rate at which the noise w^((d-1)/2) / n balances the bias, w^(-3/2) for ReLU and w^-2 for the affine law."""
SHARP = {"relu": "2/(d+2)", "affine": "2/(d+3)"}
"""The same, as it is drawn."""
READINGS = {"ambient": {"D": "d", "E": "d + 2"}, "intrinsic": {"D": "d - 1", "E": "d + 1"}}
ASSUMED = (
    r"tokens and query uniform on $S^{d-1}$, noise independent with variance $\sigma^2$",
    r"$\mathbf{M} = w \mathbf{I}$, attention scores $w \langle x_i, x \rangle$",
    r"$\Lambda = n L^2 / \sigma^2 \to \infty$ along $n \to \infty$ at fixed $L / \sigma$",
)
FAMILY = {"law": LAWS, "reading": READINGS, "d": DIMENSIONS}
PROVED: dict[str, Any] = {
    "source": THEOREM_2,
    "kind": "derived",
    "over": {**FAMILY, "d": per_profile((2, 3, 5), DIMENSIONS.full)},
    "title": "the window theorem that is proved for every n",
    "corrected": {
        "relu/*": r"$w^* = \Theta(\Lambda^{2/(d+2)})$ for the ReLU law",
        "*": r"$w^* = \Theta(\Lambda^{2/(d+3)})$ for the affine law",
    },
    "assumes": (
        *ASSUMED[:2],
        r"$\Lambda = n L^2 / \sigma^2 \geq \Lambda_0$ and $n \geq K W^{(d-1)/2 + \beta - 1}$, with the numbers of `lipverify prove`",
    ),
}
"""$low W < w^* < high W$, $W = \\Lambda^e$, for every n, L and sigma in that range: the exponent is e, without a limit."""
SAMPLED = agree(optimum, sampled_optimum, "w^*", of="w", over={"d": (3, 5), "n": 100})

claim(
    "softmax.window-printed/{law}/{side}/{reading}",
    exponent(optimum, "w^*", of="w", scale=r"\Lambda", low="1/D", high="2/D", sharp="rate"),
    source=THEOREM_2,
    kind={"relu/*/ambient": "printed", "relu/*": "convention", "*": "stronger"},
    expected={"affine/lower/*": "refuted", "relu/lower/intrinsic": "refuted", "*": "supported"},
    over=FAMILY,
    assumes=ASSUMED,
    agrees=SAMPLED,
    figures={"relu/*/ambient": draw(against_lambda, **{f"d_{d}": at(windows, d=d) for d in (2, 3, 5)}), "*": ()},
    corrected={
        "relu/*": r"$w^* = \Theta(\Lambda^{2/(d+2)})$ for the ReLU law",
        "*": r"$w^* = \Theta(\Lambda^{2/(d+3)})$ for the affine law",
    },
)
claim(
    "softmax.window-derived/{law}/{side}/{reading}",
    exponent(optimum, "w^*", of="w", scale=r"\Lambda", low="1/E", high="2/E", sharp="rate"),
    identity(derivation, r"\text{implied} - \text{stated}", twin={"below": 1.5}),
    source=SKETCH,
    kind="derived",
    expected="supported",
    over=FAMILY,
    assumes=ASSUMED,
    agrees=SAMPLED,
)
claim(
    "softmax.window-derived/{law}/sharp",
    exponent(optimum, "w^*", of="w", scale=r"\Lambda", equals="rate"),
    source=SKETCH,
    kind="sharp",
    expected="supported",
    over={"law": LAWS, "d": DIMENSIONS},
    assumes=ASSUMED,
    agrees=SAMPLED,
)
claim(
    "softmax.window-printed/{law}/{side}/{reading}/proved",
    bound(proved_rates, "e", of="window", low="1/D", high="2/D", sharp="rate", method="certified"),
    expected={"affine/lower/*": "refuted", "relu/lower/intrinsic/*": "refuted", "*": "supported"},
    **PROVED,
)
claim(
    "softmax.window-derived/{law}/{side}/{reading}/proved",
    bound(proved_rates, "e", of="window", low="1/E", high="2/E", sharp="rate", method="certified"),
    expected="supported",
    **PROVED,
)
