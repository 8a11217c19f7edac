r"""Pictures and tables of the theorems on softmax attention."""

from __future__ import annotations

from typing import Any

from lipverify.claims import Figure, Panel, Series, at, draw

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
