"""Training on fresh tasks: of the matrix M, and of the full key and query matrices."""

from lipverify.optimum.pretraining.recipes import Recipe
from lipverify.optimum.pretraining.training import Settings, Trajectory, held_out_losses, pretrain, pretrain_together

__all__ = ["Recipe", "Settings", "Trajectory", "held_out_losses", "pretrain", "pretrain_together"]
