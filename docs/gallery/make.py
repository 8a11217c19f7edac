"""Makes the pictures of the gallery: `python docs/gallery/make.py [NAME ...] [--out FOLDER]`, all of them by default.

A picture is a function that returns a Matplotlib figure; the helpers that pictures share come first. A picture uses the
public functions of lipverify and the trained models that come with it, and no result is typed in. Where a source gives
no sizes, those here make the effect visible.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

import lipverify as lv
from lipverify.checks.linear_transformers import contributions, noise_levels, plain_runs
from lipverify.checks.softmax import lowrank_training, norms
from lipverify.foundation.streams import normals
from lipverify.foundation.style import MARKERS, settings
from lipverify.linear_transformer import draw_contexts, evaluation
from lipverify.linear_transformer.gdplusplus.known import known_depth, known_model, known_optimum
from lipverify.linear_transformer.published import printed, regression_named
from lipverify.linear_transformer.training import protocol
from lipverify.linear_transformer.training.record import estimate
from lipverify.linear_transformer.training.witness import depths_of, witness
from lipverify.optimum.pretraining import Recipe
from lipverify.optimum.transfer import transfers

STYLE = {**settings(), "font.size": 8, "legend.fontsize": 7, "lines.markersize": 3.5}
"""The style of the reports, at the size of a page."""
L_VALUES = (1.0, 4.0, 12.0)
"""Lipschitz constants of the pictures on the circle: the paper's figure shows three and does not name them."""
NOISE = 0.3
"""Standard deviation of the labels' noise in the pictures of one constant and of the circle."""
SEED = 3
"""Seed of the tokens and of the labels' noise."""
WEIGHTS = ("ω_xx", "ω_xy", "ω_yx", "ω_yy")
"""The four weights of a layer of DIAG."""


def panels(columns: int, rows: int = 1, **options: Any) -> Any:
    """The axes of a new figure, as an array (rows, columns)."""
    figure = Figure(figsize=(7.2, 0.7 + 1.9 * rows), layout="constrained")
    return figure.subplots(rows, columns, squeeze=False, **options)


def labelled(axes: Any, x: str = "", *y: str) -> Figure:
    """The figure of these axes: x named below the last row, y to the left of each row, one legend above the panels."""
    for ax in axes[-1]:
        ax.set_xlabel(ax.get_xlabel() or x)
    for row, name in zip(axes, y, strict=True):
        row[0].set_ylabel(name)
    found = [pair for ax in axes.flat for pair in zip(*ax.get_legend_handles_labels(), strict=True)]
    lines = {name: line for line, name in reversed(found)}
    names = list(dict.fromkeys(name for _, name in found))
    columns = math.ceil(len(names) / math.ceil(len(names) / 6))
    axes[0, 0].figure.legend([lines[name] for name in names], names, loc="outside upper center", ncols=columns)
    return axes[0, 0].figure


def heat_maps(pairs: Mapping[str, Any]) -> Figure:
    """P above Q for each named pair (P, Q), each matrix over its largest entry."""
    axes = panels(len(pairs), 2)
    for column, (title, pair) in zip(axes.T, pairs.items(), strict=True):
        for ax, name, matrix in zip(column, "PQ", pair, strict=True):
            image = ax.imshow(matrix / np.abs(matrix).max(), cmap="RdBu_r", vmin=-1, vmax=1)
            ax.set(title=f"{name}, {title}", xticks=[], yticks=[])
            ax.spines[:].set_visible(False)
            ax.grid(visible=False)
    axes[0, 0].figure.colorbar(image, ax=axes, shrink=0.7)
    return axes[0, 0].figure


