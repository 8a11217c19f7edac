r"""Pictures and tables of the theorems on softmax attention."""

from __future__ import annotations

from typing import Any

from lipverify.claims import Figure, Panel, Series, at, draw


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
