"""The kernel on a CPU: its samples compared with the definition and the NumPy path, and the life cycle of its library.

The comparisons and their bounds on rounding are those of the GPU code (`tests.loss.montecarlo.test_compiled`).
"""

from __future__ import annotations

import ctypes
import itertools
import platform
import shutil
import stat
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lipverify import Problem
from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation import Floats, compiling  # internal: the life of a compiled library, its folder replaced
from lipverify.foundation.streams import key_of as key_of_cell  # internal: the key that the kernel is given
from lipverify.laws import Affine, Cosine, Law, Linear, Quadratic, ReLU
from lipverify.loss.montecarlo.compiled import assembled, native  # internal: the source is extended
from lipverify.loss.montecarlo.reduced import Reduced  # internal: the same samples by NumPy
from lipverify.loss.montecarlo.windows import grid_of  # internal: the grid of w that a kernel is given
from tests.loss.montecarlo.test_compiled import (
    EPS,
    GRID,
    LAWS,
    Question,
    by_day,
    changed,
    deviation,
    key_of,
    plain_samples,
)
from tests.strategies import log_floats

CACHE_FOLDER = compiling.cache_folder  # before a fixture replaces it
needs_compiler = pytest.mark.skipif(not compiling.has_compiler(), reason="no C compiler: set CC")
ANSWER = "int answer(void) { return 42; }\n"

FUNCTIONS = r"""
#define EXPORTED(name, value) \
    void name(int count, const double *x, double *out) \
    { \
        for (int i = 0; i < count; i += LANES) { \
            lanes v, other; \
            memcpy(&v, x + i, sizeof v); \
            (void)other; \
            v = value; \
            memcpy(out + i, &v, sizeof v); \
        } \
    }
INLINE lanes cosine_of(lanes v) { lanes c, s; turned(v, &c, &s); return c; }
INLINE lanes sine_of(lanes v) { lanes c, s; turned(v, &c, &s); return s; }
EXPORTED(exported_logarithm, logarithm(v))
EXPORTED(exported_one_less_exponential, one_less_exponential(v))
EXPORTED(exported_cosine, cosine_of(v))
EXPORTED(exported_sine, sine_of(v))
"""


