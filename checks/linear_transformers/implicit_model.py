r"""Theorem 4.1 and Lemma 4.3: after every layer, each token is a linear map of itself that all tokens share."""

from __future__ import annotations

from typing import Any

from checks._running import run_file
from checks.linear_transformers._identities import exact_cell, left_over, paper, rounding_cell, symbolic_cell
from lipverify.claims.claim import Claim, CrossPlan, Task, side_by_side
from lipverify.claims.figure import Figure, Panel, Series
from lipverify.claims.linear_transformers.identities import (
    RANGE,
    Identity,
    implicit_depth,
    implicit_depth_exact,
    implicit_layer,
    prediction,
    rounding_growth,
)
from lipverify.claims.registry import Profile

THEOREM = paper(
    "Theorem 4.1 and Lemma 4.3",
    r"$x_i^l = M^l x_i + u^l y_i$, $y_i^l = a^l y_i - \langle w^l, x_i \rangle$, "
    r"$x_t^l = M^l x_t$, $y_t^l = -\langle w^l, x_t \rangle$",
)
STATEMENT = (
    r"x_i^l = M^l x_i + u^l y_i, \quad y_i^l = a^l y_i - \langle w^l, x_i \rangle, \quad "
    r"x_t^l = M^l x_t, \quad y_t^l = -\langle w^l, x_t \rangle"
)
RECURSION = (
    r"M' = (I + A) M - b w^\top, \quad u' = (I + A) u + a b, \quad "
    r"a' = (1 + \delta) a + \langle c, u \rangle, \quad w' = (1 + \delta) w - M^\top c"
)
ANY = (
    "any weights $P_k, Q_k$ and any number of heads; the tokens are any numbers",
    r"$\begin{bmatrix} A & b \\ c^\top & \delta \end{bmatrix} = \sum_k P_k \bigl(\sum_j e_j e_j^\top\bigr) Q_k$ over the context at the current "
    r"layer; $M = I$, $u = 0$, $a = 1$, $w = 0$ before the first",
    "the query is never a key",
)
CONTROL = (
    "$u' = (I + A) u - a b$; $M' = (I + A) M + b w^\\top$; $a' = (1 + \\delta) a$; $w' = (1 + \\delta) w + M^\\top c$; "
    "$a = 0$ before the first layer; the query counted among the keys"
)
SMALL = ((1, 1, 1), (1, 2, 2), (1, 3, 2), (2, 1, 1), (2, 2, 1), (2, 1, 2))
SMALL_FULL = ((2, 2, 2), (2, 3, 1), (3, 1, 1))
EXACT = ((1, 1, 1, 3), (2, 3, 2, 2), (3, 4, 2, 3), (2, 3, 4, 4))
FLOATING = ((1, 2, 1, 8), (2, 4, 1, 4), (3, 6, 2, 2), (3, 6, 4, 4), (5, 12, 3, 6), (5, 10, 4, 8))
ROUTED = (2, 4, 2, 3)
GROWTH = (3, 6, 4, 8)


def claims(profile: Profile) -> tuple[Claim, ...]:
    """One layer at any state, and from there any depth."""
    return _layer(profile), _depth(profile)


def _layer(profile: Profile) -> Claim:
    sizes = SMALL if profile.name == "quick" else (*SMALL, *SMALL_FULL)
    return Claim(
        id="lt.implicit-model/layer",
        title="One layer takes an implicit model to an implicit model",
        statement=RECURSION,
        source=THEOREM,
        assumptions=(*ANY, "any state $(M, u, a, w)$: every entry is a free symbol"),
        claimed="no term is left over",
        control=CONTROL.split("; $a = 0$")[0],
        expected="supported",
        summary=left_over,
        cells=tuple(
            symbolic_cell({"d": d, "n": n, "heads": heads}, Task(implicit_layer, (d, n, heads)))
            for d, n, heads in sizes
        ),
        finding=(
            "Every weight, every token, the query and the state itself are free symbols; the layer is written out from its definition, as "
            "sums over heads, keys and entries, and the images of all tokens and of the query agree with the recursion as "
            "polynomials with integer coefficients. As the state is general, this is the step of an induction over layers: at these sizes "
            "the theorem holds at every depth, not only at those that were tried. In words: the attention of a layer is one "
            "matrix $H$, the same for all tokens and the query, so that every token is $T e_i$ with $T = \\begin{bmatrix} M & u \\\\ -w^\\top & a \\end{bmatrix}$ "
            "and $T' = (I + H) T$; the four formulas are its blocks. The query has $y_t = 0$ and so never meets $u$ and $a$."
        ),
    )


