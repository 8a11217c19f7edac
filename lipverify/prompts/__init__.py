"""In-context learning by any model: laws of prompts as data, predictors as functions, and risks with valid intervals.

>>> from lipverify.covariates import Coordinates
>>> from lipverify.prompts import Prompts, predictors, risk
>>> here = Prompts(d=10, n=10, covariates=Coordinates("uniform"))
>>> value, half_width = risk(here, predictors.gradient_descent(1, rate=50 / 33), contexts=4000)
>>> abs(value - 1.649832) < half_width < 0.1
True
"""

from typing import TYPE_CHECKING

from lipverify.foundation.lazy import lazy

if TYPE_CHECKING:
    from lipverify.problem.prompts import Prompts as Prompts
    from lipverify.prompts import predictors as predictors
    from lipverify.prompts.risks import probability as probability, risk as risk, risk_curve as risk_curve

lazy()
