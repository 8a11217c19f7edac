"""What everything else stands on, and no theorem in it.

arrays       the types of arrays; between libraries and devices
validation   numbers that a user gives: whole, finite, within bounds
streams      random numbers as a function of their address
means        means with errors: bounded samples, equal batches, many samples
calls        functions at points, and what must be called before
compiling    a C source text as a loaded library
latex        formulas: one reader, a writer for each place where they are shown
lazy         packages that import a name when it is first used

The names below are for tests and for whoever extends the library.
"""

from typing import TYPE_CHECKING

from lipverify.foundation.lazy import lazy

if TYPE_CHECKING:
    from lipverify.foundation.arrays import Floats
    from lipverify.foundation.means.batches import mean_interval
    from lipverify.foundation.streams import generator, normals, uniforms

__all__ = ["Floats", "generator", "mean_interval", "normals", "uniforms"]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "Floats": "arrays",
        "generator": "streams",
        "mean_interval": "means.batches",
        "normals": "streams",
        "uniforms": "streams",
    },
    modules=["ladder", "shipped"],
)
