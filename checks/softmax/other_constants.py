r"""Attention tuned to classes with other Lipschitz constants, tested on the cosine class with L = 1."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import lipverify as lv
from lipverify.checks.softmax.quantities import Value, problem

CLASSES = {
    "affine": ("affine", 1.0),
    "cosine-smooth": ("cosine", 0.1),
    "cosine-rough": ("cosine", 10.0),
    "cosine": ("cosine", 1.0),
}
"""The training classes; the last is the tested class."""


def table(d: int, n: float, sigma: float = 1.0) -> dict[str, Value]:
    """The optimal w of each class, its loss on the cosine class with L = 1, and that loss divided by the minimal one."""
    from lipverify.optimum import transfers

    return transfers({name: problem(law, d, n, L, sigma) for name, (law, L) in CLASSES.items()}, tested=["cosine"])


def sampled(d: int, n: float, contexts: int, seed: int, backend: str) -> dict[str, Value]:
    """The losses at the classes' optimal w on sampled contexts of the cosine class."""
    w = {trained: lv.optimal_window(problem(law, d, n, L)).w for trained, (law, L) in CLASSES.items()}
    drawn: dict[str, Any] = {"contexts": contexts, "seed": seed, "backend": backend, "stream": f"transfer/{d}/{n:g}"}
    terms = lv.loss_terms(problem("cosine", d, n), list(w.values()), "montecarlo", **drawn)
    losses = zip(w, terms.total, terms.total_error, strict=True)
    return {f"loss of {trained} on cosine": (float(loss), float(error)) for trained, loss, error in losses}


def matched(d: int, n: float) -> Value:
    """The loss on the cosine class at the w of the affine class with the same E (Delta f)^2, divided by that at L = 1."""
    from lipverify.optimum import quotient, transferred_loss

    L = math.sqrt(roughness("cosine", 1.0, d) / roughness("affine", 1.0, d))
    tuned = [lv.optimal_window(problem("affine", d, n, each)) for each in (L, 1.0)]
    return quotient(*(transferred_loss(each, problem("cosine", d, n)) for each in tuned))


def roughness(law: str, L: float, d: int) -> float:
    """E (Delta f)^2 on the sphere, for f = g(<q, x>): Delta f = (1 - z^2) g'' - (d - 1) z g'. The bias is this / (4 w^2)."""
    nodes, weights = np.polynomial.legendre.leggauss(64)
    angle = np.pi * (nodes + 1) / 2
    z, density = np.cos(angle), weights * np.sin(angle) ** (d - 2)
    if law == "affine":
        square = L**2 / 3 * ((d - 1) * z) ** 2
    else:
        square = ((d - 1) * z * L * np.sin(L * z) - (1 - z**2) * L**2 * np.cos(L * z)) ** 2
    return float(density @ square / density.sum())


def price(trained: str, d: int) -> float:
    """The derived factor."""
    a, rho2 = (d - 1) / 2, roughness("cosine", 1.0, d) / roughness(*CLASSES[trained], d)
    return float((a * rho2 + 2) / ((a + 2) * rho2 ** (a / (a + 2))))


def cheaper(trained: str, d: int) -> float:
    """A number that is a tenth closer to 1."""
    return 1 + 0.9 * (price(trained, d) - 1)


def tolerance(trained: str, d: int) -> float:
    """A ten-thousandth of it."""
    return 1e-4 * price(trained, d)


def gain(d: int) -> float:
    """The derived ratio."""
    return 1 / price("affine", d)


def nearly(d: int) -> float:
    """0.9999 times the derived ratio."""
    return 0.9999 * gain(d)
