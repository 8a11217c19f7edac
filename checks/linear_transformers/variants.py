r"""Decays, causal masks and gates: which of them keep the linear model of Theorem 4.1, and the limit of Theorem 4.2.

Decays of the keys keep all of it. Under a causal mask (RetNet) each position has its own linear model, and the
prediction stays linear in the query. A gate that depends on the query ends that; gates that depend on the keys alone do
not. None of them reaches a quadratic target, as long as its gates are even in each token.
"""

from typing import Any

from lipverify.checks.linear_transformers.weighted_keys import additive, mirrored, shared, step_in_words
from lipverify.claims import at, claim, identity

# fmt: off
HEADINGS = {"lt.attention-variants": (9, 2, "Decays, masks and gates")}
REBUTTAL = ("V", "Rebuttal 1, attention variants", """we believe our Theorem 4.1/4.2 would generalize to the linear version of RetNet, but
    would not generalize to SSM and GLA (because SSM is time-varying and GLA has nonlinearities in the form of gates)""")
SIZES = {("d", "n", "layers"): ((1, 2, 2), (2, 3, 2), (2, 4, 3))}
DRAWN = r"integers from 1 to 9 for weights, tokens and query; exact arithmetic; decay $\gamma = \frac12$ a position"
MASKED = r"causal mask: token $i$ sees the keys $j \leq i$ with weights $\gamma^{i-j}$"
RETNET = "the half on RetNet: a linear model predicts at the query, and no depth reaches a quadratic target"
LINEAR, SHARED = r"y_t^L(x + x') - y_t^L(x) - y_t^L(x')", r"\#\{e^L \neq T e\}"

claim("lt.attention-variants/decay",
      identity(at(shared, kind="decay"), SHARED, control={"model": "undecayed"}, over=SIZES, method=("rational", "bounded")),
      source=REBUTTAL, kind="stronger", expected="supported", title="with decaying keys every token is still one linear map of itself",
      statement=r"""x_i^l = M^l x_i + u^l y_i, \quad y_i^l = a^l y_i - \langle w^l, x_i \rangle, \quad
          G = \sum_j \gamma^{n-j} e_j e_j^\top""",
      assumes=(DRAWN, "the decay depends on the key alone; no mask"),
      finding=r"""Theorem 4.1 holds literally, with $\sum_j \gamma^{n-j} e_j e_j^\top$ for the moments: $G$ may be any
          matrix in the recursion.""")
claim("lt.attention-variants/retention/prediction",
      identity(additive, LINEAR, control={"kind": "gated"}, over=SIZES | {"kind": "retention"}, method=("rational", "bounded")),
      source=REBUTTAL, kind="convention", reading=RETNET, expected="supported", title="RetNet's prediction is linear in the query",
      statement=r"y_t^L = -\langle w^L, x_t \rangle \text{ with } w^L \text{ of the context alone}", assumes=(DRAWN, MASKED),
      finding=r"""A layer takes every token to $(I + P G_i Q) e_i$, and $G_i$ does not contain the query. So the
          conclusions of the theorems for the prediction hold: a linear model at every layer, and no even target
          (Theorem 4.2 rests on that).""")
claim("lt.attention-variants/retention/shared-model",
      identity(shared, SHARED, control=({"model": "undecayed"}, {"kind": "decay"}), over=SIZES | {"kind": "retention"},
               method=("rational", "bounded")),
      source=REBUTTAL, kind="convention", reading="the half on RetNet: all tokens share one linear model", expected="refuted",
      title="with a causal mask all tokens share one linear model",
      statement=r"x_i^l = M^l x_i + u^l y_i \text{ with one } (M^l, u^l, a^l, w^l) \text{ for every token}", assumes=(DRAWN, MASKED),
      finding=r"""Under a mask each position has its own moments $G_i$. Already after one layer $T_i = I + P G_i Q$
          differs between positions, and Lemma 4.3's recursion, which needs $\sum_j e_j^l e_j^{l\top} = T G T^\top$, no
          longer holds. The same is true of a causal mask without a decay.""",
      corrected=r"""one linear model for each position, $T_i^{l+1} = (I + P G_i^l Q) T_i^l$ with $G_i^l = \sum_{j \leq
          i} \gamma^{i-j} T_j^l e_j e_j^\top T_j^{l\top}$""")
