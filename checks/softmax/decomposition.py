r"""The loss as bias plus noise, symbolically for any weights."""

from __future__ import annotations

from typing import Any


def gap(correlation: str = "0") -> Any:
    """L - (B + N) for any n, tokens, weights a and function: means over the label noise alone, with this correlation."""
    from fractions import Fraction

    from lipverify.proofs import identity as unit
    from lipverify.proofs import leftover, letters

    s, rho = letters(a="n 1", f="n 1", e="n 1", one="n 1", target="", variance=""), Fraction(correlation)
    covariance = s.variance * ((1 - rho) * unit("n") + rho * s.one @ s.one.T)
    loss = ((s.f + s.e).T @ s.a - s.target) ** 2
    noise = (s.e.T @ s.a) ** 2
    bias = (s.f.T @ s.a - s.target) ** 2
    independent = s.variance * s.a.T @ s.a
    derived = (loss.mean(s.e, covariance), noise.mean(s.e, covariance))
    return leftover(derived, (bias + independent, independent), "n")
