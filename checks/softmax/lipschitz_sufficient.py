r"""Empirical generalization: whether a shared Lipschitz constant is sufficient.

At the sizes of an experiment it is, and in the limit the loss tends to 0 on all three classes. One rate for every n takes one
order of smoothness as well: ReLU tasks have other windows than smooth ones.
"""

from __future__ import annotations

from lipverify.checks.softmax import shared_constant
from lipverify.checks.softmax.shared_constant import CLASSES, PAIRS, sampled, table
from lipverify.claims import Source, agree, at, bound, claim, exponent, identity, per_profile

# fmt: off
SLIDE = Source("S", "Empirical Generalization, sufficient", """Shared Lipschitzness across (train, test) is sufficient for ICL. 3 attention units,
    pretrained on Affine, ReLU, and Cosine tasks with $L = 1$. Tested on (Left) Affine, (Middle) ReLU, (Right) Cosine, with $L = 1$. All three
    attention units generalize to all test distributions since $L$ is the same""")
WORST = r"\sup_f \mathrm{loss} / L^2"
FACTOR = r"\mathrm{loss}(w^*_{\mathrm{trained}}) / \mathrm{loss}(w^*_{\mathrm{tested}})"
RAY = (1e9, 1e30, per_profile(8, 27))
MIXED = (1e9, 1e22, 14)
"""Beyond, the window of a mixture is known to fewer digits than its exponent needs: its loss is flat there."""
MEASURED = {("trained", "tested"): PAIRS, "d": (2, 3, 4, 5)}
MODEL = (
    r"tokens and query uniform on $S^{d-1}$, noise independent with variance $\sigma^2$",
    r"$\mathbf{M} = w^* \mathbf{I}$ of the trained class, attention scores $w^* \langle x_i, x \rangle$",
    "affine, ReLU and cosine classes, $L = 1$",
)
LIMIT = (*MODEL, r"$\sigma = 1$, $n \to \infty$ at $d = 2, 3, 4, 5$")
SAMPLED = agree(
    table, sampled, r"\mathrm{loss}", of="loss of {trained} on {tested}",
    over={("trained", "tested"): [("affine", "cosine"), ("cosine", "relu")], "d": 5, "n": 100.0},
)

