r"""Theorem 5.1: GD++ is within epsilon |x_t| |w*| of least squares after O(log kappa + log log 1/epsilon) layers.

L <= log(kappa) / log(27/4) + log_2 log(1/epsilon) + 4 for every kappa and every epsilon <= 1/2, with weights that
depend on kappa.

Integer numbers of layers show no slope, so the question is inverted: how large a kappa can L layers handle at a given
epsilon, and how small an epsilon at a given kappa? Along an eigenvector of Sigma with eigenvalue t the error relative
to least squares is the factor r(t). Its maximum is (kappa' - 1)/(kappa' + 1), where kappa' is the condition number
after the layers. second_order_weights.py treats the weights that are needed and the smallest coefficients.
"""

from lipverify.checks.linear_transformers import layer_counts
from lipverify.checks.linear_transformers.balls import matrix_residual, recursion_residual
from lipverify.checks.linear_transformers.layer_counts import ACCURACIES, BEST, CONDITIONS, EITHER, NOISY, RAY, SPECTRUM
from lipverify.checks.linear_transformers.quantities import SECOND_ORDER
from lipverify.claims import agree, bound, claim, exponent

# fmt: off
HEADINGS = {"lt.second-order": (10, 2, "GD++ is a second-order method (Theorem 5.1)")}

claim("lt.second-order/kappa",
      exponent(layer_counts.condition, r"\log \kappa", of="log kappa", low="1", truth="1", method="exact", along={"layers": RAY},
               scale="L"),
      agree(recursion_residual, matrix_residual, r"\log_{10} \max |r|",
            over={("kappa", "layers"): ((2.0, 4), (2.0, 9), (10.0, 6), (100.0, 8), (1e4, 12), (1e6, 15), (1e6, 17))}),
      over={"weights": "minimax", "epsilon": ACCURACIES}, source=SECOND_ORDER, kind="derived", expected="supported",
      title="O(log κ) layers at a fixed accuracy",
      statement=r"L(\kappa, \epsilon) = \mathcal{O}(\log \kappa): \quad \log \kappa(L, \epsilon) = \Omega(L)",
      assumes=(SPECTRUM, NOISY, BEST, r"$\epsilon$ fixed, $\kappa \to \infty$"),
      finding=r"""Along an eigenvector of $\Sigma$ with eigenvalue $t$ the tokens' second moment obeys $s' = s(1 +
          \omega_{xx} s)^2$ and the residual $r' = r(1 + \omega_{yx} s)$, with $s = t$ and $r = 1$ at first; the
          prediction differs from least squares by $x_t^\top r(\Sigma) w^*$. With $k^2$ the condition number of the
          tokens' moment, the best $\omega_{xx}$ is $-1/(\mathrm{low}\,(k^2 + k + 1))$. It leaves $k'^2 - 1 =
          \frac{1}{27} ((k-1)(k+2)(2k+1))^2 / (k(k+1))^2$, and a last $\omega_{yx}$ leaves $\max|r| = (k^2-1)/(k^2+1)$.
          A large $k^2$ falls by the factor $27/4$ a layer; near 1, $k'^2 - 1 \approx \frac{3}{16}(k^2-1)^2$. The second
          method forms matrices $\Sigma$ with that spectrum and runs the forward pass itself, in balls of 8192 bits: the
          residuals, down to $10^{-356}$, equal those of the recursion.""")
claim("lt.second-order/epsilon",
      exponent(layer_counts.accuracy, r"\log \log 1/\epsilon", of="log log 1/epsilon", low="1", truth="1", method="exact",
               along={"layers": RAY}, scale="L"),
      over={"weights": "minimax", "kappa": CONDITIONS}, source=SECOND_ORDER, kind="derived", expected="supported",
      title="O(log log 1/ε) layers at a fixed condition number",
      statement=r"L(\kappa, \epsilon) = \mathcal{O}(\log \log 1/\epsilon): \quad \log \log 1/\epsilon(L, \kappa) = \Omega(L)",
      assumes=(SPECTRUM, NOISY, BEST, r"$\kappa$ fixed, $\epsilon \to 0$"),
      finding="Each layer squares the residual, up to a constant.")
claim("lt.second-order/both",
      bound(layer_counts.offset, r"\min_\epsilon C", of="least", low="-1/4", control="0.85", method="exact"),
      bound(layer_counts.offset, r"\max_\epsilon C", of="largest", high="7/4", control="1/2", method="exact"),
      over={"weights": ("minimax", "universal"), "kappa": (2.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6, 1e12, 1e30)},
      source=SECOND_ORDER, kind="sharp", expected="supported",
      title="both terms together, with a remainder that lies in a band of two layers wherever it was counted",
      statement=r"""L = \frac{\log \kappa}{\log g} + \frac{\log \log 1/\epsilon}{\log 2} + C, \quad -\tfrac{1}{4} \leq C
          \leq \tfrac{7}{4}, \qquad g = \tfrac{27}{4} \text{ or, for weights that do not depend on } \kappa,\
          \tfrac{9}{4}""",
      assumes=(SPECTRUM, NOISY, EITHER, r"$\kappa$ from 2 to $10^{30}$, $\epsilon$ from $10^{-1}$ to $10^{-10000}$"),
      finding=r"""Balls of Arb decide every count, so no count depends on rounding. The two terms add up with a bounded
          remainder, in the counted range. The order for every $\kappa$ and $\epsilon \leq 1/2$ is `both/proved`.""")
claim("lt.second-order/both/proved",
      bound(layer_counts.every_offset, "C", high="4", control="7/2", method="certified"),
      source=SECOND_ORDER, kind="printed", expected="supported", title="both terms together, for every condition number and every accuracy",
      forall=("kappa >= 1", "0 < epsilon <= 1/2"),
      statement=r"""L \leq \frac{\log \kappa}{\log (27/4)} + \frac{\log \log 1/\epsilon}{\log 2} + 4 \quad
          \text{for every } \kappa \geq 1, \ \epsilon \leq \tfrac{1}{2}""",
      assumes=(SPECTRUM, NOISY, BEST, r"""$C = 3.66$ is the proved bound for all; $1 - \log_2 \log 2 = 1.53$ is needed at
          $\kappa = 1$, $\epsilon = \frac{1}{2}$"""),
      finding=r"""With $P = 2k + 1 - 2/k - 2/(k+1)$ the recursion is $k'^2 - 1 = P^2/27$, which increases in $k$. Two
          inequalities on whole rays suffice, polynomials with only positive coefficients after a shift: $k' \leq
          (4/27)^{1/2} (k + 1)$ for large $k$, and $k'^2 - 1 \leq \frac{3}{16} (k^2 - 1)^2$ for every $k \geq 1$. The
          first brings any $\kappa$ down to a constant in $\log \kappa / \log(27/4) + O(1)$ layers, the second squares
          the rest in each layer; balls give the constants.""")
