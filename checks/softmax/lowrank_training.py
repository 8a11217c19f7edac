r"""Training on nonlinear families of low rank: rho(M, B) and the test error along training, and the minimum in closed form."""

from __future__ import annotations

from typing import Any

import numpy as np

import lipverify as lv
from lipverify.checks.softmax.quantities import Value

K, D, N, SIGMA, OFFSET = 2, 5, 16, 0.1, 2.0
"""The dimension of col(B), that of the tokens, the number of tokens, the noise, and the constant of the affine family."""
HELD_OUT, LEVEL = 1024, 0.99
"""Number of held-out contexts for the test error, and the level of the t-intervals over runs."""
RECIPES: dict[str, dict[str, Any]] = {
    "softmax/gd": {"learning_rate": 6.0, "steps": 200, "batch": 32},
    "softmax/adam": {"learning_rate": 0.05, "steps": 150, "batch": 32},
    # on the even families linear attention has its minimum at M = 0, where rho has no meaning; training stops before
    "linear/gd": {"learning_rate": 0.1, "steps": 200, "batch": 32},
    "linear/adam": {"learning_rate": 0.005, "steps": 150, "batch": 32},
    # on the affine family the minimum is elsewhere; training continues until it is close
    "linear/gd/affine": {"learning_rate": 0.2, "steps": 300, "batch": 32},
    "linear/adam/affine": {"learning_rate": 0.01, "steps": 200, "batch": 64},
}
"""The sources print no hyperparameters, so every statement is measured with two optimisers."""
SETTING = (
    rf"$w = \mathbf{{B}} a$, $a$ uniform on $S^{{k-1}}$, $k = {K}$, $d = {D}$, $n = {N}$, $\sigma = {SIGMA}$",
    r"covariates: a product of two unit spheres; uniform on $S^{d-1}$",
    r"$\rho(\mathbf{M}, \mathbf{B}) = \|\mathbf{B}_\perp^\top \mathbf{M} \mathbf{B}_\perp\|_2 / \|\mathbf{B}^\top \mathbf{M} \mathbf{B}\|_2$",
    r"start $\mathbf{M} = \mathbf{I} + 0.1\, \mathbf{G}$ with standard normal entries of $\mathbf{G}$; gd: gradient descent, adam: Adam",
    f"test error on {HELD_OUT} held-out contexts; 99 % t-intervals over the runs",
    "lowered: rho by a quarter or more, the test error by a twentieth or more",
)


def assumed(attention: str, family: str = "") -> tuple[str, ...]:
    form = {
        "linear": r"linear attention: $\frac{1}{n} \sum_i y_i\, x_i^\top \mathbf{M} x$",
        "softmax": "softmax attention; a constant in $f$ has no effect on it",
    }
    recipes = {name: recipe_of(family, attention, name) for name in ("gd", "adam")}
    words = "{}: learning rate {learning_rate:g}, {steps} steps of {batch} fresh contexts"
    return (*SETTING, form[attention], *(words.format(name, **recipe) for name, recipe in recipes.items()))


def trained(family: str, attention: Any, covariates: str, optimiser: Any, seeds: int, seed: int) -> dict[str, Any]:
    """The log change of rho and of the test error between start and end, and both along training.

    rho(M, B) = |B'^T M B'|_2 / |B^T M B|_2, spurious over relevant, B the first axes; means over runs.
    """
    from lipverify.optimum import Recipe, held_out_losses

    recipe = Recipe(optimiser=optimiser, start=1.0, **recipe_of(family, attention, optimiser))
    here, streams = problem(family, covariates), [f"block/{family}/{covariates}/{k}" for k in range(seeds)]
    M = recipe.runs(here, streams, attention=attention, every=recipe.steps // 10, seed=seed)
    fresh: dict[str, Any] = {"attention": attention, "held_out": HELD_OUT, "seed": seed}
    # the last matrix is not from training: M = 0 is linear attention that predicts 0
    further = np.concatenate([M, np.zeros_like(M[:, :1])], axis=1)
    losses = [
        held_out_losses(here, matrices, stream=stream, **fresh)
        for matrices, stream in zip(further, streams, strict=True)
    ]
    error, nothing = np.split(np.array(losses), [-1], axis=1)
    rho = np.divide(*(np.linalg.norm(M[..., b, b], 2, axis=(2, 3)) for b in (slice(K, D), slice(K))))
    return {
        "rho": interval(np.log(rho[:, -1] / rho[:, 0])),
        "error": interval(np.log(error[:, -1] / error[:, 0])),
        "shares": [k / 10 for k in range(11)],
        "curves": {
            name: [interval(at_step) for at_step in values.T] for name, values in (("rho", rho), ("error", error))
        },
        "nothing": float(np.mean(nothing)),
    }


def interval(values: Any) -> Value:
    """The mean over runs and the half-width of its 99 % t-interval."""
    from lipverify.sampling import mean_interval

    return mean_interval(np.asarray(values), LEVEL)


def problem(family: str, covariates: str, n: int = N, sigma: float = SIGMA) -> lv.Problem:
    """w = B a with a uniform on S^{k-1}, on the sphere or on a product of unit spheres."""
    B = lv.covariates.axes(D, K)
    links: dict[str, Any] = {"affine": lv.Ridge(with_offset), "quadratic": lv.Quadratic(), "cosine": lv.Cosine(L=4.0)}
    tokens = lv.covariates.ProductOfSpheres(B) if covariates == "product" else lv.covariates.Sphere()
    return lv.Problem(d=D, n=n, law=lv.laws.LowRank(B, links[family]), sigma=sigma, covariates=tokens)


def with_offset(z: Any) -> Any:
    """The identity link plus 2."""
    return z + OFFSET


def recipe_of(family: str, attention: str, optimiser: str) -> dict[str, Any]:
    """The open choices of the sources."""
    return RECIPES.get(f"{attention}/{optimiser}/{family}", RECIPES[f"{attention}/{optimiser}"])


def closed_form(family: str, n: int = N, sigma: float = SIGMA) -> dict[str, Value]:
    r"""The best M = c BB^T + c' B'B'^T of linear attention on the product; M = 0 for an even family.

    For the affine family, with v = 4 + 1/k + sigma^2, the mean square of a label, its loss is a constant plus

        -2 c / k^2 + c^2 ((1 - 1/n) / k^3 + v / (n k)) + c'^2 v / (n (d - k)).
    """
    if family != "affine":
        return {"c": (0.0, 0.0), "c_perp": (0.0, 0.0)}
    v = OFFSET**2 + 1 / K + sigma**2
    return {"c": ((1 / K**2) / ((1 - 1 / n) / K**3 + v / (n * K)), 0.0), "c_perp": (0.0, 0.0)}


def minimised(family: str, contexts: int, seed: int, n: int = N, sigma: float = SIGMA) -> dict[str, Value]:
    """The same M, by minimising the sampled loss over all matrices."""
    stream, here = f"block/{family}/minimised", problem(family, "product", n, sigma)
    optimum = lv.optimal_matrix(here, attention="linear", contexts=contexts, starts=2, seed=seed, stream=stream)
    ends = {"c": 0, "c_perp": -1}
    return {
        name: (float(optimum.M[place, place]), float(optimum.M_error[place, place])) for name, place in ends.items()
    }
