"""Figures, tables and sentences from the measurements of linear transformers."""

from __future__ import annotations

from typing import Any

from lipverify.checks.linear_transformers.noise_levels import CONTEXTS, FEWEST, LAYERS, LEVELS, at_levels
from lipverify.checks.linear_transformers.quantities import named, printed
from lipverify.checks.linear_transformers.ridge_baselines import least
from lipverify.claims import Figure, HeatMap, Panel, Series, Table, at

# Theorem 5.2: two layers adapt to two noise levels


def shrinkage() -> Figure:
    """The line c (1 + v s) and the curve 1 / (1 + s), for two pairs of levels."""
    from lipverify.checks.linear_transformers.two_levels import weights

    s = tuple(k / 20 for k in range(221))
    series = [Series(label="ridge, $1/(1 + \\sigma^2)$", x=s, y=tuple(1 / (1 + x) for x in s))]
    for pair in ((0.5, 1.0), (1.0, 3.0)):
        c, v = weights(pair[0] ** 2, pair[1] ** 2)
        line, ends = [(x, c * (1 + v * x)) for x in s if c * (1 + v * x) > -0.1], [x**2 for x in pair]
        label = f"two layers for $\\sigma = {pair[0]:g}, {pair[1]:g}$"
        series.append(Series(label=label, x=tuple(x for x, _ in line), y=tuple(y for _, y in line), style="dashed"))
        series.append(Series(label="", x=tuple(ends), y=tuple(1 / (1 + x) for x in ends), style="points"))
    panel = Panel(title=r"factor on $\alpha$ in the limit", xlabel="$\\sigma^2$", ylabel="$w / \\alpha$", xscale="linear", yscale="linear",
                  series=tuple(series))  # fmt: skip
    caption = r"""The factor of two layers on $\alpha$ is a line in $\sigma^2$; that of ridge regression is a convex curve, and both meet
          at the two levels."""
    return Figure(caption=caption, alt="Shrinkage against the noise variance.", panels=(panel,))


# Section 5: the effect of each weight of a trained diagonal model

WEIGHTS = ("xx", "xy", "yx", "yy")


def symbol(weight: str) -> str:
    """A weight of a diagonal layer in a sentence."""
    return rf"$\omega_{{{weight}}}$"


def effects(found: dict[str, Any]) -> Figure:
    """For each layer but the last, the later change of the prediction without one of its weights; and the direct parts."""
    depth, panels = len(found["removed"]), []
    for layer, changes in enumerate(found["removed"][:-1], 1):
        series = []
        for weight, change in zip(WEIGHTS, changes, strict=True):
            points = [(k, value / found["prediction"][k]) for k, value in enumerate(change) if k > 0 and value > 0]
            if points:
                x, y = zip(*points, strict=True)
                series.append(Series(label=symbol(weight), x=tuple(map(float, x)), y=y, style="points"))
        panels.append(
            Panel(title=f"weights of layer {layer}", xlabel="after layer", ylabel="relative change", xscale="linear", series=tuple(series))
        )  # fmt: skip
    after = tuple(map(float, range(1, depth + 1)))
    direct = tuple(
        Series(label=symbol(weight), x=after, y=tuple(values), style="points")
        for weight, values in zip(("yx", "yy"), found["direct"], strict=True)
    )
    panels.append(
        Panel(title="added directly", xlabel="layer", ylabel="RMS", xscale="linear", yscale="linear", series=direct)
    )
    return Figure(
        caption=r"""A trained diagonal model. First panels: the root mean square change of the prediction after each layer when one weight
              of the layer in the title is set to zero, divided by that of the prediction; if a weight has no point the change is exactly
              zero. Last panel: the prediction split exactly into the additions of $\omega_{yx}$ and $\omega_{yy}$ of each layer.""",
        alt="Effect of each weight against the number of layers passed; omega_xx and omega_xy appear one layer later than the others.",
        panels=tuple(panels),
    )


# GD++ cannot beat ridge regression with the best constant


def bound_table(**columns: dict[str, Any]) -> Table:
    """The smallest entry of each column, and the bound."""
    return Table(
        caption="""The exact loss of ridge regression with the best constant, the printed ConstRR, the smallest printed GD++ entry, the
              standard error of a printed number, and the distance of the smallest entry from the bound in standard errors.""",
        header=("noise", "bound", "ConstRR", "least GD++", "s.e.", "distance"),
        rows=tuple(
            (named(noise), f"{found['exact'][0]:.5f}", f"{printed(noise, 'ConstRR').value:g}", f"{least(noise).value:g}",
             f"{found['errors']['same-sequences']:.4f}", f"{found['same-sequences'][0]:+.1f}")
            for noise, found in columns.items()
        ),
    )  # fmt: skip


# Section 6: losses at each level of the noise


def curves_by_level(**laws: dict[str, Any]) -> Figure:
    """The loss at each level by layers, for each law of training."""
    panels = []
    for noise, found in laws.items():
        for family in ("DIAG", "FULL"):
            names = {f"{family} {layers}": f"{layers} layers" for layers in range(FEWEST, LAYERS + 1)} | {
                "TunedRR": "TunedRR"
            }
            series = []
            for name, label in names.items():
                points = [
                    (x, loss) for x, loss in zip(LEVELS, found[name], strict=True) if loss > 1e-9
                ]  # a logarithmic axis has no 0
                x, y = zip(*points, strict=True)
                series.append(Series(label=label, x=x, y=y, style="dashed" if name == "TunedRR" else "line"))
            title = f"{family}, {named(noise)}"
            panels.append(
                Panel(title=title, xlabel=r"$\sigma$", ylabel="adjusted loss", xscale="linear", series=tuple(series))
            )
    return Figure(
        panels=tuple(panels),
        caption=r"""Adjusted loss at each noise level by layers; dashed: TunedRR, tuned on the law of training, which has loss 0 at
              $\sigma = 0$.""",
        alt="Losses are lowest at or inside the levels of training and rise outside, steeply beyond the largest.",
    )  # fmt: skip


CURVES = at(curves_by_level, **{noise: at(at_levels, noise=noise, contexts=drawn) for noise, drawn in CONTEXTS.items()})


# Section 6 and rebuttal 3: matrices near the diagonal


def matrix_maps(found: list[Any]) -> Figure:
    """Heat maps of P and Q by layer."""
    named = [(f"${name}_{layer}$", pair[k]) for k, name in enumerate("PQ") for layer, pair in enumerate(found, 1)]
    return Figure(
        maps=tuple(HeatMap(title=title, values=tuple(map(tuple, matrix))) for title, matrix in named),
        across=len(found),
        caption=r"FULL with 4 layers, $\sigma \in \{1, 3\}$: P and Q by layer in rescaled units, each over its largest entry; the label is the last row and "
        "column. Of the last P only the row that is read.",
        alt="Most matrices are diagonal; one P has a strong last column.",
    )  # fmt: skip
