r"""The figure of the intuition slides: three Lipschitz constants, their windows, and the error of tuned attention against n.

Different constants have different optimal windows, and training reaches each. The third line only names what is drawn.
The error of tuned attention falls like n^{-4/(d+3)} for every L. Attention tuned to another L is worse by a constant
factor, at every length. If w is kept while n grows, the bias stays and the error does not fall to 0.
"""

from lipverify.checks.softmax.directions_proofs import LINEAR, RISES, STRICT
from lipverify.checks.softmax.figures import three_levels
from lipverify.checks.softmax.levels import LEVELS, PAIRS, agreed, apart, fixed, floor, reached, table, tables
from lipverify.checks.softmax.quantities import DIMENSIONS, LAWS, MODEL, optimum
from lipverify.claims import agree, at, bound, claim, exponent, per_profile

# fmt: off
HEADINGS = {"softmax.context-length": (4, 8, "Three windows, and the error against the length of the context")}
TOP = ("S", "ICL estimator intuition, figure, top",
       "Top: Varying Lipschitzness in the ground truth results in different optimal attention windows.")
MIDDLE = ("S", "ICL estimator intuition, figure, middle", "Middle: Attention unit can adapt to these attention windows using softmax.")
BOTTOM = ("S", "ICL estimator intuition, figure, bottom", "Bottom: ICL error with varying number of context tokens.")
AFFINE = (r"tokens and query uniform on $S^{d-1}$, noise independent with variance $\sigma^2 = 1$, affine law", MODEL[1])
EVERY = (*AFFINE, r"$L, L' \in \{1, 3, 10\}$; $w$ is tuned at every $n$")
DEEP = per_profile((2, 3, 5), DIMENSIONS.full)
RAY = (100.0, 1e30)
FACTOR = r"\frac{\mathcal{L}(w^*(L); L')}{\mathcal{L}(w^*(L'); L')}"
LIMIT = "((d - 1)*(tested/trained)**2 + 4)/((d + 3)*(tested/trained)**(2*(d - 1)/(d + 3)))"
"""(a rho^2 + beta) / ((a + beta) rho^(2a/(a + beta))) with a = (d - 1)/2, beta = 2 and rho = L'/L."""
SLIDE = at(three_levels, found=at(tables, d=3))
APART = {(1.0, 3.0): {"most": "2.5"}, (3.0, 10.0): {"most": "3"}}
"""Two neighbouring constants, and a number just above the largest quotient of their windows."""

claim("softmax.context-length/windows",
      bound(apart, "w^*(L') / w^*(L)", low=1, strict=True, control="most", method="exact",
            over={("L", "larger"): APART, "d": (2, 3, 5), "n": (100, 1e4)}),
      source=TOP, kind="convention", reading="in a class f = L g", expected="supported",
      title="three Lipschitz constants have three optimal windows", assumes=(*AFFINE, r"$L, L' \in \{1, 3, 10\}$"), shows=SLIDE,
      finding="The larger the constant, the narrower the window; by hand for every n and d in `softmax.window-directions/affine/l/proved`.")
claim("softmax.context-length/windows/proved",
      RISES,
      proves="softmax.context-length/windows", source=TOP, kind="derived", expected="supported",
      title="different Lipschitz constants have different optimal windows: every n and d",
      statement=r"L < L' \implies w^*(L) < w^*(L')",
      assumes=(*MODEL, rf"any $n \geq 2$, $d \geq 2$; {LINEAR}; $w \geq 0$"),
      forall=("n >= 2", "d", "L > 0", "sigma > 0"), by_hand=STRICT)
claim("softmax.context-length/adapts",
      bound(reached, r"w / w^*", equals=1, within=0.01, control={"steps": 20}, method="exact",
            over={"L": (1.0, 2.0, 3.0), "d": 3, "n": 100, "steps": 2000}),
      source=MIDDLE, kind="printed", expected="supported",
      title="gradient descent on M takes softmax attention to each of the three windows",
      statement=r"\mathbf{M} \to w^*(L)\, \mathbf{I}",
      assumes=(*AFFINE, r"""$L = 1, 2, 3$, $d = 3$, $n = 100$; 2000 steps of descent on the exact loss, of size $20 / L^2$, from
               $\mathbf{M} = 0.1\, \mathbf{I}$"""),
      finding="The same unit, trained on tasks of each constant, ends at the window of that constant, within a hundredth of its $w^*$.")

