"""Which models are trained, and the comparison of all that belong to one column of the table."""

from __future__ import annotations

from checks.linear_transformers._table import LAYERS, MODELS, NOISES, D, N, printed_rows
from lipverify.claims.claim import Task
from lipverify.claims.linear_transformers.comparison import Printed, comparison
from lipverify.claims.linear_transformers.training import trained
from lipverify.claims.registry import Profile
from lipverify.linear_transformer.families import NAMES
from lipverify.linear_transformer.regression.adjusted import SEQUENCES
from lipverify.linear_transformer.regression.noise import CategoricalNoise, NoiseLaw, UniformNoise

DEEP = CategoricalNoise((1.0, 3.0))
"""The law under which `quick` trains diagonal models with one layer more."""
QUICK: tuple[NoiseLaw, ...] = (UniformNoise(3.0), UniformNoise(5.0), DEEP)
ASSUMED = (
    f"$d = {D}$, $n = {N}$, $x_i, w^* \\sim \\mathcal{{N}}(0, \\mathbf{{I}})$, noiseless query target",
    "adjusted loss: half the squared error, less that of ridge with the true $\\sigma^2$",
)


def laws(profile: Profile) -> tuple[NoiseLaw, ...]:
    """The columns that are trained."""
    return QUICK if profile.name == "quick" else NOISES


def depth(profile: Profile, noise: NoiseLaw, family: str) -> int:
    """Layers of the deepest model of a family in a column; GD++ is as deep as the deepest of all."""
    return len(LAYERS) if profile.name == "full" else 5 if noise == DEEP and family != "FULL" else 4


def model(profile: Profile, noise: NoiseLaw, family: str, layers: int) -> Task:
    """A trained model."""
    return trained(profile, noise, family, layers)


def column(profile: Profile, noise: NoiseLaw) -> Task:
    """Every model of a column on the same fresh contexts."""
    entries = tuple(
        Printed(entry.model, entry.layers, entry.value) for entry in printed_rows(MODELS) if entry.noise == noise
    )
    needs = [
        model(profile, noise, family, layers)
        for family in NAMES
        for layers in range(1, depth(profile, noise, family) + 1)
    ]
    # as many as the paper: over more of them, rarer contexts rule the means of deep models, and it is another number
    return Task(comparison, (noise, D, N, SEQUENCES, profile.seed, entries), needs=tuple(needs))


def name_of(noise: NoiseLaw) -> str:
    """A column in a sentence."""
    return (
        rf"$\sigma_{{\max}} = {noise.label}$"
        if isinstance(noise, UniformNoise)
        else rf"$\sigma \in \{noise.label[:-1]}\}}$"
    )


def slug(noise: NoiseLaw) -> str:
    """A column as part of an id."""
    if isinstance(noise, UniformNoise):
        return f"uniform-{noise.label}"
    return "levels-" + noise.label.strip("{}").replace(",", "-")
