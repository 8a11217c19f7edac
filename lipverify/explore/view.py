"""The content of the page for one problem: its loss by w, the tokens that attention sees, and the optimal w by n."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np

from lipverify.claims.evidence.theorems import FOLDER, proved_window
from lipverify.claims.ledger.figure import Figure, Panel, Region, Series
from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Floats
from lipverify.foundation.shipped import shipped
from lipverify.foundation.streams import normals
from lipverify.laws import law_named
from lipverify.loss.methods import loss_terms
from lipverify.loss.work import Progress, budget
from lipverify.optimum.window import Optimum, optimal_window
from lipverify.problem import Problem
from lipverify.report import digits

DECADES = 2.5
"""Decades of w shown on each side of w*; at the ends one of the two terms is nearly the whole loss."""
SECONDS = 5.0
"""Most nominal processor time of one answer, in seconds; a longer one is refused with the reason."""


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """A problem (its law a name or an expression), and the w for the picture of its attention, None for the optimal."""

    d: int = 3
    n: float = 100
    law: str = "relu"
    L: float = 1.0
    sigma: float = 1.0
    w: float | None = None

    @property
    def problem(self) -> Problem:
        return Problem(d=self.d, n=self.n, law=law_named(self.law, L=self.L), sigma=self.sigma)

    @property
    def python(self) -> str:
        """The lines of Python that compute the numbers on the page."""
        w = "o.w" if self.w is None else repr(self.w)
        return (
            "from lipverify import Problem, loss_terms, optimal_window\n"
            "from lipverify.laws import law_named\n\n"
            f"law = law_named({self.law!r}, L={self.L!r})\n"
            f"p = Problem(d={self.d}, n={self.n:.15g}, law=law, sigma={self.sigma!r})\n"
            f"o = optimal_window(p)\nt = loss_terms(p, {w})\nprint(o, t)\n"
        )


class View(msgspec.Struct, frozen=True, kw_only=True):
    """The content of one part of the page."""

    numbers: tuple[tuple[str, str], ...]
    figure: Figure
    tokens: tuple[tuple[float, float, float], ...] = ()
    """Angle to the query, direction around it (in radians), and softmax weight divided by the largest one."""
    caption: str = ""


def picture(setting: Setting, progress: Progress | None = None) -> View:
    """The loss by w with its two terms, the optimal w, and the attention of one context at w."""
    problem = setting.problem
    with budget(SECONDS, progress=progress):
        best = optimal_window(problem)
        w = best.w if setting.w is None else setting.w
        windows = _windows(best.w)
        terms, here = loss_terms(problem, windows), loss_terms(problem, w)
    curves = (("B(w), bias", terms.bias), ("N(w), noise", terms.noise), ("B(w) + N(w)", terms.total))
    panel = Panel(
        title="Loss", xlabel="w", ylabel="loss",
        series=(
            *(Series(label=label, x=tuple(windows), y=tuple(values)) for label, values in curves if np.any(values > 0)),
            Series(label="optimal w", x=(best.w,), y=(best.loss,), style="points"),
        ),
    )  # fmt: skip
    attended = problem.sigma**2 / float(here.noise) if here.noise > 0 else math.nan
    numbers = (
        ("optimal w", digits.with_error(best.w, best.w_error)),
        ("loss there", digits.with_error(best.loss, best.loss_error)),
        ("w shown", digits.number(w, digits=6)),
        ("bias B(w)", digits.with_error(float(here.bias), float(here.bias_error))),
        ("noise N(w)", digits.with_error(float(here.noise), float(here.noise_error))),
        ("tokens attended, σ²/N(w)", digits.number(attended, digits=4)),
    )
    figure = Figure(caption="Bias, noise and their sum against w.", alt="Three curves over w.", panels=(panel,))
    drawn = min(int(problem.n), 300)
    caption = f"{drawn} of {problem.n:.6g} tokens" if drawn < problem.n else f"all {drawn} tokens"
    return View(
        numbers=numbers, figure=figure, tokens=_tokens(problem.d, drawn, w),
        caption=f"One context: {caption}, at their angle to the query; the area of a disc is its softmax weight.",
    )  # fmt: skip


def ray(setting: Setting, progress: Progress | None = None) -> View:
    """The optimal w by n, with the powers that Theorem 2 prints, through the first point from n on, and, where the
    committed theorem of this law and d holds, the proved range.
    """
    problem = setting.problem
    lengths = _lengths(float(problem.n))
    optima = []
    with budget(SECONDS, progress=progress):
        for n in lengths:
            if progress is not None:
                progress(0, 0)  # cheap losses report nothing
            optima.append(optimal_window(problem.replace(n=n)))
    w = tuple(best.w for best in optima)
    panel = Panel(
        title="Optimal w by number of tokens", xlabel="n", ylabel="w*",
        series=(Series(label="optimal w", x=tuple(lengths), y=w, style="points"),),
        regions=_printed(problem, lengths, w) + _proved(setting, problem, lengths),
    )  # fmt: skip
    figure = Figure(
        caption="The optimal w against n. The printed range has no constants; it starts at a point near n.",
        alt="The optimal w rises with n.", panels=(panel,),
    )  # fmt: skip
    return View(numbers=_slope(lengths, optima), figure=figure, caption=figure.caption)


def _windows(best: float) -> Floats:
    middle = best if best > 0 else 1.0
    # looks smooth over five decades and takes a fraction of a second
    return np.geomspace(middle / 10**DECADES, middle * 10**DECADES, 25)


def _lengths(n: float) -> list[float]:
    """Values of n over twelve decades from n / 100, or from 2: proofs begin at large n."""
    start = max(2.0, n / 100)
    stop = min(1e30, start * 1e12)  # the largest n of a `Problem`
    return [float(round(k)) for k in np.geomspace(start, stop, 9)]


def _printed(problem: Problem, lengths: list[float], w: tuple[float, ...]) -> tuple[Region, ...]:
    """The powers Lambda^{1/d} and Lambda^{2/d} of Theorem 2, drawn through the first point from n on."""
    beyond = [(n, v) for n, v in zip(lengths, w, strict=True) if n >= problem.n and v > 0]
    if len(beyond) < 2:
        return ()
    (start, first), x = beyond[0], tuple(n for n, _ in beyond)
    low, high = (tuple(first * (n / start) ** (k / problem.d) for n in x) for k in (1, 2))
    return (Region(label="printed: between n^(1/d) and n^(2/d)", x=x, low=low, high=high),)


def _proved(setting: Setting, problem: Problem, lengths: list[float]) -> tuple[Region, ...]:
    """The proved range low W < w* < high W for the n of its theorem; empty without a committed proof."""
    if problem.sigma == 0 or not (shipped() / FOLDER / f"{setting.law}-{setting.d}.json").exists():
        return ()
    theorem = proved_window(setting.law, setting.d)
    covered = [n for n in lengths if theorem.covers(n, setting.L, problem.sigma)]
    if len(covered) < 2:
        return ()
    low, high = zip(*(theorem.window(n, setting.L, problem.sigma) for n in covered), strict=True)
    return (Region(label="proved", x=tuple(covered), low=low, high=high),)


def _slope(lengths: list[float], optima: list[Optimum]) -> tuple[tuple[str, str], ...]:
    (n, m), (u, v) = lengths[-2:], (best.w for best in optima[-2:])
    if not (u > 0 and v > 0):
        return ()
    return (("local exponent of w* at the largest n", digits.number(math.log(v / u) / math.log(m / n), digits=4)),)


def _tokens(d: int, count: int, w: float) -> tuple[tuple[float, float, float], ...]:
    """Tokens uniform on the sphere: angle to the query, direction around it, weight divided by the largest weight."""
    points = normals(0, f"explore/{d}", 0, (count, d))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    scores, directions = points[:, 0], np.arctan2(points[:, -1], points[:, 1])
    shares = np.exp(w * (scores - scores.max()))
    return tuple(zip(np.arccos(scores).tolist(), directions.tolist(), shares.tolist(), strict=True))


def setting_of(values: dict[str, Any]) -> Setting:
    """Read a setting from a query."""
    rule = "they are d, n, law, L, sigma and w"
    if strange := sorted(set(values) - set(Setting.__struct_fields__)):
        raise InvalidInput(f"{strange[0]} is no parameter; {rule}.")
    try:
        return msgspec.convert({key: value for key, value in values.items() if value != ""}, Setting, strict=False)
    except msgspec.ValidationError as error:
        raise InvalidInput(f"{error}; {rule}.") from None
