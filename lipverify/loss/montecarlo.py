r"""Loss terms by sampling whole contexts in R^d: nothing is shared with the exact method but the problem.

A context is a query, n tokens and a task direction. What is averaged in closed form is only what the
definition of the loss averages anyway: the label noise and the amplitudes of the law. One context gives

    noise sample  sigma^2 sum_i a_i^2                                              in sigma^2 [0, 1],
    bias sample   v sum_k (sum_i a_i h_k(<q, x_i>) - h_k(<q, x>))^2     in v [0, sum_k range(h_k)^2],

for every window on the same draws. Both are bounded, so their means have intervals that hold at any
sample size. Written for any array library of the array API standard: draws are made on the host from
addressed streams and moved to the device of `xp`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.loss.interval import betting_interval
from lipverify.loss.streams import normals
from lipverify.loss.terms import LossTerms
from lipverify.problem import Problem
from lipverify.problem.sphere import on_sphere

Floats = NDArray[np.float64]
Progress = Callable[[int, int], None]

CHUNK_COORDINATES = 2**20
"""Coordinates drawn at a time (8 MiB): memory does not grow with the number of contexts."""
LARGEST_CONTEXT = 2 * 10**8
MOST_SAMPLES = 2**17
"""Contexts are averaged in blocks beyond this many; block means are again independent and bounded."""
DEFAULT_COORDINATES = 4 * 10**7
FIRST_CONTEXTS, MOST_CONTEXTS = 4_000, 4_000_000


def montecarlo_terms(
    problem: Problem,
    w: Floats,
    *,
    contexts: int | None = None,
    rtol: float | None = None,
    seed: int = 0,
    cell: str = "",
    xp: Any = np,
    device: Any = None,
    progress: Progress | None = None,
) -> LossTerms:
    """Loss terms at every window in `w` from sampled contexts.

    Parameters
    ----------
    problem, w
        As in `loss_terms`; n d <= 2e8.
    contexts
        How many contexts to draw; by default about 4e7 coordinates' worth.
    rtol
        Instead of `contexts`: double their number until both half-widths are below rtol times the value
        at every window. Level 0.95 is spent over the doublings, so the final interval is valid.
    seed, cell
        Address of the random numbers.
    xp, device
        Array namespace and device on which contexts are evaluated.
    progress
        Called with (contexts done, contexts wanted).

    Returns
    -------
    LossTerms
        Means, with the half-widths of 95 % betting intervals as errors.

    Raises
    ------
    InvalidInput
        If `contexts` < 2, `rtol` is not in (0, 1), or both are given.
    OutOfReach
        If a context does not fit, or `rtol` is not reached within 4 million contexts.
    """
    _validate(problem, contexts, rtol)
    if rtol is not None:
        return _until(problem, w, rtol, seed, cell, xp, device, progress)
    count = contexts or max(2, round(DEFAULT_COORDINATES / (float(problem.n) * problem.d)))
    return _fixed(problem, w, count, 0.95, seed, cell, xp, device, progress)


def context_samples(
    problem: Problem,
    w: Floats,
    contexts: int,
    seed: int,
    cell: str,
    xp: Any = np,
    device: Any = None,
) -> Iterator[tuple[Floats, Floats]]:
    """Noise and bias samples in units of sigma^2 and of the amplitude variance, chunk by chunk: (context, w)."""
    n, d = int(problem.n), problem.d
    at_once = max(1, CHUNK_COORDINATES // ((n + 2) * d))
    windows = xp.asarray(np.ravel(w), device=device)
    for chunk, first in enumerate(range(0, contexts, at_once)):
        # a chunk is always drawn whole, so that its numbers do not depend on how many are wanted
        draws = normals(seed, cell, chunk, (at_once, n + 2, d))[: contexts - first]
        points = on_sphere(xp.asarray(draws, device=device), xp)
        noise, bias = _evaluate(problem, points, windows, xp)
        yield _to_host(noise), _to_host(bias)


def _evaluate(problem: Problem, points: Any, windows: Any, xp: Any) -> tuple[Any, Any]:
    """Samples for contexts whose points are (query, direction, tokens)."""
    query, direction, tokens = points[:, 0, :], points[:, 1, :], points[:, 2:, :]
    t = xp.sum(tokens * query[:, None, :], axis=-1)
    links = problem.law.links(xp.sum(tokens * direction[:, None, :], axis=-1), xp)
    targets = problem.law.links(xp.sum(query * direction, axis=-1), xp)
    nearest = xp.max(t, axis=-1, keepdims=True)
    noise, bias = [], []
    for j in range(windows.shape[0]):
        g = xp.exp(windows[j] * (t - nearest))
        a = g / xp.sum(g, axis=-1, keepdims=True)
        noise.append(xp.sum(a * a, axis=-1))
        errors = [xp.sum(a * h, axis=-1) - target for h, target in zip(links, targets, strict=True)]
        bias.append(sum(error * error for error in errors))
    return xp.stack(noise, axis=-1), xp.stack(bias, axis=-1)


def _to_host(array: Any) -> Floats:
    """A NumPy array from any library's."""
    if hasattr(array, "get"):  # CuPy
        return np.asarray(array.get())
    if hasattr(array, "to_device") and not isinstance(array, np.ndarray):
        namespace = array.__array_namespace__()
        array = array.to_device(getattr(namespace, "Device", str)("CPU_DEVICE"))
    return np.asarray(array)


