r"""Beyond Theorem 4: where M* = c BB^T goes on to hold, and where, on the sphere in large balls, attention forgets B."""

from __future__ import annotations

from typing import Any

import numpy as np

from lipverify.claims import Band, Figure, Panel, Series, Source, agree, at, bound, claim, draw, per_profile

Value = tuple[float, float]


def best(covariates: str, d: int, k: int, n: float, sigma: float, C: float) -> dict[str, Any]:
    """The best M = c BB^T + c' (I - BB^T) in the ball of radius C, exactly, and what c' saves."""
    from lipverify.optimum.block import optimal_block

    found = optimal_block(problem(covariates, d, k, n, sigma), C)
    return {
        "c": (found.c, found.c_error),
        "ratio": found.ratio,
        "loss": (found.loss, found.loss_error),
        "gain": (found.gain, 2 * found.loss_error),
        "aligned": (found.aligned_c, found.aligned_loss),
    }


def searched(
    covariates: str, d: int, k: int, n: float, sigma: float, C: float, contexts: int, seed: int
) -> dict[str, Value]:
    """The best symmetric M in the same ball on sampled contexts, nothing assumed about its form."""
    from lipverify.optimum.block import sampled_block

    here = problem(covariates, d, k, n, sigma)
    stream = f"lowrank/{covariates}, d={d}, k={k}, n={n:g}, sigma={sigma:g}, C={C:g}"
    found = sampled_block(here, k, C, contexts=contexts, seed=seed, stream=stream)
    return {"c": (found.c, found.c_error), "ratio": found.ratio, "loss": (found.loss, found.loss_error)}


def gained(
    covariates: str, d: int, k: int, n: float, sigma: float, C: float, contexts: int, seed: int
) -> dict[str, Value]:
    """What the exact c' saves, both matrices on the same contexts."""
    from lipverify.optimum.block import gain_on_common_draws, optimal_block

    here = problem(covariates, d, k, n, sigma)
    found, P = optimal_block(here, C), np.diag([1.0] * k + [0.0] * (d - k))
    both = found.aligned_c * P, found.c * P + found.c_perp * (np.eye(d) - P)
    stream = f"gain/{covariates}, d={d}, k={k}, n={n:g}, sigma={sigma:g}, C={C:g}"
    return {"gain": gain_on_common_draws(here, *both, contexts=contexts, seed=seed, stream=stream)}


def proved_gain(n: int, C: float, c: float, c_perp: float) -> Any:
    """The least loss of all c BB^T in the ball of radius C, less that of one M, by balls; d = 2, k = 1, sphere, sigma = 0."""
    from lipverify.claims.plan.proved import between, proved
    from lipverify.proofs import prove_not_aligned
    from lipverify.proofs.finite import on_the_circle

    given = on_the_circle(n, 0.0, (1.0, 0.0), (c, c_perp), C)
    found = proved("lowrank-radius", "not aligned", given, lambda: prove_not_aligned(n, 0.0, (c, c_perp), C))
    return between(found, found.constants["gain_low"], found.constants["gain_high"])


def radius(covariates: str, d: int, k: int, n: float, sigma: float, most: float = 4.0) -> Value:
    """The largest C / d up to `most` such that c' = 0 is best in every ball up to it; beyond that it is not followed."""
    from lipverify.optimum.block import critical_radius

    found = critical_radius(problem(covariates, d, k, n, sigma), most * d)
    high = found.high if found.finite else found.low
    return (found.low + high) / 2 / d, (high - found.low) / 2 / d


def limit(d: int, k: int, **before: Any) -> Value:
    """The same as n -> infinity on the sphere, whatever sigma is, from Bessel functions."""
    from lipverify.optimum.block import limit_radius

    value, error = limit_radius(d, k)
    return value / d, error / d


def limit_value(d: int, k: int) -> float:
    r"""$C_\infty / d$, to which every $n$ comes down."""
    return limit(d, k)[0]


def counterexamples(covariates: str, problems: int, seed: int) -> Value:
    """How many random problems have a ball in which c' = 0 is not best.

    d from 2 to 6, k < d, n from 3 to 1e6 evenly over its logarithm, sigma from 0.05 to 2 likewise, balls up to C = 4 d on
    the sphere and 3 k on the product.
    """
    from lipverify.errors import OutOfReach
    from lipverify.foundation.streams import generator

    random, failed = generator(seed, f"counterexamples/{covariates}", 0), 0
    for _ in range(problems):
        d = 2 + int(5 * random.random())
        k = 1 + int((d - 1) * random.random())
        n, sigma = float(round(3 * (1e6 / 3) ** random.random())), 0.05 * 40 ** random.random()
        most = 4.0 if covariates == "sphere" else 3.0 * k / d
        try:
            failed += radius(covariates, d, k, n, sigma, most)[1] > 0
        except OutOfReach:
            continue
    return float(failed), 0.0


