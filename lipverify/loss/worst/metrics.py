"""The two metrics on the sphere: distance in R^d and distance along the sphere."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from lipverify.foundation.arrays import Floats

Metric = Literal["chord", "arc"]
METRICS: tuple[Metric, ...] = ("chord", "arc")
LARGEST = {"chord": 2.0, "arc": math.pi}
"""The distance of opposite points."""


def distance(near: Floats, far: Floats, metric: Metric) -> Floats:
    """The distance of a token with 1 - t = `near` and 1 + t = `far` from the query, t = <x_i, x>."""
    sine, cosine = (np.sqrt(np.clip(each / 2, 0.0, 1.0)) for each in (near, far))
    return np.asarray(2 * sine if metric == "chord" else 2 * np.arctan2(sine, cosine))


def chord_of(angle: Floats) -> Floats:
    """The distance in R^d of two points of the sphere, given that along it."""
    return 2 * np.sin(angle / 2)


def angle_of(radius: float, metric: Metric) -> float:
    """The distance along the sphere, given that in the metric."""
    return radius if metric == "arc" else 2 * math.asin(radius / 2)
