r"""The averages of a law with kinks, jumps or roots: all of them from its variogram, a table of one angle."""

from __future__ import annotations

from dataclasses import replace

from lipverify.foundation.arrays import Floats
from lipverify.loss.exact.biases.angles import bias_by_angles
from lipverify.loss.exact.biases.pairs import pair_term
from lipverify.loss.exact.biases.task import TaskAverages
from lipverify.loss.exact.context.tokens import TokenNodes
from lipverify.loss.exact.variograms.pieces import scale
from lipverify.loss.exact.variograms.planes import Link
from lipverify.loss.exact.variograms.products import Products
from lipverify.loss.exact.variograms.table import Variogram, variogram_of

ROOT_TOLERANCE = 1e-8
ROUNDING = 3e-12
"""Relative, of the table of the variogram and of the sums over it: four times what ReLU's own averages differ by."""

MOST_MEETINGS = 1
"""Between these angles two tokens have cells, whose number grows with the square of theirs."""


def kinked_averages(d: int, link: Link, kinks: tuple[float, ...], jumps: bool = False) -> TaskAverages:
    """The averages of a link that is analytic between its kinks; `jumps` if it is not continuous at some of them."""
    return table_averages(variogram_of(d, link, kinks, jumps))


def table_averages(of: Variogram) -> TaskAverages:
    """The averages of any isotropic law, from its variogram.

    Where it is smooth but at one angle, what increments at two tokens have in common is tabulated once for a law;
    elsewhere the angles of tokens are, once for a window.
    """

    def off(nodes: TokenNodes) -> Floats:
        return of.gap * (of(nodes.angle) if of.roots else scale(of.power, nodes.angle))

    known = TaskAverages(
        variance=of.variance,
        variogram=lambda nodes: of(nodes.angle),
        meetings=of.meetings,
        tolerance=ROOT_TOLERANCE if of.roots else TaskAverages.tolerance,
        relative_error=ROUNDING + (of.gap if of.roots else of.gap / of.largest),
    )
    if len(of.meetings) > MOST_MEETINGS or of.roots:
        return replace(known, smooth=True, bias=lambda rules: bias_by_angles(of, rules))
    products = Products(of)
    return replace(known, off=off, cross=lambda contexts, order, factors: pair_term(products, contexts, order, factors))
