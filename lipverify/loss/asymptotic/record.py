r"""The leading behaviour of a law: N ~ C_d sigma^2 w^a / n, B ~ C_law L^2 w^{-beta}, and the w* that balances them.

SymPy derives expressions; `numbers_of` gives them as numbers at one d and one L.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any

import sympy

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.showing import axes, table
from lipverify.foundation.style import in_style
from lipverify.foundation.validation import instance, whole
from lipverify.loss.asymptotic.expansions import leading_bias, next_bias, noise_term, spread_term, tokens_term
from lipverify.loss.asymptotic.fields import Increments
from lipverify.loss.asymptotic.links import meant
from lipverify.loss.asymptotic.powers import Numbers, Power
from lipverify.loss.asymptotic.sphere import Expr, L, d, n, sigma, w
from lipverify.loss.asymptotic.tasks import lettered, task_of
from lipverify.problem.law import Law, Sum


@dataclass(frozen=True, kw_only=True, repr=False)
class Leading:
    r"""SymPy expressions in the positive symbols d, n, w, L and sigma; see `leading`.

    The limits are n -> infinity first, w -> infinity second; they hold along w = w* as well, because there the
    corrections in n vanish too.

    Attributes
    ----------
    noise, noise_constant
        N ~ noise_constant sigma^2 w^{(d-1)/2} / n.
    bias, bias_constant, beta
        B ~ bias_constant L^2 w^{-beta}; L = 1 for a law without a constant L.
    window, window_constant, window_exponent
        w* ~ window_constant Lambda^window_exponent, Lambda = n L^2 / sigma^2.
    loss, loss_constant, loss_exponent
        N + B at w*, ~ loss_constant L^2 Lambda^loss_exponent.
    law
        The law.
    dimension
        The value of d; None if d is a symbol.

    Examples
    --------
    >>> from lipverify import leading
    >>> from lipverify.laws import Affine
    >>> leading(Affine()).beta, leading(Affine()).window_exponent
    (2, 2/(d + 3))
    """

    noise: Expr
    bias: Expr
    beta: Expr
    noise_constant: Expr
    bias_constant: Expr
    window: Expr
    window_constant: Expr
    window_exponent: Expr
    loss: Expr
    loss_constant: Expr
    loss_exponent: Expr
    law: Law
    dimension: int | None = None

    @property
    def noise_next(self) -> Expr:
        """|next term in 1/w| / leading noise; like the three below an estimate and not a bound."""
        return self._at(noise_term().next)

    @property
    def bias_next(self) -> Expr:
        """|next term in 1/w or its root| / leading bias."""
        return self._at(_next_bias(self.law))

    @property
    def tokens_next(self) -> Expr:
        """|next term in 1/n| / leading noise: one over the number of tokens in a window, up to a factor."""
        return self._at(tokens_term())

    @property
    def spread(self) -> Expr:
        """The next term in 1/n of B, from the spread of f over tokens, in units of y squared."""
        return self._at(_spread(self.law))

    def _at(self, expression: Expr) -> Expr:
        return expression if self.dimension is None else expression.subs(d, self.dimension)

    def __repr__(self) -> str:
        return f"Leading({self.law!r}, d={self.dimension or 'd'}: bias ~ {self.bias}, noise ~ {self.noise})"

    def _repr_latex_(self) -> str:
        parts = {r"N(w)": self.noise, r"B(w)": self.bias, r"w^*": self.window}
        lines = r" \\ ".join(rf"{name} &\sim {sympy.latex(value)}" for name, value in parts.items())
        return rf"$$\begin{{aligned}} {lines} \end{{aligned}}$$"

    def _repr_html_(self) -> str:
        fields = (*EXPRESSIONS[:3], "window", "window_exponent", "loss", "loss_exponent")
        formulas = [f"${sympy.latex(getattr(self, name))}$" for name in fields]
        return table(f"{self.law!r}, n → ∞ first and w → ∞ second", {"": fields, "leading term": formulas})

    @in_style
    def plot(self, ax: Any = None) -> Any:
        r"""Draw the leading w* against Lambda = n L^2 / sigma^2 at d (d = 2, 3 and 5 if symbolic); return the axes."""
        ax, ends = axes(ax), (1e2, 1e12)
        for dimension in (2, 3, 5) if self.dimension is None else (self.dimension,):
            constant, power = (
                float(expression.subs(d, dimension)) for expression in (self.window_constant, self.window_exponent)
            )
            ax.plot(ends, [constant * end**power for end in ends], label=f"d = {dimension}: power {power:.4g}")
        ax.set(xscale="log", yscale="log", xlabel=r"$\Lambda$", ylabel="leading $w^*$", title=repr(self.law))
        ax.legend()
        return ax

    def latex(self) -> dict[str, str]:
        r"""LaTeX of every expression, by the name of its field.

        >>> from lipverify.laws import Affine
        >>> leading(Affine()).latex()["window_exponent"]
        '\\frac{2}{d + 3}'
        """
        return {name: sympy.latex(getattr(self, name)) for name in (*EXPRESSIONS, *CORRECTIONS)}


EXPRESSIONS = tuple(name for name, kind in Leading.__annotations__.items() if kind == "Expr")
CORRECTIONS = ("noise_next", "bias_next", "tokens_next", "spread")
"""Derived on first use, because they take longer than the rest."""


@lru_cache(maxsize=64)
def _next_bias(law: Law) -> Expr:
    _require_one(law)
    return next_bias(task_of(law))


def _require_one(law: Law) -> None:
    """Refuse a sum of laws, whose next terms may be leading terms of parts with other powers."""
    if isinstance(law, Sum):
        raise OutOfReach(f"law = {law!r} is a sum: the terms after the leading one are not known; use method='exact'.")


@lru_cache(maxsize=64)
def _spread(law: Law) -> Expr:
    _require_one(law)
    task = task_of(law)
    if isinstance(task, Increments):
        raise OutOfReach(f"law = {law!r} is a kernel: its next term in 1/n is not known; use method='exact'.")
    if any(kink.root[0] < 1 for kink in task.kinks):
        raise OutOfReach(f"law = {law!r} has jumps or roots: its next term in 1/n is not known; use method='exact'.")
    return spread_term(task)


def leading(law: Law, d: int | None = None) -> Leading:
    r"""The leading behaviour of bias, noise, optimal window and loss, derived from the law by SymPy.

    Parameters
    ----------
    law
        Affine, Linear, ReLU, Cosine, Quadratic, Matern, RBF, `Zonal`, their sums, or `Ridge` with a link
        made of arithmetic, comparisons, np.where, np.clip, erf and NumPy's elementary functions, with its kinks, jumps
        and roots declared. The value of L of a named law does not matter: L is a symbol in the result.
    d
        The ambient dimension, >= 2; left as a symbol if not given.

    Returns
    -------
    Leading
        Where a mean over the sphere has no closed form (general links), an integral that `.evalf()` evaluates.

    Raises
    ------
    InvalidInput
        If the law is constant (there is no bias to balance) or `d` is not an integer from 2 to 1000.
    OutOfReach
        If the link cannot be read, or its leading behaviour is not known.

    Source: Watson's lemma, and the mean of a function over small circles; see the modules of this package.

    Examples
    --------
    >>> from lipverify.laws import Affine, ReLU
    >>> leading(Affine()).beta, leading(Affine()).window_exponent
    (2, 2/(d + 3))
    >>> leading(ReLU()).beta, leading(ReLU()).window_exponent
    (3/2, 2/(d + 2))
    """
    if d is not None:
        # constants are exact, and their factorials grow with d
        d = whole("d", d, 2, "the ambient dimension, unless it is None for a symbol,", 1000)
    instance("law", law, Law, "use for example ReLU(L=1.0)")
    if law.constant:
        raise InvalidInput(f"law = {law!r} is constant: there is no bias to balance the noise, so give L > 0.")
    general = _derived(lettered(law)[0])
    return general if d is None else _at_dimension(general, d)


def _bias(law: Law) -> Expr:
    """The leading bias; of a sum of laws, that of the parts with the slowest decay."""
    if not isinstance(law, Sum):
        return leading_bias(task_of(law))
    parts = [
        meant(weight) * leading_bias(task_of(part)).subs(L, meant(getattr(part, "L", 1.0)))
        for weight, part in law.parts
        if not part.constant
    ]
    betas = [-exponent(part, w) for part in parts]
    least = min(betas)
    return sympy.factor(sum(part for part, beta in zip(parts, betas, strict=True) if beta == least))


@lru_cache(maxsize=64)
def _derived(law: Law) -> Leading:
    bias, noise = _bias(law), noise_term().leading
    _, scale = lettered(law)
    balanced = {n: sigma**2 / scale**2}  # Lambda = 1
    growth, beta = exponent(noise, w), -exponent(bias, w)
    noise_constant, bias_constant = noise.subs(w, 1), bias.subs(w, 1)
    window, loss, window_exponent, loss_exponent = _balance(noise_constant, bias_constant, growth, beta)
    return Leading(
        noise=noise,
        bias=bias,
        beta=beta,
        noise_constant=noise_constant * n / sigma**2,
        bias_constant=sympy.powsimp(bias_constant / scale**2),
        window=window,
        window_constant=sympy.powsimp(window.subs(balanced)),
        window_exponent=window_exponent,
        loss=loss,
        loss_constant=sympy.powsimp(loss.subs(balanced) / scale**2),
        loss_exponent=loss_exponent,
        law=law,
    )


def exponent(expression: Expr, of: Expr) -> Expr:
    """The power of a variable in an expression: its logarithmic derivative, free of the variable."""
    # numbers have no logarithm that is needed, and SymPy takes minutes for that of sums of roots and Gamma functions
    numbers = {
        part: sympy.Dummy(positive=True)
        for part in sympy.preorder_traversal(expression)
        if part.is_number and not part.is_Rational
    }
    logarithm = sympy.expand_log(sympy.log(expression.xreplace(numbers)), force=True)
    power = of * sympy.diff(logarithm, of)
    return sympy.factor(sympy.simplify(power.xreplace({letter: part for part, letter in numbers.items()})))


def _balance(noise_constant: Expr, bias_constant: Expr, growth: Expr, beta: Expr) -> tuple[Expr, ...]:
    """The minimiser w of A w^a + B w^{-b}, the minimum, and the powers of n in both, where A falls like 1/n."""
    known = dict(zip(POWERS, (noise_constant, bias_constant, growth, beta), strict=True))
    window, least, *powers = _minimum()
    short = (_short(value.subs(known)) for value in (window, least))
    return *short, *(sympy.factor(-power.subs(known)) for power in powers)


POWERS = sympy.symbols("A B a b", positive=True)
"""The constants and the exponents of two powers, A w^a + B w^{-b}."""


@cache
def _minimum() -> tuple[Expr, ...]:
    """The minimiser w of A w^a + B w^{-b}, by its derivative in log w, the minimum, and the powers of A in both."""
    A, B, a, b = POWERS
    x = sympy.Symbol("x", real=True)
    rises, falls = A * w**a, B * w**-b
    slopes = [sympy.log(abs(sympy.simplify(w * sympy.diff(term, w)))) for term in (rises, falls)]
    equation = sympy.expand_log((slopes[0] - slopes[1]).subs(w, sympy.exp(x)), force=True)
    window = sympy.simplify(sympy.exp(sympy.solve(equation, x)[0]))
    share = sympy.simplify(sympy.powsimp((falls / rises).subs(w, window), force=True))
    least = rises.subs(w, window) * (1 + share)
    return window, least, exponent(window, A), exponent(least, A)


def _short(expression: Expr) -> Expr:
    """The expression with its exponents as fractions of polynomials."""
    whole = sympy.powsimp(expression)
    return whole.replace(lambda part: part.is_Pow and part.exp.has(d), lambda part: part.base ** sympy.factor(part.exp))


def _at_dimension(general: Leading, dimension: int) -> Leading:
    values = {name: getattr(general, name).subs(d, dimension) for name in EXPRESSIONS}
    return replace(general, dimension=dimension, **values)


@lru_cache(maxsize=64)
def transferred_power(trained: Law, tested: Law) -> Expr:
    r"""The power of n in the loss of a w tuned to one law and used on another; it does not depend on L.

    The loss is N + B of the tested law at the leading w* of the trained one, and the slower of the two decides.

    Parameters
    ----------
    trained, tested
        Laws with leading terms.

    Returns
    -------
    sympy.Expr
        The power, in the symbol d.

    Raises
    ------
    InvalidInput, OutOfReach
        As `leading`.

    Examples
    --------
    >>> from lipverify.laws import Affine, ReLU
    >>> transferred_power(ReLU(), ReLU()), transferred_power(ReLU(), Affine()), transferred_power(Affine(), ReLU())
    (-3/(d + 2), -3/(d + 2), -3/(d + 3))
    """
    window, away = leading(trained).window, leading(tested)
    noise, bias = (exponent(term.subs(w, window), n) for term in (away.noise, away.bias))
    beyond_two = sympy.Symbol("m", nonnegative=True)
    noise_wins = sympy.factor((noise - bias).subs(d, beyond_two + 2)).is_nonnegative
    return noise if noise_wins else bias


@lru_cache(maxsize=256)
def numbers_of(law: Law, dimension: int) -> Numbers:
    """Constants and exponents as numbers, of the terms without sigma."""
    values: dict[Expr, Expr] = {d: sympy.Integer(dimension), L: meant(getattr(law, "L", 1.0))}

    def power(term: Expr) -> Power:
        return _power(sympy.sympify(term).subs(values))

    noise = noise_term()
    form = None if law.constant else leading(law)
    return Numbers(
        noise=power(noise.leading / sigma**2),
        noise_next=power(noise.next),
        tokens_next=power(tokens_term()),
        bias=power(form.bias) if form else None,
        bias_next=power(form.bias_next) if form else None,
        spread=power(form.spread) if form else None,
    )


def _power(term: Expr) -> Power:
    """A term C w^p n^q as numbers; p and q are its logarithmic derivatives, which are constant."""
    at_one = {w: 1, n: 1}  # C may be an integral, so it is evaluated once
    factor, rest = term.as_independent(w, n, as_Add=False)
    size = _number(rest.subs(at_one))
    constant = _number(factor) * size
    if constant == 0:
        return Power(-math.inf, 0.0, 0.0)
    powers = (float(_number(sympy.diff(rest, of).subs(at_one)) / size) for of in (w, n))
    return Power(float(sympy.log(constant)), *powers)


def _number(expression: Expr) -> Expr:
    return sympy.N(expression, 40)  # more digits than a double, so that logarithms are accurate
