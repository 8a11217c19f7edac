r"""The leading terms of the loss as n and then w go to infinity, derived by SymPy from the law.

sphere    averages over the sphere in closed form
tokens    averages over one token, by Watson's lemma; the mean of a function over small circles
links     link functions as expressions: smooth pieces that meet at kinks
tasks     the properties of a law that enter: means of squares, gradients, kinks
noise     leading noise, and the next terms in 1/w and in 1/n
bias      leading bias of smooth tasks and of kinks
record    all results as one record with the optimal w and its loss, and as numbers; transfer to another law
powers    powers of w and n as numbers, errors from the next terms, and three laws without SymPy for fast refusals
terms     loss terms, with their range of validity
tilt      the correction to w I of the optimal matrix of an anisotropic law

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