claim(
    "softmax.lipschitz-sufficient/experiment",
    bound(at(table, d=3, sigma=0.3), FACTOR, of="{trained} on {tested}", high="2", control="1",
          over={("trained", "tested"): PAIRS, "n": (1e2, 1e3, 1e4)}, method="exact"),
    source=SLIDE, kind="convention", reading="within a factor of two at the sizes of an experiment", expected="supported",
    assumes=(*MODEL, r"$d = 3$, $\sigma = 0.3$, $n = 10^2, 10^3, 10^4$: the slides do not give theirs",
             "generalizes: within a factor of two of the window that is tuned to the tested class"),
    agrees=SAMPLED,
    finding="A window of another class costs little at these sizes, for the loss is flat at its minimum.",
)
claim(
    "softmax.lipschitz-sufficient/consistent",
    exponent(table, r"\mathrm{loss}", of="loss of {trained} on {tested}", along={"n": RAY}, high="0", strict=True, rate="-q", method="exact"),
    source=SLIDE, kind="convention", reading="the loss tends to 0", expected="supported", over=MEASURED,
    statement=r"\mathrm{loss}(w^*_{\mathrm{trained}}) \to 0 \quad \text{on each of the three classes}",
    assumes=(*LIMIT, "generalizes: the loss tends to 0"),
    agrees=SAMPLED,
    finding="""Any $w$ that grows without bound, and slower than $n^{2/(d-1)}$, sends both terms to 0, whatever it was trained on; for this much a
        shared $L$ is not needed.""",
)
claim(
    "softmax.lipschitz-sufficient/{trained}-to-{tested}/{side}/same-rate",
    exponent(table, FACTOR, of="{trained} on {tested}", along={"n": RAY}, high="0", rate="p", method="exact"),
    source=SLIDE, kind="convention", reading="the same rate for every n", expected={"*relu*": "refuted", "*": "supported"}, over=MEASURED,
    assumes=(*LIMIT, "generalizes: within a constant factor, for all $n$, of the window that is tuned to the tested class"),
    agrees=agree(table, sampled, r"\mathrm{loss}", of="loss of {trained} on {tested}", over={"d": 5, "n": 100.0}),
    finding={
        "relu-*": """The factor grows like $n^p$, slowly: an experiment does not see it. The bias of the ReLU class falls like $w^{-3/2}$ and that of
            a smooth one like $w^{-2}$, so windows tuned to ReLU tasks are too narrow for smooth ones by a power of $n$, and the noise dominates.""",
        "*-to-relu/*": """The factor grows like $n^p$, slowly: an experiment does not see it. The bias of the ReLU class falls like $w^{-3/2}$ and
            that of a smooth one like $w^{-2}$, so windows tuned to smooth tasks are too wide for ReLU ones by a power of $n$, and the bias dominates.""",
        "*": r"""Both classes are smooth, so both biases fall like $w^{-2}$ and both windows have one rate; the factor tends to a constant that
            depends on the ratio of $\mathbb{E}\, (\Delta f)^2$ and is 1 where these agree.""",
    },
    corrected={"*relu*": "One $L$ and one order of smoothness gave one rate (affine and cosine); one $L$ alone gives consistency.", "*": ""},
)
claim(
    "softmax.lipschitz-sufficient/theta/sharp",
    exponent(table, FACTOR, of="{trained} on {tested}", along={"n": (*RAY[:2], per_profile(16, 27))}, equals="p", over=MEASURED, method="exact"),
    identity(shared_constant.derivation, r"\text{implied} - \text{stated}", control={"kinked": "affine"}),
    source=SLIDE, kind="sharp", expected="supported",
    statement=FACTOR + r""" = \Theta(n^p), \quad p_{\mathrm{relu} \to \mathrm{smooth}} = \frac{d-1}{(d+2)(d+3)}, \; p_{\mathrm{smooth} \to
        \mathrm{relu}} = \frac{3}{(d+2)(d+3)}, \; p_{\mathrm{smooth} \to \mathrm{smooth}} = 0""",
    assumes=LIMIT,
    agrees=SAMPLED,
)
claim(
    "softmax.lipschitz-sufficient/any-class/{side}/same-rate",
    exponent(shared_constant.on_waves, FACTOR, along={"n": (1e5, 1e12, 8)}, high="0", rate="8/(d + 3)**2", control=(None, "8/(d + 3)**2 + 0.04"), method="exact"),
    source=SLIDE, kind="stronger", expected="refuted", over={"d": 2},
    statement=r"\sup_{\text{tested 1-Lipschitz}} " + FACTOR + r" = \mathcal{O}(1)",
    assumes=(
        *MODEL[:2], "trained on the affine class, $L = 1$",
        r"tested on $f(x) = \cos(k \langle q, x \rangle)/k$, 1-Lipschitz for every $k$, with $k^2 = w^*$, at $d = 2$",
    ),
    finding=r"""The Lipschitz constant bounds the bias by $L^2/w$ and no better, and $\cos(k \langle q, x \rangle)/k$ with $k^2 = w$ attains that
        order. So the loss on the worst 1-Lipschitz class is of order $n^{-2/(d+3)}$, and the factor over tuned attention $n^{8/(d+3)^2}$, from
        $\mathbb{E} (\Delta f)^2 \propto k^2$.""",
    corrected=r"Smooth classes transfer to each other at one rate, with a factor that the ratio of their $\mathbb{E} (\Delta f)^2$ sets.",
)
REVIEWED = Source("R", "Rebuttal 4, on Lipschitzness", """A model that is pretrained on Affine, ReLU and Cosine functions performs equally well for
    inference on any particular one of those tasks despite not sharing any common structure other than lipshitzness""")
