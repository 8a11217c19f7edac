"""Parse printed formulas as a person reads them; an ambiguous formula is an error here."""

from __future__ import annotations

import re

WORDS = ("min", "max", "log", "exp", "sin", "cos", "sinh", "cosh", "tanh")
NAMED = (*WORDS, "erf", "binomial", "abs", "Γ", "ζ", "√")
BRACKETS = {"⌊": ("floor", "⌋"), "⌈": ("ceil", "⌉"), "⟨": ("abs", "⟩")}
ENDS = ("", ")", ",", "+", "-", "⌋", "⌉", "⟩")
TOKEN = re.compile(r"\s*(\d+(?:\.\d+)?(?:e[+-]?\d+)?|[^\W\d]\w*|√|\S)")


def from_plain(text: str, names: dict[str, str]) -> str:
    """The formula in Python's notation, fully bracketed; `names` maps printed symbols to names."""
    reader = _Reader(TOKEN.findall(text), names)
    read = reader.sum()
    assert reader.done, f"{text}: what follows {read} was not read"
    return read


def from_latex(text: str, names: dict[str, str]) -> str:
    """The same from LaTeX, via plain text; `names` maps LaTeX symbols to names."""
    for ambiguous in (r"\d \\frac", r"(\\Gamma|\\zeta|(?<!\{)\\mathrm\{\w+\}) (\\left)?\("):
        assert not re.search(ambiguous, text), f"{text}: two readings"
    text = text.replace(r"\left|", "⟨").replace(r"\right|", "⟩")
    coded = {latex: f"SYMBOL{k}X" for k, latex in enumerate(sorted(names, key=len, reverse=True))}
    for latex, code in coded.items():
        called = r"(?!\()" if latex in (r"\Gamma", r"\zeta") else ""
        text = re.sub(rf"(?<![A-Za-z\\]){re.escape(latex)}(?![A-Za-z_]){called}", code, text)
    text = re.sub(r"\\(left|right)(?=[()\\])", "", text)
    while (found := re.search(r"\\frac\{|\\binom\{|\\sqrt\{|\^\{", text)) is not None:
        text = text[: found.start()] + _rewritten(found[0], text[found.end() :])
    for command, sign in {
        r"\\cdot": "·", r"\\pi": "pi", r"\\mathrm\{e\}": "e", r"\\operatorname\{erf\}": "erf", r"\\Gamma": "Γ",
        r"\\zeta": "ζ",
        r"\\lfloor": "⌊", r"\\rfloor": "⌋", r"\\lceil": "⌈", r"\\rceil": "⌉",
        rf"\\({'|'.join(WORDS)})\b": r"\1",
    }.items():  # fmt: skip
        text = re.sub(command, sign, text)
    assert "\\" not in text, text
    return from_plain(text, {coded[latex]: name for latex, name in names.items()})


def _rewritten(opening: str, rest: str) -> str:
    inside, rest = _group(rest)
    if opening in (r"\frac{", r"\binom{"):
        assert rest[0] == "{"
        below, rest = _group(rest[1:])
        return f"(({inside})/({below})){rest}" if "frac" in opening else f"(binomial({inside}, {below})){rest}"
    return f"(√({inside})){rest}" if "sqrt" in opening else f"^({inside}){rest}"


def _group(text: str) -> tuple[str, str]:
    """The content of a brace that was opened, and the rest."""
    depth = 1
    for k, sign in enumerate(text):
        depth += {"{": 1, "}": -1}.get(sign, 0)
        if not depth:
            return text[:k], text[k + 1 :]
    raise AssertionError(f"{text}: a brace is missing")


class _Reader:
    def __init__(self, tokens: list[str], names: dict[str, str]) -> None:
        self.tokens, self.names = [*tokens, ""], names

    @property
    def done(self) -> bool:
        return self.tokens == [""]

    def next(self, expected: str = "") -> str:
        token = self.tokens.pop(0)
        assert not expected or token == expected, f"{token!r} where {expected!r} is due"
        return token

    def sum(self) -> str:
        sign = self.next() if self.tokens[0] in ("+", "-") else ""
        read = f"({sign}{self.quotient()})"
        while self.tokens[0] in ("+", "-"):
            read = f"({read} {self.next()} {self.quotient()})"
        return read

    def quotient(self) -> str:
        read = self.product()
        if self.tokens[0] == "/":
            self.next()
            read = f"({read}/{self.factor()})"
            assert self.tokens[0] in ENDS, f"{read} and then {self.tokens[0]}: two readings"
        return read

    def product(self) -> str:
        read = self.factor()
        while self.tokens[0] == "·" or self.tokens[0] not in (*ENDS, "/"):
            if self.tokens[0] == "·":
                self.next()
            else:
                assert not self.tokens[0][0].isdigit(), f"{read} {self.tokens[0]}: reads as one number"
            read = f"({read}*{self.factor()})"
        return read

    def factor(self) -> str:
        read = self.atom()
        if self.tokens[0] == "^":
            self.next()
            read = f"({read}**{self.atom()})"
            assert self.tokens[0] != "^", f"{read}^: two readings"
        return read

    def atom(self) -> str:
        token = self.next()
        if token == "(":
            read = self.sum()
            self.next(")")
            return f"({read})"
        if token in BRACKETS:
            name, closing = BRACKETS[token]
            read = self.sum()
            self.next(closing)
            return f"{name}({read})"
        if token in NAMED and self.tokens[0] == "(":
            return self.call({"Γ": "gamma", "ζ": "zeta", "√": "sqrt"}.get(token, token))
        if token in self.names or token in ("pi", "π", "e"):
            assert self.tokens[0] != "(" or len(token) == 1 or token.startswith("SYMBOL"), (
                f"{token}(: reads as a function"
            )
            return {"π": "pi"}.get(token, self.names.get(token, token))
        assert token[:1].isdigit(), f"{token!r} was not understood"
        return token

    def call(self, name: str) -> str:
        self.next("(")
        arguments = [self.sum()]
        while self.tokens[0] == ",":
            self.next()
            arguments.append(self.sum())
        self.next(")")
        assert self.tokens[0] != "^", f"{name}(...)^: two readings"
        return f"{name}({', '.join(arguments)})"
