r"""Hölder tasks, |f(x) - f(x')| ~ |x - x'|^s: the rates of the optimal w and of its loss, and which order counts.

On fields that are rough everywhere w* = Theta(Lambda^{2/(d - 1 + 2s)}), and the loss falls at Stone's minimax rate. The
printed range of Theorem 2 ends at s = 1/2. The rate is set by the mean square of the change of f inside a window, not
by the worst order of a class. How w* moves with L and the noise is the same for every class f = L g.
"""

from typing import Any

from lipverify.checks.softmax.directions_proofs import ANY, COMPARED, RISES
from lipverify.checks.softmax.lipschitz_constants import proved_exponents
from lipverify.checks.softmax.lipschitz_notions import GENERAL as REBUTTAL
from lipverify.checks.softmax.quantities import EXPONENT, LARGE_N, MODEL
from lipverify.checks.softmax.rough import best, bias, proved, sampled_bias
from lipverify.checks.softmax.window import THEOREM_2
from lipverify.claims import agree, at, bound, claim, exponent, per_profile

# fmt: off
HEADINGS = {"softmax.hoelder": (4, 5, "Rougher than Lipschitz: rates in the Hölder order")}
LIMIT = (r"""tokens and query uniform on $S^{d-1}$, noise independent with variance $\sigma^2 = 1$; $\Lambda = n \to
    \infty$""", MODEL[1])
FIELD = r"$\mathbb{E} (f(x) - f(x'))^2 = |x - x'|^{2s}$: functions of Hölder order below $s$, everywhere"
RAY: dict[str, Any] = {"scale": r"\Lambda"}
FIELDS: dict[Any, Any] = {"kind": "field", ("d", "s"): per_profile(
    ((2, 0.25), (2, 0.5)), ((2, 0.25), (2, 0.5), (2, 0.75), (3, 0.25), (3, 0.5), (5, 0.5), (5, 0.75)))}
ROUGHEST: dict[Any, Any] = {"kind": "field", ("d", "s"): per_profile(((2, 0.25),), ((2, 0.25), (3, 0.25)))}
RATES: dict[str, Any] = {"source": REBUTTAL, "kind": "derived", "expected": "supported", "over": FIELDS, "assumes": (*LIMIT, FIELD)}
SAMPLED = agree(bias, at(sampled_bias, contexts=3000), "B", over={"d": 3, "s": (0.25, 0.75), "n": 40, "w": 10.0})
WORST = "the worst order of a class determines the rate"

claim("softmax.hoelder/window",
      exponent(best, "w^*", along={"n": (1e6, 1e18, 8)}, of="w", equals="2/(d - 1 + 2*s)", method="exact", **RAY),
      SAMPLED,
      title="the optimal w on tasks of Hölder order s",
      statement=r"w^* = \Theta\left(\Lambda^{2/(d - 1 + 2s)}\right), \quad 0 < s < 1", **RATES,
      finding=r"""Tokens in a window lie at distances of order $w^{-1/2}$, over which $f$ changes by $w^{-s/2}$: $B \sim
      w^{-s}$, against $N \sim w^{(d-1)/2} / n$. The rougher the task, the narrower the window. The limit $s \to 1$ is
      not the affine law: the constant of $w^{-s}$ is proportional to $1 - 2^{s-1}$ and vanishes there.""")
claim("softmax.hoelder/loss",
      exponent(best, r"\mathcal{L}(w^*) / L^2", along={"n": (1e6, 1e18, 8)}, of="loss", equals="-2*s/(d - 1 + 2*s)",
               method="exact", **RAY),
      SAMPLED,
      title="the loss at the optimal w on tasks of Hölder order s",
      statement=r"\mathcal{L}(w^*) = \Theta\left(\Lambda^{-2s/(d - 1 + 2s)}\right), \quad 0 < s < 1", **RATES,
      finding="""This is Stone's minimax rate for $s$-Hölder functions on a space of $d - 1$ dimensions: no estimator
      has a better rate on tasks that are rough everywhere.""")
claim("softmax.hoelder/printed-range",
      exponent(best, "w^*", along={"n": (1e6, 1e18, 8)}, of="w", high="2/d", truth="2/(d - 1 + 2*s)", method="exact",
               **RAY),
      source=THEOREM_2, kind="stronger", expected="refuted", over=ROUGHEST,
      title="the printed upper bound of the optimal w, for rough tasks",
      statement=r"w^* = \mathcal{O}\left(\Lambda^{2/d}\right) \quad \text{for every Hölder order } s",
      assumes=(*LIMIT, FIELD),
      finding=r"""$2/(d - 1 + 2s)$ is at most $2/d$ if and only if $s \geq 1/2$: the printed range of $w^*$ ends with
      fields as rough as Brownian motion. The slides state it for Lipschitz tasks.""",
      corrected=r"$w^* = \Theta(\Lambda^{2/(d - 1 + 2s)})$, inside the printed range for $1/2 \leq s < 1$")
