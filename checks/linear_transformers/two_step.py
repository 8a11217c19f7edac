r"""What each weight of a diagonal layer changes in the prediction, and after how many layers."""

from __future__ import annotations

from typing import Any

from checks._running import run_file
from checks.linear_transformers._identities import NOTHING, REBUTTAL, left_over, number_cell, symbolic_cell
from lipverify.claims.claim import Claim, CrossPlan, Task
from lipverify.claims.linear_transformers.effects import (
    Arrival,
    arrival,
    next_layer_symbols,
    second_layer_symbols,
    through_query_symbols,
)
from lipverify.claims.registry import Profile
from lipverify.claims.verdict import Allowed

SETTING = (
    "diagonal layers with four free weights each; any tokens",
    r"the change of a label is that from $\omega_{xy}^l = 0$ to its value, all other weights as they are",
)
PARTS = r"\omega_{yx}^{l+1} \bigl\{ \omega_{xy}^l \bigl( y_t \langle \beta, \alpha \rangle + \mu \langle \alpha, z_t \rangle \bigr) + (\omega_{xy}^l)^2 y_t \mu \|\alpha\|^2 \bigr\}"
WHERE = (
    r"$z_t = (I + \omega_{xx} \Sigma) x_t$, $\beta = (I + \omega_{xx} \Sigma) ((1 + \omega_{yy} \lambda) \alpha + \omega_{yx} \Sigma \alpha)$, "
    r"$\mu = (1 + \omega_{yy} \lambda) \lambda + \omega_{yx} \|\alpha\|^2$, everything at layer $l$ but $\omega_{yx}^{l+1}$"
)
CASES = ((1, 2, 0), (3, 8, 0), (3, 8, 1), (5, 12, 2), (5, 12, 4))


def claims(profile: Profile) -> tuple[Claim, ...]:
    """Nothing after one layer, something after two, and by which way."""
    tasks = {case: Task(arrival, (*case, profile.seed)) for case in CASES}
    return (_next(tasks), _second(tasks), _through_query(tasks))


def _next(tasks: dict[tuple[int, int, int], Task]) -> Claim:
    return Claim(
        id="lt.two-step/next-layer",
        title="omega_xy leaves the labels of its own layer as they are",
        statement=r"\frac{\partial y_t^{l+1}}{\partial \omega_{xy}^l} = 0",
        source=REBUTTAL,
        assumptions=SETTING,
        claimed="no change",
        control=r"the same of $\omega_{yx}$; a change as large as the one a layer later",
        expected="supported",
        summary=left_over,
        cells=(
            *(symbolic_cell({"d": d}, Task(next_layer_symbols, (d,))) for d in (1, 2)),
            *(
                number_cell(
                    _where(case),
                    task,
                    "change of $y_t$ right after the layer, token by token",
                    lambda found: (found.next, 0.0),
                    ("= 0", NOTHING),
                    Allowed(high=0.0),
                    twin=lambda found: (abs(found.second), 2 * found.error),
                )
                for case, task in tasks.items()
            ),
        ),
        finding="A layer adds $\\omega_{yx} \\langle \\alpha, x \\rangle + \\omega_{yy} \\lambda y$ to a label: $\\omega_{xy}$ is not in it, and $\\alpha$, $\\lambda$ are sums over tokens that it has not yet moved.",
    )


def _second(tasks: dict[tuple[int, int, int], Task]) -> Claim:
    return Claim(
        id="lt.two-step/second-layer",
        title="One layer later omega_xy has changed the prediction, by a sum of three terms",
        statement=rf"\Delta y_t^{{l+2}} = {PARTS}",
        source=REBUTTAL,
        assumptions=(*SETTING, WHERE),
        claimed="exact, and not 0",
        control="one of the three terms left out; no change",
        expected="supported",
        summary=left_over,
        cells=(
            *(symbolic_cell({"d": d}, Task(second_layer_symbols, (d,))) for d in (1, 2)),
            *(
                number_cell(
                    _where(case),
                    task,
                    "size of the change of $y_t$ one layer later over the bound on rounding",
                    lambda found: (abs(found.second) / found.error, 1.0),
                    ("> 1", Allowed(low=1.0, open=True)),
                    Allowed(high=1.0),
                )
                for case, task in tasks.items()
            ),
        ),
        cross_checks=tuple(
            CrossPlan(
                where=_where(case),
                quantity="change of $y_t$ one layer later",
                methods=("tokens", "formula"),
                tasks=(task,),
                read=lambda found: ((found.second, found.formula), (found.error, found.error)),
            )
            for case, task in tasks.items()
        ),
        finding=(
            "The change is a polynomial of second degree in $\\omega_{xy}^l$ and all of it passes $\\omega_{yx}^{l+1}$: the next layer reads with $\\omega_{yx}$ the covariates that this one has moved, while "
            "$\\omega_{yy}^{l+1}$ reads labels only, which have not changed. To first order in $\\omega_{xy}^l$ it is the first two terms: through the query's own covariates, in proportion to $y_t$, and through those of the "
            "context. The third went both ways."
        ),
    )


def _through_query(tasks: dict[tuple[int, int, int], Task]) -> Claim:
    return Claim(
        id="lt.two-step/through-the-query",
        title="The effect travels through the query: its label moves its covariates, which move its label",
        statement=r"\Delta y_t^{l+2} = \omega_{yx}^{l+1} \omega_{xy}^l\, y_t \langle \beta, \alpha \rangle",
        source=REBUTTAL,
        assumptions=(*SETTING, WHERE, "the way that the rebuttal describes, read as the only one"),
        claimed="all of the change",
        control="all of it through the context",
        expected="refuted",
        cells=(
            *(symbolic_cell({"d": d}, Task(through_query_symbols, (d,))) for d in (1, 2)),
            *(
                number_cell(
                    _where(case),
                    task,
                    "share of the change that went through the query's covariates",
                    _share,
                    ("= 1", Allowed(low=1 - 1e-6, high=1 + 1e-6)),
                    Allowed(low=2.0),
                )
                for case, task in tasks.items()
            ),
        ),
        summary=lambda results: _shares(results, tasks),
        finding=(
            "At the first layer $y_t = 0$, so nothing goes through the query, and yet the prediction two layers on depends on $\\omega_{xy}$: this is the adaptive step of section 5.3. The tokens of the context have "
            "labels from the start; $\\omega_{xy}$ moves their covariates along $\\alpha$, and the next layer's sum over them is another one. Smallest case: $d = n = 1$, $x = y = x_t = 1$, $\\omega_{xy}^0 = \\omega_{yx}^1 = 1$: "
            "$y_t$ becomes 2 in place of 1, and the query's covariate never moved."
        ),
        corrected=rf"$\Delta y_t^{{l+2}} = {PARTS}$, with {WHERE}; at the first layer the term $\mu \langle \alpha, z_t \rangle$, through the context, is all of it",
    )


def _where(case: tuple[int, int, int]) -> dict[str, Any]:
    return {"d": case[0], "n": case[1], "layer": case[2] + 1}


def _share(found: Arrival) -> tuple[float, float]:
    """The share, with what rounding of the two changes can do to it."""
    return found.query, (1 + abs(found.query)) * found.error / abs(found.second)


def _shares(results: dict[str, Any], tasks: dict[tuple[int, int, int], Task]) -> str:
    shares = [results[task.address].query for (_, _, layer), task in tasks.items() if layer > 0]
    return f"none of it at the first layer; a share of {min(shares):.2g} to {max(shares):.2g} at later ones"


if __name__ == "__main__":
    run_file(__file__)
