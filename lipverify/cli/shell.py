"""Shell completion of commands and ids: `source <(lipverify completion bash)`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from lipverify.cli.app import app

SHELLS = {
    "bash": """_lipverify() {
  local word="${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=($(lipverify complete -- "$word" 2>/dev/null))
  [[ ${#COMPREPLY[@]} -eq 0 ]] && compopt -o default
}
complete -o nosort -F _lipverify lipverify
""",
    "zsh": """#compdef lipverify
_lipverify() {
  local -a found
  found=(${(f)"$(lipverify complete -- "${words[CURRENT]}" 2>/dev/null)"})
  (( ${#found} )) && compadd -a found || _files
}
compdef _lipverify lipverify
""",
    "fish": """complete -c lipverify -a '(lipverify complete -- (commandline -ct) 2>/dev/null)'
""",
}
"""The completion scripts. The shell runs `lipverify complete` for every word."""


@app.command
def completion(shell: Literal["bash", "zsh", "fish"], /) -> int:
    """Print a script for your shell that completes commands and ids: `source <(lipverify completion bash)`.

    Parameters
    ----------
    shell
        The shell to complete for.
    """
    print(SHELLS[shell], end="")
    return 0


@app.command(show=False)
def complete(word: str = "", /) -> int:
    """Print the completions of a word; called by shells.

    Parameters
    ----------
    word
        The beginning of a command, of a stem or of an id.
    """
    for candidate in candidates(word, tuple(name for name in app if not name.startswith("-"))):
        print(candidate)
    return 0


def candidates(word: str, commands: tuple[str, ...]) -> Iterator[str]:
    """The completions of a word: commands, stems of claims, or whole ids once the stem is complete.

    Only the claims file of that stem is read.

    >>> list(candidates("softmax.window-p", ()))
    ['softmax.window-printed']
    """
    from lipverify.claims.language.contents import contents
    from lipverify.claims.plan.registry import select_claims

    yield from (command for command in commands if word and command.startswith(word))
    stems = [stem for stem in contents().headings if stem.startswith(word)]
    if len(stems) > 1 or (stems and word != stems[0]):
        yield from stems
    stem = word.partition("/")[0]
    if stem in contents().headings:
        yield from (claim.id for claim in select_claims([stem]) if claim.id.startswith(word))
