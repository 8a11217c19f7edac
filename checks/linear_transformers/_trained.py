"""The trained diagonal model whose weights are looked at one by one."""

from __future__ import annotations

from lipverify.claims.claim import Task
from lipverify.claims.linear_transformers.effects import contributions_of
from lipverify.claims.linear_transformers.training import D, N, trained
from lipverify.claims.registry import Profile
from lipverify.linear_transformer.regression.noise import UniformNoise

__all__ = ["FAMILY", "LAYERS", "NOISE", "D", "N", "diagonal_model"]

FAMILY, LAYERS = "OMEGA", 4
"""The four weights of a layer are free, as the formula of the two steps has them."""
NOISE = UniformNoise(3.0)


def diagonal_model(profile: Profile) -> Task:
    """The contributions of its weights, on fresh contexts."""
    fresh = 4096 if profile.name == "quick" else 65_536
    model = trained(profile, NOISE, FAMILY, LAYERS)
    return Task(contributions_of, (FAMILY, NOISE, LAYERS, fresh, profile.seed), needs=(model,))
