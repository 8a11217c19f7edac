r"""Certified loss terms: Arb balls that are proved to contain them.

harmonics   averages of exponentials over one token, in closed form
spectra     the covariance of a law, harmonic by harmonic
degrees     how many harmonics of an infinite spectrum matter
nodes       where the sum over u = log(lambda) begins, ends and steps
series      averages over one token where lambda is small: a power series with its remainder
mellin      averages over one token where lambda is large: a Mellin transform with its images
context     n tokens become one sum; what is left out is bounded
enclosure   one w at one precision
record      balls as doubles with errors, and as text
terms       noise and bias with the digits asked for

No function is handed to an integrator. Arb's own asks the integrand, through a flag, to say where it is not
analytic, and one that forgets to gives a ball that is wrong while it looks certified. The integrals here are sums
over the whole line of functions of which analyticity and size are proved, and all that enters is a closed form.
"""

from lipverify.loss.certified.record import CertifiedTerms
from lipverify.loss.certified.spectra import Spectrum, spectrum
from lipverify.loss.certified.terms import certified_terms

__all__ = ["CertifiedTerms", "Spectrum", "certified_terms", "spectrum"]
