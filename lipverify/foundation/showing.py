"""How result records display: short in a terminal, as a table or formula in a notebook, or as a data frame.

A record defines its columns (`_columns`), which of them are coordinates (`_coordinates`) and a title (`_title`). NumPy
is imported only to format values, so that a record of text displays at once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from importlib import import_module
from numbers import Real
from typing import Any

from lipverify.errors import InvalidInput
from lipverify.foundation.style import LEGEND, settings


class Shown:
    """A base class for records that display as columns."""

    __slots__ = ()

    def _title(self) -> str:
        """A title of a few words."""
        raise NotImplementedError

    def _columns(self) -> dict[str, Any]:
        """Numbers, words, or arrays of one shape, by name; coordinates first."""
        raise NotImplementedError

    def _coordinates(self) -> tuple[str, ...]:
        """The names of the columns that are coordinates; the other columns are functions of them."""
        return ()

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={brief(value)}" for name, value in self._columns().items())
        return f"{type(self).__name__}({self._title()}: {values})"

    def _repr_html_(self) -> str:
        return table(self._title(), self._columns())

    def to_dataframe(self) -> Any:
        """The columns as a `pandas.DataFrame`, one row for each value.

        Raises
        ------
        InvalidInput
            If pandas is not installed, or the columns have more than one dimension.
        """
        import numpy as np

        pandas = imported("pandas", "to_dataframe")
        columns = {name: np.atleast_1d(value) for name, value in self._columns().items()}
        if max(column.ndim for column in columns.values()) > 1:
            raise InvalidInput(f"{type(self).__name__} has more than one dimension; use to_xarray().")
        rows = max(len(column) for column in columns.values())
        frame = pandas.DataFrame({name: np.broadcast_to(column, rows) for name, column in columns.items()})
        frame.attrs["title"] = self._title()
        return frame

    def to_xarray(self) -> Any:
        """The columns as an `xarray.Dataset` along the coordinates.

        Raises
        ------
        InvalidInput
            If xarray is not installed.
        """
        import numpy as np

        xarray = imported("xarray", "to_xarray")
        columns = {name: np.asarray(value) for name, value in self._columns().items()}
        along = [name for name in self._coordinates() if columns[name].ndim == 1]

        def placed(value: Any) -> tuple[Any, Any]:
            return (along if value.ndim == len(along) else [f"axis_{k}" for k in range(value.ndim)]), value

        data = {name: placed(value) for name, value in columns.items() if name not in along}
        return xarray.Dataset(data, {name: (name, columns[name]) for name in along}, attrs={"title": self._title()})


def imported(name: str, what: str) -> Any:
    """Import a package of the extra `data`, or refuse with the command that installs it."""
    try:
        return import_module(name)
    except ImportError:
        raise InvalidInput(f"{what} needs {name}, which is not installed: pip install 'lipverify[data]'.") from None


def brief(value: Any) -> str:
    """A value in a few letters; many numbers are shown as their range."""
    if isinstance(value, str):
        return value
    import numpy as np

    values = np.asarray(value)
    if values.ndim == 0:
        return _number(values.item())
    if values.size <= 4:
        return str([_number(value) for value in values.ravel().tolist()]).replace("'", "")
    if not np.issubdtype(values.dtype, np.number):
        return f"{values.size} values"
    return f"{values.size} values from {_number(values.min())} to {_number(values.max())}"


def _number(value: Any) -> str:
    return f"{float(value):.6g}" if isinstance(value, Real) else str(value)


def table(title: str, columns: Mapping[str, Any]) -> str:
    """An HTML table with one row for each value, without the middle rows of a long table; all text is escaped."""
    import numpy as np

    flat = {name: np.atleast_1d(np.asarray(value)).ravel().tolist() for name, value in columns.items()}
    count = max(map(len, flat.values()), default=0)
    whole = {name: values if len(values) == count else values * count for name, values in flat.items()}
    indices = range(count) if count <= 12 else [*range(6), None, *range(count - 6, count)]
    head = _row("th", list(whole))
    rows = [_row("td", ["…" if k is None else _number(values[k]) for values in whole.values()]) for k in indices]
    return f"<table><caption>{escape(title)}</caption>{head}{''.join(rows)}</table>"


def _row(kind: str, cells: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<{kind}>{escape(cell)}</{kind}>" for cell in cells) + "</tr>"


def axes(ax: Any) -> Any:
    """The given axes, or those of a new figure; the colours of successive curves are those of the style."""
    if ax is None:
        from matplotlib import pyplot

        return pyplot.subplots(layout="constrained")[1]
    if not ax.has_data():
        ax.set_prop_cycle(settings()["axes.prop_cycle"])
    return ax


def legend(figure: Any) -> None:
    """One legend for all axes of a figure, below them."""
    pairs = [pair for ax in figure.axes for pair in zip(*ax.get_legend_handles_labels(), strict=True)]
    handles = {name: handle for handle, name in reversed(pairs)}
    names = list(dict.fromkeys(name for _, name in pairs))
    if names:
        figure.legend([handles[name] for name in names], names, loc="outside lower center", ncols=LEGEND)


def latex_number(value: float, error: float = math.inf) -> str:
    r"""A number for a formula, to the digits that its error supports.

    >>> latex_number(0.40000001, 1e-6), latex_number(1.26e-9, 1e-10)
    ('0.4', '1.3 \\times 10^{-9}')
    """
    known = 0 < error < abs(value)
    digits = math.floor(math.log10(abs(value))) - math.floor(math.log10(error)) + 1 if known else 6
    text = f"{value:.{min(max(digits, 1), 10)}g}"
    mantissa, _, power = text.partition("e")
    return rf"{mantissa} \times 10^{{{int(power)}}}" if power else mantissa
