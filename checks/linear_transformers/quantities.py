r"""Quantities of the theorems on linear transformers: contexts, tokens, trained models; and common assumptions.

The paper is Vladymyrov, von Oswald, Sandler, Ge, "Linear Transformers are Versatile In-Context Learners", NeurIPS 2024.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lipverify.errors import InvalidInput

Floats = NDArray[np.float64]
Value = tuple[float, float]
"""A number and its error."""
NOISE_LAWS = (*(f"uniform-{sigma_max}" for sigma_max in range(8)), "levels-1-3", "levels-1-3-5")
"""The columns of Table 1: sigma uniform on [0, sigma_max], or one of a few levels."""
NOISY = NOISE_LAWS[1:]
TRAININGS = (0, 1, 2)
"""Seeds of the trainings that lipverify ships."""
STANDARD = r"$d = 10$, $n = 20$, $x_i, w^* \sim \mathcal{N}(0, \mathbf{I})$, noiseless query target"
"""The problem of Table 1 without the law of the noise."""
ADJUSTED = r"adjusted loss: half the squared error, minus that of ridge regression with the true $\sigma^2$"
"""The loss of Table 1."""
ENTRY = """a printed loss is a mean over 100,000 sequences, with ridge regression at the true variance measured on the same
    sequences"""
"""An entry of Table 1."""


def printed(noise: str, model: str, layers: int = 0) -> Any:
    """The number printed in Table 1, with half a unit of its last digit."""
    from lipverify.linear_transformer import printed as of_table

    return of_table(noise, model, layers)


def named(noise: str) -> str:
    """The name of a law of the noise in a sentence."""
    from lipverify.linear_transformer import regression_named

    return f"${regression_named(noise).noise.latex}$"


def require(rule: bool, words: str) -> None:
    """Refuse an argument that breaks its rule, in these words."""
    if not rule:
        raise InvalidInput(words)


def held_out(regression: Any, contexts: int, seed: int, stream: str) -> Any:
    """Contexts of a problem from (seed, stream), and the losses of estimators on them."""
    from lipverify.linear_transformer import draw_contexts, evaluation

    return evaluation(draw_contexts(regression, contexts, seed, stream))


def is_trained(noise: str, family: str, layers: int, training: int) -> bool:
    """True if lipverify ships a model of this family, depth and number, trained under this law of the noise."""
    from lipverify.linear_transformer import trainings

    return training in trainings(noise, family, layers)


def trained(noise: str, family: str, layers: int, training: int) -> Any:
    """The record of that model, which estimates w from contexts; its `model` is the layers."""
    from lipverify.linear_transformer import trainings

    return trainings(noise, family, layers)[training]


def tokens(d: int, n: int, seed: int, stream: str) -> tuple[Any, Any]:
    """A context of n normal tokens (x, y), shape (n, d + 1), and a query (x_t, 0), shape (d + 1,)."""
    from lipverify.sampling import normals

    return normals(seed, stream, 0, (n, d + 1)), np.append(normals(seed, stream, 1, (d,)), 0.0)
