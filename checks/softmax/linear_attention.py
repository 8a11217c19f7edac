r"""Linear attention has a floor: on the ReLU law its loss stays Omega(L^2) for every M and n; on the affine law, only by b."""

from __future__ import annotations

from typing import Any

import numpy as np

import lipverify as lv
from lipverify.claims import (
    DIMENSIONS,
    Figure,
    Panel,
    Series,
    Source,
    agree,
    at,
    bound,
    claim,
    draw,
    exponent,
    identity,
    per_profile,
)
from lipverify.claims.ledger.symbols import said

Value = tuple[float, float]
EPS = float(np.finfo(float).eps)
SIGMA, LITTLE = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 0.5]]), 0.3
"""Correlated covariates, and the noise there."""
PARTS = {"affine": (1 / 3, 0.0), "relu": (1 / 6, 1 / 6)}
"""Mean squares of the coefficients of <q, x> and of |<q, x>| in f, at L = 1."""
LARGEST_N, BEYOND, RESOLUTION = 10**24, (10, 10**3, 10**6), 16
"""A crossing is looked for up to there, looked at again so many times past it, and known to one in 16."""


def linear(law: str, reading: str, d: int, n: float, ratio: float = 1.0) -> float:
    """The least loss of linear attention over all M at sigma = 1, L = ratio; sums of positive terms in rationals."""
    form = closed_form(law, reading)
    return form.at(form.least, d=d, n=n, L=ratio, sigma=1.0)


def softmax(law: str, d: int, n: float, ratio: float = 1.0) -> Value:
    """The loss of softmax attention at w*, which no offset changes."""
    found = lv.optimal_window(problem(law, d, n, ratio))
    return found.loss, found.loss_error


def advantage(law: str, reading: str, d: int, n: float) -> Value:
    """The one over the other, at L = sigma = 1."""
    floor, (loss, error) = linear(law, reading, d, n), softmax(law, d, n)
    return loss / floor, error / floor


def above_floor(law: str, reading: str, floor: str = "1") -> Any:
    """L(M) less the floor and what is above it, as squares and sums of positive terms; in free symbols, for every M.

    With k = k_1, R = K(1) - k_1 >= 0 and F = ||M||_F^2, T = tr M, so that ||M - eta I||_F^2 = F - 2 eta T + d eta^2:

        L(M) = R + k m / (n k + m) + A ||M - eta I||_F^2,    m = (d - 1) k + d R + d sigma^2,    A, eta > 0.
    """
    import sympy

    n, d, sigma = sympy.symbols("n d sigma", positive=True)
    F, T = sympy.symbols("F T", real=True)
    form = closed_form(law, reading)
    ours = {
        each: {"n": n, "d": d, "sigma": sigma}.get(each.name, each)
        for each in form.power.free_symbols | form.linear_power.free_symbols
    }
    power, k = form.power.subs(ours), form.linear_power.subs(ours)
    R = power - k
    A = (power + sigma**2 + (n - 1) * k / d) / (n * d**2)
    eta = k / (d**2 * A)
    m = (d - 1) * k + d * R + d * sigma**2
    loss = A * F - 2 * k * T / d**2 + power  # E x x^T = I / d; K(1) and k_1 are all that enters of the law
    return loss - (sympy.nsimplify(floor) * R + k * m / (n * k + m) + A * (F - 2 * eta * T + d * eta**2))


def falls(law: str, d: int) -> Any:
    """The exponent of the loss of softmax attention at w* in n, proved for every n of a range."""
    from lipverify.claims.plan.proved import proved_rates

    return proved_rates(law, d)["loss"]


def limit(law: str, reading: str, d: int) -> Any:
    """The limit in n of the least loss of linear attention over L^2, which SymPy takes."""
    import sympy

    floor = closed_form(law, reading).floor
    return floor.subs({each: {"d": sympy.Integer(d), "L": sympy.Integer(1)}[each.name] for each in floor.free_symbols})


