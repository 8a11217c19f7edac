r"""The matrix of the minimal loss of linear attention on normal covariates: one step of preconditioned gradient descent."""

from __future__ import annotations

from typing import Any

import numpy as np

import lipverify as lv
from lipverify.checks.softmax.quantities import Value, problem

SIGMA, LITTLE = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 0.5]]), 0.3
"""Correlated covariates, and the noise used with them."""
PARTS = {"affine": (1 / 3, 0.0), "relu": (1 / 6, 1 / 6)}
"""Mean squares of the coefficients of <q, x> and of |<q, x>| in f, at L = 1."""


def preconditioner(law: str, n: int, trace: float = 1.0) -> np.ndarray:
    r"""The M of the minimal loss over all M for x ~ N(0, Sigma) and f = a <q, x> + b |<q, x>|, q uniform on the sphere; L = 1.

    With A = E a^2, B = E b^2 and g = (1/n) sum_i y_i x_i the loss is minimal where E g g^T M Sigma = E g f(x) x^T = A
    Sigma^2 / d,

        M = ((1 - 1/n) Sigma + (1 + B/A) (2 Sigma + trace tr(Sigma) I) / n + d sigma^2 / (A n) I)^{-1}    with trace = 1.
    """
    A, B = PARTS[law]
    size = (1 + B / A) * trace * np.trace(SIGMA) + len(SIGMA) * LITTLE**2 / A
    return np.linalg.inv((1 - 1 / n + 2 * (1 + B / A) / n) * SIGMA + size / n * np.eye(len(SIGMA)))


def from_preconditioner(law: str, n: int, contexts: int, seed: int, trace: float = 1.0) -> Value:
    """The largest difference of the minimising M on sampled contexts from the closed form, relative to its largest entry."""
    full = problem(law, len(SIGMA), n, sigma=LITTLE).replace(covariates=lv.covariates.Gaussian(SIGMA))
    drawn: dict[str, Any] = {"contexts": contexts, "seed": seed, "stream": f"descent/{law}/{n}"}
    best, M = lv.optimal_matrix(full, attention="linear", starts=2, **drawn), preconditioner(law, n, trace)
    return float(np.abs(best.M - M).max() / np.abs(M).max()), float(best.M_error.max() / np.abs(M).max())


def stationary(trace: str = "1") -> Any:
    """d E g g^T - A Sigma P^{-1} for every d, n and Sigma, with `trace` times the trace in P; then E g g^T P Sigma = A Sigma^2 / d.

    By Isserlis E <q, x>^2 x x^T = (tr(Sigma) Sigma + 2 Sigma^2) / d for q uniform on the sphere; m = 1/n, t =
    tr(Sigma).
    """
    from fractions import Fraction

    from lipverify.proofs import identity, leftover, letters

    s = letters(symmetric=("S",), S="d d", A="", B="", t="", m="", variance="", k="")
    square = s.t * s.S + 2 * s.S @ s.S
    derived = s.m * ((s.A + s.B) * square + s.k * s.variance * s.S) + (1 - s.m) * s.A * s.S @ s.S
    least = (1 - s.m) * s.A * s.S + s.m * (s.A + s.B) * (2 * s.S + Fraction(trace) * s.t * identity("d"))
    return leftover(derived, s.S @ (least + s.m * s.k * s.variance * identity("d")), "d")
