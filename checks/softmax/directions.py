r"""The slide of extreme examples: w* grows with L and n and falls with sigma; and the limits of each."""

from __future__ import annotations

import math
from typing import Any

import lipverify as lv
from lipverify.claims import Source, agree, at, bound, claim, exponent, identity, per_profile

Value = tuple[float, float]


def window(law: str, d: int, n: float, L: float = 1.0, sigma: float = 1.0) -> Value:
    """w*, exactly."""
    found = lv.optimal_window(lv.Problem(d=d, n=n, law=lv.laws.law_named(law, L=L), sigma=sigma))
    return found.w, found.w_error


def sampled_window(law: str, d: int, n: float, contexts: int, seed: int) -> Value:
    """w* on sampled contexts alone."""
    from lipverify.optimum.window.empirical import empirical_window

    problem = lv.Problem(d=d, n=n, law=lv.laws.law_named(law), sigma=1.0)
    found = empirical_window(problem, contexts=contexts, seed=seed, stream=f"window/{law}/{d}/{n}")
    return found.w, found.w_error


def elasticities(law: str, d: int, n: float, L: float) -> dict[str, Value]:
    """d log w* / d log of L, n and sigma, over a factor of two in each from sigma = 1."""
    low, error = window(law, d, n, L)
    doubled = {"L": window(law, d, n, 2 * L), "n": window(law, d, 2 * n, L), "sigma": window(law, d, n, L, 2.0)}
    return {
        name: (math.log(w / low) / math.log(2), (w_error / w + error / low) / math.log(2))
        for name, (w, w_error) in doubled.items()
    }


def proved_windows(d: int, n: float, sigma: float, L: float, larger: float) -> dict[str, Any]:
    """Intervals that contain every w* of the cosine law at L and at a larger constant, and their difference, by balls."""
    from lipverify.claims.plan.proved import between, proved_optimum

    def window(L: float) -> Any:
        problem = lv.Problem(d=d, n=n, law=lv.laws.Cosine(L=L), sigma=sigma)
        proof = proved_optimum(f"optimum-cosine-{L:g}-{d}-{n:g}-{sigma:g}", problem)
        return between(proof, *proof.window)

    one, other = window(L), window(larger)
    return {"change": other - one, "at": one}


def local_elasticities(law: str, d: int, n: float, L: float) -> dict[str, Value]:
    """d log w* / d log of L, n and sigma at sigma = 1, as exact derivatives."""
    moves = lv.sensitivity(lv.optimal_window(lv.Problem(d=d, n=n, law=lv.laws.law_named(law, L=L), sigma=1.0)))
    found = {"L": moves.window_L, "n": moves.window_n, "sigma": moves.window_sigma}
    return {name: (float(value), moves.window_error) for name, value in found.items() if value is not None}


def at_no_noise(d: int, n: int) -> float:
    """What is claimed of w* at sigma = 0."""
    return {(3, 50): 16.8, (3, 100): 27.5, (5, 50): 9.8}[d, n]


def turning(found: dict[str, Any]) -> str:
    """Where the window of the cosine law is, and from where its second harmonic falls."""
    from scipy.special import jnp_zeros

    w, error = getattr(found["at"], "pair", found["at"])
    return (
        f"By balls: $w^*$ at $L = 3$ is {w:.3g} up to {error:.1g}, and $w^* = 0$ at $L = 4$. A wave that a wide window cannot follow is left to the average of all "
        "tokens: what attention can use at $w$ near 0 is the second harmonic, of size $J_2(L)^2$, which falls from "
        f"$L = {jnp_zeros(2, 1)[0]:.2f}$ on to the next zero of $J_2$."
    )


def without_noise(**found: Value) -> str:
    """What w* tends to as L/sigma grows at fixed n."""
    limits = ", ".join(
        f"{w:.3g} at $d = {d}$, $n = {n}$" for (d, n), (w, _) in zip(NOISELESS, found.values(), strict=True)
    )
    return (
        r"At fixed $n$ the optimal window does not narrow without bound as $L/\sigma \to \infty$: without noise the bias itself has a minimum at a finite $w$, "
        "because averaging a few neighbours around the query cancels first-order errors, which the nearest neighbour alone cannot. "
        rf"At $\sigma = 0$ the best $w$ is {limits}. For $w^* \to \infty$ the context must grow too (`n-to-infinity`)."
    )


def wave_windows(d: int, n: float, sigma: float, L: float, larger: float) -> Value:
    """w* of the cosine law at the larger of two frequencies, over that at the smaller."""
    (one, error), (other, further) = (window("cosine", d, n, frequency, sigma) for frequency in (L, larger))
    return other / one, (further + error * other / one) / one


