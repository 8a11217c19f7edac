r"""Empirical generalization: whether a shared Lipschitz constant is necessary."""

from __future__ import annotations

from functools import partial

import msgspec
import sympy

from checks._generalization import bias_constant, mistuning_at, name_of, near, read_limit, transfer_agreement
from checks._lipschitz import (
    AFFINE,
    COSINE,
    EVERY,
    NECESSARY,
    SHORT,
    START,
    WELL,
    Prices,
    experiment,
    factor_figure,
    tasks_of,
)
from checks._running import run_file
from checks._slides import ASSUMED
from lipverify.claims.claim import CellPlan, Claim, Reading, Task
from lipverify.claims.registry import Profile
from lipverify.claims.scaling import read_exponent
from lipverify.claims.softmax.transfer import compared, transfers
from lipverify.claims.verdict import Allowed, Interval
from lipverify.laws import law_named
from lipverify.scaling import Growth


def claims(profile: Profile) -> tuple[Claim, ...]:
    """At the sizes of an experiment; the factor and the rate in the limit; another constant that serves better."""
    smooth, rough = ("cosine-smooth", 3, 2), ("cosine-rough", 4, 2)
    poor = [claim(profile, *who) for who in (smooth, rough) for claim in (_constant, _unbounded)]
    return (experiment(profile, "necessary"), _constant(profile, "affine", 0, 2), *poor, _only_same(profile))


class Matched(msgspec.Struct, frozen=True, kw_only=True):
    """Affine tasks with the constant L that gives them the cosine's window, against those with L = 1, on the cosine."""

    L: float
    ratio: Growth
    derived: float


def matched(d: int, points: int) -> Matched:
    """Measured and derived; the bias of the affine class is proportional to L^2."""
    rho2 = bias_constant(law_named(*COSINE), d) / bias_constant(law_named(*AFFINE), d)
    L = float(sympy.sqrt(rho2))
    losses = transfers((AFFINE, ("affine", L)), (COSINE,), d, points, True, START).losses
    return Matched(L=L, ratio=compared(losses[1][0], losses[0][0]), derived=1 / mistuning_at(AFFINE, COSINE, d))


def _constant(profile: Profile, name: str, i: int, j: int) -> Claim:
    """The limit of the factor: within two, or beyond two, and what it is."""
    good, tasks = name == "affine", tasks_of(profile)
    within, beyond = Allowed(high=WELL), Allowed(low=WELL, open=True)
    verb = "generalises" if good else "does not generalise"

    def cell(k: int, task: Task, derived: bool) -> CellPlan:
        return CellPlan(
            where={"d": k, "law": f"{name_of(EVERY[i])} to {name_of(EVERY[j])}"},
            task=task,
            quantity="limit of the factor over the derived one" if derived else "limit of the factor",
            read=partial(_read_derived if derived else _read_factor, i, j),
            claimed="= 1" if derived else (f"≤ {WELL:g}" if good else f"> {WELL:g}"),
            allowed=near(1.0) if derived else (within if good else beyond),
            control=near(1.01) if derived else (beyond if good else within),
        )

    return Claim(
        id=f"softmax.lipschitz-necessary/{name}/factor",
        title=f"Attention trained on {name_of(EVERY[i])} {verb} to cosine L = 1: the factor in the limit",
        statement=r"\lim_{n \to \infty} \frac{\mathcal{L}(w^*_{\text{trained}}; \text{tested})}{\mathcal{L}(w^*_{\text{tested}}; \text{tested})} = "
        r"\frac{a \rho^2 + \beta}{(a+\beta) \rho^{2a/(a+\beta)}}" + rf" {'<' if good else '>'} {WELL:g}",
        source=NECESSARY,
        assumptions=(*ASSUMED, f"trained on {name_of(EVERY[i])}, tested on cosine $L = 1$, $\\sigma = 1$"),
        claimed=f"limit of the factor {'≤' if good else '>'} {WELL:g}, as derived",
        control="the other side of two; one percent more than derived",
        expected="supported",
        cells=tuple(cell(k, task, derived) for k, task in tasks.items() for derived in (False, True)),
        cross_checks=transfer_agreement([(EVERY[i], EVERY[j])], profile, SHORT[EVERY[i]]),
        figures=partial(factor_figure, profile, ((0, 2), (3, 2), (4, 2))),
        finding=(
            "Here $a = (d-1)/2$, $\\beta = 2$ and $\\rho^2$ is the ratio of the constants of the bias, $\\mathbb{E} (\\Delta f)^2 / 4$, "
            "of the tested to the trained class. The cosine's is not proportional to $L^2$: for small $L$ it is of order $L^4$, "
            "since $\\cos(Lz) = 1 - L^2 z^2/2 + \\dots$, and for large $L$ too, since two derivatives bring down $L^2$."
        ),
    )


