r"""The largest bias that a task of Lipschitz constant L can have: at one query, and on average over the queries.

Let rho(x, x') = |x - x'| be the distance of two tokens, and f a function with |f(x) - f(x')| <= L rho(x, x').

At a given query x

    sup_f E (sum_i a_i f(x_i) - f(x))^2 = L^2 E (sum_i a_i rho(x_i, x))^2,

since the error is at most L sum_i a_i rho(x_i, x), with equality for the cone f(y) = L rho(y, x). The supremum is the
same at every x of the sphere.

A single f is a cone at one query only. Its bias, averaged over the query, is a quadratic form in f that is invariant
under rotations: with f = sum_k f_k, f_k a harmonic of degree k, and b_k the bias of a field with covariance P_k (see
`weights`),

    E (sum_i a_i f(x_i) - f(x))^2 = sum_k b_k E f_k^2,    sum_k k (k + d - 2) E f_k^2 = E |grad f|^2 <= L^2,

so the averaged bias is at most L^2 max_k b_k / (k (k + d - 2)). Harmonics of the degree with the maximum attain this
bound among all f with E |grad f|^2 <= L^2. With many tokens in a narrow window b_k = (1 - e^{-k^2/2w})^2, and the
maximum is 0.2036 / w in every dimension, where the supremum at one query is about (d - 1) / w. Lower bounds come from
linear functions, and from functions of one angle whose slopes alternate between 1 and -1 and change at the extrema of
P_k, see `zigzag`.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from lipverify.errors import OutOfReach
from lipverify.foundation.noted import makes
from lipverify.foundation.validation import numbers, whole
from lipverify.loss.exact import LARGEST as LARGEST_WINDOW
from lipverify.loss.exact import SMALLEST
from lipverify.loss.worst.weights import equal_weights, softmax_weights
from lipverify.loss.worst.zigzag import single_bias, zigzag
from lipverify.problem.problem import LARGEST_D, context_length

__all__ = ["WorstBias", "worst_bias", "zigzag"]


class WorstBias(msgspec.Struct, frozen=True, kw_only=True):
    """The largest bias of functions with Lipschitz constant 1, and for L of L^2 times that; arrays shaped like w.

    Attributes
    ----------
    value, error
        The supremum over f at one query, and over all f that may depend on the query; and a bound on its error.
    high, high_error
        An upper bound on the bias of any single f, averaged over the query, and a bound on its error.
    low, low_error
        A lower bound, sharp to 1 %, on the bias of the best single f that was tried, averaged over the query, and a
        bound on its error. The supremum over a single f is between `low` and `high`.
    witness
        The degree of that f, `zigzag(d, witness)`.
    """

    value: Any
    error: Any
    high: Any
    high_error: Any
    low: Any
    low_error: Any
    witness: Any


@makes("bounded", "exact")
def worst_bias(d: int, n: float, w: Any) -> WorstBias:
    """The largest bias of softmax attention with scores w <x_i, x>, tokens uniform on the sphere.

    Parameters
    ----------
    d, n
        Ambient dimension and context length, as in `Problem`.
    w
        Windows, finite and >= 0.

    Returns
    -------
    WorstBias
        Bounds from below and above of the largest bias at each w, with their errors, over L^2.

    Raises
    ------
    InvalidInput
        If an argument breaks its rule.
    OutOfReach
        If the exact method does not reach it.

    Source: own derivation; Collins et al. bound the bias of the class of L-Lipschitz functions from above.

    Examples
    --------
    >>> worst = worst_bias(3, 100, 5.0)
    >>> worst.value.round(6).item(), worst.high.round(6).item(), worst.low.round(6).item()
    (0.327551, 0.048168, 0.036482)
    """
    d, n = whole("d", d, 2, "the ambient dimension", LARGEST_D), float(context_length(n))
    windows = numbers("w", w, "w", least=0)
    if np.any(windows > LARGEST_WINDOW):
        raise OutOfReach(f"w = {np.max(windows):g}: at most {LARGEST_WINDOW:g}, for 2 w must be a double.")
    rows = []
    for window in np.ravel(windows).tolist():
        weights = softmax_weights(d, n, window) if window >= SMALLEST and n > 1 else equal_weights(d, n)
        (value, error), single = weights.cone(), single_bias(weights)
        # a single f has at most the bias of one that depends on the query
        high, high_error = min((single.high, single.high_error), (value, error))
        rows.append((value, error, high, high_error, single.low, single.low_error, single.degree))
    columns = np.reshape(np.array(rows, dtype=np.float64), (len(rows), 7)).T
    *parts, witness = (np.reshape(column, np.shape(w)) for column in columns)
    fields = dict(zip(WorstBias.__struct_fields__[:-1], parts, strict=True))
    return WorstBias(**fields, witness=witness.astype(int))
