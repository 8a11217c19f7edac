r"""Symbols and coordinates in print: sigma_1 is written $\sigma_{1}$ on a page."""

# ruff: noqa: SIM905 - the long list is split into words

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from lipverify.claims.evidence.ranges import Scalar as Scalar
from lipverify.foundation.shipped import table
from lipverify.foundation.showing import latex_number

GREEK: Final = dict(
    zip(
        "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda lamda mu nu xi pi rho sigma tau upsilon "
        "phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega varepsilon varphi".split(),
        "αβγδεζηθικλλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩεφ",
        strict=True,
    )
)
LETTERS: Final = {letter: name for name, letter in GREEK.items() if name != "lamda"}
"""The name of each Greek letter. Python identifies the two forms of epsilon and of phi, so they share one name."""


def symbol(name: str) -> str:
    r"""A symbol in LaTeX: Greek by its command, a word upright, and the parts after the first as a subscript.

    >>> symbol("sigma_1"), symbol("kappa"), symbol("e")
    ('\\sigma_{1}', '\\kappa', '\\mathrm{e}')
    """
    if name == "e":
        return r"\mathrm{e}"
    head, *scripts = (_letter(word) for word in re.findall(r"[^\W\d_]+|\d+", name))
    return head + (f"_{{{','.join(scripts)}}}" if scripts else "")


def _letter(word: str) -> str:
    name = LETTERS.get(word, word)
    if name in GREEK:
        return "\\lambda" if name == "lamda" else f"\\{name}"
    return word if len(word) == 1 or word.isdigit() else rf"\mathrm{{{word}}}"


def letter(name: str) -> str:
    r"""A coordinate in LaTeX: a Latin or Greek letter with its index, or words.

    >>> letter("n"), letter("sigma"), letter("c_perp"), letter("layers"), letter("made_for")
    ('n', '\\sigma', 'c_{\\perp}', '\\mathrm{layers}', '\\mathrm{made\\ for}')
    """
    if is_letter(name):
        return symbol(name).replace(r"\mathrm{perp}", r"\perp")
    return rf"\mathrm{{{name}}}".replace("_", r"\ ")


def is_letter(name: str) -> bool:
    """True if the name of a coordinate is a letter."""
    head = LETTERS.get(name.partition("_")[0], name.partition("_")[0])
    return head in GREEK or (len(head) == 1 and head.isalpha())


def named(name: str) -> str:
    r"""The name of a coordinate in a text.

    >>> named("sigma_1"), named("made_for")
    ('$\\sigma_{1}$', 'made for')
    """
    return f"${letter(name)}$" if is_letter(name) else name.replace("_", " ")


def said(name: str, value: Scalar, written: str = "") -> str:
    r"""A coordinate with its value, in a few words; `written` formats a numerical value.

    A number in a ledger may be larger than any double, so it is written without conversion to a float.

    >>> said("law", "relu"), said("noise", "uniform-3"), said("n", 1000.0), said("recipe", "gd")
    ('ReLU law', '$\\sigma_{\\max} = 3$', '$n = 1000$', 'recipe = gd')
    >>> said("n", 1e9), said("contexts", 2e7), said("L", 0)
    ('$n = 10^{9}$', 'contexts = $2 \\times 10^{7}$', '$L = 0$')
    """
    if not isinstance(value, str):
        number = written or _typeset(value)
        inside = number.strip("$").replace("\N{MINUS SIGN}", "-")
        return f"${letter(name)} = {inside}$" if is_letter(name) else f"{named(name)} = {number}"
    return spelled(name, value) or f"{named(name)} = {value}"


def spelled(name: str, value: Scalar) -> str:
    """The words that the shipped claims have for this value of a coordinate; empty if they have none."""
    words = text = f"{name}={value}"
    for pattern, spelling in table()["spelled"].items():  # as the shipped claims spell them
        if match := re.search(pattern, words):
            for k, group in enumerate(match.groups(), 1):
                spelling = spelling.replace(f"§{k}", group)
            words = words[: match.start()] + spelling + words[match.end() :]
    return words if words != text else ""


def _typeset(value: float) -> str:
    latex = latex_number(float(value)).removeprefix(r"1 \times ")
    return f"${latex}$" if "^" in latex else latex


def on_one_line(value: Any) -> Any:
    r"""Join text that a file writes over several lines; also in lists, mappings and the fields of a record.

    >>> on_one_line(("as it is", "The bias falls\n        like $1/w$."))
    ('as it is', 'The bias falls like $1/w$.')
    """
    if isinstance(value, str):
        return " ".join(value.split()) if "\n" in value else value
    if isinstance(value, list | tuple):
        return type(value)(map(on_one_line, value))
    if isinstance(value, Mapping):
        return {key: on_one_line(text) for key, text in value.items()}
    if isinstance(value, msgspec.Struct):
        texts = {name: getattr(value, name) for name in value.__struct_fields__}
        lines = {name: on_one_line(text) for name, text in texts.items() if isinstance(text, str)}
        return msgspec.structs.replace(value, **lines)
    return value
