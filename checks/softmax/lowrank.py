r"""Theorem 4: attention pretrained on f(x) = a^T B^T x finds the columns of B, and attends along nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np

import lipverify as lv
from lipverify.claims import Figure, HeatMap, Source, agree, at, bound, claim, draw, exponent, identity, per_profile

Floats = np.ndarray[Any, np.dtype[np.float64]]
Value = tuple[float, float]


def exact(covariates: str, case: str, d: int, k: int) -> dict[str, Value]:
    """The best M = c BB^T + c' (I - BB^T) in the ball of radius d, by the exact reduction."""
    from lipverify.optimum.block import optimal_block

    found = optimal_block(problem(covariates, case, d, k), float(d))
    return {"c": (found.c, found.c_error), "ratio": found.ratio, "loss": (found.loss, found.loss_error)}


def searched(covariates: str, case: str, d: int, k: int, contexts: int, seed: int) -> dict[str, Any]:
    """The best symmetric M in the same ball on sampled contexts, nothing assumed about its form."""
    from lipverify.optimum.block import sampled_block

    here = problem(covariates, case, d, k)
    stream = f"lowrank/{covariates}, d={d}, k={k}, n={here.n:g}, sigma={here.sigma:g}, C={d}"
    found = sampled_block(here, k, float(d), contexts=contexts, seed=seed, stream=stream)
    return {
        "c": (found.c, found.c_error),
        "relevant": (found.relevant, found.relevant_error),
        "ratio": found.ratio,
        "loss": (found.loss, found.loss_error),
        "M": found.M,
    }


def averaged(power: int, kept: str = "1") -> Any:
    """The mean of tanh(A + S)^power over the sign of S, less its form in T = tanh A and U = tanh S; `kept` of what S changes."""
    import sympy

    T, U = sympy.symbols("T U")
    both = [(T + sign * U) / (1 + sign * T * U) for sign in (1, -1)]
    changed = {
        1: -T * U**2 * (1 - T**2) / (1 - T**2 * U**2),
        2: U**2 * (1 - T**2) * (1 - 3 * T**2 + T**2 * U**2 * (1 + T**2)) / (1 - T**2 * U**2) ** 2,
    }[power]
    return sum(each**power for each in both) / 2 - T**power - sympy.Rational(kept) * changed


def best_loss(m: int, n: float) -> Value:
    """The least loss over w of linear tasks on the unit sphere of R^m, sigma = 1."""
    found = lv.optimal_window(lv.Problem(d=m, n=n, law=lv.laws.Linear(), sigma=1.0))
    return found.loss, found.loss_error


def projected(d: int, k: int, n: int, c: float) -> dict[str, Value]:
    """The loss at c BB^T on the product of spheres in R^d, by the block reduction, and at c on the sphere of R^k."""
    from lipverify.loss.block import block_terms
    from lipverify.problem.named import low_rank_problem

    small = lv.loss_terms(lv.Problem(d=k, n=n, law=lv.laws.Linear(), sigma=0.5), c)
    whole = block_terms(low_rank_problem("product", d, k, n, 0.5), c, 0.0)
    return {
        name: (float(terms.total), float(terms.total_error)) for name, terms in (("in R^d", whole), ("in R^k", small))
    }


def tilted(d: int, size: Floats) -> Floats:
    """|E u| for u on S^{d-1} with density proportional to e^<size, u>: Bessel's I_{d/2} / I_{d/2-1}.

    By Gauss' continued fraction; once its orders exceed `size`, each term counts for less than a quarter of the last.
    """
    ratio = np.zeros_like(size)
    for order in reversed(range(int(d), int(max(d, np.max(size))) + 200, 2)):
        ratio = size / (order + size * ratio)
    return ratio


