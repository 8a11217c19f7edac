r"""Figures and tables of the theorems on softmax attention, made from their measurements."""

from __future__ import annotations

from typing import Any

import numpy as np

import lipverify as lv
from lipverify.checks.softmax.levels import LENGTHS, LEVELS
from lipverify.checks.softmax.quantities import Value, optimum, problem, sampled_curve
from lipverify.checks.softmax.slopes import CONTEXTS, SEEN, SIZE
from lipverify.claims import Figure, HeatMap, Panel, Region, Series, Table, at, proved_window

Points = list[tuple[float, float]]
RATE = {"relu": "2/(d+2)", "affine": "2/(d+3)"}
"""The exponent of w* in Lambda, in LaTeX."""
SAID = {"relu": "ReLU law", "affine": "affine law", "cosine": "cosine law", "quadratic": "quadratic law"}
SHOWN = (2, 3, 5)
"""The dimensions in the figures."""


def windows(law: str) -> list[Points]:
    """(Lambda, w*) over sixteen decades, by dimension; from 1e4 on at lengths at which the exponent is measured too."""
    lengths = [1e2, *(float(round(10 ** (4 + k * 26 / 11))) for k in range(7))]  # twelve points of n from 1e4 to 1e30
    return [[(n, optimum(law, d, n)["w"][0]) for n in lengths] for d in SHOWN]


def against_lambda(law: str, found: list[Points]) -> Figure:
    """w* against Lambda for several d, between the printed powers, with the sharp power."""
    return Figure(
        caption=rf"""The optimal $w^*$ against $\Lambda = n L^2 / \sigma^2$, {SAID[law]}. Shaded: the range between the
        printed $\Omega(\Lambda^{{1/d}})$ and $\mathcal{{O}}(\Lambda^{{2/d}})$, drawn through the first point. Dashed: the sharp
        power $\Lambda^{{{RATE[law]}}}$ through the last point.""",
        alt=f"""For d = {", ".join(map(str, SHOWN))}, w* rises along a straight line on log axes inside the printed range, on
        the sharp power.""",
        panels=tuple(_window_panel(law, d, points) for d, points in zip(SHOWN, found, strict=True)),
        layer="front",
    )


def _window_panel(law: str, d: int, points: Points) -> Panel:
    """One dimension: the printed range is drawn from the first point, the sharp power through the last."""
    x, y = zip(*points, strict=True)
    low, high = (tuple(y[0] * (s / x[0]) ** power for s in x) for power in (1 / d, 2 / d))
    sharp = tuple(y[-1] * (s / x[-1]) ** _rate(law, d) for s in x)
    return Panel(
        title=f"$d = {d}$",
        xlabel=r"$\Lambda$",
        ylabel="$w^*$",
        series=(
            Series(label="$w^*$", x=x, y=y, style="points"),
            Series(label="the sharp power", x=x, y=sharp, style="dashed"),
        ),
        regions=(Region(label="printed range", x=x, low=low, high=high),),
    )


def _rate(law: str, d: int) -> float:
    return 2 / (d + (2 if law == "relu" else 3))


def theorems() -> list[list[str]]:
    proofs = {(law, d): proved_window(law, d) for law in RATE for d in (2, 3, 5, 8)}
    numbers = {
        place: (proof.low, proof.high, float(loss.low), float(loss.high), proof.least_lambda, proof.least_tokens)
        for place, proof in proofs.items()
        for loss in (proof.fact("loss"),)
    }
    return [[SAID[law].removesuffix(" law"), str(d), *(f"{x:.6g}" for x in row)] for (law, d), row in numbers.items()]


def constants(found: list[list[str]]) -> Table:
    return Table(
        caption=r"""$k_1 W < w^* < k_2 W$ and $l_1 < W^\beta \mathcal{L}(w^*) / L^2 \leq l_2$ with $W = \Lambda^e$, for every $n$,
        $L$, $\sigma$ with $\Lambda \geq \Lambda_0$ and $n \geq K W^{(d-1)/2 + \beta - 1}$; $\beta = 3/2$ for ReLU, 2 for affine,
        $1/e = (d-1)/2 + \beta$.""",
        header=("law", "$d$", "$k_1$", "$k_2$", "$l_1$", "$l_2$", r"$\Lambda_0$", "$K$"),
        rows=tuple(map(tuple, found)),
    )