def attention_slope(kept: str = "1") -> Any:
    """What is left of d/dw sum_i a_i^2 = sum_ij a_i a_j (a_i - a_j) (t_i - t_j) for every n; `kept` scales the stated side.

    A and T are the diagonal matrices of attention and scores, and the column 1 sums: a = A 1, 1^T A 1 = 1. As
    d a_i / d w = (t_i - sum_j a_j t_j) a_i, A moves by A T - (1^T A T 1) A.
    """
    from fractions import Fraction

    from lipverify.proofs.words import leftover, letters

    s = letters(symmetric=("A", "T"), A="n n", T="n n", one="n 1")
    commute = {(s.T, s.A): s.A @ s.T}
    summed = {(s.one.T, s.A, s.one): 1}

    def total(*factors: Any) -> Any:
        diagonal = factors[0]
        for each in factors[1:]:
            diagonal = diagonal @ each
        return s.one.T @ diagonal @ s.one

    moved = s.A @ s.T - total(s.A, s.T) * s.A
    slope = total(moved, s.A) + total(s.A, moved)
    # sum_ij a_i a_j (a_i t_i - a_i t_j - a_j t_i + a_j t_j): each product of two sums, over i and over j
    pairs = 2 * total(s.A, s.A, s.T) * total(s.A) - 2 * total(s.A, s.A) * total(s.A, s.T)
    derived, stated = (each.where(commute).where(summed) for each in (slope, Fraction(kept) * pairs))
    return leftover(derived, stated, "n")


def over_nearest(d: int, n: int, w: float, times: int = 1) -> Any:
    """The bias of the ReLU law at w over `times` that of the nearest neighbour, its limit as w grows; d = 3, by balls.

    t = <x_i, x> is uniform on [-1, 1], that of the nearest token has the distribution ((1 + t) / 2)^n, and with t = cos u
    K(t) = (sin u + (pi - u) cos u) / (9 pi) at L = 1: the bias of the nearest neighbour is 2 (K(1) - E K(t)).
    """
    from flint import acb, arb

    if d != 3:
        raise ValueError(f"d = {d}: the nearest neighbour is enclosed at d = 3 only")
    here = lv.loss_terms(lv.Problem(d=d, n=n, law=lv.laws.ReLU(L=1.0), sigma=0.0), w, "certified", digits=3)

    def weighted(u: Any, _: Any) -> Any:
        cosine, sine = u.cos(), u.sin()
        return n * ((1 + cosine) / 2) ** (n - 1) / 2 * sine * (sine + (acb.pi() - u) * cosine)

    mean = acb.integral(weighted, 0, acb.pi()).real / (9 * arb.pi())
    return arb(float(here.bias), float(here.bias_error)) / (times * 2 * (arb(1) / 9 - mean))


def window_rate(law: str, d: int, power: int = 1) -> Any:
    """The exponent of w* in n, or with `power` 2 in L, proved by the window theorem: w* is of the order of a power of n L^2 / sigma^2."""
    from lipverify.claims.plan.proved import proved_rates

    return proved_rates(law, d)["window"] * power


def about_threshold(law: str, L: float, d: int, n: float, share: float) -> Value:
    """w* of an even law at a share of the noise at which w = 0 ceases to be a minimum, sigma^2 = (share) x threshold."""
    from lipverify.loss.exact import spectrum_of

    even = lv.laws.law_named(law, L=L)
    spectrum = spectrum_of(even, d, 64)
    threshold = 2 * n * (1 - 2 / n) * float(spectrum.k[1]) / (d + 2) - spectrum.total
    return window(law, d, n, L, math.sqrt(share * threshold))


def tokens(law: str, d: int, n: float, sigma: float = 1.0) -> Value:
    """1 / E sum_i a_i^2 at w*: how many tokens the best window holds."""
    problem = lv.Problem(d=d, n=n, law=lv.laws.law_named(law), sigma=sigma)
    best = lv.optimal_window(problem)
    # the exponent of w in the noise is at most (d - 1) / 2, which is how an error of w* enters
    relative = (d - 1) / 2 * best.w_error / best.w
    if sigma > 0:
        return sigma**2 / best.noise, (relative + best.loss_error / best.noise) * sigma**2 / best.noise
    terms = lv.loss_terms(problem.replace(sigma=1.0), best.w)
    noise = float(terms.noise)
    return 1 / noise, (relative + float(terms.noise_error) / noise) / noise


