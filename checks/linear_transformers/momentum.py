r"""Lemma 4.4: a diagonal layer is a step of gradient descent with momentum towards the least-squares fit w* of the context.

It holds at every state and for all tokens. The appendix names its matrices, with the moments of the current tokens in Lambda as it
must be, and with a factor a before u w*^T in Gamma and Pi. There the factor is 1: with a the formulas are false from the second
layer on. With the true weights for w* the lemma is false too.
"""

from lipverify.checks.linear_transformers.descent_steps import in_words, kappa_of_tokens, smallest
from lipverify.checks.linear_transformers.layers_in_words import gradient
from lipverify.claims import bound, claim, identity

# fmt: off
HEADINGS = {"lt.momentum": (9, 4, "Gradient descent with momentum (Lemma 4.4)")}
LEMMA = ("V", "Lemma 4.4", r"""In the setup of Theorem 4.1 with diagonal parameters, $u^l, w^l$ are updated as [...] Here $\Lambda^l,
    \Gamma^l, s^l, \Pi^l, \Phi^l$ are matrices and numbers that depend on $M^l, u^l, a^l, w^l$ in Lemma 4.3.""")
APPENDIX = ("V", "Appendix A.2, after Lemma A.1", r"""Now Lemma A.1 implies Lemma 4.4 immediately by setting $\Lambda^l = -\omega_{xy}^l
    (a^l)^2 \rho I - \omega_{xx}^l \Sigma^l$, $\Gamma^l = a^l \omega_{xy}^l (M^l + a^l u^l (w^*)^\top)$, ..., $\Pi^l = \omega_{yx}^l
    (M^l)^\top (M^l + a^l u^l (w^*)^\top)$ and $\Phi^l = a^l \rho \omega_{yx}^l (M^l)^\top$.""")
DESCENT = ("V", "Section 4, after Lemma 4.4", r"""$\Sigma(a^l w^* - w^l)$ is (proportional to) the gradient of a linear model $f(w^l) =
    \sum_{i=1}^n (a^l y_i - \langle w^l, x_i \rangle)^2$.""")
UPDATE = r"u' = (I - \Lambda) u + \Gamma \Sigma (a w^* - w), \quad w' = (1 + s) w - \Pi \Sigma (a w^* - w) - \Phi u"
CURRENT = r"\Lambda = -\omega_{xy} a^2 \rho I - \omega_{xx} \Sigma^l"
STATES = (
    r"""one layer with four free weights, at any state $(M, u, a, w)$; $s$, $\Phi$, $\rho$ as printed,
    $\Gamma = a \omega_{xy} (M + \kappa u w^{*\top})$, $\Pi = \omega_{yx} M^\top (M + \kappa u w^{*\top})$""",
    r"""$\Sigma = \sum_i x_i x_i^\top$ over the initial tokens; $\Sigma^l$ and $\lambda = \sum_i (y_i^l)^2$ over the
    tokens before the layer""",
    "any tokens, any number of them and any $d$",
)
FIT = (*STATES, r"""$w^*$ is a least-squares solution for the context, $r_i = y_i - \langle w^*, x_i \rangle$,
    so that $\sum_i r_i x_i = 0$""")
RIGHT = {"kappa": "one", "fit": "least squares"}
EVERY_SIZE = identity(in_words, r"\text{words left of } (u', w')", control=({"kappa": "a"}, RIGHT))
PROOF = r"""As $\sum_i r_i x_i = 0$, $\alpha^l = \sum_i y_i^l x_i^l = (M + u w^{*\top}) \Sigma (a w^* - w) + a \rho u$;
    insert it into $u' = (I + \omega_{xx} \Sigma^l) u + a \omega_{xy} \alpha^l$ and $w' = (1 + \omega_{yy} \lambda) w -
    \omega_{yx} M^\top \alpha^l$."""
CORRECTED = r"""$\Gamma^l = a^l \omega_{xy}^l (M^l + u^l (w^*)^\top)$ and $\Pi^l = \omega_{yx}^l (M^l)^\top (M^l + u^l (w^*)^\top)$, without
    the factor $a^l$ before $u^l$. Everything else stands as printed, $\Sigma^l = (M + u w^{*\top}) \Sigma (M + u w^{*\top})^\top + \rho u
    u^\top$ the moments of the current covariates included"""

