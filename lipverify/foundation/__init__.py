"""The base of all other packages, without any theorem.

arrays       array types; moving arrays between libraries and devices validation   checks of a user's numbers: integers,
finite, within bounds streams      random numbers as a function of their address means        means with errors: bounded
samples, equal batches, many samples calls        a function with its arguments, as data compiling    compile a C source
and load it store        results on disk: sealed by a digest, verified at every load latex        formulas: one reader,
and one writer for each output format lazy         packages that import a name on first use

The names below are for tests and for extensions of the library.
"""

from typing import TYPE_CHECKING

from lipverify.foundation.lazy import lazy

if TYPE_CHECKING:
    from lipverify.foundation.arrays import Floats as Floats
    from lipverify.foundation.means.batches import mean_interval as mean_interval
    from lipverify.foundation.streams import generator as generator, normals as normals, uniforms as uniforms

lazy()
