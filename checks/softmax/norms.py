r"""M| along training by L, and the derivatives of the loss at the start, which determine its growth."""

from __future__ import annotations

from typing import Any

import numpy as np

import lipverify as lv
from lipverify.checks.softmax.quantities import Value, problem

SETTINGS: dict[str, dict[str, Any]] = {
    "relu": {"law": "relu", "d": 3, "n": 16, "sigma": 0.5, "L": (0.5, 1.0, 2.0, 4.0), "start": 0.1, "gd": 1.0},
    "cosine": {"law": "cosine", "d": 3, "n": 16, "sigma": 0.3, "L": (0.5, 1.0, 2.0), "start": 0.5, "gd": 4.0},
    "circle": {"law": "cosine", "d": 2, "n": 32, "sigma": 0.1, "L": (3.0, 5.0), "start": 0.5, "gd": 2.0},
}
""""gd" is the step of gradient descent. The even cosine law has no gradient at M = 0, so its starts are larger."""
STEPS, ADAM, LEVEL = 160, 0.05, 0.99
SHAPES = {"isotropic": "sphere", "anisotropic": "ellipsoid"}
REACH = {"relu": (1.0, 1.5), "cosine": (2.0, 6.0)}
"""An L, and a w that descent at that L does not exceed."""
NODES = 13
"""Number of w at which the exact loss is computed for a descent on it."""


def trained(law: str, covariates: str, optimiser: str, seeds: int, seed: int) -> dict[str, Any]:
    """The ratio of |M| between neighbouring L after half of the steps and after all, and |M| along training for each L.

    Runs of one replication share tokens, directions and starts; errors are half-widths of 99 % intervals of the mean.
    """
    from lipverify.sampling import mean_interval

    setting, every = SETTINGS[law], STEPS // 8
    norms, scales = {}, {}
    for L in setting["L"]:
        stream = f"norm/{setting['law']}/{SHAPES[covariates]}/{setting['d']}"
        streams = [f"{stream}/{k}" for k in range(seeds)]
        runs = recipe(setting, optimiser).runs(task(setting, covariates, L), streams, every=every, seed=seed)
        M = np.array([run.M for run in runs])
        norms[L] = np.linalg.norm(M, 2, axis=(2, 3))
        scales[f"scale at {L:g}"] = mean_interval(np.trace(M[:, -1], axis1=1, axis2=2) / setting["d"], LEVEL)
    ratios = {
        f"{L:g} to {larger:g} after {k * every}": mean_interval(np.log(norms[larger] / norms[L])[:, k], LEVEL)
        for L, larger in zip(setting["L"], setting["L"][1:], strict=False)
        for k in (4, 8)
    }
    curves = {f"{L:g}": [mean_interval(at_step, LEVEL) for at_step in norms[L].T] for L in norms}
    return {**ratios, **scales, "steps": [k * every for k in range(9)], "norms": curves}


def descended(law: str, covariates: str) -> Value:
    """w after gradient descent on the exact loss; stochastic descent approximates it."""
    L, reach = REACH[law]
    return descended_window(task(SETTINGS[law], covariates, L), recipe(SETTINGS[law], "gd"), reach)


def descended_window(problem: lv.Problem, recipe: Any, reach: float) -> Value:
    r"""w after gradient descent on the exact loss, w <- w - learning_rate L'(w) / d, and its error.

    Along M = w I the gradient in M of an isotropic problem is L'(w) I / d, so stochastic gradients follow this descent.
    The derivative is that of a spline through exact losses at w up to `reach`, which the descent does not exceed; the
    error is the change when every other node is left out.
    """
    from scipy.interpolate import CubicSpline

    nodes = np.linspace(0.0, reach, NODES)
    losses = lv.loss_terms(problem, nodes).total

    def end(every: int) -> float:
        slope = CubicSpline(nodes[::every], losses[::every]).derivative()
        w = recipe.start
        for _ in range(recipe.steps):
            w -= recipe.learning_rate * float(slope(w)) / problem.d
        return w

    fine = end(1)
    return fine, abs(fine - end(2))


