r"""The properties of a law that the exact method uses: routes that apply, kinks and narrow features, kinds of error.

A `Sight` is registered for each class of laws, so that routes, costs and messages need not know any law.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from msgspec.structs import replace

from lipverify.loss.exact.variograms.planes import meetings_of
from lipverify.loss.exact.variograms.roots import has_roots
from lipverify.loss.terms import ErrorKind
from lipverify.problem.features import SEEN, Features
from lipverify.problem.fields import Field
from lipverify.problem.fine import features, sighted, undeclared
from lipverify.problem.law import FunctionLaw, Law, RidgeLaw, by_law, proportional
from lipverify.problem.laws import Affine, Cosine, Linear, Quadratic, ReLU, WithOffset
from lipverify.problem.network import ReLUNetwork
from lipverify.problem.own import Ridge, Zonal

CLOSE = 1e-3
"""Distance of kinks below which the ridge route is not tried first: the variogram is not smooth at the differences of
kinks, and its table would take minutes."""


@dataclass(frozen=True)
class Sight:
    """The properties of a law given by its spectrum; base class of all sights.

    Attributes
    ----------
    averaged
        True if the ridge route can compute the law: from its links, its covariance or its variogram.
    named
        True if the averages of the law are coded for it, so that the ridge route is accurate to double precision.
    traced
        True if the law is a user's function, which is traced to find its features.
    amplitude
        The factor on the averages of a law of unit amplitude variance.
    unit
        If L is an amplitude, the law with L = 1, which has the same averages.
    """

    law: Law
    averaged: bool = False
    named: bool = False
    traced: bool = False
    amplitude: float = 1.0
    unit: Law | None = None

    @cached_property
    def size(self) -> float:
        """Approximate range of the functions: 0 if they are constant, infinite on overflow, 1 if not known here."""
        return 0.0 if self.law.constant else 1.0

    @property
    def links(self) -> int:
        """Number of links; 0 if the law is given by its covariance."""
        return 0

    @cached_property
    def narrow(self) -> tuple[float, float] | None:
        """Width of a link's narrowest feature as a share of its piece, and its position; None if rules resolve it."""
        return None

    @property
    def close(self) -> bool:
        """True if two kinks are closer than `CLOSE`."""
        return False

    @property
    def rooted(self) -> bool:
        """True if the link behaves like a root at a kink or an end."""
        return False

    @property
    def kinked(self) -> bool:
        """True if the link has kinks or jumps, declared or detected."""
        return False

    @property
    def meetings(self) -> int:
        """Number of angles at which the variogram is not smooth, as far as known without a table."""
        return 0

    def shown(self, d: int) -> tuple[Law, str]:
        """The law that replaces it in computations in dimension d, and a sentence for the result's `reason`."""
        return self.law, ""

    def error_kind(self, route: str) -> ErrorKind:
        """The kind of a route's error: a bound, unless a user's function may have features that the route misses."""
        return "bounded"

    @property
    def doubt(self) -> str:
        """The reason for an estimated error."""
        return (
            "The error is an estimate: the covariance or variogram is not a formula of NumPy's functions, or is too "
            "steep, and a feature between the nodes is in neither the value nor the error."
        )

    def remedy(self, kind: ErrorKind) -> str:
        """Advice that would give more digits, if there is any."""
        return ""


@dataclass(frozen=True)
class Functions(Sight):
    """A law whose functions can be drawn."""

    law: FunctionLaw

    @cached_property
    def size(self) -> float:
        """The standard deviation of the amplitude times the largest extent of a component; if it underflows, tiny."""
        if self.law.constant:
            return 0.0
        try:
            size = math.sqrt(self.law.amplitude_variance) * max(bound.extent for bound in self.law.bounds())
            return max(float(size), sys.float_info.min)
        except OverflowError:
            return math.inf


@dataclass(frozen=True)
class Network(Functions):
    """A law whose covariance is known in every dimension; it is replaced by the field with that covariance."""

    def shown(self, d: int) -> tuple[Law, str]:
        """The field of the same covariance; its variogram is analytic for distances below 2 (1 + bias^2)^{1/2}."""
        return _field_of(self.law, d), ""


@lru_cache(maxsize=64)
def _field_of(law: Law, d: int) -> Zonal:
    """The field, cached because tables are remembered by the identity of their law."""
    return Zonal(variogram=law.covariance(d).variogram)  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Links(Functions):
    """A ridge law whose links every rule resolves."""

    law: RidgeLaw

    @property
    def links(self) -> int:
        """Number of links, counted by a call at one point."""
        return len(self.law.links(np.zeros(1), np))


@dataclass(frozen=True)
class OwnClass(Links):
    """A user's class of laws, of which only the links are known."""

    def error_kind(self, route: str) -> ErrorKind:
        """A bound if the links are formulas that every rule resolves between the declared kinks."""
        return self._kind

    @cached_property
    def _kind(self) -> ErrorKind:
        for k in range(self.links):
            known = features(lambda z, k=k: self.law.links(z, np)[k])
            if known is None or known.unbounded or known.narrowest(self.law.kink_points)[0] < SEEN:
                return "estimated"
        return "bounded"

    @property
    def doubt(self) -> str:
        """The reason for an estimated error, in terms of the links."""
        return super().doubt.replace("covariance or variogram", "link")


