"""The best minima of GD++ that are known for the published table, as data: the ends of a search from many starts.

Only the weights are taken from the file: their loss is integrated on every use.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from lipverify.errors import InvalidInput
from lipverify.foundation.noted import makes
from lipverify.foundation.shipped import shipped
from lipverify.foundation.store import names_in, read_record
from lipverify.linear_transformer.gdplusplus.descents import Minimum
from lipverify.linear_transformer.gdplusplus.loss import flat_weights
from lipverify.linear_transformer.gdplusplus.optimum import GDPlusPlusOptimum, excess_loss, finished
from lipverify.linear_transformer.gdplusplus.spectrum import POINTS
from lipverify.linear_transformer.layer import GDPlusPlus
from lipverify.linear_transformer.published import regression_named

FORMAT = 2
"""Version of the file's format; any other version is refused."""
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
        The layers (`model`), and the loss with its error.

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
        rule = f"the file has {len(optima)} depths for it; use grown_gdplusplus"
        raise InvalidInput(f"no optimum of GD++ for {layers} layers under {noise!r}, seen in {seen_in}: {rule}.")
    return optima[layers - 1]


def _all(noise: str, seen_in: float | None) -> tuple[Found, ...]:
    view = next((name for name, contexts in VIEWS.items() if contexts == seen_in), str(seen_in))
    return known(noise, known_path()).get(view, ())


def _integrated(noise: str, search: Found, seen_in: float | None) -> GDPlusPlusOptimum:
    """An optimum with its loss and error computed from the stored weights."""
    regression, weights = regression_named(noise), flat_weights([GDPlusPlus(*layer) for layer in search.layers])
    end = Minimum(excess_loss(regression, len(search.layers), POINTS, seen_in)(weights), weights)
    return finished(regression, seen_in, end)


def known(noise: str, path: Path) -> dict[str, tuple[Found, ...]]:
    """The optima of a law by view, from a file; empty if the file has none of this law."""
    if noise not in names_in(path):
        return {}
    return read_record(path, Known, FORMAT, f"{path.name}, {noise}", "install lipverify again", noise).optima
