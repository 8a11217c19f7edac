r"""Diagonal models whose loss does not explode on rare contexts, and what that costs in the mean.

A mean over 100,000 contexts does not see what one in 10^9 does to a polynomial of degree 3^L: DIAG of four, six and
seven layers loses there more than any number. SAFE has the form of DIAG, and was trained on contexts of every decade
of rareness down to one in 10^12.
"""

from __future__ import annotations

import math
from typing import Any

from lipverify.claims import Figure, Panel, Series, Source, at, bound, claim, needs, per_profile
from lipverify.claims.plan.trained import CAPPED, DEPTHS, HALF_WIDTH, SAMPLES, column, named, seed_by_seed

FAMILIES = ("SAFE", "DIAG")

LAWS = ("uniform-3", "levels-1-3")
DEEP, CURVES = DEPTHS[2:], (3, 5, 7)
EXPLODING = (4, 6, 7)
"""Depths at which DIAG explodes, the control; with five layers it happens to have weights that do not. Three layers of SAFE are
near the line: the evidence shows them."""
POPULATION: dict[str, Any] = {"population": per_profile(1024, 4096)}
RAREST = 9
"""One context in 10^9."""
MOST = 10.0
"""What a context counts at most, in units of the mean of what the prediction 0 loses."""
BEYOND = 300.0
"""The logarithm of what a double no longer holds."""
FREE = ("SAFEFULL", "FULL")
LESS = "SAFEFULL less FULL"
SHOWING = 6
LED_BACK = ("uniform-1", "levels-1-3")
"""Laws under which FULL of six and seven layers explodes on enough contexts as rare as one in 10^`SHOWING` to be counted."""
FREE_POPULATION: dict[str, Any] = {"population": per_profile(2048, 8192)}
PRICED = ("uniform-5", "uniform-7")
"""Laws under which no training of FULL with five layers explodes in the mean."""
SHOWN = 6
"""The logarithm of the largest quotient that is drawn."""
CHEAP = 1.2
"""The quotient of mean losses up to which safety is called cheap here."""


Logarithm = tuple[float, float, float]
"""log10 of a quotient of mean losses where a context counts `MOST` at most, its error, and the same without that limit."""


def by_decade(noise: str, population: int, seed: int) -> list[dict[str, list[Logarithm]]]:
    """By decade of rareness: what every training of DIAG and SAFE loses there, over what the prediction 0 loses.

    The keys are family and layers, such as "SAFE-3"; the lists go over the seeds of the trainings. Depths are `DEEP` where
    contexts are rarest, and before that those that are drawn as curves.
    """
    import numpy as np

    from lipverify.linear_transformer.published import problem
    from lipverify.linear_transformer.regression.adjusted import evaluation
    from lipverify.linear_transformer.regression.rare import decades
    from lipverify.linear_transformer.training.witness import trainings

    found = []
    for decade in decades(problem(noise), RAREST + 1, seed, f"tail-safe/{noise}", population=population):
        few = evaluation(decade.contexts)
        nothing = (few.oracle**2).sum(axis=1) / 2
        with np.errstate(over="ignore", invalid="ignore"):
            found.append(
                {
                    f"{family}-{k}": [over(few.losses(each), nothing) for each in trainings(noise, family, k)]
                    for family in FAMILIES
                    for k in (DEEP if decade.number == RAREST else CURVES)
                }
            )
    return found


def over(losses: Any, nothing: Any) -> Logarithm:
    """The logarithm of a quotient of means over the contexts of a decade, of which a tenth have ancestors of their own.

    Without its limit few contexts of many would rule the mean of a model, and whether they are drawn is chance.
    """
    import numpy as np

    unit, whole = float(nothing.mean()), float(losses.mean())
    limited = np.fmin(losses / unit, MOST)
    mean = float(limited.mean())
    parts = limited / mean - nothing / unit
    error = HALF_WIDTH * math.sqrt(10 * float((parts**2).mean()) / len(parts))
    beyond = math.log10(whole / unit) if whole < 10.0**BEYOND else BEYOND
    return math.log10(mean), error / math.log(10), beyond


def decades_of(noise: str, population: int, seed: int) -> list[Any]:
    """What claims about rare contexts need."""
    return [at(by_decade, noise=noise, population=population, seed=seed)]


