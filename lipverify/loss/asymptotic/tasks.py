r"""The properties of a law that enter the leading terms: means of squares of its functions, and kinks.

For a polynomial P in the Laplacian, E (P(Delta) f)^2 is a mean over c of links, or a sum over harmonics.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import sympy
from msgspec.structs import replace

from lipverify.errors import InvalidInput
from lipverify.loss.asymptotic import fields
from lipverify.loss.asymptotic.fields import Increments
from lipverify.loss.asymptotic.links import Kink, Link, Piece, link, meant, read
from lipverify.loss.asymptotic.sphere import Delta, Expr, L, c, laplacian, mean
from lipverify.problem.fields import RBF, Matern
from lipverify.problem.law import Law, by_law
from lipverify.problem.laws import Affine, Cosine, Linear, Quadratic, ReLU, Scaled
from lipverify.problem.own import Ridge, Zonal


class Task(Protocol):
    """A random function f on the sphere."""

    @property
    def kinks(self) -> list[Kink]:
        """The kinks of its links."""

    @property
    def variance(self) -> Expr:
        """E l^2 of the amplitudes."""

    def square(self, operator: Expr) -> Expr:
        """E (P(Delta) f)^2 away from kinks."""

    def gradient(self) -> Expr:
        """E |grad f|^2."""


@dataclass(frozen=True)
class Ridges:
    """f = l_1 h_1(c) + ... + l_K h_K(c) with independent amplitudes, or one link."""

    variance: Expr
    links: tuple[Link, ...]

    @property
    def kinks(self) -> list[Kink]:
        """Those of every link."""
        return [kink for link in self.links for kink in link.kinks]

    @property
    def _pieces(self) -> list[Piece]:
        return [piece for link in self.links for piece in link.pieces]

    def square(self, operator: Expr) -> Expr:
        """The mean over c of (P(Delta) h)^2."""
        return self.variance * sum(
            mean(applied(operator, piece.h) ** 2, piece.low, piece.high) for piece in self._pieces
        )

    def gradient(self) -> Expr:
        """The mean over c of (1 - c^2) h'^2."""
        return self.variance * sum(
            mean((1 - c**2) * sympy.diff(piece.h, c) ** 2, piece.low, piece.high) for piece in self._pieces
        )


@dataclass(frozen=True)
class Harmonics:
    """The law with covariance sum_l k_l P_l: its part of degree l is an eigenfunction of variance k_l."""

    spectrum: tuple[Expr, ...]

    @property
    def variance(self) -> Expr:
        """1: the amplitudes are part of the spectrum."""
        return sympy.Integer(1)

    @property
    def kinks(self) -> list[Kink]:
        """None: harmonics are smooth."""
        return []

    def square(self, operator: Expr) -> Expr:
        """The sum over l of k_l P(-l (l+d-2))^2."""
        return sum(k * operator.subs(Delta, eigenvalue(degree)) ** 2 for degree, k in enumerate(self.spectrum))

    def gradient(self) -> Expr:
        """-E f Delta f."""
        return sum(-k * eigenvalue(degree) for degree, k in enumerate(self.spectrum))


def eigenvalue(degree: int) -> Expr:
    """The Laplacian on harmonics of one degree, from its action on the highest power of c."""
    return sympy.expand(laplacian(c**degree)).coeff(c, degree)


def applied(operator: Expr, h: Expr) -> Expr:
    """P(Delta) h for a polynomial P."""
    result, power = sympy.Integer(0), h
    for coefficient in reversed(sympy.Poly(operator, Delta).all_coeffs()):
        result, power = result + coefficient * power, laplacian(power)
    return result


@by_law
def lettered(law: Law) -> tuple[Law, Expr]:
    """A law with L as a symbol, and that symbol; 1 instead if the task has no L."""
    return law, sympy.Integer(1)


@lettered.register(Scaled)
def _scaled(law: Scaled) -> tuple[Law, Expr]:
    return replace(law, L=1.0), L


def task_of(law: Law) -> Task | Increments:
    """The law as SymPy expressions, with L as a symbol."""
    return task(law)


@by_law
def task(law: Law) -> Task | Increments:
    """The law as SymPy expressions, registered by its class."""
    known = ", ".join(law_class.__name__ for law_class in task.classes)
    raise InvalidInput(f"law = {law!r}: leading terms are derived for {known} only; use method='exact'.")


@task.register(Affine)
def _affine(law: Affine) -> Ridges:
    return Ridges(L**2 / 3, (link(c),))  # E l^2 for l ~ Unif[-L, L]


@task.register(Linear)
def _linear(law: Linear) -> Ridges:
    return Ridges(L**2, (link(c),))


@task.register(ReLU)
def _relu(law: ReLU) -> Ridges:
    zero = sympy.Integer(0)
    return Ridges(L**2 / 3, (link(sympy.Max(c, 0), [zero]), link(sympy.Max(-c, 0), [zero])))


@task.register(Cosine)
def _cosine(law: Cosine) -> Ridges:
    return Ridges(sympy.Integer(1), (link(sympy.cos(L * c)),))


@task.register(Quadratic)
def _quadratic(law: Quadratic) -> Ridges:
    return Ridges(L**2, (link(c**2),))


@task.register(Ridge)
def _ridge(law: Ridge) -> Ridges:
    return Ridges(sympy.Integer(1), (link(read(law.link), [meant(kink) for kink in law.kink_points]),))


@task.register(Zonal)
def _zonal(law: Zonal) -> Task | Increments:
    if law.spectrum is None:
        return fields.zonal(law)
    return Harmonics(tuple(meant(k) for k in law.spectrum))


task.register(Matern)(fields.matern)
task.register(RBF)(fields.rbf)
