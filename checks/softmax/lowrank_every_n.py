r"""Theorem 4 on the sphere for every number of tokens, if M does not mix the two spaces; if it does, tiny balls are false.

For d >= 3 all parts of the loss are monotone in omega = |M x|, for every n: the variance across M x rises too. On the circle not.
"""

from lipverify.checks.softmax.lowrank import TASKS, THEOREM_4
from lipverify.checks.softmax.lowrank_blocks import averaged, rising
from lipverify.checks.softmax.lowrank_radius import mixed_gain, proved_best_block
from lipverify.claims import bound, claim, identity

# fmt: off
UNMIXED = r"""all $\mathbf{M}$, symmetric or not, with $\mathbf{B}^\top \mathbf{M} \mathbf{B}_\perp = 0$ and $\|\mathbf{B}^\top \mathbf{M}
    \mathbf{B}\|_2 \leq C$: the rest of $\mathbf{M}$ is not bounded"""
STEPS = {
    "ratio": r"A = D: \quad D' - A' - (A' + (d - 3) A / \omega)",
    "triple": r"\sum (t_i - t_j)^2 t_l - (3 m \sum \delta_i^2 - 9 \prod \delta_i)",
    "weights": r"P(\delta) - P(-\delta) - \prod (e^{\omega \delta_i / 2} - e^{-\omega \delta_i / 2})",
    "mean": r"\prod (1 - (m + \delta_i)^2) - \prod (1 - (m - \delta_i)^2) + 4 m \prod \delta_i (3 + m^2 + \delta_1 \delta_2 + \dots)",
}
REST = r"\|\mathbf{M}^* - c^* \mathbf{B} \mathbf{B}^\top\|"
UP_TO = {("d", "sigma", "C"): ((3, 0.0, 0.25), (3, 0.5, 0.2), (5, 0.0, 0.15))}
claim("lowrank.recovery/sphere/blocks/proved",
      *(identity(rising, form, control={"kept": "101/100"}, over={"step": name}) for name, form in STEPS.items()),
      source=THEOREM_4, kind="derived", expected="supported",
      title="Theorem 4 on the sphere with any number of tokens, among matrices that do not mix the two spaces",
      statement=r"""\mathbf{M}^* = C \mathbf{B} \mathbf{B}^\top \text{ alone}, \qquad \text{for every } n \geq 2 \text{ and every } C \leq
          C_0(d, k, \sigma), \ C_0 > 0""",
      assumes=(
          r"tokens and query uniform on $S^{d-1}$; every $d \geq 3$, $k < d$, $n \geq 2$ and $\sigma \geq 0$", TASKS, UNMIXED,
          "$C_0$ does not depend on $n$",
      ),
      forall=("n >= 2", "d >= 3", "k", "k < d", "sigma"), by_hand="docs/arguments.md#low-rank-on-the-sphere-without-mixing")
claim("lowrank.recovery/sphere/blocks/explicit/proved",
      bound(proved_best_block, "c^* / C", of="c", low="1", control={"low": "1.01"}, over=UP_TO, method="certified"),
      bound(proved_best_block, REST, of="rest", high="0", control={"low": "0.01"}, over=UP_TO, method="certified"),
      source=THEOREM_4, kind="derived", expected="supported",
      title="The same in explicit balls: for every number of tokens at once",
      forall=("n >= 2", "0 < C <= 3/20", "||B^T M B|| <= C", "B^T M B' = 0"),
      statement=r"""\mathbf{M}^* = C \mathbf{B} \mathbf{B}^\top \text{ alone}, \qquad \text{for every } n \geq 2, \ k < d \text{ and }
          C \leq 1/4 \ (d = 3, \sigma = 0), \ C \leq 1/5 \ (d = 3, \sigma \leq 1/2), \ C \leq 3/20 \ (d = 5, \sigma = 0)""",
      assumes=(r"tokens and query uniform on $S^{d-1}$; all $n \geq 2$, $k < d$; up to the $\sigma$ and $C$ of the cells", TASKS, UNMIXED),
      finding=r"""The proof of `lowrank.recovery/sphere/blocks/proved` with numbers: the coefficients of $F$, $\alpha$, $\beta$ and $N$ in
          powers of $\omega$ are polynomials in $1/n$, and the powers beyond 32 are bounded by Cauchy's inequality, for all $n$ alike. So
          slopes are enclosed up to some $\omega_1$, one by one for $n < 16$ and on intervals of $1/n$ for all others; beyond it the
          monotone parts decide.""")
