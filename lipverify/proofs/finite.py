"""Proofs about one problem: bounds of its optimal w, and matrices with a smaller loss than a claimed form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np
import scipy
from flint import arb, ctx

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.quoting import shown
from lipverify.foundation.validation import number, whole
from lipverify.loss.methods import loss_terms
from lipverify.optimum.window import optimal_window
from lipverify.problem import Problem
from lipverify.problem.law import proportional
from lipverify.problem.problem import require_isotropic
from lipverify.proofs.checker.kernel.curves import Curve
from lipverify.proofs.checker.kernel.form import BITS, NUMBER
from lipverify.proofs.checker.low_rank import subspace
from lipverify.proofs.checker.one_problem import circle, optima
from lipverify.proofs.direct import built, hypotheses, in_words
from lipverify.proofs.record import Proof, named
from lipverify.proofs.search import balls, decimal, rounded

CURVES = 30.0
"""Up to this w the loss is a curve on the whole interval; beyond it, the ends of fewer intervals decide."""
CLOSE = 1e-3
"""The slack of the ends of an interval."""


def prove_optimum(problem: Problem, offset: float | None = None) -> Proof:
    """Prove bounds of every w* of a problem, or that w* = 0 alone; with an offset, also of the optimal c* there.

    Parameters
    ----------
    problem
        Isotropic, n >= 2, sigma > 0, the law affine, quadratic, ReLU, cosine, or Zonal(spectrum=...).
    offset
        The variance of the offset of f, >= 0: then c* - 1 is enclosed as well, at every w*.

    Returns
    -------
    Proof
        Its fact "window" is the interval of w*, and with an offset "excess" that of c* - 1.

    Raises
    ------
    InvalidInput
        If the problem or the offset is not of its kind.
    OutOfReach
        If w* > 150; or if the noise at w = 30 is below the minimal loss, and there is an offset or the degree 1 of the
        law does not carry most of the bias.

    Examples
    --------
    >>> from lipverify.laws import Affine
    >>> window = prove_optimum(Problem(d=3, n=10, law=Affine())).fact("window")
    >>> round(float(window.low), 3), round(float(window.high), 3)
    (0.799, 0.799)
    """
    given, centre, stop = _bounded_by_noise(problem, offset)
    if float(stop) > CURVES:
        return _far(given, centre, stop)
    theorem = "scale" if "offset" in given else "optimum"
    with ctx.workprec(BITS):
        k = hypotheses(theorem, given)[1] | balls({"at": centre, "stop": stop})
        k |= balls({"level": rounded(optima.level(k)[0]["level"][1], "at least")})
        loss = optima.loss_and_gap(k)

        def no_optimum_below(w: float) -> bool:
            return optima.is_above(loss, k["level"], arb(0), arb(w))

        def no_optimum_beyond(w: float) -> bool:
            return optima.is_above(loss, k["level"], arb(w), k["stop"])

        at_zero = float(centre) == 0 or not no_optimum_below(CLOSE)
        low = "0" if at_zero else _edge(no_optimum_below, float(centre), 0.0)
        high = _edge(no_optimum_beyond, float(centre), float(stop))
    chosen = {"level": {"at": centre}, "beyond": {"stop": stop}, "between": {"low": low, "high": high}}
    if offset is None and low == "0" and float(high) < 1:
        with suppress(OutOfReach):
            return built("optimum at zero", given, chosen)
    return built(theorem, given, chosen)


def about(problem: Problem, offset: float | None = None) -> dict[str, Any]:
    """The given data of a proof about a problem, in the file's notation; OutOfReach if the law has no such theorem."""
    require_isotropic(problem, "a proof about one problem")
    law = named(problem.law)
    if offset is not None and law not in ("affine", "relu"):  # those with the slides' random offset
        raise InvalidInput(f"law = {problem.law!r}: c* is proved for affine and ReLU laws; leave the offset out.")
    if law.partition(":")[0] not in optima.LAWS:
        raise OutOfReach(
            f"law = {problem.law!r}: an optimum is proved for {', '.join(optima.LAWS)} laws; use prove_window."
        )
    return {
        "law": law,
        "d": problem.d,
        "n": int(problem.n),
        "L": repr(float(problem.law.L)) if proportional(problem.law) else "1.0",  # type: ignore[attr-defined]
        "sigma": repr(float(problem.sigma)),
    } | ({} if offset is None else {"offset": repr(number("offset", offset, "a variance", least=0))})


