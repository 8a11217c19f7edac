r"""Exact loss terms: deterministic quadrature whose cost does not depend on n.

tokens   averages over one token, given the query
context  n tokens become one integral over u = log(lambda)
ridge    the averages over the task that a law contributes
terms    noise and bias put together, with their errors
"""

from lipverify.loss.exact.terms import exact_terms

__all__ = ["exact_terms"]
