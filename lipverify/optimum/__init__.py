"""Minimisers of the loss."""

from lipverify.optimum.window import Optimum, optimal_window

__all__ = ["Optimum", "optimal_window"]
