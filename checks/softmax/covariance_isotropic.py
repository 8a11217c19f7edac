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
HEADINGS = {"softmax.window-form": (3, 1.5, "The form of the minimizer")}
PROJECTIONS = identity(projections, r"\frac{\mathrm{d}}{\mathrm{d} r} \sum_i a_i t_i - \mathrm{Var}_a(t)", control={"kept": "101/100"})
EVERY_QUERY = (
    identity(longer_projection, r"\sum_\pm (a_i - a_j) - R (P - Q) (P Q - 1) (\dots)", control={"kept": "101/100"}),
    identity(concave, r"F_\rho'' + \rho \sin\alpha\, (\arcsin(\rho \cos\alpha) + \dots)", control={"kept": "101/100"}),
    PROJECTIONS,
)
RELU, EVERY_MATRIX = ("n >= 2", "d", "L > 0", "sigma"), "docs/arguments.md#isotropic-minimizers-for-relu-functions"
FORM = ("S", "Theorem 2, the form of the minimizer", MINIMIZER)
MINIMISED = at(optimal_matrix, law="relu", reading="whitened", condition=1.0, contexts=per_profile(24_576, 98_304))

claim("softmax.window-form/relu",
      bound(MINIMISED, r"\mathbf{M}^*_{11} / \mathbf{M}^*_{33}", of="ratio", equals=1, within=0.1, control={"equals": "1.2"},
            method="montecarlo"),
      bound(MINIMISED, r"\max_{i \neq j} |\mathbf{M}^*_{ij}| / w", of="mixing", equals=0, within=0.05, control={"equals": "0.1"},
            method="montecarlo"),
      source=FORM, kind="printed", expected="supported", over={"n": 20, "sigma": 0.5},
      title="the minimizer is a multiple of the identity", statement=r"\mathbf{M}^* = w_{KQ} \mathbf{I}_d",
      assumes=(*MODEL[:1], r"ReLU law, $L = 1$, $\sigma = 0.5$, $n = 20$, minimised over all $3 \times 3$ matrices"),
      finding=r"""On sampled contexts, without the use of any symmetry. `softmax.window-form/relu/proved` shows it for every
          $n$ and $d$: "sufficiently large" is not needed for this half of the theorem.""")
claim("softmax.window-form/relu/proved",
      *EVERY_QUERY,
      proves="softmax.window-form/relu", source=FORM, kind="derived", expected="supported",
      title="the minimizer is a multiple of the identity: every n and d",
      statement=r"\mathbf{M}^* \in \mathrm{argmin}\, \mathcal{L} \implies \mathbf{M}^* = w \mathbf{I}, \quad w \geq 0",
      assumes=r"ReLU law, tokens and query uniform on $S^{d-1}$, any $n \geq 2$, $d \geq 2$, $L > 0$, $\sigma$",
      forall=RELU, by_hand=EVERY_MATRIX)
claim("softmax.covariance-inversion/affine/isotropic/proved",
      PROJECTIONS,
      source=LEMMA_1, kind="stronger", expected="supported",
      title="among all matrices a multiple of the identity is best, for linear functions and every n",
      statement=r"""\frac{\mathrm{d}}{\mathrm{d} r} \mathbb{E} \sum_i a_i t_i = \mathbb{E}\, \mathrm{Var}_a(t) \geq 0
      \implies \inf_{\mathbf{M}} \mathcal{L}(\mathbf{M}) = \inf_{w \geq 0} \mathcal{L}(w \mathbf{I}) \quad \text{for
      every } n""",
      assumes=r"""affine law, tokens and query uniform on $S^{d-1}$, any $n$, $d \geq 2$, $L$, $\sigma$; with
      `whitened/proved` for every $\Sigma$""",
      forall=("n", "d", "L", "sigma"), by_hand="docs/arguments.md#isotropic-minimizer-for-linear-functions",
      finding=r"""For a law with harmonics of higher degree the same argument needs $\mathbb{E} \sum_i a_i P_\ell(t_i) \geq
      0$, which can fail (`*/sign`); the ReLU law has a different proof (`relu/isotropic/proved`).""")
claim("softmax.covariance-inversion/relu/isotropic/proved",
      *EVERY_QUERY,
      proves="softmax.covariance-inversion/relu/whitened", source=LEMMA_1, kind="derived", expected="supported",
      title="every minimiser is a multiple of the identity, for ReLU functions, every n and d",
      statement=r"""\mathbf{M}^* \in \mathrm{argmin}\, \mathcal{L} \implies \mathbf{M}^* = w \mathbf{I}, \quad w \geq 0,
      \qquad \text{for every } n \geq 2, d""",
      assumes=r"""ReLU law, tokens and query uniform on $S^{d-1}$, any $n \geq 2$, $d \geq 2$, $L > 0$, $\sigma$; with
      `whitened/proved` for every $\Sigma$""",
      forall=RELU, by_hand=EVERY_MATRIX)
