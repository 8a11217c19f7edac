"""The sharp rates as a table: leading terms of noise, bias, window and loss, derived by SymPy from each law."""

from __future__ import annotations

from functools import cache

import sympy

from lipverify.claims.ledger import Table
from lipverify.laws import law_named
from lipverify.loss.asymptotic import Leading, leading

LAWS = ("affine", "relu", "quadratic")
SHOWN = (2, 5, 8)
TERMS = {
    "noise": r"N \sim {} \cdot \sigma^2 w^{{{}}} / n",
    "bias": r"B \sim {} \cdot L^2 w^{{{}}}",
    "window": r"w^* \sim {} \cdot \Lambda^{{{}}}",
    "loss": r"\mathcal{{L}}(w^*) \sim {} \cdot L^2 \Lambda^{{{}}}",
}
d = sympy.Symbol("d", positive=True)


@cache
def sharp_rates() -> tuple[Table, ...]:
    """The noise, which is the same for all laws, and for each law its bias, window and loss."""
    terms = {law: leading(law_named(law)) for law in LAWS}
    rows = [_row("all", "noise", terms[LAWS[0]])]
    rows += [_row(law, name, terms[law]) for law in LAWS for name in ("bias", "window", "loss")]
    return (
        Table(
            caption="Sharp rates and constants, derived from each law by computer algebra ($n \\to \\infty$ first, then "
            "$w \\to \\infty$), and the value of the constant in some dimensions.",
            header=("law", "leading term", *(f"$d = {k}$" for k in SHOWN)),
            rows=tuple(rows),
        ),
    )


def _row(law: str, name: str, term: Leading) -> tuple[str, ...]:
    """A leading term with its constant as a formula and as numbers."""
    constant = sympy.factor_terms(getattr(term, f"{name}_constant"))
    values = (f"{float(constant.subs(d, k)):.4g}" for k in SHOWN)
    return law, f"${TERMS[name].format(sympy.latex(constant), sympy.latex(_exponent(name, term)))}$", *values


def _exponent(name: str, term: Leading) -> sympy.Expr:
    """The power of w in noise and bias, of Lambda in window and loss."""
    if name == "noise":
        w = next(symbol for symbol in term.noise.free_symbols if symbol.name == "w")
        return sympy.simplify(w * sympy.diff(sympy.log(term.noise), w))
    return -term.beta if name == "bias" else getattr(term, f"{name}_exponent")
