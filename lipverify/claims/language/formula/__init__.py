"""Formulas of claims: exponents and bounds as data, in declared symbols, printed as they were written."""

from lipverify.claims.language.formula.bound import Bound
from lipverify.claims.language.formula.declared import Formula, formula
from lipverify.claims.language.formula.function import FunctionBound, bound

__all__ = ["Bound", "Formula", "FunctionBound", "bound", "formula"]
