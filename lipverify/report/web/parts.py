"""Parts shared by the page's front, its theorems and their evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from lipverify.report.model import Drawing, Symbol
from lipverify.report.web.markup import Child, Markup, element, join
from lipverify.report.web.words import Formulas


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """The context of a part of the page."""

    formulas: Formulas
    figures: Mapping[str, Markup]
    """Drawings by file name."""
    ids: Mapping[str, str]
    """The address of each anchor on the page."""
    grades: Mapping[str, str]
    """The meaning of each grade."""
    shown: set[str]
    """The figures already on the page: further uses link to the first one."""


def part(title: str, content: Child) -> Markup | None:
    """Content below a heading of its own; empty if there is no content."""
    return join((element("h4", title), content)) if content else None


def symbols(known: Iterable[Symbol], words: Formulas) -> Markup | None:
    """Symbols and their meanings; empty if there are none."""
    entries = [(element("dt", words.rich(each.symbol)), element("dd", words.rich(each.meaning))) for each in known]
    return element("dl", entries, class_="symbols") if entries else None


def figure(it: Drawing, place: Place) -> Markup:
    """A figure with its caption, and a description for screen readers."""
    words = place.formulas
    if not it.file:
        return element(
            "p", element("strong", "This figure could not be drawn"), f" ({it.problem}): ", words.rich(it.caption)
        )
    first = it.anchor not in place.shown
    place.shown.add(it.anchor)
    return element(
        "figure",
        element("p", it.alt, class_="unseen"),
        place.figures[it.file],
        element("figcaption", words.rich(it.caption)),
        id=it.anchor if first else None,
    )
