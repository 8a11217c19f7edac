"""The GPU kernels without a GPU: built by the C compiler, as emulated blocks of threads, and by the run-time compiler.

`plain_samples` is the definition in a few lines of NumPy; the kernels' sources must reproduce it to rounding.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import platform
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from lipverify import Problem
from lipverify.errors import InvalidInput
from lipverify.foundation import Floats, uniforms
from lipverify.foundation.means.samples import leaf_moments  # internal: the device computes them too
from lipverify.laws import Affine, Cosine, Law, Linear, Quadratic, ReLU
from lipverify.loss.montecarlo import compiled as layout  # internal: launches and their layout, without a device
from lipverify.loss.montecarlo.backend import Backend  # internal: the backend around an emulated device
from lipverify.loss.montecarlo.compiled import assembled, launch, native  # internal: the source itself
from lipverify.loss.montecarlo.reduced import Fused, Reduced, is_compiled  # internal: sample by sample
from lipverify.loss.montecarlo.windows import grid_of  # internal: the grid of w that a kernel is given
from tests import ROOT
from tests.stand_in import installed
from tests.strategies import log_floats, target

Ladders = Sequence[tuple[float, int]]

LAWS = ("affine", "relu", "cosine", "quadratic")
EPS = float(np.finfo(float).eps)
WORD = 2**64 - 1
NOWHERE = "no usable GPU here"

# What one lane of the kernel does, for each lane in turn; slots = 1.
SHIM = r"""
#ifdef __cplusplus
extern "C" {
#endif
void host_words(word key_low, word key_high, word low, word high, word blocks, word *out, double *uniforms)
{
    const Wide key = {key_low, key_high}, first = {low, high};
    for (word i = 0; i < blocks; ++i) {
        const Block block = philox(key, plus(first, i));
        for (int j = 0; j < 4; ++j) {
            out[4 * i + j] = block.x[j];
            uniforms[4 * i + j] = uniform(block.x[j]);
        }
    }
}

void host_exponential(word count, const double *x, double *out)
{
    for (word i = 0; i < count; ++i)
        out[i] = decaying_exponential(x[i]);
}

void host_place(word j, word n, word *low, word *high)
{
    const Wide place = place_of(j, n);
    *low = place.low;
    *high = place.high;
}

static void one_query(int r, int slices, int law, int rungs, double base, Wide key, Wide place, Question question,
                      const Task *tasks, Tile tile, double *noise, double *bias)
{
    Sums sums[8];
    const double y0 = observed(law, question.L, tasks[r].c);
    for (int slice = 0; slice < slices; ++slice)
        sums[slice] = no_tokens();
    for (word done = 0; done < question.n; done += tile.capacity) {
        const word left = question.n - done;
        const int count = left < (word)tile.capacity ? (int)left : tile.capacity;
        draw_tokens(done, count, 0, 1, 0, key, place, question, tasks, tile);
        for (int slice = 0; slice < slices; ++slice)
            score_tokens(slice, count, slices, r, y0, law, tile, rungs, base, &sums[slice]);
    }
    for (int slice = 1; slice < slices; ++slice) {
        const double nearest = larger(sums[0].nearest, sums[slice].nearest);
        raise_to(nearest, law, rungs, base, &sums[0]);
        raise_to(nearest, law, rungs, base, &sums[slice]);
        for (int k = 0; k <= rungs; ++k) {
            sums[0].S[k] += sums[slice].S[k];
            for (int j = 0; j < values_of(law); ++j)
                sums[0].T[j][k] += sums[slice].T[j][k];
        }
    }
    for (int k = 0; k < rungs; ++k) {
        double noise_k, bias_k;
        terms_at(k, law, &sums[0], &noise_k, &bias_k);
        noise[k] += noise_k / QUERIES;
        bias[k] += bias_k / QUERIES;
    }
}

void host_samples(word key_low, word key_high, word first, word bundles, int law, int d, word n, double L, int slices,
                  int capacity, int ladders, const double *bases, const int *starts, double *noise, double *bias)
{
    double a[64], b[64], y[QUERIES * 64];
    const Wide key = {key_low, key_high};
    const Question question = {law, d, L, n};
    const Tile tile = {a, b, y, 1, capacity};
    for (word j = 0; j < bundles; ++j) {
        Task tasks[QUERIES];
        const Wide place = place_of(first + j, n);
        for (int r = 0; r < QUERIES; ++r)
            tasks[r] = draw_task(key, place, r, d);
        for (int ladder = 0; ladder < ladders; ++ladder) {
            const word row = j * starts[ladders] + starts[ladder];
            for (int r = 0; r < QUERIES; ++r)
                one_query(r, slices, law, starts[ladder + 1] - starts[ladder], bases[ladder], key, place, question,
                          tasks, tile, noise + row, bias + row);
        }
    }
}
#ifdef __cplusplus
}
#endif
"""


# The blocks of a grid one after the other. A thread of a block runs alone until it comes to a barrier or a shuffle, so
# that what reads or writes before others are there is wrong every time, and not by chance.
DEVICE = r"""
#include <math.h>
#include <string.h>
#define __global__
#define __shared__ static
#define __launch_bounds__(...)
struct Index { int x, y; };
extern thread_local Index threadIdx, blockIdx;
extern Index blockDim;
void __syncthreads();
double __shfl_xor_sync(unsigned, double x, int apart);
void launch_threads(void (*run)(const void *), const void *kernel, int grid_x, int grid_y, int threads);
template <typename Kernel> static void launch(Kernel kernel, int grid_x, int grid_y, int threads)
{
    launch_threads([](const void *called) { (*static_cast<const Kernel *>(called))(); }, &kernel, grid_x, grid_y,
                   threads);
}
"""
# Compiled once for all changed kernels: these headers take longer than a kernel.
THREADS = r"""
#include <barrier>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>
thread_local Index threadIdx, blockIdx;
Index blockDim;
static std::vector<std::unique_ptr<std::barrier<>>> warp_barriers;
static std::unique_ptr<std::barrier<>> block_barrier;
static double exchanged[8][32];
static std::mutex running_alone;
static void meet(std::barrier<> &barrier)
{
    running_alone.unlock();
    barrier.arrive_and_wait();
    running_alone.lock();
}
void __syncthreads() { meet(*block_barrier); }
double __shfl_xor_sync(unsigned, double x, int apart)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    exchanged[warp][lane] = x;
    meet(*warp_barriers[warp]);
    const double received = exchanged[warp][lane ^ apart];
    meet(*warp_barriers[warp]);
    return received;
}
void launch_threads(void (*run)(const void *), const void *kernel, int grid_x, int grid_y, int threads)
{
    blockDim.x = threads;
    block_barrier.reset(new std::barrier<>(threads));
    warp_barriers.clear();
    for (int warp = 0; warp < threads / 32; ++warp)
        warp_barriers.emplace_back(new std::barrier<>(32));
    for (int block = 0; block < grid_x * grid_y; ++block) {
        std::vector<std::thread> running;
        for (int i = 0; i < threads; ++i)
            running.emplace_back([=] {
                threadIdx.x = i;
                blockIdx.x = block % grid_x;
                blockIdx.y = block / grid_x;
                const std::lock_guard<std::mutex> alone(running_alone);
                run(kernel);
            });
        for (std::thread &thread : running)
            thread.join();
    }
}
"""

EMULATED = r"""
struct Samples {
    word key_low, key_high, first, bundles;
    int d;
    word n;
    double L;
    int slices, teams;
    word stretch, first_part;
    int ladders;
    const double *bases;
    const int *starts;
    int columns;
    double *room, *noise, *bias;
};
template <int law, int rungs> static void emulated_samples_of(int grid_x, int grid_y, int threads, Samples s)
{
    launch([=] { samples<law, rungs>(s.key_low, s.key_high, s.first, s.bundles, s.d, s.n, s.L, s.slices, s.teams,
                                     s.stretch, s.first_part, s.ladders, s.bases, s.starts, s.columns, s.room, s.noise,
                                     s.bias); }, grid_x, grid_y, threads);
}
template <int law, int rungs> static void emulated_joined_of(int grid_x, int grid_y, int threads, word parts, Samples s)
{
    launch([=] { joined<law, rungs>(parts, s.ladders, s.bases, s.starts, s.columns, s.room, s.noise, s.bias); },
           grid_x, grid_y, threads);
}
#ifdef SOME /* of a changed source no more than the tests need */
#define OF_ALL(kernel) {{kernel<AFFINE, 1>}, {0, 0, 0, 0, 0, 0, 0, kernel<RELU, 8>}}
#else
#define OF_A_LAW(kernel, law) {kernel<law, 1>, kernel<law, 2>, kernel<law, 3>, kernel<law, 4>, kernel<law, 5>, \
                               kernel<law, 6>, kernel<law, 7>, kernel<law, 8>}
