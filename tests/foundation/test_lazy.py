"""Packages whose names are imported on first use."""

from __future__ import annotations

import compileall
import inspect
import json
import shutil
import subprocess
import sys
from importlib import import_module
from importlib.util import cache_from_source
from pathlib import Path

import pytest

import lipverify

PACKAGES = ["lipverify", *(f"lipverify.{name}" for name in ("loss", "optimum", "linear_transformer", "problem"))]
OTHERS = ("laws", "covariates", "attention", "scaling", "claims", "report", "export", "loss.asymptotic", "proofs")
ALL = [*PACKAGES, *(f"lipverify.{name}" for name in (*OTHERS, "properties", "strategies", "falsify"))]


def printed(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


NUMERICAL = ("numpy", "scipy", "sympy", "matplotlib", "flint", "msgspec")
PROBLEM = "import lipverify as lv; problem = lv.Problem(d=5, n=100, law=lv.laws.ReLU())"
COMMANDS = """from lipverify.cli import main
for command in ("list", "explain softmax.window-printed", "list no.such.claim", "complete softmax.w"):
    try: main(command.split())
    except SystemExit: pass"""
REFUSALS = f"""from lipverify.errors import OutOfReach; {PROBLEM}
for law in (lv.laws.Affine(), lv.laws.ReLU(), lv.laws.Quadratic(), lv.laws.Cosine()):
    try: raise SystemExit(lv.loss_terms(problem.replace(law=law), 5.0, "asymptotic"))
    except OutOfReach: pass"""
LIGHT: dict[str, tuple[str, tuple[str, ...], str, str]] = {
    "the packages": (f"import {', '.join(PACKAGES)}", NUMERICAL, "lipverify.Problem", "numpy"),
    "the plugin": ("import pytest, lipverify.pytest_plugin", NUMERICAL, "lipverify.Problem", "numpy"),
    "a window": (
        f"{PROBLEM}; lv.optimal_window(problem)", ("sympy", "flint", "scipy.optimize", "scipy.linalg"),
        "lv.optimum.optimal_scale(problem)", "sympy",
    ),
    "a refusal to derive": (REFUSALS, ("sympy",), "lv.leading(law)", "sympy"),
    "commands about claims": (
        COMMANDS, (*NUMERICAL[1:5], "pebble", "lipverify.loss.methods"), "import lipverify.loss.methods",
        "lipverify.loss.methods",
    ),
}  # fmt: skip
"""What is done, the modules that it needs not, and what needs one of them."""


@pytest.mark.parametrize("what", LIGHT)
def test_what_needs_no_library_loads_none(what: str) -> None:
    code, heavy, more, loads = LIGHT[what]
    loaded = f"print(sorted({{*{heavy}}} & set(sys.modules)), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\n{loaded}\n{more}\n{loaded}"], capture_output=True, text=True
    )
    none, some = done.stderr.splitlines()[-2:]
    assert (done.returncode, none) == (0, "[]")
    assert loads in some


@pytest.mark.parametrize("package", ALL)
def test_every_public_name_is_there_and_no_other(package: str) -> None:
    module = import_module(package)
    shown = [name for name in dir(module) if not name.startswith("_")]
    assert sorted(name for name in module.__all__ if not name.startswith("_")) == shown
    assert package not in PACKAGES or set(module.__all__) == set(dir(module))
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


def public_names() -> dict[str, list[str]]:
    """All packages of the library with their public names, each of which is imported; also run in other processes."""
    from importlib import import_module
    from pkgutil import walk_packages

    import lipverify

    packages = ["lipverify", *(info.name for info in walk_packages(lipverify.__path__, "lipverify.") if info.ispkg)]
    modules = [import_module(package) for package in packages if not package.startswith("lipverify.checks")]
    names = {module.__name__: getattr(module, "__all__", []) for module in modules}
    for module in modules:
        for name in names[module.__name__]:
            getattr(module, name)
    return {package: sorted(found) for package, found in names.items()}


USE = f"""
import json
import lipverify as lv
{inspect.getsource(public_names)}

def test_use() -> None:
    loss = lv.loss_terms(lv.Problem(d=3, n=100, law=lv.laws.ReLU()), 1.0).total
    with open("use.json", "w") as file:
        json.dump([lv.__file__, type(lv.__spec__.loader).__name__, loss, public_names()], file)

if __name__ == "__main__":
    test_use()
"""
UNDER_PYTEST = ["-m", "pytest", "-p", "no:lipverify"]
FORMS = {"SourcelessFileLoader": [], "zipimporter": [], "AssertionRewritingHook": UNDER_PYTEST}
"""The loaders that Python has for bytecode without source, for a zip and under pytest, and how each is run."""


@pytest.fixture
def installed(loader: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a script that uses the library, which Python finds only in the form that this loader reads.

    pytest rewrites the assertions of a package with a plugin, of which only a wheel lists the files.
    """
    path = tmp_path / "installed"
    package = Path(lipverify.__file__).parent
    shutil.copytree(package, path / "lipverify", ignore=shutil.ignore_patterns("__pycache__"))
    if loader == "SourcelessFileLoader":
        compileall.compile_dir(package, quiet=1)  # what an import has not compiled yet
        for source in path.rglob("*.py"):
            kept = cache_from_source(str(package / source.relative_to(path / "lipverify")))
            shutil.copyfile(kept, source.with_suffix(".pyc"))
            source.unlink()
    if loader == "zipimporter":
        path = Path(shutil.make_archive(str(path), "zip", path))
    if loader == "AssertionRewritingHook":
        (tmp_path / "conftest.py").write_text("import pytest\npytest.register_assert_rewrite('lipverify')\n")
    (tmp_path / "test_use.py").write_text(USE)
    monkeypatch.setenv("PYTHONPATH", str(path))
    monkeypatch.chdir(tmp_path)
    return path


@pytest.mark.parametrize(
    "loader", [pytest.param(name, marks=[pytest.mark.slow] * (name != "SourcelessFileLoader")) for name in FORMS]
)
def test_the_public_names_need_no_source_and_a_verification_without_it_is_refused(loader: str, installed: Path) -> None:
    done = subprocess.run([sys.executable, *FORMS[loader], "test_use.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    file, used, loss, names = json.loads(Path("use.json").read_text())
    assert (Path(file).is_relative_to(installed), used) == (True, loader)
    assert loss == lipverify.loss_terms(lipverify.Problem(d=3, n=100, law=lipverify.laws.ReLU()), 1.0).total
    assert names == public_names()
    if loader == "AssertionRewritingHook":
        return
    command = [sys.executable, "-m", "lipverify"]
    subprocess.run([*command, "new", "claim", "mine.py"], capture_output=True, check=True)
    for words in (["list"], ["verify", "mine.py"]):
        done = subprocess.run([*command, *words], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), done.stderr
        assert "install lipverify from its wheel" in done.stderr


def test_packages_are_imported_through_their_public_names() -> None:
    rooms = ["linear_transformer.GDPlusPlus", "optimum.optimal_block", "loss.block_terms", "problem.Problem"]
    rooms += ["scaling.growth", "laws.ReLU", "covariates.Ellipsoid"]
    reached = ", ".join(f"lv.{room}.__name__" for room in rooms)
    assert printed(f"import lipverify as lv; print({reached})").split() == [room.split(".")[1] for room in rooms]