@needs(found=decades_of)
def at_rarest(
    noise: str, layers: int, population: int, seed: int, found: list[Any], family: str = "SAFE"
) -> tuple[float, float, str]:
    """The worst of the trainings where one context in 10^9 is."""
    from lipverify.linear_transformer.training.comparison import TRAININGS

    each = found[0][RAREST][f"{family}-{layers}"]
    if len(each) < TRAININGS:
        return 0.0, math.inf, f"{len(each)} of {TRAININGS} trainings are there: see `lipverify train --help`"
    value, error, _ = max(map(tuple, each))
    return value, error, ""


@needs(found=column)
def price(
    noise: str,
    layers: int,
    contexts: int,
    samples: int,
    seed: int,
    families: tuple[str, str],
    found: list[Any],
    times: float = 1.0,
) -> tuple[float, float, str]:
    """The mean loss of the first of two families over that of the second, times a number."""
    return seed_by_seed(found[0], *families, layers, times)


def exploding(noise: str, population: int, seed: int) -> dict[str, tuple[float, float, str]]:
    """The share of contexts as rare as one in 10^`SHOWING` on which a model loses more than the prediction 0 does.

    The mean over the trainings, of SAFEFULL and of FULL and the first less the second; the keys are these and the layers.
    """
    import numpy as np

    from lipverify.linear_transformer.published import problem
    from lipverify.linear_transformer.regression.adjusted import evaluation
    from lipverify.linear_transformer.regression.rare import decades
    from lipverify.linear_transformer.training.comparison import TRAININGS
    from lipverify.linear_transformer.training.witness import trainings

    *_, decade = decades(problem(noise), SHOWING + 1, seed, f"tail-safe/{noise}", population=population)
    few = evaluation(decade.contexts)
    found: dict[str, tuple[float, float, str]] = {}
    nothing = float((few.oracle**2).sum(axis=1).mean()) / 2
    for k in DEPTHS[4:]:
        with np.errstate(over="ignore", invalid="ignore"):
            bad = [[~(few.losses(each) <= nothing) for each in trainings(noise, family, k)] for family in FREE]
        least = min(map(len, bad))
        if least < TRAININGS:
            missing = (0.0, math.inf, f"{least} of {TRAININGS} trainings are there")
            found |= {f"{key}-{k}": missing for key in (*FREE, LESS)}
            continue
        led, free = (np.mean(each, axis=0) for each in bad)
        found |= {
            f"{key}-{k}": (*share(of), "") for key, of in zip((*FREE, LESS), (led, free, led - free), strict=True)
        }
    return found


def share(values: Any) -> tuple[float, float]:
    """The mean over the contexts of a decade, a tenth of which have ancestors of their own.

    To the sum of squared deviations that of one context more is added, which leaves an error where none is seen.
    """
    mean = float(values.mean())
    return mean, HALF_WIDTH * math.sqrt(10 * (float(((values - mean) ** 2).sum()) + 1)) / len(values)


@needs(found=lambda noise, population, seed: [at(exploding, noise=noise, population=population, seed=seed)])
def fewer(
    noise: str, layers: int, population: int, seed: int, found: list[Any], sign: int = 1
) -> tuple[float, float, str]:
    """The share of SAFEFULL less that of FULL, or the other way round."""
    value, error, why = found[0][f"{LESS}-{layers}"]
    return sign * value, error, why


def told(noise: str, found: Any, **prices: Any) -> str:
    """What both lose where one context in 10^9 is, by depth, and the price."""
    said = []
    for k in DEEP:
        safe, unsafe = (
            max(each[-1] for each in found[RAREST][f"{family}-{k}"] or [(math.nan,)]) for family in FAMILIES
        )
        value, error, _ = prices[f"layers_{k}"]
        loses = "more than a double holds" if unsafe >= BEYOND else f"10^{{{unsafe:.1f}}}"
        said.append(
            f"{k} layers: DIAG {f'${loses}$' if unsafe < BEYOND else loses}, SAFE {10**safe:.2g}, and in the mean {value:.3f} ± {error:.1g} of DIAG"
        )
    return (
        f"At {named(noise)}, on contexts as rare as one in $10^9$, over what the prediction 0 loses there, the worst of three trainings: {'; '.join(said)}."
    )  # fmt: skip


