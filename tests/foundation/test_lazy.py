"""Packages whose names are imported on first use."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

PACKAGES = ["lipverify", *(f"lipverify.{name}" for name in ("loss", "optimum", "linear_transformer", "problem"))]


def printed(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def test_importing_the_packages_loads_no_numerical_library() -> None:
    heavy = "{'numpy', 'scipy', 'sympy', 'matplotlib', 'flint', 'msgspec'}"
    assert printed(f"import sys, {', '.join(PACKAGES)}; print(sorted({heavy} & set(sys.modules)))") == "[]"
    assert "numpy" in printed(f"import sys, lipverify; lipverify.Problem; print({heavy} & set(sys.modules))")


def test_a_window_needs_no_symbols_and_no_optimiser() -> None:
    """Half of the modules that the first optimal w would load; one near the origin and the optimal c do need them."""
    heavy = "{'sympy', 'flint', 'scipy.optimize', 'scipy.linalg'}"
    window = "import sys, lipverify as lv; lv.optimal_window(lv.Problem(d=3, n=100, law=lv.laws.ReLU()))"
    assert printed(f"{window}; print(sorted({heavy} & set(sys.modules)))") == "[]"
    scale = "lv.optimum.optimal_scale(lv.Problem(d=3, n=100, law=lv.laws.ReLU()))"
    assert "sympy" in printed(f"{window}; {scale}; print({heavy} & set(sys.modules))")


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_there_and_no_other(package: str) -> None:
    module = import_module(package)
    assert set(module.__all__) == set(dir(module))
    for name in module.__all__:
        assert getattr(module, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = module.nothing


@pytest.mark.parametrize("package", PACKAGES[1:])
def test_no_public_name_is_hidden_by_a_module(package: str) -> None:
    """Importing lipverify.x.leading would put the module where the function `leading` of lipverify.x is expected."""
    module = import_module(package)
    assert module.__file__ is not None
    modules = {path.stem for path in Path(module.__file__).parent.iterdir()}
    assert not modules & set(module.__all__)


def test_packages_are_imported_through_their_public_names() -> None:
    rooms = ["linear_transformer.GDPlusPlus", "optimum.optimal_block", "loss.block_terms", "problem.Problem"]
    rooms += ["scaling.growth", "laws.ReLU", "covariates.Ellipsoid"]
    reached = ", ".join(f"lv.{room}.__name__" for room in rooms)
    assert printed(f"import lipverify as lv; print({reached})").split() == [room.split(".")[1] for room in rooms]
