"""Find the attention that minimises the loss, exactly, from samples or by training.

window/        the w of M = w I: exactly, from samples, and its derivatives with respect to n, L and sigma
matrix/        the best matrix M of a set, from sampled contexts
block          the best c BB^T + c' (I - BB^T), exactly
transfer       the loss of a w tuned to one problem and used on another
pretraining    training on fresh tasks
"""

from typing import TYPE_CHECKING

from lipverify.foundation.lazy import lazy

if TYPE_CHECKING:
    from lipverify.optimum.block import (
        critical_radius as critical_radius,
        optimal_block as optimal_block,
        sampled_block as sampled_block,
    )
    from lipverify.optimum.matrix import (
        MatrixOptimum as MatrixOptimum,
        SpectralBall as SpectralBall,
        Symmetric as Symmetric,
    )
    from lipverify.optimum.pretraining import (
        Recipe as Recipe,
        held_out_losses as held_out_losses,
    )
    from lipverify.optimum.transfer import (
        at_optima as at_optima,
        quotient as quotient,
        transferred_loss as transferred_loss,
        transfers as transfers,
    )
    from lipverify.optimum.window import (
        Optimum as Optimum,
        Sensitivity as Sensitivity,
        empirical_window as empirical_window,
        optimal_scale as optimal_scale,
    )

lazy()
