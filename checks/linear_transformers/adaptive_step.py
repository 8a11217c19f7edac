r"""Section 5.3: a layer with only omega_xy and then one with only omega_yx make a step whose length depends on the noise."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from checks._running import run_file
from checks.linear_transformers._identities import number_cell, paper, symbolic_cell
from lipverify.claims.claim import CellPlan, Claim, Task
from lipverify.claims.figure import Figure, Panel, Series
from lipverify.claims.linear_transformers.steps import (
    Shrinking,
    Sums,
    adaptive_sum,
    adaptive_symbols,
    step_against_noise,
)
from lipverify.claims.registry import Profile
from lipverify.claims.verdict import Allowed

SECTION = paper(
    "Section 5.3",
    r"$y_t'' = y_t + \omega_{yx} (1 + \omega_{xy} \sum_i r_i^2) (\Sigma w^*)^\top x_t$: with both weights negative the step size shrinks as the noise grows",
)
TWO_LAYERS = (
    r"a layer with only $\omega_{xy}$, then a layer with only $\omega_{yx}$, on tokens $(x_i, y_i)$ and the query $(x_t, 0)$",
    r"$\Sigma = \sum_i x_i x_i^\top$, $w^*$ a least-squares solution, $\Sigma w^* = \sum_i y_i x_i$",
)
SUMS = {
    "labels": ("derived", r"\sum_i y_i^2", "the labels as the first of the two layers sees them"),
    "residuals": (
        "printed",
        r"\sum_i r_i^2",
        r"$r_i = y_i - \langle w^*, x_i \rangle$ are the residuals of least squares",
    ),
    "noise": (
        "printed/noise",
        r"\sum_i r_i^2",
        "$r_i$ is the noise of the label, $y_i$ less the task's own linear function",
    ),
}
DERIVATION = (
    r"After the first layer $x_i' = x_i + \omega_{xy} y_i \alpha$ with $\alpha = \sum_i y_i x_i = \Sigma w^*$, and the labels are what they were, so that the second finds "
    r"$\alpha' = \sum_i y_i x_i' = (1 + \omega_{xy} \sum_i y_i^2) \alpha$. The query has not moved, since $y_t = 0$."
)
CORRECTED = r"$y_t'' = y_t + \omega_{yx} \bigl(1 + \omega_{xy} \sum_i y_i^2\bigr) (\Sigma w^*)^\top x_t$, where $\sum_i y_i^2 = w^{*\top} \Sigma w^* + \sum_i r_i^2$"
D, N, XY = 10, 20, -1.0 / 800
"""The paper's dimension and length; a weight that stops the step at sigma^2 = 1 / (n |xy|) - d = 30."""
SIGMAS = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0)
CASES = ((1, 4, 1.0), (2, 6, 0.5), (3, 10, 1.0), (5, 20, 2.0))


