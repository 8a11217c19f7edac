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
        prompts as prompts,
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
    from lipverify.loss.asymptotic import leading as leading
    from lipverify.loss.exact import loss_cost as loss_cost
    from lipverify.loss.methods import loss_terms as loss_terms
    from lipverify.loss.terms import LossTerms as LossTerms
    from lipverify.loss.work import budget as budget
    from lipverify.optimum.matrix import optimal_matrix as optimal_matrix
    from lipverify.optimum.pretraining import pretrain as pretrain
    from lipverify.optimum.window import optimal_window as optimal_window, sensitivity as sensitivity
    from lipverify.problem import Problem as Problem
    from lipverify.scaling import growth as growth
    from lipverify.verification import verify as verify

lazy()
