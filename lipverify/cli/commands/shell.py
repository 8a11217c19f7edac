"""Commands for shells: completion."""

from __future__ import annotations

from typing import Literal

from lipverify.cli.commands.root import app


@app.command
def completion(shell: Literal["bash", "zsh", "fish"], /) -> int:
    """Print what makes a shell complete commands and ids: `source <(lipverify completion bash)`.

    Parameters
    ----------
    shell
        Whose completion it is.
    """
    from lipverify.cli.completion import SHELLS

    print(SHELLS[shell], end="")
    return 0


@app.command(show=False)
def complete(word: str = "", /) -> int:
    """Print what a word may become; shells call this.

    Parameters
    ----------
    word
        The beginning of a command, of a stem or of an id.
    """
    from lipverify.cli.completion import candidates

    for candidate in candidates(word, tuple(name for name in app if not name.startswith("-"))):
        print(candidate)
    return 0
