"""Where on the page each theorem and each claim is found."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote

from lipverify.report.model import Report, Theorem

OWN = ("theorems", "filters", "found", "theme", "notation", "verdicts", "sources", "provenance", "tip")
"""Addresses that the page uses itself."""


def addresses(report: Report, figures: Iterable[str]) -> dict[str, str]:
    """Where each theorem and each claim is found, by its anchor: under its own name, made fit for an address.

    The anchors of `figures` are their addresses. A claim that is called like its theorem shares its address; of two
    that would be equal, the later is numbered.
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
    """The anchor of one of the claims of a theorem."""
    return f"{of.anchor}-{number}"
