"""The lineage of trained models, each grown from shorter and narrower ones, and the effort for each.

Every model starts from the model with one layer less and a layer inserted, and from random weights. All families but
DIAG also start from DIAG of the same depth, DIAG and SAFE from a minimum of GD++, and LOWRANK from FULL projected to
its form. SAFEFULL starts only from FULL of the same depth and seed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lipverify.linear_transformer.families import Diag, LowRank, SafeFull, family_named
from lipverify.linear_transformer.gdplusplus.optimum import grown_gdplusplus
from lipverify.linear_transformer.published import address_of, problem
from lipverify.linear_transformer.regression.adjusted import SEQUENCES
from lipverify.linear_transformer.training.growth import Start, inserted, of_gdplusplus, random_starts, widened
from lipverify.linear_transformer.training.objective import Arithmetic
from lipverify.linear_transformer.training.record import Trained
from lipverify.linear_transformer.training.stages import Plan, Stage, fit

NARROW = Plan((Stage(2048, 60, 2, 1.0), Stage(8192, 120, 0, 1e3), Stage(32_768, 60, 0, 1e5)), draws=1, random=2)
"""Effort for families of at most four weights a layer."""
WIDE = Plan((Stage(2048, 100, 1, 1.0), Stage(8192, 200, 0, 1e4), Stage(32_768, 150, 0, 1e6)), draws=1, random=2)
"""Effort for families whose layers are matrices, up to `SHALLOW` layers."""
DEEP = Plan((Stage(2048, 100, 1, 1.0), Stage(8192, 600, 0, 1e4), Stage(32_768, 300, 0, 1e6)), draws=1, random=2)
"""Effort for the same families beyond `SHALLOW` layers, where descents are longer."""
RARE = Plan((Stage(2048, 60, 1, 1.0), Stage(8192, 120, 0, 1e5), Stage(32_768, 80, 0, 1e12)), draws=1, random=2)
"""Effort where single contexts have huge losses: the cap of the last stage excludes hardly any."""
BACK = Plan((Stage(8192, 60, 0, 10.0), Stage(32_768, 30, 0, 1e3)), draws=0, random=0)
"""Effort for a family that starts only from the weights of another."""
PLANS: Mapping[str, tuple[Plan, Plan]] = {
    "DIAG": (NARROW, NARROW),
    "SAFE": (RARE, RARE),
    "OMEGA": (NARROW, NARROW),
    "LOWRANK": (WIDE, DEEP),
    "FULL": (WIDE, DEEP),
    "SAFEFULL": (BACK, BACK),
}
"""The effort for each family: for models of up to `SHALLOW` layers, and for deeper ones."""
SHALLOW = 4
"""Largest depth with the first plan of a family."""


def plan_of(family: str, layers: int) -> Plan:
    """The effort for a model."""
    return PLANS[family][layers > SHALLOW]


def parents(family: str, layers: int) -> list[tuple[str, int]]:
    """The models (family, layers) that a model is grown from: one layer less, and DIAG or FULL of the same depth.

    >>> parents("FULL", 3), parents("DIAG", 1), parents("SAFEFULL", 5)
    ([('FULL', 2), ('DIAG', 3)], [], [('FULL', 5)])
    """
    if family == "SAFEFULL":
        return [("FULL", layers)]
    older = [(family, layers - 1)] if layers > 1 else []
    narrower = [("DIAG", layers)] if family != "DIAG" else []
    return older + narrower + ([("FULL", layers)] if family == "LOWRANK" else [])


def trained(
    noise: str,
    family: str,
    layers: int,
    seed: int,
    grown_from: Sequence[Trained] = (),
    arithmetic: Arithmetic | None = None,
) -> Trained:
    """Train a model of one of `families.NAMES` on the problem of the published table, or on one of another size.

    Parameters
    ----------
    noise, family, layers
        The problem by its name, such as "uniform-3" or "uniform-3@5x10"; the family; the depth.
    seed
        Seed of the random starts and contexts.
    grown_from
        The models of `parents`, in their order.
    arithmetic
        "native" or "array"; by default native if there is a C compiler.
    """
    kind, plan = family_named(family, problem(noise)), plan_of(family, layers)
    samples = f"trained/{address_of(kind.regression)}"  # the same for all models, to compare losses
    stream = f"{samples}/{family}/{layers}"
    if isinstance(kind, SafeFull):
        return fit(kind, [Start("FULL", grown_from[0].array)], plan, seed, samples, arithmetic)
    starts = inserted(kind, grown_from[0].array, plan.draws, seed, stream) if layers > 1 else []
    if isinstance(kind, Diag):
        seen = 10.0**kind.rare if kind.rare else float(SEQUENCES)
        optimum = grown_gdplusplus(kind.regression, layers, seen)[-1]
        starts.append(Start("GD++", of_gdplusplus(kind, optimum.layers)))
    if family != "DIAG":
        same = {parent.family: parent.array for parent in grown_from if parent.layers == layers}
        starts += widened(kind, "DIAG", same["DIAG"], seed, stream)
        if isinstance(kind, LowRank):
            starts.append(Start("FULL", kind.of_full(same["FULL"])))
    starts += random_starts(kind, layers, plan.random, seed, stream)
    return fit(kind, starts, plan, seed, samples, arithmetic)
