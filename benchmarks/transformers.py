"""Time of a gradient of the adjusted loss, for one context and layer: `python benchmarks/transformers.py`.

For comparison, plain code: the same loss by its definition, token by token in NumPy. A gradient by differences needs
one more evaluation for every weight.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from lipverify.foundation.compiling import has_compiler
from lipverify.linear_transformer.families import NAMES, family_named
from lipverify.linear_transformer.tokens import Tokens, forward
from lipverify.linear_transformer.training.objective import Objective, draw_sample
from lipverify.problem.noise import UniformNoise
from lipverify.prompts import Prompts

CONTEXTS, LAYERS, TOKEN_CONTEXTS = 8192, 4, 20
PROBLEM = Prompts(d=10, n=20, sigma=UniformNoise(3.0))


def main() -> None:
    """Print one line for each family and arithmetic."""
    sample = draw_sample(PROBLEM, CONTEXTS, 0, "benchmark")
    print(f"d = {PROBLEM.d}, n = {PROBLEM.n}, {LAYERS} layers, {CONTEXTS} contexts")
    print("microseconds a context and layer, best of 5")
    for name in NAMES:
        family = family_named(name, PROBLEM)
        weights = family.at_random(np.random.default_rng(0).normal(size=(LAYERS, *family.shape)))
        for arithmetic in ("native", "array") if has_compiler() else ("array",):
            objective = Objective(family, sample, 1.0, arithmetic)
            seconds = best(lambda objective=objective, weights=weights: objective(weights))  # type: ignore[misc]
            print(f"{name:6s} {arithmetic:7s} gradient {1e6 * seconds / CONTEXTS / LAYERS:8.3f}")
        plain = 1e6 * best(lambda family=family, weights=weights: by_tokens(family, weights)) / TOKEN_CONTEXTS / LAYERS  # type: ignore[misc]
        print(f"{name:6s} tokens  loss     {plain:8.0f}   gradient by differences {plain * (1 + weights.size):10.0f}")


def by_tokens(family: object, weights: np.ndarray) -> None:
    """The loss of a few contexts by definition."""
    random = np.random.default_rng(1)
    layers = family.model(weights)  # type: ignore[attr-defined]
    for _ in range(TOKEN_CONTEXTS):
        context = random.normal(size=(PROBLEM.n, PROBLEM.d + 1))
        forward(Tokens(context, np.append(random.normal(size=PROBLEM.d), 0.0)), layers)


def best(call: Callable[[], object], repeats: int = 5) -> float:
    """Seconds of the fastest of several calls, after one to warm up."""
    call()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


if __name__ == "__main__":
    main()
