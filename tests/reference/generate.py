"""Write values.json, each value twice, with the digits that agree: `python -m tests.reference.generate`, 20 minutes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from flint import ctx
from mpmath import mp, nstr

from tests.reference import balls
from tests.reference.oracle import direct, window_zero

VALUES = Path(__file__).with_name("values.json")
SHOWN = 25
LEAST_DIGITS = 9
"""A value with fewer digits is left out, because it could not decide anything."""

AFFINE = [
    (2, 3, 0.5), (2, 100, 20), (2, 10**6, 1000), (2, 10**30, 1e4), (2, 3, 1e4),
    (3, 10, 5), (3, 1000, 20), (3, 10**6, 100), (3, 3, 1000), (3, 10**12, 1e4),
    (4, 100, 5), (4, 10**6, 1e4),
    (5, 2, 1e4), (5, 100, 0.5), (5, 100, 5), (5, 100, 1000), (5, 10**30, 1e-3), (5, 10**12, 100),
    (8, 3, 20), (8, 1000, 100), (8, 10**30, 1e4), (8, 10**6, 1e4),
    (20, 2, 100), (20, 100, 100), (20, 10**6, 5), (20, 10**30, 1e4), (20, 10**12, 1e3),
]  # fmt: skip
DIRECT = [(2, 0.5), (2, 20), (2, 1000), (3, 5), (4, 0.5), (4, 20), (4, 1000), (5, 5), (8, 20)]
RELU = [
    (2, 10, 5.0), (3, 10, 5.0), (3, 10**30, 100.0), (4, 3, 2.0),
    (5, 1000, 5.0), (5, 10**6, 20.0), (8, 100, 3.0), (20, 10**4, 5.0),
]  # fmt: skip
ZERO = [(2, 2), (3, 10), (8, 1000), (20, 10**30)]


def agreed_digits(a: Any, b: Any) -> int:
    """Decimal digits to which two values agree, at most SHOWN."""
    return SHOWN if a == b else min(SHOWN, int(-mp.log10(abs(a - b) / abs(a))))


def rows_of(
    law_values: dict[tuple[str, str], tuple[Any, Any]],
    d: int,
    n: int,
    w: float,
    route: str,
    seconds: float,
) -> Iterator[dict[str, Any]]:
    """One JSON row for each quantity, from its two computations."""
    for (law, quantity), (first, second) in law_values.items():
        yield {
            "law": law,
            "quantity": quantity,
            "d": d,
            "n": str(n),
            "w": w,
            "value": nstr(second, SHOWN),
            "digits": agreed_digits(first, second),
            "route": route,
            "seconds": round(seconds, 1),
        }


def twice(first: Callable[[], Any], second: Callable[[], Any]) -> tuple[Any, Any, float]:
    """Both computations, the second in more digits, and their time."""
    clock = time.perf_counter()
    with mp.workdps(30):
        a = first()
    with mp.workdps(40):
        b = second()
        return a, b, time.perf_counter() - clock


def ball_rows(
    points: Sequence[tuple[int, int, float]], bits: int, orders: tuple[int, int], decades: float, relu: bool
) -> Iterator[dict[str, Any]]:
    """Noise and affine bias, or the relu bias, for any n: two computations that differ in order, panels and ends."""
    names = {("relu", "bias"): "relu"} if relu else {("affine", "noise"): "noise", ("affine", "bias"): "affine"}
    for d, n, w in points:
        clock = time.perf_counter()
        with ctx.workprec(bits):
            first = balls.laplace(d, n, w, orders[0], decades=decades, reach=50.0 if relu else None)
            second = balls.laplace(
                d, n, w, orders[1], ratio=2.5, pieces=4, decades=decades + 4, reach=60.0 if relu else None
            )
            texts = {
                key: [getattr(terms, name).str(SHOWN + 5, radius=False) for terms in (first, second)]
                for key, name in names.items()
            }
        with mp.workdps(40):
            found = {key: (mp.mpf(one), mp.mpf(other)) for key, (one, other) in texts.items()}
            rows = list(rows_of(found, d, n, w, "balls", time.perf_counter() - clock))
        print("balls", [row["digits"] for row in rows], d, n, w, f"{time.perf_counter() - clock:.1f} s", flush=True)
        yield from rows


def main() -> None:
    """Compute every point and write the file."""
    rows: list[dict[str, Any]] = []
    rows += ball_rows(AFFINE, 140, (18, 26), 34, relu=False)
    for d, w in DIRECT:
        a, b, seconds = twice(partial(direct, d, w, 10), partial(direct, d, w, 14, ratio=2.5))
        found = {
            ("affine", "noise"): (a.noise, b.noise),
            ("affine", "bias"): (a.affine, b.affine),
            ("relu", "bias"): (a.relu, b.relu),
        }
        rows += rows_of(found, d, 2, w, "direct", seconds)
        print([row["digits"] for row in rows[-3:]], d, 2, w, f"{seconds:.1f} s", flush=True)
    for d, n in ZERO:
        a, b, seconds = twice(partial(window_zero, d, n), partial(window_zero, d, n))
        found = {("affine", "bias"): (a.affine, b.affine), ("relu", "bias"): (a.relu, b.relu)}
        rows += rows_of(found, d, n, 0.0, "closed form", seconds)
    rows += ball_rows(RELU, 110, (14, 18), 20, relu=True)
    rows = [row for row in rows if row["digits"] >= LEAST_DIGITS]
    VALUES.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


if __name__ == "__main__":
    main()
