r"""The block form: which entries of full key and query matrices tend to zero in training, and which the loss does not depend on.

The row that multiplies labels tends to zero if f(-x) has the law of f(x) or -f that of f; not for every law. The loss
does not depend on the column that multiplies the query's empty slot, which ends small only if it began small.
"""

from lipverify.checks.softmax.trained_blocks import slope_in_row, trained
from lipverify.claims import at, bound, claim, identity, per_profile

# fmt: off
HEADINGS = {"softmax.trained-form": (5, 2, "Full key and query matrices end in block form")}
REBUTTAL = ("R", "Rebuttal 1, answer 1, on the decomposition of equation (4)", r"""Do trained models have the same decomposition for
    $\mathbf{W}_K^\top \mathbf{W}_Q$ as in Equation (4)? We indeed observe this decomposition empirically, [...] trained on ReLU functions
    of varying ambient dimensions""")
RUNS, FRESH = per_profile(12, 24), per_profile(1000, 40_000)
TRAINED = at(trained, runs=RUNS, fresh=FRESH)
ORDINARY, SMALL = {"recipe": ("gd", "adam")}, {"recipe": ("small", "small, fast")}
ROW = r"\mathbf{W}_K^\top \mathbf{W}_Q \to \begin{bmatrix} \mathbf{M} & \cdot \\ \mathbf{0}^\top & \cdot \end{bmatrix}"
COLUMN = r"\mathbf{W}_K^\top \mathbf{W}_Q \to \begin{bmatrix} \mathbf{M} & \mathbf{0} \\ \cdot & 0 \end{bmatrix}"
MODEL = (
    r"covariates uniform on $S^{d-1}$, $n = 16$, $L = 3$, $\sigma = 0.5$; labels with their noise are sampled",
    r"""tokens $z_i = (x_i, y_i)$, query $(x, 0)$; $\mathbf{W}_K^\top \mathbf{W}_Q = \begin{bmatrix} \mathbf{M} & u \\ r^\top & c
    \end{bmatrix}$""",
    "value matrix as on the slide: the prediction is the attention average of the labels",
)
READ = (r"""zero: at most a tenth of $|\mathbf{M}|$, because stochastic gradients leave a few percent""", "99 % t-intervals over runs")
USUAL = "300 steps of 64 fresh contexts: gradient descent with step 0.3, Adam with step 0.02, from entries of standard deviation 0.3"
TINY = "300 steps of Adam with step 0.02 and 64 fresh contexts, or 0.04 and 128, from entries of standard deviation 0.03"

claim("softmax.trained-form/relu/row",
      bound(TRAINED, r"|r| / |\mathbf{M}|", of="row", high="1/10", control="1/250", over=ORDINARY, method="training"),
      bound(TRAINED, r"\log(|r| / |\mathbf{M}|)_{\mathrm{end}} - \log(|r| / |\mathbf{M}|)_{\mathrm{start}}", of="row fell", high="0",
            strict=True, control="-11/2", over=ORDINARY, method="training"),
      bound(TRAINED, r"\partial_r^2 \mathcal{L}(0)", of="curvature", low="0", strict=True, control="1/2", over=ORDINARY, method="training"),
      identity(slope_in_row, r"\partial_r \mathcal{L}(0) + \text{its mirror image}", control={"twice": 1}, method=("symmetry", "bounded")),
      source=REBUTTAL, kind="convention", reading="the row", expected="supported",
      over={"law": "relu", "d": (2, 5)},
      statement=ROW,
      assumes=(*MODEL, "$d = 2, 5$", USUAL, *READ),
      finding=r"""The score of token $i$ is $x_i^\top \mathbf{M} x + y_i\, r^\top x$. If every $x$ is replaced by $-x$,
          the query included, and labels are kept, the first term stays and the second changes its sign. Such a context
          is as likely as the first if $-x$ has the law of $x$ and $f(-x)$ that of $f(x)$, which holds for $q$ uniform
          on the sphere. So the loss is even in $r$, and block matrices are invariant under training. They are also
          attracting: a row tilts the average towards large or small labels by a term of order $|r|^2 \mathrm{Var}(y)^2$
          for every $n$.""")
claim("softmax.trained-form/relu/column/ordinary-start",
      bound(TRAINED, r"|u| / |\mathbf{M}|", of="column", high="1/10", control=("1/1000", {"low": "1/8"}), over=ORDINARY, method="training"),
      bound(TRAINED, r"\text{change of } (\mathbf{W}_Q)_{\cdot, d+1}", of="unseen", equals="0", within="0", control={"low": "2**-52"},
            over=ORDINARY, method="training"),
      source=REBUTTAL, kind="convention", reading="the column, from an ordinary start", expected="refuted", over={"law": "relu", "d": 5},
      statement=COLUMN,
      assumes=(*MODEL, "ReLU law, $d = 5$", USUAL, *READ),
      finding=r"""The last column of $\mathbf{W}_K^\top \mathbf{W}_Q$ is multiplied by the query's label slot, which is
          0: the loss does not depend on it and its gradient is exactly zero. When the product is trained, the last
          column of $\mathbf{W}_Q$ keeps its first value to the last bit, and $u = \mathbf{K}_x^\top
          (\mathbf{W}_Q)_{\cdot, d+1}$ even grows with the keys: from an ordinary start it ends at a considerable share
          of $|\mathbf{M}|$. The rebuttal does not give its start.""",
      corrected=r"""Training takes the product to $\begin{bmatrix} \mathbf{M} & u \\ \mathbf{0}^\top & c \end{bmatrix}$,
          where the start determines $u$ and $c$, which have no effect on any prediction. The printed form needs a small
          start, a zero start of that column, or weight decay; it can be assumed without loss of generality.""")
claim("softmax.trained-form/relu/column/small-start",
      bound(TRAINED, r"|u| / |\mathbf{M}|", of="column", high="1/10", control="1/100", over=SMALL, method="training"),
      bound(TRAINED, r"\text{change of } (\mathbf{W}_Q)_{\cdot, d+1}", of="unseen", equals="0", within="0", control={"low": "2**-52"},
            over=SMALL, method="training"),
      source=REBUTTAL, kind="convention", reading="the column, from a small start", expected="supported", over={"law": "relu", "d": 5},
      statement=COLUMN,
      assumes=(*MODEL, "ReLU law, $d = 5$", TINY, *READ),
      finding=r"""From a start of a tenth of the usual size the last column ends small relative to $\mathbf{M}$, as the
          rebuttal observes. It is small because it began small, and not because of training (the last column of
          $\mathbf{W}_Q$ has not changed).""")
