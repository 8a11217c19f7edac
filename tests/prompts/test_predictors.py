"""Predictors agree with each other, with their definitions, and with themselves on another array library."""

from __future__ import annotations

from typing import Any

import array_api_strict
import numpy as np
import pytest

from lipverify.covariates import Coordinates, Gaussian, Pool, Sphere
from lipverify.errors import InvalidInput
from lipverify.linear_transformer import Layer, Tokens, forward, preconditioned
from lipverify.prompts import Prompts, predictors, risk

N = 8
HERE = Prompts(d=3, n=N, sigma=0.5)
X, Y, QUERY, TARGET, TASK = HERE.draw(50, seed=0)
RANDOM = np.random.default_rng(1)
M = RANDOM.normal(size=(2, 3, 3))
ONE, TWO = (Layer(*(RANDOM.normal(size=(2, heads, 4, 4)) / 4)) for heads in (1, 2))


def gauss(x: Any, query: Any) -> Any:
    xp = x.__array_namespace__()
    return xp.exp(-xp.sum((x - query) ** 2, axis=-1))


ALL: dict[str, Any] = {
    "least squares": predictors.ridge(0.0),
    "ridge": predictors.ridge(0.5),
    "a prior": predictors.ridge(0.5, prior=np.diag([1.0, 2.0, 3.0])),
    "dmmse": predictors.dmmse(Pool(5), 0.5),
    "dmmse without noise": predictors.dmmse(np.eye(3), 0.0),
    "descent": predictors.gradient_descent(3, 0.5),
    "preconditioned": predictors.gradient_descent(2, M[0] / 4),
    "softmax": predictors.softmax_attention(2.0),
    "heads": predictors.softmax_attention(M, heads=[1.0, -0.5]),
    "linear transformer": predictors.transformer([ONE, TWO]),
    "softmax transformer": predictors.transformer([ONE, TWO], softmax=True, sign=1.0),
    "causal": predictors.transformer([ONE, TWO], causal=True),
    "kernel": predictors.nadaraya_watson(gauss),
    "neighbours": predictors.nearest_neighbours(3),
}


@pytest.mark.parametrize("name", ALL)
def test_another_array_library_gives_the_same_predictions(name: str) -> None:
    there = ALL[name](*(array_api_strict.asarray(part) for part in (X, Y, QUERY)))
    assert there.__array_namespace__() is array_api_strict
    np.testing.assert_allclose(np.asarray(there), ALL[name](X, Y, QUERY), rtol=1e-10)


@pytest.mark.parametrize("name", ALL)
def test_a_prompt_is_predicted_by_itself_and_single_precision_stays(name: str) -> None:
    alone = np.concatenate([ALL[name](X[c : c + 1], Y[c : c + 1], QUERY[c : c + 1]) for c in range(50)])
    np.testing.assert_allclose(alone, ALL[name](X, Y, QUERY), rtol=1e-9)
    single = ALL[name](*(part.astype(np.float32) for part in (X, Y, QUERY)))
    layers = "transformer" in name or name == "causal"  # whose matrices are doubles
    assert single.dtype == (np.float64 if layers else np.float32)


def test_ridge_minimises_its_sum_of_squares() -> None:
    S = np.diag([1.0, 2.0, 3.0])
    w = predictors.ridge(0.5, prior=S).weights(X, Y)
    slope = np.einsum("cnd,cn->cd", X, np.einsum("cnd,cd->cn", X, w) - Y) + 0.5 * w / np.diag(S)
    np.testing.assert_allclose(slope, 0, atol=1e-10)
    few = predictors.ridge(0.0).weights(X[:, :2], Y[:, :2])
    np.testing.assert_allclose(np.einsum("cnd,cd->cn", X[:, :2], few), Y[:, :2], atol=1e-9)
    limit = predictors.ridge(1e-9).weights(X[:, :2], Y[:, :2])
    np.testing.assert_allclose(few, limit, rtol=1e-4, atol=1e-5)  # of the least norm