@dataclass(frozen=True)
class Circle:
    """One context: a function f(x) = cos(L <q, x>) on the circle, n tokens at some angles, and their noisy labels."""

    L: float
    n: int = 60

    @property
    def problem(self) -> lv.Problem:
        """The problem of which this is a context."""
        return lv.Problem(d=2, n=self.n, law=lv.Cosine(L=self.L), sigma=NOISE)

    @cached_property
    def tokens(self) -> Any:
        """The angles of the tokens, (n,)."""
        return np.sort(2 * np.pi * (np.arange(self.n) + normals(SEED, "gallery/angles", 0, (self.n,)) / 3) / self.n)

    @cached_property
    def labels(self) -> Any:
        """The labels of the tokens, (n,)."""
        return self.f(self.tokens) + NOISE * normals(SEED, "gallery/noise", 0, (self.n,))

    def f(self, angle: Any) -> Any:
        """The function at an angle."""
        return np.cos(self.L * np.cos(angle - 0.4))

    def weights(self, w: float, query: Any) -> Any:
        """The softmax weight of each token for each query, (queries, n): the scores are w <x_i, x>."""
        scores = np.exp(w * (np.cos(np.subtract.outer(query, self.tokens)) - 1))
        return scores / scores.sum(axis=1, keepdims=True)

    def draw(self, ax: Any, angle: Any) -> None:
        """Draw the labels as grey dots and f in black."""
        ax.plot(self.tokens, self.labels, ".", color="gray")
        ax.plot(angle, self.f(angle), "k", label="f")


def tuned_losses(laws: Mapping[Any, lv.Law], n: Sequence[int], d: int) -> dict[tuple[Any, Any], list[float]]:
    """The loss on one law of the w* of another, for each n, by the pair (tuned to, tested on)."""
    found = [transfers({name: lv.Problem(d=d, n=m, law=law, sigma=NOISE) for name, law in laws.items()}) for m in n]
    return {(a, b): [at[f"loss of {a} on {b}"][0] for at in found] for a in laws for b in laws}


def relative(terms: lv.LossTerms, exact: lv.LossTerms, term: str) -> tuple[Any, Any]:
    """The distance of "bias" or "noise" from its exact value, and the stated error of that distance, both relative."""
    value, reference = getattr(terms, term), getattr(exact, term)
    error = getattr(terms, f"{term}_error") + getattr(exact, f"{term}_error")
    return np.abs(value / reference - 1) + 1e-17, error / reference  # a distance of 0 is drawn at 1e-17


