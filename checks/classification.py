r"""A conjecture of the rebuttal: in classification the optimal window scales with noise and Lipschitzness as in regression."""

from __future__ import annotations

from checks._running import run_file
from lipverify.claims.claim import CellPlan, Claim, CrossPlan, Reading, Task
from lipverify.claims.figure import Figure, Panel, Series
from lipverify.claims.ledger import Source
from lipverify.claims.registry import Profile
from lipverify.claims.softmax.classification import ClassLaw, WindowChange, exact_windows, sampled_windows
from lipverify.claims.verdict import Allowed, Interval
from lipverify.optimum import optimal_window

GLOBAL = Source(
    paper="R",
    place="Global rebuttal, point 3, Classification",
    printed="we expect that the optimal attention weights will again scale with the label noise level and inversely with the Lipschitzness "
    "of the labels, for an analogous notion of Lipschitzness defined for the classification setting",
)
N = 64
SMOOTHINGS = ("0.02", "0.1")
"""The shares eps that keep cross-entropy finite."""
Ladder = tuple[ClassLaw, ...]
ROUGHER: dict[str, Ladder] = {
    "linear": tuple(ClassLaw(link="linear", L=L) for L in (0.125, 0.25, 0.5)),
    "logistic": tuple(ClassLaw(link="logistic", L=L) for L in (0.25, 0.5, 1.0)),
}
NOISIER: dict[str, Ladder] = {
    "linear, flips": tuple(ClassLaw(link="linear", L=0.5, flip=flip) for flip in (0.0, 0.1, 0.2)),
    "logistic, flips": tuple(ClassLaw(link="logistic", L=1.0, flip=flip) for flip in (0.0, 0.1, 0.2)),
    "linear, base": tuple(ClassLaw(link="linear", L=0.2, base=base) for base in (0.2, 0.3, 0.5)),
}
"""By labels that are turned around, which also lowers L; and by a base rate nearer to 1/2, at a fixed L."""
LADDERS = {"l": ROUGHER, "noise": NOISIER}
RISING, FALLING = Allowed(low=0.0, open=True), Allowed(high=0.0, open=True)
DIRECTIONS = {
    "l": ("grows with the Lipschitz constant of the class probabilities", RISING, FALLING),
    "noise": ("falls with the label noise", FALLING, RISING),
}
WAVES = (1.0, 2.0, 3.0, 4.0)
"""Lipschitz constants of oscillating probabilities, of which 64 tokens on the sphere resolve all but the last."""
FEW = (1.25, 1.5, 2.5)
"""The same for 8 tokens on the circle."""


def claims(profile: Profile) -> tuple[Claim, ...]:
    """Two losses and two directions; and the first direction with no bound on L."""
    both = [_claim(profile, loss, direction) for loss in ("brier", "cross-entropy") for direction in DIRECTIONS]
    return (*both, _every(profile))


def _claim(profile: Profile, loss: str, direction: str) -> Claim:
    words, allowed, twin = DIRECTIONS[direction]
    dimensions = (3,) if profile.name == "quick" else (2, 3, 5)
    runs = [
        (d, name, method, ladder, task)
        for d in dimensions
        for name, ladder in LADDERS[direction].items()
        for method, task in _tasks(profile, loss, ladder, d)
    ]
    symbol = "L" if direction == "l" else r"\mathbb{E}\, p (1 - p)"
    return Claim(
        id=f"extension.classification/{loss}/{direction}",
        title=f"Classification, {loss}: the optimal window w* {words}",
        statement=rf"\frac{{\mathrm{{d}} w^*}}{{\mathrm{{d}} {symbol}}} {'>' if allowed is RISING else '<'} 0",
        source=GLOBAL,
        assumptions=_assumed(loss, direction),
        claimed=f"w* {'grows with L' if direction == 'l' else 'falls with noise'}",
        control="the opposite sign",
        expected="supported",
        cells=tuple(
            _cell(d, name, method, ladder, task, rung, allowed, twin)
            for d, name, method, ladder, task in runs
            for rung in range(len(ladder) - 1)
        ),
        cross_checks=_agreement(profile, direction) if loss == "brier" else (),
        figures=lambda results: (
            _figure(
                loss,
                direction,
                [(name, method, ladder, results[t.address]) for d, name, method, ladder, t in runs if d == 3],
            ),
        ),
        finding=FINDINGS[loss, direction],
    )


def _tasks(profile: Profile, loss: str, ladder: Ladder, d: int) -> tuple[tuple[str, Task], ...]:
    """The measurements that a loss allows: exact for Brier, on common draws for two smoothings of cross-entropy."""
    if loss == "brier":
        return (("exact", Task(exact_windows, (ladder, d, N))),)
    return tuple(
        (
            f"eps = {eps}",
            Task(sampled_windows, (ladder, d, N, f"cross-entropy/{eps}", _contexts(profile), profile.seed)),
        )
        for eps in SMOOTHINGS
    )


