"""Lemmas on a page: the checker's texts can be typeset, and no formula remains as source."""

from __future__ import annotations

import inspect
import re

import pytest

from lipverify.claims.language import typeset
from lipverify.foundation.latex import typst_math

# internal: lemmas with formulas in print
from lipverify.proofs.checker import circle, contexts, harmonics, kink, optima, tokens, transformers, variogram, windows

LEMMAS = {
    f"{module.__name__.rpartition('.')[2]}.{name}": " ".join(lemma.__doc__.split())
    for module in (circle, contexts, harmonics, kink, optima, tokens, transformers, variogram, windows)
    for name, lemma in inspect.getmembers(module, inspect.isfunction)
    if lemma.__module__ == module.__name__ and lemma.__doc__
}
TYPED = re.compile(r"<=|>=|->|\w_\w|\w\^|\*\w|sqrt|\blambda\b")
"""Patterns of a formula that was not typeset."""


@pytest.mark.parametrize("name", sorted(LEMMAS))
def test_the_statement_of_a_lemma_is_typeset(name: str) -> None:
    text = typeset(LEMMAS[name])
    words, formulas = text.split("$")[::2], text.split("$")[1::2]
    assert text.count("$") % 2 == 0
    for formula in formulas:
        typst_math(formula)
    assert not TYPED.search(re.sub(r"`[^`]*`", "", " ".join(words)))


@pytest.mark.parametrize(
    ("said", "set_"),
    [
        ("at most 2 E (5 E for pairs)", "at most $2 E$ ($5 E$ for pairs)"),
        ("if q > 0 (q < 0) A stays", "if $q>0$ ($q<0$) $A$ stays"),
        ("a multiple of a C", "a multiple of $a C$"),
        ("where z = <q, x_i>, C = |z|", r"where $z=\langle q, x_{i}\rangle $, $C=|z|$"),
        ("k^-beta and W^{a+max(beta,1)}", r"$k^{-\beta}$ and $W^{a+\max(\beta,1)}$"),
        ("see DLMF 10.30.4, Bessel's", "see DLMF 10.30.4, Bessel's"),
        ("an open ( bracket", "an open ( bracket"),
        ("B >= far for w <= u.", r"$B\geq \mathrm{far}$ for $w\leq u$."),
    ],
)
def test_words_and_formulas_are_distinguished(said: str, set_: str) -> None:
    assert typeset(said) == set_
