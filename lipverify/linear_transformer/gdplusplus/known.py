r"""The optima of GD++ for the published table as data, so that verifying claims needs no search.

`python -m lipverify.linear_transformer.gdplusplus.known [LAW ...]` makes the file again, for all laws of the table or
for the named ones. Each line is a law, with a digest that detects edits. Only the weights are taken from
the file: their loss is integrated on every use.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import msgspec
import numpy as np

from lipverify.errors import InvalidInput
from lipverify.foundation.noted import makes
from lipverify.foundation.shipped import shipped
from lipverify.foundation.store import names_in, read_record, sealed, write_record
from lipverify.linear_transformer.gdplusplus.descents import Minimum
from lipverify.linear_transformer.gdplusplus.filters import constant_ridge_loss
from lipverify.linear_transformer.gdplusplus.floor import LARGEST_DEPTH
from lipverify.linear_transformer.gdplusplus.loss import flat_weights
from lipverify.linear_transformer.gdplusplus.optimum import GDPlusPlusOptimum, excess_loss, finished, next_optimum
from lipverify.linear_transformer.gdplusplus.spectrum import POINTS
from lipverify.linear_transformer.layer import GDPlusPlus
from lipverify.linear_transformer.published import NOISES, regression_named

FORMAT = 2
"""Version of the file's format; any other version is refused."""
COMMAND = "python -m lipverify.linear_transformer.gdplusplus.known"
VIEWS: Mapping[str, float | None] = {"all": None, "1e5": 1e5, "1e9": 1e9}
"""The eigenvalues that count: all, or those that this number of contexts shows."""


