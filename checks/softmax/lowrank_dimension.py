r"""The slides, part II: learning col(B) reduces the dimension of the problem from d to k.

It holds on a product of spheres, where the rate is that of k dimensions, by proof. On the sphere, the covariates of the
slides, the loss of c BB^T does not tend to 0: its floor is small where k is much smaller than d.
"""

from lipverify.checks.softmax.lowrank_floor import floor, floor_below, in_block, learned, projected, saved
from lipverify.claims import agree, bound, claim

# fmt: off
HEADINGS = {"lowrank.dimension": (7, 4, "What finding the directions saves")}
PART_II = ("S", "Results Part II: Softmax Attn Learns Attn Window Direction", r"""Interesting case: $k \ll d$, then learning
    col(B) drastically reduces ICL problem dimension - Attention window of softmax attention should depend only on projections of the
    input onto col(B)""")
PRODUCT = (
    r"$x = \mathbf{B} u + \mathbf{B}_\perp v$ with $u$ uniform on $S^{k-1}$ and $v$ on $S^{d-k-1}$ (other radii are other units)",
    r"$f(x) = \mathbf{a}^\top \mathbf{B}^\top x$ with $\mathbf{a}$ uniform on $S^{k-1}$, $\sigma = 1$, $n \to \infty$",
)
SPHERE = (r"tokens and query uniform on $S^{d-1}$", *PRODUCT[1:])
SAVED = {
    (20, 2, 1e12): {"most": "1.41e-5", "near": "1.40e-5"}, (100, 2, 1e12): {"most": "9.94e-6", "near": "9.91e-6"},
    (20, 3, 1e16): {"most": "1.97e-6", "near": "1.96e-6"}, (50, 5, 1e24): {"most": "2.29e-8", "near": "2.27e-8"},
}

claim("lowrank.dimension/product/proved",
      bound(learned, r"\text{limit exponent of } \mathcal{L}(w^*) \text{ in } n", equals="-4/(k + 3)", within="1e-15",
            over={"k": (2, 3, 5, 8)}, method="certified"),
      bound(saved, r"\text{bound of } L_B / L_I",
            high="most", control="near", over={("d", "k", "n"): SAVED}, method="certified"),
      agree(projected, projected, r"\mathcal{L}(c \mathbf{B} \mathbf{B}^\top)", of=("in R^d", "in R^k"),
            over={("d", "k"): ((4, 2), (6, 2), (5, 3)), "n": 30, "c": (1.0, 8.0)}),
      source=PART_II, kind="convention", expected="supported",
      reading="tokens on a product of spheres: the problem becomes that of k dimensions",
      title="learning col(B) reduces the dimension from d to k",
      statement=r"""L_B = \min_c \mathcal{L}(c \mathbf{B} \mathbf{B}^\top) = \Theta(n^e), \ e = -\frac{4}{k+3}, \quad
          L_I = \min_w \mathcal{L}(w \mathbf{I}) \geq 70000\, L_B \text{ at the cells}""",
      assumes=(*PRODUCT, r"""$e$ at $k = 2, 3, 5, 8$ and every $d > k$; $\mathbf{M} = w \mathbf{I}$ over all real $w$, both radii 1, at the
               $(d, k, n)$ of the cells, $d - k \geq 2$"""),
      finding=r"""With $\mathbf{M} = c \mathbf{B} \mathbf{B}^\top$ scores and labels contain $\mathbf{B}^\top x$ alone, which lies on the
          sphere in $\mathbb{R}^k$: the window theorem there gives the rate. With $\mathbf{M} = w \mathbf{I}$ a smaller $w$ leaves the
          bias $(1 - A)^2 / k$ and a larger one the noise $N$, both by inequalities with Bessel functions (docstring of
          `unlearned` in `checks/softmax/lowrank_floor.py`). As $1 - A \sim w^{-1}$ and $N \sim w^{(d-2)/2} / n$, the loss is at least
          of order $n^{-4/(d+2)}$. With $d = k + 1$, where the complement is two points, nothing is saved but a factor. The slides
          name the sphere for tokens; there the next claim is false.""")
claim("lowrank.dimension/sphere",
      bound(floor, r"\lim_{n \to \infty} \min_c \mathcal{L}(c \mathbf{B} \mathbf{B}^\top)", equals=0, within=1e-9,
            control=(None, {"low": "(k + 2)*(d - k)/d**4/20", "high": "2*(k + 2)/d**3"}),
            over={("d", "k"): ((3, 1), (3, 2), (5, 2), (20, 2), (100, 4))}, method="exact"),
      agree(floor, in_block, r"\lim \min_c \mathcal{L}(c \mathbf{B} \mathbf{B}^\top)",
            over={("d", "k"): ((3, 1), (5, 2))}),
      source=PART_II, kind="convention", expected="refuted",
      reading="tokens on the sphere: the loss tends to 0 after learning col(B)",
      title="for tokens uniform on the sphere the loss after learning col(B) tends to 0",
      statement=r"\lim_{n \to \infty} \min_c \mathcal{L}(c \mathbf{B} \mathbf{B}^\top) = 0",
      assumes=SPHERE,
      finding=r"""The slides' tokens are uniform on $S^{d-1}$, and their projections $\mathbf{B}^\top x_i$ fill a ball.
          There scores $c \langle \mathbf{B}^\top x_i, \mathbf{B}^\top x \rangle$ are not distances: they prefer tokens
          whose projection is long, and no $c$ makes attention a window around $\mathbf{B}^\top x$. The best $c$ is near
          $d$, where the nearly normal projections are shifted by nearly the right length. The remaining loss is small
          where $k \ll d$, and does not vanish with $n$.""",
      corrected=r"""on the sphere the loss of $c \mathbf{B} \mathbf{B}^\top$ tends to a floor, $\sim 2 (k + 2) / d^3$
          for $k \ll d$; it tends to 0 on a product of spheres""")
claim("lowrank.dimension/sphere/proved",
      bound(floor_below, r"\text{a number below } \liminf_{n \to \infty} \min_c \mathcal{L}(c \mathbf{B} \mathbf{B}^\top)", equals=0,
            within=1e-9, control=(None, {"low": "(k + 2)*(d - k)/d**4/20", "high": "2*(k + 2)/d**3"}),
            over={("d", "k"): ((3, 1), (3, 2), (5, 2), (20, 2), (100, 4))}, method="certified"),
      proves="lowrank.dimension/sphere", source=PART_II, kind="derived", expected="refuted",
      title="for tokens uniform on the sphere the loss after learning col(B) tends to 0: disproved",
      statement=r"\liminf_{n \to \infty} \min_c \mathcal{L}(c \mathbf{B} \mathbf{B}^\top) = 0",
      assumes=(*SPHERE, r"every $\sigma$: the bias alone is bounded; at the $(d, k)$ of the cells"),
      finding=r"""By ball arithmetic, for all $c$ at once. Given the query, with $r = |\mathbf{B}^\top x|$, the mean of
          the prediction lies along $\mathbf{B}^\top x$ and is $F_n(c r)$, the derivative of the convex function
          $\mathbb{E} \log \sum_i e^{\omega t_i}$ at $\omega = c r$: it increases, and tends to $A = I_{d/2}/I_{d/2-1}$.
          The loss is at least $\mathbb{E} (F_n(c r) - r)^2 / k$ (Jensen). On cells of a grid in $c$ and $r$ an
          increasing function lies between its values at two corners, so finitely many values of $A$ bound this below
          for every $c$; $r^2$ is $\mathrm{Beta}(k/2, (d - k)/2)$.""",
      corrected="the floor is at least the number of the cell, which is within a third of its value")
