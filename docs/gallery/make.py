"""Makes the pictures of the gallery: `python docs/gallery/make.py [NAME ...] [--out FOLDER]`, all of them by default.

A picture is a function that returns a Matplotlib figure. It uses the public functions of lipverify and the trained
models that come with it, and no result is typed in. Where a source gives no sizes, those here make the effect visible.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

import lipverify as lv
from lipverify.checks.linear_transformers import contributions, noise_levels, plain_runs
from lipverify.checks.softmax import low_rank_training, norms
from lipverify.foundation.streams import normals
from lipverify.linear_transformer import draw_contexts, evaluation
from lipverify.linear_transformer.gdplusplus.known import known_depth, known_optimum
from lipverify.linear_transformer.published import printed, problem
from lipverify.linear_transformer.training import protocol
from lipverify.linear_transformer.training.witness import depths_of, witness
from lipverify.optimum.pretraining import Recipe
from lipverify.optimum.transfer import transfers

STYLE = {
    "font.size": 8, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "0.92",
    "legend.frameon": False, "legend.fontsize": 7, "lines.linewidth": 1.3, "lines.markersize": 3.5,
    "svg.hashsalt": "lipverify",  # the same data give the same file
}  # fmt: skip
L_VALUES = (1.0, 4.0, 12.0)
"""Lipschitz constants of the pictures on the circle: the paper's figure shows three and does not name them."""
NOISE = 0.3
"""Standard deviation of the labels' noise in these pictures."""
SEED = 3
"""Of the tokens that are drawn."""


