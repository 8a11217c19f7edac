"""Every path of the documents with CuPy's own signatures, over NumPy: see `tests/stand_in/cupy.py`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lipverify import Problem, loss_terms
from lipverify.attention import Box, Epanechnikov, NormalisedLinear, Rational
from lipverify.covariates import Ellipsoid, Gaussian, MappedNormals, ProductOfSpheres, axes
from lipverify.laws import Affine, Cosine, Linear, LowRank, Quadratic, ReLU, ReLUNetwork, Transformed, WithOffset

W = np.array([3.0, 0.0, 0.5, 2.0, 1.0])
M = np.diag([1.0, 2.0, 0.5])
PATHS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "affine kernel": ({"law": Affine()}, {}),
    "relu kernel": ({"law": ReLU()}, {}),
    "cosine kernel": ({"law": Cosine(3.0)}, {}),
    "quadratic kernel": ({"law": Quadratic(2.0)}, {}),
    "linear kernel": ({"law": Linear(2.0)}, {}),
    "until an accuracy": ({"law": Affine()}, {"contexts": None, "rtol": 0.2}),
    "normal interval": ({"law": ReLU()}, {"interval": "normal", "contexts": 2000}),
    "full": ({"law": ReLU()}, {"sampling": "full"}),
    "full, affine": ({"law": Affine()}, {"sampling": "full"}),
    "matrix": ({"law": ReLU()}, {"M": M}),
    "matrix, full": ({"law": ReLU()}, {"M": M, "sampling": "full"}),
    "linear attention": ({"law": ReLU()}, {"attention": "linear"}),
    "ellipsoid": ({"law": Affine(), "covariates": Ellipsoid([4.0, 1.0, 0.5])}, {}),
    "ellipsoid, relu": ({"law": ReLU(), "covariates": Ellipsoid([4.0, 1.0, 0.5])}, {}),
    "ellipsoid, full": ({"law": ReLU(), "covariates": Ellipsoid([4.0, 1.0, 0.5])}, {"sampling": "full"}),
    "ellipsoid, queries alone": ({"law": Cosine(2.0), "covariates": Ellipsoid([4.0, 1.0, 0.5])}, {"sampling": None}),
    "normal covariates": (
        {"law": Affine(), "covariates": Gaussian(np.eye(3))},
        {"interval": "normal", "contexts": 8000, "w": [0.1]},
    ),
    "product of spheres": (
        {"law": LowRank(axes(3, 2), Cosine(4.0)), "covariates": ProductOfSpheres(axes(3, 1), c_u=2.0)},
        {},
    ),
    "mapped normals": (
        {"law": ReLU(), "covariates": MappedNormals(lambda z: z / abs(z).max(axis=-1, keepdims=True), radius=2.0)},
        {},
    ),
    "rational kernel": ({"law": ReLU()}, {"attention": Rational(1.0)}),
    "box kernel": ({"law": ReLU()}, {"attention": Box()}),
    "Epanechnikov's kernel": ({"law": Affine()}, {"attention": Epanechnikov()}),
    "normalised linear attention": ({"law": Affine()}, {"attention": NormalisedLinear(), "w": [0.5, 0.1]}),
    "offset": ({"law": WithOffset(ReLU())}, {}),
    "sum": ({"law": ReLU() + Cosine(2.0)}, {}),
    "network": ({"law": ReLUNetwork(bias=0.5)}, {}),
    "transformed": ({"law": Transformed(np.diag([1.0, 0.5, 2.0]), ReLU())}, {}),
}


@pytest.mark.parametrize(("problem", "options"), PATHS.values(), ids=PATHS.keys())
def test_every_path_gives_the_samples_of_numpy(cupy: Any, problem: dict[str, Any], options: dict[str, Any]) -> None:
    asked = Problem(d=3, n=20, **problem)
    given = {"w": W, "contexts": 300, **options}
    plain, there = (loss_terms(asked, method="montecarlo", backend=name, **given) for name in ("numpy", "cupy"))
    for part in ("noise", "bias", "noise_error", "bias_error"):
        np.testing.assert_allclose(getattr(there, part), getattr(plain, part), rtol=1e-9, atol=1e-13)
