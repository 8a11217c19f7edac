"""`loss_terms`: bias and noise at a given w, by methods that share only the problem's definition."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from importlib import import_module
from inspect import signature
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args, overload

import numpy as np
from msgspec.structs import replace

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import EPS, Floats, Matrix, Reals
from lipverify.foundation.noted import Grade, Made, makes
from lipverify.foundation.quoting import shown
from lipverify.foundation.store import forgetting
from lipverify.foundation.validation import chosen, numbers
from lipverify.loss.kernels import Kernel, kernel_for
from lipverify.loss.terms import (
    AttentionName,
    BackendName,
    ErrorKind,
    IntervalName,
    LossTerms,
    Route,
    Sampling,
)
from lipverify.loss.work import Progress, budgeted
from lipverify.problem import Problem
from lipverify.problem.covariates import Sphere
from lipverify.problem.law import Sum
from lipverify.problem.laws import Affine, Linear
from lipverify.problem.own import refusing
from lipverify.problem.problem import require_isotropic, require_problem
from lipverify.problem.whitening import isotropic_form

if TYPE_CHECKING:
    from lipverify.loss.certified import CertifiedTerms
    from lipverify.loss.montecarlo.elliptic import SphereNoise

Options = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Method:
    """A method of measurement: its name, its description and the best grade of its numbers.

    Attributes
    ----------
    name
        Its name in `loss_terms`, in claims and in ledgers.
    words
        A sentence for reports, which may hold `$LaTeX$`: the method and its errors.
    grade
        The best grade that its numbers can have; None if the name implies no grade.
    stated
        True if lipverify never uses the name by itself: a cell has it only if its claim states it.
    """

    name: str
    words: str
    grade: Grade | None = None
    stated: bool = False

    @property
    def bounds(self) -> bool:
        """True if it bounds its errors."""
        return self.grade in ("proved", "exact", "bounded")


def _of_any(method: LossMethod, problem: Problem, w: Floats, options: Options) -> LossTerms:
    return method.serve(problem, w, options)


@dataclass(frozen=True, kw_only=True)
class LossMethod(Method):
    """A method that computes the two terms of the loss.

    Attributes
    ----------
    function
        Its function terms(problem, w, **options), or the import path of the function, which is imported on first use.
    prepare
        The preparation of the problem and the options before the function is called.
    additive
        True if the terms of a sum of laws are combined from the terms of its parts.
    repeats
        The options with which it repeats losses that a function requests from the exact method, by the name of the way.
    """

    function: Callable[..., LossTerms] | tuple[str, str]
    prepare: Callable[[LossMethod, Problem, Floats, Options], LossTerms] = _of_any
    additive: bool = True
    repeats: Mapping[str, Options] = field(default_factory=dict)

    @property
    def terms(self) -> Callable[..., LossTerms]:
        """Import the function of the method."""
        if callable(self.function):
            return self.function
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

        def terms(part: Problem) -> LossTerms:
            return _as_declared(self, part, w, self.terms(part, w, **options))

        if self.additive and isinstance(problem.law, Sum):
            return _summed(problem.law, problem, w, terms, self.name)
        return terms(problem)


def _as_declared(method: LossMethod, problem: Problem, w: Floats, terms: Any) -> LossTerms:
    """The terms of a registered method, with an error no better than its grade; refused if they are not valid."""
    if method.name in _SHIPPED:
        return terms
    of = f"the method {method.name!r} returned"
    if not isinstance(terms, LossTerms):
        raise InvalidInput(f"{of} {shown(terms)}; it must return LossTerms(problem=problem, method=..., w=w, ...).")
    if terms.problem != problem or terms.method != method.name or not np.array_equal(terms.w, w):
        raise InvalidInput(
            f"{of} the terms {shown(terms)}; they must be its own, for the problem and the w that it got."
        )
    for name, rule in (("bias", "finite"), ("noise", "finite"), ("bias_error", ">= 0"), ("noise_error", ">= 0")):
        values = np.asarray(getattr(terms, name))
        valid = values.shape == np.shape(w) and np.all(np.isfinite(values) if rule == "finite" else values >= 0)
        if not valid:
            raise InvalidInput(f"{of} {name} = {shown(values)}; it must be {rule} at every w, in the shape of w.")
    kinds = get_args(ErrorKind)
    kind = method.grade if method.grade in kinds else kinds[0]
    return replace(terms, error_kind=max(terms.error_kind, kind, key=kinds.index))


def _in_isotropic_form(method: LossMethod, problem: Problem, w: Floats, options: Options) -> LossTerms:
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


def _isotropic(method: LossMethod, problem: Problem, w: Floats, options: Options) -> LossTerms:
    require_isotropic(problem, f"method={method.name!r}")
    return method.serve(problem, w, options)


def _sampled(method: LossMethod, problem: Problem, w: Floats, options: Options) -> LossTerms:
    """Serve any problem; on an ellipsoid use the exact noise on the sphere to reduce the variance."""
    if options.get("sampling") is None:
        options.setdefault("sphere_noise", _sphere_noise)
    return method.serve(problem, w, options)


TABLE: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            name="own function",
            words="the claim's own function, which alone bounds the error unless its value is one of lipverify's",
        ),
        LossMethod(
            name="exact",
            words="deterministic quadrature of a Laplace representation of the loss; the cost does not depend on $n$, "
            "and the error is a bound that includes rounding",
            grade="bounded",
            function=("lipverify.loss.exact", "exact_terms"),
            prepare=_in_isotropic_form,
            repeats={"route ridge": {"route": "ridge"}, "route zonal": {"route": "zonal"}},
        ),
        LossMethod(
            name="montecarlo",
            words="sampling of contexts with counter-based random numbers; the error is the half-width of the 95 % "
            "interval",
            grade="sampled",
            function=("lipverify.loss.montecarlo", "montecarlo_terms"),
            prepare=_sampled,
            additive=False,
            repeats={"sampling": {"contexts": 20_000, "stream": "falsify"}},
        ),
        LossMethod(
            name="asymptotic",
            words="leading terms derived by computer algebra; never the only ground of a verdict",
            function=("lipverify.loss.asymptotic", "asymptotic_terms"),
            prepare=_isotropic,
        ),
        Method(
            name="symbolic",
            words="computer algebra: an expression that is zero for all values of its symbols, or an exact number",
            grade="exact",
        ),
        Method(
            name="identity",
            words="both sides of an identity evaluated on sampled points; the error is a bound on rounding",
        ),
        LossMethod(
            name="certified",
            words="ball arithmetic; the interval provably contains the value",
            grade="proved",
            function=("lipverify.loss.certified", "certified_terms"),
            prepare=_isotropic,
            additive=False,
            repeats={"balls": {}},
        ),
        Method(
            name="training",
            words="a property of trained weights; the error does not cover the basin in which a training ends",
            grade="observed",
        ),
        Method(name="tokens", words="a layer applied to every token, by definition", stated=True),
        Method(
            name="recursion",
            words="the linear model that every layer preserves, from one layer to the next",
            stated=True,
        ),
        Method(name="rational", words="exact arithmetic with fractions", grade="exact"),
        Method(name="closed form", words="an integral solved analytically", stated=True),
        Method(name="symmetry", words="a value that symmetry forces", stated=True),
        Method(
            name="moments",
            words="the layers on the second moments of the context, whose cost does not grow with $n$",
            stated=True,
        ),
    )
}
"""All methods by name, in the order of a report; a new method needs a record here and nothing else."""
METHODS = tuple(name for name, method in TABLE.items() if isinstance(method, LossMethod))
"""The methods of `loss_terms` that come with lipverify."""
_SHIPPED = frozenset(TABLE)
# no argument: it replaces the losses that a claim's own function requests, through calls that are not lipverify's
_INSTEAD: ContextVar[Mapping[str, LossMethod]] = ContextVar("instead", default=MappingProxyType({}))


def loss_methods() -> dict[str, LossMethod]:
    """The methods that `loss_terms` has at the moment, by name."""
    return {**{name: method for name, method in TABLE.items() if isinstance(method, LossMethod)}, **_INSTEAD.get()}


def register(method: LossMethod) -> LossMethod:
    """Add a method to the table: it is then served, graded, described and used for repetitions like those of lipverify.

    Its author vouches for its grade, the best that the errors of its terms can have. The grades "proved" and
    "exact" are reserved for theorems and values without error. Register where the claims file is imported, since every
    process of a run imports it.

    Raises
    ------
    InvalidInput
        If one of lipverify's methods has its name, if another method repeats losses under one of its names, if its
        grade is not one of "bounded", "sampled" and "estimated", or if a field has another type.
    """
    if method.name in _SHIPPED:
        raise InvalidInput(f"name = {method.name!r}: lipverify has a method of this name; choose another name.")
    chosen("grade", method.grade, get_args(ErrorKind))
    if not (callable(method.function) or isinstance(method.function, tuple)) or not callable(method.prepare):
        raise InvalidInput(f"function = {shown(method.function)}: `function` and `prepare` must be functions.")
    if not isinstance(method.name, str) or not method.name or not isinstance(method.words, str):
        raise InvalidInput(
            f"name = {shown(method.name)}, words = {shown(method.words)}: both are text; a name has letters."
        )
    if not isinstance(method.repeats, Mapping) or not all(
        isinstance(options, Mapping) for options in method.repeats.values()
    ):
        raise InvalidInput(f"repeats = {shown(method.repeats)}: give {{NAME: options}}, options a dictionary.")
    for by, (rival, _) in repeats().items():
        if by in method.repeats and rival.name != method.name:
            raise InvalidInput(f"repeats = {by!r}: {rival.name!r} repeats losses under this name; choose another name.")
    TABLE[method.name] = method
    return method


def method_named(name: str) -> LossMethod:
    """The method of this name, for `loss_terms`.

    Raises
    ------
    InvalidInput
        If there is none.
    """
    methods = loss_methods()
    return methods[chosen("method", name, methods)]


def repeats() -> dict[str, tuple[LossMethod, Options]]:
    """Every way to repeat losses that a function requests from the exact method, the strongest grade first.

    The two routes of the exact method share no quadrature, so one is a second opinion on the other.
    """
    methods = [method for method in TABLE.values() if isinstance(method, LossMethod) and method.repeats]
    methods.sort(key=lambda method: (*get_args(Grade), None).index(method.grade))
    return {by: (method, options) for method in methods for by, options in method.repeats.items()}


def best_grade(name: str | None) -> Grade | None:
    """The best grade that numbers by this method can have; None if the name implies none or is not in the table."""
    return TABLE[name].grade if name in TABLE else None


def draws(name: str | None) -> bool:
    """True if the numbers of the method of this name depend on random draws."""
    return best_grade(name) in ("sampled", "observed")


def _made(terms: LossTerms) -> tuple[Made, str]:
    """How the errors of some terms are made, which is no better than the grade of their method, and the method."""
    grade = best_grade(terms.method)
    if grade == "proved":
        return "certified", terms.method
    kinds: tuple[Made, ...] = get_args(ErrorKind)
    best = kinds.index(grade) if grade in kinds else 0
    return kinds[max(kinds.index(terms.error_kind), best)], terms.method


__all__ = ["METHODS", "LossTerms", "loss_terms", "method_named"]


@overload
def loss_terms(
    problem: Problem,
    w: Reals,
    method: Literal["exact"] = ...,
    *,
    route: Route | None = ...,
    attention: Literal["softmax"] | Kernel = ...,
    M: Matrix | None = ...,
    budget: float | None = ...,
    memory: float | None = ...,
    progress: Progress | None = ...,
) -> LossTerms: ...
@overload
def loss_terms(problem: Problem, w: Reals, method: Literal["certified"], *, digits: int = ...) -> CertifiedTerms: ...
@overload
def loss_terms(problem: Problem, w: Reals, method: Literal["asymptotic"]) -> LossTerms: ...
@overload
def loss_terms(
    problem: Problem,
    w: Reals,
    method: Literal["montecarlo"],
    *,
    M: Matrix | None = ...,
    attention: AttentionName | Kernel = ...,
    sampling: Sampling | None = ...,
    contexts: int | None = ...,
    rtol: float | None = ...,
    interval: IntervalName = ...,
    sphere_noise: SphereNoise | None = ...,
    seed: int = ...,
    stream: str = ...,
    backend: BackendName | None = ...,
    kernels: bool = ...,
    xp: Any = ...,
    device: Any = ...,
    workers: int = ...,
    progress: Progress | None = ...,
) -> LossTerms: ...
@overload
def loss_terms(problem: Problem, w: Reals, method: LossMethod, **options: Any) -> LossTerms: ...
@makes("bounded", by=_made)
def loss_terms(problem: Problem, w: Reals, method: str | LossMethod = "exact", **options: Any) -> LossTerms:
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
        Or a method of your own, as `register` and `method_named` return it.
    **options
        For "exact": `route`, "ridge" or "zonal"; see `lipverify.loss.exact.exact_terms`; `M`, see
        `lipverify.problem.whitening`; `attention`, a kernel of `lipverify.attention`
        (for Affine and Linear tasks; all others need sampling); `budget` in seconds of a nominal processor, 300 by
        default, and `memory` in GiB, 4 by default: a call that would take more is refused before it begins; and
        `progress`, called with (done, expected) in tenths of such seconds. See `lipverify.budget` and
        `lipverify.loss_cost`.
        For "certified": `digits`; see `lipverify.loss.certified.certified_terms`.
        For "montecarlo": `contexts` or `rtol`, `M`, `attention`, `backend`, `seed` and others; see
        `lipverify.loss.montecarlo.montecarlo_terms`. `interval` is "checked" by default: normal, but as wide as what
        the contexts may have missed, and betting where they contradict it; "betting", valid for every distribution,
        takes 2 to 100 times as many contexts; "normal" takes no bounds and no checks of rare contexts. `reason` of
        the result states the kind.

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

    Examples
    --------
    >>> from lipverify.laws import ReLU
    >>> terms = loss_terms(Problem(d=5, n=100, law=ReLU(L=1.0), sigma=1.0), w=[0.0, 5.0])
    >>> terms.noise.round(6).tolist()
    [0.01, 0.056844]
    """
    values = numbers("w", w, "w", least=0)
    require_problem(problem)
    served = method if isinstance(method, LossMethod) else method_named(method)
    with refusing(problem.law):
        return served.prepare(served, problem, values, options)


