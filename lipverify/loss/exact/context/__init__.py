r"""Averages over the n tokens of a context, independent of the law; n is only an exponent.

tokens     averages over one token given the query: nodes, and the range of the integrand
averages   averages over one token at many w and many u = log(lambda)
contexts   the integral over u that replaces the average over n tokens
others     tables, for one w, of the effect of the other tokens on one token and on two
between    the density of the angle between two tokens, by rules
short      the same by short sums, where windows hold many tokens or are wide
weighted   the softmax-weighted mean of a function of one token
"""
