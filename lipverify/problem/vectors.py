r"""Laws of a vector that a prompt draws, as covariates, query or linear task: independent coordinates, pools, mixtures.

What they draw takes more than d normals, so that a `Problem`, whose covariates are functions of normals, refuses all
but `Coordinates`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import msgspec
import numpy as np
from numpy.random import Generator

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Array, Floats, Matrix, to_device, to_host
from lipverify.foundation.quoting import shown
from lipverify.foundation.streams import generator
from lipverify.foundation.validation import a_seed, chosen, instance, number, whole
from lipverify.problem.covariates import Covariates, Fourth, Moments
from lipverify.problem.matrices import rows

MARGINALS = ("normal", "uniform", "gamma", "student", "sign")
WITH_PARAMETER = {"gamma": 0.0, "student": 2.0}
"""The marginals with a parameter, and what it must exceed: a Student variable of two degrees has no variance."""


class Coordinates(Covariates, frozen=True, tag="coordinates"):
    r"""x_j = shift + scale t_j with t_1, ..., t_d independent and of one law.

    Parameters
    ----------
    marginal
        The law of t_j: "normal", N(0, 1); "uniform" on [-1, 1]; "gamma", of density t^{a-1} e^{-t} / Gamma(a);
        "student" with a > 2 degrees of freedom; "sign", 1 or -1.
    parameter
        The a of "gamma" and "student"; none for the others.
    scale, shift
        A factor > 0, and what is added to every coordinate.

    Raises
    ------
    InvalidInput
        If a value breaks its rule.

    Examples
    --------
    >>> cube = Coordinates("uniform")
    >>> cube.moments(2).second.tolist()  # E x x^T
    [[0.3333333333333333, 0.0], [0.0, 0.3333333333333333]]
    """

    marginal: str = "normal"
    parameter: float | None = None
    scale: float = 1.0
    shift: float = 0.0
    name: ClassVar[str] = "coordinates"

    def __post_init__(self) -> None:
        chosen("marginal", self.marginal, MARGINALS)
        number("scale", self.scale, "the factor", above=0, below=1e75)  # its fourth power is a double
        number("shift", self.shift)
        if self.marginal in WITH_PARAMETER:
            number("parameter", self.parameter, f"that of {self.marginal}", above=WITH_PARAMETER[self.marginal])
        elif self.parameter is not None:
            raise InvalidInput(f"parameter = {shown(self.parameter)}: a {self.marginal} marginal has none.")

    def points(self, normals: Array, xp: Any) -> Array:
        """Each coordinate is the quantile of its normal's probability."""
        if self.marginal == "normal":
            return self.shift + self.scale * normals
        from scipy.special import gammainccinv, gammaincinv, ndtr, stdtrit  # most problems need none of them

        z = to_host(normals)
        if self.marginal == "gamma":  # by the smaller tail: 1 - ndtr(9) is 0
            a = float(self.parameter or 0)
            t = np.where(z < 0, gammaincinv(a, ndtr(np.minimum(z, 0))), gammainccinv(a, ndtr(-np.maximum(z, 0))))
        elif self.marginal == "student":
            t = -np.sign(z) * stdtrit(self.parameter, ndtr(-np.abs(z)))
        else:
            t = 1 - 2 * ndtr(-z) if self.marginal == "uniform" else np.where(z < 0, -1.0, 1.0)
        return to_device(self.shift + self.scale * t, xp, getattr(normals, "device", None))

    def moments(self, d: int) -> Moments:
        """In closed form, by the cumulants of a coordinate."""
        a = self.parameter or 0.0
        mean, v, k3, excess = {
            "normal": (0.0, 1.0, 0.0, 0.0),
            "uniform": (0.0, 1 / 3, 0.0, -2 / 15),
            "gamma": (a, a, 2 * a, 6 * a),
            "student": (0.0, a / (a - 2 or 1), 0.0, 6 * a**2 / ((a - 2) ** 2 * (a - 4)) if a > 4 else math.inf),
            "sign": (0.0, 1.0, 0.0, -2.0),
        }[self.marginal]
        m, unit, s = np.full(d, self.shift + self.scale * mean), np.eye(d), self.scale
        v, k3, excess = s**2 * v, s**3 * k3, s**4 * excess
        if math.isinf(excess):
            return Moments(unit, v * unit + np.outer(m, m), self._no_fourth)
        absolute = _quartic(np.abs(m), v, abs(k3), abs(excess))
        return Moments(unit, np.outer(m, m) + v * unit, _quartic(m, v, k3, excess), absolute)

    def _no_fourth(self, S: Floats) -> Floats:
        raise InvalidInput(f"parameter = {self.parameter}: a Student variable has no fourth moment up to a = 4.")


