"""Laws as the command line names them: by a word, written out, or as NAME of a file of one's own."""

from __future__ import annotations

import inspect
import re
from typing import Any

from lipverify.claims.plan.registry import guarded
from lipverify.errors import InvalidInput
from lipverify.problem.law import Law
from lipverify.problem.written import law_named


def law_at(text: str, L: float) -> Law:
    """The law; that of `my.py:NAME`, where the file is run, is as it stands or a function of L.

    Raises
    ------
    InvalidInput
        If there is no such law; a fault of the file is told with its line.
    """
    found = re.fullmatch(r"(.+\.py):(\w+)", text)
    if re.fullmatch(r".+\.py:?", text):
        raise InvalidInput(f"law = {text!r} names a file and no law in it; write {text.rstrip(':')}:NAME.")
    if found is None:
        return law_named(text, L=L)
    from lipverify.claims.language.file import read_file

    path, name = found.groups()
    file = read_file(path, "law file")
    module = guarded(file, file.module)
    law = getattr(module, name, None)
    if law is None:
        here = {
            each: value for each, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__
        }
        makers = [each for each, value in here.items() if inspect.isfunction(value) and _takes_L(value)]
        laws = [each for each, value in vars(module).items() if isinstance(value, Law)] + makers
        has = f"its laws are {', '.join(laws)}" if laws else "it has no law, such as NAME = Ridge(np.tanh)"
        raise InvalidInput(f"law = {text!r}: there is no {name} in the file; {has}.")
    if not isinstance(law, Law) and _takes_L(law):
        made = law
        law = guarded(file, lambda: made(L=L))
    elif isinstance(law, Law) and L != 1:
        way_out = f"leave out --L, or make it def {name}(L)"
        raise InvalidInput(f"law = {text!r} with L = {L:g}: the law stands as it is; {way_out}.")
    if not isinstance(law, Law):
        rule = f"{name} must be a law, such as Ridge(np.tanh), or a function of L that makes one"
        raise InvalidInput(f"law = {text!r}: {rule}.")
    return law


def _takes_L(value: Any) -> bool:
    """Whether it is a function that may be called with L alone."""
    try:
        inspect.signature(value).bind(L=1.0)
    except (TypeError, ValueError):  # no function; a function of other things; one that does not say
        return False
    return True