def line(label: str, x: np.ndarray, y: np.ndarray, **style: Any) -> Series:
    return Series(label=label, x=tuple(map(float, x)), y=tuple(map(float, y)), **style)


TERMS = {"B": "bias $B$", "N": "noise $N$"}
FALLS = {"affine": ("w^{-2}", 2.0), "relu": ("w^{-3/2}", 1.5)}
"""The power law of the bias in LaTeX, and its exponent in 1/w."""


def terms_by_w(law: str, d: int, n: int) -> dict[str, Any]:
    here, w = problem(law, d, n), np.geomspace(0.1, 60.0, 25)
    terms, best = lv.loss_terms(here, w), lv.optimal_window(here)
    return {"d": d, "n": n, "w": w, "B": terms.bias, "N": terms.noise, "w*": best.w, "loss*": best.loss}


def tradeoff(law: str, exact: dict[str, Any], sampled: dict[str, Value]) -> Figure:
    """Bias, noise and loss against w: exact and sampled, with the printed bounds and the sharp rates."""
    d, n, w, B, N = exact["d"], exact["n"], *(np.asarray(exact[name]) for name in ("w", "B", "N"))
    panel = Panel(
        title=f"{SAID[law]}, $d = {d}$, $n = {n}$, $L = \\sigma = 1$",
        xlabel="$w_{KQ}$",
        ylabel="loss",
        series=(
            line(TERMS["B"], w, B),
            line(TERMS["N"], w, N),
            line("loss $B + N$", w, B + N),
            *(_sampled_points(letter, sampled) for letter in "BN"),
            Series(label="loss $B + N$", x=(exact["w*"],), y=(exact["loss*"],), style="points"),
            *_rates(law, d, w, B, N),
        ),
        regions=(_printed_bias(n, w, B),),
    )
    return Figure(
        caption=rf"""Bias $B$, noise $N$ and their sum, {SAID[law]}: by the exact method (lines; circle: the minimum, at
        $w^*$) and on sampled contexts (points with 95 % intervals). Shaded: the printed $\Omega(L^2/w^2) < B < \Theta(L^2/w + L^2/n)$ with the closest constants
        that hold for $w \geq 1$. The printed shape of $N$ is $\sigma^2 (w^{{d/2}} + 1)/n$. Thin dashes: the rates that hold,
        ${FALLS[law][0]}$ of $B$ and $w^{{(d-1)/2}}/n$ of $N$.""",
        alt=f"""For the {SAID[law]} the bias falls and the noise rises with w; their sum is least at w* =
        {exact["w*"]:.2g}. The bias lies inside the printed range; the noise rises more slowly than is printed.""",
        panels=(panel,),
        layer="front" if law == "relu" else "evidence",
    )


def _sampled_points(letter: str, sampled: dict[str, Value]) -> Series:
    """The sampled values of one term whose interval excludes zero."""
    values = [(w, *sampled[f"{letter}({w:g})"]) for w in SEEN]
    x, y, error = zip(*((w, value, error) for w, value, error in values if error < value), strict=True)
    return Series(label=TERMS[letter], x=x, y=y, error=error, style="errorbars")


def _printed_bias(n: int, w: np.ndarray, B: np.ndarray) -> Region:
    """c / w^2 < B < C (1/w + 1/n), with the closest constants that hold for w >= 1."""
    x, bias = w[w >= 1], B[w >= 1]
    low, high = np.min(bias * x**2) / x**2, np.max(bias / (1 / x + 1 / n)) * (1 / x + 1 / n)
    points = [tuple(map(float, edge)) for edge in (x, low, high)]
    return Region(label="printed range of $B$", x=points[0], low=points[1], high=points[2])


