r"""The tradeoff table: large M, narrow window, low bias and high variance; small M the reverse."""

from __future__ import annotations

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
    agree,
    at,
    bound,
    claim,
    draw,
    identity,
    per_profile,
)
from lipverify.claims.ledger.symbols import said

Value = tuple[float, float]
SMALL, STEP, POINTS = 0.01, 1e-3, 7
"""The smallest w, and the step in log w of the differences that give a slope at each of so many points."""
SAMPLED = (0.3, 1.0, 3.0, 10.0, 30.0)


def slopes(law: str, d: int, n: float, L: float) -> dict[str, Value]:
    """The least d log N / d log w and the least -d log B / d log w, at seven windows from w = 0.01 to w*; sigma = 1."""
    problem = lv.Problem(d=d, n=n, law=lv.laws.law_named(law, L=L), sigma=1.0)
    w = np.geomspace(SMALL, lv.optimal_window(problem).w, POINTS)
    terms = lv.loss_terms(problem, np.concatenate([w, w * np.exp(STEP)]))
    return {"noise": least(terms.noise, terms.noise_error, +1), "bias": least(terms.bias, terms.bias_error, -1)}


def least(values: np.ndarray, errors: np.ndarray, sign: int) -> Value:
    """The least slope times the sign, and its error."""
    found = sign * np.log(values[POINTS:] / values[:POINTS]) / STEP
    return float(found.min()), float(2 * np.max(errors / values) / STEP)


def beyond(law: str, d: int, n: float) -> Value:
    """d log B / d log w from 4 n^(2/(d-1)) to twice that, where the nearest token has most of the attention."""
    w = 4 * n ** (2 / (d - 1)) * np.array([1.0, 2.0])
    terms = lv.loss_terms(lv.Problem(d=d, n=n, law=lv.laws.law_named(law), sigma=1.0), w)
    error = float(np.sum(terms.bias_error / terms.bias))
    return float(np.log(terms.bias[1] / terms.bias[0]) / np.log(2)), error / float(np.log(2))


def proved(law: str, d: int) -> dict[str, Any]:
    """N(2w) / N(w) and B(2w) / B(w), for every n, L, sigma and w of a range."""
    from lipverify.claims.plan.proved import between, committed, stated
    from lipverify.proofs import Tradeoff, prove_tradeoff

    found = committed(f"tradeoff-{law}-{d}", lambda: prove_tradeoff(lv.laws.law_named(law), d))
    stated(f"tradeoff-{law}-{d}", found, ("tradeoff",), {"law": law, "d": d})
    if not isinstance(found, Tradeoff) or found.ratio != 2.0 or found.least_w > 1000 or found.constants["K"] > 100:
        raise ValueError(f"tradeoff-{law}-{d}.json: not from w >= 1000 and n >= 100 (2 w)^p to 2 w: {found.statement}")
    return {"noise": between(found, *found.rise), "bias": between(found, *found.fall)}


def falling(d: int) -> Any:
    """The share of [0, w*] on which the bias of the affine law falls, for every n >= 2 and all L <= sigma: it is 1."""
    from lipverify.claims.proved import between
    from lipverify.claims.proved import proved as certified

    from lipverify.proofs import EveryN, prove_every_n

    found = certified(
        f"every-affine-{d}", "every n", {"law": "affine", "d": d}, lambda: prove_every_n(lv.laws.Affine(), d)
    )
    if not (isinstance(found, EveryN) and found.most_signal >= 1):
        raise ValueError(f"every-affine-{d}.json: not about all L <= sigma: {found.statement}")
    return between(found, 1.0, 1.0)


def slopes_in_w(kept: str = "1") -> Any:
    """Slopes in w of sum_i a_i^2 and of sum_i a_i (1 - t_i), less `kept` of sum_ij a_i a_j (a_i - a_j)(t_i - t_j) and of -Var_a(t).

    For every n and fixed tokens; A and T are the diagonal matrices of attention and scores, and the column 1 sums.
    """
    from fractions import Fraction

    from lipverify.proofs.words import leftover, letters

    s, times = letters(symmetric=("A", "T"), A="n n", T="n n", one="n 1"), Fraction(kept)

    def total(of: Any) -> Any:
        return s.one.T @ of @ s.one

    moved = s.A @ s.T - total(s.A @ s.T) * s.A  # d a_i = (t_i - sum_j a_j t_j) a_i
    pairs = 2 * total(s.A @ s.A @ s.T) * total(s.A) - 2 * total(s.A @ s.A) * total(s.A @ s.T)
    variance = total(s.A @ s.T @ s.T) * total(s.A) - total(s.A @ s.T) ** 2
    derived, stated = (total(moved @ s.A + s.A @ moved), total(moved - moved @ s.T)), (times * pairs, -times * variance)
    rules, summed = {(s.T, s.A): s.A @ s.T}, {(s.one.T, s.A, s.one): 1}
    one, other = ([each.where(rules).where(summed) for each in side] for side in (derived, stated))
    return leftover(one, other, "n")


