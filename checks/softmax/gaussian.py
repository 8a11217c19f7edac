r"""Attention on the unit sphere as a Gaussian kernel in the distance, and the derivative of the prediction in the query."""

from __future__ import annotations

from typing import Any

import numpy as np

from lipverify.checks.softmax.quantities import Value

VERSIONS = {"intuition": "1/2", "proof": "1", "rebuttal": "1"}
"""The constant c before w |x_i - x|^2 in the exponent, by place."""


def steepest(w: float, d: int, n: int, seed: int) -> Value:
    """The largest |grad_x y-hat| divided by (w / 2) times the range of the labels, at sampled contexts and at two antipodes."""
    from lipverify.sampling import normals

    drawn, labels = normals(seed, f"slope/{d}/{n}", 0, (200, n + 1, d)), normals(seed, f"slope/{d}/{n}", 1, (200, n))
    contexts = [(each / np.linalg.norm(each, axis=1, keepdims=True), y) for each, y in zip(drawn, labels, strict=True)]
    poles = np.zeros((3, d))
    poles[0, 0], poles[1, 0], poles[2, 1] = 1, -1, 1
    largest = 0.0
    for tokens, y in [*contexts, (poles, np.array([1.0, -1.0]))]:
        x, query = tokens[:-1], tokens[-1]
        a = np.exp(w * (x @ query - np.max(x @ query)))
        a = a / a.sum()
        gradient = w * (a * (y - a @ y)) @ x
        largest = max(largest, float(np.linalg.norm(gradient)) / (w / 2 * float(np.ptp(y))))
    return largest, 1e-13


def sensitivity(kept: str = "1") -> Any:
    """For every n: the derivative of y-hat along e minus w Cov_a(y, <x_i, e>), and Var_a(y) minus its bound.

    `kept` scales both right sides. A, Y and T are the diagonal matrices of attention, labels and <x_i, e>; h and l
    bound the labels, and the columns sum. (h - l)^2 / 4 is Var + sum_i a_i (h - y_i)(y_i - l) + ((h + l) / 2 - sum_i
    a_i y_i)^2: Popoviciu's inequality.
    """
    from fractions import Fraction

    from lipverify.proofs import identity as unit
    from lipverify.proofs import leftover, letters

    s = letters(symmetric=("A", "Y", "T"), A="n n", Y="n n", T="n n", one="n 1", w="", h="", l="")
    times = Fraction(kept)
    commute = {(s.T, s.A): s.A @ s.T, (s.Y, s.A): s.A @ s.Y, (s.T, s.Y): s.Y @ s.T}
    summed = {(s.one.T, s.A, s.one): 1}

    def mean(of: Any) -> Any:
        return s.one.T @ s.A @ of @ s.one

    moved = s.w * (s.A @ s.T - mean(s.T) * s.A)  # d a_i = w (t_i - sum_j a_j t_j) a_i
    covariance = mean(s.Y @ s.T) - mean(s.Y) * mean(s.T)
    variance, half = mean(s.Y @ s.Y) - mean(s.Y) ** 2, Fraction(1, 2)
    between = mean((s.h * unit("n") - s.Y) @ (s.Y - s.l * unit("n")))
    derived = s.one.T @ moved @ s.Y @ s.one, Fraction(1, 4) * (s.h - s.l) ** 2
    stated = times * s.w * covariance, times * (variance + between + (half * (s.h + s.l) - mean(s.Y)) ** 2)
    one, other = ([each.where(commute).where(summed) for each in side] for side in (derived, stated))
    return leftover(one, other, "n")


def log_ratio(version: str) -> Any:
    """Log a_i / a_j minus the same for exp(-c w |x_i - x|^2), for any two tokens, query and w, all on the unit sphere."""
    from fractions import Fraction

    from lipverify.proofs import leftover, letters

    s = letters(x_i="d 1", x_j="d 1", x="d 1", w="")
    on_the_sphere = {(each.T, each): 1 for each in (s.x_i, s.x_j, s.x)}
    stated = (
        Fraction(VERSIONS.get(version, version))
        * s.w
        * ((s.x_j - s.x).T @ (s.x_j - s.x) - (s.x_i - s.x).T @ (s.x_i - s.x))
    )
    return leftover(s.w * (s.x_i - s.x_j).T @ s.x, stated.where(on_the_sphere), "d w")
