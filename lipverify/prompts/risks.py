"""The risk of any predictor on sampled prompts, with an interval that is valid or a refusal."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.arrays import Floats, to_device, to_host
from lipverify.foundation.means.checked import WAYS_OUT, mean_with_half_width
from lipverify.foundation.means.samples import ROUNDING, normal_half_width
from lipverify.foundation.noted import makes
from lipverify.foundation.quoting import shown
from lipverify.foundation.sphere import on_sphere
from lipverify.foundation.streams import generator
from lipverify.foundation.validation import a_seed, function, number, whole
from lipverify.problem.covariates import Gaussian
from lipverify.problem.prompts import Drawn, Prompts, require_prompts
from lipverify.problem.vectors import Coordinates, Pool
from lipverify.prompts.predictors import Predictor

POWERS = (4, 16)
"""Degrees in sum x x^T of the losses for which its large eigenvalues are drawn: k steps of gradient descent have 2 k.
At n = 8, d = 5 six steps are refused with 8 alone, and with 2, 4, 8, 16 least squares gets too few of its prompts."""
MOST = 10**12
"""Numbers of all prompts, at most: hours."""
FEW = 4
"""Prompts that a predictor is asked for again, alone and in another order."""
Answers = tuple[Any, tuple[Any, ...], Floats]
"""A model, or its function of weights, what it was called with, and what it returned."""
FARTHEST = 2.0
"""Half-widths by which a sampled mean may miss a known one: normal ones do so once in 11,000 times."""
SAME = 1e-5
"""How much their predictions may differ, in units of labels and predictions: single precision rounds by 1e-7."""


@makes("sampled", "montecarlo")
def risk(
    prompts: Prompts,
    predictor: Predictor,
    contexts: int = 20_000,
    seed: int = 0,
    stream: str = "risk",
    less: Predictor | None = None,
    most: float | None = None,
    xp: Any = np,
    device: Any = None,
) -> tuple[float, float]:
    r"""E (prediction - f(x))^2 over prompts, and the half-width of its 95 % interval.

    For linear tasks and a predictor that gives its weights the mean over the query is exact. If covariates are normal
    too, prompts where sum x x^T has a small or a large eigenvalue are drawn more often, and weights make up for it:
    there least squares and steps of gradient descent err most. Elsewhere sampled means of f(x)^2 and |x_i|^4 that
    miss those of the law widen the interval, or are refused: rare prompts are missing there too.

    Parameters
    ----------
    prompts
        The law of the prompts.
    predictor
        A function (x, y, query) -> predictions of arrays (C, n, d), (C, n), (C, d) -> (C,), such as one of
        `lipverify.prompts.predictors`.
    contexts
        Number of prompts.
    seed, stream
        Address of the random numbers.
    less
        Another predictor, whose risk on the same prompts is subtracted, which resolves small differences.
    most
        A cap c > 0: the risk E min((prediction - f(x))^2, c) instead, whose interval is valid however rare the prompts
        are that rule it.
    xp, device
        The array library, of the array API standard, and device of the arrays that predictors get; NumPy by default.

    Returns
    -------
    tuple[float, float]
        The risk, in units of y squared, and the half-width.

    Raises
    ------
    InvalidInput
        If an argument breaks its rule, or the predictor returns another shape, numbers that are not finite, or other
        predictions for the same prompts in another batch.
    OutOfReach
        If rare prompts rule the risk, so that no interval can be believed; see `mean_with_half_width`.

    Examples
    --------
    >>> from lipverify.prompts import predictors
    >>> here = Prompts(d=2, n=10, sigma=1.0)
    >>> value, half_width = risk(here, predictors.ridge(0.0))
    >>> abs(value - 2 / (10 - 2 - 1)) < 2 * half_width  # d sigma^2 / (n - d - 1)
    True
    """
    models = _models(predictor, less)
    losses = _losses(prompts, models, contexts, seed, stream, most, xp=xp, device=device)
    return _interval(prompts, models, losses, most)


@makes("sampled", "montecarlo")
def risk_curve(
    prompts: Prompts,
    predictor: Predictor,
    lengths: Sequence[int],
    contexts: int = 20_000,
    seed: int = 0,
    stream: str = "risk",
    less: Predictor | None = None,
) -> tuple[Floats, Floats]:
    """The risk at each length of the context, on the first tokens of the same prompts, and the half-widths.

    Parameters
    ----------
    prompts
        The law of the prompts; its n is replaced.
    predictor, contexts, seed, stream, less
        As for `risk`.
    lengths
        Numbers of tokens, each >= 1.

    Returns
    -------
    tuple
        Two arrays, (lengths,). Each interval is one of 95 % by itself.

    Raises
    ------
    InvalidInput, OutOfReach
        As `risk`.

    Examples
    --------
    >>> from lipverify.prompts import predictors
    >>> from lipverify.covariates import Sphere
    >>> here = Prompts(d=2, n=1, covariates=Sphere())
    >>> values, half_widths = risk_curve(here, predictors.nearest_neighbours(1), [5, 50])
    >>> bool(values[1] < values[0])
    True
    """
    counts = [whole("lengths", n, 1) for n in np.atleast_1d(lengths).tolist()]
    if not counts:
        raise InvalidInput("lengths = []: give at least one number of tokens.")
    longest, models = require_prompts(prompts).replace(n=max(counts)), _models(predictor, less)
    losses = (_losses(longest, models, contexts, seed, stream, tokens=n) for n in counts)
    values, half_widths = np.array([_interval(longest, models, each) for each in losses]).T
    return values, half_widths


@makes("sampled", "montecarlo")
def probability(
    prompts: Prompts,
    predictor: Predictor,
    within: float,
    contexts: int = 20_000,
    seed: int = 0,
    stream: str = "risk",
    less: Predictor | None = None,
) -> tuple[float, float]:
    r"""P((prediction - f(x))^2 <= within), for claims "with probability at least 1 - delta", and its half-width.

    The interval contains that of Clopper and Pearson, so that it is valid at every number of prompts.

    Parameters
    ----------
    prompts, predictor, contexts, seed, stream, less
        As for `risk`; with `less`, the probability that the squared error exceeds the other's by `within` at most.
    within
        The threshold, in units of y squared.

    Returns
    -------
    tuple[float, float]
        The middle of the interval and half its width.

    Raises
    ------
    InvalidInput
        As `risk`.

    Source: Clopper and Pearson, Biometrika 26 (1934) 404-413.

    Examples
    --------
    >>> from lipverify.prompts import predictors
    >>> middle, half_width = probability(Prompts(d=2, n=4), predictors.ridge(0.0), within=1e-9, contexts=2000)
    >>> round(middle + half_width, 12), half_width < 0.002
    (1.0, True)
    """
    from scipy.special import betaincinv  # imported where it is used: commands that list claims import this module

    number("within", within, "the threshold")
    losses, _ = _losses(prompts, _models(predictor, less), contexts, seed, stream, each=True)
    count, hits = len(losses), int(np.count_nonzero(losses <= within))
    low = float(betaincinv(hits, count - hits + 1, 0.025)) if hits else 0.0
    high = float(betaincinv(hits + 1, count - hits, 0.975)) if hits < count else 1.0
    return (low + high) / 2, (high - low) / 2


def _interval(
    prompts: Prompts, models: list[Predictor], sampled: tuple[Floats, list[Floats]], most: float | None = None
) -> tuple[float, float]:
    """The mean of sampled squared errors or differences, see `_losses`, and its half-width."""
    losses, powers = sampled
    if not np.all(np.isfinite(losses)):
        raise OutOfReach("predictor: the square of an error is no double; use a smaller unit of y.")
    bounds = _bounds(prompts, *models, most=most)
    value, half_width = mean_with_half_width(losses, bounds)
    if bounds is None:
        half_width *= _stretch(prompts, powers)
    rounding = ROUNDING * math.sqrt(np.mean(powers[0]))
    return value, half_width + rounding * (2 * math.sqrt(np.mean(np.abs(losses))) + rounding)


def _losses(
    prompts: Prompts,
    models: list[Predictor],
    contexts: int,
    seed: int,
    stream: str,
    most: float | None = None,
    tokens: int | None = None,
    each: bool = False,
    xp: Any = np,
    device: Any = None,
) -> tuple[Floats, list[Floats]]:
    """The squared errors, or their differences, on `contexts` prompts, and `_powers` of these; `each`: at the drawn
    query. Where rare covariates are drawn more often, none are missing, and the powers are those of f alone.
    """
    contexts, seed = whole("contexts", contexts, 1, most=MOST // require_prompts(prompts).size), a_seed(seed)
    if most is not None:
        number("most", most, "the cap", above=0, below=1e150)  # its square is a double
    Q = None if each or most is not None else _query_moment(prompts)
    exact = Q is not None and all(callable(getattr(model, "weights", None)) for model in models)
    root = _root(prompts) if exact and _bounds(prompts, *models) is None else None
    parts, first_answers = list[Floats](), list[Answers]()
    for index in range(-(-contexts // prompts.chunk)):
        drawn, weight = prompts.drawn(seed, stream, index), np.ones(prompts.chunk)
        drawn = drawn._replace(x=drawn.x[:, :tokens], y=drawn.y[:, :tokens])
        if root is not None:
            drawn, weight = _with_rare(drawn, root, generator(seed, f"{stream}/rare", index))
        kept = slice(contexts - index * prompts.chunk)
        drawn = Drawn(*(part if part is None else part[kept] for part in drawn))
        batch = tuple(to_device(part, xp, device) for part in drawn[:3])
        answers = [_answers(model, batch, Q is not None) for model in models]
        first, *others = (_squares(made, drawn, Q, most) for _, _, made in answers)
        first_answers = first_answers or answers
        rows = (first - others[0] if others else first, *_powers(drawn, Q if exact else None))
        parts.append(weight[kept] * np.stack(rows))
    for answer in first_answers:  # at the end, when a model with a state is in another one
        _require_same(*answer)
    losses, *powers = np.concatenate(parts, axis=1)
    return losses, powers[: 2 if root is None else 1]


def _powers(drawn: Drawn, Q: Floats | None) -> Floats:
    """f(x)^2, or its mean over queries of second moment Q, and the mean of |x_i|^4 over the tokens, (2, C)."""
    w = drawn.task
    square = drawn.target**2 if Q is None or w is None else np.einsum("ci,ij,cj->c", w, Q, w)
    return np.stack([square, np.mean(np.einsum("cnd,cnd->cn", drawn.x, drawn.x) ** 2, axis=1)])


def _stretch(prompts: Prompts, powers: Sequence[Floats]) -> float:
    """The factor, >= 1, by which 95 % intervals of known means must be wider to cover them: rare prompts move them too.

    They are refused if it exceeds `FARTHEST`.
    """
    law, d, factor = prompts.covariates, prompts.d, 1.0
    known: tuple[Callable[[], Floats], ...] = (
        lambda: (prompts.query or law).moments(d).second @ prompts.tasks.moments(d).second,
        lambda: law.moments(d).fourth(np.eye(d)),
    )
    for moment, values in zip(known, powers, strict=False):
        with suppress(InvalidInput, AttributeError):  # no closed form, or tasks that are no vectors
            exact, half_width = np.trace(moment()), normal_half_width(np.std(values) / math.sqrt(values.size))
            factor = max(factor, float(abs(np.mean(values) - exact) / (half_width + SAME * exact)))
    if factor > FARTHEST:
        means = f"sampled means of f(x)^2 or |x_i|^4 miss those of the law by {factor:.2g} half-widths"
        raise OutOfReach(f"{means}, more than {FARTHEST:g}: rare prompts rule them and are missing; {WAYS_OUT}")
    return factor


def _models(predictor: Predictor, less: Predictor | None) -> list[Predictor]:
    models = [predictor] if less is None else [predictor, less]
    for model in models:
        function("predictor", model, "x, (C, n, d), y, (C, n), and queries, (C, d)")
    return models


def _root(prompts: Prompts) -> Floats | None:
    """A with x = A z, z ~ N(0, I), if the covariates are so and A has an inverse."""
    law = prompts.covariates
    if isinstance(law, Coordinates) and (law.marginal, law.shift) == ("normal", 0.0):
        return law.scale * np.eye(prompts.d)
    return law.root if isinstance(law, Gaussian) and np.linalg.cond(law.root) < 1 / SAME else None


def _with_rare(drawn: Drawn, root: Floats, rng: np.random.Generator) -> tuple[Drawn, Floats]:
    """Prompts of which half have x = z A stretched or shrunk in one direction of z, and their weights.

    Let G = z^T z have the eigenvalues t, and draw u on the sphere. |z u|^2 has the chi-square law of n degrees, and is
    drawn with n + 2 k instead, k in `POWERS`: the quotient of the densities is in proportion to (u^T G u)^k, whose mean
    over u is to the coefficient c_k of prod_i (1 - s t_i)^(-1/2) = sum_k c_k s^k. The squared distance of z u from the
    other directions, 1 / u^T G^-1 u, has n - d + 1 degrees and is drawn with n - d - 1.
    """
    assert drawn.task is not None
    (count, n, d), shrinks = drawn.x.shape, drawn.x.shape[1] >= drawn.x.shape[2] + 2
    z = drawn.x @ np.linalg.inv(root)
    u = on_sphere(rng.standard_normal((count, d)), np)
    degrees = [n + 2 * k for k in POWERS] + [n - d - 1] * shrinks
    which = rng.integers(2 * len(degrees), size=count)
    v, small = u.copy(), (which == len(POWERS)) & shrinks
    v[small] = np.linalg.solve(z[small].swapaxes(1, 2) @ z[small], u[small][..., None])[..., 0]
    along = np.einsum("cnd,cd->cn", z, v / np.sum(u * v, axis=1)[:, None])
    square = rng.chisquare(np.resize(degrees, 2 * len(degrees))[which])
    scale = np.where(which < len(degrees), np.sqrt(square / np.sum(along**2, axis=1)), 1.0)
    z += np.einsum("c,cn,cd->cnd", scale - 1, along, u)
    t = np.linalg.eigvalsh(z.swapaxes(1, 2) @ z)
    sums, c = [np.sum((t / n) ** k, axis=1) / 2 for k in range(POWERS[-1] + 1)], [np.ones(count)]
    for k in range(1, POWERS[-1] + 1):
        c.append(sum(sums[j] * c[k - j] for j in range(1, k + 1)) / k)
    # E (u^T G u)^k is n (n + 2) ... (n + 2 k - 2)
    shares = [c[k] * math.prod(n * (1 + i) / (d / 2 + i) / (n + 2 * i) for i in range(k)) for k in POWERS]
    if shrinks:
        shares.append((n - d - 1) * np.mean(1 / t, axis=1))
    x = z @ root
    y = drawn.y + np.einsum("cnd,cd->cn", x - drawn.x, drawn.task)
    return drawn._replace(x=x, y=y), 2 / (1 + np.mean(shares, axis=0))


def _bounds(prompts: Prompts, *models: Any, most: float | None = None) -> tuple[float, float] | None:
    """Bounds on the losses, if they are known: by the cap, or for weights in the hull of a pool on a pool of tasks."""
    highs, Q = [most or math.inf] * len(models), _query_moment(prompts)
    if most is None and Q is not None:
        roots = [_largest(Q, getattr(model, "pool", None)) for model in models]
        highs = [(root + _largest(Q, prompts.tasks)) ** 2 for root in roots]
    return (-sum(highs[1:]), highs[0]) if max(highs) < math.inf else None


def _largest(Q: Floats, pool: Any) -> float:
    """The largest root mean square of <w, x> over the members of a pool; infinite for anything else."""
    if not isinstance(pool, Pool):
        return math.inf
    pool.require_dimension(len(Q))
    w = pool.vectors(len(Q))
    return math.sqrt(np.einsum("ki,ij,kj->k", w, Q, w).max())


def _query_moment(prompts: Prompts) -> Floats | None:
    """E x x^T of the query, if the tasks are linear and it has a closed form."""
    try:
        return (prompts.query or prompts.covariates).moments(prompts.d).second if prompts.linear else None
    except InvalidInput:
        return None


def _squares(made: Floats, drawn: Drawn, Q: Floats | None, most: float | None) -> Floats:
    """The squared error of each prompt; its mean over queries of second moment Q where the model gave weights."""
    if Q is not None and made.ndim == 2:
        away: Floats = made - drawn.task  # type: ignore[operator]  # linear tasks have one
        return np.asarray(np.einsum("ci,ij,cj->c", away, Q, away))
    return np.minimum((made - drawn.target) ** 2, math.inf if most is None else most)


def _answers(model: Any, batch: tuple[Any, ...], linear: bool) -> Answers:
    """A model's weights or predictions, on the host, with what gave them."""
    count, _, d = batch[0].shape
    if linear and callable(getattr(model, "weights", None)):
        return model.weights, batch[:2], _called(model.weights, batch[:2], (count, d))
    return model, batch, _called(model, batch, (count,))


