"""Tables and sentences of the theorems on GD++."""

from __future__ import annotations

from typing import Any

from lipverify.checks.linear_transformers.gdplusplus_losses import (
    ENOUGH,
    VIEWS,
    below_the_bound,
    entry,
    floor,
    known,
    landscape,
    printed_quotients,
    several,
    tails,
)
from lipverify.checks.linear_transformers.quantities import NOISE_LAWS, named
from lipverify.claims import Figure, Panel, Series, Table, at
from lipverify.linear_transformer import gdplusplus  # imported by name later: they load FLINT and SciPy on first use

SAMPLING = 0.05
"""The relative sampling error allowed below the expectation, for a mean over 100,000 sequences: three standard errors of 1.5 %."""


def landscapes(**found: dict[str, Any]) -> Table:
    """All critical points of two layers by law of the noise."""
    rows = []
    for name, each in found.items():
        noise = name.replace("_", "-")
        minima = ", ".join(f"{loss:.4f}" for loss, _, index in each["points"] if index == 0)
        saddles = ", ".join(f"{loss:.4f} ({index})" for loss, _, index in each["points"] if index)
        rows.append((named(noise), minima, saddles, f"{entry(noise, 2).value:.3g}"))
    return Table(
        caption="GD++ with two layers: all critical points of the expected loss. Strict local minima; the others, in brackets the number of directions in which the loss falls; "
        "and the printed loss.",
        header=("noise", "minima", "saddles", "printed"),
        rows=tuple(rows),
    )  # fmt: skip


def ends(**found: dict[str, Any]) -> Table:
    """The smallest loss known, the loss at the end from small weights, and the printed loss, by law and depth."""
    rows = []
    for name, each in found.items():
        noise, layers = read(name)
        value = entry(noise, layers).value
        rows.append(
            (
                named(noise),
                str(layers),
                *(f"{each[key][0] * value:.4g}" for key in ("best", "small start")),
                f"{value:.3g}",
            )
        )
    return Table(
        caption="""GD++: the smallest expected loss known, the expected loss at the strict local minimum in which gradient flow from
              weights 0 ends, and the printed loss.""",
        header=("noise", "layers", "best known", "from small weights", "printed"),
        rows=tuple(rows),
    )  # fmt: skip


def listed(**found: dict[str, Any]) -> str:
    """The minima that were certified again by law and depth, best first."""
    told = []
    for name, each in found.items():
        noise, layers = read(name)
        losses = ", ".join(f"{loss:.10g}" for loss, *_ in each["points"])
        told.append(f"{named(noise)}, {layers} layers: {losses}")
    return f"The losses of the best minima, at most {ENOUGH} of a depth: {'; '.join(told)}."


def all_below(**found: dict[str, Any]) -> Table:
    """All critical points of three layers below a loss by law of the noise."""
    rows = []
    for name, each in found.items():
        points = {kind: [loss for loss, _, index in each["points"] if bool(index) == kind] for kind in (False, True)}
        share, number = each["unseen"]
        rows.append((
            named(name.replace("_", "-")), f"{each['below']:.7g}", f"{entry(name.replace('_', '-'), 3).value:.3g}",
            *(", ".join(f"{loss:.10g}" for loss in points[kind]) for kind in (False, True)), str(each["boxes"]),
            str(each["all"]), f"{share:.1%}, {number:.0f}",
        ))  # fmt: skip
    return Table(
        caption="GD++ with three layers: all critical points of the expected loss below a bound, by branch and bound; it is the printed loss and half a "
        "unit of its last digit, or else the best loss's excess over the floor four times. Then the number of points with a loss below 5 that a search finds from "
        "3000 starts; the share of starts that would end in a new one (Good and Turing), and an estimate from below of their number (Chao).",
        header=("noise", "bound", "printed", "minima", "saddles", "boxes", "known", "unseen"),
        rows=tuple(rows),
    )  # fmt: skip


