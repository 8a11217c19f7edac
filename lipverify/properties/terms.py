"""Properties of both terms of the loss, for any estimator.

The variance of an isotropic law over the sphere is computed by a quadrature rule that no method of the library uses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import EPS, Floats
from lipverify.loss.methods import loss_terms
from lipverify.loss.terms import LossTerms
from lipverify.optimum.window.minimiser import Optimum
from lipverify.problem.fields import Field
from lipverify.problem.law import Law, RidgeLaw, by_law
from lipverify.problem.own import Zonal
from lipverify.problem.problem import Problem
from lipverify.properties.ratio import ROUNDING, require


def variance(law: Law, d: int) -> tuple[float, float]:
    """(Var f, its error), over x uniform on S^{d-1} and the functions of the law."""
    # the difference of two rules is the error
    (value, size), (rough, _) = (_by_rule(law, d, nodes) for nodes in (200, 120))
    return value, abs(value - rough) + 64 * EPS * size  # rounding of a sum over the nodes


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
    peak, values = float(np.asarray(K(np.ones(1)))[0]), K(cosines)
    return peak - float(weights @ values), max(abs(peak), float(np.max(np.abs(values))))


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


def noise_is_between(terms: LossTerms, alarm: float = 1.0) -> float:
    r"""Require sigma^2 / n <= N(w) <= sigma^2: weights that sum to one have 1/n <= sum a_i^2 <= 1.

    Parameters
    ----------
    terms
        Both terms at one or more w, by any method; softmax weights.
    alarm
        The allowed violation in units of the stated errors: 1 for bounds, 2 for 95 % half-widths, so that a value
        raises a false alarm about once in ten thousand.

    Returns
    -------
    float
        The largest error / allowed.

    Raises
    ------
    AssertionError
        If a value is outside by more than its error.

    Examples
    --------
    >>> from lipverify import Problem, loss_terms
    >>> from lipverify.laws import Affine
    >>> noise_is_between(loss_terms(Problem(d=3, n=100, law=Affine()), [0.5, 50.0]))
    0.0
    """
    n, square = float(terms.problem.n), terms.problem.sigma**2
    noise, allowed = _with_room(terms.noise, terms.noise_error, alarm)
    context = {"N": noise, "w": _windows(terms), "n": n, "sigma": terms.problem.sigma}
    low = require("sigma^2 / n <= N", square / n - noise, allowed, **context)
    return max(low, require("N <= sigma^2", noise - square, allowed, **context))


def weights_are_equal(terms: LossTerms, alarm: float = 1.0) -> float:
    r"""Require N = sigma^2 / n and B = (1 + 1/n) Var f at w = 0, and at any w for a single token.

    Var f, over the sphere and the law, is computed by a separate quadrature, so the problem must be isotropic. See
    `noise_is_between` for details.

    Parameters
    ----------
    terms
        Both terms at one or more w, by any method; softmax weights.
    alarm
        The allowed violation in units of the stated errors: 1 for bounds, 2 for 95 % half-widths.

    Returns
    -------
    float
        The largest violation / allowed; at most 1.

    Raises
    ------
    InvalidInput
        If n > 1 and some w is not 0, or Var f is not known.
    AssertionError
        If a value is outside by more than its error.

    Examples
    --------
    >>> from lipverify import Problem, loss_terms
    >>> from lipverify.laws import ReLU
    >>> weights_are_equal(loss_terms(Problem(d=3, n=7, law=ReLU()), 0.0)) <= 1
    True
    """
    problem, w = terms.problem, _windows(terms)
    if problem.n > 1 and np.any(w != 0):
        raise InvalidInput(f"w = {w.max():g}: weights are equal at w = 0, or for one token.")
    n, (value, error) = float(problem.n), variance(problem.law, problem.d)
    noise, noise_allowed = _with_room(terms.noise, terms.noise_error, alarm)
    bias, bias_allowed = _with_room(terms.bias, terms.bias_error, alarm)
    expected = (1 + 1 / n) * value
    context = {"w": w, "n": n}
    of_noise = abs(noise - problem.sigma**2 / n)
    return max(
        require("N = sigma^2 / n for equal weights", of_noise, noise_allowed, N=noise, **context),
        require(
            "B = (1 + 1/n) Var f for equal weights",
            abs(bias - expected), bias_allowed + (1 + 1 / n) * error, B=bias, expected=expected, **context,
        ),
    )  # fmt: skip


def _with_room(value: Any, error: Any, alarm: float) -> tuple[Any, Any]:
    """A term, and its allowed error: the stated error and the rounding of the value that it is compared with."""
    term = np.asarray(value, dtype=float)
    return term, alarm * np.asarray(error, dtype=float) + ROUNDING * abs(term)


def _windows(terms: LossTerms) -> Any:
    return np.asarray(terms.w, dtype=float)


NEIGHBOURS = (1e-3, 0.1, 0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 1.01, 1.02, 1.05, 1.1, 1.25, 2.0, 10.0)
"""Multiples of w*: near ones detect a minimum that is slightly wrong, distant ones detect another minimum."""


def is_a_minimum(
    optimum: Optimum,
    loss: Callable[[Problem, Any], LossTerms] = loss_terms,
    neighbours: Sequence[float] = NEIGHBOURS,
    alarm: float = 1.0,
) -> float:
    """Require that the loss stated at w* is the loss there, and that no neighbour has a smaller one, up to the errors.

    Parameters
    ----------
    optimum
        The optimum to test; its w is finite and positive.
    loss
        The estimator whose loss it minimises.
    neighbours
        Multiples of w* at which the loss is compared.
    alarm
        The allowed difference in units of the stated errors, see `noise_is_between`.

    Returns
    -------
    float
        The largest error / allowed.

    Raises
    ------
    AssertionError
        If another w has a smaller loss, or the stated loss is wrong.
    InvalidInput
        If w* is 0 or infinite, so that it has no neighbours.

    Examples
    --------
    >>> from lipverify import optimal_window
    >>> from lipverify.laws import Affine
    >>> is_a_minimum(optimal_window(Problem(d=3, n=1000, law=Affine()))) <= 1
    True
    """
    if not 0 < optimum.w < math.inf:
        raise InvalidInput(f"w = {optimum.w:g}: only a finite positive w has neighbours on both sides.")
    others = optimum.w * np.array([1.0, *neighbours])
    terms = loss(optimum.problem, others)
    allowed = alarm * (optimum.loss_error + np.asarray(terms.total_error))
    context = {"loss": terms.total, "w": others, "stated": optimum.loss, "best": optimum.w}
    off = abs(terms.total - optimum.loss)[0]
    stated = require("the loss stated at w* is the loss there", off, allowed[0], **context)
    return max(stated, require("no other w has a smaller loss", optimum.loss - terms.total, allowed, **context))
