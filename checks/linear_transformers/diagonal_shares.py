"""How near to the diagonal trained matrices are, and pictures of them."""

from __future__ import annotations

import math
from typing import Any

from lipverify.claims import at
from lipverify.claims.ledger import Figure, HeatMap


def matrices(noise: str, layers: int, training: int) -> Any:
    """(layers, 2, d + 1, d + 1): P and Q of each layer, in rescaled units; of the last P only the row that is read."""
    from lipverify.linear_transformer.training.witness import witness

    array = witness(noise, "FULL", layers, training).trained.array.copy()
    array[-1, 0, :-1] = 0.0
    return array


def is_there(noise: str, layers: int, training: int) -> bool:
    """Whether such a model comes with lipverify."""
    from lipverify.linear_transformer.training.witness import seeds_of

    return training in seeds_of(noise, "FULL", layers)


def off_diagonal(noise: str, layers: int, training: int, but: int = 0, column: str = "counted") -> dict[str, Any]:
    """The largest share of squared weights off the diagonal, over all P and Q of a training.

    So many matrices are left out; the column P_xy is counted, or it is taken out of every P.
    """
    import numpy as np

    shares: list[tuple[float, str, float]] = []
    if not is_there(noise, layers, training):
        return {"share": (0.0, math.inf, "this training is not there"), "ranked": shares}
    for layer, pair in enumerate(matrices(noise, layers, training), 1):
        for name, matrix in zip("PQ", pair, strict=True):
            kept = matrix.copy()
            if name == "P" and column == "left out":
                kept[:-1, -1] = 0.0
            square = kept**2 / np.sum(kept**2)
            shares.append((1 - float(np.trace(square)), f"{name}_{layer}", float(square[:-1, -1].sum())))
    ranked = sorted(shares, reverse=True)
    return {"share": (ranked[but][0], 0.0), "ranked": ranked}


def scaled(noise: str, layers: int, training: int) -> list[Any]:
    """P and Q of each layer, over their largest entries."""
    import numpy as np

    return [[(matrix / np.abs(matrix).max()).tolist() for matrix in pair] for pair in matrices(noise, layers, training)]


def started(noise: str, layers: int) -> dict[int, list[str]]:
    """From which start each training came, back to the first of its line."""
    from lipverify.linear_transformer.training.witness import origins, seeds_of

    return {training: list(origins(noise, "FULL", layers, training)) for training in seeds_of(noise, "FULL", layers)}


def largest(**found: Any) -> str:
    """The largest shares of each training, and the start that it came from."""
    said = []
    for name, (shares, starts) in found.items():
        if not shares["ranked"]:
            continue
        each = ", ".join(f"{share:.2g} (${matrix}$)" for share, matrix, _ in shares["ranked"][:3])
        said.append(
            f"{name}: {each}; in the column $xy$ of the first {shares['ranked'][0][2]:.2g}; from {' from '.join(starts)}"
        )
    return f"The largest shares off the diagonal, by law of the noise, depth and training, and the starts that won. {'. '.join(said)}."


def told(noise: str, layers: int, training: int) -> list[Any]:
    """Shares and starts of a training."""
    return [off_diagonal(noise, layers, training), started(noise, layers).get(training, [])]


def maps(found: list[Any]) -> Figure:
    """Heat maps of P and Q by layer."""
    named = [(f"${name}_{layer}$", pair[k]) for k, name in enumerate("PQ") for layer, pair in enumerate(found, 1)]
    return Figure(
        maps=tuple(HeatMap(title=title, values=tuple(map(tuple, matrix))) for title, matrix in named),
        across=len(found),
        caption=r"FULL with 4 layers, $\sigma \in \{1, 3\}$: P and Q by layer in rescaled units, each over its largest entry; the label is the last row and "
        "column. Of the last P only the row that is read.",
        alt="Most matrices are diagonal; one P has a strong last column.",
    )  # fmt: skip


def telling(*depths: int, noises: tuple[str, ...], trainings: tuple[int, ...]) -> Any:
    """The sentence on the models of these depths."""
    models = [(noise, k, training) for noise in noises for k in depths for training in trainings]
    return at(
        largest,
        **{
            f"{noise}, {k} layers, training {training}": at(told, noise=noise, layers=k, training=training)
            for noise, k, training in models
        },
    )
