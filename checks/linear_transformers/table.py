r"""Table 1: the losses of trained GD++, DIAG and FULL with 1 to 7 layers, and of three ridge regressions.

An entry is the mean of one sample of 100,000 sequences, a table. That a loss is reached is a statement of existence, so the best
model known of each form is asked: of GD++ the best minimum known, by quadrature; of DIAG and FULL the median over
independent tables. Every printed loss with noise is reached; most are met to a tenth, and where one is not, other weights of the
same form lose less: for two layers of GD++ the printed entries lie at a second local minimum (lt.gd-plus-plus).
"""

from __future__ import annotations

from lipverify.checks.linear_transformers.independent_tables import (
    DEPTHS,
    ROWS,
    TABLES,
    again,
    away,
    exploding,
    protocol,
    stored,
    whole,
)
from lipverify.checks.linear_transformers.quantities import NOISE_LAWS, NOISY
from lipverify.checks.linear_transformers.table_figures import by_layers, counted, entries, losses, shares
from lipverify.claims import agree, at, bound, claim

TABLE_1 = (
    "V",
    "Table 1",
    "paraphrased: adjusted evaluation losses of trained GD++, DIAG and FULL models with 1 to 7 layers, by law of the noise",
)
DISTANCE = r"\frac{\mathcal{L} - \mathcal{L}_{\mathrm{printed}}}{0.1\, \mathcal{L}_{\mathrm{printed}} + \text{rounding} + 3.5\, \mathrm{s.e.}}"
COLUMNS = {noise: at(whole, noise=noise, **TABLES) for noise in NOISE_LAWS}
SETTING = (
    r"$d = 10$, $n = 20$, $x_i, w^* \sim \mathcal{N}(0, \mathbf{I})$, noiseless query target",
    r"adjusted loss: half the squared error, less that of ridge with the true $\sigma^2$",
    "a printed loss is a mean over 100,000 sequences, on which ridge with the true variance was measured too",
)
FORM = {
    "*gdpp*": (*SETTING, r"only $\omega_{xx}$, $\omega_{yx}$; the best minimum known, over the eigenvalues that 100,000 contexts show"),
    "*diag*": (*SETTING, "one diagonal head; the least median over independent tables of all trainings of this form, their intervals at 95 % together"),
    "*full*": (*SETTING, "one head with free matrices, diagonal ones among them; the least median over independent tables of all trainings of this form, their intervals at 95 % together"),
    "*": SETTING,
}  # fmt: skip

claim(
    "lt.table-1/reached/{model}",
    bound(
        at(away, **TABLES),
        DISTANCE,
        high=1,
        control={"times": 0.1},
        method=("montecarlo", "observed"),
    ),
    agree(
        at(stored, **TABLES),
        at(again, **TABLES),
        r"\lg \mathcal{L}",
        over={"noise": NOISE_LAWS},
    ),
    source=TABLE_1,
    kind="printed",
    expected="supported",
    over={"model": tuple(ROWS), "noise": NOISY, "layers": DEPTHS},
    title={f"reached/{model}": f"every printed loss of {name} is reached" for model, name in ROWS.items()},
    statement=r"\mathcal{L} \leq \mathcal{L}_{\mathrm{printed}} \quad \text{at every depth, under every law of the noise but } \sigma = 0",
    assumes=FORM,
    finding=at(counted, **COLUMNS),
    shows=at(entries, **COLUMNS),
)
claim(
    "lt.table-1/{model}/{noise}",
    bound(at(away, **TABLES), DISTANCE, equals=0, within=1, control={"times": "near"}, method=("montecarlo", "observed"), ),
    agree(
        at(protocol, **TABLES), at(protocol, **TABLES), r"\mathcal{L}", of=("expected", "sampled"), over={"layers": (1, 2)}
    ),
    source=TABLE_1,
    kind="convention",
    expected={
        **{f"gdpp/{noise}": "refuted" for noise in (*NOISE_LAWS[:5], "levels-1-3")},
        "diag/uniform-0": "inconclusive",  # of six and seven layers rare contexts rule every mean
        "full/uniform-0": "inconclusive",
        "*": "supported",
    },
    over={"model": {model: {"near": "1.5" if model == "gdpp" else "4"} for model in ROWS}, "noise": NOISE_LAWS, "layers": DEPTHS},
    title={f"{model}/*": f"the printed losses of {name} are those of the best model known" for model, name in ROWS.items()},
    statement=r"\mathcal{L} = \mathcal{L}_{\mathrm{printed}} \quad \text{at every depth, to a tenth and the noise of the printed number}",
    assumes=FORM,
    finding=at(by_layers, found=at(whole, **TABLES)),
    shows={"full/*": at(losses, found=at(whole, **TABLES)), "*": ()},
    corrected={
        "gdpp/*": "other weights of the same form lose less; with two layers the printed entry lies at another local minimum (lt.gd-plus-plus/small-start)",
        "*/uniform-0": "without noise the best models known lose more at six and seven layers, and other amounts at fewer",
        "*": "other weights of the same form lose less",
    },
)  # fmt: skip
claim(
    "lt.table-1/exploding",
    bound(at(exploding, **TABLES), r"p(\mathcal{L} > 2 \mathcal{L}_{\mathrm{printed}})", low="1/4", control={"layers": 5}, method=("montecarlo", "observed"), ),
    source=TABLE_1,
    kind="stronger",
    expected="supported",
    over={"noise": "levels-1-3", "family": "FULL", "layers": (6, 7), "training": 0},
    title="a table of 100,000 sequences says little of some trainings: single contexts rule one in four or more",
    assumes=(*SETTING, "one head with free matrices, a training that was not led back from rare contexts; binomial interval of the share of tables"),
    finding="Led back from rare contexts, or with other seeds, models of the same form lose what is printed in every table or nearly so. The counts are in the table.",
    shows=at(shares, **{noise: at(whole, noise=noise, **TABLES) for noise in NOISY}),
)  # fmt: skip
claim(
    "lt.table-1/baselines/{noise}",
    bound(at(away, **TABLES), DISTANCE, equals=0, within=1, control={"times": 1.7}, method="montecarlo"),
    source=TABLE_1,
    kind="printed",
    expected="supported",
    over={"noise": NOISE_LAWS, "model": ("ConstRR", "AdaRR", "TunedRR"), "layers": 0},
    title="the printed ridge baselines",
    statement=r"\mathcal{L} = \mathcal{L}_{\mathrm{printed}} \quad \text{to a tenth and the noise of both}",
    assumes=FORM,
)