def claims(profile: Profile) -> tuple[Claim, ...]:
    """Which sum of squares it is, and how the step depends on the noise."""
    shrinking = Task(step_against_noise, (D, N, XY, SIGMAS, profile.contexts // 4, profile.seed))
    return (
        *(_sum(profile, energy) for energy in ("residuals", "noise", "labels")),
        _shrinks(shrinking),
        _for_every_noise(shrinking),
    )


def _sum(profile: Profile, energy: str) -> Claim:
    name, sum_of, meaning = SUMS[energy]
    derived = energy == "labels"
    symbols = [
        symbolic_cell({"d": d, "n": n}, Task(adaptive_symbols, ("residuals" if energy == "noise" else energy, d, n)))
        for d, n in ((1, 1), (1, 3), (2, 2))
    ]
    sums = [_sum_cell(profile, energy, *case) for case in CASES]
    return Claim(
        id=f"lt.adaptive-step/{name}",
        title=f"The adaptive step with the sum of {'squared labels' if derived else f'squares of the {energy}'}",
        statement=rf"y_t'' = y_t + \omega_{{yx}} \Bigl(1 + \omega_{{xy}} {sum_of}\Bigr) (\Sigma w^*)^\top x_t",
        source=SECTION,
        assumptions=(*TWO_LAYERS, meaning),
        claimed="exact",
        control="the step with a sum of squared residuals, or with none" if derived else "the step with no sum at all",
        expected="supported" if derived else "refuted",
        cells=(*symbols, *sums),
        summary=lambda results: _sums(results, energy),
        finding=_finding(energy),
        corrected="" if derived else CORRECTED,
    )


def _sum_cell(profile: Profile, energy: str, d: int, n: int, sigma: float) -> CellPlan:
    """The sum that drawn tokens ask for, in units of the one that is stated; the twin states another."""
    other = "residuals" if energy == "labels" else "labels"

    def over(name: str, found: Sums) -> tuple[float, float]:
        unit = getattr(found, name)
        return found.exact[0] / unit, found.exact[1] / unit

    least = Allowed(low=1 - 1e-9, high=1 + 1e-9)
    return number_cell(
        {"d": d, "n": n, "sigma": sigma},
        Task(adaptive_sum, (d, n, sigma, profile.seed)),
        f"the sum that makes the step exact, over that of the {energy}",
        lambda found: over(energy, found),
        ("= 1", least),
        Allowed(low=1 - 1e-9, high=1 + 1e-8) if energy == "labels" else Allowed(low=0.0, high=1e-9),
        twin=(lambda found: over(other, found)) if energy == "labels" else None,
    )


def _sums(results: dict[str, Any], energy: str) -> str:
    """The range of the exact sum in units of the stated one."""
    shares = [found.exact[0] / getattr(found, energy) for found in results.values() if isinstance(found, Sums)]
    low, high = f"{min(shares):.3g}", f"{max(shares):.3g}"
    return f"the sum is {low if low == high else f'{low} to {high}'} times that of the {energy}"


def _finding(energy: str) -> str:
    if energy == "labels":
        return (
            f"{DERIVATION} Before a first descent the labels are the residuals of the current model, $w = 0$: the sum measures signal and noise together. "
            r"For a query with $y_t \neq 0$ there is a further term $\omega_{yx} \omega_{xy} y_t (1 + \omega_{xy} \sum_i y_i^2) \|\alpha\|^2$."
        )
    if energy == "noise":
        return (
            f"{DERIVATION} With the noise in place of the labels the bracket misses by $\\omega_{{xy}}$ times $\\sum_i y_i^2 - \\sum_i r_i^2$, which is about "
            r"$n \|w^*\|^2$ for $x_i \sim N(0, I)$."
        )
    return (
        f"{DERIVATION} With $r_i$ in place of $y_i$ the right-hand side misses by $\\omega_{{yx}} \\omega_{{xy}} (w^{{*\\top}} \\Sigma w^*) (\\Sigma w^*)^\\top x_t$, and is exact only where least "
        r"squares finds no signal. In the terms of Lemma 4.4: after the first layer $u = \omega_{xy} \Sigma w^*$, and the step is $\Pi \Sigma w^* + \Phi u$; $\Phi u$ gives $\omega_{xy} \sum_i r_i^2$, "
        r"and the part $u w^{*\top}$ of $\Pi$, which is left out, gives $\omega_{xy} w^{*\top} \Sigma w^*$. Smallest case: $x = y = 1$, $\omega_{xy} = \omega_{yx} = -\frac{1}{2}$, where $r = 0$: token by "
        r"token $y_t'' = -\frac{1}{4} x_t$, as printed $-\frac{1}{2} x_t$. In free symbols the labels are $\langle v, x_i \rangle + r_i$ with any $v$ and $r$, and the query is $t$."
    )


def _shrinks(task: Task) -> Claim:
    return Claim(
        id="lt.adaptive-step/shrinks",
        title="With both weights negative, the step falls as the noise grows",
        statement=r"\omega_{xy} < 0 \implies \frac{d}{d \sigma^2}\, \mathbb{E} \Bigl[1 + \omega_{xy} \sum_i y_i^2\Bigr] = \omega_{xy} n < 0",
        source=SECTION,
        assumptions=_setting(),
        claimed="falls from each level to the next",
        control="rises",
        expected="supported",
        cells=tuple(
            number_cell(
                {"sigma": f"{SIGMAS[k]:g} to {SIGMAS[k + 1]:g}"},
                task,
                "change of the expected step, in units of the derived one",
                partial(_change, k),
                ("= 1 ± 0.2", Allowed(low=0.8, high=1.2)),
                Allowed(high=0.0),
                method="montecarlo",
            )
            for k in range(2, len(SIGMAS) - 1)
        ),
        figures=lambda results: _figure(results[task.address]),
        finding=(
            r"Given $w^*$, the labels are independent $N(0, \|w^*\|^2 + \sigma^2)$, so that $\sum_i y_i^2$ is $(\|w^*\|^2 + \sigma^2) \chi^2_n$: it grows with $\sigma$ in distribution, and "
            r"$\mathbb{E} \sum_i y_i^2 = n (\|w^*\|^2 + \sigma^2)$. The weights of one context are not ordered draw by draw: a little noise against the signal lowers $\sum_i y_i^2$."
        ),
    )


def _for_every_noise(task: Task) -> Claim:
    stop = math.sqrt(1 / (N * -XY) - D)
    return Claim(
        id="lt.adaptive-step/shrinks/every-noise",
        title="The step stays a descent, and its length shrinks, at every noise level",
        statement=r"\omega_{xy}, \omega_{yx} < 0 \implies \mathbb{E} \Bigl[1 + \omega_{xy} \sum_i y_i^2\Bigr] > 0 \quad \text{for every } \sigma",
        source=SECTION,
        assumptions=(*_setting(), "read without a range of noise levels"),
        claimed="> 0",
        control="< 0 at every level",
        expected="refuted",
        cells=tuple(
            number_cell(
                {"sigma": sigma},
                task,
                "expected step, in units of its value without the first layer",
                partial(_level, k),
                ("> 0", Allowed(low=0.0, open=True)),
                Allowed(high=-2.0),
                method="montecarlo",
            )
            for k, sigma in enumerate(SIGMAS)
        ),
        finding=(
            rf"The expected step is $1 - |\omega_{{xy}}| n (\|w^*\|^2 + \sigma^2)$ times that of plain descent. Here it reaches 0 at $\sigma = {stop:.3g}$; beyond, it points uphill and grows with the "
            r"noise. Two layers can tell little noise from much over a range of levels that their weight is made for, not over all."
        ),
        corrected=r"for $\sigma^2 < 1 / (n |\omega_{xy}|) - \|w^*\|^2$ the expected step is a descent that shrinks with $\sigma$; beyond, it changes its sign",
    )


def _setting() -> tuple[str, ...]:
    return (
        *TWO_LAYERS,
        rf"$x_i \sim N(0, I)$, $\|w^*\|^2 = d = {D}$, $n = {N}$, Gaussian noise of variance $\sigma^2$; $\omega_{{xy}} = -1 / {-1 / XY:g}$",
    )


def _level(k: int, found: Shrinking) -> tuple[float, float]:
    """The mean at a level, with its half-width."""
    return found.step[k], found.error[k]


def _change(k: int, found: Shrinking) -> tuple[float, float]:
    """The change of the mean from level k to the next, over the derived one, with both half-widths."""
    unit = found.derived[k + 1] - found.derived[k]
    return (found.step[k + 1] - found.step[k]) / unit, (found.error[k + 1] + found.error[k]) / abs(unit)


def _figure(found: Shrinking) -> tuple[Figure, ...]:
    panel = Panel(
        title=f"$d = {D}$, $n = {N}$, $\\omega_{{xy}} = -1/{-1 / XY:g}$",
        xlabel="$\\sigma$",
        ylabel="expected step over that of plain descent",
        xscale="linear",
        yscale="linear",
        series=(
            Series(label="sampled contexts", x=found.sigma, y=found.step, error=found.error, style="errorbars"),
            Series(label="derived", x=found.sigma, y=found.derived, style="dashed"),
        ),
    )
    caption = (
        "The factor $1 + \\omega_{xy} \\sum_i y_i^2$ of the two-layer step against the noise level: the mean over sampled contexts, and "
        "$1 + \\omega_{xy} n (\\|w^*\\|^2 + \\sigma^2)$. It shrinks with more noise, and changes its sign."
    )
    return (Figure(caption=caption, alt="The step falls with sigma and crosses zero.", panels=(panel,)),)


if __name__ == "__main__":
    run_file(__file__)
