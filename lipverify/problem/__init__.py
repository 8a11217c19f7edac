"""The question: tokens on a sphere, a law of the task, a context length and a noise level."""

from lipverify.problem.law import Law
from lipverify.problem.laws import Affine, ReLU
from lipverify.problem.problem import Problem

__all__ = ["Affine", "Law", "Problem", "ReLU"]
