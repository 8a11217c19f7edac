"""A ledger with every byte changed once: never a traceback, and never a verdict that `audit` should refuse."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from lipverify.claims.ledger import read_ledger
from lipverify.claims.run.audit import audit, sealed
from lipverify.errors import InvalidInput
from tests import ROOT
from tests.slow.rounds import ROUNDS, dice

pytestmark = pytest.mark.nightly
EXAMPLE = read_ledger(ROOT / "reports" / "example" / "ledger.json")
CLAIM = min(
    (each for each in EXAMPLE.claims if each.verdict == "refuted"), key=lambda each: len(msgspec.json.encode(each))
)
WHOLE = msgspec.json.encode(sealed(msgspec.structs.replace(EXAMPLE, claims=(CLAIM,))))
PARTS = 20


@pytest.mark.parametrize("part", range(PARTS))
def test_every_byte(tmp_path: Path, part: int) -> None:
    path, counts = tmp_path / "ledger.json", {"refused": 0, "told": 0, "the same verdict": 0}
    lines: set[int] = set()
    path.write_bytes(WHOLE)
    right = [each.verdict for each in read_ledger(path).claims]
    assert not audit(read_ledger(path))
    every = range(part, len(WHOLE), PARTS) if ROUNDS >= 100 else range(part, len(WHOLE), PARTS * 100 // ROUNDS)
    for at in every:
        path.write_bytes(WHOLE[:at] + bytes([WHOLE[at] ^ (1 << dice("flip", at).randrange(8))]) + WHOLE[at + 1 :])
        try:
            read = read_ledger(path)
        except InvalidInput as refusal:
            lines.add(str(refusal).count("\n"))
            counts["refused"] += 1
            continue
        differences = audit(read)
        verdicts = [each.verdict for each in read.claims]
        counts["told" if differences else "the same verdict"] += 1
        assert differences or verdicts == right, f"byte {at} changed a verdict, and audit says nothing"
    assert lines <= {0}, "a refusal is one line"
    print(counts)
