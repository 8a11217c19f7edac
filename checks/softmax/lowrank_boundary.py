r"""Beyond Theorem 4: where else M* = c BB^T holds, and where, on the sphere in large balls, attention loses B.

On the sphere it holds in balls up to C = d,
and not in every ball: d = 2, n = 9, sigma = 0, C = 5 is a counterexample, proved by balls. lowrank_proofs.py treats
tiny balls.
"""

from lipverify.checks.softmax import lowrank_radius as ball
from lipverify.checks.softmax.lowrank import THEOREM_4
from lipverify.checks.softmax.lowrank_blocks import best, searched
from lipverify.claims import agree, at, bound, claim, per_profile

# fmt: off
HEADINGS = {"lowrank.boundary": (7, 2, "Where the conclusion of Theorem 4 ends")}
FORM = r"\mathbf{M}^* = c \mathbf{B} \mathbf{B}^\top"
TASKS = (
    r"$f(x) = \mathbf{a}^\top \mathbf{B}^\top x$ with $\mathbf{a}$ uniform on $S^{k-1}$",
    r"""$\mathbf{M} = c \mathbf{B} \mathbf{B}^\top + c' (\mathbf{I} - \mathbf{B} \mathbf{B}^\top)$ by the exact reduction, all symmetric
    $\mathbf{M}$ by sampling""",
)
SPHERE = (r"tokens and query uniform on $S^{d-1}$", *TASKS)
WHERE = ("covariates", "d", "k", "n", "sigma", "C")
RATIO = "c'^* / c^*"
EXACT = "3e-5"
"""Three times the largest error of a ratio by the exact reduction."""

claim("lowrank.boundary/sphere/small-ball",
      bound(ball.radius, r"\min(C_{\max}, 4 d) / d", low="1", truth=ball.limit_value,
            over={("d", "k"): ((2, 1), (3, 2), (6, 2)), "n": (1000, 10**6), "sigma": (0.0, 0.5)}, method="exact"),
      bound(best, RATIO, of="ratio", equals=0, within=EXACT,
            over={("d", "k", "C"): ((2, 1, 2.0), (3, 2, 3.0), (6, 2, 6.0)), "n": 20, "sigma": (0.0, 0.5)}, method="exact"),
      agree(ball.radius, ball.limit, r"C_{\max} / d",
            over={"covariates": "sphere", ("d", "k"): ((2, 1), (3, 1), (3, 2), (6, 2)), "n": 1e12, "sigma": 0.5}),
      over={"covariates": "sphere"}, source=THEOREM_4, kind="stronger", expected="supported",
      title="On the sphere M* = c BB^T in balls of radius C from d/3 to d, with noise and without",
      statement=FORM + r" \quad \text{if } d/3 \leq C \leq d \text{ (} n = 10^3, 10^6 \text{), if } C = d \text{ (} n = 20 \text{)}",
      assumes=(*SPHERE[:2], r"within the invariant family, exactly, at the $(d, k)$ of the cells, $\sigma = 0$ and $\sigma = 1/2$",
               r"$C_{\max}$ is the largest radius up to which $c'^* = 0$ in every ball from $C = d/3$ on; smaller: `tiny-ball/proved`"),
      finding=r"""As $n \to \infty$ the prediction at a query with $|z|^2 = s$ is $c h(\omega) z$ with $h(\omega) =
          A(\omega)/\omega \leq 1/d$, $A = I_{d/2}/I_{d/2-1}$ and $\omega^2 = c^2 s + c'^2 (1 - s)$. For $C \leq d$ it
          is shorter than $z$ at every query. As $h$ decreases, any $c' \neq 0$ makes it shorter still: $c' = 0$ and $c
          = C$ are best. At the measured finite $n$ the radius is even larger. In these balls neither $n = 2$ nor
          $\sigma = 0$ was needed.""")