def floor(d: int, k: int, scale: str = "") -> Value:
    """lim L(c BB^T) as n -> infinity at the best c, tokens uniform on S^{d-1}; `scale`: times d^3 / (2 (k + 2)).

    A query x with r = |B^T x| gets E_t B^T t under the weights e^(c <B^T t, B^T x>), which is A(c r) B^T x / r, and a^T of
    what is off from B^T x is on average (A(c r) - r)^2 / k, where r^2 is Beta(k/2, (d - k)/2).
    """
    from scipy.optimize import minimize_scalar

    from lipverify.loss.block.rules import share_rule

    def off(log_c: float, order: int = 80) -> float:
        share, weight = share_rule(d, k, order)
        r = np.sqrt(share)
        return float(weight @ (tilted(d, np.exp(log_c) * r) - r) ** 2 / k)

    best = minimize_scalar(off, bounds=(np.log(d) - 1, np.log(d) + 1), method="bounded", options={"xatol": 1e-9}).x
    value, unit = off(best), d**3 / (2 * (k + 2)) if scale else 1.0
    return unit * value, unit * (abs(value - off(best, 60)) + 1e-12 * value)


def in_block(d: int, k: int) -> Value:
    """The bias at n = 10^12 by the block reduction, at the best of many c; contexts differ by less than e^k / n."""
    from scipy.optimize import minimize_scalar

    from lipverify.loss.block import block_terms
    from lipverify.problem.named import low_rank_problem

    here = low_rank_problem("sphere", d, k, 1e12, 0.0)
    found = minimize_scalar(lambda c: float(block_terms(here, c, 0.0).bias), bounds=(d, 3 * d), method="bounded")
    return found.fun, 1e-11


def problem(covariates: str, case: str, d: int, k: int) -> Any:
    """Each of the two assumptions of the theorem, without the other."""
    from lipverify.problem.named import low_rank_problem

    return low_rank_problem(covariates, d, k, **CASES[case])  # type: ignore[arg-type]


def maps(best: dict[str, Any], found: dict[str, Any]) -> Figure:
    """M* over all symmetric matrices beside the best c BB^T, at d = 4 and k = 2."""
    aligned = np.diag([best["c"][0]] * 2 + [0.0] * 2).tolist()
    named = {r"$\mathbf{M}^*$": found["M"], r"$c \mathbf{B} \mathbf{B}^\top$": aligned}
    return Figure(
        caption=r"The minimiser over all symmetric matrices on sampled contexts, as it was found, beside the best $c \mathbf{B} "
        r"\mathbf{B}^\top$ by the exact reduction; $d = 4$, $k = 2$, and $\mathbf{B}$ the first two axes.",
        alt="The sampled minimiser beside c BB^T, entry by entry, at d = 4 and k = 2.",
        maps=tuple(HeatMap(title=title, values=tuple(map(tuple, values))) for title, values in named.items()),
        layer="front",
    )