def forgotten(found: dict[str, Any]) -> str:
    """The smallest counterexample, and why attention forgets B."""
    c, gain = found["c"][0], found["gain"][0]
    return (
        r"The smallest counterexample of those measured: $d = 2$, $k = 1$, $\sigma = 0$, $n = 9$; at $n \leq 8$ none was found in the ball $C = 8$. The best "
        rf"$c \mathbf{{B}} \mathbf{{B}}^\top$ has $c = {found['aligned'][0]:.4g}$, while $c = {c:.4g}$, $c' = {found['ratio'][0] * c:.4g}$ has a smaller loss, by {gain:.2g}. "
        r"At $n = 20$, $C = 5$ the minimiser over all symmetric matrices is of this form too. The reason: on the sphere $|z|$ varies, and $e^{c \langle z_i, z "
        r"\rangle}$ favours tokens farther out than $z$, because it is not a function of $|z_i - z|$. A score along $\mathbf{B}_\perp$ makes up "
        r"for that, since $|z|^2 + |\mathbf{B}_\perp^\top x|^2 = 1$: with $c' = c$ the weights are a Gaussian kernel. The theorem says "
        r"'for some $C = \Omega(1)$' and is not touched."
    )


def problem(covariates: str, d: int, k: int, n: float, sigma: float) -> Any:
    """A problem from plain values."""
    from lipverify.problem.named import low_rank_problem

    return low_rank_problem(covariates, d, k, n, sigma)  # type: ignore[arg-type]


def along(lengths: list[int]) -> dict[str, list[float]]:
    """Both least losses on the sphere without noise, and the share of c', in the ball of radius 8 along n."""
    found = [best("sphere", 2, 1, n, 0.0, 8.0) for n in lengths]
    columns = {"aligned": [b["aligned"][1] for b in found], "loss": [b["loss"][0] for b in found]}
    return {"n": list(map(float, lengths)), **columns, "ratio": [b["ratio"][0] for b in found]}


def radii(d: int, k: int, sigma: float, lengths: list[int]) -> dict[str, list[float]]:
    """The largest radius on the sphere along n, where there is one up to 4 d."""
    found = [(float(n), radius("sphere", d, k, n, sigma)) for n in lengths]
    kept = [(n, value * d) for n, (value, error) in found if error > 0]
    return {"n": [n for n, _ in kept], "C": [C for _, C in kept]}


def region(limit: Value, **curves: dict[str, list[float]]) -> Figure:
    """The largest radius against n at d = 2, k = 1, by noise."""
    noises = {"none": "0", "quarter": "1/4", "half": "1/2", "one": "1"}
    series = [
        Series(label=f"$\\sigma = {noises[name]}$", x=tuple(c["n"]), y=tuple(c["C"])) for name, c in curves.items()
    ]
    low, C = min(s.x[0] for s in series if s.x), 2 * limit[0]
    series.append(Series(label=r"$C_\infty$", x=(low, max(s.x[-1] for s in series if s.x)), y=(C, C), style="dashed"))
    band = Band(label=r"$\mathbf{M}^* = c \mathbf{B} \mathbf{B}^\top$ at every $n$ that was measured", high=C)
    panel = Panel(
        title="$d = 2$, $k = 1$",
        xlabel="$n$",
        ylabel=r"$C_{\max}$",
        yscale="linear",
        series=tuple(series),
        bands=(band,),
    )
    caption = (
        "The largest radius $C$ of the ball for which the minimiser has no spurious part, on the sphere, against $n$. Below its curve "
        r"a problem has $\mathbf{M}^* = c \mathbf{B} \mathbf{B}^\top$, above it $c'^* \neq 0$; to the left of where a curve begins no "
        r"ball up to $C = 4 d$ fails. Dashed: the limit $n \to \infty$, the same for every $\sigma$."
    )
    return Figure(caption=caption, alt="Largest radius of the ball without a spurious part against n.", panels=(panel,))


