"""Claims of one's own: a file that declares them, found by its path, measured wherever the others are."""

from lipverify.claims.own.bound import bound_claim
from lipverify.claims.own.scaling import scaling_claim

__all__ = ["bound_claim", "scaling_claim"]
