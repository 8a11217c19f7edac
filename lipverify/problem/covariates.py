r"""The laws of the covariates x, as functions of standard normals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

import msgspec
import numpy as np
from numpy.random import Generator

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import EPS, Array, Floats, Matrix, to_device
from lipverify.foundation.quoting import shown
from lipverify.foundation.sphere import on_sphere
from lipverify.foundation.streams import standard_normals
from lipverify.foundation.validation import number, whole
from lipverify.problem.matrices import Rows, complement, orthonormal_rows, rows, square_root

Fourth = Callable[[Floats], Floats]
"""From a symmetric S to E <u, S u> u u^T: the fourth moments of a vector u."""


class Moments(NamedTuple):
    """Second and fourth moments of x = A u: A = `root`, symmetric, E u u^T = `unit`, and the fourth moments of u.

    `absolute` maps |S| to a bound on every term of `quartic`; it is `quartic` itself if that has no terms below 0.
    """

    root: Floats
    unit: Floats
    quartic: Fourth
    absolute: Fourth | None = None

    @property
    def second(self) -> Floats:
        """E x x^T."""
        return self.root @ self.unit @ self.root

    def fourth(self, S: Floats) -> Floats:
        """E <x, S x> x x^T for a symmetric S."""
        return self.root @ self.quartic(self.root @ S @ self.root) @ self.root

    def bound(self, S: Floats) -> Floats:
        """A bound on every term of `fourth`, whose rounding is in proportion to it."""
        A, absolute = np.abs(self.root), self.absolute or self.quartic
        return A @ absolute(A @ np.abs(S) @ A) @ A


class Covariates(msgspec.Struct, frozen=True, tag_field="covariates"):
    """A law of the query and the tokens, which are independent draws from it; see the subclasses.

    Examples
    --------
    >>> isinstance(Sphere(), Covariates), Sphere().radius
    (True, 1.0)
    """

    name: ClassVar[str] = "covariates"

    def points(self, normals: Array, xp: Any) -> Array:
        """Covariates made of standard normals, (..., d) -> (..., d)."""
        raise InvalidInput(
            f"covariates = {shown(self)}: they are not made of d normals, as a Problem needs; give them to "
            "lipverify.prompts.Prompts."
        )

    def draw(self, rng: Generator, shape: tuple[int, ...]) -> Floats:
        """Independent draws, of shape (..., d)."""
        return np.asarray(self.points(standard_normals(rng, shape), np))

    def moments(self, d: int) -> Moments:
        """Second and fourth moments; refused if there is no closed form."""
        raise InvalidInput(
            f"{shown(self)}: its moments have no closed form here; use lipverify.prompts.risk, which samples."
        )

    @property
    def radius(self) -> float:
        """A bound on |x|."""
        return math.inf

    @property
    def scale(self) -> float:
        """A typical length of |x|: the radius, if it is finite."""
        return self.radius

    def require_dimension(self, d: int) -> None:
        """Refuse a dimension in which the law is not defined."""

    def stretch(self, d: int) -> Floats | None:
        """A matrix A such that x = A u and every rotation of u is drawn like u; None if none is known."""
        return None

    @property
    def elliptic(self) -> bool:
        """True if there is a `stretch`, which has d^2 numbers: many, only to ask whether there is one."""
        return type(self).stretch is not Covariates.stretch

    def shape(self, d: int) -> Floats | None:
        """A matrix S such that Rx is drawn like x for every orthogonal R with R S R^T = S; None if unknown."""
        return None


class Sphere(Covariates, frozen=True, tag="sphere"):
    """Uniform on S^{d-1}: the covariates of all exact methods.

    Examples
    --------
    >>> Sphere().radius
    1.0
    """

    name: ClassVar[str] = "sphere"

    def points(self, normals: Array, xp: Any) -> Array:
        """Normals z over |z|."""
        return on_sphere(normals, xp)

    @property
    def radius(self) -> float:
        """1."""
        return 1.0

    def moments(self, d: int) -> Moments:
        """E x x^T = I / d."""
        return _invariant(np.eye(d), 1 / d, 1 / (d * (d + 2)))

    def stretch(self, d: int) -> Floats:
        """The identity."""
        return np.eye(d)

    def shape(self, d: int) -> Floats:
        """The identity."""
        return np.eye(d)


class Elliptical(Covariates, frozen=True):
    """x = Sigma^{1/2} u, where every rotation of u is drawn like u; Sigma is positive definite, or its diagonal."""

    Sigma: Matrix | Sequence[float]
    singular: ClassVar[bool] = False

    def __post_init__(self) -> None:
        given = self.Sigma
        try:
            matrix = np.array(rows("Sigma", [given]))[0]
            matrix = np.diag(matrix)
        except InvalidInput:
            matrix = np.array(rows("Sigma", given))
        # products such as B B^T are symmetric, and their least eigenvalue is 0, up to rounding
        allowed = 8 * len(matrix) * EPS * float(np.abs(matrix).max())
        symmetric = matrix.shape[0] == matrix.shape[1] and np.abs(matrix - matrix.T).max() <= allowed
        least = np.linalg.eigvalsh(matrix)[0] if symmetric else -math.inf
        if not (least > 0 or (self.singular and least >= -allowed)):
            rule = "semidefinite" if self.singular else "definite"
            raise InvalidInput(
                f"Sigma = {shown(given)}: it must be a symmetric positive {rule} matrix, or its diagonal."
            )
        msgspec.structs.force_setattr(self, "Sigma", rows("Sigma", (matrix + matrix.T) / 2))

    @property
    def root(self) -> Floats:
        return square_root(np.array(self.Sigma))

    def require_dimension(self, d: int) -> None:
        _same("Sigma", len(self.Sigma), d)

    def shape(self, d: int) -> Floats:
        return np.array(self.Sigma)

    def stretch(self, d: int) -> Floats:
        return self.root


class Ellipsoid(Elliptical, frozen=True, tag="ellipsoid"):
    r"""x = Sigma^{1/2} U with U uniform on S^{d-1}.

    Parameters
    ----------
    Sigma
        A symmetric positive definite d x d matrix, or its diagonal.

    Raises
    ------
    InvalidInput
        If `Sigma` is not such a matrix.

    Source: Collins et al., slides, Lemma 1.

    Examples
    --------
    >>> Ellipsoid([4.0, 1.0]).points(np.array([[3.0, 4.0]]), np).tolist()
    [[1.2, 0.8]]
    """

    name: ClassVar[str] = "ellipsoid"

    def points(self, normals: Array, xp: Any) -> Array:
        """Sigma^{1/2} z / |z|."""
        return on_sphere(normals, xp) @ _like(self.root, normals, xp)

    def moments(self, d: int) -> Moments:
        """E x x^T = Sigma / d."""
        return _invariant(self.root, 1 / d, 1 / (d * (d + 2)))

    @property
    def radius(self) -> float:
        """The largest half-axis."""
        return math.sqrt(np.linalg.eigvalsh(np.array(self.Sigma))[-1])


class Gaussian(Elliptical, frozen=True, tag="gaussian"):
    r"""x ~ N(0, Sigma): covariates that are not bounded, so that sampled losses have `interval="normal"` only.

    Parameters
    ----------
    Sigma
        A symmetric positive semidefinite d x d matrix, or its diagonal.

    Raises
    ------
    InvalidInput
        If `Sigma` is not such a matrix.

    Examples
    --------
    >>> Gaussian([4.0, 1.0]).points(np.array([[3.0, 4.0]]), np).tolist(), Gaussian([4.0, 1.0]).radius
    ([[6.0, 4.0]], inf)
    """

    name: ClassVar[str] = "gaussian"
    singular: ClassVar[bool] = True

    def points(self, normals: Array, xp: Any) -> Array:
        """Sigma^{1/2} z."""
        return normals @ _like(self.root, normals, xp)

    def moments(self, d: int) -> Moments:
        """E x x^T = Sigma."""
        return _invariant(self.root, 1.0, 1.0)

    @property
    def radius(self) -> float:
        """There is no bound."""
        return math.inf

    @property
    def scale(self) -> float:
        """(E |x|^2)^{1/2}."""
        return math.sqrt(np.trace(np.array(self.Sigma)))


class ProductOfSpheres(Covariates, frozen=True, tag="product-of-spheres"):
    r"""x = c_u B u + c_v B' v, u uniform on S^{k-1} and v on S^{d-k-1}, B' an orthonormal complement of B.

    Parameters
    ----------
    B
        A d x k matrix with orthonormal columns, 1 <= k < d.
    c_u, c_v
        The two radii, > 0.

    Raises
    ------
    InvalidInput
        If a value breaks its rule.

    Source: Collins et al., slides, Theorem 4.

    Examples
    --------
    >>> x = ProductOfSpheres(axes(3, 1), c_u=2.0, c_v=1.0).points(np.array([[-5.0, 3.0, 4.0]]), np)
    >>> np.sqrt(x[0, 0] ** 2).item(), np.hypot(x[0, 1], x[0, 2]).item()
    (2.0, 1.0)
    """

    B: Matrix
    c_u: float = 1.0
    c_v: float = 1.0
    name: ClassVar[str] = "product-of-spheres"

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "B", orthonormal_rows("B", self.B))
        d, k = np.shape(self.B)
        if k >= d:
            raise InvalidInput(f"B has {k} columns in dimension {d}: both spheres need at least one dimension.")
        for name in ("c_u", "c_v"):
            number(name, getattr(self, name), "the radius", above=0)

    def points(self, normals: Array, xp: Any) -> Array:
        """The first k normals make u, the others v."""
        B = np.array(self.B)
        k = B.shape[1]
        u, v = on_sphere(normals[..., :k], xp), on_sphere(normals[..., k:], xp)
        return u @ _like(self.c_u * B.T, normals, xp) + v @ _like(self.c_v * complement(B).T, normals, xp)

    @property
    def radius(self) -> float:
        """sqrt(c_u^2 + c_v^2), of every point."""
        return math.hypot(self.c_u, self.c_v)

    def require_dimension(self, d: int) -> None:
        """B has d rows."""
        _same("B", len(self.B), d)

    def shape(self, d: int) -> Floats:
        """BB^T: the two spheres are invariant even if their radii agree, but rotations may not mix them."""
        B = np.array(self.B)
        return np.asarray(B @ B.T)


class MappedNormals(Covariates, frozen=True, tag="mapped-normals"):
    """x = map(z), z standard normal in R^d: covariates of your own.

    Parameters
    ----------
    map
        From an array (..., d) of standard normals to covariates of that shape.
    radius
        A finite bound on |x|; intervals of sampled losses use it.

    Raises
    ------
    InvalidInput
        If `map` is no function, or `radius` is not a finite number > 0.

    Examples
    --------
    >>> cube = MappedNormals(lambda z: z / abs(z).max(axis=-1, keepdims=True), radius=2.0)
    >>> cube.points(np.array([[4.0, -2.0]]), np).tolist()
    [[1.0, -0.5]]
    """

    map: Callable[[Array], Array]
    radius: float
    name: ClassVar[str] = "mapped-normals"

    def __post_init__(self) -> None:
        if not callable(self.map):
            raise InvalidInput(f"map = {self.map!r} is not a function from normals (..., d) to covariates (..., d).")
        number("radius", self.radius, "a bound on |x|", above=0)

    def points(self, normals: Array, xp: Any) -> Array:
        """map(z); refused if a point lies outside the ball of the declared radius."""
        x = self.map(normals)
        if tuple(x.shape) != tuple(normals.shape):
            raise InvalidInput(f"map returned an array of shape {tuple(x.shape)} for normals {tuple(normals.shape)}.")
        largest = math.sqrt(float(xp.max(xp.sum(x * x, axis=-1))))
        if not largest <= self.radius * (1 + 1e-12):
            raise InvalidInput(f"map returned a point with |x| = {largest:g}; radius = {self.radius:g} must bound it.")
        return x


def axes(d: int, k: int) -> Rows:
    """The first k coordinate axes of R^d, as the columns of a matrix.

    Parameters
    ----------
    d
        Dimension, >= 1.
    k
        Number of axes, from 1 to d.

    Returns
    -------
    tuple
        d rows of k numbers.

    Raises
    ------
    InvalidInput
        If `d` or `k` is not such an integer.

    Examples
    --------
    >>> axes(3, 1)
    ((1.0,), (0.0,), (0.0,))
    """
    d = whole("d", d, 1)
    return rows("axes", np.eye(d)[:, : whole("k", k, 1, most=d)])


def _invariant(root: Floats, second: float, fourth: float) -> Moments:
    """The moments of x = A u where every rotation of u is drawn like u, with E u_1^2 and E u_1^2 u_2^2."""
    unit = np.eye(len(root))
    return Moments(root, second * unit, lambda S: fourth * (2 * S + np.trace(S) * unit))


def _like(matrix: Floats, normals: Array, xp: Any) -> Array:
    """A host matrix on the device of the normals."""
    return to_device(matrix, xp, getattr(normals, "device", None))


def _same(name: str, size: int, d: int) -> None:
    if size != d:
        raise InvalidInput(f"{name} has {size} rows and d = {d}: they must agree.")
