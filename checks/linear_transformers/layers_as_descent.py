r"""Each layer performs a variant of preconditioned gradient descent: plain without momentum, with a further term otherwise.

A diagonal layer moves v = w / a by a step of preconditioned descent on the least-squares loss of the context if no
earlier layer has a weight omega_xy: then u = 0, and the step's preconditioner is a multiple of M^T M. That covers GD++,
also with omega_yy. With momentum, u != 0, the layer leaves the least-squares fit, at which every step of preconditioned
descent is 0.
"""

from lipverify.checks.linear_transformers.contributions import momentum_cost
from lipverify.checks.linear_transformers.layers_in_words import preconditioned
from lipverify.checks.linear_transformers.quantities import TRAININGS
from lipverify.claims import at, bound, claim, identity, per_profile

# fmt: off
HEADINGS = {"lt.preconditioned": (9, 7, "Each layer is preconditioned gradient descent")}
ABSTRACT = ("V", "Abstract, each layer", """each layer of a linear transformer maintains a weight vector for an implicit linear
    regression problem and can be interpreted as performing a variant of preconditioned gradient descent""")
UPDATES = ("V", "Section 5.1, after (11)", """The update on $x$ acts as preconditioning and the update on $y$ performs gradient descent on
    the data.""")
OUTLOOK = ("V", "Rebuttal 2", r"""the algorithm discovered by the linear transformer, with its adaptive rescaling and momentum-like
    behavior""")
STEP = r"v' = v - P \,\nabla \tfrac12 \sum_i (y_i - \langle v, x_i \rangle)^2, \quad v = w / a"
STATE = (
    r"""a diagonal layer at any state $(M, u, a, w)$ with $a \neq 0$: a token has become $x_i^l = M x_i + u y_i$,
    $y_i^l = a y_i - \langle w, x_i \rangle$""",
    r"""$w^*$ is a least-squares solution for the context, $r_i = y_i - \langle w^*, x_i \rangle$, so that $\sum_i r_i x_i = 0$;
    $\rho = \sum_i r_i^2$""",
    "any tokens, any number of them and any $d$",
)
WITHOUT = r"""no earlier layer has a weight $\omega_{xy}$, so that $u = 0$; $s = \omega_{yy} \sum_i (y_i^l)^2 \neq -1$"""

claim("lt.preconditioned/without-momentum",
      identity(preconditioned, r"\text{words left of } (a w' - a' w, u')", over={"momentum": "none", "at": "any w"},
               control={"momentum": "any"}),
      source=ABSTRACT, kind="convention", reading="layers without momentum", expected="supported",
      title="Without momentum every layer is a step of preconditioned descent",
      statement=rf"{STEP}, \quad P = -\frac{{\omega_{{yx}}}}{{1 + s}} M^\top M", assumes=(*STATE, WITHOUT),
      finding=r"""With $u = 0$ the layer has $w' = (1 + s) w - \omega_{yx} M^\top M \Sigma (a w^* - w)$ and $a' = (1 +
          s) a$; divide. The preconditioner $M^\top M$ is the result of $\omega_{xx}$ of the earlier layers on the
          covariates; $\omega_{yy}$ scales the step. GD++ has $\omega_{xy} = \omega_{yy} = 0$ and is the case $s = 0$.""")
claim("lt.preconditioned/gd-plus-plus",
      identity(preconditioned, r"\text{words left of } (a w' - a' w, u')", over={"momentum": "none", "at": "any w"},
               control={"momentum": "any"}),
      source=UPDATES, kind="printed", expected="supported", title="A layer of GD++ is a step of preconditioned descent",
      statement=rf"{STEP}, \quad P = -\omega_{{yx}} M^\top M",
      assumes=(*STATE, r"$\omega_{xy} = \omega_{yy} = 0$ in every layer, so that $u = 0$"),
      finding=r"""The case $s = 0$ of `without-momentum`: $\omega_{yx}$ alone changes $w$, by descent on the data, and $\omega_{xx}$ of the
          layers before alone changes $M$, its preconditioner.""")
claim("lt.preconditioned/with-momentum",
      identity(preconditioned, r"\text{words left of } a w' - a' w \text{ at } w = a w^*", over={"momentum": "any", "at": "the fit"},
               control=({"at": "any w"}, {"momentum": "none", "at": "any w"})),
      source=ABSTRACT, kind="convention", reading="every layer, with momentum", expected="refuted",
      title="Every diagonal layer is a step of preconditioned descent",
      statement=rf"{STEP} \text{{ for some }} P", assumes=STATE,
      finding=r"""Read without "a variant of". For any $P$ the step is 0 at the least-squares fit, $v = w^*$. There the layer moves $v$ by
          $-\omega_{yx} \rho\, (a M^\top u + \|u\|^2 a w^*) / a'$: the residual noise times the momentum of an earlier
          $\omega_{xy}$.""",
      corrected=r"""true of layers without momentum: $u = 0$ (no earlier $\omega_{xy}$), or $\rho = 0$ at the fit; in general the step
          has the further term $-\Phi u$ of Lemma 4.4""")

CONTEXTS = per_profile(5120, 65_536)
COST = r"\log \frac{\mathcal{L}(u = 0 \text{ before every layer})}{\mathcal{L}}"
claim("lt.preconditioned/momentum-used/{model}",
      bound(at(momentum_cost, contexts=CONTEXTS), COST, low=0.1, over={"training": TRAININGS}, method=("montecarlo", "observed"),
            control={"layers": 1}),
      over={"model": ("diag", "full", "omega"), "noise": ("uniform-3", "uniform-7"), "layers": (4, 5)}, source=OUTLOOK,
      kind="convention", expected="supported",
      reading={"*/diag": "the momentum is needed by models with one diagonal head",
               "*/omega": "the momentum is needed by models with two diagonal heads",
               "*/full": "the momentum is needed by models with free matrices"},
      title={"*/diag": "Without momentum trained diagonal models with one head lose a tenth more",
             "*/omega": "Without momentum trained diagonal models with two heads lose a tenth more",
             "*/full": "Without momentum trained full models lose a tenth more"},
      statement=r"\mathcal{L}(u = 0 \text{ before every layer}) \geq 1.1\, \mathcal{L}",
      assumes=(r"""$d = 10$, $n = 20$, $\sigma \sim \mathrm{Unif}[0, \sigma_{\max}]$; models with four and five layers, trained three times
          each; adjusted losses""", r"""$u$ is set to 0 before every layer, without retraining; the loss of a context counts as at most
          $d/2$, the loss of predicting 0 without noise"""),
      finding="""One layer has no momentum: setting u to 0 changes nothing there, which is the control. Models with diagonal heads lose
          many times as much.""")
