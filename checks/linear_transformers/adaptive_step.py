r"""Section 5.3: a layer with only omega_xy and then one with only omega_yx make a step whose length depends on the noise.

The step is exact with the sum of the squared labels. The text has the squares of r_i, which is false for residuals and
for the noise. With both weights negative the mean step decreases as the noise grows, through 0 at one noise level;
beyond that it points uphill and grows.
"""

from lipverify.checks.linear_transformers.descent_steps import length, length_by_tokens, length_in_words, mean_length
from lipverify.claims import at, bound, claim, identity, per_profile

# fmt: off
HEADINGS = {"lt.adaptive-step": (9, 5, "A step that shrinks with the noise")}
STEP = ("V", "Section 5.3, the adaptive step", r"""paraphrased:
    $y_t'' = y_t + \omega_{yx} (1 + \omega_{xy} \sum_i r_i^2) (\Sigma w^*)^\top x_t$""")
SHRINKS = ("V", "Section 5.3, the step shrinks",
           "paraphrased: with both weights negative the step size shrinks as the noise grows")
OF_RESIDUALS = r"y_t'' = y_t + \omega_{yx} \Bigl(1 + \omega_{xy} \sum_i r_i^2\Bigr) (\Sigma w^*)^\top x_t"
OF_LABELS = r"y_t'' = y_t + \omega_{yx} \Bigl(1 + \omega_{xy} \sum_i y_i^2\Bigr) (\Sigma w^*)^\top x_t"
TWO_LAYERS = (
    r"""a layer with only $\omega_{xy}$, then a layer with only $\omega_{yx}$, on tokens $(x_i, y_i)$ and the query $(x_t, 0)$; at the sizes
    of the cells""",
    r"$\Sigma = \sum_i x_i x_i^\top$, $w^*$ a least-squares solution, $\Sigma w^* = \sum_i y_i x_i$",
)
EXACT = identity(length_in_words, r"\text{words left of } y_t''", control=({"squares": "residuals"}, {"squares": "labels"}))
PROOF = r"""After the first layer $x_i' = x_i + \omega_{xy} y_i \alpha$ with $\alpha = \sum_i y_i x_i = \Sigma w^*$, and
    the labels are unchanged, so the second layer has $\alpha' = \sum_i y_i x_i' = (1 + \omega_{xy} \sum_i y_i^2)
    \alpha$. The query is unchanged, because $y_t = 0$."""
CORRECTED = r"""$y_t'' = y_t + \omega_{yx} \bigl(1 + \omega_{xy} \sum_i y_i^2\bigr) (\Sigma w^*)^\top x_t$, where
    $\sum_i y_i^2 = w^{*\top} \Sigma w^* + \sum_i r_i^2$"""
MEAN = r"\mathbb{E} \Bigl[1 + \omega_{xy} \sum_i y_i^2\Bigr]"
CONTEXTS = {"contexts": per_profile(10_000, 100_000)}
PAPERS = r"""$x_i \sim \mathcal{N}(0, I)$, $\|w^*\|^2 = d = 10$, $n = 20$, Gaussian noise of variance $\sigma^2$; $\omega_{xy} = -1/800$"""

claim("lt.adaptive-step/printed", EXACT, over={"squares": "residuals"}, source=STEP, kind="printed", expected="refuted",
      title="The adaptive step with the sum of squares of the residuals", statement=OF_RESIDUALS, corrected=CORRECTED,
      assumes=(*TWO_LAYERS, r"$r_i = y_i - \langle w^*, x_i \rangle$ are the residuals of least squares"),
      finding=rf"""{PROOF} With $r_i$ in place of $y_i$ the right-hand side is off by $\omega_{{yx}} \omega_{{xy}}
          (w^{{*\top}} \Sigma w^*) (\Sigma w^*)^\top x_t$, and is exact only where least squares finds no signal. In the
          terms of Lemma 4.4: after the first layer $u = \omega_{{xy}} \Sigma w^*$, and the step is $\Pi \Sigma w^* +
          \Phi u$. Here $\Phi u$ gives $\omega_{{xy}} \sum_i r_i^2$, and the part $u w^{{*\top}}$ of $\Pi$, which the
          text omits, gives $\omega_{{xy}} w^{{*\top}} \Sigma w^*$. Smallest case: $x = y = 1$, $\omega_{{xy}} =
          \omega_{{yx}} = -\frac{{1}}{{2}}$, where $r = 0$: token by token $y_t'' = -\frac{{1}}{{4}} x_t$, as printed
          $-\frac{{1}}{{2}} x_t$. The conclusion that the step decreases as the noise grows does hold (`shrinks`); its
          size shrinks only until it is 0.""")
claim("lt.adaptive-step/printed/noise", EXACT, over={"squares": "noise"}, source=STEP, kind="convention", expected="refuted",
      title="The adaptive step with the sum of squares of the noise", statement=OF_RESIDUALS, corrected=CORRECTED,
      assumes=(*TWO_LAYERS, "$r_i$ is the noise of the label, $y_i$ minus the task's own linear function"),
      finding=rf"""{PROOF} With the noise in place of the labels the bracket is off by $\omega_{{xy}}$ times $\sum_i
          y_i^2 - \sum_i r_i^2$, which is about $n \|w^*\|^2$ for $x_i \sim N(0, I)$.""")
