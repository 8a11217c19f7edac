r"""Empirical generalization: whether a shared Lipschitz constant is sufficient.

At the sizes of an experiment it is, and in the limit the loss tends to 0 on all three classes. For one rate for every n
the classes also need the same order of smoothness: ReLU tasks have another w* than smooth ones.
"""

from lipverify.checks.softmax.quantities import MODEL
from lipverify.checks.softmax.shared_constant import PAIRS, derivation, on_waves, sampled, table
from lipverify.claims import agree, at, bound, claim, exponent, identity, per_profile

# fmt: off
HEADINGS = {"softmax.lipschitz-sufficient": (4, 6, "The same Lipschitz constant is enough")}
SLIDE = ("S", "Empirical Generalization, sufficient", """Shared Lipschitzness across (train, test) is sufficient for ICL. - 3 attention
    units, pretrained on Affine, ReLU, and Cosine tasks with L=1 - Tested on (Left) Affine, (Middle) ReLU, (Right) Cosine, with L = 1 -
    All three attention units generalize to all test distributions since L is the same""")
FACTOR = r"\mathrm{loss}(w^*_{\mathrm{trained}}) / \mathrm{loss}(w^*_{\mathrm{tested}})"
RAY = (1e9, 1e30, per_profile(8, 27))
MEASURED = {("trained", "tested"): PAIRS, "d": (2, 3, 4, 5)}
TUNED = (
    MODEL[0],
    r"$\mathbf{M} = w^* \mathbf{I}$ of the trained class, attention scores $w^* \langle x_i, x \rangle$",
    "affine, ReLU and cosine classes, $L = 1$",
)
LIMIT = (*TUNED, r"$\sigma = 1$, $n \to \infty$ at $d = 2, 3, 4, 5$")
SAMPLED = agree(
    table, sampled, r"\mathrm{loss}", of="loss of {trained} on {tested}",
    over={("trained", "tested"): [("affine", "cosine"), ("cosine", "relu")], "d": 5, "n": 100.0},
)

MORE = {("trained", "tested", "n"): {
    ("affine", "relu", 1e2): {"more": "0.0016"}, ("affine", "relu", 1e3): {"more": "0.023"}, ("affine", "relu", 1e4): {"more": "0.064"},
    ("affine", "cosine", 1e2): {"more": "0.0021"}, ("affine", "cosine", 1e3): {"more": "0.0045"},
    ("affine", "cosine", 1e4): {"more": "0.012"}, ("relu", "affine", 1e2): {"more": "0.002"}, ("relu", "affine", 1e3): {"more": "0.026"},
    ("relu", "affine", 1e4): {"more": "0.066"}, ("relu", "cosine", 1e2): {"more": "0.0072"}, ("relu", "cosine", 1e3): {"more": "0.0083"},
    ("relu", "cosine", 1e4): {"more": "0.023"}, ("cosine", "affine", 1e2): {"more": "0.0029"},
    ("cosine", "affine", 1e3): {"more": "0.0047"}, ("cosine", "affine", 1e4): {"more": "0.012"},
    ("cosine", "relu", 1e2): {"more": "0.0079"}, ("cosine", "relu", 1e3): {"more": "0.0078"}, ("cosine", "relu", 1e4): {"more": "0.021"},
}}
"""The control of each cell, a tenth below what another w costs there: a quotient to the optimum is never below 1."""

claim("softmax.lipschitz-sufficient/experiment",
      bound(at(table, d=3, sigma=0.3), FACTOR, of="{trained} on {tested}", high="2", control="1 + more", over=MORE, method="exact"),
      SAMPLED,
      source=SLIDE, kind="convention", reading="within a factor of two at the sizes of an experiment", expected="supported",
      assumes=(*TUNED, r"$d = 3$, $\sigma = 0.3$, $n = 10^2, 10^3, 10^4$: the slides do not give theirs",
               "generalizes: within a factor of two of the loss at the $w$ that is tuned to the tested class"),
      finding="The $w^*$ of another class costs little at these sizes, because the loss is flat at its minimum.")
claim("softmax.lipschitz-sufficient/consistent",
      exponent(table, r"\mathrm{loss}", of="loss of {trained} on {tested}", along={"n": RAY}, high="0", strict=True, truth="-q",
               method="exact"),
      SAMPLED,
      source=SLIDE, kind="convention", reading="the loss tends to 0", expected="supported", over=MEASURED,
      statement=r"\mathrm{loss}(w^*_{\mathrm{trained}}) \to 0 \quad \text{on each of the three classes}",
      assumes=(*LIMIT, "generalizes: the loss tends to 0"),
      finding="""Any $w$ that grows without bound, and slower than $n^{2/(d-1)}$, sends both terms to 0, whatever the
          training class. For this a shared $L$ is not needed.""")
