"""The matrix of a given set that minimises the loss on sampled contexts."""

from lipverify.optimum.matrix.constraints import SpectralBall, Symmetric, Unconstrained
from lipverify.optimum.matrix.minimiser import MatrixOptimum, optimal_matrix

__all__ = ["MatrixOptimum", "SpectralBall", "Symmetric", "Unconstrained", "optimal_matrix"]