claim("softmax.hoelder/largest-order",
      exponent(best, "w^*", along={"n": (1e6, 1e18, 8)}, of="w", equals="2/(d - 1 + 2*s)", truth="2/(d + 2*s)",
               method="exact", **RAY),
      source=REBUTTAL, kind="convention", reading=WORST, expected="refuted",
      over={"kind": "root", ("d", "s"): per_profile(((2, 0.5),), ((2, 0.5), (3, 0.5), (5, 0.5)))},
      title="classes with the same worst Hölder order have one rate of the optimal w",
      statement=r"""f \text{ of Hölder order } s \text{ and no better} \implies w^* = \Theta\left(\Lambda^{2/(d - 1 +
      2s)}\right)""", assumes=(*LIMIT, r"$f(x) = |\langle q, x \rangle|^s$, $q$ uniform on the sphere"),
      finding=r"""These functions have order $s$ at the zeros of $\langle q, x \rangle$ and are smooth elsewhere. A
      window of size $w^{-1/2}$ contains such a point for a share $w^{-1/2}$ of the queries: $B \sim w^{-s - 1/2}$, and
      $s = 1$ gives the ReLU law's $w^{-3/2}$. Attention adapts to the mean square of the change of $f$ inside a window,
      not to the worst point.""",
      corrected=r"""$w^* = \Theta(\Lambda^{2/(d + 2s)})$ for functions of order $s$ across one hyperplane, measured at
      $s = 1/2$""")
claim("softmax.hoelder/largest-order/{link}/proved",
      bound(proved_exponents, EXPONENT["window"], of="window", low="2/(d - 1 + 2*s)", truth="2/(d + 2*s)", method="certified"),
      source=REBUTTAL, kind="convention", reading=WORST, expected="refuted",
      over={"link": {"clip": {"s": "1"}, "step": {"s": "0"}}, "d": per_profile((2,), (2, 3, 5))},
      title="classes with the same worst Hölder order have one rate of the optimal w: disproved at its ends",
      statement=r"""f \text{ of Hölder order } s \text{ and no better} \implies w^* = \Theta\left(\Lambda^{2/(d - 1 +
      2s)}\right)""",
      assumes=(*MODEL, r"""$f(x) = h(\langle q, x \rangle)$, $q$ uniform on the sphere: $h(z) = \max(-\frac12, \min(z,
      \frac12))$ of order $s = 1$ (clip), and $h(z) = 1$ for $z > \frac12$ and 0 below, of order $s = 0$ (step)""",
               r"the $\Lambda$ and $n$ of `softmax.lipschitz-notion/breaks/*/window/proved`"),
      finding=r"""By the window theorems $w^*$ lies between two multiples of $\Lambda^{2/(d+2)}$ for clip and of
      $\Lambda^{2/d}$ for step, for every $n$, $L$ and $\sigma$ in their range: both are rough only across hyperplanes.""",
      corrected=r"$w^* = \Theta(\Lambda^{2/(d + 2s)})$ for links of order $s = 0$ or $1$ at single points")
claim("softmax.hoelder/every-class/proved",
      RISES,
      source=REBUTTAL, kind="convention", expected="supported",
      reading="w* never falls with L nor rises with the noise, in every class f = L g, without specific bounds",
      title="w* never falls with L nor rises with the noise, for tasks of any roughness: every n and d",
      statement=r"L/\sigma < L'/\sigma' \implies w^*(L/\sigma) \leq w^*(L'/\sigma')",
      assumes=(MODEL[1], ANY), forall=("n >= 2", "d", "L", "sigma > 0"), by_hand=COMPARED,
      finding=r"""The rebuttal sets general results apart from "specific bounds" for "specific function classes", which need not carry
      over (`printed-range/proved`). Assumption B.4 is not in the sources, and not needed. $\cos(L z)$ is no such class: its $w^*$
      falls again for large $L$.""")
PROVED: dict[str, Any] = {"kind": "derived", "assumes": (*MODEL, FIELD, r"""$\Lambda = n L^2 / \sigma^2 \geq \Lambda_0$
    and $n \geq K W^{(d-1)/2}$, $W = \Lambda^{2/(d - 1 + 2s)}$, with the numbers of `lipverify prove`"""), "forall": LARGE_N}
"""w* lies between two multiples of a power of Lambda for every n, L and sigma in that range: the exponent is exact."""
claim("softmax.hoelder/window/proved",
      bound(proved, EXPONENT["window"], of="window", equals="2/(d - 1 + 2*s)", within="1e-15", method="certified"),
      proves="softmax.hoelder/window", source=REBUTTAL, expected="supported", over=FIELDS,
      title="the optimal w on tasks of Hölder order s, proved for every n", **PROVED)
claim("softmax.hoelder/loss/proved",
      bound(proved, EXPONENT["loss"], of="loss", equals="-2*s/(d - 1 + 2*s)", within="1e-15", method="certified"),
      proves="softmax.hoelder/loss", source=REBUTTAL, expected="supported", over=FIELDS,
      title="the loss at the optimal w on tasks of Hölder order s, proved for every n", **PROVED)
claim("softmax.hoelder/printed-range/proved",
      bound(proved, EXPONENT["window"], of="window", high="2/d", truth="2/(d - 1 + 2*s)", method="certified"),
      proves="softmax.hoelder/printed-range", source=THEOREM_2, expected="refuted",
      over=ROUGHEST,
      title="the printed upper bound of the optimal w, for tasks of Hölder order 1/4", **PROVED,
      corrected=r"$w^* = \Theta(\Lambda^{2/(d - 1 + 2s)})$, inside the printed range for $1/2 \leq s < 1$")
claim("softmax.hoelder/printed-range/edge/proved",
      bound(proved, EXPONENT["window"], of="window", high="2/d", truth="2/d", method="certified"),
      source=THEOREM_2, expected="supported", over={"kind": "field", "d": per_profile((2, 3), (2, 3, 5)), "s": 0.5},
      title="the printed upper bound of the optimal w is reached by tasks of Hölder order 1/2",
      statement=r"w^* = \Theta\left(\Lambda^{2/d}\right), \quad s = 1/2", **PROVED,
      finding=r"""The printed range ends here: for fields as rough as Brownian motion $w^*$ lies between two multiples
      of $\Lambda^{2/d}$ itself.""")
