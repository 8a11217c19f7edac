"""Checks scaling theorems about in-context learning numerically.

The public names are below and nothing else. Each is imported on first use, so that the command
line answers `--help` and bad input without loading a numerical library.

>>> from lipverify import Problem
>>> from lipverify.laws import ReLU
>>> Problem(d=5, n=100, law=ReLU(L=1.0), sigma=1.0).d
5
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lipverify import laws
    from lipverify.claims.own import bound_claim, scaling_claim
    from lipverify.laws import Affine, Cosine, Quadratic, ReLU, Ridge, Zonal
    from lipverify.loss import LossTerms, loss_terms
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

__version__ = "0.1.0"

__all__ = [
    "Affine",
    "Cosine",
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
    "Zonal",
    "__version__",
    "bound_claim",
    "growth",
    "laws",
    "leading",
    "loss_terms",
    "optimal_matrix",
    "optimal_window",
    "pretrain",
    "scaling_claim",
    "sensitivity",
]

_HOME = {
    "Affine": "lipverify.laws",
    "Cosine": "lipverify.laws",
    "Growth": "lipverify.scaling",
    "Leading": "lipverify.loss.asymptotic",
    "LossTerms": "lipverify.loss",
    "MatrixOptimum": "lipverify.optimum",
    "Optimum": "lipverify.optimum",
    "Problem": "lipverify.problem",
    "Quadratic": "lipverify.laws",
    "ReLU": "lipverify.laws",
    "Ridge": "lipverify.laws",
    "Sensitivity": "lipverify.optimum",
    "Trajectory": "lipverify.optimum",
    "Zonal": "lipverify.laws",
    "bound_claim": "lipverify.claims.own",
    "growth": "lipverify.scaling",
    "leading": "lipverify.loss.asymptotic",
    "loss_terms": "lipverify.loss",
    "optimal_matrix": "lipverify.optimum",
    "optimal_window": "lipverify.optimum",
    "pretrain": "lipverify.optimum",
    "scaling_claim": "lipverify.claims.own",
    "sensitivity": "lipverify.optimum",
}


def __getattr__(name: str) -> Any:
    """Import a public name on its first use."""
    if name == "laws":
        return import_module("lipverify.laws")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
