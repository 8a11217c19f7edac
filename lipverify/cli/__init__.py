"""The command line: each noun has a file of commands and options; the code behind a command is imported when it runs.

app                                           values of options, options of commands, exit codes
claims, ledgers, problems, proofs             the commands
verify, falsify, train, prove, catalogue, compare, numbers, reports     the code behind them
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from lipverify.cli.again import keeping, kept_answer, read_answer
from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.output import prepare_streams
from lipverify.foundation.process import BAD_INPUT, INTERRUPTED, UNREAD, interruptible, keep_memory

if TYPE_CHECKING:
    from cyclopts import App

__all__ = ["commands", "main"]

LONGEST = 1000
"""Longest error message, in characters, because the text that it quotes may have any length."""


def commands() -> App:
    """All commands, in the order in which the help lists them."""
    from lipverify.cli import claims, ledgers, problems, proofs  # noqa: F401 - each declares its commands
    from lipverify.cli.app import app

    return app


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit with its code: 0, 1 and 3 as in `verify`, 2 for bad input, 130 if interrupted."""
    prepare_streams()
    keep_memory()
    # Measurements run in one process each, so the threads of a BLAS inside them would only wait for each other.
    for library in ("OPENBLAS", "OMP", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        with interruptible():
            # a caller from Python may have changed what answers
            code = _answered(words, kept_answer(words) if arguments is None else None)
            sys.stdout.flush()
    except (InvalidInput, OutOfReach) as error:
        _refuse(str(error), BAD_INPUT)
    except KeyboardInterrupt:
        _refuse("interrupted; nothing was written.", INTERRUPTED)
    except (BrokenPipeError, SystemExit) as error:
        # rich ends the program itself, with exit code 1
        if isinstance(error, SystemExit) and not isinstance(error.__context__, BrokenPipeError):
            raise
        _close_output()
        sys.exit(UNREAD)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EIO, errno.EBADF) or error.filename is not None:
            raise
        _close_output()
        _refuse(f"standard output cannot be written ({error.strerror}).", 1)
    sys.exit(code if isinstance(code, int) else 0)


def _answered(words: list[str], kept: Path | None) -> object:
    """Run the command, or print its answer again; return what it returns."""
    answer = read_answer(kept) if kept else None
    if answer is not None:
        sys.stdout.write(answer)
        return 0
    from cyclopts import CycloptsError

    try:
        with keeping(kept) if kept else nullcontext():
            return commands()(words, exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        command = " ".join(["lipverify", *(error.command_chain or ()), "--help"])
        _refuse(f"{' '.join(str(error).split())} See `{command}`.", BAD_INPUT)


def _close_output() -> None:
    """Close the output after a failed write, so that Python does not try to flush it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _refuse(message: str, code: int) -> NoReturn:
    from lipverify.report.visible import visible

    if len(message) > LONGEST:
        message = f"{message[: LONGEST // 2]} ... {message[-LONGEST // 2 :]}"
    print(f"lipverify: {visible(message)}", file=sys.stderr)
    sys.exit(code)
