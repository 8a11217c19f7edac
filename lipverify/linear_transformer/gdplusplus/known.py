"""The optima of GD++ for the published table as data, so that verifying claims needs no search.

`python -m lipverify.linear_transformer.gdplusplus.known [LAW ...]` makes the file again, for all laws of the table or
for the named ones. Only the weights are taken from the file: their loss is integrated on every use.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

import msgspec

from lipverify.errors import InvalidInput
from lipverify.foundation.noted import makes
from lipverify.foundation.shipped import shipped
from lipverify.foundation.store import names_in, read_record, sealed, write_record
from lipverify.linear_transformer.gdplusplus.descents import Minimum
from lipverify.linear_transformer.gdplusplus.floor import LARGEST_DEPTH
from lipverify.linear_transformer.gdplusplus.loss import flat_weights
from lipverify.linear_transformer.gdplusplus.optimum import GDPlusPlusOptimum, excess_loss, finished, optimal_gdplusplus
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
    """The layers of a believed optimum, without its loss."""
    return tuple(GDPlusPlus(*layer) for layer in _found(noise, layers, seen_in).layers)


def known_depth(noise: str, seen_in: float | None = None) -> int:
    """The number of layers of the deepest believed optimum of a law; 0 if there is none."""
    return len(_all(noise, seen_in))


def known_path() -> Path:
    return shipped() / "linear_transformers" / "models" / "gdplusplus.json"


def _found(noise: str, layers: int, seen_in: float | None) -> Found:
    optima = _all(noise, seen_in)
    if not 1 <= layers <= len(optima):
        rule = f"the file has {len(optima)} depths for it; `{COMMAND} {noise}` makes it again"
        raise InvalidInput(f"no optimum of GD++ for {layers} layers under {noise!r}, seen in {seen_in}: {rule}.")
    return optima[layers - 1]


def _all(noise: str, seen_in: float | None) -> tuple[Found, ...]:
    view = next((name for name, contexts in VIEWS.items() if contexts == seen_in), str(seen_in))
    return known(noise, known_path()).get(view, ())


def _integrated(noise: str, search: Found, seen_in: float | None) -> GDPlusPlusOptimum:
    """An optimum with its loss, error and evidence of a minimum computed from the stored weights."""
    regression, weights = regression_named(noise), flat_weights([GDPlusPlus(*layer) for layer in search.layers])
    end = Minimum(excess_loss(regression, len(search.layers), POINTS, seen_in)(weights), weights)
    return finished(regression, seen_in, [end], search.starts, search.routes, search.agreeing)


def known(noise: str, path: Path) -> dict[str, tuple[Found, ...]]:
    """The optima of a law by view, from a file; empty if the file has none of this law."""
    if noise not in names_in(path):
        return {}
    way_out = f"`{COMMAND} {noise}` makes it again"
    return read_record(path, Known, FORMAT, f"{path.name}, {noise}", way_out, noise).optima


def write_known(path: Path, noise: str, optima: dict[str, tuple[Found, ...]]) -> None:
    """Write the optima of a law into the file, which is replaced as a whole."""
    write_record(sealed(Known(format=FORMAT, command=f"{COMMAND} {noise}", optima=optima)), path, noise)


def main() -> None:
    """Search, and keep each result that is better than that in the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [noise.name for noise in NOISES]
    parser.add_argument("law", nargs="*", default=names, help=f"one of {', '.join(names)}")
    parser.add_argument("--layers", type=int, default=LARGEST_DEPTH)
    parser.add_argument("--seed", type=int, default=0)
    asked, path = parser.parse_args(), known_path()
    for noise in asked.law:
        optima = dict(known(noise, path))
        for view, seen_in in VIEWS.items():
            old = optima.get(view, ())
            searched = optimal_gdplusplus(regression_named(noise), asked.layers, seen_in, asked.seed)
            new = [
                Found(layers=each.layers, starts=each.starts, agreeing=each.agreeing, routes=each.routes)
                for each in searched
            ]
            pairs = zip(old, new, strict=False)
            better = [min(pair, key=lambda one: _integrated(noise, one, seen_in).excess.value) for pair in pairs]
            optima[view] = (*better, *max(old, new, key=len)[len(better) :])
            write_known(path, noise, optima)
            print(noise, view, [_integrated(noise, one, seen_in).excess.value for one in optima[view]], flush=True)


if __name__ == "__main__":
    main()
