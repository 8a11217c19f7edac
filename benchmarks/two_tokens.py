"""Two algorithms for the cross terms of the bias, on the same variograms: `python benchmarks/two_tokens.py [LAW ...]`.

"pairs" integrates over two tokens, with the common part of their increments tabulated once for a law and a dimension;
"angles" integrates over the angle between them, whose density is a short sum over harmonics at most w, and a table
otherwise. Processor time of one loss at a new w, in units of NumPy's time to write 10^6 exponentials, without the law's
own table; then the ratio, and the relative difference of the biases.
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
from lipverify.loss.exact.biases.task import TaskAverages
from lipverify.loss.exact.biases.terms import averaged_terms
from lipverify.loss.exact.context import between, others
from lipverify.loss.exact.variograms.closed import Angles, variogram_of_field
from lipverify.loss.exact.variograms.table import Variogram, tabulated, variogram_of

DIMENSIONS = (2, 3, 10, 30)
WINDOWS = ((3.0, 5.0), (30.0, 5.0), (30.0, 1e4), (1e9, 300.0))
LAWS: dict[str, Callable[[int], Variogram]] = {
    "kink at 0": lambda d: variogram_of(d, np.abs, (0.0,), False),
    "kink at 0.2": lambda d: variogram_of(d, lambda z: abs(z - 0.2), (0.2,), False),
    "relu": lambda d: tabulated(Angles(d), 2, [0.0, np.pi]),
    "exp(-r)": lambda d: variogram_of_field(Matern(nu=0.5), d),
    "jump": lambda d: variogram_of(d, np.sign, (0.0,), True),
}


def both(variogram: Variogram) -> tuple[TaskAverages, TaskAverages]:
    """The averages by pairs, and by angles, regardless of the default choice."""
    usual = parts.table_averages(variogram)
    angles = replace(usual, cross=None, bias=lambda rules: bias_by_angles(variogram, rules))
    return replace(usual, bias=None, smooth=False), angles


def cost(averages: TaskAverages, d: int, n: float, w: float) -> tuple[float, float]:
    """Units for a new w, after a nearby w has made the table of the law, and the bias."""
    averaged_terms(((1.0, averages),), d, n, np.array([1.01 * w]))
    for cached in (between.pair_density, others.deficits, others.counted, others.others_of, others.log_rate):
        cached.cache_clear()
    one, start = unit(), time.process_time()
    value, _ = averaged_terms(((1.0, averages),), d, n, np.array([1.02 * w]))
    return (time.process_time() - start) / one, float(value.bias[0])


def main(names: list[str]) -> None:
    print(f"{'law':12} {'d':>3}" + "".join(f"   n = {n:g}, w = {w:g}" for n, w in WINDOWS))
    for name in names or LAWS:
        for d in DIMENSIONS:
            forms, cells = both(LAWS[name](d)), []
            for n, w in WINDOWS:
                (pairs, one), (angles, other) = (cost(averages, d, n, w) for averages in forms)
                cells.append(f"{pairs:6.1f} {angles:6.1f} x{angles / pairs:4.1f} {abs(one / other - 1):.0e}")
            print(f"{name:12} {d:>3}   " + "   ".join(cells), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