def proved_beyond(law: str, d: int, n: int) -> Any:
    """d log B / d log w from 4 n^(2/(d-1)), to three digits, to twice that, by balls."""
    from lipverify.claims.plan.proved import between
    from lipverify.claims.plan.proved import proved as certified
    from lipverify.proofs import prove_rising
    from lipverify.proofs.finite import about

    problem, w = lv.Problem(d=d, n=n, law=lv.laws.law_named(law), sigma=1.0), float(f"{4 * n ** (2 / (d - 1)):.3g}")
    name = f"rising-{law}-{d}-{n}"
    found = certified(name, "bias rises", about(problem), lambda: prove_rising(problem, w, 2 * w))
    return between(found, found.constants["slope_low"], found.constants["slope_high"])


def exact_terms(law: str, d: int, n: int) -> dict[str, Any]:
    """Both terms at the windows of the cross-check, by name, as curves, and the optimum."""
    problem, w = lv.Problem(d=d, n=n, law=lv.laws.law_named(law), sigma=1.0), np.geomspace(0.1, 60.0, 25)
    curve, best = lv.loss_terms(problem, w), lv.optimal_window(problem)
    shown = {"d": d, "n": n, "w": w, "B": curve.bias, "N": curve.noise, "w*": best.w, "loss*": best.loss}
    return shown | named(lv.loss_terms(problem, np.array(SAMPLED)))


def sampled_terms(law: str, d: int, n: int, contexts: int, seed: int, backend: str) -> dict[str, Value]:
    """The same on contexts that are drawn in full: the exact method begins with a reduction."""
    problem = lv.Problem(d=d, n=n, law=lv.laws.law_named(law), sigma=1.0)
    drawn = {"contexts": contexts, "seed": seed, "backend": backend, "stream": f"curve/{law}/{d}/{n}"}
    return named(lv.loss_terms(problem, np.array(SAMPLED), "montecarlo", sampling="full", **drawn))


def named(terms: lv.LossTerms) -> dict[str, Value]:
    """Bias and noise with their errors, by window."""
    columns = {"B": (terms.bias, terms.bias_error), "N": (terms.noise, terms.noise_error)}
    return {
        f"{letter}({w:g})": (float(values[k]), float(errors[k]))
        for letter, (values, errors) in columns.items()
        for k, w in enumerate(SAMPLED)
    }


RATES = {"affine": 2.0, "relu": 1.5}
"""The power of 1/w at which the bias falls."""
SHARPLY = {"affine": "w^{-2}", "relu": "w^{-3/2}"}


def curves(law: str, exact: dict[str, Any], sampled: dict[str, Value]) -> Figure:
    """Bias, noise and loss against w: exactly, sampled, between what is printed, and beside their sharp rates."""
    d, n, w, B, N = exact["d"], exact["n"], *(np.asarray(exact[name]) for name in ("w", "B", "N"))
    panel = Panel(
        title=f"{said('law', law)}, $d = {d}$, $n = {n}$, $L = \\sigma = 1$",
        xlabel="$w_{KQ}$",
        ylabel="loss",
        series=(
            line("bias $B$", w, B),
            line("noise $N$", w, N),
            line("loss $B + N$", w, B + N),
            *(points(letter, sampled) for letter in "BN"),
            Series(label="minimum, at $w^*$", x=(exact["w*"],), y=(exact["loss*"],), style="points"),
            *rates(law, d, w, B, N),
        ),
        regions=(printed_bias(n, w, B),),
    )
    caption = (
        f"Bias $B$, noise $N$ and their sum, {said('law', law)}: by the exact method (lines) and on sampled contexts (points with 95 % intervals). Shaded: "
        r"the printed $\Omega(L^2/w^2) < B < \Theta(L^2/w + L^2/n)$ with the closest constants that hold for $w \geq 1$. Dashed: the printed "
        rf"$\sigma^2 (w^{{d/2}} + 1)/n$ of the noise, and the rates that hold, ${SHARPLY[law]}$ of $B$ and $w^{{(d-1)/2}}/n$ of $N$."
    )
    alt = (
        f"For the {said('law', law)} the bias falls and the noise rises with w; their sum is least at w* = {exact['w*']:.2g}. The bias lies inside the printed "
        "range; the noise rises more slowly than is printed."
    )
    return Figure(caption=caption, alt=alt, panels=(panel,), layer="front" if law == "relu" else "evidence")  # fmt: skip