def _depth(profile: Profile) -> Claim:
    draws = 8 if profile.name == "quick" else 64
    growth = Task(rounding_growth, (*GROWTH, draws, profile.seed))
    keys = ("d", "n", "heads", "layers")
    exact = (
        exact_cell(dict(zip(keys, size, strict=True)), Task(implicit_depth_exact, (*size, profile.seed)))
        for size in EXACT
    )
    floating = (
        rounding_cell(dict(zip(keys, size, strict=True)), Task(implicit_depth, (*size, profile.seed)))
        for size in FLOATING
    )
    return Claim(
        id="lt.implicit-model/depth",
        title="The implicit model after several layers",
        statement=STATEMENT,
        source=THEOREM,
        assumptions=ANY,
        claimed="tokens and recursion agree",
        control=CONTROL,
        expected="supported",
        cells=(*exact, *floating),
        cross_checks=_routes(profile),
        extra_tasks=(growth,),
        summary=_differences,
        figures=lambda results: _figure(results[growth.address]),
        finding=(
            f"Integers drawn from ${RANGE:.2g}$ values go through the definition, token by token, and through the recursion, and not one entry "
            "differs. Both are polynomials of degree at most $2 \\cdot 3^L - 1$ in what is drawn, so that different polynomials would agree with a chance below "
            f"{2 * 3**4 / RANGE:.0e} (Schwartz and Zippel). In floating point the two differ by less than a bound that follows from counting "
            "operations, at depths up to 8 and with up to four heads; each of the falsified twins is millions of bounds away. The prediction is the same by "
            "four routes: token by token, by the recursion, by second moments alone, and in fractions."
        ),
    )


def _differences(results: dict[str, Any]) -> str:
    """Of the evidence in floating point, what comes nearest to the bound."""
    floating = [result.stated for result in results.values() if isinstance(result, Identity) and result.of > RANGE]
    return f"none in integers; at most {max(floating):.2g} of the bound on rounding"


def _routes(profile: Profile) -> tuple[CrossPlan, ...]:
    """-y_t by each route against the one in fractions, on the same doubles."""

    def task(route: str) -> Task:
        return Task(prediction, (route, *ROUTED, profile.seed))

    return tuple(
        CrossPlan(
            where=dict(zip(("d", "n", "heads", "layers"), ROUTED, strict=True)),
            quantity="prediction $-y_t$",
            methods=(route, "rational"),
            tasks=(task(route), task("rational")),
            read=side_by_side,
        )
        for route in ("tokens", "recursion", "moments")
    )


def _figure(found: Any) -> tuple[Figure, ...]:
    """The largest difference after each layer, and what rounding may amount to."""
    layers = tuple(map(float, found.depth))
    panel = Panel(
        title="tokens against recursion",
        xlabel="layers",
        ylabel="relative difference",
        xscale="linear",
        series=(
            Series(label="largest difference", x=layers, y=found.difference, style="points"),
            Series(label="derived bound on rounding", x=layers, y=found.bound, style="dashed"),
        ),
    )
    d, n, heads, _ = GROWTH
    caption = (
        f"The query by the definition and by the recursion, for drawn full weights ($d = {d}$, $n = {n}$, {heads} heads): the largest "
        "difference over several draws, relative to the same forward pass on absolute values, and the bound that counting operations gives."
    )
    return (
        Figure(
            caption=caption, alt="Differences near machine epsilon at every depth, below the bound.", panels=(panel,)
        ),
    )


if __name__ == "__main__":
    run_file(__file__)
