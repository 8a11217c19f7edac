"""Synthetic ledgers for the tests of the report, computed from formulas without any measurement."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import msgspec

from lipverify.claims.ledger import (
    Allowed,
    Band,
    Cell,
    CellControl,
    Control,
    CrossCheck,
    Figure,
    Heading,
    Interval,
    Ledger,
    Panel,
    Provenance,
    Record,
    Series,
    Source,
    Table,
    Verdict,
    combine,
    decide,
    margin,
)

DIMENSIONS = range(2, 9)
DECADES = tuple(10.0**k for k in range(4, 31, 2))


def exponent(d: int) -> float:
    """The limit exponent of the synthetic evidence."""
    return 2 / (d + 3)


def cell(d: int, law: str, allowed: Allowed, claimed: str, **changes: Any) -> Cell:
    """One measured exponent, 3e-7 off its limit, judged as the library judges."""
    value = changes.get("measured", exponent(d) + 3e-7 * (-1) ** d)
    error = changes.get("error", 2e-6 / (1 + d % 3))
    interval = Interval.around(value or 0.0, error or 0.0)
    verdict = decide(interval, allowed)
    fields: dict[str, Any] = {
        "where": {"d": d, "law": law},
        "quantity": r"exponent of $w^*$ in $\Lambda$",
        "method": "exact",
        "grade": "extrapolated",
        "measured": value,
        "error": error,
        "interval": interval,
        "claimed": claimed,
        "allowed": allowed,
        "verdict": verdict,
        "margin": margin(interval, allowed),
        "control": control(interval, true=verdict == "refuted"),
    }
    return Cell(**(fields | changes))


def control(interval: Interval, true: bool, caught: bool = True) -> CellControl:
    """The control of a cell, close to the measured value, with the required verdict unless it is not `caught`."""
    low, high = interval.ends
    beside = 1e-5 * (1 + abs(high))
    edge = low - beside if true == caught else high + beside
    allowed = Allowed(low=edge)
    return CellControl(
        says=f"≥ {edge:.4g}",
        low=edge,
        interval=interval,
        verdict=decide(interval, allowed),
        expects="supported" if true else "refuted",
        margin=margin(interval, allowed),
    )


def slopes_figure(low: Callable[[int], float] | None, high: Callable[[int], float] | None) -> Figure:
    """Local exponents against n for three dimensions, the allowed range shaded."""
    panels = []
    for d in (2, 4, 8):
        limit = exponent(d)
        slopes = tuple(limit * (1 + 3 * n**-0.1) for n in DECADES)
        panels.append(
            Panel(
                title=f"$d = {d}$",
                xlabel="$n$",
                ylabel=r"local exponent of $w^*$",
                yscale="linear",
                series=(
                    Series(label="local exponent", x=DECADES, y=slopes, style="points"),
                    Series(label="extrapolated limit", x=(DECADES[0], DECADES[-1]), y=(limit, limit), style="dashed"),
                ),
                bands=(
                    Band(label="allowed by the claim", low=low(d) if low else None, high=high(d) if high else None),
                ),
            )
        )
    return Figure(
        caption=r"Local exponents $d \log w^* / d \log n$ and their limit; the claim allows the "
        "shaded range.",
        alt="Three panels, for d = 2, 4 and 8: the local exponent falls to its limit as n grows.",
        panels=tuple(panels),
    )


def terms_figure() -> Figure:
    """Bias and noise against w for every dimension, with a bound."""
    w = tuple(10 ** (k / 6) for k in range(-6, 25))
    bias = tuple(Series(label=f"$d = {d}$", x=w, y=tuple(1 / (1 + v / (d - 1)) ** 2 for v in w)) for d in DIMENSIONS)
    noise = tuple(
        Series(label=f"$d = {d}$", x=w, y=tuple((1 + v ** ((d - 1) / 2)) / 1e6 for v in w), style="line")
        for d in DIMENSIONS
    )
    bound = Series(label="$L^2/w^2$, as printed", x=w, y=tuple(v**-2 for v in w), style="dashed")
    sampled = Series(
        label="sampled, $d = 5$ (95 %)",
        x=w[6::6],
        y=tuple(1 / (1 + v / 4) ** 2 for v in w[6::6]),
        error=tuple(0.2 / (1 + v / 4) ** 2 for v in w[6::6]),
        style="errorbars",
    )
    return Figure(
        caption="The two terms of the loss against the window, with the bound as printed.",
        alt="Two panels: the bias falls like the inverse square of w, the noise grows.",
        panels=(
            Panel(title="bias", xlabel="$w$", ylabel=r"$B(w) / L^2$", series=(*bias, bound, sampled)),
            Panel(title="noise", xlabel="$w$", ylabel=r"$N(w) / \sigma^2$", series=noise),
        ),
    )


def place_of(identity: str) -> str:
    """The place that claims of one statement quote: each statement has its own."""
    stem = identity.split("/")[0]
    return "Theorem 2" if stem == "softmax.window-printed" else f"Display of {stem}"


def record(identity: str = "softmax.window-printed/affine/lower/ambient", **changes: Any) -> Record:
    """A claim that is refuted at d = 2 only, with evidence for d = 2, ..., 8."""
    law = "affine" if "affine" in identity else "relu"
    cells = tuple(cell(d, law, Allowed(low=1 / d), rf"$\ge 1/{d}$") for d in DIMENSIONS)
    verdict = combine(c.verdict for c in cells)
    fields: dict[str, Any] = {
        "id": identity,
        "title": r"The window is at least $\Lambda^{1/d}$",
        "statement": r"w^*(n) = \Omega\left(\Lambda^{1/d}\right), \qquad "
        r"\Lambda = \frac{n L^2}{\sigma^2}",
        "source": Source(
            paper="S",
            place=place_of(identity),
            printed=r"“$\Omega(\Lambda^{1/d}) < w^* < O(\Lambda^{2/d})$”, $d$ read as ambient",
        ),
        "kind": "printed",
        "grade": "extrapolated",
        "assumptions": (
            r"$x_i$ uniform on $S^{d-1}$",
            r"$f$ affine with $l \sim \mathrm{Unif}[-L, L]$",
            r"$\sigma > 0$ fixed and $n \to \infty$",
        ),
        "verdict": verdict,
        "expected": "refuted",
        "measured": r"exponent $2/(d+3)$; at $d = 2$ it is 0.4",
        "claimed": r"exponent $\ge 1/d$",
        "margin": min(c.margin for c in cells if c.margin is not None),
        "control": Control(statement=r"$w^* = \Omega(\Lambda^{3/d})$", caught=True),
        "finding": r"The exponent is $2/(d+3)$ at every $d$, below $1/d$ at $d = 2$ by 0.1. "
        r"With $B \asymp L^2/w^2$ and $N \asymp \sigma^2 w^{(d-1)/2}/n$ the balance gives "
        r"$w^* \asymp \Lambda^{2/(d+3)}$.",
        "seconds": 3.21,
        "cells": cells,
        "cross_checks": (
            CrossCheck(
                where={"d": 5, "n": 1000, "w": 5.0},
                quantity=r"$B(w)$",
                methods=("exact", "montecarlo"),
                values=(0.0123456, 0.012349),
                errors=(1e-12, 5.2e-6),
                agrees=True,
            ),
            CrossCheck(
                where={"d": 5, "n": 1000, "w": 5.0},
                quantity=r"$N(w)$",
                methods=("exact", "certified"),
                values=(0.00987654321, 0.00987654322),
                errors=(1e-12, 1e-25),
                agrees=True,
            ),
        ),
        "figures": (slopes_figure(lambda d: 1 / d, None),),
        "reproduce": f"lipverify verify {identity} --profile quick --seed 7",
    }
    return Record(**(fields | changes))


HEADINGS = {
    "softmax.window-printed": Heading(section="The optimal window", title="The window as printed"),
    "softmax.bias-lower": Heading(section="The terms of the loss", title="The bias from below"),
    "softmax.values-ignore-covariates": Heading(section="The terms of the loss", title="The values"),
}
"""Two sections; a statement outside of them has no place in the contents."""

RATES = Table(
    caption="Sharp rates; $d$ is free.",
    header=("law", "$w^*$"),
    rows=(("affine", r"$\Lambda^{\frac{2}{d+3}}$"), ("relu",)),
)


def placed(claims: tuple[Record, ...]) -> tuple[Record, ...]:
    return tuple(msgspec.structs.replace(c, heading=HEADINGS.get(c.id.split("/")[0])) for c in claims)


def realistic() -> Ledger:
    """Six claims with different outcomes, as a run would leave them."""
    upper = tuple(cell(d, "relu", Allowed(high=2 / d), rf"$\le 2/{d}$") for d in DIMENSIONS)
    bias = tuple(
        cell(
            d,
            "affine",
            Allowed(low=-2.0),
            r"$\ge -2$",
            quantity=r"exponent of $B$ in $w$",
            measured=-1.9999991,
            error=4e-6,
            verdict="inconclusive" if d == 8 else "supported",
            margin=0.0 if d == 8 else 3.1e-6,
            interval=Interval.around(-1.9999991, 4e-6) if d == 8 else Interval.around(-1.9999969 + 4e-6, 4e-6),
            control=control(Interval.around(-1.9999991, 4e-6), true=False, caught=d != 8),
            note="the ray stops at $w = 10^{12}$, where rounding takes over" if d == 8 else "",
        )
        for d in DIMENSIONS
    )
    claims = (
        record(corrected=r"$w^* = \Theta(\Lambda^{2/(d+3)})$", tables=(RATES,)),
        record(
            "softmax.window-printed/relu/upper/ambient",
            title=r"The window is at most $\Lambda^{2/d}$",
            statement=r"w^*(n) = O\left(\Lambda^{2/d}\right)",
            cells=upper,
            verdict="supported",
            expected="supported",
            measured=r"exponent $2/(d+3)$ for $d = 2, \ldots, 8$",
            claimed=r"exponent $\le 2/d$",
            margin=0.068,
            finding=r"Supported, not tight: the sharp exponent is $2/(d+3)$.",
            figures=(slopes_figure(None, lambda d: 2 / d),),
            cross_checks=(),
        ),
        record(
            "softmax.bias-lower/affine",
            title=r"The bias falls no faster than $L^2/w^2$",
            statement=r"B(w) = \mathbb{E}\Bigl(\sum_{i=1}^n a_i f(x_i) - f(x)\Bigr)^2 "
            r"= \Omega\left(\frac{L^2}{w^2}\right)",
            cells=bias,
            verdict="inconclusive",
            expected="supported",
            measured="exponent −1.999999 ± 4e−6",
            claimed=r"exponent $\ge -2$",
            margin=0.0,
            finding="",
            figures=(terms_figure(),),
            control=Control(statement=r"$B(w) = \Omega(L^2/w)$", caught=False),
        ),
        record(
            "softmax.values-ignore-covariates",
            title="The values ignore the covariates",
            statement=r"W_V = \begin{pmatrix} A & b \\ v^\top & c \end{pmatrix} \implies "
            r"\operatorname*{argmin}_v L = 0",
            source=Source(paper="R", place="Lemma B.1", printed="the optimal $v$ is $0$"),
            verdict="supported",
            expected="supported",
            measured=r"$\|v\| = 0$ to rounding",
            claimed="$v = 0$",
            margin=None,
            finding=r"The optimal $c$ is not 1: at $d = 5$, $n = 100$ it is 0.9731.",
            cells=tuple(
                cell(
                    5,
                    law,
                    Allowed(high=1e-12),
                    r"$\|v\| = 0$",
                    quantity=r"$\|v\|$ at the optimum",
                    measured=value,
                    error=error,
                )
                for law, value, error in (("affine", 0.0, 0.0), ("relu", 3e-17, None))
            ),
            figures=(),
        ),
        record(
            "lt.momentum",
            title="The momentum form of a layer",
            statement=r"u' = (I - \Lambda) u + \Gamma \Sigma (a w^* - w), \quad "
            r"w' = (1 + s) w - \Pi \Sigma (a w^* - w) - \Phi u, \quad "
            r"\Lambda = -\omega_{xy} a^2 \rho I - \omega_{xx} \Sigma, \quad \rho = \sum_i r_i^2",
            source=Source(paper="V", place="Lemma 4.4", printed=r"$\kappa = a$"),
            verdict="error",
            expected="refuted",
            measured="–",
            claimed=r"$\kappa = a$",
            margin=None,
            finding="",
            cells=(),
            cross_checks=(),
            figures=(),
            control=Control(statement="", caught=False),
            problem="OutOfReach: w = 1e9: the recursion overflows at layer 41.",
        ),
        record(
            "linear-attention.floor",
            title="Linear attention has a floor",
            statement=r"\inf_M L_{\mathrm{lin}}(M) \ge c\, L^2 > 0 \quad \text{for every } n",
            verdict="supported",
            expected="supported",
            measured=r"floor $0.2857\,L^2$ at $d = 4$",
            claimed="$> 0$",
            cells=tuple(cell(d, "relu", Allowed(low=0.0), "$> 0$", quantity="floor over $L^2$") for d in DIMENSIONS),
            figures=(),
            margin=0.0833,
            finding="",
        ),
    )
    return ledger(placed(claims))


def ledger(claims: tuple[Record, ...]) -> Ledger:
    return Ledger(
        profile="quick",
        seed=7,
        backend="numpy",
        provenance=Provenance(
            versions={"lipverify": "0.1.0", "numpy": "2.4.6", "python": "3.11.7"},
            machine="x86_64, 16 cores, no accelerator",
            started="2025-01-31T12:00:00Z",
            seconds=192.5,
        ),
        claims=claims,
    )


def _power_of_section(section: int) -> Callable[[int], float]:
    return lambda d: 1 / (d + section)


def many(count: int) -> Ledger:
    """`count` claims in sections of four; each section has its own figure."""
    verdicts: tuple[Verdict, ...] = ("supported", "refuted", "inconclusive")
    return ledger(
        tuple(
            record(
                f"synthetic.claim-{k // 4}/reading-{k % 4}",
                verdict=verdicts[k % 3],
                margin=math.sin(k),
                figures=(slopes_figure(_power_of_section(k // 4), None),),
            )
            for k in range(count)
        )
    )