def line(label: str, x: np.ndarray, y: np.ndarray, **style: Any) -> Series:
    """A curve."""
    return Series(label=label, x=tuple(map(float, x)), y=tuple(map(float, y)), **style)


def points(letter: str, sampled: dict[str, Value]) -> Series:
    """What is sampled of one term, where its interval leaves out zero."""
    found = [(w, *sampled[f"{letter}({w:g})"]) for w in SAMPLED]
    x, y, error = zip(*((w, value, error) for w, value, error in found if error < value), strict=True)
    return Series(label=f"${letter}$, sampled", x=x, y=y, error=error, style="errorbars")


def printed_bias(n: int, w: np.ndarray, B: np.ndarray) -> Region:
    """c / w^2 < B < C (1/w + 1/n), with the closest constants that hold for w >= 1."""
    x, bias = w[w >= 1], B[w >= 1]
    low, high = np.min(bias * x**2) / x**2, np.max(bias / (1 / x + 1 / n)) * (1 / x + 1 / n)
    return Region(
        label="printed range of $B$",
        **{name: tuple(map(float, v)) for name, v in zip(("x", "low", "high"), (x, low, high), strict=True)},
    )


def rates(law: str, d: int, w: np.ndarray, B: np.ndarray, N: np.ndarray) -> tuple[Series, ...]:
    """The printed shape of the noise, right at w = 0, and the sharp rates through the largest w."""
    x = w[w >= 1]
    return (
        line("printed shape of $N$", w, N[0] * (w ** (d / 2) + 1) / (w[0] ** (d / 2) + 1), style="dashed"),
        line(f"${SHARPLY[law]}$", x, B[-1] * (x / w[-1]) ** -RATES[law], style="dashed"),
        line("$w^{(d-1)/2}$", x, N[-1] * (x / w[-1]) ** ((d - 1) / 2), style="dashed"),
    )


TABLE = Source(
    "S",
    "Tradeoff table",
    r"paraphrased: $\mathbf{M}$ large: attention decays quickly with distance, fewer points that are attended to, estimator bias low, noise variance "
    r"high; $\mathbf{M}$ small: slowly, more, high, low",
)
LAWS = {"affine": {"linear": "1"}, "relu": {"linear": "1/(2 - d*(gamma(d/2)/gamma((d + 1)/2))**2/pi)"}}
"""The share of the linear part in the variance of f: it alone makes the bias fall at first, by the share 2 w / d."""
MODEL = (
    r"tokens and query uniform on $S^{d-1}$, noise independent with variance $\sigma^2$",
    r"$\mathbf{M} = w \mathbf{I}$, attention scores $w \langle x_i, x \rangle$",
)
RANGE = (
    *MODEL,
    r"at seven $w$ from $0.01$ to $w^*$ at $L = 10 \sigma$, and so up to $w^*$ at every smaller $L / \sigma$",
)
GRID = {"d": (2, 3, 5, 8), "n": per_profile((1000,), (100, 1000, 10**5)), "L": 10.0}
SEEN = {"d": 3, "n": 1000}
DRAWN: dict[str, Any] = {"contexts": per_profile(10_000, 400_000)}
"""A context of a thousand tokens says much: these give each term to a few percent."""
CURVES = draw(curves, exact=at(exact_terms, **SEEN), sampled=at(sampled_terms, **SEEN, **DRAWN))


def agreed(letter: str) -> list[Any]:
    """One term at n = 1000, exactly and sampled."""
    names = [f"{letter}({w:g})" for w in SAMPLED]
    return [agree(exact_terms, sampled_terms, name, of=name, over=SEEN, given=DRAWN) for name in names]


