"""Claims of my own. `lipverify verify my_claims.py` measures, decides, and writes reports/report.pdf.

A claims file is code: verifying it runs it. What it imports must be installed wherever it is measured.
"""

import numpy as np

import lipverify as lv
from lipverify.claims import claim, exponent

TITLE = "Claims of my own"  # of the report
AUTHOR = ""  # on its first page

# The class of functions: f(x) = h(<q, x>), q uniform on the sphere. If h has a kink: Ridge(h, kinks=(0.0,)).
# A law by its covariance: Zonal(lambda t: t**3); a law that is only a sampler: `lipverify new claim --bound`.


def window(d: int, n: float) -> tuple[float, float]:
    """The measured value at one point, and its error; return a mapping of names to such pairs for several quantities."""
    law = lv.laws.Ridge(lambda z: np.tanh(3 * z))
    optimum = lv.optimal_window(lv.Problem(d=d, n=n, law=law, sigma=1.0))
    return optimum.w, optimum.w_error


claim(
    "mine.window/tanh",  # family.name, then the parts that identify a reading; permanent
    exponent(
        window,
        r"w^*",  # what the function measures, in LaTeX
        along={"n": (1e4, 1e30)},
        equals="2/(d + 3)",  # Theta; low= is Omega, high= is O. The derived control, 0.04 off, must come out refuted
    ),
    over={"d": (2, 3)},  # where it is measured
    source=("My notes", "Theorem 1", r"$w^*$ grows like $n^{2/(d+3)}$"),  # paper, place, printed text
    kind="printed",  # or "convention", "stronger", "derived", "sharp"
    # Once you have seen the verdict, record it: a later run notices when it changes.
    # expected="supported",
)