claim("lt.attention-variants/{kind}/quadratic-target",
      identity(mirrored, r"\#\{e_j^L(-e_i) \neq \pm e_j^L(e_i)\}", control={"kind": "shifted gates"}, over=SIZES,
               method=("rational", "bounded")),
      over={"kind": ("retention", "decay", "gated")}, source=REBUTTAL, kind={"retention/*": "convention", "*": "stronger"},
      reading={"retention/*": RETNET, "*": ""}, expected="supported",
      title="no depth reaches a quadratic target (Theorem 4.2) in other kinds of linear attention",
      statement=r"\mathbb{E} \left(\sum_i y_i^L x_i(1)^2\right)^2 = \sum_i \mathbb{E} \left(y_i^L x_i(1)^2\right)^2",
      assumes=(DRAWN, "a mask with decays, decays of the keys, or gates that are even in $x$"),
      finding=r"""If $(x_i, y_i)$ changes its sign, token $i$ does so at every layer and all other tokens are unchanged:
          moments are even in each key. So for symmetric $x_i$ and $y = w^\top x$ the products $y_i^L x_i(1)^2$ are
          uncorrelated with mean 0, for any weights that do not depend on the tokens, and the mean square of the cosine
          with $x(1)^2$ is of order $(\log n)^2 / n$ at most (`docs/arguments.md#layers-with-weighted-keys`). Up to
          logarithms Theorem 4.2 holds for RetNet, as the rebuttal believes, and also for gates as long as they
          are even. Its proof does not carry over: under a mask each position has its own $w_i^l$,
          and the best choice of them all reaches any target.""")
claim("lt.attention-variants/gated",
      identity(additive, LINEAR, control=({"kind": "gated keys"}, {"kind": "gated keys"}), over=SIZES | {"kind": "gated"},
               method=("rational", "bounded")),
      source=REBUTTAL, kind="stronger", expected="refuted", title="""with a gate that depends on the query the
            prediction is linear in it""",
      assumes=(DRAWN, r"weights $g(x_j) g(x_i)$ with $g(x) = 1 / (1 + (\sum_k x(k))^2)$"),
      finding=r"""As the rebuttal says of gated linear attention: a gate of the token itself multiplies its input, and
          the prediction is no longer linear in $x_t$. Gates of the keys alone would keep it linear: they only weight
          the moments.""",
      corrected="linear exactly as long as no weight depends on the query's own entries; gates of the keys alone keep it")

# The claims below hold at every depth and size, from a symbolic identity for one layer
EVERY: dict[str, Any] = {
    "assumes": "any tokens, queries, weights $P$, $Q$, masks, decays and gates of that kind; any number of layers",
    "forall": ("d >= 1", "n"), "by_hand": "docs/arguments.md#layers-with-weighted-keys",
}
MODEL, PREDICTION, SIGNS = "E' - T' E_0", "q'(x + z) - q'(x) - q'(z)", "e'(E F) - s\\, e'(E)"
claim("lt.attention-variants/decay/proved",
      identity(step_in_words, MODEL, control={"wrong": "yes"}, over={"of": "model"}),
      proves="lt.attention-variants/decay", source=REBUTTAL, kind="derived", expected="supported", **EVERY,
      title="with decaying keys every token is one linear map of itself, at every depth and size",
      statement=rf"{MODEL} = 0 \quad \text{{for every }} d, n")
claim("lt.attention-variants/retention/prediction/proved",
      identity(step_in_words, PREDICTION, control={"wrong": "yes"}, over={"of": "prediction"}),
      proves="lt.attention-variants/retention/prediction", source=REBUTTAL, kind="derived", expected="supported", **EVERY,
      title="RetNet's prediction is linear in the query, at every depth and size",
      statement=rf"{PREDICTION} = 0 \quad \text{{for every }} d, n")
for kind, words in {"retention": "a mask with decays", "decay": "decays of the keys", "gated": "gates that are even in each token"}.items():
    claim(f"lt.attention-variants/{kind}/quadratic-target/proved",
          identity(step_in_words, SIGNS, control={"wrong": "yes"}, over={"of": "signs"}),
          proves=f"lt.attention-variants/{kind}/quadratic-target", source=REBUTTAL, kind="derived", expected="supported", **EVERY,
          title=f"parity of tokens at every depth and size: {words}", statement=rf"{SIGNS} = 0 \quad \text{{for every }} d, n")
