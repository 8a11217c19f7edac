"""The kinds of proof by the names of their theorems; a theorem's folder is imported when a file is about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from .form import Kind

THEOREMS = {
    "window": ("envelope", "window", "transfer", "tradeoff"),
    "every_n": ("every n",),
    "every_dimension": ("every dimension",),
    "one_problem": (
        *("optimum", "optimum far", "optimum at zero", "scale", "bias rises", "bias falls"),
        *("not isotropic", "not aligned"),
    ),
    "low_rank": ("aligned", "aligned blocks"),
    "layers": ("layers", "cosine", "ridge"),
}
"""The theorems of each folder."""
FOLDERS = {theorem: folder for folder, theorems in THEOREMS.items() for theorem in theorems}
registered: dict[str, Kind] = {}


def register(kind: Kind, *theorems: str) -> None:
    """Make a kind of proof known, by its folder when it is imported."""
    registered.update(dict.fromkeys(theorems, kind))


class Kinds(Mapping[str, Kind]):
    """All kinds of proof."""

    def __getitem__(self, theorem: str) -> Kind:
        if theorem not in registered:
            import_module(f"..{FOLDERS[theorem]}", __package__)
        return registered[theorem]

    def __iter__(self) -> Iterator[str]:
        return iter(FOLDERS)

    def __len__(self) -> int:
        return len(FOLDERS)


KINDS = Kinds()
