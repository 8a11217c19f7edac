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
    from lipverify.loss.asymptotic.sphere import L, c, d, n, sigma, w
    from lipverify.loss.asymptotic.tasks import Harmonics, Ridges, task
    from lipverify.loss.asymptotic.terms import asymptotic_terms, valid_windows
    from lipverify.loss.asymptotic.transfer import home_factor, mistuning_at, transferred_power

__all__ = [
    "Harmonics",
    "L",
    "Leading",
    "Ridges",
    "asymptotic_terms",
    "c",
    "d",
    "home_factor",
    "leading",
    "link",
    "mistuning_at",
    "n",
    "sigma",
    "task",
    "transferred_power",
    "valid_windows",
    "w",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "Harmonics": "tasks",
        "L": "sphere",
        "Leading": "record",
        "Ridges": "tasks",
        "asymptotic_terms": "terms",
        "c": "sphere",
        "d": "sphere",
        "home_factor": "transfer",
        "leading": "record",
        "link": "links",
        "mistuning_at": "transfer",
        "n": "sphere",
        "sigma": "sphere",
        "task": "tasks",
        "transferred_power": "transfer",
        "valid_windows": "terms",
        "w": "sphere",
    },
)
