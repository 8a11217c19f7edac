r"""Formulas in LaTeX: one reader, which refuses unknown parts with their position, and a writer for each output.

| module | writes |
|---|---|
| `typst` | for the PDF, and for MathML, which Typst's compiler produces |
| `text` | for a terminal and for speech: `w^* \leq \tfrac{a}{b} n` is w* ≤ (a / b) n |
| `source` | LaTeX again, for any engine or for matplotlib |
"""

from typing import TYPE_CHECKING

from lipverify.foundation.lazy import lazy

if TYPE_CHECKING:
    from lipverify.foundation.latex import symbols as symbols
    from lipverify.foundation.latex.reader import outside_words as outside_words, pieces as pieces, read as read
    from lipverify.foundation.latex.source import latex_source as latex_source, mathtext as mathtext
    from lipverify.foundation.latex.text import plain as plain
    from lipverify.foundation.latex.tree import UnreadableError as UnreadableError
    from lipverify.foundation.latex.typst import typst_math as typst_math

lazy()
