"""Training dynamics of in-context learning in linear attention: the loss on its plateaus.

Read: sections 2 to 4. The losses are exact risks of one layer; zhang_2025_flow.py integrates its course in time.
"""

import numpy as np

from lipverify.claims import Figure, Panel, Series, agree, at, bound, claim
from lipverify.covariates import Gaussian
from lipverify.linear_transformer import step_risk
from lipverify.prompts import Prompts, predictors, risk

PAPER = "Zhang, Singh, Latham, Saxe, ICML 2025, arXiv 2501.16265"


def learned(d, n, decay, m):
    a = np.arange(1.0, d + 1) ** -decay
    return Prompts(d=d, n=n, covariates=Gaussian(np.diag(a))), np.diag((np.arange(d) < m) / (a + (a + a.sum()) / n))


def plateau(d, n, decay, m):
    return (found := step_risk(*learned(d, n, decay, m))).value, found.error


def sampled(d, n, decay, m, contexts, seed):
    here, A = learned(d, n, decay, m)
    return risk(here, predictors.gradient_descent(1, A), contexts // 4, seed)


def printed(d, n, decay, m):
    a = np.arange(1.0, d + 1) ** -decay
    return a.sum() - sum(a[k] / (1 + (1 + a.sum() / a[k]) / n) for k in range(m))


def drop(d, n, decay, m):
    (before, one), (after, other) = (plateau(d, n, decay, k) for k in (m - 1, m))
    return (before - after) * m**decay, (one + other) * m**decay


def picture(m=(0, 1, 2, 3, 4)):
    losses = ((b, tuple(plateau(4, 31, b, k)[0] for k in m)) for b in (0.5, 1.0, 2.0))
    curves = tuple(Series(label=f"$k^{{-{b}}}$", x=m, y=y, style="points") for b, y in losses)
    panel = Panel(title="", xlabel="$m$", ylabel="$L(M_m)$", xscale="linear", series=curves)
    return Figure(caption="The loss after $m$ drops, $N = 31$.", alt="The loss falls with m.", panels=(panel,))


# fmt: off
LOSS = r"\mathrm{tr}(\Lambda) - \sum_{d=1}^m \lambda_d (1 + (1 + \mathrm{tr}(\Lambda)/\lambda_d)/N)^{-1}"
DROP = r"(L(M_{m-1}) - L(M_m))/\lambda_m"
claim("zhang-plateaus.loss", bound(plateau, "L(M_m)", equals=printed, within="1e-11", method="exact"),
      agree(plateau, sampled, "L(M_m)", over={"d": 4, "n": 31, "decay": 1.0, "m": (1, 3)}), kind="printed",
      over={"d": (4, 8), "n": (10, 31, 1000), "decay": (0.5, 1.0), "m": (0, 1, 3, 4)}, shows=at(picture),
      source=(PAPER, "(19)", f"$L(M_m) = {LOSS}$"), expected="supported")
claim("zhang-plateaus.drop", bound(drop, DROP, equals=1, within=1e-4, along={"n": (1e4, 1e10)}, method="exact"),
      over={"d": (4, 8), "decay": (0.5, 1.0), "m": (1, 4)}, kind="printed", title="The drops", expected="supported",
      source=(PAPER, "section 4.3, limit", r"$\lim_{N \to \infty} L(M_m) = \sum_{d=m+1}^D \lambda_d$"))
claim("zhang-plateaus.drop/finite", bound(drop, DROP, equals=1, within=0.1, control=(None, {"n": 200}), method="exact"),
      over={"d": 4, "n": 31, "decay": (0.5, 1.0), "m": 4}, kind="stronger", expected="refuted",
      source=(PAPER, "section 4.3, size", r"decreases by approximately $\lambda_m$ during the $m$-th abrupt loss drop"),
      corrected=r"$\lambda_m / (1 + (1 + \mathrm{tr}(\Lambda)/\lambda_m)/N)$, 17 to 23 per cent less here")
