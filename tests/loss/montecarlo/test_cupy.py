"""Every path of the documents with CuPy's own signatures, over NumPy: see `tests/stand_in/cupy.py`."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lipverify import Problem, loss_terms
from lipverify.attention import Box, Epanechnikov, NormalisedLinear, Rational
from lipverify.covariates import Ellipsoid, Gaussian, MappedNormals, ProductOfSpheres, axes
from lipverify.errors import InvalidInput, OutOfReach
from lipverify.laws import (
    RBF,
    Affine,
    Cosine,
    Linear,
    LowRank,
    Quadratic,
    ReLU,
    Sampled,
    Transformed,
    WithOffset,
)
from tests import ROOT


def waves(rng: np.random.Generator, contexts: int, d: int) -> Any:
    """Functions whose parameters are NumPy's, as the documents write them."""
    q = rng.standard_normal((contexts, 1, d))
    return lambda x: np.tanh((q * x).sum(axis=-1))


W = np.array([3.0, 0.0, 0.5, 2.0, 1.0])
M = np.diag([1.0, 2.0, 0.5])
PARTS = ("noise", "bias", "noise_error", "bias_error")
PATHS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "affine kernel": ({"law": Affine()}, {}),
    "relu kernel": ({"law": ReLU()}, {}),
    "cosine kernel": ({"law": Cosine(3.0)}, {}),
    "quadratic kernel": ({"law": Quadratic(2.0)}, {}),
    "linear kernel": ({"law": Linear(2.0)}, {}),
    "until an accuracy": ({"law": Affine()}, {"contexts": None, "rtol": 0.6}),
    "normal interval": ({"law": ReLU()}, {"interval": "normal", "contexts": 4800}),
    "full": ({"law": ReLU()}, {"sampling": "full"}),
    "full, affine": ({"law": Affine()}, {"sampling": "full"}),
    "matrix": ({"law": ReLU()}, {"M": M}),
    "linear attention": ({"law": ReLU()}, {"attention": "linear"}),
    "ellipsoid": ({"law": Affine(), "covariates": Ellipsoid([4.0, 1.0, 0.5])}, {}),
    "ellipsoid, relu": ({"law": ReLU(), "covariates": Ellipsoid([4.0, 1.0, 0.5])}, {}),
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
    "transformed": ({"law": Transformed(np.diag([1.0, 0.5, 2.0]), ReLU())}, {}),
    "sampler": ({"law": Sampled(waves, extent=2.0)}, {}),
    "sampler, matrix": ({"law": Sampled(waves, extent=2.0)}, {"M": M}),
}


@pytest.mark.parametrize(("problem", "options"), PATHS.values(), ids=PATHS.keys())
def test_every_path_gives_the_samples_of_numpy_and_chunks_are_halved_until_they_fit(
    cupy: Any, monkeypatch: pytest.MonkeyPatch, problem: dict[str, Any], options: dict[str, Any]
) -> None:
    """No bit changes with room for arrays a quarter of the largest; with none the refusal is one line."""
    asked = Problem(d=3, n=20, **problem)
    given = {"method": "montecarlo", "w": W, "contexts": 300, **options}
    cupy.State.largest = 0
    plain, whole = (loss_terms(asked, backend=name, **given) for name in ("numpy", "cupy"))
    for part in PARTS:
        np.testing.assert_allclose(getattr(whole, part), getattr(plain, part), rtol=1e-9, atol=1e-13)
    room = cupy.State.largest // 4
    if not isinstance(asked.law, Sampled):  # its functions take the points of all contexts of a chunk at once
        monkeypatch.setenv("CUPY_STAND_IN_BYTES", str(room))
        cupy.State.largest = 0
        halved = loss_terms(asked, backend="cupy", **given)
        assert 0 < cupy.State.largest <= 4 * room
        assert all(np.array_equal(getattr(halved, part), getattr(whole, part)) for part in PARTS)
        room = 8
    monkeypatch.setenv("CUPY_STAND_IN_BYTES", str(room))
    with pytest.raises(OutOfReach, match="does not suffice for the smallest chunk"):
        loss_terms(asked, backend="cupy", **given)


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        ({"law": RBF()}, r"^law = RBF\(.* is sampled by NumPy alone"),
        (
            {"law": ReLU(), "covariates": MappedNormals(lambda z: (z @ M).clip(-1, 1), radius=2.0)},
            r"^backend = 'cupy': a function of a law or of covariates mixes .* use --backend numpy\.$",
        ),
    ],
)
def test_a_law_that_only_numpy_can_draw_is_refused_in_one_line(
    cupy: Any, problem: dict[str, Any], message: str
) -> None:
    asked = Problem(d=3, n=20, **problem)
    assert loss_terms(asked, W, "montecarlo", contexts=30).noise.shape == W.shape
    with pytest.raises(InvalidInput, match=message):
        loss_terms(asked, W, "montecarlo", contexts=30, backend="cupy")


def test_signatures_are_recorded_from_cupy_and_not_from_the_stand_in() -> None:
    """The command of the documentation, in the folder where `cupy` is also the stand-in's name."""
    folder = Path("tests", "stand_in")
    done = subprocess.run([sys.executable, str(folder / "record.py")], cwd=ROOT, capture_output=True, text=True)
    if find_spec("cupy") is None:
        assert "No module named 'cupy'" in done.stderr
    else:
        new, recorded = json.loads(done.stdout), json.loads((ROOT / folder / "signatures.json").read_text())
        assert new["version"] != recorded["version"] or new == recorded
