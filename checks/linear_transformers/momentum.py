r"""Lemma 4.4: a diagonal layer is a step of gradient descent with momentum, in each reading of its coefficients."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from lipverify.claims import Source, bound, claim, identity

Value = tuple[float, float]

LEAST_SQUARES = "least squares"
SHAPES = ((1, 2), (2, 4), (3, 8), (4, 10))
"""(d, n) of drawn tokens."""


def in_words(kappa: Any, moments: str, fit: str) -> Any:
    """Words left of the lemma at any state and any tokens, for every d and n."""
    from lipverify.proofs.layers import momentum

    return momentum(kappa, moments, orthogonal=fit == LEAST_SQUARES)


def in_fractions(d: int, n: int, kappa: str, moments: str, fit: str, seed: int) -> Fraction:
    """Entries of (u', w') that the lemma misses, for drawn tokens and weights."""
    case = drawn(d, n, seed)
    missed = np.concatenate(case.by_tokens) - np.concatenate(case.lemma(kappa, moments, fit))
    return Fraction(int(np.count_nonzero(missed)))


def smallest(kappa: str, moments: str, fit: str) -> Any:
    """One token x = y = 1; first xy = yy = 1, then xx = xy = yx = 1: (u', w') token by token less the lemma."""
    from lipverify.linear_transformer import Diagonal

    case = Exact(np.ones((1, 2), dtype=int).astype(object), Diagonal(0, 1, 0, 1), Diagonal(1, 1, 1, 0))
    pairs = zip("uw", case.by_tokens, case.lemma(kappa, moments, fit), strict=True)
    return {name: Fraction(moved[0] - stated[0]) for name, moved, stated in pairs}


def asked(d: int, n: int, seed: int) -> Fraction:
    """The kappa with which the lemma gives the w' of the tokens; w' is linear in kappa."""
    case = drawn(d, n, seed)
    (_, w_one), (_, w_a), (_, w) = case.lemma("one"), case.lemma("a"), case.by_tokens
    slope = (w_a - w_one) / (case.state.a[0] - 1)
    return 1 + ((w - w_one) @ slope) / (slope @ slope)


@dataclass(frozen=True)
class Exact:
    """Tokens (n, d + 1) of integers or fractions, a layer that makes the state, and a second that is looked at."""

    context: Any
    first: Any
    second: Any

    @cached_property
    def state(self) -> Any:
        """The state between the layers."""
        from lipverify.linear_transformer import trajectory

        return trajectory((self.context.T @ self.context)[None], [self.first])[-1]

    def fit(self, name: str) -> Any:
        """Least squares, solved in fractions; or weights 1, ..., d, whose residuals are not orthogonal to x."""
        from sympy import Matrix

        from lipverify.linear_transformer.theory.momentum import Fit

        X, y = self.context[:, :-1], self.context[:, -1]
        w = np.arange(1, X.shape[1] + 1).astype(object)
        if name == LEAST_SQUARES:
            solved = Matrix(X.T @ X).LUsolve(Matrix(X.T @ y))
            w = np.asarray([Fraction(int(entry.p), int(entry.q)) for entry in solved], dtype=object)
        residuals = y - X @ w
        return Fit(w[None], np.asarray([residuals @ residuals], dtype=object))

    def lemma(self, kappa: str = "one", moments: str = "current", fit: str = LEAST_SQUARES) -> tuple[Any, Any]:
        """(u', w') as the lemma has them."""
        from lipverify.linear_transformer.theory.momentum import Reading, momentum_step

        reading: Any = Reading(kappa, moments)  # type: ignore[arg-type]
        gram = (self.context.T @ self.context)[None]
        u, w = momentum_step(self.state, gram, self.second, self.fit(fit), reading)
        return u[0], w[0]

    @cached_property
    def by_tokens(self) -> tuple[Any, Any]:
        """(u', w'), column by column: what the layers make of unit tokens that are no keys."""
        from lipverify.linear_transformer import Tokens, forward

        probes = np.eye(self.context.shape[1], dtype=object)
        T = np.stack([forward(Tokens(self.context, e), [self.first, self.second])[-1].query for e in probes], axis=1)
        return T[:-1, -1], -T[-1, :-1]


@lru_cache(maxsize=len(SHAPES))
def drawn(d: int, n: int, seed: int) -> Exact:
    """Integers from -9 to 9 for tokens; fractions for weights, with a = 3/2 and u, w != 0 after the first layer.

    Every reading of the lemma is compared with the same ones.
    """
    from lipverify.foundation.streams import generator
    from lipverify.linear_transformer import Diagonal

    random = generator(seed, f"steps/momentum/{d}/{n}", 0)
    context = random.integers(-9, 10, (n, d + 1)).astype(object)
    weights: list[Any] = [Fraction(int(k), 100) for k in random.choice([-3, -2, -1, 1, 2, 3], 7)]
    weights.insert(3, Fraction(1, 2 * int(context[:, -1] @ context[:, -1])))
    return Exact(context, Diagonal(*weights[:4]), Diagonal(*weights[4:]))


LEMMA = Source(
    "V",
    "Lemma 4.4 and its proof in the appendix",
    r"paraphrased: $u' = (I - \Lambda) u + \Gamma \Sigma (a w^* - w)$, $w' = (1 + s) w - \Pi \Sigma (a w^* - w) - \Phi u$, with "
    r"$\Lambda = -\omega_{xy} a^2 \rho I - \omega_{xx} \Sigma$, $\Gamma = a \omega_{xy} (M + a u w^{*\top})$, $s = \omega_{yy} \lambda$, "
    r"$\Pi = \omega_{yx} M^\top (M + a u w^{*\top})$, $\Phi = a \rho \omega_{yx} M^\top$, $\rho = \sum_i r_i^2$",
)
STATES = (
    r"one layer with four free weights, at any state $(M, u, a, w)$; $s$, $\Phi$, $\rho$ as printed, $\Gamma = a \omega_{xy} "
    r"(M + \kappa u w^{*\top})$, $\Pi = \omega_{yx} M^\top (M + \kappa u w^{*\top})$",
    r"$\Sigma = \sum_i x_i x_i^\top$ over the tokens as they began; $\Sigma^l$ and $\lambda = \sum_i (y_i^l)^2$ over the tokens as "
    "the layer sees them",
    "any tokens, any number of them and any $d$",
)
FIT = (
    *STATES,
    r"$w^*$ is a least-squares solution for the context, $r_i = y_i - \langle w^*, x_i \rangle$, so that $\sum_i r_i x_i = 0$",
)
UPDATE = (
    r"u' = (I - \Lambda) u + \Gamma \Sigma (a w^* - w), \quad w' = (1 + s) w - \Pi \Sigma (a w^* - w) - \Phi u, \quad "
)
CURRENT = r"\quad \Lambda = -\omega_{xy} a^2 \rho I - \omega_{xx} \Sigma^l"
FIRST = r"\quad \Lambda = -\omega_{xy} a^2 \rho I - \omega_{xx} \Sigma"
PROOF = (
    r"As $\sum_i r_i x_i = 0$, $\alpha^l = \sum_i y_i^l x_i^l = (M + u w^{*\top}) \Sigma (a w^* - w) + a \rho u$; put it into "
    r"$u' = (I + \omega_{xx} \Sigma^l) u + a \omega_{xy} \alpha^l$ and $w' = (1 + \omega_{yy} \lambda) w - \omega_{yx} M^\top \alpha^l$. "
)
SMALLEST = (
    r"Smallest case: one token $x = y = 1$; a first layer with $\omega_{xy} = \omega_{yy} = 1$ gives $M = u = 1$, $a = 2$, "
    r"$w = 0$; a second with $\omega_{xx} = \omega_{xy} = \omega_{yx} = 1$ gives, token by token, $u' = 13$ and $w' = -4$; this "
    "reading says "
)
CORRECTED = (
    r"$\kappa = 1$: $\Gamma = a \omega_{xy} (M + u w^{*\top})$, $\Pi = \omega_{yx} M^\top (M + u w^{*\top})$; and $\Lambda = "
    r"-\omega_{xy} a^2 \rho I - \omega_{xx} \Sigma^l$ with $\Sigma^l = (M + u w^{*\top}) \Sigma (M + u w^{*\top})^\top + \rho u u^\top$ "
    r"the moments of the current covariates. Everything else of the lemma stands as printed"
)
RIGHT = {"kappa": "one", "moments": "current", "fit": LEAST_SQUARES}
EVERY_SIZE = identity(in_words, r"\text{words left of } (u', w')", control={"kappa": "a"}, instead=RIGHT)
FRACTIONS = identity(
    in_fractions, r"\text{entries missed of } (u', w')", over={("d", "n"): SHAPES}, method="rational", grade="bounded",
    control={"moments": "original"}, instead=RIGHT,
)  # fmt: skip
FORMS = (
    EVERY_SIZE,
    identity(smallest, "u' - u'_{lemma}", of="u", control={"kappa": "a"}, instead=RIGHT),
    identity(smallest, "w' - w'_{lemma}", of="w", control={"kappa": "a"}, instead=RIGHT),
)

claim(
    "lt.momentum/printed",
    *FORMS,
    source=LEMMA,
    kind="printed",
    expected="refuted",
    over={"kappa": "a", "moments": "current", "fit": LEAST_SQUARES},
    title="Momentum with κ = a, as printed in the appendix",
    statement=UPDATE + r"\kappa = a," + CURRENT,
    assumes=FIT,
    finding=r"With $\kappa = a$ the right-hand sides miss by $(a - 1) \langle w^*, \Sigma (a w^* - w) \rangle$ times $a \omega_{xy} u$ "
    r"in $u'$ and times $-\omega_{yx} M^\top u$ in $w'$: nothing while $u = 0$ or $a = 1$, so not in the first layer, and in general "
    r"from the second on. Where it comes from: in $x_i^l = M x_i + u y_i$ the label enters as it was, $y_i = \langle w^*, x_i "
    r"\rangle + r_i$, without the factor $a$ that belongs to $y_i^l = a y_i - \langle w, x_i \rangle$; so $x_i^l = (M + u w^{*\top}) "
    rf"x_i + r_i u$. {PROOF}{SMALLEST}17 and $-6$.",
    corrected=CORRECTED,
)
claim(
    "lt.momentum/printed/original-moments",
    *FORMS,
    source=LEMMA,
    kind="convention",
    expected="refuted",
    over={"kappa": "a", "moments": "original", "fit": LEAST_SQUARES},
    title="Momentum with κ = a and the first moments in Λ",
    statement=UPDATE + r"\kappa = a," + FIRST,
    assumes=FIT,
    finding=r"Both at once: $(a - 1) \langle w^*, \Sigma (a w^* - w) \rangle$ times $a \omega_{xy} u$ and times $-\omega_{yx} M^\top u$ "
    rf"for $\kappa = a$, and $\omega_{{xx}} (\Sigma^l - \Sigma) u$ for the moments in $\Lambda$. {PROOF}{SMALLEST}14 and $-6$.",
    corrected=CORRECTED,
)
claim(
    "lt.momentum/derived",
    *FORMS,
    source=LEMMA,
    kind="derived",
    expected="supported",
    over=RIGHT,
    title="Momentum with κ = 1 and the moments of the current layer in Λ",
    statement=UPDATE + r"\kappa = 1," + CURRENT,
    assumes=FIT,
    finding=f"{PROOF}Everything else of the lemma stands: the signs, $\\rho$ of the first tokens, $a^2$ in $\\Lambda$. No word is "
    r"left over, for general tokens, $w^*$ and state, in matrices whose sizes are letters: for every $d$ and $n$.",
)
claim(
    "lt.momentum/derived/drawn",
    FRACTIONS,
    source=LEMMA,
    kind="derived",
    expected="supported",
    over=RIGHT,
    title="Momentum with κ = 1, token by token",
    statement=UPDATE + r"\kappa = 1," + CURRENT,
    assumes=(*FIT, "drawn integers for tokens, fractions for weights, up to $d = 4$"),
)
claim(
    "lt.momentum/kappa",
    bound(
        asked,
        r"\kappa",
        equals=1,
        over={("d", "n"): SHAPES},
        method="rational",
        grade="bounded",
        control={"equals": "11/10"},
    ),
    source=LEMMA,
    kind="derived",
    expected="supported",
    title="The κ that drawn tokens ask for",
    assumes=(
        *FIT,
        r"$\Lambda$ with $\Sigma^l$; drawn integers for tokens, fractions for weights, a state with $a = 3/2$",
    ),
    finding=r"Of all $\kappa$, the one that gives the $w'$ of the tokens, in fractions: 1 to the last digit, where $a = 3/2$.",
)
claim(
    "lt.momentum/derived/original-moments",
    *FORMS,
    source=LEMMA,
    kind="convention",
    expected="refuted",
    over={"kappa": "one", "moments": "original", "fit": LEAST_SQUARES},
    title="Momentum with κ = 1 and the first moments in Λ",
    statement=UPDATE + r"\kappa = 1," + FIRST,
    assumes=FIT,
    finding=r"With $\Sigma$ of the first tokens in $\Lambda$ the right-hand side of $u'$ misses by $\omega_{xx} (\Sigma^l - \Sigma) u$: "
    r"a layer multiplies by the moments that it sees, $A = \omega_{xx} \Sigma^l$. It vanishes while the covariates have not moved, "
    rf"or $u = 0$, or $\omega_{{xx}} = 0$; $w'$ is right. {PROOF}{SMALLEST}10 and $-4$.",
    corrected=CORRECTED,
)
claim(
    "lt.momentum/derived/true-weights",
    EVERY_SIZE,
    source=LEMMA,
    kind="convention",
    expected="refuted",
    over={"kappa": "one", "moments": "current", "fit": "the task's own weights"},
    title="Momentum with the task's own weights for w*",
    statement=UPDATE + r"\kappa = 1," + CURRENT,
    assumes=(
        *STATES,
        r"$w^*$ is the vector that the labels were made of, $y_i = \langle w^*, x_i \rangle + r_i$ with $r_i$ the label noise",
    ),
    finding=r"The noise is not orthogonal to the covariates: $\sum_i r_i x_i = g$ is not 0, and $\alpha^l$ has the further terms $a "
    r"(M + u w^{*\top}) g$ and $\langle a w^* - w, g \rangle u$. The lemma is about descent towards the least-squares solution of "
    "the context, which is what the layers can see.",
    corrected=r"$w^*$ is a least-squares solution, $\Sigma w^* = \sum_i y_i x_i$, and $r_i$ are its residuals; for the true weights "
    r"the identity needs $\sum_i r_i x_i = 0$",
)
