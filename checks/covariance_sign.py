r"""Lemma 1: the sign of the optimal window, w >= 0: for which laws it is forced, and for which it is a choice or wrong."""

from __future__ import annotations

from checks._running import run_file
from checks.covariance import LEMMA_1, READ_AS, N
from lipverify.claims.claim import CellPlan, Claim, CrossPlan, Reading, Task, side_by_side
from lipverify.claims.registry import Profile
from lipverify.claims.softmax.covariance import (
    averaged_odd_gap,
    exact_odd_gap,
    harmonic_signs,
    negative_loss,
    sampled_negative_loss,
    sampled_odd_gap,
    sign_gap,
)
from lipverify.claims.verdict import Allowed, Interval, Verdict

SIGNS: dict[str, Verdict] = {"affine": "supported", "relu": "supported", "quadratic": "refuted"}
HARMONICS = ((2, 5, 7, 0.1), (3, 8, 5, 0.3))
"""(d, n, odd degree, its share): covariances P_2 + share P_degree whose best window is negative."""
SEEN_W = 3.97
AT_MOST_ZERO, ABOVE = Allowed(high=0.0), Allowed(low=0.0, open=True)


def claims(profile: Profile) -> tuple[Claim, ...]:
    """Three named laws, and what rotations alone allow."""
    return (*(_sign(profile, law) for law in SIGNS), _harmonics(profile))


def _sign(profile: Profile, law: str) -> Claim:
    even = SIGNS[law] == "refuted"
    tasks = (
        Task(negative_loss, (law, 3, N)),
        Task(sampled_negative_loss, (law, 3, N, profile.contexts, profile.seed)),
    )
    return Claim(
        id=f"softmax.covariance-inversion/{law}/sign",
        title=f"The optimal window cannot be negative, {law} law",
        statement=r"\mathcal{L}(-w \Sigma^{-1}) > \mathcal{L}(w \Sigma^{-1}) \quad \text{at } w = w^* > 0",
        source=LEMMA_1,
        assumptions=(READ_AS["whitened"], f"{law} law", "$L = \\sigma = 1$"),
        claimed="L(-w*) > L(w*)",
        control="L(-w*) exceeds L(w*) by 0.01 for the even law" if even else "L(-w*) <= L(w*)",
        expected=SIGNS[law],
        cells=tuple(
            CellPlan(
                where={"d": d, "n": n, "law": law},
                task=Task(sign_gap, (law, d, n)),
                quantity="L(-w*) - L(w*)",
                read=lambda gap, _: Reading(Interval.around(*gap)),
                claimed="> 0",
                allowed=ABOVE,
                control=Allowed(low=0.01) if even else AT_MOST_ZERO,
            )
            for d, n in ((3, 100), (5, 1000), (8, 10**6))
        ),
        cross_checks=(
            CrossPlan(
                where={"d": 3, "n": N, "law": law},
                quantity="L(-w*) / L(w*)",
                methods=("exact", "montecarlo"),
                tasks=tasks,
                read=side_by_side,
            ),
        ),
        corrected=r"for an even law $\mathcal{L}(-w) = \mathcal{L}(w)$: $\mathbf{M}^* = \pm w \Sigma^{-1}$"
        if even
        else "",
        finding=(
            "If all tokens change their sign, the scores do, and so does the odd part of $f$. Hence $\\mathcal{L}(-w) - \\mathcal{L}(w) = 4 \\mathbb{E} \\sum_i a_i K_{odd}(t_i)$, where $K_{odd}$ is the odd part of "
            "$K(t) = \\mathbb{E} f(x) f(x')$. "
            + (
                "An even law has none: its loss is even in $w$, and $-\\mathbf{M}^*$ is as good as $\\mathbf{M}^*$, for attending to $-x$ is as good as attending to $x$. "
                "Corrected: for even laws $\\mathbf{M}^* = \\pm w \\Sigma^{-1}$, and $w \\geq 0$ is a choice."
                if even
                else "For the affine and the ReLU law it is linear, $K_{odd}(t) = k_1 t$, and $\\mathbb{E} \\sum_i a_i t_i$, the derivative of the mean of the convex function $\\log \\sum_i e^{w t_i}$, is zero at "
                "$w = 0$ and grows: so $w^* \\geq 0$ for every $n$, $\\sigma$ and $d$, and the sign is not a choice."
            )
        ),
    )


