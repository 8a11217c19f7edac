"""The printed steps of a diagonal layer, in each of their readings, and the contribution of each weight."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lipverify.checks.linear_transformers import contributions, descent_steps
from lipverify.checks.linear_transformers.contributions import WEIGHTS, Weight, ablated, direct, predictors
from lipverify.checks.linear_transformers.descent_steps import Exact
from lipverify.foundation import Floats, normals
from lipverify.linear_transformer import Diagonal, Tokens, UniformNoise, draw_contexts, forward
from lipverify.prompts import Prompts

EPS = float(np.finfo(float).eps)
NONZERO = st.integers(-9, 9).filter(bool)


@given(
    tokens=st.lists(st.tuples(NONZERO, NONZERO, st.integers(-9, 9)), min_size=3, max_size=6),
    weights=st.lists(NONZERO, min_size=8, max_size=8),
)
@settings(max_examples=40, deadline=None)
def test_the_lemma_is_exact_in_fractions(tokens: list[tuple[int, int, int]], weights: list[int]) -> None:
    context = np.asarray(tokens, dtype=int).astype(object)
    if np.linalg.matrix_rank(context[:, :2].astype(float)) < 2:
        return
    four: list[Any] = [Fraction(w, 100) for w in weights]
    exact = Exact(context, Diagonal(*four[:4]), Diagonal(*four[4:]))
    for stated, moved in zip(exact.lemma(), exact.by_tokens, strict=True):
        assert list(stated) == list(moved)


@pytest.mark.parametrize(("kappa", "u", "w"), [("one", 13, -4), ("a", 17, -6)])
def test_the_smallest_case_by_hand(kappa: str, u: int, w: int) -> None:
    """After the first layer x = y = 2, alpha = lambda = Sigma^l = 4; so u' = 5 u + 2 * 4 = 13 and w' = -4."""
    assert descent_steps.smallest(kappa) == {"u": 13 - u, "w": -4 - w}


@pytest.mark.parametrize(("d", "n"), [(1, 2), (3, 8)])
def test_the_kappa_of_tokens_is_one(d: int, n: int) -> None:
    assert descent_steps.kappa_of_tokens(d, n, seed=1) == 1
    assert descent_steps.drawn(d, n, seed=1).state[-1, -1] == Fraction(3, 2)


@pytest.mark.parametrize(("d", "n"), [(1, 3), (3, 8)])
def test_the_two_layers_have_the_sum_of_squared_labels(d: int, n: int) -> None:
    """Token by token, in fractions: the bracket is 1 + xy sum y^2, and not 1 + xy sum r^2."""
    random = np.random.default_rng(d)
    context = random.integers(-9, 10, (n, d + 1)).astype(object)
    query = np.append(random.integers(1, 10, d).astype(object), np.asarray([0], dtype=object))
    xy, yx = Fraction(-1, 800), Fraction(-1, 20)
    zero: Any = Fraction(0)
    model = [Diagonal(zero, xy, zero, zero), Diagonal(zero, zero, yx, zero)]  # type: ignore[arg-type]
    moved = forward(Tokens(context, query), model)[-1].query[-1]
    labels = context[:, -1]
    plain = yx * np.sum((context[:, :-1].T @ labels) * query[:-1])
    assert moved == plain * (1 + xy * np.sum(labels * labels))
    fit = descent_steps.Exact(context, model[0], model[1]).fit
    assert moved != plain * (1 + xy * fit.rho)


def test_the_share_of_residuals_without_signal_would_be_a_half() -> None:
    """E sum r^2 / E sum y^2 = (n - d) sigma^2 / (n (d + sigma^2)), which tends to (n - d) / n as the noise grows."""
    share, error = descent_steps.assumed_share(30.0, 4000, seed=0)
    assert abs(share - 0.5 * 900 / 910) <= 2 * error < 0.02


@pytest.mark.parametrize(("d", "n", "layer"), [(1, 2, 1), (2, 4, 2), (3, 8, 3)])
def test_xy_arrives_two_layers_later_by_the_three_terms(d: int, n: int, layer: int) -> None:
    assert contributions.tokens_after_one(d, n, layer, 5) == 0
    assert contributions.tokens_after_two(d, n, layer, 5, contributions.ALL) == 0
    assert contributions.tokens_after_two(d, n, layer, 5, "context") != 0 or layer == 1
    parts = contributions.changed(d, n, layer, 5, "xy", after=2)[2]
    assert (parts.query == 0) == (layer == 1)


def a_model(depth: int) -> tuple[Floats, list[Diagonal]]:
    context = normals(4, "model", 0, (3, 8, 4))
    gram = context.swapaxes(1, 2) @ context
    return gram, [Diagonal(*map(float, four)) for four in 0.02 * normals(4, "model", 1, (depth, 4))]


def test_direct_parts_sum_to_the_predictor() -> None:
    gram, model = a_model(5)
    parts, w = direct(gram, model), predictors(gram, model)
    total = np.cumsum(parts.yx + parts.yy, axis=-2)
    scale = float(np.max(np.cumsum(np.abs(parts.yx) + np.abs(parts.yy), axis=-2)))
    np.testing.assert_allclose(total, w[..., 1:, :], rtol=0, atol=100 * EPS * scale)


@pytest.mark.parametrize("weight", WEIGHTS)
def test_without_a_weight_the_first_change_is_where_it_acts(weight: Weight) -> None:
    gram, model = a_model(4)
    change = predictors(gram, model) - predictors(gram, ablated(model, 1, weight))
    begins = 3 if weight in ("xx", "xy") else 2
    assert not np.any(change[..., :begins, :])
    assert np.all(np.any(change[..., begins, :], axis=-1))


def test_contributions_are_those_of_the_model() -> None:
    contexts = draw_contexts(Prompts(d=3, n=8, sigma=UniformNoise(1.0)), 256, 0, "contributions")
    model = (Diagonal(-0.02, 0.002, -0.05, -0.002), Diagonal(-0.02, 0.002, -0.06, -0.001))
    found = contributions.contributions(model, contexts)
    assert found.removed[0][WEIGHTS.index("xy")][1] == 0.0 < found.removed[0][WEIGHTS.index("xy")][2]
    whole, without = (predictors(contexts.gram, each)[:, -1] for each in (model, ablated(model, 1, "yx")))
    for value, w in ((found.prediction[2], whole), (found.removed[1][WEIGHTS.index("yx")][2], whole - without)):
        assert value == pytest.approx(float(np.mean(np.sum(w**2, axis=1))) ** 0.5, rel=1e-12)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_a_share_of_momentum_token_by_token(share: float) -> None:
    """Three layers on written-out tokens; before each, the part of the covariates that came from labels is scaled."""
    d, n = 3, 7
    context, x_t = normals(3, "test/share", 0, (n, d + 1)), normals(3, "test/share", 1, (d,))
    gram, labels, query = (context.T @ context)[None], context[:, -1].copy(), np.append(x_t, 0.0)
    model = [Diagonal(*map(float, 0.02 * normals(3, "test/share", 2 + k, (4,)))) for k in range(3)]
    w, other = (contributions.with_momentum(gram, model, part)[0] for part in (share, share / 2 + 0.1))
    unit = np.append(np.zeros(d), 1.0)  # a token (0, 1) that is not a key becomes (u, a)
    for layer in model:
        x, y = context[:, :-1] - (1 - share) * np.outer(labels, unit[:-1]), context[:, -1]
        unit[:-1] *= share
        Sigma, alpha, energy = x.T @ x, x.T @ y, y @ y

        def moved(x: Floats, y: Any, four: Diagonal = layer, sums: Any = (Sigma, alpha, energy)) -> Floats:
            Sigma, alpha, energy = sums
            return np.column_stack(
                [x + four.xx * x @ Sigma + four.xy * np.outer(y, alpha), y + four.yx * x @ alpha + four.yy * energy * y]
            )

        context, unit, query = moved(x, y), moved(unit[None, :-1], unit[-1:])[0], moved(query[None, :-1], query[-1:])[0]
    assert -query[-1] == pytest.approx(w @ x_t, rel=1e-12)
    assert -query[-1] != pytest.approx(other @ x_t, rel=1e-6)
