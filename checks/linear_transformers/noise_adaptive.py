r"""Theorem 5.2: one layer with only omega_yx and one with only omega_yy reach ridge regression at two noise levels.

With c = -omega_yx and v = n omega_yy the two layers tend to w = c (1 + v sigma^2) alpha, and ridge to alpha / (1 + sigma^2):
a line in sigma^2 that meets a convex curve at the two levels. At finite n the distance from ridge has exact moments.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Literal

from lipverify.claims import Figure, Panel, Series, Source, agree, bound, claim, draw, exponent, identity, per_profile

Value = tuple[float, float]
Order = Literal["yx-yy", "yy-yx"]
PAIR = (0.5, 1.0)


def weights(s_1: Any, s_2: Any, first_term: int = 1) -> tuple[Any, Any]:
    """c = (1 + s_1 + s_2) / ((1 + s_1) (1 + s_2)) and v = -1 / (1 + s_1 + s_2), s the squared levels."""
    return (first_term + s_1 + s_2) / ((1 + s_1) * (1 + s_2)), -1 / (first_term + s_1 + s_2)


def gap(level: int, first_term: int = 1) -> Any:
    """lim w / w_ridge - 1 = c (1 + v s) (1 + s) - 1 at one of the two levels, for all pairs of levels."""
    import sympy

    levels = sympy.symbols("s_1 s_2", nonnegative=True)
    c, v = weights(levels[0], levels[1], first_term)
    return c * (1 + v * levels[level - 1]) * (1 + levels[level - 1]) - 1


def solved(sigma_1: float, sigma_2: float, n: int) -> dict[str, Value]:
    """c and v as SymPy solves them from c (1 + v s) (1 + s) = 1 at both levels, with room for finite n."""
    from lipverify.linear_transformer.theory.noise_adaptive import TwoLevels

    model = TwoLevels(sigma_1, sigma_2)
    return {"c": (model.c, 10 / n), "v": (model.v, 10 / n)}


def fitted(sigma_1: float, sigma_2: float, n: int, contexts: int, seed: int, d: int = 3) -> dict[str, Value]:
    """c and v that fit ridge best on sampled contexts of both levels: least squares on alpha and (lambda / n) alpha."""
    import numpy as np

    from lipverify.foundation.means.batches import mean_interval
    from lipverify.linear_transformer.regression.adjusted import evaluation
    from lipverify.linear_transformer.regression.contexts import unit_contexts

    stream, levels, batches = f"noise-adaptive/fit/{sigma_1}/{sigma_2}/{d}/{n}", (sigma_1, sigma_2), 16
    drawn = [unit_contexts(d, n, sigma, contexts, seed, f"{stream}/{sigma}") for sigma in levels]
    ridges, fits = [evaluation(each).oracle for each in drawn], []
    for batch in (slice(first, None, batches) for first in range(batches)):
        alpha = np.concatenate([each.alpha[batch] for each in drawn])
        energy = np.concatenate([each.energy[batch, None] for each in drawn]) / n
        ridge = np.concatenate([each[batch] for each in ridges])
        c, product = np.linalg.lstsq(np.stack([alpha.ravel(), (energy * alpha).ravel()], axis=1), ridge.ravel())[0]
        fits.append((c, product / c))
    c, v = (mean_interval(np.asarray(column), 0.99) for column in zip(*fits, strict=True))
    return {"c": c, "v": v}


def distance(d: int, level: int, order: Order, n: float, fixed: str = "no", swapped: str = "no") -> dict[str, Value]:
    """The root of E |w - w_ridge|^2 / d, and |E <w - w_ridge, w*>| / d, exactly; and how they compare to their limits.

    `fixed`: with the weights for n = 100 at every n. `swapped`: with the roles of the two weights exchanged.
    """
    from lipverify.linear_transformer.theory import noise_adaptive as theory

    model, sigma = theory.TwoLevels(*PAIR), PAIR[level - 1]
    yx, yy = -model.c, model.v / (100 if fixed == "yes" else n)
    found = theory.difference(d, n, sigma, *((yy, yx) if swapped == "yes" else (yx, yy)), order)
    root, square = found.square**0.5, theory.leading_square(model, d, sigma) / n
    mean = theory.leading_mean(model, d, sigma, order) / n
    return {
        "root": (root, found.square_error / root / 2),
        "mean": (abs(found.mean), found.mean_error),
        "square over limit": (found.square / square, found.square_error / square),
        "mean over limit": (found.mean / mean, found.mean_error / abs(mean)),
    }


def elsewhere(sigma_1: float, sigma_2: float, level: int, n: float, d: int = 1) -> Value:
    """The root of E |w - w_ridge|^2 / d at one of two other levels, exactly."""
    from lipverify.linear_transformer.theory import noise_adaptive as theory

    model, sigma = theory.TwoLevels(sigma_1, sigma_2), (sigma_1, sigma_2)[level - 1]
    found = theory.difference(d, n, sigma, -model.c, model.v / n, "yx-yy")
    root = found.square**0.5
    return root, found.square_error / root / 2


def correlated(sigma_1: float, sigma_2: float, kappa: float) -> Value:
    """The least over r of max_k |r (lambda_k + s) - 1| for covariances with eigenvalues 1 and kappa, at the worse level.

    In the limit the two layers give r_i alpha at level i, r_i = c (1 + v s_i) being any two numbers; ridge is alpha / (lambda + s).
    """
    from scipy.optimize import linprog

    worse = 0.0
    for s in (sigma_1**2, sigma_2**2):
        rows = [(sign * (eigenvalue + s), -1.0) for eigenvalue in (1.0, kappa) for sign in (1, -1)]
        found = linprog((0.0, 1.0), A_ub=rows, b_ub=[1.0, -1.0] * 2, bounds=[(None, None), (0, None)])
        worse = max(worse, float(found.fun))
    return worse, 1e-12


def every_number(order: Order, d: int, level: int, n: int) -> Any:
    """K over the limit of n E |w - w_ridge|^2 / d, where that is at most K for every number of tokens from n on."""
    from lipverify.claims.plan.proved import between, proved
    from lipverify.linear_transformer.theory.noise_adaptive import c, s_1, s_2, solution, v
    from lipverify.proofs import prove_ridge

    first = order.partition("-")[0]
    given = {
        "sigma_1": repr(PAIR[0]), "sigma_2": repr(PAIR[1]), "level": str(level), "d": str(d), "n": str(n), "first": first,
    }  # fmt: skip
    found = proved(f"lt-ridge-{d}-{level}-{first}", "ridge", given, lambda: prove_ridge(*PAIR, level, d, n, first))
    levels = [Fraction(sigma) ** 2 for sigma in PAIR]
    product = (solution()[c] * solution()[v]).subs(dict(zip((s_1, s_2), levels, strict=True)))
    s, weight = levels[level - 1], Fraction(int(product.p), int(product.q))
    limit = (1 + s) * (2 * (weight * s) ** 2 + (d + 1) / (1 + s) ** 4)  # as in `leading_square`, in fractions
    K = found.constants["K"]
    return between(found, math.nextafter(K, 0.0), math.nextafter(K, math.inf)) / limit


def square(d: int, n: int, order: Order) -> Value:
    """n E |w - w_ridge|^2 / d at sigma_2: exactly for d = 1 and 2, the derived limit beyond."""
    from lipverify.linear_transformer.theory.noise_adaptive import TwoLevels, difference, leading_square

    model = TwoLevels(*PAIR)
    if d > 2:
        return leading_square(model, d, PAIR[1]), 10 / n
    found = difference(d, n, PAIR[1], -model.c, model.v / n, order)
    return n * found.square, n * found.square_error


def sampled_square(d: int, n: int, order: Order, contexts: int, seed: int, pair: tuple[float, float] = PAIR) -> Value:
    """The same through the layers, on sampled contexts."""
    import numpy as np

    from lipverify.foundation.means.samples import mean_with_half_width
    from lipverify.linear_transformer.collapsed import readout
    from lipverify.linear_transformer.regression.adjusted import evaluation
    from lipverify.linear_transformer.regression.contexts import unit_contexts
    from lipverify.linear_transformer.theory.noise_adaptive import TwoLevels

    drawn = unit_contexts(d, n, pair[1], contexts, seed, f"noise-adaptive/{d}/{n}/{pair[0]}/{pair[1]}")
    layers = [layer.layer(d) for layer in TwoLevels(*pair).layers(n, order)]
    missed = n * np.mean((readout(drawn.gram, layers).w - evaluation(drawn).oracle) ** 2, axis=1)
    return mean_with_half_width(missed)


def worst(sigma_1: float, sigma_2: float, sigma_3: float = -1.0) -> Value:
    """The least over (c, v) of the largest |c (1 + v s)(1 + s) - 1| over three levels; over two, with v = 0."""
    from lipverify.linear_transformer.theory.noise_adaptive import worst_at

    levels = tuple(sigma**2 for sigma in (sigma_1, sigma_2, sigma_3) if sigma >= 0)
    return worst_at(levels, adapting=len(levels) == 3), 1e-12


def alternating(sigma_1: float, sigma_2: float, sigma_3: float) -> float:
    """the error that alternates in sign over the three levels."""
    a, b, c = sigma_1**2, sigma_2**2, sigma_3**2
    shares = ((b, c, b - a, c - a), (a, c, b - a, c - b), (a, b, c - a, c - b))
    return 1 / sum((1 + p) * (1 + q) / (x * y) for p, q, x, y in shares)


def shrinkage() -> Figure:
    """The line c (1 + v s) against the curve 1 / (1 + s), for two pairs of levels."""
    s = tuple(k / 20 for k in range(221))
    series = [Series(label="ridge, $1/(1 + \\sigma^2)$", x=s, y=tuple(1 / (1 + x) for x in s))]
    for pair in PAIRS[:2]:
        c, v = weights(pair[0] ** 2, pair[1] ** 2)
        line, ends = [(x, c * (1 + v * x)) for x in s if c * (1 + v * x) > -0.1], [x**2 for x in pair]
        label = f"two layers for $\\sigma = {pair[0]:g}, {pair[1]:g}$"
        series.append(Series(label=label, x=tuple(x for x, _ in line), y=tuple(y for _, y in line), style="dashed"))
        series.append(Series(label="", x=tuple(ends), y=tuple(1 / (1 + x) for x in ends), style="points"))
    panel = Panel(title="shrinkage of $\\alpha$ in the limit", xlabel="$\\sigma^2$", ylabel="$w / \\alpha$", xscale="linear", yscale="linear",
                  series=tuple(series))  # fmt: skip
    caption = "What two layers make of $\\alpha$ is a line in $\\sigma^2$; ridge is a convex curve, which it meets at the two levels."
    return Figure(caption=caption, alt="Shrinkage against the noise variance.", panels=(panel,))


THEOREM = Source(
    "V",
    "Theorem 5.2",
    r"paraphrased: for two noise levels $\sigma_1, \sigma_2$ and $x \sim N(0, I/n)$, one layer with only $\omega_{yx}$ and one with only "
    r"$\omega_{yy}$ reach ridge regression at both as $n \to \infty$",
)
ASSUMED = (
    r"$x_i \sim N(0, \mathbf{I}/n)$, $w^* \sim N(0, \mathbf{I})$, $y_i = \langle w^*, x_i \rangle + \sigma \varepsilon_i$, $d$ fixed",
    r"ridge has the constant $\sigma^2$; weight vectors are compared, $w$ with $w_{\mathrm{ridge}}$",
)
EACH = r"$\omega_{yy} = v/n$: it may depend on the length of the context"
AT = (
    rf"measured at $\sigma_1 = {PAIR[0]:g}$, $\sigma_2 = {PAIR[1]:g}$; exactly for $d = 1$ and $2$, sampled for $d = 5$"
)
PAIRS = (PAIR, (1.0, 3.0), (0.0, 1.0), (0.0, 5.0), (1.0, 1.0))
LEVELS = ((0.0, 1.0, 2.0), (0.5, 1.0, 2.0), (1.0, 3.0, 5.0))
ORDERS: dict[str, Any] = {"over": {"order": ("yx-yy", "yy-yx"), "d": (1, 2), "level": (1, 2)}}
FIT: dict[str, Any] = {
    "over": {("sigma_1", "sigma_2"): PAIRS[:2], "n": 10**8},
    "given": {"contexts": per_profile(4000, 64_000)},
}
SAMPLED: dict[str, Any] = {
    "over": {("d", "n"): ((1, 200), (2, 200), (5, 10**8))},
    "given": {"contexts": per_profile(20_000, 400_000)},
}
FAR, NEAR = (1e2, 1e10, per_profile(17, 25)), (1e3, 1e7, per_profile(17, 25))
"""Ladders in n of the root mean square and of the mean, which rounding hides sooner."""
ROOT, MEAN = (
    r"(\mathbb{E} \|w - w_{\mathrm{ridge}}\|^2 / d)^{1/2}",
    r"\mathbb{E} \langle w - w_{\mathrm{ridge}}, w^* \rangle / d",
)
RATIO = r"\min_{c, v} \max_i |c (1 + v \sigma_i^2)(1 + \sigma_i^2) - 1|"

claim(
    "lt.noise-adaptive/weights",
    identity(gap, r"-\omega_{yx} (1 + n \omega_{yy} \sigma_i^2) (1 + \sigma_i^2) - 1", control={"first_term": 2}),
    source=THEOREM,
    kind="derived",
    expected="supported",
    over={"level": (1, 2)},
    title="two weights that give ridge at two noise levels",
    statement=r"\omega_{yx} = -\frac{1 + \sigma_1^2 + \sigma_2^2}{(1 + \sigma_1^2)(1 + \sigma_2^2)}, \quad "
    r"\omega_{yy} = -\frac{1}{n (1 + \sigma_1^2 + \sigma_2^2)}: \quad -\omega_{yx} (1 + n \omega_{yy} \sigma_i^2) = \frac{1}{1 + \sigma_i^2}",
    assumes=(*ASSUMED, EACH),
    agrees=[agree(solved, fitted, each, of=each, methods=("symbolic", "montecarlo"), **FIT) for each in ("c", "v")],
    figures=draw(shrinkage),
    finding=r"As $n \to \infty$, $\Sigma \to \mathbf{I}$, $\alpha \to w^* + \sigma z$ and ridge tends to $\alpha/(1 + \sigma^2)$, "
    r"while $\lambda/n \to \sigma^2$. With $c = -\omega_{yx}$ and $v = n \omega_{yy}$ the two layers tend to $c(1 + v\sigma^2)\alpha$: a "
    r"straight line in $\sigma^2$ that must meet $1/(1 + \sigma^2)$ twice. Two linear equations in $(c, cv)$ have one solution, so no "
    r"other root exists; at $\sigma_1 = \sigma_2$ one equation is left and the solution shown is the tangent. The second method fits "
    r"ridge on sampled contexts by least squares and finds the same two numbers.",
)
claim(
    "lt.noise-adaptive/limit/{order}",
    exponent(distance, ROOT, of="root", ray=FAR, high="0", strict=True, sharp="-1/2", method="exact"),
    source=THEOREM,
    kind={"*/yx-yy": "printed", "*": "convention"},
    expected="supported",
    title="two layers tend to ridge at both noise levels",
    statement=r"\mathbb{E} \|w - w_{\mathrm{ridge}}(\sigma_i^2)\|^2 \to 0 \quad (n \to \infty), \quad i = 1, 2",
    assumes=(*ASSUMED, EACH, AT),
    agrees=agree(square, sampled_square, r"n \mathbb{E} \|w - w_{\mathrm{ridge}}\|^2 / d", **SAMPLED),
    finding=r"Both orders work with the same weights: in the first the layer with $\omega_{yy}$ sees $\sum (y_i - c\, x_i^\top \alpha)^2$, "
    r"in the second $\sum y_i^2$, and the two differ by $O(1)$ of $n\sigma^2$. The paper's prediction is $\langle w, x_t \rangle$ with "
    r"$x_t \sim N(0, \mathbf{I}/n)$, itself of size $n^{-1/2}$; so weight vectors are compared, which asks for more.",
    **ORDERS,
)
claim(
    "lt.noise-adaptive/rate/{order}",
    exponent(distance, ROOT, of="root", ray=FAR, equals="-1/2", method="exact"),
    exponent(distance, MEAN, of="mean", ray=NEAR, equals="-1", method="exact"),
    bound(
        distance,
        rf"{ROOT} \text{{ squared, over its limit}}",
        of="square over limit",
        along="n",
        ray=FAR,
        equals=1,
        within=1e-6,
        method="exact",
    ),
    bound(
        distance,
        rf"{MEAN} \text{{ over its limit}}",
        of="mean over limit",
        along="n",
        ray=NEAR,
        equals=1,
        within=1e-5,
        method="exact",
    ),
    source=THEOREM,
    kind="sharp",
    expected="supported",
    title="how fast the two layers approach ridge",
    statement=r"\tfrac{n}{d} \mathbb{E} \|w - w_{\mathrm{ridge}}\|^2 \to (1 + s)\left(2 (cvs)^2 + \frac{d + 1}{(1 + s)^4}\right), \quad "
    r"s = \sigma_i^2, \qquad \mathbb{E} \langle w - w_{\mathrm{ridge}}, w^* \rangle = \Theta(1/n)",
    assumes=(*ASSUMED, EACH, AT),
    finding=r"The theorem states no rate. What is left is mostly chance: $\lambda/n$ fluctuates by $\sigma^2 \sqrt{2/n}$ and $\Sigma$ by "
    r"$n^{-1/2}$ around $\mathbf{I}$, which two scalar weights cannot follow. The mean difference is a power smaller; with $b = (1-c)^2$ "
    r"or, if $\omega_{yy}$ acts first, $b = 1$, its limit is $\frac{n}{d} \mathbb{E}\langle w - w_{\mathrm{ridge}}, w^* \rangle \to "
    r"cv(b(d+2)(1+s) - ds) + (d+1)s/(1+s)^3$.",
    **ORDERS,
)
claim(
    "lt.noise-adaptive/rate/{order}/proved",
    bound(
        every_number,
        r"K \Big/ \lim_n \tfrac{n}{d} \mathbb{E} \|w - w_{\mathrm{ridge}}\|^2",
        high="4",
        control="1",
        over={"d": (1, 2, 5), "level": (1, 2), "n": 10**6},
        method="certified",
    ),
    proves="lt.noise-adaptive/limit/{order}",
    source=THEOREM,
    kind="derived",
    expected="supported",
    over={"order": ("yx-yy", "yy-yx")},
    title="two layers approach ridge at a rate, with a constant, for every number of tokens",
    statement=r"\mathbb{E} \|w - w_{\mathrm{ridge}}(\sigma_i^2)\|^2 / d \leq K / n \quad \text{for every } n \geq 10^6",
    assumes=(
        *ASSUMED,
        EACH,
        rf"$\sigma_1 = {PAIR[0]:g}$, $\sigma_2 = {PAIR[1]:g}$",
        "$K$ is given as a multiple of the limit as $n$ grows",
    ),
    finding=r"$w - w_{\mathrm{ridge}} = cv (\lambda/n - s) \alpha - \frac{1}{1+s} (\mathbf{I} - \Sigma) w_{\mathrm{ridge}}$. The second moment of the first part "
    r"is exact given $\Sigma$ and at most a polynomial in $\mathrm{tr}\, \Sigma$, whose moments are those of a chi-squared number; that of the second is at most "
    r"$\mathbb{E}\, \mathrm{tr} (\mathbf{I} - \Sigma)^2 = d(d+1)/n$. Minkowski's inequality adds them, and all of it times $n$ falls in $n$. The same holds for "
    "every pair of levels, $d$ and $n$, with another $K$; for short contexts it is large.",
)
claim(
    "lt.noise-adaptive/fixed-weights",
    exponent(
        distance, ROOT, of="root", ray=(1e3, 1e12, per_profile(17, 25)), high="0", strict=True, sharp="1", instead={"fixed": "no"}, method="exact"
    ),
    source=THEOREM,
    kind="convention",
    expected="refuted",
    over={"d": 1, "level": 2, "order": "yx-yy", "fixed": "yes"},
    title="the two weights that are right at n = 100, for every length of the context",
    statement=r"\mathbb{E} \|w - w_{\mathrm{ridge}}\|^2 \to 0 \text{ with } \omega_{yy} = v/100",
    assumes=(*ASSUMED, AT),
    corrected=r"$\omega_{yy} = -1/(n(1 + \sigma_1^2 + \sigma_2^2))$: the weight of the sum of squares must fall like $1/n$",
    finding=r"The theorem is about a model for each length. The sum of squared labels is not normalised by $\mathbf{I}/n$: $\lambda \approx "
    r"n\sigma^2$. With any fixed $\omega_{yy} \neq 0$ the factor $1 + \omega_{yy}\lambda$ grows like $n$; with $\omega_{yy} = 0$ there "
    r"is one number for two levels.",
)  # fmt: skip
claim(
    "lt.noise-adaptive/three-levels",
    bound(worst, RATIO, equals=0, within=1e-9, sharp=alternating, method="exact"),
    source=THEOREM,
    kind="stronger",
    expected="refuted",
    over={("sigma_1", "sigma_2", "sigma_3"): LEVELS},
    title="two layers serve three noise levels",
    assumes=(*ASSUMED, EACH),
    corrected="two layers serve two levels and no three: $1/(1 + s)$ is strictly convex and a line in $s = \\sigma^2$ meets it at most twice",
    finding="The worst relative error alternates in sign over the levels, with the same size at each; linear programming finds it too. "
    "More layers with $\\omega_{yy}$ raise the degree in $\\sigma^2$ and serve more levels.",
)
claim(
    "lt.noise-adaptive/one-layer",
    bound(
        worst, r"\min_{c} \max_i |c (1 + \sigma_i^2) - 1|", equals=0, within=1e-9,
        sharp="(sigma_2**2 - sigma_1**2)/(2 + sigma_1**2 + sigma_2**2)", method="exact",
    ),
    source=THEOREM,
    kind="stronger",
    expected="refuted",
    over={("sigma_1", "sigma_2"): PAIRS[:2]},
    title="one layer with both weights serves two noise levels",
    assumes=ASSUMED,
    corrected=r"two layers are needed: in one, $\omega_{yy}$ multiplies a prediction that is still 0, so that $w = -\omega_{yx} \alpha$",
    finding="Claimed nowhere, like its counterpart for three levels: they say that the theorem's two layers are needed, and what they "
    "are enough for.",
)  # fmt: skip
claim(
    "lt.noise-adaptive/swapped",
    bound(distance, ROOT, of="root", high=0.1, control=0.01, instead={"swapped": "no"}, method="exact"),
    source=THEOREM,
    kind="stronger",
    expected="refuted",
    over={"d": 1, "level": 2, "order": "yx-yy", "n": 1e8, "swapped": "yes"},
    title="the same two numbers with their roles exchanged",
    statement=rf"{ROOT} \leq 0.1 \text{{ at }} n = 10^8 \text{{ with }} \omega_{{yx}} = v/n, \ \omega_{{yy}} = -c",
    assumes=(*ASSUMED, AT),
    corrected=r"$\omega_{yx} = -c$ and $\omega_{yy} = v/n$; exchanged, $w \to cv\sigma^2 \alpha$, which even has the wrong sign",
)
claim(
    "lt.noise-adaptive/limit/other-levels",
    exponent(elsewhere, ROOT, ray=FAR, high="0", strict=True, sharp="-1/2", method="exact"),
    source=THEOREM,
    kind="convention",
    expected="supported",
    over={("sigma_1", "sigma_2"): ((1.0, 3.0), (0.0, 1.0), (0.1, 10.0)), "level": (1, 2)},
    title="the two layers tend to ridge at other pairs of noise levels",
    statement=r"\mathbb{E} \|w - w_{\mathrm{ridge}}(\sigma_i^2)\|^2 \to 0 \quad (n \to \infty), \quad i = 1, 2",
    assumes=(*ASSUMED, EACH, "exactly, for $d = 1$; the pairs of the cells"),
    finding="The theorem names no levels. From no noise beside some to a hundred times as much the limit is the same and so is its rate; only the constant grows.",
)
claim(
    "lt.noise-adaptive/correlated",
    bound(
        correlated,
        r"\min_{c, v} \max_{i, k} |c (1 + v \sigma_i^2)(\lambda_k + \sigma_i^2) - 1|",
        equals=0,
        within=1e-9,
        sharp="(kappa - 1)/(kappa + 1 + 2*sigma_1**2)",
        method="exact",
    ),
    source=THEOREM,
    kind="stronger",
    expected="refuted",
    over={("sigma_1", "sigma_2"): PAIRS[:2], "kappa": (1.1, 2.0, 10.0)},
    title="the two layers reach ridge on correlated covariates",
    assumes=(
        r"$x_i \sim N(0, \mathbf{S}/n)$ with eigenvalues $\lambda_k = 1$ and $\kappa$ of $\mathbf{S}$; else as in the theorem",
        EACH,
    ),
    finding=r"Ridge shrinks each direction by a factor of its own, $1/(\lambda_k + s)$; the two layers multiply $\alpha$ by one number a noise level. Two directions "
    "are enough to tell, at a single level.",
    corrected=r"$x \sim N(0, \mathbf{I}/n)$ is needed: with eigenvalues 1 and $\kappa$ the least relative error is $\frac{\kappa - 1}{\kappa + 1 + 2\sigma_1^2}$",
)
