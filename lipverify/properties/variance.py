"""The variance of an isotropic law over the sphere, by a quadrature rule that no method of the library uses."""

from __future__ import annotations

import numpy as np

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Floats
from lipverify.problem.fields import Field
from lipverify.problem.law import Law, RidgeLaw, by_law
from lipverify.problem.own import Zonal

NODES = (200, 120)
"""Gauss-Legendre nodes between kinks; the difference from the rule with fewer nodes is the error."""
ROUNDING = 64 * float(np.finfo(float).eps)


def variance(law: Law, d: int) -> tuple[float, float]:
    """(Var f, its error), over x uniform on S^{d-1} and the functions of the law.

    Raises
    ------
    InvalidInput
        If the law has neither links nor a covariance.

    >>> from lipverify.laws import Linear
    >>> value, error = variance(Linear(L=1.0), 4)
    >>> abs(value - 1 / 4) <= error < 1e-12
    True
    """
    (value, size), (rough, _) = (_by_rule(law, d, nodes) for nodes in NODES)
    return value, abs(value - rough) + ROUNDING * size


@by_law
def _by_rule(law: Law, d: int, nodes: int) -> tuple[float, float]:
    """The variance by one rule, and the size of the squares that cancel in it."""
    raise InvalidInput(f"law = {law!r}: its variance needs links or a covariance, and an isotropic law.")


@_by_rule.register(RidgeLaw)
def _of_links(law: RidgeLaw, d: int, nodes: int) -> tuple[float, float]:
    cosines, weights = _rule(d, law.kink_points, nodes)
    links = [np.asarray(link, dtype=float) for link in law.links(cosines, np)]
    square = sum(float(weights @ link**2) for link in links)
    mean = sum(float(weights @ link) ** 2 for link in links)
    return law.amplitude_variance * (square - mean), law.amplitude_variance * square


@_by_rule.register(Field)
def _of_covariance(law: Law, d: int, nodes: int) -> tuple[float, float]:
    (cosines, weights), K = _rule(d, (), nodes), law.covariance(d)
    one, values = float(np.asarray(K(np.ones(1)))[0]), K(cosines)
    return one - float(weights @ values), max(abs(one), float(np.max(np.abs(values))))


@_by_rule.register(Zonal)
def _of_zonal(law: Zonal, d: int, nodes: int) -> tuple[float, float]:
    if law.spectrum is None:
        return _of_covariance(law, d, nodes)
    total = sum(law.spectrum[1:])
    return total, total


def _rule(d: int, kinks: tuple[float, ...], nodes: int) -> tuple[Floats, Floats]:
    """Nodes t = cos(angle) and weights for t = <x, x'>, with the density sin^{d-2} of the angle, from kink to kink."""
    x, weight = np.polynomial.legendre.leggauss(nodes)
    edges = np.concatenate([[0.0], np.sort(np.arccos(np.array(kinks))), [np.pi]])
    half = np.diff(edges) / 2
    angles = (edges[:-1, None] + half[:, None] * (1 + x)).ravel()
    density = (half[:, None] * weight).ravel() * np.sin(angles) ** (d - 2)
    return np.cos(angles), density / np.sum(density)
