"""Standard streams with any encoding, and closed by anyone."""

from __future__ import annotations

import io
import json
import platform
import subprocess
import sys

import pytest

from lipverify.foundation.output import prepare_streams, write_json  # internal: streams that are broken first


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
@pytest.mark.parametrize("text", ["x ≤ √Λ", "✓ 1 ± 2 ⟨x⟩", 'a "quoted\\n" ½ 𝔼'])
def test_data_is_read_back_as_it_was_written_whatever_the_encoding(
    monkeypatch: pytest.MonkeyPatch, encoding: str, text: str
) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding))
    prepare_streams()
    write_json(json.dumps({"says": text}, ensure_ascii=False).encode())
    sys.stdout.flush()
    assert json.loads(written.getvalue().decode(encoding)) == {"says": text}


def test_a_letter_that_an_encoding_lacks_is_written_as_one_would_type_it(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    prepare_streams()
    print("✓ w* = Θ(Λ²) ± 3, ĸ", flush=True)
    assert written.getvalue() == b"+ w* = Theta(Lambda^2) +- 3, \\u0138\n"


def test_a_stream_that_is_closed_is_the_null_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    prepare_streams()
    assert sys.stdout is not None
    with sys.stdout as null:
        null.write("x ≤ 1")
        null.flush()


def test_a_stream_of_another_kind_is_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    text = io.StringIO()
    monkeypatch.setattr(sys, "stdout", text)
    prepare_streams()
    assert sys.stdout is text


# Freed memory is used again.


PAGES = """
import resource
{first}
def faults(times):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(times):
        b"x" * (40 << 20)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
faults(1)
print(faults(5))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library keeps memory as it likes")
def test_large_blocks_are_taken_from_the_system_once() -> None:
    """Five blocks of 40 MB, thousands of pages each: new pages each time, or those of a freed block."""
    kept = _faults("from lipverify.foundation.process import keep_memory; keep_memory()")
    anew = _faults("")
    assert anew > 1000
    assert kept < anew / 100


def _faults(first: str) -> int:
    return int(subprocess.check_output([sys.executable, "-c", PAGES.format(first=first)], text=True))
