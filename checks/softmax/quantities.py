r"""Quantities of the theorems on softmax attention: the optimal w, noise, bias and loss, exactly and on sampled contexts.

Each value has an error. A law is given by its name. L = sigma = 1 unless stated otherwise, so Lambda = n L^2 / sigma^2
is n.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import lipverify as lv
from lipverify.claims import agree, at, per_profile

Value = tuple[float, float]
Floats = NDArray[np.float64]
DIMENSIONS = per_profile((2, 3, 4, 5, 6, 7, 8), (2, 3, 4, 5, 6, 7, 8, 9, 10, 12))
"""The dimensions at which statements about a limit are measured."""
WINDOWS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
"""The w at which noise and bias are compared with sampled ones, from nearly uniform weights to a window with few tokens."""


def problem(law: str, d: int, n: float, L: float = 1.0, sigma: float = 1.0) -> lv.Problem:
    return lv.Problem(d=d, n=n, law=lv.laws.law_named(law, L=L), sigma=sigma)


def optimum(law: str, d: int, n: float, L: float = 1.0, sigma: float = 1.0) -> dict[str, Value]:
    best = lv.optimal_window(problem(law, d, n, L, sigma))
    return {"w": (best.w, best.w_error), "loss": (best.loss, best.loss_error)}


def sampled_optimum(law: str, d: int, n: float, contexts: int, seed: int) -> dict[str, Value]:
    """The optimal w, by sampling alone."""
    from lipverify.optimum import empirical_window

    best = empirical_window(problem(law, d, n), contexts=contexts, seed=seed, stream=f"window/{law}/{d}/{n}")
    return {"w": (best.w, best.w_error)}


def at_tuned(trained: lv.Problem, tested: lv.Problem, method: Any = "asymptotic", **drawn: Any) -> Value:
    """The loss of one problem at the optimal w (exact) of another: from the leading terms, or on sampled contexts."""
    terms = lv.loss_terms(tested, lv.optimal_window(trained).w, method, **drawn)
    return float(terms.total), float(terms.total_error)


def softmax(scores: Any) -> Any:
    """e^{s_i} / sum_j e^{s_j} over the last axis.

    >>> softmax(np.array([[0.0, np.log(3.0), -1e9]])).round(12).tolist()
    [[0.25, 0.75, 0.0]]
    """
    level = np.exp(scores - np.max(scores.real, axis=-1, keepdims=True))
    return level / np.sum(level, axis=-1, keepdims=True)


def weights(drawn: Any, M: Floats) -> Floats:
    """The attention of each query to its tokens, (contexts, n), with the scores x_i^T M x."""
    return np.asarray(softmax((drawn.tokens @ (drawn.query @ M.T)[..., None])[..., 0]))


def noise_and_bias(drawn: Any, M: Floats) -> tuple[Floats, Floats]:
    """sum_i a_i^2 and the squared bias of each context, the components of f at amplitude 1."""
    a = weights(drawn, M)
    parts = zip(drawn.values, drawn.targets, strict=True)
    return np.sum(a * a, axis=1), sum(
        (np.sum(a * (f - target[:, None]), axis=1) ** 2 for f, target in parts), np.zeros(len(a))
    )


def terms(law: str, d: int, n: float, w: float) -> dict[str, Value]:
    both = lv.loss_terms(problem(law, d, n), w)
    return {"B": (float(both.bias), float(both.bias_error)), "N": (float(both.noise), float(both.noise_error))}


def many_tokens(d: int, w: float, law: str = "affine") -> dict[str, Value]:
    """B and n N with n = w^(d/2 + 1), so that every window holds many tokens; N is the same for every law."""
    n = min(round(w ** (d / 2 + 1)), 1e30)
    both = terms(law, d, n, w)
    return both | {"nN": (n * both["N"][0], n * both["N"][1])}


def few_tokens(d: int, n: float, law: str = "affine") -> dict[str, Value]:
    """B and N at w = n^(3/(d - 1)), where the nearest token takes all the attention."""
    return terms(law, d, n, n ** (3 / (d - 1)))


def over_leading(law: str, d: int, w: float) -> Value:
    """B divided by its leading term C L^2 / w^beta, which SymPy derives; n = w^(d/2 + 1)."""
    value, error = many_tokens(d, w, law)["B"]
    form = lv.leading(lv.laws.law_named(law), d)
    C = form.bias_constant.subs(dict.fromkeys(form.bias_constant.free_symbols, 1)).evalf(20)
    term = float(C) * w ** -float(form.beta)
    return value / term, (error + 1e-13 * value) / term


def curve(law: str, d: int, n: float) -> dict[str, Value]:
    """B and N at each of `WINDOWS`: "B(0.3)", "N(0.3)", ..."""
    return _by_window(lv.loss_terms(problem(law, d, n), WINDOWS))


def sampled_curve(law: str, d: int, n: float, contexts: int, seed: int, backend: str) -> dict[str, Value]:
    """The same terms on contexts that are sampled in full; the exact method starts from a reduction."""
    drawn: dict[str, Any] = {"contexts": contexts, "seed": seed, "backend": backend, "stream": f"curve/{law}/{d}/{n}"}
    return _by_window(lv.loss_terms(problem(law, d, n), WINDOWS, "montecarlo", sampling="full", **drawn))


def _by_window(terms: lv.LossTerms) -> dict[str, Value]:
    columns = {"B": (terms.bias, terms.bias_error), "N": (terms.noise, terms.noise_error)}
    return {
        f"{letter}({w:g})": (float(value), float(error))
        for letter, column in columns.items()
        for w, value, error in zip(WINDOWS, *column, strict=True)
    }


def sampled_terms(letter: str, over: dict[str, Any], **given: Any) -> Any:
    """The cross-check of B or N, exact against sampled, at each of `WINDOWS`."""
    return agree(
        at(curve, **given), at(sampled_curve, **given), letter, of=f"{letter}({{w}})", over={**over, "w": WINDOWS}
    )


MODEL = (
    r"tokens and query uniform on $S^{d-1}$, noise independent with variance $\sigma^2$",
    r"$\mathbf{M} = w \mathbf{I}$, attention scores $w \langle x_i, x \rangle$",
)
"""The assumptions of every theorem that states no others."""
LARGE_N = ("L", "sigma > 0", "large n")
"""What the window theorem covers: every L and sigma, and all n from a number on that it names."""
EXPONENT = {
    "noise": r"\text{limit exponent of } n N / \sigma^2 \text{ in } w",
    "bias": r"\text{limit exponent of } B / L^2 \text{ in } w",
    "window": r"\text{limit exponent of } w^* \text{ in } \Lambda",
    "loss": r"\text{limit exponent of } \mathcal{L}(w^*) / L^2 \text{ in } \Lambda",
}
"""The exact exponents of the window theorem, in its letters."""
MANY_TOKENS = (*MODEL, r"$w \to \infty$ with $n = w^{d/2+1}$, so that every window holds many tokens")
LAWS = {
    "relu": {"beta": "3/2", "b": "3", "rate": "2/(d + 2)", "fall": "3/(d + 2)"},
    "affine": {"beta": "2", "b": "4", "rate": "2/(d + 3)", "fall": "4/(d + 3)"},
}
"""The bias falls like w^-beta, b = 2 beta. The error of a smooth law is due to its curvature alone; a kink adds an
error of order w^(-1/2) on the share w^(-1/2) of queries with the kink in their window. Where the noise w^((d-1)/2) / n
balances the bias, w* is of the order Lambda^rate and the loss of the order Lambda^-fall."""
SMOOTH = {"cosine": {"beta": "2"}, "quadratic": {"beta": "2"}}
"""The slides' other classes, also without a kink."""
READINGS = {"ambient": {"D": "d", "E": "d + 2"}, "intrinsic": {"D": "d - 1", "E": "d + 1"}}
"""d is the dimension of the space, or of the sphere in it."""
LEMMA_1 = (
    "S",
    "Lemma 1: Inverting the data covariance",
    r"""Under natural symmetry conditions: $\mathbf{x}_i \sim \mathbf{\Sigma}^{1/2} \mathcal{U}^d \ \forall \ i \implies \mathbf{M}^* =
    w_{KQ} \mathbf{\Sigma}^{-1}$ for any $\mathbf{M}^* \in \arg\min \mathcal{L}(\mathbf{M})$ and some $w_{KQ} \geq 0$, where
    $\mathcal{U}^d$ is the uniform distribution over the d-dimensional hypersphere.""",
)
WHITENED = r"$f(x) = g(\Sigma^{-1/2} x)$ with $g$ isotropic: $q \sim \Sigma^{-1/2} \mathcal{U}^d$"
