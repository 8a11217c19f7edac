"""Links and kernels that say what they are: a function alone is enclosed by no ball, these are."""

from __future__ import annotations

import msgspec
import numpy as np

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.arrays import Array
from lipverify.foundation.validation import number, numbers
from lipverify.problem.own import Ridge, Zonal

WAYS = "lipverify.proofs.Powers(coefficients), or lipverify.proofs.Kinked(left, right) with kinks=(0,)"


class Powers(msgspec.Struct, frozen=True):
    """The polynomial sum_j c_j z^j: a link, or where no c_j < 0 a kernel, positive definite in every dimension.

    Raises
    ------
    InvalidInput
        If the coefficients are not finite numbers.

    >>> Powers((1.0, 0.0, 2.0))(np.array([0.5])).tolist()
    [1.5]
    """

    coefficients: tuple[float, ...]

    def __post_init__(self) -> None:
        found = tuple(numbers("coefficients", self.coefficients, "numbers").tolist())
        msgspec.structs.force_setattr(self, "coefficients", found)

    def __call__(self, z: Array) -> Array:
        """By Horner's rule."""
        total = 0 * z
        for coefficient in reversed(self.coefficients):
            total = total * z + coefficient
        return total


class Kinked(msgspec.Struct, frozen=True):
    """h(z) = left z for z < 0, right z for z > 0: |z|, leaky ReLU and any other two lines that meet at 0.

    Raises
    ------
    InvalidInput
        If both slopes are the same, or one is no number.

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
        """A z + C |z|."""
        return self.parts[0] * z + self.parts[1] * abs(z)

    @property
    def parts(self) -> tuple[float, float]:
        """A and C of A z + C |z|."""
        return (self.right + self.left) / 2, (self.right - self.left) / 2


class Gaussian(msgspec.Struct, frozen=True):
    """The kernel e^{-|x - x'|^2 / (2 length^2)} as a function of t = <x, x'>.

    Raises
    ------
    InvalidInput
        If the length is not a positive number.

    >>> float(Gaussian(1.0)(np.array(1.0)))
    1.0
    """

    length: float

    def __post_init__(self) -> None:
        number("length", self.length, "a length", above=0)

    def __call__(self, t: Array) -> Array:
        """e^{(t - 1) / length^2}."""
        return np.exp((t - 1) / self.length**2)


def declared_link(law: Ridge) -> str:
    """A law by its link, by the name under which the checker knows it.

    Raises
    ------
    OutOfReach
        If the link is a function that says nothing of itself, or jumps.
    """
    if law.jump_points:
        raise OutOfReach(f"law = {law!r}: no envelope is known where a link jumps; use `growth` for a limit exponent.")
    link = Kinked(-1.0, 1.0) if law.link in (abs, np.abs) else law.link
    if isinstance(link, Kinked):
        return f"kinked:{','.join(map(repr, link.parts))}"
    if isinstance(link, Powers):
        return f"link:{','.join(map(repr, link.coefficients))}"
    raise OutOfReach(f"law = {law!r}: no ball encloses a link that is a function; give {WAYS}.")


def declared_kernel(law: Zonal) -> str:
    """A law by its covariance, likewise.

    Raises
    ------
    OutOfReach
        If the kernel is a function that says nothing of itself, or may not be positive definite.
    """
    if law.spectrum is not None:
        return f"zonal:{','.join(map(repr, law.spectrum))}"
    if isinstance(law.kernel, Gaussian):
        return f"rbf:{law.kernel.length!r}"
    if isinstance(law.kernel, Powers):
        if min(law.kernel.coefficients) < 0:
            raise OutOfReach(
                f"kernel = {law.kernel!r}: with a coefficient < 0 it may not be positive definite; give "
                "Zonal(spectrum=...) for one d."
            )
        return f"powers:{','.join(map(repr, law.kernel.coefficients))}"
    raise OutOfReach(
        f"law = {law!r}: no ball encloses a kernel that is a function; give Zonal(spectrum=...), or as the kernel "
        "lipverify.proofs.Powers(coefficients >= 0) or lipverify.proofs.Gaussian(length)."
    )