def _contexts(profile: Profile) -> int:
    return 8192 if profile.name == "quick" else 65536


def _cell(
    d: int, name: str, method: str, ladder: Ladder, task: Task, rung: int, allowed: Allowed, twin: Allowed
) -> CellPlan:
    """One rung of a ladder: log w* above it over log w* below."""
    exact = method == "exact"

    def read(found: WindowChange, _: Allowed) -> Reading:
        return Reading(Interval.around(*found.changes[rung]), note=f"w* = {found.windows[rung][0]:.4g}")

    return CellPlan(
        where={"d": d, "n": N, "law": name, "step": _step(ladder[rung], ladder[rung + 1]), "loss": method},
        task=task,
        quantity="log of w* over w* of the rung below",
        read=read,
        claimed="> 0" if allowed is RISING else "< 0",
        allowed=allowed,
        control=twin,
        method="exact" if exact else "montecarlo",
    )


def _step(low: ClassLaw, high: ClassLaw) -> str:
    """What changes between two laws."""
    name = next(field for field in ("L", "flip", "base") if getattr(low, field) != getattr(high, field))
    return f"{name} {getattr(low, name):g} to {getattr(high, name):g}"


def _agreement(profile: Profile, direction: str) -> tuple[CrossPlan, ...]:
    """The window of the middle rung for the Brier loss: exactly, as regression, and from labels that are drawn."""
    return tuple(
        CrossPlan(
            where={"d": 3, "n": N, "law": name},
            quantity="w* for the Brier loss, middle rung",
            methods=("exact", "montecarlo"),
            tasks=(
                Task(exact_windows, (ladder, 3, N)),
                Task(sampled_windows, (ladder, 3, N, "brier", _contexts(profile), profile.seed)),
            ),
            read=lambda one, other: (
                (one.windows[1][0], other.windows[1][0]),
                (one.windows[1][1], other.windows[1][1]),
            ),
        )
        for name, ladder in LADDERS[direction].items()
    )


def _every(profile: Profile) -> Claim:
    """The first direction with no bound on L at a fixed n, for oscillating probabilities."""
    settings = ((3, N, WAVES), (2, 8, FEW))
    runs = [(d, n, L, Task(resolved_windows, (d, n, L))) for d, n, L in settings]
    return Claim(
        id="extension.classification/brier/l/every-l",
        title="Classification, Brier loss: w* grows with L at fixed n, without a bound on L",
        statement=r"L < L' \implies w^*_L < w^*_{L'} \quad \text{for all } L, L' \text{ and every } n",
        source=GLOBAL,
        assumptions=(
            "$P(y = 1 \\mid x) = (1 + \\cos(2 L \\langle q, x \\rangle)) / 2$, $q$ and $x$ uniform on the sphere: Lipschitz constant $L$",
            "Brier loss, by the exact method",
        ),
        claimed="w* grows with L, whatever L and n",
        control="w* grows by 10 or more",
        expected="refuted",
        cells=tuple(
            CellPlan(
                where={"d": d, "n": n, "law": "cosine", "step": f"L {L[-2]:g} to {L[-1]:g}"},
                task=task,
                quantity="w* at the larger L less w* at the smaller",
                read=lambda found, _: Reading(
                    Interval.around(found[-1][0] - found[-2][0], found[-2][1] + found[-1][1]),
                    note=f"w* = {found[-2][0]:.4g} and {found[-1][0]:.4g}",
                ),
                claimed="> 0",
                allowed=RISING,
                control=Allowed(low=10.0),
            )
            for d, n, L, task in runs
        ),
        figures=lambda results: (_waves([(d, n, L, results[task.address]) for d, n, L, task in runs]),),
        finding=(
            "The direction needs contexts that resolve the probabilities, as the theorem for regression needs $n$ large. Once $p$ oscillates "
            "on a scale finer than the distance to the nearest tokens, no window predicts it, averaging many labels is best, and $w^*$ "
            "turns back towards 0 as $L$ grows further."
        ),
        corrected=(
            "$w^*$ grows with $L$ once $n$ is large enough for the probabilities to be resolved, $n \\geq n_0(L, d)$; where $L$ enters as an amplitude "
            "(linear probabilities) it grows at every $n$"
        ),
    )


def resolved_windows(d: int, n: int, constants: tuple[float, ...]) -> tuple[tuple[float, float], ...]:
    """(w*, error) for the Brier loss of oscillating probabilities, for each Lipschitz constant."""
    optima = (optimal_window(ClassLaw(link="cosine", L=L).regression(d, n)) for L in constants)
    return tuple((optimum.w, optimum.w_error) for optimum in optima)


