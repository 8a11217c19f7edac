r"""The known LaTeX as tables, with a column for each writer. A command outside of them is refused."""

# ruff: noqa: SIM905 - the long lists are read as words

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


def _entries(table: str) -> Iterator[tuple[str, list[str], dict[str, str]]]:
    """The entries of a table, two spaces or a line apart: a head, its commands, its columns by their mark."""
    for entry in re.split(r"\s\s+", table.strip()):
        head, *columns = entry.split(" ")
        marked = {column[0]: column[1:].replace("␣", " ") for column in columns if column[0] in "=:;"}
        yield head, [column for column in columns if column[0] not in "=:;"], marked


_CHARACTERS = r"""
    α alpha  β beta  γ gamma  δ delta  ϵ epsilon =ε  ζ zeta  η eta  θ theta  ι iota  κ kappa  λ lambda  μ mu  ν nu  ξ xi
    ο omicron :o  π pi  ρ rho  ς varsigma  σ sigma  τ tau  υ upsilon  φ varphi  χ chi  ψ psi  ω omega  ε varepsilon
    ϕ phi =φ  ϑ vartheta  ϱ varrho  ϖ varpi  Γ Gamma  Δ Delta  Θ Theta  Λ Lambda  Ξ Xi  Π Pi  Σ Sigma  Υ Upsilon  Φ Phi
    Ψ Psi  Ω Omega  ≤ leq le  ≥ geq ge  ≠ neq ne  < lt :<  > gt :>  ≪ ll  ≫ gg  ≲ lesssim  ≳ gtrsim  ≍ asymp  ≈ approx
    ∼ sim =~  ≃ simeq  ≅ cong  ≡ equiv  ∝ propto  ∈ in  ∉ notin  ∋ ni  ⊂ subset  ⊆ subseteq  ⊊ subsetneq  ⊃ supset
    ⊇ supseteq  ≺ prec  ≻ succ  ⪯ preceq  ⪰ succeq  ≼ preccurlyeq  ≽ succcurlyeq  ⩾ geqslant  ⩽ leqslant  ≜ triangleq
    ≐ doteq  ≷ gtrless  ⊨ models  ⊢ vdash  ≔ coloneqq ::=  : colon ::  ∣ mid =|  ∥ parallel  ⟂ perp =⊥  → to rightarrow
    ← leftarrow gets  ↔ leftrightarrow  ↦ mapsto  ⇒ Rightarrow  ⇐ Leftarrow  ⇔ Leftrightarrow  ⟹ Longrightarrow implies
    ⟺ Longleftrightarrow iff  ⟶ longrightarrow  ⟵ longleftarrow  ↪ hookrightarrow  ↗ nearrow  ↘ searrow  ↑ uparrow
    ↓ downarrow  ± pm  ∓ mp  × times  ⋅ cdot =·  · :\cdot  ÷ div  ∗ ast =*  ⋆ star =*  ∘ circ  ∙ bullet  ⊕ oplus
    ⊖ ominus  ⊗ otimes  ⊙ odot  ∪ cup  ∩ cap  ⊔ sqcup  ∖ setminus smallsetminus backslash  ⨿ amalg  ∔ dotplus
    ∧ wedge land  ∨ vee lor  ∑ sum =Σ  ∏ prod  ∫ int  ∬ iint  ∮ oint  ⋃ bigcup  ⋂ bigcap  ⨁ bigoplus  ⨂ bigotimes
    ∞ infty  ∂ partial  ∇ nabla  ∀ forall =for␣every␣  ∃ exists  ∅ emptyset varnothing  ℓ ell  ℏ hbar  ℜ Re  ℑ Im
    ℵ aleph  ¬ neg lnot  ⊤ top =T  ⊥ bot  ∠ angle  † dagger  ′ prime ='  ’ =' :'  … dots ldots dotsc  ⋯ cdots dotsb
    ⋮ vdots  ⋱ ddots  √ sqrtsign :\surd  ° degree :{}^{\circ}  § S :\S  ✓ checkmark  ı imath  ȷ jmath  ℘ wp  ⊺ intercal
    □ square Box  ■ blacksquare  ∁ complement  ℧ mho  ð eth  ⟨ langle  ⟩ rangle  ⌊ lfloor  ⌋ rfloor  ⌈ lceil  ⌉ rceil
    | vert lvert rvert :|  ‖ | Vert lVert rVert  { { lbrace  } } rbrace  [ lbrack :[  ] rbrack :]  − :-
    # #  % %  $ $  & &  _ _
"""
"""A character and its commands; = its form in a terminal; : its LaTeX where this is not the first command."""
CHARACTERS = {name: character for character, names, _ in _entries(_CHARACTERS) for name in names}
PLAIN = {character: columns["="] for character, _, columns in _entries(_CHARACTERS) if "=" in columns}
LATEX = {
    character: columns[":"] if ":" in columns else f"\\{names[0]}"
    for character, names, columns in _entries(_CHARACTERS)
}