def found_of_four() -> Table:
    """What the search for critical points of four layers found by law, and how much it may have missed."""
    rows = []
    for noise in NOISE_LAWS:
        stored, printed = gdplusplus.landscape(noise, 4), entry(noise, 4)
        share, number = gdplusplus.unseen(stored.hits)
        minima = [loss for loss, index in zip(stored.losses, stored.indices, strict=True) if index == 0]
        bound = printed.value + printed.rounding
        below = str(sum(loss < bound for loss in minima))
        if bound < floor(noise, 4)["low"]:
            below = "none, proved"
        rows.append((
            named(noise), str(len(stored.points)), str(len(minima)), f"{sum(stored.hits)} of {stored.starts}",
            str(stored.late), f"{share:.1%}", f"{number:.0f}", f"{printed.value:.3g}", below,
        ))  # fmt: skip
    return Table(
        caption="GD++ with four layers: the critical points with a loss below 5 that a search found, each certified by Krawczyk's test, and the strict local minima "
        "among them. There may be others: how many starts converged, how many points the last tenth of all starts found first, the share of starts that would end in a "
        "new point (Good and Turing), and an estimate from below of the number of all (Chao). Last the printed loss, and the minima found that lose no more, up to half "
        "a unit of its last digit; none where it is below the floor of every filter of the degree.",
        layer="evidence",
        header=("noise", "points", "minima", "converged", "late", "unseen", "estimate", "printed", "minima up to it"),
        rows=tuple(rows),
    )  # fmt: skip


def trained_from() -> Table:
    """Where Adam ended by law, depth and first weights: losses, and how many trainings."""
    rows = []
    for noise, layers in sorted(gdplusplus.landscapes(), key=lambda found: (found[1], NOISE_LAWS.index(found[0]))):
        stored = gdplusplus.landscape(noise, layers)
        losses = stored.losses
        ended = {
            begin: ", ".join(f"{loss:.4g} ({count})" for loss, count in zip(losses, counts[:-1], strict=True) if count)
            + (f", elsewhere ({counts[-1]})" if counts[-1] else "")
            for begin, counts in stored.ends.items()
        }  # fmt: skip
        row = (ended[begin] for begin in ("factors", "small", "large"))
        rows.append((named(noise), str(layers), *row, f"{entry(noise, layers).value:.3g}"))
    return Table(
        caption="GD++ trained by Adam on the expected loss, learning rate $10^{-4}$, 20,000 steps: the losses of the minima in which trainings ended, and their number. "
        "First weights: factors $p_y, p_x, q$ of each layer with variance $0.002/(11 L)$, $\\omega_{yx} = p_y q$, $\\omega_{xx} = p_x q$; weights of that "
        "size of a product; weights of standard deviation 0.02. Elsewhere: at no minimum yet, or lost.",
        layer="evidence",
        header=("noise", "layers", "from factors", "from small weights", "from large weights", "printed"),
        rows=tuple(rows),
    )  # fmt: skip


def map_of_points() -> Figure:
    """The critical points by loss and index, for two, three and four layers."""
    panels = []
    for noise in ("uniform-0", "uniform-1", "uniform-3"):
        series = []
        for layers in sorted(layers for law, layers in gdplusplus.landscapes() if law == noise):
            stored = gdplusplus.landscape(noise, layers)
            shift = 0.2 * (layers - 3)  # side by side
            x = tuple(index + shift for index in stored.indices)
            series.append(Series(label=f"{layers} layers", x=x, y=tuple(stored.losses), style="points"))
        panels.append(
            Panel(title=named(noise), xlabel="directions in which the loss falls", ylabel="expected adjusted loss", xscale="linear",
                  series=tuple(series))
        )  # fmt: skip
    return Figure(
        panels=tuple(panels),
        caption="The critical points known of GD++, by loss and by the number of directions in which the loss falls: 0 at a strict local minimum. Of two layers "
        "these are all, of three all below the printed loss; the others were found from many starts.",
        alt="Two layers have a few points, three some dozens, four some hundreds, with more directions down at larger losses.",
    )  # fmt: skip


def where(**floors: dict[str, Any]) -> str:
    """The printed entries below their floor: as printed, and by more than sampling error."""
    below: list[str] = []
    far: list[str] = []
    for name, least in floors.items():
        noise, layers = read(name)
        value, rounding = entry(noise, layers)
        if value + rounding < least["low"]:
            said = f"{named(noise)}, {layers} layers: {value:g} where the floor is {least['low']:.6g}"
            (far if value + rounding < (1 - SAMPLING) * least["low"] else below).append(said)
    return (
        f"Below the floor by more than sampling explains, so that no GD++ model has them as its expected loss: {'; '.join(far) or 'none'}. Below it "
        f"by less than {SAMPLING:.0%}: {'; '.join(below) or 'none'}. All other entries are above the floor, which decides nothing there: the floor holds for all filters "
        "of the degree, and GD++ models are a small part of them. The printed entries without noise are means over the eigenvalues in a sample; the expected "
        "loss of such weights over all contexts is larger by many orders of magnitude, because of contexts too rare to be in a sample."
    )  # fmt: skip


