"""Standard streams, whatever their encoding and whoever has closed them."""

from __future__ import annotations

import io
import json
import sys

import pytest

from lipverify.foundation.output import prepare_streams


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_a_letter_that_an_encoding_lacks_is_written_as_its_number(
    monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding))
    prepare_streams()
    print('{"says": "x ≤ √Λ"}', flush=True)
    assert json.loads(written.getvalue()) == {"says": "x ≤ √Λ"}


def test_a_stream_that_is_closed_is_the_null_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    prepare_streams()
    assert sys.stdout is not None
    with sys.stdout as null:
        null.write("x ≤ 1")
        null.flush()


def test_a_stream_of_another_kind_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    text = io.StringIO()
    monkeypatch.setattr(sys, "stdout", text)
    prepare_streams()
    assert sys.stdout is text
