"""Short module path for the laws of the covariates: `from lipverify.covariates import Ellipsoid`."""

from lipverify.problem.covariates import Covariates, Ellipsoid, Gaussian, MappedNormals, ProductOfSpheres, Sphere, axes
from lipverify.problem.written import covariates_named

__all__ = [
    "Covariates",
    "Ellipsoid",
    "Gaussian",
    "MappedNormals",
    "ProductOfSpheres",
    "Sphere",
    "axes",
    "covariates_named",
]
