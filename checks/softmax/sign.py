r"""The sign of w: the loss at -w I and at w I, for laws with a linear odd part and for others."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import lipverify as lv
from lipverify.checks.softmax.quantities import Value, noise_and_bias, problem, softmax

BATCHES = 16
"""Number of batches of contexts; the spread of their means gives the error."""


def excess(law: str, d: int, n: int) -> dict[str, Value]:
    """L(-w* I) - L(w* I), and L(-w* I) / L(w* I), by the exact method."""
    from lipverify.loss import negative_excess
    from lipverify.optimum import at_optima

    here = problem(law, d, n)
    best = lv.optimal_window(here)
    ((value, error),) = at_optima([best], lambda w: negative_excess(here, w))
    return {"excess": (value, error), "ratio": (1 + value / best.loss, (error + best.loss_error) / best.loss)}


def sampled_excess(law: str, d: int, n: int, contexts: int, seed: int) -> dict[str, Value]:
    """The loss at -w* I on sampled contexts divided by the exact loss at w* I."""
    here, stream = problem(law, d, n), f"negative/{law}/{d}/{n}"
    best = lv.optimal_window(here)
    drawn: dict[str, Any] = {"contexts": contexts, "seed": seed, "stream": stream, "sampling": "full"}
    terms = lv.loss_terms(here, best.w, "montecarlo", M=-np.eye(d), **drawn)
    return {"ratio": (float(terms.total) / best.loss, float(terms.total_error) / best.loss)}


def harmonics(d: int, n: int, degree: int, kappa: float) -> lv.Problem:
    """A problem without noise and with the covariance P_2 + kappa P_degree."""
    spectrum = [0.0] * (degree + 1)
    spectrum[2], spectrum[degree] = 1.0, kappa
    return lv.Problem(d=d, n=n, law=lv.laws.Zonal(spectrum=tuple(spectrum)), sigma=0.0)


def advantage(d: int, n: int, degree: int, kappa: float, w: float) -> Value:
    """The minimal loss over w from 1/2 to 32 minus the loss at -w, by the exact method."""
    from lipverify.loss import negative_excess

    tasks, coarse = harmonics(d, n, degree, kappa), np.geomspace(0.5, 32.0, 9)
    total = lv.loss_terms(tasks, coarse).total
    lowest = int(np.argmin(total[1:-1])) + 1
    a, b, _ = np.polyfit([-1, 0, 1], total[lowest - 1 : lowest + 2], 2)
    fine = lv.loss_terms(tasks, coarse[lowest] * (coarse[1] / coarse[0]) ** (-b / (2 * a)) * 1.05 ** np.arange(-3, 4))
    here, (gap, gap_error) = lv.loss_terms(tasks, w), negative_excess(tasks, [w])
    # between the points of the fine grid the loss is lower by at most its curvature times half a step squared
    inside = 0 < np.argmin(fine.total) < fine.total.size - 1
    between = float(np.max(np.abs(np.diff(fine.total, 2)))) / 8 if inside else math.inf
    error = float(np.max(fine.total_error) + here.total_error + gap_error[0]) + between
    return float(np.min(fine.total) - here.total - gap[0]), error


def odd_gap(d: int, n: int, degree: int, kappa: float, w: float) -> Value:
    """L(-w I) - L(w I), by the exact method."""
    from lipverify.loss import negative_excess

    value, error = negative_excess(harmonics(d, n, degree, kappa), [w])
    return float(value[0]), float(error[0])


def averaged_gap(d: int, n: int, degree: int, kappa: float, w: float, contexts: int, seed: int) -> Value:
    """L(-w I) - L(w I) for d = 3 on sampled tokens, averaged over f in closed form: 4 kappa sum_i a_i P_degree(t_i)."""
    from scipy.special import eval_legendre

    from lipverify.sampling import mean_interval, normals

    gaps = []
    for batch in range(BATCHES):
        points = normals(seed, f"odd/{degree}/{n}", batch, (contexts // BATCHES, n, d))
        t = points[:, :, 0] / np.linalg.norm(points, axis=2)
        gaps.append(4 * kappa * np.mean(np.sum(softmax(w * t) * eval_legendre(degree, t), axis=1)))
    return mean_interval(np.array(gaps))


def sampled_gap(d: int, n: int, degree: int, kappa: float, w: float, contexts: int, seed: int) -> Value:
    """L(-w I) - L(w I) on contexts in R^3, with f = sqrt(5) P_2(<q, x>) + sqrt(kappa (2 degree + 1)) P_degree(<q, x>)."""
    from scipy.special import eval_legendre

    from lipverify.sampling import draw_contexts, mean_interval

    def link(z: np.ndarray) -> np.ndarray:  # on S^2, E_q P_l P_l = P_l / (2l + 1)
        return np.asarray(
            np.sqrt(5) * eval_legendre(2, z) + np.sqrt(kappa * (2 * degree + 1)) * eval_legendre(degree, z)
        )

    tasks, gaps = lv.Problem(d=d, n=n, law=lv.Ridge(link), sigma=0.0), []
    for batch in range(BATCHES):
        drawn = draw_contexts(tasks, contexts // BATCHES, seed, f"sign/{degree}/{kappa}/{n}", batch)
        (_, plus), (_, minus) = (noise_and_bias(drawn, sign * w * np.eye(d)) for sign in (1, -1))
        gaps.append(np.mean(minus - plus))
    return mean_interval(np.array(gaps))
