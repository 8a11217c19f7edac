r"""The minima of GD++ with two to four layers, and in which of them training ends.

For two layers all critical points are listed. Where there are two minima or more, plain training from small weights
ends in one that is not the best, and the printed entries lie there. For three layers all critical points below the
printed loss are listed: with little noise there are three or four minima, with sigma_max = 3 one. Where training ends
depends on the factorisation of the initial weights.
"""

from lipverify.checks.linear_transformers import gdplusplus_figures as figures
from lipverify.checks.linear_transformers.gdplusplus_losses import (
    below_the_bound,
    landscape,
    plain_training,
    printed_quotients,
    several,
    training_ends,
)
from lipverify.checks.linear_transformers.quantities import ADJUSTED, NOISE_LAWS, STANDARD
from lipverify.claims import bound, claim

# fmt: off
TABLE_1 = ("V", "Table 1", "paraphrased: adjusted evaluation losses of trained GD++ models with 1 to 7 layers, by law of the noise")
ASSUMED = (STANDARD, ADJUSTED, r"only $\omega_{xx}$, $\omega_{yx}$")
FLOW = (*ASSUMED, "expected losses over all contexts",
        "gradient flow, the limit of small steps, of the two weights of each layer, from 0")
SMALL_START = r"\mathcal{L}_{\mathrm{from\ small\ weights}}"
PRINTED, END = r"\mathcal{L}_{\mathrm{printed}}", r"\mathcal{L}_{\mathrm{end}}"
MINIMA = {"uniform-0": 3, "uniform-1": 3, "uniform-2": 3, "uniform-3": 2, "uniform-4": 2, "levels-1-3": 2,
          "uniform-5": 1, "uniform-6": 1, "uniform-7": 1, "levels-1-3-5": 1}
"""Strict local minima of two layers, by law of the noise."""
BELOW = {"uniform-0": 3, "uniform-1": 4, "uniform-2": 3, "uniform-3": 1, "uniform-4": 1, "uniform-5": 1, "uniform-6": 1, "uniform-7": 1,
         "levels-1-3": 1, "levels-1-3-5": 1}
"""Strict local minima of three layers below the bound, by law of the noise."""
ENDED = tuple(noise for noise in NOISE_LAWS if noise not in ("uniform-6", "uniform-7", "levels-1-3-5"))  # elsewhere few trainings ended
MANY = tuple(noise for noise in NOISE_LAWS if noise not in ("uniform-4", "levels-1-3"))  # there three layers have one
TRAINED = (*ASSUMED, """Adam on the expected loss, learning rate $10^{-4}$, 20,000 steps, 50 trainings (20 of four layers); the initial
    weights are products of factors of variance $0.002/(11 L)$, the variance of matrix entries in two of the authors'
    earlier papers; V states none""")

claim("lt.gd-plus-plus/critical-points",
      bound(landscape, r"\#\{\text{strict local minima}\}", of="minima", equals="k", within="1/10", method="algebra"),
      source=TABLE_1, kind="stronger", expected="supported", over={"noise": {noise: {"k": str(count)} for noise, count in MINIMA.items()}},
      title="two layers have three strict local minima with little noise, then two, then one",
      assumes=(*ASSUMED, """two layers, expected losses over all contexts; strict in the three free parameters of the
            weights"""),
      finding="""The other critical points are saddles with one descent direction. The list is complete: the equations
          are polynomials with rational coefficients, their resultants are solved for all real roots, and each solution
          is certified by Krawczyk's test in balls.""",
      shows=figures.CRITICAL_POINTS)
claim("lt.gd-plus-plus/small-start",
      bound(printed_quotients, f"{SMALL_START} / {PRINTED}", of="small start", equals=1, within=0.07, control={"high": 0.9},
            method=("exact", "observed"), over={"noise": NOISE_LAWS}),
      bound(printed_quotients, rf"\mathcal{{L}}_{{\mathrm{{best}}}} / {PRINTED}", of="best", high=0.85, control=0.7,
            method=("exact", "observed"), over={"noise": tuple(noise for noise in MINIMA if MINIMA[noise] > 1)}),
      source=TABLE_1, kind="stronger", expected="supported", over={"layers": 2}, assumes=FLOW,
      title="with two layers, small weights end at the printed entry, and where there are two minima it is not the best",
      statement=rf"|{SMALL_START} / {PRINTED} - 1| \leq 0.07, \qquad \mathcal{{L}}_{{\mathrm{{best}}}} \leq 0.85\, {PRINTED}",
      finding="""So the printed entries of two layers are the result of plain training from small weights: a second
          minimum, not an early stop.""",
      shows=figures.ENDS)
claim("lt.gd-plus-plus/plain-training",
      bound(plain_training, rf"\mathcal{{L}}_{{\mathrm{{Adam}}}} / {SMALL_START}", equals=1, within=0.001, method="training"),
      source=TABLE_1, kind="stronger", expected="supported", over={"noise": "uniform-3", "layers": 2, "training": (0, 1, 2, 3, 4)},
      title="plain training of two layers ends in the second minimum in all of five runs",
      assumes=(*ASSUMED, """Adam, 2048 fresh contexts a step; 3200 steps with the learning rate $10^{-3}$ and 800 with $10^{-4}$; five
          starts with weights $p_x, p_y, q_x$ of standard deviation 0.02"""),
      finding="None of them reaches the best minimum, whose loss is smaller by a sixth. The runs are stored as data.")
