r"""Pictures and tables of the theorems on softmax attention."""

from __future__ import annotations

from typing import Any

import numpy as np

from lipverify.checks.softmax.linear_floor import OFFSET
from lipverify.claims import Band, Figure, HeatMap, Panel, Series, at, draw
from lipverify.claims.ledger.symbols import said

Value = tuple[float, float]


# Classification
def ladder_curves(**found: dict[str, Any]) -> Figure:
    """The optimal w along ladders of class probabilities."""
    against = next(iter(found.values()))["against"]
    series = tuple(
        Series(
            label=name.replace("_", " "),
            x=tuple(ladder["x"]),
            y=tuple(w for w, _ in ladder["windows"]),
            error=tuple(error for _, error in ladder["windows"]),
            style="errorbars",
        )
        for name, ladder in found.items()
    )
    panel = Panel(
        title="optimal window", xlabel=against, ylabel="$w^*$", xscale="linear", yscale="linear", series=series
    )
    return Figure(caption=f"$w^*$ against {against}.", alt=f"Optimal window against {against}.", panels=(panel,))


def along(windows: Any, *ladders: str, **where: Any) -> Any:
    """The figure of some ladders at d = 3, n = 64, each under its name without the comma."""
    names = {name.replace(" ", "_").replace(",", ""): name for name in ladders}
    return draw(ladder_curves, **{key: at(windows, ladder=name, d=3, n=64, **where) for key, name in names.items()})


# Training
def along_training(title: str, ylabel: str, steps: list[float], curves: dict[str, list[Value]]) -> Panel:
    """Means over runs with their intervals against steps."""
    series = tuple(
        Series(
            label=label,
            x=tuple(steps),
            y=tuple(mean for mean, _ in curve),
            error=tuple(min(error, 0.9 * mean) for mean, error in curve),  # a logarithmic axis has no 0
            style="errorbars",
        )
        for label, curve in curves.items()
    )
    return Panel(title=title, xlabel="steps", ylabel=ylabel, xscale="linear", series=series)


def block_shares(one: Any, other: Any) -> Figure:
    """The row's and the column's share of |M| against steps, a panel for each recipe."""
    panels = tuple(
        along_training(
            title,
            r"share of $\|\mathbf{M}\|_2$",
            found["steps"],
            {f"$|{name}|$": curve for name, curve in found["curves"].items()},
        )
        for title, found in (("first recipe", one), ("second recipe", other))
    )
    caption = r"""The row $r$ that multiplies labels and the column $u$ that multiplies the query's empty slot, as shares of
        $\|\mathbf{M}\|_2$: means over runs with 99 % intervals."""
    return Figure(caption=caption, alt="Row and column of the trained product against steps.", panels=panels)


def norms_in_training(gd: Any, adam: Any) -> Figure:
    """|M| against steps for each L, a panel for each optimiser."""
    panels = tuple(
        along_training(
            title,
            r"$\|\mathbf{M}\|_2$",
            found["steps"],
            {f"$L = {L}$": curve for L, curve in found["norms"].items()},
        )
        for title, found in (("gradient descent", gd), ("Adam", adam))
    )
    caption = (
        r"The spectral norm of $\mathbf{M}$ during training by Lipschitz constant: means over runs with 99 % intervals."
    )
    return Figure(caption=caption, alt="Norm of M against steps for several L.", panels=panels)


# Low rank
def beside_aligned(best: dict[str, Any], found: dict[str, Any]) -> Figure:
    """M* over all symmetric matrices beside the best c BB^T, at d = 4 and k = 2."""
    aligned = np.diag([best["c"][0]] * 2 + [0.0] * 2).tolist()
    named = {r"$\mathbf{M}^*$": found["M"], r"$c \mathbf{B} \mathbf{B}^\top$": aligned}
    return Figure(
        caption=r"""The minimiser over all symmetric matrices on sampled contexts, as it was found, beside the best $c \mathbf{B}
        \mathbf{B}^\top$ by the exact reduction; $d = 4$, $k = 2$, and $\mathbf{B}$ the first two axes.""",
        alt="The sampled minimiser beside c BB^T, entry by entry, at d = 4 and k = 2.",
        maps=tuple(HeatMap(title=title, values=tuple(map(tuple, values))) for title, values in named.items()),
        layer="front",
    )


