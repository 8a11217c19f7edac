"""Minimisers of the loss."""

from lipverify.optimum.sensitivity import Sensitivity, sensitivity
from lipverify.optimum.window import Optimum, optimal_window

__all__ = ["Optimum", "Sensitivity", "optimal_window", "sensitivity"]
