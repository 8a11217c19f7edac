r"""Lemma 1: the optimal matrix inverts the covariance of the data, M* = w Sigma^{-1}.

Whitening turns the problem into the isotropic one if f is isotropic after whitening. Then the lemma holds for ReLU and
linear functions by proof, and otherwise within the accuracy of sampling. If f is isotropic in the space of x the lemma
is false: M* lies between w I and w Sigma^{-1}, and where noise dominates nothing is inverted.
"""

from lipverify.checks.softmax.quantities import LEMMA_1, WHITENED
from lipverify.checks.softmax.whitening import isotropic_window, optimal_matrix, proved_gain, whitened
from lipverify.claims import agree, bound, claim, identity, per_profile

# fmt: off
HEADINGS = {"softmax.covariance-inversion": (1, 5, "Attention inverts the covariance (Lemma 1)")}
SPACE = r"$f(x) = h(\langle q, x \rangle)$ with $q$ uniform in the space of $x$"
MINIMISED = r"""$L = 1$, minimised over all $3 \times 3$ matrices; eigenvalues of $\Sigma$ in equal ratios from the condition
    number down to 1"""
ISOTROPIC, PLAIN = "ReLU tasks that are isotropic after whitening", "tasks that are isotropic in the space of x"
"""Two readings of "natural symmetry conditions"."""
INVERTS = r"x \sim \Sigma^{1/2} \mathcal{U}^d \quad \implies \quad \mathbf{M}^* = w\, \Sigma^{-1}"
RATIO = r"(\Sigma^{1/2} \mathbf{M}^* \Sigma^{1/2})_{11} / (\Sigma^{1/2} \mathbf{M}^* \Sigma^{1/2})_{33}"
MIXING = r"\max_{i \neq j} (\Sigma^{1/2} \mathbf{M}^* \Sigma^{1/2})_{ij} / w"
CASES = [("affine", 0.2), ("relu", 0.5)]
WHITE = {"condition": (10.0, 100.0), "n": 20, "contexts": per_profile(24_576, 98_304)}
TILTED = {"n": 20, "contexts": per_profile(4096, 32_768)}

claim("softmax.covariance-inversion/whitened/proved",
      identity(whitened, r"x_i^\top \mathbf{M} x - u_i^\top \mathbf{M}' u,\ f(x_i) - g(u_i)",
               control={"space": 1}),
      source=LEMMA_1, kind="derived", expected="supported",
      title="whitening turns the problem into the isotropic one, and w I into w Sigma^-1",
      statement=r"""\mathcal{L}_\Sigma(\Sigma^{-1/2} \mathbf{M}' \Sigma^{-1/2}) = \mathcal{L}_{\mathbf{I}}(\mathbf{M}')
      \quad \text{for every } \mathbf{M}', \Sigma, d""",
      assumes=(WHITENED, "any tokens, any law $g$ after whitening"), forall="d", by_hand="docs/arguments.md#whitening",
      finding="With $q$ in the space of $x$ the labels differ (the control).")
claim("softmax.covariance-inversion/{law}/{reading}",
      bound(optimal_matrix, RATIO, of="ratio", equals=1, within=0.1, control={"equals": "1.2"}, method="montecarlo"),
      bound(optimal_matrix, MIXING, of="mixing", equals=0, within=0.05, control={"equals": "0.1"}, method="montecarlo"),
      agree(isotropic_window, optimal_matrix, "w", of=("", "scale"), over=WHITE),
      source=LEMMA_1, kind={"relu/*": "convention", "*": "stronger"}, reading={"relu/*": ISOTROPIC, "*": ""}, expected="supported",
      over={("law", "sigma"): CASES, "reading": "whitened", **WHITE},
      title="the optimal matrix inverts the covariance up to a tenth, f isotropic after whitening", statement=INVERTS,
      assumes=(WHITENED, MINIMISED),
      finding=r"""With $u = \Sigma^{-1/2} x$ and $\mathbf{M}' = \Sigma^{1/2} \mathbf{M} \Sigma^{1/2}$ the problem is the
      isotropic one, for every $\Sigma$. For ReLU tasks its minimiser is a multiple of $\mathbf{I}$ for every $n$ and $d$
      (`relu/isotropic/proved`), and for linear ones a multiple of $\mathbf{I}$ is best (`affine/isotropic/proved`). The
      measurement agrees at $n = 20$, within a tenth in the ratio of two axes.""")
