r"""Leading and next terms as numbers: powers of w and n, and the errors that they make up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lipverify.foundation.arrays import Floats

SAFETY = 2.0
"""The next term, twice: once for itself and once for all that come after it."""
EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Power:
    """C w^p n^q, kept as logarithms: constants of large d leave the doubles."""

    log_constant: float
    power: float
    tokens: float

    def __call__(self, x: Floats, log_n: float) -> Floats:
        """The value at w = e^x; infinite beyond the doubles."""
        with np.errstate(over="ignore"):
            return np.exp(self.log(x, log_n))

    def log(self, x: Floats, log_n: float) -> Floats:
        """Its logarithm."""
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
        # weights at the antipode are e^{-2w}; they show where the series in 1/w ends, as it does for d = 3
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