class Forms(NamedTuple):
    """How to write a command with arguments: by a function of Typst, a mark above a letter in a terminal, or a command.

    Of a kind of words, the templates: {0} are the words, {1} the words in quotes.
    """

    typst: str
    latex: str
    """`!` if there is no such command."""
    mark: str = ""


_COMMANDS = """
    hat hat =\u0302  hat widehat =\u0302  tilde tilde =\u0303  tilde widetilde =\u0303  macron bar =\u0304
    overline overline =\u0304  underline underline  dot dot =\u0307  dot.double ddot =\u0308  caron check =\u030c
    breve breve  circle mathring  arrow vec  arrow overrightarrow  underbrace underbrace  overbrace overbrace
    cancel cancel :!  limits mathop  bb mathbb mathds mathbbm  cal mathcal  scr mathscr :!  frak mathfrak
    bold boldsymbol bm pmb  upright(bold mathbf  upright mathrm  sans mathsf  mono mathtt  italic mathit
    sqrt sqrt  root root  frac frac  frac tfrac nicefrac sfrac  frac dfrac  frac cfrac  binom binom
    binom tbinom  binom dbinom
    t overset stackrel  b underset
"""
"""Typst's function and its commands; = the mark in a terminal; : the command in LaTeX."""
COMMANDS = {
    name: Forms(typst, columns.get(":", names[0]), columns.get("=", ""))
    for typst, names, columns in _entries(_COMMANDS)
    for name in names
}
PAIRS = {name for name, command in COMMANDS.items() if command.typst in ("frac", "binom", "t", "b")}
"""Commands with two arguments; overset and underset set their first one at a side of their second."""
MARKS = {command.mark: command.latex for command in reversed(COMMANDS.values()) if command.mark}
"""Unicode's marks above the letter before them, and the command of each."""

FUNCTIONS = set(
    "arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim liminf "
    "limsup ln log max min sec sin sinh sup tan tanh".split()
)
"""Functions that Typst knows by the same name, limits below where due."""
OPERATORS = {"argmax": "arg max", "argmin": "arg min"} | {name: name for name in "Pr tr Tr rank diag sign".split()}
"""Operators by their words; two words have their limits below."""


WORDS = {
    "function": Forms("{0}", "\\{0}"),
    "operator": Forms("op({1})", r"\operatorname{{{0}}}"),
    "limits": Forms("limits(op({1}))", r"\operatorname*{{{0}}}"),
    "upright": Forms("op({1})", r"\mathrm{{{0}}}"),
    "text": Forms("{1}", r"\text{{{0}}}"),
}
TEXT = set("text textrm textnormal textsc textit textbf textsf texttt textup emph mbox hbox".split())
"""Commands whose argument is words."""
SPACES = {",": "thin", ":": "med", ">": "med", ";": "thick", "!": "#h(-1em/6)", " ": "space", "quad": "quad",
          "qquad": "wide", "enspace": "space", "\\": "\\ "}  # fmt: skip
"""Spaces and the end of a line, and how Typst writes them."""
SWITCHES = {"rm": "mathrm", "bf": "mathbf", "it": "mathit", "cal": "mathcal", "sf": "mathsf", "tt": "mathtt"}
"""Old commands that set the rest of their group in another letter, and the command with an argument that does so."""
SILENT = set("displaystyle textstyle scriptstyle scriptscriptstyle limits nolimits nonumber notag allowbreak -".split())
"""Commands that only ask for another style or place."""
SIZES = {
    size + side: height
    for size, height in {"big": 1.2, "Big": 1.8, "bigg": 2.4, "Bigg": 3.0}.items()
    for side in ("", "l", "r", "m")
}
"""Commands that enlarge the bracket after them, and the height in em."""
FENCES = {bracket: bracket for bracket in "()[]{}|‖/⟨⟩⌊⌋⌈⌉."} | {"<": "⟨", ">": "⟩"}
"""Brackets that grow; a dot is an absent one."""
MATRICES = {"matrix": "", "smallmatrix": "", "pmatrix": "()", "bmatrix": "[]", "vmatrix": "||", "Vmatrix": "‖‖"}
"""Environments of rows and columns, and their brackets."""
STACKS = set("aligned align align* split gather gather* gathered multline multline* array".split())
"""Environments of lines one below the other."""
