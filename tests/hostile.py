"""A ledger with hostile text in every field, for every output."""

from __future__ import annotations

from itertools import cycle, islice, starmap

from lipverify.claims.ledger import (
    Allowed,
    Band,
    CrossCheck,
    Figure,
    Heading,
    Ledger,
    Panel,
    Provenance,
    Record,
    Series,
    Source,
    Table,
)
from tests.ledgers import cell, record

HOSTILE = {
    "typst": '#read("/etc/passwd") #import "@preview/x:0.1.0" #eval("1+1") #panic() $#read("secret")$ ``` raw',
    "brackets": "] } ) [ { ( $ \\ \\\\ // /* */ #",
    "svg": '</text><script>alert(1)</script><image href="file:///etc/passwd"/> ]]> <!-- --> &amp; &xxe;',
    "terminal": "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x9b31m [red]markup[/red] [link=https://x]y[/link] :smile: \rover",
    "unseen": "a\x00b \u202egnp.exe\u202c \u2066x\u2069 zero\u200bwidth \ufeff \x7f",
    "path": "../../../tmp/lipverify-escaped",
    "sheet": '=cmd|"/C calc"!A0',
    "tex": "\\input{/etc/passwd} \\write18{ls} $\\def\\x{\\x}\\x$ % $\\csname end\\endcsname$ ~^_&",
    "long": "x" * 2400,  # higher than a page in a column of a table
    "page": "x" * 600,  # a table of it is higher than a page, none of its cells is
    "empty": "",
}
TYPESET = {
    "code": '#import "x" #read("/etc/passwd") $#read("/etc/passwd")$ #panic() ] } ) [ { (',
    "escapes": "\\ \\$ \\( \\u{41} *_@<>`~ $ and $$",
    "heading": "= heading // gone /* gone */ 中 😀 é σ²",
    "letters": "x" * 300,
    "word": "ab-/" * 100,
}
"""More texts, for the typesetter alone."""
FIGURES = {
    "typst": ("typst", "brackets", "svg", "terminal"),
    "unseen": ("unseen", "path", "sheet", "tex", "long", "page"),
    "empty": ("empty",),
}
"""The claims with a figure, and the texts in it: more figures would take longer and test nothing new."""


def hostile_figure(texts: list[str]) -> Figure:
    series = tuple(
        Series(label=text, x=(1.0, 2.0), y=(1.0, 2.0), style="errorbars", error=(0.1, 0.1)) for text in texts
    )
    panels = []
    for first in range(min(2, len(texts))):  # a stand-alone panel has no title
        title, xlabel, ylabel, band = islice(cycle(texts), 2 * first, 2 * first + 4)
        bands = (Band(label=band, low=1.5),)
        panels.append(Panel(title=title, xlabel=xlabel, ylabel=ylabel, series=series, bands=bands))
    return Figure(caption=" ".join(texts), alt=" ".join(texts), panels=tuple(panels))


def hostile_record(name: str, text: str) -> Record:
    """A claim with hostile text in every field; some have a figure."""
    texts = [*TYPESET.values()] if name == "word" else [HOSTILE[each] for each in FIGURES.get(name, ())]
    each = cell(2, text, Allowed(low=0.5), text, where={text or "k": text}, quantity=text, method=text, note=text)
    check = CrossCheck(
        where={text or "k": text}, quantity=text, methods=(text, text), values=(1.0, 1.0), errors=(0.1, 0.1),
        agrees=True,
    )  # fmt: skip
    return record(
        f"{name}.{text}", title=text, statement=text, source=Source(paper=text, place=text, printed=text),
        assumptions=(text,), measured=text, claimed=text, finding=text, corrected=text, reproduce=text, problem=text,
        cells=(each, cell(3, text, Allowed(low=0.5), text)), cross_checks=(check,),
        heading=Heading(section=text, title=text), tables=(Table(caption=text, header=(text,), rows=((text,),)),),
        figures=(hostile_figure(texts),) if texts else (),
    )  # fmt: skip


def hostile_ledger() -> Ledger:
    text = HOSTILE["terminal"] + HOSTILE["typst"]
    made = Provenance(versions={text: text, "lipverify": text}, machine=text, started=text, seconds=1.0)
    return Ledger(
        profile=text, seed=0, backend=text, provenance=made, claims=tuple(starmap(hostile_record, HOSTILE.items()))
    )
