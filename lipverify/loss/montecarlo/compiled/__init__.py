"""Compiled samplers of whole contexts: sources that CUDA and C compilers accept, their arguments, and their layout over
blocks, warps and lanes of a GPU.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from lipverify.errors import InvalidInput

_INCLUDE = re.compile(r'^#include "(\w+\.(?:cuh|h))"\n', re.MULTILINE)


def assembled(name: str = "kernels.cu") -> str:
    """The file `name` with each header of this folder inserted once in place of its include.

    So a run-time compiler needs no search path, and a cache keyed by the text notices every change in a header.
    """
    return _expand(name, set())


def _expand(name: str, included: set[str]) -> str:
    """A file with its includes expanded; empty if it was already included."""
    if name in included:
        return ""
    included.add(name)
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")

    def header(match: re.Match[str]) -> str:
        line = text.count("\n", 0, match.end()) + 1
        return f'{_expand(match[1], included)}\n#line {line} "{name}"\n'

    return f'#line 1 "{name}"\n' + _INCLUDE.sub(header, text)


LAWS = {"affine": 0, "linear": 0, "relu": 1, "cosine": 2, "quadratic": 3}
"""The laws that have compiled code, with their numbers in laws.cuh: with the task averaged, linear is affine."""
MOST_RUNGS = 8
"""Values of w that follow from one exponential: w_0, 2 w_0, ..., 2^7 w_0; the noise at the last needs 2^8 w_0."""
QUERIES, PLACES, LANES, MOST_TEAMS, MOST_WARPS = 4, 8, 32, 2, 8  # as in kernels.cu
STRETCH, MOST_PARTS = 2**14, 2**15
"""Smallest number of tokens of a part of a context, and largest number of parts."""
WORK = 2**28
"""Tokens of a launch, each counted once per ladder: they fill any device, and no display's watchdog stops them."""

Ladder = tuple[float, int]
"""(w_0, m): the values w_0, 2 w_0, ..., 2^(m - 1) w_0."""


def instantiation(law: str, rungs: int, function: str = "samples") -> str:
    """The CUDA function's name for a law and a number of rungs."""
    return f"{function}<{LAWS[law]}, {rungs}>"


def size_of_sums(law: str, rungs: int) -> int:
    """Number of doubles of a context's sums: a maximum, and S and each T at one more w than there are rungs."""
    return 1 + (3 if LAWS[law] < LAWS["cosine"] else 2) * (rungs + 1)


def split(ladders: Sequence[Ladder], most: int = MOST_RUNGS) -> list[Ladder]:
    """Split ladders so that none has more than `most` rungs; the w and their order stay the same."""
    parts = ((base, first, rungs) for base, rungs in ladders for first in range(0, rungs, most))
    return [(base * 2.0**first, min(most, rungs - first)) for base, first, rungs in parts]


def slices_of(n: int) -> int:
    """Number of lanes that share the n tokens of a query: a power of two, at most eight."""
    # with 256 tokens a lane the cost of joining their sums is small
    return int(2 ** (max(1, min(PLACES, n // 256)).bit_length() - 1))


def stretch_of(n: int) -> int:
    """Number of tokens of a part of a context, which has its own block: a function of n only, as the sums are."""
    return max(STRETCH, 2 ** (-(-n // MOST_PARTS) - 1).bit_length())


def parts_of_launch(n: int, ladders: int, bundles: int) -> int:
    """Parts of each context that one launch sums."""
    stretch = stretch_of(n)
    return max(1, min(-(-n // stretch), WORK // (bundles * ladders * min(n, stretch))))


@dataclass(frozen=True)
class Launch:
    """Blocks of one launch: the grid (groups of bundles, parts of a context), and warps of `teams` teams a block."""

    grid: tuple[int, int]
    block: tuple[int]
    teams: int


def launch_of(n: int, ladders: int, bundles: int, parts: int) -> Launch:
    """A warp for each ladder of each team, and two teams per block if there is room; it does not change a sample.

    >>> launch_of(n=1000, ladders=4, bundles=64, parts=1)
    Launch(grid=(8, 1), block=(256,), teams=2)
    >>> launch_of(n=10**6, ladders=1, bundles=67, parts=62)
    Launch(grid=(34, 62), block=(64,), teams=2)
    """
    groups = -(-bundles * slices_of(n) // PLACES)
    teams = MOST_TEAMS if ladders * MOST_TEAMS <= MOST_WARPS and groups > 1 else 1
    return Launch((-(-groups // teams), parts), (LANES * teams * ladders,), teams)


def require_question(law: str, d: int, n: int, ladders: Sequence[Ladder], bundles: int) -> None:
    """Refuse arguments outside the range of the compiled code."""
    if law not in LAWS:
        raise InvalidInput(f"law = {law!r} has no compiled code; choose one of: {', '.join(LAWS)}.")
    if d < 2 or n < 1:
        raise InvalidInput(f"d = {d}, n = {n}: the compiled code needs d >= 2 and n >= 1.")
    if bundles < 0:
        raise InvalidInput(f"bundles = {bundles}: the number of bundles must be >= 0.")
    if not ladders:
        raise InvalidInput("ladders = []: at least one w is needed.")
    for base, rungs in ladders:
        if not (math.isfinite(base) and base >= 0):
            raise InvalidInput(f"w_0 = {base}: w must be finite and >= 0.")
        if rungs < 1:
            raise InvalidInput(f"ladder ({base}, {rungs}): a ladder has at least one w.")
