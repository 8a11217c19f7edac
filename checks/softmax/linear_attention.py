r"""Linear attention has a floor: its loss stays Omega(L^2) for every M and n, and that of softmax attention goes to 0.

The floor is what in f is not linear: for ReLU tasks it is there with and without the offset b, for affine tasks only by b. On
affine tasks without b linear attention learns, and faster than softmax attention.
"""

import numpy as np

from lipverify.checks.softmax import linear_floor
from lipverify.checks.softmax.figures import with_and_without_floor
from lipverify.checks.softmax.linear_floor import OFFSET
from lipverify.checks.softmax.quantities import DIMENSIONS, MODEL
from lipverify.claims import agree, at, bound, claim, exponent, identity, per_profile

# fmt: off
SUMMARY = ("A", "In-depth insights, ICL Mechanism, unique to softmax",
    "The authors also demonstrate that this adaptive behavior is unique to softmax and cannot be replicated by linear attention units.")
FLOORS = {
    ("affine", "offset"): {"p": "0", "q": "4/(d + 3)", "F": "1/3", "T": "1/50", "X": "4"},
    ("relu", "offset"): {"p": "0", "q": "3/(d + 2)", "F": "1/3 + 1/(6*d)", "T": "1/50", "X": "4"},
    ("relu", "no-offset"): {"p": "0", "q": "3/(d + 2)", "F": "1/(6*d)", "T": "9/200", "X": "10*d"},
}
"""The least loss of linear attention falls like n^-p, and that of softmax attention like n^-q. The floor F, in units of L^2, is
all of f that is not linear: the variance of b, and that of the even part of a ReLU function, (l_1 + l_2) |<q, x>| / 2. T is what
samples tell, three half-widths of theirs. X bounds the Lambda at which softmax attention overtakes linear attention for good."""
WITHOUT = {("affine", "no-offset"): {"p": "1", "q": "4/(d + 3)"}}
LEARNED = (
    MODEL[0],
    r"linear attention predicts $\frac{1}{n} \sum_i y_i x_i^\top \mathbf{M} x$; the loss is minimised over all $\mathbf{M}$",
)
ASSUMED = {"*/offset/*": (*LEARNED, OFFSET["offset"]), "*/no-offset/*": (*LEARNED, OFFSET["no-offset"])}
LAMBDA = r"""$\Lambda_\times = n_\times (L / \sigma)^2$: from $n_\times$ on softmax attention has the smaller loss, looked at there and at $10$,
    $10^3$ and $10^6$ times as many tokens; the ratio in $d$, $L / \sigma$ of the cells"""
LEAST = r"\min_{\mathbf{M}} \mathcal{L}_{\mathrm{lin}}"
LINEAR = r"The floor is $K(1) - k_1$, what in $f$ is not linear: for affine tasks without offset it is 0, and the loss falls like $1/n$"
SAMPLED = at(linear_floor.sampled, contexts=per_profile(32_768, 262_144))
DRAWN = agree(linear_floor.linear, SAMPLED, LEAST, of=("", "least"), over={"d": 3, "n": 30})
RATIO = exponent(linear_floor.advantage, rf"\mathcal{{L}}(w^*) / {LEAST}", high="0", strict=True, truth="p - q", over={"d": (2, 3, 5)}, method="exact")

