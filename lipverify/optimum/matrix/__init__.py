"""The matrix that minimises the loss, from common draws, over a set of matrices."""

from lipverify.optimum.matrix.constraints import SpectralBall, Symmetric, Unconstrained
from lipverify.optimum.matrix.minimiser import MatrixOptimum, optimal_matrix

__all__ = ["MatrixOptimum", "SpectralBall", "Symmetric", "Unconstrained", "optimal_matrix"]
