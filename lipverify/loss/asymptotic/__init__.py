r"""The leading terms of the loss as n and then w go to infinity, derived by SymPy from the law.

sphere    averages over the sphere in closed form
tokens    averages over one token, by Watson's lemma; the mean of a function over small circles
links     link functions as expressions: smooth pieces that meet at kinks
tasks     what a law contributes: means of squares, gradients, kinks
noise     leading noise, and what is next in 1/w and in 1/n
bias      leading bias of smooth tasks and of kinks
leading   all of it as one record, with the window and the loss that follow
powers    the record as numbers, and the errors that its next terms make up
terms     loss terms, with their range of validity

No exponent is typed in: exponents are logarithmic derivatives of what was derived.
"""

from lipverify.loss.asymptotic.leading import Leading, leading
from lipverify.loss.asymptotic.terms import asymptotic_terms, valid_windows

__all__ = ["Leading", "asymptotic_terms", "leading", "valid_windows"]
