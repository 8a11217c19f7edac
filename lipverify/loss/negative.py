r"""The excess loss of a negative w: attention to the tokens that are furthest from the query.

If all tokens change their sign, so do the scores and the odd part of f. So with K(t) = E f(x) f(x')

    L(-w I) - L(w I) = 4 E sum_i a_i K_odd(t_i),    K_odd(t) = (K(t) - K(-t)) / 2 = sum over odd l of k_l P_l(t),

where a_i are the weights at w. If f is even the difference is 0, and attending to -x is as good as to x.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.arrays import Floats
from lipverify.foundation.noted import makes
from lipverify.laws import ReLU, Zonal
from lipverify.loss import spectrum_of
from lipverify.loss.exact import CLOSED_FORMS, TokenNodes, deficits, weighted_mean
from lipverify.problem.problem import Problem, require_isotropic


@makes("bounded", "exact")
def negative_excess(here: Problem, w: Any) -> tuple[Floats, Floats]:
    r"""L(-w I) - L(w I) at each w >= 0, and a bound on its error; in units of y squared.

    Parameters
    ----------
    here
        Isotropic, n >= 2; its law affine, ReLU, cosine, quadratic or `Zonal` by its spectrum.
    w
        Numbers >= 0.

    Returns
    -------
    excess, error
        Arrays, one entry for each w.

    Raises
    ------
    InvalidInput
        If a value breaks its rule.
    OutOfReach
        If the spectrum of the law's odd part is not known.

    Source: the sign of w_KQ in Lemma 1 of Collins et al., slides.

    Examples
    --------
    >>> from lipverify.laws import Affine
    >>> excess, error = negative_excess(Problem(d=3, n=100, law=Affine()), [0.0, 5.0])
    >>> bool(excess[0] == 0), bool(excess[1] > 100 * error[1])
    (True, True)
    """
    require_isotropic(here, "negative_excess")
    windows = np.atleast_1d(np.asarray(w, dtype=np.float64))
    if not np.all(np.isfinite(windows) & (windows >= 0)) or here.n < 2:
        raise InvalidInput(f"w = {w!r}, n = {here.n}: the excess needs numbers w >= 0 and n >= 2.")
    odd, excess, error = _odd_part(here), np.zeros_like(windows), np.zeros_like(windows)
    positive = windows > 0
    if not np.any(odd) or not np.any(positive):
        return excess, error

    def covariance(token: TokenNodes) -> Floats:
        harmonics = islice(deficits(here.d, token.near), odd.size)
        return np.asarray(sum(k * (1 - deficit) for k, deficit in zip(odd, harmonics, strict=True) if k))

    mean, mean_error = weighted_mean(here.d, here.n, windows[positive], covariance, size=float(np.sum(odd)))
    excess[positive], error[positive] = 4 * mean, 4 * mean_error
    return excess, error


def _odd_part(here: Problem) -> Floats:
    """k_1, k_2, ... with zeros for even degrees, up to the last coefficient above rounding."""
    law = here.law
    if type(law) not in CLOSED_FORMS and not (isinstance(law, Zonal) and law.spectrum is not None):
        known = ", ".join(sorted(each.name for each in CLOSED_FORMS))
        raise OutOfReach(f"law = {law!r}: its odd part is known only for {known} laws; give Zonal(spectrum=...).")
    # the kink of the ReLU law is in its even part; its odd part is linear
    k = spectrum_of(law, here.d, 1).k[: 1 if isinstance(law, ReLU) else None]
    return np.trim_zeros(np.where(np.arange(k.size) % 2 == 0, k, 0.0), "b")
