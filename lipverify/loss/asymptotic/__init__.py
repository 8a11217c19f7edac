r"""The leading terms of the loss as n and then w go to infinity, derived by SymPy from the law.

sphere      averages over the sphere, and over one token by Watson's lemma
links       link functions as expressions: smooth pieces that meet at kinks
tasks       the properties of a law that enter: means of squares, gradients, kinks
fields      the same of a law given by its covariance
expansions  leading noise and bias, and the next terms in 1/w and in 1/n
record      all results as one record with the optimal w and its loss, and as numbers; transfer to another law
powers      powers of w and n as numbers, errors from the next terms, and three laws without SymPy for fast refusals
terms       loss terms, with their range of validity

All exponents are logarithmic derivatives of the derived expressions.
"""

from typing import TYPE_CHECKING

from lipverify.foundation.lazy import lazy

if TYPE_CHECKING:
    from lipverify.loss.asymptotic.links import link
    from lipverify.loss.asymptotic.record import Leading, leading, transferred_power
    from lipverify.loss.asymptotic.sphere import L, c, d, n, sigma, w
    from lipverify.loss.asymptotic.tasks import Harmonics, Ridges, task
    from lipverify.loss.asymptotic.terms import asymptotic_terms, valid_windows

__all__ = [
    "Harmonics",
    "L",
    "Leading",
    "Ridges",
    "asymptotic_terms",
    "c",
    "d",
    "leading",
    "link",
    "n",
    "sigma",
    "task",
    "transferred_power",
    "valid_windows",
    "w",
]

__getattr__, __dir__ = lazy(__name__)