EXAMPLES = (
    r"$\sigma \to \infty$: no signal, average the noise, $w_{KQ} \to 0$. $L \gg \sigma$: no point aggregating noise, pick the nearest "
    r"neighbour, $w_{KQ} \to \infty$. $n \to \infty$: the query token is in the context! Choose the nearest neighbour, $w_{KQ} \to \infty$"
)
NOISE_GROWS, SIGNAL_GROWS, CONTEXT_GROWS = (
    Source("S", f"Some extreme examples, {limit}", EXAMPLES)
    for limit in (r"$\sigma \to \infty$", r"$L \gg \sigma$", r"$n \to \infty$")
)
SUMMARY = Source(
    "S",
    "Intuition Summary",
    r"paraphrased: function change: rapid; desired (attention window, $w_{KQ}$): (small, large). Slow: (large, small)",
)
INSIGHTS = Source(
    "A",
    "In-depth insights, ICL Mechanism, the window adjusts",
    "This window's size dynamically adjusts—shrinking with increased Lipschitzness (less noisy functions) and expanding with higher "
    "noise levels.",
)
MODEL = (
    r"tokens and query uniform on $S^{d-1}$, noise independent with variance $\sigma^2$",
    r"$\mathbf{M} = w \mathbf{I}$, attention scores $w \langle x_i, x \rangle$",
)
GRID = (
    *MODEL,
    r"$d = 2, 3, 5, 8$; $n = 10^3$ with $L/\sigma = 0.3$ and $1$, $n = 10^5$ with $L/\sigma = 1$; over a factor of two",
)
NOISELESS = ((3, 50), (3, 100), (5, 50))
"""(d, n) at which w* without noise is shown."""
POINTS = [(1000, 0.3), (1000, 1.0), (10**5, 1.0)]
LOCAL: dict[str, Any] = {
    "kind": {"relu/n": "convention", "relu/*": "printed", "*": "stronger"},
    "expected": "supported",
    "over": {
        "law": {
            "affine": {"most_L": "0.95", "most_n": "0.53", "most_sigma": "1.5"},
            "relu": {"most_L": "1.2", "most_n": "0.7", "most_sigma": "1.85"},
        },
        "d": (2, 3, 5, 8),
        ("n", "L"): per_profile(POINTS, [*POINTS, (100, 1.0), (1000, 3.0), (10**5, 10.0)]),
    },
    "assumes": GRID,
    "agrees": agree(
        window, at(sampled_window, contexts=per_profile(8000, 400_000)), "w^*", over={"d": (3, 5), "n": 100}
    ),
}
NOISE_ALONE = r"The control lies a little beyond the largest elasticity of the grid; where noise dominates $w^* \propto n L^2 / \sigma^2$."

