"""Checks scaling theorems about in-context learning numerically.

The names below are the public interface. Each is imported on first use, so that the command line answers `--help` and
bad input without loading a numerical library.

>>> from lipverify import Problem
>>> from lipverify.laws import ReLU
>>> Problem(d=5, n=100, law=ReLU(L=1.0), sigma=1.0).d
5
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lipverify.foundation.lazy import lazy

if TYPE_CHECKING:
    from lipverify import attention, claims, covariates, laws, linear_transformer, loss, optimum, problem, scaling
    from lipverify.laws import Affine, Cosine, Quadratic, ReLU, Ridge, Zonal
    from lipverify.loss import Cost, LossTerms, budget, loss_cost, loss_terms
    from lipverify.loss.asymptotic import Leading, leading
    from lipverify.optimum import (
        MatrixOptimum,
        Optimum,
        Sensitivity,
        Trajectory,
        optimal_matrix,
        optimal_window,
        pretrain,
        sensitivity,
    )
    from lipverify.problem import Problem
    from lipverify.scaling import Growth, growth
    from lipverify.verification import Verification, verify

__version__ = "0.2.0"

__all__ = [
    "Affine",
    "Cosine",
    "Cost",
    "Growth",
    "Leading",
    "LossTerms",
    "MatrixOptimum",
    "Optimum",
    "Problem",
    "Quadratic",
    "ReLU",
    "Ridge",
    "Sensitivity",
    "Trajectory",
    "Verification",
    "Zonal",
    "__version__",
    "attention",
    "budget",
    "claims",
    "covariates",
    "growth",
    "laws",
    "leading",
    "linear_transformer",
    "loss",
    "loss_cost",
    "loss_terms",
    "optimal_matrix",
    "optimal_window",
    "optimum",
    "pretrain",
    "problem",
    "scaling",
    "sensitivity",
    "verify",
]

__getattr__, __dir__ = lazy(__name__)
