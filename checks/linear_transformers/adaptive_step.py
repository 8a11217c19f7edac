r"""Section 5.3: a layer with only omega_xy and then one with only omega_yx make a step whose length depends on the noise.

The section assumes that the first layer moves x_i by omega_xy r_i Sigma w* alone; under that assumption its display is exact, for
any tokens. The two layers themselves have the squared labels where it has the squared residuals, a sum several times as large. With
both weights negative the mean step decreases as the noise grows, through 0 at one noise level; beyond that it points uphill and grows.
"""

from lipverify.checks.linear_transformers.descent_steps import assumed_share, length, mean_length
from lipverify.checks.linear_transformers.layers_in_words import adaptive, residuals
from lipverify.claims import at, bound, claim, identity, per_profile

# fmt: off
HEADINGS = {"lt.adaptive-step": (9, 5, "A step that shrinks with the noise")}
STEP = ("V", "Section 5.3, the second layer", r"""For simplicity we assume the multiplicative term is small, that is: $x_i^1 \approx x_i +
    \omega_{xy} r_i \Sigma w^*$; $x_t^1 \approx x_t$. The first layer does not change $y$, so $y_t^1 = y_t$ and $y_i^1 = y_i$. For this
    set of $x_i$, we can write down the output on $y$ in the second layer as [...]""")
RESIDUALS = ("V", "Section 5.3, the residuals", r"""Here we used the properties of residual $r_i$ (in particular $\sum_i y_i x_i =
    \Sigma w^*$, and $\sum_i y_i r_i = \sum_i r_i^2$).""")
SHRINKS = ("V", "Section 5.3, the step size", r"""The factor $(1 + \omega_{xy} \sum_i r_i^2)$ depends on the level of noise, and when
    $\omega_{xy}, \omega_{yx} < 0$, the effective step size is smaller when there is more noise.""")
OF_RESIDUALS = r"y_t'' = y_t + \omega_{yx} \Bigl(1 + \omega_{xy} \sum_i r_i^2\Bigr) (\Sigma w^*)^\top x_t"
OF_LABELS = r"y_t'' = y_t + \omega_{yx} \Bigl(1 + \omega_{xy} \sum_i y_i^2\Bigr) (\Sigma w^*)^\top x_t"
TWO_LAYERS = (
    r"""a layer with only $\omega_{xy}$, then a layer with only $\omega_{yx}$, on tokens $(x_i, y_i)$ and the query $(x_t, 0)$; at the sizes
    of the cells""",
    r"$\Sigma = \sum_i x_i x_i^\top$, $w^*$ a least-squares solution, $\Sigma w^* = \sum_i y_i x_i$",
)
LEAST_SQUARES = r"$r_i = y_i - \langle w^*, x_i \rangle$ are the residuals of least squares, so that $\sum_i r_i x_i = 0$"
LEFT = r"\text{words left of } y_t''"
PROOF = r"""After the first layer $x_i' = x_i + \omega_{xy} y_i \alpha$ with $\alpha = \sum_i y_i x_i = \Sigma w^*$, and
    the labels are unchanged, so the second layer has $\alpha' = \sum_i y_i x_i' = (1 + \omega_{xy} \sum_i y_i^2)
    \alpha$. The query is unchanged, because $y_t = 0$."""
CORRECTED = r"""$y_t'' = y_t + \omega_{yx} \bigl(1 + \omega_{xy} \sum_i y_i^2\bigr) (\Sigma w^*)^\top x_t$, where
    $\sum_i y_i^2 = w^{*\top} \Sigma w^* + \sum_i r_i^2$"""
MEAN = r"\mathbb{E} \Bigl[1 + \omega_{xy} \sum_i y_i^2\Bigr]"
CONTEXTS = {"contexts": per_profile(10_000, 100_000)}
PAPERS = r"""$x_i \sim \mathcal{N}(0, I)$, $\|w^*\|^2 = d = 10$, $n = 20$, Gaussian noise of variance $\sigma^2$; $\omega_{xy} = -1/800$"""