def slope_at_zero(law: str, covariates: str, contexts: int, seed: int) -> Value:
    """The trace of minus the gradient in M at M = 0, at L = 1."""
    from lipverify.sampling import draw_loss, mean_interval

    tasks = task(SETTINGS[law], covariates, 1.0)
    loss = draw_loss(tasks, "softmax", contexts, seed, f"zero/{law}/{covariates}")
    return mean_interval(-np.trace(loss.gradients_of_batches(np.zeros((tasks.d, tasks.d))), axis1=1, axis2=2))


def derived_slope(law: str, covariates: str) -> Value:
    """(1 - 1/n) tr Sigma^2 / (3 d^3): to first order in M only E f(x) sum_i (s_i - mean s) f(x_i) contributes."""
    tasks = task(SETTINGS[law], covariates, 1.0)
    Sigma = np.asarray(tasks.covariates.shape(tasks.d))
    return (1 - 1 / float(tasks.n)) * float(np.trace(Sigma @ Sigma)) / (3 * tasks.d**3), 0.0


def curvature(L: float) -> Value:
    """-(second derivative of the exact loss) / 2 along M = w I at w = 0, for cosine functions on the circle and many tokens."""
    steps = (0.02, 0.04)
    terms = lv.loss_terms(lv.Problem(d=2, n=1e12, law=lv.laws.Cosine(L=L), sigma=0.0), [0.0, *steps])
    fine, coarse = ((float(terms.total[0]) - float(terms.total[k + 1])) / h**2 for k, h in enumerate(steps))
    return fine, abs(fine - coarse) + float(terms.total_error.max()) / steps[0] ** 2


def derived_curvature(L: float) -> Value:
    """J_2(L)^2 / 2."""
    from scipy.special import jv

    return float(jv(2, L)) ** 2 / 2, 0.0


def best_window(L: float) -> Value:
    """w* of the cosine law on the circle."""
    optimum = lv.optimal_window(task(SETTINGS["circle"], "isotropic", L))
    return optimum.w, optimum.w_error


def task(setting: dict[str, Any], covariates: str, L: float) -> lv.Problem:
    """The problem of a setting; the axes range from 2 to 1/2 if it is anisotropic."""
    round_ = problem(setting["law"], setting["d"], setting["n"], L, setting["sigma"])
    if covariates == "isotropic":
        return round_
    return round_.replace(covariates=lv.covariates.Ellipsoid(np.geomspace(2, 0.5, round_.d).tolist()))


def recipe(setting: dict[str, Any], optimiser: Any) -> Any:
    from lipverify.optimum import Recipe

    rate = setting.get(optimiser, ADAM)
    return Recipe(optimiser=optimiser, learning_rate=rate, steps=STEPS, batch=32, start=setting["start"])


def learned_slowly(smooth: Any, rough: Any) -> str:
    """Explain why a larger L may be learned more slowly."""
    return rf"""The sentence holds for the moderate constants of the figure and not for every $L$. The cosine law is even, so
        $\mathbf{{M}} = 0$ is a stationary point, and training from a small start leaves it at the rate of the curvature there. On the
        circle, $\cos(L \cos \theta) = J_0(L) - 2 J_2(L) \cos 2\theta + \ldots$, and with many tokens the loss is $\mathcal{{L}}(0) -
        J_2(L)^2 w^2 / 2 + O(w^3)$: a wide window can use the second harmonic only. The rate $J_2(L)^2$ rises up to $L = 3.05$, then falls
        and vanishes at $L = 5.14$. At $L = 5$ training hardly leaves its start, although the optimum is larger there ($w^* =
        {rough[0]:.1f}$, against {smooth[0]:.1f} at $L = 3$)."""
