r"""The reviews on a shared Lipschitz constant: pretrained on a mixture of classes, and tested on the worst of all tasks.

At the sizes of an experiment the mixture serves each of its classes well; as n grows it has the optimal w of the
roughest class. On the worst tasks the loss falls like Lambda^{-2/(d+2)}, which the sketch of Theorem 3 implies; the
printed bound has half that exponent.
"""

from lipverify.checks.softmax.quantities import MODEL
from lipverify.checks.softmax.shared_constant import mixed, worst_task
from lipverify.claims import at, bound, claim, exponent

# fmt: off
REVIEWED = ("R", "Rebuttal 4, on Lipschitzness", """A model that is pretrained on Affine, ReLU and Cosine functions performs equally well
    for inference on any particular one of those tasks despite not sharing any common structure other than lipshitzness""")
REVIEW_2 = ("R", "Review 2, strengths",
    "I like Theorem 3.5, whose test data are any arbitrary L−Lipschitz task, which is pretty general ICL setting.")
WORST = r"\sup_f \mathrm{loss} / L^2"
MIXED = (1e9, 1e22, 14)
"""For larger d the loss of a mixture is so flat that its w is known to fewer digits than its exponent needs."""
MORE = {("tested", "n"): {
    ("affine", 1e3): {"more": "0.0064"}, ("affine", 1e4): {"more": "0.018"}, ("relu", 1e3): {"more": "0.0059"},
    ("relu", 1e4): {"more": "0.014"}, ("cosine", 1e3): {"more": "0.00014"}, ("cosine", 1e4): {"more": "0.00077"},
}}
"""The control of each cell, a tenth below what the w of the mixture costs there."""
MIXTURE = (
    MODEL[0],
    r"""$\mathbf{M} = w^* \mathbf{I}$ of the mixture: each task is affine, ReLU or cosine with probability $\frac13$,
          $L = 1$""",
)
claim("softmax.lipschitz-sufficient/mixture/experiment",
      bound(at(mixed, d=3, sigma=0.3), r"\mathrm{loss}(w^*_{\mathrm{mixture}}) / \mathrm{loss}(w^*_{\mathrm{tested}})",
            of="mixture on {tested}",
            high="1.1", control="1 + more", over=MORE, method="exact"),
      source=REVIEWED, kind="convention", expected="supported", reading="within a tenth of the tuned loss at the sizes of an experiment",
      title="pretrained on a mixture of the three classes, at the sizes of an experiment",
      assumes=(*MIXTURE, r"$d = 3$, $\sigma = 0.3$, $n = 10^3, 10^4$",
               "equally well: within a tenth of the loss at the $w$ that is tuned to the tested class"),
      finding="""One $w$ serves all three classes at these sizes, as the optimal $w$ of each single class does
            (`experiment`).""")
claim("softmax.lipschitz-sufficient/mixture/window",
      exponent(mixed, "w^*", of="w", along={"n": MIXED}, equals="2/(d + 2)", method="exact"),
      exponent(mixed, r"\mathrm{loss}(w^*_{\mathrm{mixture}}) / \mathrm{loss}(w^*_{\mathrm{affine}})", of="mixture on affine",
               along={"n": MIXED}, equals="(d - 1)/((d + 2)*(d + 3))", method="exact"),
      source=REVIEWED, kind="sharp", expected="supported", over={"d": 2},
      title="pretrained on a mixture, attention adapts to its roughest class",
      assumes=(*MIXTURE, r"$\sigma = 1$, $n \to \infty$ at $d = 2$"),
      finding=r"""The ReLU class has a bias of order $w^{-3/2}$, larger than the $w^{-2}$ of the others, so the mixture
          has the optimal $w$ of the ReLU class, $\Theta(\Lambda^{2/(d+2)})$. On ReLU tasks that is as good as tuned, up
          to a constant; on smooth tasks it loses a power of $n$, slowly.""")
claim("softmax.lipschitz-sufficient/worst-task",
      exponent(worst_task, WORST, of="high", along={"n": (1e6, 1e13, 12)}, high="-1/(d + 2)", truth="-2/(d + 2)", method="exact"),
      exponent(worst_task, WORST, of="low", along={"n": (1e6, 1e13, 12)}, low="-3/(d + 2)", strict=True, truth="-2/(d + 2)",
               method="exact"),
      source=REVIEW_2, kind="derived", expected="supported", over={"d": 2},
      title="tested on the worst L-Lipschitz tasks",
      statement=r"\Lambda^{-3/(d+2)} \ll \sup_{Lip(f) \leq L} \mathcal{L}(w^*; f) / L^2 = \mathcal{O}\left(\Lambda^{-1/(d+2)}\right)",
      assumes=(MODEL[0], "pretrained on the ReLU class", r"tested on every $f$ with $|f(x) - f(x')| \leq L \|x - x'\|$"),
      finding=r"""The bias of $f = \sum_k f_k$, $f_k$ a harmonic of degree $k$, is $\sum_k b_k \mathbb{E} f_k^2$, and
          $\sum_k k (k + d - 2) \mathbb{E} f_k^2 = \mathbb{E} |\nabla f|^2 \leq L^2$. So no task has a bias above $L^2
          \max_k b_k / (k (k + d - 2))$, which is of order $L^2/w$ at $k \approx \sqrt{w}$, and zigzags of that length
          attain this order. On arbitrary tasks the upper bound of Theorem 3 that the sketch implies,
          $\Lambda^{-2/(d+2)}$, is therefore sharp; the printed bound, $\Lambda^{-1/(d+2)}$, holds with slack for every
          task. There is no lower bound except the noise term: a constant $f$ is $L$-Lipschitz.""")