def _waves(runs: list[tuple[int, int, tuple[float, ...], tuple[tuple[float, float], ...]]]) -> Figure:
    """The optimal window of oscillating probabilities against their Lipschitz constant."""
    panel = Panel(
        title="oscillating probabilities",
        xlabel="$L$",
        ylabel="$w^*$",
        xscale="linear",
        yscale="linear",
        series=tuple(
            Series(label=f"$d = {d}$, $n = {n}$", x=constants, y=tuple(w for w, _ in found))
            for d, n, constants, found in runs
        ),
    )
    caption = (
        "The optimal window for the Brier loss against the Lipschitz constant of oscillating class probabilities, by the exact method: it turns "
        "back where the context no longer resolves them."
    )
    return Figure(caption=caption, alt="Optimal window against L, rising and then falling.", panels=(panel,))


def _assumed(loss: str, direction: str) -> tuple[str, ...]:
    score = (
        "Brier loss $\\mathbb{E} (\\hat p - p(x))^2$, by the exact method"
        if loss == "brier"
        else "cross-entropy of $(1 - \\varepsilon) \\hat p + \\varepsilon / 2$, $\\varepsilon = 0.02$ and $0.1$: an average of labels can be 0 or 1, where "
        "it is infinite; 95 % jackknife intervals on common draws"
    )
    families = {
        "l": "$p(x) = 1/2 + L \\langle q, x \\rangle$ and $p(x) = 1 / (1 + e^{-4 L \\langle q, x \\rangle})$",
        "noise": "labels turned around with a chance of 0, 0.1 and 0.2; and $p(x) = b + 0.2 \\langle q, x \\rangle$ with $b$ = 0.2, 0.3 and 0.5",
    }
    return (
        "tokens and query uniform on $S^{d-1}$, $q$ uniform on $S^{d-1}$, labels 0 or 1 with $P(y = 1 \\mid x) = p(x)$",
        "$L = \\sup |p(x) - p(x')| / \\|x - x'\\|$; prediction $\\hat p(x) = \\sum_i a_i y_i$ with softmax weights, scores $w \\langle x_i, x \\rangle$",
        families[direction],
        f"$n = {N}$",
        score,
    )


_LITERAL = (
    "Read literally, the rebuttal's optimal attention weights scale with the noise and inversely with the Lipschitzness; that is true of "
    "the size of the window, $1/w^*$, and reversed for $w^*$ itself, which is what the control tests."
)
FINDINGS = {
    ("brier", "l"): (
        "For the Brier loss the conjecture is a theorem. Given tokens and task, labels have the variance $p(x_i)(1 - p(x_i))$; its mean over "
        "tasks is the same number $v$ for every token when the law is the same in all directions, and is independent of the weights. "
        "So $\\mathbb{E}(\\hat p - p(x))^2 = B(w) + v\\, \\mathbb{E} \\sum_i a_i^2$ exactly: classification is regression on $f = p$ with "
        "$\\sigma^2 = v = \\mathbb{E}\\, p (1 - p)$, and every statement on windows carries over. " + _LITERAL
    ),
    ("brier", "noise"): (
        "The noise is $v = \\mathbb{E}\\, p (1 - p)$. Turning labels around with a chance $\\eta$ makes $p$ into $\\eta + (1 - 2\\eta) p$: it raises $v$ and "
        "lowers $L$ by $1 - 2\\eta$, and both widen the window. The base rate separates the two: $p = b + L \\langle q, x \\rangle$ has the "
        "same $L$ for every $b$ and $v = b(1 - b) - L^2/d$, and the window widens with $v$ alone."
    ),
    ("cross-entropy", "l"): (
        "Both smoothings agree on the direction. Near $\\hat p = p$ cross-entropy is the Brier loss over $2 p(1 - p)$ plus a constant, which "
        "leaves the balance of bias and noise nearly as it is while $p$ keeps away from 0 and 1; beyond that, smoothing pulls predictions to "
        "$1/2$, and more of it makes the optimal window narrower. " + _LITERAL
    ),
    ("cross-entropy", "noise"): (
        "Both smoothings agree on the direction, for labels that are turned around and for a base rate nearer to $1/2$ at a fixed $L$."
    ),
}


def _figure(loss: str, direction: str, runs: list[tuple[str, str, Ladder, WindowChange]]) -> Figure:
    """The optimal window against the Lipschitz constant, or against the mean variance of a label."""
    panel = Panel(
        title=f"optimal window, $d = 3$, $n = {N}$",
        xlabel="$L$" if direction == "l" else r"$\mathbb{E}\, p (1 - p)$",
        ylabel="$w^*$",
        xscale="log" if direction == "l" else "linear",
        series=tuple(
            Series(
                label=f"{name}, {method}",
                x=tuple(law.lipschitz if direction == "l" else law.variance(3) for law in ladder),
                y=tuple(w for w, _ in found.windows),
                error=tuple(error for _, error in found.windows),
                style="errorbars",
            )
            for name, method, ladder, found in runs
        ),
    )
    against = (
        "the Lipschitz constant of the class probabilities" if direction == "l" else "the mean variance of a label"
    )
    caption = f"The optimal window for the loss {loss} against {against}, with 95 % intervals."
    return Figure(caption=caption, alt=f"Optimal window against {against}, {loss}.", panels=(panel,))


if __name__ == "__main__":
    run_file(__file__)
