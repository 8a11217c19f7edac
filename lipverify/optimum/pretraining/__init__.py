"""Train the matrix M on fresh tasks."""

from lipverify.optimum.pretraining.training import (
    Recipe,
    Trajectory,
    held_out_losses,
    pretrain,
    pretrain_together,
)

__all__ = ["Recipe", "Trajectory", "held_out_losses", "pretrain", "pretrain_together"]
