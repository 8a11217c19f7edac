r"""What an anisotropic law leaves of the optimal matrix beside w I, as windows narrow."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import numpy as np

from lipverify.foundation.arrays import Floats


def leading_tilt(variances: Any) -> Floats:
    r"""D of Sigma^{1/2} M* Sigma^{1/2} = w I + D + O(1/w) as n grows: affine law, q uniform in the space of x.

    In whitened coordinates, u on the sphere, the weights of M = w I + D centre on u + delta with w delta = P_u D u -
    (d-1)/2 u, P_u the projector orthogonal to u; the leading bias is the mean of delta^T Sigma delta, a quadratic in D.

    Parameters
    ----------
    variances
        The eigenvalues of Sigma, all > 0.

    Returns
    -------
    The eigenvalues of D, in the same order. A multiple of I is part of w I: their sum is zero.

    Source: derived for Lemma 1 of Collins et al., slides, read with q uniform in the space of x.

    >>> leading_tilt([1.0, 1.0]).tolist()
    [0.0, 0.0]
    >>> leading_tilt([4.0, 1.0]).round(6).tolist()
    [0.3, -0.3]
    """
    S = np.asarray(variances, dtype=np.float64)
    d, axes = len(S), range(len(S))
    quadratic, linear = np.zeros((d, d)), np.zeros(d)
    for j, k in product(axes, axes):
        linear[k] += (d - 1) / 2 * S[j] * ((j == k) * _moment(d, j) - _moment(d, j, k))
        for m in axes:
            both = (j == k) * (j == m) * _moment(d, j) + _moment(d, j, k, m)
            each = (j == k) * _moment(d, j, m) + (j == m) * _moment(d, j, k)
            quadratic[k, m] += S[j] * (both - each)
    tilt = np.linalg.lstsq(quadratic, linear, rcond=1e-10)[0]
    return np.asarray(tilt - tilt.mean())


def _moment(d: int, *axes: int) -> float:
    """The mean of the product of u_j^2 over the axes, u uniform on the sphere."""
    odd = [float(np.prod(np.arange(1, 2 * count, 2))) for count in Counter(axes).values()]
    return float(np.prod(odd) / np.prod(d + 2 * np.arange(len(axes))))