def _quartic(m: Floats, v: float, k3: float, excess: float) -> Fourth:
    """E <x, S x> x x^T for x = m + e, e with independent coordinates of these cumulants: the products with a mean."""

    def of(S: Floats) -> Floats:
        s, diagonal, unit = S @ m, np.diag(S), np.eye(len(m))
        crossed = np.outer(m, 2 * v * s + k3 * diagonal)
        of_e = v**2 * (np.trace(S) * unit + 2 * S) + np.diag(excess * diagonal + 2 * k3 * s)
        mean = (m @ s + v * np.trace(S)) * np.outer(m, m) + (m @ s) * v * unit
        return np.asarray(mean + crossed + crossed.T + of_e)

    return of


class Pool(Covariates, frozen=True, tag="pool"):
    """One of k vectors, each as likely as the others: given ones, or k that are drawn once from a law.

    As tasks: the finite pool of pretraining, whose members are the same in every prompt and for every seed of `risk`.

    Parameters
    ----------
    members
        The vectors, (k, d); or how many are drawn, an integer.
    law
        What they are drawn from if `members` is a number; N(0, I) by default.
    seed
        The seed of the members that are drawn.

    Raises
    ------
    InvalidInput
        If a value breaks its rule, or there is no member.

    Examples
    --------
    >>> Pool([[1.0, 0.0], [0.0, 2.0]]).moments(2).second.tolist()  # E w w^T
    [[0.5, 0.0], [0.0, 2.0]]
    >>> Pool(16).vectors(3).shape
    (16, 3)
    """

    members: int | Matrix
    law: Covariates = Coordinates()
    seed: int = 0
    name: ClassVar[str] = "pool"

    def __post_init__(self) -> None:
        if not hasattr(self.members, "__len__"):
            whole("members", self.members, 1, "the number of vectors", most=10**7)
            instance("law", self.law, Covariates, "they are drawn from one, such as lipverify.covariates.Sphere()")
        else:
            msgspec.structs.force_setattr(self, "members", rows("members", self.members))
        a_seed(self.seed)

    def vectors(self, d: int) -> Floats:
        """The members, (k, d)."""
        if isinstance(self.members, int):
            return self.law.draw(generator(self.seed, "pool", 0), (self.members, d))
        return np.array(self.members)

    def draw(self, rng: Generator, shape: tuple[int, ...]) -> Floats:
        """Members with replacement, of this shape (..., d)."""
        members = self.vectors(shape[-1])
        return members[rng.integers(len(members), size=shape[:-1])]

    def require_dimension(self, d: int) -> None:
        """Given members are in R^d."""
        if not isinstance(self.members, int) and np.shape(self.members)[1] != d:
            raise InvalidInput(f"members are in R^{np.shape(self.members)[1]} and d = {d}: they must agree.")
        self.law.require_dimension(d)

    def moments(self, d: int) -> Moments:
        """The means over the members."""
        x = self.vectors(d)

        def over(x: Floats) -> Fourth:
            return lambda S: (x * np.einsum("ki,ij,kj->k", x, S, x)[:, None]).T @ x / len(x)

        return Moments(np.eye(d), x.T @ x / len(x), over(x), over(np.abs(x)))


