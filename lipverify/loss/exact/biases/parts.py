"""Each law as a sum of parts whose averages are known."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from lipverify.errors import OutOfReach
from lipverify.foundation.arrays import Floats
from lipverify.loss.exact.biases.absolute import relu_averages
from lipverify.loss.exact.biases.angles import bias_by_angles
from lipverify.loss.exact.biases.pairs import pair_term
from lipverify.loss.exact.biases.smooth import cosine_increment, difference, smooth_averages
from lipverify.loss.exact.biases.task import TaskAverages, linear_averages, square_averages
from lipverify.loss.exact.context.tokens import TokenNodes
from lipverify.loss.exact.variograms.closed import variogram_of_field
from lipverify.loss.exact.variograms.pieces import scale
from lipverify.loss.exact.variograms.planes import Link
from lipverify.loss.exact.variograms.products import Products
from lipverify.loss.exact.variograms.roots import is_resolved, rough_ends, steep_places
from lipverify.loss.exact.variograms.table import Variogram, variogram_of
from lipverify.loss.work import price_of
from lipverify.problem.features import SEEN, UNSEEN
from lipverify.problem.fields import variation_of
from lipverify.problem.fine import features, sighted
from lipverify.problem.law import Law, RidgeLaw
from lipverify.problem.laws import Affine, Cosine, Quadratic, ReLU
from lipverify.problem.own import Ridge, Zonal

WORST_TABLE = 1e-9
"""A cosine that a table does not follow to this accuracy is refused, since the other route has no table."""
Parts = tuple[tuple[float, TaskAverages], ...]
"""(share, averages): the averages of a law of unit amplitude variance are the sum of share times part."""


def has_averages(law: Law) -> bool:
    """Whether the route knows a law: by its links, its kernel or its variogram."""
    return isinstance(law, RidgeLaw) or variation_of(law) is not None


def narrow(law: Law) -> tuple[float, float] | None:
    """The width of the narrowest feature of a link of one's own, in shares of its piece, and where that is.

    None if every rule has nodes inside of it, or nothing is known of it.
    """
    if not isinstance(law, Ridge) or (known := features(law.link)) is None:
        return None
    share, at = known.narrowest(law.kink_points)
    return (share, at) if share < SEEN else None


def bias_unit(law: Law) -> float:
    """What averages of a law of unit amplitude variance are to be multiplied by."""
    return law.amplitude_variance if isinstance(law, RidgeLaw) else 1.0


@lru_cache(maxsize=32)
def parts_of(law: Law, d: int) -> Parts:
    """The parts of a law in dimension d.

    Amplitudes are independent with equal variance, so that links add up. As (z)_+ = (z + |z|) / 2, the ReLU law is
    half of the linear and half of the absolute one.
    """
    if isinstance(law, Ridge) and (seen := sighted(law)) != law:
        return parts_of(seen, d)
    if isinstance(law, Zonal) and law.constant:
        return ()
    if not isinstance(law, RidgeLaw):
        return ((1.0, field_averages(law, d)),)
    if isinstance(law, Affine):
        return ((1.0, linear_averages(d)),)
    if isinstance(law, Quadratic):
        return ((1.0, square_averages(d)),)
    if isinstance(law, ReLU):
        return ((1.0, relu_averages(d)),)
    return tuple((1.0, link_averages(law, d, k)) for k in range(len(law.links(np.zeros(1), np))))


def link_averages(law: RidgeLaw, d: int, k: int = 0) -> TaskAverages:
    """The averages for link number k of a law, tabulated where the link is smooth."""

    def link(z: Floats) -> Floats:
        return law.links(z, np)[k]

    ends = rough_ends(law.link, law.kink_points) if isinstance(law, Ridge) else ()
    if kinks := tuple(sorted(law.kink_points + ends)):
        if (feature := narrow(law)) is not None and feature[0] < UNSEEN:
            _resolving(law, *feature)
        return kinked_averages(d, link, kinks, bool(law.jump_points))
    if isinstance(law, Cosine):
        averages = smooth_averages(d, cosine_increment(law.L), 2 * price_of(np.sin))
        if averages.relative_error > WORST_TABLE:
            raise OutOfReach(f"L = {law.L:g}: the cosine turns too often for the tables of route='ridge'; use 'zonal'.")
        return averages
    if (feature := narrow(law)) is not None and feature[0] < UNSEEN:
        # the law's places are its kinks, or where it is steep: at these nothing is left between nodes
        return kinked_averages(d, link, _resolving(law, *feature))
    averages = smooth_averages(d, difference(link), 2 * price_of(link))
    if not averages.followed and isinstance(law, Ridge) and (places := steep_places(law.link)):
        split = kinked_averages(d, law.link, places)
        return min(split, averages, key=lambda each: each.relative_error)
    return averages


def _resolving(law: RidgeLaw, share: float, at: float) -> tuple[float, ...]:
    """Places between which a link with a narrow feature is a polynomial to rounding.

    Raises
    ------
    OutOfReach
        If there are none among its kinks and where it is plainly steep.
    """
    assert isinstance(law, Ridge)
    for places in (law.kink_points, steep_places(law.link)):
        if places and is_resolved(law.link, places):
            return places
    raise OutOfReach(
        f"the link has a feature of width {share:.0e} of its piece near z = {at:.7g}, which may lie between the nodes: "
        "give places at it and on both sides as kinks=(...), use route='zonal' at a smaller w, or method='montecarlo'."
    )


ROOT_TOLERANCE = 1e-8
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


def field_averages(law: Law, d: int) -> TaskAverages:
    """The averages of a law of which the variogram is known; refused as `variogram_of_field`."""
    return table_averages(variogram_of_field(law, d))
