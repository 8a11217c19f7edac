"""Run collapsed.c, compiled on first use: five to six times faster than NumPy's batched products."""

from __future__ import annotations

import ctypes
import functools
import math
from importlib.resources import files
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.arrays import Floats, address, aligned
from lipverify.foundation.compiling import compiled as compiled_from
from lipverify.foundation.compiling import has_compiler
from lipverify.linear_transformer.attention import Attention, Entrywise, Heads
from lipverify.linear_transformer.collapsed import forward, pullback
from lipverify.linear_transformer.families import block_sums, in_blocks
from lipverify.linear_transformer.layer import Layer
from lipverify.linear_transformer.regression.contexts import Contexts
from lipverify.linear_transformer.training.counting import LARGEST, counted

ALIGNMENT = 64
"""Size in bytes of a vector of the compiled code."""
PART = 4096
"""Contexts whose gradients are summed together, so that sums do not depend on the distribution over threads."""
DEEPEST = 16
"""Largest number of layers of the compiled code."""
ROUNDING = 1e-11
"""Tolerance relative to the largest entry: the rounding of a few thousand products of order 1 over three layers stays
below it, and a wrong term is of order 1."""
FEW = 24
"""Contexts on which the compiled code is tested: more than one vector of any width."""
COUNTED = ((math.inf, True), (0.5, True), (0.5, False))
"""The caps of the test, and the values of `bounded`."""


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
        """The contributions of all contexts, (contexts,), and the gradient of their sum weighted by shares.

        `weights` are four numbers a layer, (layers, 4), or P and Q, (layers, 2, d + 1, d + 1), in the units of the
        data; `cap` and `bounded` as for `counting.counted`.
        """
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
        """(w, lost): the weights of the prediction, (contexts, d), and a mask of contexts whose squared loss overflows.

        In these contexts w is meaningless.
        """
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
    """The compiled code for moments of this size, tested against NumPy.

    Raises
    ------
    OutOfReach
        If the compiled code disagrees with NumPy; it is then not used.
    """
    source = (files(__package__) / "collapsed.c").read_text(encoding="utf-8")
    return _loaded(compiled_from(f"#define SIZE {size}\n{source}", lambda made: agrees(made, size)))


def _loaded(made: ctypes.CDLL) -> Compiled:
    return Compiled(_function(made), ctypes.c_int.in_dll(made, "lanes").value)


def agrees(made: ctypes.CDLL, size: int) -> bool:
    """True if compiled code agrees with NumPy in losses and gradients, up to rounding, on a small sample.

    It also compares the weights of the prediction. The sample covers free heads and four numbers a layer, one layer and
    three, a cap, a logarithm and neither; the loss of one context overflows.
    """
    if not (hasattr(made, "collapsed") and hasattr(made, "lanes")):
        return False
    random, compiled = np.random.default_rng(0), _loaded(made)
    tokens = random.standard_normal((FEW, 2 * size, size)) / np.sqrt(2 * size)
    gram, goal = tokens.swapaxes(1, 2) @ tokens, random.standard_normal((FEW, size - 1))
    share, blown_up = random.random(FEW), gram.copy()
    blown_up[FEW // 2] *= 1e200
    for layers in (1, 3):
        heads = np.eye(size) / 2 + 0.1 * random.standard_normal((layers, 2, size, size))
        for weights in (-0.3 * heads, 0.3 * random.standard_normal((layers, 4))):
            for moments, (cap, bounded) in ((gram, COUNTED[0]), *product((gram, blown_up), COUNTED[1:])):
                compiled_values = Packed(moments, goal, share, compiled).losses(weights, cap, bounded)
                if not _close(compiled_values, _by_numpy(moments, goal, share, weights, cap, bounded)):
                    return False
            w, lost = Packed(blown_up, compiled=compiled).readouts(weights)
            expected = forward(gram, _attentions(weights, size)).w
            if not np.array_equal(np.flatnonzero(lost), [FEW // 2]) or not _close((w[~lost],), (expected[~lost],)):
                return False
    return True


def _close(values: tuple[Floats, ...], expected: tuple[Floats, ...]) -> bool:
    """True if two arrays differ by at most `ROUNDING` of the largest entry; nan fails."""
    return all(
        bool(np.all(np.abs(value - reference) <= ROUNDING * np.abs(reference).max()))
        for value, reference in zip(values, expected, strict=True)
    )


def _by_numpy(
    gram: Floats, goal: Floats, share: Floats, weights: Floats, cap: float, bounded: bool
) -> tuple[Floats, Floats]:
    """Losses and gradient by `collapsed.forward` and `collapsed.pullback`, with the same cap and overflow rule."""
    layers = _attentions(weights, gram.shape[-1])
    with np.errstate(over="ignore", invalid="ignore"):
        losses = np.sum((forward(gram, layers).w - goal) ** 2, axis=1) / 2
    lost = ~(losses < LARGEST)
    done = forward(np.where(lost[:, None, None], 0.0, gram), layers)
    missed = np.where(lost[:, None], 0.0, done.w - goal)
    value, slope = counted(losses, cap, bounded)
    gradients = pullback(done, layers, missed * (share * slope)[:, None])
    flat = block_sums if weights.ndim == 2 else lambda part: part[:, 0]
    return value, np.stack([flat(part) for part in gradients])


def _attentions(weights: Floats, size: int) -> list[Attention]:
    """The layers from P and Q, (layers, 2, size, size), or from four numbers, (layers, 4)."""
    if weights.ndim == 4:
        return [Heads(Layer(P[None], Q[None])) for P, Q in weights]
    return [Entrywise(in_blocks(four, size - 1)) for four in weights]


def _function(made: ctypes.CDLL) -> Any:
    function = made.collapsed
    pointer, whole = ctypes.c_void_p, ctypes.c_int
    function.argtypes = (
        whole,
        whole,
        ctypes.c_long,
        pointer,
        pointer,
        pointer,
        pointer,
        ctypes.c_double,
        whole,
        pointer,
        pointer,
    )
    function.restype = None
    return function


def _filled(array: Floats, count: int) -> Floats:
    """The array padded with zero rows to a given length: contexts without moments, which contribute nothing."""
    return np.concatenate([array, np.zeros((count - len(array), *array.shape[1:]))]) if len(array) < count else array


def _vectors(array: Floats) -> Floats:
    return aligned(array, ALIGNMENT)
