r"""Lemma 4.4: a diagonal layer is a step of gradient descent with momentum towards the least-squares fit w* of the context.

It holds at every state and for all tokens, with kappa = 1 in Gamma and Pi and the current moments in Lambda. The
appendix prints kappa = a, which is false from the second layer on; with the first moments in Lambda, or the true
weights for w*, it is false too.
"""

from lipverify.checks.linear_transformers.descent_steps import in_fractions, in_words, kappa_of_tokens, smallest
from lipverify.claims import bound, claim, identity

# fmt: off
HEADINGS = {"lt.momentum": (9, 4, "Gradient descent with momentum (Lemma 4.4)")}
LEMMA = ("V", "Lemma 4.4 and its proof in the appendix", r"""paraphrased:
    $u' = (I - \Lambda) u + \Gamma \Sigma (a w^* - w)$, $w' = (1 + s) w - \Pi \Sigma (a w^* - w) - \Phi u$, with
    $\Lambda = -\omega_{xy} a^2 \rho I - \omega_{xx} \Sigma$, $\Gamma = a \omega_{xy} (M + a u w^{*\top})$, $s = \omega_{yy} \lambda$,
    $\Pi = \omega_{yx} M^\top (M + a u w^{*\top})$, $\Phi = a \rho \omega_{yx} M^\top$, $\rho = \sum_i r_i^2$""")
UPDATE = r"u' = (I - \Lambda) u + \Gamma \Sigma (a w^* - w), \quad w' = (1 + s) w - \Pi \Sigma (a w^* - w) - \Phi u"
CURRENT = r"\Lambda = -\omega_{xy} a^2 \rho I - \omega_{xx} \Sigma^l"
FIRST = r"\Lambda = -\omega_{xy} a^2 \rho I - \omega_{xx} \Sigma"
STATES = (
    r"""one layer with four free weights, at any state $(M, u, a, w)$; $s$, $\Phi$, $\rho$ as printed,
    $\Gamma = a \omega_{xy} (M + \kappa u w^{*\top})$, $\Pi = \omega_{yx} M^\top (M + \kappa u w^{*\top})$""",
    r"""$\Sigma = \sum_i x_i x_i^\top$ over the initial tokens; $\Sigma^l$ and $\lambda = \sum_i (y_i^l)^2$ over the
    tokens before the layer""",
    "any tokens, any number of them and any $d$",
)
FIT = (*STATES, r"""$w^*$ is a least-squares solution for the context, $r_i = y_i - \langle w^*, x_i \rangle$,
    so that $\sum_i r_i x_i = 0$""")
RIGHT = {"kappa": "one", "moments": "current", "fit": "least squares"}
EVERY_SIZE = identity(in_words, r"\text{words left of } (u', w')", control=({"kappa": "a"}, RIGHT))
FORMS = (EVERY_SIZE, identity(smallest, "u' - u'_{lemma}", of="u", control=({"kappa": "a"}, RIGHT)),
         identity(smallest, "w' - w'_{lemma}", of="w", control=({"kappa": "a"}, RIGHT)))
SHAPES = {("d", "n"): ((1, 2), (2, 4), (3, 8), (4, 10))}
PROOF = r"""As $\sum_i r_i x_i = 0$, $\alpha^l = \sum_i y_i^l x_i^l = (M + u w^{*\top}) \Sigma (a w^* - w) + a \rho u$;
    insert it into $u' = (I + \omega_{xx} \Sigma^l) u + a \omega_{xy} \alpha^l$ and $w' = (1 + \omega_{yy} \lambda) w -
    \omega_{yx} M^\top \alpha^l$."""
SMALLEST = r"""Smallest case: one token $x = y = 1$; a first layer with $\omega_{xy} = \omega_{yy} = 1$ gives $M = u =
    1$, $a = 2$, $w = 0$; a second with $\omega_{xx} = \omega_{xy} = \omega_{yx} = 1$ gives, token by token, $u' = 13$
    and $w' = -4$; this reading gives"""
CORRECTED = r"""$\kappa = 1$: $\Gamma = a \omega_{xy} (M + u w^{*\top})$, $\Pi = \omega_{yx} M^\top (M + u w^{*\top})$; and $\Lambda =
    -\omega_{xy} a^2 \rho I - \omega_{xx} \Sigma^l$ with $\Sigma^l = (M + u w^{*\top}) \Sigma (M + u w^{*\top})^\top + \rho u u^\top$ the
    moments of the current covariates. Everything else of the lemma stands as printed"""

