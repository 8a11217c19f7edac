"""All methods on random problems: in every dimension they agree within the errors that they state."""

from __future__ import annotations

import json
import math
import random
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from lipverify import LossTerms, Problem, loss_terms
from lipverify.errors import OutOfReach
from lipverify.laws import Affine, Cosine, Law, Quadratic, ReLU
from tests.slow.rounds import SEED, dice, until_time_is_up

pytestmark = pytest.mark.nightly
KEPT = Path(__file__).parent / "seeds.json"
"""Seeds of problems that once failed: they are tried first, every night."""
SAMPLED = 2.5
"""One problem in twenty is outside of a sampled 95 % interval; by this many half-widths, one in a million."""
FEW = 1000
"""A number of tokens that is sampled quickly."""
LONGEST = 30.0
"""Seconds that a method may take for one problem."""
BANDS = (10, 50, 200, 500, 1000)


def drawn(seed: Any) -> tuple[Problem, float]:
    dice_of = random.Random(str(seed))
    law: Law = dice_of.choice([Affine(), Quadratic(), ReLU(), Cosine(L=10 ** dice_of.uniform(-1, 1))])
    d = round(math.exp(dice_of.uniform(math.log(2), math.log(1000))))
    n = round(10 ** dice_of.uniform(0, dice_of.choice([3, 12])))
    w = 0.0 if dice_of.random() < 0.1 else 10 ** dice_of.uniform(-2, 1.3)
    return Problem(d=d, n=n, law=law, sigma=0.7), w


class TooLong(Exception):
    """A method took `LONGEST` seconds for one problem."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise `TooLong` when the time is up; without a limit if it is infinite, as in the tests of every run."""
    if seconds == math.inf:
        yield
        return

    def ring(*_: Any) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def answers(problem: Problem, w: float, slow: Counter[str]) -> dict[str, LossTerms]:
    """The values of each method that reaches the problem; methods that take too long are counted."""
    ways: dict[str, dict[str, Any]] = {
        "ridge": {"route": "ridge"},
        "zonal": {"route": "zonal"},
    }
    if w <= 5 or float(problem.n) > FEW:  # otherwise a ball takes a minute
        ways["certified"] = {"method": "certified", "digits": 16}
    if float(problem.n) <= FEW:
        ways["montecarlo"] = {"method": "montecarlo", "contexts": 256, "seed": SEED}
    found = {}
    for name, how in ways.items():
        try:
            with at_most(LONGEST):
                found[name] = loss_terms(problem, w, **how)
        except OutOfReach:
            continue
        except TooLong:
            slow[f"{name} too slow"] += 1
    return found


def ratios(found: dict[str, LossTerms]) -> dict[str, float]:
    """Distance divided by the stated errors, for each pair of methods."""
    names, apart = sorted(found), {}
    for i, one in enumerate(names):
        for other in names[i + 1 :]:
            allowed = SAMPLED if "montecarlo" in (one, other) else 1.0
            for term in ("bias", "noise"):
                values = [float(getattr(found[name], term)) for name in (one, other)]
                errors = sum(float(getattr(found[name], f"{term}_error")) for name in (one, other))
                apart[f"{one} {other} {term}"] = abs(values[0] - values[1]) / (allowed * errors) if errors else 0.0
    return apart


def test_methods_agree() -> None:
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else []
    counts: Counter[str] = Counter()
    worst: dict[tuple[str, int], tuple[float, str, Any]] = {}
    missed = []
    tonight = ([SEED, k] for k in until_time_is_up())
    for seed in chain(kept, tonight):
        problem, w = drawn(seed)
        found = answers(problem, w, counts)
        counts.update([*found, "problems"])
        band = next(band for band in BANDS if problem.d <= band)
        for pair, ratio in ratios(found).items():
            of = "sampled" if "montecarlo" in pair else "against a ball" if "certified" in pair else "exact"
            worst[of, band] = max(worst.get((of, band), (0.0, "", None)), (ratio, pair, seed), key=lambda each: each[0])
            if not ratio <= 1:
                missed.append((seed, pair, ratio, problem, w))
    print(f"seed {SEED}: {dict(counts)}")
    for (of, band), (ratio, pair, seed) in sorted(worst.items()):
        print(f"  d <= {band}: worst distance / stated errors {of} {ratio:.3g}, {pair}, seed {seed}")
    assert not missed, f"keep these seeds in {KEPT.name}: {missed}"
    assert counts["certified"] > 0


def test_the_dice_of_an_address_are_reproducible() -> None:
    assert drawn([1, 2]) == drawn([1, 2])
    assert dice("a").random() == dice("a").random()
