r"""Formulas as Typst mathematics, for the PDF and, by way of Typst's compiler, as MathML for web pages.

What is emitted is built from a fixed vocabulary: a character of the source reaches the output only as a letter, a
digit, an escape `\u{...}` or inside a quoted string, so no formula can carry Typst code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain

from lipverify.foundation.latex import reader as tree
from lipverify.foundation.latex import symbols
from lipverify.foundation.latex.reader import Node, read, refuse

_RUN_ON = re.compile(r"[^\W_]{40}")


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
    lipverify.foundation.latex.reader.UnreadableError: '#' has no meaning here: character 9 of the formula, at '#x'
    """
    if word := _RUN_ON.search(latex):
        refuse(latex, word.start(), "a word that no line can hold")
    source = _row(read(latex).parts, False)
    if not source.strip():
        refuse(latex, 0, "an empty formula")
    return source


def _written(node: Node, script: bool) -> str:
    """One part; in a `script` a fraction is set on one line, with a slash."""
    match node:
        case tree.Row(parts):
            return _row(parts, script)
        case tree.Sign(text):
            return text if text.isascii() and (text.isalpha() or text[0].isdigit()) else _escaped(text)
        case tree.Space(command):
            return symbols.SPACES.get(command, "")
        case tree.Words("", _):
            return _quoted("")
        case tree.Words(text, "mathrm") if text.isalpha() and text.isascii():
            return f"upright({text})" if len(text) == 1 else _operator(text)
        case tree.Words(text, _):
            return _quoted(text)
        case tree.Named(text, command):
            name = command if command in symbols.OPERATORS else _operator(text)
            return f"limits({name})" if command == "operatorname*" else name
        case tree.Scripts():
            return _scripts(node, script)
        case tree.Fraction(command, over, under):
            above, below = _part(over, script), _part(under, script)
            if command in symbols.BINOMIALS:
                return f"binom({above}, {below})"
            return _slashed(above, below) if script else f"frac({above}, {below})"
        case tree.Root(inside, None):
            return f"sqrt({_part(inside, script)})"
        case tree.Root(inside, index):
            return f"root({_part(index or tree.Row(()), script)}, {_part(inside, script)})"
        case tree.Styled("mathbf", inside):
            return f"upright(bold({_part(inside, script)}))"
        case tree.Styled(command, inside):
            return f"{symbols.DECORATIONS.get(command, 'upright')}({_part(inside, script)})"
        case tree.Fenced(fences, parts):
            middles = [f"mid({_fence(sign)})" if sign else "" for sign in fences[1:-1]]
            signs = (_fence(fences[0]), *middles)
            pairs = [(sign, _row(part.parts, script)) for sign, part in zip(signs, parts, strict=True)]
            return f"lr({' '.join(filter(None, [*chain(*pairs), _fence(fences[-1])]))})"
        case tree.Sized(command, sign):
            return f"lr({_fence(sign)}, size: #{symbols.SIZES[command]}em)"
        case tree.Stacked(base, above, below):
            sides = [f", {side}: {_part(small, script)}" for side, small in (("t", above), ("b", below)) if small]
            return f"attach(limits({_part(base, script)}){''.join(sides)})"
        case tree.Grid(name, rows):
            return _grid(name, [[_row(cell.parts, script) for cell in row] for row in rows])


def _part(node: Node, script: bool) -> str:
    """An argument, which is never empty."""
    return _written(node, script) or _quoted("")


def _row(parts: Iterable[Node], script: bool) -> str:
    """Parts in a row; in a script, a fraction next to a factor is put in brackets."""
    visible = [part for part in parts if part != tree.Space("")]
    sources = [_written(part, script) for part in visible]
    for k, part in enumerate(visible if script else ()):
        base = part.base if isinstance(part, tree.Scripts) else part
        if isinstance(base, tree.Fraction) and base.command in symbols.FRACTIONS:
            neighbours = (*sources[max(k - 1, 0) : k], *sources[k + 1 : k + 2])
            sources[k] = _bracketed(sources[k]) if any(map(_multiplies, neighbours)) else sources[k]
    return _joined(sources)


def _scripts(node: tree.Scripts, script: bool) -> str:
    base = _written(node.base, script) if node.base else ""
    primes = (_escaped("′") + " ") * node.primes
    above = f"{primes}{_part(node.above, True) if node.above else ''}".strip()
    below = _part(node.below, True) if node.below else ""
    scripts = [f", {side}: {part}" for side, part in (("t", above), ("b", below)) if part]
    return f"attach({base or _quoted('')}{''.join(scripts)})"


def _grid(name: str, rows: list[list[str]]) -> str:
    """The rows of an environment."""
    if name in symbols.STACKS:
        return " \\ ".join(" & ".join(row) for row in rows)
    if name == "cases":
        return f"cases({', '.join(' & '.join(row) for row in rows)})"
    opening = symbols.MATRICES[name]
    body = "; ".join(", ".join(cell or _quoted("") for cell in row) for row in rows)
    return f"mat(delim: {_quoted(opening) if opening else '#none'}, {body})"


def _joined(parts: Iterable[str]) -> str:
    """Parts in a row; a space next to a quoted string would be printed, so there is none."""
    source = ""
    for part in filter(None, parts):
        joined = not source or source.endswith('"') or part.startswith('"')
        source += part if joined else f" {part}"
    return source


def _slashed(over: str, under: str) -> str:
    """A fraction on one line; sums and quotients in it are put in brackets, and below the slash also products."""
    sums = any(sign in over for sign in map(_escaped, "+-/"))
    above, below = _bracketed(over) if sums else over, _bracketed(under) if " " in under else under
    return _joined([above, _escaped("/"), below])


def _bracketed(source: str) -> str:
    return f"lr({_fence('(')} {source} {_fence(')')})"


def _multiplies(source: str) -> bool:
    """True if a part next to a fraction would be read as a factor of its numerator or denominator."""
    return bool(source) and not source.startswith(_APART)


def _escaped(sign: str) -> str:
    """One character by its code point; a bar takes no space of its own."""
    code = _fence({"-": "−", "*": "∗"}.get(sign, sign))
    return f'class("normal", {code})' if sign in "‖|" else code


def _fence(sign: str) -> str:
    """A bracket that grows with its content; `lr` stretches an unwrapped character."""
    return f"\\u{{{ord(sign):x}}}" if sign else ""


def _operator(words: str) -> str:
    """A name set upright, with the spaces of an operator."""
    return f"op({_quoted(words)})"


def _quoted(words: str) -> str:
    """A string literal that prints `words` upright."""
    return '"' + words.replace("\\", "\\\\").replace('"', '\\"') + '"'


_APART = (*map(_escaped, "+-±=<>≤≥,;:)"), "space", "quad", "wide", "thin", "med", "thick")
"""Signs and spaces that separate a fraction from its neighbours."""
