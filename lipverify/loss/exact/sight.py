r"""What the exact method sees of a law: which routes know it, where it is rough, and what its errors are.

The classes are registered by the class of the law; routes, costs and messages ask them, and know no law.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from msgspec.structs import replace

from lipverify.loss.exact.variograms.planes import meetings_of
from lipverify.loss.exact.variograms.roots import NEAR, has_roots
from lipverify.loss.terms import ErrorKind
from lipverify.problem.features import SEEN, Features
from lipverify.problem.fields import Field
from lipverify.problem.fine import features, sighted, undeclared
from lipverify.problem.law import FunctionLaw, Law, RidgeLaw, by_law
from lipverify.problem.laws import Affine, Cosine, Linear, Quadratic, RandomAmplitude, ReLU
from lipverify.problem.network import ReLUNetwork
from lipverify.problem.offset import WithOffset
from lipverify.problem.own import Ridge, Zonal

NAMED = (Affine, Linear, ReLU, Cosine, Quadratic, WithOffset)
"""Laws whose links every rule is made for."""
CLOSE = 1e-3
"""Kinks nearer to each other than this: the variogram, which is not smooth at their differences, would take minutes."""


@dataclass(frozen=True)
class Sight:
    """A law that is known by its spectrum, and what all sights have.

    Attributes
    ----------
    averaged
        Whether the ridge route knows the law: by its links, its covariance or its variogram.
    named
        Whether the averages of the law are its own, so that the ridge route is as sharp as doubles are.
    traced
        Whether the law is a function of one's own, which is traced before it is believed.
    amplitude
        What averages of a law of unit amplitude variance are to be multiplied by.
    unit
        Where L is an amplitude, the law with L = 1, which has the same averages.
    """

    law: Law
    averaged: bool = False
    named: bool = False
    traced: bool = False
    amplitude: float = 1.0
    unit: Law | None = None

    @cached_property
    def size(self) -> float:
        """About what the functions vary by: 0 if they are constant, infinite beyond doubles, 1 if not known here."""
        return 0.0 if self.law.constant else 1.0

    @property
    def links(self) -> int:
        """How many links there are: none if the law is known by its covariance."""
        return 0

    @cached_property
    def narrow(self) -> tuple[float, float] | None:
        """The width of the narrowest feature of a link, in shares of its piece, and where; None if all rules see it."""
        return None

    @property
    def close(self) -> bool:
        """Whether kinks are closer than `CLOSE`."""
        return False

    @property
    def rooted(self) -> bool:
        """Whether the link has roots at kinks or ends."""
        return False

    @property
    def kinked(self) -> bool:
        """Whether the link has kinks or jumps that are declared or found."""
        return False

    @property
    def meetings(self) -> int:
        """At how many angles the variogram is not smooth, as far as that is known without a table."""
        return 0

    @property
    def by_angles(self) -> bool:
        """Whether roots call for the densities of angles, whatever the number of meetings."""
        return False

    def shown(self, d: int) -> tuple[Law, str]:
        """The law that is computed with in its place in dimension d, and what the result says of that."""
        return self.law, ""

    def error_kind(self, route: str) -> ErrorKind:
        """What the error by a route is: a bound, unless a function of one's own may hide something from it."""
        return "bounded"

    @property
    def doubt(self) -> str:
        """Why an error is an estimate."""
        return (
            "The error is an estimate: the covariance or variogram is no formula of NumPy's functions, or too steep "
            "for one, and what it does between the nodes is in neither the value nor the error."
        )

    def remedy(self, kind: ErrorKind) -> str:
        """What would give more digits, where some are missing."""
        return ""


@dataclass(frozen=True)
class Functions(Sight):
    """A law whose functions can be drawn."""

    law: FunctionLaw

    @cached_property
    def size(self) -> float:
        """The root of the amplitude variance times the largest extent."""
        if self.law.constant:
            return 0.0
        try:
            return float(math.sqrt(self.law.amplitude_variance) * max(self.law.extents()))
        except OverflowError:
            return math.inf


@dataclass(frozen=True)
class Network(Functions):
    """A law of which the covariance is known in every dimension: the field with that covariance stands for it."""

    def shown(self, d: int) -> tuple[Law, str]:
        """A field: its variogram is analytic up to 2 (1 + bias^2)^{1/2}, past which it is one of a half-power of 3."""
        return _field_of(self.law, d), ""


@lru_cache(maxsize=64)
def _field_of(law: Law, d: int) -> Zonal:
    """The same one each time, for what is tabulated is remembered by it."""
    return Zonal(variogram=law.covariance(d).variogram)  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Links(Functions):
    """A ridge law that has a name."""

    law: RidgeLaw

    @property
    def links(self) -> int:
        """How many the law has, by calling them at one point."""
        return len(self.law.links(np.zeros(1), np))


@dataclass(frozen=True)
class OwnClass(Links):
    """A class of one's own, of which nothing is known but its links: no route is told of what they hide."""

    def error_kind(self, route: str) -> ErrorKind:
        """A bound if the links are formulas that every rule sees between the kinks that are declared."""
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
        """The same of its links."""
        return super().doubt.replace("covariance or variogram", "link")


