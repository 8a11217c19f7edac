r"""Theorem 2 and the proof sketch: how the optimal w* grows with Lambda = n L^2 / sigma^2."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

import lipverify as lv
from lipverify.claims import (
    DIMENSIONS,
    Figure,
    Panel,
    Region,
    Series,
    Source,
    Table,
    agree,
    at,
    bound,
    claim,
    draw,
    exponent,
    identity,
    per_profile,
)
from lipverify.claims.ledger.symbols import SPELLED, said
from lipverify.claims.plan.proved import between, proved, proved_rates, proved_window

Value = tuple[float, float]


def optimum(law: str, d: int, n: float) -> dict[str, Value]:
    """w* and the loss there, at L = sigma = 1: w* depends on L / sigma only, and Lambda is n."""
    found = lv.optimal_window(lv.Problem(d=d, n=n, law=lv.laws.law_named(law), sigma=1.0))
    return {"w": (found.w, found.w_error), "loss": (found.loss, found.loss_error)}


def sampled_optimum(law: str, d: int, n: float, contexts: int, seed: int) -> dict[str, Value]:
    """w* on sampled contexts alone."""
    problem = lv.Problem(d=d, n=n, law=lv.laws.law_named(law), sigma=1.0)
    from lipverify.optimum.window.empirical import empirical_window

    found = empirical_window(problem, contexts=contexts, seed=seed, stream=f"window/{law}/{d}/{n}")
    return {"w": (found.w, found.w_error)}


def derivation(reading: str, d: int, below: float = 2) -> Any:
    """How far 1/(D + 2) and 2/(D + 2) are from what N ~ w^(D/2) / Lambda and w^-below < B < 1/w imply, by SymPy.

    The best loss is no larger than where noise and upper bias balance; at w* neither the noise nor the lower bias can
    exceed it. In powers of Lambda, with w = Lambda^x.
    """
    import sympy

    D, x = sympy.Integer(d if reading == "ambient" else d - 1), sympy.Symbol("x")
    balance = sympy.solve(sympy.Eq(D / 2 * x - 1, -x), x)[0]
    upper = sympy.solve(sympy.Eq(D / 2 * x - 1, -balance), x)[0]
    lower = sympy.solve(sympy.Eq(-sympy.nsimplify(below) * x, -balance), x)[0]
    return abs(lower - 1 / (D + 2)) + abs(upper - 2 / (D + 2))


def windows(law: str, d: int) -> list[tuple[float, float]]:
    """(Lambda, w*) over sixteen decades."""
    return [(s, optimum(law, d, s)["w"][0]) for s in (1e2, 1e4, 1e6, 1e9, 1e12, 1e15, 1e18)]


def against_lambda(law: str, **found: list[tuple[float, float]]) -> Figure:
    """w* against Lambda for several d, between the printed powers, on the sharp one."""
    caption = (
        rf"The optimal $w^*$ against $\Lambda = n L^2 / \sigma^2$, {said('law', law)}. Shaded: what the printed $\Omega(\Lambda^{{1/d}})$ and "
        r"$\mathcal{O}(\Lambda^{2/d})$ leave from the first point on. Dashed: the sharp power "
        rf"$\Lambda^{{{SHARP[law]}}}$ through the last point."
    )
    alt = f"For d = {', '.join(name[2:] for name in found)}, w* rises along a straight line on log axes inside the printed range, on the sharp power."
    panels = tuple(_panel(law, int(name[2:]), tuple(points)) for name, points in found.items())
    return Figure(caption=caption, alt=alt, panels=panels, layer="front")


def _panel(law: str, d: int, points: tuple[tuple[float, float], ...]) -> Panel:
    """One dimension: the printed range opens from the first point, the sharp power runs through the last."""
    x, y = zip(*points, strict=True)
    powers = {"low": 1 / d, "high": 2 / d}
    edges = {side: tuple(y[0] * (s / x[0]) ** power for s in x) for side, power in powers.items()}
    rate = 2 / (d + (2 if law == "relu" else 3))
    return Panel(
        title=f"$d = {d}$",
        xlabel=r"$\Lambda$",
        ylabel="$w^*$",
        series=(
            Series(label="$w^*$", x=x, y=y, style="points"),
            Series(label="the sharp power", x=x, y=tuple(y[-1] * (s / x[-1]) ** rate for s in x), style="dashed"),
        ),
        regions=(Region(label="printed range", x=x, **edges),),
    )


def theorem(law: str, d: int) -> dict[str, Any]:
    """What is proved: between which numbers w* / Lambda^e lies, to which both tend, for which Lambda and n, and why."""
    from lipverify.proofs.checker.chain import wording

    found = proved_window(law, d)
    rules = {rule.__name__: wording(rule) for rule, _ in found.chain}
    return {
        "window": between(found, found.low, found.high),
        "limit": middle(*found.limit),
        "row": [
            law,
            str(d),
            *(f"{x:.6g}" for x in (found.low, found.high, *found.loss, found.least_lambda, found.least_tokens)),
        ],
        "lemmas": [[name, *words] for name, words in rules.items()],
    }


def shown(name: str, d: int) -> dict[str, Any]:
    """The theorem of a law by name, whatever the reading."""
    return theorem(name, d)


def middle(low: float, high: float) -> Value:
    """An interval as value and error."""
    return (low + high) / 2, (high - low) / 2 * (1 + 1e-15)


def closer(law: str, d: int, start: float) -> dict[str, Any]:
    """k_1 and k_2 of the theorem that is proved from Lambda_0 = start^{1/e} on, and k_2 / k_1 - 1."""
    from lipverify.proofs import prove_window

    found = prove_window(lv.laws.law_named(law), d, least_lambda=start ** (1 / proved_window(law, d).exponent))
    width = between(found, found.high, found.high) / between(found, found.low, found.low) - 1
    return {"edges": [found.least_lambda, found.low, found.high], "width": width}


def every_n(d: int) -> dict[str, Any]:
    """The least and the largest w* / M that are proved for every n >= 2 and all L <= sigma, affine law."""
    from lipverify.proofs import EveryN, prove_every_n

    found = proved(
        f"every-affine-{d}", "every n", {"law": "affine", "d": d}, lambda: prove_every_n(lv.laws.Affine(), d)
    )
    if not (isinstance(found, EveryN) and found.most_signal >= 1):
        raise ValueError(f"every-affine-{d}.json: not about all L <= sigma: {found.statement}")
    low, high = found.multiples
    return {"least": between(found, low, low), "largest": between(found, high, high)}


def everywhere(law: str, d: int) -> dict[str, Any]:
    """w* / (k_d W) and its exponent in Lambda, by the theorem about every d at once."""
    from lipverify.proofs import prove_every_dimension

    found = proved(
        f"dimensions-{law}", "every dimension", {"law": law}, lambda: prove_every_dimension(lv.laws.law_named(law))
    )
    rate = 1 / ((d - 1) / 2 + found.beta)
    return {
        "share": between(found, found.constants["low"], found.constants["high"]),
        "rate": between(found, rate, rate),
    }


def share(law: str, d: int) -> Value:
    """w* / (k_d W) by the exact method, at the border of that theorem: W = 10^4 or 10^6, n = 10^4 W^((d-1)/2+beta-1)."""
    from scipy.special import gammaln

    W, power = (1e6, (d + 2) / 2) if law == "relu" else (1e4, (d + 3) / 2)
    n = 1e4 * W ** (power - 1)
    found = lv.optimal_window(lv.Problem(d=d, n=n, law=lv.laws.law_named(law), sigma=(n / W**power) ** 0.5))
    log_k = {
        "affine": np.log(1 / (3 * d)) + gammaln(d) - gammaln((d - 1) / 2),
        "quadratic": np.log(8 / ((d - 1) * (d + 2))) + gammaln(d) - gammaln((d - 1) / 2),
        "relu": np.log((2 - np.sqrt(2)) / (6 * np.pi)) + gammaln(d / 2) + gammaln(d) - 2 * gammaln((d + 1) / 2),
    }[law]
    unit = W * float(np.exp(log_k / power))
    return found.w / unit, found.w_error / unit


def derived_constant(law: str, d: int) -> Value:
    """The constant of w* ~ k Lambda^e that SymPy derives."""
    return float(lv.leading(lv.laws.law_named(law), d).window_constant), 1e-12


def limit_of_both(law: str, d: int) -> float:
    """The constant to which both bounds tend."""
    return theorem(law, d)["limit"][0]


def quarter(law: str, d: int) -> float:
    """A quarter of it."""
    return limit_of_both(law, d) / 4


def closing_in(law: str, **found: Any) -> Figure:
    """w* over Lambda^e for several d, between the proved k_1 and k_2, which close in as Lambda_0 grows."""
    panels = []
    for d in (2, 3, 5):
        e = 2 / (d + (2 if law == "relu" else 3))
        s, w = zip(*found[f"w_{d}"], strict=True)
        edges = sorted(found[f"edges_{d}_{start:.0f}"]["edges"] for start in STARTS)
        # a theorem holds from its Lambda_0 on: each pair of edges up to where the next begins
        ends = [edge[0] for edge in edges[1:]] + [max(s[-1], 10 * edges[-1][0])]
        x = [at for edge, end in zip(edges, ends, strict=True) for at in (edge[0], end)]
        low, high = ([edge[k] for edge in edges for _ in range(2)] for k in (1, 2))
        panels.append(
            Panel(
                title=f"$d = {d}$",
                xlabel=r"$\Lambda$",
                ylabel=r"$w^* / \Lambda^e$",
                yscale="linear",
                series=(
                    Series(label="measured", x=s, y=tuple(b / a**e for a, b in zip(s, w, strict=True)), style="points"),
                ),
                regions=(
                    Region(label="proved: between $k_1$ and $k_2$", x=tuple(x), low=tuple(low), high=tuple(high)),
                ),
            )
        )
    caption = (
        rf"The measured $w^*$ between the proved lines $k_1 \Lambda^e$ and $k_2 \Lambda^e$, all over $\Lambda^e$, $e = {SHARP[law]}$, {said('law', law)}. Each "
        r"step is a theorem for every $\Lambda$ beyond its $\Lambda_0$, and all $n$ of its range."
    )
    return Figure(
        caption=caption,
        alt="The measured w* over its power of Lambda lies inside a proved band that narrows in steps.",
        panels=tuple(panels),
    )


def constants(**found: dict[str, Any]) -> Table:
    """The theorem's numbers."""
    return Table(
        caption=r"$k_1 W < w^* < k_2 W$ and $l_1 < W^\beta \mathcal{L}(w^*) / L^2 \leq l_2$ with $W = \Lambda^e$, for every $n$, $L$, $\sigma$ with $\Lambda \geq "
        r"\Lambda_0$ and $n \geq K W^{(d-1)/2 + \beta - 1}$; $\beta = 3/2$ for ReLU, 2 for affine, $1/e = (d-1)/2 + \beta$.",
        header=("law", "$d$", "$k_1$", "$k_2$", "$l_1$", "$l_2$", r"$\Lambda_0$", "$K$"),
        rows=tuple((SPELLED.get(each["row"][0], each["row"][0]), *each["row"][1:]) for each in found.values()),
    )