claim(
    "softmax.window-directions/{law}/l",
    bound(
        elasticities,
        r"\frac{\mathrm{d} \log w^*}{\mathrm{d} \log L}",
        of="L",
        low=0,
        strict=True,
        control="most_L",
        method="exact",
    ),
    source=SUMMARY,
    title="w* grows with L, the window narrows",
    finding="A rougher function (larger $L$) wants a narrower window. The summary A calls high Lipschitzness smooth; the direction it "
    f"gives, a smaller window, is the one measured here. {NOISE_ALONE}",
    **LOCAL,
)
claim(
    "softmax.window-directions/{law}/n",
    bound(
        elasticities,
        r"\frac{\mathrm{d} \log w^*}{\mathrm{d} \log n}",
        of="n",
        low=0,
        strict=True,
        control="most_n",
        method="exact",
    ),
    source=CONTEXT_GROWS,
    title="w* grows with n, the window narrows",
    finding=NOISE_ALONE,
    **LOCAL,
)
claim(
    "softmax.window-directions/{law}/sigma",
    bound(
        elasticities,
        r"\frac{\mathrm{d} \log w^*}{\mathrm{d} \log \sigma}",
        of="sigma",
        high=0,
        strict=True,
        control="-most_sigma",
        method="exact",
    ),
    source=INSIGHTS,
    title="w* falls with the noise, the window widens",
    finding=NOISE_ALONE,
    **LOCAL,
)
claim(
    "softmax.window-directions/{law}/sigma-to-infinity",
    exponent(
        window, "w^*", scale=r"\sigma", along={"sigma": (10.0, 1e4, per_profile(9, 18))}, high=0, strict=True, rate=-2, method="exact"
    ),
    source=NOISE_GROWS,
    kind={"relu/*": "printed", "*": "stronger"},
    expected="supported",
    over={"law": ("affine", "relu"), "d": (3, 5), "n": 50},
    title="w* tends to 0 as the noise grows",
    assumes=(*MODEL, r"$\sigma \to \infty$ at $L = 1$, $n = 50$; $d = 3, 5$"),
    finding=r"The sharp exponent is $-2$: $w = 0$ is left at first order in $L^2/\sigma^2$.",
)  # fmt: skip
claim(
    "softmax.window-directions/{law}/l-to-infinity",
    exponent(
        window,
        "w^*",
        along={"L": (1.0, 1e4, per_profile(9, 18))},
        low=0,
        strict=True,
        control=("0.04", {"equals": 0}),
        method="exact",
    ),
    source=SIGNAL_GROWS,
    kind={"relu/*": "printed", "*": "stronger"},
    expected="refuted",
    over={"law": ("affine", "relu"), "d": (3, 5), "n": 50},
    title="w* tends to infinity as L grows, at a fixed number of tokens",
    statement=r"w^* \to \infty \quad (L / \sigma \to \infty)",
    assumes=(*MODEL, r"$L \to \infty$ at $\sigma = 1$, $n = 50$; $d = 3, 5$"),
    finding=at(without_noise, **{f"{d}_{n}": at(window, d=d, n=n, sigma=0.0) for d, n in NOISELESS}),
    corrected=r"$w^* \to w_0(n, d) < \infty$ as $L/\sigma \to \infty$ at fixed $n$: the limit needs $n \to \infty$ as well",
)
claim(
    "softmax.window-directions/{law}/noiseless",
    bound(at(window, sigma=0.0), "w^*", equals=at_no_noise, within=0.1, method="exact"),
    source=SIGNAL_GROWS,
    kind="sharp",
    expected="supported",
    over={"law": "relu", ("d", "n"): NOISELESS},
    title="the best window without any noise is finite",
    statement=r"w^*|_{\sigma = 0} = 16.8\ (d = 3, n = 50),\quad 27.5\ (d = 3, n = 100),\quad 9.8\ (d = 5, n = 50)",
    assumes=(*MODEL, r"$\sigma = 0$, $L = 1$"),
    finding=r"By `softmax.window-directions/any-amplitude/proved` $w^*$ never falls as $L / \sigma$ grows, and stays at or below this.",
)
claim(
    "softmax.window-directions/{law}/n-to-infinity",
    exponent(window, "w^*", along={"n": (1e4, 1e30)}, low=0, strict=True, rate="rate", method="exact"),
    source=CONTEXT_GROWS,
    kind={"relu/*": "printed", "*": "stronger"},
    expected="supported",
    over={"law": {"relu": {"rate": "2/(d + 2)"}, "affine": {"rate": "2/(d + 3)"}}, "d": (2, 3, 5, 8)},
    title="w* tends to infinity as the context grows",
    assumes=(*MODEL, r"$n \to \infty$ at $L = \sigma = 1$"),
    finding="Whether the best window then holds the nearest neighbour alone is another claim (`nearest-neighbour`): it holds more and more tokens.",
)  # fmt: skip
COSINE: dict[str, Any] = {
    "source": SUMMARY,
    "kind": "stronger",
    "expected": "refuted",
    "over": {"d": 2, "n": 1000, "sigma": 13.0},
    "assumes": (*MODEL, r"cosine law, $d = 2$, $n = 1000$, $\sigma = 13$"),
}
claim(
    "softmax.window-directions/cosine/l",
    bound(
        proved_windows,
        "w^*(L') - w^*(L)",
        of="change",
        low=0,
        control=(5, {"low": "-2.1", "high": "-2"}),
        over={"L": 3.0, "larger": 4.0},
        method="certified",
    ),
    title="w* grows with L, where L is a frequency",
    statement="L' > L \\implies w^*(L') \\geq w^*(L)",
    finding=at(turning, found=at(proved_windows, d=2, n=1000, sigma=13.0, L=3.0, larger=4.0)),
    corrected=r"$w^*$ grows with $L$ where $L$ is an amplitude (affine, ReLU), and for the cosine law while $J_2(L)^2$ does",
    **COSINE,
)
claim(
    "softmax.window-directions/cosine/positive",
    bound(
        proved_windows,
        "w^*",
        of="at",
        low=0,
        strict=True,
        control=({"L": 3.0}, {"equals": 0, "within": "1e-15"}),
        over={"L": (1.0, 4.0), "larger": 3.0},
        method="certified",
    ),
    title="some attention is better than the average of all tokens",
    statement="w^* > 0",
    finding=r"By balls: at $L = 1$ and at $L = 4$ the loss has its only minimum at $w = 0$. The cosine law is even, so $w = 0$ is always "
    r"stationary, and a minimum if $(\sigma^2 + \mathrm{Var} f) / n > 2 (1 - 2/n) k_2 / (d + 2)$, $k_2$ the weight of the second harmonic.",
    corrected=r"$w^* > 0$ for laws with a linear part (affine, ReLU); for an even law only if its second harmonic outweighs the noise",
    **COSINE,
)

