"""Numbers on a page equal those of the ledger, each with its error."""

from __future__ import annotations

import math
import re
from decimal import Decimal

from hypothesis import example, given
from hypothesis import strategies as st

from lipverify.claims.ledger import Ledger
from lipverify.report import digits  # internal: prints one number, for random values
from lipverify.report.text import rich  # internal: one text with numbers in it, without a report
from tests.report.pages import on_page, pages, rows_of, squeezed
from tests.strategies import target

printed_number = re.compile(r"([−\d.e]+) ± ([−\d.e]+)")

finite = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e200, max_value=1e200)


def value_of(text: str) -> Decimal:
    return Decimal(text.replace("−", "-"))


@given(value=finite, error=st.floats(1e-200, 1e200))
@example(value=0.3333312, error=2e-6)
@example(value=1e-3, error=20.0)
@example(value=0.0, error=9.7)
@example(value=999.96, error=0.096)
def test_a_printed_interval_is_that_of_the_ledger(value: float, error: float) -> None:
    match = printed_number.fullmatch(digits.with_error(value, error))
    assert match is not None
    shown, half = value_of(match[1]), value_of(match[2])
    exact, true_half = Decimal(repr(value)), Decimal(repr(error))
    assert true_half <= half <= Decimal("1.5") * true_half
    # Half a unit of the last printed digit, which is the error's own or the fifteenth.
    unit = max(Decimal(1).scaleb(half.normalize().adjusted()), abs(exact) * Decimal("1e-14"))
    off = abs(shown - exact)
    target(float(off / unit))
    assert off <= unit / 2


def test_missing_and_infinite_numbers_are_marked() -> None:
    assert digits.with_error(None, 1.0) == "–"
    assert digits.with_error(math.nan, 1.0) == "not a number"
    assert digits.with_error(math.inf, None) == "∞"
    assert digits.with_error(0.25, math.nan) == "0.25 ± not a number"
    assert digits.signed(-math.inf) == "−∞"


def test_every_cell_and_cross_check_is_printed_with_its_numbers(book: Ledger, printed: bytes) -> None:
    rows = [squeezed(row) for row in rows_of(printed)]
    cells = [c for claim in book.claims for c in claim.cells]
    assert len(cells) >= 20
    for claim in book.claims:
        for c in claim.cells:
            parts = [digits.with_error(c.measured, c.error), digits.signed(c.margin)]
            assert any(all(on_page(p) in row for p in parts) for row in rows), parts
        for check in claim.cross_checks:
            parts = [digits.with_error(v, e) for v, e in zip(check.values, check.errors, strict=True)]
            assert any(all(on_page(p) in row for p in parts) for row in rows), parts


def test_no_number_in_the_evidence_is_foreign_to_the_ledger(book: Ledger, printed: bytes) -> None:
    """Each printed `value ± error` corresponds to a number of the ledger."""
    expected = {on_page(digits.with_error(c.measured, c.error)) for r in book.claims for c in r.cells} | {
        on_page(digits.with_error(v, e))
        for r in book.claims
        for check in r.cross_checks
        for v, e in zip(check.values, check.errors, strict=True)
    }
    evidence = "\n".join(page.get_text() for page in pages(printed))
    found = {squeezed(m[0]) for m in re.finditer(r"^[−\d.×]+\s±\s[−\d.×]+$", evidence, re.MULTILINE)}
    assert len(found) >= 8
    assert found <= expected


def test_numbers_in_a_text_become_powers_and_other_words_do_not() -> None:
    assert [(run.kind, run.text) for run in rich("1.774(3)e-7 of 1e+09, v1e5, 2e, uniform-3e5 `1e5` $1e5$")] == [
        ("math", r"1.774(3) \times 10^{-7}"), ("words", " of "), ("math", "10^{9}"),
        ("words", ", v1e5, 2e, uniform-3e5 "), ("code", "1e5"), ("words", " "), ("math", "1e5"),
    ]  # fmt: skip
