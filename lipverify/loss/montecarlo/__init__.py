"""Loss terms by sampling: scalars or pairs for isotropic laws, whole contexts in R^d for everything else."""

from lipverify.loss.montecarlo.terms import montecarlo_terms

__all__ = ["montecarlo_terms"]
