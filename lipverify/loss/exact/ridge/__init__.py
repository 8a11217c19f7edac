r"""The exact route of ridge laws f(x) = h(<q, x>): Laplace transforms of the links.

laws, task, supports     the links of a law; averages over the task; where a link is smooth
smooth, kinked, absolute averages over the task for smooth links, links with kinks, and |z|
tokens, averages         averages over one token, given the query
context                  n tokens become one integral over u = log(lambda)
planes, fields           the variogram, all that the loss depends on: of links with kinks, and of covariances
roots                    whether a link has roots at its kinks
pieces, variogram        its table: polynomials, and what rounding does to them
others, counts           what the other tokens do to one token and to two: tables for a window
pairs, products          the bias from the variogram alone: two tokens, and what increments at both have in common
turns, cells             the mean of the latter over the angle between two tokens: by a rule, and where it is tabulated
angles, between          the same where the variogram has many pieces: the densities of the angle of a token, and of two
interpolation, graded    polynomials through values at Chebyshev points, and tables on panels of them
terms                    noise and bias put together, with their errors
"""

from lipverify.loss.exact.ridge.terms import ridge_terms

__all__ = ["ridge_terms"]
