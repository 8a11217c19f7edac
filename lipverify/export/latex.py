r"""Ledger text as LaTeX that any engine takes: words are escaped, and of formulas only what is understood passes.

Formulas pass if `lipverify.report.latex` can read them, which knows no command that defines, includes or writes
anything, and if they hold nothing that means something else inside a table. All others are set as their source.
"""

from __future__ import annotations

import re
import unicodedata

from lipverify.report.latex import tidy, typst_math
from lipverify.report.symbols import BELOW, CHARACTERS, DECORATIONS, ESCAPED, FENCES, NAMED
from lipverify.report.visible import visible
from lipverify.report.vocabulary import UnreadableError

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "'": r"\textquotesingle{}", "`": r"\textasciigrave{}",
    "-": "{-}", "[": "{[}", "]": "{]}", "*": "{*}",
}  # fmt: skip
"""What means something to LaTeX, alone or, like two hyphens, beside another, or after a line break."""
_TYPOGRAPHY = {
    "–": "--", "—": "---", "“": "``", "”": "''", "‘": "`", "’": "'", "…": r"\ldots{}", "−": r"\ensuremath{-}",
    "·": r"\ensuremath{\cdot}", "²": r"\ensuremath{^{2}}", "³": r"\ensuremath{^{3}}", "¹": r"\ensuremath{^{1}}",
    "⁻": r"\ensuremath{^{-}}", "√": r"\ensuremath{\surd}", "°": r"\ensuremath{^{\circ}}", "§": r"\S{}",
    "†": r"\dag{}", "‡": r"\ddag{}", "′": r"\ensuremath{'}", "µ": r"\ensuremath{\mu}", "⟨": r"\ensuremath{\langle}",
    "⟩": r"\ensuremath{\rangle}", "✓": r"\ensuremath{\checkmark}",
}  # fmt: skip
_HATTED = {"\u0302": "\ue000", "\u0303": "\ue001", "": "\ue002"}
_PRIVATE = {"\ue000": r"\ensuremath{\hat{", "\ue001": r"\ensuremath{\tilde{", "\ue002": "}}"}
"""A letter with a hat is two characters; `visible` leaves none of these three of its own in any text."""
_STANDARD = frozenset(CHARACTERS) - FENCES.keys() - ESCAPED.keys() - {
    "lt", "gt", "coloneqq", "omicron", "iint", "hbar", "sqrtsign", "degree", "S", "checkmark",
    "implies", "iff", "varnothing", "lesssim", "gtrsim", "smallsetminus", "geqslant", "leqslant", "triangleq",
    "subsetneq", "gtrless", "dotplus", "intercal", "dotsc", "dotsb", "square", "Box", "blacksquare",
    "complement", "mho", "eth",
}  # fmt: skip
"""Commands for one character that LaTeX knows without a package."""
_BY_CHARACTER = {CHARACTERS[name]: name for name in sorted(_STANDARD, reverse=True)}
_FORMULA = re.compile(r"(?<!\\)\$(.+?)(?<!\\)\$", re.DOTALL)
_REFUSED = re.compile(
    r"\\(?:begin|end|limits|nolimits|cancel|bm|mathscr|notag|nonumber|lt|gt|coloneqq|omicron|degree|checkmark"
    r"|sqrtsign|mbox|hbox|emph|text\w*|rm|bf|it|cal|sf|tt|not|nicefrac|sfrac|substack|pmod|bmod|mathop|enspace|varnothing|middle|operatorname)(?![A-Za-z])|\\[\\-]|[&%#~]|\^[^']*'"
)
"""Rows, what needs a package beyond amsmath and amssymb, what only some places take, a prime after a power."""
_PLAIN_WORDS = re.compile(r"\\(?:text|operatorname)\{[A-Za-z0-9 ,.;:()/-]*\}")
"""Words within a formula, of letters that mean nothing to LaTeX."""
_TAKEN = dict.fromkeys(DECORATIONS, 1) | {"mathbf": 1}
_TAKEN |= dict.fromkeys(
    ("frac", "tfrac", "dfrac", "cfrac", "binom", "dbinom", "tbinom", "overset", "stackrel", "underset"), 2
)
"""How many arguments a command takes."""