def forgetting(found: dict[str, list[float]]) -> Figure:
    """Both least losses against n, and the share of the spurious part."""
    n, columns = tuple(found["n"]), {name: tuple(values) for name, values in found.items()}
    aligned = Series(label=r"best $c \mathbf{B} \mathbf{B}^\top$", x=n, y=columns["aligned"], style="dashed")
    any_of = Series(label=r"$\mathbf{M}^*$, $C = 8$", x=n, y=columns["loss"])
    share = Series(label="$c'^* / c^*$", x=n, y=columns["ratio"], style="points")
    losses = Panel(
        title=r"least loss, $d = 2$, $k = 1$, $\sigma = 0$", xlabel="$n$", ylabel="loss", series=(aligned, any_of)
    )
    shares = Panel(
        title="spurious over relevant part", xlabel="$n$", ylabel="$c'^* / c^*$", yscale="linear", series=(share,)
    )
    caption = (
        r"Without noise on the sphere, in the ball of radius 8. Left: the least loss of all $c \mathbf{B} \mathbf{B}^\top$ stays above a "
        r"constant as $n$ grows, that of $\mathbf{M}^*$ does not. Right: the share of $\mathbf{M}^*$ across $\mathbf{B}$ is 0 up to "
        "$n = 8$, and then grows with $n$."
    )
    return Figure(
        caption=caption, alt="Least losses and spurious share of the optimal matrix against n.", panels=(losses, shares)
    )


THEOREM_4 = Source(
    "S",
    "Theorem 4 (Informal), beyond its assumptions",
    r"Suppose $n = 2$ or $\sigma = 0$. Then for some $C = \Omega(1)$, any optimal solution $\mathbf{M}^*$ of the ICL pretraining "
    r"loss induced by the task distribution $D(\mathcal{F}_{\mathbf{B}}^{\mathrm{lin}})$ optimized over the set $\mathcal{M} := "
    r"\{\mathbf{M}: \mathbf{M} = \mathbf{M}^\top, \|\mathbf{B}^\top \mathbf{M} \mathbf{B}\|_2 \leq C\}$ satisfies, for $c \in (0, C]$, "
    r"$\mathbf{M}^* = c \mathbf{B} \mathbf{B}^\top$",
)
FORM = r"\mathbf{M}^* = c \mathbf{B} \mathbf{B}^\top"
TASKS = (
    r"$f(x) = \mathbf{a}^\top \mathbf{B}^\top x$ with $\mathbf{a}$ uniform on $S^{k-1}$",
    r"$\mathbf{M} = c \mathbf{B} \mathbf{B}^\top + c' (\mathbf{I} - \mathbf{B} \mathbf{B}^\top)$ by the exact reduction, all symmetric "
    r"$\mathbf{M}$ by sampling",
)
SPHERE = (r"tokens and query uniform on $S^{d-1}$", *TASKS)
PRODUCT = (r"$x = \mathbf{B} u + \mathbf{B}_\perp v$ with $u$ uniform on $S^{k-1}$ and $v$ on $S^{d-k-1}$", *TASKS)
WHERE = ("covariates", "d", "k", "n", "sigma", "C")
RATIO = "c'^* / c^*"
EXACT = "3e-5"
"""Three times the largest error of a ratio by the exact reduction."""
CURVES = per_profile(
    [9, 10, 12, 16, 24, 60, 200, 1000], [9, 10, 11, 12, 14, 16, 20, 24, 32, 50, 70, 100, 200, 500, 1000, 10_000]
)
ALONG = per_profile([3, 5, 8, 12, 20, 50, 200], [3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20, 30, 50, 100, 200, 500])


def agreed(where: tuple[Any, ...], contexts: Any) -> tuple[Any, ...]:
    """The scale c* and the least loss by the exact reduction and over all symmetric M."""
    given: dict[str, Any] = {"over": {WHERE: [where]}, "given": {"contexts": contexts}}
    return agree(best, searched, "c^*", of="c", **given), agree(best, searched, r"\mathcal{L}", of="loss", **given)