claim("softmax.lipschitz-sufficient/{trained}-to-{tested}/{side}/same-rate",
      exponent(table, FACTOR, of="{trained} on {tested}", along={"n": RAY}, high="0", truth="p",
               control=(None, "p + 0.04"), method="exact"),
      agree(table, sampled, r"\mathrm{loss}", of="loss of {trained} on {tested}", over={"d": 5, "n": 100.0}),
      source=SLIDE, kind="convention", reading="the same rate for every n", expected={"*relu*": "refuted", "*": "supported"}, over=MEASURED,
      assumes=(*LIMIT, """generalizes: within a constant factor, for all $n$, of the loss at the $w$ that is tuned to
            the tested class"""),
      finding={
          "relu-*": """The factor grows like $n^p$, too slowly to see in an experiment. The bias of the ReLU class falls
              like $w^{-3/2}$ and that of a smooth class like $w^{-2}$. So the $w$ tuned to ReLU tasks is too large for
              smooth ones by a power of $n$, and the noise dominates.""",
          "*-to-relu/*": """The factor grows like $n^p$, too slowly to see in an experiment. The bias of the ReLU class
              falls like $w^{-3/2}$ and that of a smooth class like $w^{-2}$. So the $w$ tuned to smooth tasks is too
              small for ReLU ones by a power of $n$, and the bias dominates.""",
          "*": r"""Both classes are smooth, so both biases fall like $w^{-2}$ and both $w^*$ have the same rate. The
              factor tends to a constant that depends on the ratio of $\mathbb{E}\, (\Delta f)^2$ and is 1 where these
              agree.""",
      },
      corrected={"*relu*": "One $L$ and one order of smoothness gave one rate (affine and cosine); one $L$ alone gives consistency.",
                 "*": ""})
claim("softmax.lipschitz-sufficient/theta/sharp",
      exponent(table, FACTOR, of="{trained} on {tested}", along={"n": (*RAY[:2], per_profile(15, 27))}, equals="p", over=MEASURED,
               method="exact"),
      identity(derivation, r"\text{implied} - \text{stated}", control={"kinked": "affine"}),
      SAMPLED,
      source=SLIDE, kind="sharp", expected="supported",
      statement=FACTOR + r""" = \Theta(n^p), \quad p_{\mathrm{relu} \to \mathrm{smooth}} = \frac{d-1}{(d+2)(d+3)}, \; p_{\mathrm{smooth} \to
          \mathrm{relu}} = \frac{3}{(d+2)(d+3)}, \; p_{\mathrm{smooth} \to \mathrm{smooth}} = 0""",
      assumes=LIMIT)
claim("softmax.lipschitz-sufficient/any-class/{side}/same-rate",
      exponent(on_waves, FACTOR, along={"n": (1e5, 1e12, 8)}, high="0", truth="8/(d + 3)**2", control=(None, "8/(d + 3)**2 + 0.04"),
               method="exact"),
      source=SLIDE, kind="convention", reading="the same rate for every n, on every class with that constant", expected="refuted",
      over={"d": 2},
      statement=r"\sup_{\text{tested 1-Lipschitz}} " + FACTOR + r" = \mathcal{O}(1)",
      assumes=(
          *TUNED[:2], "trained on the affine class, $L = 1$",
          r"tested on $f(x) = \cos(k \langle q, x \rangle)/k$, 1-Lipschitz for every $k$, with $k^2 = w^*$, at $d = 2$",
      ),
      finding=r"""The Lipschitz constant bounds the bias by $L^2/w$ and no better, and $\cos(k \langle q, x \rangle)/k$
          with $k^2 = w$ attains that order. So the loss on the worst 1-Lipschitz class is of order $n^{-2/(d+3)}$, and
          it exceeds that of tuned attention by the factor $n^{8/(d+3)^2}$, because $\mathbb{E} (\Delta f)^2 \propto
          k^2$.""",
      corrected=r"""Smooth classes transfer to each other at one rate, with a factor that the ratio of their $\mathbb{E}
            (\Delta f)^2$ determines.""")
