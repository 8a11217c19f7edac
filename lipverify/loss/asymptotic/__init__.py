r"""The leading terms of the loss as n and then w go to infinity, derived by SymPy from the law.

sphere    averages over the sphere in closed form
tokens    averages over one token, by Watson's lemma; the mean of a function over small circles
links     link functions as expressions: smooth pieces that meet at kinks
tasks     what a law contributes: means of squares, gradients, kinks
noise     leading noise, and what is next in 1/w and in 1/n
bias      leading bias of smooth tasks and of kinks
record    all of it as one record, with the window and the loss that follow
powers    powers of w and n as numbers, and the errors that the next terms make up
derived   the record as such numbers
closed    the same for three laws without SymPy, for refusals
terms     loss terms, with their range of validity
tilt      what an anisotropic law leaves of the optimal matrix beside w I
transfer  what a window that was tuned elsewhere costs

No exponent is typed in: exponents are logarithmic derivatives of what was derived.
"""

from typing import TYPE_CHECKING

from lipverify.foundation.lazy import lazy

if TYPE_CHECKING:
    from lipverify.loss.asymptotic.links import link
    from lipverify.loss.asymptotic.record import Leading, leading
    from lipverify.loss.asymptotic.tasks import Harmonics, Ridges, task
    from lipverify.loss.asymptotic.terms import asymptotic_terms, valid_windows

__all__ = [
    "Harmonics",
    "Leading",
    "Ridges",
    "asymptotic_terms",
    "leading",
    "link",
    "task",
    "valid_windows",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "Harmonics": "tasks",
        "Leading": "record",
        "Ridges": "tasks",
        "asymptotic_terms": "terms",
        "leading": "record",
        "link": "links",
        "task": "tasks",
        "valid_windows": "terms",
    },
)