@dataclass(frozen=True, kw_only=True)
class Instead(LossMethod):
    """Another method that replaces the exact one, and a record of the losses that it served."""

    other: LossMethod
    given: Options
    taken: list[Problem] = field(default_factory=list)

    @property
    def used(self) -> int:
        """Number of losses that the other method computed."""
        return len(self.taken)

    def serve(self, problem: Problem, w: Floats, options: Options) -> LossTerms:
        """Call the other method with its options; calls that name a route or a kernel are served exactly."""
        if options.get("attention", "softmax") != "softmax" or options.get("route"):
            return super().serve(problem, w, options)
        self.taken.append(problem)
        prepare = _of_any if self.other.name == "exact" else self.other.prepare
        return prepare(self.other, problem, w, dict(self.given))


@contextmanager
def instead_of_exact(by: str) -> Iterator[Instead]:
    """Inside it, `loss_terms` repeats exact losses in another way of `repeats`, unless a call names a route."""
    method, options = repeats()[by]
    substitute = Instead(**vars(TABLE["exact"]), other=method, given=options)
    token = _INSTEAD.set({"exact": substitute})
    try:
        with forgetting():
            yield substitute
    finally:
        _INSTEAD.reset(token)


def _summed(law: Sum, problem: Problem, w: Floats, terms: Callable[[Problem], LossTerms], method: str) -> LossTerms:
    """The terms of a sum of laws: the biases of the parts add, and the noise is the same for every part."""
    parts = law.parts or ((0.0, Affine()),)
    weighted = [(weight, terms(problem.replace(law=law))) for weight, law in parts]
    bias = np.asarray(sum(weight * np.asarray(part.bias) for weight, part in weighted))
    error = np.asarray(sum(weight * np.asarray(part.bias_error) for weight, part in weighted))
    noise = weighted[0][1]
    return LossTerms(
        problem=problem,
        method=method,
        w=w,
        bias=bias,
        noise=noise.noise,
        bias_error=error + len(weighted) * EPS * bias,
        noise_error=noise.noise_error,
        reason=" ".join(dict.fromkeys(part.reason for _, part in weighted if part.reason)),
        error_kind=max((part.error_kind for _, part in weighted), key=get_args(ErrorKind).index),
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
