"""Minimisers of the loss."""

from lipverify.optimum.constraints import SpectralBall, Symmetric, Unconstrained
from lipverify.optimum.matrix import MatrixOptimum, optimal_matrix
from lipverify.optimum.pretraining import Trajectory, pretrain
from lipverify.optimum.sensitivity import Sensitivity, sensitivity
from lipverify.optimum.window import Optimum, optimal_window

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
