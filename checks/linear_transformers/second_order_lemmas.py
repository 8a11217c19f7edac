r"""Lemmas A.2 and A.3, the two phases of Theorem 5.1: a step on a nearly isotropic spectrum, and the contraction of a wide one.

Both hold as printed. With gamma nu = 1/3 a layer takes the condition number kappa to 4 kappa^3 / (3 kappa - 1)^2: the universal
constant is c = 484/529, attained at kappa = 1.1, and 2 may be replaced by 3/4.
"""

from lipverify.checks.linear_transformers.condition_numbers import least_coefficient
from lipverify.checks.linear_transformers.layers_in_words import one_step
from lipverify.claims import bound, claim, identity

# fmt: off
ISOTROPIC = ("V", "Lemma A.2", r"""Given $(x_1, y_1), ..., (x_n, y_n)$ where $\Sigma := \sum_i x_i x_i^\top$ has eigenvalues between 1 and
    $1 + \epsilon$. Let $w^* := arg min_w \sum_i (y_i - \langle w, x_i \rangle)^2$ be the optimal least squares solution, then
    $\hat{w} = \sum_i y_i x_i$ satisfies $\|\hat{w} - w^*\| \leq \epsilon \|w^*\|$.""")
CONTRACTION = ("V", "Lemma A.3", r"""Suppose $\nu/\mu = \kappa \geq 1.1$, then there exists an universal constant $c < 1$ such that choosing
    $\gamma\nu = 1/3$ implies [...] On the other hand, if $\nu/\mu = \kappa \leq 1 + \epsilon$ where $\epsilon \leq 0.1$, then choosing
    $\gamma\nu = 1/3$ implies [...]""")
LAYER = (r"a layer takes an eigenvalue $s$ of $\Sigma$ to $s (1 - \gamma s)^2$, $\nu$ is the largest and $\mu$ the smallest eigenvalue",
         r"the displays are rebuilt from the proof: $\kappa' \leq c \kappa$, and $\kappa' \leq 1 + 2 \epsilon^2$")
GROWS = r"""The map $s (1 - \gamma s)^2$ grows up to $s = 1/(3\gamma) = \nu$, so $\kappa' = 4 \kappa^3 / (3 \kappa - 1)^2$."""

claim("lt.second-order/nearly-isotropic",
      identity(one_step, r"\text{words left of } \hat{w} - w^* - (\Sigma - \mathbf{I}) w^*", control={"fit": "the task's own weights"}),
      over={"fit": "least squares"}, source=ISOTROPIC, kind="printed", expected="supported",
      title="One step on a nearly isotropic spectrum misses by a relative ε",
      statement=r"\hat{w} - w^* = (\Sigma - \mathbf{I}) w^*",
      assumes=r"$\sum_i r_i x_i = 0$ for the residuals $r_i$ of least squares; any tokens and any $d$",
      finding=r"""The eigenvalues of $\Sigma - \mathbf{I}$ are between 0 and $\epsilon$, so $\|\hat{w} - w^*\| \leq \epsilon \|w^*\|$, with
          equality along an eigenvector of the largest.""")
claim("lt.second-order/contraction/wide",
      bound(least_coefficient, r"\text{least coefficient of } c\, (3 \kappa - 1)^2 - 4 \kappa^2 \text{ in } \kappa - 1.1", low=0,
            control={"constant": "9/10"}, over={"phase": "wide", "constant": "484/529"}, method="rational"),
      source=CONTRACTION, kind="printed", expected="supported", title="A wide spectrum contracts by a constant factor, 484/529",
      statement=r"\kappa' \leq \tfrac{484}{529} \kappa, \quad \kappa \geq 1.1", assumes=LAYER,
      finding=rf"""{GROWS} A polynomial in $\kappa - 1.1$ without negative coefficients is not negative. At $\kappa = 1.1$ the factor is
          attained; a smaller one, as in the control, fails there.""")
claim("lt.second-order/contraction/near",
      bound(least_coefficient, r"\text{least coefficient of } c\, (3 \kappa - 1)^2 - 4 \kappa + 1 \text{ in } \epsilon = \kappa - 1", low=0,
            control={"constant": "7/10"}, over={"phase": "near", "constant": ("2", "3/4")}, method="rational"),
      source=CONTRACTION, kind="printed", expected="supported", title="A nearly isotropic spectrum contracts quadratically",
      statement=r"\kappa' \leq 1 + 2 \epsilon^2, \text{ and } \kappa' \leq 1 + \tfrac34 \epsilon^2", assumes=LAYER,
      finding=rf"""{GROWS} $\kappa' - 1 = \epsilon^2 (4 \kappa - 1) / (3 \kappa - 1)^2$. This holds for every $\epsilon > 0$, not only up
          to 0.1.""")
