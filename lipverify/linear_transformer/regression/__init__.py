"""The task: contexts of noisy linear regression, and the estimators that a transformer is compared with."""

from typing import TYPE_CHECKING

from lipverify.foundation.lazy import lazy

if TYPE_CHECKING:
    from lipverify.linear_transformer.regression.adjusted import SEQUENCES as SEQUENCES
    from lipverify.linear_transformer.regression.contexts import Contexts as Contexts
    from lipverify.problem.noise import NoiseLaw as NoiseLaw, noise_named as noise_named
    from lipverify.linear_transformer.regression.ridge import TunedRR as TunedRR

lazy()
