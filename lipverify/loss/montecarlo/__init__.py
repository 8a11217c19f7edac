"""Loss terms by sampling: two numbers per token for isotropic problems, whole contexts in R^d for all others."""

from lipverify.loss.montecarlo.terms import montecarlo_terms

__all__ = ["montecarlo_terms"]
