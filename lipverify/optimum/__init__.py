"""Find the attention that minimises the loss, exactly, from samples or by training.

window/        the w of M = w I: exactly, from samples, and its derivatives with respect to n, L and sigma
matrix/        the best matrix M of a set, from sampled contexts
block          the best c BB^T + c' (I - BB^T), exactly
transfer       the loss of a w tuned to one problem and used on another
pretraining/   training on fresh tasks
"""

from typing import TYPE_CHECKING

from lipverify.foundation.lazy import lazy

if TYPE_CHECKING:
    from lipverify.optimum.block import (
        BlockOptimum as BlockOptimum,
        Radius as Radius,
        critical_radius as critical_radius,
        optimal_block as optimal_block,
    )
    from lipverify.optimum.matrix import (
        MatrixOptimum as MatrixOptimum,
        SpectralBall as SpectralBall,
        Symmetric as Symmetric,
        Unconstrained as Unconstrained,
        optimal_matrix as optimal_matrix,
    )
    from lipverify.optimum.pretraining import Trajectory as Trajectory, pretrain as pretrain
    from lipverify.optimum.window import (
        EmpiricalWindow as EmpiricalWindow,
        Optimum as Optimum,
        ScaledOptimum as ScaledOptimum,
        Sensitivity as Sensitivity,
        empirical_window as empirical_window,
        optimal_scale as optimal_scale,
        optimal_window as optimal_window,
        sensitivity as sensitivity,
    )

lazy()
