"""Figures, tables and sentences from the measurements of linear transformers."""

from __future__ import annotations

import math
from typing import Any

from lipverify.checks.linear_transformers.diagonal_shares import shares_and_starts
from lipverify.checks.linear_transformers.independent_tables import DEPTHS
from lipverify.checks.linear_transformers.noise_levels import CONTEXTS, FEWEST, LAYERS, LEVELS, at_levels
from lipverify.checks.linear_transformers.other_sizes import DRAWN, EVERY, RIDGES, Logarithm, quotients
from lipverify.checks.linear_transformers.quantities import NOISY, named, printed
from lipverify.checks.linear_transformers.rare_losses import (
    BEYOND,
    DEEP,
    FREE,
    RARE_DEPTHS,
    RARE_FAMILIES,
    RAREST,
    SHOWING,
)
from lipverify.checks.linear_transformers.ridge_baselines import least
from lipverify.claims import Figure, HeatMap, Panel, Series, Table, at
from lipverify.linear_transformer import regression_named

# Theorem 5.1: GD++ is a second-order method


def layers_table(minimax: dict[str, list[int]], universal: dict[str, list[int]]) -> Table:
    """Whole layers by condition number and accuracy."""
    kinds = {"best for $\\kappa$": minimax, "for every $\\kappa$": universal}
    return Table(
        caption="Layers that GD++ needs, by condition number and accuracy.",
        header=("weights", "$\\epsilon$", *(f"$\\kappa = 10^{power}$" for power in range(1, 7))),
        rows=tuple(
            (weights, f"$10^{{-{decades}}}$", *map(str, layers))
            for weights, counts in kinds.items()
            for decades, layers in counts.items()
        ),
    )


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


def without_terms(**found: Any) -> str:
    """The growth of the loss without each term; the measurements are named by term and training."""
    rows = []
    for weight in WEIGHTS:
        logs = [value for name, (value, error, *_) in found.items() if name.split()[0] == weight and error < math.inf]
        rows.append(f"{symbol(weight)}: {', '.join(f'{math.exp(log):.3g}' for log in logs)}")
    return f"Loss without a term divided by the loss, by training: {'; '.join(rows)}."


def cost_table(found: dict[str, Any]) -> Table:
    """The growth of the loss without each weight."""
    return Table(
        caption=f"Growth of the loss, {found['loss'][0]:.3g} on fresh contexts, when one weight is set to zero (95 % half-widths; infinite where a few contexts rule the mean).",
        header=("layer", *map(symbol, WEIGHTS)),
        rows=tuple(
            (str(layer), *(f"{cost:.3g} ± {error:.1g}" for cost, error in costs))
            for layer, costs in enumerate(found["cost"], 1)
        ),
    )


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

SAME = r"""With one query a sequence, the variance of a printed loss is that of $\frac{1}{2}(\langle w - w^*, x_t \rangle^2 - \langle
    w_{\mathrm{ridge}} - w^*, x_t \rangle^2)$: with $c = w - w_{\mathrm{ridge}}$ and $V$ the variance of $w^*$ given the context and
    $\sigma$, the mean of $\frac{3}{4} \|c\|^4 + 2 c^\top V c + \|c\|^2 \mathrm{tr} V$ minus the squared loss. That is 1.5 % of the entry
    at $\sigma_{\max} = 5$, and the 0.344 printed there for 3 to 7 layers is more than three of these errors below the bound; no other
    column is two below it."""
OWN = """If the loss of ridge regression with the true variance was measured on other sequences than the model's, a printed number carries
    the noise of both, three times as much, and 0.344 is about one standard error below the bound."""


def below_the_bound(**columns: dict[str, Any]) -> str:
    """The entries below ridge regression with the best constant, and their distance from it."""
    places = []
    for noise, found in columns.items():
        exact, error = found["exact"][0], found["errors"]["same-sequences"]
        depths = [str(k) for k in range(1, 8) if sum(printed(noise, "GD++", k)) < exact]
        if depths:
            low, distance = least(noise).value, (exact - least(noise).value) / error
            places.append(
                f"{named(noise)}: {low:g} at least ({', '.join(depths)} layers) where the bound is {exact:.5f}, {distance:.1f} standard errors below"
            )
    return f"""Below the bound even when rounded up: {"; ".join(places)}. The exact bound is an integral over the mean density of Wishart
        eigenvalues, known to ten digits. Standard errors are those of a mean over 100,000 sequences with one query each."""


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


