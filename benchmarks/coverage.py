"""The miss rate of 95 % intervals over many repetitions of skewed samples, and their widths for contexts.

    python benchmarks/coverage.py [--widths]

Betting: `Tally`, with the number of samples fixed beforehand. Stopped: `until`, sampling that ends as soon as the
interval is narrow enough. Normal: mean +- 1.96 standard errors, for comparison. Widths: half-widths for 20,000 contexts
divided by normal ones.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from lipverify import Problem, loss_terms
from lipverify.covariates import Covariates, Ellipsoid, Sphere
from lipverify.errors import OutOfReach
from lipverify.foundation.arrays import Floats
from lipverify.foundation.means.betting import betting_interval
from lipverify.foundation.streams import uniforms
from lipverify.laws import RBF, Affine, Cosine, Law, Quadratic, ReLU, ReLUNetwork, Ridge, Sum
from lipverify.loss.montecarlo.accuracy import tally_of, until
from lipverify.loss.montecarlo.terms import sampler

REPETITIONS = 4000


@dataclass(frozen=True)
class Skewed:
    """Samples computed from uniforms, 256 a chunk."""

    transform: Callable[[Floats], Floats]
    stream: str
    size: int = 256

    def bounds(self) -> tuple[Floats, Floats]:
        return np.zeros(1), np.ones(1)

    def chunk(self, index: int) -> Floats:
        return self.transform(uniforms(0, self.stream, index, (self.size, 1)))


CASES: dict[str, tuple[float, Callable[[Floats], Floats]]] = {
    "one in a hundred": (0.01, lambda u: (u < 0.01).astype(float)),
    "u^30": (1 / 31, lambda u: u**30),
    "1 - u^30": (30 / 31, lambda u: 1 - u**30),
}
MANY, FEWER = 20_000, 400
"""Numbers of samples, which the bets are tuned to, and the number of repetitions of each."""


def line(name: str, misses: int, repetitions: int, width: float) -> None:
    share = misses / repetitions
    error = 1.96 * math.sqrt(max(share * (1 - share), 1 / repetitions) / repetitions)
    print(f"  {name:34s} {misses:5d} of {repetitions}: {share:6.2%} ± {error:.2%}, median half-width {width:.3g}")


def fixed(name: str, size: int, repetitions: int = REPETITIONS) -> None:
    truth, transform = CASES[name]
    x = transform(uniforms(0, f"fixed/{name}", 0, (size, repetitions)))
    low, high = betting_interval(x)
    line(
        f"betting, {size} samples", int(np.sum((low > truth) | (high < truth))), repetitions, np.median(high - low) / 2
    )
    error = 1.96 * x.std(axis=0) / math.sqrt(size)
    line(f"normal, {size} samples", int(np.sum(np.abs(x.mean(axis=0) - truth) > error)), repetitions, np.median(error))


def stopped(name: str, rtol: float) -> None:
    truth, transform = CASES[name]
    ends = [
        until(lambda look, r=r: Skewed(transform, f"{name}/{r}/{look}"), rtol, 40, 10**7) for r in range(REPETITIONS)
    ]
    misses = sum(bool(abs(mean[0] - truth) > half_width[0]) for mean, half_width in ends)
    line(f"stopped at rtol = {rtol:g}", misses, REPETITIONS, float(np.median([end[1] for end in ends])))


def bias_of_contexts() -> None:
    """Samples of the bias itself where it is skewed: few tokens, ReLU."""
    problem, w, repetitions = Problem(d=3, n=4, law=ReLU()), np.array([8.0]), 2000
    exact = loss_terms(problem, w)
    truth = np.array([exact.noise[0], exact.bias[0]])
    at = partial(sampler, problem, w, None, "softmax", "full", 0)
    ends = [tally_of(at(f"coverage/{r}"), 400).interval() for r in range(repetitions)]
    for k, term in enumerate(("noise", "bias")):
        unit = 1.0 if term == "noise" else at("").unit
        misses = sum(bool(abs(unit * mean[k] - truth[k]) > unit * half[k]) for mean, half in ends)
        line(
            f"{term}, d = 3, n = 4, w = 8, 400 contexts",
            misses,
            repetitions,
            float(np.median([unit * e[1][k] for e in ends])),
        )


LAWS: dict[str, Law] = {
    "affine": Affine(),
    "relu": ReLU(),
    "quadratic": Quadratic(),
    "|z|": Ridge(np.abs, kinks=(0.0,)),
    "cosine(3)": Cosine(3.0),
    "relu + 2*cosine(3)": ReLU() + 2 * Cosine(3.0),
    "network": ReLUNetwork(),
    "rbf": RBF(),
}
SIZES, WINDOWS = ((2, 20), (5, 100), (3, 3000)), np.array([0.5, 2.0, 8.0])


def width(law: Law, covariates: Covariates, d: int, n: int) -> None:
    """Half-widths divided by normal ones at each w; a dash where no normal interval is credible."""
    problem = Problem(d=d, n=n, law=law, covariates=covariates)
    try:
        bets, normal = (
            loss_terms(problem, WINDOWS, "montecarlo", contexts=MANY, interval=kind) for kind in ("betting", "normal")
        )
    except OutOfReach:
        print(f"  {covariates.name:9s} d = {d}, n = {n:4d}: -")
        return
    noise, bias = (
        " ".join(f"{ratio:.2f}" for ratio in getattr(bets, term) / getattr(normal, term))
        for term in ("noise_error", "bias_error")
    )
    print(f"  {covariates.name:9s} d = {d}, n = {n:4d}: noise {noise}, bias {bias}")


def widths() -> None:
    for name, law in LAWS.items():
        print(f"{name}, w = {', '.join(f'{w:g}' for w in WINDOWS)}:")
        for d, n in SIZES:
            width(law, Sphere(), d, n)
            if not isinstance(law, Sum):
                width(law, Ellipsoid(np.resize([4.0, 1.0], d)), d, n)


def main() -> None:
    if "--widths" in sys.argv[1:]:
        widths()
        return
    for name, size, rtol in (("one in a hundred", 300, 0.6), ("u^30", 200, 0.3), ("1 - u^30", 200, 0.01)):
        print(f"{name}:")
        fixed(name, size)
        fixed(name, MANY // 4, FEWER)
        fixed(name, MANY, FEWER)
        stopped(name, rtol)
    print("samples of the ReLU law, against the exact method:")
    bias_of_contexts()


if __name__ == "__main__":
    main()
