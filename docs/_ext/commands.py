"""Include the help of each command in the documents: `lipverify COMMAND --help`, run when they are built."""

from __future__ import annotations

import io

from docutils import nodes
from rich.console import Console
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from lipverify.cli import commands as all_commands

COLUMNS = 84
commands = all_commands()


def help_of(*command: str) -> str:
    """The help of a command, without colours.

    >>> help_of("list").splitlines()[0]
    'Usage: lipverify list [OPTIONS] [ARGS...]'
    """
    page = io.StringIO()
    commands.help_print(list(command), console=Console(file=page, width=COLUMNS, color_system=None))
    return "\n".join(line.rstrip() for line in page.getvalue().strip().splitlines())


class Commands(SphinxDirective):
    """A section for each command."""

    def run(self) -> list[nodes.Node]:
        """The sections, in the order in which the commands are declared, without those that only shells call."""
        return [_section(name) for name in commands if not name.startswith("-") and commands[name].show]


def _section(name: str) -> nodes.section:
    text = help_of(name)
    section = nodes.section(ids=[f"command-{name}"], names=[f"lipverify {name}"])
    section += nodes.title(text=f"lipverify {name}")
    section += nodes.literal_block(text, text, language="text")
    return section


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True}
