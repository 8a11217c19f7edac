"""The language of theorems: claims, their forms, coordinates and formulas, and the file of claims.

Claims files import from `lipverify.claims`. The names here are for programs that read such files.
"""

from typing import TYPE_CHECKING

from lipverify.foundation.lazy import lazy

if TYPE_CHECKING:
    from lipverify.claims.language.grammar import typeset as typeset

lazy()
