"""Linear transformers on noisy linear regression in context.

layer, tokens       a layer and its parametrisations; the forward pass token by token
implicit            the linear model that every layer preserves, and its recursion
collapsed           the forward pass on second moments, with its adjoint: the cost does not grow with n
step                one layer's exact risk and best preconditioner on any `lipverify.prompts.Prompts`
regression/         contexts, laws of the noise, ridge regression baselines, the Bayes floor, the adjusted loss
gdplusplus/         two weights a layer: exact loss, minima and proved floor on the eigenvalues
families, training/ weights as arrays, and their training

>>> from lipverify.linear_transformer import GDPlusPlus, UniformNoise, draw_contexts, estimate, evaluation

>>> from lipverify.prompts import Prompts
>>> held_out = evaluation(draw_contexts(Prompts(d=10, n=20, sigma=UniformNoise(0.0)), 4096, seed=0, stream="doc"))
>>> one = held_out.loss(lambda contexts: estimate((GDPlusPlus(xx=0.0, yx=-1 / 31),), contexts))
>>> abs(one.value - 55 / 31) < 4 * one.standard_error  # the exact loss of the best single layer without noise
True

Source: Vladymyrov, von Oswald, Sandler, Ge, "Linear Transformers are Versatile In-Context Learners", NeurIPS 2024.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lipverify.foundation.lazy import lazy

if TYPE_CHECKING:
    from lipverify.linear_transformer.collapsed import readout as readout
    from lipverify.linear_transformer.gdplusplus.filters import constant_ridge_loss as constant_ridge_loss
    from lipverify.linear_transformer.gdplusplus.floor import gdplusplus_floor as gdplusplus_floor
    from lipverify.linear_transformer.gdplusplus.known import known_optimum as known_optimum
    from lipverify.linear_transformer.gdplusplus.optimum import grown_gdplusplus as grown_gdplusplus
    from lipverify.linear_transformer.gdplusplus.spectrum import spectral_mean as spectral_mean
    from lipverify.linear_transformer.implicit import trajectory as trajectory
    from lipverify.linear_transformer.layer import (
        Diagonal as Diagonal,
        GDPlusPlus as GDPlusPlus,
        Layer as Layer,
        SingleHead as SingleHead,
    )
    from lipverify.linear_transformer.published import printed as printed, regression_named as regression_named
    from lipverify.linear_transformer.regression.adjusted import evaluation as evaluation
    from lipverify.linear_transformer.regression.bayes import Bayes as Bayes
    from lipverify.linear_transformer.regression.contexts import draw_contexts as draw_contexts
    from lipverify.problem.noise import (
        CategoricalNoise as CategoricalNoise,
        UniformNoise as UniformNoise,
    )
    from lipverify.linear_transformer.regression.rare import decades as decades
    from lipverify.linear_transformer.regression.ridge import (
        AdaRR as AdaRR,
        ConstRR as ConstRR,
        best_constant as best_constant,
        tuned_ridge as tuned_ridge,
    )
    from lipverify.linear_transformer.regression.thinned import thinned as thinned
    from lipverify.linear_transformer.step import (
        best_step as best_step,
        preconditioned as preconditioned,
        step_risk as step_risk,
    )
    from lipverify.linear_transformer.tokens import Tokens as Tokens, forward as forward
    from lipverify.linear_transformer.training.protocol import runs as runs
    from lipverify.linear_transformer.training.record import estimate as estimate
    from lipverify.linear_transformer.training.tables import column as column, stored_tables as stored_tables
    from lipverify.linear_transformer.training.witness import trainings as trainings

lazy()
