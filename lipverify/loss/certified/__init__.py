r"""Certified loss terms: Arb balls that are proved to contain them.

harmonics   averages of exponentials over one token, in closed form
spectra     the covariance of a law, harmonic by harmonic
degrees     the number of harmonics of an infinite spectrum to list
nodes       first node, last node and step of the sum over u = log(lambda)
averages    averages over one token: a power series where lambda is small, else a Mellin transform with its images
context     the sum that replaces the average over n tokens, and a bound on its error
enclosure   one w at one precision
terms       noise and bias with the digits asked for: balls as doubles with errors, and as text

No function is passed to an integrator. Arb's integrator relies on the integrand to flag where it is not analytic, and
an integrand that fails to do so gives a wrong ball that looks certified. The integrals here are sums over the whole
line of functions with proved analyticity and size, built from closed forms only.
"""

from lipverify.loss.certified.spectra import Spectrum, spectrum
from lipverify.loss.certified.terms import CertifiedTerms, certified_terms

__all__ = ["CertifiedTerms", "Spectrum", "certified_terms", "spectrum"]