claim(
    "linear-attention.floor/{law}/{reading}/rate",
    exponent(linear_floor.linear, LEAST, low="0", truth="-p", method=(None, "bounded")),
    exponent(linear_floor.softmax, r"\mathcal{L}(w^*)", high="0", strict=True, truth="-q", method="exact"),
    DRAWN,
    source=SUMMARY, kind={"relu/offset/*": "convention", "*": "stronger"}, reading="linear attention does not adapt",
    expected={"affine/no-offset/*": "refuted", "*": "supported"}, over={("law", "reading"): FLOORS | WITHOUT, "d": (2, 3, 5, 8)},
    title="Linear attention has a floor, softmax attention has none",
    assumes=ASSUMED,
    shows=at(with_and_without_floor, two=at(linear_floor.losses, d=2), five=at(linear_floor.losses, d=5)),
    finding={
        "affine/no-offset/*": r"""Linear attention learns linear functions: its loss falls like $1/n$, faster than softmax attention's
            $n^{-4/(d+3)}$, and on them it wins for every large $n$. What it cannot learn is the offset $b$ of the class, $L^2/3$ of the loss, because
            its weights do not sum to one.""",
        "affine/*": """The floor is the variance of the offset $b$ alone: on the affine class the advantage of softmax attention is that its weights
            sum to one, so that a constant passes unchanged; not that its window adapts.""",
        "*": r"""The best window of linear attention tends to $w = d$ whatever $L$ and $\sigma$ are: there is nothing that could adapt to
            Lipschitzness, as the summary says.""",
    },
    corrected={"affine/no-offset/*": LINEAR, "*": ""},
)
claim(
    "linear-attention.floor/{law}/{reading}/proved",
    identity(linear_floor.above_floor, r"\mathcal{L}_{\mathrm{lin}}(\mathbf{M}) - \Bigl(R + \frac{k m}{n k + m} + A \|\mathbf{M} - \eta \mathbf{I}\|_F^2\Bigr)",
             control={"floor": "101/100"}),
    bound(linear_floor.falls, r"\text{exponent of } \mathcal{L}(w^*) \text{ in } n", high="0", strict=True, truth="-q", over={"d": (2, 3, 5, 8)}, method="certified"),
    source=SUMMARY, kind="derived", expected="supported", over={("law", "reading"): FLOORS},
    title="linear attention stays above its floor and softmax attention falls: proved",
    statement=r"\mathcal{L}_{\mathrm{lin}}(\mathbf{M}) > R = K(1) - k_1 \quad \text{for every } \mathbf{M}, n, \sigma",
    assumes=ASSUMED,
    finding=r"""With $k = k_1$ and $m = (d - 1) k + d R + d \sigma^2 > 0$ the loss is $R$, plus a positive number, plus a square. $R$ is $L^2/3$ (affine
        with the offset), $L^2/3 + L^2/(6d)$ and $L^2/(6d)$ (ReLU with and without it; `*/value`). That the loss is this quadratic in $\mathbf{M}$
        needs $\mathbb{E} x x^\top = \mathbf{I}/d$ and independent tokens alone. The exponent of softmax attention is that of the window theorem.""",
)
claim(
    "linear-attention.floor/{law}/{reading}/value",
    bound(linear_floor.limit, rf"\lim_n {LEAST} / L^2", equals="F", within=f"{4 * float(np.finfo(float).eps)}*(F)", over={"d": DIMENSIONS}, method="symbolic"),
    bound(SAMPLED, rf"\mathcal{{L}}_{{\mathrm{{lin}}}}(\mathrm{{at w I}}) / {LEAST}", of="at w I", equals=1, within="T",
          over={"d": 3, "n": 30}, method="montecarlo"),
    bound(SAMPLED, rf"\mathcal{{L}}_{{\mathrm{{lin}}}}(\mathrm{{over all M}}) / {LEAST}", of="over all M", equals=1, within="T",
          over={"d": 3, "n": 30}, method="montecarlo"),
    DRAWN,
    source=SUMMARY, kind="derived", expected="supported", over={("law", "reading"): FLOORS},
    title="The floor of linear attention",
    statement={
        "affine/*": r"\inf_{n, \mathbf{M}} \mathcal{L}_{\mathrm{lin}}(\mathbf{M}) = \frac{L^2}{3}",
        "relu/offset/*": r"\inf_{n, \mathbf{M}} \mathcal{L}_{\mathrm{lin}}(\mathbf{M}) = \frac{L^2}{3} + \frac{L^2}{6 d}",
        "*": r"\inf_{n, \mathbf{M}} \mathcal{L}_{\mathrm{lin}}(\mathbf{M}) = \frac{L^2}{6 d}",
    },
    assumes=ASSUMED,
    finding=r"""Write $K(t) = \mathbb{E} f(x) f(x')$ at $t = \langle x, x' \rangle$ and $k_1 = d\, \mathbb{E}\, t K(t)$ for the variance of the linear
        part of $f$. As $\mathbb{E}\, x x^\top = \mathbf{I}/d$, the loss of linear attention is the convex quadratic $\|\mathbf{M}\|_F^2 (K(1) +
        \sigma^2 + (n-1) k_1/d) / (n d^2) - 2 k_1 \mathrm{tr}(\mathbf{M}) / d^2 + K(1)$; its minimiser is a multiple of $\mathbf{I}$, and its minimum
        falls with $n$ to $K(1) - k_1$, which is attained in the limit only.""",
)
claim(
    "linear-attention.floor/{law}/{reading}/crossing",
    RATIO,
    bound(linear_floor.crossing, r"\Lambda_\times", high="X", control="0.475*X", method="exact",
          over={"d": per_profile((2, 3, 5), (2, 3, 5, 8, 12)), "ratio": per_profile((0.1, 0.3), (0.1, 0.3, 1.0))}),
    source=SUMMARY, kind={"relu/offset/*": "convention", "*": "stronger"}, reading="linear attention does not adapt", expected="supported",
    over={("law", "reading"): FLOORS},
    title="Softmax attention overtakes linear attention for good",
    statement=rf"\mathcal{{L}}(w^*) = o\left({LEAST}\right), \quad \mathcal{{L}}(w^*) < {LEAST} \text{{ from }} \Lambda_\times \leq X",
    assumes={"*/offset/*": (*ASSUMED["*/offset/*"], LAMBDA), "*/no-offset/*": (*ASSUMED["*/no-offset/*"], LAMBDA)},
    finding={
        "*/offset/*": r"""The crossing is near $\Lambda = 3$ in every dimension that was measured: there the noise of a plain average, $\sigma^2/n$,
            is what the mean of $f$ over the sphere costs linear attention, $L^2/3$ for the offset (and a little more for the mean of a ReLU
            function); the window hardly matters.""",
        "*": r"Where it was measured $\Lambda_\times$ hardly depends on $L/\sigma$ and grows with $d$.",
    },
)
claim(
    "linear-attention.floor/{law}/{reading}/crossing",
    RATIO,
    source=SUMMARY, kind="stronger", expected="refuted", over={("law", "reading"): WITHOUT},
    title="Softmax attention overtakes linear attention for good",
    assumes=ASSUMED["*/no-offset/*"],
    finding=r"""The loss of linear attention falls like $1/n$ and that of softmax attention like $n^{-4/(d+3)}$: on linear functions without an offset
        softmax attention never overtakes linear attention for good.""",
    corrected=LINEAR,
)
claim(
    "linear-attention.floor/{law}/{reading}/advantage",
    exponent(linear_floor.advantage, rf"\mathcal{{L}}(w^*) / {LEAST}", equals="p - q", over={"d": (2, 3, 5)}, method="exact"),
    source=SUMMARY, kind="sharp", expected="supported", over={("law", "reading"): FLOORS | WITHOUT},
    title="How far softmax attention gets ahead of linear attention, as a rate",
    assumes=ASSUMED,
    finding={
        "affine/no-offset/*": r"""Here it falls behind, like $n^{1 - 4/(d+3)}$: linear attention averages all $n$ labels for one linear function.""",
        "*": r"""Linear attention keeps its floor, so the advantage is the whole rate of softmax attention, $n^{-3/(d+2)}$ (ReLU) and $n^{-4/(d+3)}$
            (affine with an offset). It tends to none as $d$ grows.""",
    },
)
