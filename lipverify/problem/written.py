"""Parse laws and covariates written as text, such as "relu + 2*cosine(3)"; the text is parsed and never run.

| word | law |
|---|---|
| `affine(L)`, `linear(L)`, `relu(L)`, `quadratic(L)`, `cosine(L)` | the laws of L alone; 1 by default |
| `power(j, L)` | the link L z^j / j |
| `wave(k, L)` | the link L sin(k z) / k |
| `kinked(c_1, c_2, ...)` | the mean of abs(z - c) over the places |
| `steps(c_1, c_2, ...)` | the mean of sign(z - c), which jumps at the places |
| `matern(nu, length)`, `rbf(length)` | Gaussian fields; nu = 0.5, 1.5 or 2.5 |
| `zonal(k_0, k_1, ...)` | any isotropic law, by its spectrum |
| `series(c_0, c_1, ...)` | any isotropic law, by its covariance c_0 + c_1 t + c_2 t^2 + ... |
| `law + law`, `2*law` | independent functions added; the functions multiplied |

| word | covariates |
|---|---|
| `sphere` | uniform on the unit sphere |
| `ellipsoid(v_1, v_2, ...)`, `gaussian(v_1, v_2, ...)` | Sigma is diagonal: the variances in turn, until there are d |
| `product(k, c_u, c_v)` | a product of spheres in k and d - k dimensions with these radii; 1 by default |
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

import numpy as np

from lipverify.errors import InvalidInput
from lipverify.foundation.quoting import shown
from lipverify.foundation.validation import chosen
from lipverify.problem.covariates import Covariates, Ellipsoid, Gaussian, ProductOfSpheres, Sphere, axes
from lipverify.problem.fields import RBF, Matern
from lipverify.problem.functions import Kinked, PowerSeries, Steps, Wave
from lipverify.problem.law import Law, times
from lipverify.problem.laws import Affine, Cosine, Linear, Quadratic, ReLU, Scaled
from lipverify.problem.own import Ridge, Zonal

LONGEST, LARGEST_POWER = 1000, 20
"""Longest text of a law, in characters, and largest exponent of a power in it."""
LAWS: dict[str, type[Scaled]] = {law.name: law for law in (Affine, ReLU, Cosine, Quadratic)}
"""The named laws with L as their only parameter. A new law is added to the language here."""
WORDS: dict[str, Callable[..., Law]] = {
    "linear": Linear,
    "power": lambda j, L=1.0: Ridge(PowerSeries((*(0.0,) * _degree(j), L / j))),
    "wave": lambda k, L=1.0: Ridge(Wave(L, _positive(k))),
    "kinked": lambda *at: Ridge(Kinked(1.0, _some(at)), kinks=at),
    "steps": lambda *at: Ridge(Steps(1.0, _some(at)), jumps=at),
    "matern": lambda nu=1.5, length=1.0: Matern(nu=nu, length=length),
    "rbf": lambda length=1.0: RBF(length=length),
    "zonal": lambda *k: Zonal(spectrum=k),
    "series": lambda *c: Zonal(PowerSeries(_some(c))),
}
"""The other words for laws, and the function that makes a law of a word's arguments."""
COVARIATES: dict[str, Callable[..., Covariates]] = {
    "sphere": lambda d: Sphere(),
    "ellipsoid": lambda d, *variances: Ellipsoid(np.resize(_some(variances), d)),
    "gaussian": lambda d, *variances: Gaussian(np.resize(_some(variances), d)),
    "product": lambda d, k, c_u=1.0, c_v=1.0: ProductOfSpheres(axes(d, _degree(k)), c_u, c_v),
}
"""The words for covariates, and the function that makes covariates of the arguments and the dimension."""
Meant = TypeVar("Meant", Law, Covariates)


