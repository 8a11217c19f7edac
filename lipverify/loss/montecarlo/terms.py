r"""Loss terms by sampling whole contexts in R^d: nothing is shared with the exact method but the problem.

A context is a query, n tokens and a task direction. What is averaged in closed form is only what the
definition of the loss averages anyway: the label noise and the amplitudes of the law. One context gives

    noise sample  sigma^2 sum_i a_i^2                                              in sigma^2 [1/n, U(w)],
    bias sample   v sum_k (sum_i a_i h_k(<q, x_i>) - h_k(<q, x>))^2     in v [0, sum_k range(h_k)^2],

for every window on the same draws, U as in `sample_bounds`. Both are bounded, so their means have
intervals that hold for any number of contexts. Written for any array library of the array API standard:
draws are made on the host from addressed streams and moved to the device of `xp`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.loss.interval import block_means, bounded_mean
from lipverify.loss.streams import normals
from lipverify.loss.terms import LossTerms
from lipverify.problem import Problem
from lipverify.problem.law import as_ridge
from lipverify.problem.sphere import on_sphere

Floats = NDArray[np.float64]
Progress = Callable[[int, int], None]

CHUNK_COORDINATES = 2**20
"""Coordinates drawn at a time (8 MiB), or one context if that is more."""
LARGEST_CONTEXT = 2 * 10**8
MOST_SAMPLES = 2**17
"""Beyond this many contexts only means of blocks are kept, again independent and bounded: memory stops growing."""
DEFAULT_COORDINATES = 4 * 10**7
FIRST_CONTEXTS, MOST_CONTEXTS, MOST_COORDINATES = 4_000, 4_000_000, 4 * 10**9


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
        How many contexts to draw; by default about 4e7 coordinates' worth, 131072 at most.
    rtol
        Instead of `contexts`: double their number until both half-widths are below rtol times the value
        at every window. Look k is at fresh contexts and spends 0.05 / 2^k, so the final interval is valid.
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
        If a context does not fit, or `rtol` is not reached within 4 million contexts or 4e9 coordinates.
    """
    require_fit(problem)
    _validate(contexts, rtol)
    if rtol is not None:
        return _until(problem, w, rtol, seed, cell, xp, device, progress)
    affordable = round(DEFAULT_COORDINATES / (float(problem.n) * problem.d))
    count = min(MOST_SAMPLES, max(2, affordable)) if contexts is None else operator.index(contexts)
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


def sample_bounds(problem: Problem, w: Floats) -> tuple[Floats, Floats]:
    """(low, high) for the noise samples at each window and then the bias samples, in the units of `context_samples`.

    Cauchy: sum_i a_i^2 >= 1/n. Two weights differ by a factor e^{2w} at most, so by Kantorovich's inequality
    sum_i a_i^2 <= U(w) = min(1, cosh(w)^2 / n): at w = 0 and at n = 1 nothing is left to sample.
    The prediction lies between the extremes of each link, so the bias is at most sum_k range(h_k)^2.

    >>> from lipverify.laws import Affine
    >>> low, high = sample_bounds(Problem(d=3, n=4, law=Affine()), np.array([0.0, 9.0]))
    >>> low.tolist(), high.tolist()
    ([0.25, 0.25, 0.0, 0.0], [0.25, 1.0, 4.0, 4.0])
    """
    windows, n = np.ravel(w), float(problem.n)
    beyond = np.minimum(windows, 100.0)  # where U = 1 for every n that fits, and cosh is finite
    noise = np.minimum(1.0, np.cosh(beyond) ** 2 / n)
    bias = np.full_like(windows, sum(extent**2 for extent in as_ridge(problem.law, "Monte Carlo").extents()))
    return np.concatenate([np.full_like(windows, 1 / n), 0 * bias]), np.concatenate([noise, bias])


def _evaluate(problem: Problem, points: Any, windows: Any, xp: Any) -> tuple[Any, Any]:
    """Samples for contexts whose points are (query, direction, tokens)."""
    query, direction, tokens = points[:, 0, :], points[:, 1, :], points[:, 2:, :]
    t = xp.sum(tokens * query[:, None, :], axis=-1)
    law = as_ridge(problem.law, "Monte Carlo")
    links = law.links(xp.sum(tokens * direction[:, None, :], axis=-1), xp)
    targets = law.links(xp.sum(query * direction, axis=-1), xp)
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
    samples = context_samples(problem, w, contexts, seed, cell, xp, device)

    def counted() -> Iterator[Floats]:
        done = 0
        for noise, bias in samples:
            done += len(noise)
            if progress is not None:
                progress(done, contexts)
            yield np.concatenate([noise, bias], axis=1)

    means = block_means(counted(), size=-(-contexts // MOST_SAMPLES))
    value, error = bounded_mean(means, *sample_bounds(problem, w), level)
    scales = np.repeat([problem.sigma**2, as_ridge(problem.law, "Monte Carlo").amplitude_variance], np.size(w))
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
    most = min(MOST_CONTEXTS, MOST_COORDINATES // ((int(problem.n) + 2) * problem.d))
    contexts, miss = min(FIRST_CONTEXTS, most), 0.05
    while True:
        miss /= 2
        terms = _fixed(problem, w, contexts, 1 - miss, seed, f"{cell}/{contexts}", xp, device, progress)
        pairs = ((terms.noise, terms.noise_error), (terms.bias, terms.bias_error))
        # a term that is zero has an error of zero
        worst = max(float(np.max(error / np.where(value > 0, value, 1.0))) for value, error in pairs)
        if worst <= rtol:
            return terms
        if 2 * contexts > most:
            raise OutOfReach(
                f"rtol = {rtol}: with {contexts} contexts the half-width is {worst:.2g} of the value; "
                "ask for a larger rtol, or use method='exact'."
            )
        contexts *= 2


def _validate(contexts: int | None, rtol: float | None) -> None:
    if contexts is not None and rtol is not None:
        raise InvalidInput(f"contexts = {contexts} and rtol = {rtol}: give one of them.")
    if contexts is not None:
        require_contexts(contexts, 2)
    if rtol is not None and (not isinstance(rtol, int | float) or not 0 < rtol < 1):
        raise InvalidInput(f"rtol = {rtol!r}: the relative accuracy must lie between 0 and 1.")


def require_contexts(contexts: Any, least: int) -> None:
    """Refuse a number of contexts that is not an integer (Python's or NumPy's) >= `least`."""
    whole = isinstance(contexts, int | np.integer) and not isinstance(contexts, bool)
    if not whole or contexts < least:
        raise InvalidInput(f"contexts = {contexts!r}: the number of contexts must be an integer >= {least}.")


def require_fit(problem: Problem) -> None:
    """Refuse a problem of which one context is more than memory should hold."""
    if float(problem.n) * problem.d > LARGEST_CONTEXT:
        raise OutOfReach(
            f"n = {problem.n}, d = {problem.d}: sampling draws every token, and n d may be at most "
            f"{LARGEST_CONTEXT:.0e}; method='exact' has no such limit."
        )
