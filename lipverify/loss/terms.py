r"""The two terms of the loss, each with its error."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
import numpy as np

from lipverify.foundation.arrays import Floats
from lipverify.foundation.showing import Shown, axes
from lipverify.foundation.style import in_style
from lipverify.problem import Problem

ErrorKind = Literal["bounded", "sampled", "estimated"]
"""Kinds of error, strongest first: a bound, the half-width of a 95 % interval, an estimate without guarantee."""
Route = Literal["ridge", "zonal"]
"""The two routes of the exact method."""
MethodName = Literal["exact", "montecarlo", "asymptotic", "certified"]
AttentionName = Literal["softmax", "linear"]
Sampling = Literal["reduced", "full"]
"""What sampling draws: two numbers per token, or whole contexts."""
IntervalName = Literal["checked", "betting", "normal"]
"""Kinds of interval of sampled terms; see `lipverify.loss.montecarlo.montecarlo_terms`."""
BackendName = Literal["numpy", "native", "cupy"]
"""The libraries that sample contexts."""


class Terms(Shown, msgspec.Struct, frozen=True, kw_only=True):
    """Both terms of the loss of a problem, each with its error; arrays of one shape, units of y squared."""

    problem: Problem
    bias: Floats
    noise: Floats
    bias_error: Floats
    noise_error: Floats

    @property
    def total(self) -> Floats:
        """The loss B + N."""
        return self.bias + self.noise

    @property
    def total_error(self) -> Floats:
        """Error of the loss: the sum of both errors, since they need not cancel."""
        return np.asarray(self.bias_error) + np.asarray(self.noise_error)

    def _title(self) -> str:
        return self.problem.in_words

    def _columns(self) -> dict[str, Any]:
        names = ("total", "bias", "noise", "bias_error", "noise_error")
        return {name: np.asarray(getattr(self, name)) for name in names}


class LossTerms(Terms, frozen=True, kw_only=True):
    r"""L(w) = B(w) + N(w) at one or more w; arrays shaped like `w`, units of y squared.

    `bias_error` and `noise_error` are in the same units, and `error_kind` states their kind: "bounded" for a bound on
    the error that includes rounding (certified balls, and the exact method for laws given by formulas); "sampled" for
    the half-width of the 95 % interval (Monte Carlo); "estimated" for an error without a bound (twice the next terms
    of an asymptotic expansion; the exact method for your own functions if they are not formulas or have features too
    narrow for its rules: a feature between the nodes is in neither the value nor the error). `reason` says why the
    exact method did not take its usual route, and why an error is an estimate.

    Attributes
    ----------
    problem
        The problem.
    w
        The argument: a number or an array.
    bias, noise
        B(w) and N(w), shaped like `w`, in units of y squared.
    bias_error, noise_error
        The errors of bias and noise, in the same units.
    method
        "exact", "certified", "montecarlo" or "asymptotic".
    reason
        The reason for another route or an estimated error, and the kind of interval of sampled terms; else empty.
    error_kind
        "bounded", "sampled" or "estimated", see above.

    Examples
    --------
    >>> from lipverify import Problem, loss_terms
    >>> from lipverify.laws import Affine
    >>> terms = loss_terms(Problem(d=3, n=100, law=Affine()), [0.5, 5.0])
    >>> terms.total.shape, terms.method, terms.error_kind
    ((2,), 'exact', 'bounded')
    """

    method: str
    w: Floats
    reason: str = ""
    error_kind: ErrorKind = "bounded"

    def __post_init__(self) -> None:
        # copy, because the caller's array may change later
        msgspec.structs.force_setattr(self, "w", np.array(self.w))

    def _title(self) -> str:
        noted = ", error estimated" if self.method == "exact" and self.error_kind == "estimated" else ""
        return f"{self.problem.in_words}, {self.method}{noted}"

    def _columns(self) -> dict[str, Any]:
        return {"w": np.asarray(self.w), **super()._columns()}

    def _coordinates(self) -> tuple[str, ...]:
        return ("w",)

    def _repr_latex_(self) -> str:
        bias, noise = r"\mathbb{E} \bigl(\sum_i a_i f(x_i) - f(x)\bigr)^2", r"\sigma^2 \mathbb{E} \sum_i a_i^2"
        return rf"$L(w) = B(w) + N(w) = {bias} + {noise}$"

    @in_style
    def plot(self, ax: Any = None) -> Any:
        """Draw loss, bias and noise against w on logarithmic axes, with errors as bands, and return the axes."""
        ax = axes(ax)
        order = np.argsort(np.ravel(self.w))
        w = np.ravel(self.w)[order]
        for label, value, error in (
            ("loss", self.total, self.total_error),
            ("bias", self.bias, self.bias_error),
            ("noise", self.noise, self.noise_error),
        ):
            middle, spread = np.ravel(value)[order], np.ravel(error)[order]
            (line,) = ax.plot(w, middle, label=label)
            ax.fill_between(w, middle - spread, middle + spread, color=line.get_color(), alpha=0.2, linewidth=0)
        ax.set(xscale="log", yscale="log", xlabel="w", ylabel="loss and its parts", title=self._title())
        ax.legend()
        return ax
