"""The GPU kernels: first their correctness, then ratios within one run: `python benchmarks/gpu.py [--first]`.

With --first, all that the first run on a GPU should show, in eight minutes at most: numbers, registers of each kernel,
coverage of intervals, rates beside measured limits, memory at its edge, and a second device if there is one. The table
`benchmarks/results/gpu.txt` is written after each part, so that a part that fails loses nothing.

Exit code 1 if a number is wrong or a part fails, 2 if there is no GPU.

The unit for float64 arithmetic limits the kernels. Its peak is measured by a loop of independent multiply-adds in
registers. A kernel's share is the number of float64 instructions that it needs, at its rate, divided by that peak.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import platform
import runpy
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lipverify import Problem, loss_terms
from lipverify.covariates import Ellipsoid, Gaussian
from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.means.samples import leaf_moments
from lipverify.laws import Affine, Cosine, Quadratic, ReLU, Ridge
from lipverify.loss.montecarlo.compiled import MOST_RUNGS, assembled, instantiation, launch, native

D, N, L, KEY = 8, 1000, 1.0, 2**100 + 7
LADDERS = [(0.25 * 2 ** (j / 4), 8) for j in range(4)]
WINDOWS = [base * 2.0**k for base, rungs in LADDERS for k in range(rungs)]
QUERIES = 4
BUNDLES = 2**17
COMPARED_BUNDLES = 2**13
CONTEXTS_A_PART = 2**14
ROUNDS = 7
SIZES = (7, N, 20_001)
"""Numbers of tokens at which samples are compared: the last are cut into parts."""
BOUND = 1e-9
"""The largest allowed difference from the native kernel: of bias samples, which are of order one, and of noise
relative to itself. Rounding leaves 1e-10: t is known to 16 units, and weights are squared eight times and rescaled once
in 64 tokens.
"""
END_TO_END = 2**16
MODERATE = [0.1, 0.2, 0.4, 0.3]
"""The w of comparisons of means: small ones, at which a normal interval is not refused for normal covariates."""
OWN = Ridge(lambda z: abs(z - 0.5) * z, kinks=(0.5,))
STRETCHED = Ellipsoid([4.0, *[1.0] * (D - 1)])
PATHS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "affine": ({"law": Affine()}, {}),
    "relu": ({"law": ReLU()}, {}),
    "cosine": ({"law": Cosine(2.5)}, {}),
    "quadratic": ({"law": Quadratic()}, {}),
    "own link": ({"law": OWN}, {}),
    "own link, ellipsoid": ({"law": OWN, "covariates": STRETCHED}, {}),
    "full": ({"law": ReLU()}, {"sampling": "full"}),
    "full, matrix": ({"law": ReLU()}, {"sampling": "full", "M": np.diag(np.linspace(0.5, 2.0, D))}),
    "full, ellipsoid": ({"law": OWN, "covariates": STRETCHED}, {"sampling": "full"}),
    "full, normal covariates": ({"law": ReLU(), "covariates": Gaussian(np.eye(D) / D)}, {"sampling": "full"}),
    "linear attention": ({"law": ReLU()}, {"attention": "linear"}),
}
"""What is computed by kernels, by arrays and on the CPU, and compared."""

PEAK = r"""
extern "C" __global__ void multiply_adds(int rounds, double factor, double *out)
{
    double x[16];
    for (int i = 0; i < 16; ++i)
        x[i] = threadIdx.x + i;
    for (int round = 0; round < rounds; ++round)
        #pragma unroll
        for (int i = 0; i < 16; ++i)
            x[i] = x[i] * factor + 1.0;
    double sum = 0.0;
    for (int i = 0; i < 16; ++i)
        sum += x[i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
"""


@dataclass(frozen=True)
class Count:
    """float64 instructions of a kernel (listed in kernels.cu): for each token drawn, for each token that a query
    scores on a ladder, and for each (token, window) pair.
    """

    token: float
    ladder: float
    pair: float

    def a_pair(self) -> float:
        """All float64 instructions for one (token, window) pair of the grid."""
        return self.pair + (self.ladder * len(LADDERS) + self.token / QUERIES) / len(WINDOWS)


COUNTS = {
    "affine": Count(token=80, ladder=24, pair=4),
    "relu": Count(token=88, ladder=24, pair=4),
    "cosine": Count(token=180, ladder=22, pair=3),
    "quadratic": Count(token=92, ladder=22, pair=3),
}


def seconds(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Median time of one call on the device, after an uncounted call."""
    import cupy

    work()
    times = []
    for _ in range(rounds):
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        cupy.cuda.Device().synchronize()
        start.record()
        work()
        # PyTorch works on the same legacy stream unless told otherwise
        end.record()
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(start, end) / 1e3)
    return statistics.median(times)


def peak() -> float:
    """float64 multiply-adds a second."""
    import cupy

    kernel = cupy.RawModule(code=PEAK).get_function("multiply_adds")
    blocks, threads, rounds = 16 * cupy.cuda.Device().attributes["MultiProcessorCount"], 256, 4096
    out = cupy.empty(blocks * threads)
    best = seconds(lambda: kernel((blocks,), (threads,), (np.int32(rounds), np.float64(0.999), out)))
    assert bool(cupy.isfinite(out).all())
    return 16.0 * rounds * blocks * threads / best


def plain_torch(contexts: int) -> Any:
    """A straightforward program in PyTorch: tokens in R^d, a softmax for each w; means of noise over contexts."""
    import torch

    def normal(*shape: int) -> Any:
        x = torch.randn(shape, dtype=torch.float64, device="cuda")
        return x / x.norm(dim=-1, keepdim=True)

    x, query, q = normal(contexts, N, D), normal(contexts, 1, D), normal(contexts, 1, D)
    t, z, c = (x * query).sum(-1), (x * q).sum(-1), (query * q).sum(-1)
    terms = []
    for w in WINDOWS:
        a = torch.softmax(w * t, dim=-1)
        bias = sum(((a * torch.relu(side * z)).sum(-1) - torch.relu(side * c)[:, 0]) ** 2 for side in (1, -1))
        terms.append(torch.stack([(a * a).sum(-1).mean(), bias.mean()]))
    return torch.stack(terms)


def plain_cupy(contexts: int) -> Any:
    """The same program in CuPy."""
    import cupy

    def normal(*shape: int) -> Any:
        x = cupy.random.standard_normal(shape)
        return x / cupy.linalg.norm(x, axis=-1, keepdims=True)

    x, query, q = normal(contexts, N, D), normal(contexts, 1, D), normal(contexts, 1, D)
    t, z, c = (x * query).sum(-1), (x * q).sum(-1), (query * q).sum(-1)
    terms = []
    for w in WINDOWS:
        g = cupy.exp(w * (t - t.max(-1, keepdims=True)))
        a = g / g.sum(-1, keepdims=True)
        bias = sum(((a * cupy.maximum(side * z, 0)).sum(-1) - cupy.maximum(side * c, 0)[:, 0]) ** 2 for side in (1, -1))
        terms.append(cupy.stack([(a * a).sum(-1).mean(), bias.mean()]))
    return cupy.stack(terms)


def in_parts(program: Callable[[int], Any], contexts: int) -> Any:
    """The means of a program, run on as many contexts at a time as fit into 1 GiB of coordinates."""
    parts = contexts // CONTEXTS_A_PART
    return sum(program(CONTEXTS_A_PART) for _ in range(parts)) / parts


def print_machine() -> None:
    import cupy

    name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    versions = f"CuPy {cupy.__version__}, CUDA {cupy.cuda.runtime.runtimeGetVersion()}, NumPy {np.__version__}"
    print(f"{name}; {versions}, driver {cupy.cuda.runtime.driverGetVersion()}, Python {platform.python_version()}")
    print(f"d = {D}, n = {N}, {len(WINDOWS)} windows from {min(WINDOWS):.3g} to {max(WINDOWS):.3g}")


def wrong(sizes: Sequence[int] = SIZES, bundles: int = 16) -> list[str]:
    """The errors of each kernel, a line each: samples, uniforms (bit by bit) and moments."""
    import cupy

    lines = []
    for law in COUNTS:
        for n in sizes:
            question = law, 2.5, D, n, LADDERS, KEY, 2**40, bundles
            drawn_there = (part.get() for part in launch.samples(*question))
            for name, got, wanted in zip(("noise", "bias"), drawn_there, native.samples(*question), strict=True):
                off = abs(got - wanted) / (wanted if name == "noise" else 1.0)
                if not np.all(off <= BOUND):  # NaN is an error as well
                    lines.append(f"{law}, n = {n}: {name} is off by {np.max(off):.2g}, at most {BOUND:g}")
    drawn = np.random.Generator(np.random.Philox(key=KEY, counter=2**64 - 5)).random(1030)
    if not np.array_equal(launch.device_uniforms(KEY, 2**64 - 5, 1030).get(), drawn):
        lines.append("uniforms are not those of NumPy")
    cuts, ones = [0, 16, 300, 1030], np.ones(1)
    here = leaf_moments(drawn[:, None], cuts, 0 * ones, ones)
    there = launch.leaf_moments(cupy.asarray(drawn[:, None]), cuts, 0 * ones, ones)
    if not np.allclose(there, here, rtol=1e-13, atol=0.0):
        lines.append("moments are not those of NumPy")
    return lines


def unequal(contexts: int = 2000, n: int = N) -> list[str]:
    """The paths whose means differ by kernels, by arrays on the device and on the CPU, a line each."""
    lines = []
    for name, (problem, options) in PATHS.items():

        def means(name: str, kernels: bool, problem: Any = problem, options: Any = options) -> Any:
            asked = Problem(d=D, n=n, **problem)
            kind: Any = {"interval": "betting" if np.isfinite(asked.covariates.radius) else "normal"}
            terms = loss_terms(
                asked, MODERATE, "montecarlo", contexts=contexts, backend=name, kernels=kernels, **kind, **options
            )
            return np.stack([terms.noise, terms.bias])

        plain = means("numpy", True)
        for kernels, how in ((True, "kernels"), (False, "arrays")):
            off = np.max(np.abs(means("cupy", kernels) / plain - 1))
            if not off <= BOUND:  # NaN is an error as well
                lines.append(f"{name}, by {how}: a mean is off by {off:.2g} of itself, at most {BOUND:g}")
    return lines


def print_end_to_end(contexts: int = END_TO_END) -> None:
    """The time of a whole answer by each backend, and the memory that CuPy holds afterwards."""
    import cupy

    problem = Problem(d=D, n=N, law=ReLU(L=L))
    for backend, kernels in (("cupy", False), ("cupy", True), ("native", True), ("numpy", True)):
        start = time.perf_counter()
        terms = loss_terms(problem, WINDOWS, "montecarlo", contexts=contexts, backend=backend, kernels=kernels)
        taken, error = time.perf_counter() - start, np.max(terms.noise_error / terms.noise)
        by = backend if kernels else f"{backend} by arrays"
        print(f"loss_terms, relu, {contexts} contexts, {by}: {taken:.3g} s, noise within {error:.2g} of itself")
    print(f"memory on the device: {cupy.get_default_memory_pool().total_bytes() / 2**20:.0f} MiB")


def print_kernels(best: float) -> None:
    """The rates of the kernels and their share of the peak."""
    for law, count in COUNTS.items():
        time = seconds(lambda law=law: launch.samples(law, L, D, N, LADDERS, KEY, 0, BUNDLES))  # type: ignore[misc]
        pairs = float(BUNDLES) * QUERIES * N * len(WINDOWS) / time
        needed = count.a_pair()
        print(
            f"{law}: {pairs:.3g} (token, window) pairs/s; {needed:.2f} float64 instructions a pair: "
            f"{pairs * needed / best:.2f} of the peak"
        )


def print_comparison() -> None:
    """The kernel compared with the straightforward program on equal numbers of contexts."""
    name, program = "CuPy", plain_cupy
    if importlib.util.find_spec("torch"):
        import torch

        if torch.cuda.is_available():
            name, program = f"PyTorch {torch.__version__}", plain_torch
    contexts = QUERIES * COMPARED_BUNDLES
    kernel = seconds(lambda: launch.samples("relu", L, D, N, LADDERS, KEY, 0, COMPARED_BUNDLES))
    plain = seconds(lambda: in_parts(program, contexts), rounds=3)
    print(f"straightforward {name} program, relu, {contexts} contexts: {plain:.4g} s; kernel {kernel:.4g} s")
    print(f"ratio: {plain / kernel:.0f}")
    noise, bias = launch.samples("relu", L, D, N, LADDERS, KEY, 0, COMPARED_BUNDLES)
    ours = np.stack([noise.mean(axis=0).get(), bias.mean(axis=0).get()], axis=1)
    errors = np.stack([noise.std(axis=0).get(), bias.std(axis=0).get()], axis=1) / np.sqrt(COMPARED_BUNDLES)
    theirs = np.asarray(in_parts(program, contexts).tolist())
    print(
        f"largest difference of the means: {np.max(np.abs(ours - theirs) / errors):.1f} standard errors of the kernel's"
    )


FIRST = Path(__file__).with_name("results") / "gpu.txt"
MINUTES = 8.0
COVERED, SEEDS = ("affine", "relu", "relu, few tokens", "cosine", "quadratic", "ellipsoid, relu", "|z|"), 200
"""Settings of `benchmarks/coverage.py`, and seeds for each."""
EDGES = (1.0, 0.25, 0.05)
"""What is left free on the device, as shares of what a call takes by itself."""


def print_registers() -> None:
    """Registers and spilled bytes of every kernel as compiled here, all of them in one module."""
    import cupy

    parts = ("samples", "joined")
    names = [instantiation(law, rungs, part) for law in COUNTS for rungs in range(1, MOST_RUNGS + 1) for part in parts]
    names += ["uniforms", "moments"]
    start = time.perf_counter()
    module = cupy.RawModule(code=assembled(), options=launch.OPTIONS, name_expressions=tuple(names))
    kernels = {name: module.get_function(name) for name in names}
    registers = {name: kernel.num_regs for name, kernel in kernels.items()}
    spilled = {name: kernel.local_size_bytes for name, kernel in kernels.items() if kernel.local_size_bytes}
    print(f"{len(names)} kernels compiled as one module in {time.perf_counter() - start:.1f} s")
    for law in COUNTS:
        counts = [registers[instantiation(law, rungs)] for rungs in range(1, MOST_RUNGS + 1)]
        print(f"{law}: {', '.join(map(str, counts))} registers with 1 to {MOST_RUNGS} rungs")
    print(*(f"{name}: {size} bytes of local memory" for name, size in spilled.items()), sep="\n", end="")
    print("" if spilled else "no kernel uses local memory: none spills")


def print_coverage() -> None:
    """How often the default interval contains the exact value, on the device."""
    coverage = runpy.run_path(str(Path(__file__).with_name("coverage.py")))
    for name in COVERED:
        misses, _ = coverage["missed"](*coverage["SETTINGS"][name], range(SEEDS), backend="cupy")
        noise, bias = 1 - misses / SEEDS
        print(f"{name}: noise {noise:.1%}, bias {bias:.1%} of {SEEDS} intervals contain the exact value")


def print_bytes() -> None:
    """The bytes that the array path writes in a second, beside those of a copy; it reads more than it writes."""
    import cupy

    launches = runpy.run_path(str(Path(__file__).with_name("launches.py")))

    def copied(source: Any, target: Any) -> float:
        return source.nbytes / seconds(lambda: cupy.copyto(target, source))

    limit = copied(cupy.ones(2**27), cupy.empty(2**27))
    print(f"a copy writes {limit / 1e9:.0f} GB/s")
    for name, contexts in (("own link", 2**15), ("full", 2**13)):
        problem, options = launches["PATHS"][name]
        asked = Problem(d=3, n=launches["N"], **problem)
        grid = launches["WINDOWS"]

        def work(asked: Any = asked, options: Any = options, contexts: int = contexts, grid: Any = grid) -> Any:
            return loss_terms(
                asked,
                grid,
                "montecarlo",
                contexts=contexts,
                backend="cupy",
                kernels=False,
                interval="betting",
                **options,
            )

        taken = seconds(work, rounds=3)
        each = launches["launches_and_peak"](name, 2**30, launches["CONTEXTS"])[3] / launches["CONTEXTS"]
        print(
            f"{name}: {contexts * asked.n * len(grid) / taken:.3g} (token, window) pairs/s by arrays, "
            f"{each * contexts / taken / 1e9:.0f} GB/s written"
        )


def print_edge_of_memory() -> None:
    """The same numbers when other programs leave little of the device's memory."""
    import cupy

    asked = Problem(d=3, n=N, law=OWN)

    def terms() -> Any:
        found = loss_terms(asked, MODERATE, "montecarlo", contexts=2**15, backend="cupy", interval="betting")
        return np.stack([found.noise, found.bias])

    plain = terms()
    launch.release()
    free, total = cupy.cuda.runtime.memGetInfo()
    for share in EDGES:
        left = int(share * launch.room())
        taken = cupy.cuda.alloc(max(free - left, 0))
        try:
            off = float(np.max(abs(terms() / plain - 1)))
            says = f"a mean is off by {off:.2g} of itself"
            if not off <= BOUND:
                raise AssertionError(f"{left / 2**20:.0f} MiB left: {says}")
        except OutOfReach as error:
            says = f"refused: {error}"
        finally:
            del taken
            launch.release()
        print(f"{left / 2**20:.0f} of {total / 2**20:.0f} MiB left: {says}")


ALONE = (
    "from lipverify import Problem, loss_terms; from lipverify.laws import ReLU; "
    "t = loss_terms(Problem(d=8, n=1000, law=ReLU()), [0.5, 5.0], 'montecarlo', contexts=20000, backend='cupy'); "
    "print([x.hex() for x in (*t.noise.tolist(), *t.bias.tolist())])"
)


def print_devices() -> None:
    """Each device alone gives the same bits, if they are of one kind; a run takes all of them."""
    names = launch.devices()
    if len(names) == 1:
        print("one device: nothing to compare")
        return
    answers = set()
    for name in names:
        environment = {**os.environ, "CUDA_VISIBLE_DEVICES": name}
        done = subprocess.run(
            [sys.executable, "-c", ALONE], env=environment, capture_output=True, text=True, check=True
        )
        answers.add(done.stdout)
    print(f"{len(names)} devices alone: {'the same bits' if len(answers) == 1 else 'different bits'}")


def print_numbers() -> None:
    lines = wrong() or unequal()
    if lines:
        raise AssertionError("; ".join(lines))
    print("every kernel is right, and kernels, arrays and the CPU agree")


def print_rates() -> None:
    best = peak()
    print(f"peak of the float64 unit, measured: {best:.3g} multiply-adds/s = {2e-12 * best:.1f} TFLOP/s")
    print_kernels(best)
    print_comparison()
    print_end_to_end()


PARTS = {
    "machine": print_machine,
    "numbers": print_numbers,
    "registers": print_registers,
    "memory at its edge": print_edge_of_memory,
    "devices": print_devices,
    "rates of kernels": print_rates,
    "bytes of arrays": print_bytes,
    "coverage of 95 % intervals": print_coverage,
}
"""Most important first: what is not reached in time is least missed."""


class Both(io.StringIO):
    """Keeps what is printed, and prints it."""

    def __init__(self) -> None:
        super().__init__()
        self.screen = sys.stdout

    def write(self, text: str) -> int:
        self.screen.write(text)
        self.screen.flush()
        return super().write(text)


def first(path: Path = FIRST, minutes: float = MINUTES, parts: dict[str, Callable[[], None]] = PARTS) -> int:
    """Run the parts one after the other and write what they print; a part that fails is named, and the others run."""
    begun, failed = time.monotonic(), 0
    with contextlib.redirect_stdout(Both()) as text:
        for name, part in parts.items():
            spent = time.monotonic() - begun
            print(f"\n{name} (after {spent:.0f} s)")
            if spent > 60 * minutes:
                print("no time is left")
                failed = 1
            else:
                try:
                    part()
                except Exception as error:
                    print(f"FAILED: {type(error).__name__}: {error}")
                    failed = 1
            path.write_text(text.getvalue().lstrip(), encoding="utf-8")
    return failed


def main() -> int:
    try:
        launch.require_gpu()
    except InvalidInput as error:
        print(error, file=sys.stderr)
        return 2
    if "--first" in sys.argv[1:]:
        return first()
    print_machine()
    lines = wrong() or unequal()
    if lines:
        print(*(f"WRONG: {line}" for line in lines), sep="\n")
        return 1
    print("every kernel is right, and kernels, arrays and the CPU agree")
    print_rates()
    return 0


if __name__ == "__main__":
    sys.exit(main())