def rich(text: str) -> str:
    r"""Text that may hold `$LaTeX$`.

    >>> print(rich(r"$w^{1/d}$ at 5 % & $\input{x}$"))
    $w^{1/d}$ at 5 \% \& \$\textbackslash{}input\{x\}\$
    """
    pieces, at = [], 0
    for match in _FORMULA.finditer(text):
        pieces += [words(text[at : match.start()].replace(r"\$", "$")), formula(match[1])]
        at = match.end()
    return "".join((*pieces, words(text[at:].replace(r"\$", "$"))))


def formula(source: str) -> str:
    """A formula between dollar signs; words where it is not understood, or could disturb the table."""
    source = tidy(source)
    try:
        typst_math(source)
    except UnreadableError:
        return words(f"${source}$")
    plain = source.isascii() and source.isprintable()
    if not plain or _REFUSED.search(_PLAIN_WORDS.sub("", source)) or not _grouped(_PLAIN_WORDS.sub("x", source)):
        return words(f"${source}$")
    for name, upright in (NAMED | BELOW).items():
        operator = rf"\\operatorname{{{upright}}}".replace(" ", r"\\,")
        source = re.sub(rf"\\{name}(?![A-Za-z])", operator, source)
    bare = source.strip()
    space = (
        " " if (len(bare) - len(bare.rstrip("\\"))) % 2 else ""
    )  # of a control space, which must not quote the dollar
    return f"${bare}{space}$"


def _grouped(source: str) -> bool:
    """Whether every script and argument is a group or one sign: LaTeX takes no more, where our reader does."""
    for match in re.finditer(r"[\^_]|\\([A-Za-z]+)", source):
        at = match.end()
        for _ in range(1 if match[1] is None else _TAKEN.get(match[1], 0)):
            argument = re.compile(r"\s*(?:\[[^\]{}]*\])?\s*(?:(\{)|[A-Za-z0-9*]|\\([A-Za-z]+))").match(source, at)
            if argument is None or (argument[2] is not None and argument[2] not in _STANDARD):
                return False
            at = _closing(source, argument.start(1)) if argument[1] else argument.end()
    return True


def _closing(source: str, opening: int) -> int:
    """The place after the bracket that closes the one at `opening`."""
    depth = 0
    for match in re.compile(r"\\.|[{}]", re.DOTALL).finditer(source, opening):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return match.end()
    return len(source)


def words(text: str) -> str:
    r"""Words as they are, whatever is in them.

    >>> print(words("50 % of a_1 & \\end{table}, σ ≤ 1"))
    50 \% of a\_1 \& \textbackslash{}end\{table\}, \ensuremath{\sigma} \ensuremath{\le} 1
    """
    text = re.sub(r"([^\W\d_])([\u0302\u0303])", _hatted, visible(text))
    return "".join(map(_character, text))


def _hatted(found: re.Match[str]) -> str:
    return _HATTED[found[2]] + found[1] + _HATTED[""]


def breakable(text: str) -> str:
    r"""Words in which a line may break after a mark of punctuation.

    >>> print(breakable("a.b/c"))
    a.\allowbreak{}b/\allowbreak{}c
    """
    return re.sub(r"(?<=[./])(?=.)|(?<=\{-\})(?=.)", lambda _: r"\allowbreak{}", words(text))


def _character(character: str) -> str:
    for known in (_SPECIAL, _TYPOGRAPHY, _PRIVATE):
        if character in known:
            return known[character]
    if character.isascii() or (ord(character) < 0x180 and unicodedata.category(character).startswith("L")):
        return character
    if character in _BY_CHARACTER:
        return rf"\ensuremath{{\{_BY_CHARACTER[character]}}}"
    return _composed(character) or rf"\texttt{{U+{ord(character):04X}}}"


def _composed(character: str) -> str:
    """A raised or lowered sign, or a fraction, by what Unicode says that it is made of; empty for any other."""
    kind, _, parts = unicodedata.decomposition(character).partition(" ")
    signs = "".join(chr(int(part, 16)) for part in parts.split()) if kind.startswith("<") else ""
    signs = signs.replace("\u2212", "-").replace("\u2044", "/")
    if not re.fullmatch(r"[0-9A-Za-z+\-=()/]+", signs):
        return ""
    if kind == "<fraction>":
        return r"\ensuremath{\tfrac{" + signs.replace("/", "}{") + "}}"
    return {"<super>": rf"\ensuremath{{^{{{signs}}}}}", "<sub>": rf"\ensuremath{{_{{{signs}}}}}"}.get(kind, "")
