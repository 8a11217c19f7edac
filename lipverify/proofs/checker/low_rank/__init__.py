"""Tasks that depend on a few directions: C BB^T is the best matrix.

subspace   of all M with a bounded B^T M B, for one number of tokens
blocks     of all that do not mix these directions with others, for every number of tokens
"""

from ..kernel.registry import register
from . import blocks, subspace

register(subspace.KIND, *subspace.THEOREMS)
register(blocks.KIND, *blocks.THEOREMS)
