r"""Formulas in LaTeX: `symbols` is the vocabulary, `reader` makes a tree, and the `writers` fold it:
for the PDF and the web page, for a terminal and for speech, and for LaTeX.
"""

from typing import TYPE_CHECKING

from lipverify.foundation.lazy import lazy

if TYPE_CHECKING:
    from lipverify.foundation.latex import symbols as symbols
    from lipverify.foundation.latex.reader import UnreadableError as UnreadableError, outside_words as outside_words
    from lipverify.foundation.latex.reader import pieces as pieces, read as read
    from lipverify.foundation.latex.writers import latex_source as latex_source, plain as plain
    from lipverify.foundation.latex.writers import typst_math as typst_math

lazy()
