"""What the files on Theorem 5.2 share: its words, what is assumed, the two noise levels and the distances from ridge."""

from __future__ import annotations

import msgspec

from lipverify.claims.claim import Task
from lipverify.claims.ledger import Source
from lipverify.claims.linear_transformers.noise_adaptive import difference_growth
from lipverify.claims.registry import Profile
from lipverify.linear_transformer.theory.noise_adaptive import Order

THEOREM = Source(
    paper="V",
    place="Theorem 5.2",
    printed=r"for two noise levels $\sigma_1, \sigma_2$ and $x \sim N(0, I/n)$, one layer with only $\omega_{yx}$ and one with only $\omega_{yy}$ reach ridge regression at both as $n \to \infty$",
)
TWIN = msgspec.structs.replace(THEOREM, place="Theorem 5.2, a twin that is not printed")
READING = msgspec.structs.replace(THEOREM, place="Theorem 5.2, another reading")
ASSUMED = (
    r"$x_i \sim N(0, \mathbf{I}/n)$, $w^* \sim N(0, \mathbf{I})$, $y_i = \langle w^*, x_i \rangle + \sigma \varepsilon_i$, $d$ fixed",
    r"ridge has the constant $\sigma^2$; weight vectors are compared, $w$ with $w_{\mathrm{ridge}}$",
    r"$\omega_{yy} = v/n$: it may depend on the length of the context",
)
PAIR = (0.5, 1.0)
EXACT_D = (1, 2)
WORDS = {"yx-yy": "omega_yx first", "yy-yx": "omega_yy first"}


def growths(profile: Profile, order: Order) -> dict[tuple[int, str], Task]:
    """The exact distances from ridge on a ladder in n, by (d, noise level)."""
    points = 17 if profile.name == "quick" else 25
    return {
        (d, f"sigma_{1 + second}"): Task(difference_growth, (d, *PAIR, bool(second), order, points))
        for d in EXACT_D
        for second in (0, 1)
    }
