"""What learning algorithm is in-context learning? The Bayes predictor, and how it tends to least squares without noise.

Read: sections 3 and 4. Their distance (SPD) is sigma^4 E tr 1 / (S (S + sigma^2)), S = sum x x^T, over its eigenvalues.
"""

import mpmath
import numpy as np

from lipverify.claims import Figure, Panel, Series, agree, at, bound, claim, exponent
from lipverify.linear_transformer import spectral_mean
from lipverify.prompts import Prompts, predictors
from lipverify.sampling import mean_with_half_width

PAPER = "Akyurek, Schuurmans, Andreas, Ma, Zhou, ICLR 2023, arXiv 2211.15661"


def apart(d, n, s):
    """SPD of ridge regression at sigma^2 and least squares (of least norm), w ~ N(0, I) and sigma = 1/s."""
    value, error = spectral_mean(lambda t: s**-4 / (t * (t + s**-2)), n, d)
    return d * value, d * error


def one_token(d, s):
    """The same at n = 1, where the eigenvalue is chi-squared, also for d = 3; for d < 3 it is infinite."""
    with mpmath.workdps(30):
        b, a = mpmath.mpf(d) / 2 - 1, 1 / mpmath.mpf(s) ** 2
        value = a ** (b + 1) * mpmath.hyperu(b, b, a / 2) / (2 ** (b + 1) * b)
    return float(value), 1e-14 * float(value)


def sampled(d, n, s, contexts, seed):
    drawn = Prompts(d=d, n=n, sigma=1 / s).draw(contexts // 2, seed, "akyurek")
    ridge, least_squares = (predictors.ridge(penalty).weights(drawn.x, drawn.y) for penalty in (s**-2, 0.0))
    return mean_with_half_width(np.sum((ridge - least_squares) ** 2, axis=1))


def scaled(d, n, s):
    value, error = apart(d, n, s)
    return s**4 * value, s**4 * error


def picture():
    x = tuple(np.geomspace(1, 1e4, 25).tolist())
    curves = tuple(Series(label=f"$d = {d}$", x=x, y=tuple(one_token(d, s)[0] for s in x)) for d in (3, 5, 8))
    panel = Panel(title="", xlabel=r"$1/\sigma$", ylabel="SPD", series=curves)
    return Figure(caption="Bayes and least squares, one token.", alt="Slower for d = 3.", panels=(panel,))


# fmt: off
ZERO = (PAPER, "section 4.3", r"$\sigma \to 0^+$, the Bayes predictor converges to the ordinary least square predictor")
FAR, GAP = {"d": 8, "n": (2, 20)}, "abs(n - d) * (abs(n - d) - 1) * (abs(n - d) - 3)"
claim("akyurek.limit", exponent(apart, "SPD", along={"s": (10, 1e4)}, high=0, strict=True, truth=-4),
      agree(apart, sampled, "SPD", over={"d": 8, "n": (2, 20), "s": 1.0}), over=FAR, source=ZERO,
      kind="printed", expected="supported", shows=at(picture))
claim("akyurek.constant", bound(scaled, r"\mathrm{SPD} / \sigma^4", equals=f"min(n, d) * (max(n, d) - 1)/({GAP})",
      within=0.01, along={"s": (10, 1e4)}), over=FAR, source=ZERO, kind="sharp", expected="supported")
claim("akyurek.rate", exponent(one_token, "SPD", along={"s": (1e2, 1e10)}, equals=-4, truth=-3), over={"d": 3},
      source=ZERO, kind="stronger", expected="refuted",
      corrected=r"$\sigma^3$ at $|n - d| = 2$, infinite at $|n - d| < 2$")
