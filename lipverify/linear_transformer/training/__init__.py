"""Training of linear transformers: losses with gradients by hand, growth layer by layer, descents."""

from typing import TYPE_CHECKING

from lipverify.foundation.lazy import lazy

if TYPE_CHECKING:
    from lipverify.linear_transformer.training.lineage import PLANS as PLANS
    from lipverify.linear_transformer.training.objective import Objective as Objective, draw_sample as draw_sample
    from lipverify.linear_transformer.training.record import Trained as Trained
    from lipverify.linear_transformer.training.stages import Plan as Plan, Stage as Stage
    from lipverify.linear_transformer.training.witness import (
        name_of as name_of,
        names_of as names_of,
        read_witness as read_witness,
        write_witness as write_witness,
    )

lazy()