def test_a_large_pool_of_normal_tasks_is_ridge_regression() -> None:
    """The posterior mean over many draws of the prior; with few of them it is not."""
    w = predictors.ridge(4.0).weights(X[:10], Y[:10])
    many, few = (predictors.dmmse(Pool(k), 2.0).weights(X[:10], Y[:10]) for k in (50_000, 20))
    off, away = (np.sqrt(np.mean((v - w) ** 2)) for v in (many, few))
    assert off < 0.02 < 0.1 < away


def test_steps_go_to_least_squares_and_layers_are_steps() -> None:
    np.testing.assert_allclose(
        predictors.gradient_descent(20_000, 0.2).weights(X[:5], Y[:5]),
        predictors.ridge(0.0).weights(X[:5], Y[:5]),
        atol=1e-6,
    )
    A = M[0] / 4
    layers = predictors.transformer([preconditioned(A, HERE.n)] * 2)
    np.testing.assert_allclose(layers(X, Y, QUERY), predictors.gradient_descent(2, A)(X, Y, QUERY), rtol=1e-10)


def test_layers_are_those_of_the_definition_token_by_token() -> None:
    linear = predictors.transformer([ONE, TWO])(X, Y, QUERY)
    masked = predictors.transformer([ONE, TWO], causal=True)(X, Y, QUERY)
    for c in range(3):
        tokens = Tokens(np.column_stack([X[c], Y[c]]), np.append(QUERY[c], 0.0))
        assert linear[c] == pytest.approx(forward(tokens, [ONE, TWO])[-1].prediction, rel=1e-12)
    e = [np.append(x, y) for x, y in zip(X[0], Y[0], strict=True)] + [np.append(QUERY[0], 0.0)]
    for layer in (ONE, TWO):
        keys = [range(min(i + 1, N)) for i in range(N + 1)]
        e = [
            e[i]
            + sum(P @ sum(e[j] * (e[j] @ Q @ e[i]) for j in keys[i]) for P, Q in zip(layer.P, layer.Q, strict=True))
            for i in range(N + 1)
        ]
    assert masked[0] == pytest.approx(-e[-1][-1], rel=1e-12)
    assert masked[0] != pytest.approx(linear[0], rel=1e-3)


def test_one_softmax_layer_is_softmax_attention_with_or_without_a_mask() -> None:
    P, Q = np.zeros((2, 1, 4, 4))
    P[0, 3, 3], Q[0, :3, :3] = 1.0, M[0]
    attention = predictors.softmax_attention(M[0])(X, Y, QUERY)
    for causal in (False, True):
        layer = predictors.transformer([Layer(P, Q)], softmax=True, causal=causal, sign=1.0)
        np.testing.assert_allclose(layer(X, Y, QUERY), attention, rtol=1e-12)
    whole, masked = (predictors.transformer([ONE, TWO], softmax=True, causal=causal) for causal in (False, True))
    assert np.abs(whole(X, Y, QUERY) - masked(X, Y, QUERY)).max() > 1e-3
    heads = predictors.softmax_attention(M)(X, Y, QUERY)
    np.testing.assert_allclose(heads, sum(predictors.softmax_attention(m)(X, Y, QUERY) for m in M) / 2, rtol=1e-12)


def test_on_the_sphere_a_gaussian_kernel_is_softmax_attention() -> None:
    x, y, query, *_ = HERE.replace(covariates=Sphere()).draw(20, seed=0)
    kernel = predictors.nadaraya_watson(gauss)(x, y, query)  # |x - q|^2 = 2 - 2 <x, q>
    np.testing.assert_allclose(kernel, predictors.softmax_attention(2.0)(x, y, query), rtol=1e-12)


def test_neighbours_are_the_nearest() -> None:
    distance = np.linalg.norm(X - QUERY[:, None], axis=-1)
    order = np.argsort(distance, axis=1)
    expected = np.take_along_axis(Y, order[:, :3], axis=1).mean(axis=1)
    np.testing.assert_allclose(predictors.nearest_neighbours(3)(X, Y, QUERY), expected, rtol=1e-12)