LARGE = (
    ("product", 2, 1, 3, 0.5, 4.0),
    ("product", 2, 1, 1e6, 0.5, 4.0),
    ("product", 3, 2, 10, 0.5, 8.0),
    ("product", 3, 2, 1000, 0.5, 8.0),
    ("product", 4, 3, 30, 2.0, 12.0),
    ("product", 5, 2, 1e6, 0.5, 8.0),
    ("product", 3, 2, 20, 0.0, 12.0),
)
MANY = per_profile(4096, 65536)
claim(
    "lowrank.boundary/product",
    bound(best, RATIO, of="ratio", equals=0, within=EXACT, over={WHERE: LARGE}, method="exact"),
    bound(searched, RATIO, of="ratio", equals=0, within="0.02", over={WHERE: LARGE[2:3]}, method="montecarlo",
          given={"contexts": MANY}),
    bound(counterexamples, r"\text{counterexamples}", high="0", control={"low": "1"},
          over={"covariates": "product", "problems": per_profile(5, 60)}, method="exact"),
    source=THEOREM_4,
    kind="stronger",
    expected="supported",
    title="Neither n = 2 nor no noise nor a small ball is needed at the points measured on a product of spheres",
    statement=FORM + r" \quad \text{at seven points with } n > 2, \text{ six of them with } \sigma > 0, \text{ and in random problems}",
    assumes=(*PRODUCT, r"the $(d, k, n, \sigma, C)$ of the cells, $C$ from $4k$ to $6k$; in random problems $n \leq 10^6$, every ball up to "
             r"$C = 3k$, within the invariant family"),
    agrees=agreed(LARGE[2], MANY),
    finding=r"No counterexample was found. On the product $|\mathbf{B}^\top x|$ is the same for every token, so $e^{c \langle z_i, z "
    r"\rangle}$ is a function of the distance $|z_i - z|$ by itself, and a score along $\mathbf{B}_\perp$ only multiplies the weights by "
    r"independent random factors, which cost variance. (At $n = 2$, with weights $1/2 \pm h$, what the loss gains from $h$ is linear "
    r"in it, and $\mathbf{E} \tanh(y + G) \leq \tanh y$ for every symmetric $G$ and $y \geq 0$: random factors lose some of it.) This "
    "is evidence at these points and not a proof.",
)  # fmt: skip
claim(
    "lowrank.boundary/sphere/small-ball",
    bound(radius, r"\min(C_{\max}, 4 d) / d", low="1", sharp=limit_value,
          over={("d", "k"): ((2, 1), (3, 2), (6, 2)), "n": (1000, 10**6), "sigma": (0.0, 0.5)}, method="exact"),
    bound(best, RATIO, of="ratio", equals=0, within=EXACT,
          over={("d", "k", "C"): ((2, 1, 2.0), (3, 2, 3.0), (6, 2, 6.0)), "n": 20, "sigma": (0.0, 0.5)}, method="exact"),
    over={"covariates": "sphere"},
    source=THEOREM_4,
    kind="stronger",
    expected="supported",
    title="On the sphere M* = c BB^T in balls of radius C up to d, with noise and without",
    statement=FORM + r" \quad \text{if } C \leq d \text{ (} n = 10^3, 10^6 \text{), if } C = d \text{ (} n = 20 \text{)}",
    assumes=(*SPHERE[:2], r"within the invariant family, exactly, at the $(d, k)$ of the cells, $\sigma = 0$ and $\sigma = 1/2$",
             r"$C_{\max}$ is the largest radius up to which $c'^* = 0$ in every ball"),
    agrees=agree(radius, limit, r"C_{\max} / d", methods=("exact", "limit n → ∞"),
                 over={"covariates": "sphere", ("d", "k"): ((2, 1), (3, 1), (3, 2), (6, 2)), "n": 1e12, "sigma": 0.5}),
    figures=draw(region, limit=at(limit, d=2, k=1), none=at(radii, d=2, k=1, sigma=0.0, lengths=CURVES),
                 quarter=at(radii, d=2, k=1, sigma=0.25, lengths=CURVES),
                 half=at(radii, d=2, k=1, sigma=0.5, lengths=CURVES), one=at(radii, d=2, k=1, sigma=1.0, lengths=CURVES)),
    finding=r"As $n \to \infty$ the prediction at a query with $|z|^2 = s$ is $c h(\omega) z$ with $h(\omega) = A(\omega)/\omega \leq "
    r"1/d$, $A = I_{d/2}/I_{d/2-1}$ and $\omega^2 = c^2 s + c'^2 (1 - s)$. For $C \leq d$ it falls short of $z$ at every query, and $h$ "
    r"decreases, so any $c' \neq 0$ makes it fall shorter: $c' = 0$ and $c = C$ are best. At the finite $n$ that were measured the "
    r"radius is larger still. In these balls neither $n = 2$ nor $\sigma = 0$ was needed.",
)  # fmt: skip

