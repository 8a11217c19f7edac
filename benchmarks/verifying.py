"""The cost of a verification: `python benchmarks/verifying.py [IDS ...]`; by default of all claims, which takes
minutes.

Processor time of all processes, reports included, and the statements with the most expensive measurements.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from lipverify.claims.ledger.record import Ledger, read_ledger

SHOWN = 12


def main(ids: list[str]) -> None:
    with TemporaryDirectory() as folder:
        clock = time.perf_counter()
        run = subprocess.run([sys.executable, "-m", "lipverify", "verify", *ids, "--out", folder], stdout=sys.stderr)
        wall, used = time.perf_counter() - clock, resource.getrusage(resource.RUSAGE_CHILDREN)
        ledger = read_ledger(Path(folder, "ledger.json"))
    claims, machine = len(ledger.claims), ledger.provenance.machine
    print(f"{claims} claims on {machine}; exit code {run.returncode}")
    print(f"{used.ru_utime + used.ru_stime:.0f} s of processor time in {wall:.0f} s; measuring ended after ", end="")
    print(f"{ledger.provenance.seconds:.0f} s, the reports are the rest")
    print("seconds by statement; what several share counts for each")
    for stem, seconds in by_statement(ledger)[:SHOWN]:
        print(f"{seconds:8.1f}  {stem}")


def by_statement(ledger: Ledger) -> list[tuple[str, float]]:
    """The largest cost of a claim of each statement."""
    most: dict[str, float] = {}
    for record in ledger.claims:
        stem = record.id.partition("/")[0]
        most[stem] = max(most.get(stem, 0.0), record.seconds)
    return sorted(most.items(), key=lambda each: -each[1])


if __name__ == "__main__":
    main(sys.argv[1:])
