r"""Sines and cosines by tangents: NumPy vectorises the tangent, and its sine and cosine take ten times as long.

With t = tan(x/2): sin x = 2 t / (1 + t^2), cos x = (1 - t) (1 + t) / (1 + t^2), 1 - cos x = 2 t^2 / (1 + t^2).
"""

from __future__ import annotations

import numpy as np

from lipverify.foundation.arrays import Floats


def sine_and_cosine(x: Floats) -> tuple[Floats, Floats]:
    """Sine and cosine of angles in [-pi, pi].

    For |x| <= pi/2 the sine has a relative error of 2 eps and the cosine an absolute error of 2 eps. For larger |x|
    both have an absolute error of 3 eps.

    >>> sine, cosine = sine_and_cosine(np.array([0.0, np.pi / 3, np.pi / 2]))
    >>> sine.round(15), cosine.round(15)
    (array([0.       , 0.8660254, 1.       ]), array([1. , 0.5, 0. ]))
    """
    t = np.tan(x / 2)
    share = 1 / (1 + t * t)
    return 2 * t * share, (1 - t) * (1 + t) * share


def versine(x: Floats) -> Floats:
    """1 - cos(x) = 2 sin^2(x/2) for angles in [-pi, pi], with a relative error of 4 eps.

    >>> versine(np.array([1e-9, np.pi / 2, np.pi]))
    array([5.e-19, 1.e+00, 2.e+00])
    """
    square = np.tan(x / 2) ** 2
    return 2 * square / (1 + square)
