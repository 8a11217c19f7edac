r"""Averages over the eigenvalues of Wishart's law in one and two dimensions, by Gauss's rules.

For d = 1 the eigenvalue of Sigma is 2/n times a gamma variable of shape n/2. For d = 2 the joint density

    |t_1 - t_2| (t_1 t_2)^{(n-3)/2} e^{-n (t_1 + t_2)/2}

factors in the trace S = t_1 + t_2 and the squared share of the gap, u = (t_1 - t_2)^2 / S^2: n S / 2 is a gamma
variable of shape n, and u is independent of it with density proportional to (1 - u)^{(n-3)/2}. Symmetric functions of t
are smooth in both. The rules come from Jacobi matrices whose entries are computed without cancellation, so n may be
1e12.
"""

from __future__ import annotations

import numpy as np

from lipverify.checks.linear_transformers.quantities import Floats


def eigenvalue_rule(d: int, n: float, nodes: int) -> tuple[Floats, Floats]:
    """Nodes and weights for averages over the eigenvalues of Sigma = sum x x^T, x ~ N(0, I/n).

    Parameters
    ----------
    d, n
        Dimension, 1 or 2, and number of tokens, more than d.
    nodes
        The number of nodes of each one-dimensional rule.

    Returns
    -------
    t, weights
        Of shapes (rules, d) and (rules,): exact for polynomials in the trace, and in the squared share of the gap, of
        degree below twice `nodes`.

    >>> t, weight = eigenvalue_rule(2, 50.0, 8)
    >>> round(float(weight @ t.sum(axis=1)), 12), round(float(weight @ (t**2).sum(axis=1)), 12)  # 2 (1 + 3 / n)
    (2.0, 2.12)
    """
    if d == 1:
        t, weight = _gamma_rule(n / 2, nodes)
        return 2 * t[:, None] / n, weight
    trace, trace_weight = _gamma_rule(n, nodes)
    share, share_weight = _beta_rule((n - 1) / 2, nodes)
    half, root = np.repeat(trace / n, nodes), np.sqrt(np.tile(share, nodes))
    return np.stack([half * (1 - root), half * (1 + root)], axis=1), np.outer(trace_weight, share_weight).ravel()


def _gamma_rule(shape: float, nodes: int) -> tuple[Floats, Floats]:
    """Gauss's rule for the law with density t^{shape - 1} e^{-t} / Gamma(shape): Laguerre polynomials."""
    k = np.arange(nodes, dtype=float)
    return _gauss(2 * k + shape, np.sqrt(k[1:] * (k[1:] + shape - 1)))


def _beta_rule(b: float, nodes: int) -> tuple[Floats, Floats]:
    """Gauss's rule for the law with density b (1 - u)^{b - 1} on [0, 1]: Jacobi polynomials (b - 1, 0)."""
    k, a = np.arange(nodes, dtype=float), b - 1
    step = 2 * k + a
    # the centres (1 - a^2 / (step (step + 2))) / 2 without the cancellation, with the limit at k = 0
    centre = np.full(nodes, 1 / (a + 2))
    centre[1:] = (2 * k * (k + a + 1) + a)[1:] / (step * (step + 2))[1:]
    m, q = k[1:], step[1:]
    return _gauss(centre, m * (m + a) / (q * np.sqrt((q + 1) * (q - 1))))


def _gauss(diagonal: Floats, off: Floats) -> tuple[Floats, Floats]:
    """Nodes and weights of a probability measure from its Jacobi matrix (Golub and Welsch)."""
    from scipy.linalg import eigh_tridiagonal

    x, vectors = eigh_tridiagonal(diagonal, off)
    return x, vectors[0] ** 2