def _rates(law: str, d: int, w: np.ndarray, B: np.ndarray, N: np.ndarray) -> tuple[Series, ...]:
    """The printed shape of the noise, scaled to be right at w = 0, and the sharp rates through the largest w."""
    x = w[w >= 1]
    return (
        line("printed shape of $N$", w, N[0] * (w ** (d / 2) + 1) / (w[0] ** (d / 2) + 1)),
        line(TERMS["B"], x, B[-1] * (x / w[-1]) ** -FALLS[law][1], style="dashed"),
        line(TERMS["N"], x, N[-1] * (x / w[-1]) ** ((d - 1) / 2), style="dashed"),
    )


def displayed(least: Value, at_l: Value) -> str:
    """Both sides of the lower bound that Theorem 3 displays, at one context."""
    right = 1e4 ** (1 / 4 - 1)
    return rf"""At $d = 2$, $n = 10^4$, $L' = L/3$ the loss is {least[0] * right:.3g} and the right side is {right:.3g}: a quotient of
    {least[0]:.3g}, and at $L' = L$ of {at_l[0]:.3g}. At $d = 2$ both sides fall at the same rate, so a larger $n$ does not help; for $d >
    2$ the loss falls more slowly than the right side."""


# Training
def along_training(title: str, ylabel: str, label: str, run: Any) -> Panel:
    """Means over runs with their intervals against the number of steps; `label` has {} for the name of a curve."""
    series = tuple(
        Series(
            label=label.format(name),
            x=tuple(run["steps"]),
            y=tuple(mean for mean, _ in curve),
            error=tuple(min(error, 0.9 * mean) for mean, error in curve),  # no 0 on a logarithmic axis
            style="errorbars",
        )
        for name, curve in run["curves"].items()
    )
    return Panel(title=title, xlabel="steps", ylabel=ylabel, xscale="linear", series=series)


def norms_in_training(gd: Any, adam: Any) -> Figure:
    """The norm of M against the number of steps for each L, one panel for each optimiser."""
    panels = tuple(
        along_training(title, r"$\|\mathbf{M}\|_2$", "$L = {}$", run | {"curves": run["norms"]})
        for title, run in (("gradient descent", gd), ("Adam", adam))
    )
    caption = (
        r"The spectral norm of $\mathbf{M}$ during training by Lipschitz constant: means over runs with 99 % intervals."
    )
    return Figure(caption=caption, alt="Norm of M against steps for several L.", panels=panels)


# Low rank
def beside_aligned(best: dict[str, Any], found: dict[str, Any]) -> Figure:
    """M* over all symmetric matrices next to the best c BB^T, at d = 4 and k = 2."""
    aligned = np.diag([best["c"][0]] * 2 + [0.0] * 2).tolist()
    named = {r"$\mathbf{M}^*$": found["M"], r"$c \mathbf{B} \mathbf{B}^\top$": aligned}
    return Figure(
        caption=r"""The minimiser over all symmetric matrices on sampled contexts, as computed, next to the best $c \mathbf{B}
        \mathbf{B}^\top$ by the exact reduction; $d = 4$, $k = 2$, and $\mathbf{B}$ consists of the first two axes.""",
        alt="The sampled minimiser next to c BB^T, entry by entry, at d = 4 and k = 2.",
        maps=tuple(HeatMap(title=title, values=tuple(map(tuple, values))) for title, values in named.items()),
        layer="front",
    )


def learned(family: str, attention: str, **found: dict[str, Any]) -> Figure:
    """rho and the test error against the steps in every setting; for linear attention also the error of predicting 0."""
    panels = []
    for name, title, label in (
        ("rho", "representation", r"$\rho(\mathbf{M}, \mathbf{B})$"),
        ("error", "prediction", "test error"),
    ):
        lines = []
        for setting, run in found.items():
            means, errors = zip(*run["curves"][name], strict=True)
            # on a logarithmic axis an interval may not reach 0
            shown = tuple(min(error, 0.9 * mean) for mean, error in zip(means, errors, strict=True))
            words = setting.replace("_gd", ", GD").replace("_adam", ", Adam")
            lines.append(Series(label=words, x=tuple(run["shares"]), y=tuple(means), error=shown, style="errorbars"))
            if name == "error" and attention == "linear" and setting.endswith("_gd"):
                lines.append(Series(label="predicting 0", x=(0.0, 1.0), y=(run["nothing"],) * 2, style="dashed"))
        scale: Any = "log" if attention == "softmax" else "linear"
        panels.append(
            Panel(
                title=title,
                xlabel="share of the steps",
                ylabel=label,
                xscale="linear",
                yscale=scale,
                series=tuple(lines),
            )
        )
    caption = rf"""{attention.capitalize()} attention on the {family} family: the ratio of the spurious to the relevant block of
        $\mathbf{{M}}$, and the error on held-out contexts, against the share of the steps taken; means over runs with 99 % intervals."""
    return Figure(
        caption=caption, alt=f"rho and test error against steps, {attention}, {family}.", panels=tuple(panels)
    )


