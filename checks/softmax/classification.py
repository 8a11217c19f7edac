r"""A conjecture of the rebuttal: in classification the optimal window scales with noise and Lipschitzness as in regression."""

from __future__ import annotations

from typing import Any

import numpy as np

from lipverify.claims import Figure, Panel, Series, Source, agree, at, bound, claim, draw, needs, per_profile

LADDERS: dict[str, tuple[str, dict[str, Any], tuple[float, ...]]] = {
    "linear": ("L", {"link": "linear"}, (0.125, 0.25, 0.5)),
    "logistic": ("L", {"link": "logistic"}, (0.25, 0.5, 1.0)),
    "linear, flips": ("flip", {"link": "linear", "L": 0.5}, (0.0, 0.1, 0.2)),
    "logistic, flips": ("flip", {"link": "logistic", "L": 1.0}, (0.0, 0.1, 0.2)),
    "linear, base": ("base", {"link": "linear", "L": 0.2}, (0.2, 0.3, 0.5)),
    "waves": ("L", {"link": "cosine"}, (1.0, 2.0, 3.0, 4.0)),
    "few waves": ("L", {"link": "cosine"}, (1.25, 1.5, 2.5)),
}
"""What changes from rung to rung, what stays, and the rungs. Labels that are turned around lower L as well; a base rate
nearer to 1/2 raises the noise at a fixed L. Of the waves 64 tokens on the sphere, and 8 on the circle, resolve all but the last."""


def steps(*ladders: str) -> list[tuple[str, str]]:
    """(ladder, step) for every two neighbouring rungs."""
    return [(name, step(name, k)) for name in ladders for k in range(len(LADDERS[name][2]) - 1)]


def step(ladder: str, k: int) -> str:
    """What changes from rung k to the next.

    >>> step("linear", 0)
    'L 0.125 to 0.25'
    """
    name, _, rungs = LADDERS[ladder]
    return f"{name} {rungs[k]:g} to {rungs[k + 1]:g}"


def laws(ladder: str) -> list[Any]:
    """The class probabilities of a ladder."""
    from lipverify.problem.classification import ClassLaw

    name, fixed, rungs = LADDERS[ladder]
    return [ClassLaw(**{**fixed, name: rung}) for rung in rungs]


def exact_windows(ladder: str, d: int, n: int) -> dict[str, Any]:
    """For the Brier loss, by the exact method: see `named`."""
    from lipverify.optimum.window.ladder import exact_ladder

    return named(ladder, d, exact_ladder(laws(ladder), d, n))


SMOOTHINGS = (0.02, 0.1)
"""The eps of the cross-entropy of (1 - eps) hat p + eps / 2."""


def sampled_losses(ladder: str, d: int, n: int, contexts: int, seed: int) -> dict[str, list[list[list[float]]]]:
    """By loss and eps: for each law and batch of contexts the loss at windows from 0.1 to 410, on common draws."""
    from lipverify.optimum.window.ladder import brier, cross_entropy, losses_of_batches

    losses = {"brier 0": brier} | {f"cross-entropy {eps:g}": cross_entropy(eps) for eps in SMOOTHINGS}
    found = losses_of_batches(laws(ladder), d, n, list(losses.values()), contexts, seed)
    return dict(zip(losses, found.tolist(), strict=True))


def losses_of(ladder: str, d: int, n: int, contexts: int, seed: int) -> list[Any]:
    """What claims about a ladder need."""
    return [at(sampled_losses, ladder=ladder, d=d, n=n, contexts=contexts, seed=seed)]


@needs(found=losses_of)
def sampled_windows(
    ladder: str, d: int, n: int, loss: str, contexts: int, seed: int, found: list[Any], eps: float = 0.0
) -> dict[str, Any]:
    """For the Brier loss, or cross-entropy of (1 - eps) hat p + eps / 2, on common draws."""
    from lipverify.optimum.window.ladder import ladder_of

    return named(ladder, d, ladder_of(np.array(found[0][f"{loss} {eps:g}"])))


def named(ladder: str, d: int, found: Any) -> dict[str, Any]:
    """The change of log w* and of w* by step, w* of the middle rung; and w* against L or against E p (1 - p)."""
    against_noise = LADDERS[ladder][0] != "L"
    pairs = zip(found.windows, found.windows[1:], strict=False)
    return {
        **{step(ladder, k): change for k, change in enumerate(found.changes)},
        **{f"{step(ladder, k)}, w": (b - a, e + f) for k, ((a, e), (b, f)) in enumerate(pairs)},
        "middle": found.windows[1],
        "windows": found.windows,
        "against": r"$\mathbb{E}\, p (1 - p)$" if against_noise else "$L$",
        "x": [law.variance(d) if against_noise else law.lipschitz for law in laws(ladder)],
    }


