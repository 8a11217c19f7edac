r"""Predictors: functions from a batch of prompts to predictions, on any array library.

A predictor takes covariates x, (C, n, d), labels y, (C, n), and queries, (C, d), and returns C predictions. Any such
function is one. A `Linear` predictor also gives its weights, so that `risk` averages over the query exactly.

Each function here returns a predictor, a `Linear` one where its type says so, and refuses a value that breaks its rule
with an `InvalidInput`; sizes that depend on d are checked when it is called.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Array, Floats, Matrix, to_device
from lipverify.foundation.means.samples import ROUNDING
from lipverify.foundation.quoting import shown
from lipverify.foundation.validation import function, instance, number, numbers, whole, zero_or_more
from lipverify.linear_transformer.collapsed import readout
from lipverify.linear_transformer.layer import Layer, Parametrisation, written_out
from lipverify.loss.attention import softmax_weights
from lipverify.problem.covariates import Gaussian
from lipverify.problem.matrices import rows
from lipverify.problem.vectors import Pool

Predictor = Callable[[Array, Array, Array], Array]
"""(x (C, n, d), y (C, n), query (C, d)) -> predictions (C,)."""


@dataclass(frozen=True)
class Linear:
    """A predictor <w, query> with weights w(x, y), (C, n, d) and (C, n) -> (C, d).

    Parameters
    ----------
    weights
        The function of covariates and labels.
    pool
        If given: w lies in the convex hull of its members, which bounds the losses on another pool of tasks.

    Raises
    ------
    InvalidInput
        If `weights` is no function.

    Examples
    --------
    >>> averaging = Linear(lambda x, y: (x * y[..., None]).mean(axis=1))
    >>> averaging(np.ones((1, 2, 3)), np.ones((1, 2)), np.ones((1, 3))).tolist()
    [3.0]
    """

    weights: Callable[[Array, Array], Array]
    pool: Pool | None = None

    def __post_init__(self) -> None:
        function("weights", self.weights, "x, (C, n, d), and y, (C, n)")

    def __call__(self, x: Array, y: Array, query: Array) -> Array:
        """<w, query>."""
        _require_batch(x, y, query)
        return _dot(self.weights(x, y), query)


def ridge(penalty: float, prior: Matrix | None = None) -> Linear:
    r"""Ridge regression: w minimises sum_i (y_i - <w, x_i>)^2 + penalty <w, S^{-1} w>; least squares at penalty 0.

    With the penalty sigma^2 and `prior` S it is the posterior mean for w ~ N(0, S) and noise N(0, sigma^2).

    Parameters
    ----------
    penalty
        In units of y squared, >= 0; 0: least squares, of the least norm where several fit.
    prior
        S, positive semidefinite, (d, d), or its diagonal; the identity if left out.

    Examples
    --------
    >>> x, y = np.array([[[1.0, 0.0], [0.0, 2.0]]]), np.array([[1.0, 2.0]])
    >>> ridge(0.0).weights(x, y).round(12).tolist()
    [[1.0, 1.0]]
    """
    penalty = number("penalty", penalty, "a constant of ridge", least=0)
    S = None if prior is None else Gaussian(prior).shape(0)
    if S is not None and penalty == 0:
        raise InvalidInput("penalty = 0 with a prior: without noise the prior has no effect; leave it out.")

    def weights(x: Array, y: Array) -> Array:
        xp = x.__array_namespace__()
        if penalty == 0:
            return (xp.linalg.pinv(x) @ y[..., None])[..., 0]
        turned = xp.matrix_transpose(x) if S is None else _like("prior", S, x) @ xp.matrix_transpose(x)
        n, d = x.shape[-2:]
        if S is None and d < n:
            system = turned @ x + penalty * xp.eye(d, dtype=x.dtype)
            return xp.linalg.solve(system, turned @ y[..., None])[..., 0]
        system = x @ turned + penalty * xp.eye(n, dtype=x.dtype)
        return (turned @ xp.linalg.solve(system, y[..., None]))[..., 0]

    return Linear(weights)


def dmmse(pool: Pool | Matrix, sigma: float) -> Linear:
    r"""The posterior mean over a pool: sum_k p_k w_k, p_k proportional to exp(-sum_i (y_i - <w_k, x_i>)^2 / 2 sigma^2).

    Parameters
    ----------
    pool
        The pool, or its members, (k, d).
    sigma
        Standard deviation of the noise, >= 0; 0: the mean of the members that fit best, to rounding.

    Source: Raventos, Paul, Chen, Ganguli, NeurIPS 2023, equation (5).

    Examples
    --------
    >>> dmmse([[1.0], [-1.0]], 0.0).weights(np.ones((1, 3, 1)), np.ones((1, 3))).tolist()
    [[1.0]]
    """
    sigma = zero_or_more("sigma", sigma, "a standard deviation")
    pool = pool if isinstance(pool, Pool) else Pool(pool)

    def weights(x: Array, y: Array) -> Array:
        xp, d = x.__array_namespace__(), x.shape[-1]
        pool.require_dimension(d)
        members = _like("pool", pool.vectors(d), x)
        away = xp.sum((y[..., None] - x @ xp.matrix_transpose(members)) ** 2, axis=1)
        if sigma == 0:
            rounding = d * ROUNDING * xp.max(xp.sum(members**2, axis=1)) ** 0.5 * xp.sum(x * x, axis=(1, 2)) ** 0.5
            fits = xp.astype(away**0.5 <= (xp.min(away, axis=1) ** 0.5 + rounding)[:, None], x.dtype)
            return fits @ members / xp.sum(fits, axis=1)[:, None]
        return softmax_weights(-away / 2 / sigma / sigma, xp) @ members

    return Linear(weights, pool)


def gradient_descent(steps: int, rate: float | Matrix) -> Linear:
    r"""`steps` steps w <- w + A (1/n) sum_i (y_i - <w, x_i>) x_i from w = 0, A = rate I or a matrix.

    One step is a layer of linear attention with the preconditioner A.

    Parameters
    ----------
    steps
        How many, >= 1.
    rate
        The rate, a number, or the preconditioner A, (d, d).

    Examples
    --------
    >>> gradient_descent(1, 0.5).weights(np.ones((1, 4, 1)), np.ones((1, 4))).tolist()
    [[0.5]]
    """
    whole("steps", steps, 1)
    A = np.array(number("rate", rate)) if np.ndim(rate) == 0 else np.array(rows("rate", rate))

    def weights(x: Array, y: Array) -> Array:
        xp, n = x.__array_namespace__(), x.shape[1]
        w = 0 * x[:, 0, :]
        for _ in range(steps):
            slope = (xp.matrix_transpose(x) @ (y[..., None] - x @ w[..., None]))[..., 0] / n
            w = w + (slope * float(A) if A.ndim == 0 else slope @ _like("rate", A.T, x))
        return w

    return Linear(weights)


def softmax_attention(M: float | Matrix | Sequence[Matrix] = 1.0, heads: Sequence[float] | None = None) -> Predictor:
    r"""sum_h c_h sum_i a_hi y_i with a_h = softmax_i(x_i^T M_h x): one layer of softmax attention, tokens on the left.

    Its query comes after all tokens, so that a causal mask changes nothing; see `transformer` for several layers.

    Parameters
    ----------
    M
        A number w, for M = w I; a matrix (d, d); or a matrix for each head, (h, d, d).
    heads
        The factor c_h of each head; 1/h each by default.

    Examples
    --------
    >>> x, y, query = np.array([[[1.0], [-1.0]]]), np.array([[1.0, 0.0]]), np.array([[1.0]])
    >>> round(float(softmax_attention(2.0)(x, y, query)[0]), 6)  # 1 / (1 + e^-4)
    0.982014
    """
    matrices = numbers("M", M, "an entry")
    square = matrices.ndim == 0 or (matrices.ndim in (2, 3) and matrices.shape[-1] == matrices.shape[-2])
    if not square or not matrices.size:
        raise InvalidInput(f"M has shape {matrices.shape}: give a finite number, a matrix (d, d), or heads (h, d, d).")
    count = len(matrices) if matrices.ndim == 3 else 1
    factors = np.full(count, 1 / count) if heads is None else numbers("heads", heads, "a factor")
    if factors.shape != (count,):
        raise InvalidInput(f"heads has shape {factors.shape}: it is one factor for each of {count} matrices.")

    def predict(x: Array, y: Array, query: Array) -> Array:
        _require_batch(x, y, query)
        xp, total = x.__array_namespace__(), 0 * y[:, 0]
        if matrices.ndim == 0:
            images = [float(matrices) * query]
        else:
            images = [query @ _like("M", head.T, x) for head in matrices.reshape(count, *matrices.shape[-2:])]
        for factor, image in zip(factors, images, strict=True):
            total = total + float(factor) * _dot(softmax_weights((x @ image[..., None])[..., 0], xp), y)
        return total

    return predict


def transformer(
    layers: Sequence[Parametrisation], softmax: bool = False, causal: bool = False, sign: float = -1.0
) -> Predictor:
    r"""Layers e_i <- e_i + sum_h P_h sum_j a(e_j^T Q_h e_i) e_j on tokens e = (x, y), query (x, 0), which is no key.

    Linear attention, a(s) = s, or the softmax over j. The prediction is `sign` times the query's label at the end.

    Parameters
    ----------
    layers
        `lipverify.linear_transformer` layers, such as Layer(P, Q) or preconditioned(A, n).
    softmax
        True for softmax attention.
    causal
        If true, token i attends to tokens 1, ..., i only; the query attends to all.
    sign
        -1, the convention of linear transformers, by default.

    Examples
    --------
    >>> from lipverify.linear_transformer import preconditioned
    >>> x, y, query = np.ones((1, 4, 1)), np.ones((1, 4)), np.ones((1, 1))
    >>> transformer([preconditioned([[0.5]], n=4)])(x, y, query).tolist()
    [0.5]
    """
    layers = tuple(instance("layers", layers, Sequence, "give a list of layers, such as [preconditioned(A, n)]"))  # type: ignore[type-abstract]
    number("sign", sign, "the sign")

    def tokens(x: Array, y: Array) -> Array:
        return x.__array_namespace__().concat([x, y[..., None]], axis=-1)

    def weights(x: Array, y: Array) -> Array:
        e = tokens(x, y)
        return readout(e.__array_namespace__().matrix_transpose(e) @ e, layers).w

    def predict(x: Array, y: Array, query: Array) -> Array:
        _require_batch(x, y, query)
        xp, n = x.__array_namespace__(), x.shape[1]
        e = tokens(xp.concat([x, query[:, None, :]], axis=1), xp.concat([y, 0 * y[:, :1]], axis=1))
        allowed = xp.tril(xp.ones((n + 1, n), dtype=x.dtype)) if causal else xp.ones((n + 1, n), dtype=x.dtype)
        for layer in written_out(layers, e):
            e = e + _attended(layer, e, allowed, softmax, xp)
        return sign * e[:, -1, -1]

    return predict if softmax or causal or sign != -1 else Linear(weights)


def _attended(layer: Layer, e: Array, allowed: Array, softmax: bool, xp: Any) -> Array:
    """sum_h P_h sum_j a_ij e_j for every token i, (C, n + 1, d + 1); `allowed` is 1 where i may attend to j."""
    keys, total = e[:, :-1, :], 0 * e
    for h in range(layer.heads):
        a = (e @ xp.matrix_transpose(layer.Q[h, :, :])) @ xp.matrix_transpose(keys)
        a = softmax_weights(xp.where(allowed > 0, a, -xp.inf), xp) if softmax else allowed * a
        total = total + (a @ keys) @ xp.matrix_transpose(layer.P[h, :, :])
    return total


def nadaraya_watson(kernel: Callable[[Array, Array], Array]) -> Predictor:
    """sum_i K(x_i, x) y_i / sum_i K(x_i, x); 0 where all weights are 0.

    Parameters
    ----------
    kernel
        A function of the tokens, (C, n, d), and the query, (C, 1, d), to weights >= 0, (C, n).

    Examples
    --------
    >>> box = nadaraya_watson(lambda x, query: (abs(x - query) < 1).all(axis=-1).astype(float))
    >>> box(np.array([[[0.0], [0.5], [3.0]]]), np.array([[1.0, 2.0, 9.0]]), np.array([[0.0]])).tolist()
    [1.5]
    """
    function("kernel", kernel, "tokens, (C, n, d), and the query, (C, 1, d)")

    def predict(x: Array, y: Array, query: Array) -> Array:
        _require_batch(x, y, query)
        xp, K = x.__array_namespace__(), kernel(x, query[:, None, :])
        if tuple(getattr(K, "shape", ())) != tuple(y.shape) or xp.any(K < 0):
            raise InvalidInput(f"kernel returned {shown(K)}: it must return weights >= 0, {tuple(y.shape)}.")
        total = xp.sum(K, axis=1)
        return _dot(K, y) / xp.where(total > 0, total, xp.ones_like(total))

    return predict


def nearest_neighbours(k: int) -> Predictor:
    """The mean label of the k tokens nearest to the query; of all that are as near as the k-th.

    Parameters
    ----------
    k
        How many, from 1 to n.

    Examples
    --------
    >>> x, y = np.array([[[0.0], [1.0], [5.0]]]), np.array([[1.0, 2.0, 9.0]])
    >>> nearest_neighbours(2)(x, y, np.array([[0.2]])).tolist()
    [1.5]
    """
    whole("k", k, 1)

    def predict(x: Array, y: Array, query: Array) -> Array:
        _require_batch(x, y, query)
        whole("k", k, 1, most=x.shape[1])
        xp = x.__array_namespace__()
        distance = xp.sum((x - query[:, None, :]) ** 2, axis=-1) ** 0.5
        # 0.3 - 0.2 and 0.2 - 0.1 differ by rounding
        rounding = ROUNDING * xp.max(xp.abs(x), axis=(1, 2))
        near = xp.astype(distance <= (xp.sort(distance, axis=1)[:, k - 1] + rounding)[:, None], x.dtype)
        return _dot(near, y) / xp.sum(near, axis=1)

    return predict


def _require_batch(x: Array, y: Array, query: Array) -> None:
    shapes = tuple(tuple(getattr(part, "shape", ())) for part in (x, y, query))
    if len(shapes[0]) != 3 or shapes[1:] != (shapes[0][:2], shapes[0][::2]):
        raise InvalidInput(f"x, y and query have shapes {shapes}: they are (C, n, d), (C, n) and (C, d).")


def _dot(a: Array, b: Array) -> Array:
    return a.__array_namespace__().sum(a * b, axis=-1)


def _like(name: str, matrix: Floats, x: Array) -> Array:
    """A matrix with d columns, in the library, on the device and of the type of x."""
    xp, d = x.__array_namespace__(), x.shape[-1]
    if matrix.shape[-1] != d:
        raise InvalidInput(f"{name} has {matrix.shape[-1]} rows and d = {d}: they must agree.")
    return xp.astype(to_device(matrix, xp, getattr(x, "device", None)), x.dtype)
