"""Attention is not all you need: pure attention loses rank doubly exponentially with depth, near a matrix of rank 1.

After L layers a small residual is of the order of its 3^L-th power; a skip connection keeps its first power.
"""

import numpy as np
from mpmath import mp
from scipy.special import softmax

from lipverify.claims import Figure, Panel, Series, agree, at, bound, claim, exponent

PAPER = "Dong, Cordonnier, Loukas, ICML 2021"  # abstract read; the bound from notes on it
N, D, RANDOM = 4, 3, np.random.default_rng(0)
MEAN, R, WEIGHTS = (np.round(RANDOM.normal(size=shape), 2) for shape in ((1, D), (N, D), (3, 2, D, D)))


def residual(L, s, skip=0):
    """The largest entry of the residual of MEAN + R / s after L layers, each with weights W_QK and W_V."""
    with mp.workdps(300):
        X = mp.matrix(np.repeat(MEAN, N, axis=0).tolist()) + mp.matrix(R.tolist()) / s
        for QK, V in WEIGHTS[:L]:
            A = (X * mp.matrix(QK.tolist()) * X.T / mp.sqrt(D)).apply(mp.exp)
            A = mp.matrix([[A[i, j] / sum(A[i, :]) for j in range(N)] for i in range(N)])
            X = A * X * mp.matrix(V.tolist()) + skip * X
        size = max(abs(X[i, j] - sum(X[:, j]) / N) for i in range(N) for j in range(D))
        return float(size), 1e-13 * float(size)


def in_numpy(L, s):
    X = MEAN + R / s
    for QK, V in WEIGHTS[:L]:
        X = softmax(X @ QK @ X.T / D**0.5, axis=1) @ X @ V
    return np.abs(X - X.mean(axis=0)).max(), 1e-14


def left(norm, L=50):
    """The share of the residual left after L layers, all weights I: three tokens of this norm, 120 degrees apart."""
    X = norm * np.exp(2j * np.pi * np.arange(3) / 3)  # a complex number is a token
    for _ in range(L):
        X = np.asarray(softmax(np.real(np.outer(X, X.conj())) / 2**0.5, axis=1) @ X, dtype=complex)
    return np.linalg.norm(X) / (norm * 3**0.5), 1e-11


# fmt: off
def picture(x=tuple(map(lambda k: 2 + k / 20, range(31)))):
    curves = tuple(Series(label=f"$L = {L}$", x=x, y=tuple(float(left(r, L)[0]) for r in x)) for L in (5, 50, 200))
    panel = Panel(title="", xlabel="norm of the tokens", ylabel="residual left", xscale="linear", series=curves)
    return Figure(caption="The residual after L layers.", alt="A threshold near 2.6.", panels=(panel,))
OVER, RAY, SIZE = {"L": (1, 2, 3)}, {"s": (1e2, 1e6, 12)}, r"\|res\|"
claim("collapse.rate", exponent(residual, SIZE, along=RAY, equals="-3**L", truth="-3**L"),
      agree(residual, in_numpy, SIZE, over={"L": (1, 2), "s": 3.0}), over=OVER, kind="printed", expected="supported",
      title=r"The power of the residual $R / s$", source=(PAPER, "the theorem without skip connections",
      r"$\|res(X_L)\| \leq (4 \beta / \sqrt d)^{(3^L - 1)/2} \|res(X)\|^{3^L}$"))
claim("collapse.skip", exponent(at(residual, skip=1), SIZE, along=RAY, equals=-1, truth=-1), over=OVER,
      kind="printed", expected="supported", title="The same with skip connections",
      source=(PAPER, "abstract, on skip connections", "skip connections stop the output from degeneration"))
claim("collapse.far", bound(left, r"\|res_{50}\| / \|res\|", high=0.1, control=({"high": 0.09}, {"norm": "0.9*norm"})),
      over={"norm": (2.8, 2.85)}, kind="stronger", expected="refuted", title="Far from rank 1", shows=at(picture),
      source=(PAPER, "abstract", "the output converges doubly exponentially to a rank-1 matrix"),
      corrected=r"for $4 \beta \|res(X)\|^2 < \sqrt d$, where the bound falls")