def law_named(name: str, L: float = 1.0) -> Law:
    """The law called `name` (as on the command line) with Lipschitz constant `L`, or a written-out law times `L`.

    `lipverify.problem.written` has the words: "relu + 2*cosine(3)", "kinked(0.3)", "zonal(0, 1)".

    Parameters
    ----------
    name
        A name, or a sum of names with factors and arguments.
    L
        Lipschitz constant of a law with a name; factor of one that is written out; finite, >= 0.

    Returns
    -------
    Law
        The law.

    Raises
    ------
    InvalidInput
        If the name is not known, the words cannot be read, or `L` breaks its rule.

    Examples
    --------
    >>> law_named("relu", L=2.0), law_named("2*quadratic"), law_named("linear", L=2.0)
    (ReLU(L=2.0), Quadratic(L=2.0), Linear(L=2.0))
    """
    if isinstance(name, str) and name not in LAWS:
        law = law_written(name)
        return law if L == 1 else times(law, L)
    return LAWS[chosen("law", name, sorted(LAWS))](L=L)


def law_written(text: str) -> Law:
    """Parse a written-out law; refused if the text does not parse, or the arguments break a rule of a law.

    >>> law_written("0.5*relu(2) + wave(3)").parts[0]
    (1.0, ReLU(L=1.0))
    """
    return _read(text, LAWS | WORDS, Law, "law", "a law is written as 'relu + 2*cosine(3)'")


def covariates_named(text: str, d: int) -> Covariates:
    """Parse written-out covariates in R^d: a coordinate of a claim that `falsify` searches.

    Parameters
    ----------
    text
        "sphere", or a word with arguments, such as "ellipsoid(4, 1)", whose axes repeat up to d.
    d
        Dimension.

    Returns
    -------
    Covariates
        The law of the covariates.

    Raises
    ------
    InvalidInput
        If the text does not parse, or the arguments break a rule of the covariates.

    Examples
    --------
    >>> covariates_named("ellipsoid(4, 1)", 3).Sigma
    ((4.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 4.0))
    """
    words = {word: partial(make, d) for word, make in COVARIATES.items()}
    return _read(text, words, Covariates, "covariates", "covariates are written as 'ellipsoid(4, 1)'")


def _read(text: str, words: Mapping[str, Callable[..., Meant]], kind: type[Meant], name: str, rule: str) -> Meant:
    """Parse a text that means one of a kind."""
    try:
        if len(text) > LONGEST:
            raise SyntaxError
        meant = _meant(ast.parse(text.strip(), mode="eval").body, words)
        if not isinstance(meant, kind):
            raise TypeError
    except InvalidInput:
        raise
    except (SyntaxError, TypeError, ValueError, ArithmeticError, RecursionError, MemoryError) as error:
        # what Python says of brackets is told; the rest of its messages is about programs
        wrong = error.msg if isinstance(error, SyntaxError) else None
        fault = f" ({wrong})" if wrong and wrong.startswith(("'", "unmatched", "closing")) else ""
        raise InvalidInput(
            f"{name} = {shown(text)}{fault}: {rule}, of {', '.join(words)}, with numbers in brackets."
        ) from None
    return meant


def _meant(node: ast.expr, words: Mapping[str, Callable[..., Any]]) -> Any:
    """The law, the covariates or the number that a part of a text means."""
    match node:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _meant(left, words) + _meant(right, words)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _meant(left, words) * _meant(right, words)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_number(operand)
        case ast.Constant():
            return _number(node)
        case ast.Name(id=word) if word in words:
            return words[word]()
        case ast.Call(func=ast.Name(id=word), args=args, keywords=named) if word in words:
            return words[word](*map(_number, args), **{each.arg: _number(each.value) for each in named if each.arg})
    raise SyntaxError


def _number(node: ast.expr) -> float:
    """Parse a number with an optional sign."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_number(node.operand)
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return float(node.value)
    raise SyntaxError


def _degree(j: float) -> int:
    if not (1 <= j <= LARGEST_POWER and j == int(j)):
        raise ValueError
    return int(j)


def _positive(k: float) -> float:
    if not k > 0:
        raise ValueError
    return k


def _some(numbers: tuple[float, ...]) -> tuple[float, ...]:
    if not numbers:
        raise ValueError
    return numbers
