r"""Empirical scaling of |M| with L: the norm grows faster during pretraining for larger L, and where that ends.

It holds as shown, for both laws and both kinds of covariates, and for every L if L is an amplitude. For the cosine law
it ends: on the circle, training at L = 5 hardly leaves its start.
"""

from lipverify.checks.softmax import norms
from lipverify.checks.softmax.figures import norms_in_training
from lipverify.claims import agree, at, bound, claim, per_profile

# fmt: off
HEADINGS = {"softmax.norm-growth": (5, 1, "The norm of M grows faster for rougher tasks")}
SLIDE = ("S", "Empirical Scaling of ||M|| with L",
    r"""$\|M\|$ grows faster during pretraining with larger L, on both ReLU and Cosine tasks, with both isotropic and
    non-isotropic $x_i$.""")
RATIO = r"\log \frac{\|\mathbf{M}_{L'}\|_2}{\|\mathbf{M}_L\|_2}"
STATED = r"L < L' \implies \|\mathbf{M}_L(t)\|_2 < \|\mathbf{M}_{L'}(t)\|_2 \quad \text{after } t \text{ steps}"
SEEDS = per_profile(8, 24)
AFTER = "{L} to {larger} after {step}"
SHARED = {"covariates": ("isotropic", "anisotropic")}
ASSUMED = (
    r"isotropic: uniform on $S^{d-1}$; anisotropic: $\Sigma^{1/2} U$, $\Sigma = \mathrm{diag}(2, 1, 1/2)$",
    r"start $\mathbf{M} = w_0 (\mathbf{I} + 0.1\, \mathbf{G})$, standard normal entries of $\mathbf{G}$; 160 steps of 32 fresh contexts",
    "99 % t-intervals of paired differences over runs: tokens, directions and starts are the same for all $L$",
    "the slide gives no sizes",
)
PACE = {
    "relu": {("L", "larger", "optimiser"): {
        (0.5, 1.0, "gd"): {"most": "1.2"}, (1.0, 2.0, "gd"): {"most": "1.0"}, (2.0, 4.0, "gd"): {"most": "0.7"},
        (0.5, 1.0, "adam"): {"most": "1.4"}, (1.0, 2.0, "adam"): {"most": "0.8"}, (2.0, 4.0, "adam"): {"most": "0.2"}},
        "step": (80, 160)},
    "cosine": {("L", "larger", "optimiser"): {
        (0.5, 1.0, "gd"): {"most": "1.3"}, (1.0, 2.0, "gd"): {"most": "2.4"},
        (0.5, 1.0, "adam"): {"most": "4.2"}, (1.0, 2.0, "adam"): {"most": "3.8"}}, "step": (80, 160)},
}
"""The control of each pair and optimiser: three half-widths above the largest ratio of its cells, on either kind of covariates."""
TRACE = r"\mathrm{tr}\, \mathbf{M} / d"

claim("softmax.norm-growth/relu/{covariates}",
      bound(at(norms.trained, law="relu", seeds=SEEDS), RATIO, of=AFTER, low=0, strict=True, control="most", over=PACE["relu"],
            method="training"),
      agree(at(norms.trained, law="relu", optimiser="gd", seeds=SEEDS), at(norms.descended, law="relu"), TRACE, of=("scale at 1", ""),
            over={"covariates": "isotropic"}),
      agree(at(norms.slope_at_zero, law="relu"), at(norms.derived_slope, law="relu"),
            r"-\mathrm{tr}\, \partial \mathcal{L} / \partial \mathbf{M}(0)"),
      source=SLIDE, kind="convention", reading="at the L of an experiment", expected="supported", over=SHARED,
      statement=STATED,
      assumes=(r"""ReLU law, $d = 3$, $n = 16$, $\sigma = 0.5$, $L = 0.5, 1, 2, 4$; gradient descent with step 1, Adam with step 0.05,
            $w_0 = 0.1$""", *ASSUMED),
      shows=at(norms_in_training, gd=at(norms.trained, law="relu", optimiser="gd", seeds=SEEDS),
               adam=at(norms.trained, law="relu", optimiser="adam", seeds=SEEDS)),
      finding=r"""For laws whose $L$ is an amplitude the order can be derived. The bias is $L^2 B_1$ with $B_1$ the bias
          at $L = 1$, so on isotropic covariates gradient flow from $w_0 \mathbf{I}$ obeys $\dot w = -(L^2 B_1'(w) +
          \sigma^2 N_1'(w)) / d$. Below the optimum $B_1' < 0$ and $N_1' > 0$: at every $w$ the speed is larger for
          larger $L$. By comparison of the two equations, so is $w(t)$ at every $t$. At the start the gradient is $-(1 -
          1/n) L^2 \Sigma^2 / (3 d^3)$: the first steps are proportional to $L^2$. On anisotropic covariates they
          increase $\mathbf{M}$ along the long axes, like $\Sigma^2$, which is opposite to the optimum $\Sigma^{-1}$ of
          Lemma 1.""")