#define OF_ALL(kernel) {OF_A_LAW(kernel, AFFINE), OF_A_LAW(kernel, RELU), OF_A_LAW(kernel, COSINE), \
                        OF_A_LAW(kernel, QUADRATIC)}
#endif
static void (*const samples_of[4][8])(int, int, int, Samples) = OF_ALL(emulated_samples_of);
static void (*const joined_of[4][8])(int, int, int, word, Samples) = OF_ALL(emulated_joined_of);
extern "C" void emulated_samples(
    int law, int rungs, int grid_x, int grid_y, int threads, word key_low, word key_high, word first, word bundles,
    int d, word n, double L, int slices, int teams, word stretch, word first_part, int ladders, const double *bases,
    const int *starts, int columns, double *room, double *noise, double *bias)
{
    samples_of[law][rungs - 1](grid_x, grid_y, threads,
                               {key_low, key_high, first, bundles, d, n, L, slices, teams, stretch, first_part, ladders,
                                bases, starts, columns, room, noise, bias});
}
extern "C" void emulated_joined(int law, int rungs, int grid_x, int grid_y, int threads, word parts, int ladders,
                                const double *bases, const int *starts, int columns, double *room, double *noise,
                                double *bias)
{
    Samples s = {};
    s.ladders = ladders, s.bases = bases, s.starts = starts, s.columns = columns;
    s.room = room, s.noise = noise, s.bias = bias;
    joined_of[law][rungs - 1](grid_x, grid_y, threads, parts, s);
}
extern "C" void emulated_uniforms(int grid_x, int grid_y, int threads, word key_low, word key_high, word low, word high,
                                  word count, double *out)
{
    launch([=] { uniforms(key_low, key_high, low, high, count, out); }, grid_x, grid_y, threads);
}
extern "C" void emulated_moments(int grid_x, int grid_y, int threads, const double *samples, int columns,
                                 const word *cuts, const double *centre, const double *unit, double *out)
{
    launch([=] { moments(samples, columns, cuts, centre, unit, out); }, grid_x, grid_y, threads);
}
"""


@dataclass(frozen=True)
class Question:
    law: str
    L: float
    d: int
    n: int
    ladders: Ladders
    key: int
    first: int
    bundles: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "ladders", tuple(self.ladders))  # hashable, because plain samples are cached

    @property
    def windows(self) -> Floats:
        return np.concatenate([base * 2.0 ** np.arange(rungs) for base, rungs in self.ladders])


def compiled(language: str, text: str, output: Path, *flags: str) -> Path:
    """Compile a source text to an output file; skip where there is no compiler for it."""
    variable, default = {"c": ("CC", "cc"), "c++": ("CXX", "c++")}[language]
    compiler = shutil.which(os.environ.get(variable, default))
    if compiler is None:
        pytest.skip(f"no {language} compiler: set {variable}")
    command = [compiler, "-Wall", "-O1", "-fPIC", "-x", language, "-", "-x", "none", *flags, "-lm", "-o", str(output)]
    subprocess.run(command, input=text, text=True, check=True)
    return output


def shared_library(language: str, text: str, *flags: str) -> ctypes.CDLL:
    with TemporaryDirectory() as folder:
        return ctypes.CDLL(str(compiled(language, text, Path(folder) / "kernels.so", "-shared", *flags)))


def changed(text: str, *changes: tuple[str, str]) -> str:
    """A text with some passages replaced, each of which must occur exactly once."""
    for old, new in changes:
        assert text.count(old) == 1, f"{old!r} is not in the source once"
        text = text.replace(old, new)
    return text


@cache
def host_library(language: str = "c", *changes: tuple[str, str]) -> ctypes.CDLL:
    """The headers and the shim, with some text changed."""
    standard = {"c": "-std=c99", "c++": "-std=c++17"}[language]
    return shared_library(language, changed(assembled("contexts.cuh"), *changes) + SHIM, standard)


def contraction() -> tuple[str, ...]:
    """Flags by which a compiler contracts a product and a sum into one operation, as NVRTC does."""
    machine = platform.machine().lower()
    fused = ("-mfma",) if machine in ("x86_64", "amd64") and "fma" in Path("/proc/cpuinfo").read_text() else ()
    return ("-ffp-contract=fast", *fused)


@cache
def threads() -> bytes:
    """The emulated threads as an object file."""
    with TemporaryDirectory() as folder:
        return compiled("c++", DEVICE + THREADS, Path(folder) / "threads.o", "-c", "-std=c++20").read_bytes()


@cache
def emulator(*changes: tuple[str, str]) -> ctypes.CDLL:
    """The kernels themselves, with some text changed, on emulated blocks of threads, contracted as a GPU's are."""
    # without a name of its own, or else two libraries would share what they call shared memory
    text = f"{DEVICE}namespace {{\n{changed(assembled(), *changes)}\n}}\n{EMULATED}"
    some = ["-DSOME", "-O0"] if changes else []  # mistakes show without optimisation too, which takes half of the time
    with NamedTemporaryFile(suffix=".o") as file:
        file.write(threads())
        file.flush()
        return shared_library("c++", text, file.name, "-std=c++20", "-pthread", *contraction(), *some)