def curves(**found: dict[str, Any]) -> Figure:
    """The optimal window along ladders."""
    against = next(iter(found.values()))["against"]
    series = tuple(
        Series(
            label=name.replace("_", " "),
            x=tuple(each["x"]),
            y=tuple(w for w, _ in each["windows"]),
            error=tuple(error for _, error in each["windows"]),
            style="errorbars",
        )
        for name, each in found.items()
    )
    panel = Panel(
        title="optimal window", xlabel=against, ylabel="$w^*$", xscale="linear", yscale="linear", series=series
    )
    return Figure(caption=f"$w^*$ against {against}.", alt=f"Optimal window against {against}.", panels=(panel,))


GLOBAL = Source(
    "R",
    "Global rebuttal, point 3, Classification",
    "The nature of the attention estimate will not change based on the loss function, so it will again be a nearest neighbors estimate "
    "in the classification setting. Thus, we expect that the optimal attention weights will again scale with the label noise level and "
    "inversely with the Lipschitzness of the labels, for an analogous notion of Lipschitzness defined for the classification setting",
)
FAMILIES = {
    "*/l": r"$p(x) = 1/2 + L \langle q, x \rangle$ and $p(x) = 1 / (1 + e^{-4 L \langle q, x \rangle})$",
    "*/noise": r"labels turned around with a chance of 0, 0.1 and 0.2; and $p(x) = b + 0.2 \langle q, x \rangle$ with $b$ = 0.2, 0.3 and 0.5",
}
MODEL = (
    r"tokens and query uniform on $S^{d-1}$, $q$ uniform on $S^{d-1}$, labels 0 or 1 with $P(y = 1 \mid x) = p(x)$",
    r"$L = \sup |p(x) - p(x')| / \|x - x'\|$; prediction $\hat p(x) = \sum_i a_i y_i$, attention scores $w \langle x_i, x \rangle$",
    "$d = 3$, $n = 64$ (in full also $d = 2$ and $5$)",
)
LOSSES = {
    "brier": r"Brier loss $\mathbb{E} (\hat p - p(x))^2$",
    "cross-entropy": r"cross-entropy of $(1 - \varepsilon) \hat p + \varepsilon / 2$, $\varepsilon = 0.02$ and $0.1$: an average of labels can be "
    "0 or 1, where it is infinite",
}
ASSUMED = {f"{loss}{tail[1:]}": (*MODEL, family, LOSSES[loss]) for loss in LOSSES for tail, family in FAMILIES.items()}
GROWS: dict[str, Any] = {"low": 0, "strict": True, "control": "3/2*log(2)"}
FALLS: dict[str, Any] = {"high": 0, "strict": True}
"""Ranges of log w* above over log w* below. The rungs of L are doubled: the control is growth like L^{3/2}."""
SMOOTHER, NOISIER = ("linear", "logistic"), ("linear, flips", "logistic, flips", "linear, base")
GRID: dict[str, Any] = {"d": per_profile((3,), (2, 3, 5)), "n": 64}
DRAWN: dict[str, Any] = {"contexts": per_profile(8192, 65_536)}
CHANGE = r"\log (w^* / w^*_{\mathrm{below}})"
LITERAL = (
    "Read literally, the rebuttal's optimal attention weights scale with the noise and inversely with the Lipschitzness; that is true of "
    "the size of the window, $1/w^*$, and reversed for $w^*$ itself."
)
GROWS_TITLE = "w* grows with the Lipschitz constant of the class probabilities"
FALLS_TITLE = "w* falls with the label noise"


def shown(function: Any, *ladders: str, **where: Any) -> Any:
    """The figure of some ladders at d = 3."""
    return draw(
        curves,
        **{name.replace(" ", "_").replace(",", ""): at(function, ladder=name, d=3, n=64, **where) for name in ladders},
    )


def agreed(*ladders: str) -> Any:
    """The window of the middle rung for the Brier loss: exactly, as regression, and from labels that are drawn."""
    return agree(
        exact_windows,
        sampled_windows,
        "w^*",
        of="middle",
        over={"d": 3, "n": 64, "ladder": ladders},
        given={"loss": "brier", **DRAWN},
    )


