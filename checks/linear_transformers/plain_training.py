r"""Training as the paper trains, at sigma_max = 3: Adam from small weights on fresh batches, the best of five runs.

The other models of these checks come from second-order descents that grow from shorter models. This file asks whether
plain training ends at the printed entries or at the better minima known. It ends at the printed entries.
"""

from typing import Any

from lipverify.checks.linear_transformers.plain_runs import ENDPOINTS, plain
from lipverify.checks.linear_transformers.quantities import ADJUSTED, STANDARD
from lipverify.claims import claim

# fmt: off
TRAINED = ("V", "Section 6, training", """using Adam optimizer for 200 000 iterations with a learning rate of 0.0001 and a batch size of
    2 048. In some cases, especially for a large number of layers, we had to adjust the learning rate to prevent stability issues. We
    report the best result out of 5 runs with different training seeds.""")
ASSUMED: dict[str, Any] = {"kind": "stronger", "source": TRAINED, "expected": "supported", "assumes": (
    rf"{STANDARD}; $\sigma \sim U(0, 3)$", ADJUSTED,
    """Adam, 2048 fresh contexts a step, the mean over the query exact; learning rate 0.001 for four fifths of the steps, then
    0.0001; DIAG with four layers and FULL with three at the printed rate 0.0001; initial weights of standard deviation 0.02, which
    is not printed""",
    "the best of five seeds by its last batches; with fewer steps than printed, as the table shows",
    "quotients of two models: the median over tables of contexts")}

claim("lt.table-1/plain-training",
      plain("printed", "GD++", (1, 2, 3, 4), equals=0, within="log(11/10)", control={"times": 1.25}),
      plain("printed", "DIAG", (1, 2, 3, 4), equals=0, within="log(11/10)", control={"times": 1.25}),
      plain("printed", "FULL", (1, 2, 3), equals=0, within="log(11/10)", control={"times": 1.25}),
      title="plain training ends at the printed losses, to a tenth", shows=ENDPOINTS,
      finding="""With two layers of GD++ that is the second minimum, in all five runs (lt.gd-plus-plus/plain-training), and with one
          and two layers of DIAG and FULL, and four of DIAG, the best model known. Four layers of DIAG had the printed rate; five
          runs at three times that rate, which are not stored, jumped or stayed far above. Three layers of FULL had all 200 000
          steps at the printed rate, and their best run still fell in the second half; a better model of that form is
          known.""", **ASSUMED)
claim("lt.table-1/plain-training/known",
      plain("known", "GD++", (1, 2, 3, 4), low="-log(101/100)", control={"times": 0.8}),
      plain("known", "DIAG", (1, 2, 3, 4), low="-log(101/100)", control={"times": 0.8}),
      plain("known", "FULL", (1, 2, 3), low="-log(101/100)", control={"times": 0.8}),
      title="plain training never ends below the best model known", **ASSUMED)