claim("lt.momentum/printed", *FORMS, over={"kappa": "a", "moments": "current", "fit": "least squares"},
      source=LEMMA, kind="printed", expected="refuted", title="Momentum with κ = a, as printed in the appendix",
      statement=rf"{UPDATE}, \quad \kappa = a, \quad {CURRENT}", assumes=FIT, corrected=CORRECTED,
      finding=rf"""With $\kappa = a$ the right-hand sides are off by $(a - 1) \langle w^*, \Sigma (a w^* - w) \rangle$
          times $a \omega_{{xy}} u$ in $u'$ and times $-\omega_{{yx}} M^\top u$ in $w'$. This is 0 while $u = 0$ or $a =
          1$, so in the first layer, and in general not from the second on. The origin: in $x_i^l = M x_i + u y_i$ the
          initial label enters, $y_i = \langle w^*, x_i \rangle + r_i$, without the factor $a$ that belongs to $y_i^l =
          a y_i - \langle w, x_i \rangle$; so $x_i^l = (M + u w^{{*\top}}) x_i + r_i u$. {PROOF} {SMALLEST} 17 and $-6$.""")
claim("lt.momentum/printed/original-moments", *FORMS, over={"kappa": "a", "moments": "original", "fit": "least squares"},
      source=LEMMA, kind="convention", expected="refuted", title="Momentum with κ = a and the first moments in Λ",
      statement=rf"{UPDATE}, \quad \kappa = a, \quad {FIRST}", assumes=FIT, corrected=CORRECTED,
      finding=rf"""Both errors: $(a - 1) \langle w^*, \Sigma (a w^* - w) \rangle$ times $a \omega_{{xy}} u$ and times
          $-\omega_{{yx}} M^\top u$ for $\kappa = a$, and $\omega_{{xx}} (\Sigma^l - \Sigma) u$ for the moments in
          $\Lambda$. {PROOF} {SMALLEST} 14 and $-6$.""")
claim("lt.momentum/derived", *FORMS, over=RIGHT, source=LEMMA, kind="derived", expected="supported",
      title="Momentum with κ = 1 and the moments of the current layer in Λ",
      statement=rf"{UPDATE}, \quad \kappa = 1, \quad {CURRENT}", assumes=FIT,
      finding=rf"""{PROOF} Everything else of the lemma holds: the signs, $\rho$ of the first tokens, $a^2$ in
          $\Lambda$. No word remains, for general tokens, $w^*$ and state, in matrices of symbolic sizes: for every $d$
          and $n$.""")
claim("lt.momentum/derived/drawn",
      identity(in_fractions, r"\text{entries missed of } (u', w')", over=SHAPES, method=("rational", "bounded"),
               control=({"moments": "original"}, RIGHT)),
      over=RIGHT, source=LEMMA, kind="derived", expected="supported", title="Momentum with κ = 1, token by token",
      statement=rf"{UPDATE}, \quad \kappa = 1, \quad {CURRENT}",
      assumes=(*FIT, "random integers for tokens, fractions for weights, up to $d = 4$"))
claim("lt.momentum/kappa",
      bound(kappa_of_tokens, r"\kappa", equals=1, over=SHAPES, method=("rational", "bounded"), control={"equals": "11/10"}),
      source=LEMMA, kind="derived", expected="supported", title="The κ that random tokens determine",
      assumes=(*FIT, r"""$\Lambda$ with $\Sigma^l$; random integers for tokens, fractions for weights, a state with $a =
            3/2$"""),
      finding=r"""The only $\kappa$ that gives the $w'$ of the tokens, in fractions: 1 to the last digit, where $a =
            3/2$.""")
claim("lt.momentum/derived/original-moments", *FORMS, over={"kappa": "one", "moments": "original", "fit": "least squares"},
      source=LEMMA, kind="convention", expected="refuted", title="Momentum with κ = 1 and the first moments in Λ",
      statement=rf"{UPDATE}, \quad \kappa = 1, \quad {FIRST}", assumes=FIT, corrected=CORRECTED,
      finding=rf"""With $\Sigma$ of the first tokens in $\Lambda$ the right-hand side of $u'$ is off by $\omega_{{xx}}
          (\Sigma^l - \Sigma) u$: a layer multiplies by the moments of its own input, $A = \omega_{{xx}} \Sigma^l$. The
          difference vanishes while the covariates are unchanged, or $u = 0$, or $\omega_{{xx}} = 0$; $w'$ is right.
          {PROOF} {SMALLEST} 10 and $-4$.""")
claim("lt.momentum/derived/true-weights", EVERY_SIZE,
      over={"kappa": "one", "moments": "current", "fit": "the task's own weights"},
      source=LEMMA, kind="convention", expected="refuted", title="Momentum with the task's own weights for w*",
      statement=rf"{UPDATE}, \quad \kappa = 1, \quad {CURRENT}",
      assumes=(*STATES, r"""$w^*$ is the vector behind the labels, $y_i = \langle w^*, x_i \rangle + r_i$ with $r_i$ the
          label noise"""),
      finding=r"""The noise is not orthogonal to the covariates: $\sum_i r_i x_i = g$ is not 0, and $\alpha^l$ has the
          further terms $a (M + u w^{*\top}) g$ and $\langle a w^* - w, g \rangle u$. The lemma is about descent towards
          the least-squares solution of the context, which is all that the layers can depend on.""",
      corrected=r"""$w^*$ is a least-squares solution, $\Sigma w^* = \sum_i y_i x_i$, and $r_i$ are its residuals; for the true weights the
          identity needs $\sum_i r_i x_i = 0$""")
