r"""The slides set the last entry of the value matrix to c = 1 "for simplicity", as if the optimal c were 1.

It is not: c* < 1 for few tokens, c* > 1 for many, and c* -> 1, with w* growing as it does at c = 1. Only for linear
functions without an offset w* stays bounded once c is free.
"""

from typing import Any

from lipverify.checks.softmax.quantities import MODEL
from lipverify.checks.softmax.value_matrix import best_scale, joint, proved_scale, sampled_scale
from lipverify.claims import agree, bound, claim, exponent, per_profile

# fmt: off
SIMPLICITY = ("S", "Learning Model: One Layer of Softmax Self-Attention",
              r"""For simplicity, we consider $\mathbf{W}_V = \begin{bmatrix} \mathbf{0}_{d \times d} &
    \mathbf{0}_d \\ \mathbf{0}_d & 1 \end{bmatrix}$""")
OPTIMUM = (MODEL[0] + r", $L = \sigma = 1$", MODEL[1])
CLASS = {"*/offset*": (*OPTIMUM, r"$b \sim \mathrm{Unif}[-L, L]$ as on the slides"),
         "*/no-offset*": (*OPTIMUM, "$b = 0$")}
NARROW = {("affine", "offset"): {"rate": "2/(d + 3)", "share": "1/(d + 1)"},
          ("relu", "offset"): {"rate": "2/(d + 2)", "share": "1/(d + 1)"},
          ("relu", "no-offset"): {"rate": "2/(d + 2)", "share": "1"}}
"""The exponent of w* at c = 1, and E f_0^2 / E f^2, where f_0 is f without its offset."""
DIMENSIONS = (2, 3, 5)
RAY, LINEAR_RAY = (1e6, 1e24, per_profile(10, 27)), (1e3, 1e7, per_profile(10, 27))  # for larger d the error of w* grows
"""For linear functions the minimal loss falls like 1/n; as a difference it loses a digit with each decade."""
LINEAR = """for linear functions no narrow window is needed once $c$ is free: $w^*$ stays bounded, $c^*$ tends to a
    limit above 1, the loss falls like $1/n$"""

claim("softmax.values-ignore-covariates/{law}/c/{reading}",
      bound(best_scale, "c^* - 1", of="excess", equals=0, within="1e-15",
            control=(None, {"low": "-min(1, floor(100/n))", "high": "1 - min(1, floor(100/n))", "strict": True}),
            method="exact"),
      agree(best_scale, sampled_scale, "c^*", of=("c", "{reading}"), over={"d": 3, "n": 100}),
      source=SIMPLICITY, kind="stronger", expected="refuted",
      over={"law": ("affine", "relu"), "reading": ("offset", "no-offset"), "d": per_profile((3,), (2, 3, 5)),
            "n": (10, 100, 1e4, 1e8, 1e30)}, title="the optimal c is 1",
      statement=r"c^* = \argmin_c \mathbb{E} \Bigl(c \sum_i a_i y_i - f(x)\Bigr)^2 = 1 \quad \text{at } w = w^*",
      assumes=CLASS,
      finding=r"""For given weights the loss is a quadratic in $c$ with its minimum at $c^* = \mathbb{E}[P f(x)] /
      \mathbb{E}[P^2]$, $P = \sum_i a_i y_i$, so $c^* - 1 = (G - B - N) / \mathbb{E}[P^2]$ with $G = \frac{1}{2}
      \mathbb{E} \sum_i a_i (f(x_i) - f(x))^2$. Both signs occur. With few tokens the noise dominates and $c^* < 1$
      shrinks the prediction. With many tokens $P$ is a mean of $f$ over the window, itself shrunk towards a constant,
      and $c^* > 1$ undoes that. The true control is $-1 < c^* - 1 < 0$ for $n \leq 100$, and $0 < c^* - 1 < 1$ for more
      tokens. The slides say that $c = 1$ is a simplification; it is not without loss of generality.""",
      corrected=r"""$c^* = 1 + (G - B - N) / \mathbb{E}[P^2]$, with $c^* < 1$ for few tokens, $c^* > 1$ for many, and
      $c^* \to 1$""")