def _harmonics(profile: Profile) -> Claim:
    contexts = 10 * profile.contexts
    signs = tuple(Task(harmonic_signs, case) for case in HARMONICS)
    _, n, degree, share = HARMONICS[1]
    exact = Task(exact_odd_gap, (degree, share, n, SEEN_W))
    sampled = Task(sampled_odd_gap, (degree, share, n, SEEN_W, contexts, profile.seed))
    seen = CellPlan(
        where={"d": 3, "n": n, "degree": degree, "kappa": share, "w": SEEN_W},
        task=Task(averaged_odd_gap, (degree, share, n, SEEN_W, contexts, profile.seed)),
        quantity="L(-w) - L(w)",
        read=lambda gap, _: Reading(Interval.around(*gap)),
        claimed=">= 0",
        allowed=Allowed(low=0.0),
        control=Allowed(low=0.01),
        method="montecarlo",
    )
    return Claim(
        id="softmax.covariance-inversion/harmonics/sign",
        title="The optimal window cannot be negative, for any rotation-invariant law",
        statement=r"\min_{w > 0} \mathcal{L}(w \Sigma^{-1}) \leq \min_{w < 0} \mathcal{L}(w \Sigma^{-1})",
        source=LEMMA_1,
        assumptions=(
            READ_AS["whitened"],
            "the only symmetry that is assumed is that of rotations",
            "$\\mathbb{E} f(x) f(x') = P_2(t) + \\kappa P_\\ell(t)$, $\\ell$ odd, $\\sigma = 0$",
        ),
        claimed="some w >= 0 is optimal",
        control="the positive window is better by 0.01",
        expected="refuted",
        cells=(
            *(
                CellPlan(
                    where={"d": d, "n": m, "degree": odd, "kappa": kappa},
                    task=task,
                    quantity="least loss over w > 0 less that over w < 0",
                    read=lambda found, _: Reading(
                        Interval.around(*found.margin), f"best at {found.positive:.3g} and at {found.negative:.3g}"
                    ),
                    claimed="<= 0",
                    allowed=AT_MOST_ZERO,
                    control=Allowed(high=-0.01),
                )
                for (d, m, odd, kappa), task in zip(HARMONICS, signs, strict=True)
            ),
            seen,
        ),
        cross_checks=(
            CrossPlan(
                where={"d": 3, "n": n, "degree": degree, "kappa": share, "w": SEEN_W},
                quantity="L(-w) - L(w)",
                methods=("exact", "montecarlo"),
                tasks=(exact, sampled),
                read=side_by_side,
            ),
        ),
        corrected=r"$\mathbf{M}^* = w \Sigma^{-1}$ with the sign of $-\mathbb{E} \sum_i a_i K_{odd}(t_i)$, which rotations alone do not fix",
        finding=(
            "As $\\mathcal{L}(-w) - \\mathcal{L}(w) = 4 \\mathbb{E} \\sum_i a_i K_{odd}(t_i)$, a negative window is better wherever the softmax weights of few tokens are anticorrelated with an odd harmonic, which happens: "
            "at $n = 8$ on $S^2$, $\\mathbb{E} \\sum_i a_i P_5(t_i) < 0$ at $w \\approx 4$, because the best of eight tokens is typically where $P_5$ is negative. Let the even part of $f$ ask for a large $|w|$ "
            "and the odd part choose the sign: $f(x) = \\sqrt{5} P_2(\\langle q, x \\rangle) + \\sqrt{3.3} P_5(\\langle q, x \\rangle)$, $d = 3$, $n = 8$, $\\sigma = 0$ has its minimum at $w < 0$. The smallest case found is $d = 2$, $n = 5$ with "
            "$\\ell = 7$. Corrected: rotation invariance gives $\\mathbf{M}^* = w \\Sigma^{-1}$ up to the sign of $w$; $w \\geq 0$ holds where the odd part of $f$ is linear (affine, ReLU), and for every law once windows hold many tokens, "
            "for then $\\mathbb{E} \\sum_i a_i P_\\ell(t_i) > 0$."
        ),
    )


if __name__ == "__main__":
    run_file(__file__)
