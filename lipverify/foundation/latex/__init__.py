r"""Formulas in LaTeX: one reader, and a writer for each output format.

reader      a formula as a tree; unknown parts are refused with their position in the text symbols     the known
commands typst       for the PDF, and for MathML, which Typst's compiler produces text        for a terminal and for
speech: `w^* \leq \tfrac{a}{b} n` is w* ≤ (a / b) n source      LaTeX again, for any engine or for matplotlib
"""

from typing import TYPE_CHECKING

from lipverify.foundation.lazy import lazy

if TYPE_CHECKING:
    from lipverify.foundation.latex import symbols as symbols
    from lipverify.foundation.latex.reader import UnreadableError as UnreadableError, pieces as pieces, read as read
    from lipverify.foundation.latex.source import latex_source as latex_source, mathtext as mathtext
    from lipverify.foundation.latex.text import plain as plain
    from lipverify.foundation.latex.typst import typst_math as typst_math

lazy()
