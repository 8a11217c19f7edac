r"""Attention without softmax: other kernels have the same rates if they decay fast enough; normalised scores do not.

The summary says that only softmax adapts. A box adapts as well, and so does every kernel that decays fast enough for
the dimension. Linear attention with scores divided by their sum hardly learns, or has an infinite loss.
"""

from lipverify.checks.softmax.kernels import at_rate, drawn_tail, many, normalised, sampled, tail, terms
from lipverify.checks.softmax.linear_attention import SUMMARY as UNIQUE
from lipverify.checks.softmax.quantities import SKETCH
from lipverify.claims import agree, at, bound, claim, exponent, per_profile

# fmt: off
HEADINGS = {
    "linear-attention.normalised": (6, 3, "Linear attention with scores divided by their sum"),
    "softmax.other-kernels": (6, 4, "Kernels other than the exponential"),
}
MODEL = (
    r"tokens and query uniform on $S^{d-1}$; $f(x) = \langle q, x \rangle$, $q$ uniform on the sphere; $L = \sigma = 1$",
    r"weights $K(u_i) / \sum_j K(u_j)$, $u_i = w (1 - \langle x_i, x \rangle)$; softmax is $K = e^{-u}$",
)
RATIONAL = (*MODEL, r"$K = (1 + u / p)^{-p}$; $w \to \infty$ with $n = w^{d/2 + 1}$")
SHORT = (*MODEL, r"$K = 1$ (box) or $K = 1 - u$ (Epanechnikov) up to $u = 1$, 0 beyond; an empty window predicts 0",
)
SHORT_KERNELS = ("box", "epanechnikov")
CONTEXTS = per_profile(3000, 40_000)

claim("softmax.other-kernels/unique",
      exponent(at_rate, r"\mathcal{L}(w)", along={"n": (1e4, 1e24, 9)}, low="0", truth="-4/(d + 3)", method="exact"),
      agree(terms, at(sampled, contexts=CONTEXTS), "B", of="bias", over={"kernel": SHORT_KERNELS, "d": 3, "n": 30, "w": 4.0}),
      source=UNIQUE, kind="convention", reading="no other kernel adapts", expected="refuted",
      over={"kernel": SHORT_KERNELS, "d": per_profile((3,), (3, 5))},
      title="no attention but softmax has a window that adapts",
      statement=r"\inf_n \mathcal{L}(w_n) > 0 \quad \text{for every } w_n, \ K \neq e^{-u}",
      assumes=(*SHORT, r"$w = n^{2/(d+3)}$, which adapts to $n$"),
      finding="""A box, which attends equally to the tokens of a ball, has the rate of softmax attention. It suffices
          that the weights are positive, add to one and are concentrated near the query; the sentence holds for linear
          attention.""",
      corrected=r"the box and the Epanechnikov kernel have the rate $\Lambda^{-4/(d+3)}$ of softmax attention at $d = 3$")
claim("softmax.other-kernels/rational/any-power",
      exponent(many, "B / L^2", of="bias", along={"w": (1e3, 1e8, 8)}, equals="-2", truth="-min(2, 2*power - d + 1)", method="exact"),
      agree(terms, at(sampled, contexts=CONTEXTS), "B", of="bias",
            over={"kernel": "rational", "power": (1.5, 3.0), "d": 3, "n": 30, "w": 4.0}),
      source=SKETCH, kind="stronger", expected="refuted", over={"kernel": "rational", ("d", "power"): ((3, 1.5), (5, 2.5))},
      title="every kernel that decays has the bias of softmax",
      statement=r"B = \Theta\left(w^{-2}\right) \quad \text{for every } p > (d - 1)/2",
      assumes=RATIONAL,
      finding=r"""Most tokens are far away: their share of the weights is that of $\int u^{(d-3)/2} K(u)\, du$. For $p >
          (d + 1)/2$ the kernel has the bias of softmax; for $p$ between $(d - 1)/2$ and $(d + 1)/2$ far tokens pull the
          prediction to the mean. A kernel that decays fast enough in one dimension may be too slow in another; the
          exponential is fast enough in all of them.""",
      corrected=r"$B = \Theta(w^{-\min(2,\ 2p - (d - 1))})$")
claim("linear-attention.normalised/floor",
      bound(normalised, r"\lim_{n \to \infty} B / \mathbb{E} f(x)^2", low="(1 - 1/d)**2", control="1.01*(1 - 1/d)**2", method="exact"),
      source=UNIQUE, kind="derived", expected="supported", over={"d": (2, 3, 5, 20), "w": 0.999},
      title="normalised linear attention with positive weights hardly learns",
      statement=r"\lim_{n \to \infty} B > \left(1 - \frac{1}{d}\right)^2 \mathbb{E} f(x)^2 \quad \text{for every } w < 1",
      assumes=(MODEL[0], r"weights $(1 + s_i) / \sum_j (1 + s_j)$, $s_i = w \langle x_i, x \rangle$, positive for $w < 1$"),
      finding=r"""In long contexts the average is $\mathbb{E}(1 + w t)\, x_i = w x / d$: attention reproduces at most
          the share $1/d$ of a linear task. Without a normalisation $w$ may be $d$, and the loss tends to 0.""")
claim("linear-attention.normalised/finite",
      exponent(tail, r"P\left(\sum_i a_i^2 > A\right)", along={"A": (1e2, 1e12, 9)}, high="-1", truth="-1/2", method="exact"),
      agree(tail, at(drawn_tail, contexts=CONTEXTS), r"P\left(\sum_i a_i^2 > A\right)", over={"d": (3, 5), "A": (2.0, 50.0)}),
      source=UNIQUE, kind="stronger", expected="refuted", over={"d": (3, 5)},
      title="normalised linear attention has a finite loss",
      statement=r"\mathbb{E} \sum_i a_i^2 < \infty \implies P\left(\sum_i a_i^2 > A\right) = \mathcal{O}(A^{-1})",
      assumes=(MODEL[0], r"weights $s_i / \sum_j s_j$, $s_i = w \langle x_i, x \rangle$, $n = 2$; $w > 0$ drops out"),
      finding=r"""The sum of the scores has a positive density at 0, so $P(\sum a_i^2 > A) \sim C A^{-1/2}$ and the mean
          is infinite; for $d = 3$ the probability is $1 / (1 + \sqrt{2A - 1})$. This is a reason to divide linear
          attention by $n$. The program refuses such weights.""",
      corrected=r"$P(\sum_i a_i^2 > A) = \Theta(A^{-1/2})$: the loss is infinite at every $w$")
