"""Laws that a user gives by a link function or by a covariance."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from inspect import signature
from typing import Any, ClassVar

import msgspec
import numpy as np

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.arrays import EPS, TINY, Array
from lipverify.foundation.quoting import shown
from lipverify.foundation.validation import number
from lipverify.problem.functions import Harmonic, Risen
from lipverify.problem.law import Bound, FunctionLaw, Law, RidgeLaw, by_law

OURS = __name__.partition(".")[0]
NUGGET = 0.2
"""A variogram that rises by more than this share of its total within 1e-12 of distance 0 jumps there. For comparison,
the continuous r^{1/10} rises by 0.06 of it."""
NEARBY, JUMP = 1e-12, 1e-6
"""A link jumps where it changes by more than the share JUMP of its range within NEARBY on both sides of a point."""

ROLES = {"link": (-1.0, 1.0), "K": (-1.0, 1.0), "variogram": (0.0, 2.0)}
"""The fields of laws that are functions, with their domains."""
MANY = 2**17 + 1  # points of a second test: more than any route evaluates at once

ROUNDED = 1 + 1e-12
"""Bound on |<q, x>| for unit vectors, up to rounding; covariates beyond the sphere give a larger z, which is kept."""


class Ridge(RidgeLaw, frozen=True):
    r"""f(x) = h(<q, x>), q uniform on the sphere: the law of a link function of yours.

    Parameters
    ----------
    link
        h, from an array of points in [-1, 1] to an array of that shape; finite, and smooth between
        neighbouring kinks. If it is a formula of NumPy's functions, all its features are found, however narrow, and
        errors are bounds; for any other function they are estimates, see `lipverify.LossTerms`.
    kinks
        The points of [-1, 1] where h is continuous but not smooth: a kink, or a root such as that of |z|^{1/2} or
        |z|^{1.2} at 0, whose exponent is not needed. Up to four undeclared kinks and jumps are found and named in the
        result: in a formula whatever their size, in any other function if they are large. So is a root at -1 or 1,
        such as that of (1 - z)^{1/2}. Any others cost digits, and the errors of the exact method show it.
    jumps
        The points of [-1, 1] where h jumps; h is not evaluated there. A jump may also be listed in `kinks`.

    Raises
    ------
    InvalidInput
        If `link` is not such a function, or a kink or a jump is outside [-1, 1].

    Examples
    --------
    >>> bump = Ridge(lambda z: abs(z - 0.5), kinks=(0.5,))
    >>> bump.kink_points
    (0.5,)
    """

    link: Callable[[Array], Array]
    kinks: tuple[float, ...] = ()
    jumps: tuple[float, ...] = ()

    name: ClassVar[str] = "ridge"

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "kinks", _places("kinks", self.kinks))
        msgspec.structs.force_setattr(self, "jumps", _places("jumps", self.jumps))
        _probe(self.link, "link")
        msgspec.structs.force_setattr(self, "link", _hashable(self.link))

    @property
    def constant(self) -> bool:
        """True if h takes a single value on a fine grid."""
        return bool(np.ptp(self._values()) == 0)

    @property
    def kink_points(self) -> tuple[float, ...]:
        """The kinks and jumps inside (-1, 1), in order. One at an end of the interval needs no split."""
        return tuple(sorted({kink for kink in self.kinks + self.jumps if -1 < kink < 1}))

    def bounds(self, radius: float = 1.0) -> tuple[Bound, ...]:
        """Evaluated on 4097 points of |z| <= radius and at the kinks; a tenth of the extent is added for the gaps."""
        values = self._values(radius)
        extent = float(np.ptp(values))
        return (Bound(1.1 * extent, float(np.max(np.abs(values))) + 0.1 * extent),)

    def links(self, z: Array, xp: Any) -> list[Array]:
        """h(z), with z clipped to [-1, 1] if it is outside by rounding alone, where np.arcsin is undefined."""
        return [self.link(xp.where(abs(z) <= ROUNDED, xp.clip(z, -1.0, 1.0), z))]

    def _values(self, radius: float = 1.0) -> Array:
        near_jumps = [jump + sign * NEARBY for jump in self.jumps for sign in (-1, 1) if abs(jump) < 1]
        values = self.link(np.concatenate([np.linspace(-radius, radius, 4097), self.kinks, near_jumps]))
        if math.isfinite(radius) and not np.all(np.isfinite(values)):
            _probe(self.link, "link", (-radius, radius), 4097)
        return np.asarray(values)


@by_law
def jumps_of(law: RidgeLaw) -> tuple[float, ...]:
    """The points of (-1, 1) where a link jumps: kink points at which values just left and right of the place differ."""
    kinks, inside = np.array(law.kink_points), np.linspace(-1, 1, 4097)
    near_kinks = (kinks[:, None] + NEARBY * np.array([-1, 1])).ravel()
    around, values = (np.asarray(law.links(z, np), dtype=np.float64) for z in (near_kinks, inside))
    steps = np.abs(np.diff(around.reshape(len(around), -1, 2))[..., 0])
    jumped = np.any(steps > JUMP * np.maximum(np.ptp(values, axis=1), TINY)[:, None], axis=0)
    return tuple(kinks[jumped].tolist())


@jumps_of.register(Ridge)
def _declared_or_found(law: Ridge) -> tuple[float, ...]:
    return tuple(sorted({*jumps_of.default(law), *(jump for jump in law.jumps if -1 < jump < 1)}))


def _doubles(given: Any) -> tuple[float, ...]:
    """The numbers of a sequence; (NaN,) if it is none."""
    try:
        return tuple(float(value) for value in given)
    except (TypeError, ValueError, OverflowError):
        return (math.nan,)


def _places(name: str, given: Any) -> tuple[float, ...]:
    """Kinks or jumps as floats; refused unless they are numbers in [-1, 1]."""
    values = _doubles(given)
    if not all(-1 <= value <= 1 for value in values):
        raise InvalidInput(f"{name} = {shown(given)}: {name} must be a sequence of numbers from -1 to 1.")
    return values


@contextmanager
def refusing(law: Law) -> Iterator[None]:
    """Turn two failures of the block into refusals: too large an array, and a function of the law that fails on one."""
    try:
        yield
    except (InvalidInput, OutOfReach):
        raise
    except MemoryError as error:
        raise OutOfReach(f"{error}; make d, n or the number of contexts smaller.") from None
    except Exception:
        _probe_all(law, MANY)
        raise


def _probe_all(law: Any, count: int) -> None:
    """Test each function of a law, and of the laws that it is made of, at that many points."""
    for name in getattr(law, "__struct_fields__", ()):
        value = getattr(law, name)
        for part in value if isinstance(value, tuple) else (value,):
            _probe_all(part, count)
        if name in ROLES and value is not None:
            _probe(value, name, ROLES[name], count)


def _probe(function: Any, role: str, domain: tuple[float, float] = (-1.0, 1.0), count: int = 33) -> None:
    """Refuse a function that does not map an array in its domain to an array of finite numbers of the same shape."""
    low, high = domain
    rule = f"must map an array of points in [{low:g}, {high:g}] to finite real numbers of the same shape"
    if not callable(function):
        raise InvalidInput(f"{role} = {shown(function)} is not a function; it {rule}.")
    if role == "K" and _takes_two(function):
        raise InvalidInput(
            "K takes two points: a covariance that is not a function of <x, x'> is not isotropic. Only isotropic "
            "ones have exact methods; others can be sampled, see lipverify.laws.Sampled. Here it "
            f"{rule}."
        )
    points = np.linspace(low, high, count)
    try:
        result = function(points)
        kind = getattr(getattr(result, "dtype", None), "kind", "")
        values = np.asarray(result, dtype=np.float64) if kind in "fiu" and kind else np.empty(0)
    except Exception as error:
        raise InvalidInput(f"{role} raised {type(error).__name__}: {error}; it {rule}.") from error
    if kind == "b":
        raise InvalidInput(f"{role} returned truth values; it {rule}: write np.where(condition, 1.0, 0.0).")
    if not kind or kind not in "fiu":
        what_it_is = f"an array of {result.dtype}" if kind else f"a {type(result).__name__}"
        raise InvalidInput(f"{role} returned {what_it_is}; it {rule}.")
    if values.shape != points.shape:
        raise InvalidInput(f"{role} returned the shape {values.shape} for {points.shape}; it {rule}.")
    if not np.all(np.isfinite(values)):
        worst = int(np.argmin(np.isfinite(values)))
        raise InvalidInput(f"{role} returned {values[worst]} at {points[worst]:g}; it {rule}.")


def _hashable(function: Callable[..., Any]) -> Callable[..., Any]:
    """A hashable function: the given one, or a wrapper, because results are cached by law and so by function."""
    try:
        hash(function)
    except TypeError:
        return partial(function)
    return function


def _takes_two(function: Callable[..., Any]) -> bool:
    """True if a function cannot be called with one argument but can with two."""
    try:
        arguments = signature(function)
    except (TypeError, ValueError):
        return False
    with suppress(TypeError):
        arguments.bind(None)
        return False
    with suppress(TypeError):
        arguments.bind(None, None)
        return True
    return False


class Zonal(Law, frozen=True, repr_omit_defaults=True, tag="zonal"):
    r"""Any isotropic law, given by its covariance E f(x) f(x') = K(<x, x'>) = sum_l k_l P_l(<x, x'>).

    P_l is the Gegenbauer polynomial of the sphere with P_l(1) = 1: cos(l theta) for d = 2, Legendre's for
    d = 3. The loss depends on no other property of the law, and not on the constant k_0.

    Parameters
    ----------
    K
        From an array of cosines in [-1, 1] to an array of that shape. It must be positive definite
        in the dimension of the problem, which the problem checks.
    spectrum
        Instead of `K`: the coefficients k_0, k_1, ..., finite and >= 0; those not given are zero.
    variogram
        Instead of `K`: V(r) = E (f(x) - f(x'))^2 = 2 (K(1) - K) as a function of the distance r = |x - x'| in
        [0, 2], with V(0) = 0. It keeps the digits near r = 0 that a large w needs and that K in double precision
        has lost: write 2 (1 - e^{-r}) as `-2 * np.expm1(-r)`.

    Raises
    ------
    InvalidInput
        If not exactly one of the three is given, or it breaks its rule.

    Examples
    --------
    >>> Zonal(spectrum=(0.0, 0.5)).spectrum
    (0.0, 0.5)
    """

    K: Callable[[Array], Array] | None = None
    spectrum: tuple[float, ...] | None = None
    variogram: Callable[[Array], Array] | None = None

    name: ClassVar[str] = "zonal"

    def __post_init__(self) -> None:
        if sum(given is not None for given in (self.K, self.spectrum, self.variogram)) != 1:
            raise InvalidInput("a Zonal law is given by its K, its spectrum or its variogram: give one of them.")
        if self.K is not None:
            _probe(self.K, "K")
            msgspec.structs.force_setattr(self, "K", _hashable(self.K))
            _require_peak(self.K)
        elif self.variogram is not None:
            _probe(self.variogram, "variogram", ROLES["variogram"])
            msgspec.structs.force_setattr(self, "variogram", _hashable(self.variogram))
            _require_variogram(self.variogram)
        else:
            msgspec.structs.force_setattr(self, "spectrum", _spectrum(self.spectrum))

    @property
    def isotropic(self) -> bool:
        """True: the covariance depends only on <x, x'>."""
        return True

    @property
    def constant(self) -> bool:
        """True if no k_l with l > 0 is positive."""
        if self.spectrum is not None:
            return not any(self.spectrum[1:])
        if self.variogram is not None:
            return not np.any(self.variogram(np.linspace(0, 2, 4097)))
        assert self.K is not None
        return bool(np.ptp(np.asarray(self.K(np.linspace(-1, 1, 4097)))) == 0)

    def covariance(self, d: int) -> Callable[[Array], Array]:
        """K as it was given, the sum of harmonics, or -V/2."""
        if self.spectrum is not None:
            return Harmonic(self.spectrum, d)
        return self.K or Risen(self.variogram)  # type: ignore[arg-type]


def _require_peak(K: Callable[[Array], Array]) -> None:
    """Refuse a K that is a covariance in no dimension: E (f(x) - f(x'))^2 / 2 = K(1) - K(t) is never negative."""
    t = np.linspace(-1, 1, 4097)
    values = np.asarray(K(t), dtype=np.float64)
    worst = int(np.argmax(values))
    if values[worst] - values[-1] > 64 * EPS * float(np.max(np.abs(values))):
        raise InvalidInput(
            f"K is {values[worst]:.4g} at t = {t[worst]:.4g} and {values[-1]:.4g} at t = 1, so it is not the "
            "covariance of any law: E (f(x) - f(x'))^2 / 2 = K(1) - K(t) >= 0."
        )
    near_1 = float(np.asarray(K(np.array([np.nextafter(1.0, 0.0)])))[0])
    _require_continuous("K", values[-1] - near_1, float(np.ptp(values)))


def _require_variogram(variogram: Callable[[Array], Array]) -> None:
    """Refuse a V that is not a mean square: V >= 0, V(0) = 0 and V <= 4 Var f."""
    r = np.concatenate([[0.0], np.geomspace(NEARBY, 2.0, 4097)])
    values = np.asarray(variogram(r), dtype=np.float64)
    if values[0] != 0 or np.min(values) < 0:
        worst = 0 if values[0] != 0 else int(np.argmin(values))
        raise InvalidInput(
            f"variogram is {values[worst]:.4g} at the distance {r[worst]:.4g}: V(r) = E (f(x) - f(x'))^2 is never "
            "negative, and 0 at r = 0."
        )
    _require_continuous("variogram", float(values[1]), float(np.max(values)))


def _require_continuous(role: str, step: float, largest: float) -> None:
    """Refuse a white-noise part of f: values that differ however close the points are."""
    if step > NUGGET * largest > 0:
        raise InvalidInput(
            f"{role} jumps by {step:.3g} at distance 0: f is not continuous there. A white part of f is label noise: "
            "give its standard deviation as sigma, and the rest here."
        )


def _spectrum(spectrum: Any) -> tuple[float, ...]:
    """The coefficients as floats; refused unless they are finite and >= 0."""
    values = _doubles(spectrum)
    if not values or not all(math.isfinite(k) and k >= 0 for k in values):
        raise InvalidInput(f"spectrum = {shown(spectrum)}: the coefficients must be a sequence of finite numbers >= 0.")
    return values


AMPLITUDES, LARGEST_RATIO = 4096, 1.25
"""Amplitudes whose mean square is compared with the amplitude variance, and the ratio from which the law is refused: a
forgotten factor is larger, and the error of a mean over so many steps of a distribution with heavy tails is smaller."""


def require_defined(law: Law) -> None:
    """Refuse, once, a law of a user's class that lacks a member or whose members contradict each other."""
    if type(law).__module__.partition(".")[0] == OURS:
        for inner in (getattr(law, field) for field in law.__struct_fields__):
            if isinstance(inner, Law):
                require_defined(inner)
        return
    try:
        _checked(law)
    except TypeError as error:
        if "unhashable" not in str(error):
            raise
        raise InvalidInput(
            f"law = {shown(law)}: {error}; a law is kept by its fields: use numbers and tuples."
        ) from None


@lru_cache(maxsize=256)
def _checked(law: Law) -> None:
    if not isinstance(law, FunctionLaw):
        return  # `covariance` is checked when the spectrum is computed
    variance = _member(law, "amplitude_variance", lambda: law.amplitude_variance)
    number(f"{law.name}.amplitude_variance", _plain(variance), "E l^2", least=0)
    bounds = _member(law, "bounds(radius)", law.bounds)
    if not isinstance(bounds, tuple) or not bounds or not all(isinstance(bound, Bound) for bound in bounds):
        raise InvalidInput(f"{law.name}.bounds() = {shown(bounds)}: it must be a tuple of a Bound for each component.")
    for bound in bounds:
        if not min(bound.extent, bound.magnitude, bound.slope) >= 0:
            raise InvalidInput(f"{law.name}.bounds() = {shown(bounds)}: numbers >= 0; inf where none is known.")
    if isinstance(law, RidgeLaw):
        _require_links(law, float(variance), bounds)


def _require_links(law: RidgeLaw, variance: float, bounds: tuple[Bound, ...]) -> None:
    """Refuse links that are no functions, and amplitudes of another size than declared; sampling checks the bounds."""
    _places(f"{law.name}.kink_points", _member(law, "kink_points", lambda: law.kink_points))
    z = np.linspace(-1, 1, 33)
    links = _member(law, "links(z, xp)", lambda: law.links(z, np))
    if not isinstance(links, list | tuple) or len(links) != len(bounds):
        rule = f"it must be a list of as many arrays as there are bounds, {len(bounds)}"
        raise InvalidInput(f"{law.name}.links(z, xp) = {shown(links)}: {rule}.")
    for k in range(len(links)):
        _probe(lambda z, k=k: law.links(z, np)[k], f"link {k + 1} of {law.name}")
    uniforms = np.repeat((np.arange(AMPLITUDES)[:, None] + 0.5) / AMPLITUDES, len(bounds), axis=1)
    amplitudes = np.asarray(_member(law, "amplitudes(uniforms)", lambda: law.amplitudes(uniforms)))
    square = float(np.mean(amplitudes**2)) if amplitudes.dtype.kind in "fiu" else math.nan
    if amplitudes.shape != uniforms.shape or not variance / LARGEST_RATIO <= square <= variance * LARGEST_RATIO:
        raise InvalidInput(
            f"{law.name}.amplitudes(uniforms) has shape {amplitudes.shape} for {uniforms.shape} and mean square "
            f"{square:.6g}; the shape must be the same, and the mean square amplitude_variance = {variance:.6g}."
        )


def _member(law: Law, name: str, call: Callable[[], Any]) -> Any:
    """What a member of a law returns; refused if it is not written, or raises."""
    try:
        return call()
    except NotImplementedError:
        raise InvalidInput(f"the class {type(law).__name__} does not define {name}, which such a law needs.") from None
    except Exception as error:
        raise InvalidInput(f"{law.name}.{name} raised {type(error).__name__}: {error}; correct the law.") from error


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
