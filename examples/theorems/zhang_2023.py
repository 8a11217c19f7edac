"""What and how does in-context learning learn? Bayesian model averaging over M tasks, and its regret.

From memory. The regret is the sum over tokens of the log-loss of the average minus that of the true task, in nats.
Sampled for any pool; for two tasks it is also an integral over one normal variable and a chi-squared one.
"""

import numpy as np
from scipy.special import logsumexp, roots_genlaguerre, roots_hermitenorm

from lipverify.claims import Figure, Panel, Series, agree, at, bound, claim
from lipverify.covariates import Pool
from lipverify.prompts import Prompts
from lipverify.sampling import mean_with_half_width

PAPER = "Zhang, Zhang, Yang, Wang, arXiv 2305.19420 (2023)"


def regret(M, d, n, sigma, contexts, seed):
    """In units of log M, by the chain rule from the last posterior; two tasks are e_1 and -e_1."""
    W = np.array([np.eye(d)[0], -np.eye(d)[0]]) if M == 2 else Pool(M).vectors(d)
    drawn = Prompts(d=d, n=n, tasks=Pool(W), sigma=sigma).draw(contexts // 2, seed, "zhang")
    loss = np.sum((drawn.y[:, :, None] - drawn.x @ W.T) ** 2, axis=1) / (2 * sigma**2)
    own = loss[np.all(np.asarray(drawn.task)[:, None] == W, axis=2)]
    lost, half_width = mean_with_half_width(logsumexp(own[:, None] - loss, axis=1))
    return 1 - lost / np.log(M), half_width / np.log(M)


def two_tasks(M, d, n, sigma):
    """Given S = sum x_1^2 the log-likelihood ratio of both tasks is N(2 S / sigma^2, 4 S / sigma^2)."""
    values = []
    for nodes in (40, 60):
        (s, weights), (z, density) = roots_genlaguerre(nodes, n / 2 - 1), roots_hermitenorm(nodes + 20)
        mean = 4 * s[:, None] / sigma**2
        lost = np.logaddexp(0, -mean - np.sqrt(2 * mean) * z) @ density / density.sum()
        values.append(float(1 - lost @ weights / weights.sum() / np.log(M)))
    return values[1], abs(values[1] - values[0]) + 1e-12


def picture(x=(1, 2, 3, 5, 8, 12, 20, 30, 50, 80)):
    curves = tuple(Series(label=rf"$\sigma = {s}$", x=x, y=tuple(two_tasks(2, 5, n, s)[0] for n in x)) for s in (1, 2))
    panel = Panel(title="", xlabel="$n$", ylabel=r"regret$/\log 2$", yscale="linear", series=curves)
    return Figure(caption="The regret of averaging two tasks.", alt="Rises to its bound.", panels=(panel,))


# fmt: off
BOUND = (PAPER, "the regret", r"the regret of Bayesian model averaging over $M$ tasks is at most $\log M$ for any $n$")
PAIR, UNIT = {"M": 2, "d": 5, "sigma": 2.0}, r"\mathrm{regret} / \log M"
claim("zhang-averaging.two", bound(two_tasks, UNIT, high=1, control={"high": 0.92}),
      agree(two_tasks, regret, UNIT, over=PAIR | {"n": (2, 5, 20)}), over=PAIR | {"n": (20, 40, 80)}, source=BOUND,
      kind="printed", expected="supported", title="The regret on two tasks", shows=at(picture))
claim("zhang-averaging.many", bound(regret, UNIT, high=1, control={"high": 0.85}), source=BOUND, kind="printed",
      over={"M": (4, 16), "d": 5, "sigma": 1.0, "n": 8}, expected="supported", title="The regret on $M$ tasks")
claim("zhang-averaging.attained", bound(two_tasks, UNIT, equals=1, within=0.1, control=(None, {"n": 40})), source=BOUND,
      over=PAIR | {"n": (2, 5)}, kind="stronger", expected="refuted", corrected="reached once the task is identified")