def _called(model: Any, batch: Any, shape: tuple[int, ...]) -> Floats:
    returned = model(*batch)
    try:
        if np.iscomplexobj(to_host(returned)):
            raise TypeError
        made = np.array(to_host(returned), dtype=np.float64)  # a copy: a model may write to its arguments
    except (TypeError, ValueError):
        raise InvalidInput(f"predictor returned {shown(returned)}: it must return an array of real numbers.") from None
    if made.shape != shape:
        raise InvalidInput(f"predictor returned shape {made.shape} for {shape[0]} prompts: it must be {shape}.")
    if not np.all(np.isfinite(made)):
        bad = int(np.argmax(~np.isfinite(made.reshape(len(made), -1)).all(axis=1)))
        raise InvalidInput(f"predictor returned {made[bad]} for prompt {bad} of a batch: predictions must be finite.")
    return made


def _require_same(model: Any, batch: Any, made: Floats) -> None:
    """Refuse a model that is no function of each prompt by itself."""
    again = np.asarray(to_host(model(*(part[:FEW, ...][::-1, ...] for part in batch))))[::-1]
    size = np.max(np.abs(made[:FEW])) + np.max(np.abs(to_host(batch[1])))
    off = np.max(np.abs(again - made[:FEW])) / (size or 1.0)
    if not off <= SAME:
        raise InvalidInput(
            f"predictor: asked again for {FEW} prompts in another order, its predictions moved by {off:.2g}; it "
            "must not depend on the rest of the batch or on earlier calls (dropout, batch norm, a state)."
        )


__all__ = ["probability", "risk", "risk_curve"]
