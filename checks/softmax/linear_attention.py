r"""Linear attention has a floor: its loss stays Omega(L^2) for every M and n, and the loss of softmax attention tends to 0.

The floor is the part of f that is not linear: for ReLU tasks it exists with and without the offset b, for affine tasks
only with b. On affine tasks without b linear attention learns, and faster than softmax attention.
"""

from lipverify.checks.softmax import linear_floor
from lipverify.checks.softmax.linear_floor import ASSUMED, DRAWN, FLOORS, LEAST, LINEAR, ROUNDING, SAMPLED, WITHOUT
from lipverify.checks.softmax.quantities import DIMENSIONS, LARGE_N
from lipverify.claims import bound, claim, exponent, identity

# fmt: off
HEADINGS = {"linear-attention.floor": (6, 2, "Linear attention does not adapt")}
SUMMARY = ("A", "In-depth insights, ICL Mechanism, unique to softmax",
    "The authors also demonstrate that this adaptive behavior is unique to softmax and cannot be replicated by linear attention units.")

claim("linear-attention.floor/{law}/{reading}/rate",
      exponent(linear_floor.linear, LEAST, low="0", truth="-p", method=(None, "bounded")),
      exponent(linear_floor.softmax, r"\mathcal{L}(w^*)", high="0", strict=True, truth="-q", method="exact"),
      DRAWN,
      source=SUMMARY, kind={"relu/offset/*": "convention", "*": "stronger"}, reading="linear attention does not adapt",
      expected={"affine/no-offset/*": "refuted", "*": "supported"}, over={("law", "reading"): FLOORS | WITHOUT, "d": (2, 3, 5, 8)},
      title="Linear attention has a floor, softmax attention has none",
      assumes=ASSUMED,
      finding={
          "affine/no-offset/*": r"""Linear attention learns linear functions: its loss falls like $1/n$, faster than
              softmax attention's $n^{-4/(d+3)}$, and on them it has the smaller loss for every large $n$. It cannot
              learn the offset $b$ of the class, $L^2/3$ of the loss, because its weights do not sum to one.""",
          "affine/*": """The floor is the variance of the offset $b$ alone. On the affine class the advantage of softmax
              attention is that its weights sum to one, so that a constant is reproduced exactly; it is not that its
              window adapts.""",
          "*": r"""The optimal $w$ of linear attention tends to $w = d$ for every $L$ and $\sigma$: nothing adapts to
              Lipschitzness, as the summary says.""",
      },
      corrected={"affine/no-offset/*": LINEAR, "*": ""})
claim("linear-attention.floor/{law}/{reading}/proved",
      identity(linear_floor.above_floor,
               r"\mathcal{L}_{\mathrm{lin}}(\mathbf{M}) - \Bigl(R + \frac{k m}{n k + m} + A \|\mathbf{M} - \eta \mathbf{I}\|_F^2\Bigr)",
               control={"floor": "101/100"}),
      proves="linear-attention.floor/{law}/{reading}/rate",
      source=SUMMARY, kind="derived", expected="supported", over={("law", "reading"): FLOORS},
      title="linear attention stays above its floor: every M, n and d",
      statement=r"\mathcal{L}_{\mathrm{lin}}(\mathbf{M}) > R = K(1) - k_1 \quad \text{for every } \mathbf{M}, n, \sigma",
      assumes=ASSUMED,
      forall=("n", "d", "sigma"), by_hand="docs/arguments.md#floor-of-linear-attention",
      finding=r"""With $k = k_1$ and $m = (d - 1) k + d R + d \sigma^2 > 0$ the loss is $R$, plus a positive number,
          plus a square. $R$ is $L^2/3$ (affine with the offset), $L^2/3 + L^2/(6d)$ and $L^2/(6d)$ (ReLU with and
          without it; `*/value`).""")
claim("linear-attention.floor/{law}/{reading}/softmax/proved",
      bound(linear_floor.falls, r"\text{limit exponent of } \mathcal{L}(w^*) \text{ in } n", high="0", strict=True, truth="-q",
            over={"d": (2, 3, 5, 8)}, method="certified"),
      source=SUMMARY, kind="derived", expected="supported", over={("law", "reading"): FLOORS},
      title="softmax attention has no floor: proved", assumes=ASSUMED, forall=LARGE_N,
      finding="The exponent of softmax attention is that of the window theorem.")
claim("linear-attention.floor/{law}/{reading}/value",
      bound(linear_floor.limit, rf"\lim_n {LEAST} / L^2", equals="F", within=ROUNDING, over={"d": DIMENSIONS}, method="symbolic"),
      bound(SAMPLED, rf"\mathcal{{L}}_{{\mathrm{{lin}}}}(\mathrm{{at w I}}) / {LEAST}", of="at w I", equals=1, within="T",
            over={"d": 3, "n": 30}, method="montecarlo"),
      bound(SAMPLED, rf"\mathcal{{L}}_{{\mathrm{{lin}}}}(\mathrm{{over all M}}) / {LEAST}", of="over all M", equals=1, within="T",
            over={"d": 3, "n": 30}, method="montecarlo"),
      DRAWN,
      source=SUMMARY, kind="derived", expected="supported", over={("law", "reading"): FLOORS},
      title="The floor of linear attention",
      statement={
          "affine/*": r"\inf_{n, \mathbf{M}} \mathcal{L}_{\mathrm{lin}}(\mathbf{M}) = \frac{L^2}{3}",
          "relu/offset/*": r"\inf_{n, \mathbf{M}} \mathcal{L}_{\mathrm{lin}}(\mathbf{M}) = \frac{L^2}{3} + \frac{L^2}{6 d}",
          "*": r"\inf_{n, \mathbf{M}} \mathcal{L}_{\mathrm{lin}}(\mathbf{M}) = \frac{L^2}{6 d}",
      },
      assumes=ASSUMED,
      finding=r"""Write $K(t) = \mathbb{E} f(x) f(x')$ at $t = \langle x, x' \rangle$ and $k_1 = d\, \mathbb{E}\, t
          K(t)$ for the variance of the linear part of $f$. As $\mathbb{E}\, x x^\top = \mathbf{I}/d$, the loss of
          linear attention is the convex quadratic $\|\mathbf{M}\|_F^2 (K(1) + \sigma^2 + (n-1) k_1/d) / (n d^2) - 2 k_1
          \mathrm{tr}(\mathbf{M}) / d^2 + K(1)$. Its minimiser is a multiple of $\mathbf{I}$, and its minimum decreases
          in $n$ to $K(1) - k_1$, which is attained only in the limit.""")
