"""The references themselves: they agree with each other and refuse to run in few digits."""

from __future__ import annotations

import pytest
from flint import ctx
from mpmath import mp

from tests.reference import balls, oracle
from tests.reference.generate import VALUES, agreed_digits

BITS = 110


@pytest.mark.parametrize("d", [2, 5])
def test_noise_and_the_affine_bias_of_two_tokens_are_those_of_the_definition(d: int) -> None:
    """The oracle integrates the definition, without a Laplace integral; the arithmetic and the panels differ too."""
    with ctx.workprec(BITS):
        ours = balls.laplace(d, 2, 3.0, 12, reach=None)
        texts = {name: getattr(ours, name).str(30, radius=False) for name in ("noise", "affine")}
    with mp.workdps(30):
        theirs = oracle.direct(d, 3.0, 7, relu=False)
        for name, text in texts.items():
            assert agreed_digits(mp.mpf(text), getattr(theirs, name)) >= 12


@pytest.mark.slow
def test_the_relu_bias_of_two_tokens_is_that_of_the_definition() -> None:
    with ctx.workprec(BITS):
        ours = balls.laplace(3, 2, 5.0, 14).relu.str(30, radius=False)
    with mp.workdps(30):
        theirs = oracle.direct(3, 5.0, 10).relu
        assert agreed_digits(mp.mpf(ours), theirs) >= 9


def test_references_refuse_few_digits() -> None:
    with ctx.workprec(60), pytest.raises(ValueError, match="at least 100 bits"):
        balls.laplace(3, 5, 2.0, 8)
    with mp.workdps(15), pytest.raises(ValueError, match="digits"):
        oracle.direct(3, 2.0, 8)


def test_values_are_kept_with_the_digits_that_are_known() -> None:
    assert VALUES.read_text().count('"route": "balls"') >= 58
    assert agreed_digits(mp.mpf("1.0001"), mp.mpf("1.0002")) == 4
