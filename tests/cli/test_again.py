"""An answer that only lipverify's files decide is kept and printed again; whatever else may change it makes it anew."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lipverify.cli import again  # internal: the name of a kept answer, when files and words change
from tests.cli.test_cli import ENVIRONMENT


def run(cache: Path, *words: str, stop: str = "nothing", **environment: str) -> subprocess.CompletedProcess[str]:
    """A command in a process in which importing the module `stop` fails."""
    code = f"import sys; sys.modules[{stop!r}] = None; from lipverify.cli import main; main()"
    settings = {**ENVIRONMENT, "XDG_CACHE_HOME": str(cache), "PYTHONUTF8": "1", **environment}
    return subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, env=settings)


@pytest.mark.parametrize("words", [("--help",), ("list", "softmax.split"), ("explain", "softmax.split", "--json")])
def test_an_answer_is_printed_again_without_the_library_that_made_it(words: tuple[str, ...], tmp_path: Path) -> None:
    first, second = run(tmp_path, *words), run(tmp_path, *words, stop="cyclopts")
    assert first.returncode == second.returncode == 0
    assert second.stdout == first.stdout != ""
    other = run(tmp_path, *words, stop="cyclopts", COLUMNS="61")
    assert other.returncode != 0  # for another width it is made anew


def test_a_refusal_is_made_anew(tmp_path: Path) -> None:
    first, second = run(tmp_path, "list", "softmax.spilt"), run(tmp_path, "list", "softmax.spilt")
    assert first.returncode == second.returncode == 2
    assert second.stderr == first.stderr != ""


def test_an_answer_that_others_could_have_written_is_not_printed(tmp_path: Path) -> None:
    first = run(tmp_path, "list", "softmax.split")
    [kept] = (tmp_path / "lipverify" / "answers").iterdir()
    kept.write_text("softmax.split was never proved")
    kept.chmod(0o666)
    assert run(tmp_path, "list", "softmax.split").stdout == first.stdout


def test_a_file_of_the_user_is_read_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert again.kept_answer(["list", "my/theorems"])
    Path("my/theorems").mkdir(parents=True)
    for words in (
        ["list", "my/theorems"],
        ["list", "mine.py"],
        ["explain", "./mine"],
        ["list", "--passages", "a.json"],
    ):
        assert again.kept_answer(words) is None
    assert again.kept_answer(["verify", "softmax.split"]) is None


def test_a_changed_file_has_another_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theorem = tmp_path / "theorem.py"
    theorem.write_text("w = 1")
    monkeypatch.setattr(again, "shipped", lambda: tmp_path)
    before = again.kept_answer(["list"])
    assert before == again.kept_answer(["list"]) != again.kept_answer(["explain"])
    os.utime(theorem, (1, 1))
    assert again.kept_answer(["list"]) != before
