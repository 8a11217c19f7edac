"""The problem: tokens on a sphere, a law of the task, a context length and a noise level."""

from typing import TYPE_CHECKING

from lipverify.foundation.lazy import lazy

if TYPE_CHECKING:
    from lipverify.problem.law import Law as Law
    from lipverify.problem.laws import Affine as Affine, ReLU as ReLU
    from lipverify.problem.problem import Problem as Problem

lazy()