MIXTURE = (
    *MODEL[:1],
    r"$\mathbf{M} = w^* \mathbf{I}$ of the mixture: each task is affine, ReLU or cosine with chance $\frac13$, $L = 1$",
)
claim(
    "softmax.lipschitz-sufficient/mixture/experiment",
    bound(at(shared_constant.mixed, d=3, sigma=0.3), r"\mathrm{loss}(w^*_{\mathrm{mixture}}) / \mathrm{loss}(w^*_{\mathrm{tested}})", of="mixture on {tested}",
          high="1.1", control="1", over={"tested": CLASSES, "n": (1e3, 1e4)}, method="exact"),
    source=REVIEWED, kind="convention", expected="supported",
    title="pretrained on a mixture of the three classes, at the sizes of an experiment",
    assumes=(*MIXTURE, r"$d = 3$, $\sigma = 0.3$, $n = 10^3, 10^4$", "equally well: within a tenth of the window that is tuned to the tested class"),
    finding="One window serves all three at these sizes, as the windows of single classes do (`experiment`).",
)
claim(
    "softmax.lipschitz-sufficient/mixture/window",
    exponent(shared_constant.mixed, "w^*", of="w", along={"n": MIXED}, equals="2/(d + 2)", method="exact"),
    exponent(shared_constant.mixed, r"\mathrm{loss}(w^*_{\mathrm{mixture}}) / \mathrm{loss}(w^*_{\mathrm{affine}})", of="mixture on affine",
             along={"n": MIXED}, equals="(d - 1)/((d + 2)*(d + 3))", method="exact"),
    source=REVIEWED, kind="sharp", expected="supported", over={"d": 2},
    title="pretrained on a mixture, attention adapts to its roughest class",
    assumes=(*MIXTURE, r"$\sigma = 1$, $n \to \infty$ at $d = 2$"),
    finding=r"""The ReLU class keeps a bias of order $w^{-3/2}$, which outlasts the $w^{-2}$ of the others: the mixture has the window of the ReLU
        class, $\Theta(\Lambda^{2/(d+2)})$. On ReLU tasks that is as good as tuned, up to a constant; on smooth tasks it loses a power of $n$, slowly.""",
)
claim(
    "softmax.lipschitz-sufficient/worst-task",
    exponent(shared_constant.worst_task, WORST, of="high", along={"n": (1e6, 1e13, 12)}, high="-1/(d + 2)", rate="-2/(d + 2)", method="exact"),
    exponent(shared_constant.worst_task, WORST, of="low", along={"n": (1e6, 1e13, 12)}, low="-3/(d + 2)", strict=True, rate="-2/(d + 2)", method="exact"),
    source=Source("R", "Review 2, strengths",
        "I like Theorem 3.5, whose test data are any arbitrary $L$-Lipschitz task, which is pretty general ICL setting"),
    kind="derived", expected="supported", over={"d": 2},
    title="tested on the worst L-Lipschitz tasks",
    statement=r"\Lambda^{-3/(d+2)} \ll \sup_{Lip(f) \leq L} \mathcal{L}(w^*; f) / L^2 = \mathcal{O}\left(\Lambda^{-1/(d+2)}\right)",
    assumes=(MODEL[0], "pretrained on the ReLU class", r"tested on every $f$ with $|f(x) - f(x')| \leq L \|x - x'\|$"),
    finding=r"""The bias of $f = \sum_k f_k$, $f_k$ a harmonic of degree $k$, is $\sum_k b_k \mathbb{E} f_k^2$, and $\sum_k k (k + d - 2) \mathbb{E}
        f_k^2 = \mathbb{E} |\nabla f|^2 \leq L^2$: no task has more than $L^2 \max_k b_k / (k (k + d - 2))$, which is of order $L^2/w$ at $k \approx
        \sqrt{w}$, and zigzags of that length attain this order. So on arbitrary tasks the upper bound of Theorem 3 that the sketch implies,
        $\Lambda^{-2/(d+2)}$, is sharp; the printed one, $\Lambda^{-1/(d+2)}$, holds with slack for every task, and there is no lower bound but the
        noise: a constant $f$ is $L$-Lipschitz.""",
)