claim("lt.gd-plus-plus/small-start/three-layers",
      bound(printed_quotients, f"{SMALL_START} / {PRINTED}", of="small start", equals=1, within=0.07,
            control=({"high": 0.9}, {"noise": "uniform-4"}), method=("exact", "observed")),
      source=TABLE_1, kind="stronger", expected="refuted", over={"layers": 3, "noise": NOISE_LAWS}, assumes=FLOW,
      title="with three layers, small weights end at the printed entry",
      corrected=r"""from $\sigma_{\max} = 4$ on they do, where the best is the only minimum nearby; with less noise the
          printed entries lie between the best minimum and the one at the end from small weights""")
claim("lt.gd-plus-plus/three-layers",
      bound(below_the_bound, r"\#\{\text{strict local minima}: \mathcal{L} < b\}", of="minima", equals="k", within="1/10",
            method=("algebra", "observed")),
      source=TABLE_1, kind="stronger", expected="supported", over={"noise": {noise: {"k": str(count)} for noise, count in BELOW.items()}},
      title="with little noise three layers have three or four strict local minima below the printed loss, with sigma_max = 3 one",
      assumes=(*ASSUMED, """three layers, expected losses over all contexts; strict in the five free parameters of the
          weights; $b$ is the printed loss plus half a unit of its last digit; if the best minimum is above that, or its
          excess over the floor is less than a tenth of that of $b$, $b$ is the loss with four times its excess"""),
      finding="""All critical points below the bound are listed: branch and bound leaves no box of weights undecided,
          and no model below the bound is outside the boxes. Krawczyk's test certifies each point; the proof that there
          are no others is stored as data. Above the bound more points are known, found by a search, and there may be
          others.""",
      shows=(figures.ALL_BELOW, figures.MAP))
claim("lt.gd-plus-plus/first-weights",
      bound(training_ends, rf"{END} / {PRINTED}", of="quotient", equals=1, within=0.07, control={"high": 0.85},
            method=("exact", "observed")),
      bound(training_ends, r"p(\text{the most frequent end})", of="share", low=0.75, control={"high": 0.85},
            method=("training", "observed")),
      source=TABLE_1, kind="stronger", expected="supported", over={"layers": 2, "noise": NOISE_LAWS}, assumes=TRAINED,
      title="trained from small factors, two layers end at the printed entry",
      statement=rf"|{END} / {PRINTED} - 1| \leq 0.07, \qquad p(\text{{the most frequent end}}) \geq 0.75",
      finding="""Where there are several minima, it is the second one. Among the minima in which a fifth of the
          trainings or more end, the end is the best one, as in a table of the best of five; the interval of the share
          is that of Clopper and Pearson.""",
      shows=figures.TRAINED_FROM)
claim("lt.gd-plus-plus/first-weights/three-layers",
      bound(training_ends, rf"{END} / {PRINTED}", of="quotient", equals=1, within=0.12, control=({"high": 0.85}, {"noise": "uniform-4"}),
            method=("exact", "observed")),
      source=TABLE_1, kind="stronger", expected="refuted", over={"layers": 3, "noise": NOISE_LAWS}, assumes=TRAINED,
      title="trained from small factors, three layers end at the printed entry",
      corrected=r"""they do except for $\sigma_{\max} = 2$, where most trainings end at a larger loss; with
          $\sigma_{\max} \leq 1$ this end is a minimum that is worse than several others, with $\sigma_{\max} = 3$ it is
          the best, in half of the trainings""")
claim("lt.gd-plus-plus/first-weights/four-layers",
      bound(training_ends, rf"{END} / {PRINTED}", of="quotient", equals=1, within=0.12, control=({"high": 0.85}, {"noise": "uniform-4"}),
            method=("exact", "observed")),
      source=TABLE_1, kind="stronger", expected="refuted", over={"layers": 4, "noise": ENDED}, assumes=TRAINED,
      title="trained from small factors, four layers end at the printed entry",
      corrected="at the laws with noise here they do; without noise no known minimum has a loss as small as the printed one")
claim("lt.gd-plus-plus/minima/{layers}",
      bound(several, r"\#\{\text{strict local minima}: \mathcal{L} < \min \mathcal{L}_{L - 1}\}", of="minima", low=2,
            control={"than": "floor"}, method="algebra"),
      source=TABLE_1, kind="stronger", expected="supported", over={"layers": (3, 4), "noise": MANY},
      title="deeper models have two or more strict local minima that are better than every known model with one layer less",
      assumes=(*ASSUMED, "expected losses over all contexts; each minimum is certified by Krawczyk's test, and there may be more"),
      finding=figures.DEEPER_MINIMA, shows=figures.FOUR)
