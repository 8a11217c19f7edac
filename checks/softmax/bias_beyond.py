r"""Proof sketch, the upper bound of the bias L^2 / w + L^2 / n: the worst task reaches it, and windows with few tokens
exceed it.

The largest bias of a task with E |grad f|^2 <= L^2 tends to 0.2036 L^2 / w at d = 2, 3 and 5. The upper bound is
printed without a range and fails at d = 4 to 8: beyond w = n^{2/(d-1)} the bias stays at n^{-2/(d-1)}, because of the
distance to the nearest token.
"""

from lipverify.checks.softmax.bias import SKETCH
from lipverify.checks.softmax.nearest import first_of_two, narrow, nearest
from lipverify.checks.softmax.quantities import DIMENSIONS, LAWS, MANY_TOKENS, MODEL, SMOOTH, few_tokens
from lipverify.checks.softmax.worst_task import LARGEST, sampled_worst, worst, worst_at
from lipverify.claims import agree, at, bound, claim, exponent

# fmt: off

claim("softmax.bias-upper/any-task/relevant",
      exponent(worst, r"\sup_f B / L^2", of="high", along={"w": (1e2, 1e6, 13)}, high="-1", truth="-1", method="exact"),
      exponent(worst, r"\sup_f B / L^2", of="low", along={"w": (1e2, 1e6, 13)}, low="-1", truth="-1", method="exact"),
      agree(worst_at, at(sampled_worst, contexts=1000), r"\sup_f B",
            over={("d", "n", "w"): ((2, 50, 20.0), (3, 100, 5.0))}),
      source=SKETCH, kind="sharp", expected="supported", over={"d": (2, 3, 5)},
      title="the largest bias of an L-Lipschitz task",
      statement=r"\sup_{Lip(f) \leq L} B(w; f) = \Theta\left(\frac{L^2}{w}\right)", assumes=MANY_TOKENS,
      finding="""The bias of the affine and ReLU classes is below the printed upper bound by a power of $w$; the bias of
      the worst single task is not. The worst task oscillates everywhere, with a period of about $w^{-1/2}$; functions
      that are smooth, or have one kink, do not.""")
claim("softmax.bias-upper/any-task/constant",
      bound(worst, r"w \sup_f B / L^2", of="scaled", along={"w": (1e2, 1e5, 10)}, equals=LARGEST, within=0.001,
            control={"query": "one"}, method="exact"),
      source=SKETCH, kind="sharp", expected="supported", over={"d": (2, 3, 5)}, assumes=MANY_TOKENS,
      title="the largest bias of an L-Lipschitz task is the same at d = 2, 3 and 5",
      statement=r"\sup_{\mathbb{E} |\nabla f|^2 \leq L^2} B(w; f) \sim 0.2036 \frac{L^2}{w}",
      finding=r"""With many tokens in a narrow window attention multiplies a harmonic of degree $k$ by $e^{-k^2/2w}$,
      and $(1 - e^{-x})^2 / (2 x)$ with $x = k^2/2w$ is largest at $e^x = 1 + 2x$. If the function may depend on the
      query, as $|y - x|$ at query $x$ does, its bias is $\frac{L^2}{w}$ times $2 (\Gamma(d/2) / \Gamma((d-1)/2))^2$,
      which grows like $d$: a bound at one query overstates the bias of a single task.""")
for law, where in (("affine", DIMENSIONS), ("relu", (5,)), ("quadratic", (5,)), ("cosine", (5,))):
    claim(f"softmax.bias-upper/{law}/every-window",
          exponent(at(few_tokens, law=law), "B / L^2", of="B", along={"n": (1e3, "10**min(12, 4 + 2*d)")},
                   high="-min(1, 3/(d - 1))", truth="-2/(d - 1)", control=(None, "-2/(d - 1) + 0.1"), method="exact"),
          source=SKETCH, kind="convention" if law == "relu" else "stronger", expected="refuted", over={"d": where},
          reading="for every w" if law == "relu" else "",
          statement=r"B(w) = \mathcal{O}\left(\frac{L^2}{w} + \frac{L^2}{n}\right) \quad \text{for every } w",
          assumes=(*MODEL, r"$n \to \infty$ with $w = n^{3/(d-1)}$, beyond $n^{2/(d-1)}$"),
          finding=r"""The bound is printed without a range and fails at $d = 4$ to $8$: once $w \gg n^{2/(d-1)}$
          attention picks the nearest token, whose squared distance is of order $n^{-2/(d-1)}$, and a larger $w$ does
          not bring it closer.""",
          corrected=r"$B(w) = O(L^2/w + L^2 n^{-2/(d-1)})$ for every $w$")
claim("softmax.bias-upper/{law}/nearest-token",
      exponent(nearest, r"\lim_{w \to \infty} B / L^2", along={"n": (1e3, 1e12)}, high="-1", truth="-2/(d - 1)",
               control=(None, "-2/(d - 1) + 0.05"), method="exact"),
      agree(narrow, first_of_two, "B",
            over={"law": "affine", "d": (4, 5), "n": 20}),
      source=SKETCH, kind="stronger", expected="refuted", over={"law": LAWS | SMOOTH, "d": (4, 5, 8)},
      title="the bias as w grows at a fixed length",
      statement=r"""B(w) = \mathcal{O}\left(\frac{L^2}{w} + \frac{L^2}{n}\right) \quad \text{for every } w, \text{ at }
      w \to \infty""", assumes=(*MODEL, r"$w \to \infty$ at fixed $n$, then $n \to \infty$"),
      finding=r"""As $w \to \infty$ the bound tends to $L^2/n$. The bias tends to the mean squared change of $f$ between
      the query and the nearest token, of order $n^{-2/(d-1)}$ for laws that are Lipschitz and no smoother. For $d = 2$
      that is less than $1/n$, and for $d = 3$ of the same order.""", corrected="$B(w) = O(L^2/w + L^2 n^{-2/(d-1)})$ for every $w$")
