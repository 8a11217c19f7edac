r"""Section 6: the loss at each noise level, inside and outside the levels of training; DIAG and FULL on categorical noise.

Trained on sigma in {1, 3}, DIAG has a smaller loss than FULL halfway between the levels, in every training; near the
larger level and at it FULL is better. Above the levels DIAG is better again; below them it depends on level and
training.
"""

from __future__ import annotations

from typing import Any

from lipverify.checks.linear_transformers.figures import CURVES
from lipverify.checks.linear_transformers.noise_levels import LAYERS, better
from lipverify.checks.linear_transformers.quantities import STANDARD
from lipverify.claims import claim

# fmt: off
HEADINGS = {"lt.extrapolation": (11, 9, "Noise levels outside the training range")}
FIGURES = ("V", "Section 6, categorical noise, extrapolation", """DIAG extrapolates better for variances not used for training, while
    FULL, despite its lower in-distribution error, performs worse on unseen variances.""")
ASSUMED = (f"{STANDARD}; adjusted losses",
           rf"""{LAYERS} layers, three trainings of each on $\sigma \in \{{1, 3\}}$, compared in pairs of one seed on
           the same contexts; the source leaves levels and depths open""",
           "the loss of a context counts as at most $d/2$")
BEATS: dict[str, Any] = {"source": FIGURES, "assumes": ASSUMED, "statement": r"""\mathcal{L}_{\mathrm{DIAG}}(\sigma) <
    \mathcal{L}_{\mathrm{FULL}}(\sigma) \quad \text{at these levels, trained on } \sigma \in \{1, 3\}"""}
PAYS = """the full parametrisation loses less at the larger level of training and more between and above the levels; at
    single other levels, and in single trainings, either may be better"""

claim("lt.extrapolation/midpoint", better(2.0, control=0.55), kind="convention", expected="supported",
      reading="halfway between the levels of training, at σ = 2",
      title="DIAG beats FULL halfway between the levels of training, at σ = 2", **BEATS)
claim("lt.extrapolation/between-levels", better(1.5, 2.5, control=(0.7, -0.4)), kind="convention", expected="refuted",
      reading="between the levels of training, at σ = 1.5 and 2.5",
      title="DIAG beats FULL between the levels of training, at σ = 1.5 and 2.5",
      shows=CURVES, corrected=PAYS, **BEATS)
claim("lt.extrapolation/above-levels", better(4.0, 5.0, control=(0.45, -0.45)), kind="convention", expected="supported",
      reading="above the levels of training, at σ = 4 and 5",
      title="DIAG beats FULL above the levels of training, at σ = 4 and 5", **BEATS)
claim("lt.extrapolation/below-levels", better(0.0, 0.5, control=(0.3, -0.5)), kind="convention", expected="refuted",
      reading="below the levels of training, at σ = 0 and 0.5",
      title="DIAG beats FULL below the levels of training, at σ = 0 and 0.5", corrected=PAYS, **BEATS)
claim("lt.extrapolation/trained-levels", better(1.0, 3.0, control=(0.3, -1.2)), kind="stronger", expected="refuted",
      reading="at the levels of training", title="DIAG beats FULL at the levels of training", corrected=PAYS, **BEATS)
