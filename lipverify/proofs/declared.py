"""Links and covariances that declare their form. A bare function cannot be enclosed in balls; these can."""

from __future__ import annotations

import msgspec
import numpy as np

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.arrays import Array
from lipverify.foundation.validation import number, numbers
from lipverify.problem.fields import RBF, Matern
from lipverify.problem.law import Law, by_law
from lipverify.problem.laws import Affine, Cosine, Quadratic, ReLU
from lipverify.problem.own import Ridge, Zonal
from lipverify.proofs.checker.window import laws, roughness


def listed(*numbers: float) -> str:
    """Numbers in the checker's notation, whether Python's or NumPy's.

    >>> listed(np.float64(0.5), 2)
    '0.5,2.0'
    """
    return ",".join(repr(float(number)) for number in numbers)


class Powers(msgspec.Struct, frozen=True):
    """The polynomial sum_j c_j z^j: a link, or where no c_j < 0 a covariance, positive definite in every dimension.

    Parameters
    ----------
    coefficients
        c_0, c_1, ..., in units of y (of y squared as a covariance); finite.

    Raises
    ------
    InvalidInput
        If the coefficients are not finite numbers.

    Examples
    --------
    >>> Powers((1.0, 0.0, 2.0))(np.array([0.5])).tolist()
    [1.5]
    """

    coefficients: tuple[float, ...]

    def __post_init__(self) -> None:
        coefficients = tuple(numbers("coefficients", self.coefficients, "numbers").tolist())
        msgspec.structs.force_setattr(self, "coefficients", coefficients)

    def __call__(self, z: Array) -> Array:
        """By Horner's rule."""
        total = 0 * z
        for coefficient in reversed(self.coefficients):
            total = total * z + coefficient
        return total


class Kinked(msgspec.Struct, frozen=True):
    """h(z) = left z for z < 0, right z for z > 0: |z|, leaky ReLU and any other two lines that meet at 0.

    Parameters
    ----------
    left, right
        The two slopes, in units of y per unit of z; finite and different.

    Raises
    ------
    InvalidInput
        If both slopes are the same, or one is no number.

    Examples
    --------
    >>> Kinked(-1.0, 1.0)(np.array([-0.5, 0.5])).tolist()
    [0.5, 0.5]
    """

    left: float
    right: float

    def __post_init__(self) -> None:
        number("left", self.left, "a slope")
        if number("right", self.right, "a slope") == self.left:
            raise InvalidInput(f"left = right = {self.left:g}: this is a line without a kink; use Linear.")

    def __call__(self, z: Array) -> Array:
        """The function A z + C |z|."""
        return self.parts[0] * z + self.parts[1] * abs(z)

    @property
    def parts(self) -> tuple[float, float]:
        """A and C of A z + C |z|."""
        return (self.right + self.left) / 2, (self.right - self.left) / 2


class Pieces(msgspec.Struct, frozen=True):
    """A link of polynomial pieces: |z - 1/2|, clip, a tent, steps, splines.

    Parameters
    ----------
    at
        The points between consecutive pieces, in ascending order, inside (-1, 1).
    polynomials
        The coefficients of each piece, from z^0 on; one piece more than there are points.

    Raises
    ------
    InvalidInput
        If the numbers are not of their kind, or there is neither a kink nor a jump.

    Examples
    --------
    >>> clip = Pieces((-0.5, 0.5), ((-0.5,), (0.0, 1.0), (0.5,)))
    >>> clip(np.array([-0.9, 0.2, 0.9])).tolist()
    [-0.5, 0.2, 0.5]
    """

    at: tuple[float, ...]
    polynomials: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        at = tuple(numbers("at", self.at, "numbers").tolist())
        given = tuple(
            tuple(numbers("polynomials", polynomial, "coefficients").tolist()) for polynomial in self.polynomials
        )
        msgspec.structs.force_setattr(self, "at", at)
        msgspec.structs.force_setattr(self, "polynomials", given)
        try:
            breaks = roughness.read(self.text).breaks
        except ValueError:
            raise InvalidInput(
                f"at = {at}: pieces end in order, inside (-1, 1), and there is one polynomial more, not {len(given)}."
            ) from None
        if not any(jump or turn for _, jump, turn in breaks):
            raise InvalidInput(f"at = {at}: at none of these h has a kink or a jump; give Powers if h is a polynomial.")

    def __call__(self, z: Array) -> Array:
        """The value of the piece that contains each z."""
        values = [Powers(polynomial)(z) for polynomial in self.polynomials]
        return np.choose(np.searchsorted(self.at, z, side="right"), values)

    @property
    def text(self) -> str:
        """The name of the link in the checker's notation."""
        return "|".join(listed(*row) for row in (self.at, *self.polynomials))

    @property
    def jumps(self) -> bool:
        """True if the link jumps somewhere, at the decimals that are printed."""
        return any(jump for _, jump, _ in roughness.read(self.text).breaks)


