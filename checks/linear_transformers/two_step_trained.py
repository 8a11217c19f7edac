r"""The two steps of omega_xy in a trained diagonal model, and what every other weight does there, layer by layer."""

from __future__ import annotations

from functools import partial
from typing import Any

from checks._running import run_file
from checks.linear_transformers._identities import NOTHING, REBUTTAL, number_cell
from checks.linear_transformers._trained import LAYERS, NOISE, D, N, diagonal_model
from lipverify.claims.claim import CellPlan, Claim, Task
from lipverify.claims.figure import Figure, Panel, Series
from lipverify.claims.ledger import Table
from lipverify.claims.linear_transformers.effects import Contributions
from lipverify.claims.registry import Profile
from lipverify.claims.verdict import Allowed
from lipverify.linear_transformer.theory.contribution import WEIGHTS

NAMES: dict[str, str] = {name: rf"$\omega_{{{name}}}$" for name in WEIGHTS}


def claims(profile: Profile) -> tuple[Claim, ...]:
    """One claim, with the contribution of each weight."""
    return (_trained(profile),)


def _trained(profile: Profile) -> Claim:
    task = diagonal_model(profile)
    return Claim(
        id="lt.two-step/trained",
        title="The same in a trained diagonal model, weight by weight and layer by layer",
        statement=r"\mathrm{RMS}\, \Delta \hat{y}_t^{l+1} = 0 < \mathrm{RMS}\, \Delta \hat{y}_t^{l+2} \quad \text{for } \omega_{xy}^l \to 0",
        source=REBUTTAL,
        assumptions=(
            f"$d = {D}$, $n = {N}$, $\\sigma \\sim \\mathrm{{Unif}}[0, {NOISE.sigma_max:g}]$, a diagonal model with four weights a layer that was trained on it",
            "root mean squares over fresh contexts, and over queries $x_t \\sim N(0, I)$ exactly",
        ),
        claimed="0 after one layer, more after two",
        control="0 after two layers; more than 0 after one",
        expected="supported",
        cells=tuple(cell for layer in range(LAYERS - 1) for cell in _trained_cells(task, layer)),
        summary=lambda results: _worth(results[task.address]),
        figures=lambda results: _figures(results[task.address]),
        tables=lambda results: (_cost_table(results[task.address]),),
        finding=lambda results: _finding(results[task.address]),
    )


def _trained_cells(task: Task, layer: int) -> tuple[CellPlan, CellPlan]:
    """RMS of the change of the prediction, over that of the prediction, one layer and two layers after."""
    xy = WEIGHTS.index("xy")

    def read(after: int, found: Contributions) -> tuple[float, float]:
        place = layer + after
        unit = found.prediction[place]
        return found.removed[layer][xy][place] / unit, found.removed_error[layer][xy][place] / unit

    where: dict[str, Any] = {"layer": layer + 1, "layers": LAYERS}
    quantity = "change of the prediction without $\\omega_{xy}$, over the prediction"
    return (
        number_cell(
            {**where, "after": 1},
            task,
            quantity,
            partial(read, 1),
            ("= 0", NOTHING),
            Allowed(low=0.0, open=True),
            method="montecarlo",
        ),
        number_cell(
            {**where, "after": 2},
            task,
            quantity,
            partial(read, 2),
            ("> 0", Allowed(low=0.0, open=True)),
            NOTHING,
            method="montecarlo",
        ),
    )


def _worth(found: Contributions) -> str:
    """What the largest of the omega_xy is worth."""
    xy = WEIGHTS.index("xy")
    cost, error = max(row[xy] for row in found.cost[:-1])
    return f"without one ω_xy the loss grows by up to {cost:.2g} ± {error:.1g}, of {found.loss[0]:.2g}"


def _finding(found: Contributions) -> str:
    xy = WEIGHTS.index("xy")
    rows = "; ".join(
        f"layer {k + 1}: {row[xy][0]:.2g} $\\pm$ {row[xy][1]:.1g}" for k, row in enumerate(found.cost[:-1])
    )
    return (
        "Each weight of each layer is set to zero in turn, on the same fresh contexts: the effect of every single weight can be isolated although all of them work at once. $\\omega_{xx}$ and $\\omega_{xy}$ of a layer change nothing "
        "in the prediction right after it, $\\omega_{yx}$ and, from the second layer on, $\\omega_{yy}$ do; and $\\omega_{xx}$, $\\omega_{xy}$ of the last layer change nothing at all. "
        f"What removing $\\omega_{{xy}}$ alone adds to the loss $\\frac{{1}}{{2}} \\mathbb{{E}} \\|w - w^*\\|^2 = {found.loss[0]:.3g}$: {rows}. "
        "The prediction itself is the sum of what $\\omega_{yx}$ and $\\omega_{yy}$ of each layer add to it, exactly (last panel)."
    )


def _cost_table(found: Contributions) -> Table:
    """By how much the loss grows without each weight."""
    rows = tuple(
        (str(k + 1), *(f"{cost:.3g} ± {error:.1g}" for cost, error in row)) for k, row in enumerate(found.cost)
    )
    return Table(
        caption="By how much the loss grows on fresh contexts when one weight is set to zero (95 % half-widths).",
        header=("layer", *NAMES.values()),
        rows=rows,
    )


def _figures(found: Contributions) -> tuple[Figure, ...]:
    """For each layer but the last, how the prediction changes later when one of its weights is set to zero; the direct parts."""
    depth = len(found.model)
    panels = tuple(_removed_panel(found, layer) for layer in range(depth - 1))
    layers = tuple(float(k + 1) for k in range(depth))
    direct = Panel(
        title="added directly",
        xlabel="layer",
        ylabel="RMS",
        xscale="linear",
        yscale="linear",
        series=tuple(
            Series(label=NAMES[name], x=layers, y=tuple(pair[i] for pair in found.direct), style="points")
            for i, name in enumerate(("yx", "yy"))
        ),
    )
    caption = (
        "A trained diagonal model. First panels: the root mean square change of the prediction after each layer when one weight of the layer "
        "in the title is set to zero, over that of the prediction; where a weight has no point the change is exactly zero. Last panel: the prediction split "
        "exactly into what $\\omega_{yx}$ and $\\omega_{yy}$ of each layer add to it."
    )
    alt = "Effect of each weight against the number of layers passed; omega_xx and omega_xy appear one layer later than the others."
    return (Figure(caption=caption, alt=alt, panels=(*panels, direct)),)


def _removed_panel(found: Contributions, layer: int) -> Panel:
    """The layers after which something has changed, for each weight of one layer."""
    series = []
    for i, name in enumerate(WEIGHTS):
        values = [(float(k), v / found.prediction[k]) for k, v in enumerate(found.removed[layer][i]) if k > 0 and v > 0]
        if values:
            x, y = zip(*values, strict=True)
            series.append(Series(label=NAMES[name], x=x, y=y, style="points"))
    return Panel(
        title=f"weights of layer {layer + 1}",
        xlabel="after layer",
        ylabel="relative change",
        xscale="linear",
        series=tuple(series),
    )


if __name__ == "__main__":
    run_file(__file__)
