"""Addressed randomness: a chunk of random numbers is a function of (seed, cell, chunk), of nothing else.

Counter-based Philox4x64-10 with the key from (seed, cell) and the counter from the chunk: the order of
chunks, the number of workers, the backend and an interruption cannot change a single number.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from lipverify.problem.sphere import standard_normals

BLOCKS_PER_CHUNK = 2**64
"""Counters are 256 bits wide; a chunk owns 2^64 blocks of four words, more than it can use."""


def key_of(seed: int, cell: str) -> int:
    """The 128-bit key of Philox for a cell."""
    return int.from_bytes(blake2b(f"{seed}/{cell}".encode(), digest_size=16).digest(), "little")


def generator(seed: int, cell: str, chunk: int, block: int = 0) -> np.random.Generator:
    """The generator of a chunk of a cell, from its block number `block` on (a block is four words of 64 bits)."""
    counter = chunk * BLOCKS_PER_CHUNK + block
    return np.random.Generator(np.random.Philox(key=key_of(seed, cell), counter=counter))


def uniforms(seed: int, cell: str, chunk: int, shape: tuple[int, ...], block: int = 0) -> NDArray[np.float64]:
    """Independent uniforms on [0, 1) with 53 bits, for one chunk of one cell.

    >>> bool((uniforms(0, "a", 3, (2,)) == uniforms(0, "a", 3, (2,))).all())
    True
    >>> bool((uniforms(0, "a", 3, (9,))[4:] == uniforms(0, "a", 3, (5,), block=1)).all())
    True
    """
    return generator(seed, cell, chunk, block).random(shape)


def normals(seed: int, cell: str, chunk: int, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Standard normals by inversion: ndtri(u + 2^-54) is finite for every u and easy to repeat on a GPU."""
    return standard_normals(generator(seed, cell, chunk), shape)
