"""Run a plan and write the ledger: workers, measurements, grades and verdicts.

runner        verify claims and return the ledger
measurement   run the measurements in the order of their needs, each timed and guarded
workers       this process, others, or a cluster
kept          the finished measurements of an interrupted run
judgment      make a claim's record from its measurements
audit         recompute a ledger from its own data

This is the package's public interface: tests and other programs import the names below from here.
"""

from typing import TYPE_CHECKING

from lipverify.foundation.lazy import lazy

if TYPE_CHECKING:
    from lipverify.claims.run.kept import Finished as Finished
    from lipverify.claims.run.measurement import Outcome as Outcome, measure as measure
    from lipverify.claims.run.runner import Watch as Watch, run as run
    from lipverify.claims.run.workers import (
        Given as Given,
        ThisProcess as ThisProcess,
        Workers as Workers,
        processes as processes,
    )

lazy()
