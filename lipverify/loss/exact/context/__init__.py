r"""What n tokens do, whatever the law: n is only an exponent.

tokens     averages over one token given the query: nodes, and where the integrand lives
averages   the same at many windows and many u = log(lambda)
contexts   n tokens become one integral over u
others     what the other tokens do to one token and to two: tables for a window
between    the density of the angle between two tokens
weighted   the mean of a function of one token by its weight
"""
