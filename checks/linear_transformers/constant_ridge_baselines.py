r"""The baselines of ridge regression: their printed losses, AdaRR at each noise level, and gradient descent towards it.

The printed losses of ConstRR, AdaRR and TunedRR hold. AdaRR is exact without noise and loses more as the noise grows. With one step
size that no context makes diverge, gradient descent comes within a hundredth of AdaRR's loss between 50 and 100 steps.
"""

from lipverify.checks.linear_transformers import ridge_baselines as ridge
from lipverify.checks.linear_transformers.quantities import ADJUSTED, NOISY, RIDGE_ROWS, STANDARD
from lipverify.claims import at, bound, claim, identity, per_profile

# fmt: off
TUNING = per_profile(4096, 50_000)
BY_VARIANCE = ("V", "Section 6, AdaRR by noise variance", """ADARR perfectly estimates problems with no noise, but struggles more as
    noise variance increases.""")
DESCENT = ("V", "Section 6, gradient descent to AdaRR", r"""this gradient descent estimator converges to ADARR only after $\approx$ 100
    iterations.""")
STEPPED = at(ridge.descended, contexts=per_profile(8192, 32_768))

claim("lt.constant-ridge-bound/baselines",
      bound(at(ridge.baselines, contexts=TUNING), r"\frac{\mathcal{L}_{\mathrm{printed}} - \mathcal{L}}{\mathrm{s.e.}}", of="{model}",
            equals=0, within=ridge.Z_BOTH, control={"equals": 5}, method="montecarlo"),
      over={"noise": per_profile(ridge.SHOWN, NOISY), "model": ridge.BASELINES}, source=RIDGE_ROWS, kind="printed", expected="supported",
      title="the printed baselines of ridge regression",
      assumes=(STANDARD, ADJUSTED, "constants tuned on one sample of contexts, losses from another",
               """each printed number is a mean over 100,000 sequences, with ridge regression at the true variance on
          the same sequences"""))
claim("lt.constant-ridge-bound/adaptive/without-noise",
      identity(ridge.residuals, r"\text{words left of } y_i - \langle w^*, x_i \rangle", control={"noise": 1}, over={"noise": 0}),
      source=BY_VARIANCE, kind="printed", expected="supported", title="without noise AdaRR is exact",
      assumes=(r"labels $y_i = \langle w^*, x_i \rangle$; $n \geq d$ tokens of full rank; any tokens and any $d$",
               r"AdaRR: ridge regression with $\sum_i (y_i - \langle w_{\mathrm{OLS}}, x_i \rangle)^2 / (n - d)$"),
      finding="Least squares leaves no residual, so the estimate of the variance is 0 and AdaRR is least squares, which is $w^*$.")
claim("lt.constant-ridge-bound/adaptive/struggles",
      bound(at(ridge.growth, contexts=per_profile(8192, 65_536)), r"\mathcal{L}(\sigma) - \mathcal{L}(\sigma - 1)", low=0, strict=True,
            control="1/20", method="montecarlo"),
      source=BY_VARIANCE, kind="printed", expected="supported", title="the loss of AdaRR grows with the noise",
      over={"sigma": (1, 2, 3, 4, 5)}, assumes=(STANDARD, ADJUSTED, "one noise level at a time"))
claim("lt.constant-ridge-bound/adaptive/descent",
      bound(STEPPED, r"\mathcal{L}_k / \mathcal{L}(\mathrm{AdaRR})", high="101/100", control={"steps": 50}, over={"steps": 100},
            method="montecarlo"),
      bound(STEPPED, r"\mathcal{L}_k / \mathcal{L}(\mathrm{AdaRR})", low="101/100", strict=True, control={"steps": 100}, over={"steps": 50},
            method="montecarlo"),
      source=DESCENT, kind="convention", reading="one step size, 1/100; converged: a loss at most a hundredth larger", expected="supported",
      title="gradient descent comes within a hundredth of AdaRR after 50 to 100 steps", over={"noise": "uniform-5"},
      assumes=(STANDARD, ADJUSTED, r"$k$ steps from 0 of length $1/100$ on AdaRR's own objective; the step size is not printed"),
      finding="""With a step of its own for each context, 2 over the sum of the extreme eigenvalues, 30 steps are enough: the count is
          that of a step that suits all contexts.""")
