"""Find the attention that minimises the loss, exactly, from samples or by training.

window/        the w of M = w I: exactly, from samples, and its derivatives with respect to n, L and sigma
matrix/        the best matrix M of a set, from sampled contexts
block/         the best c BB^T + c' (I - BB^T), exactly
transfer       the loss of a w tuned to one problem and used on another
pretraining/   training on fresh tasks
"""

from typing import TYPE_CHECKING

from lipverify.foundation.lazy import lazy

if TYPE_CHECKING:
    from lipverify.optimum.block import BlockOptimum, Radius, critical_radius, optimal_block
    from lipverify.optimum.matrix import MatrixOptimum, SpectralBall, Symmetric, Unconstrained, optimal_matrix
    from lipverify.optimum.pretraining import Trajectory, pretrain
    from lipverify.optimum.window import (
        EmpiricalWindow,
        Optimum,
        ScaledOptimum,
        Sensitivity,
        empirical_window,
        optimal_scale,
        optimal_window,
        sensitivity,
    )

__all__ = [
    "BlockOptimum",
    "EmpiricalWindow",
    "MatrixOptimum",
    "Optimum",
    "Radius",
    "ScaledOptimum",
    "Sensitivity",
    "SpectralBall",
    "Symmetric",
    "Trajectory",
    "Unconstrained",
    "critical_radius",
    "empirical_window",
    "optimal_block",
    "optimal_matrix",
    "optimal_scale",
    "optimal_window",
    "pretrain",
    "sensitivity",
]

__getattr__, __dir__ = lazy(__name__)