def sampled(law: str, reading: str, d: int, n: int, contexts: int, seed: int) -> dict[str, Value]:
    """The loss on contexts drawn in R^d, over the closed form: at its own M = w I, and at the best M on the draws."""
    form = closed_form(law, reading)
    window, least = form.at(form.window, d=d, n=n, L=1.0, sigma=1.0), linear(law, reading, d, n)
    full = problem(law, d, n)
    if reading == "offset":
        full = full.replace(law=lv.laws.WithOffset(full.law))  # type: ignore[arg-type]
    drawn: dict[str, Any] = {"seed": seed, "stream": f"linear/{law}/{reading == 'offset'}/{d}/{n}"}
    terms = lv.loss_terms(full, window, "montecarlo", attention="linear", contexts=contexts, **drawn)
    best = lv.optimal_matrix(full, attention="linear", contexts=max(640, contexts // 4), starts=2, **drawn)
    return {
        "least": (best.loss, best.loss_error),
        "at w I": (float(terms.total) / least, float(terms.total_error) / least),
        "over all M": (best.loss / least, best.loss_error / least),
    }


def crossing(law: str, reading: str, d: int, ratio: float) -> Value:
    """Lambda = n (L / sigma)^2 from which on softmax attention has the smaller loss; unknown if it never does."""

    def ahead(n: int) -> bool:
        here, least = problem(law, d, n, ratio), linear(law, reading, d, n, ratio)
        # the uniform window may do already, and no window averages more noise away than that
        if float(lv.loss_terms(here, 0.0).total) < least or least < 1 / n:
            return least > 1 / n
        return softmax(law, d, n, ratio)[0] < least

    low, high = 1, 2
    while high <= LARGEST_N and not ahead(high):
        low, high = high, high * 8
    if high > LARGEST_N or not all(ahead(high * factor) for factor in BEYOND):
        return low * ratio**2, np.inf
    while high > low + max(1, low // RESOLUTION):
        middle = round((low * high) ** 0.5)
        low, high = (low, middle) if ahead(middle) else (middle, high)
    return (low + high) / 2 * ratio**2, (high - low) / 2 * ratio**2


def preconditioner(law: str, n: int, trace: float = 1.0) -> np.ndarray:
    r"""The M of the least loss over all M for x ~ N(0, Sigma) and f = a <q, x> + b |<q, x>|, q uniform on the sphere; L = 1.

    With A = E a^2, B = E b^2 and g = (1/n) sum_i y_i x_i the loss is least where E g g^T M Sigma = E g f(x) x^T = A Sigma^2 / d,

        M = ((1 - 1/n) Sigma + (1 + B/A) (2 Sigma + trace tr(Sigma) I) / n + d sigma^2 / (A n) I)^{-1}    with trace = 1.
    """
    A, B = PARTS[law]
    size = (1 + B / A) * trace * np.trace(SIGMA) + len(SIGMA) * LITTLE**2 / A
    return np.linalg.inv((1 - 1 / n + 2 * (1 + B / A) / n) * SIGMA + size / n * np.eye(len(SIGMA)))


def from_preconditioner(law: str, n: int, contexts: int, seed: int, trace: float = 1.0) -> Value:
    """How far the M of the least loss on sampled contexts is from that, over its largest entry."""
    tokens = lv.covariates.Gaussian(SIGMA)
    full = lv.Problem(d=len(SIGMA), n=n, law=lv.laws.law_named(law), sigma=LITTLE, covariates=tokens)
    drawn: dict[str, Any] = {"contexts": contexts, "seed": seed, "stream": f"descent/{law}/{n}"}
    best, M = lv.optimal_matrix(full, attention="linear", starts=2, **drawn), preconditioner(law, n, trace)
    return float(np.abs(best.M - M).max() / np.abs(M).max()), float(best.M_error.max() / np.abs(M).max())


def stationary(trace: str = "1") -> Any:
    """d E g g^T less A Sigma P^{-1} for every d, n and Sigma, with `trace` of the trace in P; then E g g^T P Sigma = A Sigma^2 / d.

    By Isserlis E <q, x>^2 x x^T = (tr(Sigma) Sigma + 2 Sigma^2) / d for q uniform on the sphere; m = 1/n, t = tr(Sigma).
    """
    from fractions import Fraction

    from lipverify.proofs.words import identity as unit
    from lipverify.proofs.words import leftover, letters

    s = letters(symmetric=("S",), S="d d", A="", B="", t="", m="", variance="", k="")
    square = s.t * s.S + 2 * s.S @ s.S
    derived = s.m * ((s.A + s.B) * square + s.k * s.variance * s.S) + (1 - s.m) * s.A * s.S @ s.S
    least = (1 - s.m) * s.A * s.S + s.m * (s.A + s.B) * (2 * s.S + Fraction(trace) * s.t * unit("d"))
    return leftover(derived, s.S @ (least + s.m * s.k * s.variance * unit("d")), "d")


def problem(law: str, d: int, n: float, ratio: float = 1.0) -> lv.Problem:
    """A problem from plain values, at sigma = 1 and L = ratio."""
    return lv.Problem(d=d, n=n, law=lv.laws.law_named(law, L=ratio), sigma=1.0)


def closed_form(law: str, reading: str) -> Any:
    """The closed form of a named law, with or without the offset of the slides."""
    from lipverify.loss.linear import linear_attention

    return linear_attention(lv.laws.law_named(law), reading == "offset")


def losses(law: str, reading: str, d: int) -> dict[str, list[float]]:
    """Both least losses along n, for the figure."""
    ladder = [float(round(n)) for n in np.geomspace(1e2, 1e12, 11)]
    both = [[linear(law, reading, d, n) for n in ladder], [softmax(law, d, n)[0] for n in ladder]]
    return {"n": ladder, "linear": both[0], "softmax": both[1]}


def falling(law: str, reading: str, two: dict[str, Any], five: dict[str, Any]) -> Figure:
    """Both losses against n: the one with its floor, and the one without."""
    styles: tuple[tuple[str, Any], ...] = (("linear", "line"), ("softmax", "dashed"))
    lines = [
        Series(label=f"{kind}, $d = {d}$", x=tuple(found["n"]), y=tuple(found[kind]), style=style)
        for d, found in ((2, two), (5, five))
        for kind, style in styles
    ]
    panel = Panel(
        title=f"least loss, {said('law', law)}, $L = \\sigma = 1$", xlabel="$n$", ylabel="loss", series=tuple(lines)
    )
    caption = (
        "The least loss of linear attention over all matrices (closed form) and that of softmax attention (exact, at $w^*$) "
        f"against $n$; {OFFSET[reading]}."
    )
    return Figure(caption=caption, alt=f"Least losses against n, {said('law', law)}, {reading}.", panels=(panel,))


SUMMARY = Source(
    "A",
    "In-depth insights, ICL Mechanism, unique to softmax",
    "The authors also demonstrate that this adaptive behavior is unique to softmax and cannot be replicated by linear "
    "attention units.",
)
OFFSET = {"offset": r"$b \sim \mathrm{Unif}[-L, L]$ as on the slides", "no-offset": "no offset, $b = 0$"}
CLASSES = {
    ("affine", "offset"): {"p": "0", "q": "4/(d + 3)"},
    ("affine", "no-offset"): {"p": "1", "q": "4/(d + 3)"},
    ("relu", "offset"): {"p": "0", "q": "3/(d + 2)"},
    ("relu", "no-offset"): {"p": "0", "q": "3/(d + 2)"},
}
"""The least loss of linear attention falls like n^-p, and that of softmax attention like n^-q."""
FLOORS = {
    ("affine", "offset"): {"F": "1/3", "T": "1/50"},
    ("relu", "offset"): {"F": "1/3 + 1/(6*d)", "T": "1/50"},
    ("relu", "no-offset"): {"F": "1/(6*d)", "T": "9/200"},
}
"""F, in units of L^2, is all of f that is not linear: the variance of b, and that of the even part of a ReLU function,
(l_1 + l_2) |<q, x>| / 2. T is what samples tell, three half-widths of theirs."""
CROSSINGS = {which: CLASSES[which] | {"X": "10*d" if which[1] == "no-offset" else "4"} for which in FLOORS}
"""X bounds the Lambda at which softmax attention overtakes linear attention for good."""
MODEL = {
    f"*/{reading}/*": (
        r"tokens and query uniform on $S^{d-1}$, noise independent with variance $\sigma^2$",
        r"linear attention predicts $\frac{1}{n} \sum_i y_i x_i^\top \mathbf{M} x$; the loss is minimised over all $\mathbf{M}$",
        words,
    )
    for reading, words in OFFSET.items()
}
LEAST = r"\min_{\mathbf{M}} \mathcal{L}_{\mathrm{lin}}"
LINEAR = r"The floor is $K(1) - k_1$, what in $f$ is not linear: for affine tasks without offset it is 0, and the loss falls like $1/n$"
DERIVATION = (
    r"Write $K(t) = \mathbb{E} f(x) f(x')$ at $t = \langle x, x' \rangle$ and $k_1 = d\, \mathbb{E}\, t K(t)$ for the variance of "
    r"the linear part of $f$. As $\mathbb{E}\, x x^\top = \mathbf{I}/d$, the loss of linear attention is the convex quadratic "
    r"$\|\mathbf{M}\|_F^2 (K(1) + \sigma^2 + (n-1) k_1/d) / (n d^2) - 2 k_1 \mathrm{tr}(\mathbf{M}) / d^2 + K(1)$; its minimiser is a "
    r"multiple of $\mathbf{I}$, and its minimum falls with $n$ to $K(1) - k_1$, which is attained in the limit only."
)
CONTEXTS = {"contexts": per_profile(32_768, 262_144)}
DRAWN = agree(linear, sampled, LEAST, of=("", "least"), over={"d": 3, "n": 30}, methods=("symbolic", "montecarlo"),
              given=CONTEXTS, error=1e-12)  # fmt: skip
LAMBDA = (
    r"$\Lambda_\times = n_\times (L / \sigma)^2$: from $n_\times$ on softmax attention has the smaller loss, looked at there and at "
    r"$10$, $10^3$ and $10^6$ times as many tokens; the ratio in $d$, $L / \sigma$ of the cells",
)
KINDS = {"relu/offset/*": "convention", "*": "stronger"}
RATIO = exponent(
    advantage,
    rf"\mathcal{{L}}(w^*) / {LEAST}",
    high="0",
    strict=True,
    sharp="p - q",
    over={"d": (2, 3, 5)},
    method="exact",
)

claim(
    "linear-attention.floor/{law}/{reading}/rate",
    exponent(linear, LEAST, low="0", sharp="-p", error=1e-12, grade="bounded"),
    exponent(softmax, r"\mathcal{L}(w^*)", high="0", strict=True, sharp="-q", method="exact"),
    source=SUMMARY,
    kind=KINDS,
    reading="linear attention does not adapt",
    expected={"affine/no-offset/*": "refuted", "*": "supported"},
    over={("law", "reading"): CLASSES, "d": (2, 3, 5, 8)},
    title="Linear attention has a floor, softmax attention has none",
    assumes=MODEL,
    agrees=DRAWN,
    figures=draw(falling, two=at(losses, d=2), five=at(losses, d=5)),
    finding={
        "affine/no-offset/*": r"Linear attention learns linear functions: its loss falls like $1/n$, faster than softmax "
        r"attention's $n^{-4/(d+3)}$, and on them it wins for every large $n$. What it cannot learn is the offset $b$ of the class, "
        r"$L^2/3$ of the loss, because its weights do not sum to one.",
        "affine/*": r"The floor is the variance of the offset $b$ alone: on the affine class the advantage of softmax attention is "
        "that its weights sum to one, so that a constant passes unchanged; not that its window adapts.",
        "*": r"The best window of linear attention tends to $w = d$ whatever $L$ and $\sigma$ are: there is nothing that could adapt "
        "to Lipschitzness, as the summary says.",
    },
    corrected={"affine/no-offset/*": LINEAR, "*": ""},
)
claim(
    "linear-attention.floor/{law}/{reading}/proved",
    identity(
        above_floor,
        r"\mathcal{L}_{\mathrm{lin}}(\mathbf{M}) - \Bigl(R + \frac{k m}{n k + m} + A \|\mathbf{M} - \eta \mathbf{I}\|_F^2\Bigr)",
        control={"floor": "101/100"},
    ),
    bound(
        falls,
        r"\text{exponent of } \mathcal{L}(w^*) \text{ in } n",
        high="0",
        strict=True,
        sharp="-q",
        over={"d": (2, 3, 5, 8)},
        method="certified",
    ),
    source=SUMMARY,
    kind="derived",
    expected="supported",
    over={("law", "reading"): {which: CLASSES[which] for which in FLOORS}},
    title="linear attention stays above its floor and softmax attention falls: proved",
    statement=r"\mathcal{L}_{\mathrm{lin}}(\mathbf{M}) > R = K(1) - k_1 \quad \text{for every } \mathbf{M}, n, \sigma",
    assumes=MODEL,
    finding=r"With $k = k_1$ and $m = (d - 1) k + d R + d \sigma^2 > 0$ the loss is $R$, plus a positive number, plus a square. $R$ is $L^2/3$ (affine with the "
    r"offset), $L^2/3 + L^2/(6d)$ and $L^2/(6d)$ (ReLU with and without it; `*/value`). That the loss is this quadratic in $\mathbf{M}$ needs $\mathbb{E} x x^\top = \mathbf{I}/d$ and "
    "independent tokens alone. The exponent of softmax attention is that of the window theorem.",
)
claim(
    "linear-attention.floor/{law}/{reading}/value",
    bound(limit, rf"\lim_n {LEAST} / L^2", equals="F", within=f"{4 * EPS}*(F)", over={"d": DIMENSIONS}, method="symbolic"),
    *(
        bound(sampled, rf"\mathcal{{L}}_{{\mathrm{{lin}}}}(\mathrm{{{of}}}) / {LEAST}", of=of, equals=1, within="T",
              over={"d": 3, "n": 30}, method="montecarlo", given=CONTEXTS)
        for of in ("at w I", "over all M")
    ),
    source=SUMMARY,
    kind="derived",
    expected="supported",
    over={("law", "reading"): FLOORS},
    title="The floor of linear attention",
    statement={
        tail: rf"\inf_{{n, \mathbf{{M}}}} \mathcal{{L}}_{{\mathrm{{lin}}}}(\mathbf{{M}}) = {floor}"
        for tail, floor in {
            "affine/*": r"\frac{L^2}{3}",
            "relu/offset/*": r"\frac{L^2}{3} + \frac{L^2}{6 d}",
            "*": r"\frac{L^2}{6 d}",
        }.items()
    },
    assumes=MODEL,
    agrees=DRAWN,
    finding=DERIVATION,
)  # fmt: skip
claim(
    "linear-attention.floor/{law}/{reading}/crossing",
    RATIO,
    bound(crossing, r"\Lambda_\times", high="X", control="0.475*X",
          over={"d": per_profile((2, 3, 5), (2, 3, 5, 8, 12)), "ratio": per_profile((0.1, 0.3), (0.1, 0.3, 1.0))}, method="exact"),
    source=SUMMARY,
    kind=KINDS,
    reading="linear attention does not adapt",
    expected="supported",
    over={("law", "reading"): CROSSINGS},
    title="Softmax attention overtakes linear attention for good",
    statement=rf"\mathcal{{L}}(w^*) = o\left({LEAST}\right), \quad \mathcal{{L}}(w^*) < {LEAST} \text{{ from }} \Lambda_\times \leq X",
    assumes={tail: (*said, *LAMBDA) for tail, said in MODEL.items()},
    finding={
        "*/offset/*": r"The crossing is near $\Lambda = 3$ in every dimension that was measured: there the noise of a plain average, $\sigma^2/n$, is "
        r"what the mean of $f$ over the sphere costs linear attention, $L^2/3$ for the offset (and a little more for the mean of a "
        "ReLU function); the window hardly matters.",
        "*": r"Where it was measured $\Lambda_\times$ hardly depends on $L/\sigma$ and grows with $d$.",
    },
)  # fmt: skip
claim(
    "linear-attention.floor/{law}/{reading}/crossing",
    RATIO,
    source=SUMMARY,
    kind="stronger",
    expected="refuted",
    over={("law", "reading"): {("affine", "no-offset"): CLASSES["affine", "no-offset"]}},
    title="Softmax attention overtakes linear attention for good",
    assumes=MODEL["*/no-offset/*"],
    finding=r"The loss of linear attention falls like $1/n$ and that of softmax attention like $n^{-4/(d+3)}$: on linear functions "
    "without an offset softmax attention never overtakes linear attention for good.",
    corrected=LINEAR,
)
claim(
    "linear-attention.floor/{law}/{reading}/advantage",
    exponent(advantage, rf"\mathcal{{L}}(w^*) / {LEAST}", equals="p - q", over={"d": (2, 3, 5)}, method="exact"),
    source=SUMMARY,
    kind="sharp",
    expected="supported",
    over={("law", "reading"): CLASSES},
    title="How far softmax attention gets ahead of linear attention, as a rate",
    assumes=MODEL,
    finding={
        "affine/no-offset/*": r"Here it falls behind, like $n^{1 - 4/(d+3)}$: linear attention averages all $n$ labels for one linear function.",
        "*": r"Linear attention keeps its floor, so the advantage is the whole rate of softmax attention, $n^{-3/(d+2)}$ (ReLU) and $n^{-4/(d+3)}$ "
        r"(affine with an offset). It tends to none as $d$ grows.",
    },
)
KNOWN = Source(
    "S",
    "What is known about ICL in this setting?",
    "Solving pretraining loss yields transformers that execute preconditioned GD during ICL. Only holds for linear attention and linear tasks",
)
claim(
    "linear-attention.descent/{law}",
    bound(
        from_preconditioner, r"\max |\mathbf{M}^* - \mathbf{P}| / \max |\mathbf{P}|", equals=0, within=0.2, control={"trace": 0.0}, over={"n": 10},
        method="montecarlo", given={"contexts": per_profile(8192, 40_960)},
    ),
    source=KNOWN,
    kind={"affine": "convention", "*": "stronger"},
    expected="supported",
    over={"law": tuple(PARTS)},
    title={"affine": "pretraining on linear tasks ends in preconditioned descent", "*": "pretraining on nonlinear tasks ends in preconditioned descent as well"},
    statement=r"\mathbf{M}^* = \mathbf{P} = \left(\left(1 - \tfrac{1}{n}\right) \Sigma + \tfrac{A + B}{A n} (2 \Sigma + \mathrm{tr} \Sigma \, \mathbf{I}) + \tfrac{d \sigma^2}{A n} \mathbf{I}\right)^{-1}",
    assumes=(
        r"$x \sim \mathcal{N}(0, \Sigma)$ in three dimensions, two of them correlated; $n = 10$, $L = 1$, $\sigma = 0.3$",
        r"$f = a \langle q, x \rangle + b |\langle q, x \rangle|$ with $q$ uniform on the sphere; $A = \mathbb{E} a^2$ and $B = \mathbb{E} b^2$ are $1/3$ and $0$ (affine), $1/6$ and $1/6$ (ReLU)",
        r"one layer: $\hat y = \frac{1}{n} \sum_i y_i x_i^\top \mathbf{M} x$, which is $\langle v, x \rangle$ after a step $v = \mathbf{M}^\top \frac{1}{n} \sum_i y_i x_i$ of descent from 0 on the squared error of $\langle v, x \rangle$",
    ),
    finding=r"The loss is a convex quadratic in $\mathbf{M}$; its minimum is derived and compared with that on sampled contexts. Without the even part ($B = 0$) it is what Ahn et al. and "
    r"Mahankali et al. print, with the noise in the trace. With it only the trace and $2 \Sigma$ count for more, so that the restriction to linear tasks is one of what was proved: on nonlinear tasks the layer takes a step of "
    "the same kind, towards the best linear function (linear-attention.floor says what that leaves).",
)  # fmt: skip
claim(
    "linear-attention.descent/{law}/proved",
    identity(stationary, r"d\, \mathbb{E} g g^\top - A\, \Sigma\, \mathbf{P}^{-1}", control={"trace": "99/100"}),
    proves="linear-attention.descent/{law}",
    source=KNOWN,
    kind="derived",
    expected="supported",
    over={"law": tuple(PARTS)},
    title="the loss of linear attention is least at the preconditioner: every d, n and Sigma",
    statement=r"\mathbf{M}^* = \mathbf{P} = \left(\left(1 - \tfrac{1}{n}\right) \Sigma + \tfrac{A + B}{A n} (2 \Sigma + \mathrm{tr} \Sigma \, \mathbf{I}) + \tfrac{d \sigma^2}{A n} \mathbf{I}\right)^{-1}",
    assumes=(
        r"$x \sim \mathcal{N}(0, \Sigma)$, any invertible $\Sigma$, $d$, $n$, $\sigma$; $f = a \langle q, x \rangle + b |\langle q, x \rangle|$ with $q$ uniform on the sphere, $\mathbb{E} a b = 0$, $A > 0$",
        "the identity is checked, with the fourth moments of Isserlis; what follows is by hand",
    ),
    finding=r"With $g = \frac{1}{n} \sum_i y_i x_i$ the loss $\mathbb{E} (g^\top \mathbf{M} x - f(x))^2$ is a convex quadratic in $\mathbf{M}$, least where $\mathbb{E} [g g^\top] \mathbf{M} \Sigma = \mathbb{E} [g f(x) x^\top] = "
    r"A \Sigma^2 / d$. The even part $|\langle q, x \rangle|$ is uncorrelated with $x$ and adds to the square of a label alone. That gradient descent on the loss ends there is known of a convex quadratic.",
)  # fmt: skip
