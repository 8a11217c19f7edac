r"""Loss terms by sampling, each with a 95 % interval that is valid at every number of samples.

    noise = sigma^2 E sum_i a_i^2,    bias = v E sum_k (sum_i a_i f_k(x_i) - f_k(x))^2.

The label noise and the amplitudes of the law are averaged in closed form, so samples are bounded. A ridge law on the
sphere is reduced to two numbers per token; everything else, or `sampling="full"`, is drawn in R^d. The code works with
any library of the array API standard; draws come from addressed streams.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, get_args

import numpy as np

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.arrays import Floats, Matrix
from lipverify.foundation.means.betting import Tally
from lipverify.foundation.means.checked import CheckedTally, NormalTally
from lipverify.foundation.quoting import shown, warn_caller
from lipverify.foundation.validation import LARGEST, a_seed, chosen, function, number, whole
from lipverify.loss.attention import attention_for
from lipverify.loss.kernels import Kernel, kernel_for
from lipverify.loss.montecarlo.accuracy import tally_of, until
from lipverify.loss.montecarlo.backend import NUMPY, Backend, backend_of
from lipverify.loss.montecarlo.fields import Fields
from lipverify.loss.montecarlo.full import Full, KernelAttention, LinearAttention
from lipverify.loss.montecarlo.reduced import Fused, Reduced, is_compiled
from lipverify.loss.montecarlo.windows import grid_of
from lipverify.loss.terms import AttentionName, BackendName, IntervalName, LossTerms, Sampling
from lipverify.loss.work import Progress
from lipverify.problem import Problem
from lipverify.problem.fields import variation_of
from lipverify.problem.law import RidgeLaw, summands

Samples = Reduced | Full | Fields | LinearAttention | KernelAttention

SAMPLINGS: tuple[Sampling, ...] = get_args(Sampling)
INTERVALS: dict[IntervalName, type[Tally]] = {"checked": CheckedTally, "betting": Tally, "normal": NormalTally}
MANY_DRAWS = 10**10
"""Minutes of work: the most numbers drawn for one context, and those above which a call without `progress` warns."""
MOST_DRAWS = 10**12
"""Most numbers drawn for one result: hours of work."""
DEFAULT_DRAWS, DEFAULT_CONTEXTS = 4 * 10**7, 2**17
"""Numbers, half a second of work, and most contexts that are drawn without `contexts` and `rtol`."""


def montecarlo_terms(
    problem: Problem,
    w: Floats,
    *,
    M: Matrix | None = None,
    attention: AttentionName | Kernel = "softmax",
    sampling: Sampling | None = None,
    contexts: int | None = None,
    rtol: float | None = None,
    interval: IntervalName = "checked",
    seed: int = 0,
    stream: str = "",
    backend: BackendName | None = None,
    kernels: bool = True,
    xp: Any = None,
    device: Any = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> LossTerms:
    """Loss terms at every value in `w` from sampled contexts; all w use the same draws.

    Parameters
    ----------
    problem, w
        As in `loss_terms`; any covariates, and any law whose functions can be drawn or whose covariance or variogram is
        known; in the second case f at the n + 1 points of a context is averaged in closed form, for n up to 10^4. A
        context may take 1e10 numbers: two per token if reduced, else d; for a law given by K or V four per pair of
        tokens, with n^2 pairs, or for n above 64 at most 8 n pairs for each w.
    M
        A d x d matrix: scores are w x_i^T M x. The identity by default.
    attention
        "softmax", "linear" (predictions (1/n) sum_i y_i w x_i^T M x) or a kernel of `lipverify.attention`, for tokens
        on the sphere and M the identity.
    sampling
        "reduced" (two numbers per token; for ridge laws, tokens on the sphere and M the identity) or "full" (whole
        contexts in R^d). By default "reduced" if it applies.
    contexts
        Number of contexts; by default those of about 4e7 numbers, 131072 at most. Reduced sampling draws them in
        bundles of four that share their tokens.
    rtol
        Instead of `contexts`: draw until both half-widths are smaller than rtol times the value at every w. The
        intervals stay valid, see `until`.
    interval
        "checked": normal, but at least as wide as the shift of the mean by an event that the samples may have missed,
        whose size is known from the bounds of the law; betting where the samples contradict a normal interval. `reason`
        states which. "betting": valid at every number of samples and for any distribution within the bounds of the law,
        and 1.4 to 1.6 times as wide, or far more if samples are much smaller than their bound. "normal": mean and 1.96
        standard errors; it assumes that the mean is normal and that the sampled variance is the true one, which no
        number of samples can show, and it is refused if the samples contradict this (`NormalTally`). It is the only
        choice if there is no bound (unbounded covariates).
    seed, stream
        Address of the random numbers. It is an integer and no generator (the `rng` of SciPy's SPEC 7): every stream has
        an address, so no result depends on what was drawn before it.
    backend
        "numpy" (default); "native": code compiled by the C compiler of this machine, for named laws; "cupy": a GPU.
        All draw the same points.
    kernels
        False for array operations alone, to compare the two; random numbers are still drawn on the device.
    xp, device
        Instead of `backend`: any namespace of the array API standard, and a device of it.
    workers
        Number of threads; it changes only the time. A GPU takes one.
    progress
        Called with (contexts done, contexts in all).

    Returns
    -------
    LossTerms
        Means, with the half-widths of 95 % intervals as errors.

    Raises
    ------
    InvalidInput
        If an option breaks its rule, both `contexts` and `rtol` are given, or a betting interval is requested for
        unbounded samples.
    OutOfReach
        If a context is too large, `contexts` or `rtol` need more than 1e12 numbers, or the samples contradict a normal
        interval. A call that takes minutes warns, unless `progress` is given.
    """
    _validate(contexts, rtol, progress)
    kind = INTERVALS[chosen("interval", interval, INTERVALS)]
    whole("workers", workers, 1, most=4096)
    where = backend_of(backend, xp, device, workers, kernels)
    a_seed(seed)
    matrix = matrix_of(M, problem.d)
    sampling = _sampling(problem, matrix, attention, sampling)
    require_fit(problem, sampling)
    record = partial(LossTerms, problem=problem, method="montecarlo", w=w, error_kind="sampled")
    if np.size(w) == 0:
        return record(noise=w, bias=w, noise_error=w, bias_error=w)

    def at(address: str) -> Samples:
        return sampler(problem, np.ravel(w), matrix, attention, sampling, seed, address, where)

    with where.at_work():
        first = at(stream)
        if kind is not NormalTally:
            _require_bounds(first, problem)
        units = [problem.sigma * problem.sigma, first.unit]
        if not max(units) < math.inf:
            rule = "the squares of sigma and of the law's values must be doubles; give both in a larger unit"
            raise OutOfReach(f"sigma = {problem.sigma:g}, law = {problem.law.name}: {rule}.")
        share = first.contexts_a_sample
        draws = numbers_of(first, problem)
        report = None if progress is None else lambda done, total: progress(share * done, share * total)
        if contexts is not None:
            require_affordable(contexts, draws, "progress= follows them", progress is not None)
        if rtol is None:
            count = contexts if contexts is not None else min(DEFAULT_CONTEXTS, round(share * DEFAULT_DRAWS / draws))
            tally = tally_of(first, max(2, -(-count // share)), report, workers, kind)
            value, error = tally.interval()
        else:
            pilot = min(4_000, max(2, round(DEFAULT_DRAWS / draws)))
            value, error, tally = until(
                lambda look: at(f"{stream}/{look}"), rtol, pilot, round(MOST_DRAWS / draws), report, workers, kind
            )
        said = tally.says(error, [f"{term} at w = {at:g}" for term in ("noise", "bias") for at in np.ravel(w)])
        scales = np.repeat(units, np.size(w))
    noise, bias = np.reshape(scales * value, (2, *np.shape(w)))
    noise_error, bias_error = np.reshape(scales * error, (2, *np.shape(w)))
    return record(noise=noise, bias=bias, noise_error=noise_error, bias_error=bias_error, reason=said)


def sampler(
    problem: Problem,
    w: Floats,
    M: Floats | None = None,
    attention: str | Kernel = "softmax",
    sampling: str = "full",
    seed: int = 0,
    stream: str = "",
    backend: Backend = NUMPY,
) -> Samples:
    """The sampler of both terms on a grid of w."""
    if M is not None and np.any(M):  # move the size of M to w, so that neither over- nor underflows by itself
        size = float(np.linalg.norm(M, 2))
        M, w = M / size, size * w
    address: dict[str, Any] = {"seed": seed, "stream": stream, "backend": backend}
    if isinstance(attention, Kernel):
        kernel_for(attention, problem, w, M)
        return KernelAttention(problem, w, kernel=attention, **address)
    if attention == "linear":
        return LinearAttention(problem, w, M, **address)
    if sampling == "reduced":
        kind = Fused if backend.compiled is not None and is_compiled(problem.law) else Reduced
        return kind(problem, grid_of(w), **address)
    if any(variation_of(part, problem.d) is not None for _, part in summands(problem.law)):
        return Fields(problem, w, M, **address)
    return Full(problem, w, M, **address)


def _sampling(problem: Problem, M: Floats | None, attention: str | Kernel, sampling: Sampling | None) -> Sampling:
    """The requested kind of sampling, or the cheapest that applies."""
    if not isinstance(attention, Kernel):
        chosen("attention", attention, get_args(AttentionName))
        attention_for(attention, problem.law)
    reducible = isinstance(problem.law, RidgeLaw) and problem.isotropic and M is None and attention == "softmax"
    if sampling is None:
        return "reduced" if reducible else "full"
    if chosen("sampling", sampling, SAMPLINGS) == "reduced" and not reducible:
        raise InvalidInput(
            "sampling = 'reduced' needs softmax, M = w I, tokens on the sphere and a ridge law; use sampling='full'."
        )
    return sampling


def matrix_of(M: Any, d: int) -> Floats | None:
    """M as a d x d array of finite doubles."""
    if M is None:
        return None
    try:
        matrix = np.asarray(M).astype(np.float64, casting="safe" if np.iscomplexobj(M) else "unsafe")
    except (TypeError, ValueError, OverflowError):
        matrix = np.empty(0)
    if matrix.shape != (d, d) or not np.all(np.isfinite(matrix)):
        raise InvalidInput(f"M = {shown(M)}: it must be a {d} x {d} matrix of finite real numbers.")
    return matrix


def _require_bounds(drawn: Samples, problem: Problem) -> None:
    if not np.all(np.isfinite(drawn.bounds())):
        raise InvalidInput(
            f"covariates = {problem.covariates.name}, law = {problem.law.name}: nothing bounds the error of a context, "
            "so that no interval is valid at every number of samples; give the bounds of your law, such as "
            "lipverify.laws.Sampled(..., magnitude=...) for linear attention, or interval='normal', which says what it "
            "assumes."
        )


def numbers_of(drawn: Samples, problem: Problem) -> float:
    """Cost of a context in units of a drawn number."""
    if isinstance(drawn, Fields):
        return drawn.numbers
    return float(problem.n) * (2 / drawn.contexts_a_sample if isinstance(drawn, Reduced) else problem.d)


def require_affordable(contexts: int, draws: float, advice: str, followed: bool = False) -> None:
    """Refuse work of hours, and warn of work of minutes, with advice."""
    numbers = contexts * draws if contexts < LARGEST else math.inf
    cost = f"contexts = {shown(contexts)}: {numbers:.0e} numbers would be drawn or worked out"
    if numbers > MOST_DRAWS:
        raise OutOfReach(f"{cost}, at most {MOST_DRAWS:.0e}; ask for fewer, or for an accuracy by rtol.")
    if numbers > MANY_DRAWS and not followed:
        minutes = numbers / 10**8 / 60  # one processor draws and weights 10^8 a second, within a factor of three
        warn_caller(f"{cost}, some {minutes:.0f} minutes on one processor; {advice}.")


def _validate(contexts: int | None, rtol: float | None, progress: Progress | None) -> None:
    if progress is not None:
        function("progress", progress, "(contexts done, contexts wanted)")
    if contexts is not None and rtol is not None:
        raise InvalidInput(f"contexts = {shown(contexts)} and rtol = {shown(rtol)}: give one of them.")
    if contexts is not None:
        whole("contexts", contexts, 2)
    if rtol is not None:
        number("rtol", rtol, "the relative accuracy", above=0, below=1)


def require_fit(problem: Problem, sampling: str = "full") -> None:
    """Refuse a problem if a single context takes too long."""
    numbers = float(problem.n) * (2 if sampling == "reduced" else problem.d)
    if numbers > MANY_DRAWS:
        raise OutOfReach(
            f"n = {problem.n}, d = {problem.d}: sampling draws every token, {numbers:.0e} numbers a context of at most "
            f"{MANY_DRAWS:.0e}; method='exact' has no such limit."
        )
