r"""Theorem 5.1, its coefficients: weights that depend on kappa, and weights that do not.

Weights that do not depend on kappa gain 9/4 a layer in place of 27/4, and no weights gain more than 9.
"""

from lipverify.checks.linear_transformers import layer_counts
from lipverify.checks.linear_transformers.layer_counts import ACCURACIES, CONDITIONS, EITHER, NOISY, RAY, SPECTRUM
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
