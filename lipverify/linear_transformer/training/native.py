"""Run collapsed.c, compiled on first use: five to six times faster than NumPy's batched products."""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Sequence
from importlib.resources import files
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.arrays import Array, Floats, address, aligned
from lipverify.foundation.compiling import compiled as compiled_from
from lipverify.foundation.compiling import has_compiler
from lipverify.linear_transformer.collapsed import Attention, forward, pullback
from lipverify.linear_transformer.families import attentions_of, in_numbers
from lipverify.linear_transformer.regression.contexts import Contexts

PART = 4096
"""Contexts whose gradients are summed together, so that sums do not depend on the distribution over threads."""
DEEPEST = 16
"""Largest number of layers of the compiled code."""


class Packed:
    """Moments (contexts, d + 1, d + 1), goals (contexts, d) and shares (contexts,) in the compiled code's layout."""

    def __init__(
        self, gram: Floats, goal: Floats | None = None, share: Floats | None = None, compiled: Compiled | None = None
    ) -> None:
        self.count, size, _ = gram.shape
        goal = np.zeros((self.count, size - 1)) if goal is None else goal
        share = np.ones(self.count) if share is None else share
        self.compiled = compiled or _compiled(size)
        lanes = self.compiled.lanes
        self.blocks = -(-self.count // lanes)
        gram, goal, share = (_filled(part, self.blocks * lanes) for part in (gram, goal, share))
        self.gram = _vectors(gram.reshape(-1, lanes, size, size).transpose(0, 2, 3, 1))
        self.goal = _vectors(goal.reshape(-1, lanes, size - 1).transpose(0, 2, 1))
        self.share = _vectors(share.reshape(-1, lanes))

    def losses(self, weights: Floats, cap: float, bounded: bool = True) -> tuple[Floats, Floats]:
        """Contributions (contexts,), see `counted`, and the gradient in the numbers of their sum by shares."""
        sign = 0.0 if math.isinf(cap) else cap if bounded else -cap
        weights = np.ascontiguousarray(weights, dtype=float)
        losses, gradient = _vectors(np.zeros(self.share.shape)), np.zeros(weights.shape)
        blocks = PART // self.compiled.lanes
        for first in range(0, self.blocks, blocks):
            part, rows = np.zeros(weights.shape), slice(first, min(first + blocks, self.blocks))
            self.compiled.function(
                int(weights.ndim == 2), len(weights), rows.stop - first, *map(address, (weights, self.gram[rows],
                self.goal[rows], self.share[rows])), sign, 1, *map(address, (losses[rows], part)),
            )  # fmt: skip
            gradient += part
        values = losses.reshape(-1)[: self.count]
        return (values if sign > 0 else counted(values, cap, bounded)[0]), gradient

    def readouts(self, weights: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """The weights w of the prediction, (contexts, d), and a mask of contexts whose loss overflows."""
        weights = np.ascontiguousarray(weights, dtype=float)
        losses, w = _vectors(np.zeros(self.share.shape)), _vectors(np.zeros(self.goal.shape))
        self.compiled.function(
            int(weights.ndim == 2), len(weights), self.blocks, *map(address, (weights, self.gram, self.goal,
            self.share)), 0.0, 0, *map(address, (losses, w)),
        )  # fmt: skip
        readouts = w.transpose(0, 2, 1).reshape(-1, w.shape[1])
        return readouts[: self.count], np.isinf(losses.reshape(-1)[: self.count])


@functools.lru_cache(maxsize=1)
def packed(contexts: Contexts) -> Packed | None:
    """Contexts in the layout of the compiled code, for evaluating many models; None if there is no compiled code."""
    compiled = _compiled_if_any(contexts.gram.shape[-1])
    return None if compiled is None else Packed(contexts.gram, compiled=compiled)


@functools.cache
def _compiled_if_any(size: int) -> Compiled | None:
    """The compiled code; None if there is no compiler or the compiled code fails its test."""
    try:
        return _compiled(size) if has_compiler() else None
    except (InvalidInput, OutOfReach):
        return None


class Compiled(NamedTuple):
    """The compiled function, and the number of contexts that fit into its vector registers side by side."""

    function: Any
    lanes: int


@functools.cache
def _compiled(size: int) -> Compiled:
    """The compiled code for moments of this size, refused if it disagrees with NumPy."""
    source = (files(__package__) / "collapsed.c").read_text(encoding="utf-8")
    return _loaded(compiled_from(f"#define SIZE {size}\n{source}", lambda made: equals_numpy(made, size)))


def _loaded(made: ctypes.CDLL) -> Compiled:
    function, pointer, whole = made.collapsed, ctypes.c_void_p, ctypes.c_int
    function.argtypes = (whole, whole, ctypes.c_long, *[pointer] * 4, ctypes.c_double, whole, pointer, pointer)
    function.restype = None
    return Compiled(function, ctypes.c_int.in_dll(made, "lanes").value)


def equals_numpy(made: ctypes.CDLL, size: int) -> bool:
    """True if compiled code agrees with NumPy, up to rounding, in losses, gradients and weights of the prediction: in
    both forms, for one layer and three, with a cap, a logarithm and neither, where one context's loss overflows.
    """
    if not (hasattr(made, "collapsed") and hasattr(made, "lanes")):
        return False
    random, compiled, few = np.random.default_rng(0), _loaded(made), 24  # more than one vector of any width
    tokens = random.standard_normal((few, 2 * size, size)) / np.sqrt(2 * size)
    gram, goal = tokens.swapaxes(1, 2) @ tokens, random.standard_normal((few, size - 1))
    share, blown_up = random.random(few), gram.copy()
    blown_up[few // 2] *= 1e200
    for layers in (1, 3):
        heads = np.eye(size) / 2 + 0.1 * random.standard_normal((layers, 2, size, size))
        for weights in (-0.3 * heads, 0.3 * random.standard_normal((layers, 4))):
            capped = product((gram, blown_up), ((0.5, True), (0.5, False)))
            for moments, (cap, bounded) in ((gram, (math.inf, True)), *capped):
                compiled_values = Packed(moments, goal, share, compiled).losses(weights, cap, bounded)
                if not _close(compiled_values, _by_numpy(moments, goal, share, weights, cap, bounded)):
                    return False
            w, lost = Packed(blown_up, compiled=compiled).readouts(weights)
            expected = forward(gram, attentions_of(weights, gram)).w
            if not np.array_equal(np.flatnonzero(lost), [few // 2]) or not _close((w[~lost],), (expected[~lost],)):
                return False
    return True


def _close(values: tuple[Floats, ...], expected: tuple[Floats, ...]) -> bool:
    """True if arrays differ by at most 1e-11 of the largest entry, as rounding does; a wrong term does by order 1."""
    return all(
        bool(np.all(np.abs(value - reference) <= 1e-11 * np.abs(reference).max()))
        for value, reference in zip(values, expected, strict=True)
    )


def _by_numpy(
    gram: Floats, goal: Floats, share: Floats, weights: Floats, cap: float, bounded: bool
) -> tuple[Floats, Floats]:
    """As `Packed.losses`, by NumPy."""
    value, gradients = contributions(gram, goal, share, attentions_of(weights, gram), cap, bounded)
    return value, in_numbers(gradients)


def _filled(array: Floats, count: int) -> Floats:
    """The array padded with zero rows to a given length: contexts without moments, which contribute nothing."""
    return np.concatenate([array, np.zeros((count - len(array), *array.shape[1:]))]) if len(array) < count else array


def _vectors(array: Floats) -> Floats:
    """A copy where the compiled code can load its vectors, of at most 64 bytes."""
    return aligned(array, 64)


LARGEST = 1e300
"""Largest loss that is computed without overflow; a larger one contributes the cap, or its logarithm, with slope 0."""


def counted(losses: Array, cap: float, bounded: bool) -> tuple[Array, Array]:
    """(the contribution of each loss x to the objective, its derivative); an infinite cap c leaves losses unchanged.

        bounded      x c / (c + x), which never exceeds c: contexts on which the model explodes do not dominate the rest
        otherwise    c log(1 + x / c), whose slope persists: a descent can repair a model that explodes

    >>> import numpy as np
    >>> counted(np.asarray([0.0, 2.0]), 2.0, bounded=True)
    (array([0., 1.]), array([1.  , 0.25]))
    >>> value, slope = counted(np.asarray([2.0, np.inf]), 2.0, bounded=False)
    >>> bool(value[0] == 2 * np.log(2)), bool(value[1] < 1400), slope
    (True, True, array([0.5, 0. ]))
    """
    xp = losses.__array_namespace__()
    lost = ~(losses < LARGEST)
    held = xp.where(lost, LARGEST, losses)
    if math.isinf(cap):
        return xp.where(lost, cap, held), xp.where(lost, 0.0, xp.ones_like(held))
    damp = 1 / (1 + held / cap)
    if bounded:
        return xp.where(lost, cap, held * damp), xp.where(lost, 0.0, damp * damp)
    return cap * xp.log1p(held / cap), xp.where(lost, 0.0, damp)


@np.errstate(over="ignore", invalid="ignore")
def contributions(
    gram: Array, goal: Array, share: Array, layers: Sequence[Attention], cap: float, bounded: bool
) -> tuple[Array, tuple[Array, ...]]:
    """Contributions (contexts,), see `counted`, and the gradient of their sum by shares in the layers' attentions."""
    xp = gram.__array_namespace__()
    done = forward(gram, layers)
    losses = xp.sum((done.w - goal) * (done.w - goal), axis=-1) / 2
    lost = ~(losses < LARGEST)
    if xp.any(lost):  # zero the moments and the slope of such a context, so that it contributes no nan
        done = forward(xp.where(lost[:, None, None], 0.0, gram), layers)
    value, slope = counted(losses, cap, bounded)
    return value, pullback(done, layers, xp.where(lost[:, None], 0.0, (done.w - goal) * (share * slope)[:, None]))
