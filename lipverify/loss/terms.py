r"""The two terms of the loss, each with its error."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from lipverify.problem import Problem


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """Both terms of the loss of a problem, each with its error; arrays of one shape, units of y squared."""

    problem: Problem
    bias: Any
    noise: Any
    bias_error: Any
    noise_error: Any

    @property
    def total(self) -> Any:
        """The loss B + N."""
        return self.bias + self.noise

    @property
    def total_error(self) -> Any:
        """Error of the loss: the two errors add, because nothing says that they cancel."""
        return np.asarray(self.bias_error) + np.asarray(self.noise_error)


class LossTerms(Terms, frozen=True, kw_only=True):
    r"""L(w) = B(w) + N(w) at one or more windows w; arrays shaped like `w`, units of y squared.

    `bias_error` and `noise_error` are in the same units: for the exact method and certified balls a bound
    on the error, rounding included; for Monte Carlo the half-width of the 95 % interval; for asymptotic
    values an estimate, twice the next terms of the expansion.
    """

    method: str
    w: Any
