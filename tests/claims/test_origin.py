"""The fingerprint changes with everything that affects numbers, and a ledger records it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lipverify.claims.run import run
from lipverify.foundation import provenance as origin  # internal: versions and the machine are replaced there
from lipverify.foundation.shipped import shipped

PARTS = ("numpy", "scipy", "sympy", "mpmath", "python-flint")


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    origin.fingerprint.cache_clear()
    yield
    origin.fingerprint.cache_clear()


@pytest.mark.parametrize("package", PARTS)
def test_another_library_is_another_fingerprint(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    before, real = origin.fingerprint(), origin.version  # type: ignore[attr-defined]
    origin.fingerprint.cache_clear()
    monkeypatch.setattr(origin, "version", lambda name: "0.0" if name == package else real(name))
    assert origin.fingerprint() != before


@pytest.mark.parametrize("what", ["cpu", "compiler_version"])
def test_another_machine_is_another_fingerprint(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    before = origin.fingerprint()
    origin.fingerprint.cache_clear()
    monkeypatch.setattr(origin, what, lambda: "another")
    assert origin.fingerprint() != before


def test_other_data_is_another_fingerprint(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Every kind of file that measurements read counts: each copy with one kind of file less has its own."""
    kinds = {path.suffix for path in shipped().rglob("*") if path.is_file()} - {".toml", ".pyc"}
    assert {".json", ".xz", ".py"} <= kinds
    monkeypatch.setattr(origin, "shipped", lambda: tmp_path)
    found = {origin.fingerprint()}
    for kind in kinds:
        (tmp_path / f"data{kind}").write_text("other")
        origin.fingerprint.cache_clear()
        found.add(origin.fingerprint())
    assert len(found) == 1 + len(kinds)


def test_a_ledger_records_the_versions_behind_its_numbers() -> None:
    recorded = run([], jobs=0).provenance.versions
    assert {"lipverify", *PARTS, "compiler", "CPU"} <= set(recorded)
    assert all(recorded.values())
