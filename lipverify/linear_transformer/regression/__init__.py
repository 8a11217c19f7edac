"""The task: contexts of noisy linear regression, and the estimators that a transformer is compared with."""

from typing import TYPE_CHECKING

from lipverify.foundation.lazy import lazy

if TYPE_CHECKING:
    from lipverify.linear_transformer.regression.adjusted import SEQUENCES, evaluation, printed_error
    from lipverify.linear_transformer.regression.bayes import Bayes, bayes_gap
    from lipverify.linear_transformer.regression.contexts import Contexts, Regression, draw_contexts
    from lipverify.linear_transformer.regression.noise import CategoricalNoise, NoiseLaw, UniformNoise, noise_named
    from lipverify.linear_transformer.regression.ridge import AdaRR, ConstRR, TunedRR

__all__ = [
    "SEQUENCES",
    "AdaRR",
    "Bayes",
    "CategoricalNoise",
    "ConstRR",
    "Contexts",
    "NoiseLaw",
    "Regression",
    "TunedRR",
    "UniformNoise",
    "bayes_gap",
    "draw_contexts",
    "evaluation",
    "noise_named",
    "printed_error",
]

__getattr__, __dir__ = lazy(__name__)
