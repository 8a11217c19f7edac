r"""Formulas for each output: Typst's mathematics, which is also the source of MathML; one line of text; LaTeX.

What is emitted is built from a fixed vocabulary. In Typst a character of the source is a letter, a digit, an escape
`\u{...}` or inside a quoted string, so no formula can carry code; in LaTeX it can neither define nor include anything.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import NoReturn, cast

from lipverify.foundation.latex import symbols
from lipverify.foundation.latex.reader import SPACE, Part, UnreadableError, pieces, read

_RELATIONS = "=<>≤≥≠≪≫≈∼≍∝∈∉→⇒⟹⟺"
_APART = re.compile(rf"(?<=[^\s:{_RELATIONS}])(?=[{_RELATIONS}])|(?<=[{_RELATIONS}])(?=[^\s{_RELATIONS}])")
"""The places on either side of a relation that get a space in text."""
_RAISED = str.maketrans("0123456789+-()Tni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ᵀⁿⁱ")
_LOWERED = str.maketrans("0123456789+-()xijk", "₀₁₂₃₄₅₆₇₈₉₊₋₍₎ₓᵢⱼₖ")


def typst_math(latex: str, *, inline: bool = False) -> str:
    r"""The Typst source of a LaTeX formula given without its dollar signs; `inline` sets fractions with a slash.

    >>> typst_math(r"\frac{a}{b}"), typst_math(r"\frac{a}{b}", inline=True)
    ('frac(a, b)', 'a \\u{2f} b')
    >>> typst_math(r"w^{1/d} #x")
    Traceback (most recent call last):
        ...
    lipverify.foundation.latex.reader.UnreadableError: '#' has no meaning here: character 9 of the formula, at '#x'
    """
    return _Typst(inline).part(read(latex))


def plain(text: str) -> str:
    r"""A formula, or a text with formulas between dollar signs, on one line; unreadable parts are unchanged.

    >>> plain(r"n N / \sigma^2"), plain(r"w^*"), plain(r"w^* = \Theta(\Lambda^{2/(d + 3)})")
    ('n N / σ²', 'w*', 'w* = Θ(Λ^(2/(d + 3)))')
    >>> plain(r"\frac{\mathbf{M}^*_{11}}{w + 1} \leq \sqrt{d}"), plain(r"at most $n^2$")
    ('M*_11 / (w + 1) ≤ √d', 'at most n²')
    """
    parts = pieces(text) if "$" in text else [(bool(re.search(r"[\\^_]", text)), text)]
    return " ".join("".join(_readable(part) if formula else part for formula, part in parts).split())


def _readable(latex: str) -> str:
    try:
        return _Text().part(read(latex))
    except UnreadableError:
        return latex


def latex_source(latex: str) -> str:
    r"""A formula, given without dollar signs, in LaTeX with amsmath and amssymb.

    >>> print(latex_source(r"{\rm Var} f \le \frac12"))
    {\mathrm{Var}} f \leq \frac{1}{2}
    """
    return _Latex().content(read(latex)).strip(" ")


class _Writer:
    """A method for each kind of part, which is called with its name and its parts."""

    def part(self, part: Part | None) -> str:
        if part is None:
            return ""
        method = getattr(self, part.kind, None)
        return cast(str, method(part.name, *part.parts) if method else self.words(part.kind, part.name))

    def words(self, kind: str, words: str) -> str:
        return words


class _Typst(_Writer):
    """Mathematics in Typst; in a `script` a fraction is set on one line, with a slash."""

    def __init__(self, script: bool = False) -> None:
        self._script = script

    def words(self, kind: str, words: str) -> str:
        if kind == "upright" and not (words.isalpha() and words.isascii()):
            return _quoted(words)
        if kind == "upright" and len(words) == 1:
            return f"upright({words})"
        return symbols.WORDS[kind].typst.format(words, _quoted(words))

    def sign(self, text: str) -> str:
        return text if text.isascii() and (text.isalpha() or text[0].isdigit()) else _escaped(text)

    def space(self, command: str) -> str:
        return symbols.SPACES.get(command, "")

    def row(self, _: str, *parts: Part) -> str:
        """Parts in a row; in a script, a fraction next to a factor is put in brackets."""
        visible = [part for part in parts if part != SPACE]
        sources = [self.part(part) for part in visible]
        for k, part in enumerate(visible if self._script else ()):
            if _kind(part.parts[0] if part.kind == "scripts" else part) == "frac":
                neighbours = (*sources[max(k - 1, 0) : k], *sources[k + 1 : k + 2])
                factor = any(source and not source.startswith(_SEPARATE) for source in neighbours)
                sources[k] = _bracketed(sources[k]) if factor else sources[k]
        return _joined(sources)

    def argument(self, part: Part | None) -> str:
        return self.part(part) or '""'

    def scripts(self, primes: str, base: Part | None, below: Part | None, above: Part | None) -> str:
        raised = (_escaped("′") + " ") * len(primes) + (_SCRIPT.argument(above) if above else "")
        lowered = _SCRIPT.argument(below) if below else ""
        sides = [f", {side}: {part}" for side, part in (("t", raised.strip()), ("b", lowered)) if part]
        return f"attach({self.argument(base)}{''.join(sides)})"

    def command(self, name: str, *parts: Part) -> str:
        function, arguments = symbols.COMMANDS[name].typst, [self.argument(part) for part in parts]
        if function in ("t", "b"):
            return f"attach(limits({arguments[1]}), {function}: {arguments[0]})"
        if function == "frac" and self._script:
            return _slashed(*arguments)
        return f"{function}({', '.join(arguments)}{')' * (1 + function.count('('))}"

    def fenced(self, fences: str, *parts: Part) -> str:
        signs = [_code(fence) if fence != "." else "" for fence in fences]
        signs[1:-1] = [sign and f"mid({sign})" for sign in signs[1:-1]]
        inner = [source for k, part in enumerate(parts) for source in (signs[k], self.part(part))]
        return f"lr({' '.join(filter(None, [*inner, signs[-1]]))})"

    def sized(self, command: str, fence: Part) -> str:
        return f"lr({_code(fence.name)}, size: #{symbols.SIZES[command]}em)"

    def grid(self, name: str, *lines: Part) -> str:
        rows = [[self.part(cell) for cell in line.parts] for line in lines]
        if name in symbols.STACKS:
            return " \\ ".join(" & ".join(row) for row in rows)
        if name == "cases":
            return f"cases({', '.join(' & '.join(row) for row in rows)})"
        delimiter = _quoted(symbols.MATRICES[name][0]) if symbols.MATRICES[name] else "#none"
        return f"mat(delim: {delimiter}, {'; '.join(', '.join(cell or _quoted('') for cell in row) for row in rows)})"


_SCRIPT = _Typst(script=True)


def _joined(sources: Iterable[str]) -> str:
    joined = ""
    for source in filter(None, sources):
        # a space next to a quoted string would be printed
        joined += source if not joined or joined.endswith('"') or source.startswith('"') else f" {source}"
    return joined


def _slashed(over: str, under: str) -> str:
    """A fraction on one line; sums and quotients in it are put in brackets, and below the slash also products."""
    sums = any(sign in over for sign in map(_escaped, "+-/"))
    return _joined([_bracketed(over) if sums else over, _code("/"), _bracketed(under) if " " in under else under])


def _bracketed(source: str) -> str:
    return f"lr({_code('(')} {source} {_code(')')})"


def _code(sign: str) -> str:
    return f"\\u{{{ord({'-': '−', '*': '∗'}.get(sign, sign)):x}}}"


def _escaped(sign: str) -> str:
    """One character by its code point; a bar takes no space of its own."""
    return f'class("normal", {_code(sign)})' if sign in "‖|" else _code(sign)


def _quoted(words: str) -> str:
    return '"' + words.replace("\\", "\\\\").replace('"', '\\"') + '"'


_SEPARATE = (*map(_code, "+-±=<>≤≥,;:)"), "space", "quad", "wide", "thin", "med", "thick")
"""Signs and spaces that separate a fraction from its neighbours."""


class _Text(_Writer):
    """One line of letters and signs."""

    def sign(self, text: str) -> str:
        return symbols.PLAIN.get(text, text)

    def space(self, command: str) -> str:
        return "" if command == "!" else " "

    def row(self, _: str, *parts: Part) -> str:
        """Parts in a row; a fraction is put in brackets before a factor, after a function, and after a slash."""
        texts = [self.part(part) for part in parts]
        for k, part in enumerate(parts):
            if _kind(part) in ("frac", "binom") and (_divides(parts[:k]) or self.is_factor(parts[k + 1 :])):
                texts[k] = f"({texts[k]})"
        text = "".join(texts)
        text = re.sub(r"\s+", " ", _APART.sub(" ", text)) if len(parts) > 1 else text
        return re.sub(r"\s+(?=[,;)])|(?<=\()\s+", "", text)

    def is_factor(self, after: Sequence[Part]) -> bool:
        """True if the part after a fraction would be read as a factor of its denominator."""
        part = next((part for part in after if part.kind != "space" or "quad" in part.name), None)
        if part is None or part.kind in ("space", "text"):
            return False
        return not (text := self.part(part)) or text[0] not in f"+-±,;:./)]}}|‖⟩⌋⌉{_RELATIONS}"

    def command(self, name: str, *arguments: Part) -> str:
        texts, command = [self.part(argument) for argument in arguments], symbols.COMMANDS[name]
        match command.typst:
            case "binom":
                return f"binom({', '.join(texts)})"
            case "frac":
                return " / ".join(map(_whole, texts))
            case "sqrt" | "root":
                return f"{self.script('^', *arguments[:-1])}√{_whole(texts[-1])}"
            case "t" | "b" as side:
                return texts[1] + self.script("^" if side == "t" else "_", arguments[0])
        marked = texts[0] + command.mark if len(texts[0]) == 1 else f"{name.removeprefix('wide')}({texts[0]})"
        return marked if command.mark else texts[0]

    def scripts(self, primes: str, base: Part | None, below: Part | None, above: Part | None) -> str:
        text = f"({self.part(base)})" if _kind(base) in ("frac", "binom") else self.part(base)
        raised, lowered = self.script("^", above), self.script("_", below)
        return f"{text}{primes}{raised}{lowered}" if raised == "*" else f"{text}{lowered}{primes}{raised}"

    def script(self, sign: str, part: Part | None = None) -> str:
        """A script in small letters if Unicode has them all; otherwise after its sign, in brackets if it has parts."""
        text = self.part(part).strip()
        if text == "*" or not text:
            return text
        # of subscripts, one letter in braces alone is made small, as in the name of a coordinate
        small = sign == "^" or (part and part.kind == "row" and len(text) == 1)
        letters = _RAISED if sign == "^" else _LOWERED
        if small and text != "(" and set(map(ord, text)) <= letters.keys():
            return text.translate(letters)
        return f"{sign}{text}" if len(text) == 1 or (sign == "_" and text.isalnum()) else f"{sign}({text})"

    def fenced(self, fences: str, *parts: Part) -> str:
        # a dot is an absent bracket
        return "".join(fence.strip(".") + self.part(part) for fence, part in zip(fences, (*parts, None), strict=True))

    def sized(self, _: str, fence: Part) -> str:
        return self.part(fence)

    def grid(self, name: str, *lines: Part) -> str:
        rows = "; ".join(" ".join(self.part(cell).strip() for cell in line.parts) for line in lines)
        brackets = "{}" if name == "cases" else symbols.MATRICES.get(name, "")
        return brackets[:1] + rows + brackets[1:]


def _kind(part: Part | None) -> str:
    """Typst's function of a command."""
    return symbols.COMMANDS[part.name].typst if part and part.kind == "command" else ""


