"""The trained diagonal model whose weights are looked at one by one."""

from __future__ import annotations

from lipverify.claims.claim import Task
from lipverify.claims.linear_transformers.effects import contributions_of, descended
from lipverify.claims.registry import Profile
from lipverify.linear_transformer.noise import UniformNoise

D, N, LAYERS = 10, 20, 3
NOISE = UniformNoise(3.0)


def diagonal_model(profile: Profile) -> Task:
    """The contributions of its weights, on fresh contexts."""
    sample, fresh = (256, 4096) if profile.name == "quick" else (1024, 65_536)
    model = Task(descended, (D, N, NOISE, LAYERS, sample, profile.seed))
    return Task(contributions_of, (D, N, NOISE, LAYERS, fresh, profile.seed), needs=(model,))
