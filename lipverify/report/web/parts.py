"""Parts shared by the page's front, its theorems and their evidence, and the addresses of theorems and claims."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import quote

import msgspec

from lipverify.report.model import Drawing, Report, Symbol, Theorem
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


OWN = ("theorems", "filters", "found", "theme", "notation", "verdicts", "sources", "provenance", "tip")
"""Addresses reserved by the page."""


def addresses(report: Report, figures: Iterable[str]) -> dict[str, str]:
    """The address of each theorem and claim by its anchor: its own name, with characters that an address allows.

    The anchors of `figures` are their addresses. A claim with the name of its theorem shares its address. If two others
    would be equal, the later one is numbered.
    """
    found: dict[str, str] = {}
    taken = {*OWN, *figures, *(f"section-{k}" for k, _ in enumerate(report.sections, 1))}

    def take(key: str, name: str) -> None:
        address = quote(name, safe="/.-_~") or "claim"
        number = 2
        while address in taken:
            address, number = f"{quote(name, safe='/.-_~')}-{number}", number + 1
        taken.add(address)
        found[key] = address

    for it in (it for section in report.sections for it in section.theorems):
        take(it.anchor, it.stem)
        for k, each in enumerate(it.readings):
            if each.id == it.stem and k == 0:
                found[claim_anchor(it, k)] = found[it.anchor]
            else:
                take(claim_anchor(it, k), each.id)
    for topic in report.topics:
        take(topic.anchor, topic.anchor)
    return found


def claim_anchor(of: Theorem, number: int) -> str:
    """The anchor of a claim of a theorem."""
    return f"{of.anchor}-{number}"
