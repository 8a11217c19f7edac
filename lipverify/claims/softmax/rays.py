r"""Measurements along the rays that asymptotic claims speak of; every law has L = sigma = 1 here.

Nothing is lost by that: w* depends on L / sigma only, bias is homogeneous in L^2 and noise in sigma^2.
"""

from __future__ import annotations

import msgspec
import numpy as np

from lipverify.loss import loss_terms
from lipverify.optimum import optimal_window
from lipverify.optimum.window.empirical import EmpiricalWindow, empirical_window
from lipverify.problem import Problem
from lipverify.problem.laws import law_named
from lipverify.scaling import Growth, growth_of

LADDER = (1e4, 1e30)
SATURATED_LADDER = (1e2, 1e8)
WINDOW_LADDER = (30.0, 1e15)
SAMPLED_WINDOWS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)


class WindowGrowth(msgspec.Struct, frozen=True, kw_only=True):
    """Growth of the optimal window and of the optimal loss with n."""

    window: Growth
    loss: Growth


class TermsGrowth(msgspec.Struct, frozen=True, kw_only=True):
    """Growth of both terms along a ray in (w, n); the noise is in units of sigma^2 / n where it says so."""

    noise: Growth
    bias: Growth


class LossCurve(msgspec.Struct, frozen=True, kw_only=True):
    """Both terms against w, exactly and by Monte Carlo, for a figure and a cross-check."""

    w: tuple[float, ...]
    noise: tuple[float, ...]
    bias: tuple[float, ...]
    sampled_w: tuple[float, ...]
    exact_noise: tuple[float, ...]
    exact_bias: tuple[float, ...]
    sampled_noise: tuple[float, ...]
    sampled_bias: tuple[float, ...]
    noise_error: tuple[float, ...]
    bias_error: tuple[float, ...]


def problem(law: str, d: int, n: float, L: float = 1.0, sigma: float = 1.0) -> Problem:
    """A problem from plain values, so that a task's address can hold them."""
    return Problem(d=d, n=n, law=law_named(law, L=L), sigma=sigma)


def window_growth(law: str, d: int, points: int) -> WindowGrowth:
    """w*(n) and the loss at w*(n) for n from 1e4 to 1e30."""
    ladder = [float(round(n)) for n in np.geomspace(*LADDER, points)]
    optima = [optimal_window(problem(law, d, n)) for n in ladder]
    return WindowGrowth(
        window=growth_of(ladder, [o.w for o in optima], [o.w_error / o.w for o in optima]),
        loss=growth_of(ladder, [o.loss for o in optima], [o.loss_error / o.loss for o in optima]),
    )


def relevant_growth(law: str, d: int, points: int) -> TermsGrowth:
    """N N / sigma^2 and B as w -> infinity with n = w^{d/2 + 1}: many tokens in every window."""
    stop = min(WINDOW_LADDER[1], LADDER[1] ** (1 / (d / 2 + 1)))
    w = np.geomspace(WINDOW_LADDER[0], stop, points)
    return _terms_growth(law, d, w, np.minimum(w ** (d / 2 + 1), LADDER[1]), noise_unit=1.0)


def saturated_growth(law: str, d: int, points: int) -> TermsGrowth:
    """N and B as n -> infinity with w = n^{3/(d-1)}: the nearest token takes all the attention."""
    n = np.geomspace(*SATURATED_LADDER, points)
    return _terms_growth(law, d, n ** (3 / (d - 1)), n, noise_unit=0.0, along=n)


def _terms_growth(
    law: str,
    d: int,
    w: np.ndarray,
    n: np.ndarray,
    noise_unit: float,
    along: np.ndarray | None = None,
) -> TermsGrowth:
    """Both terms on a ladder of (w, n); noise in units of sigma^2 n^{-noise_unit}."""
    lengths = [float(round(length)) for length in n]
    terms = [loss_terms(problem(law, d, m), window) for m, window in zip(lengths, w, strict=True)]
    s = lengths if along is not None else list(w)
    noise = [float(t.noise) * m**noise_unit for t, m in zip(terms, lengths, strict=True)]
    return TermsGrowth(
        noise=growth_of(s, noise, [float(t.noise_error / t.noise) for t in terms]),
        bias=growth_of(s, [float(t.bias) for t in terms], [float(t.bias_error / t.bias) for t in terms]),
    )


def loss_curve(law: str, d: int, n: int, contexts: int, seed: int, backend: str = "numpy") -> LossCurve:
    """Both terms on a fine grid of w exactly, on a coarse one by Monte Carlo as well."""
    p = problem(law, d, n)
    fine, coarse = np.geomspace(0.1, 300.0, 25), np.array(SAMPLED_WINDOWS)
    exact, at = loss_terms(p, fine), loss_terms(p, coarse)
    # in full: the exact method begins with the same reduction that would make this cheaper
    address = f"curve/{law}/{d}/{n}"
    in_full = {"sampling": "full", "contexts": contexts, "seed": seed, "cell": address, "backend": backend}
    sampled = loss_terms(p, coarse, "montecarlo", **in_full)
    columns = {
        "w": fine,
        "noise": exact.noise,
        "bias": exact.bias,
        "sampled_w": coarse,
        "exact_noise": at.noise,
        "exact_bias": at.bias,
        "sampled_noise": sampled.noise,
        "sampled_bias": sampled.bias,
        "noise_error": sampled.noise_error,
        "bias_error": sampled.bias_error,
    }
    return LossCurve(**{name: tuple(map(float, column)) for name, column in columns.items()})


def exact_window(law: str, d: int, n: int) -> tuple[float, float]:
    """(w*, error) by the exact method."""
    optimum = optimal_window(problem(law, d, n))
    return optimum.w, optimum.w_error


def sampled_window(law: str, d: int, n: int, contexts: int, seed: int) -> tuple[float, float]:
    """(w*, half-width of its 95 % interval) found on sampled contexts alone."""
    found: EmpiricalWindow = empirical_window(
        problem(law, d, n), contexts=contexts, seed=seed, cell=f"window/{law}/{d}/{n}"
    )
    return found.w, found.w_error