def _bounded_by_noise(problem: Problem, offset: float | None = None) -> tuple[dict[str, Any], str, str]:
    """The given data, w* by the exact method, and the w from which on the noise alone exceeds the least loss."""
    given = about(problem, offset)
    if problem.sigma == 0 or problem.n == 1:
        raise InvalidInput(f"{problem!r}: the noise bounds w* only if sigma > 0 and n >= 2.")
    hypotheses("optimum" if offset is None else "scale", given)
    optimum = optimal_window(problem)
    return given, decimal(optimum.w), decimal(_stop(problem, optimum.w, optimum.loss))


def _far(given: dict[str, Any], centre: str, stop: str) -> Proof:
    """Bounds for a curve that would need too many intervals: the w at which N + k_1 m^2 exceeds the minimal loss."""
    if "offset" in given:
        raise OutOfReach(f"{in_words(given)}: c* is proved where noise outweighs the least loss at w <= {CURVES:g}.")
    with ctx.workprec(BITS):
        k = hypotheses("optimum far", given)[1] | balls({"at": centre})
        level = optima.level(k)[0]["level"][1].upper()

        def exceeds(w: float) -> bool:
            return bool(sum(optima.ends(k, balls({"w": decimal(w)})["w"]), arb(0)) > level * 1.005)

        degree_one = 1 in optima.spectrum(k)[0]
        edges = {
            name: next(
                (w for w in (float(centre) * (1 + sign * 0.02 * j) for j in range(1, 25)) if degree_one and exceeds(w)),
                None,
            )
            for name, sign in (("low", -1), ("high", 1))
        }
    if None in edges.values():
        raise OutOfReach(
            f"{in_words(given)}: the noise alone is above the least loss from w = {float(stop):.4g} on, which is "
            f"beyond w = {CURVES:g}, up to which the loss is a curve; there the bias is bounded by its part of degree "
            "1, which is too small here: use more noise or tokens, a law that is mostly of degree 1, or "
            "optimal_window."
        )
    chosen = {name: decimal(w) for name, w in edges.items() if w is not None}
    return built("optimum far", given, {"level": {"at": centre}, "beyond": {"stop": stop}, "around": chosen})


def _stop(problem: Problem, optimal_w: float, level: float) -> float:
    """Slightly above the w at which the noise alone equals the minimal loss."""

    def excess(w: float) -> float:
        return float(loss_terms(problem, w).noise) - level

    if optimal_w > 150:
        minutes = (optimal_w / 100) ** 2
        raise OutOfReach(
            f"{problem!r}: w* is {optimal_w:.4g}, and a proof would take some {minutes:.0f} minutes; up to 150 "
            "it is tried, so use prove_window or optimal_window."
        )
    end = max(CURVES, 2 * optimal_w)
    while excess(end) <= 0:
        end *= 2
    if excess(0.0) >= 0:
        raise OutOfReach(
            f"{problem!r}: w* = {optimal_w:.4g}, and at w = 0 the loss is the same double; use a larger L / sigma, or "
            "prove_every_n."
        )
    return float(scipy.optimize.brentq(excess, 0.0, end, rtol=1e-6)) * (1 + CLOSE)


def _edge(holds: Callable[[float], bool], inside: float, outside: float) -> str:
    """The w nearest to `inside` at which the condition holds, to four digits, rounded outwards."""
    while abs(outside - inside) > CLOSE / 4 * max(abs(outside), CLOSE):
        middle = (inside + outside) / 2
        inside, outside = (inside, middle) if holds(middle) else (middle, outside)
    return decimal(outside)


def prove_rising(problem: Problem, first: float, second: float) -> Proof:
    """Prove that the bias is larger at one w than at a smaller one.

    Parameters
    ----------
    problem
        Isotropic, n >= 2, with a law as for `prove_optimum`; sigma does not matter.
    first, second
        0 < first < second.

    Returns
    -------
    Proof
        The rise is above the constant "slope_low".

    Raises
    ------
    InvalidInput
        If one is not a positive number.
    OutOfReach
        If the bias does not rise, or the balls are too wide to show it.

    Examples
    --------
    >>> from lipverify.laws import Affine
    >>> prove_rising(Problem(d=3, n=3, law=Affine()), 12.0, 24.0).constants["slope_low"] > 0.04
    True
    """
    places = {
        "w_1": decimal(number("first", first, "a w", above=0)),
        "w_2": decimal(number("second", second, "a w", above=0)),
    }
    return built("bias rises", about(problem), {"rising": places})


