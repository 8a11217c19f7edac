"""What the files on the printed table share: the columns with noise, the problem, how sure to be in all of them."""

from __future__ import annotations

from scipy.special import ndtri

from checks.linear_transformers._table import NOISES, D, N
from lipverify.claims.ledger import Source
from lipverify.claims.registry import Profile
from lipverify.linear_transformer.regression.noise import CategoricalNoise, NoiseLaw, UniformNoise

NOISY = NOISES[1:]
QUICK: tuple[NoiseLaw, ...] = (UniformNoise(1.0), UniformNoise(5.0), CategoricalNoise((1.0, 3.0)))
ASSUMED = (
    f"$d = {D}$, $n = {N}$, $x_i, w^* \\sim \\mathcal{{N}}(0, \\mathbf{{I}})$, noiseless query target",
    "adjusted loss: half the squared error, less that of ridge with the true $\\sigma^2$",
)
GDPP = Source(
    paper="V",
    place="Table 1, rows of GD++",
    printed="adjusted evaluation loss of trained GD++ models, and of ConstRR, ridge with one tuned constant",
)
LEVEL = 0.05
"""Chance that a table without slips is refuted by its noise anywhere in its columns, together."""
Z = float(-ndtri(LEVEL / len(NOISY)))
"""Standard errors below the bound that noise explains, in one of the columns; one side."""
ROW_CONTEXTS = 8192
"""Contexts for the standard error of a printed number, which they give to one percent."""


def laws(profile: Profile) -> tuple[NoiseLaw, ...]:
    """The columns with noise that a profile measures."""
    return QUICK if profile.name == "quick" else NOISY


def where(noise: NoiseLaw, layers: int | None = None) -> dict[str, str | int | float]:
    """The column and row of a cell."""
    return {"noise": noise.label} if layers is None else {"noise": noise.label, "layers": layers}


def name_of(noise: NoiseLaw) -> str:
    """A law of the noise in a sentence."""
    braces = isinstance(noise, CategoricalNoise)
    return f"$\\sigma \\in \\{{{noise.label[1:-1]}\\}}$" if braces else f"$\\sigma_{{\\max}} = {noise.label}$"