def _divides(before: Sequence[Part]) -> bool:
    """True if the part before a fraction would apply to its numerator alone: a function or a slash."""
    part = next((part for part in reversed(before) if part.kind != "space"), None)
    part = part.parts[0] if part and part.kind in ("scripts", "sized") else part
    limits = ("lim", "liminf", "limsup", "max", "min", "sup", "inf")  # these act on all that follows
    return part is not None and (part.name == "/" or (part.kind == "function" and part.name not in limits))


def _whole(text: str) -> str:
    """In brackets unless it is a single part."""
    text = text.strip()
    return f"({text})" if re.search(r"[\s+\-/]|\d[^\W\d_]", text) else text


class _Latex(_Writer):
    """LaTeX with all braces; a part that it cannot express is refused."""

    def refuse(self, part: str) -> NoReturn:
        raise UnreadableError(f"{part} cannot be written in LaTeX")

    def content(self, part: Part | None) -> str:
        """The content of a group, without its braces."""
        written = ""
        for text in map(self.part, part.parts if part and part.kind == "row" else [part]):
            written = _spaced(written, text)
        return written

    def words(self, kind: str, words: str) -> str:
        if not re.fullmatch(r"[A-Za-z0-9\u00c0-\u017f ,.;:()/+*=!?'-]*", words):
            self.refuse(repr(words))  # it has a character with a meaning in LaTeX
        written = symbols.WORDS[kind].latex.format(words)
        return written.replace(" ", {"text": " ", "upright": r"\ "}.get(kind, r"\,"))

    def sign(self, text: str) -> str:
        if text in symbols.LATEX or text.isascii():
            return symbols.LATEX.get(text, text)
        relation, *overlay = list(unicodedata.normalize("NFD", text))
        return f"\\not{self.sign(relation)}" if overlay == ["\u0338"] else self.refuse(repr(text))

    def space(self, command: str) -> str:
        return self.refuse("a line break") if command == "\\" else f"\\{command}" if command else " "

    def row(self, _: str, *parts: Part) -> str:
        return f"{{{self.content(Part('row', '', parts))}}}"

    def scripts(self, primes: str, base: Part | None, *scripts: Part | None) -> str:
        written = (self.part(base) or "{}") + primes
        for sign, script in zip("_^", scripts, strict=True):
            if script:
                written += sign + (self.part(script) if script.kind == "sign" else f"{{{self.content(script)}}}")
        return written

    def command(self, name: str, *arguments: Part) -> str:
        *others, last = map(self.part, arguments)
        if name == "root":
            return f"\\sqrt[{others[0]}]{last}"
        command = symbols.COMMANDS[name].latex
        if command == "!":
            self.refuse(f"\\{name}")
        return "".join([f"\\{command}" if command else "", *others, last])

    def fenced(self, fences: str, *parts: Part) -> str:
        written = ""
        for fence, part in zip(fences, parts, strict=False):
            written += f"\\{'middle' if written else 'left'}{self.sign(fence)}"
            written = _spaced(written, self.content(part))
        return f"{written}\\right{self.sign(fences[-1])}"

    def sized(self, command: str, fence: Part) -> str:
        return f"\\{command}{self.part(fence)}"

    def grid(self, name: str, *lines: Part) -> str:
        rows = r" \\ ".join(" & ".join(self.content(cell).strip(" ") for cell in line.parts) for line in lines)
        columns = f"{{{'l' * max(len(line.parts) for line in lines)}}}" if name == "array" else ""
        return rf"\begin{{{name}}}{columns} {rows} \end{{{name}}}"


def _spaced(before: str, after: str) -> str:
    """Two texts, apart where a command would run into a letter."""
    return before + " " * bool(re.search(r"\\[A-Za-z]+$", before) and after[:1].isalpha()) + after