def prove_falling(problem: Problem) -> Proof:
    """Prove that the bias falls at every w from 0 to beyond every w*.

    For the same law at a smaller L / sigma no w* is larger, so this holds for all L / sigma up to the given one.

    Parameters
    ----------
    problem
        Isotropic, n >= 2, sigma > 0, with a law as for `prove_optimum` that is not even.

    Returns
    -------
    Proof
        The bias falls up to the constant "stop", and every w* is smaller.

    Raises
    ------
    InvalidInput
        If the problem is not of its kind.
    OutOfReach
        If it does not follow: the noise exceeds the minimal loss only beyond w = 30, or the bias rises before.

    Examples
    --------
    >>> from lipverify.laws import Affine
    >>> prove_falling(Problem(d=3, n=10, law=Affine())).constants["stop"] < 2
    True
    """
    given, centre, stop = _bounded_by_noise(problem)
    if float(stop) > CURVES:
        raise OutOfReach(
            f"{problem!r}: the noise is above the least loss from w = {float(stop):.4g} on, and the bias is followed "
            f"up to w = {CURVES:g}: use a smaller L / sigma."
        )
    return built("bias falls", given, {"level": {"at": centre}, "beyond": {"stop": stop}})


Entries = tuple[float | Fraction, float | Fraction]


def prove_not_isotropic(n: int, sigma: float, S: Entries, M: Entries, stop: float) -> Proof:
    """Prove that a diagonal M on the circle (d = 2) has a smaller loss than every w I, w >= 0.

    Parameters
    ----------
    n, sigma
        Tokens, at least 2, and the noise, >= 0.
    S
        E f(x) f(x') = x^T diag(S) x'.
    M
        The diagonal of M; no entry is 0.
    stop
        A w from which on the noise alone is too large, at least the entries of M.

    Returns
    -------
    Proof
        The gain is above the constant "gain_low".

    Raises
    ------
    InvalidInput
        If an argument is not of its kind.
    OutOfReach
        If it does not follow.

    Examples
    --------
    >>> proof = prove_not_isotropic(n=9, sigma=1.0, S=(Fraction(5, 3), Fraction(1, 6)), M=(2.6, 0.87), stop=6.0)
    >>> round(proof.constants["gain_low"], 6)
    0.061306
    """
    return _better("not isotropic", circle.isotropic_loss, n, sigma, S, M, stop)


def prove_not_aligned(n: int, sigma: float, M: Entries, stop: float) -> Proof:
    """Prove that a diagonal M on the circle has a smaller loss than every diag(c, 0), |c| <= stop, if f depends on x_1
    alone.

    Parameters
    ----------
    n, sigma, M, stop
        As for `prove_not_isotropic`, with S = (1, 0).

    Returns
    -------
    Proof
        The gain is above the constant "gain_low".

    Raises
    ------
    InvalidInput, OutOfReach
        As `prove_not_isotropic`.

    Examples
    --------
    >>> round(prove_not_aligned(n=9, sigma=0.0, M=(4.612, 1.795), stop=5.0).constants["gain_low"], 6)
    0.000337
    """
    return _better("not aligned", circle.aligned_loss, n, sigma, (1.0, 0.0), M, stop)


def prove_aligned(d: int, k: int, n: int, sigma: float | Fraction, C: float | Fraction) -> Proof:
    r"""Prove that of all M with ||B^T M B|| <= C the matrix C BB^T alone has the least loss: Theorem 4 of the slides.

    Tokens are uniform on the sphere, and f(x) = a^T B^T x, where B has k orthonormal columns. No other entry of M is
    bounded, and M may mix the columns of B with their complement.

    Parameters
    ----------
    d, k
        Dimensions of the tokens and of the tasks, 1 <= k < d <= 20.
    n
        Tokens, at least 2.
    sigma
        Noise, >= 0.
    C
        Radius of the ball, > 0; 3d/5 if in doubt.

    Returns
    -------
    Proof
        At c = C the loss of c BB^T falls in c, at a query B z + B' v by fall |z|^2 / k or more: fall is a constant.

    Raises
    ------
    InvalidInput
        If an argument is not of its kind.
    OutOfReach
        If it does not follow: C is too small for the number of tokens, or so large that a smaller c is better.

    Examples
    --------
    >>> prove_aligned(2, 1, 5, 0, Fraction(6, 5)).statement
    'd = 2, k = 1, n = 5, sigma = 0: of all M with ||B^T M B|| <= 1.2 the loss is least at M = 1.2 BB^T alone'
    """
    given = in_subspace(d, k, n, sigma, C)
    with ctx.workprec(BITS):
        _, facts = hypotheses("aligned", given)
        near = decimal(2.3 * float(facts["C"]))
        facts |= balls({"near": near})
        h, gamma, _ = (curve.slope(1) for curve in subspace.loss(facts))
        places = [float(near) * j / 40 for j in range(2, 40)]
        ratios = [2 * float((h.over(w, w) / gamma.over(w, w)).mid()) for w in map(arb, places)]
        reach = decimal(min(0.97 * min(ratios), 0.9 * float(near)))
    return built("aligned", given, {"descent": {"near": near}, "across": {"reach": reach}})


