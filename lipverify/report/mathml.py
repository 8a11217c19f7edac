"""Formulas as MathML, made by the compiler that sets the PDF, so that both have one vocabulary and need no script.

A formula reaches the compiler as data and is evaluated only as mathematics, in a folder without other files.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import typst

from lipverify.foundation.latex import typst_math

_CLOSING = {"(": ")", "[": "]", "{": "}", "⟨": "⟩"}
_SCRIPTS = ("msup", "msub", "msubsup")
_NO_BREAK, _PRIME = "\u00a0", "\u2032"
_ITEM = re.compile(r"<li>(.*?)</li>", re.DOTALL)
_MATH = re.compile(r"<math[ >].*?</math>", re.DOTALL)
_EACH = b"""#for (source, block) in json("formulas.json") {
  html.elem("li", math.equation(block: block, eval(source, mode: "math").body))
}"""


@cache
def mathml(latex: str, display: bool) -> str:
    r"""One formula, given without dollar signs; `display` sets it as display mathematics.

    Raises `UnreadableError` or `typst.TypstError` if it cannot be set.

    >>> mathml("w^2", display=False)
    '<math><msup><mi>𝑤</mi><mn>2</mn></msup></math>'
    """
    (found,) = _compiled([(typst_math(latex), display)])
    return found


def many(formulas: Iterable[tuple[str, bool]]) -> list[str]:
    """Formulas as `(Typst source, display)`, compiled together; what the compiler refuses is an empty string.

    >>> many([("x", False), ("unknown", False)])
    ['<math><mi>𝑥</mi></math>', '']
    """
    sources = list(formulas)
    try:
        return _compiled(sources)
    except typst.TypstError:
        if len(sources) == 1:
            return [""]
        half = len(sources) // 2
        return many(sources[:half]) + many(sources[half:])


def _compiled(formulas: Sequence[tuple[str, bool]]) -> list[str]:
    """The MathML of each formula; `typst.TypstError` if one of them cannot be set."""
    with tempfile.TemporaryDirectory(prefix="lipverify-") as folder:
        Path(folder, "formulas.json").write_bytes(msgspec.json.encode(formulas))
        page = typst.Compiler(root=folder).compile(_EACH, format="html")
    assert isinstance(page, bytes), "HTML is one file"
    found = ["".join(map(_readable, _MATH.findall(item))) for item in _ITEM.findall(page.decode())]
    assert len(found) == len(formulas), "each formula is an item of its own"
    return found


def _readable(formula: str) -> str:
    """Adjust a formula: brackets that stretch together, primes close to their symbol, words with their spaces."""
    tree = ElementTree.fromstring(formula)
    for row in list(tree.iter()):
        _gather(row)
    for script in tree.iter("msup"):
        if script[1].text == _PRIME:  # the prime is already raised
            script.tag = "mrow"
            script[1].attrib |= {"lspace": "0em", "rspace": "0em"}
    for space in tree.iter("mi"):  # the page forbids inline styles
        for styled in space.findall("span"):
            space.remove(styled)
            space.tag, space.text = "mtext", styled.text
    for words in tree.iter("mtext"):
        words.text = (words.text or "").replace(" ", _NO_BREAK)
    return ElementTree.tostring(tree, encoding="unicode")


def _gather(row: ElementTree.Element) -> None:
    """Group the content of brackets below the exponent of the closing one: one bracket in a script does not stretch."""
    opened: list[ElementTree.Element] = []
    for part in list(row):
        if part.tag == "mo" and part.text in _CLOSING:
            opened.append(part)
        elif opened and _CLOSING[opened[-1].text or ""] == _last(part):
            begin = opened.pop()
            if part.tag in _SCRIPTS:
                first, last = (list(row).index(end) for end in (begin, part))
                inside = ElementTree.Element("mrow")
                inside.extend([*list(row)[first:last], part[0]])
                for moved in list(row)[first:last]:
                    row.remove(moved)
                part[0] = inside


def _last(part: ElementTree.Element) -> str | None:
    """The last symbol of an element, or the base of its script."""
    base = part[0] if part.tag in _SCRIPTS and len(part) else part
    return base.text if base.tag == "mo" else None
