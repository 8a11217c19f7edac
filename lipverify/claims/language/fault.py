"""What is wrong with a declaration, and which of its keywords is at fault."""

from __future__ import annotations

from lipverify.errors import InvalidInput

FUNCTION = "def"
"""In place of a keyword: the function that is declared is at fault."""


class Fault(InvalidInput):
    """A declaration that is refused.

    Parameters
    ----------
    message
        The value, the rule and the way out, in one line.
    keyword
        The keyword of the declaration at fault, `FUNCTION`, or "" for the declaration as a whole.
    item
        Which item of the keyword's list, if one of them is.
    line
        The line of the call at fault, where it is no longer being run.
    outer
        The line of the call around it, to which the keyword may belong.
    """

    def __init__(
        self,
        message: str,
        keyword: str = "",
        item: int | None = None,
        line: int | None = None,
        outer: int | None = None,
    ) -> None:
        super().__init__(message)
        self.keyword, self.item, self.line, self.outer = keyword, item, line, outer

    def within(self, line: int) -> Fault:
        """The same fault, in the call on this line, or in a call within that one."""
        return Fault(str(self), self.keyword, self.item, self.line or line, self.outer or (line if self.line else None))
