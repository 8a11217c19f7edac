"""The command line; one file a group of commands, each imported when its command is given."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from lipverify.errors import InvalidInput, OutOfReach

BAD_INPUT, INTERRUPTED = 2, 130


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit with its code: 0, 1 and 3 as `verify` says, 2 for bad input, 130 if interrupted."""
    # Each measurement is one process; threads that a BLAS starts inside of it would only spin.
    for library in ("OPENBLAS", "OMP", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    from cyclopts import CycloptsError

    from lipverify.cli.app import app

    try:
        code = app(
            list(sys.argv[1:] if arguments is None else arguments),
            exit_on_error=False,
            print_error=False,
            result_action="return_value",
        )
    except CycloptsError as error:
        _refuse(_one_line(error), BAD_INPUT)
    except (InvalidInput, OutOfReach) as error:
        _refuse(str(error), BAD_INPUT)
    except KeyboardInterrupt:
        _refuse("interrupted; nothing was written.", INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    sys.exit(code if isinstance(code, int) else 0)


def _one_line(error: Exception) -> str:
    """A parser's message without its line breaks."""
    return " ".join(str(error).split())


def _refuse(message: str, code: int) -> None:
    from lipverify.report.visible import visible

    print(f"lipverify: {visible(message)}", file=sys.stderr)
    sys.exit(code)