claim("softmax.values-ignore-covariates/{law}/c/{reading}/proved",
      bound(proved_scale, "c^* - 1", of="{reading}", equals=0, within="1e-15", method="certified",
            control=(None, {"low": "-1", "high": "0", "strict": True})),
      source=SIMPLICITY, kind="stronger", expected="refuted",
      over={"law": ("affine", "relu"), "reading": ("offset", "no-offset"), "d": per_profile((3,), (2, 3, 5)), "n": 100},
      title="the optimal c is 1: disproved",
      statement=r"c^* = \argmin_c \mathbb{E} \Bigl(c \sum_i a_i y_i - f(x)\Bigr)^2 = 1 \quad \text{at } w = w^*",
      assumes=CLASS,
      finding=r"""By ball arithmetic: on an interval beyond which the noise alone is larger, the loss is one polynomial
      in $w$ with a bounded error. It leaves a short interval for $w^*$, on which $c^* - 1 = (G - B - N) /
      \mathbb{E}[P^2] < 0$.""", corrected="$c^* < 1$ at $n = 100$")
claim("softmax.values-ignore-covariates/{law}/rate/{reading}",
      exponent(joint, "c^* - 1", of="excess", along={"n": RAY}, equals="-rate", method="exact"),
      bound(joint, r"\frac{2 w^* (c^* - 1)}{d - 1}", of="product", along={"n": RAY}, equals="share",
            within="share/1000", method="exact"),
      source=SIMPLICITY, kind="sharp", expected="supported",
      over={("law", "reading"): NARROW, "d": per_profile((3, 5), DIMENSIONS)},
      title="the optimal c tends to 1 from above", assumes=CLASS,
      finding=r"""In a narrow window the mean of $f$ is $f + \frac{1}{2w} \Delta f$ and $-\mathbb{E} f \Delta f = (d-1)
      \mathbb{E} f_0^2$ for the affine and the ReLU law, where $f_0$ is $f$ without its offset. So the prediction is too
      small by the factor $1 - (d-1)/(2w)$. The best $c$ restores it as far as that does not distort the offset: the
      share is $\mathbb{E} f_0^2 / \mathbb{E} f^2 = 1/(d+1)$ with $b \sim \mathrm{Unif}[-L, L]$ and 1 without. The noise
      in the prediction alone would make $c < 1$ better, but at $w^*$ it is of the order of the squared bias and too
      small to matter.""")
NO_OFFSET: dict[str, Any] = {
    "source": SIMPLICITY, "over": {"law": "affine", "reading": "no-offset", "d": DIMENSIONS}, "assumes": CLASS,
    "finding": r"""For linear functions without an offset averaging only scales: $\sum_i a_i x_i$ is close to $r(w) x$
    for every $w$, and $c = 1/r(w)$ makes the prediction unbiased at a window of fixed width. The window does not narrow
    at all, and the loss falls like $1/n$ in every dimension instead of $n^{-4/(d+3)}$. For this law the window adapts
    only because $c = 1$; with free $c$, $c^* \to 1/r(w_\infty)$, $r(w) = I_{d/2}(w) / I_{d/2-1}(w)$, where $w_\infty$
    is the limit of $w^*$.""",
}
claim("softmax.values-ignore-covariates/{law}/joint/{reading}",
      exponent(joint, r"\mathcal{L}(w^*, c^*)", of="loss", along={"n": LINEAR_RAY}, equals=-1, method="exact"),
      exponent(joint, "w^*", of="w", along={"n": LINEAR_RAY}, equals=0, method="exact"),
      exponent(joint, "c^* - 1", of="excess", along={"n": LINEAR_RAY}, equals=0, method="exact"),
      kind="sharp", expected="supported", title="with the best c, w* stays bounded for linear functions", **NO_OFFSET)
