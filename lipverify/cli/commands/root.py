"""The command without a command, and the kinds of values that several commands take."""

from __future__ import annotations

from typing import Annotated

from cyclopts import App, Parameter

from lipverify import __version__
from lipverify.cli.words import length, natural, positive

app = App(
    name="lipverify",
    version=__version__,
    suppress_keyboard_interrupt=False,
    help="Check scaling theorems about in-context learning: measure, decide, report.",
)

Natural = Annotated[int, Parameter(converter=natural)]
Positive = Annotated[int, Parameter(converter=positive)]
Length = Annotated[int | float, Parameter(converter=length)]
Json = Annotated[bool, Parameter(name="--json", negative="")]
Open = Annotated[bool, Parameter(name="--open", negative="")]
Lipschitz = Annotated[float, Parameter(name="--L")]
Windows = Annotated[list[float], Parameter(name="--w", consume_multiple=True, negative="")]