MONOTONE = (
    r"for fixed tokens $\frac{d}{dw} \sum_i a_i^2 = \sum_{ij} a_i a_j (a_i - a_j)(t_i - t_j) \geq 0$, because $a$ rises with $t$: the noise "
    r"$\sigma^2 \nu(w)$ never falls in $w \geq 0$, and rises where two scores differ. Write the loss of $f = L g$ as $\sigma^2 (\rho\, b(w) + "
    r"\nu(w))$ with $\rho = L^2/\sigma^2$, and let $w_1$, $w_2$ be minimisers at $\rho_1 < \rho_2$. Add the two inequalities that say so: "
    r"$(\rho_2 - \rho_1)(b(w_2) - b(w_1)) \leq 0$, so $b(w_2) \leq b(w_1)$; then $\nu(w_2) \geq \nu(w_1)$ by the first of them, and $w_2 \geq w_1$."
)
"""Why w* never falls with L and never rises with sigma, for every law that is proportional to L."""
claim(
    "softmax.window-directions/any-amplitude/proved",
    identity(
        attention_slope,
        r"\frac{\mathrm{d}}{\mathrm{d} w} \sum_i a_i^2 - \sum_{ij} a_i a_j (a_i - a_j)(t_i - t_j)",
        control={"kept": "101/100"},
    ),
    source=SUMMARY,
    kind="derived",
    expected="supported",
    title="w* never falls with L nor rises with the noise: every n, d and law f = L g",
    statement=r"\rho_1 < \rho_2 \implies w^*(\rho_1) \leq w^*(\rho_2), \qquad \rho = L^2/\sigma^2",
    assumes=(
        *MODEL,
        r"any $n \geq 2$, any covariates, any law $f = L g$; $w \geq 0$",
        "the identity is one of words in matrices of any size $n$",
    ),
    finding=MONOTONE[0].upper() + MONOTONE[1:],
)
MOVES = {
    "l": (SUMMARY, r"L < L' \implies w^*(L) < w^*(L')", "w* grows with L: every n and d", "At a minimiser $w_1 > 0$ the slopes add to 0, and $\\nu' > 0$, so $b'(w_1) < 0$: at a larger "
          "$L$ the loss falls there, $w_1$ is no minimiser, and $w_2 > w_1$."),
    "sigma": (INSIGHTS, r"\sigma < \sigma' \implies w^*(\sigma') < w^*(\sigma)", "w* falls with the noise: every n and d", "At a minimiser $w_1 > 0$ the slopes add to 0, and $\\nu' > 0$: "
              "with more noise the loss rises there, $w_1$ is no minimiser, and the new one is smaller."),
    "sigma-to-infinity": (NOISE_GROWS, r"w^* \to 0 \quad (\sigma \to \infty)", "w* tends to 0 as the noise grows: every n and d", r"Given $\epsilon > 0$, every $w \geq \epsilon$ loses to "
                          r"$w = 0$ once $\sigma^2 (\nu(\epsilon) - 1/n) > L^2 b(0)$, because $\nu(w) \geq \nu(\epsilon) > \nu(0) = 1/n$ and $b \geq 0$."),
}  # fmt: skip
"""What the monotone noise implies: where it is printed, the statement, its title, and the step from `MONOTONE`."""
for moved, (printed, statement, title, step) in MOVES.items():
    claim(
        f"softmax.window-directions/{{law}}/{moved}/proved",
        identity(
            attention_slope,
            r"\frac{\mathrm{d}}{\mathrm{d} w} \sum_i a_i^2 - \sum_{ij} a_i a_j (a_i - a_j)(t_i - t_j)",
            control={"kept": "101/100"},
        ),
        source=printed,
        over={"law": ("affine", "relu")},
        kind="derived",
        expected="supported",
        proves=f"softmax.window-directions/{{law}}/{moved}",
        title=title,
        statement=statement,
        assumes=(
            *MODEL,
            r"any $n \geq 2$, $d \geq 2$, any law $f = L g$ with a linear part, such as the affine and the ReLU law: $b'(0) < 0$, so that $w^* > 0$; $w \geq 0$",
            "the identity is checked; what follows from it is by hand",
        ),
        finding=f"{MONOTONE[0].upper()}{MONOTONE[1:]} {step}",
    )
