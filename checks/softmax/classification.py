r"""A conjecture of the rebuttal: in classification the optimal window scales with noise and Lipschitzness as in regression.

For the Brier loss it is a theorem. For the cross-entropy it holds in every measured case: w* grows with the Lipschitz
constant of the class probabilities and falls with the label noise. At a fixed n it does not hold for every L.
"""

from lipverify.checks.softmax.class_ladders import SMOOTHINGS, exact_windows, sampled_losses, sampled_windows, steps
from lipverify.checks.softmax.class_probabilities import brier_splits
from lipverify.checks.softmax.slopes import squares
from lipverify.claims import agree, at, bound, claim, identity, per_profile

# fmt: off
HEADINGS = {"extension.classification": (8, 1, "Classification (a conjecture of the rebuttal)")}
REBUTTAL = ("R", "Global rebuttal, point 3, Classification", """The nature of the attention estimate will not change based on the loss
    function, so it will again be a nearest neighbors estimate in the classification setting. Thus, we expect that the optimal attention
    weights will again scale with the label noise level and inversely with the Lipschitzness of the labels, for an analogous notion of
    Lipschitzness defined for the classification setting""")
MODEL = (
    r"tokens and query uniform on $S^{d-1}$, $q$ uniform on $S^{d-1}$, labels 0 or 1 with $P(y = 1 \mid x) = p(x)$",
    r"$L = \sup |p(x) - p(x')| / \|x - x'\|$; prediction $\hat p(x) = \sum_i a_i y_i$, attention scores $w \langle x_i, x \rangle$",
)
SIZES = "$d = 3$, $n = 64$ (in full also $d = 2$ and $5$)"
BY_L = r"$p(x) = 1/2 + L \langle q, x \rangle$ and $p(x) = 1 / (1 + e^{-4 L \langle q, x \rangle})$"
BY_NOISE = r"""labels flipped with probability 0, 0.1 and 0.2; and $p(x) = b + 0.2 \langle q, x \rangle$ with $b$ = 0.2,
    0.3 and 0.5"""
BRIER = r"Brier loss $\mathbb{E} (\hat p - p(x))^2$"
ENTROPY = r"""cross-entropy of $(1 - \varepsilon) \hat p + \varepsilon / 2$, $\varepsilon = 0.02$ and $0.1$: without
    smoothing it is infinite where the average of the labels is 0 or 1"""
D, SMOOTHER, NOISIER = per_profile((3,), (2, 3, 5)), ("linear", "logistic"), ("linear, flips", "logistic, flips", "linear, base")
CHANGE = r"\log (w^* / w^*_{\mathrm{below}})"
CONTEXTS = per_profile(8192, 65_536)
BRIER_DRAWN, ENTROPY_DRAWN = (at(sampled_windows, loss=loss, found=at(sampled_losses, contexts=CONTEXTS)) for loss in ("brier",
                                                                                                                       "cross-entropy"))

claim("extension.classification/brier/l",
      bound(exact_windows, CHANGE, of="{step}", low=0, strict=True, control="3/2*log(2)",
            method="exact",  # rungs of L are doubled: growth like L^(3/2)
            over={"d": D, "n": 64, ("ladder", "step"): steps(*SMOOTHER)}),
      agree(exact_windows, BRIER_DRAWN, "w^*", of="middle", over={"d": 3, "n": 64, "ladder": SMOOTHER}),
      source=REBUTTAL, kind="convention", reading="the Brier loss", expected="supported",
      title="Brier loss: w* grows with the Lipschitz constant of the class probabilities",
      assumes=(*MODEL, SIZES, BY_L, BRIER),
      finding=r"""For the Brier loss the conjecture is a theorem. Given tokens and task, label $i$ has variance
          $p(x_i)(1 - p(x_i))$. If the law is the same in all directions, the mean of this over tasks is the same number
          $v$ for every token and does not depend on the weights. So $\mathbb{E}(\hat p - p(x))^2 = B(w) + v\,
          \mathbb{E} \sum_i a_i^2$ exactly: classification is regression on $f = p$ with $\sigma^2 = v = \mathbb{E}\, p
          (1 - p)$, and every statement on the optimal $w$ carries over. Read literally, the rebuttal says that the
          optimal attention weights scale with the noise and inversely with the Lipschitzness. That is true of the size
          of the window, $1/w^*$, and reversed for $w^*$ itself.""")
claim("extension.classification/brier/noise",
      bound(exact_windows, CHANGE, of="{step}", high=0, strict=True, control=-0.38, method="exact",
            over={"d": D, "n": 64, ("ladder", "step"): steps(*NOISIER)}),
      agree(exact_windows, BRIER_DRAWN, "w^*", of="middle", over={"d": 3, "n": 64, "ladder": NOISIER}),
      source=REBUTTAL, kind="convention", reading="the Brier loss", expected="supported",
      title="Brier loss: w* falls with the label noise",
      assumes=(*MODEL, SIZES, BY_NOISE, BRIER),
      finding=r"""The noise is $v = \mathbb{E}\, p (1 - p)$. Flipping labels with probability $\eta$ turns $p$ into
          $\eta + (1 - 2\eta) p$: it raises $v$ and lowers $L$ by the factor $1 - 2\eta$, and both widen the window. The
          base rate separates the two effects: $p = b + L \langle q, x \rangle$ has the same $L$ for every $b$ and $v =
          b(1 - b) - L^2/d$, and the window widens with $v$ alone.""")