FEW = per_profile(4096, 32768)
claim(
    "lowrank.boundary/sphere/every-ball",
    bound(best, RATIO, of="ratio", equals=0, within=EXACT, instead={"C": 2.5},
          over={WHERE: (*(("sphere", 2, 1, n, 0.0, 8.0) for n in (2, 3, 4, 5, 6, 7, 8, 9, 12)), ("sphere", 2, 1, 20, 0.0, 5.0))}, method="exact"),
    bound(searched, RATIO, of="ratio", equals=0, within="0.1", instead={"C": 2.5}, over={WHERE: (("sphere", 2, 1, 20, 0.0, 5.0),)},
          method="montecarlo", given={"contexts": FEW}),
    *(
        bound(gained, r"\mathcal{L}(c \mathbf{B} \mathbf{B}^\top) - \mathcal{L}(\mathbf{M}^*)", of="gain", high="0",
              control={"low": near}, instead=near, over={WHERE: (("sphere", 2, 1, n, 0.0, 8.0),)}, method="montecarlo",
              given={"contexts": contexts})
        for n, near, contexts in ((9, "5e-4", per_profile(1_310_720, 26_214_400)), (12, "5e-3", per_profile(262_144, 2_621_440)))
    ),
    source=THEOREM_4,
    kind="stronger",
    expected="refuted",
    title="On the sphere M* = c BB^T without noise, whatever the radius of the ball",
    statement=FORM + r" \quad \text{for every } C \text{ if } \sigma = 0",
    assumes=(*SPHERE, r"$d = 2$, $k = 1$, $\sigma = 0$"),
    agrees=(
        *(agree(best, gained, r"\mathcal{L}(c \mathbf{B} \mathbf{B}^\top) - \mathcal{L}(\mathbf{M}^*)", of="gain",
                over={WHERE: (("sphere", 2, 1, n, 0.0, 8.0),)}, given={"contexts": contexts})
          for n, contexts in ((9, per_profile(1_310_720, 26_214_400)), (12, per_profile(262_144, 2_621_440)))),
        *agreed(("sphere", 2, 1, 20, 0.0, 5.0), FEW),
    ),
    figures=draw(forgetting, found=at(along, lengths=ALONG)),
    finding=draw(forgotten, found=at(best, covariates="sphere", d=2, k=1, n=9, sigma=0.0, C=8.0)),
    corrected=r"At $d = 2$, $k = 1$, $\sigma = 0$: $\mathbf{M}^* = c \mathbf{B} \mathbf{B}^\top$ in the ball $C = 2.5$ where it fails in a larger one. It "
    r"holds up to a radius which falls with $n$ to $C_\infty(d, k) > d$, the zero in $c$ of $\mathbf{E} [ s^{1/2} (1 - s) (1 - c h(c s^{1/2})) "
    r"(-h'(c s^{1/2})) ]$, $s \sim \mathrm{Beta}(k/2, (d-k)/2)$, $h(\omega) = I_{d/2}(\omega) / (\omega I_{d/2-1}(\omega))$. So $C = d$ is a "
    r"constant for which the theorem holds, and 'for some $C = \Omega(1)$' cannot be strengthened to every $C$",
)  # fmt: skip
claim(
    "lowrank.boundary/sphere/every-ball/proved",
    bound(proved_gain, r"\min_{|c| \leq C} \mathcal{L}(c \mathbf{B} \mathbf{B}^\top) - \mathcal{L}(\mathbf{M})", high="0",
          control={"low": "4e-4"}, instead={"low": "3e-4", "high": "4e-4"}, over={"n": 9, "C": 5.0, "c": 4.612, "c_perp": 1.795},
          method="certified"),
    source=THEOREM_4,
    kind="stronger",
    expected="refuted",
    title="On the sphere M* = c BB^T without noise, whatever the radius of the ball: disproved",
    statement=FORM + r" \quad \text{for every } C \text{ if } \sigma = 0",
    assumes=(*SPHERE[:2], r"$d = 2$, $k = 1$, $\sigma = 0$, $n = 9$, $C = 5$; $\mathbf{M} = c \mathbf{B} \mathbf{B}^\top + c' (\mathbf{I} - \mathbf{B} "
             r"\mathbf{B}^\top)$ with the $c$ and $c'$ of the cell"),
    finding=r"Both losses are balls. The moments of $\sum_i a_i t_i$ are analytic in $\omega = |\mathbf{M} x|$ where $|\mathrm{Im}\, \omega| < "
    r"\pi/2$, so that polynomials through balls at some forty points hold for all $\omega \leq 5$, with a bounded error: the loss of every "
    r"$c \mathbf{B} \mathbf{B}^\top$ of the ball is one polynomial in $c$, whose least value is found by bisection. That of $\mathbf{M}$ is "
    "an average of a periodic analytic function, by the trapezoidal rule with its error.",
    corrected=r"$\mathbf{M}^* = c \mathbf{B} \mathbf{B}^\top$ fails in the ball $C = 5$ at $d = 2$, $k = 1$, $\sigma = 0$, $n = 9$",
)  # fmt: skip
