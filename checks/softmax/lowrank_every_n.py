r"""Theorem 4 on the sphere for every number of tokens, if M does not mix the two spaces; if it does, tiny balls are false.

For d >= 3 all parts of the loss are monotone in omega = |M x|, for every n: the variance across M x rises too. On the circle not.
"""

from lipverify.checks.softmax.low_rank import rising
from lipverify.checks.softmax.low_rank_radius import mixed_gain, proved_best_block
from lipverify.checks.softmax.lowrank import TASKS, THEOREM_4
from lipverify.claims import bound, claim, identity

# fmt: off
BEYOND = ("S", "Theorem 4 (Informal), beyond its assumptions", THEOREM_4[2])
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
          "$C_0$ does not depend on $n$; the identities are checked; the rest of the proof is by hand",
      ),
      finding=r"""In the notation of `lowrank.recovery/sphere/every-matrix/proved` all of $\alpha$, $\beta$ and $N$ rise with $\omega$, and
          $h$ falls, for every $n$ (section 15 of the page of lemmas has this in full). $\beta$: it is $n (n - 1) \int
          u^{n-2} W \mathrm{d} u$ over $u = \mathbb{E} e^{-Y}$, $Y = \lambda e^{\omega t}$, and at fixed $u$ the slope of $W$ is a positive
          multiple of the covariance of $(1 - t^2) Y$ and $t$ under $Y e^{-Y}$ times the law of $t$. It is positive if it is without the
          falling factor $e^{-Y}$, and then if $D = A_{d+2}(2 \omega) > A = A_d(\omega)$, $A_d = I_{d/2} / I_{d/2-1}$: near 0 as $2 / (d +
          2) > 1 / d$, and where first $D = A$ by the first identity. $\alpha$: $\alpha'$ is a sum over pairs, which is $\geq 0$, and over
          triples of tokens, which is $\geq 0$ for all $n$ if it is for $n = 3$; there by the others. The rest: with $\rho =
          |\mathbf{B}^\top \mathbf{M} x| \leq C s$, $s = |\mathbf{B}^\top x|$, $\omega \geq \rho$, $k$ times the loss is at least $s^2 +
          \ell(\rho, \omega)$, $\ell = - 2 s \rho h + \gamma \rho^2 + k \beta + k \sigma^2 N$, and the claim is $\ell(\rho, \omega) \geq
          \ell(C s, C s)$. $F$, $\alpha$, $n \beta$ and $n N$ are analytic and bounded near $0$, uniformly in $n$: all constants are
          independent of $n$. $\ell$ falls in $\rho$, as $C \gamma < h$. If $\omega \leq C s$, it is at least $\ell(\omega, \omega)$, which
          falls: its slope is $- 2 s F' + O(\omega)$. Otherwise it is at least $\ell(C s, \omega)$. That rises up to some $\omega_1$, as $C
          |\gamma'| < 2 |h'|$, both of order $\omega$ ($h_2 < 0$). Beyond, it exceeds $\ell(C s, C s)$ by $2 C s^2 (h(C) - h(\omega_1)) -
          C^2 s^2 \gamma(C s) > 0$ at least.""")
claim("lowrank.recovery/sphere/blocks/explicit/proved",
      bound(proved_best_block, "c^* / C", of="c", low="1", control={"low": "1.01"}, over=UP_TO, method="certified"),
      bound(proved_best_block, REST, of="rest", high="0", control={"low": "0.01"}, over=UP_TO, method="certified"),
      source=THEOREM_4, kind="derived", expected="supported",
      title="The same in explicit balls: for every number of tokens at once",
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
      source=BEYOND, kind="stronger", expected="refuted",
      title="On the sphere M* = c BB^T for every C and n, if M may mix the two spaces: disproved in every dimension",
      statement=r"\mathbf{M}^* = c \mathbf{B} \mathbf{B}^\top \quad \text{for every } C > 0 \text{ and every } n \geq n_0",
      assumes=(r"tokens and query uniform on $S^{d-1}$", TASKS,
              r"all symmetric $\mathbf{M}$ with $\|\mathbf{B}^\top \mathbf{M} \mathbf{B}\|_2 \leq C$: no other entry is bounded",
              r"""$\mathbf{M} = \varepsilon (b b_\perp^\top + b_\perp b^\top) - g b_\perp b_\perp^\top$ with unit vectors $b$ in
              $\mathrm{col}(\mathbf{B})$ and $b_\perp$ in its complement, $g = 40 d$"""),
      finding=r"""$\mathbf{B}^\top \mathbf{M} \mathbf{B} = 0$. As $n \to \infty$, $k \mathcal{L}(\mathbf{M}) \to \mathbb{E} |z - h(\omega)
          \varepsilon v b|^2$, $z = \mathbf{B}^\top x$, $v = \langle b_\perp, x \rangle$, $z_1 = \langle b, x \rangle$, $\omega^2 =
          \varepsilon^2 v^2 + (\varepsilon z_1 - g v)^2$. $\omega$ is smaller where $z_1 v > 0$, and $h$ falls, so attention is stronger
          where the spurious output has the right sign. In every dimension the quantity is $2 g^2 \mathbb{E} z_1^2 |v| |h'(g v)| - g^2
          \mathbb{E} v^2 h(g v)^2$; the second part is at most 1, and the first grows like $\log g$, as $|h'(w)| \sim w^{-2}$ and $v$ has a
          positive density at 0. So for some $g$ and $\varepsilon$, and $n$ large, the loss is below that at $\mathbf{M} = 0$ by a fixed
          amount; $c \mathbf{B} \mathbf{B}^\top$ with $|c| \leq C$ reduces it by $O(C)$. Here $C = \Omega(1)$ is needed whatever $d$ is, and
          `lowrank.recovery/sphere/blocks/proved` cannot be extended to all $\mathbf{M}$.""",
      corrected=r"""$\mathbf{M}^* = c \mathbf{B} \mathbf{B}^\top$ fails for every $C \leq C_1(d, k)$ and every $n \geq n_0(d, k,
          \sigma)$, for some $C_1 > 0$ and $n_0$""")
