r"""Lemma 4.4: a diagonal layer is a step of gradient descent with momentum, in each reading of its coefficients."""

from __future__ import annotations

from typing import Any

from checks._running import run_file
from checks.linear_transformers._identities import about, exact_cell, left_over, number_cell, paper, symbolic_cell
from lipverify.claims.claim import CellPlan, Claim, Task
from lipverify.claims.linear_transformers.steps import (
    READINGS,
    Kappa,
    exact_kappa,
    momentum_exact,
    momentum_symbols,
    smallest_momentum,
    true_weights_exact,
    true_weights_symbols,
)
from lipverify.claims.registry import Profile
from lipverify.claims.verdict import Verdict

LEMMA = paper(
    "Lemma 4.4 and its proof in the appendix",
    r"$u' = (I - \Lambda) u + \Gamma \Sigma (a w^* - w)$, $w' = (1 + s) w - \Pi \Sigma (a w^* - w) - \Phi u$, with "
    r"$\Lambda = -\omega_{xy} a^2 \rho I - \omega_{xx} \Sigma$, $\Gamma = a \omega_{xy} (M + a u w^{*\top})$, $s = \omega_{yy} \lambda$, "
    r"$\Pi = \omega_{yx} M^\top (M + a u w^{*\top})$, $\Phi = a \rho \omega_{yx} M^\top$, $\rho = \sum_i r_i^2$",
)
UPDATE = r"u' = (I - \Lambda) u + \Gamma \Sigma (a w^* - w), \quad w' = (1 + s) w - \Pi \Sigma (a w^* - w) - \Phi u"
TERMS = {
    "derived": r"\Lambda = -\omega_{xy} a^2 \rho I - \omega_{xx} \Sigma^l, \quad \Gamma = a \omega_{xy} (M + u w^{*\top}), \quad \Pi = \omega_{yx} M^\top (M + u w^{*\top})",
    "kappa": r"\Lambda = -\omega_{xy} a^2 \rho I - \omega_{xx} \Sigma^l, \quad \Gamma = a \omega_{xy} (M + a u w^{*\top}), \quad \Pi = \omega_{yx} M^\top (M + a u w^{*\top})",
    "moments": r"\Lambda = -\omega_{xy} a^2 \rho I - \omega_{xx} \Sigma, \quad \Gamma = a \omega_{xy} (M + u w^{*\top}), \quad \Pi = \omega_{yx} M^\top (M + u w^{*\top})",
    "both": r"\Lambda = -\omega_{xy} a^2 \rho I - \omega_{xx} \Sigma, \quad \Gamma = a \omega_{xy} (M + a u w^{*\top}), \quad \Pi = \omega_{yx} M^\top (M + a u w^{*\top})",
}
IDS = {
    "derived": "derived",
    "kappa": "printed",
    "moments": "derived/original-moments",
    "both": "printed/original-moments",
}
TITLES = {
    "derived": "Momentum with kappa = 1 and the moments of the current layer in Lambda",
    "kappa": "Momentum with kappa = a, as printed in the appendix",
    "moments": "Momentum with kappa = 1 and the first moments in Lambda",
    "both": "Momentum with kappa = a and the first moments in Lambda",
}
FIT = r"$w^*$ is a least-squares solution for the context, $r_i = y_i - \langle w^*, x_i \rangle$, so that $\sum_i r_i x_i = 0$; $\rho = \sum_i r_i^2$"
STATES = (
    "one layer with four free weights, at any state $(M, u, a, w)$",
    r"$\Sigma = \sum_i x_i x_i^\top$ over the tokens as they began; $\Sigma^l$ and $\lambda = \sum_i (y_i^l)^2$ over the tokens as the layer sees them",
)
CORRECTED = (
    r"$\Gamma = a \omega_{xy} (M + u w^{*\top})$, $\Pi = \omega_{yx} M^\top (M + u w^{*\top})$, $\Lambda = -\omega_{xy} a^2 \rho I - \omega_{xx} \Sigma^l$, with "
    r"$\Sigma^l = (M + u w^{*\top}) \Sigma (M + u w^{*\top})^\top + \rho u u^\top$ the moments of the current covariates; $s$ and $\Phi$ are as printed, with $\lambda$ of "
    r"the current labels, and the $\Sigma$ beside $\Gamma$ and $\Pi$ is that of the first tokens"
)
DEFECTS = {
    "derived": "",
    "kappa": (
        r"With $\kappa = a$ the right-hand sides miss by $(a - 1) \langle w^*, \Sigma (a w^* - w) \rangle$ times $a \omega_{xy} u$ in $u'$ and times $-\omega_{yx} M^\top u$ in "
        r"$w'$: nothing while $u = 0$ or $a = 1$, so not in the first layer, and in general from the second on. Where it comes from: in $x_i^l = M x_i + u y_i$ the label "
        r"enters as it was, $y_i = \langle w^*, x_i \rangle + r_i$, without the factor $a$ that belongs to $y_i^l = a y_i - \langle w, x_i \rangle$; so $x_i^l = (M + u w^{*\top}) x_i + r_i u$."
    ),
    "moments": (
        r"With $\Sigma$ of the first tokens in $\Lambda$ the right-hand side of $u'$ misses by $\omega_{xx} (\Sigma^l - \Sigma) u$: a layer multiplies by the moments that it "
        r"sees, $A = \omega_{xx} \Sigma^l$. It vanishes while the covariates have not moved, or $u = 0$, or $\omega_{xx} = 0$."
    ),
}
DEFECTS["both"] = (
    r"Both slips together: $(a - 1) \langle w^*, \Sigma (a w^* - w) \rangle$ times $a \omega_{xy} u$ and times $-\omega_{yx} M^\top u$ for $\kappa = a$, and $\omega_{xx} (\Sigma^l - \Sigma) u$ for the "
    r"moments in $\Lambda$."
)
NAMED = r"In the terms listed as left over, $\Sigma = S + S^\top$ and $w^* = v$"
SIZES = ((1, 2), (2, 4), (3, 8), (4, 10))


