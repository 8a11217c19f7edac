r"""What is known: pretraining linear attention on linear tasks gives one step of preconditioned gradient descent.

It holds with noise and at every n. On nonlinear tasks the step is towards their best linear function. That the loss is
minimal there is proved for every d, n and Sigma.
"""

from lipverify.checks.softmax.preconditioner import PARTS, from_preconditioner, stationary
from lipverify.claims import at, bound, claim, identity, per_profile

# fmt: off
HEADINGS = {"linear-attention.descent": (6, 1, "One layer takes a step of preconditioned descent")}
STEP = r"""\mathbf{M}^* = \mathbf{P} = \left(\left(1 - \tfrac{1}{n}\right) \Sigma + \tfrac{A + B}{A n} (2 \Sigma + \mathrm{tr} \Sigma \,
    \mathbf{I}) + \tfrac{d \sigma^2}{A n} \mathbf{I}\right)^{-1}"""
KNOWN = ("S", "What is known about ICL in this setting?",
    """Solving pretraining loss yields transformers that execute preconditioned GD during ICL - ▶ Only holds for linear attention
    and linear tasks""")
claim("linear-attention.descent/{law}",
      bound(
          at(from_preconditioner, contexts=per_profile(8192, 40_960)), r"\max |\mathbf{M}^* - \mathbf{P}| / \max |\mathbf{P}|", equals=0,
            within=0.2, control={"trace": 0.0}, over={"n": 10},
          method="montecarlo",
      ),
      source=KNOWN, kind={"affine": "convention", "*": "stronger"}, expected="supported", over={"law": tuple(PARTS)},
      reading={"affine": "for linear attention and linear tasks", "*": ""},
      title={"affine": "pretraining on linear tasks ends in preconditioned descent",
             "*": "pretraining on nonlinear tasks ends in preconditioned descent as well"},
      statement=STEP,
      assumes=(
          r"$x \sim \mathcal{N}(0, \Sigma)$ in three dimensions, two of them correlated; $n = 10$, $L = 1$, $\sigma = 0.3$",
          r"""$f = a \langle q, x \rangle + b |\langle q, x \rangle|$ with $q$ uniform on the sphere; $A = \mathbb{E} a^2$ and $B =
              \mathbb{E} b^2$ are $1/3$ and $0$ (affine), $1/6$ and $1/6$ (ReLU)""",
          r"""one layer: $\hat y = \frac{1}{n} \sum_i y_i x_i^\top \mathbf{M} x$, which is $\langle v, x \rangle$ after a step $v =
              \mathbf{M}^\top \frac{1}{n} \sum_i y_i x_i$ of descent from 0 on the squared error of $\langle v, x \rangle$""",
      ),
      finding=r"""The loss is a convex quadratic in $\mathbf{M}$; its minimum is derived and compared with that on
          sampled contexts. Without the even part ($B = 0$) it is what Ahn et al. and Mahankali et al. print, with the
          noise in the trace. With the even part only the trace and the factor of $2 \Sigma$ are larger. So the
          restriction to linear tasks belongs to the proof: on nonlinear tasks the layer takes a step of the same kind,
          towards the best linear function (linear-attention.floor states the remaining loss).""")
claim("linear-attention.descent/{law}/proved",
      identity(stationary, r"d\, \mathbb{E} g g^\top - A\, \Sigma\, \mathbf{P}^{-1}", control={"trace": "99/100"}),
      proves="linear-attention.descent/{law}", source=KNOWN, kind="derived", expected="supported", over={"law": tuple(PARTS)},
      title="the loss of linear attention is minimal at the preconditioner: every d, n and Sigma",
      statement=STEP,
      assumes=(
          r"""$x \sim \mathcal{N}(0, \Sigma)$, any invertible $\Sigma$, $d$, $n$, $\sigma$; $f = a \langle q, x \rangle + b |\langle q, x
              \rangle|$ with $q$ uniform on the sphere and independent of $(a, b)$, $\mathbb{E} a b = 0$, $A > 0$""",
      ),
      forall=("n", "d", "sigma"), by_hand="docs/arguments.md#preconditioned-descent")
