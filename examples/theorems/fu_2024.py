"""Transformers learn second-order methods for in-context regression: Newton's iteration, its steps and its start.

M_{k+1} = 2 M_k - M_k S M_k, M_0 = alpha S, S = X^T X: the bound on the steps holds, the printed start does not.
"""

import mpmath
import sympy as sp

from lipverify.claims import Figure, Panel, Series, agree, at, bound, claim, identity

PAPER = "Fu, Chen, Jia, Sharan, NeurIPS 2024, arXiv 2310.17086"


def steps(kappa, digits):
    """Steps until 1 - M_k s <= 10^-digits in the worst direction, s = 1 and |S| = kappa, with 60 digits to spare."""
    with mpmath.workdps(60 + digits):
        M, k = 1 / mpmath.mpf(kappa) ** 2, 0
        while mpmath.mpf(10) ** -digits < 1 - M:
            M, k = 2 * M - M * M, k + 1
    return sp.Integer(k)


def residual(d, k, factor):
    """tr(I - M_k S) in fractions, for S = I + 1 1^T of norm d + 1 and alpha = factor / |S|^2."""
    S = sp.eye(d) + sp.ones(d, d)
    M = sp.Rational(factor) * S / (d + 1) ** 2
    for _ in range(k):
        M = 2 * M - M * S * M
    return sp.trace(sp.eye(d) - M * S)


def by_eigenvalues(d, k, factor):
    return (1 - factor) ** 2**k + (d - 1) * (1 - factor / (d + 1) ** 2) ** 2**k, 1e-12


def first_step(beta):
    """M_1 minus a polynomial with the coefficient beta of alpha^2 S^3."""
    S, alpha = sp.symbols("S alpha", positive=True)
    return 2 * alpha * S - S * (alpha * S) ** 2 - (2 * alpha * S - beta * alpha**2 * S**3)


def picture(x=(2, 4, 16, 64, 256, 1024)):
    curves = (Series(label=f"$10^{{-{m}}}$", x=x, y=tuple(int(steps(k, m)) for k in x)) for m in (2, 8, 32))
    panel = Panel(title="", xlabel=r"$\kappa(S)$", ylabel="$k$", yscale="linear", series=tuple(curves))
    return Figure(caption="Newton steps to three errors.", alt="Two steps for a factor of 2 in kappa.", panels=(panel,))


# fmt: off
K, TRACE = "log(kappa**2 * digits * log(10))/log(2)", r"\mathrm{tr}(I - M_k S)"
claim("fu.steps", bound(steps, "k", low=f"{K} - 0.1", high=f"{K} + 1", control={"high": f"0.9*({K} + 1)"}),
      over={"kappa": (10, 100, 1000), "digits": (3, 12, 48)}, kind="sharp", expected="supported", shows=at(picture),
      source=(PAPER, "section 3.1", r"only requires $\mathcal{O}(\log \kappa(S) + \log \log(1/\epsilon))$ steps"))
claim("fu.start", bound(residual, TRACE, high=0.01, control=({"high": 0.009}, {"factor": 1.9})),
      agree(residual, by_eigenvalues, TRACE, over={"d": (2, 4), "k": (1, 5), "factor": (1.9, 2)}), kind="printed",
      over={"d": (2, 3, 4), "k": 7, "factor": 2}, corrected=r"$\alpha$ below: the top eigenvalue is never inverted",
      source=(PAPER, "section 3.1, start", r"$M_0 = \alpha S$, where $\alpha = 2 / \Vert S S^\top \Vert_2$"),
      expected="refuted")
FIRST = identity(first_step, r"M_1 - 2 \alpha S + \beta \alpha^2 S^3", control=({"beta": 1.1}, {"beta": 1}))
claim("fu.first-step", FIRST, source=(PAPER, "section 5", r"for example $M_1 = 2\alpha S - 4\alpha^2 S^3$"),
      over={"beta": 4}, kind="printed", expected="refuted", corrected=r"$M_1 = 2\alpha S - \alpha^2 S^3$")
