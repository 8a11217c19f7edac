"""Two algorithms for the bias of ReLU where windows hold few tokens: `python benchmarks/two_tokens.py`.

"pairs" integrates over two tokens, with the mean product of their increments tabulated once for a dimension; "angles"
integrates over the angle between them, whose density is tabulated for every n and w, as for all other laws. Processor
time of one loss in units of NumPy's time to write 10^6 exponentials: "table" is that of the pairs for a dimension;
"pairs" and "angles" are at a new w; then their ratio and the relative difference of the biases.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
from laws import unit

from lipverify.loss.exact.context import between, others
from lipverify.loss.exact.ridge.absolute import relu_averages
from lipverify.loss.exact.ridge.angles import bias_by_angles
from lipverify.loss.exact.ridge.task import TaskAverages
from lipverify.loss.exact.ridge.terms import averaged_terms
from lipverify.loss.exact.variograms.closed import relu_source
from lipverify.loss.exact.variograms.table import tabulated
from lipverify.loss.exact.variograms.turns import turns

DIMENSIONS = (2, 3, 5, 10, 30)
WINDOWS = ((3.0, 1e3), (30.0, 1e3), (30.0, 1e4), (1e3, 1e4), (1e9, 1e7))


def cost(averages: TaskAverages, d: int, n: float, w: float) -> tuple[float, float]:
    """Units of one loss without tables of n and w, and the bias."""
    for cached in (between.pair_density, others.deficits, others.counted, others.others_of):
        cached.cache_clear()
    one, start = unit(), time.process_time()
    value, _ = averaged_terms((averages,), d, n, np.array([w]))
    return (time.process_time() - start) / one, float(value.bias[0])


def main() -> None:
    print(f"{'d':>3} {'n':>6} {'w':>6} {'table':>7} {'pairs':>7} {'angles':>7}  ratio  difference")
    for d in DIMENSIONS:
        pairs, table = relu_averages(d), tabulated(relu_source(d), 2, [0.0, np.pi])
        angles = replace(pairs, bias=lambda rules, table=table: bias_by_angles(table, rules))
        for n, w in WINDOWS:
            turns.cache_clear()
            first, _ = cost(pairs, d, n, w)
            (one, bias), (other, same) = (cost(averages, d, n, 1.01 * w) for averages in (pairs, angles))
            row = f"{first - one:7.1f} {one:7.1f} {other:7.1f}  {other / one:5.1f}  {abs(bias / same - 1):10.0e}"
            print(f"{d:3} {n:6g} {w:6g} {row}", flush=True)


if __name__ == "__main__":
    main()