def halves(number: int) -> tuple[ctypes.c_uint64, ctypes.c_uint64]:
    return ctypes.c_uint64(number & WORD), ctypes.c_uint64(number >> 64)


def pointer(array: NDArray[Any]) -> ctypes.c_void_p:
    return array.ctypes.data_as(ctypes.c_void_p)


def host_samples(library: ctypes.CDLL, asked: Question, slices: int = 1, capacity: int = 64) -> tuple[Floats, Floats]:
    """The samples by the kernel's own functions, one lane after the other."""
    starts = np.array([0, *itertools.accumulate(rungs for _, rungs in asked.ladders)], dtype=np.int32)
    bases = np.array([base for base, _ in asked.ladders])
    noise, bias = np.zeros((2, asked.bundles, starts[-1]))
    library.host_samples(
        *halves(asked.key),
        ctypes.c_uint64(asked.first),
        ctypes.c_uint64(asked.bundles),
        LAWS.index(asked.law),
        asked.d,
        ctypes.c_uint64(asked.n),
        ctypes.c_double(asked.L),
        slices,
        capacity,
        len(bases),
        *(pointer(array) for array in (bases, starts, noise, bias)),
    )
    return noise, bias


C_TYPES = {"uint64": ctypes.c_uint64, "int32": ctypes.c_int32, "float64": ctypes.c_double}
KERNEL = re.compile(r"(samples|joined)<(\d), (\d)>|uniforms|moments")


def runner(library: ctypes.CDLL) -> Callable[..., None]:
    """Launches that go to the emulator; arguments must have the very types of the kernel's."""

    def argument(value: Any) -> Any:
        return pointer(value) if np.shape(value) else C_TYPES[value.dtype.name](value.item())

    def run(name: str, grid: tuple[int, ...], block: tuple[int, ...], arguments: tuple[Any, ...]) -> None:
        match = KERNEL.fullmatch(name)
        assert match is not None
        function = getattr(library, f"emulated_{match[1] or name}")
        first = [int(each) for each in match.groups()[1:] if each]
        function(*first, *grid, *[1] * (2 - len(grid)), *block, *(argument(each) for each in arguments))

    return run


@contextmanager
def emulated_gpu(*changes: tuple[str, str]) -> Iterator[Any]:
    """CuPy without a device, whose launches run on the emulator, with some text of the kernels changed."""
    library = emulator(*changes)
    with pytest.MonkeyPatch.context() as patched, installed(patched) as cupy:
        patched.setattr(cupy, "run_kernel", runner(library))
        yield cupy


def launched(asked: Question) -> tuple[Any, Any]:
    """The samples as a caller gets them, on the host."""
    noise, bias = launch.samples(
        asked.law, asked.L, asked.d, asked.n, asked.ladders, asked.key, asked.first, asked.bundles
    )
    return noise.get(), bias.get()