claim("lt.momentum/lemma", EVERY_SIZE, over=RIGHT, source=LEMMA, kind="printed", expected="supported",
      title="A diagonal layer is a step of descent with momentum",
      statement=rf"{UPDATE}, \quad \kappa = 1, \quad {CURRENT}", assumes=FIT, forall=("d >= 1", "n"),
      finding=rf"""{PROOF} No word remains, for general tokens, $w^*$ and state, in matrices of symbolic sizes: for every $d$ and $n$. The
          lemma says of its matrices what they depend on; the appendix gives them (`printed`).""")
claim("lt.momentum/printed", EVERY_SIZE, over={"kappa": "a", "fit": "least squares"}, source=APPENDIX, kind="printed", expected="refuted",
      title="The matrices of the appendix, with a factor a before u",
      statement=rf"{UPDATE}, \quad \kappa = a, \quad {CURRENT}", assumes=FIT, corrected=CORRECTED,
      finding=rf"""With $\kappa = a$ the right-hand sides are off by $(a - 1) \langle w^*, \Sigma (a w^* - w) \rangle$
          times $a \omega_{{xy}} u$ in $u'$ and times $-\omega_{{yx}} M^\top u$ in $w'$. This is 0 while $u = 0$ or $a =
          1$, so in the first layer, and in general not from the second on. The origin: in $x_i^l = M x_i + u y_i$ the
          initial label enters, $y_i = \langle w^*, x_i \rangle + r_i$, without the factor $a$ that belongs to $y_i^l =
          a y_i - \langle w, x_i \rangle$; so $x_i^l = (M + u w^{{*\top}}) x_i + r_i u$. {PROOF}""")
claim("lt.momentum/printed/smallest",
      *[identity(smallest, f"{name}' - {name}'_{{\\text{{appendix}}}}", of=name,
                control=({"kappa": "a"}, {"kappa": "one"})) for name in "uw"],
      over={"kappa": "a"}, source=APPENDIX, kind="derived", expected="refuted", title="The matrices of the appendix on one token",
      assumes="one token $x = y = 1$", corrected=CORRECTED,
      finding=r"""A first layer with $\omega_{xy} = \omega_{yy} = 1$ gives $M = u = 1$, $a = 2$, $w = 0$; a second with $\omega_{xx} =
          \omega_{xy} = \omega_{yx} = 1$ gives, token by token, $u' = 13$ and $w' = -4$; the appendix gives 17 and $-6$.""")
claim("lt.momentum/kappa",
      bound(kappa_of_tokens, r"\kappa", equals=1, over={("d", "n"): ((1, 2), (2, 4), (3, 8), (4, 10))}, method=("rational", "bounded"),
            control={"equals": "11/10"}),
      source=APPENDIX, kind="derived", expected="supported", title="The factor before u that random tokens determine",
      assumes=(*FIT, r"random integers for tokens, fractions for weights, a state with $a = 3/2$"),
      finding=r"""The only $\kappa$ that gives the $w'$ of the tokens, in fractions: 1 to the last digit, where $a = 3/2$.""")
claim("lt.momentum/gradient",
      identity(gradient, r"\text{words left of } \tfrac12 \nabla f + \Sigma (a w^* - w)", control={"fit": "the task's own weights"}),
      over={"fit": "least squares"}, source=DESCENT, kind="printed", expected="supported", assumes=FIT[-1],
      title="Σ(a w* - w) is minus half the gradient of f", statement=r"\nabla f(w) = -2\, \Sigma (a w^* - w)",
      finding=r"""$\nabla f(w) = -2 \sum_i (a y_i - \langle w, x_i \rangle) x_i$, and $\sum_i y_i x_i = \Sigma w^*$.""")
claim("lt.momentum/true-weights", EVERY_SIZE, over={"kappa": "one", "fit": "the task's own weights"},
      source=LEMMA, kind="stronger", expected="refuted", title="Momentum with the task's own weights for w*",
      statement=rf"{UPDATE}, \quad \kappa = 1, \quad {CURRENT}",
      assumes=(*STATES, r"""$w^*$ is the vector behind the labels, $y_i = \langle w^*, x_i \rangle + r_i$ with $r_i$ the
          label noise"""),
      finding=r"""The noise is not orthogonal to the covariates: $\sum_i r_i x_i = g$ is not 0, and $\alpha^l$ has the
          further terms $a (M + u w^{*\top}) g$ and $\langle a w^* - w, g \rangle u$. The lemma is about descent towards
          the least-squares solution of the context, which is all that the layers can depend on.""",
      corrected=r"""$w^*$ is a least-squares solution, $\Sigma w^* = \sum_i y_i x_i$, and $r_i$ are its residuals; for the true weights the
          identity needs $\sum_i r_i x_i = 0$""")