claim(
    "softmax.tradeoff/{law}/noise/relevant",
    bound(
        slopes, r"\frac{\mathrm{d} \log N}{\mathrm{d} \log w}", of="noise", low=0, strict=True, sharp="0.0002/d", over=GRID, method="exact"
    ),
    source=TABLE,
    kind={"relu/*": "printed", "*": "stronger"},
    expected="supported",
    over={"law": LAWS},
    title="the noise rises with w, up to w*",
    assumes=RANGE,
    agrees=agreed("N"),
    figures=CURVES,
    finding=r"The rise is slowest at the smallest $w$, where $N = \frac{\sigma^2}{n} (1 + w^2/d + \dots)$: the control claims more than its "
    r"slope $2 w^2 / d$ there. $N/\sigma^2 = \mathbb{E} \sum_i a_i^2$ is also one over the number of points that are attended to: fewer as $w$ grows.",
)  # fmt: skip
claim(
    "softmax.tradeoff/{law}/bias/relevant",
    bound(
        slopes, r"-\frac{\mathrm{d} \log B}{\mathrm{d} \log w}", of="bias", low=0, strict=True, sharp="0.02*linear/d", over=GRID, method="exact"
    ),
    source=TABLE,
    kind={"relu/*": "printed", "*": "stronger"},
    expected="supported",
    over={"law": LAWS},
    title="the bias falls with w, up to w*",
    assumes=RANGE,
    agrees=agreed("B"),
    figures=CURVES,
    finding="The fall is slowest at the smallest $w$, where only the linear part of $f$ takes part, by the share $2 w / d$: the control "
    "claims more than that.",
)  # fmt: skip
EVERY: dict[str, Any] = {
    "source": TABLE,
    "kind": "stronger",
    "expected": "refuted",
    "title": "the bias falls with w, whatever w",
    "statement": r"\frac{\mathrm{d} \log B}{\mathrm{d} \log w} < 0 \quad \text{for every } w",
    "assumes": (*MODEL, r"from $w = 4 n^{2/(d-1)}$ to twice that, $n = 1000$"),
    "corrected": "the bias falls with $w$ up to a window beyond $w^*$ that holds about one token, and rises again",
}
RISES = bound(
    beyond, r"\frac{\mathrm{d} \log B}{\mathrm{d} \log w}", high=0, strict=True, control=-0.01, instead={"low": 0, "strict": True}, over={"n": 1000}, method="exact"
)  # fmt: skip
claim(
    "softmax.tradeoff/{law}/bias/every-window",
    RISES,
    over={"law": "affine", "d": DIMENSIONS},
    agrees=agreed("B"),
    figures=CURVES,
    finding="The direction of the table holds up to the optimal window and past it, but not for every $w$: in every dimension measured "
    "the bias of the loss has a minimum and rises again towards that of the nearest neighbour, because a window that holds one token "
    r"averages nothing. (This is $\mathcal{L}_{bias}$ of the decomposition, which contains the variance over contexts.)",
    **EVERY,
)
claim(
    "softmax.tradeoff/{law}/bias/every-window",
    RISES,
    over={"law": ("relu", "cosine", "quadratic"), "d": (2, 3, 5)},
    **EVERY,
)
claim(
    "softmax.tradeoff/{law}/noise/every-w/proved",
    identity(
        slopes_in_w,
        r"\frac{\mathrm{d}}{\mathrm{d} w} \sum_i a_i^2 - \sum_{ij} a_i a_j (a_i - a_j)(t_i - t_j),\ "
        r"\frac{\mathrm{d}}{\mathrm{d} w} \sum_i a_i (1 - t_i) + \mathrm{Var}_a(t)",
        control={"kept": "101/100"},
    ),
    source=TABLE,
    kind="derived",
    expected="supported",
    over={"law": LAWS},
    proves="softmax.tradeoff/{law}/noise/relevant",
    title="noise and attended points are monotone in w, and so is the mean distance: every w, n and d",
    statement=r"w < w' \implies N(w) < N(w'), \quad \mathbb{E} \sum_i a_i (1 - t_i) \text{ falls}, \qquad \text{for every } w \geq 0",
    assumes=(
        *MODEL,
        r"any $n \geq 2$, $d \geq 2$; the identities are checked, and both hold context by context",
        "any law of the functions",
    ),
    finding=r"Attention rises with the score, so every $a_i a_j (a_i - a_j)(t_i - t_j) \geq 0$, and is positive where two scores differ: $\mathbb{E} \sum_i a_i^2$ rises, and the "
    r"number of attended points, one over it, falls. $\frac{1}{2} |x_i - x|^2 = 1 - t_i$: the mean squared distance of what is attended to falls by the variance of the scores. "
    r"For the affine law the latter is the bias of the estimator in the statistical sense: given $f$ and $x$ its mean misses $f(x)$ by $\langle q, x \rangle\, \mathbb{E} \sum_i a_i (1 - t_i)$, "
    r"which falls for every $w$. $\mathcal{L}_{bias}$, with the variance over contexts in it, falls along the optimal windows: of two of them, at any two values of $L / \sigma$, the larger has the "
    r"smaller $B / L^2$ (`softmax.window-directions/any-amplitude/proved`), but not for every $w$ (`bias/every-window`).",
)
PROVED: dict[str, Any] = {
    "source": TABLE,
    "expected": "supported",
    "over": {
        "law": {"affine": {"beta": "2"}, "relu": {"beta": "3/2"}},
        "d": per_profile((2, 3, 5), DIMENSIONS.full),
    },
    "kind": "derived",
    "assumes": (
        *MODEL,
        r"$w \geq 1000$ and $n \geq 100 (2w)^{(d-1)/2 + \beta - 1}$, which at fixed $L / \sigma$ the optimal window of every long context satisfies",
    ),
    "finding": r"The quotient stands here as the interval that contains it for every context and every $w$ of the range: both terms lie between "
    "multiples of one power of $w$ that are close to each other. It compares $w$ with $2w$; that the term is monotone between the two is not proved by it.",
}
claim(
    "softmax.tradeoff/{law}/noise/proved",
    bound(proved, "N(2w) / N(w)", of="noise", low=1, strict=True, control="1.2*2**((d - 1)/2)", method="certified"),
    title="the noise at 2w is above that at w, proved for every n",
    statement=r"N(2w) > N(w) \quad \text{for every } w \geq 1000",
    **PROVED,
)
claim(
    "softmax.tradeoff/{law}/bias/proved",
    bound(proved, "B(2w) / B(w)", of="bias", high=1, strict=True, control="2**(-beta)/1.25", method="certified"),
    title="the bias at 2w is below that at w, proved for every n",
    statement=r"B(2w) < B(w) \quad \text{for every } w \geq 1000",
    **PROVED,
)
claim(
    "softmax.tradeoff/{law}/bias/every-window/proved",
    bound(
        proved_beyond, r"\frac{\Delta \log B}{\Delta \log w}", high=0, strict=True, control=-0.01, instead={"low": 0, "strict": True},
        over={"d": per_profile((2, 3, 5), DIMENSIONS.full), "n": 3}, method="certified",
    ),
    source=TABLE,
    kind="stronger",
    expected="refuted",
    over={"law": "affine"},
    title="the bias falls with w, whatever w: disproved",
    statement=r"\frac{\mathrm{d} \log B}{\mathrm{d} \log w} < 0 \quad \text{for every } w",
    assumes=(*MODEL, r"from $w = 4 n^{2/(d-1)}$ to twice that, $n = 3$"),
    finding="By balls, for one number of tokens in each dimension: the bias at one $w$ is less than at twice that.",
    corrected="the bias falls with $w$ up to a window beyond $w^*$ that holds about one token, and rises again",
)  # fmt: skip
claim(
    "softmax.tradeoff/affine/bias/up-to-optimum/proved",
    bound(falling, "|{w \\leq w^* : B'(w) < 0}| / w^*", low=1, control=1.01, method="certified"),
    source=TABLE,
    kind="stronger",
    expected="supported",
    over={"d": per_profile((3,), (2, 3, 5))},
    title="the bias falls at every w up to w*, for every number of tokens",
    statement=r"B'(w) < 0 \quad \text{for } 0 \leq w \leq w^*, \text{ every } n \geq 2 \text{ and all } L \leq \sigma",
    assumes=(*MODEL, "the affine law; with one token the bias is the same at every $w$"),
    finding="The theorem about every number of tokens (`softmax.window-every-n/affine`) bounds both slopes from both sides at every $w$ that can be best for some "
    r"$L \leq \sigma$, and at all $w$ before it. Beyond $w^*$ the bias rises again (`bias/every-window`).",
)