claim("softmax.norm-growth/cosine/{covariates}",
      bound(at(norms.trained, law="cosine", seeds=SEEDS), RATIO, of=AFTER, low=0, strict=True, control="most", over=PACE["cosine"],
            method="training"),
      agree(at(norms.trained, law="cosine", optimiser="gd", seeds=SEEDS), at(norms.descended, law="cosine"), TRACE, of=("scale at 2", ""),
            over={"covariates": "isotropic"}),
      source=SLIDE, kind="convention", reading="at the L of an experiment", expected="supported", over=SHARED,
      statement=STATED,
      assumes=(r"""cosine law, $d = 3$, $n = 16$, $\sigma = 0.3$, $L = 0.5, 1, 2$; gradient descent with step 4, Adam with step 0.05,
            $w_0 = 0.5$""", *ASSUMED),
      shows=at(norms_in_training, gd=at(norms.trained, law="cosine", optimiser="gd", seeds=SEEDS),
               adam=at(norms.trained, law="cosine", optimiser="adam", seeds=SEEDS)),
      finding=r"""The cosine law is even and $\mathbf{M} = 0$ is a stationary point. Where the noise outweighs the
          curvature of the bias (small $L$) the norm shrinks from its start; elsewhere it first grows exponentially. The
          order in $L$ is as printed for the constants measured here; `softmax.norm-growth/cosine/every-l` shows where
          it ends.""")
claim("softmax.norm-growth/cosine/every-l",
      bound(at(norms.trained, law="circle", covariates="isotropic", seeds=SEEDS), RATIO, of=AFTER, low=0, strict=True, method="training",
            control=("log(10)", {"high": "-1/2"}),
          over={("L", "larger"): [(3.0, 5.0)], "optimiser": ("gd", "adam"), "step": (80, 160)}),
      agree(norms.curvature, norms.derived_curvature, r"-\mathcal{L}''(0) / 2", over={"L": (3.0, 5.0)}),
      source=SLIDE, kind="convention", reading="for every L", expected="refuted",
      statement=STATED + r", \text{ for all } L, L'",
      assumes=(r"""cosine law on the circle, $d = 2$, $n = 32$, $\sigma = 0.1$, $L = 3, 5$; gradient descent with step 2, Adam with step
          0.05, $w_0 = 0.5$""", *ASSUMED[1:]),
      shows=at(norms_in_training, gd=at(norms.trained, law="circle", covariates="isotropic", optimiser="gd", seeds=SEEDS),
                   adam=at(norms.trained, law="circle", covariates="isotropic", optimiser="adam", seeds=SEEDS)),
      finding=at(norms.learned_slowly, smooth=at(norms.best_window, L=3.0), rough=at(norms.best_window, L=5.0)),
      corrected=r"""The optimum grows with $L$. From a small start, the norm grows faster during training with larger
          $L$ as long as the lowest harmonic that a wide window can use does: for every $L$ where $L$ is an amplitude
          (ReLU, affine), and up to $L \approx 3$ for the cosine law on the circle, where the rate is proportional to
          $J_2(L)^2$.""")