# What moves the optimal w
NOISELESS = ((3, 50), (3, 100), (5, 50))
"""The (d, n) at which the figure shows w* without noise."""


def noiseless(law: str) -> list[float]:
    """w* without noise at these (d, n)."""
    return [optimum(law, d, n, sigma=0.0)["w"][0] for d, n in NOISELESS]


def without_noise(found: list[float]) -> str:
    """The limit of w* as L/sigma grows at fixed n."""
    limits = ", ".join(f"{w:.3g} at $d = {d}$, $n = {n}$" for (d, n), w in zip(NOISELESS, found, strict=True))
    return rf"""At fixed $n$ the optimal $w$ does not grow without bound as $L/\sigma \to \infty$. Without noise the bias itself has a
    minimum at a finite $w$: the average of a few neighbours around the query cancels first-order errors, which the nearest neighbour
    alone cannot do. At $\sigma = 0$ the optimal $w$ is {limits}. For $w^* \to \infty$ the context must grow too (`n-to-infinity`)."""


def turning(found: dict[str, Any]) -> str:
    """The optimal w of the cosine law at two L, and the L from which on its second harmonic falls."""
    from scipy.special import jnp_zeros

    w, error = getattr(found["at"], "pair", found["at"])
    return f"""By ball arithmetic: $w^*$ at $L = 3$ is {w:.3g} up to {error:.1g}, and $w^* = 0$ at $L = 4$. If a wide window cannot follow
    the waves, the average of all tokens is best. Near $w = 0$ attention can use only the second harmonic, of size $J_2(L)^2$, which falls
    from $L = {jnp_zeros(2, 1)[0]:.2f}$ on to the next zero of $J_2$."""


# The context length
def three_levels(found: list[dict[str, Value]]) -> Figure:
    """Functions, attention windows at one n, and the error of each on L = 3, as on the slide."""
    angles, there = np.linspace(0, np.pi, 61), found[LENGTHS.index(1e4)]
    windows = {L: np.exp(there[f"w* of {L:g}"][0] * (np.cos(angles) - 1)) for L in LEVELS}
    errors = {L: [losses[f"loss of {L:g} on 3"][0] for losses in found] for L in LEVELS}
    linear: Any = {"xscale": "linear", "yscale": "linear"}

    def lines(x: Any, y: dict[float, Any]) -> tuple[Series, ...]:
        return tuple(Series(label=f"$L = {L:g}$", x=tuple(map(float, x)), y=tuple(map(float, y[L]))) for L in LEVELS)

    functions = {L: L * np.cos(angles) for L in LEVELS}
    return Figure(
        caption=r"""Functions of three Lipschitz constants along a great circle; the attention at their optimal $w$ ($d = 3$, $n = 10^4$),
        relative to a token at the query; the error on $L = 3$ against $n$ of the $w$ that is tuned to each $L$, at every $n$.""",
        alt="Three functions, three attention windows, and error curves against context length.",
        panels=(
            Panel(title="functions", xlabel="angle", ylabel="$f$", series=lines(angles, functions), **linear),
            Panel(
                title="windows",
                xlabel="angle to the query",
                ylabel="attention",
                series=lines(angles, windows),
                **linear,
            ),
            Panel(title="error on $L = 3$", xlabel="$n$", ylabel="loss", series=lines(LENGTHS, errors)),
        ),
    )


TERMS_BY_W = at(tradeoff, exact=at(terms_by_w, **SIZE), sampled=at(sampled_curve, contexts=CONTEXTS, **SIZE))