claim(
    "softmax.window-directions/{law}/n-to-infinity/proved",
    bound(
        window_rate,
        r"\text{exponent of } w^* \text{ in } n",
        low="0",
        strict=True,
        value="rate",
        over={"d": (2, 3, 5, 8)},
        method="certified",
    ),
    source=CONTEXT_GROWS,
    kind="derived",
    expected="supported",
    over={"law": {"relu": {"rate": "2/(d + 2)"}, "affine": {"rate": "2/(d + 3)"}}},
    proves="softmax.window-directions/{law}/n-to-infinity",
    title="w* tends to infinity as the context grows: proved",
    assumes=(*MODEL, r"$d = 2, 3, 5, 8$; any $L$ and $\sigma$, $n \to \infty$"),
    finding=r"By the window theorem $w^*$ lies between two multiples of $\Lambda^{2/(d+2)}$ (ReLU) or $\Lambda^{2/(d+3)}$ (affine) for every $n$ from an explicit number on.",
)
claim(
    "softmax.window-directions/relu/l-to-infinity/proved",
    bound(
        over_nearest,
        r"\mathcal{L}_{bias}(w_0) / \lim_{w \to \infty} \mathcal{L}_{bias}(w)",
        low=1,
        control=({"low": "11/10"}, {"high": "95/100", "low": "7/10"}),
        over={"d": 3, ("n", "w"): ((2, 2.0), (50, 8.0))},
        method="certified",
    ),
    source=SIGNAL_GROWS,
    kind="derived",
    proves="softmax.window-directions/relu/l-to-infinity",
    expected="refuted",
    title="w* tends to infinity as L grows, at a fixed number of tokens: disproved",
    statement=r"w^* \to \infty \quad (L / \sigma \to \infty)",
    assumes=(*MODEL, r"ReLU law, $d = 3$, $n = 2$ and $50$; $w_0 = 2$ and $8$"),
    finding=r"As $w \to \infty$ attention tends to the nearest neighbour, and the bias to that of its label. If $w^* \to \infty$, then $\mathcal{L}(w^*) \leq \mathcal{L}(w_0)$ and "
    r"$\nu(w^*) \geq \nu(w_0)$ (`any-amplitude/proved`) give $b(w^*) \leq b(w_0)$ at arbitrarily large $w^*$, and so a quotient of at least 1. By balls it is less: a window that holds a "
    "few tokens has a smaller bias than the nearest neighbour alone.",
    corrected=r"$w^* \to w_0(n, d) < \infty$ as $L/\sigma \to \infty$ at fixed $n$: the limit needs $n \to \infty$ as well",
)
GRIDS = {
    "affine": [(4, 2, 1.0), (4, 5, 1e3), (4, 20, 1.0), (1000, 2, 1e3), (1000, 5, 1.0), (10**12, 2, 1e-3), (10**12, 5, 1e-3), (10**12, 20, 1e3)],
    "relu": [(1000, 2, 1.0), (1000, 5, 1.0), (1000, 20, 1.0), (10**12, 2, 1e-3), (10**12, 5, 1e3), (10**12, 20, 1e-3)],
}  # fmt: skip
"""(n, d, L / sigma): from 4 tokens to 10^12, d = 2 to 20, six decades of L / sigma; what is flat to rounding is left out."""
SIGNS: dict[str, tuple[tuple[str, str, dict[str, Any]], ...]] = {
    law: (
        ("L", "L", {"low": 0, "control": most_L}),
        ("n", "n", {"low": 0, "control": most_n}),
        ("sigma", r"\sigma", {"high": 0, "control": -most_L}),
    )
    for law, most_L, most_n in (("affine", 2, 1.75), ("relu", 1.1, 0.55))
}
"""The elasticities with their signs; the controls lie just beyond the largest of the grid (2 is reached where noise dominates)."""
SMOOTHER = Source(
    "A",
    "TL;DR; In-depth insights, Attention Window",
    "paraphrased: the attention window narrows for smoother functions (higher Lipschitzness); a smaller attention window is observed in settings with high "
    "Lipschitzness (smooth functions), a larger window with low Lipschitzness (rougher functions)",
)
for law, cells in GRIDS.items():
    claim(
        f"softmax.window-directions/{law}/grid",
        *(
            bound(
                at(local_elasticities, law=law),
                rf"\frac{{\mathrm{{d}} \log w^*}}{{\mathrm{{d}} \log {letter}}}",
                of=name,
                strict=True,
                method="exact",
                **edges,
            )
            for name, letter, edges in SIGNS[law]
        ),
        source=SUMMARY,
        kind="stronger",
        expected="supported",
        over={("n", "d", "L"): cells},
        title="w* grows with L and n and falls with the noise, from 4 tokens to 10^12",
        assumes=(
            *MODEL,
            r"$n = 4$ to $10^{12}$, $d = 2$ to $20$, $L/\sigma = 10^{-3}$ to $10^3$: the cells; exact derivatives",
        ),
        finding=r"The two in $L$ and $\sigma$ hold for every $n$ and $d$ (`softmax.window-directions/any-amplitude/proved`). The one in $n$ is "
        r"measured: it is 1 where noise dominates, $2/(d+2)$ (ReLU) or $2/(d+3)$ (affine) in the relevant range, and up to $2/(d-1)$ where there is "
        r"hardly any noise and the best window holds a few tokens.",
    )
