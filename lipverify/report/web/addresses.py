"""The addresses of theorems and claims on the page."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote

from lipverify.report.model import Report, Theorem

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