def prove_aligned_blocks(d: int, sigma: float | Fraction, C: float | Fraction) -> Proof:
    r"""Prove that of all M with ||B^T M B|| <= C that do not mix, C BB^T is best, for every number of tokens at once.

    Tokens are uniform on the sphere, and f(x) = a^T B^T x, where B has k orthonormal columns. M does not mix: B^T M x
    depends on B^T x alone. The rest of M is not bounded, and M need not be symmetric.

    Parameters
    ----------
    d
        Dimension of the tokens, 3 <= d <= 20. (On the circle it is false from 18 tokens on, numerically.)
    sigma
        The largest noise, from 0 to 4.
    C
        The largest radius of a ball, 0 < C <= 1.

    Returns
    -------
    Proof
        For all n >= 2, all k < d, and every smaller sigma and C.

    Raises
    ------
    InvalidInput
        If an argument is not of its kind.
    OutOfReach
        If it does not follow: C is too large for this proof.

    Examples
    --------
    >>> prove_aligned_blocks(4, 0, Fraction(1, 5)).failures()
    []
    """
    whole_subject = in_subspace(d, 1, 2, sigma, C)
    given = {name: whole_subject[name] for name in ("d", "sigma", "C")}
    scales = "0.9", "0.8", "1", "0.7", "0.5"  # |M x| up to which slopes are bounded, the likeliest first
    for stop in scales:
        with suppress(OutOfReach):
            return built("aligned blocks", given, {"across": {"stop": stop}})
    raise OutOfReach(
        f"aligned blocks: it does not follow from {in_words(given)} with any scale of {', '.join(scales)}."
    )


def in_subspace(d: int, k: int, n: int, sigma: float | Fraction, C: float | Fraction) -> dict[str, Any]:
    return {
        "d": whole("d", d, 2, "the dimension"),
        "k": whole("k", k, 1, "the dimension of the tasks"),
        "n": whole("n", n, 2, "the number of tokens"),
        "sigma": str(Fraction(exact("sigma", sigma, "the noise"))),
        "C": str(Fraction(exact("C", C, "the radius"))),
    }


def _better(
    theorem: str, loss_of: Callable[[Any], Curve], n: int, sigma: float, S: Entries, M: Entries, stop: float
) -> Proof:
    """The proof, with the gain measured from a good candidate of the form that M is compared with."""
    given = on_the_circle(n, sigma, S, M, stop)
    with ctx.workprec(BITS):
        loss = loss_of(hypotheses(theorem, given)[1])
        places = [float(given["stop"]) * j / 400 for j in range(400)]  # a ball cannot equal `stop` exactly
        best = min(places, key=lambda w: float(loss.over(arb(w), arb(w)).mid()))
    return built(theorem, given, {theorem.rpartition(" ")[2]: {"at": decimal(best)}})


def on_the_circle(n: int, sigma: float, S: Entries, M: Entries, stop: float) -> dict[str, Any]:
    return {
        "n": whole("n", n, 2, "the number of tokens"),
        "sigma": repr(number("sigma", sigma, "the noise", least=0)),
        "S": pair("S", S),
        "M": pair("M", M),
        "stop": repr(number("stop", stop, "the largest w", above=0)),
    }


def pair(name: str, entries: Entries) -> list[str]:
    """Both entries of a diagonal, in the file's notation."""
    listed = entries.tolist() if isinstance(entries, np.ndarray) else entries
    if not isinstance(listed, Sequence) or isinstance(listed, str | bytes) or len(listed) != 2:
        raise InvalidInput(f"{name} = {shown(entries)}: it must be a pair of numbers, such as (1.0, 0.5).")
    return [exact(f"{name}[{i}]", entry, "an entry") for i, entry in enumerate(listed)]


def exact(name: str, value: float | Fraction, what: str) -> str:
    """A number in the file's notation, without rounding; the checker knows its range.

    >>> exact("C", Fraction(6, 5), "the radius"), exact("C", 0.1, "the radius")
    ('6/5', '0.1')
    """
    if not isinstance(value, Fraction):
        return repr(number(name, value, what))
    if not NUMBER.fullmatch(str(value)):
        raise InvalidInput(
            f"{name} = {shown(value)}: {what} must be a fraction of two numbers of at most forty digits."
        )
    return str(value)