@dataclass(frozen=True)
class OwnLink(Links):
    """A ridge law with a user's link."""

    law: Ridge

    @property
    def links(self) -> int:
        """1; the link need not be called to count it."""
        return 1

    @cached_property
    def known(self) -> Features | None:
        """The features of the link, if it is a formula."""
        return features(self.law.link)

    @cached_property
    def narrow(self) -> tuple[float, float] | None:
        """The narrowest interval of analyticity, if it is narrower than the rules resolve."""
        if self.known is None:
            return None
        share, position = self.known.narrowest(self.law.kink_points)
        return (share, position) if share < SEEN else None

    @property
    def close(self) -> bool:
        """True if two kinks, declared or detected, are closer than `CLOSE`."""
        return bool(np.any(np.diff(self.law.kink_points) < CLOSE))

    @property
    def rooted(self) -> bool:
        """The result of `has_roots` over half the distance to the next kink; true of a steep smooth link as well."""
        return has_roots(self.law.link, self.law.kink_points)

    @property
    def kinked(self) -> bool:
        """True if there are kinks, declared or detected."""
        return bool(self.law.kink_points)

    @property
    def meetings(self) -> int:
        """Number of angles at which two kinks meet as circles on the sphere."""
        return len(meetings_of(self.law.kink_points))

    def shown(self, d: int) -> tuple[Law, str]:
        """The law with its undeclared kinks added, if they are few."""
        completed = sighted(self.law)
        if completed == self.law:
            return self.law, ""
        kinks = ", ".join(f"{kink:g}" for kink in sorted(set(completed.kinks) - set(self.law.kinks)))
        return completed, (
            f"The link bends or jumps at z = {kinks}, undeclared: treated as declared by Ridge(link, kinks=(...))."
        )

    def error_kind(self, route: str) -> ErrorKind:
        """A bound if the link is a formula, is finite, and the rules of the route resolve it."""
        resolved = self.known is not None and not self.known.unbounded and (route == "zonal" or self.narrow is None)
        return "bounded" if resolved else "estimated"

    @property
    def doubt(self) -> str:
        """The reason for an estimated error: an unresolved feature or an unbounded point."""
        if (feature := self.narrow) is not None:
            return f"The error is an estimate: near z = {feature[1]:.7g} the link is steeper than the rules resolve."
        if self.known is not None:
            return (
                f"The error is an estimate: at z = {self.known.unbounded[0]:.7g} the link may be infinite, or changes "
                "by more than 1 % within 1e-14."
            )
        return super().doubt.replace("covariance or variogram", "link")

    def remedy(self, kind: ErrorKind) -> str:
        """Advice to declare kinks, or points where the link is steepest."""
        if self.narrow is not None and kind == "bounded":
            return "Where the link is steepest, the rounding of z limits the accuracy."
        if (kink := undeclared(self.law.link, self.law.kink_points)) is not None:
            return (
                f"The link bends or jumps near z = {kink:g}, undeclared: Ridge(link, kinks=(...), jumps=(...)) gives "
                "more digits."
            )
        if self.law.kink_points:
            return ""
        return "No rule resolves the link where it is steepest: add points there and next to it to kinks=(...)."


@dataclass(frozen=True)
class OwnCovariance(Sight):
    """A law given by a user's covariance or variogram."""

    law: Zonal

    def error_kind(self, route: str) -> ErrorKind:
        """A bound if the function is a formula that the rules resolve; at distance 0 the rules are graded anyway."""
        return self._kind

    @cached_property
    def _kind(self) -> ErrorKind:
        K = self.law.K
        known = features(self.law.variogram if K is None else lambda s: K(1 - s), 0.0, 2.0)
        return "bounded" if known is not None and known.narrowest(graded=True)[0] >= SEEN else "estimated"

    def remedy(self, kind: ErrorKind) -> str:
        """Advice to give a variogram in place of K."""
        return "" if self.law.K is None else "K in double precision loses V near t = 1; Zonal(variogram=...) keeps it."


@lru_cache(maxsize=64)
def sight_of(law: Law) -> Sight:
    """The sight of a law; cached, because it traces users' functions."""
    return sight(law)


@by_law
def sight(law: Law) -> Sight:
    """Make the sight of a law; the default is for laws given by a spectrum, and for unknown laws."""
    return Sight(law)


@sight.register(FunctionLaw)
def _functions(law: FunctionLaw) -> Sight:
    return Functions(law)


@sight.register(ReLUNetwork)
def _network(law: ReLUNetwork) -> Sight:
    return Network(law)


@sight.register(RidgeLaw)
def _links(law: Any, kind: type[Links] = OwnClass) -> Sight:
    unit = replace(law, L=1.0) if proportional(law) else None
    return kind(law, averaged=True, named=True, amplitude=law.amplitude_variance, unit=unit)


@sight.register(Affine, Linear, ReLU, Cosine, Quadratic, WithOffset)
def _resolved(law: RidgeLaw) -> Sight:
    return _links(law, Links)


@sight.register(Ridge)
def _own_link(law: Ridge) -> Sight:
    return OwnLink(law, averaged=True, traced=True, amplitude=law.amplitude_variance)


@sight.register(Field)
def _field(law: Field) -> Sight:
    return Sight(law, averaged=True)


@sight.register(Zonal)
def _own_covariance(law: Zonal) -> Sight:
    if law.spectrum is not None:
        return Sight(law, traced=True)
    return OwnCovariance(law, averaged=True, traced=True)
