r"""Attention without softmax: the summary says that only softmax adapts, and a box adapts as well."""

from lipverify.checks.softmax.kernels import at_rate, sampled, terms
from lipverify.checks.softmax.linear_attention import SUMMARY as UNIQUE
from lipverify.claims import agree, at, claim, exponent, per_profile

# fmt: off
HEADINGS = {"softmax.other-kernels": (6, 3, "Kernels other than the exponential")}
MODEL = (
    r"tokens and query uniform on $S^{d-1}$; $f(x) = \langle q, x \rangle$, $q$ uniform on the sphere; $L = \sigma = 1$",
    r"weights $K(u_i) / \sum_j K(u_j)$, $u_i = w (1 - \langle x_i, x \rangle)$; softmax is $K = e^{-u}$",
)
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