def _read_factor(i: int, j: int, result: Prices, _: Allowed) -> Reading:
    return read_limit(result.table.factors[i][j])


def _read_derived(i: int, j: int, result: Prices, allowed: Allowed) -> Reading:
    derived, reading = result.derived[i], _read_factor(i, j, result, allowed)
    low, high = reading.interval.low, reading.interval.high
    if derived is None or low is None or high is None:
        return reading
    return Reading(Interval(low / derived, high / derived), note=f"derived: {derived:.8g}")


def _unbounded(profile: Profile, name: str, i: int, j: int) -> Claim:
    tasks, beyond = tasks_of(profile), Allowed(low=0.0, open=True)
    return Claim(
        id=f"softmax.lipschitz-necessary/{name}/rate",
        title=f"Attention trained on {name_of(EVERY[i])} does not generalise to cosine L = 1: a slower rate",
        statement=r"\frac{\mathcal{L}(w^*_{\text{trained}}; \text{tested})}{\mathcal{L}(w^*_{\text{tested}}; \text{tested})} \to \infty",
        source=NECESSARY,
        assumptions=(*ASSUMED, f"trained on {name_of(EVERY[i])}, tested on cosine $L = 1$, $\\sigma = 1$"),
        claimed="factor → ∞",
        control="factor = Ω(n^(1/10))",
        expected="refuted",
        cells=tuple(
            CellPlan(
                where={"d": k, "law": f"{name_of(EVERY[i])} to {name_of(EVERY[j])}"},
                task=task,
                quantity="limit exponent of the factor in n",
                read=lambda result, _: read_exponent(result.table.factors[i][j], Allowed(low=0.0, high=0.0)),
                claimed="> 0",
                allowed=beyond,
                control=Allowed(low=0.1),
            )
            for k, task in tasks.items()
        ),
        cross_checks=transfer_agreement([(EVERY[i], EVERY[j])], profile, SHORT[EVERY[i]]),
        figures=partial(factor_figure, profile, ((0, 2), (3, 2), (4, 2))),
        finding=(
            "A wrong Lipschitz constant costs a factor that does not grow with $n$: windows of all smooth classes grow like $n^{2/(d+3)}$, "
            "and the loss at any constant multiple of the best window has the best rate."
        ),
        corrected="A shared Lipschitz constant is necessary for the best constant, not for the rate.",
    )


def _only_same(profile: Profile) -> Claim:
    """Affine tasks of another L, which serve cosine L = 1 better than affine L = 1."""
    tasks = {k: Task(matched, (k, profile.points)) for k in (2, 3)}
    return Claim(
        id="softmax.lipschitz-necessary/affine-other/lower/factor",
        title="No other Lipschitz constant serves cosine L = 1 better than affine L = 1 does",
        statement=r"\lim_{n \to \infty} \frac{\mathcal{L}(w^*_{\text{affine } L_0}; \cos)}{\mathcal{L}(w^*_{\text{affine } 1}; \cos)} \geq 1 "
        r"\quad \text{for every } L_0 \neq 1",
        source=NECESSARY,
        assumptions=(
            *ASSUMED,
            "tested on cosine $L = 1$, $\\sigma = 1$",
            "$L_0$ such that $\\mathbb{E} (\\Delta f)^2$ of the affine class is that of the cosine",
        ),
        claimed="ratio ≥ 1",
        control="ratio ≥ 2",
        expected="refuted",
        cells=tuple(
            CellPlan(
                where={"d": k, "law": "affine L_0 to cosine L=1"},
                task=task,
                quantity="limit of the loss over that of the window of affine L=1",
                read=lambda result, _: read_limit(result.ratio),
                claimed="≥ 1",
                allowed=Allowed(low=1.0),
                control=Allowed(low=2.0),
            )
            for k, task in tasks.items()
        ),
        cross_checks=transfer_agreement([(AFFINE, COSINE)], profile),
        finding=lambda results: (
            "A shared Lipschitz constant is not what makes windows agree: the bias is $\\mathbb{E} (\\Delta f)^2 / (4 w^2)$, so the window "
            "of a smooth class depends on $\\mathbb{E} (\\Delta f)^2$ alone. Affine tasks with the $L_0$ that matches the cosine's value give "
            "the cosine's own optimal window in the limit, and affine tasks with $L = 1$ do not. "
            + "; ".join(
                f"$d = {k}$: $L_0 = {found.L:.5g}$, ratio {found.ratio.limit_of_ratio(0.0)[0]:.6f} (derived {found.derived:.6f})"
                for k, found in ((k, results[task.address]) for k, task in tasks.items())
            )
            + "."
        ),
        corrected="Trained windows serve smooth classes by their $\\mathbb{E} (\\Delta f)^2$: an affine class with another $L$ can do better.",
    )


if __name__ == "__main__":
    run_file(__file__)
