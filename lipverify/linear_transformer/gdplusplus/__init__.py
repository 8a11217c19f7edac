"""GD++ has two weights a layer and acts on eigenvalues, so its loss is one integral and its optimum can be computed."""

from typing import TYPE_CHECKING

from lipverify.foundation.lazy import lazy

if TYPE_CHECKING:
    from lipverify.linear_transformer.gdplusplus.complete import all_below
    from lipverify.linear_transformer.gdplusplus.critical import (
        CriticalPoint,
        certified,
        small_start,
        two_layers,
    )
    from lipverify.linear_transformer.gdplusplus.filters import constant_ridge_loss
    from lipverify.linear_transformer.gdplusplus.floor import gdplusplus_floor, second_moment
    from lipverify.linear_transformer.gdplusplus.known import known_optimum
    from lipverify.linear_transformer.gdplusplus.loss import ExcessLoss, flat_weights, residual
    from lipverify.linear_transformer.gdplusplus.maps import landscape, landscapes, unseen
    from lipverify.linear_transformer.gdplusplus.optimum import excess_loss, grown_gdplusplus, optimal_gdplusplus
    from lipverify.linear_transformer.gdplusplus.spectrum import POINTS, spectral_mean, spectral_rule

__all__ = [
    "POINTS",
    "CriticalPoint",
    "ExcessLoss",
    "all_below",
    "certified",
    "constant_ridge_loss",
    "excess_loss",
    "flat_weights",
    "gdplusplus_floor",
    "grown_gdplusplus",
    "known_optimum",
    "landscape",
    "landscapes",
    "optimal_gdplusplus",
    "residual",
    "second_moment",
    "small_start",
    "spectral_mean",
    "spectral_rule",
    "two_layers",
    "unseen",
]

__getattr__, __dir__ = lazy(__name__)