claim("extension.classification/brier/amplitude/proved",
      identity(squares, r"\frac{\mathrm{d}}{\mathrm{d} w} \sum_i a_i^2 - \sum_{ij} a_i a_j (a_i - a_j)(t_i - t_j)",
               control={"kept": "101/100"}),
      identity(brier_splits, r"\mathbb{E} (\hat p - p)^2 - (B + v \sum_i a_i^2)", control={"kept": "101/100"}),
      source=REBUTTAL, kind="convention", reading="the Brier loss, where L is an amplitude", expected="supported",
      title="Brier loss: w* never falls with L nor rises with the label noise, where L is an amplitude: every n and d",
      statement=r"\frac{L^2}{v} < \frac{L'^2}{v'} \implies w^*(L, v) \leq w^*(L', v'), \qquad v = \mathbb{E}\, p (1 - p)",
      assumes=(*MODEL, r"$p(x) = b + L g(x)$, any law of $g$ that is the same in all directions; $v > 0$; any $n, d \geq 2$; $w \geq 0$",
               BRIER),
      forall=("n >= 2", "d", "L > 0", "v > 0"), by_hand="docs/arguments.md#brier-loss",
      finding=r"""At a fixed base rate $v = b(1 - b) - L^2 \mathbb{E} g^2$ falls as $L$ grows ($\mathbb{E} g = 0$).
          Labels flipped with probability $\eta$ have the amplitude $(1 - 2 \eta) L$ and a larger $v$. A base rate nearer
          to $1/2$ raises $v$ alone. In the logistic link $L$ is not an amplitude; that case is measured (`brier/l`).""")
claim("extension.classification/cross-entropy/l",
      bound(ENTROPY_DRAWN, CHANGE, of="{step}", low=0, strict=True, control="3/2*log(2)", method="montecarlo",
            over={"d": D, "n": 64, "eps": SMOOTHINGS, ("ladder", "step"): steps(*SMOOTHER)}),
      source=REBUTTAL, kind="convention", reading="the cross-entropy", expected="supported",
      title="cross-entropy: w* grows with the Lipschitz constant of the class probabilities",
      assumes=(*MODEL, SIZES, BY_L, ENTROPY),
      finding=r"""Both smoothings agree on the direction. Near $\hat p = p$ the cross-entropy is the Brier loss divided
          by $2 p(1 - p)$ plus a constant. As long as $p$ stays away from 0 and 1, this hardly changes the balance of
          bias and noise. Closer to 0 and 1, smoothing pulls predictions to $1/2$, and more smoothing makes the optimal
          window narrower. Read literally, the rebuttal says that the optimal attention weights scale with the noise and
          inversely with the Lipschitzness. That is true of the size of the window, $1/w^*$, and reversed for $w^*$
          itself.""")
claim("extension.classification/cross-entropy/noise",
      bound(ENTROPY_DRAWN, CHANGE, of="{step}", high=0, strict=True, control=-0.53, method="montecarlo",
            over={"d": D, "n": 64, "eps": SMOOTHINGS, ("ladder", "step"): steps(*NOISIER)}),
      source=REBUTTAL, kind="convention", reading="the cross-entropy", expected="supported",
      title="cross-entropy: w* falls with the label noise",
      assumes=(*MODEL, SIZES, BY_NOISE, ENTROPY),
      finding="""Both smoothings agree on the direction, for flipped labels and for a base rate nearer to $1/2$ at a
          fixed $L$.""")
claim("extension.classification/brier/l/every-l",
      bound(exact_windows, "w^*_{L'} - w^*_L", of="{step}, w", low=0, strict=True, control=(10, {"high": 0, "strict": True}),
            method="exact",
            over={("d", "n", "ladder", "step"): [(3, 64, "waves", "L 3 to 4"), (2, 8, "few waves", "L 1.5 to 2.5")]}),
      source=REBUTTAL, kind="convention", reading="the Brier loss, for every L at a fixed n", expected="refuted",
      title="Brier loss: w* grows with L at fixed n, without a bound on L",
      statement=r"L < L' \implies w^*_L < w^*_{L'} \quad \text{for all } L, L' \text{ and every } n",
      assumes=(*MODEL, r"$p(x) = (1 + \cos(2 L \langle q, x \rangle)) / 2$: Lipschitz constant $L$", BRIER,
               "$d = 3$, $n = 64$, from $L = 3$ to 4; $d = 2$, $n = 8$, from $L = 1.5$ to 2.5"),
      finding="""The direction needs contexts that resolve the probabilities, as the theorem for regression needs a
          large $n$. Once $p$ oscillates on a scale finer than the distance to the nearest tokens, no window predicts
          it. Averaging many labels is then best, and $w^*$ turns back towards 0 as $L$ grows further.""",
      corrected=r"""$w^*$ grows with $L$ once $n$ is large enough to resolve the probabilities, $n \geq n_0(L, d)$;
          where $L$ is an amplitude (linear probabilities) it grows at every $n$""")
