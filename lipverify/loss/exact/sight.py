r"""The properties of a law that the exact method uses: routes that apply, kinks and narrow features, kinds of error.

A `Sight` is registered for each class of laws, so that routes, costs and messages need not know any law.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
from msgspec.structs import replace

from lipverify.loss.exact.variograms.planes import Link, meetings_of
from lipverify.loss.exact.variograms.roots import has_roots
from lipverify.loss.terms import ErrorKind
from lipverify.problem.features import SEEN, Features
from lipverify.problem.fields import Field
from lipverify.problem.fine import features, sighted, undeclared
from lipverify.problem.law import FunctionLaw, Law, RidgeLaw, by_law, proportional
from lipverify.problem.laws import Affine, Cosine, Linear, Quadratic, ReLU, WithOffset
from lipverify.problem.own import Ridge, Zonal


@dataclass(frozen=True)
class Sight:
    """The properties of a law; the defaults are those of a law of which only the spectrum is known."""

    law: Law
    averaged: bool = False  # the ridge route can compute it: from its links, its covariance or its variogram
    coded: bool = False  # its averages are coded by hand, so that the ridge route is accurate to double precision
    traced: bool = False  # a user's function, which is traced to find its features
    amplitude: float = 1.0  # the factor on the averages of a law of unit amplitude variance
    unit: Law | None = None  # if L is an amplitude, the law with L = 1, which has the same averages
    links: int = 0  # their number; 0 if the law is given by its covariance
    link: Link | None = None  # the link, if it is a user's own
    kinks: tuple[float, ...] = ()  # the kinks and jumps of that, declared or detected

    @cached_property
    def size(self) -> float:
        """A bound on the spread of the functions: 0 if they are constant, infinite on overflow, 1 if not known here."""
        if self.law.constant:
            return 0.0
        if not isinstance(self.law, FunctionLaw):
            return 1.0
        try:
            size = math.sqrt(self.law.amplitude_variance) * max(bound.extent for bound in self.law.bounds())
            return max(float(size), sys.float_info.min)  # not 0 on underflow
        except OverflowError:
            return math.inf

    @property
    def known(self) -> Features | None:
        """The features of the user's own link, if it is a formula."""
        return None if self.link is None else features(self.link)

    @cached_property
    def narrow(self) -> tuple[float, float] | None:
        """Width of the link's narrowest feature as a share of its piece, and its position; None if rules resolve it."""
        if self.known is None:
            return None
        share, position = self.known.narrowest(self.kinks)
        return (share, position) if share < SEEN else None

    @property
    def close(self) -> bool:
        """True if the variogram is not smooth at the differences of close kinks, so that its table takes minutes."""
        return bool(np.any(np.diff(self.kinks) < 1e-3))

    @property
    def rooted(self) -> bool:
        """True if the link behaves like a root at a kink or an end; true of a steep smooth link as well."""
        return self.link is not None and has_roots(self.link, self.kinks)

    @property
    def meetings(self) -> int:
        """Number of angles at which two kinks meet as circles on the sphere."""
        return len(meetings_of(self.kinks))

    @property
    def shown(self) -> tuple[Law, str]:
        """The law that replaces it in computations, and a sentence for the result's `reason`."""
        return self.law, ""

    def error_kind(self, route: str) -> ErrorKind:
        """The kind of a route's error: a bound, unless a user's function may have features that the route misses."""
        return "bounded"

    @property
    def doubt(self) -> str:
        """The reason for an estimated error."""
        return (
            f"The error is an estimate: the {'link' if self.links else 'covariance or variogram'} is not a formula of "
            "NumPy's functions, or is too steep, and a feature between the nodes is in neither the value nor the error."
        )

    def remedy(self, kind: ErrorKind) -> str:
        """Advice that would give more digits, if there is any."""
        return ""


