"""The optimal window in every dimension at once, with constants as functions of d.

smooth_laws   affine and quadratic laws, and what the theorem says
ramp          ReLU
sizes         the numbers that depend on d, for each d and for all larger ones
"""

from ..kernel.registry import register
from . import smooth_laws

register(smooth_laws.KIND, *smooth_laws.THEOREMS)