class Rough(msgspec.Struct, frozen=True):
    """The variogram |x - x'|^{2s}: fields of Hölder order below s everywhere, as rough as Brownian motion for s = 1/2.

    Parameters
    ----------
    s
        The Hölder order, 0 < s < 1.

    Raises
    ------
    InvalidInput
        If s is not a number between 0 and 1.

    Examples
    --------
    >>> Rough(0.5)(np.array([0.0, 2.0])).tolist()
    [0.0, 2.0]
    """

    s: float

    def __post_init__(self) -> None:
        number("s", self.s, "the Hölder order", above=0, below=1)

    def __call__(self, r: Array) -> Array:
        """r^{2s}."""
        return r ** (2 * self.s)


KNOWN = {abs: Kinked(-1.0, 1.0), np.abs: Kinked(-1.0, 1.0), np.sign: Pieces((0.0,), ((-1.0,), (1.0,)))}
"""Functions that declare their form exactly."""


@by_law
def declared(law: Law) -> str:
    """The name of a law in the checker, registered by its class; OutOfReach if no theorem is proved for the law."""
    known = ", ".join(law_class.__name__ for law_class in declared.classes)
    raise OutOfReach(f"law = {law!r}: theorems are proved for {known}; use `growth` for a limit exponent.")


@declared.register(Affine, Quadratic, ReLU)
def _named(law: Law) -> str:
    return law.name


@declared.register(Cosine)
def _cosine(law: Cosine) -> str:
    return f"cosine:{listed(law.L)}"


@declared.register(Ridge)
def _link(law: Ridge) -> str:
    link = KNOWN.get(law.link, law.link)
    if isinstance(link, Kinked):
        return f"kinked:{listed(*link.parts)}"
    if isinstance(link, Powers):
        return f"link:{listed(*link.coefficients)}"
    if isinstance(link, Pieces):
        return f"{'jumps' if link.jumps else 'kinks'}:{link.text}"
    raise OutOfReach(
        f"law = {law!r}: no ball encloses a link that is a function; give lipverify.proofs.Powers(coefficients), or "
        "with its kinks or jumps lipverify.proofs.Pieces(at, polynomials) or lipverify.proofs.Kinked(left, right)."
    )


@declared.register(Matern)
def _matern(law: Matern) -> str:
    return f"matern-{law.nu}:{listed(law.length, law.variance)}"


@declared.register(RBF)
def _rbf(law: RBF) -> str:
    return f"rbf:{listed(law.length, law.variance)}"


@declared.register(Zonal)
def _covariance(law: Zonal) -> str:
    if law.spectrum is not None:
        return f"zonal:{listed(*law.spectrum)}"
    if isinstance(law.K, Powers):
        if min(law.K.coefficients) < 0:
            raise OutOfReach(
                f"K = {law.K!r}: with a coefficient < 0 it may not be positive definite; give "
                "Zonal(spectrum=...) for one d."
            )
        return f"powers:{listed(*law.K.coefficients)}"
    if isinstance(law.variogram, Rough):
        name = f"rough-{listed(law.variogram.s)}"
        if name in laws.LAWS:
            return name
        known = ", ".join(other.removeprefix("rough-") for other in laws.LAWS if other.startswith("rough-"))
        raise OutOfReach(f"s = {law.variogram.s!r}: theorems are proved for s = {known}.")
    what = "covariance" if law.variogram is None else "variogram"
    raise OutOfReach(
        f"law = {law!r}: no ball encloses a {what} that is a function; give lipverify.laws.Matern(nu=...), "
        "lipverify.laws.RBF(length=...), Zonal(spectrum=...), Zonal(variogram=lipverify.proofs.Rough(s)), or as the "
        "covariance lipverify.proofs.Powers(coefficients >= 0)."
    )
