"""The power of `lipverify falsify`: how many of lipverify's own refuted claims it finds unaided, and how fast.

    python benchmarks/falsifying.py [--seconds 30] [--all] [--supported]

One claim of each statement (or all), known to be false. The search gets the names of the coordinates and the smallest
and largest declared values, but not the points at which the claims fail. A claim that is refuted in the first trial is
false nearly everywhere, and says little about the search. With --supported the claims are those that are supported at
their cells: a counterexample then lies outside of these, where the claim may not be meant, or is a false alarm.
Processor seconds.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from lipverify.claims.language.contents import contents
from lipverify.claims.plan.profile import profile_named
from lipverify.claims.plan.registry import all_claims, sought_in
from lipverify.falsify import search


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--seconds", type=float, default=30.0)
    options.add_argument("--all", action="store_true")
    options.add_argument("--supported", action="store_true")
    asked = options.parse_args()
    verdict = "supported" if asked.supported else "refuted"
    meant = [claim.id for claim in all_claims() if claim.expected == verdict]
    first = {id.partition("/")[0]: id for id in reversed(meant)}
    chosen = meant if asked.all else [id for id in meant if first[id.partition("/")[0]] == id]
    profile, found, at_once = profile_named("quick"), 0, 0
    for id in chosen:
        begun = time.process_time()
        path = str(contents().files[id.partition("/")[0]])
        [sought] = [each for each in sought_in(path, id, profile) if each.id == id]
        result = search(sought, profile, asked.seconds)
        found += result.found is not None
        at_once += result.found is not None and result.first == 1
        took = time.process_time() - begun
        what = result.found.place.where if result.found else f"nothing, {sum(result.not_reached.values())} not reached"
        trials = f"first {result.first:4} of {result.trials:5} trials"
        print(f"{'✗' if result.found else '·'} {id:62} {trials} {took:6.1f} s  {what}", flush=True)
    print(f"{found} of {len(chosen)} found ({at_once} in the first trial), {asked.seconds:g} s each at most")


if __name__ == "__main__":
    main()
