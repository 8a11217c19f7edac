"""The laws of the task under their short address: `from lipverify.laws import ReLU`."""

from lipverify.problem.law import Law, RidgeLaw
from lipverify.problem.laws import LAWS, Affine, Cosine, Quadratic, ReLU, law_named
from lipverify.problem.own import Ridge, Zonal

__all__ = [
    "LAWS",
    "Affine",
    "Cosine",
    "Law",
    "Quadratic",
    "ReLU",
    "Ridge",
    "RidgeLaw",
    "Zonal",
    "law_named",
]
