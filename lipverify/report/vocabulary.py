"""The only words that a converted formula is made of: escapes, quoted strings and fixed names."""

from __future__ import annotations

from lipverify.report import symbols

MATRICES = {"matrix": "", "pmatrix": "(", "bmatrix": "[", "vmatrix": "|", "Vmatrix": "‖"}
STACKS = frozenset({"aligned", "align", "align*", "split", "gathered", "array"})


class UnreadableError(ValueError):
    """The formula uses something that this converter does not know."""


def joined(parts: list[str]) -> str:
    """Parts in a row; a space beside a quoted string would be printed, so there is none."""
    source = ""
    for part in filter(None, parts):
        beside = not source or source.endswith('"') or part.startswith('"')
        source += part if beside else f" {part}"
    return source


def slashed(over: str, under: str) -> str:
    r"""A fraction on one line; what is more than one thing is put in brackets.

    >>> print(slashed("2", "d"))
    2 \u{2f} d
    """
    return joined([bracketed(over) if _adds(over) else over, escaped("/"), bracketed(under) if " " in under else under])


def bracketed(source: str) -> str:
    """A part in round brackets."""
    return f"lr({fence('(')} {source} {fence(')')})"


def multiplies(source: str) -> bool:
    """Whether a part beside a fraction would be taken for a factor of its numerator or denominator."""
    return bool(source) and not source.startswith(_APART)


def _adds(source: str) -> bool:
    """Whether a part is a sum or has been divided already."""
    return any(sign in source for sign in map(escaped, "+−/"))


def table(name: str, rows: list[list[str]]) -> str:
    """The rows of an environment as Typst writes them."""
    if name in STACKS:
        return " \\ ".join(" & ".join(row) for row in rows)
    if name == "cases":
        return f"cases({', '.join(' & '.join(row) for row in rows)})"
    if name in MATRICES:
        fence = MATRICES[name]
        delimiter = f'"{fence}"' if fence else "#none"
        body = "; ".join(", ".join(cell or quoted("") for cell in row) for row in rows)
        return f"mat(delim: {delimiter}, {body})"
    raise UnreadableError(f"the environment {name!r} is not known")


def simple(name: str) -> str:
    """A command without arguments."""
    if name in symbols.OPERATORS:
        return name
    if name in symbols.NAMED:
        return operator(symbols.NAMED[name])
    if name in symbols.BELOW:
        return f"limits({operator(symbols.BELOW[name])})"
    if name in symbols.SILENT:
        return ""
    if name in symbols.SPACES:
        return symbols.SPACES[name]
    if name in symbols.CHARACTERS:
        return "".join(escaped(each) for each in symbols.CHARACTERS[name])
    raise UnreadableError(f"\\{name} is not known")


def character(token: str) -> str:
    """One character, or one number, of the source."""
    if token.isascii() and (token.isalpha() or token[0].isdigit()):
        return token
    if not token.isprintable():
        raise UnreadableError(f"{token!r} cannot be printed")
    return escaped({"-": "−", "*": "∗"}.get(token, token))


def escaped(sign: str) -> str:
    """One character by its code point; a norm bar takes no space of its own."""
    code = f"\\u{{{ord(sign):x}}}"
    return f'class("normal", {code})' if sign in "‖|" else code


def fence(sign: str) -> str:
    """A bracket that grows with what it encloses; an unwrapped character is what `lr` stretches."""
    return f"\\u{{{ord(sign):x}}}"


def operator(words: str) -> str:
    """A name set upright, with the spaces of an operator."""
    return f"op({quoted(words)})"


def quoted(words: str) -> str:
    """A string literal that prints `words` upright."""
    return '"' + words.replace("\\", "\\\\").replace('"', '\\"') + '"'


_APART = (*map(escaped, "+−±=<>≤≥,;:)"), "space", "quad", "wide", "thin", "med", "thick")
"""Signs and spaces that set what is beside a fraction apart from it."""
