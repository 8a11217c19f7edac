r"""What GD++ can reach: proved floors for every depth, the best models known, and what safety from rare contexts costs.

A GD++ model with L layers is a polynomial filter of degree D - 1, D = (3^L - 1)/2. Over all such filters the least loss is half the
error of Gauss's rule with D nodes for int t rho(t)/(t + s) dt: balls of Arb enclose it, from moments that are whole numbers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lipverify.claims import Source, Table, at, bound, claim, per_profile
from lipverify.claims.plan.trained import named

SAMPLING = 0.05
"""What a mean over 100,000 sequences may be below its expectation: three standard errors of 1.5 % of an entry."""
VIEWS = {"1e5": 1e5, "1e9": 1e9, "all": None}
"""Eigenvalues that so many contexts show, or all."""
ROUNDING = 1e-9
"""Of a log10: logarithms up to 5000 of a residual, rounded some hundred times at 2e-16 of their size."""
ASIDE = (-0.04, -0.009, -0.07)
"""Weights of two layers, (yx, xx, yx), from which a descent ends in a local minimum that is not the best."""
CURVED = 1e-4
"""Of a curvature from second differences of a gradient: they are good to the square root of their step, 1e-5."""
SILENT = "uniform-0"
COLUMNS = (*(f"uniform-{sigma_max}" for sigma_max in range(8)), "levels-1-3", "levels-1-3-5")


def entry(noise: str, layers: int) -> Any:
    """The printed loss of GD++, with half a unit of its last digit."""
    from lipverify.linear_transformer.published import printed

    return printed(noise, "GD++", layers)


def floor(noise: str, layers: int) -> dict[str, Any]:
    """The proved floor of so many layers, and with none the loss of the filter g = 0, which is d/2 and what ridge adds."""
    from lipverify.linear_transformer.gdplusplus.floor import gdplusplus_floor
    from lipverify.linear_transformer.published import problem

    found = gdplusplus_floor(problem(noise), layers)
    return {"low": found.value - found.error, "high": found.value + found.error}


def over_ridge(d: int, n: int, layers: int) -> tuple[float, float]:
    """The proved floor of so many layers over the loss of the best constant ridge, at another size; sigma_max = 3."""
    from dataclasses import replace

    from lipverify.linear_transformer.gdplusplus.filters import constant_ridge_loss
    from lipverify.linear_transformer.gdplusplus.floor import gdplusplus_floor
    from lipverify.linear_transformer.published import problem

    here = replace(problem("uniform-3"), d=d, n=n)
    least, ridge = gdplusplus_floor(here, layers), constant_ridge_loss(here)
    value = least.value / ridge.value
    return value, value * (least.error / least.value + ridge.error / ridge.value)


def ratio(value: float, error: float, least: dict[str, Any]) -> tuple[float, float]:
    """(value ± error) over a floor, as (middle, half width)."""
    low, high = (value - error) / least["high"], (value + error) / least["low"]
    return (low + high) / 2, (high - low) / 2


def over_floor(noise: str, layers: int, other: int = 0) -> tuple[float, float]:
    """A printed loss over the floor of its depth, or of another one: `other` layers more."""
    value, rounding = entry(noise, layers)
    return ratio(value, rounding, floor(noise, layers + other))


def best_over_floor(noise: str, layers: int, other: int = 0) -> tuple[float, float]:
    """The least loss that a search found, integrated now, over the floor of its depth, or of another one."""
    value, error = known(noise, layers)["loss"]
    return ratio(value, error, floor(noise, layers + other))


def known(noise: str, layers: int, view: str = "all") -> dict[str, Any]:
    """The best GD++ known over the eigenvalues of a view: its loss and what spoke for it."""
    from lipverify.linear_transformer.gdplusplus.known import known_optimum

    found = known_optimum(noise, layers, VIEWS[view])
    return {
        "loss": (found.loss.value, found.loss.error), "starts": found.starts, "agreeing": found.agreeing,
        "routes": list(found.routes), "reach": found.reach,
    }  # fmt: skip


def log_loss(noise: str, layers: int, made_for: str, view: str) -> tuple[float, float]:
    """log10 of the exact loss, over one view, of the weights that are best over another; with its error."""
    import numpy as np

    from lipverify.linear_transformer.gdplusplus.filters import constant_ridge_loss
    from lipverify.linear_transformer.gdplusplus.known import known_optimum
    from lipverify.linear_transformer.gdplusplus.loss import flat_weights, residual
    from lipverify.linear_transformer.gdplusplus.optimum import excess_loss
    from lipverify.linear_transformer.gdplusplus.spectrum import POINTS
    from lipverify.linear_transformer.published import problem

    weights, found = flat_weights(known_optimum(noise, layers, VIEWS[made_for]).model), []
    for points in (POINTS, POINTS + 4):
        loss = excess_loss(problem(noise), layers, points, VIEWS[view])
        t, s, e = loss.rule.t, loss.noise, residual(weights, loss.rule.t)
        # log (e - s/(t + s))^2, in logarithms because e^2 and its weight are no doubles in the tail
        ideal = s / (t + s)
        with np.errstate(divide="ignore", over="ignore"):
            small = np.log(np.abs(e.sign * np.exp(np.minimum(e.log, 30.0)) - ideal))
        terms = loss.rule.log_weights + np.log1p(s / t) + 2 * np.where(e.log > 30.0, e.log, small)
        excess = float(np.logaddexp.reduce(terms)) - math.log(2)
        ridge = constant_ridge_loss(problem(noise)).value
        found.append((np.logaddexp(excess, math.log(ridge)) if ridge else excess) / math.log(10))
    return float(found[1]), abs(float(found[0] - found[1])) + ROUNDING


def two_minima(noise: str) -> dict[str, tuple[float, float]]:
    """Of two layers: the best and another local minimum over the printed loss; of the latter the loss and the least curvature.

    The other one is followed by Levenberg-Marquardt from one start, `ASIDE`. Curvature is the least eigenvalue of the
    Hessian, scaled to have 1 on its diagonal.
    """
    from lipverify.linear_transformer.gdplusplus.filters import constant_ridge_loss
    from lipverify.linear_transformer.gdplusplus.known import known_optimum
    from lipverify.linear_transformer.gdplusplus.optimum import excess_loss, finished
    from lipverify.linear_transformer.gdplusplus.search import best_ends
    from lipverify.linear_transformer.gdplusplus.spectrum import POINTS
    from lipverify.linear_transformer.published import problem
    from lipverify.optimum.transfer import quotient

    coarse, fine = (excess_loss(problem(noise), 2, points, None) for points in (POINTS, POINTS + 4))
    ridge, ends = constant_ridge_loss(problem(noise)), best_ends(coarse, [np.asarray(ASIDE)])
    one, other = (finished(ridge, loss, fine, ends, 1, ()) for loss in (coarse, fine))
    best, printed = known_optimum(noise, 2, None).loss, entry(noise, 2)
    second = one.loss.value, one.loss.error + one.unfinished * one.loss.value
    return {
        "best": quotient((best.value, best.error), tuple(printed)),
        "second": quotient(second, tuple(printed)),
        "loss": second,
        "curvature": (one.curvature, abs(one.curvature - other.curvature) + CURVED),
    }


def tails(noise: str, layers: int) -> dict[str, tuple[float, float]]:
    """log10 losses: of the weights that are best for each view, over each."""
    return {f"{made_for} on {view}": log_loss(noise, layers, made_for, view) for made_for in VIEWS for view in VIEWS}


def price(noise: str, layers: int, safe: str = "1e9") -> tuple[float, float]:
    """The loss in the mean over 1e5 contexts of weights that are safe for more of them, over the least one there."""
    (one, error), (best, other) = (log_loss(noise, layers, made_for, "1e5") for made_for in (safe, "1e5"))
    value = 10 ** (one - best)
    return value, value * math.log(10) * (error + other)


def explosion(noise: str, layers: int, made_for: str = "1e9") -> tuple[float, float]:
    """log10 of the loss over what 1e9 contexts show, over the least loss on 1e5 of them."""
    (wide, error), (best, other) = log_loss(noise, layers, made_for, "1e9"), log_loss(noise, layers, "1e5", "1e5")
    return wide - best, error + other


def where(**floors: dict[str, Any]) -> str:
    """Which printed entries are below their floor, as they stand and by more than sampling."""
    below: list[str] = []
    far: list[str] = []
    for name, least in floors.items():
        noise, layers = read(name)
        value, rounding = entry(noise, layers)
        if value + rounding < least["low"]:
            said = f"{named(noise)}, {layers} layers: {value:g} where the floor is {least['low']:.6g}"
            (far if value + rounding < (1 - SAMPLING) * least["low"] else below).append(said)
    return (
        f"Below the floor by more than sampling explains, so that no GD++ model has them as its expected loss: {'; '.join(far) or 'none'}. Below it as "
        f"they stand, by less than {SAMPLING:.0%}: {'; '.join(below) or 'none'}. Everywhere else the floor is silent: it is over all filters of the degree, "
        "of which GD++ models are few. The printed entries without noise are means over the eigenvalues that a sample shows; what is expected of such "
        "weights over all contexts is larger by many orders of magnitude, all of it in contexts that no sample shows."
    )  # fmt: skip


def both_minima(**found: dict[str, Any]) -> str:
    """Best, second and printed losses of two layers."""
    told = []
    for name, each in found.items():
        noise = name.replace("_", "-")
        printed = entry(noise, 2).value
        told.append(f"{named(noise)}: {each['best'][0] * printed:.3f}, {each['loss'][0]:.3f}, {printed:g}")
    return (
        f"Best, second local minimum and printed: {'; '.join(told)}. A second local minimum of the expected loss lies near the printed entry under these laws. "
        "Which minimum the printed models are in, and whether longer training would have left it, these numbers do not say."
    )


def read(name: str) -> tuple[str, int]:
    """The law and the depth of a keyword such as uniform_3_at_5."""
    noise, _, layers = name.partition("_at_")
    return noise.replace("_", "-"), int(layers)


def tabulated(**found: Any) -> Table:
    """Printed loss, proved floor, best found over all contexts and over what 1e5 show, with the agreement of searches."""
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
    """Losses of weights that are best for one view, over another."""
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
        caption="GD++ made for the eigenvalues that so many contexts show (rows), and its exact loss over those that so many show (columns).",
        layer="evidence",
        header=("noise", "layers", "made for", "on 1e5", "on 1e9", "on all"),
        rows=tuple(rows),
    )  # fmt: skip


def cost(**found: dict[str, Any]) -> str:
    """What safety costs."""
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
    function: Any, prefix: str = "", noises: Any = COLUMNS, depths: Any = (1, 2, 3, 4, 5), **where: Any
) -> dict[str, Any]:
    """A measurement for every column and depth, by keyword."""
    return {
        f"{prefix}{noise.replace('-', '_')}_at_{layers}": at(function, noise=noise, layers=layers, **where)
        for noise in noises for layers in depths
    }  # fmt: skip


TABLE_1 = Source(
    "V",
    "Table 1",
    "paraphrased: adjusted evaluation losses of trained GD++ models with 1 to 7 layers, by law of the noise",
)
ASSUMED = (
    r"$d = 10$, $n = 20$, $x_i, w^* \sim \mathcal{N}(0, \mathbf{I})$, noiseless query target",
    r"adjusted loss: half the squared error, less that of ridge with the true $\sigma^2$",
    r"only $\omega_{xx}$, $\omega_{yx}$",
)
FLOORS = by_name(floor)
SHOWN = {**FLOORS, **by_name(known, "best_"), **by_name(known, "seen_", view="1e5")}
SAFE = by_name(tails, noises=(SILENT, "uniform-1", "uniform-3"), depths=(3, 4, 5))
SAFE_SILENT = {name: call for name, call in SAFE.items() if name.startswith("uniform_0")}

claim(
    "lt.gd-plus-plus/expectation",
    bound(
        over_floor, r"\frac{\mathcal{L}_{\mathrm{printed}}(\mathrm{GD}^{++}_L)}{\min_{\deg e \leq (3^L - 1)/2} \mathbb{E}\, \mathcal{L}}",
        low=1 - SAMPLING, control=({"other": -1}, 0.25), method="exact",
    ),
    source=TABLE_1,
    kind="stronger",
    expected="refuted",
    over={"noise": SILENT, "layers": per_profile((2, 3, 4, 5, 6), (2, 3, 4, 5, 6, 7))},
    title="the printed losses of GD++ without noise are expected losses",
    assumes=(*ASSUMED, r"$\sigma = 0$", f"a mean over the 100,000 sequences of the table may be {SAMPLING:.0%} below its expectation"),
    finding=at(where, **FLOORS, uniform_0_at_6=at(floor, noise=SILENT, layers=6)),
    tables=at(tabulated, **SHOWN),
    corrected=r"no polynomial of that degree, and so no GD++ model, has an expected loss as small as the printed entries of five and six layers; "
    r"the paper's losses are means over a sample",
)  # fmt: skip
TWO = ("uniform-0", "uniform-1", "uniform-2", "uniform-3", "uniform-4", "levels-1-3")
claim(
    "lt.gd-plus-plus/two-minima",
    bound(two_minima, r"\mathcal{L}_{\mathrm{second}} / \mathcal{L}_{\mathrm{printed}}", of="second", equals=1, within=0.07, control={"high": 0.9}, method=("exact", "observed")),
    bound(two_minima, r"\mathcal{L}_{\mathrm{best}} / \mathcal{L}_{\mathrm{printed}}", of="best", high=0.85, control=0.7, method=("exact", "observed")),
    bound(two_minima, r"\text{least curvature of the second}", of="curvature", low=0, strict=True, control=0.4, method=("exact", "observed")),
    source=TABLE_1,
    kind="stronger",
    expected="supported",
    over={"noise": TWO},
    title="two layers have a second local minimum, near the printed entry, and a better one",
    statement=r"\mathcal{L}_{\mathrm{best}} \leq 0.85\, \mathcal{L}_{\mathrm{printed}}, \qquad |\mathcal{L}_{\mathrm{second}} / \mathcal{L}_{\mathrm{printed}} - 1| \leq 0.07",
    assumes=(*ASSUMED, "two layers, expected losses over all contexts; a local minimum is strict in the three weights that matter"),
    finding=at(both_minima, **{noise.replace("-", "_"): at(two_minima, noise=noise) for noise in TWO}),
)  # fmt: skip
claim(
    "lt.gd-plus-plus/floor",
    bound(
        best_over_floor, r"\frac{\mathcal{L}(\text{best } \mathrm{GD}^{++}_L \text{ found})}{\min_{\deg e \leq (3^L - 1)/2} \mathbb{E}\, \mathcal{L}}",
        low=1, control={"other": -1}, over={"noise": SILENT, "layers": (2, 3, 4, 5)}, method="exact",
    ),
    bound(
        best_over_floor, r"\frac{\mathcal{L}(\text{best } \mathrm{GD}^{++}_L \text{ found})}{\min_{\deg e \leq (3^L - 1)/2} \mathbb{E}\, \mathcal{L}}",
        low=1, control={"other": -1}, over={"noise": COLUMNS[1:], "layers": (2, 3)}, method="exact",
    ),
    source=TABLE_1,
    kind="derived",
    expected="supported",
    title="no GD++ model that a search found is below the proved floor",
    assumes=ASSUMED,
    finding="Two computations that share the density of the eigenvalues alone: the floor is least squares over all polynomials, by moments that are whole "
    "numbers and balls; the best GD++ is a search, its loss an integral by Gauss-Legendre panels.",
)  # fmt: skip
claim(
    "lt.gd-plus-plus/tail-safe",
    bound(
        explosion, r"\log_{10} \frac{\mathcal{L}_{10^9}(\text{made for } 10^9)}{\min \mathcal{L}_{10^5}}", high=1, control={"made_for": "1e5"},
        over={"noise": SILENT, "layers": (3, 4, 5)}, method="exact",
    ),
    bound(
        price, r"\frac{\mathcal{L}_{10^5}(\text{made for } 10^9)}{\min \mathcal{L}_{10^5}}", high=2, control={"safe": "all"},
        over={"noise": SILENT, "layers": (4, 5)}, method="exact",
    ),
    source=TABLE_1,
    kind="stronger",
    expected="supported",
    title="weights that rare contexts cannot explode cost little in the mean",
    assumes=(*ASSUMED, r"$\sigma = 0$", "$\\mathcal{L}_N$: over the eigenvalues that $N$ contexts show"),
    finding=at(cost, **SAFE_SILENT),
    tables=at(exchanged, **SAFE),
)  # fmt: skip
SIZES = {("d", "n"): ((5, 10), (10, 40), (20, 40))}
AT_SIZES = (
    r"$x, w \sim N(0, \mathbf{I})$, noiseless query target, $\sigma \sim \mathrm{Unif}[0, 3]$, the $d$ and $n$ of the cells",
    r"the least loss of all polynomial filters of degree $(3^L - 1)/2 - 1$, of which a GD++ model of $L$ layers is one",
)
OVER_RIDGE = r"\min_{\deg e \leq (3^L - 1)/2} \mathcal{L} \Big/ \mathcal{L}(\mathrm{ConstRR})"
claim(
    "lt.gd-plus-plus/other-sizes",
    bound(at(over_ridge, layers=3), OVER_RIDGE, low=1, strict=True, control=1.01, method="exact"),
    source=TABLE_1,
    kind="stronger",
    expected="supported",
    over=SIZES,
    title="at other sizes, too, GD++ stays above the best constant ridge",
    assumes=AT_SIZES,
    finding="As for $d = 10$, $n = 20$: the best constant ridge is the limit of depth, and three layers leave room to come within a percent of it.",
)
claim(
    "lt.gd-plus-plus/other-sizes/two-layers",
    bound(over_ridge, OVER_RIDGE, low=1.05, control={"layers": 3}, over={**SIZES, "layers": 2}, method="exact"),
    source=TABLE_1,
    kind="stronger",
    expected="supported",
    title="at other sizes, too, two layers of GD++ are too few",
    assumes=AT_SIZES,
    finding="With two layers $e$ is of degree 4, and has as many eigenvalues to serve as there are dimensions.",
)