THEOREM_4 = Source(
    "S",
    "Theorem 4 (Informal)",
    r"Suppose $n = 2$ or $\sigma = 0$. Then for some $C = \Omega(1)$, any optimal solution $\mathbf{M}^*$ of the ICL pretraining "
    r"loss induced by the task distribution $D(\mathcal{F}_{\mathbf{B}}^{\mathrm{lin}})$ optimized over the set $\mathcal{M} := "
    r"\{\mathbf{M}: \mathbf{M} = \mathbf{M}^\top, \|\mathbf{B}^\top \mathbf{M} \mathbf{B}\|_2 \leq C\}$ satisfies, for $c \in (0, C]$, "
    r"$\mathbf{M}^* = c \mathbf{B} \mathbf{B}^\top$. If $\mathbf{s} \in \mathrm{col}(\mathbf{B})$ then $\mathbf{s}^\top \mathbf{M}^* "
    r"\mathbf{s} > 0$; if $\mathbf{s} \in \mathrm{col}(\mathbf{B})^\perp$ then $\mathbf{s}^\top \mathbf{M}^* \mathbf{s} = 0$",
)
CASES: dict[str, dict[str, float]] = {"two-tokens": {"n": 2, "sigma": 0.5}, "noiseless": {"n": 20, "sigma": 0.0}}
MEANT = {case: {name: str(value) for name, value in meant.items()} for case, meant in CASES.items()}
COVARIATES = {
    "sphere": r"tokens and query uniform on $S^{d-1}$",
    "product": r"$x = \mathbf{B} u + \mathbf{B}_\perp v$ with $u$ uniform on $S^{k-1}$ and $v$ on $S^{d-k-1}$ (other radii are other units)",
}
SET = (
    r"$f(x) = \mathbf{a}^\top \mathbf{B}^\top x$ with $\mathbf{a}$ uniform on $S^{k-1}$",
    r"all symmetric $\mathbf{M}$ with $\|\mathbf{B}^\top \mathbf{M} \mathbf{B}\|_2 \leq C = d$",
    r"$\mathbf{M} = c \mathbf{B} \mathbf{B}^\top + c' (\mathbf{I} - \mathbf{B} \mathbf{B}^\top)$ by the exact reduction, all symmetric "
    r"$\mathbf{M}$ by sampling, at the $(d, k)$ of the cells",
)
ASSUMED = {f"{name}*": (words, *SET) for name, words in COVARIATES.items()}
BOTH = (*SET, r"$n = 2$ with $\sigma = 0.5$ (two-tokens), or $n = 20$ with $\sigma = 0$ (noiseless)")
EITHER = {f"{name}*": (words, *BOTH) for name, words in COVARIATES.items()}
PAIRS = per_profile(((2, 1), (3, 2), (4, 2)), ((2, 1), (3, 1), (3, 2), (4, 2), (5, 3), (6, 2), (8, 3)))
WIDE = per_profile(((3, 2), (4, 2)), ((3, 2), (4, 2), (5, 3), (6, 2), (8, 3)))
"""Where samples can settle it: with k = 1 on the product and no noise the loss is flat wherever c is large."""
CONTEXTS = {"contexts": per_profile(4096, 65536)}
BY_SAMPLES: dict[str, Any] = {"method": "montecarlo", "given": CONTEXTS}
EXACT, SAMPLED = "3e-5", "0.1"
"""Three times the largest errors of a ratio, by each method."""


def aligned(quantity: str, where: Any) -> tuple[Any, ...]:
    """M* has no spurious part: exactly within the invariant family, and over all symmetric matrices."""
    return (
        bound(exact, quantity, of="ratio", equals=0, within=EXACT, over={("d", "k"): PAIRS}, method="exact"),
        bound(searched, quantity, of="ratio", equals=0, within=SAMPLED, over={("d", "k"): where}, **BY_SAMPLES),
    )


def agreed(where: Any, **further: Any) -> tuple[Any, ...]:
    """The scale c* and the least loss by the exact reduction and over all symmetric M."""
    over: dict[Any, Any] = {**further, ("d", "k"): where}
    return tuple(
        agree(exact, searched, name, of=of, over=over, given=CONTEXTS)
        for of, name in (("c", "c^*"), ("loss", r"\mathcal{L}"))
    )


def beside(covariates: str, **case: str) -> Any:
    """The heat maps."""
    where = {"covariates": covariates, "d": 4, "k": 2, **case}
    return draw(maps, best=at(exact, **where), found=at(searched, **where, **CONTEXTS))


SCALE = bound(exact, "c^*", of="c", low="0", control="1.1*d", strict=True, over={("d", "k"): PAIRS}, method="exact")
RATIO = "c'^* / c^*"
QUADRATIC = r"\mathbf{s}^\top \mathbf{M}^* \mathbf{s}"
RECOVERY: dict[str, Any] = {
    "source": THEOREM_4,
    "kind": {"sphere/*": "printed", "*": "convention"},
    "expected": "supported",
    "assumes": ASSUMED,
    "statement": r"\mathbf{M}^* = c \mathbf{B} \mathbf{B}^\top, \quad 0 < c \leq C, \quad C = d",
    "title": "M* = c BB^T",
    "finding": r"Exactly, the best $\mathbf{M} = c \mathbf{B} \mathbf{B}^\top + c' (\mathbf{I} - \mathbf{B} \mathbf{B}^\top)$ has $c' = 0$; "
    "and the minimiser over all symmetric matrices, found on sampled contexts with nothing assumed about its form, does not differ "
    r"from it. The theorem asks for some $C = \Omega(1)$; $C = d$ is such a constant at these $(d, k)$.",
}
RELEVANT: dict[str, Any] = {
    "source": THEOREM_4,
    "kind": {"sphere/*": "printed", "*": "convention"},
    "expected": "supported",
    "assumes": EITHER,
    "statement": rf"\mathbf{{s}} \in \mathrm{{col}}(\mathbf{{B}}) \implies {QUADRATIC} > 0",
    "title": "Attention is positive on the relevant directions",
    "finding": r"Least over the unit vectors of $\mathrm{col}(\mathbf{B})$, from the sampled minimiser before any averaging.",
}
SPURIOUS: dict[str, Any] = RELEVANT | {
    "statement": rf"\mathbf{{s}} \in \mathrm{{col}}(\mathbf{{B}})^\perp \implies {QUADRATIC} = 0",
    "title": "Attention is zero on the spurious directions",
    "finding": r"On average over the unit vectors off $\mathrm{col}(\mathbf{B})$, in units of that on it; no single entry of the sampled "
    "minimiser stands out.",
}


