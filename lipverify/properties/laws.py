"""Properties that a law of tasks states: isotropic, Lipschitz, bounded."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.arrays import EPS, Floats
from lipverify.foundation.means.betting import Tally
from lipverify.foundation.sphere import on_sphere
from lipverify.foundation.streams import generator, normals
from lipverify.foundation.validation import a_seed, instance, number, whole
from lipverify.problem.composed import ridge_form
from lipverify.problem.fine import sighted
from lipverify.problem.law import FunctionLaw, Law, as_functions
from lipverify.properties.ratio import ROUNDING, require

STEP = 1e-5
"""Distance between two points for a slope. A larger one misses steep places, a smaller one adds rounding error."""


def is_isotropic(
    law: FunctionLaw, d: int, rotation: Floats, *, contexts: int = 4000, seed: int = 0, alarm: float = 1e-6
) -> float:
    """Require that f(Rx) has the increments of f(x): E (f(Rx) - f(Rx'))^2 = E (f(x) - f(x'))^2.

    The loss depends on the law only through these increments.

    Parameters
    ----------
    law
        A law that can be sampled.
    d
        Dimension.
    rotation
        R, an orthogonal d x d matrix.
    contexts
        Number of sampled functions; 4000 detect a law that is twice as rough along one axis as along another.
    seed
        Seed of the draws. Choose a fixed number, and never let Hypothesis choose it.
    alarm
        The probability with which an isotropic law may fail here.

    Returns
    -------
    float
        The largest difference / half-width of its interval.

    Raises
    ------
    AssertionError
        If an increment changes by more than its interval.

    Examples
    --------
    >>> from lipverify.laws import ReLU
    >>> is_isotropic(ReLU(), 2, np.array([[0.0, -1.0], [1.0, 0.0]])) <= 1
    True
    """
    law = _law_to_draw(law, "is_isotropic", d, contexts, seed)
    R = np.asarray(rotation, dtype=float)
    if R.shape != (d, d) or not np.allclose(R @ R.T, np.eye(d), atol=1e-9):
        raise InvalidInput(
            f"rotation has the shape {R.shape} or is not orthogonal: give a {d} x {d} orthogonal matrix."
        )
    x = np.concatenate([np.eye(d)[:2], -np.eye(d)[:2], _sphere(seed, "isotropic", (4, d))])
    tasks = law.draw(generator(seed, f"isotropic/{law.name}", 0), contexts, d)
    here, there = (_values(law, tasks, np.broadcast_to(p, (contexts, *p.shape))) for p in (x, x @ R.T))
    differences = np.sum([_increments(b) - _increments(a) for a, b in zip(here, there, strict=True)], axis=0)
    bound = np.full(differences.shape[1], sum(bound.extent**2 for bound in law.bounds()) * (1 + 64 * EPS))
    tally = Tally(-bound, bound)
    tally.add(differences)
    mean, half_width = tally.interval(1 - alarm / len(bound))
    return require("increments are the same after a rotation", abs(mean), half_width, difference=mean, law=law)


def is_lipschitz(law: FunctionLaw, d: int, L: float | None = None, *, contexts: int = 500, seed: int = 0) -> float:
    """Require |f(x) - f(x')| <= L |x - x'| on the sphere, along steep great circles and between distant points.

    Each great circle starts uphill. Its steepest step, of a thousand or fewer in high dimensions, is subdivided once
    more. A spike within another step, or a jump smaller than the rise of another step, may be missed unless it is
    declared as a kink or jump.

    Parameters
    ----------
    law
        A law that can be sampled.
    d
        Dimension.
    L
        The claimed constant; `law.L` by default.
    contexts
        Number of sampled functions, each tested at its own point.
    seed
        Seed of the draws. Choose a fixed number, and never let Hypothesis choose it.

    Returns
    -------
    float
        The largest slope / L, which is near 1 if the constant is sharp and enough functions were sampled.

    Raises
    ------
    AssertionError
        If a function is steeper.
    InvalidInput
        If the law cannot be sampled, L is missing or not a number >= 0, or d, contexts or seed are out of range.
    OutOfReach
        If the slopes in d directions do not fit into memory.

    Examples
    --------
    >>> from lipverify.laws import ReLU
    >>> 0.95 < is_lipschitz(ReLU(L=3.0), 5) <= 1
    True
    """
    law = _law_to_draw(law, "is_lipschitz", d, contexts, seed)
    constant = L if L is not None else getattr(law, "L", None)
    if constant is None:
        raise InvalidInput(f"law = {law!r} has no L: give the claimed constant.")
    constant = number("L", constant, "the constant that is claimed", least=0)
    if contexts * d * d > 2**27:  # one GiB
        raise OutOfReach(
            f"contexts = {contexts}, d = {d}: slopes in d directions take {contexts * d * d:.0e} numbers, at most "
            "1e+08; ask for fewer contexts."
        )
    tasks = law.draw(generator(seed, f"lipschitz/{law.name}", 0), contexts, d)
    amplitudes = _amplitudes(law, d, contexts, seed)
    x = _sphere(seed, "lipschitz", (contexts, 1, d))

    def f(points: Floats) -> Floats:
        return np.asarray(np.sum([a * h for a, h in zip(amplitudes, _values(law, tasks, points), strict=True)], axis=0))

    steep, far = _uphill(f, x), _sphere(seed, "far", (contexts, 8, d))
    _require_gentle_walks(f, x, steep, constant)
    _require_gentle_kinks(law, d, amplitudes, constant)
    start, ends = f(x), np.concatenate([steep, far], axis=1)
    rise, distance = abs(f(ends) - start), np.linalg.norm(ends - x, axis=-1)
    # both the values and the points have rounding errors
    rounding = 16 * (EPS * abs(start) + EPS * constant)
    allowed = constant * distance * (1 + ROUNDING) + rounding
    return require("|f(x) - f(x')| <= L |x - x'|", rise, allowed, rise=rise, distance=distance, L=constant, law=law)


def _require_gentle_walks(f: Any, x: Floats, towards: Floats, constant: float) -> None:
    """Test the slopes along the great circle from x through a nearby point, and again within its steepest step."""
    contexts, _, d = x.shape
    side = towards - x
    side = np.asarray(on_sphere(side - np.sum(side * x, axis=-1, keepdims=True) * x, np))
    places = max(16, min(1024, 2**21 // (contexts * d)))  # 2^21 numbers in memory at most
    low, width = np.zeros((contexts, 1)), 2 * math.pi
    for _ in range(2):
        angle = low + width * np.linspace(0, 1, places + 1)
        values = f(np.cos(angle)[..., None] * x + np.sin(angle)[..., None] * side)
        rise, distance = abs(np.diff(values, axis=1)), 2 * math.sin(width / places / 2)
        allowed = constant * distance * (1 + ROUNDING) + 16 * EPS * (np.max(np.abs(values)) + constant)
        require(
            "|f(x) - f(x')| <= L |x - x'| on a great circle", rise, allowed, rise=rise, distance=distance, L=constant
        )
        low, width = np.take_along_axis(angle, np.argmax(rise, axis=1, keepdims=True), axis=1), width / places


def _require_gentle_kinks(law: FunctionLaw, d: int, amplitudes: list[Floats], constant: float) -> None:
    """Test the slopes of a ridge law's links at their kinks and jumps, declared or not, from which sampled points are
    about 1/contexts away.
    """
    form = ridge_form(sighted(law), d)
    if form is None or not form[0].kink_points or not np.array_equal(form[1], np.eye(d)):
        return
    ridge, kinks = form[0], np.array(form[0].kink_points)[:, None]
    for amplitude, k in zip(amplitudes, range(len(amplitudes)), strict=True):
        largest = float(np.max(np.abs(amplitude)))
        distances = [(kinks, np.geomspace(1e-12, 1e-2, 11), 16 * EPS)]
        if 0 in kinks:  # next to 0 doubles of any size exist, and differences are not hidden by rounding
            distances.append((0 * kinks[:1], 10.0 ** np.array([-300.0, -200.0, -100.0, -50.0, -20.0]), 0.0))
        for about, hairs, floor in distances:
            low, high = (np.clip(about + sign * hairs, -1, 1) for sign in (-1, 1))
            points = np.stack([low, np.broadcast_to(about, low.shape), high])
            values = largest * np.reshape(np.asarray(ridge.links(points.ravel(), np)[k], dtype=float), points.shape)
            rounding = floor * (np.max(np.abs(values)) + constant)
            # <q, x> changes by at most the change of x
            for i, j in ((0, 1), (1, 2), (0, 2)):
                rise, distance = abs(values[i] - values[j]), abs(points[i] - points[j])
                allowed = constant * distance * (1 + ROUNDING) + rounding + 16 * EPS * abs(values[i])
                require(
                    "|f(x) - f(x')| <= L |x - x'| at a kink", rise, allowed, rise=rise, distance=distance, L=constant
                )


def keeps_its_extents(law: FunctionLaw, d: int, *, contexts: int = 500, seed: int = 0) -> float:
    """Require that no component varies by more than its stated extent, on which the intervals of sampling rest.

    The parameters and errors are those of `is_lipschitz`.

    Parameters
    ----------
    law, d, contexts, seed
        As for `is_lipschitz`.

    Returns
    -------
    float
        The largest range / extent; at most 1.

    Raises
    ------
    AssertionError
        If a component varies by more.
    InvalidInput
        As `is_lipschitz`.

    Examples
    --------
    >>> from lipverify.laws import Quadratic
    >>> keeps_its_extents(Quadratic(), 3) <= 1
    True
    """
    law = _law_to_draw(law, "keeps_its_extents", d, contexts, seed)
    tasks = law.draw(generator(seed, f"extents/{law.name}", 0), contexts, d)
    x = np.concatenate([_sphere(seed, "extents", (contexts, 200, d)), _poles(tasks, contexts, d)], axis=1)
    values, extents = _values(law, tasks, x), [bound.extent for bound in law.bounds()]
    if len(values) != len(extents):
        raise AssertionError(f"{law!r} has {len(values)} components and states the bounds of {len(extents)}.")
    ranges = np.stack([np.ptp(h, axis=1) for h in values])
    stated = np.array(extents)[:, None]
    return require("max f - min f <= extent", ranges, stated * (1 + ROUNDING), range=ranges, extents=extents, law=law)


def _law_to_draw(law: FunctionLaw, method: str, d: int, contexts: int, seed: int) -> FunctionLaw:
    """The law, if this many of its functions can be sampled in this dimension; otherwise it is refused."""
    whole("d", d, 2, "the dimension")
    whole("contexts", contexts, 1)
    a_seed(seed)
    return as_functions(instance("law", law, Law, "use one of lipverify.laws, such as Ridge(link)"), method)


def _sphere(seed: int, stream: str, shape: tuple[int, ...]) -> Floats:
    return np.asarray(on_sphere(normals(seed, stream, 0, shape), np))


def _poles(tasks: Any, contexts: int, d: int) -> Floats:
    """The points q and -q, where ridge functions have their extremes; no points for other tasks."""
    if not (isinstance(tasks, np.ndarray) and tasks.shape == (contexts, d) and np.all(np.any(tasks, axis=1))):
        return np.empty((contexts, 0, d))
    q = np.asarray(on_sphere(tasks, np))[:, None, :]
    return np.concatenate([q, -q], axis=1)


def _values(law: FunctionLaw, tasks: Any, points: Floats) -> list[Floats]:
    return [np.asarray(h, dtype=float) for h in law.values(tasks, points, np)]


def _increments(values: Floats) -> Floats:
    """(f(x) - f(x'))^2 for all pairs of points, (contexts, pairs)."""
    i, j = np.triu_indices(values.shape[1], 1)
    return np.asarray((values[:, i] - values[:, j]) ** 2)


def _amplitudes(law: FunctionLaw, d: int, contexts: int, seed: int) -> list[Any]:
    """Amplitudes of each component and context, (contexts, 1); 1 for laws without amplitudes."""
    form = ridge_form(law, d)
    if form is None:
        return [1.0] * len(law.bounds())
    uniforms = generator(seed, "amplitudes", 0).random((len(law.bounds()), contexts, 1))
    return [form[0].amplitudes(u) for u in uniforms]


def _uphill(f: Any, x: Floats) -> Floats:
    """A point near each x, in the direction along the sphere in which f increases most, (contexts, 1, d)."""
    d = x.shape[-1]
    # projected to the sphere as well: links such as np.arcsin are undefined beyond 1
    slopes = (f(np.asarray(on_sphere(x + STEP * np.eye(d), np))) - f(x)) / STEP
    along = slopes[:, None, :] - (slopes[:, None, :] * x).sum(axis=-1, keepdims=True) * x
    size = np.linalg.norm(along, axis=-1, keepdims=True)
    direction = along / np.where(size > 0, size, math.inf)
    return np.asarray(on_sphere(x + STEP * direction + np.where(size > 0, 0.0, STEP) * np.eye(d)[0], np))
