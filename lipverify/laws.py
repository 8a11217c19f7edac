"""Short module path for the laws of tasks: `from lipverify.laws import ReLU`."""

from lipverify.problem.composed import LowRank, Sampled, Transformed
from lipverify.problem.fields import RBF, Matern
from lipverify.problem.law import Bound, FunctionLaw, Law, RidgeLaw, Sum, mixture
from lipverify.problem.laws import Affine, Cosine, Linear, Quadratic, ReLU, WithOffset
from lipverify.problem.own import Ridge, Zonal
from lipverify.problem.written import LAWS, law_named

__all__ = [
    "LAWS",
    "RBF",
    "Affine",
    "Bound",
    "Cosine",
    "FunctionLaw",
    "Law",
    "Linear",
    "LowRank",
    "Matern",
    "Quadratic",
    "ReLU",
    "Ridge",
    "RidgeLaw",
    "Sampled",
    "Sum",
    "Transformed",
    "WithOffset",
    "Zonal",
    "law_named",
    "mixture",
]
