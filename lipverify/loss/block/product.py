r"""Tokens x_i = c_u B u_i + c_v B' v_i on a product of spheres: two scalars per token, and no average over queries.

The score is c c_u^2 t + c' c_v^2 t', with t = <u_i, u> a coordinate on S^{k-1} and t' = <v_i, v> one on S^{d-k-1};
<e, z - z_i> = c_u (1 - t) and |z - z_i|^2 = 2 c_u^2 (1 - t).
"""

from __future__ import annotations

import msgspec
import numpy as np

from lipverify.foundation.arrays import Floats
from lipverify.loss.block.laplace import Tokens, moments
from lipverify.loss.block.rules import coordinate_rule


class OnProduct(msgspec.Struct, frozen=True):
    """The reduction for dimensions d and k and radii c_u and c_v."""

    d: int
    k: int
    c_u: float
    c_v: float

    def spread(self, c: Floats, c_perp: Floats) -> Floats:
        """The largest score minus the smallest."""
        return np.asarray(2 * (np.abs(c) * self.c_u**2 + np.abs(c_perp) * self.c_v**2))

    def values(self, n: float, c: Floats, c_perp: Floats, order: int, fine: bool) -> tuple[Floats, Floats]:
        """Noise over sigma^2 and bias over L^2 for each pair (c, c'), by one of two rules that share no node."""
        order, offset = (order + 1, 0.0) if fine else (order - 2, 0.5)
        (t, weight), (t_perp, weight_perp) = coordinate_rule(self.k, order), coordinate_rule(self.d - self.k, order)
        along, across = _fall(c * self.c_u**2, t), _fall(c_perp * self.c_v**2, t_perp)
        tokens = Tokens(
            deficit=(along[:, :, None] + across[:, None, :]).reshape(c.size, -1),
            near=np.repeat(1 - t, t_perp.size),
            weight=np.outer(weight, weight_perp).ravel(),
        )
        alone, alone_near, _, _, _, pairs = moments(tokens, n, offset)
        return alone, self.c_u**2 * (2 * alone_near + pairs) / self.k


def _fall(scale: Floats, t: Floats) -> Floats:
    """max(scale t) - scale t over t in [-1, 1], (pair, node)."""
    return np.where(scale[:, None] >= 0, scale[:, None] * (1 - t), -scale[:, None] * (1 + t))