def radii_by_noise(limit: Value, **curves: dict[str, list[float]]) -> Figure:
    """The largest radius against n at d = 2, k = 1, by noise."""
    noises = {"none": "0", "quarter": "1/4", "half": "1/2", "one": "1"}
    series = [
        Series(label=f"$\\sigma = {noises[name]}$", x=tuple(c["n"]), y=tuple(c["C"])) for name, c in curves.items()
    ]
    low, C = min(s.x[0] for s in series if s.x), 2 * limit[0]
    series.append(Series(label=r"$C_\infty$", x=(low, max(s.x[-1] for s in series if s.x)), y=(C, C), style="dashed"))
    band = Band(label=r"$\mathbf{M}^* = c \mathbf{B} \mathbf{B}^\top$ at every $n$ that was measured", high=C)
    panel = Panel(
        title="$d = 2$, $k = 1$",
        xlabel="$n$",
        ylabel=r"$C_{\max}$",
        yscale="linear",
        series=tuple(series),
        bands=(band,),
    )
    caption = r"""The largest radius $C$ of the ball for which the minimiser has no spurious part, on the sphere, against $n$. Below its
        curve a problem has $\mathbf{M}^* = c \mathbf{B} \mathbf{B}^\top$, above it $c'^* \neq 0$; to the left of where a curve begins no
        ball up to $C = 4 d$ fails. Dashed: the limit $n \to \infty$, the same for every $\sigma$."""
    return Figure(caption=caption, alt="Largest radius of the ball without a spurious part against n.", panels=(panel,))


def forgetting(found: dict[str, list[float]]) -> Figure:
    """Both least losses against n, and the share of the spurious part."""
    n, columns = tuple(found["n"]), {name: tuple(values) for name, values in found.items()}
    aligned = Series(label=r"best $c \mathbf{B} \mathbf{B}^\top$", x=n, y=columns["aligned"], style="dashed")
    any_of = Series(label=r"$\mathbf{M}^*$, $C = 8$", x=n, y=columns["loss"])
    share = Series(label="$c'^* / c^*$", x=n, y=columns["ratio"], style="points")
    left = Panel(
        title=r"least loss, $d = 2$, $k = 1$, $\sigma = 0$", xlabel="$n$", ylabel="loss", series=(aligned, any_of)
    )
    right = Panel(
        title="spurious over relevant part", xlabel="$n$", ylabel="$c'^* / c^*$", yscale="linear", series=(share,)
    )
    caption = r"""Without noise on the sphere, in the ball of radius 8. Left: the least loss of all $c \mathbf{B} \mathbf{B}^\top$ stays
        above a constant as $n$ grows, that of $\mathbf{M}^*$ does not. Right: the share of $\mathbf{M}^*$ across $\mathbf{B}$ is 0 up to
        $n = 8$, and then grows with $n$."""
    return Figure(
        caption=caption, alt="Least losses and spurious share of the optimal matrix against n.", panels=(left, right)
    )


def learned(family: str, attention: str, **found: dict[str, Any]) -> Figure:
    """rho and the test error against steps in every setting; for linear attention also the error of predicting 0."""
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
                lines.append(
                    Series(label=f"{words[:-4]}, predicting 0", x=(0.0, 1.0), y=(run["nothing"],) * 2, style="dashed")
                )
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
    caption = rf"""{attention.capitalize()} attention on the {family} family: the spurious over the relevant block of $\mathbf{{M}}$, and
        the error on held-out contexts, against the share of the steps taken; means over runs with 99 % intervals."""
    return Figure(
        caption=caption, alt=f"rho and test error against steps, {attention}, {family}.", panels=tuple(panels)
    )


# Linear attention
def with_and_without_floor(law: str, reading: str, two: dict[str, Any], five: dict[str, Any]) -> Figure:
    """Both losses against n: the one with its floor, and the one without."""
    styles: tuple[tuple[str, Any], ...] = (("linear", "line"), ("softmax", "dashed"))
    lines = [
        Series(label=f"{kind}, $d = {d}$", x=tuple(found["n"]), y=tuple(found[kind]), style=style)
        for d, found in ((2, two), (5, five))
        for kind, style in styles
    ]
    panel = Panel(
        title=f"least loss, {said('law', law)}, $L = \\sigma = 1$", xlabel="$n$", ylabel="loss", series=tuple(lines)
    )
    caption = f"""The least loss of linear attention over all matrices (closed form) and that of softmax attention (exact, at $w^*$)
        against $n$; {OFFSET[reading]}."""
    return Figure(caption=caption, alt=f"Least losses against n, {said('law', law)}, {reading}.", panels=(panel,))
