"""The base of all other packages, without any theorem; the names below are for tests and extensions."""

from typing import TYPE_CHECKING

from lipverify.foundation.lazy import lazy

if TYPE_CHECKING:
    from lipverify.foundation.arrays import Floats as Floats
    from lipverify.foundation.means.batches import mean_interval as mean_interval
    from lipverify.foundation.streams import generator as generator, normals as normals, uniforms as uniforms

lazy()
