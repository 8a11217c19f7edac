"""The optimal window for all n, L and sigma beyond explicit numbers, from noise and bias between explicit functions.

windows     where w* lies, what it tends to, and what it costs on other tasks
laws        the laws by name, and the lemmas that each of them needs
variogram   the bias of any law whose variogram lies between two sums of powers
roughness   such sums for Matern fields, kinks and jumps
sentences   what the theorems say
"""

from ..kernel.form import Kind
from ..kernel.registry import register
from ..kernel.tokens import laplace, tilt
from .laws import about, start
from .sentences import sentence
from .variogram import POWERS
from .windows import THEOREMS, chain, gathered, tradeoff, transfer, window

KIND = Kind(
    chain=chain,
    about=about,
    given=lambda about: start(about["law"], about["d"]),
    sentence=sentence,
    chosen={
        laplace: ("T_least",),
        tilt: ("u", "g_low", "g_high"),
        window: ("W_least", "K", "at", "low", "high", "end"),
        transfer: ("rho",),
        tradeoff: ("rho", "K"),
    },
    keys=("law", "d"),
    gathered=gathered,
    signed=(
        *("g_low", "g_high", "S2", "b_plus", "b_next", "s"),
        *(f"{name}_{side}" for name in ("A", *(f"c{j}" for j in POWERS)) for side in ("low", "high")),
    ),
)
register(KIND, *THEOREMS)
