"""Identities of words hold at every size: compared with matrices of integers, and with forward passes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lipverify.checks.linear_transformers import cosines, descent_steps, digits, weighted_keys
from lipverify.checks.linear_transformers import layers_in_words as layers
from lipverify.checks.softmax import (
    decomposition,
    gaussian,
    isotropy,
    linear_floor,
    lowrank_blocks,
    nearest,
    preconditioner,
    slopes,
    value_matrix,
    whitening,
)
from lipverify.claims.evidence.returned import returned  # internal: what a function returned, as a run reads it
from lipverify.errors import InvalidInput
from lipverify.linear_transformer import Diagonal, Layer, Tokens, forward

# internal: identities of words are tried on words of the test's own
from lipverify.proofs.words import Word, Words, identity, leftover, letters

SHAPES = {"X": "d n", "S": "d d", "y": "n 1", "v": "d 1", "r": "1 n", "c": "", "t": ""}
NAMED: Any = letters(symmetric=("S",), **SHAPES)
SIZES = st.fixed_dictionaries({"d": st.integers(1, 4), "n": st.integers(1, 4)})


def value(words: Words, values: dict[str, Any], sizes: dict[str, int]) -> Any:
    """The words at given matrices: arrays of integers, so that nothing is rounded."""

    def size(name: str) -> int:
        return 1 if name == "1" else sizes[name]

    def multiplied(word: Word, rows: str) -> Any:
        result = np.eye(size(rows), dtype=int).astype(object)
        for letter in word:
            result = result @ (values[letter.name].T if letter.flipped else values[letter.name])
        return result

    total = np.zeros((size(words.rows), size(words.columns)), dtype=object)
    for (factors, rest), coefficient in words.terms.items():
        product: Any = coefficient
        for factor in factors:
            product = product * multiplied(factor, "1")[0, 0]
        total = total + product * multiplied(rest, words.rows)
    return total


def numbers(sizes: dict[str, int], seed: int) -> dict[str, Any]:
    """Matrices of small integers."""
    random, found = np.random.default_rng(seed), {}
    for name, shape in SHAPES.items():
        rows, columns = shape.split() if shape else ("1", "1")
        size = (sizes.get(rows, 1), sizes.get(columns, 1))
        found[name] = random.integers(-3, 4, size).astype(object)
    found["S"] = found["S"] + found["S"].T
    return found


@st.composite
def expressions(draw: Any, rows: str, columns: str, depth: int = 3) -> tuple[Any, Any]:
    """Words, and the function that computes the same from arrays."""
    fitting = [name for name, shape in SHAPES.items() if (shape or "1 1") == f"{rows} {columns}"]
    flipped = [name for name, shape in SHAPES.items() if (shape or "1 1") == f"{columns} {rows}"]
    kinds = ["letter", "transpose"] if depth == 0 else ["sum", "product", "times", "difference", "letter", "transpose"]
    kind = draw(st.sampled_from(kinds))
    if kind == "letter" and fitting:
        name = draw(st.sampled_from(fitting))
        return getattr(NAMED, name), lambda x: x[name]
    if kind == "transpose" and flipped:
        name = draw(st.sampled_from(flipped))
        return getattr(NAMED, name).T, lambda x: x[name].T
    if kind == "times" and depth:
        factor, (words, of) = draw(st.fractions(-3, 3, max_denominator=4)), draw(expressions(rows, columns, depth - 1))
        return factor * words, lambda x: factor * of(x)
    if kind == "product" or not (fitting or flipped) or depth == 0:
        middle = draw(st.sampled_from(("1", "d", "n"))) if depth else draw(st.sampled_from(("d", "n")))
        (one, of), (other, by) = (
            draw(expressions(rows, middle, max(depth - 1, 0))),
            draw(expressions(middle, columns, max(depth - 1, 0))),
        )
        return one @ other, lambda x: of(x) @ by(x)
    (one, of), (other, by) = draw(expressions(rows, columns, depth - 1)), draw(expressions(rows, columns, depth - 1))
    return (one - other, lambda x: of(x) - by(x)) if kind == "difference" else (one + other, lambda x: of(x) + by(x))


@settings(max_examples=6)
@given(data=st.data(), sizes=SIZES, seed=st.integers(0, 2**32))
@pytest.mark.parametrize(("rows", "columns"), [("d", "n"), ("d", "1"), ("1", "1"), ("n", "n")])
def test_words_agree_with_products_of_matrices(
    rows: str, columns: str, data: Any, sizes: dict[str, int], seed: int
) -> None:
    words, of = data.draw(expressions(rows, columns))
    at = numbers(sizes, seed)
    assert np.array_equal(value(words, at, sizes), of(at))
    assert np.array_equal(value(words.T, at, sizes), of(at).T)


def test_two_words_that_differ_are_not_taken_for_equal() -> None:
    s = NAMED
    different = [s.X @ s.X.T, s.S, s.S @ s.S, s.v @ s.v.T, s.X @ s.y @ s.v.T, s.v @ s.y.T @ s.X.T, identity("d")]
    for k, one in enumerate(different):
        for other in different[k + 1 :]:
            assert leftover(one, other, "d n").terms > 0
    assert leftover(s.y.T @ s.X.T @ s.v, s.v.T @ s.X @ s.y, "d n").terms == 0  # a number is its own transpose
    assert leftover(s.X @ s.y @ s.v.T @ s.v, (s.v.T @ s.v) * (s.X @ s.y), "d n").terms == 0


def test_a_mean_is_that_over_every_value() -> None:
    """All four signs of two labels: centred, with the identity as covariance; and of two equal labels."""
    s = letters(a="n 1", e="n 1", f="n 1", x="d 1", Y="d n", one="n 1")
    words = ((s.f + s.e).T @ s.a) ** 2 * s.x + s.Y @ s.f * (s.e.T @ s.a)
    at = {
        "a": np.array([[2], [5]], dtype=object),
        "f": np.array([[1], [-3]], dtype=object),
        "one": np.ones((2, 1), int),
    }
    at |= {"x": np.array([[7]], dtype=object), "Y": np.array([[1, 4]], dtype=object)}
    sizes = {"n": 2, "d": 1}
    for signs, moments in (
        ([(i, j) for i in (1, -1) for j in (1, -1)], identity("n")),
        ([(1, 1), (-1, -1)], s.one @ s.one.T),
    ):
        drawn = [value(words, at | {"e": np.array([[i], [j]], dtype=object)}, sizes) for i, j in signs]
        assert np.array_equal(value(words.mean(s.e, moments), at, sizes), sum(drawn) * Fraction(1, len(drawn)))
    flipped = [value(words, at | {"e": sign * np.array([[2], [3]], dtype=object)}, sizes) for sign in (1, -1)]
    assert np.array_equal(
        value(words.even(s.e), at | {"e": np.array([[2], [3]], dtype=object)}, sizes), sum(flipped) * Fraction(1, 2)
    )
    with pytest.raises(InvalidInput, match="degree 0, 1 and 2"):
        ((s.e.T @ s.a) ** 3).mean(s.e, identity("n"))
    with pytest.raises(InvalidInput, match="degree 0, 1 and 2"):
        (s.e.T @ s.e).mean(s.e, identity("n"))


def test_rules_hold_both_ways_and_end() -> None:
    s = letters(X="d n", r="n 1", A="n n", T="n n", S="d d", R="d d", symmetric=("A", "T", "S", "R"))
    nothing = {(s.X, s.r): 0}
    assert (s.r.T @ s.X.T @ s.X + s.r.T).where(nothing) == s.r.T
    assert (s.T @ s.A @ s.T @ s.A).where({(s.T, s.A): s.A @ s.T}) == s.A @ s.A @ s.T @ s.T
    assert (s.S @ s.S @ s.R @ s.R).where({(s.S, s.R): identity("d")}) == identity("d")
    with pytest.raises(InvalidInput, match="no end"):
        (s.A @ s.T).where({(s.A, s.T): s.A @ s.T @ s.T})
    with pytest.raises(InvalidInput, match="not one letter"):
        s.X.where({(s.X + s.X, s.r): 0})
    with pytest.raises(InvalidInput, match="cannot be added"):
        (s.X @ s.r).where({(s.X, s.r): s.r})
    with pytest.raises(InvalidInput, match="sizes in the middle"):
        s.X @ s.X


def tokens(d: int, n: int, seed: int) -> tuple[Any, Any, Any]:
    """A context (n, d + 1) and a query, of integers, and the generator."""
    random = np.random.default_rng(seed)
    return random.integers(-3, 4, (n, d + 1)).astype(object), random.integers(-3, 4, d + 1).astype(object), random


@pytest.mark.parametrize(("d", "n"), [(1, 1), (2, 3), (3, 2)])
def test_the_update_of_words_is_that_of_a_layer(d: int, n: int) -> None:
    """`diagonal` and the words of `delayed` compared with the forward pass, entry by entry."""
    context, query, random = tokens(d, n, 7)
    weights = [int(each) for each in random.integers(1, 5, 4)]
    s = letters(X="d n", y="n 1", x="d 1", t="", xx="", xy="", yx="", yy="")
    moved = layers.diagonal(s.X, s.y, layers.Four(s.xx, s.xy, s.yx, s.yy), s.x, s.t)
    values_ = {"X": context[:, :-1].T, "y": context[:, -1:], "x": query[:-1, None], "t": query[-1:, None]}
    values_ |= {name: np.array([[each]], dtype=object) for name, each in zip(layers.Four._fields, weights, strict=True)}
    found = np.concatenate([value(each, values_, {"d": d, "n": n}) for each in moved])[:, 0]
    layer: Layer = Diagonal(*weights).layer(d)
    assert np.array_equal(found, forward(Tokens(context, query), [layer])[-1].query)


def test_every_recursion_with_one_thing_wrong_leaves_words() -> None:
    assert layers.implicit_step().terms == 0
    assert all(layers.implicit_step(wrong).terms > 0 for wrong in layers.WRONG)
    assert layers.diagonal_step().terms == 0 < layers.diagonal_step(twisted="yes").terms


def test_only_the_lemma_without_the_factor_holds_at_every_size() -> None:
    found = {
        (kappa, orthogonal): layers.momentum(kappa, orthogonal=orthogonal).terms
        for kappa in ("one", "a")
        for orthogonal in (True, False)
    }  # fmt: skip
    assert found.pop(("one", True)) == 0
    assert all(found.values())
    assert layers.adaptive("labels").terms == layers.adaptive("residuals", "by residuals").terms == 0
    assert layers.adaptive("residuals").terms
    assert layers.adaptive("labels", "by residuals").terms
    for identity_of_residuals in (layers.gradient, layers.residuals, layers.one_step):
        assert identity_of_residuals("least squares").terms == 0 < identity_of_residuals("the task's own weights").terms
    assert layers.rescaled().terms == 0 < min(layers.rescaled(weight).terms for weight in ("xx", "xy", "yx"))
    assert (
        layers.product(1).terms
        == layers.two_heads(2).terms
        == 0
        < min(layers.product(2).terms, layers.two_heads(1).terms)
    )
    assert layers.delayed(1).terms == layers.delayed(2).terms == 0
    assert all(layers.delayed(1, weight=weight).terms for weight in ("yx", "yy"))
    assert all(layers.delayed(2, ways).terms for ways in (("query",), ("context",), ("query", "context")))


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (lambda: decomposition.gap(), lambda: decomposition.gap("1/10")),
        (lambda: gaussian.log_ratio("intuition"), lambda: gaussian.log_ratio("proof")),
        (lambda: value_matrix.change(), lambda: value_matrix.change(1)),
        (lambda: value_matrix.loss_in_v(), lambda: value_matrix.loss_in_v(1)),
        (lambda: slopes.squares(), lambda: slopes.squares("101/100")),
        (lambda: whitening.whitened(), lambda: whitening.whitened(space=1)),
        (lambda: slopes.projections(), lambda: slopes.projections("99/100")),
        (lambda: slopes.squares_and_distances(), lambda: slopes.squares_and_distances("99/100")),
        (lambda: gaussian.sensitivity(), lambda: gaussian.sensitivity("99/100")),
        (lambda: cosines.squared(2), lambda: cosines.squared(1)),
        (lambda: weighted_keys.step_in_words("model"), lambda: weighted_keys.step_in_words("model", "yes")),
        (lambda: weighted_keys.step_in_words("prediction"), lambda: weighted_keys.step_in_words("prediction", "yes")),
        (lambda: weighted_keys.step_in_words("signs"), lambda: weighted_keys.step_in_words("signs", "yes")),
        (lambda: preconditioner.stationary(), lambda: preconditioner.stationary("99/100")),
        (lambda: descent_steps.mean_length(), lambda: descent_steps.mean_length("99/100")),
        (
            lambda: linear_floor.above_floor("relu", "offset"),
            lambda: linear_floor.above_floor("relu", "offset", "99/100"),
        ),
    ],
)  # fmt: skip
def test_an_identity_is_seen_as_a_proof_for_all_sizes_and_its_neighbour_as_false(right: Any, wrong: Any) -> None:
    (value, error), stood = returned(right())
    assert (value, error) == (0.0, 0.0)
    assert stood[""].form == "symbolic"
    assert {"n", "d", "n > 0", "d > 0"} & set(stood[""].symbols)
    assert stood[""].says.strip()
    assert returned(wrong())[0][0] != 0


def test_two_identities_say_different_things() -> None:
    one, other = (returned(found)[1][""].says for found in (decomposition.gap(), gaussian.log_ratio("intuition")))
    assert one != other


def test_whitening_and_the_best_direction_are_those_of_numbers() -> None:
    """Both identities at matrices with generic entries, independently of the words."""
    random = np.random.default_rng(3)
    root, M = random.normal(size=(3, 3)), random.normal(size=(3, 3))
    S = root @ root.T + np.eye(3)
    tokens_, query = random.normal(size=(5, 3)), random.normal(size=3)
    inverse = np.linalg.inv(S)
    scores = (tokens_ @ S) @ (inverse @ M @ inverse) @ (S @ query)
    assert np.allclose(scores, tokens_ @ M @ query)
    t, e = tokens_ @ np.array([0.6, 0.8, 0.0]), 1e-5

    def mean(r: float) -> float:
        a = np.exp(r * t)
        return float(a @ t / a.sum())

    a = np.exp(0.7 * t) / np.exp(0.7 * t).sum()
    assert (mean(0.7 + e) - mean(0.7 - e)) / (2 * e) == pytest.approx(a @ t**2 - (a @ t) ** 2, rel=1e-6)


def test_the_loss_of_linear_attention_is_its_floor_a_positive_part_and_a_square() -> None:
    """Compared with the closed form at a matrix that is not a multiple of the identity, and with the floor of each
    class.
    """
    from lipverify import Problem, loss_terms
    from lipverify.laws import ReLU, WithOffset

    d, n, sigma = 3, 7, 0.8
    form = linear_floor.closed_form("relu", "offset")
    k, power = (float(each.subs({s: {"d": d, "L": 1}[s.name] for s in each.free_symbols}))
                for each in (form.linear_power, form.power))  # fmt: skip
    R, M = power - k, np.array([[1.0, 0.4, 0.0], [-0.2, 0.5, 0.3], [0.0, 0.1, 2.0]])
    A = (power + sigma**2 + (n - 1) * k / d) / (n * d**2)
    eta, m = k / (d**2 * A), (d - 1) * k + d * R + d * sigma**2
    stated = R + k * m / (n * k + m) + A * np.sum((M - eta * np.eye(d)) ** 2)
    drawn = loss_terms(
        Problem(d=d, n=n, law=WithOffset(ReLU(L=1.0)), sigma=sigma), 1.0, "montecarlo", M=M, attention="linear",
        contexts=40_000, seed=1, stream="floor",
    )  # fmt: skip
    assert float(drawn.total_error) < 0.05 * stated
    assert abs(float(drawn.total) - stated) <= 2 * float(drawn.total_error)


def test_the_three_steps_of_lemma_1_for_relu_hold_at_numbers() -> None:
    """The order of two weights, the concavity and the covariance, at numbers."""
    from lipverify.laws import ReLU

    for wrong, right in ((isotropy.longer_projection("99/100"), isotropy.longer_projection()),
                         (isotropy.concave("99/100"), isotropy.concave())):  # fmt: skip
        (value, error), stood = returned(right)
        assert (value, error) == (0.0, 0.0)
        assert stood[""].form == "symbolic"
        assert returned(wrong)[0][0] != 0
    random = np.random.default_rng(5)
    for _ in range(50):  # summed over the signs of two projections, the longer one has the larger weight
        u, v, rest = *np.sort(random.uniform(0, 3, 2))[::-1], np.exp(random.normal(size=3)).sum()
        signs = [(np.exp(i * u), np.exp(j * v)) for i in (1, -1) for j in (1, -1)]
        assert sum((p - q) / (p + q + rest) for p, q in signs) >= -1e-12
    t = np.linspace(-0.99, 0.99, 41)
    K = ReLU(L=1.0).covariance(5)(t)
    even = (K + K[::-1]) / 2
    assert np.allclose(even / even[20], np.sqrt(1 - t**2) + t * np.arcsin(t), rtol=1e-9)
    angle, beta = np.linspace(0, np.pi / 2, 60), random.uniform(0, np.pi, 40)[:, None]
    for rho in (0.2, 0.8, 1.0):

        def F(of: Any, rho: float = rho) -> Any:
            return rho * np.sin(of) * np.arcsin(rho * np.cos(of))

        assert np.all(F(angle - beta) + F(angle + beta) <= 2 * F(angle) + 1e-12)
        assert np.all(F(angle) <= np.sin(angle) * np.arcsin(np.cos(angle)) + 1e-12)


def test_the_longer_projection_gets_more_of_an_even_function_in_drawn_contexts() -> None:
    """The conclusion of Lemma 1's proof: for a fixed length of M x the even part of the ReLU law is best with M x
    along x.
    """
    random = np.random.default_rng(11)
    tokens_ = random.normal(size=(40_000, 4, 3))
    tokens_ /= np.linalg.norm(tokens_, axis=-1, keepdims=True)
    a = np.exp(4.0 * tokens_[:, :, 0])
    a /= a.sum(axis=1, keepdims=True)

    def gain(angle: float) -> np.ndarray:
        t = tokens_ @ np.array([np.cos(angle), np.sin(angle), 0.0])
        return np.asarray(np.sum(a * (np.sqrt(1 - t**2) + t * np.arcsin(t)), axis=1))

    for angle in (0.3, 0.8, 1.5):
        less = gain(0.0) - gain(angle)
        assert less.mean() > 3 * less.std() / np.sqrt(len(less))


def test_the_bias_over_that_of_the_nearest_neighbour_is_enclosed() -> None:
    """Compared with the exact method at a w at which attention is nearly the nearest neighbour."""
    from lipverify import Problem, loss_terms
    from lipverify.laws import ReLU

    found = nearest.over_nearest(3, 2, 2.0)
    problem = Problem(d=3, n=2, law=ReLU(L=1.0), sigma=0.0)
    here, far = (float(loss_terms(problem, w).bias) for w in (2.0, 2000.0))
    assert float(found) == pytest.approx(here / far, rel=1e-3)
    assert float(nearest.over_nearest(3, 2, 2.0, 2)) == pytest.approx(float(found) / 2, rel=1e-5)
    with pytest.raises(ValueError, match="at d = 3 only"):
        nearest.over_nearest(2, 2, 2.0)


@pytest.mark.parametrize("power", [1, 2])
def test_the_mean_over_a_sign_is_that_of_numbers_and_one_per_cent_off_is_seen(power: int) -> None:
    (value, error), stood = returned(lowrank_blocks.averaged(power))
    assert (value, error, stood[""].form) == (0.0, 0.0, "symbolic")
    assert returned(lowrank_blocks.averaged(power, "99/100"))[0][0] != 0
    A, S = np.random.default_rng(2).uniform(-0.65, 0.65, 30), np.random.default_rng(3).normal(scale=3, size=30)
    mean = (np.tanh(A + S) ** power + np.tanh(A - S) ** power) / 2
    assert np.all(np.abs(mean) <= np.abs(np.tanh(A))) if power == 1 else np.all(mean >= np.tanh(A) ** 2)


def test_a_spurious_or_uneven_block_loses_to_the_best_multiple_in_drawn_contexts() -> None:
    """Theorem 4 with two tokens within its radius, k = 2 and a spurious axis: means over 400,000 contexts."""
    random = np.random.default_rng(4)
    x = random.normal(size=(400_000, 3, 3))
    x /= np.linalg.norm(x, axis=-1, keepdims=True)
    delta, query = x[:, 0] - x[:, 1], x[:, 2]
    alpha, beta = np.sum(delta[:, :2] ** 2, axis=1) / 8 + 0.1, np.sum((delta * query)[:, :2], axis=1) / 2

    def loss(*diagonal: float) -> np.ndarray:
        tau = np.tanh(np.sum(delta * diagonal * query, axis=1) / 2)
        return np.asarray(alpha * tau**2 - beta * tau)

    c = 0.65
    for other in ((c, c, 0.8), (c, c, -3.0), (c, 0.3, 0.0), (-c, c, 0.0), (0.3, 0.3, 0.0)):
        less = loss(*other) - loss(c, c, 0.0)
        assert less.mean() > 3 * less.std() / np.sqrt(len(less)), other


def test_printed_entries_are_compared_digit_by_digit() -> None:
    """Compared with the rows of the table's own file, read here as text."""
    import csv
    from importlib.resources import files

    text = (files("lipverify.linear_transformer") / "table1.csv").read_text(encoding="utf-8")
    rows = {(row["model"], int(row["layers"])): Fraction(row["3"]) for row in csv.DictReader(text.splitlines())}
    five, tuned = min(rows[model, 5] for model in ("DIAG", "FULL")), rows["TunedRR", 0]
    assert digits.quotient("uniform-3", "best", 5, "TunedRR") == five / tuned == Fraction(26, 23)
    half = Fraction(1, 2000)  # of a unit of the last digit
    down, up = (digits.quotient("uniform-3", "best", 5, "TunedRR", rounded) for rounded in ("down", "up"))
    assert (down, up) == ((five - half) / (tuned + half), (five + half) / (tuned - half))
    assert digits.quotient("uniform-3", "DIAG", 3, "FULL") == Fraction(87, 75)
    every = sorted(digits.quotient(f"uniform-{k}", "DIAG", 3, "FULL") for k in (1, 2, 3))
    assert digits.middle(("uniform-1", "uniform-2", "uniform-3"), "DIAG", 3, "FULL") == every[1]


def test_the_displayed_constant_is_disproved_where_it_is_measured() -> None:
    """The interval that holds for every large n contains the exact quotient at n = 10^10."""
    from lipverify.checks.softmax import transfer

    interval = transfer.proved_display(2, 1 / 3)
    value, error = transfer.over_display(2, 1e10, 1 / 3)
    assert interval.low < value - error < value + error < interval.high < 1
    with pytest.raises(ValueError, match="at d = 2 only"):
        transfer.proved_display(3, 1 / 3)


@pytest.mark.parametrize(
    ("momentum", "at", "left"), [("none", "any w", 0), ("none", "the fit", 0), ("any", "the fit", 2)]
)
def test_a_layer_is_preconditioned_descent_only_without_momentum(momentum: str, at: str, left: int) -> None:
    assert layers.preconditioned(momentum, at).terms == left
