r"""On the unit sphere softmax scores are a Gaussian kernel in the distance, of one width or the other."""

from __future__ import annotations

import numpy as np

from lipverify.claims import DIMENSIONS, Source, bound, claim

Value = tuple[float, float]
APART = 1e-2
"""The least difference of squared distances of a pair that is compared: nearer ones lose too many digits."""


def rate(d: int, n: int, w: float, seed: int) -> Value:
    """The c of a_i proportional to exp(-c w |x_i - x|^2), from every pair of tokens; the error is its range, rounding included.

    Each pair gives c = (log a_i - log a_j) / (w (|x_j - x|^2 - |x_i - x|^2)).
    """
    from lipverify.foundation.streams import normals
    from lipverify.problem.sphere import on_sphere

    points = on_sphere(normals(seed, f"kernel/{d}", 0, (n + 1, d)), np)
    query, tokens = points[0], points[1:]
    scores = w * tokens @ query
    log_a = scores - np.log(np.sum(np.exp(scores)))
    distance = np.sum((tokens - query) ** 2, axis=1)
    i, j = np.triu_indices(n, 1)
    apart = np.abs(distance[i] - distance[j]) > APART
    c = (log_a[i] - log_a[j])[apart] / (w * (distance[j] - distance[i])[apart])
    # the numerator is a difference of numbers below 2w + log n, rounded to eps each
    rounding = 16 * float(np.finfo(float).eps) * (2 * w + np.log(n)) / (w * APART)
    return float((c.max() + c.min()) / 2), float(np.ptp(c) / 2 + rounding)


SLIDES = {"intuition": {"c_printed": "1/2"}, "proof": {"c_printed": "1"}}
"""What stands before w |x_i - x|^2 in the exponent, by slide."""

claim(
    "softmax.gaussian-window/{slides}",
    bound(rate, "c", equals="c_printed", within=1e-11, sharp="1/2"),
    source={
        "intuition": Source(
            "S",
            "ICL Estimator Intuition",
            r"Attention $x_{n+1} \to x_i$: $\frac{e^{-\frac{w_{KQ}}{2} \|x_i - x_{n+1}\|^2}}"
            r"{\sum_{j=1}^n e^{-\frac{w_{KQ}}{2} \|x_j - x_{n+1}\|^2}}$",
        ),
        "proof": Source(
            "S",
            "Proof Sketch",
            r"Recall $\mathcal{L}_{noise}(w_{KQ}) = \sigma^2 \sum_i \frac{e^{-2 w_{KQ} \|x_i - x_{n+1}\|^2}}"
            r"{(\sum_j e^{-w_{KQ} \|x_j - x_{n+1}\|^2})^2}$",
        ),
    },
    kind={"intuition": "printed", "proof": "convention"},
    expected={"intuition": "supported", "proof": "refuted"},
    over={"slides": SLIDES, "d": DIMENSIONS, "n": 50, "w": 7.0},
    title="attention is a Gaussian kernel in the distance",
    statement=r"a_i \propto e^{w \langle x_i, x \rangle} \propto e^{-c\, w \|x_i - x\|^2}",
    assumes=r"tokens and query on $S^{d-1}$, $\mathbf{M} = w \mathbf{I}$, attention scores $w \langle x_i, x \rangle$",
    finding=r"On the unit sphere $\|x_i - x\|^2 = 2 - 2 \langle x_i, x \rangle$, so $e^{w \langle x_i, x \rangle}$ is "
    r"$e^{-\frac{w}{2} \|x_i - x\|^2}$ up to a factor that softmax cancels. The proof slides write $w$ for what is $w/2$ of "
    r"$\mathbf{M} = w \mathbf{I}$: harmless for rates, a factor of two in constants.",
    corrected={"proof": r"$a_i \propto e^{-\frac{w}{2} \|x_i - x\|^2}$", "*": ""},
)
