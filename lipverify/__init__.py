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
    from lipverify import (
        attention as attention,
        claims as claims,
        covariates as covariates,
        laws as laws,
        linear_transformer as linear_transformer,
        loss as loss,
        optimum as optimum,
        problem as problem,
        scaling as scaling,
    )
    from lipverify.foundation.version import __version__ as __version__
    from lipverify.laws import (
        Affine as Affine,
        Cosine as Cosine,
        Quadratic as Quadratic,
        ReLU as ReLU,
        Ridge as Ridge,
        Zonal as Zonal,
    )
    from lipverify.loss import (
        Cost as Cost,
        LossTerms as LossTerms,
        budget as budget,
        loss_cost as loss_cost,
        loss_terms as loss_terms,
    )
    from lipverify.loss.asymptotic import Leading as Leading, leading as leading
    from lipverify.optimum import (
        MatrixOptimum as MatrixOptimum,
        Optimum as Optimum,
        Sensitivity as Sensitivity,
        Trajectory as Trajectory,
        optimal_matrix as optimal_matrix,
        optimal_window as optimal_window,
        pretrain as pretrain,
        sensitivity as sensitivity,
    )
    from lipverify.problem import Problem as Problem
    from lipverify.scaling import Growth as Growth, growth as growth
    from lipverify.verification import Verification as Verification, verify as verify

lazy()
