"""Short module path for the laws of the covariates: `from lipverify.covariates import Ellipsoid`."""

from lipverify.problem.covariates import Covariates, Ellipsoid, Gaussian, MappedNormals, ProductOfSpheres, Sphere, axes
from lipverify.problem.vectors import Coordinates, Mixture, Pool, Sparse
from lipverify.problem.written import covariates_named

__all__ = [
    "Coordinates",
    "Covariates",
    "Ellipsoid",
    "Gaussian",
    "MappedNormals",
    "Mixture",
    "Pool",
    "ProductOfSpheres",
    "Sparse",
    "Sphere",
    "axes",
    "covariates_named",
]
