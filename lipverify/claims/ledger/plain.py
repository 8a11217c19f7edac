r"""Short LaTeX as plain text: a claim is written once, in LaTeX, and tables and terminals show this."""

from __future__ import annotations

import re
from functools import lru_cache

COMMANDS = {
    "Lambda": "Λ", "Omega": "Ω", "Theta": "Θ", "Sigma": "Σ", "Delta": "Δ", "Gamma": "Γ", "Pi": "Π", "Phi": "Φ",
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε", "eta": "η",
    "theta": "θ", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "rho": "ρ", "sigma": "σ", "tau": "τ",
    "phi": "φ", "varphi": "φ", "psi": "ψ", "omega": "ω", "pi": "π", "ell": "ℓ", "infty": "∞", "cdot": "·",
    "times": "×", "leq": "≤", "geq": "≥", "le": "≤", "ge": "≥", "neq": "≠", "to": "→", "in": "∈", "pm": "±",
    "langle": "⟨", "rangle": "⟩", "sum": "Σ", "prod": "∏", "int": "∫", "partial": "∂", "nabla": "∇", "top": "T",
    "perp": "⊥", "star": "*", "ll": "≪", "gg": "≫", "sim": "~", "approx": "≈", "mid": "|", "|": "‖", "{": "{",
    "}": "}", "quad": " ", "qquad": " ", ",": " ", ";": " ", ":": " ", "!": "", " ": " ", "mathcal{O}": "O",
    "forall": "for every ", "dots": "…", "ldots": "…", "prime": "'", "circ": "∘", "propto": "∝", "%": "%",
}  # fmt: skip
FONTS = r"\\(?:mathbf|mathrm|mathcal|mathbb|operatorname|text|mathit|bar|boldsymbol)\s*\{([^{}]*)\}"
HATS = {"hat": "\u0302", "tilde": "\u0303"}
SUPERSCRIPTS = str.maketrans("0123456789+-()Tni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ᵀⁿⁱ")
SUBSCRIPTS = str.maketrans("0123456789+-()xyijk", "₀₁₂₃₄₅₆₇₈₉₊₋₍₎ₓᵧᵢⱼₖ")
_RAISED = {chr(code) for code in SUPERSCRIPTS}
_LOWERED = {chr(code) for code in SUBSCRIPTS} - {"y"}


@lru_cache(maxsize=8192)
def plain(latex: str) -> str:
    r"""LaTeX as text with Unicode's letters, for one line; what it does not know stays as it is written.

    >>> plain(r"n N / \sigma^2"), plain(r"w^*"), plain(r"w^* = \Theta(\Lambda^{2/(d + 3)})")
    ('n N / σ²', 'w*', 'w* = Θ(Λ^(2/(d + 3)))')
    >>> plain(r"\frac{\mathbf{M}^*_{11}}{w + 1} \leq \sqrt{d}")
    'M*_11 / (w + 1) ≤ √d'
    """
    text, before = latex.replace("$", ""), ""
    while text != before:  # from the innermost braces outwards
        before = text
        text = re.sub(FONTS, r"\1", text)
        text = re.sub(r"\\(hat|tilde)\s*\{(\w)\}", lambda match: match[2] + HATS[match[1]], text)
        text = re.sub(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", lambda m: f"{_whole(m[1])} / {_whole(m[2])}", text)
        text = re.sub(r"\\sqrt\s*\{([^{}]*)\}", lambda match: f"√{_whole(match[1])}", text)
        text = re.sub(r"\^\{([^{}]*)\}", lambda match: _raised(match[1]), text)
        text = re.sub(r"_\{([^{}]*)\}", lambda match: _lowered(match[1]), text)
    text = re.sub(r"\\(?:left|right|bigl?|bigr|Bigl?|Bigr|displaystyle)(?![a-zA-Z])\s*", "", text)
    text = re.sub(r"\\([a-zA-Z]+|.)", lambda match: COMMANDS.get(match[1], f"{match[1]}"), text)
    text = re.sub(r"\^(\(\*\)|\*)", "*", text)
    text = re.sub(r"\^(\w)", lambda match: _raised(match[1]), text)
    text = text.replace("{", "").replace("}", "")
    return re.sub(r" ([,;)])", r"\1", " ".join(text.split()))


def _whole(text: str) -> str:
    """In brackets unless it is one thing."""
    return text if re.fullmatch(r"[^\s+\-/]+", text.strip()) else f"({text.strip()})"


def _raised(text: str) -> str:
    if text == "*" or text == r"\star":
        return "*"
    return text.translate(SUPERSCRIPTS) if set(text) <= _RAISED else f"^({text})" if len(text) > 1 else f"^{text}"


def _lowered(text: str) -> str:
    one = len(text) == 1 and text in _LOWERED
    return text.translate(SUBSCRIPTS) if one else f"_({text})" if " " in text else f"_{text}"