def claims(profile: Profile) -> tuple[Claim, ...]:
    """Four readings of the coefficients, and the one in which w* is the task's own vector."""
    return (*(_lemma(profile, reading) for reading in ("kappa", "both", "derived", "moments")), _true_weights(profile))


def _lemma(profile: Profile, reading: str) -> Claim:
    verdict: Verdict = "supported" if reading == "derived" else "refuted"
    symbols = [symbolic_cell({"d": d}, Task(momentum_symbols, (reading, d))) for d in _dimensions(profile)]
    integers = [exact_cell({"d": d, "n": n}, Task(momentum_exact, (reading, d, n, profile.seed))) for d, n in SIZES]
    smallest = Task(smallest_momentum, (reading,))
    return Claim(
        id=f"lt.momentum/{IDS[reading]}",
        title=TITLES[reading],
        statement=f"{UPDATE}, \\quad {TERMS[reading]}",
        source=LEMMA,
        assumptions=(*STATES, FIT),
        claimed=f"exact with κ = {'a' if READINGS[reading].kappa == 'a' else '1'}",
        control="another reading: "
        + "; ".join(TITLES[other] for other in READINGS if other not in (reading, "derived")),
        expected=verdict,
        cells=(*symbols, *integers, *_smallest_cells(smallest, reading), *_kappa_cells(profile, reading)),
        summary=lambda results: _summary(results, reading),
        finding=lambda results: _finding(reading, results[smallest.address]),
        corrected=CORRECTED if verdict == "refuted" else "",
    )


def _summary(results: dict[str, Any], reading: str) -> str:
    """Terms left over, and the kappa that tokens ask for."""
    kappas = sorted({found.kappa for found in results.values() if isinstance(found, Kappa)})
    asked = f"; κ = {', '.join(f'{kappa:g}' for kappa in kappas)} where a = 1.5" if kappas else ""
    return f"{left_over(results)}{asked}"


def _dimensions(profile: Profile) -> tuple[int, ...]:
    return (1, 2) if profile.name == "quick" else (1, 2, 3)


