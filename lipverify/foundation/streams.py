"""Addressed randomness: a chunk of random numbers is a function of (seed, stream, chunk) alone.

Counter-based Philox4x64-10 with the key from (seed, stream) and the counter from the chunk: the order of chunks, the
number of workers, the backend and an interruption cannot change a single number.
"""

from __future__ import annotations

import math
from hashlib import blake2b

import numpy as np

from lipverify.foundation.arrays import Floats

BLOCKS_PER_CHUNK = 2**64
"""Counters are 256 bits wide; a chunk owns 2^64 blocks of four words, more than it can use."""


def key_of(seed: int, stream: str) -> int:
    """The 128-bit key of Philox for a stream."""
    return int.from_bytes(blake2b(f"{seed}/{stream}".encode(), digest_size=16).digest(), "little")


def generator(seed: int, stream: str, chunk: int, block: int = 0) -> np.random.Generator:
    """The generator of a chunk of a stream, the same on every machine.

    Parameters
    ----------
    seed, stream, chunk
        The address: two addresses give independent numbers.
    block
        The block to begin with; a block is four words of 64 bits.

    Returns
    -------
    numpy.random.Generator
        A new generator at the beginning of the block.

    Raises
    ------
    ValueError
        If `chunk` or `block` is negative.

    Examples
    --------
    >>> bool(generator(0, "a", 3).random() == uniforms(0, "a", 3, (1,))[0])
    True
    """
    counter = chunk * BLOCKS_PER_CHUNK + block
    return np.random.Generator(np.random.Philox(key=key_of(seed, stream), counter=counter))


def uniforms(seed: int, stream: str, chunk: int, shape: tuple[int, ...], first: int = 0) -> Floats:
    """Independent uniforms on [0, 1) with 53 bits.

    Parameters
    ----------
    seed, stream, chunk
        The address of the numbers.
    shape
        The shape of the array.
    first
        The number of the chunk to begin with.

    Returns
    -------
    numpy.ndarray
        The numbers of the chunk from `first` on.

    Raises
    ------
    ValueError
        If an address or a side of the shape is negative.

    Examples
    --------
    >>> bool((uniforms(0, "a", 3, (2,)) == uniforms(0, "a", 3, (2,))).all())
    True
    >>> bool((uniforms(0, "a", 3, (9,))[3:] == uniforms(0, "a", 3, (6,), first=3)).all())
    True
    """
    block, skipped = divmod(first, 4)
    return generator(seed, stream, chunk, block).random(skipped + math.prod(shape))[skipped:].reshape(shape)


def normals(seed: int, stream: str, chunk: int, shape: tuple[int, ...]) -> Floats:
    """Standard normals by inversion: ndtri(u + 2^-54) is finite for every u and easy to repeat on a GPU.

    Parameters
    ----------
    seed, stream, chunk
        The address of the numbers.
    shape
        The shape of the array.

    Returns
    -------
    numpy.ndarray
        Independent standard normals, one for each of the uniforms of this address.

    Raises
    ------
    ValueError
        If `chunk` or a side of the shape is negative.

    Examples
    --------
    >>> normals(0, "a", 0, (2, 3)).shape
    (2, 3)
    """
    return standard_normals(generator(seed, stream, chunk), shape)


def standard_normals(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Standard normals by inversion of 53-bit uniforms, finite for every one: the same numbers on any machine."""
    return inverted(rng.random(shape))


def inverted(uniforms: Floats) -> Floats:
    """The standard normals from uniforms with 53 bits."""
    from scipy.special import ndtri  # imported here because every problem imports this module and few draw

    # the largest uniform is 1 - 2^-53, and adding 2^-54 would round it to 1; in place, because arrays are large
    moved = np.asarray(uniforms + 2.0**-54)
    np.minimum(moved, 1 - 2.0**-53, out=moved)
    return np.asarray(ndtri(moved, out=moved))
