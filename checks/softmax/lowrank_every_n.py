r"""Theorem 4 on the sphere for every number of tokens, if M does not mix the two spaces; if it does, tiny balls are false.

In three and more dimensions all parts of the loss are monotone in omega = |M x|, for every n: the variance of the output across
M x rises too. On the circle it does not.
"""

from lipverify.checks.softmax.low_rank import rising
from lipverify.checks.softmax.low_rank_radius import mixed_gain, proved_blocks
from lipverify.checks.softmax.lowrank import TASKS, THEOREM_4
from lipverify.claims import bound, claim, identity

# fmt: off
BEYOND = ("S", "Theorem 4 (Informal), beyond its assumptions", THEOREM_4[2])
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
          r"tokens and query uniform on $S^{d-1}$; every $d \geq 3$, $k < d$, $n \geq 2$ and $\sigma \geq 0$", TASKS,
          r"""all $\mathbf{M}$, symmetric or not, with $\mathbf{B}^\top \mathbf{M} \mathbf{B}_\perp = 0$ and $\|\mathbf{B}^\top \mathbf{M}
              \mathbf{B}\|_2 \leq C$: the rest of $\mathbf{M}$ is not bounded""",
          "$C_0$ does not depend on $n$; the identities are checked; the rest of the proof is by hand",
      ),
      finding=r"""In the notation of `lowrank.recovery/sphere/every-matrix/proved`: **$\beta$ rises.** Let $Y = \lambda
          e^{\omega t}$, $y = (1 - t^2) / (d - 1)$, $u = \mathbb{E} e^{-Y}$ and $W = \mathbb{E} y (1 - (1 + Y) e^{-Y})$. As $S^{-2} =
          \int \lambda e^{-\lambda S} \mathrm{d} \lambda$, $\beta = n \int u^{n-1} \mathrm{d} W = n (n - 1) \int_0^1 u^{n-2} W
          \mathrm{d} u$. At fixed $u$ the slope of $W$ in $\omega$ is $\mathbb{E} Y e^{-Y}$ times the covariance of $y Y$ and $t$ under
          $\mu \propto Y e^{-Y}$ times the law of $t$. It is positive: $H = (1 - t^2) e^{\omega t}$ first rises and then falls, and
          $\mathrm{Cov}(H, t) = \int H' K$, $K(t) = \int_t^1 (\tau - \mathbb{E} t) \mathrm{d} \mu(\tau)$. If a law is multiplied by a
          falling function, here $e^{-Y}$, $K$ is multiplied by a falling one (by the quotient of the slopes: both $K$ vanish at $\pm
          1$), so that $\mathrm{Cov}(H, t)$ stays positive. Without $e^{-Y}$ it is positive if $D = A_{d+2}(2 \omega) > A =
          A_d(\omega)$, $A_d = I_{d/2} / I_{d/2-1}$. This holds near 0, as $2 / (d + 2) > 1 / d$, and where first $D = A$, $D' > A'$ by
          the first identity: $d \geq 3$ is needed. **$\alpha$ rises.** $\alpha' = 2 \mathbb{E} \sum_{i<j} a_i a_j (t_i - t_j)^2 \sum_l
          a_l t_l$. Terms with $l = i$ or $j$ are $\geq 0$, as $a_i$ and $a_j$ rise in $t_i + t_j$. The others are $\int u^{n-3}
          \mathbb{E}_\mu t\, \mathrm{Var}_\mu t\, (\mathbb{E} Y e^{-Y})^3 \mathrm{d} \lambda / \lambda$ up to a factor. $\mathbb{E}_\mu
          t$ falls in $\lambda$, and so does $u$: it is enough that this is $\geq 0$ at $n = 3$. There $a_1 a_2 a_3 = P^{-3}$, $P = \sum
          e^{\omega \delta_i}$, $t_i = m + \delta_i$, $\sum \delta_i = 0$; reverse the signs of all $t_i$. If $\delta_1 \delta_2
          \delta_3 > 0$, $P$ is larger at $\delta$ than at $-\delta$, and the mean of $m$ given $\delta$ is $\leq 0$, by the identities
          and $\sum t_i^2 \leq 3$. **The rest.** $N$ rises, $\mathbb{E} \sum a_i y_i$ falls, so $h$, the latter less $\beta$, falls.
          With $\rho = |\mathbf{B}^\top \mathbf{M} x| \leq C s$, $s = |\mathbf{B}^\top x|$, $\omega \geq \rho$, $k$ times the loss is at
          least $s^2 + \ell(\rho, \omega)$, $\ell = - 2 s \rho h + \gamma \rho^2 + k \beta + k \sigma^2 N$, and the claim is $\ell(\rho,
          \omega) \geq \ell(C s, C s)$. $F$, $\alpha$, $n \beta$ and $n N$ are analytic and bounded near $0$, uniformly in $n$: all
          constants are independent of $n$. $\ell$ falls in $\rho$, as $C \gamma < h$. If $\omega \leq C s$, it is at least
          $\ell(\omega, \omega)$, which falls: its slope is $- 2 s F' + O(\omega)$. Otherwise it is at least $\ell(C s, \omega)$. That
          rises up to some $\omega_1$, as $C |\gamma'| < 2 |h'|$, both of order $\omega$ ($h_2 < 0$), and $\beta, N$ rise. Beyond, as
          $\alpha, \beta, N$ rise, it exceeds $\ell(C s, C s)$ by $2 C s^2 (h(C) - h(\omega_1)) - C^2 s^2 \gamma(C s) > 0$ at least.""")
