"""Asymptotic theory of in-context learning by linear attention: kappa d pretraining tasks, alpha d tokens.

Infinite pretraining. The limit is compared with the risk at finite d: exact for a pool of tasks, a mean over pools.
"""

import numpy as np

from lipverify.claims import agree, bound, claim
from lipverify.covariates import Coordinates, Pool
from lipverify.linear_transformer import best_step, step_risk
from lipverify.prompts import Prompts, predictors

PAPER = "Lu, Letey, Zavatone-Veth, Maiti, Pehlevan, PNAS 122 (2025), arXiv 2405.11751"


def over_pools(measure, d, kappa, alpha, rho, seeds):
    """The mean over pools, w ~ N(0, I), of the risk of the best layer for a pool on new tasks; x ~ N(0, I/d)."""
    new = Prompts(d=d, n=round(alpha * d), covariates=Coordinates(scale=d**-0.5), sigma=rho**0.5)
    values = [measure(new, best_step(new.replace(tasks=Pool(round(kappa * d), seed=s))), s) for s in seeds]
    return np.mean(values), 1.96 * np.std(values, ddof=1) / len(seeds) ** 0.5


def risk(d, kappa, alpha, rho, seed):
    return over_pools(lambda new, A, _: step_risk(new, A).value, d, kappa, alpha, rho, range(60 * seed, 60 * seed + 60))


def forward_pass(d, kappa, alpha, rho, seed, contexts):
    def sampled(new, A, pool):
        here = new.draw(contexts // 40, seed, stream=f"pool/{pool}")
        return np.mean((predictors.gradient_descent(1, A).weights(here.x, here.y) - here.task) ** 2)

    return over_pools(sampled, d, kappa, alpha, rho, range(60 * seed + 60, 60 * seed + 120))


def limit(kappa, alpha, rho):
    """E (1 - F)^2 + theta F^2, F = s/(s + theta), s of Marchenko and Pastur's law, M = E 1/(s + theta)."""
    theta, c = (1 + rho) / alpha, (1 + rho) / alpha + 1 - 1 / kappa
    root = np.sqrt(c**2 + 4 * theta / kappa)
    M = 2 / (c + root)
    once, twice = theta * M, theta**2 * M * (1 + (c + 2 / kappa) / root) / (c + root)  # E (1 - F), E (1 - F)^2
    return twice + theta * (1 - 2 * once + twice)


def correction(d, kappa, alpha, rho, seed):
    value, error = risk(d, kappa, alpha, rho, seed)
    return d * (value - limit(kappa, alpha, rho)), d * error


# fmt: off
OVER = {"rho": 0.1, "kappa": (0.5, 2.0, 10.0), "alpha": (1.0, 4.0)}
CURVE = (PAPER, "new tasks, as pretraining grows", "the limit of the error; formula derived anew")
SAME = agree(risk, forward_pass, "e_d", over={"rho": 0.1, "kappa": (0.5, 2.0), "alpha": 1.0, "d": 10})
claim("lu.curve", bound(correction, "d (e_d - e)", low=0, high=0.3, control={"low": 0.3}, method="montecarlo"),
      SAME, over=OVER | {"d": (10, 20, 40)}, source=CURVE, kind="derived", expected="supported")
MORE = {"low": limit, "high": lambda d, kappa, alpha, rho: limit(kappa, alpha, rho) + 0.3 / d}
claim("lu.curve/finite", bound(risk, "e_d", equals=limit, within=1e-3, method="montecarlo", control=(None, MORE)),
      source=CURVE, over=OVER | {"d": 10}, kind="stronger", expected="refuted", corrected="at most $0.3/d$ more")
claim("lu.transition", bound(risk, "e_d", equals="max(0, 1 - kappa)", within=1e-3, method="montecarlo"), kind="printed",
      over={"rho": 0.1, "d": (10, 40), "kappa": (0.5, 0.9, 1.5, 4.0), "alpha": 1e9}, expected="supported",
      source=(PAPER, "task diversity", r"a transition at $\kappa = 1$: below, $1 - \kappa$ is left at any length"))
