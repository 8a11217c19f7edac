"""The laws of the covariates under their short address: `from lipverify.covariates import Ellipsoid`."""

from lipverify.problem.covariates import Covariates, Ellipsoid, Gaussian, MappedNormals, ProductOfSpheres, Sphere, axes

__all__ = ["Covariates", "Ellipsoid", "Gaussian", "MappedNormals", "ProductOfSpheres", "Sphere", "axes"]