claim("lowrank.recovery/sphere/blocks/explicit/proved",
      bound(proved_blocks, "c^* / C", of="c", low="1", control={"low": "1.01"}, over=UP_TO, method="certified"),
      bound(proved_blocks, REST, of="rest", high="0", control={"low": "0.01"}, over=UP_TO, method="certified"),
      source=THEOREM_4, kind="derived", expected="supported",
      title="The same in explicit balls: for every number of tokens at once",
      statement=r"""\mathbf{M}^* = C \mathbf{B} \mathbf{B}^\top \text{ alone}, \qquad \text{for every } n \geq 2, \ k < d \text{ and }
          C \leq 1/4 \ (d = 3, \sigma = 0), \ C \leq 1/5 \ (d = 3, \sigma \leq 1/2), \ C \leq 3/20 \ (d = 5, \sigma = 0)""",
      assumes=(
          r"tokens and query uniform on $S^{d-1}$; every $n \geq 2$ and every $k < d$; up to the $\sigma$ and $C$ of the cells", TASKS,
          r"""all $\mathbf{M}$, symmetric or not, with $\mathbf{B}^\top \mathbf{M} \mathbf{B}_\perp = 0$ and $\|\mathbf{B}^\top \mathbf{M}
              \mathbf{B}\|_2 \leq C$: the rest of $\mathbf{M}$ is not bounded""",
      ),
      finding=r"""The proof of `lowrank.recovery/sphere/blocks/proved` with numbers. The coefficients of $F$, $\alpha$, $\beta$ and $N$
          in powers of $\omega$ are polynomials in $1/n$ with rational coefficients; 32 powers are used, and the rest is bounded by
          Cauchy's inequality in a strip, for all $n$ alike. Up to $\omega_1 = 0.9$ the slopes are enclosed, one by one for $n < 16$
          and for all larger $n$ on four intervals of $1/n$; beyond, the monotone parts decide.""")
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
      finding=r"""$\mathbf{B}^\top \mathbf{M} \mathbf{B} = 0$. As $n \to \infty$, $k \mathcal{L}(\mathbf{M}) \to \mathbb{E}
          |z - h(\omega) \varepsilon v b|^2$, $z = \mathbf{B}^\top x$, $v = \langle b_\perp, x \rangle$, $z_1 = \langle b, x \rangle$,
          $\omega^2 = \varepsilon^2 v^2 + (\varepsilon z_1 - g v)^2$. $\omega$ is smaller where $z_1 v > 0$, and $h$ falls, so attention
          is stronger where the spurious output has the right sign. In every dimension the quantity is $2 g^2 \mathbb{E} z_1^2 |v| |h'(g
          v)| - g^2 \mathbb{E} v^2 h(g v)^2$; the second part is at most 1, and the first grows like $\log g$, as $|h'(w)| \sim w^{-2}$
          and $v$ has a positive density at 0. So for some $g$ and $\varepsilon$, and $n$ large, the loss is below that at $\mathbf{M} =
          0$ by a fixed amount; $c \mathbf{B} \mathbf{B}^\top$ with $|c| \leq C$ reduces it by $O(C)$. Here $C = \Omega(1)$ is needed
          whatever $d$ is, and `lowrank.recovery/sphere/blocks/proved` cannot be extended to all $\mathbf{M}$.""",
      corrected=r"""$\mathbf{M}^* = c \mathbf{B} \mathbf{B}^\top$ fails for every $C \leq C_1(d, k)$ and every $n \geq n_0(d, k,
          \sigma)$, for some $C_1 > 0$ and $n_0$""")
