"""The figures of one report: drawn, named, and described."""

from __future__ import annotations

from lipverify.claims.figure import Figure
from lipverify.report.figures import draw, undrawable, width
from lipverify.report.model import Drawing
from lipverify.report.text import printable, rich


class Drawings:
    """Collects figures as they are drawn; `files` holds them by the names that the page uses."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self._drawn: dict[str, Drawing] = {}

    def add(self, figure: Figure) -> Drawing:
        """Draw a figure; readings of one claim that share a figure share its file."""
        key = repr(figure)
        if key not in self._drawn:
            self._drawn[key] = self._draw(figure)
        return self._drawn[key]

    def _draw(self, figure: Figure) -> Drawing:
        """One that cannot be drawn leaves its caption and the reason."""
        name = f"figure-{len(self.files) + 1}.svg"
        alt = printable(figure.alt).strip() or "No description was given."
        try:
            self.files[name] = draw(figure)
        except Exception as error:  # whatever a plotting library raises must not lose the report
            problem = printable(f"{type(error).__name__}: {error}")
            return Drawing(file="", width=1.0, caption=rich(figure.caption), alt=alt, problem=problem)
        lost = undrawable(figure)
        note = f" ({lost} points have no place on these axes and are not drawn.)" if lost else ""
        return Drawing(file=name, width=width(figure), caption=rich(figure.caption + note), alt=alt)
