"""Random numbers by address, contexts drawn from a problem, and means with the half-width of their interval.

A claim's own function samples with these names, so that a measurement is the same on every machine and its numbers
carry their errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lipverify.foundation.lazy import lazy

if TYPE_CHECKING:
    from lipverify.foundation.means.batches import jackknife as jackknife
    from lipverify.foundation.means.batches import mean_interval as mean_interval
    from lipverify.foundation.means.checked import mean_with_half_width as mean_with_half_width
    from lipverify.foundation.streams import generator as generator
    from lipverify.foundation.streams import normals as normals
    from lipverify.foundation.streams import uniforms as uniforms
    from lipverify.loss.montecarlo.contexts import draw_contexts as draw_contexts
    from lipverify.optimum.matrix.sampled import draw_loss as draw_loss

lazy()