class Found(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The weights of one optimum, (w_xx, w_yx) by layers, and the evidence of the search."""

    layers: tuple[tuple[float, float], ...]
    starts: int
    agreeing: int
    routes: tuple[str, ...]


class Known(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line of the file, for one law: the optima with 1, 2, ... layers of each view."""

    format: int
    command: str
    optima: dict[str, tuple[Found, ...]]
    digest: str = ""


@makes("bounded", "exact")
@cache
def known_optimum(noise: str, layers: int, seen_in: float | None = None) -> GDPlusPlusOptimum:
    """The best GD++ model that a search found, for d = 10 and n = 20; its loss is integrated on each call.

    Parameters
    ----------
    noise
        The name of the law of the noise.
    layers
        The depth.
    seen_in
        None for the expectation over all contexts; otherwise a number of contexts, and eigenvalues above the largest
        that so many show are left out.

    Returns
    -------
    GDPlusPlusOptimum
        The layers (`model`), the loss with its error, and the evidence for it.

    Raises
    ------
    InvalidInput
        If the file has no optimum for that law, depth and number of contexts, or was edited.

    Examples
    --------
    >>> round(known_optimum("uniform-0", 4).loss.value, 8)
    0.00039759
    """
    return _integrated(noise, _found(noise, layers, seen_in), seen_in)


def known_model(noise: str, layers: int, seen_in: float | None = None) -> tuple[GDPlusPlus, ...]:
    """The layers of a believed optimum, without its loss.

    Raises
    ------
    InvalidInput
        As `known_optimum`.

    >>> known_model("uniform-3", 2) == known_optimum("uniform-3", 2).model
    True
    """
    return tuple(GDPlusPlus(*layer) for layer in _found(noise, layers, seen_in).layers)


def known_depth(noise: str, seen_in: float | None = None) -> int:
    """The number of layers of the deepest believed optimum of a law; 0 if there is none.

    >>> known_depth("uniform-0") >= 4, known_depth("uniform-9")
    (True, 0)
    """
    return len(_all(noise, seen_in))


def known_path() -> Path:
    """The file that comes with lipverify."""
    return shipped() / "linear_transformers" / "models" / "gdplusplus.json"


def _found(noise: str, layers: int, seen_in: float | None) -> Found:
    optima = _all(noise, seen_in)
    if not 1 <= layers <= len(optima):
        rule = f"the file has {len(optima)} depths for it; `{COMMAND} {noise}` makes it again"
        raise InvalidInput(f"no optimum of GD++ for {layers} layers under {noise!r}, seen in {seen_in}: {rule}.")
    return optima[layers - 1]


def _all(noise: str, seen_in: float | None) -> tuple[Found, ...]:
    """The stored optima of a law in a view; empty if there are none."""
    view = next((name for name, contexts in VIEWS.items() if contexts == seen_in), str(seen_in))
    return known(noise, known_path()).get(view, ())


def _integrated(noise: str, search: Found, seen_in: float | None) -> GDPlusPlusOptimum:
    """An optimum with its loss, error and evidence of a minimum computed from the stored weights."""
    regression = regression_named(noise)
    loss, finer = (excess_loss(regression, len(search.layers), points, seen_in) for points in (POINTS, POINTS + 4))
    weights = flat_weights([GDPlusPlus(*layer) for layer in search.layers])
    end = Minimum(loss(weights), weights)
    return finished(constant_ridge_loss(regression), loss, finer, [end], search.starts, search.routes, search.agreeing)


@cache
def known(noise: str, path: Path) -> dict[str, tuple[Found, ...]]:
    """The optima of a law by view, from a file; empty if the file has none of this law.

    Raises
    ------
    InvalidInput
        If the file is of another form, or was edited.
    """
    if noise not in names_in(path):
        return {}
    way_out = f"`{COMMAND} {noise}` makes it again"
    return read_record(path, Known, FORMAT, f"{path.name}, {noise}", way_out, noise).optima


def write_known(path: Path, noise: str, optima: dict[str, tuple[Found, ...]]) -> None:
    """Write the optima of a law into the file, which is replaced as a whole."""
    write_record(sealed(Known(format=FORMAT, command=f"{COMMAND} {noise}", optima=optima)), path, noise)


def _search(noise: str, seen_in: float | None, depth: int, seed: int, begin: Sequence[Found]) -> tuple[Found, ...]:
    """Search for the optima of a law, continuing from those of the first depths."""
    optimum = _integrated(noise, begin[-1], seen_in) if begin else None
    minima = np.atleast_2d(flat_weights(optimum.model)) if optimum else np.empty((0, 0))
    optima = list(begin)
    while len(optima) < depth:
        optimum, minima = next_optimum(regression_named(noise), optimum, minima, seen_in, seed)
        optima.append(
            Found(layers=optimum.layers, starts=optimum.starts, agreeing=optimum.agreeing, routes=optimum.routes)
        )
    return tuple(optima)


def _better(noise: str, seen_in: float | None, first: Sequence[Found], second: Sequence[Found]) -> tuple[Found, ...]:
    """The better of two optima at each depth, which combines searches with several seeds."""
    pairs = list(zip(first, second, strict=False))
    best = [min(pair, key=lambda search: _integrated(noise, search, seen_in).excess.value) for pair in pairs]
    return (*best, *max(first, second, key=len)[len(best) :])


def main() -> None:
    """Search, and keep each result that is better than that in the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [noise.name for noise in NOISES]
    parser.add_argument("law", nargs="*", default=names, help=f"one of {', '.join(names)}")
    parser.add_argument("--view", nargs="*", default=list(VIEWS), choices=list(VIEWS))
    parser.add_argument("--layers", type=int, default=LARGEST_DEPTH)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--deeper", action="store_true", help="only depths that the file does not have yet")
    asked, path = parser.parse_args(), known_path()
    for noise in asked.law:
        optima = dict(known(noise, path))
        for view in asked.view:
            old = optima.get(view, ())
            new = _search(noise, VIEWS[view], asked.layers, asked.seed, old if asked.deeper else ())
            kept = _better(noise, VIEWS[view], old, new)
            optima[view] = kept
            write_known(path, noise, optima)
            print(noise, view, [_integrated(noise, search, VIEWS[view]).excess.value for search in kept], flush=True)


if __name__ == "__main__":
    main()
