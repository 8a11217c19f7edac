"""The papers that claims quote, by the keys that claims use."""

from __future__ import annotations

from lipverify.claims.ledger.record import Source

_SOFTMAX = (
    "L. Collins, A. Parulekar, A. Mokhtari, S. Sanghavi, S. Shakkottai. In-context learning with "
    "transformers: softmax attention adapts to function Lipschitzness. Advances in Neural "
    "Information Processing Systems 37 (NeurIPS 2024), 92638–92696. arXiv:2402.11639"
)
_LINEAR = (
    "M. Vladymyrov, J. von Oswald, M. Sandler, R. Ge. Linear transformers are versatile in-context "
    "learners. Advances in Neural Information Processing Systems 37 (NeurIPS 2024), 48784–48809. "
    "arXiv:2402.14180"
)

CITATIONS = {
    "S": f"{_SOFTMAX}; slides of the talk at the ITA Workshop, San Diego, 23 February 2024.",
    "R": f"{_SOFTMAX}; reviews and rebuttal on OpenReview.",
    "A": f"{_SOFTMAX}; summary of the paper.",
    "V": f"{_LINEAR}; with its reviews on OpenReview.",
}

SHORT = {
    "S": "Collins et al. (2024), slides",
    "R": "Collins et al. (2024), reviews",
    "A": "Collins et al. (2024), summary",
    "V": "Vladymyrov et al. (2024)",
}


def short(paper: str) -> str:
    """The short reference of a key, or the text itself if it is not a key."""
    return SHORT.get(paper.strip(), paper)


def quotation(source: Source) -> str:
    """The place that a claim quotes, and the printed words."""
    return ": ".join(piece for piece in (place_in_paper(source), source.printed) if piece.strip())


def place_in_paper(source: Source) -> str:
    """The paper and the place that a claim quotes."""
    return ", ".join(piece for piece in (short(source.paper), source.place) if piece.strip())


def citation(paper: str) -> str:
    """The full citation of a key, or the text itself if it is not a key."""
    return CITATIONS.get(paper.strip(), paper)
