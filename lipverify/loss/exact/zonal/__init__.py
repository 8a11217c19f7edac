r"""The exact route of isotropic laws: bias and noise from the covariance of the law, harmonic by harmonic.

spectrum    the coefficients of K(t) = sum_l k_l P_l(t), in closed form if there is one
projection  the coefficients by quadrature, from a covariance or, by the Funk-Hecke formula, from a link
sums        the integrands, harmonic by harmonic, from averages over one token
terms       the trapezoidal rule in u = log(lambda), and the errors
cost        its seconds, before it begins

It shares only the definition of the problem with the ridge route, and no quadrature.
"""
