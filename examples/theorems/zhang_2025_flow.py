"""Training dynamics of in-context learning in linear attention: plateaus of gradient flow, and heads of rank R.

Read: sections 2 to 5. All weights v_i, k_i and q_i of d/R heads of rank R are integrated, from small random ones.
"""

from functools import cache

import numpy as np
from scipy.integrate import solve_ivp

from lipverify.claims import Figure, Panel, Series, agree, at, bound, claim

PAPER = "Zhang, Singh, Latham, Saxe, ICML 2025, arXiv 2501.16265"
D, N, UNTIL = 4, 31, 4000.0
LAMBDA = 1 / np.arange(1.0, D + 1)
SQUARE = LAMBDA**2 + (LAMBDA + LAMBDA.sum()) * LAMBDA / N  # of the covariance of N tokens, its mean: (15)


@cache
def losses(R, method="LSODA"):
    """The loss at the times 0, 1, ..., by (14) for heads of rank R."""
    H = D // R

    def flow(_, weights):
        v, (K, Q) = np.repeat(weights[:H], R)[:, None], weights[H:].reshape(2, D, D)
        slope = np.diag(LAMBDA**2) - SQUARE[:, None] * ((v * K).T @ Q) * LAMBDA
        parts = (K @ slope * Q).reshape(H, -1).sum(axis=1), v * (Q @ slope.T), v * (K @ slope)
        return np.concatenate([part.ravel() for part in parts])

    start = 0.01 * np.random.default_rng(0).normal(size=H + 2 * D**2)
    start[:H] = abs(start[:H])
    path = solve_ivp(flow, (0, UNTIL), start, t_eval=np.arange(UNTIL + 1), method=method, rtol=1e-5, atol=1e-8).y
    A = np.einsum("ht,hrit,hrjt->tij", path[:H], *path[H:].reshape(2, H, R, D, -1))
    return LAMBDA.sum() - 2 * np.einsum("tii,i->t", A, LAMBDA**2) + np.einsum("i,tij,j->t", SQUARE, A**2, LAMBDA)


def plateau(m):
    return LAMBDA.sum() - sum(LAMBDA[k] ** 3 / SQUARE[k] for k in range(m))  # (19)


def stay(R, m, level=1, method="LSODA"):
    """Per cent of the time before the last plateau within 0.03 of level L(M_m), and what its ends can be off."""
    before = losses(R, method)[losses(R, method) > plateau(D) + 0.03]
    return 100 * np.mean(abs(before - level * plateau(m)) < 0.03), 400 / len(before)


def picture(x=tuple(range(0, 4000, 20))):
    curves = tuple(Series(label=f"$R = {R}$", x=x, y=tuple(losses(R)[list(x)].tolist())) for R in (1, 2, 4))
    panel = Panel(title="", xlabel="$t$", ylabel="$L$", xscale="linear", yscale="linear", series=curves)
    return Figure(caption=f"The loss of $D = {D}$, heads of rank $R$.", alt="A staircase of losses.", panels=(panel,))


# fmt: off
SAME = agree(stay, at(stay, method="Radau"), "T_m", over={"R": 2, "m": (0, 1, 2)})
claim("zhang-flow.visited", bound(stay, "T_m", low=2.5, control={"level": 1.1}), SAME, over={"R": 1, "m": (0, 1, 2, 3)},
      kind="printed", expected="supported", shows=at(picture), title="Plateaus at rank 1, in per cent of the time",
      source=(PAPER, "section 4.3", r"sequentially visits the fixed points in $M_1, M_2, \dots, M_D$"))
claim("zhang-flow.rank", bound(stay, "T_m", low=2.5, control=({"level": 1.1}, {"R": 1})), over={"R": 2, "m": 1},
      source=(PAPER, "section 5", r"conspicuous plateaus at value $L(M_m)$ for $m$ that divides $R$"), kind="printed",
      expected="refuted", title="Heads of rank 2", corrected="for $m$ that $R$ divides, as in its examples")
