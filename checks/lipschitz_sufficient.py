r"""Empirical generalization: whether a shared Lipschitz constant is sufficient."""

from __future__ import annotations

from functools import partial

import sympy

from checks._generalization import curves_figure, name_of, transfer_agreement
from checks._lipschitz import PAIRS, SAME, SUFFICIENT, Prices, experiment, factor, factor_figure, factor_power, tasks_of
from checks._running import run_file
from checks._slides import ASSUMED, d
from lipverify.claims.claim import CellPlan, Claim, Reading, Task
from lipverify.claims.registry import Profile
from lipverify.claims.scaling import read_exponent, scaling_cell
from lipverify.claims.softmax.transfer import rough_waves
from lipverify.claims.verdict import Allowed, Verdict


def claims(profile: Profile) -> tuple[Claim, ...]:
    """At the sizes of an experiment; consistency; the rate for each pair of classes; any class."""
    rates = [_same_rate(profile, i, j) for i, j in PAIRS]
    return (experiment(profile, "sufficient"), _consistent(profile), *rates, _sharp(profile), _any_law(profile))


def _consistent(profile: Profile) -> Claim:
    falling, rising = Allowed(high=0.0, open=True), Allowed(low=0.0, open=True)
    tasks = tasks_of(profile)
    return Claim(
        id="softmax.lipschitz-sufficient/consistent",
        title="Trained and tested on any two of three classes with L = 1: the loss tends to 0",
        statement=r"\mathcal{L}(w^*_{\text{trained}}; \text{tested}) \to 0 \quad (n \to \infty)",
        source=SUFFICIENT,
        assumptions=(*ASSUMED, "$L = \\sigma = 1$"),
        claimed="loss → 0",
        control="loss grows",
        expected="supported",
        cells=tuple(
            CellPlan(
                where={"d": k, "law": f"{name_of(SAME[i])} to {name_of(SAME[j])}"},
                task=task,
                quantity="limit exponent of the loss in n",
                read=partial(_read_loss, i, j),
                claimed="< 0",
                allowed=falling,
                control=rising,
            )
            for k, task in tasks.items()
            for i, j in PAIRS
        ),
        figures=partial(factor_figure, profile, PAIRS),
        finding=(
            "Any window that grows without bound, and slower than $n^{2/(d-1)}$, sends both terms to 0, whatever it was trained on; "
            "for this much a shared $L$ is not needed."
        ),
    )


def _read_loss(i: int, j: int, result: Prices, _: Allowed) -> Reading:
    return read_exponent(result.table.losses[i][j], Allowed(low=0.0, high=0.0))


def _same_rate(profile: Profile, i: int, j: int) -> Claim:
    trained, tested = SAME[i][0], SAME[j][0]
    tasks, power = tasks_of(profile), factor_power(i, j)
    expected: Verdict = "supported" if power == 0 else "refuted"
    twin = -sympy.Rational(1, 10) + 0 * d
    return Claim(
        id=f"softmax.lipschitz-sufficient/{trained}-to-{tested}/upper/same-rate",
        title=f"Trained on {trained}, tested on {tested}, both L = 1: within a constant factor of the tuned window",
        statement=r"\frac{\mathcal{L}(w^*_{\text{trained}}; \text{tested})}{\mathcal{L}(w^*_{\text{tested}}; \text{tested})} = \mathcal{O}(1)",
        source=SUFFICIENT,
        assumptions=(*ASSUMED, f"trained on the {trained} law, tested on the {tested} law, $L = \\sigma = 1$"),
        claimed="factor = O(1)",
        control=f"factor = O(n^({twin}))",
        expected=expected,
        cells=tuple(
            scaling_cell(
                task, partial(factor, i, j), "limit exponent of the factor in n", "upper", 0 * d, twin, k,
                law=f"{trained} to {tested}",
            )
            for k, task in tasks.items()
        ),
        cross_checks=transfer_agreement([(SAME[i], SAME[j])], profile),
        figures=partial(factor_figure, profile, ((i, j), (j, i))),
        finding=_rate_reason(trained, tested, power),
        corrected="One $L$ and one order of smoothness are sufficient for one rate; one $L$ alone for consistency." if power else "",
    )  # fmt: skip


def _rate_reason(trained: str, tested: str, power: sympy.Expr) -> str:
    if power == 0:
        return (
            "Both laws are smooth, so both biases fall like $w^{-2}$ and both windows grow at one rate; the factor tends to a constant "
            "that depends on the ratio of $\\mathbb{E}\\, (\\Delta f)^2$ and is 1 where these agree."
        )
    sharp = sympy.latex(power, fold_short_frac=True)
    term = "noise" if trained == "relu" else "bias"
    return (
        f"The factor grows like $n^{{{sharp}}}$, slowly: an experiment does not see it. The bias of a law with a kink falls like "
        f"$w^{{-3/2}}$ and that of a smooth one like $w^{{-2}}$, so windows that were tuned to {trained} tasks are too "
        f"{'narrow' if trained == 'relu' else 'wide'} for {tested} tasks by a power of $n$, and the {term} dominates."
    )