def optimum_table(**columns: list[Any]) -> Table:
    """Printed entries and the exact optimum."""
    rows = [
        (str(k), *(f"{printed(noise, 'GD++', k).value:.3g} / {found[k - 1]['loss']['value']:.3g}" for noise, found in columns.items()))
        for k in (1, 2, 3)
    ]  # fmt: skip
    return Table(
        caption="""Printed GD++ / the minimal loss over the eigenvalues that 100,000 contexts show, by layers and noise. If the printed
              value is larger by more than its error, other weights of the same form have a smaller loss.""",
        header=("layers", *map(named, columns)),
        rows=tuple(rows),
    )


def likelihood(reading: str, **columns: dict[str, Any]) -> str:
    """The probability of a reading of the standard errors, from the printed ConstRR themselves."""
    from scipy.special import chdtr

    squares = 0.0
    for noise, found in columns.items():
        squares += ((printed(noise, "ConstRR").value - found["exact"][0]) / found["errors"][reading]) ** 2
    below = float(chdtr(len(NOISY), squares))
    return f"""{SAME if reading == "same-sequences" else OWN} The {len(NOISY)} printed ConstRR distinguish the readings: the sum of their
        squared distances from the exact losses, in these standard errors, is {squares:.2g}, where noise gives {len(NOISY)} on average and
        a smaller sum with probability {below:.2g}."""


def tuned_constants(**columns: dict[str, Any]) -> str:
    """The tuned constants and the floor."""
    rows = [
        f"{named(noise)}: $\\lambda = {regression_named(noise).noise.second_moment:.4g}$, cap {found['cap']:.3g} and factor {found['factor']:.3g}, Bayes {found['floor'][0]:.4f} ({found['floor'][1]:.1g})"
        for noise, found in columns.items()
    ]
    return rf"""The best constant is $\mathbb{{E}} \sigma^2$ exactly. Constants, and the loss of the estimator that knows only the law
        of $\sigma$, which is the floor for every model: {"; ".join(rows)}."""


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


def by_level(found: dict[str, Any]) -> str:
    """The losses level by level."""
    rows = zip(LEVELS, found[f"DIAG {LAYERS}"], found[f"FULL {LAYERS}"], found["TunedRR"], strict=True)
    return (
        "; ".join(
            f"$\\sigma = {level:g}$: DIAG {diag:.3g}, FULL {full:.3g}, TunedRR {tuned:.3g}"
            for level, diag, full, tuned in rows
        )
        + "."
    )


CURVES = at(curves_by_level, **{noise: at(at_levels, noise=noise, contexts=drawn) for noise, drawn in CONTEXTS.items()})
AT_EACH_LEVEL = at(by_level, found=at(at_levels, noise="levels-1-3", contexts=CONTEXTS["levels-1-3"]))


# Section 6: rare contexts


SHOWN = 6
"""The logarithm of the largest quotient in the figure."""


def at_rarest_by_depth(noise: str, found: Any) -> str:
    """The losses of both where one context in 10^9 is, by depth."""
    said = []
    for k in DEEP:
        safe, unsafe = (
            max(each[-1] for each in found[RAREST][f"{family}-{k}"] or [(math.nan,)]) for family in RARE_FAMILIES
        )
        loses = "more than a double holds" if unsafe >= BEYOND else f"10^{{{unsafe:.1f}}}"
        said.append(f"{k} layers: DIAG {f'${loses}$' if unsafe < BEYOND else loses}, SAFE {10**safe:.2g}")
    return (
        f"""At {named(noise)}, on contexts as rare as one in $10^9$, divided by the loss of the prediction 0 there, the worst of three
              trainings: {'; '.join(said)}."""
    )  # fmt: skip


def exploding_by_depth(noise: str, found: Any) -> str:
    """The shares by depth."""
    said = []
    for k in DEPTHS[4:]:
        (led, width, _), (free, error, why) = (found[f"{family}-{k}"] for family in FREE)
        said.append(f"{k} layers: {why or f'FULL {free:.2g} ± {error:.1g}, SAFEFULL {led:.2g} ± {width:.1g}'}")
    return (
        f"At {named(noise)}, shares of contexts as rare as one in $10^{SHOWING}$ that explode: {'; '.join(said)}. A polynomial of "
        "degree $3^L$ in all entries of the moments explodes in pockets, and a training mends those that it sees: fewer are left, not none."
    )  # fmt: skip


