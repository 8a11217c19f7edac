"""The time of a slider of `lipverify explore`: `python benchmarks/exploring.py [LAW ...]`.

Processor seconds from the move of a slider to the answer of the server, the median and the largest of some moves.
"look" is the first picture of the page; "all digits" is the picture that the page waited for before it had a first one:
w* and the terms at 25 w. They have values of the slider of their own, so that neither uses what the other has kept.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
from msgspec.structs import replace

from lipverify import loss_terms, optimal_window
from lipverify.explore import Setting, look

LAWS = ("relu", "affine", "cosine", "relu + 2*cosine(3)", "kinked(0.3)")
START = Setting(d=8, n=1000)
SLIDERS: dict[str, tuple[float, ...]] = {
    "d": tuple(range(3, 19)),
    "n": tuple(float(round(n)) for n in np.geomspace(20, 1e9, 16)),
    "L": tuple(np.geomspace(0.5, 2, 16).tolist()),
    "sigma": tuple(np.geomspace(0.5, 2, 16).tolist()),
}
"""The values through which each slider moves."""


def all_digits(setting: Setting) -> None:
    problem = setting.problem
    best = optimal_window(problem)
    middle = best.w or 1.0
    loss_terms(problem, np.geomspace(middle / 300, middle * 300, 25))
    loss_terms(problem, best.w)


def seconds(work: Callable[[Setting], object], setting: Setting) -> float:
    start = time.process_time()
    work(setting)
    return time.process_time() - start


def main(laws: tuple[str, ...]) -> None:
    print(f"{'law':<20}{'slider':<8}{'look':>7}{'largest':>9}{'all digits':>12}{'largest':>9}")
    for law in laws:
        for name, values in SLIDERS.items():
            settings = [replace(START, law=law, **{name: value}) for value in values]
            look(replace(START, law=law))  # the page is open
            firsts = [seconds(look, setting) for setting in settings[::2]]
            exacts = [seconds(all_digits, setting) for setting in settings[1::2]]
            told = "".join(
                f"{statistics.median(times):>{wide}.3f}{max(times):>9.3f}"
                for times, wide in ((firsts, 7), (exacts, 12))
            )
            print(f"{law:<20}{name:<8}{told}", flush=True)


if __name__ == "__main__":
    main(tuple(sys.argv[1:]) or LAWS)