def told_of_free(noise: str, found: Any) -> str:
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
    for family in FAMILIES:
        for k in CURVES:
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
        ylabel="loss over that of the prediction 0",
        series=tuple(series),
    )
    return Figure(
        caption=f"Mean loss of contexts as large as a share of all is, over what the prediction 0 loses there; losses beyond $10^{{{SHOWN}}}$ are drawn there.",
        alt="Curves of DIAG leave the picture where contexts are rare; those of SAFE stay far below 1.",
        panels=(panel,),
    )  # fmt: skip


ASSUMED = (
    r"$d = 10$, $n = 20$, $x_i, w^* \sim \mathcal{N}(0, \mathbf{I})$, noiseless query target; adjusted losses; one diagonal head a layer",
    "SAFE: trained on contexts of every decade of rareness down to one in $10^{12}$, each of which counts half as much as the one before it; three trainings a model",
)
SOURCE = Source("V", "Section 6", "paraphrased: adjusted evaluation losses: means over 100,000 sequences")

FREE_FORM = (
    ASSUMED[0].replace("one diagonal head", "one head with free matrices"),
    "SAFEFULL: goes on from FULL with contexts of every decade of rareness to one in $10^8$, on which a loss counts as a logarithm where it is large; three trainings a model",
)

claim(
    "lt.tail-safe/rare/{noise}",
    bound(
        at(at_rarest, **POPULATION), r"\log_{10} \frac{\mathcal{L}_{10^{-9}}(\text{SAFE})}{\mathcal{L}_{10^{-9}}(0)}", high=0, control={"family": "DIAG"},
        method=("montecarlo", "observed"),
    ),
    source=SOURCE,
    kind="stronger",
    expected="supported",
    over={"noise": LAWS, "layers": EXPLODING},
    title="diagonal models that no rare context explodes",
    assumes=(*ASSUMED, rf"$\mathcal{{L}}_{{10^{{-9}}}}$: the mean over contexts whose rescaled moments are as large as those of one in $10^9$, which multilevel splitting draws; one counts as at most {MOST:g} times what the prediction 0 loses"),
    finding=at(told, found=at(by_decade, **POPULATION), **{f"layers_{k}": at(price, layers=k, families=FAMILIES, **SAMPLES) for k in DEEP}),
    figures=at(rareness, found=at(by_decade, **POPULATION)),
)  # fmt: skip
claim(
    "lt.tail-safe/price/{noise}",
    bound(
        at(price, **SAMPLES, families=FAMILIES), r"\mathcal{L}(\text{SAFE}) / \mathcal{L}(\text{DIAG})", high=CHEAP, control={"times": 1.5},
        method=("montecarlo", "observed"),
    ),
    source=SOURCE,
    kind="stronger",
    expected="supported",
    over={"noise": LAWS, "layers": DEEP[1:]},
    title="from four layers on, safety from rare contexts costs little in the mean",
    assumes=(*ASSUMED, f"little: a mean loss at most {CHEAP:g} times as large", CAPPED),
)  # fmt: skip
claim(
    "lt.tail-safe/full/{noise}",
    bound(
        at(fewer, **FREE_POPULATION), r"p(\text{SAFEFULL}) - p(\text{FULL})", high=0, strict=True, control={"sign": -1},
        method=("montecarlo", "observed"),
    ),
    source=SOURCE,
    kind="stronger",
    expected="supported",
    over={"noise": LED_BACK, "layers": DEPTHS[5:]},
    title="free matrices led back explode on fewer rare contexts",
    assumes=(
        *FREE_FORM,
        f"p: the share of contexts as rare as one in $10^{SHOWING}$, by the size of their rescaled moments, on which the loss is more than the mean of what the prediction 0 loses there",
    ),
    finding=at(told_of_free, found=at(exploding, **FREE_POPULATION)),
)  # fmt: skip
claim(
    "lt.tail-safe/full-price/{noise}",
    bound(
        at(price, **SAMPLES, families=FREE), r"\mathcal{L}(\text{SAFEFULL}) / \mathcal{L}(\text{FULL})", high=CHEAP, control={"times": 1.5},
        method=("montecarlo", "observed"),
    ),
    source=SOURCE,
    kind="stronger",
    expected="supported",
    over={"noise": PRICED, "layers": 5},
    title="leading free matrices back costs little in the mean",
    assumes=(*FREE_FORM, f"little: a mean loss at most {CHEAP:g} times as large; five layers, where no training of FULL explodes in the mean", CAPPED),
)  # fmt: skip
