r"""One layer of linear attention: its exact risk and its best preconditioner, for any law of the covariates.

Tokens x_i of second moment Lambda, a task w with E w w^T = S, labels y_i = <w, x_i> + sigma eps_i, and a query x of
second moment Q. One layer of linear attention predicts <x, A h>, h = (1/n) sum_i y_i x_i: a step of gradient descent
with the preconditioner A (A / n where attention sums and does not divide by n). With E h w^T = Lambda S and

    E h h^T = Lambda S Lambda + C,    C = (E <x, S x> x x^T - Lambda S Lambda + sigma^2 Lambda) / n,

the risk E (<x, A h> - <x, w>)^2 is a bias and a variance, sums without cancellation,

    tr Q (A Lambda - I) S (A Lambda - I)^T + tr Q A C A^T,

and A* = S Lambda (Lambda S Lambda + C)^{-1} has the least of all A, whatever Q is. Only the second and fourth moments
of the covariates and S enter; k tasks, each as likely as the others, rows of W, are S = W^T W / k. Where x = R u and u
is rotation invariant, all is computed in the eigenbasis of R for u, which keeps small eigenvalues accurate.

Source: own derivation; for normal covariates Ahn et al., NeurIPS 2023, Theorem 1. Sampled prompts, which share none of
it, agree.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec
import numpy as np

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.arrays import EPS, Floats, Matrix
from lipverify.foundation.noted import makes
from lipverify.foundation.quoting import shown
from lipverify.linear_transformer.layer import Layer
from lipverify.problem.matrices import rows
from lipverify.problem.problem import context_length
from lipverify.problem.prompts import Prompts, require_prompts

SMALLEST = 1e-290
"""A smaller double has lost digits."""


class Risk(msgspec.Struct, frozen=True, kw_only=True):
    """The risk E (prediction - <x, w>)^2 as bias and variance, with a bound on the rounding error of their sum.

    Without the factor 1/2 that the losses of `evaluation` and those of some papers carry.
    """

    bias: float
    variance: float
    value: float
    error: float


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
        If `prompts` are none, their tasks are not linear, or a moment has no closed form or is infinite.

    Examples
    --------
    >>> round(float(best_step(Prompts(d=2, n=20, sigma=1.0))[0, 0]), 12)  # n / (n + d + 1 + sigma^2)
    0.833333333333
    """
    here = _moments(prompts)
    R, V, K = here.root, here.basis, here.signal + here.spread
    S = prompts.tasks.moments(prompts.d).second
    solved = np.linalg.lstsq(K, here.unit @ (R[:, None] * (V.T @ S)), rcond=None)[0]
    return np.asarray((V / R @ solved).T)


@makes("bounded", "exact")
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
        As `best_step`, or if A is not a finite matrix of their size.

    Examples
    --------
    >>> here = Prompts(d=2, n=20, sigma=1.0)
    >>> risk = step_risk(here, best_step(here))
    >>> abs(risk.value - 2 * (1 - 20 / 24)) < 1e-15  # d (1 - n / (n + d + 1 + sigma^2))
    True
    """
    here = _moments(prompts)
    A = np.array(rows("A", A))
    if A.shape != (prompts.d, prompts.d):
        raise InvalidInput(f"A has shape {A.shape}: a preconditioner for d = {prompts.d} is of shape (d, d).")
    S, Q = (law.moments(prompts.d).second for law in (prompts.tasks, prompts.query or prompts.covariates))
    I = np.eye(prompts.d)  # noqa: E741
    W = here.basis * here.root
    Lambda, C = W @ here.unit @ W.T, W @ here.spread @ W.T
    E = A @ Lambda - I
    bias, variance = (float(np.trace(Q @ F @ M @ F.T)) for F, M in ((E, S), (A, C)))
    # products of d terms round by d eps of their absolute value, four of them make Lambda; E and C are differences
    unit = (prompts.d + 2) * EPS
    off, size = 4 * unit * (np.abs(A) @ np.abs(W) @ np.abs(here.unit) @ np.abs(W).T + I), np.abs(E)
    moved = 2 * size @ np.abs(S) @ off.T + off @ np.abs(S) @ off.T
    terms = np.abs(W) @ here.terms @ np.abs(W).T
    absolute = size @ np.abs(S) @ size.T + np.abs(A) @ terms @ np.abs(A).T
    error = float(np.trace(np.abs(Q) @ (moved + 6 * unit * absolute)))
    return Risk(bias=bias, variance=variance, value=bias + variance, error=error)


class _Moments(NamedTuple):
    """Moments of u in the eigenbasis V of R, x = R u: E u u^T, those of h, and a bound on the terms of `spread`.

    E h h^T = V R (signal + spread) R V^T. Eigenvalues 0 of R are left out.
    """

    root: Floats
    basis: Floats
    unit: Floats
    signal: Floats
    spread: Floats
    terms: Floats


def _moments(prompts: Prompts) -> _Moments:
    require_prompts(prompts)
    if not prompts.linear:
        raise InvalidInput(f"tasks = {shown(prompts.tasks)}: one layer is exact for linear tasks; use prompts.risk.")
    S, x, n = prompts.tasks.moments(prompts.d).second, prompts.covariates.moments(prompts.d), prompts.n
    scale, V = np.linalg.eigh(x.root)
    seen = scale**2 > prompts.d * EPS * scale[-1] ** 2
    R, V = scale[seen], V[:, seen]
    # u is rotation invariant, or R is the identity: its moments are the same in this basis
    part = np.ix_(seen, seen)
    M, S_u = x.unit[part], np.zeros_like(S)
    S_u[part] = np.outer(R, R) * (V.T @ S @ V)
    F, terms, S_u = x.quartic(S_u)[part], (x.absolute or x.quartic)(np.abs(S_u))[part], S_u[part]
    if R.size and np.any(S) and not SMALLEST < np.trace(terms) < 1 / SMALLEST:
        size = f"fourth moments of covariates, times the tasks', of {np.trace(terms):.2g}"
        raise OutOfReach(f"{size}: they must lie between {SMALLEST:g} and its inverse; use another unit of x or y.")
    signal = M @ S_u @ M
    noise = prompts.noise.second_moment * M
    return _Moments(R, V, M, signal, (F - signal + noise) / n, (terms + np.abs(signal) + np.abs(noise)) / n)


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
