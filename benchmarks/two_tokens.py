"""Two algorithms for the cross terms of the bias, on the same variograms: `python benchmarks/two_tokens.py [LAW ...]`.

"pairs" integrates over two tokens, with the common part of their increments tabulated once for a law and a dimension;
"angles" integrates over the angle between them, whose density is tabulated for every w. The windows are those where no
sum over harmonics gives that density. Processor time of one loss in units of NumPy's time to write 10^6 exponentials:
"law" contains the pairs' table of the law, whose variogram is known; "pairs" and "angles" are at a new w; then their
ratio and the relative difference of the biases.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from laws import unit

from lipverify.laws import Matern
from lipverify.loss.exact.biases import parts
from lipverify.loss.exact.biases.angles import bias_by_angles
from lipverify.loss.exact.biases.pairs import pair_term
from lipverify.loss.exact.biases.task import TaskAverages
from lipverify.loss.exact.biases.terms import averaged_terms
from lipverify.loss.exact.context import between, others
from lipverify.loss.exact.variograms.closed import variogram_of_field
from lipverify.loss.exact.variograms.products import Products
from lipverify.loss.exact.variograms.table import Variogram, variogram_of

DIMENSIONS = (3, 10, 30)
WINDOWS = ((30.0, 1e4), (1e3, 60.0), (1e9, 300.0), (1e9, 1e4))
LAWS: dict[str, Callable[[int], Variogram]] = {
    "kink": lambda d: variogram_of(d, lambda z: abs(z - 0.2), (0.2,), False),
    "jump": lambda d: variogram_of(d, np.sign, (0.0,), True),
    "exp(-r)": lambda d: variogram_of_field(Matern(nu=0.5), d),
    "two kinks": lambda d: variogram_of(d, lambda z: abs(z + 0.3) + abs(z - 0.6), (-0.3, 0.6), False),
    "three kinks": lambda d: variogram_of(
        d, lambda z: abs(z + 0.5) + abs(z - 0.1) + abs(z - 0.6), (-0.5, 0.1, 0.6), False
    ),
}


def both(variogram: Variogram) -> tuple[TaskAverages, TaskAverages]:
    """The averages by pairs, and by angles, regardless of the default choice."""
    usual, products = parts.table_averages(variogram), Products(variogram)
    pairs = replace(
        usual,
        bias=None,
        smooth=False,
        off=lambda nodes: variogram.off(nodes.angle),
        cross=lambda contexts, order, factors: pair_term(products, contexts, order, factors),
    )
    return pairs, replace(usual, cross=None, bias=lambda rules: bias_by_angles(variogram, rules))


def cost(averages: TaskAverages, d: int, n: float, w: float) -> tuple[float, float]:
    """Units of one loss without tables of n and w, and the bias."""
    for cached in (between.pair_density, others.deficits, others.counted, others.others_of, others.log_rate):
        cached.cache_clear()
    one, start = unit(), time.process_time()
    value, _ = averaged_terms(((1.0, averages),), d, n, np.array([w]))
    return (time.process_time() - start) / one, float(value.bias[0])


def main(names: list[str]) -> None:
    print(f"{'law':12} {'d':>3} {'n':>6} {'w':>6} {'law':>8} {'pairs':>7} {'angles':>7}  ratio  difference")
    for name in names or LAWS:
        for d in DIMENSIONS:
            for n, w in WINDOWS:
                pairs, angles = both(LAWS[name](d))
                first, _ = cost(pairs, d, n, w)
                (one, bias), (other, same) = (cost(averages, d, n, 1.01 * w) for averages in (pairs, angles))
                row = f"{first - one:8.1f} {one:7.1f} {other:7.1f}  {other / one:5.1f}  {abs(bias / same - 1):10.0e}"
                print(f"{name:12} {d:3} {n:6g} {w:6g} {row}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