@dataclass(frozen=True)
class OwnLink(Links):
    """The link of one's own."""

    law: Ridge

    @property
    def links(self) -> int:
        """One, which is not called to be counted."""
        return 1

    @cached_property
    def known(self) -> Features | None:
        """The features of the link, if it is a formula."""
        return features(self.law.link)

    @cached_property
    def narrow(self) -> tuple[float, float] | None:
        """Where intervals on which the link is analytic are narrower than rules are made for."""
        if self.known is None:
            return None
        share, at = self.known.narrowest(self.law.kink_points)
        return (share, at) if share < SEEN else None

    @property
    def close(self) -> bool:
        """By the kinks that are declared or found."""
        return bool(np.any(np.diff(self.law.kink_points) < CLOSE))

    @property
    def rooted(self) -> bool:
        """As `has_roots` sees over half of the way to the next kink; a smooth link that is steep looks alike."""
        return has_roots(self.law.link, self.law.kink_points)

    @property
    def kinked(self) -> bool:
        """By the kinks that are declared or found."""
        return bool(self.law.kink_points)

    @property
    def meetings(self) -> int:
        """Those of the kinks."""
        return len(meetings_of(self.law.kink_points))

    @property
    def by_angles(self) -> bool:
        """Whether there are roots beside the kinks, or at the ends."""
        return has_roots(self.law.link, self.law.kink_points, NEAR)

    def shown(self, d: int) -> tuple[Law, str]:
        """With the kinks declared that it has and does not declare, if they are few."""
        seen = sighted(self.law)
        if seen == self.law:
            return self.law, ""
        found = ", ".join(f"{at:g}" for at in sorted(set(seen.kinks) - set(self.law.kinks)))
        return seen, (
            f"The link bends or jumps at z = {found}, undeclared: taken as if Ridge(link, kinks=(...)) said so."
        )

    def error_kind(self, route: str) -> ErrorKind:
        """A bound if the link is a formula, finite, and the rules of the route see all of it."""
        seen = self.known is not None and not self.known.unbounded and (route == "zonal" or self.narrow is None)
        return "bounded" if seen else "estimated"

    @property
    def doubt(self) -> str:
        """The feature or the place that nothing is known of."""
        if (feature := self.narrow) is not None:
            return f"The error is an estimate: near z = {feature[1]:.7g} the link is steeper than rules are made for."
        if self.known is not None:
            return (
                f"The error is an estimate: at z = {self.known.unbounded[0]:.7g} the link is not known to be finite, "
                "or to be about as large as elsewhere."
            )
        return super().doubt.replace("covariance or variogram", "link")

    def remedy(self, kind: ErrorKind) -> str:
        """Kinks that are not declared, and places where the link is steepest."""
        if self.narrow is not None and kind == "bounded":
            return "Where the link is steepest the rounding of z counts."
        if (at := undeclared(self.law.link, self.law.kink_points)) is not None:
            return (
                f"The link bends or jumps near z = {at:g}, undeclared: Ridge(link, kinks=(...), jumps=(...)) sharpens "
                "it."
            )
        if self.law.kink_points:
            return ""
        return "No rule resolves the link where it is steepest: places there and beside it, as kinks=(...), sharpen it."


@dataclass(frozen=True)
class OwnCovariance(Sight):
    """A covariance or a variogram of one's own."""

    law: Zonal

    def error_kind(self, route: str) -> ErrorKind:
        """A bound if the function is a formula that rules see; at distance 0 they are graded in any case."""
        return self._kind

    @cached_property
    def _kind(self) -> ErrorKind:
        K = self.law.K
        known = features(self.law.variogram if K is None else lambda s: K(1 - s), 0.0, 2.0)
        return "bounded" if known is not None and known.narrowest(graded=True)[0] >= SEEN else "estimated"

    def remedy(self, kind: ErrorKind) -> str:
        """A variogram in place of K."""
        return "" if self.law.K is None else "K in double precision loses V near t = 1; Zonal(variogram=...) keeps it."


@lru_cache(maxsize=64)
def sight_of(law: Law) -> Sight:
    """The sight of a law; remembered, for it looks at functions of one's own."""
    return sight(law)


@by_law
def sight(law: Law) -> Sight:
    """What the exact method sees of a law; here of one that is known by its spectrum, or not at all."""
    return Sight(law)


@sight.register(FunctionLaw)
def _functions(law: FunctionLaw) -> Sight:
    return Functions(law)


@sight.register(ReLUNetwork)
def _network(law: ReLUNetwork) -> Sight:
    return Network(law)


@sight.register(RidgeLaw)
def _links(law: RidgeLaw) -> Sight:
    kind = Links if type(law) in NAMED else OwnClass
    return kind(law, averaged=True, named=True, amplitude=law.amplitude_variance)


@sight.register(RandomAmplitude, Quadratic)
def _amplified(law: RandomAmplitude | Quadratic) -> Sight:
    kind = Links if type(law) in NAMED else OwnClass
    return kind(law, averaged=True, named=True, amplitude=law.amplitude_variance, unit=replace(law, L=1.0))


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
