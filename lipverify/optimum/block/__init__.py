"""The best matrix of the form c BB^T + c' (I - BB^T), exactly, and up to which bound on c it has c' = 0."""

from lipverify.optimum.block.minimiser import BlockOptimum, optimal_block
from lipverify.optimum.block.radius import Radius, critical_radius

__all__ = ["BlockOptimum", "Radius", "critical_radius", "optimal_block"]
