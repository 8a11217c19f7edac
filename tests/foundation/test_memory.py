"""Freed memory is used again."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

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
