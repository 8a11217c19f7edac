r"""The radius of the ball up to which the best matrix is c BB^T, at every n and in the limit, and the gain by c' beyond it."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

import lipverify as lv
from lipverify.checks.softmax.lowrank_blocks import problem
from lipverify.checks.softmax.quantities import Floats, Value, noise_and_bias
from lipverify.claims import makes

LOCATED = 1e-6
"""The accuracy of the radius and of its limit, in units of d."""
BATCH = 8192
"""Contexts in one batch of a comparison on common draws."""


def gained(
    covariates: str, d: int, k: int, n: float, sigma: float, C: float, contexts: int, seed: int
) -> dict[str, Value]:
    """The reduction of the loss by the c' of the exact method, both matrices on the same contexts."""
    from lipverify.optimum import optimal_block

    here = problem(covariates, d, k, n, sigma)
    optimum, P = optimal_block(here, C), np.diag([1.0] * k + [0.0] * (d - k))
    both = optimum.aligned_c * P, optimum.c * P + optimum.c_perp * (np.eye(d) - P)
    stream = f"gain/{covariates}, d={d}, k={k}, n={n:g}, sigma={sigma:g}, C={C:g}"
    return {"gain": gain_on_common_draws(here, *both, contexts=contexts, seed=seed, stream=stream)}


