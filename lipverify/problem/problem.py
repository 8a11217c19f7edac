r"""The problem: everything that determines the loss except the window w."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from typing import Any, TypedDict, TypeVar, Unpack

import msgspec

from lipverify.errors import InvalidInput
from lipverify.foundation.quoting import shown
from lipverify.foundation.showing import latex_number, table
from lipverify.foundation.validation import instance, real, whole
from lipverify.problem.covariates import Covariates, Gaussian, Sphere
from lipverify.problem.law import Law, Sum, require_dimension, summands
from lipverify.problem.own import require_defined

Record = TypeVar("Record", bound=msgspec.Struct)

LARGEST_N = 1e30
"""Largest context length, up to which the exact method is tested."""
LARGEST_D = 10**6
"""Rules over the sphere have about 30 sqrt(d) nodes; larger d is untested."""


class Fields(TypedDict, total=False):
    """The fields of a problem, as `Problem.replace` takes them."""

    d: int
    n: int | float
    law: Law
    sigma: float
    covariates: Covariates


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    r"""In-context regression by one softmax attention unit.

    The query x and the tokens x_1..x_n are independent draws from `covariates`, by default uniform on
    S^{d-1}; a task f is drawn from `law`; labels are y_i = f(x_i) + eps_i with independent noise of standard
    deviation `sigma`; the prediction is sum_i a_i y_i with a_i proportional to exp(x_i^T M x), M = w I for a
    window w.

    Parameters
    ----------
    d
        Ambient dimension, from 2 to 10^6, or from 1 for normal covariates: tokens live on S^{d-1} in R^d.
    n
        Context length: any integer or integral float from 1 to 1e30. An integer is kept as it is, however large.
    law
        Law of the task, for example `ReLU(L=1.0)`.
    sigma
        Standard deviation of the label noise; finite, >= 0.
    covariates
        Law of the query and the tokens, see `lipverify.covariates`; beyond the sphere the exact method has normal
        covariates, and what whitening makes isotropic.

    Raises
    ------
    InvalidInput
        If a value breaks its rule; the message names both.

    Source: Collins et al., slides, "Learning Model" and equation (ICL).

    Examples
    --------
    >>> from lipverify.laws import ReLU
    >>> p = Problem(d=5, n=100, law=ReLU(L=1.0), sigma=1.0)
    >>> p.replace(n=1e30).n
    1e+30
    """

    d: int
    n: int | float
    law: Law
    sigma: float = 1.0
    covariates: Covariates = Sphere()

    def __post_init__(self) -> None:
        fix = msgspec.structs.force_setattr
        least = 1 if isinstance(self.covariates, Gaussian) else 2  # the sphere of R^1 has two points
        fix(self, "d", whole("d", self.d, least, "the ambient dimension", LARGEST_D))
        fix(self, "n", context_length(self.n))
        fix(self, "sigma", _noise(self.sigma))
        if not isinstance(self.law, Law):
            raise InvalidInput(f"law = {shown(self.law)} is not a law; use for example ReLU(L=1.0).")
        if not isinstance(self.covariates, Covariates):
            raise InvalidInput(
                f"covariates = {shown(self.covariates)} are not covariates; use for example "
                "lipverify.covariates.Ellipsoid([4, 1])."
            )
        if isinstance(self.law, Sum) and not isinstance(self.covariates, Sphere):
            raise InvalidInput(
                f"law = {self.law!r} with covariates {self.covariates.name}: a sum of laws needs covariates "
                "on the sphere; write the sum as one law."
            )
        for _, law in summands(self.law):
            require_defined(law)
        require_dimension(self.law, self.d)
        self.covariates.require_dimension(self.d)

    @property
    def in_words(self) -> str:
        """One line that describes the problem.

        >>> from lipverify.laws import ReLU
        >>> Problem(d=5, n=100, law=ReLU(L=1.0)).in_words
        'relu law, d = 5, n = 100, L = 1, sigma = 1'
        """
        L = f", L = {self.law.L:g}" if hasattr(self.law, "L") else ""
        where = "" if isinstance(self.covariates, Sphere) else f", covariates {self.covariates.name}"
        return f"{self.law.name} law, d = {self.d}, n = {self.n:g}{L}, sigma = {self.sigma:g}{where}"

    def _repr_html_(self) -> str:
        values = {name: getattr(self, name) for name in ("d", "n", "sigma")}
        return table(self.in_words, values | {"law": repr(self.law), "covariates": repr(self.covariates)})

    def _repr_latex_(self) -> str:
        n, sigma, d = (latex_number(value) for value in (self.n, self.sigma, self.d))
        noise = rf"\varepsilon_i \sim (0, {sigma}^2)"
        formula = rf"y_i = f(x_i) + \varepsilon_i,\quad {noise},\quad i \leq {n},\quad x_i \in \mathbb{{R}}^{{{d}}}"
        return f"${formula}$"

    @property
    def isotropic(self) -> bool:
        """True if tokens are uniform on the sphere and the law is isotropic."""
        return isinstance(self.covariates, Sphere) and self.law.isotropic

    def replace(self, **changes: Unpack[Fields]) -> Problem:
        """The same problem with some fields changed; the result is validated."""
        return replaced(self, changes)


def replaced(record: Record, changes: Mapping[str, Any]) -> Record:
    """The record with some fields changed, validated again; a name that is no field is refused."""
    unknown = sorted(set(changes) - set(record.__struct_fields__))
    if unknown:
        fields = ", ".join(record.__struct_fields__)
        raise InvalidInput(f"{unknown[0]} is not a field of {type(record).__name__}; its fields are: {fields}.")
    return msgspec.structs.replace(record, **changes)


def require_problem(problem: Any) -> None:
    """Refuse an object that is not a problem."""
    instance("problem", problem, Problem, "build one with Problem(d=..., n=..., law=...)")


def require_isotropic(problem: Problem, what: str) -> None:
    """Refuse an object that is not a problem, and a problem that is not isotropic."""
    require_problem(problem)
    if not problem.isotropic:
        raise InvalidInput(
            f"{what} needs tokens on the sphere and an isotropic law; for covariates = {problem.covariates.name} and "
            f"law = {problem.law.name} use method='montecarlo' or optimal_matrix."
        )


def context_length(n: Any) -> int | float:
    """The context length: an integer as given; an integral double as an integer up to 2^53, and above as a double."""
    rule = f"the context length must be an integer (or integral float) from 1 to {LARGEST_N:g}."
    try:
        count = operator.index(n) if not isinstance(n, bool) else 0
    except TypeError:
        value = real(n)
        count = int(value) if value.is_integer() else 0
        if count > 2**53 and value <= LARGEST_N:
            return value
    if not 1 <= count <= LARGEST_N:
        raise InvalidInput(f"n = {shown(n)}: {rule}")
    return count


def _noise(sigma: Any) -> float:
    value = real(sigma)
    if not (math.isfinite(value) and value >= 0):
        raise InvalidInput(f"sigma = {shown(sigma)}: the noise level must be finite and >= 0.")
    return value
