r"""Exact loss terms by deterministic quadrature whose cost does not depend on n, by two independent routes.

routes       `exact_terms`: apply the route of the table, and the other one if needed
table        the two routes, and which of them is taken for each law and w
sight        the properties of a law that decide between routes and kinds of error
cost         the cost of a loss, estimated before it begins
quadrature   rules, polynomials and graded meshes, independent of laws
context/     averages over the n tokens of a context, independent of laws
variograms/  variograms of laws, independent of n and w
ridge/       the ridge route, which combines both, for laws given by links, a covariance or a variogram
zonal/       the zonal route, for every isotropic law, harmonic by harmonic
kernel       attention with any kernel on linear tasks
normal       covariates N(0, I)

Code outside this folder imports from here only, not from its modules.
"""

from typing import TYPE_CHECKING

from lipverify.foundation.lazy import lazy

if TYPE_CHECKING:
    from lipverify.loss.exact.ridge.parts import Parts as Parts, parts as parts, parts_of as parts_of
    from lipverify.loss.exact.ridge.terms import (
        averaged_terms as averaged_terms,
        length_slopes as length_slopes,
        mean_increment as mean_increment,
    )
    from lipverify.loss.exact.context.contexts import Contexts as Contexts, least_noise as least_noise
    from lipverify.loss.exact.context.tokens import TokenNodes as TokenNodes
    from lipverify.loss.exact.context.weighted import (
        TokenRule as TokenRule,
        token_rules as token_rules,
        weighted_mean as weighted_mean,
    )
    from lipverify.loss.exact.cost import loss_cost as loss_cost
    from lipverify.loss.exact.quadrature import plain_rule as plain_rule
    from lipverify.loss.exact.routes import (
        LARGEST as LARGEST,
        SMALLEST as SMALLEST,
        exact_terms as exact_terms,
        rough_terms as rough_terms,
    )
    from lipverify.loss.exact.table import has_averages as has_averages
    from lipverify.loss.exact.variograms.table import Variogram as Variogram, variogram_of as variogram_of
    from lipverify.foundation.harmonics import Spectrum as Spectrum, deficits as deficits
    from lipverify.loss.exact.zonal.spectrum import (
        CLOSED_FORMS as CLOSED_FORMS,
        spectrum as spectrum,
        spectrum_of as spectrum_of,
    )

lazy()
