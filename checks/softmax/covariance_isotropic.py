r"""Theorem 2's first half, and Lemma 1 for isotropic tokens: a multiple of the identity is the best matrix, at every n and d.

For linear functions and for ReLU functions the proof is by hand, query by query, from identities that are checked. With
`whitened/proved` the lemma then holds for every Sigma if f is isotropic after whitening.
"""

from lipverify.checks.softmax.isotropy import concave, longer_projection
from lipverify.checks.softmax.quantities import LEMMA_1, MODEL
from lipverify.checks.softmax.slopes import projections
from lipverify.checks.softmax.whitening import optimal_matrix
from lipverify.checks.softmax.window import MINIMIZER
from lipverify.claims import at, bound, claim, identity, per_profile

# fmt: off
PROJECTIONS = identity(projections, r"\frac{\mathrm{d}}{\mathrm{d} r} \sum_i a_i t_i - \mathrm{Var}_a(t)", control={"kept": "101/100"})
EVERY_QUERY = (
    identity(longer_projection, r"\sum_\pm (a_i - a_j) - R (P - Q) (P Q - 1) (\dots)", control={"kept": "101/100"}),
    identity(concave, r"F_\rho'' + \rho \sin\alpha\, (\arcsin(\rho \cos\alpha) + \dots)", control={"kept": "101/100"}),
    PROJECTIONS,
)
FORM = ("S", "Theorem 2, the form of the minimizer", MINIMIZER)
MINIMISED = at(optimal_matrix, law="relu", reading="whitened", condition=1.0, contexts=per_profile(24_576, 98_304))

claim("softmax.window-printed/relu/form",
      bound(MINIMISED, r"\mathbf{M}^*_{11} / \mathbf{M}^*_{33}", of="ratio", equals=1, within=0.1, control={"equals": "1.2"},
            method="montecarlo"),
      bound(MINIMISED, r"\max_{i \neq j} |\mathbf{M}^*_{ij}| / w", of="mixing", equals=0, within=0.05, control={"equals": "0.1"},
            method="montecarlo"),
      source=FORM, kind="printed", expected="supported", over={"n": 20, "sigma": 0.5},
      title="the minimizer is a multiple of the identity", statement=r"\mathbf{M}^* = w_{KQ} \mathbf{I}_d",
      assumes=(*MODEL[:1], r"ReLU law, $L = 1$, $\sigma = 0.5$, $n = 20$, minimised over all $3 \times 3$ matrices"),
      finding=r"""On sampled contexts, without the use of any symmetry. `softmax.window-printed/relu/form/proved` shows it for every
          $n$ and $d$: "sufficiently large" is not needed for this half of the theorem.""")
claim("softmax.window-printed/relu/form/proved",
      *EVERY_QUERY,
      proves="softmax.window-printed/relu/form", source=FORM, kind="derived", expected="supported",
      title="the minimizer is a multiple of the identity: every n and d",
      statement=r"\mathbf{M}^* \in \mathrm{argmin}\, \mathcal{L} \implies \mathbf{M}^* = w \mathbf{I}, \quad w \geq 0",
      assumes=(r"ReLU law, tokens and query uniform on $S^{d-1}$, any $n \geq 2$, $d \geq 2$, $L > 0$, $\sigma$",
               "the three identities are checked; the rest of the proof is by hand"),
      finding="The proof is that of `softmax.covariance-inversion/relu/isotropic/proved`.")
