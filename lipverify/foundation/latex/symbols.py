"""The known LaTeX: commands by their meaning.

The reader and the writers share these tables. A command outside of them is refused.
"""

# ruff: noqa: SIM905 - the long lists are read as words

from __future__ import annotations

_GREEK = dict(
    zip(
        "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho "
        "varsigma sigma tau upsilon varphi chi psi omega".split(),
        "αβγδϵζηθικλμνξοπρςστυφχψω",
        strict=True,
    )
)
_CAPITALS = dict(
    zip(
        "Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega".split(),
        "ΓΔΘΛΞΠΣΥΦΨΩ",
        strict=True,
    )
)
_RELATIONS = {
    "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "ne": "≠", "neq": "≠", "lt": "<", "gt": ">",
    "ll": "≪", "gg": "≫", "lesssim": "≲", "gtrsim": "≳", "asymp": "≍", "approx": "≈", "sim": "∼",
    "simeq": "≃", "cong": "≅", "equiv": "≡", "propto": "∝", "in": "∈", "notin": "∉", "ni": "∋",
    "subset": "⊂", "subseteq": "⊆", "supset": "⊃", "supseteq": "⊇", "prec": "≺", "succ": "≻",
    "preceq": "⪯", "succeq": "⪰", "preccurlyeq": "≼", "succcurlyeq": "≽",
    "mid": "∣", "parallel": "∥", "perp": "⟂", "to": "→",
    "rightarrow": "→", "leftarrow": "←", "gets": "←", "leftrightarrow": "↔", "mapsto": "↦",
    "Rightarrow": "⇒", "implies": "⟹", "Leftarrow": "⇐", "iff": "⟺", "Leftrightarrow": "⇔",
    "longrightarrow": "⟶", "geqslant": "⩾", "leqslant": "⩽", "triangleq": "≜", "doteq": "≐",
    "hookrightarrow": "↪", "nearrow": "↗", "searrow": "↘", "downarrow": "↓", "models": "⊨", "vdash": "⊢",
    "subsetneq": "⊊", "gtrless": "≷", "Longrightarrow": "⟹", "Longleftrightarrow": "⟺", "longleftarrow": "⟵",
    "uparrow": "↑", "colon": ":", "coloneqq": "≔",
}  # fmt: skip
_OPERATIONS = {
    "pm": "±", "mp": "∓", "times": "×", "cdot": "⋅", "div": "÷", "ast": "∗", "star": "⋆",
    "circ": "∘", "bullet": "∙", "oplus": "⊕", "otimes": "⊗", "odot": "⊙", "cup": "∪", "cap": "∩",
    "setminus": "∖", "smallsetminus": "∖", "ominus": "⊖", "sqcup": "⊔", "amalg": "⨿", "dotplus": "∔",
    "wedge": "∧", "land": "∧", "vee": "∨", "lor": "∨",
}  # fmt: skip
_LARGE = {
    "sum": "∑", "prod": "∏", "int": "∫", "iint": "∬", "oint": "∮", "bigcup": "⋃", "bigcap": "⋂",
    "bigoplus": "⨁", "bigotimes": "⨂",
}  # fmt: skip
_ORDINARY = {
    "infty": "∞", "partial": "∂", "nabla": "∇", "forall": "∀", "exists": "∃", "emptyset": "∅",
    "varnothing": "∅", "ell": "ℓ", "hbar": "ℏ", "Re": "ℜ", "Im": "ℑ", "aleph": "ℵ", "neg": "¬",
    "lnot": "¬", "top": "⊤", "bot": "⊥", "angle": "∠", "dagger": "†", "prime": "′", "dots": "…",
    "ldots": "…", "cdots": "⋯", "vdots": "⋮", "ddots": "⋱", "varepsilon": "ε", "phi": "ϕ",
    "vartheta": "ϑ", "varrho": "ϱ", "varpi": "ϖ", "sqrtsign": "√", "degree": "°", "S": "§",
    "checkmark": "✓", "imath": "ı", "jmath": "ȷ", "wp": "℘", "intercal": "⊺", "dotsc": "…", "dotsb": "⋯",
    "square": "□", "Box": "□", "blacksquare": "■", "complement": "∁", "mho": "℧", "eth": "ð", "backslash": "∖",
}  # fmt: skip
FENCES = {
    "langle": "⟨", "rangle": "⟩", "lfloor": "⌊", "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉",
    "lvert": "|", "rvert": "|", "vert": "|", "lVert": "‖", "rVert": "‖", "Vert": "‖", "|": "‖",
    "{": "{", "}": "}", "lbrace": "{", "rbrace": "}", "lbrack": "[", "rbrack": "]",
}  # fmt: skip
ESCAPED = {"#": "#", "%": "%", "$": "$", "&": "&", "_": "_", "-": ""}