def _sharp(profile: Profile) -> Claim:
    tasks = tasks_of(profile)
    twin = sympy.Rational(1, 4) + 0 * d
    return Claim(
        id="softmax.lipschitz-sufficient/theta/sharp",
        title="What another training class with L = 1 costs: the sharp rates",
        statement=r"\frac{\mathcal{L}(w^*_{\text{trained}}; \text{tested})}{\mathcal{L}(w^*_{\text{tested}}; \text{tested})} = "
        rf"\Theta(n^{{p}}), \quad p_{{\text{{relu}} \to \text{{smooth}}}} = {sympy.latex(factor_power(1, 0))}, "
        rf"\; p_{{\text{{smooth}} \to \text{{relu}}}} = {sympy.latex(factor_power(0, 1))}",
        source=SUFFICIENT,
        assumptions=(*ASSUMED, "$L = \\sigma = 1$"),
        claimed="factor = Θ(n^p), p derived for each pair",
        control=f"factor = Θ(n^({twin}))",
        expected="supported",
        cells=tuple(
            scaling_cell(
                task, partial(factor, i, j), "limit exponent of the factor in n", "theta", factor_power(i, j) + 0 * d, twin,
                k, law=f"{name_of(SAME[i])} to {name_of(SAME[j])}",
            )
            for k, task in tasks.items()
            for i, j in PAIRS
        ),
        figures=partial(factor_figure, profile, PAIRS),
        finding=(
            "With $\\beta$ the power of the bias and $w^* \\propto n^{1/(a+\\beta)}$, $a = (d-1)/2$, the transferred loss falls like the "
            "slower of $N \\propto n^{-\\beta/(a+\\beta)}$ and $B' \\propto n^{-\\beta'/(a+\\beta)}$, primes for the tested law; the "
            "tuned one like $n^{-\\beta'/(a+\\beta')}$."
        ),
    )  # fmt: skip


def _any_law(profile: Profile) -> Claim:
    quick = profile.name == "quick"
    tasks = {k: Task(rough_waves, (k, 8, 1e8) if quick else (k, 9, 1e11)) for k in ((2,) if quick else (2, 3))}
    sharp, twin = 8 / (d + 3) ** 2, -sympy.Rational(1, 10) + 0 * d
    return Claim(
        id="softmax.lipschitz-sufficient/any-class/upper/same-rate",
        title="Trained on affine L = 1, tested on any class with L = 1: one factor for all",
        statement=r"\sup_{\text{tested 1-Lipschitz}} \frac{\mathcal{L}(w^*_{\text{affine}}; \text{tested})}{\mathcal{L}(w^*_{\text{tested}}; \text{tested})} = \mathcal{O}(1)",
        source=SUFFICIENT,
        assumptions=(*ASSUMED, "tested on $f(x) = \\cos(k \\langle q, x \\rangle)/k$, 1-Lipschitz for every $k$, with $k^2 = w^*$"),
        claimed="factor = O(1)",
        control=f"factor = O(n^({twin}))",
        expected="refuted",
        cells=tuple(
            scaling_cell(
                task, lambda result: result.factor, "limit exponent of the factor in n", "upper", 0 * d, twin, k,
                law="affine to waves",
            )
            for k, task in tasks.items()
        ),
        figures=lambda results: curves_figure(
            {f"$d = {k}$": results[task.address].factor for k, task in tasks.items()},
            "$n$",
            "loss over that of the tuned window",
            "affine training, 1-Lipschitz waves",
            "The loss of the affine window on waves as short as the window, over that of the window tuned to them.",
        ),
        finding=lambda results: (
            "The Lipschitz constant bounds the bias by $L^2/w$ and no better, and $\\cos(k \\langle q, x \\rangle)/k$ with "
            "$k^2 = w$ attains that order. So the loss on the worst 1-Lipschitz class is of order $n^{-2/(d+3)}$, and the factor over "
            f"tuned attention $n^{{{sympy.latex(sharp)}}}$, from $\\mathbb{{E}} (\\Delta f)^2 \\propto k^2$. Measured: "
            + "; ".join(
                f"$d={k}$: factor {results[task.address].factor.exponent:.5f} (derived {float(sharp.subs(d, k)):.5f}), "
                f"loss {results[task.address].loss.exponent:.5f} (derived {-2 / (k + 3):.5f})"
                for k, task in tasks.items()
            )
            + "."
        ),
        corrected="Smooth classes transfer to each other at one rate, with a factor that the ratio of their $\\mathbb{E} (\\Delta f)^2$ sets.",
    )  # fmt: skip


if __name__ == "__main__":
    run_file(__file__)
