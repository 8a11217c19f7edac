"""Loss terms by sampling: two numbers a token for isotropic problems, whole contexts in R^d for everything else."""

from lipverify.loss.montecarlo.terms import montecarlo_terms

__all__ = ["montecarlo_terms"]