@pytest.fixture(scope="module", autouse=True)
def kept_apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cache of libraries for these tests only."""
    folder = tmp_path_factory.mktemp("cache")
    native._loaded.cache_clear()
    with patch.object(compiling, "cache_folder", lambda: folder):
        yield
    native._loaded.cache_clear()


def native_samples(asked: Question) -> tuple[Floats, Floats]:
    return native.samples(asked.law, asked.L, asked.d, asked.n, asked.ladders, asked.key, asked.first, asked.bundles)


# Samples


@needs_compiler
@pytest.mark.parametrize(("d", "n"), [(2, 7), (3, 1), (50, 2), (8, 1000)])
@pytest.mark.parametrize("law", [Affine(), Linear(2.0), ReLU(), Cosine(2.5), Quadratic(2.0)])
def test_samples_are_those_of_reduced_sampling(law: Law, d: int, n: int) -> None:
    """Both are within the bounds on rounding of the definition, so they are within twice these of each other."""
    ladders = [(0.0, 1), (1e-3, 8), (0.7, 8), (3e3, 5), (1e6, 1)]
    name = "affine" if law.name == "linear" else law.name
    asked = Question(name, 2.5, d, n, ladders, key_of_cell(3, "native"), first=0, bundles=20)
    plain = Reduced(Problem(d=d, n=n, law=law), grid_of(asked.windows), seed=3, stream="native").chunk(0)[:20]
    computed = np.concatenate(native.samples(law.name, 2.5, d, n, ladders, asked.key, 0, 20), axis=1)
    assert np.all(np.abs(computed - plain) <= 2 * np.concatenate(plain_samples(asked)[2:], axis=1))


@needs_compiler
@given(
    law=st.sampled_from(LAWS),
    L=log_floats(0.1, 30.0),
    d=st.integers(2, 200),
    n=st.one_of(st.integers(1, 300), st.integers(2040, 2060)),
    base=log_floats(1e-6, 1e6),
    rungs=st.integers(1, 8),
    first=st.integers(0, 2**40),
)
def test_samples_are_those_of_the_definition_wherever(
    law: str, L: float, d: int, n: int, base: float, rungs: int, first: int
) -> None:
    asked = Question(law, L, d, n, [(base, rungs)], key_of(law, d, n), first, bundles=2)
    assert deviation(asked, native_samples(asked)) <= 1


@needs_compiler
@given(
    law=st.sampled_from(LAWS),
    d=st.integers(2, 20),
    n=st.one_of(st.integers(1, 100), st.just(2050)),
    cuts=st.lists(st.integers(0, 20), max_size=3),
    ladders=st.permutations([(0.0, 1), (0.3, 8), (5.0, 11), (1e5, 2)]),
)
def test_samples_do_not_depend_on_how_the_work_is_cut(
    law: str, d: int, n: int, cuts: list[int], ladders: list[tuple[float, int]]
) -> None:
    """To the last bit, for any selection of bundles and of w."""
    whole = np.stack(native.samples(law, 1.0, d, n, ladders, 1, 100, 20))
    edges = [0, *sorted(cuts), 20]
    parts = [native.samples(law, 1.0, d, n, ladders, 1, 100 + a, b - a) for a, b in itertools.pairwise(edges)]
    assert np.array_equal(whole, np.concatenate([np.stack(part) for part in parts], axis=1))
    alone = [native.samples(law, 1.0, d, n, [ladder], 1, 100, 20) for ladder in ladders]
    assert np.array_equal(whole, np.concatenate([np.stack(part) for part in alone], axis=2))


@needs_compiler
def test_threads_do_not_disturb_each_other() -> None:
    asked = [Question("relu", 1.0, d, 50, GRID, key_of("threads", d), 0, bundles=40) for d in range(2, 10)]
    expected = [native_samples(question) for question in asked]
    with ThreadPoolExecutor(4) as pool:
        computed = list(pool.map(native_samples, 5 * asked))
    assert np.array_equal(np.array(computed), np.array(5 * expected))


@needs_compiler
def test_another_address_is_noticed() -> None:
    asked = Question("relu", 1.0, 5, 100, [(0.5, 8)], key_of("control"), first=3, bundles=4)
    assert deviation(asked, native_samples(asked)) <= 1
    for key, first in ((asked.key ^ 1, 3), (asked.key ^ 1 << 127, 3), (asked.key, 4)):
        other = Question("relu", 1.0, 5, 100, [(0.5, 8)], key, first, 4)
        assert deviation(asked, native_samples(other)) > 1e3


@needs_compiler
@pytest.mark.parametrize("law", LAWS)
def test_the_smallest_and_the_largest_windows_have_their_limits(law: str) -> None:
    """Uniform weights, and all weight on the nearest token, for bundles where no other is near."""
    n, windows = 5, [(0.0, 1), (5e-324, 1), (2.0**50, 1), (1e200, 1), (float(np.finfo(float).max), 1)]
    noise, bias = native.samples(law, 1.0, 3, n, windows, 7, 0, 100)
    assert np.all(np.abs(noise[:, :2] - 1 / n) <= n * EPS)
    assert np.array_equal(noise[:, 2:], np.ones((100, 3)))
    assert np.array_equal(bias[:, 2], bias[:, 3])
    assert np.array_equal(bias[:, 2], bias[:, 4])
    assert np.all(np.isfinite(bias))


@needs_compiler
def test_the_noise_of_one_token_is_one_exactly() -> None:
    """Its bounds leave no room for rounding."""
    noise, _ = native.samples("relu", 1.0, 5, 1, GRID, 3, 0, 200)
    assert np.array_equal(noise, np.ones_like(noise))


@needs_compiler
def test_a_call_keeps_the_treatment_of_subnormal_numbers() -> None:
    native.samples("affine", 1.0, 3, 10, [(1e6, 8)], 0, 0, 8)
    assert np.array([2.0**-1060]) * np.array([0.5]) > 0


@needs_compiler
def test_no_bundles_are_no_samples() -> None:
    noise, bias = native.samples("linear", 1.0, 3, 10, [(1.0, 2), (3.0, 1)], 0, 0, 0)
    assert noise.shape == bias.shape == (0, 3)


# The elementary functions


@cache
def functions() -> ctypes.CDLL:
    return compiling.compiled(assembled("native.c") + FUNCTIONS, lambda _: True)


def spread(low: float, high: float, count: int = 500) -> Floats:
    return np.exp(np.linspace(np.log(low), np.log(high), count))


UNIFORMS = np.concatenate([spread(2.0**-54, 1.0), 1 - spread(2.0**-53, 0.5), np.linspace(0.3, 1.0, 1000)])
TURNS = np.concatenate([np.arange(1024) / 1024, 1 - spread(2.0**-53, 1e-3), spread(2.0**-53, 1e-3, 476)])


@needs_compiler
@pytest.mark.parametrize(
    ("name", "x", "exact"),
    [
        ("logarithm", UNIFORMS, mpmath.log),
        ("one_less_exponential", -spread(1e-18, 100.0, 2000), lambda x: -mpmath.expm1(x)),
        ("cosine", TURNS, lambda v: mpmath.cospi(2 * v)),
        ("sine", TURNS, lambda v: mpmath.sinpi(2 * v)),
    ],
)
def test_elementary_functions_are_within_two_units_of_rounding(
    name: str, x: Floats, exact: Callable[[Any], Any]
) -> None:
    assert x.size % 8 == 0
    computed = np.full_like(x, np.nan)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (x, computed)]
    getattr(functions(), f"exported_{name}")(x.size, *pointers)
    with mpmath.workprec(120):
        expected = [exact(mpmath.mpf(value)) for value in x]
        error = np.array([float(abs(y - e)) for y, e in zip(computed, expected, strict=True)])
    assert np.all(error <= 2 * EPS * np.abs(np.array([float(e) for e in expected])))


# Compilers


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """An empty cache."""
    with patch.object(compiling, "cache_folder", lambda: tmp_path / "kept"):
        yield tmp_path / "kept"


def script(path: Path, body: str) -> str:
    """A compiler made of a shell script."""
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def answers(library: ctypes.CDLL) -> bool:
    return bool(library.answer() == 42)


@needs_compiler
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="these flags are of x86-64")
@pytest.mark.parametrize(
    "flag", ["-mno-avx", *(pytest.param(f, marks=pytest.mark.slow) for f in ("-mno-avx512f", "-mno-fma"))]
)
def test_registers_of_any_width_give_the_samples(flag: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", f"{compiling.require_compiler()[0]} {flag}")
    narrow = compiling.compiled(assembled("native.c"), native._computes)
    for n in (9, 2050):
        asked = Question("affine", 1.0, 5, n, GRID, key_of("narrow", n), first=1, bundles=5)
        arguments = (asked.L, asked.d, asked.n, asked.ladders, asked.key, asked.first, asked.bundles)
        assert deviation(asked, native._samples(narrow, asked.law, *arguments)) <= 1


@needs_compiler
def test_a_product_by_halves_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    question = ("relu", 1.0, 5, 100, GRID, 2**127 + 12345, 3, 10)
    monkeypatch.setenv("CC", f"{compiling.require_compiler()[0]} -U__SIZEOF_INT128__")
    halves = compiling.compiled(assembled("native.c"), native._computes)
    assert np.array_equal(native._samples(halves, *question), native.samples(*question))


TAMPERED = {
    "another round of Philox": ("round < 10", "round < 9"),
    "a place of rounding less": ("SHIFT = 0x1.8p52;", "SHIFT = 0x1.8p51;"),
    "a maximum that is forgotten": ("if (!any(raised > ladder->exponent))", "if (1)"),
    "lanes not joined": ("join(law, rungs, &sums[r]);", ";"),
    "the last ladder short": ("ON_RUNGS(law, 3)", ""),
}


@needs_compiler
@pytest.mark.parametrize("change", by_day(TAMPERED, most=2))
def test_a_library_that_computes_wrongly_is_refused_and_deleted(change: tuple[str, str], folder: Path) -> None:
    with pytest.raises(OutOfReach, match=r"^backend = 'native': what .* made of the code computes wrongly; .*numpy\.$"):
        compiling.compiled(changed(assembled("native.c"), change), native._computes)
    assert list(folder.iterdir()) == []


def test_without_a_compiler_one_line_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    message = r"^backend = 'native': no C compiler was found \(cc, gcc or clang, or set CC\); use --backend numpy\.$"
    monkeypatch.setenv("PATH", str(tmp_path))
    for variable in ("", "no-such-compiler -O2"):
        monkeypatch.setenv("CC", variable)
        assert not compiling.has_compiler()
        with pytest.raises(InvalidInput, match=message):
            compiling.require_compiler()


@pytest.mark.parametrize(
    ("body", "quoted"),
    [
        (
            "echo 'In file included:' >&2; echo 'native.c:1: error: no vectors here' >&2; exit 1",
            r"native\.c:1: error: no vectors here",
        ),
        # a library that cannot be loaded
        ('while [ $# -gt 1 ]; do [ "$1" = -o ] && echo nonsense > "$2"; shift; done', ".+"),
    ],
)
def test_a_compiler_that_fails_is_quoted(
    body: str, quoted: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, folder: Path
) -> None:
    monkeypatch.setenv("CC", script(tmp_path / "cc", body))
    with pytest.raises(InvalidInput, match=rf"cc does not compile the code \({quoted}\); set CC to another compiler"):
        compiling.compiled(ANSWER, answers)


@needs_compiler
def test_a_compiler_that_does_not_know_the_processor_is_used_without(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, folder: Path
) -> None:
    refuse = 'case "$*" in *-march=native*) echo "error: bad value" >&2; exit 1;; esac'
    body = f'{refuse}\nexec {compiling.require_compiler()[0]} "$@"'
    monkeypatch.setenv("CC", script(tmp_path / "cc", body))
    assert answers(compiling.compiled(ANSWER, answers))


# The cache


@needs_compiler
def test_a_library_is_compiled_once(folder: Path) -> None:
    assert answers(compiling.compiled(ANSWER, answers))
    assert sorted(path.suffix for path in folder.iterdir()) == [".json", ".so"]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    with patch.object(compiling, "_compiled", side_effect=AssertionError("compiled again")):
        assert answers(compiling.compiled(ANSWER, answers))
        with pytest.raises(AssertionError, match="compiled again"):
            compiling.compiled(ANSWER + "/* changed */", answers)


@needs_compiler
@pytest.mark.parametrize(
    "damage", [lambda whole: whole[: len(whole) // 2], lambda whole: b"", lambda whole: whole + b"x"]
)
def test_a_damaged_library_is_replaced(damage: Callable[[bytes], bytes], folder: Path) -> None:
    compiling.compiled(ANSWER, answers)
    (path,) = folder.glob("*.so")
    whole = path.read_bytes()
    path.unlink()  # the loaded file must stay as it is
    path.write_bytes(damage(whole))
    assert answers(compiling.compiled(ANSWER, answers))
    (replaced,) = folder.glob("*.so")
    assert replaced.read_bytes() == whole


@needs_compiler
def test_a_cached_library_that_computes_wrongly_is_compiled_again(folder: Path) -> None:
    compiling.compiled(ANSWER, answers)
    (path,) = folder.glob("*.so")
    wrong = compiling.compiled(ANSWER.replace("42", "41"), lambda _: True)
    other = next(kept for kept in folder.glob("*.so") if kept != path)
    assert not answers(wrong)
    path.unlink()
    content = other.read_bytes()
    shutil.copy(other, folder / f"{path.stem.partition('-')[0]}-{other.stem.partition('-')[2]}.so")
    assert other.read_bytes() == content
    assert answers(compiling.compiled(ANSWER, answers))
    assert path.exists()


@needs_compiler
@pytest.mark.parametrize("recorded", [False, True])
def test_a_library_that_was_planted_is_not_loaded(folder: Path, recorded: bool) -> None:
    compiling.compiled(ANSWER, answers)
    (path,) = folder.glob("*.so")
    planted = compiling._compiled([*compiling.require_compiler(), "-shared", "-fPIC"], ANSWER + "/**/", folder, "other")
    content = planted.stem.partition("-")[2]
    path.unlink()
    target = folder / f"{path.stem.partition('-')[0]}-{content}.so"
    planted.rename(target)
    if recorded:  # by the record of what was there before
        path.with_suffix(".json").rename(target.with_suffix(".json"))
    with patch.object(ctypes, "CDLL", wraps=ctypes.CDLL) as load:
        assert answers(compiling.compiled(ANSWER, answers))
    assert [Path(call.args[0]) for call in load.call_args_list] == [path]


@needs_compiler
@pytest.mark.parametrize("what", ["folder", "library", "record"])
def test_a_library_writable_by_others_is_not_loaded(folder: Path, what: str) -> None:
    compiling.compiled(ANSWER, answers)
    (path,) = folder.glob("*.so")
    open_to_others = {"folder": folder, "library": path, "record": path.with_suffix(".json")}[what]
    open_to_others.chmod(open_to_others.stat().st_mode | stat.S_IWGRP)
    again = AssertionError("compiled again")
    with patch.object(compiling, "_compiled", side_effect=again), pytest.raises(AssertionError, match="compiled again"):
        compiling.compiled(ANSWER, answers)
    assert answers(compiling.compiled(ANSWER, answers))


@needs_compiler
def test_a_cache_that_is_a_link_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with patch.object(compiling, "cache_folder", lambda: tmp_path / "link"):
        assert answers(compiling.compiled(ANSWER, answers))
    assert list((tmp_path / "elsewhere").iterdir()) == []


@needs_compiler
def test_without_a_cache_a_private_folder_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with patch.object(compiling, "cache_folder", lambda: tmp_path / "file" / "kept"):
        assert answers(compiling.compiled(ANSWER, answers))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.skipif(platform.system() != "Linux", reason="other systems have other folders")
def test_the_cache_lies_where_the_user_keeps_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert CACHE_FOLDER() == tmp_path / "lipverify"
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert CACHE_FOLDER() == tmp_path / ".cache" / "lipverify"
