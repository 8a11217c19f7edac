"""Formulas as plain text with Unicode's letters, for a terminal, a title and a screen reader."""

from __future__ import annotations

import re
from functools import lru_cache

from lipverify.foundation.latex import symbols
from lipverify.foundation.latex.reader import pieces, read
from lipverify.foundation.latex.tree import Part, UnreadableError, Writer

_REMEMBERED = 1 << 13
"""Number of texts in the cache: claims have some thousands, most of them requested repeatedly."""
_MARKS = re.compile(r"[\\^_$]")
"""A text without any of these characters has no formula."""
_SIGNS = {"⋅": "·", "⋆": "*", "⊤": "T", "∑": "Σ", "⟂": "⊥", "∣": "|", "∼": "~", "′": "'", "∀": "for every ", "ϵ": "ε",
          "ϕ": "φ", "∗": "*", "’": "'"}  # fmt: skip
"""Signs that terminals draw badly, or that have a plainer form."""
_MARKED = {command: mark for mark, command in symbols.MARKS.items()}
_MARKED |= {"widehat": _MARKED["hat"], "widetilde": _MARKED["tilde"], "overline": _MARKED["bar"]}
_RELATIONS = "=<>≤≥≠≪≫≈∼≍∝∈∉→⇒⟹⟺"
_APART = re.compile(rf"(?<=[^\s:{_RELATIONS}])(?=[{_RELATIONS}])|(?<=[{_RELATIONS}])(?=[^\s{_RELATIONS}])")
"""The places on either side of a relation that get a space."""
_LIMITS = frozenset(["lim", "liminf", "limsup", "max", "min", "sup", "inf"])
"""Operators that act on all that follows."""
_SUPERSCRIPTS = str.maketrans("0123456789+-()Tni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ᵀⁿⁱ")
_SUBSCRIPTS = str.maketrans("0123456789+-()xijk", "₀₁₂₃₄₅₆₇₈₉₊₋₍₎ₓᵢⱼₖ")


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
        return _Text().part(read(latex))
    except UnreadableError:
        return latex


class _Text(Writer):
    """One line of letters and signs."""

    def sign(self, text: str) -> str:
        return _SIGNS.get(text, text)

    def space(self, command: str) -> str:
        return "" if command == "!" else " "

    def text(self, words: str) -> str:
        return words

    function = operator = limits = upright = fence = text

    def row(self, _: str, *parts: Part) -> str:
        """Parts in a row; a fraction is put in brackets before a factor, after a function, and after a slash."""
        texts = [self.part(part) for part in parts]
        for k, part in enumerate(parts):
            if _is_fraction(part) and (_divides(parts[:k]) or self._is_factor(parts[k + 1 :])):
                texts[k] = f"({texts[k]})"
        text = "".join(texts)
        return re.sub(
            r"\s+(?=[,;)])|(?<=\()\s+", "", re.sub(r"\s+", " ", _APART.sub(" ", text) if len(parts) > 1 else text)
        )

    def _is_factor(self, after: tuple[Part, ...]) -> bool:
        """True if the part after a fraction would be read as a factor of its denominator."""
        part = next((part for part in after if part.kind != "space" or "quad" in part.name), None)
        if part is None or part.kind in ("space", "text"):
            return False
        return not (text := self.part(part)) or text[0] not in f"+-±,;:./)]}}|‖⟩⌋⌉{_RELATIONS}"

    def command(self, name: str, *arguments: Part) -> str:
        texts = [self.part(argument) for argument in arguments]
        if name in symbols.BINOMIALS:
            return f"binom({', '.join(texts)})"
        if name in symbols.FRACTIONS:
            return " / ".join(map(_whole, texts))
        if name in ("sqrt", "root"):
            return f"{self._script('^', *arguments[:-1])}√{_whole(texts[-1])}"
        if name in symbols.PAIRS:
            small, base = arguments
            return self.scripts("", base, *((None, small) if name == "overset" else (small, None)))
        if name not in _MARKED:
            return texts[0]
        return texts[0] + _MARKED[name] if len(texts[0]) == 1 else f"{name.removeprefix('wide')}({texts[0]})"

    def scripts(self, primes: str, base: Part | None, below: Part | None, above: Part | None) -> str:
        text = f"({self.part(base)})" if base and _is_fraction(base) else self.part(base)
        raised, lowered = self._script("^", above), self._script("_", below)
        return f"{text}{primes}{raised}{lowered}" if raised == "*" else f"{text}{lowered}{primes}{raised}"

    def _script(self, sign: str, part: Part | None = None) -> str:
        """A script in small letters if Unicode has all of them; otherwise after its sign, in brackets if it has several
        parts.

        A subscript of one letter in braces is made small, as in the name of a coordinate.
        """
        text = self.part(part).strip()
        if text == "*" or not text:
            return text
        letters = (
            _SUPERSCRIPTS if sign == "^" else _SUBSCRIPTS if part and part.kind == "row" and len(text) == 1 else {}
        )
        if text != "(" and {ord(character) for character in text} <= letters.keys():
            return text.translate(letters)
        return f"{sign}{text}" if len(text) == 1 or (sign == "_" and text.isalnum()) else f"{sign}({text})"

    def fenced(self, _: str, *parts: Part) -> str:
        return "".join(map(self.part, parts))

    sized = fenced

    def grid(self, name: str, *lines: Part) -> str:
        opening = symbols.MATRICES.get(name, "{" if name == "cases" else "")
        rows = "; ".join(" ".join(self.part(cell).strip() for cell in line.parts) for line in lines)
        return opening + rows + {"(": ")", "[": "]", "{": "}"}.get(opening, opening)


def _is_fraction(part: Part) -> bool:
    return part.kind == "command" and part.name in symbols.FRACTIONS | symbols.BINOMIALS


def _divides(before: tuple[Part, ...]) -> bool:
    """True if the part before a fraction would apply to its numerator alone: a function or a slash."""
    part = next((part for part in reversed(before) if part.kind != "space"), None)
    part = part.parts[0] if part and part.kind in ("scripts", "sized") else part
    return part is not None and (part.name == "/" or (part.kind == "function" and part.name not in _LIMITS))


def _whole(text: str) -> str:
    """In brackets unless it is a single part."""
    text = text.strip()
    return f"({text})" if re.search(r"[\s+\-/]|\d[^\W\d_]", text) else text
