"""The averages of each law as a sum of parts, registered by the class of the law.

Your own law may register its parts if they are known more accurately than from a table: `parts.register(Cubic)`.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from lipverify.errors import OutOfReach
from lipverify.foundation.arrays import Floats
from lipverify.foundation.harmonics import Spectrum
from lipverify.foundation.validation import zero_or_more
from lipverify.loss.exact.quadrature import chebyshev_points, to_coefficients
from lipverify.loss.exact.ridge.absolute import relu_averages
from lipverify.loss.exact.ridge.angles import bias_by_angles
from lipverify.loss.exact.ridge.smooth import SIZES, cosine_increment, difference, smooth_averages
from lipverify.loss.exact.ridge.task import ROUNDING, TaskAverages, linear_averages, square_averages
from lipverify.loss.exact.sight import sight_of
from lipverify.loss.exact.variograms.closed import harmonics_of, variogram_of_field, variogram_of_spectrum
from lipverify.loss.exact.variograms.planes import Link
from lipverify.loss.exact.variograms.roots import is_resolved, rough_ends, steep_places
from lipverify.loss.exact.variograms.table import Variogram, variogram_of
from lipverify.loss.work import price_of
from lipverify.problem.features import UNSEEN
from lipverify.problem.fine import features
from lipverify.problem.law import Law, RidgeLaw, by_law
from lipverify.problem.laws import Affine, Cosine, Quadratic, ReLU, WithOffset
from lipverify.problem.own import Ridge, jumps_of

Parts = tuple[TaskAverages, ...]
"""Averages whose sum is that of a law of unit amplitude variance: one for each link, as amplitudes are independent."""


@lru_cache(maxsize=32)
def parts_of(law: Law, d: int) -> Parts:
    """The parts of a law in dimension d, after the replacements of its sight; cached."""
    replacement, _ = sight_of(law).shown
    return parts(replacement, d)


@by_law
def parts(law: Law, d: int) -> Parts:
    """The parts of a law in dimension d; the default is for a law given by its covariance.

    A law of which only the spectrum is known is refused, and so is one with features that no rule resolves.
    """
    return () if law.constant else (table_averages(variogram_of_field(law, d)),)


parts.register(Affine)(lambda law, d: (linear_averages(d),))
parts.register(Quadratic)(lambda law, d: (square_averages(d),))
parts.register(ReLU)(lambda law, d: (relu_averages(d),))
parts.register(WithOffset)(lambda law, d: parts(law.ridge, d))  # an offset enters no increment


@parts.register(Cosine)
def _of_cosine(law: Cosine, d: int) -> Parts:
    # |z| is about d^{-1/2}, and a table has a coefficient for each radian; the other route needs no table
    if 4 * SIZES[-1] * math.sqrt(d) > law.L:
        averages = smooth_averages(d, cosine_increment(law.L), 2 * price_of(np.sin))
        if averages.relative_error <= 1e-9:
            return (averages,)
    raise OutOfReach(f"L = {law.L:g}: the cosine turns too often for the tables of route='ridge'; use 'zonal'.")


@parts.register(RidgeLaw)
def _of_links(law: RidgeLaw, d: int) -> Parts:
    """The parts of all links: from the variogram for a link with kinks, from a table of increments for a smooth one."""

    def averages(k: int) -> TaskAverages:
        def link(z: Floats) -> Floats:
            return law.links(z, np)[k]

        if law.kink_points:
            return kinked_averages(d, link, law.kink_points, bool(jumps_of(law)))
        return smooth_averages(d, difference(link), 2 * price_of(link))

    values = law.links(np.linspace(-1, 1, 4097), np)
    constant = [bool(law.kink_points) and np.ptp(h) == 0 for h in values]  # it has no variogram to tabulate
    return tuple(averages(k) for k in range(len(values)) if not constant[k])


@parts.register(Ridge)
def _of_own_link(law: Ridge, d: int) -> Parts:
    """The parts of a user's link, which may have roots at the ends and features narrower than the nodes."""

    def link(z: Floats) -> Floats:
        return law.links(z, np)[0]

    hidden = _hidden(law)
    if kinks := tuple(sorted(law.kink_points + rough_ends(law.link, law.kink_points))):
        if hidden is not None:
            _resolving(law, *hidden)
        return (kinked_averages(d, link, kinks, bool(jumps_of(law))),)
    if (spectrum := spectrum_beyond_tables(law, d)) is not None:
        return (table_averages(variogram_of_spectrum(spectrum)),)
    if hidden is not None:
        # split at the kinks of the law and where it is steep, so that no feature falls between nodes
        return (kinked_averages(d, link, _resolving(law, *hidden)),)
    averages = smooth_averages(d, difference(link), 2 * price_of(link), sizes_for(law))
    if not averages.followed and (places := steep_places(law.link)):
        split = kinked_averages(d, law.link, places)
        averages = min(split, averages, key=lambda choice: choice.relative_error)
    return (averages,)


