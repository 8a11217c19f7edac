r"""Exact loss terms by deterministic quadrature whose cost does not depend on n, by two independent routes.

routes       `exact_terms`: apply the route of the table, and the other one if needed
table        the route for each law and w, and the reason
sight        the properties of a law that decide between routes and kinds of error
cost         the cost of a loss, estimated before it begins
quadrature   rules, polynomials and graded meshes, independent of laws
context/     averages over the n tokens of a context, independent of laws
variograms/  variograms of laws, independent of n and w
biases/      the ridge route, which combines both, for laws given by links, a covariance or a variogram
zonal/       the zonal route, for every isotropic law, harmonic by harmonic
kernel       attention with any kernel on linear tasks

Code outside this folder imports from here only, not from its modules.
"""

from typing import TYPE_CHECKING

from lipverify.foundation.lazy import lazy

if TYPE_CHECKING:
    from lipverify.loss.exact.biases.parts import Parts, parts, parts_of
    from lipverify.loss.exact.biases.terms import averaged_terms, length_slopes, mean_increment, ridge_terms
    from lipverify.loss.exact.context.contexts import Contexts, least_noise
    from lipverify.loss.exact.context.tokens import TokenNodes
    from lipverify.loss.exact.context.weighted import TokenRule, token_rules, weighted_mean
    from lipverify.loss.exact.cost import loss_cost
    from lipverify.loss.exact.quadrature import plain_rule
    from lipverify.loss.exact.routes import LARGEST, ROUTES, SMALLEST, exact_terms, rough_terms
    from lipverify.loss.exact.table import has_averages
    from lipverify.loss.exact.variograms.table import Variogram, variogram_of
    from lipverify.loss.exact.zonal.harmonics import Spectrum, deficits
    from lipverify.loss.exact.zonal.spectrum import CLOSED_FORMS, spectrum, spectrum_of
    from lipverify.loss.exact.zonal.terms import zonal_terms

__all__ = [
    "CLOSED_FORMS",
    "LARGEST",
    "ROUTES",
    "SMALLEST",
    "Contexts",
    "Parts",
    "Spectrum",
    "TokenNodes",
    "TokenRule",
    "Variogram",
    "averaged_terms",
    "deficits",
    "exact_terms",
    "has_averages",
    "least_noise",
    "length_slopes",
    "loss_cost",
    "mean_increment",
    "parts",
    "parts_of",
    "plain_rule",
    "ridge_terms",
    "rough_terms",
    "spectrum",
    "spectrum_of",
    "token_rules",
    "variogram_of",
    "weighted_mean",
    "zonal_terms",
]

__getattr__, __dir__ = lazy(__name__)
