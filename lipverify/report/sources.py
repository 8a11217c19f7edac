"""The papers that claims quote, by their keys in `checks/contents.toml`."""

from __future__ import annotations

from lipverify.claims.ledger.record import Source
from lipverify.foundation.shipped import table


def short(paper: str) -> str:
    """The short reference of a key, or the text itself if it is not a key."""
    return _listed(paper, "short")


def citation(paper: str) -> str:
    """The full citation of a key, or the text itself if it is not a key."""
    return _listed(paper, "citation")


def _listed(paper: str, form: str) -> str:
    return str(table()["papers"].get(paper.strip(), {}).get(form, paper))


def quotation(source: Source) -> str:
    """The place that a claim quotes, and the printed words."""
    return ": ".join(piece for piece in (place_in_paper(source), source.printed) if piece.strip())


def place_in_paper(source: Source) -> str:
    """The paper and the place that a claim quotes."""
    return ", ".join(piece for piece in (short(source.paper), source.place) if piece.strip())