def on(covariates: str, pairs: Any) -> None:
    """The three claims for one law of the covariates, sampled where that can settle it."""
    cases: dict[str, Any] = {"covariates": covariates, "case": tuple(CASES)}
    claim(
        f"lowrank.recovery/{covariates}/{{case}}",
        SCALE,
        *aligned(RATIO, pairs),
        over=cases | {"case": MEANT},
        agrees=agreed(pairs, covariates=covariates),
        figures=beside(covariates),
        **RECOVERY,
    )
    positive = bound(
        searched,
        rf"\min {QUADRATIC}",
        of="relevant",
        low="0",
        strict=True,
        control="1.1*d",
        over={("d", "k"): pairs},
        **BY_SAMPLES,
    )
    both: dict[str, Any] = {"over": cases, "agrees": agreed(pairs, **cases)}
    claim(f"lowrank.directions/{covariates}/relevant", SCALE, positive, **both, **RELEVANT)
    claim(f"lowrank.directions/{covariates}/spurious", *aligned(rf"{QUADRATIC} / c^*", pairs), **both, **SPURIOUS)


on("sphere", PAIRS)
on("product", WIDE)

claim(
    "lowrank.recovery/two-tokens/blocks/proved",
    *(
        identity(
            averaged,
            rf"\frac{{1}}{{2}} \sum_\pm \tanh^{power}(A \pm S) - T^{power} - \dots",
            control={"kept": "101/100"},
            over={"power": power},
        )
        for power in (1, 2)
    ),
    source=THEOREM_4,
    kind="derived",
    expected="supported",
    title="Theorem 4 with two tokens, among matrices that do not mix the two spaces: every sigma, d and k",
    statement=r"\mathbf{M}^* = c \mathbf{B} \mathbf{B}^\top, \quad 0 < c \leq C, \qquad \text{for every } C \leq \mathrm{artanh}(1/\sqrt{3}) \approx 0.658",
    assumes=(
        r"$n = 2$, any $\sigma$, $d$ and $k < d$; tokens uniform on $S^{d-1}$ or on the product of spheres",
        r"$f(x) = \mathbf{a}^\top \mathbf{B}^\top x$ with $\mathbf{a}$ uniform on $S^{k-1}$",
        r"all $\mathbf{M} = \mathbf{B} \mathbf{M}_1 \mathbf{B}^\top + \mathbf{B}_\perp \mathbf{M}_2 \mathbf{B}_\perp^\top$ with $\|\mathbf{M}_1\|_2 \leq C$: not those that "
        r"mix $\mathrm{col}(\mathbf{B})$ with its complement, which are searched on samples",
        "the identities are checked; what follows is by hand",
    ),
    finding=r"With $\delta = x_1 - x_2$ and $\tau = \tanh(\delta^\top \mathbf{M} x / 2)$ the two weights are $(1 \pm \tau)/2$, and the loss is a constant plus $\mathbb{E} [\alpha \tau^2 - \beta \tau]$, "
    r"$\alpha = |\mathbf{B}^\top \delta|^2 / (4k) + \sigma^2/2 > 0$, $\beta = \langle \mathbf{B}^\top \delta, \mathbf{B}^\top x \rangle / k$ (what is left is odd in $x$). The score over two is $A + S$, "
    r"and the sign of $S$, the part off $\mathrm{col}(\mathbf{B})$, is that of the tokens' spurious parts: average over it, with $T = \tanh A$, $U = \tanh S$. As $|A| \leq C$, $T^2 \leq 1/3$: by the second "
    r"identity the mean of $\tau^2$ is at least $T^2$, and more unless $S = 0$. By the first the mean of $\tau$ is $T g$ with $0 \leq g = (1 - U^2)/(1 - T^2 U^2) \leq 1$. For a given query let $v = \mathbf{M}_1 "
    r"\mathbf{B}^\top x$. Tokens may be rotated within $\mathrm{col}(\mathbf{B})$, so $\mathbb{E} \beta T g$ is the cosine of $v$ and $\mathbf{B}^\top x$ times a positive number, which is largest at $g = 1$; $\alpha T^2$ "
    r"depends on $|v|$ alone. So the loss at $x$ is no less than with $v = s \mathbf{B}^\top x$, $s = |\mathbf{M}_1 u| \leq C$ for the direction $u$ of $\mathbf{B}^\top x$, and $\mathbf{M}_2 = 0$; the direction is independent of the "
    r"length, so that $\mathcal{L}(\mathbf{M}) \geq \mathbb{E}_u \mathcal{L}(s(u) \mathbf{B} \mathbf{B}^\top) \geq \min_{c \leq C} \mathcal{L}(c \mathbf{B} \mathbf{B}^\top)$. Its slope at $c = 0$ is $-\mathbb{E} \langle "
    r"\mathbf{B}^\top \delta, \mathbf{B}^\top x \rangle^2 / (2k) < 0$: $c > 0$.",
)

