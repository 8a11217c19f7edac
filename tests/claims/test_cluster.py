"""A cluster: the ledger is the same bit for bit on one process, on four, and on the workers of a Dask scheduler."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from lipverify.claims.ledger import Ledger
from lipverify.claims.plan import Measurement, profile_named, select_claims
from lipverify.claims.run import measure, run, runner, workers  # internal: a fingerprint and a wait are replaced
from lipverify.errors import InvalidInput
from lipverify.foundation.provenance import fingerprint  # internal: the versions that workers must share

distributed = pytest.importorskip("distributed")

PATTERNS = ("softmax.split", "softmax.gaussian-window")


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """The address of a scheduler with two worker processes."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as local:
        yield local.scheduler_address


def findings(ledger: Ledger) -> bytes:
    """All findings of a ledger, without durations."""
    records = tuple(msgspec.structs.replace(record, seconds=0.0) for record in ledger.claims)
    return msgspec.json.encode(records)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Dask's own warnings about sockets
def test_one_process_four_processes_and_a_cluster_give_the_same_bits(scheduler: str) -> None:
    claims = select_claims(PATTERNS, profile_named("quick"))
    alone = findings(run(claims, jobs=0))
    assert findings(run(claims, jobs=4)) == alone
    assert findings(run(claims, cluster=scheduler)) == alone


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_with_other_code_is_refused(scheduler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "fingerprint", lambda: "this process")
    with pytest.raises(InvalidInput, match="another version"):
        run(select_claims(PATTERNS[:1], profile_named("quick")), cluster=scheduler)


@pytest.mark.filterwarnings("ignore")
def test_an_address_where_nothing_answers_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "ANSWER", "1s")
    with pytest.raises(InvalidInput, match="no Dask scheduler answers there") as refusal:
        run(select_claims(PATTERNS[:1], profile_named("quick")), cluster="tcp://127.0.0.1:1")
    assert "\n" not in str(refusal.value)


def kills_its_process(folder: str) -> float:
    """A call that kills its process, once."""
    mark = Path(folder) / "killed"
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return 1.0


def number(k: int) -> float:
    return float(k)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_worker_of_a_cluster_that_is_killed_costs_its_task_a_retry(scheduler: str, tmp_path: Path) -> None:
    measurements = [Measurement(kills_its_process, (str(tmp_path),)), *(Measurement(number, (k,)) for k in range(8))]
    with workers.cluster(scheduler, fingerprint()) as given:
        found = measure([{measurement.address: measurement for measurement in measurements}], given)
    assert [found[measurement.address].result for measurement in measurements] == [1.0, *map(float, range(8))]
    assert (tmp_path / "killed").exists()
