"""The task: contexts of noisy linear regression, and the estimators that a transformer is compared with."""

from typing import TYPE_CHECKING

from lipverify.foundation.lazy import lazy

if TYPE_CHECKING:
    from lipverify.linear_transformer.regression.adjusted import (
        SEQUENCES as SEQUENCES,
        evaluation as evaluation,
    )
    from lipverify.linear_transformer.regression.bayes import Bayes as Bayes
    from lipverify.linear_transformer.regression.contexts import (
        Contexts as Contexts,
        Regression as Regression,
        draw_contexts as draw_contexts,
    )
    from lipverify.linear_transformer.regression.noise import (
        CategoricalNoise as CategoricalNoise,
        NoiseLaw as NoiseLaw,
        UniformNoise as UniformNoise,
        noise_named as noise_named,
    )
    from lipverify.linear_transformer.regression.ridge import AdaRR as AdaRR, ConstRR as ConstRR, TunedRR as TunedRR

lazy()
