r"""Theorem 5.2, what it rests on: a weight for each length, two layers, two levels, and which weight is which."""

from __future__ import annotations

from checks._running import run_file
from checks.linear_transformers._two_levels import ASSUMED, PAIR, READING, TWIN
from lipverify.claims.claim import CellPlan, Claim, CrossPlan, Reading, Task, side_by_side
from lipverify.claims.linear_transformers.noise_adaptive import alternating, stale_growth, swapped_distance, worst_of
from lipverify.claims.registry import Profile
from lipverify.claims.verdict import Allowed, Interval

LEVELS = ((0.0, 1.0, 2.0), (0.5, 1.0, 2.0), (1.0, 3.0, 5.0))


def claims(profile: Profile) -> tuple[Claim, ...]:
    """A reading and three twins that fail."""
    return (
        _stale(profile),
        _levels(LEVELS, adapting=True),
        _levels((PAIR, (1.0, 3.0)), adapting=False),
        _swapped(),
    )


def _stale(profile: Profile) -> Claim:
    return Claim(
        id="lt.noise-adaptive/fixed-weights",
        title="The same two weights for every length of the context",
        statement=r"\exists\, \omega_{yx}, \omega_{yy} \text{ independent of } n: \quad \mathbb{E} \|w - w_{\mathrm{ridge}}\|^2 \to 0",
        source=READING,
        assumptions=(
            *ASSUMED[:2],
            "$\\omega_{yy} = v/100$, right at $n = 100$, is kept for every $n$",
            f"$\\sigma_1 = {PAIR[0]:g}$, $\\sigma_2 = {PAIR[1]:g}$, $d = 1$",
        ),
        claimed="distance from ridge falls as a power of n",
        control="it falls like 1/n or faster",
        expected="refuted",
        cells=(
            CellPlan(
                where={"d": 1, "at": "sigma_2"},
                task=Task(stale_growth, (*PAIR, 17 if profile.name == "quick" else 25)),
                quantity="limit exponent of the root mean square distance in n",
                read=lambda found, _: Reading(Interval.around(found.exponent, found.error)),
                claimed="< 0",
                allowed=Allowed(high=0.0, open=True),
                control=Allowed(high=-1.0),
            ),
        ),
        corrected=r"$\omega_{yy} = -1/(n(1 + \sigma_1^2 + \sigma_2^2))$: the weight of the sum of squares must fall like $1/n$",
        finding=(
            "The sum of squared labels is not normalised by $\\mathbf{I}/n$: $\\lambda \\approx n\\sigma^2$. With any fixed $\\omega_{yy} \\neq 0$ the factor $1 + \\omega_{yy}\\lambda$ grows like $n$; with $\\omega_{yy} = 0$ there is one number for two levels. "
            "The theorem is about a model for each length."
        ),
    )


def _levels(cases: tuple[tuple[float, ...], ...], adapting: bool) -> Claim:
    name = "three-levels" if adapting else "one-layer"
    task = {case: Task(worst_of, (case, adapting)) for case in cases}
    return Claim(
        id=f"lt.noise-adaptive/{name}",
        title="Two layers serve three noise levels"
        if adapting
        else "One layer with both weights serves two noise levels",
        statement=r"\min_{c, v} \max_i |c (1 + v \sigma_i^2)(1 + \sigma_i^2) - 1| = 0, \quad i = 1, 2, 3"
        if adapting
        else r"\min_{c} \max_i |c (1 + \sigma_i^2) - 1| = 0, \quad i = 1, 2",
        source=TWIN,
        assumptions=ASSUMED,
        claimed="relative distance from ridge = 0 in the limit",
        control="at least 1",
        expected="refuted",
        cells=tuple(
            CellPlan(
                where={"levels": ", ".join(f"{sigma:g}" for sigma in case)},
                task=each,
                quantity="least worst relative distance",
                read=lambda found, _: Reading(Interval.around(*found)),
                claimed="= 0",
                allowed=Allowed(low=0.0, high=1e-9),
                control=Allowed(low=1.0),
                method="exact",
            )
            for case, each in task.items()
        ),
        cross_checks=tuple(
            CrossPlan(
                where={"levels": ", ".join(f"{sigma:g}" for sigma in case)},
                quantity="least worst relative distance",
                methods=("linear programming", "alternation"),
                tasks=(each, Task(alternating, (case, adapting))),
                read=side_by_side,
            )
            for case, each in task.items()
        ),
        corrected="two layers serve two levels and no three: $1/(1 + s)$ is strictly convex and a line in $s = \\sigma^2$ meets it at most twice"
        if adapting
        else r"two layers are needed: in one, $\omega_{yy}$ multiplies a prediction that is still 0, so that $w = -\omega_{yx} \alpha$",
        finding="The worst relative error alternates in sign over the levels, with the same size at each: more layers with $\\omega_{yy}$ raise the degree in $\\sigma^2$ and serve more levels."
        if adapting
        else "The least worst error is $|\\sigma_2^2 - \\sigma_1^2| / (2 + \\sigma_1^2 + \\sigma_2^2)$. Neither claim is printed: they say that the theorem's two layers are needed, and what they are enough for.",
    )


def _swapped() -> Claim:
    return Claim(
        id="lt.noise-adaptive/swapped",
        title="The same two numbers with their roles exchanged",
        statement=r"\mathbb{E} \|w - w_{\mathrm{ridge}}\|^2 \to 0 \text{ with } \omega_{yx} = v/n, \ \omega_{yy} = -c",
        source=TWIN,
        assumptions=(*ASSUMED[:2], f"$\\sigma_1 = {PAIR[0]:g}$, $\\sigma_2 = {PAIR[1]:g}$, $d = 1$, $n = 10^8$"),
        claimed="root mean square distance ≤ 0.1 at n = 1e8",
        control="≤ 0.01",
        expected="refuted",
        cells=(
            CellPlan(
                where={"d": 1, "n": 1e8},
                task=Task(swapped_distance, (*PAIR, 1e8)),
                quantity="root mean square distance from ridge",
                read=lambda found, _: Reading(Interval.around(*found)),
                claimed="≤ 0.1",
                allowed=Allowed(high=0.1),
                control=Allowed(high=0.01),
            ),
        ),
        corrected=r"$\omega_{yx} = -c$ and $\omega_{yy} = v/n$; exchanged, $w \to cv\sigma^2 \alpha$, which even has the wrong sign",
    )


if __name__ == "__main__":
    run_file(__file__)
