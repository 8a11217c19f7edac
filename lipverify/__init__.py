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
    from lipverify.laws import Affine, ReLU
    from lipverify.loss import LossTerms, loss_terms
    from lipverify.optimum import Optimum, optimal_window
    from lipverify.problem import Problem
    from lipverify.scaling import Growth, growth

__version__ = "0.1.0"

__all__ = [
    "Affine",
    "Growth",
    "LossTerms",
    "Optimum",
    "Problem",
    "ReLU",
    "__version__",
    "growth",
    "laws",
    "loss_terms",
    "optimal_window",
]

_HOME = {
    "Affine": "lipverify.laws",
    "Growth": "lipverify.scaling",
    "LossTerms": "lipverify.loss",
    "Optimum": "lipverify.optimum",
    "Problem": "lipverify.problem",
    "ReLU": "lipverify.laws",
    "growth": "lipverify.scaling",
    "loss_terms": "lipverify.loss",
    "optimal_window": "lipverify.optimum",
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
