r"""Loss terms by sampling, each with a 95 % interval that is valid at every number of samples.

    noise = sigma^2 E sum_i a_i^2,    bias = v E sum_k (sum_i a_i f_k(x_i) - f_k(x))^2.

The label noise and the amplitudes of the law are averaged in closed form, so what is sampled is bounded. An
isotropic problem is reduced to two numbers a token; anything else, or `sampling="full"`, is drawn in R^d.
Written for any array library of the array API standard; draws come from addressed streams.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.loss.counts import whole
from lipverify.loss.montecarlo.accuracy import Progress, tally_of, until
from lipverify.loss.montecarlo.backend import NUMPY, Backend, backend_named
from lipverify.loss.montecarlo.full import Full
from lipverify.loss.montecarlo.fused import Fused, has_kernel
from lipverify.loss.montecarlo.linear import LinearAttention
from lipverify.loss.montecarlo.reduced import Reduced
from lipverify.loss.montecarlo.windows import grid_of
from lipverify.loss.terms import LossTerms
from lipverify.problem import Problem
from lipverify.problem.law import RidgeLaw

Floats = NDArray[np.float64]
Samples = Reduced | Full | LinearAttention

SAMPLINGS = ("reduced", "full")
ATTENTIONS = ("softmax", "linear")
LARGEST_CONTEXT = 10**10
"""Numbers drawn for one context: minutes."""
MOST_DRAWS = 10**12
"""Numbers drawn for one answer: hours."""
DEFAULT_DRAWS, DEFAULT_CONTEXTS = 4 * 10**7, 2**17
PILOT = 4_000


def montecarlo_terms(
    problem: Problem,
    w: Floats,
    *,
    M: Any = None,
    attention: str = "softmax",
    sampling: str | None = None,
    contexts: int | None = None,
    rtol: float | None = None,
    seed: int = 0,
    cell: str = "",
    backend: str = "numpy",
    xp: Any = None,
    device: Any = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> LossTerms:
    """Loss terms at every window in `w` from sampled contexts, all on the same draws.

    Parameters
    ----------
    problem, w
        As in `loss_terms`; any covariates, and any law whose functions can be drawn. A context may take 1e10
        numbers: two a token if reduced, else d.
    M
        A d x d matrix: scores are w x_i^T M x. The identity by default.
    attention
        "softmax", or "linear": predictions (1/n) sum_i y_i w x_i^T M x.
    sampling
        "reduced" (two numbers a token; isotropic ridge laws with M = w I) or "full" (whole contexts in R^d). By
        default the first where it applies.
    contexts
        How many contexts to draw; by default about 4e7 numbers' worth, 131072 at most. Reduced sampling draws
        them in bundles of four that share their tokens.
    rtol
        Instead of `contexts`: draw as many as make both half-widths smaller than rtol times the value at
        every window. The intervals stay valid, see `until`.
    seed, cell
        Address of the random numbers.
    backend
        "numpy"; "native": a kernel made by the C compiler of this machine, for named laws; "cupy": a GPU. The
        points are the same.
    xp, device
        Instead of `backend`: any namespace of the array API standard, and a device of it.
    workers
        Threads; they change nothing but the time.
    progress
        Called with (contexts done, contexts wanted).

    Returns
    -------
    LossTerms
        Means, with the half-widths of 95 % betting intervals as errors.

    Raises
    ------
    InvalidInput
        If an option breaks its rule, or both `contexts` and `rtol` are given.
    OutOfReach
        If a context is too large, or `rtol` needs more than 1e12 numbers.
    """
    _validate(contexts, rtol)
    whole("workers", workers, 1)
    whole("seed", seed, 0)
    matrix = _matrix(M, problem.d)
    sampling = _sampling(problem, matrix, attention, sampling)
    require_fit(problem, sampling)
    if np.size(w) == 0:
        return LossTerms(problem=problem, method="montecarlo", w=w, noise=w, bias=w, noise_error=w, bias_error=w)
    where = backend_named(backend) if xp is None else Backend(xp, device)

    def at(address: str) -> Samples:
        return sampler(problem, np.ravel(w), matrix, attention, sampling, seed, address, where)

    first = at(cell)
    share = first.contexts_a_sample
    draws = float(problem.n) * (2 / share if sampling == "reduced" else problem.d)
    shown = None if progress is None else lambda done, total: progress(share * done, share * total)
    if rtol is None:
        wanted = contexts if contexts is not None else min(DEFAULT_CONTEXTS, round(share * DEFAULT_DRAWS / draws))
        value, error = tally_of(first, max(2, -(-wanted // share)), shown, workers).interval()
    else:
        pilot = min(PILOT, max(2, round(DEFAULT_DRAWS / draws)))
        value, error = until(lambda look: at(f"{cell}/{look}"), rtol, pilot, round(MOST_DRAWS / draws), shown, workers)
    scales = np.repeat([problem.sigma**2, first.unit], np.size(w))
    noise, bias = np.reshape(scales * value, (2, *np.shape(w)))
    noise_error, bias_error = np.reshape(scales * error, (2, *np.shape(w)))
    return LossTerms(
        problem=problem,
        method="montecarlo",
        w=w,
        noise=noise,
        bias=bias,
        noise_error=noise_error,
        bias_error=bias_error,
    )


def sampler(
    problem: Problem,
    w: Floats,
    M: Floats | None = None,
    attention: str = "softmax",
    sampling: str = "full",
    seed: int = 0,
    cell: str = "",
    backend: Backend = NUMPY,
) -> Samples:
    """Samples of both terms on a grid of windows, by chunks."""
    if M is not None and np.any(M):  # the size of M is the window's, so that neither is beyond reason alone
        size = float(np.linalg.norm(M, 2))
        M, w = M / size, size * w
    if attention == "linear":
        return LinearAttention(problem, w, M, seed, cell, backend)
    if sampling == "reduced":
        kind = Fused if backend.kernel is not None and has_kernel(problem) else Reduced
        return kind(problem, grid_of(w), seed, cell, backend)
    return Full(problem, w, M, seed, cell, backend)


def _sampling(problem: Problem, M: Floats | None, attention: str, sampling: str | None) -> str:
    """The kind of sampling that was asked for, or the cheaper one that applies."""
    if attention not in ATTENTIONS:
        raise InvalidInput(f"attention = {attention!r} is not known; choose one of: {', '.join(ATTENTIONS)}.")
    reducible = problem.isotropic and isinstance(problem.law, RidgeLaw) and M is None and attention == "softmax"
    if sampling is None:
        return "reduced" if reducible else "full"
    if sampling not in SAMPLINGS:
        raise InvalidInput(f"sampling = {sampling!r} is not known; choose one of: {', '.join(SAMPLINGS)}.")
    if sampling == "reduced" and not reducible:
        raise InvalidInput("sampling = 'reduced' needs the sphere, a ridge law, softmax and no M; use sampling='full'.")
    return sampling


def _matrix(M: Any, d: int) -> Floats | None:
    """M as a d x d array of finite doubles."""
    if M is None:
        return None
    try:
        matrix = np.asarray(M).astype(np.float64, casting="safe" if np.iscomplexobj(M) else "unsafe")
    except (TypeError, ValueError):
        matrix = np.empty(0)
    if matrix.shape != (d, d) or not np.all(np.isfinite(matrix)):
        raise InvalidInput(f"M has the shape {np.shape(M)}: it must be a {d} x {d} matrix of finite real numbers.")
    return matrix


def _validate(contexts: int | None, rtol: float | None) -> None:
    if contexts is not None and rtol is not None:
        raise InvalidInput(f"contexts = {contexts} and rtol = {rtol}: give one of them.")
    if contexts is not None:
        whole("contexts", contexts, 2)
    if rtol is not None and (isinstance(rtol, bool) or not isinstance(rtol, int | float) or not 0 < rtol < 1):
        raise InvalidInput(f"rtol = {rtol!r}: the relative accuracy must lie between 0 and 1.")


def require_fit(problem: Problem, sampling: str = "full") -> None:
    """Refuse a problem of which one context takes too long."""
    numbers = float(problem.n) * (2 if sampling == "reduced" else problem.d)
    if numbers > LARGEST_CONTEXT:
        raise OutOfReach(
            f"n = {problem.n}, d = {problem.d}: sampling draws every token, {numbers:.0e} numbers a context of at most "
            f"{LARGEST_CONTEXT:.0e}; method='exact' has no such limit."
        )
