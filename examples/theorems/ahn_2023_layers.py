"""Transformers learn to implement preconditioned gradient descent: many layers, at a stationary point of all A_l.

For x ~ N(0, Sigma), w ~ N(0, Sigma^-1) the best A_l = a_l Sigma^-1 are stationary among all matrices.
"""

import functools

import numpy as np
from scipy.optimize import minimize

from lipverify.claims import agree, bound, claim
from lipverify.covariates import Gaussian
from lipverify.linear_transformer import preconditioned, spectral_mean
from lipverify.prompts import Prompts, predictors, risk

PAPER, STEP = "Ahn, Cheng, Daneshmand, Sra, NeurIPS 2023", 1e-3
LAM, OFF = np.array([0.4, 0.8, 1.6]), np.array([[2.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, -2.0]]) / 3


def mean(a, n):
    """The mean of prod_l (1 - a_l t/n)^2 over the eigenvalues t of sum_i x_i x_i^T, x whitened."""
    return spectral_mean(lambda t: np.prod([1 - each * t / n for each in a], axis=0) ** 2, n, 3, degree=2 * len(a) + 1)


@functools.cache
def steps(n, layers):
    """The a_l of the minimal risk."""
    return minimize(lambda a: mean(a, n)[0], np.linspace(0.5, 1.5, layers), tol=1e-12).x


def exact(n, layers):
    value, error = mean(steps(n, layers), n)
    return 3 * value, 3 * error


def sampled(n, layers, contexts, seed, power=1.0, step=0.0):
    """The risk of A_l = a_l Sigma^-power; or its change if the first moves along +- a matrix outside the family."""
    A = [np.diag(a * LAM**-power) for a in steps(n, layers)]
    moved = ([A[0] + move * OFF, *A[1:]] for move in (step, -step))
    one, other = (predictors.transformer([preconditioned(each, n) for each in steps]) for steps in moved)
    here = Prompts(d=3, n=n, covariates=Gaussian(LAM), tasks=Gaussian(1 / LAM))
    return risk(here, one, contexts, seed, less=other if step else None)


def slope(n, layers, power, contexts, seed):
    """The derivative of log risk."""
    value, half_width = sampled(n, layers, 4 * contexts, seed, power, STEP)
    unit = 2 * STEP * exact(n, layers)[0]
    return value / unit, half_width / unit


claim(
    "ahn-layers.stationary",
    bound(slope, "f' / f", equals=0, within=0.2, control={"power": 0.8}, method="montecarlo"),
    agree(exact, sampled, "f", over={"n": 20, "layers": (1, 2)}),  # with three, rare prompts rule the mean of samples
    over={"n": 20, "layers": (1, 2), "power": 1.0},
    source=(PAPER, "Theorem 3", r"there is a stationary point of all $A_l$ with $A_l = a_l \Sigma^{-1}$"),
    kind="printed",
    expected="supported",
)
