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
    from lipverify.loss.asymptotic.links import link as link
    from lipverify.loss.asymptotic.record import (
        Leading as Leading,
        leading as leading,
        transferred_power as transferred_power,
    )
    from lipverify.loss.asymptotic.sphere import L as L, c as c, d as d, n as n, sigma as sigma, w as w
    from lipverify.loss.asymptotic.tasks import Ridges as Ridges, task as task
    from lipverify.loss.asymptotic.terms import asymptotic_terms as asymptotic_terms, valid_windows as valid_windows

lazy()