def _fixed(
    problem: Problem,
    w: Floats,
    contexts: int,
    level: float,
    seed: int,
    cell: str,
    xp: Any,
    device: Any,
    progress: Progress | None,
) -> LossTerms:
    """Means over a given number of contexts."""
    block = -(-contexts // MOST_SAMPLES)
    noise, bias, done = [], [], 0
    for chunk_noise, chunk_bias in context_samples(problem, w, contexts, seed, cell, xp, device):
        noise.append(chunk_noise)
        bias.append(chunk_bias)
        done += len(chunk_noise)
        if progress is not None:
            progress(done, contexts)
    bound = sum(extent**2 for extent in problem.law.link_ranges)
    noise_mean, noise_error = _interval(_blocks(noise, block), 1.0, level)
    bias_mean, bias_error = _interval(_blocks(bias, block), bound, level)
    sigma2, v = problem.sigma**2, problem.law.amplitude_variance
    shape = np.shape(w)
    return LossTerms(
        problem=problem,
        method="montecarlo",
        w=w,
        noise=np.reshape(sigma2 * noise_mean, shape),
        bias=np.reshape(v * bias_mean, shape),
        noise_error=np.reshape(sigma2 * noise_error, shape),
        bias_error=np.reshape(v * bias_error, shape),
    )


def _blocks(chunks: list[Floats], block: int) -> Floats:
    """Means of `block` successive samples; the last few that do not fill a block are left out."""
    samples = np.concatenate(chunks)
    whole = len(samples) // block * block
    return samples[:whole].reshape(whole // block, block, -1).mean(axis=1)


def _interval(samples: Floats, bound: float, level: float) -> tuple[Floats, Floats]:
    """Mean of samples in [0, bound] and the half-width that makes mean +- half-width cover the interval."""
    mean = np.array([math.fsum(column) / len(samples) for column in samples.T])
    constant = np.ptp(samples, axis=0) <= 4 * np.finfo(float).eps * np.abs(mean)
    low, high = betting_interval(samples / bound, level)
    half_width = np.maximum(bound * high - mean, mean - bound * low)
    # at w = 0 or n = 1 the weights do not vary, and a noise that cannot vary needs no interval
    return mean, np.where(constant, 4 * np.finfo(float).eps * np.abs(mean), half_width)


def _until(
    problem: Problem,
    w: Floats,
    rtol: float,
    seed: int,
    cell: str,
    xp: Any,
    device: Any,
    progress: Progress | None,
) -> LossTerms:
    """Double the contexts until the intervals are narrow; look k spends level 0.05 / 2^k."""
    contexts, miss = FIRST_CONTEXTS, 0.05
    while True:
        miss /= 2
        terms = _fixed(problem, w, contexts, 1 - miss, seed, f"{cell}/{contexts}", xp, device, progress)
        reached = [
            float(np.max(error / np.where(value > 0, value, 1.0)))
            for value, error in ((terms.noise, terms.noise_error), (terms.bias, terms.bias_error))
        ]
        if max(reached) <= rtol:
            return terms
        contexts *= 2
        if contexts > MOST_CONTEXTS:
            raise OutOfReach(
                f"rtol = {rtol}: after {contexts // 2} contexts the half-width is {max(reached):.2g} of the value; "
                "ask for a larger rtol, or use method='exact'."
            )


def _validate(problem: Problem, contexts: int | None, rtol: float | None) -> None:
    if contexts is not None and rtol is not None:
        raise InvalidInput(f"contexts = {contexts} and rtol = {rtol}: give one of them.")
    if contexts is not None and (isinstance(contexts, bool) or not isinstance(contexts, int) or contexts < 2):
        raise InvalidInput(f"contexts = {contexts!r}: the number of contexts must be an integer >= 2.")
    if rtol is not None and not 0 < rtol < 1:
        raise InvalidInput(f"rtol = {rtol!r}: the relative accuracy must lie between 0 and 1.")
    if float(problem.n) * problem.d > LARGEST_CONTEXT:
        raise OutOfReach(
            f"n = {problem.n}, d = {problem.d}: sampling draws every token, and n d may be at most "
            f"{LARGEST_CONTEXT:.0e}; method='exact' has no such limit."
        )
