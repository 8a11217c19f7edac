"""The w that minimises the loss: exactly, from samples, and its derivatives with respect to n, L and sigma."""

from lipverify.optimum.window.empirical import EmpiricalWindow, empirical_window
from lipverify.optimum.window.minimiser import Optimum, optimal_window
from lipverify.optimum.window.scaled import ScaledOptimum, optimal_scale
from lipverify.optimum.window.sensitivity import Sensitivity, sensitivity

__all__ = [
    "EmpiricalWindow",
    "Optimum",
    "ScaledOptimum",
    "Sensitivity",
    "empirical_window",
    "optimal_scale",
    "optimal_window",
    "sensitivity",
]
