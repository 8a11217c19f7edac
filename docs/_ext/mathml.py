"""Formulas as MathML: LaTeX to Typst by the translation that the report uses, Typst to MathML by its compiler.

No script and no network when a page is read, and the vocabulary is the one of the claims.
"""

from __future__ import annotations

import re
from functools import cache
from xml.etree import ElementTree

import typst
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

from lipverify.report.latex import typst_math
from lipverify.report.vocabulary import UnreadableError

CLOSING = {"(": ")", "[": "]", "{": "}", "⟨": "⟩"}
SCRIPTS = ("msup", "msub", "msubsup")
NO_BREAK, PRIME = "\u00a0", "\u2032"
MATH = re.compile(r"<math[ >].*?</math>", re.DOTALL)
log = logging.getLogger(__name__)


@cache
def mathml(latex: str, display: bool) -> str:
    r"""One formula, given without dollar signs.

    Raises `UnreadableError` or `typst.TypstError` on what cannot be set.

    >>> mathml("w^2", display=False)
    '<math><msup><mi>𝑤</mi><mn>2</mn></msup></math>'
    """
    source = typst_math(latex)
    page = typst.Compiler().compile((f"$ {source} $" if display else f"x ${source}$").encode(), format="html")
    assert isinstance(page, bytes), "HTML is one file"
    return "".join(_readable(formula) for formula in MATH.findall(page.decode()))


def _readable(formula: str) -> str:
    """A formula whose brackets grow together, whose primes stand close and whose words keep their spaces."""
    tree = ElementTree.fromstring(formula)
    for row in list(tree.iter()):
        _gather(row)
    for script in tree.iter("msup"):
        if script[1].text == PRIME:  # the sign is raised by itself
            script.tag = "mrow"
            script[1].attrib |= {"lspace": "0em", "rspace": "0em"}
    for words in tree.iter("mtext"):
        words.text = (words.text or "").replace(" ", NO_BREAK)
    return ElementTree.tostring(tree, encoding="unicode")


def _gather(row: ElementTree.Element) -> None:
    """Put what stands in brackets under the power of the closing one: a bracket alone in a script does not grow."""
    opened: list[ElementTree.Element] = []
    for part in list(row):
        if part.tag == "mo" and part.text in CLOSING:
            opened.append(part)
        elif opened and CLOSING[opened[-1].text or ""] == _last(part):
            begin = opened.pop()
            if part.tag in SCRIPTS:
                first, last = (list(row).index(end) for end in (begin, part))
                inside = ElementTree.Element("mrow")
                inside.extend([*list(row)[first:last], part[0]])
                for moved in list(row)[first:last]:
                    row.remove(moved)
                part[0] = inside


def _last(part: ElementTree.Element) -> str | None:
    """The sign that a part is, or is a script of."""
    base = part[0] if part.tag in SCRIPTS and len(part) else part
    return base.text if base.tag == "mo" else None


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    """A formula inside a line."""
    self.body.append(_set(node, display=False))
    raise nodes.SkipNode


def visit_block(self: HTML5Translator, node: nodes.math_block) -> None:
    """A formula on a line of its own."""
    self.body.append(self.starttag(node, "div", CLASS="math"))
    self.body.append(_set(node, display=True))
    self.body.append("</div>\n")
    raise nodes.SkipNode


def _set(node: nodes.Node, display: bool) -> str:
    latex = node.astext()
    try:
        return mathml(latex, display)
    except (UnreadableError, typst.TypstError) as error:
        log.warning("formula %r: %s", latex, error, location=node)
        return f"<code>{nodes.unescape(latex)}</code>"


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer, by the name `mathml`."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