CHARACTERS = _GREEK | _CAPITALS | _RELATIONS | _OPERATIONS | _LARGE | _ORDINARY | FENCES | ESCAPED
"""Command (without its backslash) to the character that it prints."""

OPERATORS = frozenset(
    "arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim liminf "
    "limsup ln log max min sec sin sinh sup tan tanh".split()
)
"""Operator names that the typesetter knows by the same name, limits below where due."""

NAMED = {"Pr": "Pr", "tr": "tr", "Tr": "Tr", "rank": "rank", "diag": "diag", "sign": "sign"}
"""Operator names without limits."""

BELOW = {"argmax": "arg max", "argmin": "arg min"}
"""Operator names with limits below."""

DECORATIONS = {
    "hat": "hat", "widehat": "hat", "tilde": "tilde", "widetilde": "tilde", "bar": "macron",
    "overline": "overline", "underline": "underline", "vec": "arrow", "dot": "dot",
    "ddot": "dot.double", "check": "caron", "breve": "breve", "mathbb": "bb", "mathcal": "cal",
    "mathscr": "scr", "mathfrak": "frak", "boldsymbol": "bold",
    "bm": "bold", "mathsf": "sans", "mathtt": "mono", "mathit": "italic", "cancel": "cancel",
    "underbrace": "underbrace", "overbrace": "overbrace", "overrightarrow": "arrow",
    "mathring": "circle", "mathop": "limits", "pmb": "bold", "mathds": "bb", "mathbbm": "bb", "mathbf": "bold",
}  # fmt: skip
"""Commands with one argument, and the function that does the same in Typst."""

MARKS = {"\u0302": "hat", "\u0303": "tilde", "\u0304": "bar", "\u0307": "dot", "\u0308": "ddot", "\u030c": "check"}
"""Unicode's marks above the letter before them, and the command of each."""

UPRIGHT = frozenset("text textrm textnormal textsc mathrm textit textbf textsf texttt textup emph mbox hbox".split())
"""Commands whose argument is words."""

SPACES = {",": "thin", ":": "med", ">": "med", ";": "thick", "!": "#h(-1em/6)", " ": "space", "quad": "quad",
          "qquad": "wide", "enspace": "space", "\\": "\\ "}  # fmt: skip
"""Spaces and the end of a line, and how Typst writes them."""

SWITCHES = {"rm": "mathrm", "bf": "mathbf", "it": "mathit", "cal": "mathcal", "sf": "mathsf", "tt": "mathtt"}
"""Old commands that set the rest of their group in another letter, and the command with an argument that does so."""

NEGATED = {"=": "≠", "<": "≮", ">": "≯", "∈": "∉", "≤": "≰", "≥": "≱", "≡": "≢", "∼": "≁", "⊂": "⊄", "⊆": "⊈",
           "∃": "∄"}  # fmt: skip
"""Relations after `\\not`, each with its negation as one character."""

SILENT = frozenset(
    "displaystyle textstyle scriptstyle scriptscriptstyle limits nolimits nonumber notag allowbreak".split()
)
"""Commands that only ask for another style or place; the formula reads the same without them."""

SIZES = {
    f"{size}{side}": height
    for size, height in {"big": 1.2, "Big": 1.8, "bigg": 2.4, "Bigg": 3.0}.items()
    for side in ("", "l", "r", "m")
}
"""Commands that enlarge the bracket after them, and the height in em."""

FRACTIONS = frozenset("frac tfrac dfrac cfrac nicefrac sfrac".split())
BINOMIALS = frozenset("binom tbinom dbinom".split())
PAIRS = FRACTIONS | BINOMIALS | {"overset", "underset", "stackrel"}
"""Commands with two arguments; the last three set their first one above or below their second."""

MATRICES = {"matrix": "", "smallmatrix": "", "pmatrix": "(", "bmatrix": "[", "vmatrix": "|", "Vmatrix": "‖"}
"""Environments of rows and columns, and the bracket that opens each."""
STACKS = frozenset("aligned align align* split gather gather* gathered multline multline* array".split())
"""Environments of lines one below the other."""

ARGUMENTS = {*DECORATIONS, *PAIRS, *UPRIGHT, "xrightarrow", "substack", "pmod", "operatorname", "sqrt", "label"}
"""Commands with arguments; one that is itself an argument must stand in braces."""
