"""Windows of very many tokens in high dimension: the average of the labels is that of the tilted law of a token.

For n -> infinity the weighted mean of f(x_i) is sum_l r_l f_l(x), with f_l the harmonics of f, so that

    B -> sum_l k_l (1 - r_l)^2,    r_l = E P_l(t) e^{w t} / E e^{w t} = I_{l + d/2 - 1}(w) / I_{d/2 - 1}(w),

and N -> (sigma^2 / n) E e^{2 w t} / (E e^{w t})^2; both have relative corrections of order N.
"""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from lipverify import Problem, loss_terms
from lipverify.laws import Affine, Law, Quadratic, ReLU
from lipverify.loss.exact import spectrum_of  # internal: the power of the law in its harmonics


def crowded(law: Law, d: int, w: float, n: float) -> tuple[float, float]:
    """(B, N) in the limit of many tokens; `spectrum_of` has ReLU alone, the others have one harmonic."""
    k, tail = np.array([1 / (3 * d)]), 0.0
    if isinstance(law, Quadratic):
        k = np.array([0.0, 2 * (d - 1) / (d**2 * (d + 2))])
    elif isinstance(law, ReLU):
        spectrum = spectrum_of(law, d, 64)
        k, tail = spectrum.k, spectrum.tail
    with mpmath.workdps(40):
        half, w = mpmath.mpf(d) / 2, mpmath.mpf(w)

        def mean(degree: int, at: mpmath.mpf) -> mpmath.mpf:
            """E P_l(t) e^{w t} by Rodrigues' formula: (w / 2)^l Gamma(d/2) / Gamma(l + d/2) 0F1(; l + d/2; w^2 / 4)."""
            scale = (at / 2) ** degree / mpmath.rf(half, degree)
            return scale * mpmath.hyp0f1(half + degree, at**2 / 4)

        alone = mean(0, w)
        lost = [float(1 - mean(degree, w) / alone) for degree in range(1, k.size + 1)]
        noise = float(mean(0, 2 * w) / alone**2 / n)
    return float(k @ np.array(lost) ** 2) + tail, noise


@pytest.mark.parametrize(
    ("law", "d", "w"),
    [
        *((Affine(), d, w) for d in (2, 3, 5, 8, 20) for w in (0.5, 20.0, 30.0, 400.0)),
        *((Quadratic(), d, w) for d in (2, 3, 5, 20) for w in (0.5, 30.0)),
        # with the others' table cut at e^-50 the third was refused, and the last was 5 errors off
        *((ReLU(), d, w) for d, w in ((1000, 31.0), (10_000, 60.0), (10_000, 100.0), (10_000, 150.0))),
        *((ReLU(), 100_000, w) for w in (300.0, 512.0, 1000.0)),
    ],
)
def test_windows_of_most_tokens_have_the_tilted_mean(law: Law, d: int, w: float) -> None:
    terms = loss_terms(Problem(d=d, n=1e30, law=law), w, route="ridge")
    bias, noise = crowded(law, d, w, 1e30)
    rounding = 1e-12 if isinstance(law, ReLU) else 1e-15
    assert abs(terms.bias - bias) <= terms.bias_error + rounding * bias
    assert abs(terms.noise - noise) <= terms.noise_error + 1e-15 * noise
