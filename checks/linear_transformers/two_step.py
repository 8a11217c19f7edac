r"""The effect of each weight of a diagonal layer on the prediction, and the number of layers until it appears.

omega_xy leaves the labels of its own layer unchanged, and has changed the prediction one layer later by a sum of three
terms: through the query's covariates, through those of the context, and through both. It does not act through the query
alone. The effect of every weight can be isolated in a trained model; without any of the four terms such a model loses
more.
"""

from lipverify.checks.linear_transformers.contributions import (
    ALL,
    WEIGHTS,
    after_one,
    after_two,
    change,
    every_weight,
    tokens_after_one,
    tokens_after_two,
    without,
)
from lipverify.checks.linear_transformers.figures import effects
from lipverify.checks.linear_transformers.quantities import TRAININGS
from lipverify.claims import at, bound, claim, identity, per_profile

# fmt: off
HEADINGS = {"lt.two-step": (9, 6, "What one weight changes, and when")}
REBUTTAL = ("V", "Rebuttal 3, on section 5.3", r"""Indeed, since $w_{xy}$ controls the how the current $y_t^l$ prediction affects the
    prediction of $x_t^{l+1}$ for the next layer, it doesn't change the prediction $y_t^{l+1}$. It takes at least two layers for this
    effect to reach the prediction $y_t^{l+2}$. However, it is quite challenging to empirically isolate the effect of every component,
    since all of the elements work simultaneously at every layer.""")
FOUR_TERMS = ("V", "Rebuttal 3, four terms", "All four terms per layer are helping to improve the loss")
LAYERS = """diagonal layers with four free weights each; any tokens, any number of them and any $d$; random samples up
      to $d = 5$"""
CHANGE = r"the change of a label is that from $\omega_{xy}^l = 0$ to its value, all other weights unchanged"
PARTS = r"""\omega_{yx}^{l+1} \bigl\{ \omega_{xy}^l \bigl( y_t \langle \beta, \alpha \rangle + \mu \langle \alpha, z_t \rangle \bigr)
    + (\omega_{xy}^l)^2 y_t \mu \|\alpha\|^2 \bigr\}"""
WHERE = r"""$z_t = (I + \omega_{xx} \Sigma) x_t$,
    $\beta = (I + \omega_{xx} \Sigma) ((1 + \omega_{yy} \lambda) \alpha + \omega_{yx} \Sigma \alpha)$,
    $\mu = (1 + \omega_{yy} \lambda) \lambda + \omega_{yx} \|\alpha\|^2$, everything at layer $l$ but $\omega_{yx}^{l+1}$"""
PLACE = ("d", "n", "layer")
SOON, LATE = {PLACE: ((1, 2, 1), (3, 8, 1))}, {PLACE: ((3, 8, 2), (5, 12, 3), (5, 12, 5))}
ANYWHERE = {PLACE: ((1, 2, 1), (3, 8, 1), (3, 8, 2), (5, 12, 3), (5, 12, 5))}
SAME = r"\frac{\partial y_t^{l+1}}{\partial \omega_{xy}^l} = 0"
LATER, MISSED = r"\text{words left of } \Delta y_t^{l+2}", r"1 - \text{stated} / \Delta y_t^{l+2}"

claim("lt.two-step/next-layer", identity(after_one, r"\text{words left of } \Delta y_t^{l+1}", control={"weight": "yx"}),
      source=REBUTTAL, kind="printed", expected="supported", title="ω_xy leaves the labels of its own layer unchanged", statement=SAME,
      assumes=(LAYERS, CHANGE),
      finding=r"""A layer adds $\omega_{yx} \langle \alpha, x \rangle + \omega_{yy} \lambda y$ to a label: $\omega_{xy}$
          is not in it, and $\alpha$, $\lambda$ are sums over tokens that it has not yet changed.""")
claim("lt.two-step/next-layer/drawn",
      identity(tokens_after_one, r"\Delta y_t^{l+1} / y_t^{l+1}", over=SOON, control={"weight": "yx"}, method=("rational", "bounded")),
      identity(tokens_after_one, r"\Delta y_t^{l+1} / y_t^{l+1}", over=LATE, control={"weight": "yy"}, method=("rational", "bounded")),
      source=REBUTTAL, kind="derived", expected="supported",
      title="ω_xy leaves the labels of its own layer unchanged, token by token",
      statement=SAME, assumes=(LAYERS, CHANGE))