class Sparse(Covariates, frozen=True, tag="sparse"):
    """A vector with `active` coordinates that are not 0, at places that are uniform; their values are drawn from a law.

    Parameters
    ----------
    active
        How many, >= 1.
    law
        The law of the values in R^active; N(0, I) by default.

    Raises
    ------
    InvalidInput
        If a value breaks its rule; in use, if `active` > d.

    Examples
    --------
    >>> int(np.count_nonzero(Sparse(2).draw(np.random.default_rng(0), (1, 10))))
    2
    """

    active: int
    law: Covariates = Coordinates()
    name: ClassVar[str] = "sparse"

    def __post_init__(self) -> None:
        whole("active", self.active, 1)
        instance("law", self.law, Covariates, "values have one, such as lipverify.covariates.Coordinates('sign')")

    def draw(self, rng: Generator, shape: tuple[int, ...]) -> Floats:
        """Values from the law at the places of the smallest of d uniforms."""
        places = np.argsort(rng.random(shape), axis=-1)[..., : self.active]
        made = np.zeros(shape)
        np.put_along_axis(made, places, self.law.draw(rng, (*shape[:-1], self.active)), axis=-1)
        return made

    def require_dimension(self, d: int) -> None:
        """There are as many coordinates."""
        whole("active", self.active, 1, most=d)
        self.law.require_dimension(self.active)

    def moments(self, d: int) -> Moments:
        """Means over the places; of the second moment alone, E x x^T."""
        second = self.law.moments(self.active).second
        same, crossed = float(np.trace(second)), float(np.sum(second) - np.trace(second))
        off = crossed / (d * (d - 1)) if d > 1 else 0.0
        refused = super().moments
        unit = np.full((d, d), off) + (same / d - off) * np.eye(d)
        return Moments(np.eye(d), unit, lambda S: refused(d).quartic(S))


class Mixture(Covariates, frozen=True, tag="mixture"):
    """A vector from law k with probability p_k.

    Parameters
    ----------
    parts
        Pairs (p_k, law); the probabilities sum to 1.

    Raises
    ------
    InvalidInput
        If a value breaks its rule.

    Examples
    --------
    >>> two = Mixture([(0.5, Coordinates(shift=-2.0)), (0.5, Coordinates(shift=2.0))])
    >>> two.moments(1).second.tolist()
    [[5.0]]
    """

    parts: Sequence[tuple[float, Covariates]]
    name: ClassVar[str] = "mixture"

    def __post_init__(self) -> None:
        try:
            parts = tuple((number("p", p, "a probability", least=0), law) for p, law in self.parts)
        except (TypeError, ValueError):
            parts = ()
        if not parts or abs(math.fsum(p for p, _ in parts) - 1) > 1e-12:
            raise InvalidInput(f"parts = {shown(self.parts)}: give pairs of probabilities that sum to 1 and laws.")
        for _, law in parts:
            instance("law", law, Covariates, "a mixture is made of laws, such as lipverify.covariates.Sphere()")
        msgspec.structs.force_setattr(self, "parts", parts)

    def draw(self, rng: Generator, shape: tuple[int, ...]) -> Floats:
        """Every law is drawn for every vector, and one of them is kept."""
        edges = np.cumsum([p for p, _ in self.parts])
        which = np.minimum(np.searchsorted(edges, rng.random(shape[:-1]), side="right"), len(edges) - 1)
        drawn = np.stack([law.draw(rng, shape) for _, law in self.parts])
        return np.take_along_axis(drawn, which[None, ..., None], axis=0)[0]

    def require_dimension(self, d: int) -> None:
        """Every law is defined there."""
        for _, law in self.parts:
            law.require_dimension(d)

    def moments(self, d: int) -> Moments:
        """The means of those of the parts."""
        parts = [(p, law.moments(d)) for p, law in self.parts]

        def over(name: str) -> Fourth:
            return lambda S: np.asarray(np.sum([p * getattr(part, name)(S) for p, part in parts], axis=0))

        second = np.sum([p * part.second for p, part in parts], axis=0)
        return Moments(np.eye(d), second, over("fourth"), over("bound"))
