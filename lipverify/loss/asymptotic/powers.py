r"""Leading and next terms as powers of w and n, and the error estimates that follow from them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lipverify.foundation.arrays import EPS, Floats

SAFETY = 2.0
"""Factor on the next term: one for the term itself and one for all further terms."""


@dataclass(frozen=True)
class Power:
    """C w^p n^q, stored as logarithms, because constants over- or underflow for large d."""

    log_constant: float
    power: float
    tokens: float

    def __call__(self, x: Floats, log_n: float) -> Floats:
        """The value at w = e^x; infinite if it overflows."""
        with np.errstate(over="ignore"):
            return np.exp(self.log(x, log_n))

    def log(self, x: Floats, log_n: float) -> Floats:
        """The logarithm of the value at w = e^x."""
        return self.log_constant + self.power * x + self.tokens * log_n

    def rounding(self, x: Floats, log_n: float) -> Floats:
        """Relative error of a value: the rounding of the terms of its logarithm."""
        return 8 * EPS * (1 + abs(self.log_constant) + np.abs(self.power * x) + abs(self.tokens * log_n))


@dataclass(frozen=True)
class Numbers:
    """The leading terms of one law, at one d and one L."""

    noise: Power
    noise_next: Power
    tokens_next: Power
    bias: Power | None
    bias_next: Power | None
    spread: Power | None

    def noise_error(self, x: Floats, log_n: float) -> Floats:
        """Estimated relative error of the noise."""
        # e^{-2w}, the weight at the antipode, is the error if the series in 1/w ends, as for d = 3
        with np.errstate(over="ignore"):
            return SAFETY * (self.noise_next(x, log_n) + 2 * _antipode(x) + self.tokens_next(x, log_n))

    def bias_error(self, x: Floats, log_n: float) -> Floats:
        """Estimated relative error of the bias."""
        if self.bias is None or self.bias_next is None or self.spread is None:
            return np.zeros_like(x)
        with np.errstate(over="ignore"):
            spread = np.exp(self.spread.log(x, log_n) - self.bias.log(x, log_n))
            antipode = 4 * (1 + np.exp(x)) * _antipode(x)
            return SAFETY * (self.bias_next(x, log_n) + antipode + spread + self.tokens_next(x, log_n))


def _antipode(x: Floats) -> Floats:
    """e^{-2w}, the weight of a token at the antipode of the query."""
    with np.errstate(over="ignore"):
        return np.exp(-2 * np.exp(x))