claim("lt.two-step/second-layer",
      identity(after_two, LATER, over={"ways": ALL}, control={"ways": "query, context"}),
      identity(tokens_after_two, MISSED, over={"ways": ALL} | SOON, control={"ways": "query"}, method=("rational", "bounded")),
      identity(tokens_after_two, MISSED, over={"ways": ALL} | LATE, control={"ways": "context, both"}, method=("rational", "bounded")),
      source=REBUTTAL, kind="derived", expected="supported",
      title="One layer later ω_xy has changed the prediction, by a sum of three terms", statement=rf"\Delta y_t^{{l+2}} = {PARTS}",
      assumes=(LAYERS, CHANGE, WHERE),
      finding=r"""The change is a polynomial of second degree in $\omega_{xy}^l$, and all of it is multiplied by
          $\omega_{yx}^{l+1}$: with $\omega_{yx}$ the next layer reads the covariates that this layer has changed, while
          $\omega_{yy}^{l+1}$ reads only labels, which have not changed. To first order in $\omega_{xy}^l$ it is the
          first two terms: through the query's own covariates, in proportion to $y_t$, and through those of the context.
          The third term acts through both. Without any one of the three the formula is wrong.""")
claim("lt.two-step/through-the-query",
      identity(after_two, LATER, control=({"ways": "context"}, {"ways": ALL})),
      identity(tokens_after_two, MISSED, over=ANYWHERE, control=({"ways": "context"}, {"ways": ALL}),
               method=("rational", "bounded")),
      over={"ways": "query"}, source=REBUTTAL, kind="convention", expected="refuted",
      title="The effect acts through the query: its label changes its covariates, which change its label",
      statement=r"\Delta y_t^{l+2} = \omega_{yx}^{l+1} \omega_{xy}^l\, y_t \langle \beta, \alpha \rangle",
      assumes=(LAYERS, CHANGE, WHERE, "the path that the rebuttal describes, read as the only one"),
      finding=r"""At the first layer $y_t = 0$, so nothing acts through the query, and yet the prediction two layers
          later depends on $\omega_{xy}$: this is the adaptive step of section 5.3. The tokens of the context have
          labels from the start; $\omega_{xy}$ moves their covariates along $\alpha$, which changes the next layer's sum
          over them. Smallest case: $d = n = 1$, $x = y = x_t = 1$, $\omega_{xy}^0 = \omega_{yx}^1 = 1$: $y_t$ becomes 2
          in place of 1, and the query's covariate never changed.""",
      corrected=rf"""$\Delta y_t^{{l+2}} = {PARTS}$, with {WHERE}; at the first layer the only term is $\mu \langle
          \alpha, z_t \rangle$, through the context""")

TRAINED = r"""$d = 10$, $n = 20$, $\sigma \sim \mathrm{Unif}[0, 3]$, a diagonal model with four layers and four weights a layer that was
    trained on it, three times"""
RATIO = r"\mathrm{RMS}\, \Delta \hat{y}_t / \mathrm{RMS}\, \hat{y}_t"
CONTEXTS = per_profile(1024, 65_536)
claim("lt.two-step/trained",
      identity(at(change, contexts=CONTEXTS), RATIO, over={"layer": (1, 2, 3), "after": 1, "training": TRAININGS},
               method=("montecarlo", "observed"), control={"after": 2}),
      bound(at(change, contexts=CONTEXTS), RATIO, low=0, strict=True, over={"layer": (1, 2, 3), "after": 2, "training": TRAININGS},
            method=("montecarlo", "observed"), control={"after": 1}),
      source=REBUTTAL, kind="derived", expected="supported",
      title="the effect of each weight in a trained diagonal model, layer by layer",
      statement=r"""\mathrm{RMS}\, \Delta \hat{y}_t^{l+1} = 0 < \mathrm{RMS}\, \Delta \hat{y}_t^{l+2} \quad
          \text{for } \omega_{xy}^l \to 0""",
      assumes=(TRAINED, "root mean squares over fresh contexts, and over queries $x_t \\sim N(0, I)$ exactly"),
      shows=at(effects, found=at(every_weight, training=0, contexts=CONTEXTS)),
      finding=r"""Each weight of each layer is set to zero in turn, on the same fresh contexts: the effect of every
          single weight can be isolated although all act together. $\omega_{xx}$ and $\omega_{xy}$ of a layer change
          nothing in the prediction right after it; $\omega_{yx}$ and, from the second layer on, $\omega_{yy}$ do; and
          $\omega_{xx}$, $\omega_{xy}$ of the last layer change nothing. The prediction is exactly
          the sum of the additions by $\omega_{yx}$ and $\omega_{yy}$ of each layer (last panel).""")
claim("lt.two-step/each-term",
      bound(at(without, contexts=per_profile(4096, 65_536)), r"\log \frac{\mathcal{L}(\omega_k^l = 0 \; \forall l)}{\mathcal{L}}",
            low=0, strict=True, over={"term": WEIGHTS, "training": TRAININGS}, method=("montecarlo", "observed"), control={"term": ""}),
      source=FOUR_TERMS, kind="convention", expected="supported", reading="a trained model without any one of the four terms loses more",
      title="every one of the four terms helps: a trained model without it loses more",
      assumes=(TRAINED, """one of the four weights is set to zero in every layer, without retraining; the loss of a
          context counts as at most $d/2$"""))
