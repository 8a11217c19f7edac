r"""Theorem 5.1, its coefficients and what it needs: weights that depend on kappa, weights that do not, and weights that fail.

Weights that do not depend on kappa gain 9/4 a layer in place of 27/4, and no weights gain more than 9. Without omega_xx
the number of layers is a power of kappa, with its sign reversed nothing is gained, and w* is the least-squares
solution, not the weights behind the labels.
"""

from lipverify.checks.linear_transformers import layer_counts
from lipverify.checks.linear_transformers.condition_numbers import signed_residual, true_weights_ratio
from lipverify.checks.linear_transformers.layer_counts import ACCURACIES, BEST, CONDITIONS, EITHER, NOISY, RAY, SPECTRUM
from lipverify.checks.linear_transformers.quantities import SECOND_ORDER
from lipverify.claims import bound, claim, exponent

# fmt: off
EVERY = r"""only the largest eigenvalue is known: $\omega_{xx}^l = -\frac{1}{3} (\frac{9}{4})^l$; $\kappa$ enters the last $\omega_{yx}$
    alone"""
WITHIN = 1e-6
"""A few times the error of a limit over six decades of layers."""

claim("lt.second-order/kappa/coefficient",
      bound(layer_counts.condition, r"L / \log \kappa", of="layers", equals="1/log(g)", within=WITHIN, method="exact",
            along={"layers": RAY}, scale="L"),
      over={"weights": {"minimax": {"g": "27/4"}, "universal": {"g": "9/4"}}, "epsilon": ACCURACIES},
      source=SECOND_ORDER, kind="sharp", expected="supported", title="the coefficient of log κ", assumes=(SPECTRUM, NOISY, EITHER),
      finding=r"""The cubic $c + \omega_{xx} c^3$, $c = \sqrt{s}$, has slope 1 at the small end and can reduce the large
          end to $2/(3\sqrt{3})$ of itself: $27/4$ in $s$. The weight that works for every $\kappa$ is that of the
          Newton-Schulz step, which gains $9/4$.""")
claim("lt.second-order/epsilon/coefficient",
      bound(layer_counts.accuracy, r"L / \log \log 1/\epsilon", of="layers", equals="1/log(2)", within=WITHIN, method="exact",
            along={"layers": RAY}, scale="L"),
      over={"weights": ("minimax", "universal"), "kappa": CONDITIONS}, source=SECOND_ORDER, kind="sharp", expected="supported",
      title="the coefficient of log log 1/ε", assumes=(SPECTRUM, NOISY, EITHER),
      finding=r"""Convergence is quadratic and not cubic, although a layer is a cubic: only one of its two critical
          points lies at positive $c$. For any weights the degree allows no less than $1/\log 3$; whether some weights
          have a coefficient below $1/\log 2$ is not decided here.""")
claim("lt.second-order/kappa/least",
      bound(layer_counts.chebyshev, r"L - L_{\min}(\kappa, \epsilon)", of="surplus", low="0", high="1/3",
            control={"low": "1/3", "high": "1"},
            over={"layers": (1, 2, 3, 5, 8, 12, 20, 40)}, method="exact"),
      bound(layer_counts.chebyshev, r"L / \log \kappa", of="layers", equals="1/log(9)", within=WITHIN, method="exact",
            along={"layers": RAY}, scale="L"),
      over={"epsilon": 0.5}, source=SECOND_ORDER, kind="sharp", expected="supported",
      title="no GD++ has a smaller coefficient of log κ than 1/log 9, and at ε = 1/2 some has it",
      statement=r"""L \geq L_{\min} = \log_3\left(1 + \frac{\mathrm{arcosh}(1/\epsilon)}{\mathrm{artanh}(1/\sqrt{\kappa})}\right), \qquad
          L = \log_9 \kappa + \mathcal{O}(1) \text{ at } \epsilon = \tfrac{1}{2}""",
      assumes=(SPECTRUM, NOISY,
               r"any $\omega_{xx}$ and $\omega_{yx}$ in each layer; attained by $\omega_{xx} = \omega_{yx} = -\frac{4}{3} 9^l$"),
      finding=r"""$r$ is a polynomial in $t$ of degree at most $(3^L - 1)/2$ with $r(0) = 1$, so Chebyshev's polynomial
          bounds it from below on $[1/\kappa, 1]$: growth with $\log \kappa$ cannot be avoided. With $\omega_{xx} =
          \omega_{yx}$ the residual is the token scale, $\sqrt{t}\, r$ is iterated by Chebyshev's cubic and $r =
          \pm\sin(3^L \theta)/(3^L \sin \theta)$, $t = \sin^2 \theta$. These weights gain only a factor 3 a layer in
          $\epsilon$; those of the other claims have the coefficient $1/\log(27/4)$ and square it. For both terms at
          once nothing is decided here between $1/\log 9$ and $1/\log(27/4)$.""")