PART_II = Source(
    "S",
    "Results Part II: Softmax Attn Learns Attn Window Direction",
    r"Interesting case: $k \ll d$, then learning $\mathrm{col}(\mathbf{B})$ drastically reduces ICL problem dimension. Attention window of softmax "
    r"attention should depend only on projections of the input onto $\mathrm{col}(\mathbf{B})$",
)
SAVED = (
    COVARIATES["product"],
    r"$f(x) = \mathbf{a}^\top \mathbf{B}^\top x$ with $\mathbf{a}$ uniform on $S^{k-1}$, $\sigma = 1$, $n \to \infty$",
)
claim(
    "lowrank.dimension/learned",
    exponent(
        best_loss,
        r"\min_c \mathcal{L}(c \mathbf{B} \mathbf{B}^\top)",
        ray=(1e6, 1e24, 9),
        equals="-4/(m + 3)",
        over={"m": (2, 3)},
        method="exact",
    ),
    source=PART_II,
    kind="derived",
    expected="supported",
    title="the rate after learning col(B), whatever d",
    statement=r"\min_c \mathcal{L}(c \mathbf{B} \mathbf{B}^\top) = \Theta\left(n^{-4/(k+3)}\right)",
    assumes=(*SAVED, "$m = k$"),
    agrees=agree(
        projected,
        projected,
        r"\mathcal{L}(c \mathbf{B} \mathbf{B}^\top)",
        of=("in R^d", "in R^k"),
        over={("d", "k"): ((4, 2), (6, 2), (5, 3)), "n": 30, "c": (1.0, 8.0)},
    ),
    finding=r"With $\mathbf{M} = c \mathbf{B} \mathbf{B}^\top$ scores and labels see $\mathbf{B}^\top x$ alone: the problem is that of the sphere in $\mathbb{R}^k$, to the last "
    r"digit, and $d$ is gone.",
)
claim(
    "lowrank.dimension/not-learned",
    exponent(
        best_loss,
        r"\min_w \mathcal{L}(w \mathbf{I})",
        ray=(1e6, 1e24, 9),
        low="-4/(m + 2)",
        strict=True,
        sharp="-4/(m + 3)",
        over={"m": (3, 5, 8)},
        method="exact",
    ),
    source=PART_II,
    kind="derived",
    expected="supported",
    title="without learning col(B) the rate is that of d dimensions",
    statement=r"\min_w \mathcal{L}(w \mathbf{I}) = \Theta\left(n^{-4/(d+3)}\right) \gg n^{-4/(k+3)} \quad \text{for every } k < d",
    assumes=(
        COVARIATES["sphere"],
        *SAVED[1:],
        r"$\mathbf{M} = w \mathbf{I}$, $m = d$: no direction is preferred; $k = d - 1$ is the nearest case",
    ),
    finding=r"$\mathbf{M} = w \mathbf{I}$ does not see which $\mathbf{B}$ it is, and its loss is that of linear tasks in all of $\mathbb{R}^d$. The reduction is drastic: for an error "
    r"$\epsilon$ it takes $\epsilon^{-(d+3)/4}$ tokens, and $\epsilon^{-(k+3)/4}$ once the columns are known.",
)
SPHERE_SAVED = (COVARIATES["sphere"], *SAVED[1:])
claim(
    "lowrank.dimension/sphere",
    bound(floor, r"\lim_{n \to \infty} \min_c \mathcal{L}(c \mathbf{B} \mathbf{B}^\top)", equals=0, within=1e-9,
          instead={"low": "(k + 2)*(d - k)/d**4/20", "high": "2*(k + 2)/d**3"},
          over={("d", "k"): ((3, 1), (3, 2), (5, 2), (20, 2), (100, 4))}, method="exact"),
    source=PART_II,
    kind="convention",
    expected="refuted",
    title="the same for tokens uniform on the sphere: the loss goes to 0",
    statement=r"\lim_{n \to \infty} \min_c \mathcal{L}(c \mathbf{B} \mathbf{B}^\top) = 0",
    assumes=SPHERE_SAVED,
    agrees=agree(floor, in_block, r"\lim \min_c \mathcal{L}(c \mathbf{B} \mathbf{B}^\top)", methods=("quadrature", "exact"),
                 over={("d", "k"): ((3, 1), (5, 2))}),
    finding=r"The slides' tokens are uniform on $S^{d-1}$, and their projections $\mathbf{B}^\top x_i$ fill a ball. There scores $c \langle \mathbf{B}^\top x_i, \mathbf{B}^\top x \rangle$ "
    r"are no distances: they prefer tokens whose projection is long, and no $c$ makes attention a window about $\mathbf{B}^\top x$. The best $c$ is near $d$, where the projections, which are nearly "
    r"normal, are shifted by nearly the right length. What is left is small where $k \ll d$, and does not go away with $n$.",
    corrected=r"on the sphere the loss of $c \mathbf{B} \mathbf{B}^\top$ tends to a floor, $\sim 2 (k + 2) / d^3$ for $k \ll d$; it goes to 0 on a product of spheres",
)  # fmt: skip
claim(
    "lowrank.dimension/sphere/floor",
    exponent(floor, r"\lim_{n \to \infty} \min_c \mathcal{L}(c \mathbf{B} \mathbf{B}^\top)", along="d", ray=(100, 10**5, 9), equals="-3", method="exact"),
    bound(floor, r"\frac{d^3}{2 (k + 2)} \lim_{n \to \infty} \min_c \mathcal{L}(c \mathbf{B} \mathbf{B}^\top)", along="d", ray=(100, 10**5, 9),
          equals=1, within=0.01, given={"scale": "unit"}, method="exact"),
    source=PART_II,
    kind="derived",
    expected="supported",
    over={"k": (1, 2, 4)},
    title="what is left on the sphere where k is much smaller than d",
    statement=r"\lim_{n \to \infty} \min_c \mathcal{L}(c \mathbf{B} \mathbf{B}^\top) \sim \frac{2 (k + 2)}{d^3} \quad (d \to \infty)",
    assumes=SPHERE_SAVED,
    finding=r"A share $2 (k + 2) / d^2$ of $\mathbb{E} f(x)^2 = 1/d$: the fluctuation of $|\mathbf{B}^\top x|^2$, in which the shift of the mean is curved. With $\mathbf{M} = w \mathbf{I}$ the loss "
    r"does go to 0, at the rate $n^{-4/(d+3)}$ of all dimensions: in very long contexts it is the better one, which is why a large ball loses $\mathbf{B}$ on the sphere.",
)  # fmt: skip