def chain(**found: dict[str, Any]) -> Table:
    """The lemmas of both laws: what each says, and the first step of why."""
    from lipverify.claims.language.notation import typeset

    every = {name: (says, because) for each in found.values() for name, says, because in each["lemmas"]}
    return Table(
        caption="The chain of lemmas: what each says, and the first step of its reason. The whole reasons and the constants are in the proof files; "
        "`lipverify check-proof` certifies them again.",
        layer="evidence",
        header=("lemma", "says", "because"),
        rows=tuple(
            (name, typeset(first(says)), typeset(first(because.removeprefix("Because "))))
            for name, (says, because) in every.items()
        ),
    )


def first(text: str) -> str:
    """As many of the first sentences as make a line."""
    said = ""
    for sentence in re.split(r"(?<=[^.]{3}\.) ", text):
        said = f"{said} {sentence}".strip()
        if len(said) > LINE:
            break
    return said


THEOREM_2 = Source(
    "S",
    "Theorem 2",
    r"For sufficiently large $n$, the minimizer of the pretraining population loss induced by $D(\mathcal{F}_L^+)$ is "
    r"$\mathbf{M}^* = w_{KQ} \mathbf{I}_d$ where $\Omega((nL^2/\sigma^2)^{1/d}) < w_{KQ} < \mathcal{O}((nL^2/\sigma^2)^{2/d})$",
)
SKETCH = Source(
    "S",
    "Proof Sketch",
    r"$\mathcal{L}_{noise} = \Theta(\sigma^2 (w^{d/2}+1)/n)$ and $\Omega(L^2/w^2) < \mathcal{L}_{bias} < \Theta(L^2/w + L^2/n)$; "
    r"use these to get a range for $w_{KQ}$",
)
LAWS = {"relu": {"rate": "2/(d + 2)"}, "affine": {"rate": "2/(d + 3)"}}
"""The rate at which the noise w^((d-1)/2) / n balances the bias, w^(-3/2) for ReLU and w^-2 for the affine law."""
SHARP = {"relu": "2/(d+2)", "affine": "2/(d+3)"}
"""The same, as it is drawn."""
READINGS = {"ambient": {"D": "d", "E": "d + 2"}, "intrinsic": {"D": "d - 1", "E": "d + 1"}}
ASSUMED = (
    r"tokens and query uniform on $S^{d-1}$, noise independent with variance $\sigma^2$",
    r"$\mathbf{M} = w \mathbf{I}$, attention scores $w \langle x_i, x \rangle$",
    r"$\Lambda = n L^2 / \sigma^2 \to \infty$ along $n \to \infty$ at fixed $L / \sigma$",
)
FAMILY = {"law": LAWS, "reading": READINGS, "d": DIMENSIONS}
PROVED: dict[str, Any] = {
    "source": THEOREM_2,
    "kind": "derived",
    "over": {**FAMILY, "d": DIMENSIONS},
    "title": "the window theorem that is proved for every n",
    "corrected": {
        "relu/*": r"$w^* = \Theta(\Lambda^{2/(d+2)})$ for the ReLU law",
        "*": r"$w^* = \Theta(\Lambda^{2/(d+3)})$ for the affine law",
    },
    "assumes": (
        *ASSUMED[:2],
        r"$\Lambda = n L^2 / \sigma^2 \geq \Lambda_0$ and $n \geq K W^{(d-1)/2 + \beta - 1}$, with the numbers of `lipverify prove`",
    ),
}
"""$low W < w^* < high W$, $W = \\Lambda^e$, for every n, L and sigma in that range: the exponent is e, without a limit."""
LINE = 60
"""Letters of a line of a table."""
STARTS = (1e3, 1e4, 1e5, 1e6)
"""The W = Lambda_0^e from which theorems are proved for the picture."""
DRAWN: dict[str, Any] = {"contexts": per_profile(8_000, 400_000)}
"""About a hundredth of w* is left open."""
SAMPLED = agree(optimum, sampled_optimum, "w^*", of="w", over={"d": (3, 5), "n": 100}, given=DRAWN)

