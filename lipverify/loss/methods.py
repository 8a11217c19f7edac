"""`loss_terms`: bias and noise at a given w, by methods that share nothing but the problem's definition."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from importlib import import_module
from inspect import signature
from typing import Any, get_args

import numpy as np
from msgspec.structs import replace

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Floats
from lipverify.foundation.noted import Made, makes
from lipverify.foundation.store import forgetting
from lipverify.foundation.validation import chosen, numbers
from lipverify.loss.kernels import kernel_for
from lipverify.loss.terms import ErrorKind, LossTerms
from lipverify.loss.work import budgeted
from lipverify.problem import Problem
from lipverify.problem.covariates import Sphere
from lipverify.problem.law import Sum
from lipverify.problem.laws import Affine, Linear
from lipverify.problem.problem import require_isotropic, require_problem
from lipverify.problem.whitening import isotropic_form

EPS = float(np.finfo(float).eps)
Options = dict[str, Any]


@dataclass(frozen=True)
class Method:
    """A method that computes the two terms of the loss.

    Attributes
    ----------
    name
        Its name in `loss_terms`.
    function
        The import path of its function terms(problem, w, **options), which is imported on first use.
    words
        A sentence for reports: the method and its errors.
    prepare
        The preparation of the problem and the options before the function is called.
    made
        The kind of its errors, if the terms themselves do not state it.
    additive
        True if the terms of a sum of laws are combined from the terms of its parts.
    """

    name: str
    function: tuple[str, str]
    words: str
    prepare: Callable[[Method, Problem, Floats, Options], LossTerms]
    made: Made | None = None
    additive: bool = True

    @property
    def terms(self) -> Callable[..., LossTerms]:
        """Import the function of the method."""
        module, name = self.function
        return getattr(import_module(module), name)

    @property
    def options(self) -> list[str]:
        """The options that the function takes."""
        return [name for name, how in signature(self.terms).parameters.items() if how.kind == how.KEYWORD_ONLY]

    def serve(self, problem: Problem, w: Floats, options: Options) -> LossTerms:
        """Call the function; for a sum of laws, part by part if the method is additive."""
        for option in options:
            if option not in self.options:
                has = f"it has {', '.join(self.options)}" if self.options else "it has none"
                raise InvalidInput(f"{option} is not an option of the {self.name} method; {has}.")
        terms = self.terms
        if isinstance(problem.law, Sum) and self.additive:
            return _summed(problem, w, lambda part: terms(part, w, **options), self.name)
        return terms(problem, w, **options)


def _in_isotropic_form(method: Method, problem: Problem, w: Floats, options: Options) -> LossTerms:
    """Serve within a budget, in coordinates in which the problem is isotropic."""
    seconds, memory, progress = (options.pop(name, None) for name in ("budget", "memory", "progress"))
    with budgeted(seconds, memory, progress):
        if options.get("attention", "softmax") != "softmax":
            kernel_for(options["attention"], problem, w, options.pop("M", None))
        elif not (problem.isotropic and options.get("M") is None):
            if isinstance(problem.covariates, Sphere) and options.get("M") is None:
                require_isotropic(problem, "method='exact'")
            return _whitened(problem, w, options)
        require_isotropic(problem, "method='exact'")
        return method.serve(problem, w, options)


def _isotropic(method: Method, problem: Problem, w: Floats, options: Options) -> LossTerms:
    """Serve an isotropic problem; refuse any other."""
    require_isotropic(problem, f"method={method.name!r}")
    return method.serve(problem, w, options)


def _sampled(method: Method, problem: Problem, w: Floats, options: Options) -> LossTerms:
    """Serve any problem; on an ellipsoid use the exact noise on the sphere to reduce the variance."""
    if options.get("sampling") is None:
        options.setdefault("sphere_noise", _sphere_noise)
    return method.serve(problem, w, options)


TABLE = {
    method.name: method
    for method in (
        Method(
            "exact",
            ("lipverify.loss.exact", "exact_terms"),
            "deterministic quadrature of a Laplace representation of the loss; the cost does not depend on $n$, and "
            "the error is a bound that includes rounding",
            _in_isotropic_form,
        ),
        Method(
            "montecarlo",
            ("lipverify.loss.montecarlo", "montecarlo_terms"),
            "sampling of contexts with counter-based random numbers; the error is the half-width of the 95 % interval",
            _sampled,
            additive=False,
        ),
        Method(
            "asymptotic",
            ("lipverify.loss.asymptotic", "asymptotic_terms"),
            "leading terms derived by computer algebra; never the only ground of a verdict",
            _isotropic,
        ),
        Method(
            "certified",
            ("lipverify.loss.certified", "certified_terms"),
            "ball arithmetic; the interval provably contains the value",
            _isotropic,
            made="certified",
        ),
    )
}
"""All methods by name; a new method needs a record here and nothing else."""
METHODS = tuple(TABLE)
_TABLE: ContextVar[Mapping[str, Method]] = ContextVar("methods", default=TABLE)

__all__ = ["METHODS", "LossTerms", "loss_terms"]


@makes("bounded", by=lambda terms: (TABLE[terms.method].made or terms.error_kind, terms.method))
def loss_terms(problem: Problem, w: Any, method: str = "exact", **options: Any) -> LossTerms:
    r"""Bias B(w) and noise N(w) of the loss of softmax attention with M = w I.

        B(w) = E (sum_i a_i f(x_i) - f(x))^2,    N(w) = sigma^2 E sum_i a_i^2,

    a_i proportional to exp(w <x_i, x>); the loss is their sum (source: Collins et al., slides,
    "Decomposition"; w here is the scale of M, so a Gaussian exp(-w |x_i - x|^2) has half this w).

    Parameters
    ----------
    problem
        Dimension, context length, law of the task and noise level.
    w
        One value or an array of them, finite and >= 0; the arrays of the result have its shape. The window is about
        w^{-1/2} wide: it narrows as w grows.
    method
        "exact": quadrature whose cost does not depend on n, for any isotropic law, and for problems that whitening
        makes isotropic: `M`, by default the identity, is the matrix of the scores w x_i^T M x.
        "montecarlo": sampling of tokens and tasks, for any covariates and any law that can be drawn.
        "asymptotic": the leading terms, derived by SymPy, with their range of validity.
        "certified": balls that are proved to contain the values, with 20 digits.
    **options
        For "exact": `route`, "ridge" or "zonal"; see `lipverify.loss.exact.exact_terms`; `M`, see
        `lipverify.problem.whitening`; `attention`, a kernel of `lipverify.attention`
        (for Affine and Linear tasks; all others need sampling); `budget` in seconds of a nominal processor, 300 by
        default, and `memory` in GiB, 4 by default: a call that would take more is refused before it begins; and
        `progress`, called with (done, expected) in tenths of such seconds. See `lipverify.budget` and
        `lipverify.loss_cost`.
        For "certified": `digits`; see `lipverify.loss.certified.certified_terms`.
        For "montecarlo": `contexts` or `rtol`, `M`, `attention`, `backend`, `seed` and others; see
        `lipverify.loss.montecarlo.montecarlo_terms`.

    Returns
    -------
    LossTerms
        `bias`, `noise`, `total` and their errors, in units of y squared. `error_kind` is "bounded", "sampled" or
        "estimated": the exact method bounds the error for all laws of lipverify, and for your own functions if they are
        formulas of NumPy's functions. For all others its error is an estimate, which can miss a feature narrower than
        about 1e-4: a bump, a step, a spike at a pole.

    Raises
    ------
    InvalidInput
        If `w`, `method` or an option breaks its rule.
    OutOfReach
        If the method cannot reach the requested accuracy, or an exact loss exceeds its budget.

    >>> from lipverify.laws import ReLU
    >>> terms = loss_terms(Problem(d=5, n=100, law=ReLU(L=1.0), sigma=1.0), w=[0.0, 5.0])
    >>> terms.noise.round(6).tolist()
    [0.01, 0.056844]
    """
    values = numbers("w", w, "w", least=0)
    require_problem(problem)
    served = _TABLE.get()[chosen("method", method, METHODS)]
    return served.prepare(served, problem, values, options)


@dataclass(frozen=True)
class Instead(Method):
    """Another method that replaces the exact one, and a record of the losses that it served."""

    other: Method = TABLE["exact"]
    given: Options = field(default_factory=dict)
    taken: list[str] = field(default_factory=list)

    @property
    def used(self) -> int:
        """Number of losses that the other method computed."""
        return self.taken.count("")

    @property
    def kept(self) -> str:
        """The last route that a caller named. Such calls are not replaced, because they compare the two routes."""
        return next((route for route in reversed(self.taken) if route), "")

    def serve(self, problem: Problem, w: Floats, options: Options) -> LossTerms:
        """Call the other method with its options; calls that name a route or a kernel are served exactly."""
        if options.get("attention", "softmax") != "softmax":
            return super().serve(problem, w, options)
        self.taken.append(options.get("route") or "")
        if self.taken[-1]:
            return super().serve(problem, w, options)
        prepare = Method.serve if self.other.name == "exact" else self.other.prepare
        return prepare(self.other, problem, w, dict(self.given))


@contextmanager
def instead_of_exact(method: str, **options: Any) -> Iterator[Instead]:
    """Inside this context, `loss_terms` uses this method for exact losses unless the call names a route.

    It repeats a computation by an independent method.

    >>> from lipverify.laws import ReLU
    >>> with instead_of_exact("exact", route="zonal") as other:
    ...     _ = loss_terms(Problem(d=3, n=9, law=ReLU()), 2.0)
    >>> other.used
    1
    """
    exact = TABLE["exact"]
    other = Instead(exact.name, exact.function, exact.words, exact.prepare, other=TABLE[method], given=options)
    token = _TABLE.set({**TABLE, "exact": other})
    try:
        with forgetting():
            yield other
    finally:
        _TABLE.reset(token)


def _summed(problem: Problem, w: Floats, terms: Callable[[Problem], LossTerms], method: str) -> LossTerms:
    """The terms of a sum of laws: the biases of the parts add, and the noise is the same for every part."""
    assert isinstance(problem.law, Sum)
    parts = problem.law.parts or ((0.0, Affine()),)
    found = [(weight, terms(problem.replace(law=law))) for weight, law in parts]
    bias = np.asarray(sum(weight * np.asarray(each.bias) for weight, each in found))
    error = np.asarray(sum(weight * np.asarray(each.bias_error) for weight, each in found))
    noise = found[0][1]
    return LossTerms(
        problem=problem,
        method=method,
        w=w,
        bias=bias,
        noise=noise.noise,
        bias_error=error + len(found) * EPS * bias,
        noise_error=noise.noise_error,
        reason=" ".join(dict.fromkeys(each.reason for _, each in found if each.reason)),
        error_kind=max((each.error_kind for _, each in found), key=get_args(ErrorKind).index),
    )


def _whitened(problem: Problem, w: Any, options: dict[str, Any]) -> LossTerms:
    """Exact terms of a problem that is isotropic in other coordinates, where w is scaled by c."""
    form = isotropic_form(problem, options.pop("M", None))
    terms = loss_terms(form.problem, form.factor * w, "exact", **options)
    # the terms have factors that are powers of w, c and the coordinates with exponents of at most (d + 3) / 2
    off = (problem.d + 3) * (form.off + EPS)
    errors = {
        f"{name}_error": getattr(terms, f"{name}_error") + off * getattr(terms, name) for name in ("noise", "bias")
    }
    return replace(terms, problem=problem, w=w, **errors)


def _sphere_noise(d: int, n: int | float, w: Any) -> tuple[Any, Any]:
    """The noise over sigma^2 on the sphere and its error, for sampling on an ellipsoid."""
    terms = loss_terms(Problem(d=d, n=n, law=Linear()), w)
    return terms.noise, terms.noise_error