def read(name: str) -> tuple[str, int]:
    """The law and the depth of a keyword such as uniform_3_at_5."""
    noise, _, layers = name.partition("_at_")
    return noise.replace("_", "-"), int(layers)


def tabulated(**found: Any) -> Table:
    """Printed loss, proved floor, best loss found over all contexts and over those of 1e5 samples, with the agreement of searches."""
    rows = []
    for name, least in found.items():
        if name.startswith(("best_", "seen_")):
            continue
        noise, layers = read(name)
        best, seen = found[f"best_{name}"], found[f"seen_{name}"]
        agreement = f"{best['agreeing']} of {best['starts']}, {len(best['routes'])} routes"
        rows.append(
            (named(noise), str(layers), f"{entry(noise, layers).value:.4g}", f"{least['low']:.6g}", f"{best['loss'][0]:.6g}", agreement,
             f"{seen['loss'][0]:.6g}")
        )  # fmt: skip
    return Table(
        caption="GD++: the printed loss; the proved floor of every filter of its degree; the least expected loss found, with the descents that ended there and "
        "the routes that found it; and the least loss found over the eigenvalues that 100,000 contexts show.",
        layer="evidence",
        header=("noise", "layers", "printed", "proved floor", "best found", "agreement", "best on what 1e5 show"),
        rows=tuple(rows),
    )  # fmt: skip


def exchanged(**found: dict[str, Any]) -> Table:
    """Losses of weights that are optimal for one view, in another."""
    rows = []
    for name, losses in found.items():
        noise, layers = read(name)
        for made_for in VIEWS:
            shown = (losses[f"{made_for} on {view}"][0] for view in VIEWS)
            rows.append(
                (
                    named(noise),
                    str(layers),
                    made_for,
                    *(f"{10**x:.4g}" if x < 3 else f"$10^{{{x:.0f}}}$" for x in shown),
                )
            )
    return Table(
        caption="""GD++ optimised for the eigenvalues that the given number of contexts shows (rows), and its exact loss over those that
              the given number shows (columns).""",
        layer="evidence",
        header=("noise", "layers", "made for", "on 1e5", "on 1e9", "on all"),
        rows=tuple(rows),
    )  # fmt: skip


def cost(**found: dict[str, Any]) -> str:
    """The cost of safety from rare contexts."""
    said = []
    for name, losses in found.items():
        noise, layers = read(name)
        x = {pair: value for pair, (value, _) in losses.items()}
        said.append(
            f"{named(noise)}, {layers} layers: {10 ** (x['1e9 on 1e5'] - x['1e5 on 1e5']):.4g} times the least loss in the mean, instead of "
            f"{10 ** (x['1e5 on 1e9'] - x['1e5 on 1e5']):.3g} times it over what 1e9 contexts show"
        )
    return (
        "Weights that are best over the eigenvalues that 1e9 contexts show need know nothing of the 1e5 that a table is measured on. Their price in that mean, "
        f"and what the others pay for ignoring rare contexts: {'; '.join(said)}."
    )  # fmt: skip


def by_name(
    function: Any, prefix: str = "", noises: Any = NOISE_LAWS, depths: Any = (1, 2, 3, 4, 5), **where: Any
) -> dict[str, Any]:
    """A measurement for every column and depth, by keyword."""
    return {
        f"{prefix}{noise.replace('-', '_')}_at_{layers}": at(function, noise=noise, layers=layers, **where)
        for noise in noises for layers in depths
    }  # fmt: skip


FLOORS = by_name(floor)
BELOW_THE_FLOOR = at(where, **FLOORS, uniform_0_at_6=at(floor, noise="uniform-0", layers=6))
LOSSES = at(tabulated, **FLOORS, **by_name(known, "best_"), **by_name(known, "seen_", view="1e5"))
CRITICAL_POINTS = at(landscapes, **{noise.replace("-", "_"): at(landscape, noise=noise) for noise in NOISE_LAWS})
ENDS = at(ends, **by_name(printed_quotients, depths=(2, 3)))
DEEPER_MINIMA = at(listed, **by_name(several, depths=(3, 4)))
MAP, TRAINED_FROM, FOUR = at(map_of_points), at(trained_from), at(found_of_four)
ALL_BELOW = at(all_below, **{noise.replace("-", "_"): at(below_the_bound, noise=noise) for noise in NOISE_LAWS})
PRICE_OF_SAFETY = at(cost, **by_name(tails, noises=("uniform-0",), depths=(3, 4, 5)))
EXCHANGED = at(exchanged, **by_name(tails, noises=("uniform-0", "uniform-1", "uniform-3"), depths=(3, 4, 5)))