AT_9, AT_12, AT_20 = ("sphere", 2, 1, 9, 0.0, 8.0), ("sphere", 2, 1, 12, 0.0, 8.0), ("sphere", 2, 1, 20, 0.0, 5.0)
FEW, MORE, MOST = per_profile(4096, 32_768), per_profile(262_144, 2_621_440), per_profile(1_310_720, 26_214_400)
GAIN = r"\mathcal{L}(c \mathbf{B} \mathbf{B}^\top) - \mathcal{L}(\mathbf{M}^*)"
claim("lowrank.boundary/sphere/every-ball",
      bound(best, RATIO, of="ratio", equals=0, within=EXACT, control=(None, {"C": 2.5}),
            over={WHERE: (*(("sphere", 2, 1, n, 0.0, 8.0) for n in (2, 3, 4, 5, 6, 7, 8)), AT_9, AT_12, AT_20)}, method="exact"),
      bound(at(searched, contexts=FEW), RATIO, of="ratio", equals=0, within="0.1", control=(None, {"C": 2.5}), over={WHERE: [AT_20]},
            method="montecarlo"),
      bound(at(ball.gained, contexts=MOST), GAIN, of="gain", high="0", control=({"low": "5e-4"}, "5e-4"), over={WHERE: [AT_9]},
            method="montecarlo"),
      bound(at(ball.gained, contexts=MORE), GAIN, of="gain", high="0", control=({"low": "5e-3"}, "5e-3"), over={WHERE: [AT_12]},
            method="montecarlo"),
      agree(best, at(ball.gained, contexts=MOST), GAIN, of="gain", over={WHERE: [AT_9]}),
      agree(best, at(ball.gained, contexts=MORE), GAIN, of="gain", over={WHERE: [AT_12]}),
      agree(best, at(searched, contexts=FEW), "c^*", of="c", over={WHERE: [AT_20]}),
      agree(best, at(searched, contexts=FEW), r"\mathcal{L}", of="loss", over={WHERE: [AT_20]}),
      source=THEOREM_4, kind="stronger", expected="refuted",
      title="On the sphere M* = c BB^T without noise, for every radius of the ball",
      statement=FORM + r" \quad \text{for every } C \text{ if } \sigma = 0",
      assumes=(*SPHERE, r"$d = 2$, $k = 1$, $\sigma = 0$"),
      finding=at(ball.forgotten, found=at(best, covariates="sphere", d=2, k=1, n=9, sigma=0.0, C=8.0)),
      corrected=r"""At $d = 2$, $k = 1$, $\sigma = 0$: $\mathbf{M}^* = c \mathbf{B} \mathbf{B}^\top$ in the ball $C =
          2.5$ where it fails in a larger one. It holds up to a radius that decreases in $n$ to $C_\infty(d, k) > d$,
          the zero in $c$ of $\mathbf{E} [ s^{1/2} (1 - s) (1 - c h(c s^{1/2})) (-h'(c s^{1/2})) ]$, $s \sim
          \mathrm{Beta}(k/2, (d-k)/2)$, $h(\omega) = I_{d/2}(\omega) / (\omega I_{d/2-1}(\omega))$. So $C = d$ is a
          constant for which the theorem holds, and 'for some $C = \Omega(1)$' cannot be strengthened to every $C$""")
claim("lowrank.boundary/sphere/every-ball/proved",
      bound(ball.proved_gain, r"\min_{|c| \leq C} \mathcal{L}(c \mathbf{B} \mathbf{B}^\top) - \mathcal{L}(\mathbf{M})", high="0",
            control=({"low": "4e-4"}, {"low": "3e-4", "high": "4e-4"}), over={"n": 9, "C": 5.0, "c": 4.612, "c_perp": 1.795},
            method="certified"),
      source=THEOREM_4, kind="stronger", expected="refuted",
      title="On the sphere M* = c BB^T without noise, for every radius of the ball: disproved",
      statement=FORM + r" \quad \text{for every } C \text{ if } \sigma = 0",
      assumes=(*SPHERE[:2], r"""$d = 2$, $k = 1$, $\sigma = 0$, $n = 9$, $C = 5$; $\mathbf{M} = c \mathbf{B} \mathbf{B}^\top + c'
          (\mathbf{I} - \mathbf{B} \mathbf{B}^\top)$ with the $c$ and $c'$ of the cell"""),
      finding=r"""Both losses are enclosed in balls. The moments of $\sum_i a_i t_i$ are analytic in $\omega =
          |\mathbf{M} x|$ where $|\mathrm{Im}\, \omega| < \pi/2$, so polynomials through balls at some forty points hold
          for all $\omega \leq 5$, with a bounded error. The loss of every $c \mathbf{B} \mathbf{B}^\top$ of the ball is
          one polynomial in $c$, whose minimum is found by bisection. The loss of $\mathbf{M}$ is an average of a
          periodic analytic function, by the trapezoidal rule with its error.""",
      corrected=r"$\mathbf{M}^* = c \mathbf{B} \mathbf{B}^\top$ fails in the ball $C = 5$ at $d = 2$, $k = 1$, $\sigma = 0$, $n = 9$")