def rareness(found: Any) -> Figure:
    """Loss against rareness, for the deepest models."""
    series = []
    for family in RARE_FAMILIES:
        for k in RARE_DEPTHS:
            each = [max((loss[-1] for loss in decade[f"{family}-{k}"]), default=math.nan) for decade in found]
            shown = [(10.0**-i, 10.0 ** min(value, SHOWN)) for i, value in enumerate(each) if not math.isnan(value)]
            if shown:
                x, y = zip(*shown, strict=True)
                series.append(
                    Series(label=f"{family}, {k} layers", x=x, y=y, style="dashed" if family == "DIAG" else "line")
                )
    ends = (10.0**-RAREST, 1.0)
    series.append(Series(label="prediction 0", x=ends, y=(1.0, 1.0), style="dashed"))
    panel = Panel(
        title="loss on rare contexts",
        xlabel="probability of contexts so large",
        ylabel="relative loss",
        series=tuple(series),
    )
    return Figure(
        caption=f"""Mean loss of contexts as large as the given share of all, divided by the loss of the prediction 0 there; losses beyond
              $10^{{{SHOWN}}}$ are drawn at that value.""",
        alt="Curves of DIAG leave the picture where contexts are rare; those of SAFE stay far below 1.",
        panels=(panel,),
    )  # fmt: skip


# Section 6 and rebuttal 3: matrices near the diagonal


def largest_shares(**found: Any) -> str:
    """The largest shares of each training, and its start."""
    said = []
    for name, (shares, starts) in found.items():
        if not shares["ranked"]:
            continue
        each = ", ".join(f"{share:.2g} (${matrix}$)" for share, matrix, _ in shares["ranked"][:3])
        said.append(
            f"{name}: {each}; in the column $xy$ of the first {shares['ranked'][0][2]:.2g}; from {' from '.join(starts)}"
        )
    return f"""The largest off-diagonal shares, by law of the noise, depth and training, and the starts of the best trainings.
          {". ".join(said)}."""


def shares_of(*depths: int, noises: tuple[str, ...], trainings: tuple[int, ...]) -> Any:
    """The sentence on the models of these depths."""
    models = [(noise, k, training) for noise in noises for k in depths for training in trainings]
    return at(
        largest_shares,
        **{
            f"{noise}, {k} layers, training {training}": at(shares_and_starts, noise=noise, layers=k, training=training)
            for noise, k, training in models
        },
    )


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


# Table 1 at other sizes


def size_and_noise(noise: str) -> str:
    """A column in a sentence."""
    here = regression_named(noise)
    return f"$d = {here.d}$, $n = {here.n}$, ${here.noise.latex}$"


def quotient_in_words(value: float, error: float, why: str) -> str:
    """A quotient with its error."""
    quotient = math.exp(value)
    return f"{quotient:.3g} ± {quotient * math.expm1(error):.1g}" if not why else f"{quotient:.3g} (?)"


def quotients_by_size(**columns: dict[str, Logarithm]) -> Table:
    """All quotients by column, family and depth."""
    others = (*RIDGES, "a layer less", "FULL")
    rows = []
    for noise, found in columns.items():
        models = dict.fromkeys(key.partition(" over ")[0] for key in found)
        for model in models:
            cells = (found.get(f"{model} over {other}") for other in others)
            rows.append((size_and_noise(noise), model, *(quotient_in_words(*cell) if cell else "–" for cell in cells)))
    return Table(
        caption="Losses of trained models, layers behind the name, over those of ridge, of the same family with a layer less, and of FULL; errors cover "
        "contexts and three trainings, ? where trainings are too far apart or rare contexts rule.",
        layer="evidence",
        header=("size and noise", "model", *others),
        rows=tuple(rows),
    )  # fmt: skip


def five_layers(**columns: dict[str, Logarithm]) -> str:
    """DIAG of five layers compared with the best ridge regressions."""
    words = [
        f"{size_and_noise(noise)}: {quotient_in_words(*found['DIAG 5 over TunedRR'])} of TunedRR, {quotient_in_words(*found['DIAG 5 over AdaRR'])} of AdaRR"
        for noise, found in columns.items()
    ]
    return f"DIAG with five layers loses, at {'; at '.join(words)}."


SIZES = {noise: at(quotients, noise=noise, **DRAWN) for noise in EVERY}
ALL_QUOTIENTS, AT_FIVE = at(quotients_by_size, **SIZES), at(five_layers, **SIZES)
