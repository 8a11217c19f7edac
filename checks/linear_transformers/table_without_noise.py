r"""The column of Table 1 without noise: single tables of the best models known, compared with the printed losses.

Without noise the losses of deep models are tiny in most contexts and huge in rare ones, so the error of a printed number,
itself the mean of one table, cannot be estimated. The claims therefore ask how many independent tables of a model are as
small as the printed loss. From three layers on tables explode so often that no number would be too large.
"""

from lipverify.checks.linear_transformers import table_figures as figures
from lipverify.checks.linear_transformers.independent_tables import TABLES, in_tables, protocol
from lipverify.checks.linear_transformers.quantities import ADJUSTED, ENTRY, STANDARD, TABLE_1
from lipverify.claims import agree, at, bound, claim

# fmt: off
SILENT = {**TABLES, "noise": "uniform-0"}
LESS = {1: "0.8", 2: "0.65", 3: "0.5", 4: "0.5", 5: "0.75", 6: "0.3", 7: "0.005"}
"""The multiples of the printed losses, by depth, that the controls claim in their place: no table is as small."""

claim("lt.table-1/{model}/uniform-0",
      bound(at(in_tables, **SILENT, side="below"), r"p(\mathcal{L} \leq 1.1\, \mathcal{L}_{\mathrm{printed}})", low="1/20",
            control=({"times": "part"}, {"times": 3}), over={"layers": {k: {"part": part} for k, part in LESS.items()}},
            method=("montecarlo", "observed")),
      bound(at(in_tables, **SILENT, side="above"), r"p(\mathcal{L} \geq 0.9\, \mathcal{L}_{\mathrm{printed}})", low="1/20",
            control=({"times": 1.3}, {"times": 0.7}), over={"layers": (1, 2)}, method=("montecarlo", "observed")),
      agree(at(protocol, **SILENT), at(protocol, **SILENT), r"\mathcal{L}", of=("expected", "sampled"),
            over={"layers": (1, 2)}),
      source=TABLE_1, kind="convention", reading="some model of the form has each loss, without noise too",
      expected={"gdpp/*": "refuted", "*": "supported"}, over={"model": ("gdpp", "diag", "full")},
      title={"gdpp/*": "without noise, one table in twenty of the best known GD++ is at most the printed loss, to a tenth",
             "diag/*": "without noise, one table in twenty of the best known DIAG is at most the printed loss, to a tenth",
             "full/*": "without noise, one table in twenty of the best known FULL is at most the printed loss, to a tenth"},
      statement=r"""p(\mathcal{L} \leq 1.1\, \mathcal{L}_{\mathrm{printed}}) \geq 1/20 \quad \text{at every depth, and }
          p(\mathcal{L} \geq 0.9\, \mathcal{L}_{\mathrm{printed}}) \geq 1/20 \text{ for one and two layers}""",
      assumes=(STANDARD, ADJUSTED, ENTRY, """the model of the form with the smallest median over independent tables; binomial
          interval of the share of tables"""),
      shows={"full/*": figures.LOSSES_SILENT, "*": ()},
      corrected="""with two layers the printed entry lies at another local minimum (lt.gd-plus-plus/small-start); with five layers no table
          is as small, and the printed number is below every expected loss (lt.gd-plus-plus/expectation)""")
