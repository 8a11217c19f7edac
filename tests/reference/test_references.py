"""The references themselves: they agree with each other and refuse to run in few digits."""

from __future__ import annotations

import pytest
from flint import ctx
from mpmath import mp

from tests.reference import balls, oracle
from tests.reference.generate import VALUES, agreed_digits

BITS = 110


@pytest.mark.parametrize(("d", "n", "w"), [(3, 5, 2.0), (5, 100, 5.0)])
def test_two_references_for_noise_and_the_affine_bias_agree(d: int, n: int, w: float) -> None:
    """They share the Laplace integral; the nodes, the arithmetic and the panels differ."""
    with ctx.workprec(BITS):
        ours = balls.laplace(d, n, w, 14, reach=None)
        texts = {name: getattr(ours, name).str(30, radius=False) for name in ("noise", "affine")}
    with mp.workdps(30):
        theirs = oracle.laplace(d, n, w, 14)
        for name, text in texts.items():
            assert agreed_digits(mp.mpf(text), getattr(theirs, name)) >= 12


@pytest.mark.slow
def test_the_relu_bias_of_two_tokens_is_that_of_the_definition() -> None:
    """For n = 2 the oracle integrates the definition, without a Laplace integral."""
    with ctx.workprec(BITS):
        ours = balls.laplace(3, 2, 5.0, 14).relu.str(30, radius=False)
    with mp.workdps(30):
        theirs = oracle.direct(3, 5.0, 10).relu
        assert agreed_digits(mp.mpf(ours), theirs) >= 9


def test_references_refuse_few_digits() -> None:
    with ctx.workprec(60), pytest.raises(ValueError, match="at least 100 bits"):
        balls.laplace(3, 5, 2.0, 8)
    with mp.workdps(15), pytest.raises(ValueError, match="digits"):
        oracle.laplace(3, 5, 2.0, 8)


def test_values_are_kept_with_the_digits_that_are_known() -> None:
    text = VALUES.read_text()
    assert text.count('"route": "balls"') >= 8
    assert agreed_digits(mp.mpf("1.0001"), mp.mpf("1.0002")) == 4
