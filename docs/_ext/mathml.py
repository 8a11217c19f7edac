"""Formulas of the documents as MathML, by the translation that the report uses."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

from lipverify.foundation.latex import UnreadableError, typst_math
from lipverify.report.web.words import many

log = logging.getLogger(__name__)


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
        [markup] = many([(typst_math(latex), display)])
    except UnreadableError as error:
        markup, why = "", str(error)
    else:
        why = "Typst cannot set it"
    if not markup:
        log.warning("formula %r: %s", latex, why, location=node)
    return markup or f"<code>{nodes.unescape(latex)}</code>"


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer, by the name `mathml`."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
