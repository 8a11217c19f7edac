r"""Theorem 2 for every L / sigma in the plane: there are four regimes of the optimal w, for affine tasks and ReLU.

The part of the bias that one token has, about w^(-1/2) / n, exceeds all others from some w on. There the noise balances
it near L^2 / 12 sigma^2, whatever n is, until four tokens are left in a window and the bias is least, near n^2 / 50.
"""

from lipverify.checks.softmax import window_proofs as proofs
from lipverify.checks.softmax.quantities import MODEL
from lipverify.checks.softmax.window import THEOREM_2
from lipverify.claims import bound, claim

# fmt: off
claim("softmax.window-every-signal/affine/plane",
      bound(proofs.every_signal, "c_1", of="least", low="2/25", control="1/10", method="certified"),
      bound(proofs.every_signal, "c_2", of="most", high="23", control="22", method="certified"),
      bound(proofs.every_signal, "C", of="largest", high="6/25", control="11/50", method="certified"),
      source=THEOREM_2, kind="derived", expected="supported", over={"d": (2,)},
      title="the optimal window for every L / sigma: from both sides, in the plane",
      assumes=(*MODEL, r"affine tasks, $d = 2$, $M = \min(\Lambda / 6, \max(k \Lambda^{2/5}, L^2 / 12 \sigma^2), 0.0124 (n^2 + 150))$"),
      statement=r"c_1 M \leq w^* \leq c_2 M \text{ for all } n \geq 2, L, \sigma, \; w^* < C (n^2 + 150) \text{ for all } \sigma \geq 0",
      finding=r"""Noise and bias are integrals over $\lambda$ of one function, $\mathbb E \sqrt{(\log \lambda + G)_+}$ with
      a Gumbel variable $G$, up to the window of the least bias, where four tokens are left. Below a hundred tokens
      polynomials and the nearest token decide.""")
claim("softmax.window-every-signal/{law}/plane",
      bound(proofs.every_signal, "c_1", of="least", low="7/200", control="1/25", method="certified"),
      bound(proofs.every_signal, "c_2", of="most", high="27", control="26", method="certified"),
      bound(proofs.every_signal, "C", of="largest", high="8/25", control="3/10", method="certified"),
      source=THEOREM_2, kind="derived", expected="supported", over={"law": "relu", "d": (2,)},
      title="the optimal window for every L / sigma: from both sides, ReLU in the plane",
      assumes=(*MODEL, r"$d = 2$, $M = \min(\Lambda / 12, \max(k \Lambda^{1/2}, L^2 / 12 \sigma^2), 0.0124 (n^2 + 150))$"),
      statement=r"c_1 M \leq w^* \leq c_2 M \text{ for all } n \geq 2, L, \sigma, \; w^* < C (n^2 + 150) \text{ for all } \sigma \geq 0",
      finding=r"""The part of the bias that one token has is nearly twice that of affine tasks with half of the linear
      part: the regimes beyond $\Lambda \sim n^2$ are the same. All that the kink adds, pairs of the order $w^{-3/2}$
      and $\mathbb E \sum a_i^2 h_i^{3/2}$, is smaller by a factor of the order $1 / n$ where the bias is least.""")