def panels(columns: int, rows: int = 1, **options: Any) -> tuple[Figure, Any]:
    """A figure of panels, and its axes as an array (rows, columns)."""
    figure = Figure(figsize=(7.2, 0.4 + 1.9 * rows), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def circle(L: float, n: int = 60) -> tuple[lv.Problem, Callable[[Any], Any], Any, Any]:
    """Tokens on the circle: the problem, one function of its law, the angles of n tokens, and their noisy labels."""
    angles = np.sort(2 * np.pi * (np.arange(n) + normals(SEED, "gallery/angles", 0, (n,)) / 3) / n)

    def f(angle: Any) -> Any:
        return np.cos(L * np.cos(angle - 0.4))

    labels = f(angles) + NOISE * normals(SEED, "gallery/noise", 0, (n,))
    return lv.Problem(d=2, n=n, law=lv.Cosine(L=L), sigma=NOISE), f, angles, labels


def softmax(w: float, tokens: Any, query: Any) -> Any:
    """The weight of each token for each query, (queries, tokens): the scores are w <x_i, x>."""
    scores = np.exp(w * (np.cos(np.subtract.outer(query, tokens)) - 1))
    return scores / scores.sum(axis=1, keepdims=True)


def trained_matrices(family: str) -> Any:
    """M of softmax attention along training, (run, record, 5, 5), which comes with lipverify."""
    recipe = Recipe(optimiser="gd", start=1.0, **low_rank_training.recipe_of(family, "softmax", "gd"))
    name, streams = f"lowrank.nonlinear/{family}/softmax/product/gd", [f"block/{family}/product/{k}" for k in range(8)]
    here = low_rank_training.problem(family, "product")
    return recipe.kept(name, here, streams, attention="softmax", every=recipe.steps // 10, seed=0)


def window() -> Figure:
    """Three functions, what attention sees of each, and the error against n for each of the three windows."""
    figure, axes = panels(3, 3, sharey="row")
    x, n = np.linspace(0, 2 * np.pi, 400), np.array([10, 30, 100, 300, 1000])
    w = [[lv.optimal_window(circle(L, int(m))[0]).w for m in n] for L in L_VALUES]
    for (top, middle, bottom), L in zip(axes.T, L_VALUES, strict=True):
        here, f, tokens, labels = circle(L)
        best = lv.optimal_window(here).w
        top.plot(tokens, labels, ".", color="gray", label="labels")
        top.plot(x, f(x), "k", label="f")
        top.plot(x, softmax(best, tokens, x) @ labels, label="estimate")
        middle.plot(tokens, softmax(best, tokens, [np.pi])[0], "o", label="softmax")
        middle.plot(tokens, np.cos(tokens - np.pi) / len(tokens), "x", label="linear")
        for of, by_n in zip(L_VALUES, w, strict=True):
            losses = [lv.loss_terms(here.replace(n=int(m)), each).total for m, each in zip(n, by_n, strict=True)]
            bottom.loglog(n, losses, "o-", label=f"w* of L = {of:g}")
        top.set(title=f"L = {L:g}: w* = {best:.1f}", xlabel="angle of x")
        middle.set(xlabel="angle of the token; query at π")
        bottom.set(xlabel="tokens n")
    for ax, label in zip(axes[:, 0], ("label", "attention weight", "mean squared error"), strict=True):
        ax.set_ylabel(label)
    axes[0, 0].legend()
    axes[1, 0].legend()
    axes[2, 2].legend()
    return figure


def prediction() -> Figure:
    """How |M| = w changes the prediction: w a tenth of the optimum, the optimum, and ten times it."""
    figure, axes = panels(3, sharey=True)
    x = np.linspace(0, 2 * np.pi, 400)
    for ax, L in zip(axes[0], L_VALUES, strict=True):
        here, f, tokens, labels = circle(L)
        best = lv.optimal_window(here).w
        ax.plot(x, f(x), color="black", label="f")
        ax.plot(tokens, labels, ".", color="gray")
        for factor, name in ((0.1, "w*/10"), (1, "w*"), (10, "10 w*")):
            ax.plot(x, softmax(factor * best, tokens, x) @ labels, label=name)
        ax.set(title=f"L = {L:g}", xlabel="angle of the query")
    axes[0, 0].set_ylabel("prediction")
    axes[0, 2].legend(ncols=2)
    return figure


def tradeoff() -> Figure:
    """Bias, noise and loss against w, exactly, with the sampled loss and the optimum."""
    figure, axes = panels(3)
    w, few = np.geomspace(0.1, 100, 40), np.geomspace(0.3, 30, 5)
    for ax, d in zip(axes[0], (2, 3, 5), strict=True):
        here = lv.Problem(d=d, n=100, law=lv.ReLU(L=1.0), sigma=1.0)
        terms, best = lv.loss_terms(here, w), lv.optimal_window(here)
        sampled = lv.loss_terms(here, few, "montecarlo", contexts=20_000, seed=SEED)
        ax.loglog(w, terms.bias, w, terms.noise, w, terms.total)
        ax.errorbar(few, sampled.total, sampled.total_error, fmt="k.", capsize=2)
        ax.plot(best.w, best.loss, "*", color="crimson", markersize=9)
        ax.set(title=f"d = {d}: w* = {best.w:.2f}", xlabel="w")
    axes[0, 0].legend(["bias B", "noise N", "loss B + N", "minimum, at w*", "sampled"])
    return figure


def methods() -> Figure:
    """A second exact route and sampling: distance of each value from the exact one, and the stated errors."""
    figure, axes = panels(2, sharey=True)
    w, here = np.geomspace(0.5, 50, 9), lv.Problem(d=3, n=100, law=lv.ReLU(L=1.0), sigma=1.0)
    exact = lv.loss_terms(here, w)
    ways: dict[str, dict[str, Any]] = {
        "exact, zonal route": {"route": "zonal"},
        "sampled, 20 000 contexts": {"method": "montecarlo", "contexts": 20_000},
    }
    for name, how in ways.items():
        terms = lv.loss_terms(here, w, **how)
        for ax, term in zip(axes[0], ("bias", "noise"), strict=True):
            value, reference = getattr(terms, term), getattr(exact, term)
            (line,) = ax.loglog(w, np.abs(value / reference - 1) + 1e-17, "o", label=f"{name}: distance")
            error = (getattr(terms, f"{term}_error") + getattr(exact, f"{term}_error")) / reference
            ax.loglog(w, error, "-", alpha=0.6, color=line.get_color(), label="stated error")
            ax.set(title=term, xlabel="w")
    axes[0, 0].set_ylabel("relative to the exact value")
    axes[0, 1].legend()
    return figure


def norm_growth() -> Figure:
    """|M| along training for several L, from the trainings that come with lipverify: means and 99 % intervals."""
    figure, axes = panels(4, sharex=True)
    cases = [(law, tokens) for law in ("relu", "cosine") for tokens in ("isotropic", "anisotropic")]
    for ax, (law, tokens) in zip(axes[0], cases, strict=True):
        found = norms.trained(law=law, covariates=tokens, optimiser="gd", seeds=8, seed=0)
        for L, curve in found["norms"].items():
            ax.errorbar(found["steps"], *np.transpose(curve), fmt="o-", capsize=2)
            ax.annotate(
                f"L = {L}",
                (found["steps"][-1], curve[-1][0]),
                (-28, 4 if curve[-1][0] > 0.5 else -10),
                textcoords="offset points",
            )
        ax.set(title=f"{law}, {tokens}", xlabel="step")
    axes[0, 0].set_ylabel("|M|, spectral")
    return figure


def same_constant() -> Figure:
    """The loss of attention that is tuned to one of three classes with L = 1, on each of them, against n."""
    figure, axes = panels(3, sharey=True)
    laws, n = {"affine": lv.Affine(L=1.0), "relu": lv.ReLU(L=1.0), "cosine": lv.Cosine(L=1.0)}, (10, 100, 1000, 10_000)
    found = [transfers({name: lv.Problem(d=3, n=m, law=law, sigma=0.3) for name, law in laws.items()}) for m in n]
    for ax, tested in zip(axes[0], laws, strict=True):
        for trained, style in zip(laws, ("o-", "s--", "x:"), strict=True):
            losses = [at[f"loss of {trained} on {tested}"][0] for at in found]
            ax.loglog(n, losses, style, label=f"tuned to {trained}")
        ax.set(title=f"tested on {tested}", xlabel="tokens n")
    axes[0, 0].set_ylabel("mean squared error")
    axes[0, 0].legend()
    return figure


def other_constants() -> Figure:
    """The loss on cosine tasks with L = 1 of attention that is tuned to other classes and constants, against n."""
    figure, axes = panels(1)
    n, laws = (10, 100, 1000, 10_000), {"affine, L = 1": lv.Affine(L=1.0)}
    laws |= {f"cosine, L = {L:g}": lv.Cosine(L=L) for L in (0.1, 1.0, 10.0)}
    for (name, law), style in zip(laws.items(), ("o-", "s--", "x:", "^-."), strict=True):
        here = [{name: lv.Problem(d=3, n=m, law=law, sigma=0.3)} for m in n]
        test = [{"test": lv.Problem(d=3, n=m, law=lv.Cosine(L=1.0), sigma=0.3)} for m in n]
        losses = [transfers(a | b)[f"loss of {name} on test"][0] for a, b in zip(here, test, strict=True)]
        axes[0, 0].loglog(n, losses, style, label=f"tuned to {name}")
    axes[0, 0].set(title="tested on cosine, L = 1", xlabel="tokens n", ylabel="mean squared error")
    axes[0, 0].legend()
    return figure


def low_rank() -> Figure:
    """rho(M, B) and the test error along training, softmax and linear attention, on three families."""
    figure, axes = panels(3, 2, sharey="row")
    for (top, bottom), family in zip(axes.T, ("affine", "quadratic", "cosine"), strict=True):
        for attention in ("softmax", "linear"):
            found = low_rank_training.trained(family, attention, "product", "gd", seeds=8, seed=0)
            steps = np.array(found["shares"]) * low_rank_training.recipe_of(family, attention, "gd")["steps"]
            for ax, name in ((top, "rho"), (bottom, "error")):
                values, half_widths = np.transpose(found["curves"][name])[:, : len(steps)]
                ax.errorbar(steps, values, half_widths, fmt="o-", capsize=2, label=attention)
        top.set(title=family, yscale="log")
        bottom.set(xlabel="step", yscale="log")
    axes[0, 0].set_ylabel("ρ(M, B)")
    axes[1, 0].set_ylabel("test error")
    axes[0, 0].legend()
    return figure


def low_rank_estimates() -> Figure:
    """One context: predictions along the circle of queries in col(B), by M as it starts and as it is trained."""
    figure, axes = panels(3)
    angle, x = np.linspace(0, 2 * np.pi, 200), normals(SEED, "gallery/tokens", 0, (16, 5))
    x = np.hstack([block / np.linalg.norm(block, axis=1, keepdims=True) for block in (x[:, :2], x[:, 2:])])
    queries = np.column_stack([np.cos(angle), np.sin(angle), np.ones((200, 3)) / 3**0.5])
    links = {"affine": lambda z: z + 2, "quadratic": lambda z: z**2, "cosine": lambda z: np.cos(4 * z)}
    for ax, (family, link) in zip(axes[0], links.items(), strict=True):
        M = trained_matrices(family)[0]
        ax.plot(angle, link(queries[:, 0]), "k", label="f")
        for at, name in ((0, "M at the start"), (-1, "M trained")):
            scores = np.exp(queries @ M[at].T @ x.T)
            ax.plot(angle, scores @ link(x[:, 0]) / scores.sum(axis=1), label=name)
        ax.set(title=family, xlabel="angle of the query in col(B)")
    axes[0, 0].set_ylabel("prediction")
    axes[0, 0].legend()
    return figure


def depth() -> Figure:
    """The loss by depth under six laws of the noise, on fresh contexts, and what Table 1 prints (crosses)."""
    figure, axes = panels(3, 2, sharex=True)
    laws = ("uniform-1", "uniform-3", "uniform-5", "uniform-7", "levels-1-3", "levels-1-3-5")
    for ax, law in zip(axes.flat, laws, strict=True):
        fresh = evaluation(draw_contexts(problem(law), 8192, SEED, f"gallery/{law}"))
        losses = {"GD++": [known_optimum(law, k).loss.value for k in range(1, known_depth(law) + 1)]}
        for family in ("DIAG", "FULL"):
            models = [witness(law, family, k).trained for k in depths_of(law, family)]
            losses[family] = [noise_levels.limited(fresh, each).mean() for each in models]
        for (family, values), color in zip(losses.items(), ("C0", "C1", "C2"), strict=True):
            ax.semilogy(range(1, len(values) + 1), values, "o-", color=color, label=family)
            ax.semilogy(range(1, 8), [printed(law, family, k).value for k in range(1, 8)], "x", color=color)
        ax.axhline(printed(law, "TunedRR").value, color="gray", linestyle="--", label="TunedRR, printed")
        ax.set_title(law)
    axes[0, 0].legend()
    figure.supxlabel("layers (lines: measured here; crosses: printed)", fontsize=8)
    figure.supylabel("adjusted loss", fontsize=8)
    return figure


def noise_level() -> Figure:
    """The loss at each σ, inside and outside the levels of training, DIAG and FULL with two to four layers."""
    figure, axes = panels(4, sharey=True)
    for pair, law in zip((axes[0, :2], axes[0, 2:]), ("uniform-5", "levels-1-3"), strict=True):
        found = noise_levels.at_levels(law, contexts=8192, seed=0)
        for ax, family in zip(pair, ("DIAG", "FULL"), strict=True):
            for layers in (2, 3, 4):
                ax.semilogy(noise_levels.LEVELS, found[f"{family} {layers}"], "o-", label=f"{layers} layers")
            ax.semilogy(noise_levels.LEVELS[1:], found["TunedRR"][1:], "k--", label="TunedRR")
            ax.axvspan(*((0, 5) if law == "uniform-5" else (1, 3)), color="0.93", zorder=0)
            ax.set(title=f"{family}, {law}", xlabel="σ")
    axes[0, 0].set_ylabel("adjusted loss")
    axes[0, 1].legend()
    return figure


def diagonal_weights() -> Figure:
    """The four weights of each layer of DIAG, three trainings; each over the unit in which tokens have size 1."""
    figure, axes = panels(4)
    names = ("ω_xx", "ω_xy", "ω_yx", "ω_yy")
    for seed in range(3):
        trained = witness("uniform-3", "DIAG", 4, seed).trained
        four = trained.kind.four(trained.array) / trained.kind.units
        for ax, name, weights in zip(axes[0], names, four.T, strict=True):
            ax.plot(range(1, 5), weights, "o-", label=f"training {seed}")
            ax.axhline(0, color="black", linewidth=0.6)
            ax.set(title=name, xlabel="layer", xticks=range(1, 5))
    axes[0, 1].legend(loc="lower left")
    return figure


def full_weights() -> Figure:
    """P and Q of each layer of FULL, each over its largest entry; the last row and column belong to the label."""
    figure, axes = panels(4, 2)
    array = witness("levels-1-3", "FULL", 4, 0).trained.array.copy()
    array[-1, 0, :-1] = 0  # of the last P the prediction reads one row
    for layer, pair in enumerate(array):
        for row, name in enumerate("PQ"):
            ax, matrix = axes[row, layer], pair[row]
            image = ax.imshow(matrix / np.abs(matrix).max(), cmap="RdBu", vmin=-1, vmax=1)
            ax.set(title=f"{name}, layer {layer + 1}", xticks=[], yticks=[])
            ax.grid(visible=False)
    figure.colorbar(image, ax=axes, shrink=0.7)
    return figure


def plain_training() -> Figure:
    """Adjusted loss against the steps of Adam, five runs a model; dashed: printed, dotted: the best model known."""
    figure, axes = panels(3, sharey=True)
    ridge, ends = plain_runs.ridge_loss("uniform-3"), plain_runs.endpoints("uniform-3", contexts=8192, seed=0)
    panel = dict(zip(protocol.SHAPES, axes[0], strict=True))
    for family, layers in protocol.runs("uniform-3").models:
        ax, color = panel[family], f"C{layers - 1}"
        for run in protocol.runs("uniform-3").of(family, layers):
            steps = protocol.EVERY * np.arange(1, len(run.losses) + 1)
            ax.semilogy(steps, np.subtract(run.losses, ridge), color=color, linewidth=0.7)
        best, ratio = ends[f"{family} {layers}"][0], np.exp(-ends[f"{family} {layers} over known"][0])
        ax.axhline(printed("uniform-3", family, layers).value, color=color, linestyle="--", linewidth=0.8)
        ax.axhline(best * ratio, color=color, linestyle=":", label=f"{layers} layers")
        ax.set(title=family, xlabel="steps", ylim=(0.02, 6))
    axes[0, 0].set_ylabel("adjusted loss")
    axes[0, 0].legend(loc="upper right")
    return figure


def plain_noise_level() -> Figure:
    """The mean loss at each σ, uncapped, on the same contexts: lines are plain training, dots the best model known."""
    figure, axes = panels(3, 2)
    fresh = {level: noise_levels.fresh_at("uniform-3", level, 8192, SEED) for level in noise_levels.LEVELS}
    panel = dict(zip(protocol.SHAPES, axes.T, strict=True))
    for family, layers in protocol.runs("uniform-3").models:
        plain = plain_runs.estimator(protocol.runs("uniform-3").best(family, layers).model)
        best = plain_runs.best_known("uniform-3", family, layers)
        for model, style, label in ((plain, "-", f"{layers} layers"), (best, ":o", None)):
            losses = [each.losses(model).mean() for each in fresh.values()]
            for ax in panel[family]:
                ax.plot(list(fresh), losses, style, color=f"C{layers - 1}", label=label)
    for family, (inside, beyond) in panel.items():
        inside.set(title=family, xlim=(0, 4), ylim=(0, 0.6))
        beyond.set(xlabel="σ", yscale="log")
        for ax in (inside, beyond):
            ax.axvspan(0, 3, color="0.93", zorder=0)
    axes[0, 1].legend()
    figure.supylabel("adjusted loss", fontsize=8)
    return figure


def plain_weights() -> Figure:
    """The four weights of each layer of DIAG after plain training, five runs, and of the best model known (black)."""
    figure, axes = panels(4)
    best = plain_runs.best_known("uniform-3", "DIAG", 3)
    curves = [(run.numbers, "o-") for run in protocol.runs("uniform-3").of("DIAG", 3)]
    for numbers, style in (*curves, (best.kind.four(best.array), "ks--")):
        names = ("ω_xx", "ω_xy", "ω_yx", "ω_yy")
        for ax, name, weights in zip(axes[0], names, (numbers / best.kind.units).T, strict=True):
            ax.plot(range(1, 4), weights, style)
            ax.axhline(0, color="black", linewidth=0.6)
            ax.set(title=name, xlabel="layer", xticks=range(1, 4))
    return figure


def plain_matrices() -> Figure:
    """P and Q of FULL with two layers, each over its largest entry: plain training (left), the best model known."""
    figure, axes = panels(4, 2)
    known = plain_runs.best_known("uniform-3", "FULL", 2)
    plain, unit = protocol.runs("uniform-3").best("FULL", 2).numbers, np.repeat(known.kind.scale, (10, 1))
    rescaled = np.stack([plain[:, 0] * unit / unit[:, None], plain[:, 1] * unit * unit[:, None]], axis=1)
    for column, pair in enumerate([*rescaled, *known.array]):
        for ax, name, matrix in zip(axes[:, column], "PQ", pair, strict=True):
            row = np.arange(11)[:, None] < 10  # of the last P the prediction reads one row
            shown = np.where(row & (name == "P") & (column % 2 == 1), 0, matrix)
            image = ax.imshow(shown / np.abs(shown).max(), cmap="RdBu", vmin=-1, vmax=1)
            ax.set(title=f"{name}, layer {column % 2 + 1}", xticks=[], yticks=[])
            ax.grid(visible=False)
    figure.colorbar(image, ax=axes, shrink=0.7)
    return figure


def two_step() -> Figure:
    """How much the prediction after each layer changes when one weight of layer 1 or 2 is zero; no point: exactly 0."""
    figure, axes = panels(2, sharey=True)
    found = contributions.every_weight(contexts=8192, training=0, seed=0)
    for ax, layer in zip(axes[0], (0, 1), strict=True):
        for weight, changes, style in zip(contributions.WEIGHTS, found.removed[layer], "osx^", strict=True):
            relative = np.divide(changes[1:], found.prediction[1:])
            ax.semilogy(range(1, 5), np.where(relative > 0, relative, np.nan), f"{style}-", label=f"ω_{weight}")
        ax.set(title=f"without one weight of layer {layer + 1}", xlabel="after layer", xticks=range(1, 5))
    axes[0, 0].set_ylabel("relative change")
    axes[0, 1].legend()
    return figure


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