class _OwnClass(Sight):
    """A user's class of laws, of which only the links are known: formulas, or not."""

    law: RidgeLaw

    def error_kind(self, route: str) -> ErrorKind:
        return self._kind

    @cached_property
    def _kind(self) -> ErrorKind:
        for k in range(self.links):
            known = features(lambda z, k=k: self.law.links(z, np)[k])
            if known is None or known.unbounded or known.narrowest(self.law.kink_points)[0] < SEEN:
                return "estimated"
        return "bounded"

    def remedy(self, kind: ErrorKind) -> str:
        return "The rules of lipverify.laws.Ridge(link, kinks=(...)) follow the same link further."


class _OwnLink(Sight):
    """A ridge law with a user's link."""

    law: Ridge

    @property
    def shown(self) -> tuple[Law, str]:
        """The law with its undeclared kinks added, if they are few."""
        completed = sighted(self.law)
        if completed == self.law:
            return self.law, ""
        kinks = ", ".join(f"{kink:g}" for kink in sorted(set(completed.kinks) - set(self.law.kinks)))
        return completed, (
            f"The link bends or jumps at z = {kinks}, undeclared: treated as declared by Ridge(link, kinks=(...))."
        )

    def error_kind(self, route: str) -> ErrorKind:
        resolved = self.known is not None and not self.known.unbounded and (route == "zonal" or self.narrow is None)
        return "bounded" if resolved else "estimated"

    @property
    def doubt(self) -> str:
        if (feature := self.narrow) is not None:
            return f"The error is an estimate: near z = {feature[1]:.7g} the link is steeper than the rules resolve."
        if self.known is None:
            return super().doubt
        if self.known.unbounded:
            return (
                f"The error is an estimate: at z = {self.known.unbounded[0]:.7g} the link may be infinite, or changes "
                "by more than 1 % within 1e-14."
            )
        return "The error is an estimate: two routes differ by more than their errors."

    def remedy(self, kind: ErrorKind) -> str:
        if self.narrow is not None and kind == "bounded":
            return "Where the link is steepest, the rounding of z limits the accuracy."
        if (kink := undeclared(self.law.link, self.kinks)) is not None:
            return (
                f"The link bends or jumps near z = {kink:g}, undeclared: Ridge(link, kinks=(...), jumps=(...)) gives "
                "more digits."
            )
        if self.kinks:
            return ""
        return "No rule resolves the link where it is steepest: add points there and next to it to kinks=(...)."


class _OwnCovariance(Sight):
    """A law given by a user's covariance or variogram."""

    law: Zonal

    def error_kind(self, route: str) -> ErrorKind:
        return self._kind

    @cached_property
    def _kind(self) -> ErrorKind:
        K = self.law.K
        known = features(self.law.variogram if K is None else lambda s: K(1 - s), 0.0, 2.0)
        # at distance 0 the rules are graded anyway
        return "bounded" if known is not None and known.narrowest(graded=True)[0] >= SEEN else "estimated"

    def remedy(self, kind: ErrorKind) -> str:
        return "" if self.law.K is None else "K in double precision loses V near t = 1; Zonal(variogram=...) keeps it."


@by_law
def _sight(law: Law) -> Sight:
    return Sight(law)


@_sight.register(RidgeLaw)
def _links(law: Any, kind: type[Sight] = _OwnClass) -> Sight:
    unit, links = replace(law, L=1.0) if proportional(law) else None, len(law.links(np.zeros(1), np))
    return kind(law, averaged=True, coded=kind is Sight, amplitude=law.amplitude_variance, unit=unit, links=links)


_sight.register(Affine, Linear, ReLU, Cosine, Quadratic, WithOffset)(partial(_links, kind=Sight))
_sight.register(Field)(partial(Sight, averaged=True))


@_sight.register(Ridge)
def _own_link(law: Ridge) -> Sight:
    amplitude, kinks = law.amplitude_variance, law.kink_points
    return _OwnLink(law, averaged=True, traced=True, amplitude=amplitude, links=1, link=law.link, kinks=kinks)


@_sight.register(Zonal)
def _own_covariance(law: Zonal) -> Sight:
    if law.spectrum is not None:
        return Sight(law, traced=True)
    return _OwnCovariance(law, averaged=True, traced=True)


sight_of = lru_cache(maxsize=64)(_sight)
"""The sight of a law; cached, because it traces users' functions."""
