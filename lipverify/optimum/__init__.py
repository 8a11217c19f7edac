"""Minimisers of the loss."""

from lipverify.optimum.matrix import MatrixOptimum, SpectralBall, Symmetric, Unconstrained, optimal_matrix
from lipverify.optimum.pretraining import Trajectory, pretrain
from lipverify.optimum.window import Optimum, Sensitivity, optimal_window, sensitivity

__all__ = [
    "MatrixOptimum",
    "Optimum",
    "Sensitivity",
    "SpectralBall",
    "Symmetric",
    "Trajectory",
    "Unconstrained",
    "optimal_matrix",
    "optimal_window",
    "pretrain",
    "sensitivity",
]