claim("softmax.covariance-inversion/affine/isotropic/proved",
      PROJECTIONS,
      source=LEMMA_1, kind="stronger", expected="supported",
      title="among all matrices a multiple of the identity is best, for linear functions and every n",
      statement=r"""\frac{\mathrm{d}}{\mathrm{d} r} \mathbb{E} \sum_i a_i t_i = \mathbb{E}\, \mathrm{Var}_a(t) \geq 0
      \implies \min_{\mathbf{M}} \mathcal{L}(\mathbf{M}) = \min_{w \geq 0} \mathcal{L}(w \mathbf{I}) \quad \text{for
      every } n""",
      assumes=(r"""affine law, tokens and query uniform on $S^{d-1}$, any $n$, $d \geq 2$, $L$, $\sigma$; with
      `whitened/proved` for every $\Sigma$""",
               r"""for a given query $x$ the loss depends on $v = \mathbf{M} x$ alone, and tokens have the same law in
      every rotated basis"""),
      finding=r"""The identity is checked; the rest follows by hand, for each query. With $v = r e$, $|e| = 1$, rotate
      the tokens so that $e$ is fixed: then the noise term and $\mathbb{E} |\sum_i a_i x_i|^2$ depend on $r$ alone, and
      $\mathbb{E} \sum_i a_i x_i = m(r) e$ with $m(r) = \mathbb{E} \sum_i a_i t_i$, $t_i = \langle x_i, e \rangle$. The
      loss at $x$ is $\frac{L^2}{3d} (A(r) - 2 m(r) \langle e, x \rangle + 1) + \sigma^2 \nu(r)$. As $m(0) = 0$ and $m'
      = \mathbb{E}\, \mathrm{Var}_a(t) \geq 0$ (the identity), it is smallest at $e = x$, and the loss there depends on
      $r$ alone: one $r = w \geq 0$ is best for every $x$, and $\mathbf{M} = w \mathbf{I}$ attains it. For a law with
      harmonics of higher degree the same argument needs $\mathbb{E} \sum_i a_i P_\ell(t_i) \geq 0$, which can fail
      (`*/sign`); the ReLU law has a different proof (`relu/isotropic/proved`).""")
claim("softmax.covariance-inversion/relu/isotropic/proved",
      *EVERY_QUERY,
      proves="softmax.covariance-inversion/relu/whitened", source=LEMMA_1, kind="derived", expected="supported",
      title="every minimiser is a multiple of the identity, for ReLU functions, every n and d",
      statement=r"""\mathbf{M}^* \in \mathrm{argmin}\, \mathcal{L} \implies \mathbf{M}^* = w \mathbf{I}, \quad w \geq 0,
      \qquad \text{for every } n \geq 2, d""",
      assumes=(r"""ReLU law, tokens and query uniform on $S^{d-1}$, any $n \geq 2$, $d \geq 2$, $L > 0$, $\sigma$; with
      `whitened/proved` for every $\Sigma$""", "the three identities are checked; the rest of the proof is by hand"),
      finding=r"""For each query, with $\mathbf{M} x = r e$, $|e| = 1$ and $t_i = \langle x_i, e \rangle$, as for linear
      functions: $x$ enters the loss only through $\mathbb{E} \sum_i a_i K(\langle x_i, x \rangle)$, and the claim is
      that this is largest at $x = e$. $K(t)$ is the sum of $k_1 t$, for which the third identity gives the claim
      (strictly for $r > 0$), and an even part $\kappa$ with $\kappa'(t) \propto \arcsin t$. Of two tokens the one with
      the larger $|t_i|$ has the larger weight on average over the signs of $t_i$ and $t_j$ (first identity: $P = e^{r
      |t_i|} \geq Q = e^{r |t_j|} \geq 1$, $R$ is the sum over the other tokens). So $\mathbb{E} \sum_i a_i H(|t_i|)
      \geq \mathbb{E} H(|t|)$ for every increasing $H$, by Chebyshev's sum inequality. Take $H(t)$ as the mean of
      $\kappa(t) - \kappa(\langle y, x \rangle)$ over the $y$ on the sphere with $\langle y, e \rangle = t$: the mean of
      $H$ is 0, and $H$ increases, as follows. Let $t = \cos\theta$, and let the projection of $x$ to the plane of $e$
      and $y$ have length $\rho \leq 1$ and angle $\beta$ to $e$. Then $-d\kappa(\rho \cos\theta)/d\theta \propto
      F_\rho(\theta) = \rho \sin\theta \arcsin(\rho \cos\theta)$, which is odd about $0$ and about $\pi/2$ and concave
      between them (second identity). So $\frac{1}{2} (F_\rho(\theta - \beta) + F_\rho(\theta + \beta)) \leq
      F_\rho(\theta) \leq F_1(\theta)$. Hence $e = x$ is best for every $r$, and a matrix with $\mathbf{M} x \parallel
      x$ for every $x$ is a multiple of $\mathbf{I}$.""")
