r"""Sentences with formulas as one types them, such as the lemmas of a proof, `T >= T_least`; here they are LaTeX."""

from __future__ import annotations

import re

from lipverify.claims.language.formula.grammar import GREEK

TOKEN = re.compile(
    r"`[^`]*`|'s\b|[A-Za-z]{2,}(?:-[A-Za-z]{2,})+|\w-part|<\w+, \w+>|<=|>=|->|w\*|\|\.\||\.\.\.|\d+(?:\.\d+)*|\s+"
    r"|[A-Za-z]+\d*(?:_(?:[A-Za-z]+|\d+|\+))?(?:(?<=\b[A-Za-z])'+|(?<=_[a-z])'+)?|."
)
OPERATORS = {"<=": r"\leq ", ">=": r"\geq ", "->": r"\to ", "|.|": r"|\cdot|", "...": r"\ldots ", "w*": "w^{*}"}
OPERATORS |= {sign: sign for sign in "<>=+-/|^_"}
RELATIONS = ("<=", ">=", "<", ">", "=")
NAMES = {"E": r"\mathbb{E}", "oo": r"\infty", "infinity": r"\infty", "sqrt": r"\sqrt"}
NAMES |= {
    name: rf"\{name}" for name in ("sum", "prod", "int", "log", "max", "min", "exp", "cos", "sin", "tanh", *GREEK)
}
CLOSING = {"(": ")", "[": "]", "{": "}"}
ENGLISH = ("and", "as", "at", "each", "else", "for", "is", "of", "or", "to", "where", "with")
"""Words that are no names, whatever is beside them."""


def typeset(text: str) -> str:
    r"""A sentence with its formulas between dollar signs; words of English and code stay what they are.

    >>> print(typeset("For every w >= u: Z_low <= P(w) / c, with J0 (5 E for pairs), and E sum a_i."))
    For every $w\geq u$: $Z_{\mathrm{low}}\leq P(w)/c$, with $J_{0}$ ($5 E$ for pairs), and $\mathbb{E} \sum a_{i}$.
    >>> print(typeset("f is a multiple of z; A stays below (above) b, at most low e^{-lambda g} / sqrt(pi)"))
    $f$ is a multiple of $z$; $A$ stays below (above) $b$, at most $\mathrm{low}\,e^{-\lambda g}/\sqrt{\pi}$
    """
    tokens, done, at = TOKEN.findall(text), "", 0
    while at < len(tokens):
        end = at if tokens[at].isspace() else _end(tokens, at)
        formula = any(_is_name(token) or token in OPERATORS for token in tokens[at:end])
        done += f"${_latex(tokens[at:end])}$" if formula else "".join(tokens[at : max(end, at + 1)])
        at = max(end, at + 1)
    return done


def _end(tokens: list[str], at: int, inside: str = "") -> int:
    """Where the formula that begins here ends; within brackets it has commas, and words where they are called."""
    end = at
    while at < len(tokens):
        token = tokens[at]
        if token in CLOSING:
            called = at > 0 and _is_name(tokens[at - 1]) | tokens[at - 1].isalpha()
            close = _end(tokens, at + 1, "call" if called else "brackets")
            remark = tokens[at - 1].isspace() and set(RELATIONS) & set(tokens[at:close])
            if remark or tokens[close : close + 1] != [CLOSING[token]]:
                break
            at = end = close + 1
        elif token.isspace() or token in OPERATORS or (inside and token == ","):
            at += 1
            end = at if token in ("w*", "|.|", "|") else end
        elif _is_part(tokens, at) or (inside == "call" and token.isalpha()):
            at = end = at + 1
        else:
            break
    return at if inside else end


def _is_part(tokens: list[str], at: int) -> bool:
    """Whether a word or a number belongs to a formula, by what it is or by what is beside it."""
    token = tokens[at]
    before = next((each for each in reversed(tokens[:at]) if not each.isspace()), "")
    after = next((each for each in tokens[at + 1 :] if not each.isspace()), "")
    if token[0].isdigit() or token.startswith("<"):
        return token.count(".") < 2
    if token == "a":
        return not re.fullmatch(r"[A-Za-z]{2,}", after)
    if not token[0].isalpha() or token in ENGLISH or (before, token) == ("the", "sum"):
        return False
    applied = before[:1].isdigit() or token in ("low", "high")
    called = after == "(" == tokens[at + 1]
    return _is_name(token) or called or before in {*OPERATORS} - {"|"} or (applied and _is_name(after))


def _is_name(token: str) -> bool:
    """Whether a token is the name of something: a letter, one with an index or a prime, or a known name."""
    return token in NAMES or bool(re.fullmatch(r"[A-Za-z]'*|[A-Za-z]+(\d+|_\w+|_\+)'*|w\*|\|\.\||<.+>", token))


def _latex(tokens: list[str]) -> str:
    """A formula."""
    out: list[str] = []
    for place, token in enumerate(tokens):
        if token.isspace():
            beside = tokens[place - 1], tokens[place + 1]
            apart = any(each.isalpha() and len(each) > 1 and each not in NAMES for each in beside)
            out.append("" if {*OPERATORS} - {"w*"} & {*beside} else r"\," if apart else " ")
        elif token == "E" and not _applied(tokens, place):
            out.append(token)
        else:
            out.append(OPERATORS.get(token) or _name(token))
    text = re.sub(r"\^-(\\mathrm\{\w+\}|\\?\w+)", r"^{-\1}", "".join(out))
    return re.sub(r"\\sqrt\(([^()]*)\)", r"\\sqrt{\1}", text)


def _applied(tokens: list[str], place: int) -> bool:
    """Whether something follows that an expectation could be of."""
    after = next((each for each in tokens[place + 1 :] if not each.isspace()), "=")
    return after not in OPERATORS or after == "|"


def _name(token: str) -> str:
    """A number, a bracket, or a name with its index."""
    if token.startswith("<"):
        return rf"\langle {', '.join(map(_name, token[1:-1].split(', ')))}\rangle "
    found = re.fullmatch(r"([A-Za-z]+?)(\d+|_\w+|_\+)?('*)", token)
    if not found:
        return token
    head, index, primes = found.groups()
    word = NAMES.get(head, head if len(head) == 1 else rf"\mathrm{{{head}}}")
    below = (index or "").removeprefix("_")
    if len(below) > 1 and not below.isdigit():
        below = NAMES.get(below, rf"\mathrm{{{below}}}")
    return (f"{word}_{{{below}}}" if below else word) + primes
