r"""Theorem 4.2 for the labels that a linear transformer makes: no root of the dimension, and no smaller order in n."""

from __future__ import annotations

from typing import Any

from checks._running import run_file
from checks.linear_transformers._expressive import ASSUMED, THEOREM, constant_cell, ladder_points, random_models
from lipverify.claims.claim import CellPlan, Claim, CrossPlan, Reading, Task, side_by_side
from lipverify.claims.linear_transformers.expressive import Alignment, attained_growth, transformer_alignment
from lipverify.claims.registry import Profile
from lipverify.claims.scaling import read_exponent
from lipverify.claims.verdict import Allowed, Interval

CEILING_D, CEILING_N = 3, (300, 1000, 3000)


def claims(profile: Profile) -> tuple[Claim, ...]:
    """What transformers do, and that the order is attained."""
    return (
        _transformer(profile),
        _attained(profile),
    )


def _transformer(profile: Profile) -> Claim:
    models = random_models(profile)
    contexts = 400 if profile.name == "quick" else 4000
    ceilings = {n: Task(transformer_alignment, (CEILING_D, n, 0, 1, True, contexts, profile.seed)) for n in CEILING_N}
    return Claim(
        id="lt.expressive-limit/transformer",
        title="A linear transformer's own cosine is O(n^(-1/2)), without the dimension",
        statement=r"\mathbb{E} \cos^2(y^l, y^*) \leq \frac{5}{n} (1 + o(1)), \qquad \mathbb{E} \cos(y^l, y^*) = 0",
        source=THEOREM,
        assumptions=(
            *ASSUMED,
            "random full $P$ and $Q$, fresh for each context; $w = e_1$ or $w \\sim N(0, \\mathbf{I})$",
            "$n \\gg d \\log^2 n$, where single tokens do not rule the sums",
        ),
        claimed="n E cos² ≤ 5.5; mean cosine 0",
        control="n E cos² ≤ 1; mean cosine n^(1/2) ≥ 2",
        expected="supported",
        cells=(
            *(_model_cell(model, task) for model, task in models.items()),
            *(_signed_cell(model, task) for model, task in models.items()),
            *(
                CellPlan(
                    where={"d": CEILING_D, "n": n},
                    task=task,
                    quantity="n E cos², largest over all v that are the same for all signs of the tokens",
                    read=lambda found, _: Reading(Interval.around(*found.ceiling)),
                    claimed="≤ 5.5",
                    allowed=Allowed(high=5.5),
                    control=Allowed(high=1.0),
                    method="montecarlo",
                )
                for n, task in ceilings.items()
            ),
        ),
        cross_checks=tuple(
            CrossPlan(
                where=_where(model),
                quantity="n E cos²",
                methods=("montecarlo", "averaged over signs"),
                tasks=(task,),
                read=lambda found: side_by_side(found.square, found.averaged),
            )
            for model, task in models.items()
        ),
        corrected=r"$\mathbb{E} \cos^2(y^l, y^*) \leq 5/n$ in the limit, for every $d$: the root of $d$ in the printed bound is not needed",
        finding=(
            "The layers see the moments $\\sum e_i e_i^\\top$ only. Changing the sign of a single token $(x_i, y_i)$ leaves them as they are and turns $y_i^l$ into $-y_i^l$, while $y_i^* > 0$ stays. So the mean cosine is exactly 0, and "
            "averaged over the $2^n$ signs $\\cos^2 = \\sum (y_i^l y_i^*)^2 / (\\|y^l\\|^2 \\|y^*\\|^2)$, which tends to $(1 + 4\\cos^2\\theta)/n$ for $v$ at the angle $\\theta$ to $e_1$: between $1/n$ and $5/n$. The printed proof counts dimensions of "
            "the column space, which is sharp for readouts fitted to the target, but no transformer sees the target."
        ),
    )


def _where(model: tuple[Any, ...]) -> dict[str, Any]:
    d, n, layers, heads, aligned = model
    return {"d": d, "n": n, "layers": layers, "heads": heads, "w": "e_1" if aligned else "normal"}


def _model_cell(model: tuple[Any, ...], task: Task) -> CellPlan:
    return CellPlan(
        where=_where(model),
        task=task,
        quantity="n E cos² after the last layer",
        read=lambda found, _: Reading(Interval.around(*found.averaged)),
        claimed="≤ 5.5",
        allowed=Allowed(high=5.5),
        control=Allowed(high=1.0),
        method="montecarlo",
    )


def _signed_cell(model: tuple[Any, ...], task: Task) -> CellPlan:
    def read(found: Alignment, _: Allowed) -> Reading:
        mean, error = found.signed
        return Reading(Interval.around(mean, 2 * error))

    return CellPlan(
        where=_where(model),
        task=task,
        quantity="n^(1/2) E cos",
        read=read,
        claimed="in [-1, 1]",
        allowed=Allowed(low=-1.0, high=1.0),
        control=Allowed(low=2.0),
        method="montecarlo",
    )


def _attained(profile: Profile) -> Claim:
    task = Task(attained_growth, (ladder_points(profile),))
    return Claim(
        id="lt.expressive-limit/attained",
        title="The order n^(-1/2) is attained: no bound of smaller order holds",
        statement=r"\sqrt{\mathbb{E} \cos^2(y, y^*)} = \Theta(n^{-1/2}) \text{ for } w = e_1",
        source=THEOREM,
        assumptions=(*ASSUMED, "$w = e_1$, no layer: $y^0 = x(1)$, in any dimension"),
        claimed="Θ(n^(-1/2)), limit of n E cos² = 5",
        control="Θ(n^(-1)); limit 3",
        expected="supported",
        cells=(
            CellPlan(
                where={"layers": 0},
                task=task,
                quantity="limit exponent of the cosine in n",
                read=lambda found, allowed: read_exponent(found, allowed),
                claimed="= -1/2",
                allowed=Allowed(low=-0.5, high=-0.5),
                control=Allowed(low=-1.0, high=-1.0),
            ),
            CellPlan(
                where={"layers": 0},
                task=task,
                quantity="limit of n E cos²",
                read=constant_cell(1, task).read,
                claimed="= 5",
                allowed=Allowed.near(5.0, 1e-9),
                control=Allowed.near(3.0, 1e-9),
            ),
        ),
        finding="$5 = \\mathbb{E} g^6 / (\\mathbb{E} g^2\\, \\mathbb{E} g^4)$: the two vectors are independent but for the signs, and their entries are large together.",
    )


if __name__ == "__main__":
    run_file(__file__)
