"""The words of a claim's source are those of the paper, letter by letter, as `checks/quotations/` has them."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping

import pytest

from lipverify.claims.plan import all_claims, profile_named
from tests import ROOT

Place = tuple[str, str]

FONTS = """text pmb mathrm mathbf mathsf mathcal mathbb bm boldsymbol operatorname emph left right big bigl bigr Big
    Bigl Bigr begin end quad qquad"""
SIGNS = {
    "top": "⊤", "sum": "Σ", "sim": "∼", "approx": "≈", "neq": "≠", "leq": "≤", "le": "≤", "geq": "≥", "ge": "≥",
    "gg": "≫", "in": "∈", "infty": "∞", "langle": "⟨", "rangle": "⟩", "sqrt": "√", "to": "→", "ldots": "...",
    "dots": "...", "prime": "'", "epsilon": "ε", "varepsilon": "ε", "mu": "μ",
}  # fmt: skip
"""LaTeX commands as signs. A Greek letter has its own name, and any other command stays its name."""
SAME = str.maketrans(
    {"ϵ": "ε", "µ": "μ", "−": "-", "–": "-", "’": "'", "“": '"', "”": '"', "‖": "‖", "²": "^2", "⋆": "*"}
)
LEFT_OUT = "[...]"


def sign(command: str) -> str:
    """The sign of a LaTeX command, as the printed page has it."""
    if command in FONTS.split():
        return ""
    kind = "CAPITAL" if command[0].isupper() else "SMALL"
    try:
        return SIGNS.get(command) or unicodedata.lookup(
            f"GREEK {kind} LETTER {command.upper().replace('LAMBDA', 'LAMDA')}"
        )
    except KeyError:
        return command


def plain(words: str) -> str:
    """Words as letters alone: without white space, fonts, delimiters of formulas, and the markup of tables."""
    words = re.sub(r"<[^<>]*>|\\(begin|end)\{[a-z]+\*?\}(\{[lcr|]+\})?", "", words)
    words = re.sub(r"\\hat\s*\{?(\w)\}?", "\\1\u0302", words).replace(r"\|", "‖").replace(r"\{", "").replace(r"\}", "")
    words = re.sub(r"\\([A-Za-z]+)", lambda found: sign(found[1]), words)
    return unicodedata.normalize("NFD", re.sub(r"\\.|[\s{}$&*~\\]", "", words.translate(SAME)))


def pieces(words: str) -> list[str]:
    """What is between the displays and sentences that words leave out."""
    return [piece for piece in (plain(part) for part in words.split(LEFT_OUT)) if piece]


def quotes(source: str, words: str) -> bool:
    """True if the pieces of a source occur in the words in their order, and none spans what the words leave out."""
    printed, at = LEFT_OUT.join(pieces(words)), 0
    for piece in pieces(source):
        found = printed.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return bool(pieces(source))


def quoted() -> dict[Place, list[str]]:
    """The quoted words of each passage."""
    found: dict[Place, list[str]] = {}
    for path in sorted((ROOT / "checks" / "quotations").glob("*.toml")):
        for each in tomllib.loads(path.read_text(encoding="utf-8"))["quoted"]:
            found.setdefault((each["paper"], each["place"]), []).append(each["words"])
    return found


def faults(sources: Iterable[tuple[str, str, str]], words: Mapping[Place, list[str]]) -> list[str]:
    """The sources (paper, place, words) of a quoted paper that are not its words."""
    papers = {paper for paper, _ in words}
    return [
        f"{paper}, {place}: {printed}"
        for paper, place, printed in sources
        if paper in papers and not any(quotes(printed, each) for each in words.get((paper, place), []))
    ]


def sources() -> list[tuple[str, str, str]]:
    """The sources of all claims, each once."""
    every = (claim.source for claim in all_claims(profile_named("quick")))
    return list(dict.fromkeys((each.paper, each.place, each.printed) for each in every))


def test_the_source_of_every_claim_has_the_words_of_its_paper() -> None:
    assert faults(sources(), quoted()) == []


def changed(words: str, place: int) -> str:
    """Words with one letter changed."""
    letters = [k for k, letter in enumerate(words) if letter.isalpha() and "\\" not in words[max(0, k - 20) : k + 1]]
    k = letters[place * (len(letters) - 1) // 4]
    return words[:k] + ("z" if words[k] != "z" else "y") + words[k + 1 :]


@pytest.mark.parametrize("place", range(5))
def test_one_changed_letter_is_found(place: int) -> None:
    every = [(paper, where, printed) for paper, where, printed in sources() if paper == "V"]
    assert len(every) > 40
    for paper, where, printed in every:
        assert len(faults([(paper, where, changed(printed, place))], quoted())) == 1, printed


def test_a_passage_that_is_not_quoted_is_found() -> None:
    assert len(faults([("V", "Theorem 9", "we prove that each layer")], quoted())) == 1


def test_a_source_without_words_quotes_nothing() -> None:
    assert not quotes("[...]", "we prove")


@pytest.mark.parametrize(
    ("source", "words", "same"),
    [
        (r"$\sigma_{\max} = 3$", "σ_max = 3", True),
        (r"$\sigma_{\max} = 3$", "σ_min = 3", False),
        (r"$w^\top x_i$, [...] $\epsilon \leq 0.1$", "w^⊤ x_i and more, ϵ ≤ 0.1", False),
        (r"$w^\top x_i$ [...] $\epsilon \leq 0.1$", "w^⊤ x_i and more, ϵ ≤ 0.1", True),
        (r"$\epsilon \leq 0.1$ [...] $w^\top x_i$", "w^⊤ x_i and more, ϵ ≤ 0.1", False),
        ("updated as Here", "updated as [...] Here", False),
        ("updated as [...] Here", "updated as [...] Here", True),
        (r"$\hat{y}$ and \textbf{two}", "ŷ and two", False),
        (r"$\hat{y}$ and $\mathbf{two}$", "ŷ and two", True),
    ],
)
def test_white_space_and_markup_make_no_difference_and_letters_do(source: str, words: str, same: bool) -> None:
    assert quotes(source, words) == same