def test_neighbours_and_members_that_tie_do_so_to_rounding() -> None:
    x, y, query = np.array([[[0.1], [0.3]]]), np.array([[1.0, 2.0]]), np.array([[0.2]])
    assert predictors.nearest_neighbours(1)(x, y, query).tolist() == [1.5]
    labels = 1.0000001 * x[..., 0]  # of the second member, which is no tie
    assert predictors.dmmse([[1.0], [1.0000001]], 0.0).weights(x, labels).tolist() == [[1.0000001]]


def test_a_small_model_trained_elsewhere_is_a_predictor() -> None:
    """Weights in plain arrays, as a checkpoint of any library has them: two hidden units on (1/n) sum y x and query."""
    W, v = np.array([[1.0, 0.5], [1.0, -0.5]]), np.array([0.5, -0.5])  # relu(a + b/2) - relu(a - b/2), a = b = <h, q>

    def model(x: Any, y: Any, query: Any) -> Any:
        score = ((x * y[..., None]).mean(axis=1) * query).sum(axis=-1)
        return np.maximum(np.stack([score, score], axis=-1) @ W.T, 0) @ v

    value, half_width = risk(HERE.replace(covariates=Coordinates("uniform")), model, contexts=4000)
    assert 0 < half_width < 0.1 * value


REFUSED: dict[str, tuple[Any, str]] = {
    "Linear": (lambda: predictors.Linear(3), "weights = 3"),  # type: ignore[arg-type]
    "ridge": (lambda: predictors.ridge(-1.0), r"penalty = -1\.0"),
    "prior": (lambda: predictors.ridge(0.0, prior=np.eye(3)), "leave it out"),
    "prior of another size": (
        lambda: predictors.ridge(1.0, prior=np.eye(2))(X, Y, QUERY),
        "prior has 2 rows and d = 3",
    ),
    "dmmse": (lambda: predictors.dmmse([], 1.0), "members = "),
    "members": (lambda: predictors.dmmse(np.eye(2), 1.0)(X, Y, QUERY), "members are in R"),
    "sigma": (lambda: predictors.dmmse(Pool(3), -1.0), r"sigma = -1\.0"),
    "steps": (lambda: predictors.gradient_descent(0, 1.0), "steps = 0"),
    "rate": (lambda: predictors.gradient_descent(1, float("nan")), "rate = nan"),
    "rate of another size": (
        lambda: predictors.gradient_descent(1, np.eye(2))(X, Y, QUERY),
        "rate has 2 rows and d = 3",
    ),
    "M": (lambda: predictors.softmax_attention([[1.0, 2.0]]), r"M has shape \(1, 2\)"),
    "M of another size": (lambda: predictors.softmax_attention(np.eye(2))(X, Y, QUERY), "M has 2 rows and d = 3"),
    "heads": (lambda: predictors.softmax_attention(M, heads=[1.0]), r"heads has shape \(1,\)"),
    "layers": (lambda: predictors.transformer([3])(X, Y, QUERY), r"layers\[0\] = 3"),  # type: ignore[list-item]
    "sign": (lambda: predictors.transformer([ONE], sign=float("inf")), "sign = inf"),
    "one prompt": (lambda: predictors.ridge(0.0)(X[0], Y[0], QUERY[0]), r"shapes \(\(8, 3\)"),
    "other queries": (lambda: predictors.softmax_attention()(X, Y, QUERY[:3]), r"\(C, d\)"),
    "kernel": (lambda: predictors.nadaraya_watson(3), "kernel = 3"),  # type: ignore[arg-type]
    "k": (lambda: predictors.nearest_neighbours(9)(X, Y, QUERY), "k = 9"),
    "no neighbour": (lambda: predictors.nearest_neighbours(0), "k = 0"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_value_that_breaks_its_rule_is_refused_in_one_line(name: str) -> None:
    call, words = REFUSED[name]
    with pytest.raises(InvalidInput, match=words) as error:
        call()
    assert "\n" not in str(error.value)


def test_a_prior_may_be_singular() -> None:
    prior = np.diag([1.0, 1.0, 0.0])
    here = HERE.replace(tasks=Gaussian(prior))
    value, half_width = risk(here, predictors.ridge(0.25, prior=prior), less=predictors.ridge(0.25))
    assert value + half_width < 0
