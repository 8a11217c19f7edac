"""Bias and noise at a given w, by methods that share only the problem."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from inspect import signature
from typing import Any, get_args

import numpy as np
from msgspec.structs import replace

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Floats
from lipverify.foundation.noted import Made, makes
from lipverify.foundation.remembered import forgetting
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
_MADE: dict[str, Made] = {"certified": "certified"}
"""How a method makes its errors, where its terms do not say."""
METHODS = ("exact", "montecarlo", "asymptotic", "certified")

__all__ = ["METHODS", "LossTerms", "loss_terms"]


@makes("bounded", by=lambda terms: (_MADE.get(terms.method, terms.error_kind), terms.method))
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
        "exact": quadrature whose cost does not depend on n, for any isotropic law, and for what whitening makes
        isotropic: `M`, by default the identity, is the matrix of the scores w x_i^T M x.
        "montecarlo": sampling of tokens and tasks, for any covariates and any law that can be drawn.
        "asymptotic": the leading terms, derived by SymPy, with the range where they hold.
        "certified": balls that are proved to contain the values, with 20 digits.
    **options
        For "exact": `route`, "ridge" or "zonal"; see `lipverify.loss.exact.exact_terms`; `M`, see
        `lipverify.problem.whitening`; `attention`, a kernel of `lipverify.attention`
        (of Affine and Linear tasks; all others are sampled); `budget` in seconds of a nominal processor, 300 by
        default, and `memory` in GiB, 4 by default: what would take more is refused before it begins; and `progress`,
        called with (done, expected) in tenths of such seconds. See `lipverify.budget` and `lipverify.loss_cost`.
        For "certified": `digits`; see `lipverify.loss.certified.certified_terms`.
        For "montecarlo": `contexts` or `rtol`, `M`, `attention`, `backend`, `seed` and others; see
        `lipverify.loss.montecarlo.montecarlo_terms`.

    Returns
    -------
    LossTerms
        `bias`, `noise`, `total` and their errors, in units of y squared. `error_kind` is "bounded", "sampled" or
        "estimated": the exact method bounds the error for all laws of lipverify and for functions of one's own that are
        formulas of NumPy's functions. For others its error is an estimate, which can miss any feature narrower than
        about a ten-thousandth: a bump, a step, a spike at a pole.

    Raises
    ------
    InvalidInput
        If `w`, `method` or an option breaks its rule.
    OutOfReach
        If the method cannot reach the accuracy that was asked for, or an exact loss is beyond its budget.

    >>> from lipverify.laws import ReLU
    >>> terms = loss_terms(Problem(d=5, n=100, law=ReLU(L=1.0), sigma=1.0), w=[0.0, 5.0])
    >>> terms.noise.round(6).tolist()
    [0.01, 0.056844]
    """
    values = numbers("w", w, "w", least=0)
    require_problem(problem)
    if chosen("method", method, METHODS) == "exact":
        seconds, memory, progress = (options.pop(name, None) for name in ("budget", "memory", "progress"))
        with budgeted(seconds, memory, progress):
            return _by_method(problem, values, method, options)
    return _by_method(problem, values, method, options)


def _by_method(problem: Problem, values: Floats, method: str, options: dict[str, Any]) -> LossTerms:
    """The terms by a method whose name is known, within a budget if it is the exact one."""
    kernel = method == "exact" and options.get("attention", "softmax") != "softmax"
    if kernel:
        kernel_for(options["attention"], problem, values, options.pop("M", None))
    elif method == "exact" and not (problem.isotropic and options.get("M") is None):
        if isinstance(problem.covariates, Sphere) and options.get("M") is None:
            require_isotropic(problem, "method='exact'")
        return _whitened(problem, values, options)
    other = _INSTEAD.get()
    if other is not None and method == "exact" and not kernel:
        if options.get("route") is not None:
            other.kept = options["route"]
        else:
            other.used += 1
            method, options = other.method, dict(other.options)
    if method != "montecarlo":
        require_isotropic(problem, f"method={method!r}")
    terms = _method(method)
    if method == "montecarlo" and options.get("sampling") is None:
        options.setdefault("sphere_noise", _sphere_noise)
    known = [option for option, how in signature(terms).parameters.items() if how.kind == how.KEYWORD_ONLY]
    for option in options:
        if option not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            raise InvalidInput(f"{option} is not an option of the {method} method; {has}.")
    if isinstance(problem.law, Sum) and method != "montecarlo":
        return _summed(problem, values, lambda part: terms(part, values, **options), method)
    return terms(problem, values, **options)


@dataclass
class Instead:
    """Another way to the losses that the exact method is asked for, and how often it was taken."""

    method: str
    options: dict[str, Any]
    used: int = 0
    kept: str = ""
    """The route that the caller chose, which is kept: who compares two routes asks for both."""


_INSTEAD: ContextVar[Instead | None] = ContextVar("instead", default=None)


@contextmanager
def instead_of_exact(method: str, **options: Any) -> Iterator[Instead]:
    """Within it, `loss_terms` answers by this method where it is asked for exact losses by no route: a second opinion.

    >>> from lipverify.laws import ReLU
    >>> with instead_of_exact("exact", route="zonal") as other:
    ...     _ = loss_terms(Problem(d=3, n=9, law=ReLU()), 2.0)
    >>> other.used
    1
    """
    other = Instead(method, options)
    token = _INSTEAD.set(other)
    try:
        with forgetting():
            yield other
    finally:
        _INSTEAD.reset(token)


def _summed(problem: Problem, w: Floats, terms: Callable[[Problem], LossTerms], method: str) -> LossTerms:
    """The terms of a sum of laws: the biases of the parts add, and the noise is that of any."""
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
    """Exact terms of a problem that is isotropic in other coordinates, in which the window is another."""
    form = isotropic_form(problem, options.pop("M", None))
    terms = loss_terms(form.problem, form.factor * w, "exact", **options)
    # a power of w, of c and of the coordinates, of which none is greater than (d + 3) / 2
    off = (problem.d + 3) * (form.off + EPS)
    errors = {
        f"{name}_error": getattr(terms, f"{name}_error") + off * getattr(terms, name) for name in ("noise", "bias")
    }
    return replace(terms, problem=problem, w=w, **errors)


def _sphere_noise(d: int, n: int | float, w: Any) -> tuple[Any, Any]:
    """The noise over sigma^2 on the sphere and its error, which sampling on an ellipsoid is helped by."""
    terms = loss_terms(Problem(d=d, n=n, law=Linear()), w)
    return terms.noise, terms.noise_error


def _method(name: str) -> Callable[..., LossTerms]:
    """The function behind a method, imported when it is first asked for."""
    if name == "exact":
        from lipverify.loss.exact import exact_terms

        return exact_terms
    if name == "certified":
        from lipverify.loss.certified import certified_terms

        return certified_terms
    if name == "asymptotic":
        from lipverify.loss.asymptotic import asymptotic_terms

        return asymptotic_terms
    from lipverify.loss.montecarlo import montecarlo_terms

    return montecarlo_terms
