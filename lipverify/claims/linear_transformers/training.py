"""Trained models as measurements: one for each noise, family and depth, after the shorter ones that it grows from."""

from __future__ import annotations

from lipverify.claims.claim import Task
from lipverify.claims.registry import Profile
from lipverify.linear_transformer.families import Diag, family_named
from lipverify.linear_transformer.gdplusplus.optimum import optimal_gdplusplus
from lipverify.linear_transformer.regression.adjusted import SEQUENCES
from lipverify.linear_transformer.regression.contexts import Regression
from lipverify.linear_transformer.regression.noise import NoiseLaw
from lipverify.linear_transformer.training.growth import Start, inserted, of_gdplusplus, random_starts, widened
from lipverify.linear_transformer.training.record import Trained
from lipverify.linear_transformer.training.stages import Plan, Stage, fit

D, N = 10, 20
"""Dimension of the covariates and tokens in a context, as in the paper."""
DEEPEST = 7

NARROW = Plan((Stage(2048, 60, 2, 1.0), Stage(8192, 120, 0, 1e3), Stage(32_768, 60, 0, 1e5)), draws=1, random=0)
WIDE = Plan((Stage(4096, 150, 1, 1.0), Stage(8192, 250, 0, 1e4), Stage(32_768, 250, 0, 1e6)), draws=1, random=2)
QUICK = {"DIAG": NARROW, "OMEGA": NARROW, "FULL": WIDE}
PATIENT = Plan((Stage(4096, 100, 1, 1.0), Stage(16_384, 300, 0, 1e3), Stage(65_536, 150, 0, 1e5)), draws=2, random=1)
PATIENT_WIDE = Plan(
    (Stage(4096, 250, 1, 1.0), Stage(16_384, 500, 0, 1e4), Stage(65_536, 200, 0, 1e6)), draws=1, random=4
)
FULL = {"DIAG": PATIENT, "OMEGA": PATIENT, "FULL": PATIENT_WIDE}
PLANS = {"quick": QUICK, "full": FULL}


def trained(profile: Profile, noise: NoiseLaw, family: str, layers: int) -> Task:
    """The measurement `Trained` of a family with so many layers; it needs those that it grows from."""
    needs = []
    if layers > 1:
        needs.append(trained(profile, noise, family, layers - 1))
    if family != "DIAG":
        needs.append(trained(profile, noise, "DIAG", layers))
    return Task(grown, (family, noise, layers, profile.name, profile.seed), needs=tuple(needs))


def grown(family: str, noise: NoiseLaw, layers: int, profile: str, seed: int, *needed: Trained) -> Trained:
    """Train from the shorter model and a layer put in, from DIAG of the same depth (DIAG: GD++), and at random."""
    kind, plan = family_named(family, Regression(D, N, noise)), PLANS[profile][family]
    samples = f"trained/{noise.label}"  # of all models, so that their losses compare
    cell = f"{samples}/{family}/{layers}"
    starts = []
    if layers > 1:
        starts += inserted(kind, needed[0].array, plan.draws, seed, cell)
    if isinstance(kind, Diag):
        optimum = optimal_gdplusplus(kind.regression, layers, float(SEQUENCES))[-1]
        starts.append(Start("GD++", of_gdplusplus(kind, optimum.layers)))
    else:
        starts += widened(kind, "DIAG", needed[-1].array, seed, cell)
    starts += random_starts(kind, layers, plan.random, seed, cell)
    return fit(kind, starts, plan, seed, samples)