claim("lt.second-order/kappa/universal",
      exponent(layer_counts.condition, r"\log \kappa", of="log kappa", low="1", truth="1", method="exact", along={"layers": RAY},
               scale="L"),
      over={"weights": "universal", "epsilon": ACCURACIES[:2]}, source=SECOND_ORDER, kind="stronger", expected="supported",
      title="O(log κ) layers also when the weights do not depend on κ",
      statement=r"L(\kappa, \epsilon) = \mathcal{O}(\log \kappa) \text{ with } \omega_{xx}^l = -\tfrac{1}{3} (\tfrac{9}{4})^l",
      assumes=(SPECTRUM, NOISY, EVERY, r"$\epsilon$ fixed, $\kappa \to \infty$"),
      finding=r"""The theorem fixes the weights for one $\kappa$; a trained model meets many. Newton-Schulz steps keep
          the order and need $\log(27/4)/\log(9/4)$ times as many layers.""")

# Necessary conditions of the theorem: the weight omega_xx, its sign, the least-squares solution
claim("lt.second-order/without-xx",
      exponent(layer_counts.descent, "L", along={"kappa": (1e2, 1e12, 21)}, scale=r"\kappa", high="1/4", truth="a", method="exact"),
      over={"steps": {"fixed": {"a": "1"}, "best": {"a": "1/2"}}, "epsilon": 1e-6},
      source=SECOND_ORDER, kind="stronger", expected="refuted",
      title="gradient descent without ω_xx needs O(log κ) layers too",
      statement=r"L(\kappa, \epsilon) = \mathcal{O}(\log \kappa) \text{, and so } \mathcal{O}(\kappa^{1/4}), \text{ with } \omega_{xx} = 0",
      assumes=(SPECTRUM, NOISY, r"$\omega_{xx} = 0$; one $\omega_{yx}$ for all layers, or the best one for each"),
      corrected=r"""without $\omega_{xx}$, at fixed $\epsilon$, $L = \Theta(\kappa)$ for one step size and $\Theta(\sqrt{\kappa})$ for the
          best ones""",
      finding=r"""This shows what the theorem rests on, and is not claimed in the source: without $\omega_{xx}$ the
          residual is a polynomial of degree $L$ in place of $3^L$.""")
claim("lt.second-order/wrong-sign",
      bound(signed_residual, r"\max |r|", high="(kappa - 1)/(kappa + 1)", control=("(kappa - 1)/(kappa + 1)/2", {"sign": -1}),
            method="exact"),
      over={"kappa": (4.0, 100.0), "layers": (2, 4, 6)}, source=SECOND_ORDER, kind="stronger", expected="refuted",
      title="the sign of ω_xx does not matter",
      statement=r"""\max |r| \leq \frac{\kappa - 1}{\kappa + 1} \text{, the residual of one step, after layers with }
            \omega_{xx} > 0""",
      assumes=(SPECTRUM, NOISY, r"$\omega_{xx}$ of the best size and positive, the best $\omega_{yx}$ in the last layer"),
      corrected=r"$\omega_{xx}$ must be negative: $s(1 + \omega_{xx} s)^2$ spreads a spectrum apart for every $\omega_{xx} > 0$",
      finding="""Not claimed in the source. With the right sign the same layers leave less than half of the residual of
            one step (the control).""")
claim("lt.second-order/true-weights",
      bound(true_weights_ratio, r"\frac{|\hat{y} - x_t^\top w_{\mathrm{OLS}}|}{\epsilon \|x_t\| \|w\|}", high="1",
            truth="sqrt(1 + sigma**2*kappa)", method="exact"),
      over={"kappa": 10.0, "sigma": (0.5, 1.0, 4.0), "layers": 3}, source=SECOND_ORDER, kind="stronger", expected="refuted",
      title="the same bound with the weights behind noisy labels in place of the least-squares solution",
      statement=r"""|\hat{y} - x_t^\top w_{\mathrm{OLS}}| \leq \epsilon \|x_t\| \|w\|, \qquad
          y_i = \langle w, x_i \rangle + \sigma \varepsilon_i""",
      assumes=(SPECTRUM, BEST, r"$\epsilon = \max |r|$, the residual of the layers; two tokens, $d = 2$"),
      corrected="$w^*$ is the least-squares solution: then the bound is exact for noisy labels as well",
      finding=r"""The prediction is $x_t^\top (\mathbf{I} - r(\Sigma)) w_{\mathrm{OLS}}$ for any noise, so
          $\|w_{\mathrm{OLS}}\|$ is the scale of the error. Read with the weights behind the labels the bound fails as
          soon as noise makes $w_{\mathrm{OLS}}$ longer than these: here by $\sqrt{1 + \sigma^2 \kappa}$.""")
