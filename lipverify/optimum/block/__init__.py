"""The best matrix of the form c BB^T + c' (I - BB^T), exact and sampled, and the radii for which its c' is 0."""

from lipverify.optimum.block.minimiser import BlockOptimum, optimal_block
from lipverify.optimum.block.radius import Radius, critical_radius
from lipverify.optimum.block.sampled import SampledBlock, sampled_block

__all__ = [
    "BlockOptimum",
    "Radius",
    "SampledBlock",
    "critical_radius",
    "optimal_block",
    "sampled_block",
]
