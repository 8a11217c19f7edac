"""Distributions of prompts as data: covariates, tasks, label noise and length, drawn on the host by address."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import msgspec
import numpy as np

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.arrays import Array, Floats, to_device
from lipverify.foundation.quoting import shown
from lipverify.foundation.streams import generator, standard_normals
from lipverify.foundation.validation import a_seed, instance, number, whole
from lipverify.problem.covariates import Covariates
from lipverify.problem.law import FunctionLaw, RidgeLaw, Sum, as_functions, require_dimension
from lipverify.problem.noise import CategoricalNoise, NoiseLaw
from lipverify.problem.problem import context_length, replaced
from lipverify.problem.vectors import Coordinates

LARGEST = 2**27
"""Numbers of one prompt, at most: a gigabyte."""
SOME = 2**20
"""Numbers of a chunk of prompts, which fit into a cache."""


class Drawn(NamedTuple):
    """C prompts, in arrays of one library.

    Attributes
    ----------
    x, y
        Covariates (C, n, d) and labels (C, n) of the tokens.
    query, target
        The query (C, d), and the task's value there, without noise, (C,).
    task
        w of linear tasks, (C, d); None for other functions.
    """

    x: Array
    y: Array
    query: Array
    target: Array
    task: Array | None


class Prompts(msgspec.Struct, frozen=True, kw_only=True):
    """The law of a prompt: n tokens (x_i, y_i) with y_i = f(x_i) + sigma eps_i, eps_i ~ N(0, 1), and a query x.

    All draws are independent; f and, where it is random, sigma are drawn once a prompt. Linear tasks f(x) = <w, x> are
    given by the law of the vector w, others by a law of functions.

    Parameters
    ----------
    d, n
        Dimension of the covariates, >= 1, and tokens in the context, from 1 to 1e30; prompts longer than 1e8 numbers
        are not drawn.
    covariates
        The law of x_1, ..., x_n, see `lipverify.covariates`; N(0, I) by default.
    tasks
        The law of w: any law of a vector, such as N(0, I), the default, a `Pool`, `Sparse(3)`, or
        `Gaussian(B @ B.T)` for w in the span of B. Or a law of functions from `lipverify.laws`.
    sigma
        Standard deviation of the label noise, or its law, such as `UniformNoise(3.0)`; 0 by default.
    query
        The law of x; that of the covariates by default.

    Raises
    ------
    InvalidInput
        If a value breaks its rule; the message names both.

    Examples
    --------
    >>> from lipverify.covariates import Pool
    >>> Prompts(d=2, n=5, tasks=Pool([[1.0, 0.0], [0.0, 1.0]]), sigma=0.5).draw(100, seed=0).x.shape
    (100, 5, 2)
    """

    d: int
    n: int | float
    covariates: Covariates = Coordinates()
    tasks: Any = Coordinates()  # Covariates or a Law: msgspec does not join records with different tags
    sigma: float | NoiseLaw = 0.0
    query: Covariates | None = None

    def __post_init__(self) -> None:
        fix = msgspec.structs.force_setattr
        fix(self, "d", whole("d", self.d, 1, "the dimension"))
        fix(self, "n", context_length(self.n))
        way_out = "use one, such as lipverify.covariates.Coordinates('uniform')"
        for name in ("covariates", "query"):
            if name == "covariates" or self.query is not None:
                instance(name, getattr(self, name), Covariates, way_out).require_dimension(self.d)
        if isinstance(self.tasks, Covariates):
            self.tasks.require_dimension(self.d)
        elif isinstance(self.tasks, FunctionLaw):
            require_dimension(self.tasks, self.d)
        else:
            laws = "such as lipverify.covariates.Pool(16) or, with S = E w w^T, lipverify.covariates.Gaussian(S)"
            rule = f"give the law of w, {laws}, or a law of functions that can be drawn"
            raise InvalidInput(f"tasks = {shown(self.tasks)}: {rule}.")
        if not isinstance(self.sigma, NoiseLaw):
            fix(self, "sigma", number("sigma", self.sigma, "a standard deviation, or its law,", least=0))

    def replace(self, **changes: Any) -> Prompts:
        """The same law with some fields changed; the result is validated."""
        return replaced(self, changes)

    @property
    def noise(self) -> NoiseLaw:
        """The law of sigma, of one level if it is a number."""
        return self.sigma if isinstance(self.sigma, NoiseLaw) else CategoricalNoise((self.sigma,))

    @property
    def linear(self) -> bool:
        """True if the tasks are f(x) = <w, x>."""
        return isinstance(self.tasks, Covariates)

    @property
    def size(self) -> int:
        """Numbers of a prompt."""
        size = int(self.n) * (self.d + 1)
        if size > LARGEST:
            raise OutOfReach(f"n = {self.n:g}, d = {self.d}: {size:.1e} numbers a prompt, {LARGEST:.1e} are the most.")
        return size

    @property
    def chunk(self) -> int:
        """Prompts that share an address."""
        return min(1024, max(1, SOME // self.size))

    def draw(self, contexts: int, seed: int, stream: str = "", xp: Any = np, device: Any = None) -> Drawn:
        """`contexts` independent prompts; number j is a function of (prompts, seed, stream, j), on every library.

        >>> here = Prompts(d=2, n=5)
        >>> bool((here.draw(3, seed=0).y == here.draw(2000, seed=0).y[:3]).all())
        True
        """
        contexts, seed = whole("contexts", contexts, 1, most=8 * LARGEST // self.size), a_seed(seed)
        chunks = [self.drawn(seed, stream, index) for index in range(-(-contexts // self.chunk))]
        parts = [None if part[0] is None else np.concatenate(part)[:contexts] for part in zip(*chunks, strict=True)]
        return Drawn(*(part if part is None else to_device(part, xp, device) for part in parts))

    def drawn(self, seed: int, stream: str, index: int) -> Drawn:
        """One chunk of prompts, on the host."""
        count, n, d = self.chunk, int(self.n), self.d

        def of(what: str) -> np.random.Generator:
            return generator(seed, f"{stream}/{what}", index)

        x = self.covariates.draw(of("covariates"), (count, n, d))
        query = (self.query or self.covariates).draw(of("query"), (count, d))
        w = self.tasks.draw(of("tasks"), (count, d)) if self.linear else None
        if w is not None:
            y, target = np.einsum("cnd,cd->cn", x, w), np.einsum("cd,cd->c", query, w)
        else:
            values = _functions(self.tasks, of("tasks"), count, d)(np.concatenate([query[:, None], x], axis=1))
            y, target = values[:, 1:], values[:, 0]
        noise = of("noise")
        sigma = self.sigma.draw(noise.random((count, 1))) if isinstance(self.sigma, NoiseLaw) else self.sigma
        if np.any(sigma):
            y = y + sigma * standard_normals(noise, (count, n))
        return Drawn(x, y, query, target, w)


def _functions(law: FunctionLaw, rng: np.random.Generator, count: int, d: int) -> Any:
    """Functions drawn with their amplitudes, as one callable of points (count, m, d)."""
    if isinstance(law, Sum):
        parts = [
            (math.sqrt(weight), _functions(as_functions(part, "drawing"), rng, count, d)) for weight, part in law.parts
        ]
        return lambda x: sum(factor * f(x) for factor, f in parts)
    tasks = law.draw(rng, count, d)
    ridge = getattr(law, "ridge", law)
    uniforms = rng.random((len(law.bounds()), count, 1))
    amplitudes = ridge.amplitudes(uniforms) if isinstance(ridge, RidgeLaw) else np.ones_like(uniforms)

    def values(x: Floats) -> Floats:
        return np.sum(
            [amplitude * f for amplitude, f in zip(amplitudes, law.values(tasks, x, np), strict=True)], axis=0
        )

    return values


def require_prompts(prompts: Any) -> Prompts:
    """Refuse an object that is not a law of prompts."""
    return instance("prompts", prompts, Prompts, "build them with lipverify.prompts.Prompts(d=..., n=...)")