claim(
    "softmax.window-directions/{law}/smoother",
    bound(
        elasticities,
        r"\frac{\mathrm{d} \log w^*}{\mathrm{d} \log L}",
        of="L",
        high=0,
        strict=True,
        control=(-0.1, {"low": 0, "strict": True}),
        method="exact",
    ),
    source=SMOOTHER,
    kind="convention",
    reading="smoother: a smaller Lipschitz constant",
    expected="refuted",
    over={"law": ("affine", "relu"), "d": (2, 3, 5, 8), "n": 1000, "L": 1.0},
    title="the window narrows for smoother functions, smoother in the usual sense",
    statement=r"\frac{\mathrm{d} \log w^*}{\mathrm{d} \log L} < 0",
    assumes=(*MODEL, r"$n = 1000$, $L = \sigma = 1$; smoother: a smaller Lipschitz constant"),
    finding="A large Lipschitz constant means a rough function. What the summary says of the number is right, what it says in words is its opposite.",
    corrected="the window narrows for rougher functions (higher Lipschitzness) and widens for smoother ones",
)
claim(
    "softmax.window-directions/{law}/smoother/proved",
    bound(
        at(window_rate, power=2),
        r"\text{exponent of } w^* \text{ in } L",
        high="0",
        strict=True,
        control=("-1/10", {"low": "0", "strict": True}),
        over={"d": (2, 3, 5, 8)},
        method="certified",
    ),
    source=SMOOTHER,
    kind="derived",
    expected="refuted",
    over={"law": ("affine", "relu")},
    proves="softmax.window-directions/{law}/smoother",
    title="the window narrows for smoother functions, smoother in the usual sense: disproved",
    statement=r"w^* = \Theta(L^e),\ e < 0",
    assumes=(*MODEL, r"$d = 2, 3, 5, 8$; every $n$ from an explicit number on; smoother: a smaller Lipschitz constant"),
    finding=r"By the window theorem $w^*$ is of the order of a positive power of $n L^2 / \sigma^2$; and it rises with $L$ for every $n$ (`{law}/l/proved`).".replace(
        "{law}", "relu"
    ),
    corrected="the window narrows for rougher functions (higher Lipschitzness) and widens for smoother ones",
)
NEAREST = {"affine": {"held": "4/(d + 3)"}, "relu": {"held": "3/(d + 2)"}}
HELD = r"1 / \mathbb{E} \sum_i a_i^2"
COUNTED = (
    *MODEL,
    rf"the tokens that a window holds: ${HELD}$, 1 for the nearest neighbour and $n$ for the plain average; $L = \sigma = 1$",
)
claim(
    "softmax.window-directions/{law}/tokens",
    exponent(tokens, HELD, equals="held", method="exact"),
    source=CONTEXT_GROWS,
    kind="sharp",
    expected="supported",
    over={"law": NEAREST, "d": (2, 3, 5)},
    title="how many tokens the best window holds",
    assumes=COUNTED,
    finding=r"The noise at $w^*$ is $\sigma^2$ over that number, and a fixed share of the loss: so the number is $\Theta(\Lambda^q)$ with $q$ the rate at which "
    r"the loss falls, $3/(d+2)$ (ReLU) and $4/(d+3)$ (affine).",
)
claim(
    "softmax.window-directions/{law}/nearest-neighbour",
    exponent(tokens, HELD, high="0", rate="held", method="exact"),
    source=CONTEXT_GROWS,
    kind="convention",
    expected="refuted",
    over={"law": NEAREST, "d": (2, 3, 5)},
    title="as n grows, the best window holds a bounded number of tokens",
    assumes=COUNTED,
    finding=r"$w^* \to \infty$ as the slide says, and the window shrinks to the query; but it shrinks more slowly than tokens fill it. To choose the "
    r"nearest neighbour is never best as $n \to \infty$ at fixed $\sigma > 0$: it leaves the noise of one label, $\sigma^2$.",
    corrected=r"the best window holds $\Theta(\Lambda^{3/(d+2)})$ tokens (ReLU), $\Theta(\Lambda^{4/(d+3)})$ (affine): more and more",
)
claim(
    "softmax.window-directions/affine/nearest-neighbour/noiseless",
    exponent(
        at(tokens, law="affine", sigma=0.0),
        HELD,
        along={"n": (1e6, 1e18, 9)},
        high="0",
        rate="2/(d + 1)",
        method="exact",
    ),
    source=SIGNAL_GROWS,
    kind="convention",
    expected="refuted",
    over={"d": (5, 8)},
    title="without noise the best window holds a bounded number of tokens",
    assumes=(
        *MODEL,
        rf"the tokens that a window holds: ${HELD}$; $\sigma = 0$, affine law, $n \to \infty$; $d = 5, 8$",
    ),
    finding=r"Averaging is worth it without any noise: the first-order error $\langle \nabla f, x_i - x \rangle$ of a single token is of order $w^{-1/2}$ and has "
    r"either sign, what is left of its average over the window is a variance of order $w^{-1 + (d-1)/2} / n$, and beside it stands the curvature, $w^{-2}$. They "
    r"balance at $w \propto n^{2/(d+1)}$, where the window holds $n^{2/(d+1)}$ tokens, for $d > 3$; in the plane the variance falls with $w$ and a "
    "bounded number is best.",
    corrected=r"$\Theta(n^{2/(d+1)})$ tokens for the affine law, measured at $d = 5$ and $8$",
)
ORIGIN: dict[str, Any] = {
    "source": NOISE_GROWS,
    "assumes": (
        *MODEL,
        r"even laws: $k_1 = 0$; $\sigma^2$ one percent above and below the threshold, where that is positive",
    ),
}
SHARES = {("law", "L"): (("quadratic", 1.0), ("cosine", 3.0)), "d": (2, 3, 5), "n": (20, 10**6)}
claim(
    "softmax.window-directions/even/threshold",
    bound(
        about_threshold,
        "w^*",
        equals=0,
        within="1e-15",
        control={"share": 0.99},
        over={**SHARES, "share": 1.01},
        method="exact",
    ),
    bound(
        about_threshold,
        "w^*",
        low=0,
        strict=True,
        control={"share": 1.01},
        over={**SHARES, "share": 0.99},
        method="exact",
    ),
    kind="stronger",
    expected="supported",
    title="the noise at which attention on an even law becomes the plain average",
    statement=r"w^* = 0 \iff \frac{\sigma^2 + \mathrm{Var} f}{n} \geq \left(1 - \frac{2}{n}\right) \frac{2 k_2}{d + 2}",
    finding=r"$k_2$ is the weight of the second harmonic. A linear part makes some attention better than none; an even law has none, and $w = 0$ is "
    r"stationary with this sign of its curvature. So 'no signal, average the noise' is not a limit for such laws: $w^* = 0$ from a finite $\sigma$ on.",
    **ORIGIN,
)
claim(
    "softmax.window-directions/cosine/threshold/fast",
    bound(
        about_threshold,
        "w^*",
        equals=0,
        within="1e-15",
        control=(1, {"low": "10", "high": "11"}),
        over={"law": "cosine", "L": 6.0, "d": 2, "n": 1000, "share": 1.01},
        method="exact",
    ),
    kind="stronger",
    expected="refuted",
    title="the same threshold for every even law",
    statement=r"w^* = 0 \text{ from } \sigma^2 = 2 n (1 - 2/n) k_2 / (d + 2) - \mathrm{Var} f \text{ on}",
    finding=r"$\cos 6 z$ has most of its weight in higher harmonics: beyond the threshold $w = 0$ is a minimum, but the least loss is far from it, at a $w^*$ between 10 and 11; "
    "as the noise grows the window jumps to 0.",
    corrected=r"the threshold is where $w = 0$ becomes a local minimum; where the second harmonic carries most of $\mathrm{Var} f$ it is the global one",
    **ORIGIN,
)
FREQUENCIES = tuple((L, 2 * L) for L in (1.0, 2.0, 4.0, 8.0))
claim(
    "softmax.window-directions/cosine/l/long-contexts",
    bound(wave_windows, "w^*(2 L) / w^*(L)", low=1, strict=True, control=4, method="exact"),
    source=SUMMARY,
    kind="stronger",
    expected="supported",
    over={"d": (2, 5), "n": 10**6, "sigma": 1.0, ("L", "larger"): FREQUENCIES},
    title="w* grows with L, where L is a frequency and tokens are close",
    assumes=(*MODEL, r"cosine law, $n = 10^6$, $\sigma = 1$; $L$ doubles from 1 to 16"),
)
claim(
    "softmax.window-directions/cosine/l/short-waves",
    bound(wave_windows, "w^*(2 L) / w^*(L)", low=1, control=(2, {"high": 0.5}), method="exact"),
    source=SUMMARY,
    kind="stronger",
    expected="refuted",
    over={"d": 5, "n": 1000, "sigma": 0.3, ("L", "larger"): ((8.0, 16.0),)},
    title="w* grows with L, where L is a frequency, with little noise",
    statement="L' > L \\implies w^*(L') \\geq w^*(L)",
    assumes=(*MODEL, r"cosine law, $d = 5$, $n = 1000$, $\sigma = 0.3$; $L = 8$ and $L' = 16$"),
    finding=r"A thousand tokens in five dimensions are further apart than half a wave of $\cos 16 z$: even the nearest tells nothing of the label at the query, and "
    r"the best that is left is the average of all, $w^* = 0$. At $L = 8$ the window is narrow. So it narrows with the frequency as long as tokens resolve the "
    "waves, and then opens at once, with little noise as with much.",
    corrected=r"rapid change asks for a small window while the context resolves it, $L \ll n^{1/(d-1)}$; beyond, for none",
)
