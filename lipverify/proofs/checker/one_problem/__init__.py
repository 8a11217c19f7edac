"""One problem: where its loss is least, and matrices on the circle that do better than all of a form.

optima   the best w of all, the factor c* there, and where the bias rises or falls
circle   one diagonal matrix against all w I, or all diag(c, 0)
"""

from ..kernel.registry import register
from . import circle, optima

register(optima.KIND, *optima.THEOREMS)
register(circle.KIND, *circle.THEOREMS)