claim("softmax.covariance-inversion/{law}/{reading}",
      bound(optimal_matrix, RATIO, of="ratio", equals=1, within=0.15, method="montecarlo",
            control=(None, {"low": 1, "high": "condition", "strict": True})),
      bound(optimal_matrix, MIXING, of="mixing", equals=0, within=0.15, method="montecarlo"),
      source=LEMMA_1, kind="convention", reading=PLAIN, expected="refuted",
      over={("law", "sigma"): CASES, "reading": "space", "condition": per_profile((10.0,), (10.0, 100.0)), **TILTED},
      title="the optimal matrix inverts the covariance, q uniform in the space of x", statement=INVERTS,
      assumes=(SPACE, MINIMISED),
      finding=r"""In whitened coordinates $f$ is steeper along the long axes, and there the window is narrower:
      $\mathbf{M}^*$ lies between $w \mathbf{I}$ and $w \Sigma^{-1}$. As $n \to \infty$, $\Sigma^{1/2} \mathbf{M}^*
      \Sigma^{1/2} = w \mathbf{I} + \mathbf{D} + O(1/w)$ (the ratio of axes depends on the scale of $\Sigma$, which scales $f$)
      with a constant matrix $\mathbf{D}$ that is zero only for
      $\Sigma \propto \mathbf{I}$: the attention is centred at $u + \frac{1}{w} (P_u \mathbf{D} u - \frac{d-1}{2} u)$,
      and $\mathbf{D}$ minimises the mean of the squared displacement, measured with $\Sigma$. So $\mathbf{M}^* / w \to
      \Sigma^{-1}$ as the window narrows, and equality holds for no finite $n$; where noise dominates, $\mathbf{M}^* \to
      w \mathbf{I}$.""",
      corrected=r"""$\Sigma^{1/2} \mathbf{M}^* \Sigma^{1/2} = w \mathbf{I} + \mathbf{D} + O(1/w)$, with $\mathbf{D} = 0$
      only where $f$ is isotropic after whitening""")
claim("softmax.covariance-inversion/affine/space/proved",
      bound(proved_gain, r"\min_{w \geq 0} \mathcal{L}(w \mathbf{I}) - \mathcal{L}(\mathbf{M})", high=0,
            control=({"low": "0.07"}, {"low": "0.05", "high": "0.07"}),
            over={"condition": 10.0, "n": 9, "sigma": 1.0, "m_1": 2.6, "m_2": 0.87}, method="certified"),
      source=LEMMA_1, kind="convention", reading=PLAIN, expected="refuted",
      title="the optimal matrix inverts the covariance, q uniform in the space of x: disproved", statement=INVERTS,
      assumes=(SPACE, r"affine law, $L = 1$, $d = 2$, $w \geq 0$",
               r"$\mathbf{M} = \Sigma^{-1/2} \mathrm{diag}(m_1, m_2) \Sigma^{-1/2}$"),
      finding=r"""By ball arithmetic: the loss of every $w \Sigma^{-1}$ up to $w = 6$ is enclosed by one polynomial in
      $w$ with a bounded error. Beyond, the noise term alone is larger, since it increases with $w$. One diagonal matrix
      has a smaller loss than all of them.""",
      corrected=r"no $w \Sigma^{-1}$ is optimal at $d = 2$, $n = 9$, $\sigma = L = 1$ and condition number 10")
claim("softmax.covariance-inversion/{law}/{reading}/noise",
      bound(optimal_matrix, r"\mathbf{M}^*_{11} / \mathbf{M}^*_{33}", of="plain", equals=1, within=0.2,
            method="montecarlo"),
      bound(optimal_matrix, r"\frac{\mathrm{tr}\, \mathbf{M}^*}{d} \Bigl/ \frac{n L^2}{3 d \sigma^2}",
            of="size", equals=1, within=0.2, method="montecarlo"),
      source=LEMMA_1, kind="derived", expected="supported",
      over={"law": "affine", "reading": "space", "condition": (4.0, 10.0), "n": 20, "sigma": 100.0,
            "contexts": per_profile(16_384, 131_072)},
      title="where noise dominates nothing is inverted, q uniform in the space of x",
      statement=r"\mathbf{M}^* \sim \frac{n L^2}{3 d \sigma^2}\, \mathbf{I} \qquad (\sigma \to \infty)",
      assumes=(SPACE, MINIMISED, r"at $n = 20$, $\sigma = 100$"),
      finding=r"""For small scores the prediction is $\bar y + \frac{1}{n} \sum_i y_i (x_i - \bar x)^\top \mathbf{M} x$.
      The noise costs $\sigma^2 \mathrm{tr}(\mathbf{M} \Sigma \mathbf{M}^\top \Sigma) / (n d^2)$ and the correlation
      with $f$ gains $2 \frac{L^2}{3d} \mathrm{tr}(\Sigma \mathbf{M} \Sigma) / d^2$, both up to the factor $1 - 1/n$;
      the minimiser solves $\Sigma \mathbf{M} \Sigma \propto \Sigma^2$ and is a multiple of $\mathbf{I}$. With $f$
      isotropic after whitening it is a multiple of $\Sigma^{-1}$.""")
