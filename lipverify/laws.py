"""The laws of the task under their short address: `from lipverify.laws import ReLU`."""

from lipverify.problem.laws import LAWS, Affine, Law, ReLU, law_named

__all__ = ["LAWS", "Affine", "Law", "ReLU", "law_named"]