claim("lt.adaptive-step/printed", identity(adaptive, LEFT, control={"moved": "by labels"}),
      over={"squares": "residuals", "moved": "by residuals"},
      source=STEP, kind="printed", expected="supported", title="The adaptive step under the assumption of the section",
      statement=OF_RESIDUALS, assumes=(*TWO_LAYERS, LEAST_SQUARES, r"$x_i^1 = x_i + \omega_{xy} r_i \Sigma w^*$, $x_t^1 = x_t$"),
      finding=r"""The second layer has $\sum_i y_i x_i^1 = \Sigma w^* + \omega_{xy} (\sum_i y_i r_i) \Sigma w^*$, and $\sum_i y_i r_i =
          \sum_i r_i^2$.""")
claim("lt.adaptive-step/residuals",
      identity(residuals, r"\text{words left of } \sum_i y_i x_i - \Sigma w^*,\ \sum_i y_i r_i - \sum_i r_i^2",
               control={"fit": "the task's own weights"}),
      over={"fit": "least squares"}, source=RESIDUALS, kind="printed", expected="supported", assumes=LEAST_SQUARES,
      title="The two properties of residuals")
claim("lt.adaptive-step/unassumed",
      identity(adaptive, LEFT, control=({"squares": "residuals"}, {"moved": "by residuals"})),
      over={"squares": "residuals", "moved": "by labels"},
      source=STEP, kind="stronger", expected="refuted", title="The adaptive step without the assumption", statement=OF_RESIDUALS,
      corrected=CORRECTED, assumes=(*TWO_LAYERS, LEAST_SQUARES),
      finding=rf"""{PROOF} With $r_i$ in place of $y_i$ the right-hand side is off by $\omega_{{yx}} \omega_{{xy}}
          (w^{{*\top}} \Sigma w^*) (\Sigma w^*)^\top x_t$, and is exact only where least squares finds no signal. In the
          terms of Lemma 4.4: after the first layer $u = \omega_{{xy}} \Sigma w^*$, and the step is $\Pi \Sigma w^* +
          \Phi u$. Here $\Phi u$ gives $\omega_{{xy}} \sum_i r_i^2$; the part $u w^{{*\top}}$ of $\Pi$, which the assumption
          leaves out, gives $\omega_{{xy}} w^{{*\top}} \Sigma w^*$.""")
claim("lt.adaptive-step/assumption",
      bound(at(assumed_share, **CONTEXTS), r"\mathbb{E} \sum_i r_i^2 \Big/ \mathbb{E} \sum_i y_i^2",
            equals="10*sigma**2/(20*(10 + sigma**2))", within="1/50", control={"equals": "sigma**2/(10 + sigma**2)"}, method="montecarlo"),
      source=STEP, kind="stronger", expected="supported", over={"sigma": (1.0, 2.0, 3.0, 5.0)}, title="How far off the assumption is",
      statement=r"\mathbb{E} \sum_i r_i^2 \Big/ \mathbb{E} \sum_i y_i^2 = \frac{(n - d) \sigma^2}{n (d + \sigma^2)}",
      assumes=(LEAST_SQUARES, r"$x_i, w^* \sim \mathcal{N}(0, \mathbf{I})$, $d = 10$, $n = 20$"),
      finding=r"""The part that the assumption leaves out is the larger one: the printed sum is at most half of the sum of the two layers
          at every noise level, and a twentieth of it at $\sigma = 1$. Both decrease the step as the noise grows.""")
claim("lt.adaptive-step/derived", identity(adaptive, LEFT, control={"squares": "residuals"}), over={"squares": "labels"}, source=STEP,
      kind="derived", expected="supported", title="The adaptive step with the sum of squared labels", statement=OF_LABELS,
      assumes=(*TWO_LAYERS, "the labels before the first of the two layers"),
      finding=rf"""{PROOF} Before a first descent step the labels are the residuals of the current model, $w = 0$: the
          sum measures signal and noise together.""")
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