def _hidden(law: Ridge) -> tuple[float, float] | None:
    """Width and position of a feature that may lie between the nodes."""
    feature = sight_of(law).narrow
    return feature if feature is not None and feature[0] < UNSEEN else None


def spectrum_beyond_tables(law: Ridge, d: int) -> Spectrum | None:
    """The harmonics of a link without kinks that is too long or too narrow for tables of it; None if it is neither."""
    return whole_spectrum(law, d) if _hidden(law) is not None or length_of(law) > SIZES[-1] else None


RESOLVED = 1e-12
"""Share of the largest Chebyshev coefficient of a link below which others are rounding."""


def length_of(law: Ridge) -> int:
    """Number of Chebyshev coefficients of a link up to the last one above rounding, at most `SIZES[-1]` + 1."""
    size = SIZES[-1] + 1
    sizes = np.abs(to_coefficients(size) @ np.asarray(law.links(chebyshev_points(size), np)[0], dtype=float))
    return int(np.max(np.flatnonzero(sizes > RESOLVED * np.max(sizes)), initial=0)) + 1


def sizes_for(law: Ridge) -> tuple[int, ...]:
    """The sizes of tables to try: for a formula a little more than its length, as its averages are polynomials too."""
    length = length_of(law)
    table, check = length + 8, length + length // 8 + 16
    if sight_of(law).known is None or check > SIZES[-1]:
        return SIZES
    return table, check, *(size for size in SIZES if size > check)


ENOUGH = 1e-6
"""Share of a law's variance that may be lost in the rounding of its harmonics: in high dimensions there are many."""
MOST_HARMONICS = (512, 2048, 8192)
"""Numbers of harmonics that a link may have; each is a quarter of a second's work per thousand, squared."""


@lru_cache(maxsize=32)
def whole_spectrum(law: Ridge, d: int) -> Spectrum | None:
    """All harmonics above rounding of a formula that is smooth; None if these are too many or lose too many digits."""
    if (known := features(law.link)) is None or known.places or known.unbounded:
        return None  # of a kink that nobody sees, harmonics beyond the last matter at small angles
    for most in MOST_HARMONICS:
        spectrum = harmonics_of(lambda z: law.links(z, np)[0], known.edges, d, law.amplitude_variance, most)
        if spectrum is not None:
            return spectrum if spectrum.tail + spectrum.tail_error <= ENOUGH * spectrum.total else None
    return None


def _resolving(law: Ridge, share: float, position: float) -> tuple[float, ...]:
    """Kinks or steep points between which a link with a narrow feature is a polynomial to rounding."""
    for places in (law.kink_points, steep_places(law.link)):
        if places and is_resolved(law.link, places):
            return places
    raise OutOfReach(
        f"the link has a feature of width {share:.0e} of its piece near z = {position:.7g}, "
        "which may lie between the nodes: give places at it and on both sides as kinks=(...), "
        "use route='zonal' at a smaller w, or method='montecarlo'."
    )


def kinked_averages(d: int, link: Link, kinks: tuple[float, ...], jumps: bool = False) -> TaskAverages:
    """The averages of a link that is analytic between its kinks; `jumps` if it is discontinuous at one of them."""
    # a table of squares that underflow has no weights
    zero_or_more("range", float(np.ptp(link(chebyshev_points(SIZES[-1])))), "that of a link with kinks")
    return table_averages(variogram_of(d, link, kinks, jumps))


def table_averages(of: Variogram) -> TaskAverages:
    """The averages of any isotropic law, from its variogram."""
    return TaskAverages(
        variance=of.variance,
        variogram=lambda nodes: of(nodes.angle),
        bias=lambda rules: bias_by_angles(of, rules),
        meetings=of.splits + of.meetings,
        jumps=of.power == 1,
        tolerance=1e-8 if of.roots else TaskAverages.tolerance,  # about the error of its variogram
        relative_error=ROUNDING + of.relative_gap,
    )