claim(
    "softmax.window-printed/{law}/{side}/{reading}",
    exponent(optimum, "w^*", of="w", scale=r"\Lambda", low="1/D", high="2/D", sharp="rate", method="exact"),
    source=THEOREM_2,
    kind={"relu/*/ambient": "printed", "relu/*": "convention", "*": "stronger"},
    expected={"affine/lower/*": "refuted", "relu/lower/intrinsic": "refuted", "*": "supported"},
    over=FAMILY,
    assumes=ASSUMED,
    agrees=SAMPLED,
    figures={"relu/*/ambient": draw(against_lambda, **{f"d_{d}": at(windows, d=d) for d in (2, 3, 5)}), "*": ()},
    corrected={
        "relu/*": r"$w^* = \Theta(\Lambda^{2/(d+2)})$ for the ReLU law",
        "*": r"$w^* = \Theta(\Lambda^{2/(d+3)})$ for the affine law",
    },
)
claim(
    "softmax.window-derived/{law}/{side}/{reading}",
    exponent(optimum, "w^*", of="w", scale=r"\Lambda", low="1/E", high="2/E", sharp="rate", method="exact"),
    identity(derivation, r"\text{implied} - \text{stated}", control={"below": 1.5}),
    source=SKETCH,
    kind="derived",
    expected="supported",
    over=FAMILY,
    assumes=ASSUMED,
    agrees=SAMPLED,
)
claim(
    "softmax.window-derived/{law}/sharp",
    exponent(optimum, "w^*", of="w", scale=r"\Lambda", equals="rate", method="exact"),
    source=SKETCH,
    kind="sharp",
    expected="supported",
    over={"law": LAWS, "d": DIMENSIONS},
    assumes=ASSUMED,
    agrees=SAMPLED,
)
claim(
    "softmax.window-printed/{law}/{side}/{reading}/proved",
    bound(proved_rates, "e", of="window", low="1/D", high="2/D", sharp="rate", method="certified"),
    proves="softmax.window-printed/{law}/{side}/{reading}",
    expected={"affine/lower/*": "refuted", "relu/lower/intrinsic/*": "refuted", "*": "supported"},
    **PROVED,
)
claim(
    "softmax.window-derived/{law}/{side}/{reading}/proved",
    bound(proved_rates, "e", of="window", low="1/E", high="2/E", sharp="rate", method="certified"),
    proves="softmax.window-derived/{law}/{side}/{reading}",
    expected="supported",
    **PROVED,
)
claim(
    "softmax.window-derived/{law}/sharp/proved",
    bound(proved_rates, "e", of="window", equals="rate", within="1e-15", method="certified"),
    proves="softmax.window-derived/{law}/sharp",
    expected="supported",
    **{**PROVED, "kind": "sharp", "over": {"law": LAWS, "d": DIMENSIONS}, "corrected": ""},
)
claim(
    "softmax.window-theorem/{law}",
    bound(theorem, r"w^* / \Lambda^e", of="window", equals=limit_of_both, within=quarter, method="certified"),
    bound(closer, "k_2 / k_1 - 1", of="width", high="1/20", control="1/1000", over={"start": 1e6}, method="certified"),
    expected="supported",
    statement=r"k_1 \Lambda^e < w^* < k_2 \Lambda^e, \quad k_2 / k_1 \to 1 \ (\Lambda_0 \to \infty)",
    agrees=agree(
        theorem,
        derived_constant,
        r"\lim k_1 = \lim k_2",
        of=("limit", ""),
        methods=("proved", "derived"),
        over={"d": (2, 3, 5)},
    ),
    figures={
        "relu": draw(
            closing_in,
            **{f"w_{d}": at(windows, d=d) for d in (2, 3, 5)},
            **{f"edges_{d}_{start:.0f}": at(closer, d=d, start=start) for d in (2, 3, 5) for start in STARTS},
        ),
        "*": (),
    },
    tables=(
        draw(constants, **{f"{law}_{d}": at(shown, name=law, d=d) for law in LAWS for d in (2, 3, 5, 8)}),
        draw(chain, **{law: at(shown, name=law, d=3) for law in LAWS}),
    ),
    finding=r"$w^* / \Lambda^e$ stands here as the interval from $k_1$ to $k_2$, which contains it for every context of the range, not as a value that was "
    r"measured. Noise and bias lie between explicit multiples of $w^{(d-1)/2}/n$ and $w^{-\beta}$: above the loss at one multiple of $\Lambda^e$ no "
    "minimum can be. `lipverify prove softmax.window-theorem --d 3` prints the chain with its constants, `lipverify check-proof` certifies a file of it again.",
    **{**PROVED, "over": {"law": LAWS, "d": per_profile((2, 3, 5), DIMENSIONS.full)}, "corrected": ""},
)
claim(
    "softmax.window-every-n/affine",
    bound(every_n, r"\min w^* / M", of="least", low="1/2", control="4/5", method="certified"),
    bound(every_n, r"\max w^* / M", of="largest", high="13/10", control=1, method="certified"),
    expected="supported",
    statement=r"c_1 M \leq w^* \leq c_2 M, \quad M = \min(\Lambda / 3d, k \Lambda^{2/(d+3)}), \quad n \geq 2, \ L \leq \sigma",
    finding=r"For *every* number of tokens from 2 on, and all $L \leq \sigma$: with little signal $w^*$ is near $\Lambda / 3d$, with much near "
    r"$k \Lambda^{2/(d+3)}$, few tokens included. Every $w^*$ is where $\Lambda$ is the quotient of the slopes of noise and bias; below 256 tokens "
    r"these are polynomials through balls, one $n$ at a time, from there on they lie between explicit functions. With one token the loss is the same at "
    r"all $w$. Up to $w^*$ the bias falls. Where $L > \sigma$, $w^*$ is no less than at $L = \sigma$; how much larger is proved for contexts with many "
    "tokens in a window.",
    **{
        **PROVED,
        "over": {"d": per_profile((3,), (2, 3, 5))},
        "corrected": "",
        "assumes": (*ASSUMED[:2], r"$n \geq 2$, $L \leq \sigma$"),
        "title": "the optimal window for every number of tokens",
    },
)
SMOOTH = {"shift": "3", "room": "1/100"}
claim(
    "softmax.window-every-dimension/{law}",
    bound(everywhere, r"w^* / (k_d W)", of="share", equals=1, within="room", method="certified"),
    bound(everywhere, "e", of="rate", equals="2/(d + shift)", within="1e-15", method="certified"),
    source=THEOREM_2,
    kind="sharp",
    expected="supported",
    title="The optimal window in every dimension at once, with its constant as a function of d",
    statement=r"w^* = k_d W (1 \pm \varepsilon), \quad W = (n L^2/\sigma^2)^{1/((d-1)/2 + \beta)}, \quad k_d^{(d+3)/2} = S_d\, \Gamma(d) / \Gamma(\tfrac{d-1}{2})",
    over={
        "law": {"affine": SMOOTH, "quadratic": SMOOTH, "relu": {"shift": "2", "room": "1/50"}},
        "d": (2, 3, 5, 8, 10, 20, 30, 50, 100, 1000),
    },
    agrees=agree(
        everywhere,
        share,
        r"w^* / (k_d W)",
        of=("share", ""),
        methods=("proved", "exact"),
        over={"d": (2, 3, 5, 8)},
    ),
    assumes=(
        *ASSUMED[:2],
        r"$\varepsilon = 1/100$, $\beta = 2$ and $S_d = 1/(3d)$ for the affine law, $8/((d-1)(d+2))$ for the quadratic one; for ReLU $1/50$, $3/2$ and "
        r"$k_d^{(d+2)/2} = \frac{2 - \sqrt 2}{6 \pi} \Gamma(\tfrac d2) \Gamma(d) / \Gamma(\tfrac{d+1}{2})^2$",
        r"every $n$, $L$, $\sigma$ with $W \geq 10^4$ ($10^6$ for ReLU), $W \geq 10 d$ ($100 d$), $n \geq 10^4 W^{(d-1)/2 + \beta - 1}$, "
        r"$n \geq 10^3 (4/3)^{(d-1)/2} W^{(d-1)/2}$",
    ),
    finding=r"One proof file is about every $d \geq 2$: what depends on $d$ enters through $1/a$ and $a/k_d$, $a = (d-1)/2$, which stay bounded. "
    r"ReLU comes closer to its limit like $W^{-1/2}$: that of its bias which falls like $w^{-2}$ is less than 1 % at $W = 10^6$.",
)