def plain_pairs(asked: Question) -> tuple[Floats, Floats, Floats, Floats]:
    """(a, b) of the tasks, (bundles, 4), and of the tokens, (bundles, n), by their definition."""
    blocks = 2 + -(-asked.n // 2)
    stream = np.random.Generator(np.random.Philox(key=asked.key, counter=asked.first * blocks))
    u, v = np.moveaxis(stream.random((asked.bundles, 2 * blocks, 2)), -1, 0)
    radius = np.sqrt(-np.expm1(np.log(u + 2.0**-54) * 2 / (asked.d - 2))) if asked.d > 2 else np.ones_like(u)
    a, b = radius * np.cos(2 * np.pi * v), radius * np.sin(2 * np.pi * v)
    return a[:, :4], b[:, :4], a[:, 4 : 4 + asked.n], b[:, 4 : 4 + asked.n]


def links(law: str, L: float, z: Floats) -> Floats:
    values = {"relu": [np.maximum(z, 0), np.maximum(-z, 0)], "cosine": [np.cos(L * z)], "quadratic": [z * z]}
    return np.array(values[law])


@cache
def plain_samples(asked: Question, tile: int = 64) -> tuple[Floats, Floats, Floats, Floats]:
    """Noise and bias samples and bounds on the rounding of each, all (bundles, windows).

    Both sides compute coordinates within 8 eps (the radius within 3, cosine and sine within 4), so t differs by D = 16
    eps at most. A term g = exp(w (t - max t)) on rung k then differs, relatively, by

        rho = 2 w D + 4 eps min(2 w, 745) + 4 eps 2^k (4 + n / tile) + 2 n eps:

    two coordinates; the rounded exponent, within 1 eps |x| here and 2.2 there (beyond 745 g vanishes); k squarings of
    exponentials and of the factors by which sums are rescaled, once a tile and when slices are combined; and the
    summation. A weighted average of values v known within D_v differs by rho times the average of |v|, twice for the
    quotient, and by D_v.
    """
    c, _, a, b = plain_pairs(asked)
    D, rungs = 16 * EPS, np.concatenate([np.arange(rungs) for _, rungs in asked.ladders])

    def rho(w: float, k: int) -> float:
        return 2 * w * D + (4 * min(2 * w, 745.0) + 4 * 2.0**k * (4 + asked.n / tile) + 2 * asked.n) * EPS

    results = np.zeros((4, asked.bundles, len(rungs)))
    for r, (t, s) in enumerate(((a, b), (b, -a), (-a, -b), (-b, a))):
        across = np.sqrt(1 - c[:, r] ** 2)
        z = c[:, r, None] * t + across[:, None] * s
        # across = sqrt(1 - c^2) is known within D / across, and never worse than sqrt(D)
        z_error = D * (3 + np.minimum(1 / across, D**-0.5))
        v_error = {"affine": 0 * D, "relu": 2, "cosine": 3 * asked.L + 1, "quadratic": 4}[asked.law] * z_error + 4 * D
        for j, (window, k) in enumerate(zip(asked.windows, rungs, strict=True)):
            g = np.exp(window * (t - t.max(axis=1, keepdims=True)))
            weights = g / g.sum(axis=1, keepdims=True)
            noise = np.sum(weights**2, axis=1)
            noise_rho = rho(2 * window, k + 1) + 2 * rho(window, k)
            if asked.law == "affine":
                v, diagonal = (1 - t)[None], np.sum(weights**2 * (1 - t * t), axis=1)
            else:
                v, diagonal = links(asked.law, asked.L, z) - links(asked.law, asked.L, c[:, r])[:, :, None], 0 * noise
            error = np.sum(weights * v, axis=2)
            e = 2 * rho(window, k) * np.sum(weights * np.abs(v), axis=2) + v_error
            results[0, :, j] += noise / 4
            results[1, :, j] += (np.sum(error**2, axis=0) + diagonal) / 4
            results[2, :, j] += noise_rho * noise / 4
            results[3, :, j] += (
                np.sum(2 * np.abs(error) * e + e * e, axis=0) + noise_rho * diagonal + noise * v_error
            ) / 4
    return results[0], results[1], results[2], results[3]


def deviation(asked: Question, computed: tuple[Any, Any], tile: int = 64) -> float:
    """The largest deviation from the plain samples in units of the bounds; infinite for NaN."""
    noise, bias, noise_bound, bias_bound = plain_samples(asked, tile)
    ratios = [np.abs(computed[0] - noise) / noise_bound, np.abs(computed[1] - bias) / bias_bound]
    return float(np.nan_to_num(np.max(ratios), nan=np.inf))


def key_of(*address: object) -> int:
    return int.from_bytes(blake2b(repr(address).encode(), digest_size=16).digest(), "little")


GRID: Ladders = ((0.0, 1), (1e-3, 8), (0.5, 8), (3.0, 5), (700.0, 8), (1e6, 1))


@pytest.mark.parametrize("language", ["c", "c++"])
@given(key=st.integers(0, 2**128 - 1), first=st.integers(0, 2**128 - 100))
def test_words_are_those_of_numpy_bit_for_bit(language: str, key: int, first: int) -> None:
    blocks = 3
    words, uniforms = np.zeros(4 * blocks, dtype=np.uint64), np.zeros(4 * blocks)
    host_library(language).host_words(
        *halves(key), *halves(first), ctypes.c_uint64(blocks), pointer(words), pointer(uniforms)
    )
    assert np.array_equal(words, np.random.Philox(key=key, counter=first).random_raw(4 * blocks))
    assert np.array_equal(uniforms, np.random.Generator(np.random.Philox(key=key, counter=first)).random(4 * blocks))


def test_the_exponential_is_one_to_rounding() -> None:
    """Four eps for the polynomial and its evaluation, and eps |x| for the reduced argument."""
    x = -np.concatenate([[0.0], np.geomspace(1e-20, 700.0, 20_000), np.arange(1, 1000) * np.log(2) / 2])
    x = np.concatenate([x, [-700.1, -1e4, -1e300, -np.inf]])
    computed = np.zeros_like(x)
    host_library().host_exponential(ctypes.c_uint64(x.size), pointer(x), pointer(computed))
    assert np.all(computed[x < -700] == 0)
    x, computed = x[x >= -700], computed[x >= -700]
    assert np.all(np.abs(computed / np.exp(x) - 1) <= (4 + np.abs(x)) * EPS)


@given(j=st.integers(0, 2**64 - 1), n=st.integers(1, 2**62))
def test_the_place_of_a_bundle_is_a_product_of_128_bits(j: int, n: int) -> None:
    low, high = ctypes.c_uint64(), ctypes.c_uint64()
    host_library().host_place(ctypes.c_uint64(j), ctypes.c_uint64(n), ctypes.byref(low), ctypes.byref(high))
    assert high.value << 64 | low.value == j * (2 + -(-n // 2))


@given(
    law=st.sampled_from(LAWS),
    L=log_floats(0.1, 30.0),
    d=st.integers(2, 200),
    n=st.integers(1, 300),
    base=log_floats(1e-6, 1e6),
    rungs=st.integers(1, 8),
    first=st.integers(0, 2**40),
    slices=st.sampled_from([1, 2, 4, 8]),
    capacity=st.sampled_from([8, 30, 64]),
)
def test_samples_do_not_depend_on_how_the_work_is_cut(
    law: str, L: float, d: int, n: int, base: float, rungs: int, first: int, slices: int, capacity: int
) -> None:
    asked = Question(law, L, d, n, [(base, rungs)], key_of(law, d, n), first, bundles=2)
    ratio = deviation(asked, host_samples(host_library("c++"), asked, slices, capacity), tile=8)
    target(ratio)
    assert ratio <= 1


@pytest.mark.parametrize(
    ("law", "n", "bundles"),
    [
        ("affine", 1, 11),
        ("relu", 3, 3),
        ("cosine", 130, 9),
        ("quadratic", 600, 5),
        ("relu", 1100, 3),
        ("affine", 2500, 2),
        ("relu", 2501, 1),
    ],
)
def test_blocks_of_threads_give_the_samples_of_the_definition(law: str, n: int, bundles: int) -> None:
    """Lanes, slots, slices, barriers and the last shuffles: one to eight slices, several tiles, a part of a block."""
    asked = Question(law, 2.5, 4, n, [(0.3, 8), (0.0, 1), (1e3, 3)], key_of("blocks", law, n), 2**40, bundles)
    with emulated_gpu():
        assert deviation(asked, launched(asked)) <= 1


def test_ladders_beyond_one_block_go_to_others() -> None:
    grid = [(0.1 * 1.5**k, 1 + k % 8) for k in range(7)]
    asked = Question("relu", 1.0, 4, 20, [*grid, (1e-3, 19)], key_of("wide"), first=5, bundles=3)
    assert len(layout.split(asked.ladders)) > layout.MOST_WARPS
    with emulated_gpu():
        assert deviation(asked, launched(asked)) <= 1


@pytest.mark.parametrize("law", LAWS)
def test_kernels_of_every_number_of_rungs_give_the_samples_of_the_definition(law: str) -> None:
    with emulated_gpu():
        for rungs in range(1, layout.MOST_RUNGS + 1):
            asked = Question(law, 2.5, 4, 21, [(0.3, rungs)], key_of("rungs", law, rungs), 2**40, bundles=2)
            assert deviation(asked, launched(asked)) <= 1


SHORT = 2**10
"""A part of so few tokens: an emulated context of ten parts takes a sixteenth of the time."""


@pytest.mark.parametrize(
    ("law", "stretch", "n"),
    [
        ("relu", SHORT, SHORT + 1),
        ("affine", layout.STRETCH, 40_001),
        pytest.param("cosine", layout.STRETCH, 33_000, marks=pytest.mark.slow),
    ],
)
def test_long_contexts_are_cut_and_the_cut_changes_no_bit(law: str, stretch: int, n: int) -> None:
    """Parts have blocks of their own, in one launch or in one each; nine ladders are two rows of blocks."""
    ladders = [(0.3 * 1.1**k, 1 + k % 3) for k in range(9)] if law == "relu" else [(0.3, 3)]
    asked = Question(law, 2.5, 4, n, ladders, key_of("long", law), 2**40, bundles=2)
    with emulated_gpu(), pytest.MonkeyPatch.context() as patched:
        patched.setattr(layout, "STRETCH", stretch)
        whole = launched(asked)
        assert deviation(asked, whole) <= 1
        patched.setattr(layout, "WORK", 1)
        apart = launched(asked)
    assert all(np.array_equal(one, other) for one, other in zip(whole, apart, strict=True))


@pytest.mark.parametrize("n", [5, 600, SHORT + 100])
def test_a_bundle_does_not_depend_on_other_requests(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the last bit, although one bundle or ladder is divided into other blocks than many."""
    monkeypatch.setattr(layout, "STRETCH", SHORT)
    ladders = [(0.3, 8), (0.5, 2), (1.0, 8), (0.7, 8), (3.0, 1)]
    asked = Question("relu", 1.0, 4, n, ladders, key_of("alone"), first=5, bundles=3)
    with emulated_gpu():
        noise, bias = launched(asked)
        for k, bundle in ((0, 0), (2, 2), (4, 1)):
            start = sum(rungs for _, rungs in ladders[:k])
            alone = Question("relu", 1.0, 4, n, ladders[k : k + 1], asked.key, asked.first + bundle, 1)
            windows = slice(start, start + ladders[k][1])
            if ladders[k][1] == layout.MOST_RUNGS:  # with fewer rungs it is another kernel, contracted in its own way
                for one, other in zip((noise, bias), launched(alone), strict=True):
                    assert np.array_equal(one[bundle : bundle + 1, windows], other)


@given(n=st.integers(1, 10**10))
def test_the_parts_of_a_context_add_up_to_it(n: int) -> None:
    stretch = layout.stretch_of(n)
    parts = -(-n // stretch)
    assert (parts - 1) * stretch < n <= parts * stretch
    assert parts <= layout.MOST_PARTS
    assert stretch % (2 * layout.STRETCH) == 0 or stretch == layout.STRETCH
    assert stretch <= 2**31 // layout.QUERIES


@pytest.mark.parametrize("ladders", range(1, layout.MOST_WARPS + 1))
@pytest.mark.parametrize("n", [2**26, 2**30 + 1, 5 * 10**9, 10**10])
def test_launches_of_one_long_context_fill_a_device_and_end_soon(n: int, ladders: int) -> None:
    """At least four warps on each of 132 multiprocessors, one for each scheduler; a slow device does this in 2 s."""
    parts = layout.parts_of_launch(n, ladders, bundles=1)
    how = layout.launch_of(n, ladders, 1, parts)
    assert how.grid[0] * how.grid[1] * how.block[0] // layout.LANES > 0.9 * 4 * 132
    assert parts * layout.stretch_of(n) * ladders <= 2**28
    room = -(-n // layout.stretch_of(n)) * ladders * layout.QUERIES * layout.size_of_sums("relu", layout.MOST_RUNGS)
    assert 8 * room <= 2**28, "bytes"


@pytest.mark.parametrize("n", [2**30 + 5, 10**10])
def test_the_last_part_of_a_very_long_context(n: int) -> None:
    """Tokens far down a stream, added by the kernel to sums that a few lines of NumPy give too."""
    stretch, base, key, bundle = layout.stretch_of(n), 0.5, key_of("far"), 2**40 + 1
    n = n // stretch * stretch + 5
    part = n // stretch
    room = np.full((1, part + 1, 1, 4, layout.size_of_sums("affine", 2)), np.nan)
    arguments: list[Any] = [np.uint64(word) for word in (key & WORD, key >> 64, bundle, 1)]
    arguments += [np.int32(4), np.uint64(n), np.float64(1.0), np.int32(8), np.int32(1)]
    arguments += [np.uint64(stretch), np.uint64(part), np.int32(1), np.array([base]), np.array([0, 2], dtype=np.int32)]
    runner(emulator())("samples<0, 2>", (1, 1), (32,), (*arguments, np.int32(2), room, np.empty(2), np.empty(2)))
    blocks = 2 + -(-n // 2)
    stream = np.random.Generator(np.random.Philox(key=key, counter=bundle * blocks + 2 + part * stretch // 2))
    u, v = stream.random((5, 2)).T
    a, b = np.sqrt(-np.expm1(np.log(u + 2.0**-54))) * np.array([np.cos(2 * np.pi * v), np.sin(2 * np.pi * v)])
    for r, t in enumerate((a, b, -a, -b)):
        g = np.exp(base * 2.0 ** np.arange(3)[:, None] * (t - t.max()))
        expected = [t.max(), *g.sum(axis=1), *(g @ (1 - t)), *(g @ (1 - t * t))]
        np.testing.assert_allclose(room[0, part, 0, r], expected, rtol=1e-13)


@pytest.mark.parametrize("columns", [1, 5, 70])
def test_moments_on_the_device_are_those_of_the_host(columns: int) -> None:
    rows = np.random.default_rng(columns).normal(3.0, 2.0, (700, columns))
    rows[300, 0] = np.nan
    centre, unit, cuts = rows[:16].mean(axis=0), np.linspace(1.0, 3.0, columns), [0, 16, 17, 273, 700]
    with emulated_gpu() as cupy:
        there = launch.leaf_moments(cupy.asarray(rows), cuts, centre, unit)
        alone = launch.leaf_moments(cupy.asarray(rows[17:273]), [0, 256], centre, unit)
    here = leaf_moments(rows, cuts, centre, unit)
    assert np.array_equal(there[:, :2], here[:, :2], equal_nan=True)
    scale = leaf_moments(abs(rows - centre) + centre, cuts, centre, unit)  # of sums that cancel
    assert np.nanmax(abs(there[:, 2:] - here[:, 2:]) / scale[:, 2:]) < 1e-13
    assert np.isnan(there[3, :, 0]).all()
    assert np.array_equal(alone[0], there[2])


@pytest.mark.parametrize("count", [0, 1, 1023, 1030])
def test_blocks_of_threads_draw_the_uniforms_of_numpy(count: int) -> None:
    key, first = key_of("uniforms"), 2**64 - 5
    with emulated_gpu():
        drawn = launch.device_uniforms(key, first, count).get()
    assert np.array_equal(drawn, np.random.Generator(np.random.Philox(key=key, counter=first)).random(count))


def test_chunks_are_drawn_by_one_launch() -> None:
    with emulated_gpu():
        drawn = launch.uniforms(3, "chunks", range(5, 8), (2, 7), first=9).get()
    assert np.array_equal(drawn, np.concatenate([uniforms(3, "chunks", chunk, (2, 7), 9) for chunk in (5, 6, 7)]))


@pytest.mark.parametrize("law", [Affine(), ReLU(), Cosine(3.0), Quadratic(2.0), Linear(2.0)])
def test_the_kernels_give_the_samples_of_reduced_sampling(law: Law) -> None:
    """The complete path, from a problem to samples in the order of its w, one chunk after the other."""
    w = np.array([3.0, 0.0, 0.5, 2.0, 1.0, 5.0, 4.0])
    problem, grid = Problem(d=4, n=9, law=law), grid_of(w)
    plain = Reduced(problem, grid, seed=3, stream="fused").chunk(0)
    with emulated_gpu() as cupy:
        backend = Backend(xp=cupy, compiled=launch.samples, tokens=20 * 9)
        fused = Fused(problem, grid, seed=3, stream="fused", backend=backend)
        chunks = np.concatenate([fused.chunk(0).get(), fused.chunk(1).get()])
    assert is_compiled(problem.law)
    # 2^9 units: w (t - 1) of the largest window, doubled on eight rungs at most
    np.testing.assert_allclose(chunks, plain[:40], rtol=2**9 * EPS, atol=2**9 * EPS)


def test_no_bundles_are_no_samples() -> None:
    with emulated_gpu():
        noise, bias = launch.samples("linear", 1.0, 3, 10, [(1.0, 2), (3.0, 1)], 0, 0, 0)
    assert noise.shape == bias.shape == (0, 3)


@cache
def untouched_is_right(asked: Question) -> bool:
    """True if the kernels without a mistake give the samples: the other half of every test with a mistake."""
    with emulated_gpu():
        return deviation(asked, launched(asked)) <= 1


def by_day(changes: dict[str, tuple[str, str]], most: int = 3) -> list[Any]:
    """The first mistakes in a source; the others, each a compilation, by night."""
    return [
        pytest.param(change, id=name, marks=[pytest.mark.slow] * (k >= most))
        for k, (name, change) in enumerate(changes.items())
    ]


TAMPERED_BLOCKS = {
    "slices not joined": ("join_slices(slots, law, rungs, bases[ladder], &sums);", ""),
    "no wait for the tile to be drawn": ("__syncthreads(); /* the whole tile is sampled */", ""),
    "queries not averaged": ("x += __shfl_xor_sync(ALL_LANES, x, apart);", "x += x;"),
    "no wait for the tasks": ("__syncthreads(); /* all tasks are sampled */", ""),
    "no wait for the tile to be read": ("__syncthreads(); /* every lane has read the tile */", ""),
    "a tile of the other team": ("double *const a = ab + team * 2 * CAPACITY;", "double *const a = ab;"),
    "every lane the first query": ("r = thread % LANES / PLACES;", "r = 0;"),
    "slots mistaken": ("((word)blockIdx.x * teams + team) * slots + lane", "((word)blockIdx.x * teams + team) + lane"),
}


@pytest.mark.parametrize("change", by_day(TAMPERED_BLOCKS, most=2))
def test_a_tampered_kernel_is_noticed(change: tuple[str, str]) -> None:
    asked = Question("relu", 1.0, 5, 600, ((0.5, 8),), key_of("control"), first=3, bundles=8)
    assert untouched_is_right(asked)
    with emulated_gpu(change):
        assert deviation(asked, launched(asked)) > 1e3


LOOP = "    LIPVERIFY_UNROLL\n    for (int k = 0; k <= rungs; ++k) {\n        sums->S[k] += factor"


TAMPERED_CUTS = {
    "lanes of one part": ("part < parts; part += PLACES", "part < parts; part += parts"),
    "sums of a part not rescaled": ("raise_to(nearest, law, rungs, base, sums);\n" + LOOP, LOOP),
    "bundles that overlap": ("const word parts = (n - 1) / stretch + 1;", "const word parts = (n - 1) / stretch;"),
    "one part for all": ("const word part = first_part + blockIdx.y, begin", "const word part = first_part, begin"),
    "all from the first token": ("begin = part * stretch;", "begin = 0;"),
    "one ladder for all": ("bases[thread / LANES / teams], &sums);", "bases[0], &sums);"),
    "half of the lanes joined": (
        "join_slices(1, law, rungs, base, &sums);",
        "join_slices(2, law, rungs, base, &sums);",
    ),
}


@pytest.mark.parametrize("change", by_day(TAMPERED_CUTS, most=1))
def test_a_tampered_cut_is_noticed(change: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "STRETCH", SHORT)
    asked = Question("affine", 1.0, 5, 10 * SHORT, ((40.0, 1), (3.0, 1)), key_of("control"), first=3, bundles=2)
    assert untouched_is_right(asked)
    with emulated_gpu(change):
        assert deviation(asked, launched(asked)) > 1e3


TAMPERED = {
    "tokens one block later": ("HEADER_BLOCKS + first / 2 + pair)", "HEADER_BLOCKS + 1 + first / 2 + pair)"),
    "the maximum left out": ("if (nearest > sums->nearest)", "if (nearest > 2.0)"),
    "sums not rescaled": ("sums->S[k] *= factor;", ""),
    "noise at w for 2w": ("*noise = sums->S[k + 1]", "*noise = sums->S[k]"),
    "a query turned the other way": ("r == 1 ? -a : r == 2 ? -b : a;", "r == 1 ? a : r == 2 ? -b : a;"),
    "one task for all queries": ("plus(place, r / 2)", "plus(place, 0)"),
    "radius of another dimension": ("2.0 / (d - 2)", "2.0 / (d - 1)"),
    "nine rounds": ("round < 10", "round < 9"),
}


@pytest.mark.parametrize("change", by_day(TAMPERED, 4))
def test_a_tampered_source_is_noticed(change: tuple[str, str]) -> None:
    asked = Question("relu", 1.0, 5, 100, [(0.5, 8), (1e4, 1)], key_of("control"), first=3, bundles=4)
    assert deviation(asked, host_samples(host_library(), asked)) <= 1
    assert deviation(asked, host_samples(host_library("c", change), asked)) > 1e3


def test_another_address_is_noticed() -> None:
    asked = Question("relu", 1.0, 5, 100, [(0.5, 8)], key_of("control"), first=3, bundles=4)
    swapped = Question("relu", 1.0, 5, 100, [(0.5, 8)], asked.key >> 64 | (asked.key & WORD) << 64, 3, 4)
    shifted = Question("relu", 1.0, 5, 100, [(0.5, 8)], asked.key, 4, 4)
    for other in (swapped, shifted):
        assert deviation(asked, host_samples(host_library(), other)) > 1e3


def test_the_bound_on_rounding_is_narrow() -> None:
    """Otherwise the comparisons could not fail: below 1e-8 of a sample at every w up to 1e4."""
    asked = Question("affine", 1.0, 5, 100, [(1e-3, 8), (0.5, 8), (100.0, 7)], key_of("narrow"), 0, 50)
    noise, bias, noise_bound, bias_bound = plain_samples(asked)
    assert np.max(noise_bound / noise) < 1e-8
    assert np.max(bias_bound / bias) < 1e-8


def test_the_source_is_one_text_that_names_its_files() -> None:
    text = assembled()
    for name in ("portable", "philox", "sphere", "laws", "windows", "contexts"):
        assert text.count(f'#line 1 "{name}.cuh"') == 1
    assert '#include "' not in text


PACKAGES = ("nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu12")
"""NVRTC of CUDA 13, which the extra `test` brings, and of CUDA 12, which `cupy-cuda12x[ctk]` brings."""


class RuntimeCompiler:
    """The NVRTC of a package, through ctypes: compiles CUDA to machine code with neither a driver nor a device."""

    def __init__(self, package: str = PACKAGES[0]) -> None:
        try:
            paths = [str(file.locate()) for file in files(package) or () if file.match("*nvrtc*.so.*")]
        except PackageNotFoundError:
            pytest.skip(f"{package} is not installed")
        for part in ("libnvrtc-builtins.so.", "libnvrtc.so."):  # the second looks for the first, not always beside it
            self.library = ctypes.CDLL(next(path for path in paths if part in path))

    def _text(self, program: ctypes.c_void_p, what: str) -> bytes:
        size = ctypes.c_size_t()
        assert getattr(self.library, f"nvrtcGet{what}Size")(program, ctypes.byref(size)) == 0
        text = ctypes.create_string_buffer(size.value)
        assert getattr(self.library, f"nvrtcGet{what}")(program, text) == 0
        return text.raw

    def compile(self, source: str, names: Sequence[str], options: Sequence[str]) -> tuple[bytes, list[str], str]:
        """(machine code, the kernels' names in it, log)."""
        program = ctypes.c_void_p()
        assert (
            self.library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernels.cu", 0, None, None) == 0
        )
        for name in names:
            assert self.library.nvrtcAddNameExpression(program, name.encode()) == 0
        arguments = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        status = self.library.nvrtcCompileProgram(program, len(options), arguments)
        log = self._text(program, "ProgramLog").decode()
        assert status == 0, log
        lowered = []
        for name in names:
            text = ctypes.c_char_p()
            assert self.library.nvrtcGetLoweredName(program, name.encode(), ctypes.byref(text)) == 0
            lowered.append((text.value or b"").decode())
        code = self._text(program, "CUBIN")
        assert self.library.nvrtcDestroyProgram(ctypes.byref(program)) == 0
        return code, lowered, log


CAPABILITIES = (80, 90, 100, 120)


def assert_compiles(package: str, capability: int, rungs: Sequence[int]) -> None:
    """Machine code for a capability holds every kernel, and none of them spills registers to memory."""
    kernels = ("samples", "joined")
    names = [layout.instantiation(law, count, kernel) for kernel in kernels for law in LAWS for count in rungs]
    names += ["uniforms", "moments"]
    options = [*launch.OPTIONS, f"--gpu-architecture=sm_{capability}", "--ptxas-options=-v"]
    code, lowered, log = RuntimeCompiler(package).compile(assembled(), names, options)
    assert code.startswith(b"\x7fELF")
    assert len(set(lowered)) == len(names)
    for name in lowered:
        assert name.encode() in code
    assert log.count("spill stores") == len(names), log
    assert log.count("0 bytes spill stores, 0 bytes spill loads") == len(names), log


@pytest.mark.parametrize(("package", "capability"), [(PACKAGES[0], CAPABILITIES[-1]), (PACKAGES[1], CAPABILITIES[0])])
def test_kernels_compile_to_machine_code_without_spills(package: str, capability: int) -> None:
    """The oldest and the newest device, with the most sums in registers; a slow test compiles every kernel for all."""
    assert_compiles(package, capability, rungs=(layout.MOST_RUNGS,))


@pytest.mark.slow
@pytest.mark.parametrize("package", PACKAGES)
@pytest.mark.parametrize("capability", CAPABILITIES)
def test_kernels_of_every_number_of_rungs_compile(package: str, capability: int) -> None:
    assert_compiles(package, capability, rungs=range(1, layout.MOST_RUNGS + 1))


def test_a_source_that_does_not_compile_is_noticed() -> None:
    with pytest.raises(AssertionError, match=r"windows\.cuh"):
        RuntimeCompiler().compile(assembled().replace("sums->S[k] += g;", "sums->S[k] += h;"), [], launch.OPTIONS)


@pytest.mark.skipif(not launch.why_no_gpu(), reason="a GPU is here")
@pytest.mark.parametrize(
    "call",
    [
        launch.require_gpu,
        lambda: launch.samples("affine", 1.0, 3, 10, [(1.0, 2)], 0, 0, 4),
        lambda: launch.device_uniforms(0, 0, 4),
    ],
)
def test_without_a_gpu_one_line_says_so(call: Callable[[], object]) -> None:
    with pytest.raises(InvalidInput, match=r"backend = 'cupy': no usable GPU was found .* use --backend numpy\.$"):
        call()


@pytest.mark.skipif(not launch.why_no_gpu(), reason="a GPU is here")
def test_the_benchmark_says_in_one_line_that_there_is_no_gpu() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "gpu.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert re.fullmatch(r"backend = 'cupy': no usable GPU was found .*\n", done.stderr)
    assert done.stdout == ""


def test_the_benchmark_fails_and_names_the_fault(capsys: pytest.CaptureFixture[str]) -> None:
    """On the emulator, with few numbers: the kernels are right, and one that is not gives exit code 1."""
    if not native.has_compiler():
        pytest.skip("no C compiler")
    gpu = runpy.run_path(str(ROOT / "benchmarks" / "gpu.py"))
    with emulated_gpu() as cupy:
        assert gpu["wrong"]((7,), 2) == []
        assert gpu["unequal"](260, 7) == []
        gpu["print_end_to_end"](4)
        assert re.search(r"cupy: .*\n.*native: .*\n.*numpy: .*\nmemory on the device", capsys.readouterr().out)
        run = cupy.run_kernel

        def mistaken(name: str, grid: Any, block: Any, arguments: tuple[Any, ...]) -> None:
            run(name, grid, block, arguments)
            arguments[-1].flat[0] *= 1 + 1e-7

        with patch.object(cupy, "run_kernel", mistaken), patch.dict(gpu["main"].__globals__, SIZES=(7,)):
            lines = gpu["wrong"]((7,), 2)
            with patch.dict(gpu["main"].__globals__, wrong=lambda: lines, print_machine=lambda: None):
                assert gpu["main"]() == 1
        other = launch.uniforms
        some = dict([*gpu["PATHS"].items()][::4])
        mistaken_draws = patch.object(launch, "uniforms", lambda seed, *given: other(seed + 1, *given))
        with mistaken_draws, patch.dict(gpu["unequal"].__globals__, PATHS=some):
            unequal = gpu["unequal"](260, 7)
    assert [line.split(",")[0].split(" ")[0] for line in lines] == [*LAWS, "uniforms", "moments"]
    assert {line.partition(", by")[0] for line in unequal} == set(some)
    assert capsys.readouterr().out.count("WRONG: ") == len(lines)


def test_the_first_run_on_a_gpu_keeps_what_it_printed_whatever_fails(tmp_path: Path) -> None:
    gpu = runpy.run_path(str(ROOT / "benchmarks" / "gpu.py"))
    table = tmp_path / "gpu.txt"

    def broken() -> None:
        raise ValueError("no such kernel")

    with emulated_gpu(), patch.dict(gpu["first"].__globals__, COVERED=("affine, few contexts",), SEEDS=3):
        parts = {"broken": broken, "devices": gpu["print_devices"], "coverage": gpu["print_coverage"]}
        assert gpu["first"](table, parts=parts) == 1
        text = table.read_text()
        assert re.search(r"FAILED: ValueError: no such kernel\n\n.*\none device.*\n\n.*\naffine.*: noise 100.0%", text)
        assert gpu["first"](table, parts={"devices": gpu["print_devices"]}) == 0
        assert gpu["first"](table, minutes=-1.0, parts={"devices": gpu["print_devices"]}) == 1
        assert "no time is left" in table.read_text()


@pytest.mark.skipif(bool(launch.why_no_gpu()), reason=NOWHERE)
@pytest.mark.parametrize("n", [1, 2, 3, 7, 300, 1000, 5000])
@pytest.mark.parametrize("d", [2, 3, 50])
@pytest.mark.parametrize("law", LAWS)
def test_a_gpu_gives_the_samples_of_the_definition(law: str, d: int, n: int) -> None:
    asked = Question(law, 2.5, d, n, GRID, key_of(law, d, n), first=2**40, bundles=37)
    assert deviation(asked, launched(asked)) <= 1


@pytest.mark.skipif(bool(launch.why_no_gpu()), reason=NOWHERE)
def test_a_gpu_takes_grids_beyond_one_block_and_asks_for_parts() -> None:
    grid = [(0.1 * 1.07**k, 8) for k in range(19)]
    asked = Question("relu", 1.0, 4, 700, grid, key_of("wide"), first=5, bundles=9)
    noise, bias = launched(asked)
    assert deviation(asked, (noise, bias)) <= 1
    part, _ = launch.samples("relu", 1.0, 4, 700, grid[3:5], asked.key, 8, 2)
    assert np.array_equal(part.get(), noise[3:5, 24:40])


@pytest.mark.skipif(bool(launch.why_no_gpu()), reason=NOWHERE)
@pytest.mark.parametrize("first", [0, 2**64 - 1, 7 * 2**64])
@pytest.mark.parametrize("count", [0, 1, 1023, 100_001])
def test_a_gpu_draws_the_uniforms_of_numpy(first: int, count: int) -> None:
    key = key_of("uniforms")
    expected = np.random.Generator(np.random.Philox(key=key, counter=first)).random(count)
    assert np.array_equal(launch.device_uniforms(key, first, count).get(), expected)
