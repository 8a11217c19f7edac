"""Formulas as plain text with Unicode's letters, for a terminal, a title and a screen reader."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from lipverify.foundation.latex import reader as tree
from lipverify.foundation.latex import symbols
from lipverify.foundation.latex.reader import Node, UnreadableError, pieces, read

_REMEMBERED = 1 << 13
"""Number of texts in the cache: claims have some thousands, most of them requested repeatedly."""
_MARKS = re.compile(r"[\\^_$]")
"""A text without any of these characters has no formula."""
_SIGNS = {"⋅": "·", "⋆": "*", "⊤": "T", "∑": "Σ", "⟂": "⊥", "∣": "|", "∼": "~", "′": "'", "∀": "for every ", "ϵ": "ε",
          "ϕ": "φ", "∗": "*", "’": "'"}  # fmt: skip
"""Signs that terminals draw badly, or that have a plainer form."""
_MARKED = {command: mark for mark, command in symbols.MARKS.items()}
_MARKED |= {"widehat": _MARKED["hat"], "widetilde": _MARKED["tilde"], "overline": _MARKED["bar"]}
_SPACES = {"!": "", "": " "}
_RELATIONS = "=<>≤≥≠≪≫≈∼≍∝∈∉→⇒⟹⟺"
_LIMITS = frozenset(["lim", "liminf", "limsup", "max", "min", "sup", "inf"])
"""Operators that act on all that follows."""
_SUPERSCRIPTS = str.maketrans("0123456789+-()Tni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ᵀⁿⁱ")
_SUBSCRIPTS = str.maketrans("0123456789+-()xijk", "₀₁₂₃₄₅₆₇₈₉₊₋₍₎ₓᵢⱼₖ")
_PRIME = "'"


@lru_cache(_REMEMBERED)
def plain(text: str) -> str:
    r"""A formula, or a text with formulas between dollar signs, on one line; unreadable parts are unchanged.

    >>> plain(r"n N / \sigma^2"), plain(r"w^*"), plain(r"w^* = \Theta(\Lambda^{2/(d + 3)})")
    ('n N / σ²', 'w*', 'w* = Θ(Λ^(2/(d + 3)))')
    >>> plain(r"\frac{\mathbf{M}^*_{11}}{w + 1} \leq \sqrt{d}"), plain(r"at most $n^2$")
    ('M*_11 / (w + 1) ≤ √d', 'at most n²')
    """
    if not _MARKS.search(text):
        return " ".join(text.split())
    parts = pieces(text) if "$" in text else [(True, text)]
    return " ".join("".join(_formula(part) if formula else part for formula, part in parts).split())


def _formula(latex: str) -> str:
    try:
        return _row(read(latex).parts)
    except UnreadableError:
        return latex


def _row(parts: Sequence[Node]) -> str:
    """Parts in a row; a fraction is put in brackets before a factor, after a function, and after a slash."""
    texts = [_written(part) for part in parts]
    for k, part in enumerate(parts):
        if isinstance(part, tree.Fraction) and (_divides(parts[:k]) or _is_factor(parts[k + 1 :])):
            texts[k] = f"({texts[k]})"
    text = "".join(texts)
    if len(parts) > 1:
        text = re.sub(rf"(?<=[^\s:{_RELATIONS}])(?=[{_RELATIONS}])|(?<=[{_RELATIONS}])(?=[^\s{_RELATIONS}])", " ", text)
    return re.sub(r"\s+(?=[,;)])|(?<=\()\s+", "", re.sub(r"\s+", " ", text))


def _divides(before: Sequence[Node]) -> bool:
    """True if the part before a fraction would apply to its numerator alone: a function or a slash."""
    part = next((part for part in reversed(before) if not isinstance(part, tree.Space)), None)
    base = part.base if isinstance(part, tree.Scripts) else part
    if isinstance(base, tree.Named):
        return base.command in symbols.OPERATORS - _LIMITS
    return base == tree.Sign("/") or (isinstance(base, tree.Sized) and base.fence == "/")


def _is_factor(after: Sequence[Node]) -> bool:
    """True if the part after a fraction would be read as a factor of its denominator."""
    part = next(
        (part for part in after if not isinstance(part, tree.Space) or "quad" in part.command), tree.Space("quad")
    )
    if isinstance(part, tree.Space) or (isinstance(part, tree.Words) and part.command != "mathrm"):
        return False
    return not (text := _written(part)) or text[0] not in f"+-±,;:./)]}}|‖⟩⌋⌉{_RELATIONS}"


def _written(node: Node) -> str:
    match node:
        case tree.Row(parts):
            return _row(parts)
        case tree.Sign(text):
            return _SIGNS.get(text, text)
        case tree.Space(command):
            return _SPACES.get(command, " ")
        case tree.Words(text, _) | tree.Named(text, _):
            return text
        case tree.Scripts(base, below, primes, above):
            return _with_scripts(base, below, primes, above)
        case tree.Fraction(command, over, under) if command in symbols.BINOMIALS:
            return f"binom({_written(over)}, {_written(under)})"
        case tree.Fraction(_, over, under):
            return f"{_whole(_written(over))} / {_whole(_written(under))}"
        case tree.Root(inside, index):
            return f"{_script(index, '^') if index else ''}√{_whole(_written(inside))}"
        case tree.Styled(command, inside):
            text = _written(inside)
            if command not in _MARKED:
                return text
            return text + _MARKED[command] if len(text) == 1 else f"{command.removeprefix('wide')}({text})"
        case tree.Fenced(fences, rows):
            texts = [text for pair in zip(fences, map(_written, rows), strict=False) for text in pair]
            return "".join([*texts, fences[-1]])
        case tree.Sized(_, fence):
            return fence
        case tree.Stacked(base, above, below):
            return _with_scripts(base, below, 0, above)
        case tree.Grid(name, rows):
            opening = symbols.MATRICES.get(name, "{" if name == "cases" else "")
            closing = {"(": ")", "[": "]", "{": "}"}.get(opening, opening)
            return opening + "; ".join(" ".join(_written(cell).strip() for cell in row) for row in rows) + closing


def _with_scripts(base: Node | None, below: Node | None, primes: int, above: Node | None) -> str:
    text = _written(base) if base else ""
    text = f"({text})" if isinstance(base, tree.Fraction) else text
    raised, lowered = (_script(node, sign) if node else "" for node, sign in ((above, "^"), (below, "_")))
    primed = _PRIME * primes
    return f"{text}{primed}{raised}{lowered}" if raised == "*" else f"{text}{lowered}{primed}{raised}"


def _script(node: Node, sign: str) -> str:
    """A script in small letters if Unicode has all of them; otherwise after its sign, in brackets if it has several
    parts.

    A subscript of one letter in braces is made small, as in the name of a coordinate.
    """
    text = _written(node).strip()
    letters = _SUPERSCRIPTS if sign == "^" else _SUBSCRIPTS if isinstance(node, tree.Row) and len(text) == 1 else {}
    if text == "*" or not text:
        return text
    if text != "(" and {ord(character) for character in text} <= letters.keys():
        return text.translate(letters)
    return f"{sign}{text}" if len(text) == 1 or (sign == "_" and text.isalnum()) else f"{sign}({text})"


def _whole(text: str) -> str:
    """In brackets unless it is a single part."""
    text = text.strip()
    return f"({text})" if re.search(r"[\s+\-/]|\d[^\W\d_]", text) else text
