"""HTML as values: a string is escaped, and only `element` makes markup, so text of a ledger is never markup."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape


class Markup(str):
    """Text that already is HTML."""

    __slots__ = ()


Child = str | Iterable["Child"] | None


def element(tag: str, /, *children: Child, **attributes: str | float | bool | None) -> Markup:
    """One element; text among its children and in its attributes is escaped.

    An attribute that is `None` or `False` is left out, and one that is `True` has no value. In an attribute's name, an
    underscore at the end is dropped and any other becomes a hyphen.

    >>> element("a", "1 < 2", element("b", "!"), href='#"', class_="x", hidden=True, title=None)
    '<a href="#&quot;" class="x" hidden>1 &lt; 2<b>!</b></a>'
    """
    head = "".join(
        _attribute(key, value) for key, value in attributes.items() if value is not None and value is not False
    )
    if tag in ("meta", "link", "input", "br", "hr", "wbr"):  # these have no end tag
        return Markup(f"<{tag}{head}>")
    return Markup(f"<{tag}{head}>{join(children)}</{tag}>")


def join(children: Child, separator: str = "") -> Markup:
    """Concatenate children; text among them is escaped."""
    if children is None:
        return Markup("")
    if isinstance(children, Markup):
        return children
    if isinstance(children, str):
        return Markup(escape(children))
    return Markup(escape(separator).join(map(join, children)))


def _attribute(name: str, value: str | float | bool) -> str:
    key = name.rstrip("_").replace("_", "-")
    return f" {key}" if value is True else f' {key}="{escape(str(value))}"'
