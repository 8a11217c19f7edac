r"""Theorem 2 for every number of tokens, and for every L / sigma: with hardly any noise the optimal w stops growing.

It tends to the w of the minimal bias. There a window holds few tokens, which the theorems of `softmax/window.py` do
not cover. For affine tasks and ReLU w* is bounded from below by a proof for every n, L and sigma, and measured against
a scale.
"""

from lipverify.checks.softmax import window_proofs as proofs
from lipverify.checks.softmax.quantities import MODEL
from lipverify.checks.softmax.window import THEOREM_2
from lipverify.claims import bound, claim, per_profile

# fmt: off
HEADINGS = {
    "softmax.window-every-n": (3, 4, "The optimal window for every number of tokens"),
    "softmax.window-every-signal": (3, 5, "The optimal window for every L / sigma"),
}
claim("softmax.window-every-n/affine",
      bound(proofs.every_n, "c_1", of="least", low="1/2", control="4/5", method="certified"),
      bound(proofs.every_n, "c_2", of="largest", high="13/10", control=1, method="certified"),
      source=THEOREM_2, kind="derived", expected="supported", over={"d": per_profile((3,), (2, 3, 5))},
      title="the optimal window for every number of tokens", forall=("n >= 2", "sigma > 0", "L <= sigma or W <= V"),
      assumes=(*MODEL, r"$n \geq 2$, and $L \leq \sigma$ or $n \geq 2 W^{(d+1)/2}$, that is $W \leq V$"),
      statement=r"""c_1 M \leq w^* \leq c_2 M, \quad M = \min(\Lambda / 3d, k W), \quad W = \Lambda^{2/(d+3)}, \quad
      n \geq 2, \ L \leq \sigma \text{ or } n \geq 2 W^{(d+1)/2}""",
      finding=r"""The values are the constants of the proof. They hold for every number of tokens from 2 on,
      and all $L \leq \sigma$ or $L^2 / \sigma^2 \leq W / 2$: the variance of the noise is at least about that
      of $f$ in a window. With little signal $w^*$ is near $\Lambda / 3d$, with much signal near $k
      \Lambda^{2/(d+3)}$, also for few tokens. At every $w^*$, $\Lambda$ is the quotient of the derivatives of
      noise and bias. Below 256 tokens these are polynomials through balls, for each $n$; from 256 on they lie
      between explicit functions. With one token the loss is the same at all $w$. Up to $w^*$ the bias falls.
      Larger $L$ are the subject of `softmax.window-every-signal`.""")
claim("softmax.window-every-signal/affine/least",
      bound(proofs.every_n, "c", of="any", low="2/5", control="3/4", method="certified"),
      source=THEOREM_2, kind="derived", expected="supported", over={"d": per_profile((3,), (2, 3, 5))},
      title="the optimal window for every L / sigma: from below", forall=("n >= 2", "L", "sigma > 0"),
      assumes=(*MODEL, r"$n \geq 2$, $M = \min(\Lambda / 3d, k \Lambda^{2/(d+3)})$, $V = (n/2)^{2/(d+1)}$"),
      statement=r"w^* \geq c \min(\Lambda / 3d, k \Lambda^{2/(d+3)}, k (n/2)^{2/(d+1)}) \quad \text{for all } n \geq 2, L, \sigma",
      finding=r"""For one $n$ every $w^*$ of a larger $L / \sigma$ is at least every $w^*$ of a smaller one, because the
      noise increases in $w$. So beyond the range $n \geq 2 W^{(d+1)/2}$ the lower bound at its border still holds.
      Below 256 tokens both derivatives, enclosed up to $k V$, show that no smaller $w$ is critical.""")
claim("softmax.window-every-signal/{law}/least",
      bound(proofs.every_n, "c", of="any", low="1/2", control="9/10", method="certified"),
      source=THEOREM_2, kind="derived", expected="supported", over={"law": "relu", "d": per_profile((3,), (2, 3, 5))},
      title="the optimal window for every L / sigma: from below, ReLU", forall=("n >= 2", "L", "sigma > 0"),
      assumes=(*MODEL, r"$n \geq 2$, $M = \min(\Lambda / 6d, k \Lambda^{2/(d+2)})$, $V = (n/K)^{2/d}$, $K = 2$ ($d = 2$: 8)"),
      statement=r"w^* \geq c \min(M, k V) \quad \text{for all } n \geq 2, L, \sigma",
      finding=r"""As for affine tasks: $w^*$ never falls as $L / \sigma$ rises.""")
claim("softmax.window-every-n/{law}",
      bound(proofs.every_n, "c_1", of="least", low="1/2", control="4/5", method="certified"),
      bound(proofs.every_n, "c_2", of="largest", high="3", control=1, method="certified"),
      source=THEOREM_2, kind="derived", expected="supported", over={"law": "relu", "d": per_profile((3,), (2, 3, 5))},
      title="the optimal window for every number of tokens: ReLU", forall=("n >= 2", "sigma > 0", "L <= sigma or W <= V"),
      assumes=(*MODEL, r"$n \geq 2$, and $L \leq \sigma$ or $n \geq K W^{d/2}$, that is $W \leq V$; $K = 2$ ($d = 2$: 8)"),
      statement=r"c_1 M \leq w^* \leq c_2 M, \quad M = \min(\Lambda / 6d, k W), \quad W = \Lambda^{2/(d+2)}",
      finding=r"""The derivative of the bias of $|z|$ depends on the angles between tokens. So levels are compared: where the
      least possible loss is more than the largest possible one at another $w$, nothing is best. Both follow from
      $\sum_l k_l (1 - A_l(w))^2$ by Jensen's inequality and a cut integral. With little signal the derivative of the
      linear part outweighs that of the other, and below 256 tokens both are polynomials through balls.""")
claim("softmax.window-every-signal/{law}/scale",
      bound(proofs.over_scale, r"\min w^* / M", of="least", low="2/5", control="17/20", method="exact"),
      bound(proofs.over_scale, r"\max w^* / M", of="largest", high="8/5", control="1", method="exact"),
      source=THEOREM_2, kind="derived", expected="supported", over={"law": "affine", "d": (2, 3, 5)},
      title="the optimal window for every L / sigma: a scale, measured",
      assumes=(*MODEL, r"""$M = \min(\Lambda / 3d, k \Lambda^{2/(d+3)}, w_B)$, $w_B = 1.18 n^{2/3}$ ($d = 3$), $2.6 n^{1/3}$ ($d = 5$);
      at $d = 2$ $M = \min(\Lambda / 6, \max(k \Lambda^{2/5}, L^2 / 12 \sigma^2), 3 + n^2 / 50)$; $n = 2$ to $10^6$,
      $L / \sigma = 1/10$ to $10^4$"""),
      statement=r"2/5 \leq w^* / M \leq 8/5",
      finding=r"""Three regimes, and at $d = 2$ four: with little signal $w^*$ is near $\Lambda / 3d$, then near $k
      \Lambda^{2/(d+3)}$, and with hardly any noise near the $w$ of the minimal bias. At $d = 2$ and from $\Lambda \sim
      n^{5/3}$ on, the part of the bias that falls like $w^{-1/2} / n$ exceeds the part that falls like $w^{-2}$, and
      the noise balances it at $L^2 / 12 \sigma^2$, for every $n$.""")
