r"""Prompts whose covariates have a covariance: the exact risk of one layer, its best preconditioner, and a sampler.

x_i ~ N(0, Lambda) for i = 1, ..., n, a task w with E w w^T = S, labels y_i = <w, x_i> + sigma eps_i, and a query x of
second moment Q. One layer of linear attention predicts <x, A h>, h = (1/n) sum_i y_i x_i: a step of gradient descent
with the preconditioner A (A / n where attention sums and does not divide by n). With E h w^T = Lambda S and

    E h h^T = Lambda S Lambda + C,    C = (Lambda S Lambda + (tr Lambda S + sigma^2) Lambda) / n,

the risk E (<x, A h> - <x, w>)^2 is a bias and a variance, sums without cancellation,

    tr Q (A Lambda - I) S (A Lambda - I)^T + tr Q A C A^T,

and A* = S Lambda (Lambda S Lambda + C)^{-1} has the least of all A, whatever Q is. Only S enters of the law of the
task: k tasks, each as likely as the others, rows of W, are S = W^T W / k.

Source: own derivation, by the fourth moments of normal variables; sampled prompts, which share none of it, agree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec
import numpy as np

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import EPS, Floats, Matrix
from lipverify.foundation.means.samples import mean_with_half_width
from lipverify.foundation.streams import generator
from lipverify.foundation.validation import a_seed, instance, number, numbers, whole
from lipverify.linear_transformer.collapsed import readout
from lipverify.linear_transformer.layer import Layer, Parametrisation
from lipverify.linear_transformer.regression.contexts import CHUNK, random_moments
from lipverify.problem.matrices import Rows, rows, square_root
from lipverify.problem.problem import context_length

Model = Sequence[Parametrisation] | Callable[[Floats], Floats]
"""Layers, or a function from moments (prompts, d + 1, d + 1) to weights (prompts, d)."""


@dataclass(frozen=True)
class Prompts:
    """The law of a prompt.

    Attributes
    ----------
    n
        Tokens in the context: any integer or integral float from 1 to 1e30.
    covariance
        Lambda: a symmetric matrix, positive semidefinite, or its diagonal.
    tasks
        S = E w w^T, in the same way; the identity if left out.
    sigma
        Standard deviation of the label noise.
    query
        Q, the second moment of the query; Lambda if left out.

    Raises
    ------
    InvalidInput
        If a matrix is no such matrix, or not of the shape of `covariance`.

    Examples
    --------
    >>> Prompts(20, [1.0, 0.5]).Lambda.tolist()
    [[1.0, 0.0], [0.0, 0.5]]
    """

    n: int | float
    covariance: Matrix | Sequence[float]
    tasks: Matrix | Sequence[float] | None = None
    sigma: float = 0.0
    query: Matrix | Sequence[float] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", context_length(self.n))
        number("sigma", self.sigma, "a standard deviation", least=0)
        covariance = _semidefinite("covariance", self.covariance)
        every = np.ones(len(covariance)) if self.tasks is None else self.tasks
        query = covariance if self.query is None else self.query
        fields = (("covariance", covariance), ("tasks", every), ("query", query))
        for name, value in fields:
            kept = _semidefinite(name, value)
            if len(kept) != len(covariance):
                raise InvalidInput(f"{name} is of size {len(kept)}, covariance of size {len(covariance)}; use one d.")
            object.__setattr__(self, name, kept)

    @property
    def d(self) -> int:
        """Dimension of the covariates."""
        return len(self.covariance)

    @property
    def Lambda(self) -> Floats:
        """The covariance, (d, d)."""
        return np.array(self.covariance)

    @property
    def S(self) -> Floats:
        """The second moment of the task, (d, d)."""
        return np.array(self.tasks)

    @property
    def Q(self) -> Floats:
        """The second moment of the query, (d, d)."""
        return np.array(self.query)

    @property
    def spread(self) -> Floats:
        """C, the mean of the covariance of h given the task, (d, d)."""
        signal = self.Lambda @ self.S @ self.Lambda
        return np.asarray((signal + (np.trace(self.Lambda @ self.S) + self.sigma**2) * self.Lambda) / self.n)


class Risk(msgspec.Struct, frozen=True, kw_only=True):
    """The risk E (prediction - <x, w>)^2 as bias and variance, with a bound on the rounding error of their sum.

    Without the factor 1/2 that the losses of `Regression` and those of some papers carry.
    """

    bias: float
    variance: float
    error: float

    @property
    def value(self) -> float:
        return self.bias + self.variance


def best_step(prompts: Prompts) -> Floats:
    """A*, (d, d): the preconditioner of the least risk; with the least norm where Lambda is singular.

    Parameters
    ----------
    prompts
        The length, covariance and noise of training.

    Returns
    -------
    ndarray
        A*, (d, d).

    Raises
    ------
    InvalidInput
        If `prompts` are none.

    Examples
    --------
    >>> round(float(best_step(Prompts(20, [1.0, 1.0], sigma=1.0))[0, 0]), 12)  # n / (n + d + 1 + sigma^2)
    0.833333333333
    """
    _require_prompts(prompts)
    scale, basis = np.linalg.eigh(prompts.Lambda)
    seen = scale > prompts.d * EPS * scale[-1]
    root, V = np.sqrt(scale[seen]), basis[:, seen]
    # Lambda S Lambda + C = R K R, R the root of Lambda: K is conditioned like Lambda, the product like its square
    K = (1 + 1 / prompts.n) * np.outer(root, root) * (V.T @ prompts.S @ V)
    K += np.eye(len(root)) * (np.trace(prompts.Lambda @ prompts.S) + prompts.sigma**2) / prompts.n
    solved = np.linalg.lstsq(K, root[:, None] * (V.T @ prompts.S), rcond=None)[0]
    return np.asarray((V / root @ solved).T)


def step_risk(prompts: Prompts, A: Matrix) -> Risk:
    """The exact risk of the prediction <x, A h>, h = (1/n) sum_i y_i x_i.

    Parameters
    ----------
    prompts
        The law of the test prompts; A may be optimal for another length, covariance or noise.
    A
        The preconditioner, (d, d).

    Returns
    -------
    Risk
        Its `value`, in units of y squared, and the parts that it is a sum of.

    Raises
    ------
    InvalidInput
        If `prompts` are not `Prompts`, or A is not a finite matrix of their size.

    Examples
    --------
    >>> here = Prompts(20, [1.0, 1.0], sigma=1.0)
    >>> risk = step_risk(here, best_step(here))
    >>> abs(risk.value - 2 * (1 - 20 / 24)) < 1e-15  # d (1 - n / (n + d + 1 + sigma^2))
    True
    """
    _require_prompts(prompts)
    A = np.array(rows("A", A))
    if A.shape != (prompts.d, prompts.d):
        raise InvalidInput(f"A has shape {A.shape}: a preconditioner for d = {prompts.d} is of shape (d, d).")
    Lambda, S, Q, C, I = prompts.Lambda, prompts.S, prompts.Q, prompts.spread, np.eye(prompts.d)  # noqa: E741
    E = A @ Lambda - I
    bias, variance = (float(np.trace(Q @ F @ M @ F.T)) for F, M in ((E, S), (A, C)))
    # every product of d terms rounds by d eps of its absolute value; only E is a difference
    unit = (prompts.d + 2) * EPS
    off, size = unit * (np.abs(A) @ np.abs(Lambda) + I), np.abs(E)
    moved = 2 * size @ np.abs(S) @ off.T + off @ np.abs(S) @ off.T
    absolute = size @ np.abs(S) @ size.T + np.abs(A) @ np.abs(C) @ np.abs(A).T
    return Risk(bias=bias, variance=variance, error=float(np.trace(np.abs(Q) @ (moved + 5 * unit * absolute))))


def preconditioned(A: Matrix, n: float) -> Layer:
    r"""The layer that takes a step with the preconditioner A.

    P = [[0, 0], [0, 1]] and Q = -[[A^T, 0], [0, 0]] / n: one layer predicts <x, A h>. Layers A_1, ..., A_L predict what
    L steps of gradient descent on (1/2n) sum_i (<w, x_i> - y_i)^2 from w = 0 do, so preconditioned.

    Parameters
    ----------
    A
        The preconditioner, (d, d).
    n
        Tokens of a context, > 0.

    Returns
    -------
    Layer
        One head.

    Raises
    ------
    InvalidInput
        If A is no square matrix.

    Source: Ahn, Cheng, Daneshmand, Sra, NeurIPS 2023, sections 3 and 4.

    Examples
    --------
    >>> preconditioned([[2.0]], n=4).Q.tolist()
    [[[-0.5, -0.0], [-0.0, -0.0]]]
    """
    A = np.array(rows("A", A))
    if A.shape != A.T.shape:
        raise InvalidInput(f"A has shape {A.shape}: its shape is (d, d).")
    P, Q = np.zeros((2, len(A) + 1, len(A) + 1))
    P[-1, -1], Q[:-1, :-1] = 1.0, A.T
    return Layer(P[None], -Q[None] / context_length(n))


class Drawn(NamedTuple):
    """Sampled prompts: sum_i e_i e_i^T of the tokens e = (x, y), (prompts, d + 1, d + 1), and w, (prompts, d)."""

    gram: Floats
    task: Floats


def draw_prompts(prompts: Prompts, count: int, seed: int, stream: str) -> Drawn:
    """`count` independent prompts with normal tasks; number j is a function of (prompts, seed, stream, j)."""
    _require_prompts(prompts)
    count, seed = whole("contexts", count, least=1), a_seed(seed)
    parts = [_chunk(prompts, generator(seed, stream, chunk)) for chunk in range(-(-count // CHUNK))]
    gram, task = (np.concatenate(part)[:count] for part in zip(*parts, strict=True))
    return Drawn(gram, task)


def sampled_risk(
    prompts: Prompts, model: Model, contexts: int, seed: int, stream: str = "risk", less: Model | None = None
) -> tuple[float, float]:
    """The risk of a model on sampled prompts, and the half-width of its 95 % interval; the mean over queries is exact.

    Parameters
    ----------
    prompts
        The law of the test prompts.
    model
        Layers, whose forward pass is computed; or a function of moments (prompts, d + 1, d + 1) that gives weights
        (prompts, d).
    contexts
        Number of prompts.
    less
        Another model, whose risk on the same prompts is subtracted, which resolves small differences.
    seed, stream
        Address of the random numbers.

    Returns
    -------
    tuple[float, float]
        The risk, in units of y squared, and the half-width.

    Raises
    ------
    InvalidInput
        If `prompts` are not `Prompts`, or a model, `contexts` or `seed` breaks its rule.
    OutOfReach
        If rare prompts rule the risk, so that no interval can be believed; see `mean_with_half_width`.

    Examples
    --------
    >>> here = Prompts(20, [1.0, 0.5], sigma=1.0)
    >>> value, half_width = sampled_risk(here, [preconditioned(best_step(here), 20)], contexts=4096, seed=0)
    >>> abs(value - step_risk(here, best_step(here)).value) < 2 * half_width
    True
    """
    _require_prompts(prompts)
    drawn = draw_prompts(prompts, contexts, seed, f"{stream}/{prompts.n}/{prompts.d}/{prompts.sigma:g}")
    losses = _losses(prompts, drawn, model)
    return mean_with_half_width(losses if less is None else losses - _losses(prompts, drawn, less))


def _require_prompts(prompts: Any) -> None:
    instance("prompts", prompts, Prompts, "build them with Prompts(n=..., covariance=...)")


def _losses(prompts: Prompts, drawn: Drawn, model: Model) -> Floats:
    """(v - w)^T Q (v - w) for the weights v that a model makes of each prompt."""
    if not callable(model) and not isinstance(model, Sequence):
        raise InvalidInput(f"model = {model!r}: give layers in a list, or a function that makes weights of moments.")
    v = model(drawn.gram) if callable(model) else readout(drawn.gram, model).w
    if np.shape(v) != drawn.task.shape:
        raise InvalidInput(f"model gives weights of shape {np.shape(v)} for moments of {drawn.task.shape} tasks.")
    return np.asarray(np.einsum("ci,ij,cj->c", v - drawn.task, prompts.Q, v - drawn.task))


def _chunk(prompts: Prompts, random: np.random.Generator) -> tuple[Floats, Floats]:
    task = random.standard_normal((CHUNK, prompts.d)) @ square_root(prompts.S)
    return random_moments(random, int(prompts.n), square_root(prompts.Lambda), task, prompts.sigma), task


def _semidefinite(name: str, value: Any) -> Rows:
    """A positive semidefinite matrix, from itself or from its diagonal, as rows."""
    if np.ndim(value) == 1:
        value = np.diag(numbers(name, value))
    matrix = np.array(rows(name, value))
    square = matrix.shape[0] == matrix.shape[1]
    allowed = 8 * len(matrix) * EPS * float(np.max(np.abs(matrix)))
    if not square or np.max(np.abs(matrix - matrix.T)) > allowed or np.linalg.eigvalsh(matrix)[0] < -allowed:
        raise InvalidInput(f"{name}: it must be symmetric and positive semidefinite; for A it is A @ A.T, say.")
    return rows(name, (matrix + matrix.T) / 2)
