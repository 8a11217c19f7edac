"""The power of `lipverify falsify`: which of lipverify's own refuted claims does it find unaided, and in what time?

    python benchmarks/falsifying.py [--seconds 30] [--all]

One claim of each statement (or all), known to be false. The search is not told the points at which they fail: only
which coordinates there are, and the least and the largest values that are declared. Processor seconds.
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

from lipverify.claims.library import contents
from lipverify.claims.loading import sought_in
from lipverify.claims.profile import profile_named
from lipverify.claims.registry import all_claims
from lipverify.falsify import search


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--seconds", type=float, default=30.0)
    options.add_argument("--all", action="store_true")
    asked = options.parse_args()
    refuted = [claim.id for claim in all_claims() if claim.expected == "refuted"]
    first = {id.partition("/")[0]: id for id in reversed(refuted)}
    chosen = refuted if asked.all else [id for id in refuted if first[id.partition("/")[0]] == id]
    profile, found = profile_named("quick"), 0
    for id in chosen:
        begun = time.process_time()
        path = str(contents().files[id.partition("/")[0]])
        [sought] = [each for each in sought_in(path, id, profile) if each.id == id]
        result = search(sought, profile, asked.seconds)
        found += result.found is not None
        took = time.process_time() - begun
        what = result.found.place.where if result.found else f"nothing, {sum(result.not_reached.values())} not reached"
        print(f"{'✗' if result.found else '·'} {id:62} {result.trials:5} trials {took:6.1f} s  {what}", flush=True)
    print(f"{found} of {len(chosen)} found, {asked.seconds:g} s each at most")


if __name__ == "__main__":
    main()
