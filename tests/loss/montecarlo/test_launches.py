"""The array path on a device: few launches, as many contexts at once as there is room for, and the same samples."""

from __future__ import annotations

import runpy
from typing import Any

import array_api_strict
import numpy as np
import pytest

from lipverify import Problem, loss_terms
from lipverify.covariates import Ellipsoid, Sphere
from lipverify.foundation.arrays import to_host  # internal: samples of another library
from lipverify.laws import Law, ReLU, Ridge, Sampled
from lipverify.loss.montecarlo.backend import NUMPY, Backend  # internal: the room for the arrays of a call
from lipverify.loss.montecarlo.terms import sampler  # internal: sample by sample
from tests import ROOT

LAUNCHES = runpy.run_path(str(ROOT / "benchmarks" / "launches.py"))
OWN = Ridge(lambda z: abs(z - 0.5) * z, kinks=(0.5,))
M = np.diag([1.0, 2.0, 0.5])


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name in ("full, matrix", "full, normal covariates")))
        for name in LAUNCHES["PATHS"]
    ],
)
def test_with_a_gibibyte_a_path_launches_at_most_two_hundred_operations(name: str) -> None:
    """2000 contexts of 1000 tokens at eight w; every array that the library makes is counted, views as well."""
    rooms = LAUNCHES["ROOMS"]
    ends = (LAUNCHES["launches_and_peak"](name, room) for room in rooms)
    (launches, peak, at_once, written), (more, less, fewer, as_many) = ends
    assert 0 < written < 1.1 * as_many  # sums of one more stretch are all that smaller calls add
    assert 0 < launches <= 200 < more
    assert fewer < at_once
    assert all(0 < bytes_ <= room for bytes_, room in zip((peak, less), rooms, strict=True))


def waves(rng: np.random.Generator, contexts: int, d: int) -> Any:
    """Functions that belong to all contexts of a chunk."""
    q = array_api_strict.asarray(rng.standard_normal((contexts, 1, d)))

    def values(x: Any) -> Any:
        xp = x.__array_namespace__() if hasattr(x, "__array_namespace__") else np
        return xp.sum(xp.asarray(np.asarray(q)) * x, axis=-1)

    return values


@pytest.mark.parametrize(
    ("law", "options"),
    [
        (ReLU(), {"sampling": "reduced"}),
        (OWN, {"sampling": "reduced"}),
        (ReLU(), {"sampling": "full"}),
        (ReLU(), {"sampling": "full", "M": M}),
        (Sampled(waves, extent=30.0), {"sampling": "full"}),
        (ReLU(), {"attention": "linear"}),
    ],
)
@pytest.mark.parametrize("covariates", [Sphere(), Ellipsoid([4.0, 1.0, 0.5])])
def test_a_call_takes_the_chunks_for_which_there_is_room_and_the_samples_stay(
    law: Law, options: dict[str, Any], covariates: Any
) -> None:
    problem = Problem(d=3, n=300, law=law, covariates=covariates)
    if not problem.isotropic:
        options = options | {"sampling": "full"}
    backends = (NUMPY, *(Backend(array_api_strict, room=room) for room in (2**20, 2**28)))
    plain, narrow, wide = (sampler(problem, np.array([0.5, 1.0, 3.0]), backend=each, **options) for each in backends)
    assert plain.at_once == plain.size <= narrow.at_once < wide.at_once
    for first, count in ((0, 700), (130, 500), (2 * plain.size - 1, 2)):  # within chunks and across them
        some = range(first, first + count, 97)
        whole = to_host(wide.rows(first, count))
        np.testing.assert_allclose(whole[::97], np.concatenate([plain.rows(k, 1) for k in some]), rtol=1e-10)


def test_without_kernels_named_laws_are_computed_by_arrays_with_the_numbers_of_the_device(
    cupy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, launched = cupy.run_kernel, set()

    def noted(name: str, *arguments: Any) -> None:
        launched.add(name.partition("<")[0])
        run(name, *arguments)

    monkeypatch.setattr(cupy, "run_kernel", noted)
    problem, w = Problem(d=3, n=20, law=ReLU()), [0.5, 1.0, 3.0]
    plain = loss_terms(problem, w, "montecarlo", contexts=300)
    for kernels, names in ((False, {"uniforms", "moments"}), (True, {"samples", "moments"})):
        launched.clear()
        terms = loss_terms(problem, w, "montecarlo", contexts=300, backend="cupy", kernels=kernels)
        assert launched == names
        for part in ("noise", "bias", "noise_error", "bias_error"):
            np.testing.assert_allclose(getattr(terms, part), getattr(plain, part), rtol=1e-9)