claim(
    "extension.classification/brier/l",
    bound(
        exact_windows, CHANGE, of="{step}", over={**GRID, ("ladder", "step"): steps(*SMOOTHER)}, method="exact", **GROWS
    ),
    source=GLOBAL,
    kind="convention",
    reading="the Brier loss",
    expected="supported",
    title=f"Brier loss: {GROWS_TITLE}",
    assumes=ASSUMED,
    agrees=agreed(*SMOOTHER),
    figures=shown(exact_windows, *SMOOTHER),
    finding="For the Brier loss the conjecture is a theorem. Given tokens and task, labels have the variance $p(x_i)(1 - p(x_i))$; its mean "
    "over tasks is the same number $v$ for every token when the law is the same in all directions, and is independent of the weights. So "
    r"$\mathbb{E}(\hat p - p(x))^2 = B(w) + v\, \mathbb{E} \sum_i a_i^2$ exactly: classification is regression on $f = p$ with $\sigma^2 = v = "
    r"\mathbb{E}\, p (1 - p)$, and every statement on windows carries over. " + LITERAL,
)
claim(
    "extension.classification/brier/noise",
    bound(
        exact_windows,
        CHANGE,
        of="{step}",
        over={**GRID, ("ladder", "step"): steps(*NOISIER)},
        method="exact",
        control=-0.38,
        **FALLS,
    ),
    source=GLOBAL,
    kind="convention",
    reading="the Brier loss",
    expected="supported",
    title=f"Brier loss: {FALLS_TITLE}",
    assumes=ASSUMED,
    agrees=agreed(*NOISIER),
    figures=shown(exact_windows, *NOISIER),
    finding=r"The noise is $v = \mathbb{E}\, p (1 - p)$. Turning labels around with a chance $\eta$ makes $p$ into $\eta + (1 - 2\eta) p$: it raises "
    r"$v$ and lowers $L$ by $1 - 2\eta$, and both widen the window. The base rate separates the two: $p = b + L \langle q, x \rangle$ has the same "
    "$L$ for every $b$ and $v = b(1 - b) - L^2/d$, and the window widens with $v$ alone.",
)
claim(
    "extension.classification/cross-entropy/l",
    bound(
        sampled_windows, CHANGE, of="{step}", method="montecarlo", given={"loss": "cross-entropy", **DRAWN},
        over={**GRID, "eps": SMOOTHINGS, ("ladder", "step"): steps(*SMOOTHER)}, **GROWS,
    ),
    source=GLOBAL,
    kind="convention",
    reading="the cross-entropy",
    expected="supported",
    title=f"cross-entropy: {GROWS_TITLE}",
    assumes=ASSUMED,
    figures=shown(sampled_windows, *SMOOTHER, loss="cross-entropy", eps=0.1, **DRAWN),
    finding="Both smoothings agree on the direction. Near $\\hat p = p$ cross-entropy is the Brier loss over $2 p(1 - p)$ plus a constant, which "
    "leaves the balance of bias and noise nearly as it is while $p$ keeps away from 0 and 1; beyond that, smoothing pulls predictions to $1/2$, "
    "and more of it makes the optimal window narrower. " + LITERAL,
)  # fmt: skip
claim(
    "extension.classification/cross-entropy/noise",
    bound(
        sampled_windows, CHANGE, of="{step}", method="montecarlo", given={"loss": "cross-entropy", **DRAWN},
        over={**GRID, "eps": SMOOTHINGS, ("ladder", "step"): steps(*NOISIER)}, control=-0.53, **FALLS,
    ),
    source=GLOBAL,
    kind="convention",
    reading="the cross-entropy",
    expected="supported",
    title=f"cross-entropy: {FALLS_TITLE}",
    assumes=ASSUMED,
    figures=shown(sampled_windows, *NOISIER, loss="cross-entropy", eps=0.1, **DRAWN),
    finding="Both smoothings agree on the direction, for labels that are turned around and for a base rate nearer to $1/2$ at a fixed $L$.",
)  # fmt: skip
claim(
    "extension.classification/brier/l/every-l",
    bound(
        exact_windows, "w^*_{L'} - w^*_L", of="{step}, w", low=0, strict=True, control=10, instead={"high": 0, "strict": True},
        over={("d", "n", "ladder", "step"): [(3, 64, "waves", "L 3 to 4"), (2, 8, "few waves", "L 1.5 to 2.5")]}, method="exact",
    ),
    source=GLOBAL,
    kind="stronger",
    expected="refuted",
    title="Brier loss: w* grows with L at fixed n, without a bound on L",
    statement=r"L < L' \implies w^*_L < w^*_{L'} \quad \text{for all } L, L' \text{ and every } n",
    assumes=(
        *MODEL[:2],
        r"$p(x) = (1 + \cos(2 L \langle q, x \rangle)) / 2$: Lipschitz constant $L$",
        LOSSES["brier"],
        "$d = 3$, $n = 64$, from $L = 3$ to 4; $d = 2$, $n = 8$, from $L = 1.5$ to 2.5",
    ),
    figures=draw(curves, d_3_n_64=at(exact_windows, ladder="waves", d=3, n=64), d_2_n_8=at(exact_windows, ladder="few waves", d=2, n=8)),
    finding="The direction needs contexts that resolve the probabilities, as the theorem for regression needs $n$ large. Once $p$ oscillates on a "
    "scale finer than the distance to the nearest tokens, no window predicts it, averaging many labels is best, and $w^*$ turns back towards 0 "
    "as $L$ grows further.",
    corrected=r"$w^*$ grows with $L$ once $n$ is large enough for the probabilities to be resolved, $n \geq n_0(L, d)$; where $L$ enters as an "
    "amplitude (linear probabilities) it grows at every $n$",
)  # fmt: skip