def _smallest_cells(task: Task, reading: str) -> list[CellPlan]:
    """(u', w') of the smallest case: by tokens, less what the lemma says; the twin is off by another 1."""

    def cell(name: str, place: int) -> CellPlan:
        return number_cell(
            {"d": 1, "n": 1, "layers": 2},
            task,
            f"{name}' token by token less that of the lemma",
            lambda found: (found.tokens[place] - found.lemma[place], 0.0),
            ("= 0", about(0.0)),
            about(1.0),
        )

    return [cell(name, place) for place, name in enumerate("uw") if reading != "moments" or name == "u"]


def _kappa_cells(profile: Profile, reading: str) -> list[CellPlan]:
    """The kappa that the tokens ask for, at states with a = 3/2."""
    if reading not in ("derived", "kappa"):
        return []
    claimed, twin = (1.5, 1.25) if reading == "kappa" else (1.0, 1.5)
    return [
        number_cell(
            {"d": d, "n": n, "a": 1.5},
            Task(exact_kappa, (d, n, profile.seed)),
            "κ that makes w' exact",
            lambda found: (found.kappa, 0.0),
            (f"= {'a' if reading == 'kappa' else '1'}", about(claimed)),
            about(twin),
            method="symbolic",
        )
        for d, n in SIZES
    ]


def _finding(reading: str, smallest: Any) -> str:
    common = (
        r"As $\sum_i r_i x_i = 0$, $\alpha^l = \sum_i y_i^l x_i^l = (M + u w^{*\top}) \Sigma (a w^* - w) + a \rho u$; put it into $u' = (I + \omega_{xx} \Sigma^l) u + a \omega_{xy} \alpha^l$ and "
        r"$w' = (1 + \omega_{yy} \lambda) w - \omega_{yx} M^\top \alpha^l$."
    )
    if reading == "derived":
        return (
            f"{common} Everything else of the lemma stands: the signs, $\\rho$ of the first tokens, $a^2$ in $\\Lambda$. In free symbols no term is left over, "
            "for general $\\Sigma$, $w^*$, $\\rho$ and state. The $\\kappa$ that drawn tokens ask for is 1 to the last digit, in fractions, where $a = 3/2$."
        )
    (u, w), (u_, w_) = smallest.lemma, smallest.tokens
    return (
        f"{DEFECTS[reading]} {common} Smallest case: one token $x = y = 1$; a first layer with $\\omega_{{xy}} = \\omega_{{yy}} = 1$ gives $M = 1$, $u = 1$, $a = 2$, $w = 0$; "
        f"a second with $\\omega_{{xx}} = \\omega_{{xy}} = \\omega_{{yx}} = 1$ gives, token by token, $u' = {u_:g}$ and $w' = {w_:g}$; this reading says ${u:g}$ and ${w:g}$. {NAMED}."
    )


def _true_weights(profile: Profile) -> Claim:
    return Claim(
        id="lt.momentum/derived/true-weights",
        title="Momentum with the task's own weights for w*",
        statement=f"{UPDATE}, \\quad {TERMS['derived']}",
        source=LEMMA,
        assumptions=(
            *STATES,
            r"$w^*$ is the vector that the labels were made of, $y_i = \langle w^*, x_i \rangle + r_i$ with $r_i$ the label noise",
        ),
        claimed="exact for the true w*",
        control="the same in another reading of the coefficients",
        expected="refuted",
        summary=left_over,
        cells=(
            *(symbolic_cell({"d": d}, Task(true_weights_symbols, (d,))) for d in _dimensions(profile)),
            *(exact_cell({"d": d, "n": n}, Task(true_weights_exact, (d, n, profile.seed))) for d, n in SIZES),
        ),
        finding=(
            r"The noise is not orthogonal to the covariates: $\sum_i r_i x_i = g$ is not 0, and $\alpha^l$ has the further terms $a (M + u w^{*\top}) g$ and $\langle a w^* - w, g \rangle u$. "
            r"The lemma is about descent towards the least-squares solution of the context, which is what the layers can see. "
            + NAMED
            + "."
        ),
        corrected=r"$w^*$ is a least-squares solution, $\Sigma w^* = \sum_i y_i x_i$, and $r_i$ are its residuals; for the true weights the identity needs $\sum_i r_i x_i = 0$",
    )


if __name__ == "__main__":
    run_file(__file__)
