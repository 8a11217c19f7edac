"""The content of the page for one problem: its loss by w, the tokens that attention sees, and the optimal w by n.

The loss is measured at fixed w, at L = 1 and sigma = 1: for most laws the bias is proportional to L^2, and the noise is
to sigma^2, so that these sliders need no measurement. `look` asks for four digits at few w, `picture` for all digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np
from scipy.interpolate import PchipInterpolator

from lipverify.claims.evidence.theorems import FOLDER, proved_window
from lipverify.claims.ledger.figure import Band, Figure, Panel, Region, Series
from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Floats
from lipverify.foundation.shipped import shipped
from lipverify.foundation.streams import normals
from lipverify.laws import Law, law_named
from lipverify.loss.exact import rough_terms
from lipverify.loss.methods import loss_terms
from lipverify.loss.work import Progress, budget
from lipverify.optimum.window import Optimum, optimal_window
from lipverify.problem import Problem
from lipverify.problem.law import times
from lipverify.problem.problem import require_isotropic
from lipverify.report import digits

MARKS, COARSE, DECADES = 4, 2, 4
"""Points of w in a decade, with which curves look smooth; steps between those of the first picture; decades shown."""
LOWEST, HIGHEST = -2, 8
"""Decimal logarithms of the least and the largest w shown: from no attention at all to w* at n = 1e16 and d = 2."""
AT_ONCE = 3
"""Values of w between two looks at whether the browser still waits: a tenth of a second for most laws."""
SECONDS = 5.0
"""Most nominal processor time of one answer, in seconds; a longer one is refused with the reason."""
Own = Law | Callable[..., Law]
"""A law from a user's file, or a function of L that makes one."""


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """A problem (its law a name, a formula or a law of the user), and the w of its attention, None for the optimal."""

    d: int = 3
    n: float = 100
    law: str = "relu"
    L: float = 1.0
    sigma: float = 1.0
    w: float | None = None
    own: Any = None

    @property
    def problem(self) -> Problem:
        return Problem(d=self.d, n=self.n, law=self._law(self.L), sigma=self.sigma)

    @property
    def unit(self) -> tuple[Problem, float]:
        """A problem with sigma = 1 and a factor of its functions; L and sigma do not change it if they only scale."""
        law, one = self._law(self.L), self._law(1.0)
        scales = self.L == 1 or law == times(one, self.L)
        return Problem(d=self.d, n=self.n, law=one if scales else law, sigma=1.0), self.L if scales else 1.0

    def _law(self, L: float) -> Law:
        if self.own is None:
            return law_named(self.law, L=L)
        if isinstance(self.own, Law):
            return self.own if L == 1 else times(self.own, L)
        made: Law = self.own(L=L)
        return made

    @property
    def python(self) -> str:
        """The lines of Python that compute the numbers on the page."""
        w = "o.w" if self.w is None else repr(self.w)
        source, law = "from lipverify.laws import law_named", f"law_named({self.law!r}, L={self.L!r})"
        if self.own is not None:
            path, _, name = self.law.rpartition(":")
            source, law = "from runpy import run_path", f"run_path({path!r})[{name!r}]"
            law = f"{self.L!r} * {law}" if isinstance(self.own, Law) else f"{law}(L={self.L!r})"
        return (
            f"from lipverify import Problem, loss_terms, optimal_window\n{source}\n\nlaw = {law}\n"
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


def look(setting: Setting, progress: Progress | None = None) -> View:
    """The first picture after a slider moved: curves through few w, and the w* that they show."""
    with budget(SECONDS, progress=progress):
        coarse = _shown(setting, progress)
        terms = _terms(setting, coarse, progress)
    marks = np.linspace(coarse[0], coarse[-1], 20 * MARKS + 1)
    bias, noise = (_between(coarse, values, marks) for values in terms)
    w, least = 10 ** (marks / MARKS), int(np.argmin(bias + noise))
    numbers = [f"≈ {digits.number(w[least], 2)}", *("…" for _ in NAMES[1:])]
    best = float(w[least]), float(bias[least] + noise[least])
    return _view(setting, numbers, w, (bias, noise), best, best[0] if setting.w is None else setting.w)


def picture(setting: Setting, progress: Progress | None = None) -> View:
    """The loss by w with its two terms, the optimal w, and the attention of one context at w."""
    problem = setting.problem
    with budget(SECONDS, progress=progress):
        coarse = _shown(setting, progress)
        marks = range(coarse[0], coarse[-1] + 1)
        terms = _terms(setting, marks, progress, exact=True)
        best = _optimum(problem)
        w = best.w if setting.w is None else setting.w
        here = loss_terms(problem, w)
    noise = float(here.noise)
    numbers = [
        five(best.w, best.w_error),
        five(best.loss, best.loss_error),
        five(w),
        five(float(here.bias), float(here.bias_error)),
        five(noise, float(here.noise_error)),
        five(setting.sigma**2 / noise if noise > 0 else math.nan),
    ]
    return _view(setting, numbers, 10.0 ** (np.array(marks) / MARKS), terms, (best.w, best.loss), w)


NAMES = ("optimal w", "loss there", "w shown", "bias B(w)", "noise N(w)", "tokens attended, σ²/N(w)")
"""The names of the numbers on the page."""


def _view(
    setting: Setting,
    numbers: list[str],
    w: Floats,
    terms: tuple[Floats, Floats],
    best: tuple[float, float],
    shown: float,
) -> View:
    """The curves of both terms over w, the minimum (w*, loss), and the tokens as attention at w = `shown` sees them."""
    bias, noise = terms
    curves = (("B(w), bias", bias), ("N(w), noise", noise), ("B(w) + N(w)", bias + noise))
    panel = Panel(
        title="", xlabel="w", ylabel="loss",
        series=(
            *(Series(label=name, x=tuple(w), y=tuple(values)) for name, values in curves if np.any(values > 0)),
            Series(label="optimal w", x=(best[0],), y=(best[1],), style="points"),
        ),
    )  # fmt: skip
    figure = Figure(caption="Bias, noise and their sum against w.", alt="Three curves over w.", panels=(panel,))
    drawn = min(int(setting.n), 300)
    caption = f"{drawn} of {setting.n:.6g} tokens" if drawn < setting.n else f"all {drawn} tokens"
    return View(
        numbers=tuple(zip(NAMES, numbers, strict=True)), figure=figure, tokens=_tokens(setting.d, drawn, shown),
        caption=f"One context: {caption}, at their angle to the query; the area of a disc is its softmax weight.",
    )  # fmt: skip


def five(value: float, error: float = 0.0) -> str:
    """A number to five digits, with its error if that reaches them.

    >>> five(1.01119272, 3e-8), five(0.0136132478515149, 2e-6), five(0.0, 1e-9)
    ('1.0112', '0.0136132 ± 2.0e−6', '0 ± 1.0e−9')
    """
    unit = 10.0 ** (math.floor(math.log10(abs(value))) - 4) if value and math.isfinite(value) else 0.0
    return digits.number(value, digits=5) if error <= unit / 2 else digits.with_error(value, error)


@lru_cache(maxsize=256)
def _kept(problem: Problem, exact: bool) -> dict[int, tuple[float, float]]:
    """The bias and noise of a problem at the marks measured so far: a cache, which `_terms` fills."""
    return {}


@lru_cache(maxsize=1024)
def _optimum(problem: Problem) -> Optimum:
    return optimal_window(problem)


def _terms(
    setting: Setting, marks: Sequence[int], progress: Progress | None, *, exact: bool = False
) -> tuple[Floats, Floats]:
    """Bias and noise at w = 10^(mark / MARKS); only marks that are new for this law, d and n are measured."""
    unit, factor = setting.unit
    exact = exact or unit.n < 2
    kept = _kept(unit, exact)
    new = [mark for mark in marks if mark not in kept]
    size = AT_ONCE if exact else len(marks)  # the search keeps averages of all its w together, for other n
    for start in range(0, len(new), size):
        if progress is not None:
            progress(0, 0)  # cheap losses report nothing
        some = new[start : start + size]
        w = 10.0 ** (np.array(some) / MARKS)
        if exact:
            terms = loss_terms(unit, w)
            bias, noise = terms.bias, terms.noise
        else:
            noise, bias = rough_terms(unit, w)
        kept.update(zip(some, zip(bias.tolist(), noise.tolist(), strict=True), strict=True))
    bias, noise = np.array([kept[mark] for mark in marks]).T
    return factor**2 * bias, setting.sigma**2 * noise


def _shown(setting: Setting, progress: Progress | None) -> range:
    """The coarse marks of the decades shown, chosen so that the least loss is not at either end of them."""
    problem = setting.problem
    require_isotropic(problem, "explore")
    strength = math.log10(1 + problem.n * (setting.L / setting.sigma) ** 2) if setting.sigma > 0 else HIGHEST
    first = round(2 * strength / (setting.d + 2)) - DECADES // 2  # the order of w* for a law like relu
    for _ in range(HIGHEST - LOWEST):
        first = min(max(first, LOWEST), HIGHEST - DECADES)
        marks = range(MARKS * first, MARKS * (first + DECADES) + 1, COARSE)
        least = int(np.argmin(np.add(*_terms(setting, marks, progress))))
        step = {0: -1, len(marks) - 1: 1}.get(least, 0)
        if step == 0:
            break
        first += step
    return marks


def _between(marks: Sequence[int], values: Floats, at: Floats) -> Floats:
    """Values between marks, by a monotone cubic through their logarithms."""
    if not np.all(values > 0):
        return np.zeros_like(at)
    return np.asarray(np.exp(PchipInterpolator(marks, np.log(values))(at)))


POINTS, STEP = 9, 1.5
"""Points of n, and the decades from one to the next: twelve decades in all, because proofs begin at large n."""


def ray(setting: Setting, progress: Progress | None = None) -> View:
    """The optimal w by n, with the proved range where a committed theorem of this law and d holds; and its exponent
    between neighbouring n, with the range that Theorem 2 prints for the limit.
    """
    problem = setting.problem
    lengths = _lengths(float(problem.n))
    optima = []
    with budget(SECONDS, progress=progress):
        for n in lengths:
            if progress is not None:
                progress(0, 0)
            optima.append(_optimum(problem.replace(n=n)))
    positive = [(n, best.w) for n, best in zip(lengths, optima, strict=True) if best.w > 0]
    x, w = (tuple(values) for values in zip(*positive, strict=True)) if positive else ((), ())
    steps = list(pairwise(positive))
    exponents = [math.log(v / u) / math.log(m / n) for (n, u), (m, v) in steps]
    d = problem.d
    height = Panel(
        title="Optimal w by number of tokens", xlabel="n", ylabel="w*",
        series=(Series(label="optimal w", x=x, y=w, style="points"),), regions=_proved(setting, problem, lengths),
    )  # fmt: skip
    slope = Panel(
        title="Exponent of w* in n", xlabel="n", ylabel="exponent from one n to the next", yscale="linear",
        series=(Series(label="exponent", x=tuple(math.sqrt(n * m) for (n, _), (m, _) in steps), y=tuple(exponents),
                       style="points"),),
        bands=(Band(label=f"printed for n → ∞: 1/{d} to 2/{d}", low=1 / d, high=2 / d),),
    )  # fmt: skip
    caption = (
        "Theorem 2 prints Ω(Λ^(1/d)) < w* < O(Λ^(2/d)) for large n, without constants: it bounds the exponent as n "
        "grows, and neither the height of w* nor the exponent at a small n."
    )
    figure = Figure(caption=caption, alt="The optimal w rises with n.", panels=(height, slope))
    numbers = (("exponent at the largest n", five(exponents[-1])),) if exponents else ()
    return View(numbers=numbers, figure=figure, caption=caption)


def _lengths(n: float) -> list[float]:
    """Values of n from about n / 100, or from 2; the same for neighbouring n, so that they are measured once."""
    first = max(0, math.floor(math.log10(n / 100) / STEP)) if n > 100 else 0
    first = min(first, round(30 / STEP) - POINTS + 1)  # the largest n of a `Problem` is 1e30
    return [max(2.0, float(round(10 ** (STEP * k)))) for k in range(first, first + POINTS)]


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


def _tokens(d: int, count: int, w: float) -> tuple[tuple[float, float, float], ...]:
    """Tokens uniform on the sphere: angle to the query, direction around it, weight divided by the largest weight."""
    points = normals(0, f"explore/{d}", 0, (count, d))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    scores, directions = points[:, 0], np.arctan2(points[:, -1], points[:, 1])
    shares = np.exp(w * (scores - scores.max()))
    return tuple(zip(np.arccos(scores).tolist(), directions.tolist(), shares.tolist(), strict=True))


def setting_of(values: dict[str, Any], own: dict[str, Own] | None = None) -> Setting:
    """Read a setting from a query; `own` are the laws of the user's files, which alone may be named by a file."""
    rule = "they are d, n, law, L, sigma and w"
    if strange := sorted(set(values) - (set(Setting.__struct_fields__) - {"own"})):
        raise InvalidInput(f"{strange[0]} is no parameter; {rule}.")
    law = values.get("law", "")
    if ".py" in law and law not in (own or {}):
        raise InvalidInput(f"law = {law!r}: a law in a file is named at the start: lipverify explore --law my.py:NAME.")
    try:
        setting = msgspec.convert({key: value for key, value in values.items() if value != ""}, Setting, strict=False)
    except msgspec.ValidationError as error:
        raise InvalidInput(f"{error}; {rule}.") from None
    return msgspec.structs.replace(setting, own=(own or {}).get(setting.law))
