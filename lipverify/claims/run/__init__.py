"""From a plan to a ledger: who measures, what is kept, what ran, and the verdict that follows.

runner        claims in, ledger out
measurement   measurements in the order that their needs allow, each timed and guarded
workers       this process, others, or a cluster
kept          what an interrupted run has measured already
deciding      what would decide a claim that is open
judgment      from what was measured to the record
audit         a ledger recomputed from itself

This is the face of the room: tests and outside programs take the names below from here.
"""

from typing import TYPE_CHECKING

from lipverify.foundation.lazy import lazy

if TYPE_CHECKING:
    from lipverify.claims.run.kept import Finished
    from lipverify.claims.run.measurement import Outcome, measure
    from lipverify.claims.run.runner import Watch, run
    from lipverify.claims.run.workers import Given, ThisProcess, Workers, processes

__all__ = ["Finished", "Given", "Outcome", "ThisProcess", "Watch", "Workers", "measure", "processes", "run"]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "Finished": "kept",
        "Given": "workers",
        "Outcome": "measurement",
        "ThisProcess": "workers",
        "Watch": "runner",
        "Workers": "workers",
        "measure": "measurement",
        "processes": "workers",
        "run": "runner",
    },
    modules=["audit"],
)
