r"""Table 1: trained models of 1 to 7 layers beside the printed losses and the ridge baselines, entry by entry.

Nothing is trained here: the models are witnesses (`models/`), which are evaluated on fresh contexts. `lipverify train
lt.table-1` makes them anew.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from lipverify.claims import Figure, Panel, Series, Source, Table, agree, at, bound, claim, needs
from lipverify.claims.plan.trained import DEPTHS, HALF_WIDTH, NOISE_LAWS, SAMPLES, column, compared, named, whole

SHOWN = "uniform-3"
ROWS = {"gdpp": "GD++", "diag": "DIAG", "full": "FULL"}
BASELINES = ("ConstRR", "AdaRR", "TunedRR")
ERRORS = 3.5
"""Standard errors that a printed number may be off: of 240 entries one is farther off by chance in one of nine tables."""
TENTH = 0.1
"""Share of a printed number that makes no difference: a claim says that it was met to a tenth, beyond what noise explains."""
ROUNDING = 1e-20
"""What squares of rounding errors may reach: without noise ridge loses nothing, and 0 is printed."""
NOTHING = 1e-10
"""What stands in for a multiple of a printed 0, in the control."""
BESIDE = {"above": "▲", "below": "▼", "at": "="}
VERDICTS = ("above", "at", "below", "not decided", "not trained")


def entry(noise: str, model: str, layers: int = 0) -> Any:
    """What is printed there, with half a unit of its last digit."""
    from lipverify.linear_transformer.published import printed

    return printed(noise, model, layers)


@needs(found=column)
def reproduced(
    noise: str, model: str, layers: int, contexts: int, samples: int, seed: int, found: list[Any], times: float = 1.0
) -> dict[str, Any]:
    """How far the loss is from the printed one, in units of a tenth of that and what its noise explains; the loss, twice."""
    here, model = compared(found[0]), ROWS.get(model, model)
    if not here.has(model, layers):
        missing = f"it was not trained: `lipverify train lt.table-1 --noise {noise} --family {model} --layers {layers}`"
        return dict.fromkeys(("distance", "loss", "protocol"), (0.0, math.inf, missing))
    one, printed = here.of(model, layers), entry(noise, model, layers).value
    value, unit = times * printed or (times - 1) * NOTHING, explained(noise, one) + TENTH * printed
    away = (
        (0.0, 0.0, "")
        if one.loss.value < ROUNDING
        else (one.loss.value, one.half_width(one.loss, HALF_WIDTH), one.doubtful)
    )
    return {
        "distance": ((away[0] - value) / unit, away[1] / unit, away[2]),
        "loss": (one.each[0].value, 2 * one.each[0].standard_error),
        "protocol": (one.protocol.value, 2 * one.protocol.standard_error),
    }


def explained(noise: str, one: Any) -> float:
    """What rounding and noise explain of the difference from a printed number."""
    return float(entry(noise, one.model, one.layers).rounding + ERRORS * one.printed_error) or ROUNDING


def side(noise: str, one: Any) -> str:
    """Where an entry is beside the printed number: above or below it by more than both errors explain, or at it."""
    away = one.loss.value - entry(noise, one.model, one.layers).value
    if one.doubtful and one.loss.value > ROUNDING:
        return "not decided"
    if abs(away) <= explained(noise, one) + one.half_width(one.loss, HALF_WIDTH):
        return "at"
    return "above" if away > 0 else "below"


def sides(noise: str, model: str, found: Any) -> dict[int, str]:
    """The same by depth, for every depth of the table."""
    here = compared(found)
    depths = DEPTHS if model in ROWS.values() else (0,)
    return {k: side(noise, here.of(model, k)) if here.has(model, k) else "not trained" for k in depths}


def concise(mean: Any, spread: float = 0.0) -> str:
    """A mean with its standard error, or that of its trainings where it is larger, in units of the last digit."""
    error = max(mean.standard_error, spread / 2 if spread < math.inf else 0.0)
    if not 0 < error < math.inf:
        return f"{mean.value:.4g}"
    places = -math.floor(math.log10(error))
    power = math.floor(math.log10(abs(mean.value))) if places > 6 and mean.value else 0
    shown = f"{mean.value / 10**power:.{max(places + power, 0)}f}({round(error * 10**places)})"
    return shown + (f"e{power}" if power else "") + ("" if mean.trusted else "*")


def shown(noise: str, model: str, layers: int, found: Any) -> str:
    """What is measured, and where that is beside the printed number; two digits of what no error is known of."""
    here = compared(found)
    if not here.has(model, layers):
        return "–"
    one = here.of(model, layers)
    if (where := side(noise, one)) == "not decided":
        return f"{one.loss.value:.2g} ?"
    return f"{concise(one.loss, one.spread)} {BESIDE[where]}"


def table_of(model: str, **columns: Any) -> Table:
    """All entries of a model."""
    name = ROWS[model]
    rows = []
    for k in DEPTHS:
        rows.append((str(k), "printed", *(f"{entry(noise, name, k).value:.3g}" for noise in columns)))
        rows.append(("", "measured", *(shown(noise, name, k, found) for noise, found in columns.items())))
    return Table(
        caption=f"{name}, by layers and law of the noise; in brackets the standard error of the contexts or of the mean over trainings, whichever is larger, in "
        "units of the last digit. ▲ above, = at, ▼ below the printed number by more than both errors; ? not decided, for rare contexts rule the mean",
        header=("layers", "", *map(named, columns)),
        rows=tuple(rows),
    )  # fmt: skip


def counted(model: str, **columns: Any) -> str:
    """How many entries are above, at and below, and which are the farthest."""
    name, found = ROWS.get(model, model), list(columns.items())
    said = [verdict for noise, each in found for verdict in sides(noise, name, each).values()]
    counts = ", ".join(f"{said.count(verdict)} {verdict}" for verdict in VERDICTS if verdict in said)
    below = sorted(farthest(name, found))[:3]
    words = "; ".join(
        f"{named(noise)}, {k} layers: {loss:.3g} (printed {printed:.3g})" for _, noise, k, loss, printed in below
    )
    return f"Of {len(said)} entries {counts}, by more than both errors." + (
        f" Farthest below: {words}." if below else ""
    )


def farthest(name: str, found: list[tuple[str, Any]]) -> Iterator[tuple[float, str, int, float, float]]:
    """(quotient, law, layers, loss, printed) of the entries below."""
    for noise, each in found:
        for k, verdict in sides(noise, name, each).items():
            if verdict == "below":
                loss, printed = compared(each).of(name, k).loss.value, entry(noise, name, k).value
                yield loss / printed, noise, k, loss, printed


def beside(model: str, noise: str, found: Any) -> str:
    """Which depths are above, at or below."""
    name, said = ROWS[model], []
    here = compared(found)
    trainings = sorted({len(here.of(name, k).each) for k in here.depths(name)}) if name != "GD++" else []
    for verdict in VERDICTS:
        depths = [k for k, each in sides(noise, name, found).items() if each == verdict]
        told = ", ".join(f"{k} ({measured(name, noise, k, found)})" for k in depths)
        said += [f"{verdict.capitalize()}: {told}"] if depths else []
    behind = (
        f" Trainings behind an entry: {' to '.join(map(str, dict.fromkeys((*trainings[:1], *trainings[-1:]))))}."
        if trainings
        else ""
    )
    return f"By layers, with the loss that is measured and the printed one. {'; '.join(said)}.{behind} {spread_of_samples(name, found)}".strip()


def measured(name: str, noise: str, layers: int, found: Any) -> str:
    """Both losses of an entry."""
    here, printed = compared(found), entry(noise, name, layers).value
    return f"{here.of(name, layers).loss.value:.3g} for {printed:.3g}" if here.has(name, layers) else f"{printed:.3g}"


def spread_of_samples(name: str, found: Any) -> str:
    """Where rare contexts rule: the means of the independent samples."""
    here = compared(found)
    rare = [one for one in (here.of(name, k) for k in here.depths(name)) if not one.loss.trusted]
    if not rare:
        return ""
    each = "; ".join(f"{one.layers} layers {min(one.samples):.3g} to {max(one.samples):.3g}" for one in rare)
    count = len(rare[0].samples)
    return (
        f"Rare contexts rule the mean, over {count} independent sample{'s' * (count > 1)} of the paper's size: {each}."
    )


def tabulated(noise: str, found: Any) -> Table:
    """Printed and measured losses, and paired differences from the baselines."""
    from lipverify.linear_transformer.training.comparison import ESTIMATORS

    here, body = compared(found), []
    for one in sorted(here.entries, key=lambda each: (each.layers == 0, each.layers)):
        printed = (
            f"{entry(noise, one.model, one.layers).value:.4g}" if one.model in (*ROWS.values(), *BASELINES) else "–"
        )
        less = [concise(each) for each in one.less] if one.layers else [""] * len(ESTIMATORS)
        body.append(
            (str(one.layers or "–"), one.model, printed, concise(one.loss, one.spread), str(len(one.each)), *less)
        )
    return Table(
        caption=f"{named(noise)}: adjusted losses, printed and measured, how many trainings are behind them, and the paired difference from each baseline; in "
        "brackets the standard error in units of the last digit. OMEGA is DIAG with four free weights (two diagonal heads), SAFE and SAFEFULL were trained on rare contexts too; Bayes is the floor of not "
        "knowing $\\sigma$. * rare contexts rule the mean, and its error is not to be believed",
        layer="evidence",
        header=("layers", "model", "printed", "measured", "trainings", *(f"− {name}" for name in ESTIMATORS)),
        rows=tuple(body),
    )  # fmt: skip


def drawn(noise: str, found: Any) -> Figure:
    """Loss against depth: measured, printed, and the baselines."""
    from lipverify.linear_transformer.training.comparison import ESTIMATORS

    here, series = compared(found), []
    for model in dict.fromkeys(one.model for one in here.entries if one.layers and not one.model.startswith("SAFE")):
        depths = here.depths(model)
        ours = [here.of(model, k) for k in depths]
        error = tuple(one.half_width(one.loss, HALF_WIDTH) if not one.doubtful else 0.0 for one in ours)
        y = tuple(one.loss.value for one in ours)
        series.append(Series(label=model, x=tuple(map(float, depths)), y=y, error=error))
    for model in ROWS.values():
        y = tuple(entry(noise, model, k).value for k in DEPTHS)
        series.append(Series(label=f"{model}, printed", x=tuple(map(float, DEPTHS)), y=y, style="points"))
    levels = [(name, here.of_baseline(name).value) for name in ESTIMATORS if here.of_baseline(name).value > ROUNDING]
    ends = (float(DEPTHS[0]), float(DEPTHS[-1]))
    series += [Series(label=name, x=ends, y=(loss, loss), style="dashed") for name, loss in levels]
    panel = Panel(
        title=f"loss by layers, {named(noise)}", xlabel="layers", ylabel="adjusted loss", xscale="linear", series=tuple(series)
    )  # fmt: skip
    caption = f"Adjusted loss against depth, {named(noise)}: measured (lines), printed (points) and baselines (dashed)."
    alt = "Curves that fall with depth: GD++ levels off at ConstRR, DIAG, OMEGA and FULL go on to fall towards TunedRR and Bayes."
    # one law stands for all on the first page, whichever columns are refuted
    return Figure(caption=caption, alt=alt, panels=(panel,), layer="front" if noise == SHOWN else "evidence")


TABLE_1 = Source(
    "V",
    "Table 1",
    "paraphrased: adjusted evaluation losses of trained GD++, DIAG and FULL models with 1 to 7 layers, by law of the noise",
)
ASSUMED = (
    r"$d = 10$, $n = 20$, $x_i, w^* \sim \mathcal{N}(0, \mathbf{I})$, noiseless query target",
    r"adjusted loss: half the squared error, less that of ridge with the true $\sigma^2$",
)
TRAINED_HERE = (
    "three trainings a model, each the best of several starts on one seed: the model with a layer less and one put in, the best GD++ (DIAG), DIAG of the same "
    "depth (FULL), also with a column $P_{xy}$ planted in one layer, and random ones; which start won is in the file of the model",
)
WORDS = {
    "*gdpp*": (
        r"only $\omega_{xx}$, $\omega_{yx}$, at the best minimum that was found over the eigenvalues that 100,000 contexts show; nothing is trained",
    ),
    "*diag*": ("one diagonal head", *TRAINED_HERE),
    "*full*": ("one head with free matrices", *TRAINED_HERE),
    "*": (),
}
SAMPLE = (
    "a printed loss is a mean over 100,000 sequences, on which ridge with the true variance was measured too",
    "a measured loss is the mean over as many fresh contexts, all of the worst of which are kept and the others thinned",
)
TRAINED: dict[str, Any] = {
    "source": TABLE_1,
    "assumes": {pattern: (*ASSUMED, *SAMPLE, *words) for pattern, words in WORDS.items()},
}
COLUMNS = {noise: at(whole, noise=noise, **SAMPLES) for noise in NOISE_LAWS}
DISTANCE = rf"\frac{{\mathcal{{L}} - \mathcal{{L}}_{{\mathrm{{printed}}}}}}{{{TENTH:g}\, \mathcal{{L}}_{{\mathrm{{printed}}}} + \text{{rounding}} + {ERRORS:g}\, \mathrm{{s.e.}}}}"
HOW: dict[str, Any] = {"of": "distance"}
TWICE = agree(
    at(reproduced, **SAMPLES), at(reproduced, **SAMPLES), r"\mathcal{L}", of=("loss", "protocol"), methods=("conditional expectation", "protocol"), over={"layers": (1, 2)}
)  # fmt: skip

claim(
    "lt.table-1/reached/{model}",
    bound(
        at(reproduced, **SAMPLES), DISTANCE, high=1, control={"times": 0.1}, method=("montecarlo", "observed"), **HOW
    ),
    kind="printed",
    expected="inconclusive",
    over={"model": tuple(ROWS), "noise": NOISE_LAWS[1:], "layers": DEPTHS},
    title={f"reached/{model}": f"every printed loss of {name} is reached" for model, name in ROWS.items()},
    statement=r"\mathcal{L}_{\mathrm{trained}} \leq \mathcal{L}_{\mathrm{printed}} \quad \text{at every depth, under every law of the noise but } \sigma = 0",
    finding=at(counted, **COLUMNS),
    tables=at(table_of, **COLUMNS),
    **TRAINED,
)
claim(
    "lt.table-1/{model}/{noise}",
    bound(
        at(reproduced, **SAMPLES),
        DISTANCE,
        equals=0,
        within=1,
        control={"times": "near"},
        method=("montecarlo", "observed"),
        **HOW,
    ),
    kind="convention",
    expected={
        **dict.fromkeys(
            (
                "gdpp/uniform-5",
                "gdpp/uniform-6",
                "gdpp/uniform-7",
                "gdpp/levels-1-3-5",
                "full/uniform-4",
                "full/uniform-6",
                *(f"diag/uniform-{k}" for k in range(2, 7)),
            ),
            "supported",
        ),
        "gdpp/uniform-4": "inconclusive",
        "gdpp/*": "refuted",
        **dict.fromkeys(("diag/uniform-0", "full/uniform-0"), "refuted"),
        "*": "inconclusive",
    },
    over={
        "model": {model: {"near": "1.5" if model == "gdpp" else "2"} for model in ROWS},
        "noise": NOISE_LAWS,
        "layers": DEPTHS,
    },
    agrees=TWICE,
    title={f"{model}/*": f"the printed losses of {name} are those of trained models" for model, name in ROWS.items()},
    statement=r"\mathcal{L}_{\mathrm{trained}} = \mathcal{L}_{\mathrm{printed}} \quad \text{at every depth, to a tenth and the noise of both}",
    finding=at(beside, found=at(whole, **SAMPLES)),
    figures={"full/*": at(drawn, found=at(whole, **SAMPLES)), "*": ()},
    tables={"full/*": at(tabulated, found=at(whole, **SAMPLES)), "*": ()},
    corrected="where the measured loss is below the printed one, other weights of the same form lose less",
    **TRAINED,
)
claim(
    "lt.table-1/baselines/{noise}",
    bound(at(reproduced, **SAMPLES), DISTANCE, equals=0, within=1, control={"times": 1.7}, **HOW),
    kind="printed",
    expected="supported",
    over={"noise": NOISE_LAWS, "model": BASELINES, "layers": 0},
    title="the printed ridge baselines",
    statement=r"\mathcal{L} = \mathcal{L}_{\mathrm{printed}} \quad \text{to a tenth and the noise of both}",
    **TRAINED,
)
