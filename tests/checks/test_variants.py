"""Decays, masks and gates computed by hand, for tokens and weights that are small integers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from lipverify.checks.linear_transformers.weighted_keys import additive, attended, forward, shared


def tokens(*rows: tuple[int, int]) -> Any:
    return np.array(rows).astype(object)


def test_a_mask_hides_later_keys_and_a_decay_halves_a_place() -> None:
    keys = tokens((1, 0), (2, 0), (4, 0))
    seen = [attended("retention", keys, keys[min(place, 2)], place)[0, 0] for place in range(4)]
    assert seen == [1, 4 + Fraction(1, 2), 16 + 2 + Fraction(1, 4), 8 + 1 + Fraction(1, 8)]
    assert attended("decay", keys, keys[0], 0)[0, 0] == seen[2]


def test_a_gate_of_the_query_is_not_linear() -> None:
    one = np.array([[1, 0], [0, 1]]).astype(object)
    ends = [forward("gated", tokens((1, 1)), tokens((x, 0))[0], [(one, one)])[1][1] for x in (1, 2)]
    assert ends == [Fraction(1, 2) * Fraction(1, 2), 2 * Fraction(1, 2) * Fraction(1, 5)]


@pytest.mark.parametrize("kind", ["plain", "decay", "gated keys"])
def test_variants_common_to_all_tokens_keep_one_model(kind: str) -> None:
    # moved keys have other gates, so the theorem's recursion holds for the first layer only
    assert shared(kind, 2, 3, 1 if kind == "gated keys" else 2, seed=4) == 0
    assert additive(kind, 2, 3, 2, seed=4) == 0


def test_a_mask_ends_the_shared_model_but_not_the_linear_prediction() -> None:
    assert shared("retention", 2, 3, 2, seed=4) > 0
    assert additive("retention", 2, 3, 2, seed=4) == 0
    assert additive("gated", 2, 3, 2, seed=4) > 0
