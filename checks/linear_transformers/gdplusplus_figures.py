"""Tables and sentences of the theorems on GD++."""

from __future__ import annotations

from typing import Any

from lipverify.checks.linear_transformers.gdplusplus_losses import (
    VIEWS,
    critical_points,
    entry,
    floor,
    known,
    printed_quotients,
    tails,
)
from lipverify.checks.linear_transformers.quantities import NOISE_LAWS, named
from lipverify.claims import Table, at

SAMPLING = 0.05
"""The relative sampling error allowed below the expectation, for a mean over 100,000 sequences: three standard errors of 1.5 %."""


def minima_and_saddles(**found: dict[str, Any]) -> Table:
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
CRITICAL_POINTS = at(
    minima_and_saddles, **{noise.replace("-", "_"): at(critical_points, noise=noise) for noise in NOISE_LAWS}
)
ENDS = at(ends, **by_name(printed_quotients, depths=(2, 3)))
PRICE_OF_SAFETY = at(cost, **by_name(tails, noises=("uniform-0",), depths=(3, 4, 5)))
EXCHANGED = at(exchanged, **by_name(tails, noises=("uniform-0", "uniform-1", "uniform-3"), depths=(3, 4, 5)))
