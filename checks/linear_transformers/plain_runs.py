"""The end of training as the paper trains, compared with the printed entries and with the best models known of the same form."""

from __future__ import annotations

import math
from typing import Any

from lipverify.checks.linear_transformers.independent_tables import FORMS, median
from lipverify.checks.linear_transformers.noise_levels import HALF_WIDTH
from lipverify.checks.linear_transformers.quantities import Value, printed
from lipverify.checks.linear_transformers.table_figures import short
from lipverify.claims import Table, at, bound, per_profile

CONTEXTS: dict[str, Any] = {"contexts": per_profile(65_536, 131_072)}
"""Contexts, selected from sixteen times as many with the worst of them all (`thinned`)."""
NODES = 96
"""Nodes of the rule for the law of the noise."""
OF_A_TABLE = 4096
"""Contexts of a table: they stand for 65,536, about as many as a printed loss is the mean of."""


def best_known(noise: str, form: str, layers: int, families: tuple[str, ...] = ()) -> Any:
    """The best shipped model of a form, DIAG or FULL, by its median over tables.

    `families` are those to choose from; by default all whose models have this form.
    """
    from statistics import median

    from lipverify.linear_transformer import stored_tables, trainings

    means = stored_tables(noise).means
    names = [(each, seed) for each in families or FORMS[form] for seed in trainings(noise, each, layers)]
    family, seed = min(names, key=lambda name: median(means[f"{name[0]}-{layers}-{name[1]}"]))
    return trainings(noise, family, layers)[seed]


def ridge_loss(noise: str) -> float:
    """The loss of ridge regression with the true variance, 1/2 E tr sigma^2 / (Sigma + sigma^2), which adjusted losses subtract."""
    import numpy as np

    from lipverify.linear_transformer import regression_named, spectral_mean

    here = regression_named(noise)
    sigma, weight = here.noise.nodes(NODES)
    shrinkage = spectral_mean(lambda t: (sigma**2 / np.add.outer(t, sigma**2)) @ weight, int(here.n), here.d)[0]
    return here.d / 2 * shrinkage


def endpoints(noise: str, contexts: int, seed: int) -> dict[str, Value]:
    """By form and depth: the loss of the best of five plain trainings, and the logs of two of its quotients.

    Keys are such as "DIAG 2", "DIAG 2 over printed" and "DIAG 2 over known", where known means the best model known of
    that form. Losses of GD++ are expected ones by quadrature, the others means over fresh contexts. Rare contexts can
    dominate the mean of the best model known, so the quotient is the median over tables, both models on the same.
    """
    import numpy as np

    from lipverify.checks.linear_transformers.gdplusplus_losses import expected, flat
    from lipverify.linear_transformer import evaluation, known_optimum, regression_named, runs, thinned

    drawn, share = thinned(regression_named(noise), contexts, seed, f"plain/{noise}")
    fresh, shares, values = evaluation(drawn, share), share.reshape(-1, OF_A_TABLE), dict[str, Value]()

    def in_tables(losses: Any) -> Any:
        """The mean loss in each table."""
        return np.average(losses.reshape(-1, OF_A_TABLE), axis=1, weights=shares)

    for family, k in runs(noise).models:
        run, entry, name = runs(noise).best(family, k), printed(noise, family, k), f"{family} {k}"
        if family == "GD++":
            value, error = expected(noise, k, flat(run))
            least = known_optimum(noise, k, None).loss
            values[f"{name} over known"] = math.log(value / least.value), error / value + least.error / least.value
        else:
            trained, best = map(fresh.losses, (run, best_known(noise, family, k)))
            mean = fresh.mean(trained)
            value, error = mean.value, HALF_WIDTH * mean.standard_error if mean.trusted else math.inf
            values[f"{name} over known"] = median(np.log(in_tables(trained) / in_tables(best)))
        values[name] = value, error
        values[f"{name} over printed"] = math.log(value / entry.value), error / value + entry.rounding / entry.value
    return values


def quotient(family: str, layers: int, against: str, endpoints: Any, times: float = 1.0) -> Value:
    """The logarithm of `times` one of these quotients."""
    value, error = endpoints[f"{family} {layers} over {against}"]
    return value + math.log(times), error


def plain(against: str, family: Any, layers: Any, **bounds: Any) -> Any:
    """The claim of a bound on the log of the loss of plain training divided by the printed one, or by the best one known."""
    return bound(
        at(quotient, endpoints=at(endpoints, noise="uniform-3", **CONTEXTS)),
        rf"\log(\mathcal{{L}}_{{\mathrm{{Adam}}}} / \mathcal{{L}}_{{\mathrm{{{against}}}}})",
        method=("montecarlo", "observed"),
        over={"against": against, "family": family, "layers": layers},
        **bounds,
    )


def endpoint_table(endpoints: dict[str, Value]) -> Table:
    """Printed entry, plain training and the best model known, by form and depth."""
    from lipverify.linear_transformer import runs

    rows = []
    for family, k in runs("uniform-3").models:
        name, run = f"{family} {k}", runs("uniform-3").best(family, k)
        (value, error), (over, spread) = endpoints[name], endpoints[f"{name} over known"]
        known = value * math.exp(-over), value * math.exp(-over) * spread
        cells = (f"{run.steps}", f"{printed('uniform-3', family, k).value:.3g}", short(value, error), short(*known))
        rows.append((family, str(k), *cells))
    return Table(
        caption=r"$\sigma_{\max} = 3$: the printed loss, the best of five plain trainings with the given number of steps, and the best model known of the same form, on "
        "the same fresh contexts; in brackets the error in units of the last digit.",
        header=("model", "layers", "steps", "printed", "plain training", "best known"),
        rows=tuple(rows),
    )


ENDPOINTS = at(endpoint_table, endpoints=at(endpoints, noise="uniform-3", **CONTEXTS))
