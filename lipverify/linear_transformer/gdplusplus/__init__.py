"""GD++ has two weights a layer and acts on eigenvalues, so its loss is one integral and its optimum can be computed."""

from typing import TYPE_CHECKING

from lipverify.foundation.lazy import lazy

if TYPE_CHECKING:
    from lipverify.linear_transformer.gdplusplus.critical import (
        CriticalPoint as CriticalPoint,
        small_start as small_start,
        two_layers as two_layers,
    )
    from lipverify.linear_transformer.gdplusplus.filters import constant_ridge_loss as constant_ridge_loss
    from lipverify.linear_transformer.gdplusplus.floor import (
        gdplusplus_floor as gdplusplus_floor,
        second_moment as second_moment,
    )
    from lipverify.linear_transformer.gdplusplus.known import known_optimum as known_optimum
    from lipverify.linear_transformer.gdplusplus.loss import (
        ExcessLoss as ExcessLoss,
        flat_weights as flat_weights,
        residual as residual,
    )
    from lipverify.linear_transformer.gdplusplus.optimum import (
        excess_loss as excess_loss,
        grown_gdplusplus as grown_gdplusplus,
    )
    from lipverify.linear_transformer.gdplusplus.spectrum import (
        POINTS as POINTS,
        spectral_rule as spectral_rule,
    )

lazy()