def trained_matrices(family: str) -> Any:
    """M of softmax attention along training, (run, record, 5, 5)."""
    recipe = Recipe(optimiser="gd", start=1.0, **lowrank_training.recipe_of(family, "softmax", "gd"))
    here, streams = lowrank_training.problem(family, "product"), [f"block/{family}/product/{k}" for k in range(8)]
    return recipe.runs(here, streams, every=recipe.steps // 10, seed=0)


def on_product(angle: Any) -> tuple[Any, Any]:
    """16 tokens on a product of the circle and the sphere, (16, 5), and a query at each angle of the circle."""
    tokens = normals(SEED, "gallery/tokens", 0, (16, 5))
    blocks = (tokens[:, :2], tokens[:, 2:])
    tokens = np.hstack([block / np.linalg.norm(block, axis=1, keepdims=True) for block in blocks])
    return tokens, np.column_stack([np.cos(angle), np.sin(angle), np.ones((len(angle), 3)) / 3**0.5])


def losses_by_depth(law: str) -> dict[str, list[float]]:
    """Losses of each form with 1, 2, ... layers: GD++ exactly, the first training of DIAG and FULL on 8192 contexts."""
    fresh = evaluation(draw_contexts(regression_named(law), 8192, SEED, f"gallery/{law}"))
    losses = {"GD++": [known_optimum(law, k).loss.value for k in range(1, known_depth(law) + 1)]}
    for family in ("DIAG", "FULL"):
        models = [witness(law, family, k).trained for k in depths_of(law, family)]
        losses[family] = [noise_levels.limited(fresh, each).mean() for each in models]
    return losses


def known_losses(law: str) -> dict[tuple[str, int], float]:
    """The loss of the best model known of each form and depth that was trained plainly, over 16 tables."""
    ends = plain_runs.endpoints(law, contexts=65_536, seed=0)
    models = protocol.runs(law).models
    return {(name, k): ends[f"{name} {k}"][0] / np.exp(ends[f"{name} {k} over known"][0]) for name, k in models}


def losses_at_levels(law: str, family: str) -> Iterator[tuple[int, list[float], list[float]]]:
    """For each depth, mean losses at `noise_levels.LEVELS`: the best plain training, and the best model known."""
    fresh = [noise_levels.fresh_at(law, level, 8192, SEED) for level in noise_levels.LEVELS]
    for layers in (k for name, k in protocol.runs(law).models if name == family):
        plain = protocol.runs(law).best(family, layers)
        best = (
            partial(estimate, known_model(law, layers))
            if family == "GD++"
            else plain_runs.best_known(law, family, layers)
        )
        yield layers, [at.losses(plain).mean() for at in fresh], [at.losses(best).mean() for at in fresh]


def window() -> Figure:
    """Three functions, the weights of attention for one query of each, and the error against n for each w*."""
    axes, angle, n = panels(3, 3, sharey="row"), np.linspace(0, 2 * np.pi, 400), (10, 30, 100, 300, 1000)
    losses = tuned_losses({L: lv.Cosine(L=L) for L in L_VALUES}, n, d=2)
    for (top, middle, bottom), L, color in zip(axes.T, L_VALUES, ("C0", "C1", "C2"), strict=True):
        here, best = Circle(L), lv.optimal_window(Circle(L).problem).w
        here.draw(top, angle)
        top.plot(angle, here.weights(best, angle) @ here.labels, f"{color}-")
        middle.plot(here.tokens, here.weights(best, [np.pi])[0], "o", color=color)
        middle.plot(here.tokens, np.cos(here.tokens - np.pi) / here.n, "x", color="gray", label="linear attention")
        for tuned, marker in zip(L_VALUES, MARKERS, strict=False):
            bottom.loglog(n, losses[tuned, L], f"{marker}-", label=f"softmax, w* of L = {tuned:g}")
        top.set(title=f"L = {L:g}: w* = {best:.1f}", xlabel="angle of x")
        middle.set(xlabel="angle of the token; query at π")
    return labelled(axes, "tokens n", "label, estimate", "attention weight", "mean squared error")


def prediction() -> Figure:
    """How |M| = w changes the prediction: w a tenth of the optimum, the optimum, and ten times it."""
    axes, angle = panels(3, sharey=True), np.linspace(0, 2 * np.pi, 400)
    for ax, L in zip(axes[0], L_VALUES, strict=True):
        here, best = Circle(L), lv.optimal_window(Circle(L).problem).w
        here.draw(ax, angle)
        for factor, name in ((0.1, "w*/10"), (1, "w*"), (10, "10 w*")):
            ax.plot(angle, here.weights(factor * best, angle) @ here.labels, label=f"estimate with {name}")
        ax.set_title(f"L = {L:g}")
    return labelled(axes, "angle of the query", "prediction")


def tradeoff() -> Figure:
    """Bias, noise and loss against w, exactly, with the sampled loss and the optimum."""
    axes, w, few = panels(3), np.geomspace(0.1, 100, 40), np.geomspace(0.3, 30, 5)
    for ax, d in zip(axes[0], (2, 3, 5), strict=True):
        here = lv.Problem(d=d, n=100, law=lv.ReLU(L=1.0), sigma=1.0)
        terms, best = lv.loss_terms(here, w), lv.optimal_window(here)
        sampled = lv.loss_terms(here, few, "montecarlo", contexts=20_000, seed=SEED)
        ax.loglog(w, np.transpose([terms.bias, terms.noise, terms.total]), label=["bias B", "noise N", "loss B + N"])
        ax.errorbar(few, sampled.total, sampled.total_error, fmt="k.", label="loss, sampled")
        ax.plot(best.w, best.loss, "k*", markersize=9, label="minimum, at w*")
        ax.set_title(f"d = {d}: w* = {best.w:.2f}")
    return labelled(axes, "w", "mean squared error")


def methods() -> Figure:
    """A second exact route and sampling: distance of each value from the exact one, and the stated errors."""
    axes, w = panels(2, sharey=True), np.geomspace(0.5, 50, 9)
    here = lv.Problem(d=3, n=100, law=lv.ReLU(L=1.0), sigma=1.0)
    sampled = lv.loss_terms(here, w, "montecarlo", contexts=20_000)
    for name, terms in {"zonal route": lv.loss_terms(here, w, route="zonal"), "20 000 contexts": sampled}.items():
        for ax, term in zip(axes[0], ("bias", "noise"), strict=True):
            distance, error = relative(terms, lv.loss_terms(here, w), term)
            (line,) = ax.loglog(w, distance, "o", label=f"{name}: distance")
            ax.loglog(w, error, "--", color=line.get_color(), label=f"{name}: stated error")
            ax.set_title(term)
    return labelled(axes, "w", "relative to the exact value")


def norm_growth() -> Figure:
    """|M| along training for several L, of eight trainings: means and 99 % intervals."""
    axes = panels(4, sharex=True)
    cases = [(law, tokens) for law in ("relu", "cosine") for tokens in ("isotropic", "anisotropic")]
    for ax, (law, tokens) in zip(axes[0], cases, strict=True):
        found = norms.trained(law=law, covariates=tokens, optimiser="gd", seeds=8, seed=0)
        for (L, curve), marker in zip(found["norms"].items(), MARKERS, strict=False):
            ax.errorbar(found["steps"], *np.transpose(curve), fmt=f"{marker}-", label=f"L = {L}")
        ax.set(title=f"{law}, {tokens}", ylim=(0, None))
    return labelled(axes, "step", "|M|, spectral")


def same_constant() -> Figure:
    """The loss of attention that is tuned to one of three classes with L = 1, on each of them, against n."""
    axes, n = panels(3, sharey=True), (10, 100, 1000, 10_000)
    laws = {"affine": lv.Affine(L=1.0), "relu": lv.ReLU(L=1.0), "cosine": lv.Cosine(L=1.0)}
    losses = tuned_losses(laws, n, d=3)
    for ax, tested in zip(axes[0], laws, strict=True):
        for tuned, style in zip(laws, ("o-", "s--", "x:"), strict=True):
            ax.loglog(n, losses[tuned, tested], style, label=f"tuned to {tuned}")
        ax.set_title(f"tested on {tested}")
    return labelled(axes, "tokens n", "mean squared error")


def other_constants() -> Figure:
    """The loss on cosine tasks with L = 1 of attention that is tuned to other classes and constants, against n."""
    axes, n = panels(1), (10, 100, 1000, 10_000)
    laws = {"affine, L = 1": lv.Affine(L=1.0)} | {f"cosine, L = {L:g}": lv.Cosine(L=L) for L in (0.1, 1.0, 10.0)}
    losses = tuned_losses(laws, n, d=3)
    for tuned, style in zip(laws, ("o-", "s--", "x:", "^-."), strict=True):
        axes[0, 0].loglog(n, losses[tuned, "cosine, L = 1"], style, label=f"tuned to {tuned}")
    axes[0, 0].set_title("tested on cosine, L = 1")
    return labelled(axes, "tokens n", "mean squared error")


def low_rank() -> Figure:
    """rho(M, B) and the test error along training, softmax and linear attention, on three families."""
    axes = panels(3, 2, sharey="row", subplot_kw={"yscale": "log"})
    for column, family in zip(axes.T, ("affine", "quadratic", "cosine"), strict=True):
        for attention, marker in (("softmax", "o"), ("linear", "s")):
            found = lowrank_training.trained(family, attention, "product", "gd", seeds=8, seed=0)
            steps = np.array(found["shares"]) * lowrank_training.recipe_of(family, attention, "gd")["steps"]
            for ax, quantity in zip(column, ("rho", "error"), strict=True):
                curve = np.transpose(found["curves"][quantity])[:, : len(steps)]
                ax.errorbar(steps, *curve, fmt=f"{marker}-", label=f"{attention} attention")
        column[0].set_title(family)
    return labelled(axes, "step", "ρ(M, B)", "test error")


def low_rank_estimates() -> Figure:
    """One context: predictions along the circle of queries in col(B), by M as it starts and as it is trained."""
    axes, angle = panels(3), np.linspace(0, 2 * np.pi, 200)
    tokens, queries = on_product(angle)
    links = {"affine": lambda z: z + 2, "quadratic": lambda z: z**2, "cosine": lambda z: np.cos(4 * z)}
    for ax, (family, link) in zip(axes[0], links.items(), strict=True):
        ax.plot(angle, link(queries[:, 0]), "k", label="f")
        for record, name in ((0, "estimate, first M"), (-1, "estimate, trained M")):
            scores = np.exp(queries @ trained_matrices(family)[0, record].T @ tokens.T)
            ax.plot(angle, scores @ link(tokens[:, 0]) / scores.sum(axis=1), label=name)
        ax.set_title(family)
    return labelled(axes, "angle of the query in col(B)", "prediction")


def depth() -> Figure:
    """The loss by depth under six laws of the noise, on fresh contexts, and what Table 1 prints (crosses)."""
    axes, layers = panels(3, 2, sharex=True, sharey=True), range(1, 8)
    laws = ("uniform-1", "uniform-3", "uniform-5", "uniform-7", "levels-1-3", "levels-1-3-5")
    for ax, law in zip(axes.flat, laws, strict=True):
        for (family, losses), marker in zip(losses_by_depth(law).items(), MARKERS, strict=False):
            (line,) = ax.semilogy(range(1, len(losses) + 1), losses, f"{marker}-", label=family)
            entries = [printed(law, family, k).value for k in layers]
            ax.semilogy(layers, entries, "x", color=line.get_color(), label="as printed")
        ax.axhline(printed(law, "TunedRR").value, color="gray", linestyle="--", label="TunedRR, printed")
        ax.set_title(law)
    return labelled(axes, "layers", "adjusted loss", "adjusted loss")


def noise_level() -> Figure:
    """The loss at each σ, inside and outside the levels of training, DIAG and FULL with two to four layers."""
    axes, levels = panels(4, sharey=True, subplot_kw={"yscale": "log"}), noise_levels.LEVELS
    for pair, law, trained in ((axes[0, :2], "uniform-5", (0, 5)), (axes[0, 2:], "levels-1-3", (1, 3))):
        losses = noise_levels.at_levels(law, contexts=8192, seed=0)
        for ax, family in zip(pair, ("DIAG", "FULL"), strict=True):
            for layers, marker in zip((2, 3, 4), MARKERS, strict=False):
                ax.plot(levels, losses[f"{family} {layers}"], f"{marker}-", label=f"{layers} layers")
            ax.plot(levels[1:], losses["TunedRR"][1:], "k--", label="TunedRR")
            ax.axvspan(*trained, color="0.93", zorder=0)
            ax.set_title(f"{family}, {law}")
    return labelled(axes, "σ", "adjusted loss")


def diagonal_weights() -> Figure:
    """The four weights of each layer of DIAG, three trainings; each over the unit in which tokens have size 1."""
    axes, layers = panels(4), range(1, 5)
    for seed, marker in enumerate("osx"):
        trained = witness("uniform-3", "DIAG", 4, seed).trained
        four = trained.kind.numbers(trained.array) / trained.kind.units
        for ax, name, weights in zip(axes[0], WEIGHTS, four.T, strict=True):
            ax.axhline(0, color="black", linewidth=0.6)
            ax.plot(layers, weights, f"{marker}-", label=f"training {seed}")
            ax.set(title=name, xticks=layers)
    return labelled(axes, "layer", "weight")


def full_weights() -> Figure:
    """P and Q of each layer of FULL, each over its largest entry; the last row and column belong to the label."""
    array = witness("levels-1-3", "FULL", 4, 0).trained.array.copy()
    array[-1, 0, :-1] = 0  # of the last P the prediction reads one row
    return heat_maps({f"layer {layer}": pair for layer, pair in enumerate(array, 1)})


def plain_training() -> Figure:
    """Adjusted loss against the steps of Adam, five runs a model; dashed: printed, dotted: the best model known."""
    axes = panels(3, sharex=True, sharey=True, subplot_kw={"xscale": "log", "yscale": "log", "ylim": (0.02, 6)})
    ridge, panel = plain_runs.ridge_loss("uniform-3"), dict(zip(protocol.SHAPES, axes[0], strict=True))
    for (family, layers), known in known_losses("uniform-3").items():
        ax, color = panel[family], f"C{layers - 1}"
        for run in protocol.runs("uniform-3").of(family, layers):
            steps = protocol.EVERY * np.arange(1, len(run.losses) + 1)
            ax.plot(steps, np.subtract(run.losses, ridge), f"{color}-", linewidth=0.7, label=f"depth {layers}")
        ax.axhline(printed("uniform-3", family, layers).value, color=color, linestyle="--", linewidth=0.8)
        ax.axhline(known, color=color, linestyle=":")
        ax.set_title(family)
    return labelled(axes, "steps", "adjusted loss")


def plain_noise_level() -> Figure:
    """The mean loss at each σ, uncapped, on the same contexts: lines are plain training, dots the best model known."""
    axes, levels = panels(3, 2, sharey="row"), noise_levels.LEVELS
    for column, family in zip(axes.T, protocol.SHAPES, strict=True):
        for layers, plain, known in losses_at_levels("uniform-3", family):
            for ax in column:
                ax.plot(levels, plain, f"C{layers - 1}-", label=f"depth {layers}")
                ax.plot(levels, known, f"C{layers - 1}:o", label="best known")
        for ax in column:
            ax.axvspan(0, 3, color="0.93", zorder=0)
        column[0].set(title=family, xlim=(0, 4), ylim=(0, 0.6))
        column[1].set(yscale="log", ylim=(0.01, 100))
    return labelled(axes, "σ", "adjusted loss", "adjusted loss")


def plain_weights() -> Figure:
    """The four weights of each layer of DIAG after plain training, five runs, and of the best model known (black)."""
    axes, layers, best = panels(4), range(1, 4), plain_runs.best_known("uniform-3", "DIAG", 3, ("DIAG",))
    runs = protocol.runs("uniform-3").of("DIAG", 3)
    least = min(runs, key=lambda run: run.losses[-1])
    curves = [("another run", "C6o-", run.numbers) for run in runs if run is not least]
    curves += [("best run", "C1s-", least.numbers), ("best known", "kD--", best.kind.numbers(best.array))]
    for label, style, numbers in curves:
        for ax, name, weights in zip(axes[0], WEIGHTS, (numbers / best.kind.units).T, strict=True):
            ax.axhline(0, color="black", linewidth=0.6)
            ax.plot(layers, weights, style, label=label)
            ax.set(title=name, xticks=layers)
    return labelled(axes, "layer", "weight")


def plain_matrices() -> Figure:
    """P and Q of FULL with two layers, each over its largest entry: plain training (left), the best model known."""
    best = plain_runs.best_known("uniform-3", "FULL", 2, ("FULL",))
    plain, unit = protocol.runs("uniform-3").best("FULL", 2).numbers, np.repeat(best.kind.scale, (10, 1))
    rescaled = np.stack([plain[:, 0] * unit / unit[:, None], plain[:, 1] * unit * unit[:, None]], axis=1)
    known = best.array.copy()
    rescaled[-1, 0, :-1] = known[-1, 0, :-1] = 0  # of the last P the prediction reads one row
    names = [f"layer {k}, {model}" for model in ("plain", "best") for k in (1, 2)]
    return heat_maps(dict(zip(names, [*rescaled, *known], strict=True)))


def two_step() -> Figure:
    """How much the prediction after each layer changes when one weight of layer 1 or 2 is zero; no point: exactly 0."""
    axes, layers = panels(2, sharey=True), range(1, 5)
    found = contributions.every_weight(contexts=8192, training=0, seed=0)
    for ax, layer in zip(axes[0], (0, 1), strict=True):
        for weight, changes, marker in zip(contributions.WEIGHTS, found.removed[layer], "osx^", strict=True):
            relative_change = np.divide(changes[1:], found.prediction[1:])
            shown = np.where(relative_change > 0, relative_change, np.nan)
            ax.semilogy(layers, shown, f"{marker}-", label=f"ω_{weight}")
        ax.set(title=f"without one weight of layer {layer + 1}", xticks=layers)
    return labelled(axes, "after layer", "relative change")


PICTURES: dict[str, Callable[[], Figure]] = {
    make.__name__: make
    for make in (
        window, prediction, tradeoff, methods, norm_growth, same_constant, other_constants, low_rank,
        low_rank_estimates, depth, noise_level, diagonal_weights, full_weights, plain_training, plain_noise_level,
        plain_weights, plain_matrices, two_step,
    )
}  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    """Make the pictures that are named."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(PICTURES)}; all by default")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, help="where NAME.svg is written")
    given = parser.parse_args(arguments)
    unknown = [name for name in given.names if name not in PICTURES]
    if unknown:
        parser.error(f"there is no picture {', '.join(unknown)}: choose of {', '.join(PICTURES)}")
    given.out.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(STYLE):
        for name in given.names or PICTURES:
            PICTURES[name]().savefig(given.out / f"{name}.svg", metadata={"Date": None})
            print(given.out / f"{name}.svg")


if __name__ == "__main__":
    main()