claim("lowrank.boundary/sphere/mixed",
      bound(mixed_gain, r"\lim_{\varepsilon \to 0} \lim_{n \to \infty} k g^2 (\mathcal{L}(0) - \mathcal{L}(\mathbf{M})) / \varepsilon^2",
            high="0", control=({"low": "4"}, {"low": "0.3", "high": "4"}), over={"d": (2, 3, 4, 8), "scale": 40.0}, method="exact"),
      source=THEOREM_4, kind="stronger", expected="refuted",
      title="On the sphere M* = c BB^T for every C and n, if M may mix the two spaces: by hand in every dimension",
      statement=r"\mathbf{M}^* = c \mathbf{B} \mathbf{B}^\top \quad \text{for every } C > 0 \text{ and every } n \geq n_0",
      assumes=(r"tokens and query uniform on $S^{d-1}$", TASKS,
              r"all symmetric $\mathbf{M}$ with $\|\mathbf{B}^\top \mathbf{M} \mathbf{B}\|_2 \leq C$: no other entry is bounded",
              r"""$\mathbf{M} = \varepsilon (b b_\perp^\top + b_\perp b^\top) - g b_\perp b_\perp^\top$ with unit vectors $b$ in
              $\mathrm{col}(\mathbf{B})$ and $b_\perp$ in its complement, $g = 40 d$"""),
      finding=r"""$\mathbf{B}^\top \mathbf{M} \mathbf{B} = 0$. As $n \to \infty$, $k \mathcal{L}(\mathbf{M}) \to \mathbb{E} |z - h(\omega)
          \varepsilon v b|^2$, $z = \mathbf{B}^\top x$, $v = \langle b_\perp, x \rangle$, $z_1 = \langle b, x \rangle$, $\omega^2 =
          \varepsilon^2 v^2 + (\varepsilon z_1 - g v)^2$. $\omega$ is smaller where $z_1 v > 0$, and $h$ falls, so attention is stronger
          where the spurious output has the right sign. By hand this holds in every dimension
          (`docs/arguments.md#mixing-the-two-spaces`): $C = \Omega(1)$ is needed whatever $d$ is, and
          `lowrank.recovery/sphere/blocks/proved` cannot be extended to all $\mathbf{M}$.""",
      corrected=r"""$\mathbf{M}^* = c \mathbf{B} \mathbf{B}^\top$ fails for every $C \leq C_1(d, k)$ and every $n \geq n_0(d, k,
          \sigma)$, for some $C_1 > 0$ and $n_0$""")
claim("lowrank.recovery/two-tokens/blocks/proved",
      identity(averaged, r"\frac{1}{2} \sum_\pm \tanh^1(A \pm S) - T^1 - \dots", control={"kept": "101/100"}, over={"power": 1}),
      identity(averaged, r"\frac{1}{2} \sum_\pm \tanh^2(A \pm S) - T^2 - \dots", control={"kept": "101/100"}, over={"power": 2}),
      source=THEOREM_4, kind="derived", expected="supported",
      title="Theorem 4 with two tokens, among matrices that do not mix the two spaces: every sigma, d and k",
      statement=r"""\mathbf{M}^* = c \mathbf{B} \mathbf{B}^\top, \quad 0 < c \leq C, \qquad \text{for every } C \leq
            \mathrm{artanh}(1/\sqrt{3}) \approx 0.658""",
      assumes=(
          r"$n = 2$, any $\sigma$, $d$ and $k < d$; tokens uniform on $S^{d-1}$ or on the product of spheres",
          TASKS,
          r"""all $\mathbf{M} = \mathbf{B} \mathbf{M}_1 \mathbf{B}^\top + \mathbf{B}_\perp \mathbf{M}_2 \mathbf{B}_\perp^\top$ with
              $\|\mathbf{M}_1\|_2 \leq C$: not those that mix $\mathrm{col}(\mathbf{B})$ with its complement, which are searched on
              samples""",
      ),
      forall=("d", "k", "k < d", "sigma", "C > 0", "C <= 0.658"), by_hand="docs/arguments.md#low-rank-with-two-tokens")
