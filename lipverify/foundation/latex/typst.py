r"""Formulas as Typst mathematics, for the PDF and, by way of Typst's compiler, as MathML for web pages.

What is emitted is built from a fixed vocabulary: a character of the source reaches the output only as a letter, a
digit, an escape `\u{...}` or inside a quoted string, so no formula can carry Typst code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from lipverify.foundation.latex import symbols
from lipverify.foundation.latex.reader import read, refuse
from lipverify.foundation.latex.tree import SPACE, Part, Writer

_RUN_ON = re.compile(r"[^\W_]{40}")
_COMMANDS = {name: f"{function}({{}})" for name, function in symbols.DECORATIONS.items()}
_COMMANDS |= dict.fromkeys(symbols.FRACTIONS, "frac({}, {})") | dict.fromkeys(symbols.BINOMIALS, "binom({}, {})")
_COMMANDS |= {
    "mathbf": "upright(bold({}))",
    "mathrm": "upright({})",
    "sqrt": "sqrt({})",
    "root": "root({}, {})",
    "overset": "attach(limits({1}), t: {0})",
    "underset": "attach(limits({1}), b: {0})",
}
"""How Typst writes each command with its arguments."""


def typst_math(latex: str) -> str:
    r"""The Typst source of a LaTeX formula given without its dollar signs.

    Raises
    ------
    UnreadableError
        If the formula has an unknown part, with the position, or a word that is longer than a line.

    >>> typst_math(r"\frac{a}{b}")
    'frac(a, b)'
    >>> typst_math(r"w^{1/d} #x")
    Traceback (most recent call last):
        ...
    lipverify.foundation.latex.tree.UnreadableError: '#' has no meaning here: character 9 of the formula, at '#x'
    """
    if word := _RUN_ON.search(latex):
        refuse(latex, word.start(), "a word that no line can hold")
    source = _Typst().part(read(latex))
    if not source.strip():
        refuse(latex, 0, "an empty formula")
    return source


class _Typst(Writer):
    """Mathematics in Typst; in a `script` a fraction is set on one line, with a slash."""

    def __init__(self, script: bool = False) -> None:
        self._script = script

    def sign(self, text: str) -> str:
        return text if text.isascii() and (text.isalpha() or text[0].isdigit()) else _escaped(text)

    def space(self, command: str) -> str:
        return symbols.SPACES.get(command, "")

    def function(self, name: str) -> str:
        return name

    def operator(self, words: str) -> str:
        return f"op({_quoted(words)})"

    def limits(self, words: str) -> str:
        return f"limits({self.operator(words)})"

    def upright(self, words: str) -> str:
        if not (words.isalpha() and words.isascii()):
            return _quoted(words)
        return f"upright({words})" if len(words) == 1 else self.operator(words)

    def text(self, words: str) -> str:
        return _quoted(words)

    def row(self, _: str, *parts: Part) -> str:
        """Parts in a row; in a script, a fraction next to a factor is put in brackets."""
        visible = [part for part in parts if part != SPACE]
        sources = [self.part(part) for part in visible]
        for k, part in enumerate(visible if self._script else ()):
            base = part.parts[0] if part.kind == "scripts" else part
            if base and base.kind == "command" and base.name in symbols.FRACTIONS:
                neighbours = (*sources[max(k - 1, 0) : k], *sources[k + 1 : k + 2])
                factor = any(source and not source.startswith(_APART) for source in neighbours)
                sources[k] = _bracketed(sources[k]) if factor else sources[k]
        return _joined(sources)

    def argument(self, part: Part | None) -> str:
        """An argument, which is never empty."""
        return self.part(part) or _quoted("")

    def scripts(self, primes: str, base: Part | None, below: Part | None, above: Part | None) -> str:
        raised = (_escaped("′") + " ") * len(primes) + (_SCRIPT.argument(above) if above else "")
        lowered = _SCRIPT.argument(below) if below else ""
        sides = [f", {side}: {part}" for side, part in (("t", raised.strip()), ("b", lowered)) if part]
        return f"attach({self.argument(base)}{''.join(sides)})"

    def command(self, name: str, *arguments: Part) -> str:
        written = _slashed if self._script and name in symbols.FRACTIONS else _COMMANDS[name].format
        return written(*map(self.argument, arguments))

    def fence(self, sign: str) -> str:
        """A bracket that grows with its content; `lr` stretches an unwrapped character."""
        return f"\\u{{{ord(sign):x}}}" if sign else ""

    def fenced(self, _: str, *parts: Part) -> str:
        first, *inner, last = map(self.part, parts)
        inner[1::2] = [sign and f"mid({sign})" for sign in inner[1::2]]
        return f"lr({' '.join(filter(None, [first, *inner, last]))})"

    def sized(self, command: str, fence: Part) -> str:
        return f"lr({self.part(fence)}, size: #{symbols.SIZES[command]}em)"

    def grid(self, name: str, *lines: Part) -> str:
        rows = [[self.part(cell) for cell in line.parts] for line in lines]
        if name in symbols.STACKS:
            return " \\ ".join(" & ".join(row) for row in rows)
        if name == "cases":
            return f"cases({', '.join(' & '.join(row) for row in rows)})"
        opening = symbols.MATRICES[name]
        body = "; ".join(", ".join(cell or _quoted("") for cell in row) for row in rows)
        return f"mat(delim: {_quoted(opening) if opening else '#none'}, {body})"


_SCRIPT = _Typst(script=True)


def _joined(parts: Iterable[str]) -> str:
    source = ""
    for part in filter(None, parts):
        # a space next to a quoted string would be printed
        joined = not source or source.endswith('"') or part.startswith('"')
        source += part if joined else f" {part}"
    return source


def _slashed(over: str, under: str) -> str:
    """A fraction on one line; sums and quotients in it are put in brackets, and below the slash also products."""
    sums = any(sign in over for sign in map(_escaped, "+-/"))
    above, below = _bracketed(over) if sums else over, _bracketed(under) if " " in under else under
    return _joined([above, _escaped("/"), below])


def _bracketed(source: str) -> str:
    return f"lr({_escaped('(')} {source} {_escaped(')')})"


def _escaped(sign: str) -> str:
    """One character by its code point; a bar takes no space of its own."""
    code = f"\\u{{{ord({'-': '−', '*': '∗'}.get(sign, sign)):x}}}"
    return f'class("normal", {code})' if sign in "‖|" else code


def _quoted(words: str) -> str:
    return '"' + words.replace("\\", "\\\\").replace('"', '\\"') + '"'


_APART = (*map(_escaped, "+-±=<>≤≥,;:)"), "space", "quad", "wide", "thin", "med", "thick")
"""Signs and spaces that separate a fraction from its neighbours."""