claim("lt.adaptive-step/derived", EXACT, over={"squares": "labels"}, source=STEP, kind="derived", expected="supported",
      title="The adaptive step with the sum of squared labels", statement=OF_LABELS,
      assumes=(*TWO_LAYERS, "the labels before the first of the two layers"),
      finding=rf"""{PROOF} Before a first descent step the labels are the residuals of the current model, $w = 0$: the
          sum measures signal and noise together. For a query with $y_t \neq 0$ there is a further term $\omega_{{yx}}
          \omega_{{xy}} y_t (1 + \omega_{{xy}} \sum_i y_i^2) \|\alpha\|^2$.""")
claim("lt.adaptive-step/derived/drawn",
      identity(length_by_tokens, r"\text{exact sum} / \text{stated sum} - 1", method=("identity", "bounded"),
               over={("d", "n", "sigma"): ((1, 4, 1.0), (2, 6, 0.5), (3, 10, 1.0), (5, 20, 2.0))}, control={"squares": "residuals"}),
      over={"squares": "labels"}, source=STEP, kind="derived", expected="supported",
      title="The adaptive step with the sum of squared labels, token by token", statement=OF_LABELS, assumes=(*TWO_LAYERS, "drawn tokens"))
claim("lt.adaptive-step/shrinks",
      bound(at(length, **CONTEXTS), r"\frac{1}{n} \frac{d}{d \sigma^2} \mathbb{E} \sum_i y_i^2", of="slope", equals=1,
            within="0.02*sqrt(1 + 5/sigma**2)", method="montecarlo", over={"sigma": tuple(range(1, 11))}),
      source=SHRINKS, kind="convention", reading="the step with its sign", expected="supported",
      title="With both weights negative, the signed step falls as the noise grows",
      statement=rf"\omega_{{xy}} < 0 \implies \frac{{d}}{{d \sigma^2}}\, {MEAN} = \omega_{{xy}} n < 0", assumes=(*TWO_LAYERS, PAPERS),
      finding=r"""Given $w^*$, the labels are independent $N(0, \|w^*\|^2 + \sigma^2)$, so $\sum_i y_i^2$ is $(\|w^*\|^2
          + \sigma^2) \chi^2_n$: it grows with $\sigma$ in distribution, and $\mathbb{E} \sum_i y_i^2 = n (\|w^*\|^2 +
          \sigma^2)$. This order need not hold for single contexts: a little noise opposite to the signal lowers $\sum_i
          y_i^2$. The signed step decreases: its size shrinks up to the $\sigma$ where it is 0, here $\sqrt{30}$, and
          grows beyond (`every-noise`).""")
claim("lt.adaptive-step/shrinks/proved",
      identity(mean_length, rf"{MEAN} - 1 - \omega_{{xy}} n (\|w^*\|^2 + \sigma^2)", control={"noise": "101/100"}),
      proves="lt.adaptive-step/shrinks", source=SHRINKS, kind="derived", expected="supported",
      title="With both weights negative, the signed step falls as the noise grows: every d, n, w and sigma",
      statement=rf"{MEAN} = 1 + \omega_{{xy}} n (\|w^*\|^2 + \sigma^2)",
      assumes=(*TWO_LAYERS, r"tokens of covariance $\mathbf{I}$, noise of variance $\sigma^2$, independent of them; any law"),
      finding=r"""Its derivative in $\sigma^2$ is $\omega_{xy} n$, which is negative with $\omega_{xy}$. The sum of
          squared labels is the exact one (`derived`).""")
claim("lt.adaptive-step/shrinks/every-noise",
      bound(at(length, **CONTEXTS), MEAN, of="step", low=0, strict=True, method="montecarlo", over={"sigma": tuple(range(11))},
            control=("max(0, 1 - (10 + sigma**2)/40) + 0.007 + 0.0007*sigma**2", "1 - (10 + sigma**2)/40 - 0.007 - 0.0007*sigma**2")),
      source=SHRINKS, kind="convention", reading="its size, at every noise level", expected="refuted",
      title="The step stays a descent, and its length shrinks, at every noise level",
      statement=rf"\omega_{{xy}}, \omega_{{yx}} < 0 \implies {MEAN} > 0 \quad \text{{for every }} \sigma",
      assumes=(*TWO_LAYERS, PAPERS, "read without a range of noise levels"),
      finding=r"""The expected step is $1 - |\omega_{xy}| n (\|w^*\|^2 + \sigma^2)$ times that of plain descent. Here it
          reaches 0 at $\sigma = \sqrt{30}$; beyond, it points uphill and grows with the noise. Two layers can
          distinguish little noise from much within a range of levels that fits their weight, not over all levels.""",
      corrected=r"""for $\sigma^2 < 1 / (n |\omega_{xy}|) - \|w^*\|^2$ the expected step is a descent that shrinks with $\sigma$; beyond, it
          changes its sign""")