claim("softmax.context-length/affine/theta/tuned",
      exponent(table, r"\mathcal{L}(w^*(L); L)", of="loss of {L} on {L}", along={"n": RAY}, equals="-4/(d + 3)",
               method="exact"),
      *agreed(1.0, 1.0),
      source=BOTTOM, kind="sharp", expected="supported", over={"L": LEVELS, "d": DEEP},
      title="the error of attention that is tuned to each of three Lipschitz constants", assumes=EVERY,
      shows=SLIDE,
      finding=r"""The three curves have one shape: the loss is $L^2$ times a function of $n$ and $\Lambda =
      nL^2/\sigma^2$, which for long contexts depends on $\Lambda$ alone. The exponent is worse than the $-1$ of a model
      with finitely many parameters and tends to 0 as $d$ grows, because softmax attention is a local average.""")
claim("softmax.context-length/affine/lower/mistuned",
      bound(table, FACTOR, of="{trained} on {tested}", low=1, strict=True, control=f"1.2*{LIMIT}",
            over={"n": (100.0, 1e4, 1e8)}, method="exact"),
      bound(table, FACTOR, of="{trained} on {tested}", along={"n": RAY}, equals=LIMIT, within=0.001, method="exact"),
      *agreed(1.0, 3.0),
      source=BOTTOM, kind="derived", expected="supported", over={"d": DEEP, ("trained", "tested"): PAIRS},
      title="the error of attention that is tuned to another Lipschitz constant",
      statement=r"""\frac{\mathcal{L}(w^*(L); L')}{\mathcal{L}(w^*(L'); L')} > 1 \quad (n = 10^2, 10^4, 10^8), \qquad
      \to \frac{a \rho^2 + \beta}{(a+\beta) \rho^{2a/(a+\beta)}}, \quad \rho = L'/L""",
      assumes=(*EVERY, r"$a = (d-1)/2$, $\beta = 2$"), shows=SLIDE,
      finding="""Mistuned attention is worse at every measured length. In the limit the curves are parallel: on
      logarithmic axes the curves of the figure keep a constant distance, as long as both $w$ are tuned at every $n$.""")
claim("softmax.context-length/affine/fixed-window",
      exponent(fixed, r"\mathcal{L}(w; L)", along={"n": RAY}, high=0, strict=True, truth=0, control=(None, {"equals": 0}),
               method="exact"),
      agree(fixed, floor, r"\mathcal{L}(w; L)",
            over={"d": (2, 3, 5), "n": 1e30}),
      source=BOTTOM, kind="stronger", expected="refuted", over={"d": (2, 3, 5)},
      title="the error of attention whose w is kept while n grows tends to 0",
      assumes=(*AFFINE, "$L = 1$; pretrained at $n = 100$, used on longer contexts"),
      finding=r"""A window is tuned to a context length as well as to $L$. On longer contexts the noise term continues
      to fall like $1/n$ and the bias stays: $B \to \frac{L^2}{3d} (1 - I_{d/2}(w) / I_{d/2-1}(w))^2$ for the affine
      law. The measured limits agree with this.""",
      corrected="""the error falls to 0 if the unit is pretrained for each number of tokens; otherwise it tends to the
      bias at its $w$""")
claim("softmax.context-length/{law}/theta/tuned",
      exponent(optimum, r"\mathcal{L}(w^*)", of="loss", along={"n": (1e6, 1e24, 9)}, equals="-fall", method="exact"),
      source=BOTTOM, kind="sharp", expected="supported",
      over={"law": {"relu": LAWS["relu"], "cosine": LAWS["affine"], "quadratic": LAWS["affine"]}, "d": (2, 3)},
      title="the error of tuned attention on the other classes of the slides",
      assumes=(r"tokens and query uniform on $S^{d-1}$, noise independent with variance $\sigma^2 = 1$, $L = 1$",
               MODEL[1], "$w$ is tuned at every $n$"),
      finding="""The order at which the bias falls sets the rate: $w^{-3/2}$ with a kink and $w^{-2}$ without. The
      Lipschitz constant enters the factor alone.""")