@makes("sampled", "montecarlo")
def gain_on_common_draws(
    problem: lv.Problem, first: Floats, second: Floats, *, contexts: int, seed: int, stream: str
) -> Value:
    """The loss of one M minus that of another on the same contexts, and the half-width of its 95 % interval."""
    from lipverify.sampling import draw_contexts, mean_interval

    gains = []
    for batch in range(max(2, contexts // BATCH)):
        drawn = draw_contexts(problem, BATCH, seed, stream, batch)
        (noise, bias), (noise_too, bias_too) = (noise_and_bias(drawn, M) for M in (first, second))
        gains.append(float(np.mean(bias - bias_too + problem.sigma**2 * (noise - noise_too))))
    return mean_interval(np.array(gains))


def proved_gain(n: int, C: float, c: float, c_perp: float) -> Any:
    """The minimal loss over c BB^T in the ball of radius C minus that of one M, by balls; d = 2, k = 1, sphere, sigma = 0."""
    from lipverify.claims import proved
    from lipverify.proofs import prove_not_aligned

    given = {"n": n, "sigma": 0.0, "S": (1.0, 0.0), "M": (c, c_perp), "stop": C}
    name = "lowrank-radius" if C > 1 else "lowrank-tiny-ball"
    proof = proved(name, "not aligned", given, lambda: prove_not_aligned(n, 0.0, (c, c_perp), C))
    return proof.fact("gain")


def proved_best(d: int, k: int, n: int, sigma: float, C: float) -> dict[str, Any]:
    """c* / C and |M* - c* BB^T| for the best M in the ball of radius C on the sphere, proved: 1 and 0."""
    from lipverify.claims import proved
    from lipverify.proofs import prove_aligned

    name = f"lowrank-best-{d}-{k}-{n}{'-noise' if sigma else ''}"
    given = {"d": d, "k": k, "n": n, "sigma": float(sigma), "C": float(C)}
    proof = proved(name, "aligned", given, lambda: prove_aligned(d, k, n, sigma, C))
    return dict(proof.facts)


def proved_best_block(d: int, sigma: float, C: float) -> dict[str, Any]:
    """The same of the M that do not mix, for every k < d and n >= 2, and up to these sigma and C."""
    from lipverify.claims import proved
    from lipverify.proofs import prove_aligned_blocks

    name, given = f"lowrank-blocks-{d}{'-noise' if sigma else ''}", {"d": d, "sigma": float(sigma), "C": float(C)}
    proof = proved(name, "aligned blocks", given, lambda: prove_aligned_blocks(d, sigma, C))
    return dict(proof.facts)


def radius(covariates: str, d: int, k: int, n: float, sigma: float, most: float = 4.0) -> Value:
    """The largest C / d up to `most` such that c' = 0 is best in every ball from C = most d / 12 to C."""
    from lipverify.optimum import critical_radius

    critical = critical_radius(problem(covariates, d, k, n, sigma), most * d)
    high = critical.high if critical.finite else critical.low
    return (critical.low + high) / 2 / d, (high - critical.low) / 2 / d


def limit(d: int, k: int, **before: Any) -> Value:
    """The limit of the radius as n -> infinity on the sphere, for every sigma, from Bessel functions."""
    value, error = limit_radius(d, k)
    return value / d, error / d


def limit_value(d: int, k: int) -> float:
    r"""The limit $C_\infty / d$ in LaTeX."""
    return limit(d, k)[0]


@makes("bounded", "exact")
def limit_radius(d: int, k: int) -> Value:
    r"""(C_infinity, its error): the critical radius on the sphere as n -> infinity, at any sigma.

    There B = E s (1 - c h(omega))^2 / k with h(omega) = A(omega) / omega, A = I_{d/2} / I_{d/2-1} and omega^2 = c^2 s +
    c'^2 (1 - s), s = |B^T x|^2, and the derivative of B in c'^2 at c' = 0 has the sign of

        E s^{1/2} (1 - s) (1 - c h(c s^{1/2})) (-h'(c s^{1/2})),

    whose zero in c is C_infinity. h' = (1 - d h - A^2) / omega, from Bessel's equation for A.
    """
    from scipy.integrate import quad
    from scipy.optimize import brentq

    def slope(c: float) -> float:
        # s = sin^2 theta has the density sin^{k-1} cos^{d-k-1} in theta, up to a factor
        return float(quad(lambda theta: _slope_density(d, k, c, theta), 0, math.pi / 2, epsabs=1e-11, epsrel=1e-10)[0])

    return float(brentq(slope, d / 2, 4 * d, xtol=LOCATED * d)), 2 * LOCATED * d


@makes("bounded", "exact")
def mixed_gain(d: int, scale: float) -> Value:
    r"""(g^2 times the gain by an entry of M that mixes the two spaces, its error), on the sphere as n -> infinity; g = scale d.

    Of M = eps (b b'^T + b' b^T) - g b' b'^T, unit vectors b in col(B) and b' in its complement, k times the loss as n ->
    infinity is E |z - h(omega) p|^2 with z = B^T x, p = eps v b, v = <b', x>, omega^2 = eps^2 v^2 + (eps <b, x> - g v)^2. It
    falls from M = 0 by eps^2 times

        2 E <b, x>^2 |v| (-h'(g |v|)) - E v^2 h(g |v|)^2

    to leading order. Given v, <b, x>^2 has the mean (1 - v^2) / (d - 1).
    """
    from scipy.integrate import quad

    g = scale * d

    def gain(theta: float) -> float:
        v = math.cos(theta)
        h, falling = _kernel_mean(d, g * v)
        return math.sin(theta) ** d / (d - 1) * 2 * v * falling - math.sin(theta) ** (d - 2) * (v * h) ** 2

    # most of it lies at v = O(1 / g), next to theta = pi / 2
    ends = [0.0, *(math.pi / 2 - angle for angle in (0.5, 0.05, 0.005)), math.pi / 2]
    parts = [quad(gain, a, b, epsabs=1e-12, epsrel=1e-10, limit=200) for a, b in pairwise(ends)]
    whole = quad(lambda theta: math.sin(theta) ** (d - 2), 0, math.pi / 2, epsabs=1e-12, epsrel=1e-10)[0]
    value, error = (g**2 * sum(column) / whole for column in zip(*parts, strict=True))
    return value, error


def _slope_density(d: int, k: int, c: float, theta: float) -> float:
    sine, cosine = math.sin(theta), math.cos(theta)
    h, falling = _kernel_mean(d, c * sine)
    return sine**k * cosine ** (d - k + 1) * (1 - c * h) * falling


def _kernel_mean(d: int, omega: float) -> tuple[float, float]:
    """h = A / omega and -h', A = I_{d/2} / I_{d/2-1}."""
    from scipy.special import ive

    A = float(ive(d / 2, omega) / ive(d / 2 - 1, omega))
    h = A / omega
    return h, (d * h + A**2 - 1) / omega


def forgotten(found: dict[str, Any]) -> str:
    """Describe the smallest counterexample and the reason why attention loses B."""
    c, gain = found["c"][0], found["gain"][0]
    return rf"""The smallest counterexample of those measured: $d = 2$, $k = 1$, $\sigma = 0$, $n = 9$; at $n \leq 8$ none was found in
        the ball $C = 8$. The best $c \mathbf{{B}} \mathbf{{B}}^\top$ has $c = {found["aligned"][0]:.4g}$, while $c = {c:.4g}$, $c' =
        {found["ratio"][0] * c:.4g}$ has a smaller loss, by {gain:.2g}. At $n = 20$, $C = 5$ the minimiser over all symmetric matrices is
        of this form too. The reason: on the sphere $|z|$ varies, and $e^{{c \langle z_i, z \rangle}}$ favours tokens that are longer than
        $z$, because it is not a function of $|z_i - z|$. A score along $\mathbf{{B}}_\perp$ compensates for that, since $|z|^2 +
        |\mathbf{{B}}_\perp^\top x|^2 = 1$: with $c' = c$ the weights are a Gaussian kernel. The theorem says 'for some $C = \Omega(1)$'
        and is not contradicted."""
