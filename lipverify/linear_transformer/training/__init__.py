"""Training of linear transformers: losses with gradients by hand, growth layer by layer, descents."""

from typing import TYPE_CHECKING

from lipverify.foundation.lazy import lazy

if TYPE_CHECKING:
    from lipverify.linear_transformer.training.lineage import PLANS
    from lipverify.linear_transformer.training.objective import Objective, draw_sample
    from lipverify.linear_transformer.training.record import Trained, estimate
    from lipverify.linear_transformer.training.stages import Plan, Stage
    from lipverify.linear_transformer.training.witness import name_of, names_of, read_witness, trainings, write_witness

__all__ = [
    "PLANS",
    "Objective",
    "Plan",
    "Stage",
    "Trained",
    "draw_sample",
    "estimate",
    "name_of",
    "names_of",
    "read_witness",
    "trainings",
    "write_witness",
]

__getattr__, __dir__ = lazy(__name__)
