"""Train the matrix M on fresh tasks."""

from lipverify.optimum.pretraining.training import (
    Recipe,
    Settings,
    Trajectory,
    held_out_losses,
    pretrain,
    pretrain_together,
)

__all__ = ["Recipe", "Settings", "Trajectory", "held_out_losses", "pretrain", "pretrain_together"]
