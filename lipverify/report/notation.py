"""Symbols and their meanings: each is defined on the page of its first use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from lipverify.foundation.latex import UnreadableError, latex_source
from lipverify.foundation.latex.reader import Part, read
from lipverify.foundation.latex.symbols import LATEX
from lipverify.foundation.shipped import table
from lipverify.report.model import Front, Symbol, Theorem
from lipverify.report.text import formulas_in, rich
from lipverify.report.words import notation

Page = TypeVar("Page", Front, Theorem)


class Defined:
    """The symbols defined so far, page by page."""

    def __init__(self) -> None:
        self.symbols: tuple[Symbol, ...] = ()
        self._laws = dict(table()["laws"])
        self._known: set[int | tuple[str, str]] = set()

    def with_symbols(self, page: Page, stem: str = "", *, own: bool = True, beside: object = ()) -> Page:
        """The page with the meanings of the symbols that first appear on it, or in what stands beside its text; claims
        not `own` define theirs.
        """
        holding = {k: entry for k, entry in enumerate(notation()) if entry.holds_for(stem, own)}
        data = msgspec.to_builtins((page, beside))
        used, before, new_entries = set(symbols_in(data)), set[str](), list[int]()
        while used != before:  # a meaning may contain further symbols
            before = set(used)
            new_entries = [k for k, entry in holding.items() if k not in self._known and entry.names & used]
            used |= {name for k in new_entries for name in symbols_in(_entry(k))}
        written = [_source(run["text"]) for run in formulas_in(data)] if page.defines else []
        theirs: list[tuple[str, str]] = [
            pair for pair in page.defines.items() if pair not in self._known and _written(pair[0], written)
        ]
        new: list[int] = sorted(new_entries)
        self._known |= {*new, *theirs}
        named = [name for name in self._laws if name in str(data)]
        laws: list[Symbol] = [Symbol(symbol=rich(name), meaning=rich(self._laws.pop(name))) for name in named]
        symbols = (*(Symbol(symbol=rich(f"${a}$"), meaning=rich(b)) for a, b in theirs), *map(_entry, new), *laws)
        self.symbols += symbols
        return replace(page, symbols=symbols)


def _source(latex: str) -> str:
    """The formula as it is always written; one that is not understood as it is."""
    try:
        return re.sub(r"\{(\w)\}", r"\1", latex_source(latex))
    except UnreadableError:
        return latex


def _written(latex: str, formulas: Iterable[str]) -> bool:
    """True if a user's symbol stands in one of some formulas."""
    symbol = re.compile(rf"(?<![A-Za-z\\]){re.escape(_source(latex))}(?![A-Za-z])")
    return any(symbol.search(formula) for formula in formulas)


def _entry(k: int) -> Symbol:
    entry = notation()[k]
    return Symbol(symbol=rich(entry.symbol), meaning=rich(entry.meaning))


def symbols_in(page: object) -> Iterator[str]:
    """The symbols in all formulas of a page, in LaTeX."""
    for run in formulas_in(msgspec.to_builtins(page)):
        yield from _symbols(read(run["text"]))


@lru_cache(1 << 14)
def _symbols(part: Part) -> tuple[str, ...]:
    r"""The letters of a formula with their commands: `\mathbf{M}` is `\mathbfM`."""
    match part:
        case Part("sign", text):
            return (LATEX.get(text, text),)
        case Part("command", name, (Part("row", _, (Part("sign", text),)),)) if name != "sqrt":
            return (f"\\{name}{LATEX.get(text, text)}",)
        case _:
            return tuple(symbol for inside in filter(None, part.parts) for symbol in _symbols(inside))
