r"""The problem: everything that determines the loss except the window w."""

from __future__ import annotations

import math
import operator
from typing import Any

import msgspec

from lipverify.errors import InvalidInput
from lipverify.problem.covariates import Covariates, Sphere
from lipverify.problem.law import Law

LARGEST_N = 1e30
LARGEST_EXACT_INTEGER = 2**53


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    r"""In-context regression by one softmax attention unit.

    The query x and the tokens x_1..x_n are independent draws from `covariates`, by default uniform on
    S^{d-1}; a task f is drawn from `law`; labels are y_i = f(x_i) + eps_i with independent noise of standard
    deviation `sigma`; the prediction is sum_i a_i y_i with a_i proportional to exp(x_i^T M x), M = w I for a
    window w.

    Parameters
    ----------
    d
        Ambient dimension, >= 2: tokens live on S^{d-1} in R^d.
    n
        Context length: any integer or integral float from 1 to 1e30.
    law
        Law of the task, for example `ReLU(L=1.0)`.
    sigma
        Standard deviation of the label noise; finite, >= 0.
    covariates
        Law of the query and the tokens, see `lipverify.covariates`; only sampling goes beyond the sphere.

    Raises
    ------
    InvalidInput
        If a value breaks its rule; the message names both.

    Source: Collins et al., slides, "Learning Model" and equation (ICL).

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
        fix(self, "d", _dimension(self.d))
        fix(self, "n", _context_length(self.n))
        fix(self, "sigma", _noise(self.sigma))
        if not isinstance(self.law, Law):
            raise InvalidInput(f"law = {self.law!r} is not a law; use for example ReLU(L=1.0).")
        if not isinstance(self.covariates, Covariates):
            raise InvalidInput(
                f"covariates = {self.covariates!r} are not covariates; use for example Ellipsoid([4, 1])."
            )
        self.law.require_dimension(self.d)
        self.covariates.require_dimension(self.d)

    @property
    def isotropic(self) -> bool:
        """Whether tokens are uniform on the sphere and the law is the same in every direction."""
        return isinstance(self.covariates, Sphere) and self.law.isotropic

    def replace(self, **changes: Any) -> Problem:
        """The same problem with some fields changed; the result is validated again."""
        unknown = sorted(set(changes) - set(self.__struct_fields__))
        if unknown:
            fields = ", ".join(self.__struct_fields__)
            raise InvalidInput(f"{unknown[0]} is not a field of Problem; its fields are: {fields}.")
        return msgspec.structs.replace(self, **changes)


def require_isotropic(problem: Problem, what: str) -> None:
    """Refuse a problem that is not the same in every direction."""
    if not problem.isotropic:
        raise InvalidInput(
            f"{what} needs tokens on the sphere and an isotropic law; for covariates = {problem.covariates.name} and "
            f"law = {problem.law.name} use method='montecarlo' or optimal_matrix."
        )


def _dimension(d: Any) -> int:
    try:
        value = operator.index(d) if not isinstance(d, bool) else None
    except TypeError:
        value = None
    if value is None or value < 2:
        raise InvalidInput(f"d = {d!r}: the ambient dimension must be an integer >= 2.")
    return value


def _context_length(n: Any) -> int | float:
    """Integers that a double holds exactly stay integers; larger ones become doubles."""
    rule = f"the context length must be an integer (or integral float) from 1 to {LARGEST_N:g}."
    try:
        value = float(n) if not isinstance(n, bool | str | bytes) else math.nan
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not (1 <= value <= LARGEST_N and value.is_integer()):
        raise InvalidInput(f"n = {n!r}: {rule}")
    return int(value) if value <= LARGEST_EXACT_INTEGER else value


def _noise(sigma: Any) -> float:
    try:
        value = float(sigma) if not isinstance(sigma, bool | str | bytes) else math.nan
    except (TypeError, ValueError):
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise InvalidInput(f"sigma = {sigma!r}: the noise level must be finite and >= 0.")
    return value
