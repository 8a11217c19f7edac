r"""Quantities of the theorems on linear transformers: contexts, tokens, trained models; and common assumptions.

The paper is Vladymyrov, von Oswald, Sandler, Ge, "Linear Transformers are Versatile In-Context Learners", NeurIPS 2024.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lipverify.errors import InvalidInput

Floats = NDArray[np.float64]
Value = tuple[float, float]
"""A number and its error."""
NOISE_LAWS = (*(f"uniform-{sigma_max}" for sigma_max in range(8)), "levels-1-3", "levels-1-3-5")
"""The columns of Table 1: sigma uniform on [0, sigma_max], or one of a few levels."""
NOISY, UNIFORM = NOISE_LAWS[1:], NOISE_LAWS[1:8]
DEPTHS = tuple(range(1, 8))
"""The depths of Table 1."""
TRAININGS = (0, 1, 2)
"""Seeds of the trainings that lipverify ships."""
STANDARD = r"$d = 10$, $n = 20$, $x_i, w^* \sim \mathcal{N}(0, \mathbf{I})$, noiseless query target"
"""The problem of Table 1 without the law of the noise."""
ADJUSTED = r"adjusted loss: half the squared error, minus that of ridge regression with the true $\sigma^2$"
"""The loss of Table 1."""
# fmt: off
TABLE_1 = ("V", "Table 1", r"""Adjusted evaluation loss for models with various number of layers with uniform noise variance
    $\sigma_\tau \sim U(0, \sigma_{\max})$.""")
RIDGE_ROWS = ("V", "Table 1, ridge regressions", TABLE_1[2])
EVALUATION = ("V", "Section 6, evaluation", "We evaluated the algorithm using 100 000 novel sequences.")
EXPRESSIVE = ("V", "Theorem 4.2", r"""Suppose the input to a linear transformer is $(x_1, y_1), ..., (x_n, y_n)$ where $x_i \sim N(0, I)$ and
    $y_i = w^\top x_i$, let the $l$-th layer output be ... and let $y^l = (y_1^l, ..., y_n^l)$ and $y^* = (x_1(1)^2, ..., x_n(1)^2)$
    (here $x_i(1)$ is just the first coordinate of $x_i$), then when $n \gg d$ with high probability the cosine similarity of $y^*$
    and $y^l$ is at most 0.1.""")
SECOND_ORDER = ("V", "Theorem 5.1", r"""Given $(x_1, y_1), ..., (x_n, y_n), (x_t, 0)$ where $\Sigma$ has eigenvalues in the range
    $[\nu, \mu]$ with a condition number $\kappa = \nu/\mu$. Let $w^*$ be the optimal solution to least squares problem (4), then there
    exists hyperparameters for GD++ algorithm that outputs $\hat{y}$ with accuracy $|\hat{y} - \langle x_t, w^* \rangle| \leq \epsilon
    \|x_t\| \|w^*\|$ in $l = O(\log \kappa + \log \log 1/\epsilon)$ steps.""")
TWO_LEVELS = ("V", "Theorem 5.2", r"""Here $\xi_i \sim N(0, \sigma^2)$ is the noise whose noise level $\sigma$ can take one of two values:
    $\sigma_1$ or $\sigma_2$. Then as $n$ goes to $+\infty$, there exists a set of parameters for two-layer linear transformers such
    that the implicit $w^2$ of the linear transformer converges to the optimal ridge regression results (and the output of the linear
    transformer is $-\langle w^2, x_q \rangle$). Further, the first layer only has $\omega_{yx}$ being nonzero and the second layer only
    has $\omega_{yy}$ being nonzero.""")
DIAGONAL = ("V", "Section 5, diagonal matrices", """Surprisingly, the final loss remains remarkably consistent even when their Q and P
    matrices (3) are diagonal.""")
TUNED = ("V", "Section 6, uniform noise, TunedRR", "Models with 5 or more layers match or exceed the performance of TUNEDRR.")
ADAPTIVE = ("V", "Section 6, uniform noise, AdaRR", r"""As $\sigma_{\max}$ grows, linear transformers show a clear advantage over the
    baselines. With 4 layers, they outperform the closed-form solution ADARR for $\sigma_{\max} = 4$ and larger.""")
"""Passages that several theorems quote."""
# fmt: on
ENTRY = """a printed loss is a mean over 100,000 sequences, with ridge regression at the true variance measured on the same
    sequences"""
"""An entry of Table 1."""


def printed(noise: str, model: str, layers: int = 0) -> Any:
    """The number printed in Table 1, with half a unit of its last digit."""
    from lipverify.linear_transformer import printed as of_table

    return of_table(noise, model, layers)


def named(noise: str) -> str:
    """The name of a law of the noise in a sentence."""
    from lipverify.linear_transformer import regression_named

    return f"${regression_named(noise).noise.latex}$"


def require(rule: bool, words: str) -> None:
    """Refuse an argument that breaks its rule, in these words."""
    if not rule:
        raise InvalidInput(words)


def held_out(regression: Any, contexts: int, seed: int, stream: str) -> Any:
    """Contexts of a problem from (seed, stream), and the losses of estimators on them."""
    from lipverify.linear_transformer import draw_contexts, evaluation

    return evaluation(draw_contexts(regression, contexts, seed, stream))


def trained(noise: str, family: str, layers: int, training: int) -> Any:
    """The record of that model, which estimates w from contexts; its `model` is the layers."""
    from lipverify.linear_transformer import trainings

    return trainings(noise, family, layers)[training]
